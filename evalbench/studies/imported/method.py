"""What is known of imported metrics (which end is better, how far the scale goes), and how their scores became figures, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.readers.tools.shapes import lower_by_name
from evalbench.studies.imported import inputs

_NAMED = 3
METHOD = (
    "Scores: as the tool gave them; nothing is scored anew. An error, a missing score or a failed judge is unscored with the tool's own words, metric by metric; a metric that an answer was never asked for is neither scored nor unscored.",
    "Mean: of each metric over the questions that have a score of it; the trials of a question are averaged first, so that each question counts once. Answers to the same question are drawn together.",
    "Intervals: 95 %, percentile bootstrap over questions; Wilson's where the scores of a scale from 0 to 1 are 0 and 1.",
)
HASHED = "Runs are paired by a hash of the question, so that two runs of different files, or of different tools, can be compared with evalbench compare."
BY_ID = "Some question is not in the table, so that runs are paired by id, and only where both read the same data; a column question or question_hash pairs runs of different files."
THEIRS = "The tool's figures beside ours: a reason is named where it gives the tool's figure on the rows of the file: failed scores counted as 0 or as the worst, answers of which another score failed left out, all trials pooled; where none does, what is known of the tool is said instead."


def described(*, hashed: bool, figures: bool) -> tuple[str, ...]:
    """The lines of ``Result.method``."""
    return (*METHOD, HASHED if hashed else BY_ID, *([THEIRS] if figures else []))


def remarks(
    values: Mapping[str, Any], lost: Mapping[str, int], n: int, facts: Facts, theirs: pd.DataFrame
) -> list[str]:
    """Notes: how many scores are missing, what was assumed, and which figures of the tool differ.

    - ``values``: Metric → its scores, NaN among them.
    - ``lost``: Reason → how many of the ``n`` scores are missing for it.
    """
    reasons = core.unscored.counted(reason for reason, times in lost.items() for _ in range(times))
    missing = [f"Scores that were asked for and are missing: {sum(lost.values())} of {n} ({reasons})."] if lost else []
    differ = theirs[theirs["agrees"] == "no"]
    said = [
        f"{_place(row)}: {row['theirs']:.4g} there, {row['ours']:.4g} here ({row['why']})"
        for row in differ.to_dict("records")
    ]
    more = f"; and {core.counted(len(said) - _NAMED, 'other')}" if len(said) > _NAMED else ""
    verb = "differs" if len(said) == 1 else "differ"
    figures = [
        f"{core.counted(len(said), 'figure')} of the tool's own {verb} from ours: {'; '.join(said[:_NAMED])}{more}."
    ]
    rated = [note for name, own in values.items() for note in kit.marks.not_rated(own, f" of {name}")]
    return [*(figures if said else ()), *missing, *rated, *facts.notes]


def _place(row: Any) -> str:
    return ", ".join(filter(None, [str(row["metric"]) or str(row["tool_figure"]), str(row["model"]), str(row["part"])]))


def facts_table(names: Sequence[str], facts: Facts) -> pd.DataFrame:
    """Direction and scale of every metric, and where they are from."""
    nan = [float("nan")] * 2
    ends = [facts.fitting.get(name, nan) for name in names]
    return pd.DataFrame(
        {
            "metric": list(names),
            "direction": [facts.directions[name] for name in names],
            "direction_from": [facts.sources[name][0] for name in names],
            "low": [e[0] for e in ends],
            "high": [e[1] for e in ends],
            "scale_from": [facts.sources[name][1] for name in names],
        }
    )


class Facts(NamedTuple):
    """What is known of the metrics: the direction and the scale of each, and where that is from.

    ``fitting``: the scales that hold all scores of their metric.
    """

    directions: dict[str, str]
    scales: dict[str, list[float]]
    sources: dict[str, tuple[str, str]]
    notes: tuple[str, ...]
    fitting: dict[str, list[float]]


def facts_of(
    values: Mapping[str, Any], described: pd.DataFrame | None, directions: Mapping[str, Any], scales: Mapping[str, Any]
) -> Facts:
    """Directions and scales: the option's, else the table's, else assumed.

    - ``values``: Metric → its scores, NaN among them.
    - ``described``: The table ``metrics``.
    - ``directions``, ``scales``: The options, checked.
    """
    table = {} if described is None else described.set_index("metric").to_dict("index")
    outside, own = [], Facts({}, {}, {}, (), {})
    for name, own_values in values.items():
        row, seen = table.get(name, {}), own_values[np.isfinite(own_values)]
        direction = (
            directions.get(name) or row.get("direction") or (inputs.LOWER if lower_by_name(name) else inputs.HIGHER)
        )
        origin = (
            "option"
            if name in directions
            else row.get("direction_from") or ("file" if row.get("direction") else "assumed")
        )
        ends = [float(row.get(end, math.nan)) if row.get(end) is not None else math.nan for end in ("low", "high")]
        scale_from = (
            "option" if name in scales else row.get("scale_from") or ("file" if np.isfinite(ends).all() else "assumed")
        )
        if name in scales:
            ends = [float(end) for end in scales[name]]
        elif not np.isfinite(ends).all() and len(seen) and seen.min() >= 0 and seen.max() <= 1:
            ends, scale_from = [0.0, 1.0], "assumed"
        if np.isfinite(ends).all() and len(seen) and (seen.min() < ends[0] or seen.max() > ends[1]):
            outside.append(f"{name} ({ends[0]:g} to {ends[1]:g}; found {seen.min():g} to {seen.max():g})")
        elif np.isfinite(ends).all() and ends[0] < ends[1]:
            own.fitting[name] = ends
        if np.isfinite(ends).all() and ends[0] < ends[1]:
            own.scales[name] = ends
        own.directions[name] = direction
        own.sources[name] = (origin, scale_from if name in own.fitting else "unknown")
    short = f"scores outside the scale, which is then left aside: {', '.join(outside)}"
    notes: list[str] = [core.Note("instrument", short)] if outside else []
    for what, at in (("Direction", 0), ("Scale", 1)):
        guessed = [name for name, origin in own.sources.items() if origin[at] == "assumed"]
        option = "directions" if at == 0 else "scales"
        said = [f"{n} ({own.directions[n]} is better)" if at == 0 else f"{n} ({_span(own.scales[n])})" for n in guessed]
        notes += (
            [f"{what} assumed, since the file has none: {', '.join(said)}; `{option}` sets another."] if guessed else []
        )
    return own._replace(notes=tuple(notes))


def _span(ends: Sequence[float]) -> str:
    return f"{ends[0]:g} to {ends[1]:g}"
