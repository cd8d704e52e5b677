"""How imported scores became figures, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from evalbench import core
from evalbench.studies.imported import inputs
from evalbench.studies.imported.facts import Facts

_NAMED = 3
METHOD = (
    "Scores: as the tool gave them; nothing is scored anew. An error, a missing score or a failed judge is unscored with the tool's own words, metric by metric; a metric that an answer was never asked for is neither scored nor unscored.",
    "Mean: of each metric over the questions that have a score of it; the trials of a question are averaged first, so that each question counts once. Answers to the same question are drawn together.",
    "Intervals: 95 %, percentile bootstrap over questions; Wilson's where the scores of a scale from 0 to 1 are 0 and 1.",
)
HASHED = "Runs are paired by a hash of the question, so that two runs of different files, or of different tools, can be compared with evalbench compare."
BY_ID = "Some question is not in the table, so that runs are paired by id, and only where both read the same data; a column prompt or question_hash pairs runs of different files."
THEIRS = "The tool's figures beside ours: a reason is named where it gives the tool's figure on the rows of the file: failed scores counted as 0 or as the worst, answers of which another score failed left out, all trials pooled; where none does, what is known of the tool is said instead."


def described(found: inputs.Given, *, figures: bool) -> tuple[str, ...]:
    """The lines of ``Result.method``."""
    return (*METHOD, HASHED if found.hashed else BY_ID, *([THEIRS] if figures else []))


def remarks(found: inputs.Given, facts: Facts, theirs: pd.DataFrame) -> list[str]:
    """Notes: how many scores are missing, what was assumed, and which figures of the tool differ."""
    lost = found.scores.loc[found.scores["unscored"] != "", "unscored"]
    n = len(found.scores)
    missing = (
        [f"Scores that were asked for and are missing: {len(lost)} of {n} ({core.unscored.counted(lost)})."]
        if len(lost)
        else []
    )
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
    return [*(figures if said else ()), *missing, *facts.notes, *found.notes]


def _place(row: Any) -> str:
    return ", ".join(filter(None, [str(row["metric"]) or str(row["tool_figure"]), str(row["model"]), str(row["part"])]))


def facts_table(names: Sequence[str], facts: Facts) -> pd.DataFrame:
    """Direction and scale of every metric, and where they are from."""
    nan = [float("nan")] * 2
    ends = [facts.scales.get(name, nan) for name in names]
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
