"""Which judges may stand in for an annotator, which may not, and what they favour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.studies.judge_audit import figures

MOST_REASONS = 2
PRAISES: Mapping[str, str] = {
    "null_answer": "{} prefers a constant text in {} of pairs",
    "first_slot": "{} chooses the answer shown {} in {}",
    "raised": "{} obeys orders written into {} of answers",
    "inconsistent": "{} changes sides with the order in {} of pairs",
    "unparsed": "{} gives no mark in {} of answers",
}
"""What a judge does in so many cases, the most telling first."""


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Who may stand in, who may not and why."""
    table = facts.tables["agreement"]
    may = table[(table["light"] == "green") & (table["may_replace"] == "may replace") & (table["found"] == "")]
    never = table[table["light"] == "red"]
    some = table.drop([*may.index, *never.index])
    unknown, limited = some[some["light"] == "grey"], some[some["light"] != "grey"]
    parts = []
    if len(may):
        parts.append(f"{_judges(may, table)} may stand in for an annotator.")
    if len(limited):
        parts.append(f"{_judges(limited, table)} may be used once corrected by labels, with limits.")
    if len(never):
        reasons = _reasons(summary, never)
        whose = "may not" if len(may) else "may not stand in for an annotator"
        parts.append(
            f"{_judges(never, table)} {whose}{f': {kit.saying.names(reasons, MOST_REASONS)}' if reasons else ''}."
        )
    if len(unknown):
        parts.append(f"Whether {_judges(unknown, table, first=False)} may stand in for an annotator is not known yet.")
    return kit.answering.answered(summary, facts, " ".join(parts))


def _judges(rows: pd.DataFrame, table: pd.DataFrame, *, first: bool = True) -> str:
    """The judges of some rows: by their own names where all their criteria are among these."""
    whole = [j for j in rows["asked"].unique() if (rows["asked"] == j).sum() == (table["asked"] == j).sum()]
    named = [*whole, *rows.loc[~rows["asked"].isin(whole), "judge"]]
    text = kit.saying.names(map(str, named), 4)
    return kit.saying.opened_name(text) if first else text


def _reasons(summary: core.Summary, rows: pd.DataFrame) -> Sequence[str]:
    """The most telling finding of each judge, of few judges; else how far the best of them agrees with people."""
    found: dict[str, str] = {}
    for judge, asked in zip(rows["judge"], rows["asked"], strict=True):
        own = {e.metric: e for e in summary.estimates if e.group.get("judge") == judge}
        telling = [(m, own[m]) for m in PRAISES if m in own and own[m].light == "red" and own[m].value is not None]
        if telling and asked not in found:
            metric, e = max(telling, key=lambda one: _beyond(*one))
            found[asked] = _said(metric, asked, e)
    return list(found.values())[:MOST_REASONS]


def _beyond(metric: str, e: core.Estimate) -> float:
    """How far a figure is beyond its last threshold, as a part of how far it could be."""
    value, centre = e.value or 0.0, figures.CENTRES.get(metric, 0.0)
    red, most = abs(e.cuts[-1] - centre), 1 - centre
    return (abs(value - centre) - red) / (most - red) if most > red else 0.0


def _said(metric: str, judge: str, e: core.Estimate) -> str:
    value = e.value or 0.0
    if metric == "first_slot":
        place, share = ("first", value) if value > 0.5 else ("second", 1 - value)
        return PRAISES[metric].format(judge, place, kit.saying.share(share))
    return PRAISES[metric].format(judge, kit.saying.share(value))
