"""Pictures and tables of a cascade: its flow, its bounds, its stages and plan, and the questions with their evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.studies.cascade import summary
from evalbench.studies.cascade.stages import TITLES

COLOURS = {
    "a": draw.pictures.ACCENT,
    "tie": draw.pictures.MUTED,
    "b": draw.pictures.SERIES[1],
    "aside": draw.pictures.SERIES[3],
    "spared": draw.pictures.SERIES[4],
}
_ROW, _BAR = 0.46, 0.6


def picture_flow(result: core.Result) -> draw.Drawn | None:
    """How the questions flow through the stages: at each, those decided for A, tied, decided for B, and those that go on."""
    stages = result.tables["stages"]
    ran = stages[(stages["looked"] > 0) & (stages["came"] > 0)]
    if ran.empty:
        return None
    items, total = result.items, int(stages["came"].iloc[0])
    a, b = summary.names_of(items)
    names = {"a": f"{a} better", "tie": "tie", "b": f"{b} better", "aside": "set aside", "spared": "not asked"}
    height = 1.3 + _ROW * len(ran)
    figure, ax = draw.pictures.new_figure(7.2, height)
    previous, said = total, []
    for y, row in enumerate(ran.to_dict("records")):
        own = items[items["stage"] == row["stage"]]
        parts = {key: int((own["outcome"] == key).sum()) for key in ("a", "tie", "b")}
        parts["aside"] = int(((own["outcome"] == "") & (own["stage"] > 0)).sum())
        parts["spared"] = int(row["not_asked"])
        if y:
            ax.fill(
                [0, previous, previous, 0],
                [y - 1 + _BAR / 2] * 2 + [y - _BAR / 2] * 2,
                color=draw.pictures.GRID,
                alpha=0.55,
                linewidth=0,
            )
        left = int(row["came"]) - sum(parts.values())
        ax.barh(y, left, height=_BAR, color=draw.pictures.GRID, linewidth=0)
        _label(ax, left / 2, y, left, total, draw.pictures.INK)
        start = left
        for key, n in parts.items():
            if n:
                ax.barh(y, n, left=start, height=_BAR, color=COLOURS[key], linewidth=0)
                _label(ax, start + n / 2, y, n, total, draw.pictures.PAPER)
                start += n
        calls = f"{row['calls']} calls" if row["calls"] else "no call"
        ax.annotate(
            calls,
            (1, y),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=draw.style.FONT_SIZE,
            color=draw.pictures.MUTED,
            annotation_clip=False,
        )
        previous = left
        told = ", ".join(f"{n} {names[key]}" for key, n in parts.items() if n) or "none decided"
        said.append(f"{row['stage']} {row['title']}: {told}; {left} go on")
    ax.set_yticks(range(len(ran)), [f"{n} {title}" for n, title in zip(ran["stage"], ran["title"], strict=True)])
    ax.set_ylim(len(ran) - 0.5, -0.5)
    ax.set_xlim(0, total)
    ax.grid(visible=False)
    ax.set_xlabel("questions")
    found = int((items["outcome"] != "").sum())
    title = f"{found} of {core.counted(total, 'question')} decided, stage by stage"
    ax.set_title(
        title, loc="left", pad=24, fontsize=draw.style.FONT_SIZE + 1.5, fontweight="bold", color=draw.pictures.INK
    )
    aside = bool(((items["outcome"] == "") & (items["stage"] > 0)).any())
    shown_only = {"aside": aside, "spared": bool(ran["not_asked"].any())}
    keys = [key for key in names if shown_only.get(key, True)]
    _key(ax, [("goes on", draw.pictures.GRID), *((names[key], COLOURS[key]) for key in keys)])
    return figure, f"Questions by stage and outcome. {'. '.join(said)}."


def _label(ax: Any, x: float, y: float, n: int, total: int, colour: str) -> None:
    if n >= 0.025 * total:
        ax.text(x, y, f"{n}", ha="center", va="center", fontsize=draw.style.FONT_SIZE - 0.5, color=colour)


def _key(ax: Any, entries: list[tuple[str, str]]) -> None:
    """What the colours mean, in a row above the bars."""
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=colour, label=draw.style.shortened(name)) for name, colour in entries]
    ax.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=len(handles), frameon=False, fontsize=draw.style.FONT_SIZE - 0.5,
        handlelength=1.0, handleheight=0.9, columnspacing=1.2, borderaxespad=0.2, labelcolor=draw.pictures.INK,
    )  # fmt: skip


def picture_bounds(result: core.Result) -> draw.Drawn | None:
    """The advantage over the decided questions, and with all open ones counted for one model or the other."""
    a, b = summary.names_of(result.items)
    labels = {"advantage": "decided questions", "low": f"all open ones for {b}", "high": f"all open ones for {a}"}
    rows = [e for e in result.summary.estimates if e.metric in labels]
    if all(e.value is None for e in rows):
        return None
    return draw.pictures.estimate_bars(
        [labels[e.metric] for e in rows],
        rows,
        title=f"Advantage of {a} over {b}",
        xlabel="questions won less questions lost, as a share of the questions (−1 to 1)",
        domain=_domain(rows),
    )


def _domain(rows: Any) -> tuple[float, float]:
    ends = [abs(x) for e in rows for x in (e.value, e.ci_low, e.ci_high) if x is not None]
    reach = min(1.0, max(0.1, np.ceil(max(ends) * 10 + 0.5) / 10))
    return -reach, reach


def picture_evidence(result: core.Result) -> draw.Drawn | None:
    """The path of the evidence, where asking stopped early."""
    return kit.early.picture_of_evidence(result)


def picture_quality(result: core.Result) -> draw.Drawn | None:
    """What the stages say of each model's answers by themselves."""
    names = dict(zip(("quality_a", "quality_b"), summary.names_of(result.items), strict=True))
    rows = [e for e in result.summary.estimates if e.metric in names]
    if all(e.value is None for e in rows):
        return None
    return draw.pictures.estimate_bars(
        [f"{names[e.metric]} ({e.n} answers)" for e in rows],
        rows,
        title="Quality of each model by itself",
        xlabel="mean mark (0–1)",
        domain=(0, 1),
    )


def stages_shown(result: core.Result) -> pd.DataFrame:
    """The stages in their order: questions that came, that they decided, that went on; calls made and saved."""
    rows = result.tables["stages"]
    show: kit.cases.Show = {
        "stage": lambda row: f"{row['stage']} {row['title']}",
        "came": "came",
        "looked at": "looked",
        "decided": "decided",
        "went on": "left",
        **({"not asked": "not_asked"} if rows["not_asked"].any() else {}),
        "calls": "calls",
        "calls saved": "saved",
        "as people": lambda row: f"{row['agreement']:.0%} of {row['labelled']}" if row["labelled"] else "–",
        "why": "why",
    }
    return kit.cases.shown(rows, show)


def beside_every_pair(result: core.Result) -> pd.DataFrame | None:
    """The cascade beside a strong judge who compares every pair in both orders; None where that is not recorded."""
    rows = result.tables.get("every_pair")
    if rows is None:
        return None
    show: kit.cases.Show = {
        "asked": "asked",
        "verdict": "verdict",
        "advantage": lambda row: (
            "–"
            if row["advantage"] != row["advantage"]
            else " ".join(core.wording.difference_parts(row["advantage"], row["ci_low"], row["ci_high"]))
        ),
        "p": lambda row: core.wording.p_text(row["p"]) if row["p"] == row["p"] else "–",
        "won": "a_won",
        "lost": "b_won",
        "tied": "ties",
        "calls": "calls",
    }
    return kit.cases.shown(rows, show)


def escalation_shown(result: core.Result) -> pd.DataFrame | None:
    """What each judge needed to be sure enough, what it decided and what it cost; None where nothing was promised."""
    table = result.tables.get("escalation")
    if table is None:
        return None
    names = {"confidence_needed": "confidence needed", "asked": "pairs asked", "decided": "pairs decided"}
    table = table.rename(columns=names)
    return table if table["cost"].notna().any() and table["cost"].sum() else table.drop(columns="cost")


def plan_shown(result: core.Result) -> pd.DataFrame:
    """What was planned before the first call."""
    show: kit.cases.Show = {
        "stage": lambda row: f"{row['stage']} {row['name']}",
        "can run": lambda row: "yes" if row["runs"] else "no",
        "why not": "why",
        "questions": lambda row: _range(row, "questions"),
        "calls": lambda row: _range(row, "calls"),
        "tokens sent": lambda row: _range(row, "input_tokens"),
        "tokens of replies": lambda row: _range(row, "output_tokens"),
    }
    return kit.cases.shown(result.tables["plan"], show)


def _range(row: Any, name: str) -> str:
    low, high = int(row[f"{name}_low"]), int(row[f"{name}_high"])
    return f"{low:,}" if low == high else f"{low:,} – {high:,}"


def bases_shown(result: core.Result) -> pd.DataFrame:
    """The method document's bases, and which are at hand."""
    rows = result.tables["bases"]
    show: kit.cases.Show = {
        "basis": lambda row: row["basis"].replace("_", " "),
        "option": "option",
        "what it is": "what it is",
        "wanted": "wanted",
        "here": "state",
        "questions": lambda row: row["questions"] or "–",
        "stated quality": lambda row: row["quality"] or "–",
        "stages": lambda row: row["stages"] or "–",
    }
    return kit.cases.shown(rows, show)


def criteria_shown(result: core.Result) -> pd.DataFrame:
    """The method document's table of tasks and criteria, what a criterion is asked as, and which are asked here."""
    rows = result.tables["criteria"]
    heads = ("criterion", "asked as", "this run")
    tasks = [name for name in rows.columns if name not in heads]
    names = {"asked as": "asked as", "this run": "asked here", **{name: name.replace("_", " ") for name in tasks}}
    cells = {"task": list(names.values())}
    for row in rows.to_dict("records"):
        cells[str(row["criterion"])] = [str(row[name]).replace("_", " ") or "–" for name in names]
    return pd.DataFrame(cells)


def decided(result: core.Result, rows: int = 30) -> pd.DataFrame:
    """Questions with both answers, what decided them and why; lost ones first, a stage after another."""
    a, b = summary.names_of(result.items)
    items = result.items[result.items["outcome"] != ""]
    order = items["outcome"].map({"b": 0, "a": 1, "tie": 2})
    return _with_texts(
        result, items.assign(order=order).sort_values(["order", "stage", "id"], kind="stable").head(rows), a, b
    )


def undecided(result: core.Result, rows: int = 30) -> pd.DataFrame:
    """Questions that no stage decided, with both answers."""
    a, b = summary.names_of(result.items)
    return _with_texts(result, result.items[result.items["open"] == 1].head(rows), a, b)


def _with_texts(result: core.Result, items: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    joined = items.merge(result.tables["texts"], on="id", how="left")
    said = {"a": f"{a} better", "b": f"{b} better", "tie": "tie", "": "open"}
    show: kit.cases.Show = {
        "id": "id",
        "question": lambda row: draw.Html(draw.tables.text_block(row["question"], 160)),
        a if a != b else "A": lambda row: draw.Html(draw.tables.text_block(row["answer_a"], 220)),
        b if a != b else "B": lambda row: draw.Html(draw.tables.text_block(row["answer_b"], 220)),
        "outcome": lambda row: said[row["outcome"]],
        "by": lambda row: f"{row['stage']} {TITLES[row['stage']]}" if row["stage"] else "–",
        "evidence": lambda row: draw.Html(
            f"{draw.escape(row['label'])}<br>{draw.tables.text_block(row['evidence'], 160)}"
            if row["label"]
            else draw.tables.text_block(row["evidence"] or "–", 160)
        ),
    }
    return kit.cases.shown(joined, show)


def contradictions(result: core.Result) -> pd.DataFrame | None:
    """What contradicts what: labels, stages, classes of queries."""
    rows = result.tables.get("contradictions")
    if rows is None:
        return None
    show: kit.cases.Show = {"id": "id", "stage": lambda row: row["stage"] or "–", "contradiction": "contradiction"}
    return kit.cases.shown(rows, show)
