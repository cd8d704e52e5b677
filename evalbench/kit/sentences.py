"""The sentence of a verdict on several groups: its figures, what they rest on, and why a light stays grey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evalbench.core.betting import SEQUENCE
from evalbench.core.clusters import is_clustered
from evalbench.core.measures import Measure
from evalbench.core.result import Estimate
from evalbench.core.stats import FEW_UNITS, of_few
from evalbench.core.unscored import counted as counted_reasons
from evalbench.core.wording import counted, estimate_text, percent, share_text

if TYPE_CHECKING:
    import pandas as pd

NAMED = 12
"""As many groups at most are named in a sentence; of more, the ends."""


def few(own: Sequence[Estimate], units: Mapping[str, int] | None = None) -> str:
    """What is said of figures that rest on few items, or on items that are drawn together as few units.

    ``units``: how many units the items of each group are drawn as, by the group's name.
    """
    known = [e for e in own if e.value is not None]
    alone = [e for e in known if e.n > 1 and e.ci_low is None]
    if alone:
        which = "" if len(alone) == len(known) else f" ({', '.join(', '.join(e.group.values()) for e in alone)})"
        return f" All items{which} are drawn together as one unit, so there is no interval."
    plain = [e for e in known if SEQUENCE not in e.method]  # which holds for any number
    if said := of_few(e.n for e in plain):
        return said
    drawn = [(units or {}).get(", ".join(e.group.values()), e.n) for e in plain if not e.method.startswith("Wilson")]
    if not (fewest := [n for n in drawn if n < FEW_UNITS]):
        return ""
    return f" They are drawn together as {min(fewest)} units: the interval is too narrow."


def figures(what: str, own: Sequence[Estimate], found: Sequence[Estimate], by: str, share: str, over: str) -> str:
    """The estimates in words, the worst first; of many groups the ends."""
    ordered = sorted(own, key=goodness)
    if len(ordered) <= NAMED:
        return f"{what} {'; '.join(_said(e, own, found, share) for e in ordered)}; {over}"
    known = [e for e in ordered if e.value is not None] or ordered
    ends = " to ".join(_said(e, own, found, share) for e in (known[0], known[-1]))
    return f"{what} from {ends}; {counted(len(ordered), by)}, {over}"


def goodness(e: Estimate) -> tuple[bool, float]:
    return e.value is not None, (-1 if e.higher_is_better is False else 1) * (e.value or 0.0)


def _said(e: Estimate, own: Sequence[Estimate], found: Sequence[Estimate], share: str) -> str:
    name = ", ".join(e.group.values())
    if e.value is None:
        return f"has no value ({': '.join(filter(None, [name, e.note]))})"
    shares = [f for f in found if f.metric == share and (f.group or not e.group)]
    beside = [f"{share_text(f, shares)} {share}" for f in shares if f.group == e.group]
    within = ", ".join(filter(None, [name, *beside]))
    return f"{estimate_text(e, own)} ({within})" if within else estimate_text(e, own)


def drawn_units(items: pd.DataFrame, measure: Measure, by: str, units: str) -> dict[str, int]:
    """How many units the items of each group that have a value are drawn as; nothing where they are drawn by clusters."""
    columns = [name.removeprefix("#") for name in measure.sums]
    if is_clustered(items) or by not in items or not {*columns} <= {*items}:
        return {}
    known = items[items[columns].notna().all(axis=1)]
    return {str(name): int(n) for name, n in known.groupby(by)[units].nunique().items()}


def left_out(items: pd.DataFrame) -> str:
    """How many items could not be scored and why, a sentence; empty where all could."""
    unscored = items["unscored"][items["unscored"] != ""]
    return (
        f" {len(unscored)} of {len(items)} could not be scored ({counted_reasons(unscored)})." if len(unscored) else ""
    )


def without_value(items: pd.DataFrame, measure: Measure, n: int) -> str:
    """How many scored items have no value of the measure, and why."""
    if not n:
        return ""
    columns = [name.removeprefix("#") for name in measure.sums]
    without = items["undefined"][items[columns].isna().any(axis=1) & (items["unscored"] == "")]
    why = counted_reasons(without)
    return f" {n} of {len(items)} have no value{f' ({why})' if why else ''}."


def why_grey(
    about: Sequence[tuple[Estimate, tuple[str, str]]], by: str, light: str, alone: str, max_unscored: float
) -> str:
    """Why the light, or that of some groups, stays grey, and what it would be."""
    would_be = "" if alone == light else f"; the figures alone would give {alone}"
    crowd = [e.group.get(by, "") for e, (_, too_many) in about if too_many]
    said = {e.group.get(by, ""): why for e, (why, _) in about if why}
    clauses = []
    if crowd:
        which = f" ({', '.join(crowd)})" if len(crowd) < len(about) else ""
        clauses.append(
            f" More than {percent(max_unscored, [max_unscored])} are unscored{which}: not enough evidence for a light"
        )
    if said:
        same = set(said.values()) if len(said) == len(about) else set()
        listed = next(iter(same)) if len(same) == 1 else "; ".join(f"{name}: {why}" for name, why in said.items())
        which = "" if light == "grey" else f" of {' and '.join(said)}"
        clauses.append(f" {listed}, so the light{which} stays grey")
    return f"{'.'.join(clauses)}{would_be}." if clauses else ""


def stays_grey(held_back: str, light: str) -> str:
    """The sentence of a light that one reason holds back, with what the figures alone would give."""
    alone = "" if light == "grey" else f"; the figures alone would give {light}"
    return f" {held_back}, so the light stays grey{alone}." if held_back else ""
