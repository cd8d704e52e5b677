"""Pictures and tables of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.studies.judge_audit import inputs
from evalbench.studies.judge_audit.items import annotators_of

NOTHING = draw.Html('<span class="eb-none">–</span>')
KEYS = ("id", "judge", "model", "trial", inputs.CRITERION)


def picture_agreement(result: core.Result) -> draw.Drawn | None:
    """Every judge's agreement with people, and that of people among themselves."""
    rows = result.tables["agreement"]
    rows = rows[rows["agreement"].notna()]
    if rows.empty:
        return None
    labels, values = [], []
    for criterion, of in rows.groupby(inputs.CRITERION, sort=True):
        labels += [str(j) for j in of["judge"]]
        values += list(of[["agreement", "agreement_low", "agreement_high"]].itertuples(index=False, name=None))
        most = of.sort_values("n", ascending=False, kind="stable").iloc[0]
        if most["ceiling"] == most["ceiling"]:
            labels.append(f"people: {criterion}" if rows[inputs.CRITERION].nunique() > 1 else "people among themselves")
            values.append((most["ceiling"], most["ceiling_low"], most["ceiling_high"]))
    figures = ", ".join(sorted(rows["figure"].str.removesuffix(" with people").unique()))
    return draw.pictures.interval_bars(
        labels,
        *_columns(values),
        title="Agreement of each judge with people, beside that of people",
        xlabel=figures,
        domain=_domain(values),
    )


def picture_rates(result: core.Result) -> draw.Drawn | None:
    """What each judge says, and what is left of it after the correction by labels."""
    rows = result.tables["rates"]
    rows = rows[rows["corrected"].notna()]
    if rows.empty:
        return None
    labels, values = [], []
    for row in rows.to_dict("records"):
        labels += [f"{row['judge']} says", f"{row['judge']}, corrected"]
        values += [_three(row, "naive"), _three(row, "corrected")]
    units = sorted(rows["unit"].unique())
    name = "share (0–1)" if units == ["0–1"] else "share or mean mark"
    return draw.pictures.interval_bars(
        labels,
        *_columns(values),
        title="What each judge says, and the same corrected by labels",
        xlabel=name,
        domain=_domain(values),
    )


def picture_probes(result: core.Result) -> draw.Drawn | None:
    """What the probes found, judge by judge."""
    rows = result.tables["probes"]
    rows = rows[rows["value"].notna()]
    if rows.empty:
        return None
    names = list(dict.fromkeys(rows["probe"]))
    judges = sorted(rows["judge"].unique())
    known = rows.set_index(["judge", "probe"])
    values = np.array([[known["value"].get((j, p), np.nan) for p in names] for j in judges], dtype=float)
    levels = {"green": 0.0, "yellow": 1.0, "red": 2.0, "unlit": 0.0, "grey": 0.0}
    shades = np.array([[levels.get(str(known["light"].get((j, p), "grey")), 0.0) for p in names] for j in judges])
    written = [
        [_cell(v, str(known["light"].get((j, p), ""))) for p, v in zip(names, of, strict=True)]
        for j, of in zip(judges, values, strict=True)
    ]
    shades[np.isnan(values)] = np.nan
    return draw.pictures.heat_map(
        shades, judges, names, title="What each probe measured", text=written, low=0, high=2,
        unit="each figure in its own unit; darker: yellow (▲) and red (■) lights",
    )  # fmt: skip


def _cell(value: float, light: str) -> str:
    sign = {"yellow": " ▲", "red": " ■"}.get(light, "")
    return "–" if np.isnan(value) else f"{value:.2f}{sign}".replace("-", "−")


def _columns(values: Sequence[tuple[float, ...]]) -> list[list[float | None]]:
    return [[None if v != v else float(v) for v in column] for column in zip(*values, strict=True)]


def _domain(values: Sequence[tuple[float, ...]]) -> tuple[float, float]:
    known = [v for row in values for v in row if v == v]
    return min([0.0, *known]), max([1.0, *known])


def _three(row: Mapping[Any, Any], name: str) -> tuple[float, float, float]:
    return row[name], row[f"{name}_low"], row[f"{name}_high"]


def _known(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def _text(row: Mapping[Any, Any], name: str) -> str:
    return core.wording.interval_text(*_three(row, name))


def _bar(row: Mapping[Any, Any], name: str, domain: tuple[float, float]) -> draw.Html:
    value, low, high = (_known(v) for v in _three(row, name))
    return draw.verdict.interval_bar({"value": value, "ci_low": low, "ci_high": high}, domain)


# -- the table of the method document -------------------------------------------------------------


def criteria(result: core.Result) -> pd.DataFrame:
    """Of every judge and criterion: the method, agreement beside that of people, what the author says of it."""
    rows = result.tables["agreement"]
    domain = (-1.0, 1.0) if (rows[["agreement", "agreement_low"]] < 0).any(axis=None) else (0.0, 1.0)
    show: kit.cases.Show = {
        "judge": "asked",
        "criterion": lambda row: row[inputs.CRITERION] or NOTHING,
        "method": lambda row: row["method"] or NOTHING,
    }
    if not (rows[inputs.CRITERION] != "").any():
        show = {k: v for k, v in show.items() if k != "criterion"}
    if not (rows["method"] != "").any():
        show = {k: v for k, v in show.items() if k != "method"}
    show = {
        **show,
        "agreement with people": lambda row: _of_agreement(row, domain),
        "light": lambda row: draw.verdict.light_word(row["light"]),
        "labelled": "n",
        "comment": lambda row: draw.tables.text_block(row["comment"]) if row["comment"] else NOTHING,
    }
    if not (rows["comment"] != "").any():
        show = {k: v for k, v in show.items() if k != "comment"}
    return kit.cases.shown(rows.sort_values([inputs.CRITERION, "judge"], kind="stable"), show)


def _of_agreement(row: Mapping[Any, Any], domain: tuple[float, float]) -> draw.Html:
    if row["agreement"] != row["agreement"]:
        return draw.Html(
            f'<span class="eb-none">no value</span> <span class="eb-small">{draw.escape(row["note"])}</span>'
        )
    name = str(row["figure"]).removesuffix(" with people")
    known = row["majority_equal"] == row["majority_equal"]
    equal = f"; the majority's verdict: {100 * row['majority_equal']:.0f}\N{NO-BREAK SPACE}%" if known else ""
    return draw.Html(
        f"{_bar(row, 'agreement', domain)}{draw.escape(_text(row, 'agreement'))} "
        f'<span class="eb-small">{draw.escape(name + equal)}; people among themselves {draw.escape(_text(row, "ceiling"))}</span>'
    )


def uses(result: core.Result) -> pd.DataFrame:
    """Of every judge what it may be used for and what not, and what was found."""
    show: kit.cases.Show = {
        "judge": "judge",
        "for what, and for what not": "use",
        "found": lambda row: row["found"] or NOTHING,
    }
    return kit.cases.shown(result.tables["agreement"], show)


def rates(result: core.Result) -> pd.DataFrame:
    """What every judge says beside what is left after the correction, both bars in one cell."""
    rows = result.tables["rates"]
    sides = ["naive_low", "naive_high", "corrected_low", "corrected_high"]
    ends = rows.loc[rows["unit"] != "0–1", sides].to_numpy(dtype=float)
    known = ends[ends == ends].tolist()
    domain = (min([0.0, *known]), max([1.0, *known]))
    show: kit.cases.Show = {
        "judge": "judge",
        "says → corrected": lambda row: _both_bars(row, domain),
        "which means": lambda row: ". ".join(filter(None, [row["sentence"], row["more"]])) or NOTHING,
        "by": "way",
    }
    return kit.cases.shown(rows, show)


def _both_bars(row: Mapping[Any, Any], of_marks: tuple[float, float]) -> draw.Html:
    names = [n for n in ("naive", "corrected") if row[n] == row[n]]
    domain = (0.0, 1.0) if row["unit"] == "0–1" else of_marks
    bars = "".join(_bar(row, n, domain) for n in names)
    said = f"judge says {_text(row, 'naive')} → corrected {_text(row, 'corrected')}, {row['labels']:,} labels"
    if row["corrected"] != row["corrected"]:
        said = f"judge says {_text(row, 'naive')}; not corrected, {row['labels']:,} labels"
    return draw.Html(f"{bars}{draw.escape(said)}")


def replacing(result: core.Result) -> pd.DataFrame:
    """May each judge replace an annotator: the alternative annotator test."""
    show: kit.cases.Show = {
        "judge": "judge",
        "verdict": "may_replace",
        "ω, share of annotators it is as good as": "winning_rate",
        "ρ, chance of being as good on an answer": "advantage",
        "remark": lambda row: row["left_out"] or NOTHING,
    }
    return kit.cases.shown(result.tables["agreement"], show)


def by_annotator(result: core.Result) -> pd.DataFrame:
    """The test's parts: the judge beside each annotator."""
    rows = result.tables["replacing"]
    if rows.empty:
        return _note("No annotators: the test needs three.")
    show: kit.cases.Show = {
        "judge": "judge",
        "annotator": "annotator",
        "answers": "n",
        "judge's agreement with the others": "judge_agrees",
        "annotator's": "human",
        "D, annotator ahead": "difference",
        "p, adjusted": lambda row: (
            core.wording.p_text(_known(row["p_adjusted"])) if row["p_adjusted"] == row["p_adjusted"] else NOTHING
        ),
        "as good": lambda row: "not tested" if row["p"] != row["p"] else "yes" if row["rejected"] else "not shown",
    }
    return kit.cases.shown(rows, show)


def probes(result: core.Result) -> pd.DataFrame:
    """Every probe of every judge: figure, light and name of what was found, or why there is none."""
    show: kit.cases.Show = {
        "judge": "judge",
        "probe": "probe",
        "found": lambda row: _found(row),
        "figure": lambda row: _probe(row),
        "remark": lambda row: row["why"] or NOTHING,
    }
    return kit.cases.shown(result.tables["probes"], show)


def _found(row: Mapping[Any, Any]) -> Any:
    if row["value"] != row["value"]:
        return draw.Html('<span class="eb-none">not probed</span>')
    strong = row["light"] in ("yellow", "red") or str(row["finding"]).startswith("gameable")
    said = f"<strong>{draw.escape(row['finding'])}</strong>" if strong else draw.escape(row["finding"])
    return draw.Html(f"{draw.verdict.light_word(row['light'])} {said}")


def _probe(row: Mapping[Any, Any]) -> Any:
    if _known(row["value"]) is None:
        return NOTHING
    text = core.wording.interval_text(row["value"], row["low"], row["high"])
    return draw.Html(
        f'{draw.escape(text)} <span class="eb-small">{draw.escape(row["figure"])}, {row["n"]:,} answers</span>'
    )


def tried(result: core.Result) -> pd.DataFrame | None:
    """What each order to the judge, and each constant text, brought about."""
    rows = result.tables["tried"]
    if rows.empty:
        return None
    show: kit.cases.Show = {
        "judge": "judge",
        "criterion": lambda row: row[inputs.CRITERION],
        "tried": _tried,
        "added or earned, share of the scale": _effect,
        "verdicts": "n",
        "found": lambda row: _named(row["finding"]),
    }
    several = {"judge": rows["judge"].nunique() > 1, "criterion": rows[inputs.CRITERION].nunique() > 1}
    return kit.cases.shown(rows, {k: v for k, v in show.items() if several.get(k, True)})


def _tried(row: Mapping[Any, Any]) -> draw.Html:
    kinds = {"padded": "text added", "injected": "order added", "null": "constant text"}
    head = f"{kinds.get(row['probe'], row['probe'])}: {row['variant']}"
    return draw.Html(f"{draw.escape(head)}{draw.tables.text_block(row['text'], 120) if row['text'] else ''}")


def _effect(row: Mapping[Any, Any]) -> draw.Html:
    text = core.wording.interval_text(row["effect"], row["low"], row["high"])
    room = f"of at most {row['room']:.2f}" if row["probe"] == "injected" and row["room"] == row["room"] else ""
    return draw.Html(
        f'{draw.escape(text)} <span class="eb-small">{draw.escape(room)}</span>' if room else draw.escape(text)
    )


def _named(finding: str) -> Any:
    return draw.Html(f"<strong>{draw.escape(finding)}</strong>") if finding in ("gameable", "obeyed") else finding


def panel(result: core.Result) -> pd.DataFrame:
    """How many independent judges the panel is worth."""
    rows = result.tables["panel"]
    if rows.empty:
        return _note("A panel needs two judges that gave the same answers 0/1 or ordered marks.")
    show: kit.cases.Show = {
        "criterion": lambda row: row[inputs.CRITERION] or NOTHING,
        "panel": "words",
        "interval of its worth": lambda row: _ends(row["effective_low"], row["effective_high"]),
        "mean correlation of errors": "correlation",
        "answers": "items",
        "left out, without errors": lambda row: row["left_out"] or NOTHING,
    }
    kept = {k: v for k, v in show.items() if k != "criterion" or (rows[inputs.CRITERION] != "").any()}
    return kit.cases.shown(rows, kept)


def alike(result: core.Result) -> pd.DataFrame:
    """Which judges err together."""
    rows = result.tables["alike"]
    if rows.empty:
        return _note("No two judges gave the same answers marks.")
    show: kit.cases.Show = {
        **({"criterion": inputs.CRITERION} if (rows[inputs.CRITERION] != "").any() else {}),
        "judge": "judge", "and": "other", "errors correlate": "errors_correlate", "equal verdicts": "equal",
        "labelled": "items", "which means": lambda row: row["words"] or NOTHING,
    }  # fmt: skip
    return kit.cases.shown(rows.sort_values("errors_correlate", ascending=False, kind="stable"), show)


def costs(result: core.Result) -> pd.DataFrame:
    """Tokens, seconds and money for each answer."""
    rows = result.tables["costs"]
    if rows.empty:
        return _note("The table has no tokens, seconds or cost.")
    show: kit.cases.Show = {
        "judge": "judge", "figure": "figure",
        "per answer": lambda row: core.wording.interval_text(row["mean"], row["low"], row["high"]),
        "answers": "items", "in all": "total",
    }  # fmt: skip
    return kit.cases.shown(rows, show)


def unparsed(result: core.Result) -> pd.DataFrame:
    """Verdicts without a mark, by reason."""
    rows = result.tables["unparsed"]
    return _note("Every verdict has a mark.") if rows.empty else rows


def disagreements(result: core.Result, rows: int = 12) -> pd.DataFrame:
    """Answers on which a judge is furthest from people, the judges in turn."""
    items = result.items.assign(gap=(result.items["mark"] - result.items["human"]).abs())
    far = items[items["gap"] > 0]
    if far.empty:
        return _note("On no labelled answer does a judge differ from people.")
    texts = result.tables["texts"]
    reasons = result.tables["reasons"]
    cases = kit.cases.worst_cases(far, "gap", keys=KEYS, n=None, highest=["gap"])
    cases = kit.cases.in_turn(cases, "judge", rows).merge(
        texts, on=["id", "model", "trial"], how="left", validate="many_to_one"
    )
    cases = cases.merge(
        reasons, on=["asked", "id", "model", "trial", inputs.CRITERION], how="left", validate="many_to_one"
    )
    cases = cases.assign(reason=cases["reason"].fillna(""))
    annotators = annotators_of(cases)
    show: kit.cases.Show = {
        "id": "id",
        "judge": "judge",
        "mark": "mark",
        "people": lambda row: ", ".join(f"{row[c]:g}" for c in annotators if row[c] == row[c]),
        "the answer": lambda row: _answer(row),
        "the judge's reason": lambda row: draw.tables.text_block(row["reason"]) if row["reason"] else NOTHING,
    }
    if not (cases["reason"] != "").any():
        show = {k: v for k, v in show.items() if k != "the judge's reason"}
    if not {"question", "answer"} & set(cases):
        show = {k: v for k, v in show.items() if k != "the answer"}
    return kit.cases.shown(cases, show)


def _answer(row: Mapping[Any, Any]) -> draw.Html:
    parts = [
        draw.tables.text_block(str(row[c]), 160)
        for c in ("question", "answer", "answer_other")
        if isinstance(row.get(c), str) and row[c]
    ]
    return draw.Html("".join(parts)) if parts else NOTHING


def _ends(low: float, high: float) -> Any:
    if low != low or high != high:
        return NOTHING
    decimals = core.wording.own_decimals(low, low, high)
    return f"[{low:.{decimals}f}, {high:.{decimals}f}]"


def _note(text: str) -> pd.DataFrame:
    return pd.DataFrame({"note": [text]})
