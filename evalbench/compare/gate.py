"""A suite against the runs before it: did a figure get worse, is that ruled out, or is there no evidence either way?

Each run is compared with its previous comparable one, paired on units, see :mod:`evalbench.compare.runs`.  The figures that
count are those with a margin; in a run that states none of these, its first one: of the whole where the study states one,
else of every group.  Holm's adjustment covers all of them, over the whole suite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evalbench.compare.runs import Differences, Row
from evalbench.core.compared import ANOTHER_JUDGE, ANOTHER_MEASURE, Comparison
from evalbench.core.comparison import adjusted_together
from evalbench.core.wording import counted

REGRESSION, INCONCLUSIVE, NONE = "regression", "inconclusive", "none"
STATES = (REGRESSION, INCONCLUSIVE, NONE)
"""The worst first: a suite has the first of them that one of its runs has, a run the first that one of its figures has."""
MAX_LOST = 0.05
"""Where a larger share of the units is in one of the two runs alone, nothing is ruled out."""


class Gated(NamedTuple):
    """A figure that counts.

    - ``comparison``: Of the run against its previous one; adjusted over the suite.
    - ``state``: One of :data:`STATES`.
    - ``words``: A sentence with the figures, and why the state is what it is.
    """

    group: Mapping[str, str]
    comparison: Comparison
    state: str
    words: str

    def row(self) -> dict[str, Any]:
        """Flat and JSON-ready."""
        return {"group": dict(self.group), "state": self.state, **self.comparison.row(), "words": self.words}


def margins_of(results: Mapping[str, Any], stated: Mapping[str, float]) -> dict[str, float]:
    """The margins whose metrics a run states.

    - ``results``: ``results.json`` of the run.
    """
    known = {row["metric"] for row in results["summary"]}
    return {metric: margin for metric, margin in stated.items() if metric in known}


def gate(found: Sequence[Differences], margins: Mapping[str, float] | None = None) -> list[tuple[Gated, ...]]:
    """What counts of each run against its previous one.

    - ``found``: One for each run, of :func:`evalbench.compare.runs.compare` with the margins of :func:`margins_of`.
    - ``margins``: How much worse does not matter.

    Returns: In the order of ``found``. ``regression``: worse by Holm's p-value over all of them, and the interval of
    the difference reaches beyond the margin. ``none``: better, the same on every unit, or the interval's worse end is
    within the margin. Else ``inconclusive``, as is a figure without a direction or a value, and one that would be
    ``none`` but for too many items unscored (``max_unscored`` of the run) or units in one run alone.
    """
    chosen = [(i, row) for i, d in enumerate(found) for row in _counting(d, margins or {})]
    names = [(found[i].side.name, found[i].reference.name) for i, _ in chosen]
    adjusted = adjusted_together([row.comparison for _, row in chosen], names)
    out: list[list[Gated]] = [[] for _ in found]
    for (i, row), comparison in zip(chosen, adjusted, strict=True):
        out[i].append(_gated(found[i], row.group, comparison))
    return [tuple(gated) for gated in out]


def worst(states: Sequence[str]) -> str:
    """The first of :data:`STATES` among them; inconclusive where there is none.

    Examples
    --------
    >>> worst(["none", "inconclusive"]), worst([])
    ('inconclusive', 'inconclusive')
    """
    return next((state for state in STATES if state in states), INCONCLUSIVE)


def _counting(differences: Differences, margins: Mapping[str, float]) -> list[Row]:
    """The rows with a margin, or those of the first figure; of a figure the whole's alone where there is one."""
    rows = differences.rows
    metrics = dict.fromkeys(row.comparison.metric for row in rows)
    wanted = [metric for metric in metrics if metric in margins] or list(metrics)[:1]
    chosen: list[Row] = []
    for metric in wanted:
        own = [row for row in rows if row.comparison.metric == metric]
        chosen += [row for row in own if not row.group] or own
    return chosen


def _gated(differences: Differences, group: Mapping[str, str], c: Comparison) -> Gated:
    state, why = _state(c)
    if state == NONE and (lost := _lost(differences, group, c.metric)):
        state, why = INCONCLUSIVE, f"{lost}, so nothing is ruled out"
    named = f"{', '.join(group.values())}: " if group else ""
    return Gated(group, c, state, f"{named}{c.words}{f' {why[0].upper()}{why[1:]}.' if why else ''}")


def _state(c: Comparison) -> tuple[str, str]:
    """The state of a figure, and what its words do not say yet."""
    void = c.outcome in ("undefined", ANOTHER_JUDGE, ANOTHER_MEASURE)
    if void or c.difference is None or c.ci_low is None or c.ci_high is None:
        return INCONCLUSIVE, ""
    if c.outcome in ("same", "equivalent", "better"):
        return NONE, ""
    if c.higher_is_better is None:
        return INCONCLUSIVE, "it has no direction, so that no change of it is a regression"
    worse_end = c.ci_low if c.higher_is_better else -c.ci_high
    if c.margin is not None and worse_end > -c.margin:
        return NONE, f"the interval rules out that it is worse by {c.margin:.3g} or more"
    if c.outcome == "worse":
        return REGRESSION, ""
    if c.margin is None:
        return INCONCLUSIVE, f"without a margin (--margin {c.metric}=…) only a difference that is shown decides"
    return INCONCLUSIVE, f"the interval does not rule out that it is worse by {c.margin:.3g} or more"


def _lost(differences: Differences, group: Mapping[str, str], metric: str) -> str:
    """Why a figure rests on too few of its items to rule anything out; empty where it does not."""
    sides = (differences.side, differences.reference)
    counts = [_counts(side.stated(metric, group) or {}) for side in sides]
    for side, (unscored, _, total) in zip(sides, counts, strict=True):
        if unscored > float(side.results["parameters"].get("max_unscored", MAX_LOST)) * total:
            return f"{unscored} of {counted(total, 'item')} of {side.name} are unscored"
    (_, undefined, total), (_, before, total_before) = counts
    if abs(undefined - before) > MAX_LOST * max(total, total_before):
        return f"{undefined} of {counted(total, 'item')} are undefined, {before} of {total_before} were"
    alone = differences.only_side + differences.only_reference
    if alone > MAX_LOST * (alone + differences.n_shared):
        return f"{counted(alone, 'unit')} {'is' if alone == 1 else 'are'} in one of the two runs alone"
    gone = sorted(set(differences.reference.groups()) - set(differences.side.groups()))
    if gone and differences.side.groups() != [()] and len(differences.reference.groups()) > 1:
        return f"the previous run has {', '.join(' '.join(names) for names in gone)} too"
    return ""


def _counts(row: Mapping[str, Any]) -> tuple[int, int, int]:
    """Unscored, undefined, and all items of a figure."""
    n, unscored, undefined = (int(row.get(name) or 0) for name in ("n", "n_unscored", "n_undefined"))
    return unscored, undefined, n + unscored + undefined
