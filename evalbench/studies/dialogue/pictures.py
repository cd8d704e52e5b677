"""Pictures and tables of a dialogue result, and its worst sessions with their turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.readers import where
from evalbench.studies.dialogue.items import KEYS

MOST_LINES = 6
MOST_BARS = 60
TURNS_SHOWN = 30
ENDS = {1.0: "resolved", 0.0: "abandoned"}


def picture_lengths(result: core.Result) -> draw.Drawn | None:
    """How the lengths of sessions are spread, resolved and abandoned ones apart."""
    items = result.items
    if items["answers"].isna().all():
        return None
    groups: dict[str, Any] = {}
    behind: dict[str, draw.bars.Behind] = {}
    busiest = items["model"].value_counts().head(MOST_LINES).index
    for model, own in items[items["model"].isin(busiest)].groupby("model", sort=True):
        for name in ("answers",) if own["resolved"].isna().all() else ("answers_resolved", "answers_abandoned"):
            values = own[name].dropna().to_numpy(float)
            how = name.partition("_")[2]
            if len(values):
                label = f"{model}, {how}" if how else str(model)
                groups[label] = values
                behind[label] = draw.bars.Behind(name, where.of_group({"model": model}, ["model"]))
    if not groups:
        return None
    longest = max(float(values.max()) for values in groups.values())
    return draw.pictures.distribution(
        groups,
        title="How many answers the sessions have",
        xlabel="answers of the model per session",
        domain=(0.5, longest + 0.5),
        bins=int(min(longest, MOST_BARS)),
        behind=behind,
    )


def picture_weeks(result: core.Result) -> draw.Drawn | None:
    """The mean length by week; None where fewer than two weeks are known."""
    table = result.tables.get("weeks")
    if table is None or table["week"].nunique() < 2:
        return None
    monday = pd.to_datetime(table["week"] + "-1", format="%G-W%V-%u")
    number = ((monday - monday.min()).dt.days // 7).to_numpy()
    first = table["week"].iloc[int(number.argmin())]
    busiest = table.groupby("model")["n"].sum().sort_values(kind="stable", ascending=False).head(MOST_LINES).index
    series = {}
    for model in sorted(busiest):
        own = (table["model"] == model).to_numpy()
        rows, at = table[own], number[own]
        series[str(model)] = draw.pictures.Line(
            at, rows["mean"].to_numpy(), rows["low"].to_numpy(), rows["high"].to_numpy()
        )
    return draw.pictures.lines(
        series,
        title="Mean length of sessions by the week in which they began",
        xlabel=f"weeks since {first}",
        ylabel="answers per session",
    )


def roles(result: core.Result) -> pd.DataFrame:
    """How each role was read."""
    return result.tables["roles"]


def outcomes(result: core.Result) -> pd.DataFrame:
    """Sessions of every model by how they ended: how many, mean, median, and the longest."""
    items = result.items
    end = items["resolved"].map(ENDS).fillna("unknown").where(items["unscored"] == "", "no answer of the model")
    rows = []
    for (model, how), own in items.assign(end=end).groupby(["model", "end"], sort=True):
        known = own["answers"].dropna()
        rows.append(
            {
                "model": model,
                "end": how,
                "sessions": len(own),
                "mean answers": round(known.mean(), 2) if len(known) else None,
                "median": known.median() if len(known) else None,
                "longest": known.max() if len(known) else None,
            }
        )
    return pd.DataFrame(rows)


def weeks(result: core.Result) -> pd.DataFrame:
    """The weeks as a notebook shows them."""
    table = result.tables.get("weeks")
    if table is None:
        return pd.DataFrame(columns=["model", "week", "sessions", "mean", "light"])
    interval = [
        f"[{a:.2f}, {b:.2f}]" if np.isfinite(a) else "" for a, b in zip(table["low"], table["high"], strict=True)
    ]
    return pd.DataFrame(
        {
            "model": table["model"],
            "week": table["week"],
            "sessions": table["n"],
            "mean": table["mean"].round(2),
            "95 % interval": interval,
            "light": table["light"],
            "from the other weeks": table["difference"].round(2),
            "p, Holm": table["p_holm"].map(core.wording.p_text),
        }
    )


def comparisons(result: core.Result) -> pd.DataFrame:
    """Every pair of models; empty for one model."""
    return kit.comparing.shown(result.tables.get("comparisons"), "model")


def worst(result: core.Result, n: int = 4) -> draw.Html:
    """The longest sessions (in discussions the shortest) with their turns, the models in turn."""
    longest = result.parameters["orientation"] != "discussion"
    cases = kit.cases.worst_cases(result.items, "answers", keys=KEYS, n=None, highest=["answers"] * longest)
    if cases.empty:
        return draw.Html('<p class="eb-small">No session has an answer of the model.</p>')
    shown = kit.cases.in_turn(cases, "model", n)
    turns = result.tables["turns"]
    some = turns[turns["session_id"].isin(shown["session_id"])]
    return draw.Html("".join(_session(case, some) for case in shown.to_dict("records")))


def _session(case: dict[Any, Any], turns: pd.DataFrame) -> draw.Html:
    own = turns[(turns["session_id"] == case["session_id"]) & turns["model"].isin([case["model"], ""])]
    table = pd.DataFrame({"turn": own["turn"], "role": own["role"]})
    if "time" in own:
        table["time"] = own["time"].dt.strftime("%Y-%m-%d %H:%M:%S UTC").fillna("–")
    if "text" in own:
        table["text"] = kit.cases.cells(
            [draw.Html(draw.tables.text_block(t, 400)) if isinstance(t, str) else "– no text" for t in own["text"]],
            own.index,
        )
    table["an answer"] = own["answer"].map({True: "✓", False: ""})
    end = ENDS.get(case["resolved"], "unknown end")
    title = f"{case['session_id']}, {case['model']}: {core.counted(int(case['answers']), 'answer')}, {end}"
    caption = f"Turns of {case['session_id']}"
    return kit.cases.sheet(title, case["started"], draw.tables.html_table(table, caption=caption, rows=TURNS_SHOWN))
