"""Labels by which a judge cannot be judged: on another scale than its marks, its own marks, or turned round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.studies.judge_audit.items import GRADED, LABEL, ORDERED, annotators_of

TOPS = (1.0, 5.0, 7.0, 10.0, 100.0)
"""The highest marks of usual scales."""


class Doubts(NamedTuple):
    """Judge to why its agreement with people has no light, and what the sentence says."""

    held: dict[str, str]
    notes: list[core.Note]


def doubts_of(items: pd.DataFrame) -> Doubts:
    """What is odd about the labels of each judge."""
    held: dict[str, str] = {}
    alike = [
        core.Note("instrument", f"all {len(marks)} marks of {name} are {marks.iloc[0]:g}")
        for name, marks in items[items["mark"].notna()].groupby("judge", sort=True)["mark"]
        if len(marks) > 1 and marks.nunique() == 1 and items["scale"].iloc[0] in (ORDERED, GRADED)
    ]
    for name, rows in items.groupby("judge", sort=True):
        if said := _other_scale(rows) or _own_marks(rows):
            held[str(name)] = said
    grouped = {said: [name for name, own in held.items() if own == said] for said in dict.fromkeys(held.values())}
    odd = [core.Note("labels", f"{said} ({core.wording.listed(names, 3)})") for said, names in grouped.items()]
    return Doubts(held, [*odd, *alike])


def _other_scale(rows: pd.DataFrame) -> str:
    """Whether the judge's marks and people's labels have other tops, and most of one side lie outside the other."""
    both = rows[rows["mark"].notna() & rows["human"].notna()]
    if both.empty or rows["scale"].iloc[0] not in (ORDERED, GRADED):
        return ""
    mark, human = both["mark"].to_numpy(float), both[[*annotators_of(both)]].to_numpy(float)
    own, people = (float(mark.min()), float(mark.max())), (float(np.nanmin(human)), float(np.nanmax(human)))
    human = human[~np.isnan(human)]
    outside = max(((x < low) | (x > high)).mean() for x, (low, high) in ((mark, people), (human, own)))
    if outside <= 0.5 or _top(own[1]) == _top(people[1]):
        return ""
    return f"the judge's marks, {own[0]:g} to {own[1]:g}, seem to lie on another scale than people's, {people[0]:g} to {people[1]:g}"


def _top(most: float) -> float:
    return next((top for top in TOPS if most <= top), np.inf)


def _own_marks(rows: pd.DataFrame) -> str:
    """Whether a label's annotator is the judge, by name, or by marks that are all equal where people are not."""
    equal: list[str] = []
    known = 0
    for column in annotators_of(rows):
        name = column.removeprefix(LABEL)
        both = rows[rows["mark"].notna() & rows[column].notna()]
        if both.empty:
            continue
        if name.casefold().split() == str(rows["asked"].iloc[0]).casefold().split():
            return f"an annotator has the name of the judge, {name}"
        enough = len(both) >= core.stats.FEW_UNITS and both["mark"].nunique() > 1
        known += 1
        if enough and (both["mark"] == both[column]).all():
            equal.append(f"all {len(both)} marks equal the labels of {name}, as if one were a copy of the other")
    return equal[0] if equal and (len(equal) < known or known == 1) else ""
