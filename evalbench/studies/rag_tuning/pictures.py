"""Pictures and tables of a rag_tuning result, from its items and tables alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.studies.rag_tuning import sections, summary


def _of(result: core.Result, part: str, metric: str = "") -> list[core.Estimate]:
    settings = set(result.items["setting"][result.items["part"] == part])
    return [e for e in result.summary.estimates if e.group["setting"] in settings and metric in ("", e.metric)]


def _key(result: core.Result) -> str:
    return str(result.parameters["target_metric"])


def _domain(rows: Sequence[core.Estimate]) -> tuple[float, float] | None:
    return (0, 1) if rows and rows[0].unit == "0–1" else None


def picture_embedding(result: core.Result) -> draw.Drawn | None:
    """Hit rates and mean reciprocal rank of the generated questions; None where there are none."""
    rows = [e for e in _of(result, sections.EMBEDDING) if e.metric != "mean_place"]
    if not rows:
        return None
    return draw.pictures.estimate_bars(
        [e.title.removeprefix("embedding: ").removesuffix(" of generated questions") for e in rows],
        rows,
        title="Generated questions that find their own chunk again",
        xlabel="share or mean over the generated questions (0–1)",
        domain=(0, 1),
    )


def picture_top_k(result: core.Result) -> draw.Drawn | None:
    """The target metric by the number of chunks, with its noise band; None where it was not computed."""
    rows = _of(result, sections.TOP_K, _key(result))
    if not rows or all(e.value is None for e in rows):
        return None
    choice = summary.chosen_k(result.items)
    title = summary.key_measure(_key(result)).title
    curve = _line(rows)
    series = {title: curve}
    if _key(result) != "hit_rate":
        own = result.items[(result.items["part"] == sections.TOP_K) & (result.items["k"] > 0)]
        hits = own.groupby("k")["hit_rate"].mean().dropna()
        if len(hits) and rows[0].unit == "0–1":
            series["hit rate"] = draw.pictures.Line(hits.index.to_numpy(dtype=float), hits.to_numpy())
    best = "" if choice is None else f": highest at k = {choice.best}"
    if choice is not None and choice.plain != choice.best:
        best += f", within a standard error from k = {choice.plain}"
    return draw.pictures.lines(
        series,
        title=f"{title} by the number of chunks{best}",
        xlabel="chunks handed to the model (k)",
        ylabel=f"mean over the questions ({rows[0].unit})",
        domain=_domain(rows),
    )


def _line(rows: Sequence[core.Estimate]) -> draw.pictures.Line:
    table = np.array(
        [
            [
                float(e.group["setting"].removeprefix("k=")),
                *(np.nan if v is None else v for v in (e.value, e.ci_low, e.ci_high)),
            ]
            for e in rows
        ]
    )
    return draw.pictures.Line(*table.T)


def picture_chunks(result: core.Result) -> draw.Drawn | None:
    """The target metric of every chunk size and overlap; None where they were not varied."""
    settings = result.tables.get("settings")
    values = {e.group["setting"]: e for e in _of(result, sections.CHUNKS, _key(result))}
    if settings is None or not values:
        return None
    sizes, overlaps = (sorted(settings[name].unique()) for name in ("size", "overlap"))
    cells = np.full((len(sizes), len(overlaps)), np.nan)
    written = [["–"] * len(overlaps) for _ in sizes]
    row: Any
    for row in settings.itertuples():
        e = values[row.setting]
        if e.value is not None:
            i, j = sizes.index(row.size), overlaps.index(row.overlap)
            cells[i, j], written[i][j] = e.value, core.wording.estimate_text(e, list(values.values()))
    least = settings.sort_values("overlap").drop_duplicates("size").set_index("size")
    low, high = (least.loc[sizes, name].to_numpy(float) for name in ("size_low", "size_high"))
    labels = [f"{size}: {a:.0f}–{b:.0f}" for size, a, b in zip(sizes, low.tolist(), high.tolist(), strict=True)]
    title = summary.key_measure(_key(result)).title
    return draw.pictures.heat_map(
        cells,
        labels,
        [f"overlap {overlap}" for overlap in overlaps],
        title=f"{title} at k = {result.parameters['k']} by chunk size and overlap",
        text=written,
        unit="rows: longest chunk allowed, and from the 2.5th to the 97.5th percentile of the real ones, in characters",
        **({"low": 0, "high": 1} if next(iter(values.values())).unit == "0–1" else {}),
    )


def picture_queries(result: core.Result) -> draw.Drawn | None:
    """The single query and the fused ones, figure by figure; None where no question was rewritten."""
    rows = [e for e in _of(result, sections.QUERIES) if e.unit == "0–1"]
    if not rows:
        return None
    ordered = sorted(rows, key=lambda e: [m.metric for m in rows].index(e.metric))
    return draw.pictures.estimate_bars(
        [f"{e.title}, {e.group['setting']}" for e in ordered],
        ordered,
        title=f"A single query and several wordings fused, at k = {result.parameters['k']}",
        xlabel="mean over the questions (0–1)",
        domain=(0, 1),
    )


def chunk_settings(result: core.Result) -> pd.DataFrame | None:
    """What the chunks of every setting are really like, and the target metric; None where they were not varied."""
    settings = result.tables.get("settings")
    if settings is None:
        return None
    values = {e.group["setting"]: e for e in _of(result, sections.CHUNKS, _key(result))}
    return kit.cases.shown(
        settings,
        {
            "longest": "size",
            "overlap": "overlap",
            "chunks": "n_chunks",
            "real sizes, 2.5–97.5 %": lambda row: f"{row['size_low']:.0f}–{row['size_high']:.0f}",
            "repeated, mean": lambda row: f"{row['repeated']:.0f}",
            "characters found": lambda row: f"{row['found_characters']:.0f}",
            summary.key_measure(_key(result)).title: lambda row: core.wording.estimate_text(
                values[row["setting"]], list(values.values())
            ),
            "n": lambda row: values[row["setting"]].n,
        },
    )


def comparison(result: core.Result, part: str) -> pd.DataFrame:
    """Every two settings of a section; empty where it does not apply."""
    return kit.comparing.shown(result.tables.get(f"compared_{part}"), "setting")


def not_applicable(result: core.Result) -> pd.DataFrame:
    """The sections that do not apply, and why."""
    table = result.tables["sections"]
    return table[table["why"] != ""].reset_index(drop=True)


def missed(result: core.Result, rows: int = 10) -> pd.DataFrame | None:
    """Questions of which none of the first ``k`` chunks carries the source, beside the nearest chunk; None without sources."""
    table = result.tables.get("found")
    if table is None:
        return None
    at_k = result.items[
        (result.items["part"] == sections.TOP_K)
        & (result.items["setting"] == sections.setting_of(result.parameters["k"]))
    ]
    lost = set(at_k["id"][at_k["hit_rate"] == 0])
    nearest = table[(table["rank"] == 1) & table["id"].isin(lost)]
    return kit.cases.worst_cases(
        nearest,
        "cosine",
        keys=["id"],
        highest=["cosine"],
        n=rows,
        show={
            "id": "id",
            "question": _block("question"),
            "the nearest chunk": _named("chunk", "text"),
            "cosine": "cosine",
        },
    )


def lost_questions(result: core.Result, rows: int = 10) -> pd.DataFrame | None:
    """Generated questions of which another chunk is the nearest; None where none were searched for."""
    table = result.tables.get("generated")
    if table is None or "nearest" not in table:
        return None
    marked: kit.cases.Show = {"mark": "mark"} if table["mark"].notna().any() else {}
    show: kit.cases.Show = {
        "question": _block("question"),
        "its chunk": _named("id", "chunk"),
        "its place": lambda row: "not found" if np.isnan(row["place"]) else f"{row['place']:.0f}",
        "the nearest": "nearest",
        **marked,
    }
    lost = table[table["found_1"] == 0]
    return kit.cases.worst_cases(lost, "reciprocal", keys=["id"], n=rows, show=show)


def rewrites(result: core.Result, rows: int = 10) -> pd.DataFrame | None:
    """Questions whose source the single query and the fused ones find in different places; None where none were rewritten."""
    table = result.tables.get("rewrites")
    if table is None:
        return None
    own = result.items[result.items["part"] == sections.QUERIES]
    ranks = own.pivot(index="id", columns="setting", values="mrr")
    if len(ranks.columns) < 2:
        return None
    several = next(name for name in ranks.columns if name != sections.SINGLE)
    change = (ranks[several] - ranks[sections.SINGLE]).abs().rename("change")
    joined = table.merge(ranks, left_on="id", right_index=True).merge(change, left_on="id", right_index=True)
    differing = joined[joined["change"] > 0]
    return kit.cases.worst_cases(
        differing,
        "change",
        keys=["id"],
        highest=["change"],
        n=rows,
        show={
            "id": "id",
            "question": _block("question"),
            "other wordings": _block("rewrites"),
            f"1 / rank, {sections.SINGLE}": lambda row: f"{row[sections.SINGLE]:.2f}",
            f"1 / rank, {several}": lambda row: f"{row[several]:.2f}",
        },
    )


def worst(result: core.Result, rows: int = 10) -> pd.DataFrame | None:
    """The answers with the lowest score at the developer's k, beside the right ones; None where nothing was answered."""
    answers = result.tables.get("answers")
    if answers is None:
        return None
    here = result.items[
        (result.items["part"] == sections.TOP_K)
        & (result.items["setting"] == sections.setting_of(result.parameters["k"]))
    ]
    texts = answers[
        (answers["part"] == sections.TOP_K) & (answers["setting"] == sections.setting_of(result.parameters["k"]))
    ]
    return kit.cases.worst_cases(
        here,
        "quality",
        keys=["id", "part", "setting"],
        n=rows,
        unscored=True,
        texts=texts,
        show={
            "id": "id",
            _key(result): lambda row: (
                core.unscored.in_words(row["unscored"] or row["undefined"]) or f"{row['quality']:.2f}"
            ),
            "question": lambda row: draw.Html(
                f"{draw.tables.text_block(row['question'])}{draw.tables.folded('right answer', row['reference'])}"
            ),
            "the answer": _block("answer"),
            "source found": lambda row: kit.cases.yes_no(row["hit_rate"], "no source"),
            "chunks": "chunks",
        },
    )


def _block(name: str) -> Any:
    return lambda row: draw.tables.text_block(row[name]) if isinstance(row[name], str) else None


def _named(name: str, text: str) -> Any:
    return lambda row: draw.Html(f"{draw.tables.text_block(row[text])}{draw.tables.folded('which', row[name])}")
