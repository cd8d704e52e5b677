"""What a light or a gate rests on: enough units, all rows, and a headline figure that is not bad."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalbench.core.betting import SEQUENCE
from evalbench.core.clusters import CLUSTER, codes
from evalbench.core.measures import Columns, Measure, unit_sums
from evalbench.core.notes import Note
from evalbench.core.result import Estimate, Summary
from evalbench.core.stats import FEW_UNITS, no_width
from evalbench.core.verdict import Band, Bands
from evalbench.core.wording import count, counted, listed, percent
from evalbench.readers.strangers import differs_by

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Ints = npt.NDArray[np.int64]

ABSENT = "row_absent"
"""The items' column, True or False, of rows that a study filled in for units of which a group has no row."""
_ROUNDING = 1e-9
_MOST_NAMED = 3
_NO_WIDTH = re.compile(r"\[([−-]?[\d.]+), \1\]")


# -- how many units -------------------------------------------------------------------------------


def n_behind(columns: Columns, measure: Measure, units: npt.ArrayLike) -> int:
    """Units that a figure rests on: whose columns have values, and of several columns one that is not 0.

    A text without a true and a predicted entity has no share in F1, whatever else it holds.

    Examples
    --------
    >>> from evalbench.core.measures import f1_of
    >>> n_behind({"tp": [1, 0, 0], "fp": [0, 0, 0], "fn": [0, 2, 0]}, f1_of("tp", "fp", "fn"), ["a", "b", "c"])
    2
    """
    known = np.ones(len(np.asarray(units)), dtype=bool)
    for name in measure.sums:
        known &= np.isfinite(np.asarray(columns[name.removeprefix("#")], dtype=float))
    if len(measure.sums) == 1:
        return len(np.unique(np.asarray(units, dtype=str)[known]))
    sums, _ = unit_sums(columns, measure.sums, units)
    return int((sums != 0).any(axis=1).sum())


def too_few(e: Estimate, n: int | None = None, least: int = FEW_UNITS) -> str:
    """Why an estimate rests on too few units for a light; empty where it has enough, or no value.

    Parameters
    ----------
    n : int, optional
        The units that it rests on; by default the estimate's ``n``.
    least : int
        So many are enough.  An interval of a sequence holds for any number.

    Examples
    --------
    >>> too_few(Estimate(metric="f1", value=1.0, n=3)), too_few(Estimate(metric="f1", value=1.0, n=20))
    ('only 3 have a value and a light needs 20', '')
    """
    n = e.n if n is None else n
    if e.value is None or n >= least or SEQUENCE in e.method:
        return ""
    return f"only {'one has' if n == 1 else f'{count(n)} have'} a value and a light needs {least}"


class Gate(NamedTuple):
    """Whether something that rests on a figure is allowed.

    - ``why_not``: The reason, a clause; empty where it is allowed.
    - ``basis``: What it rests on, such as ``"on 6 of 240 outputs"``.
    """

    allowed: bool
    why_not: str
    basis: str


def gate(
    what: str,
    value: float | None,
    low: float | None,
    high: float | None,
    n: int,
    *,
    threshold: float,
    least: int = FEW_UNITS,
    of: int | None = None,
    unit: str = "item",
    at_most: bool = False,
) -> Gate:
    """Whether a figure allows what rests on it: enough units, and the near end of its interval reaches the threshold.

    Parameters
    ----------
    what : str
        The figure in words.
    low, high : float or None
        The ends of its interval.  Without them the value itself must reach the threshold, on ``least`` units all the same.
    n : int
        The units that it rests on.
    of : int, optional
        How many there are.
    at_most : bool
        Whether less is better: then the upper end must not exceed the threshold.

    Examples
    --------
    >>> gate("alpha", 1.0, 1.0, 1.0, 6, threshold=0.4, of=240, unit="output")
    Gate(allowed=False, why_not='alpha 1.00 [1.00, 1.00] rests on 6 of 240 outputs, 20 are needed', basis='on 6 of 240 outputs')
    >>> gate("alpha", 0.5, 0.3, 0.7, 60, threshold=0.4).why_not
    'the lower end of alpha 0.50 [0.30, 0.70] is below 0.4'
    """
    from evalbench.core.wording import rounded

    basis = f"on {count(n)} of {counted(of, unit)}" if of is not None else f"on {counted(n, unit)}"
    figure = f"{what} {rounded(value, low, high, cuts=[threshold])}"
    if value is None:
        return Gate(False, f"{what} has no value", basis)
    if n < least:
        return Gate(False, f"{figure} rests {basis}, {least} are needed", basis)
    end = value if low is None or high is None else high if at_most else low
    reached = end <= threshold + _ROUNDING if at_most else end >= threshold - _ROUNDING
    side = "above" if at_most else "below"
    if reached:
        return Gate(True, "", basis)
    near = "" if end == value else f"the {'upper' if at_most else 'lower'} end of "
    return Gate(False, f"{near}{figure} is {side} {threshold:g}", basis)


def without_width(summary: Summary) -> tuple[Note, ...]:
    """A note where the sentence has an interval without width: all units are alike, and no end of a scale bounds the others.

    Examples
    --------
    >>> from evalbench.core.verdict import Verdict
    >>> own = Estimate(metric="length", value=4.0, ci_low=4.0, ci_high=4.0, n=40)
    >>> without_width(Summary((own,), Verdict("unlit", "Length 4.0 [4.0, 4.0].")))[0].kind
    'sample'
    """
    flat = any(
        e.ci_low is not None and e.ci_high is not None and no_width(e.ci_low, e.ci_high) for e in summary.estimates
    )
    if not flat or not _NO_WIDTH.search(summary.verdict.sentence):
        return ()
    why = "since all resamples agree: it does not say how far other items may differ"
    return (Note("sample", f"an interval has no width, {why}"),)


# -- a headline figure beside the one that decides ------------------------------------------------


def floor_bands(floor: float) -> Bands:
    """The light of a headline figure that decides by nothing but a floor: yellow below it, else green.

    Beside the light of another figure, of which the worst decides, it makes that one at best yellow.

    Examples
    --------
    >>> str(floor_bands(0.5)), floor_bands(0.5).light(None)
    ('yellow: < 0.5; green: ≥ 0.5', 'grey')
    """
    return Bands((Band("yellow", high=floor - _ROUNDING), Band("green", low=floor - _ROUNDING)))


# -- rows that one group lacks --------------------------------------------------------------------


@dataclass(frozen=True)
class Absent:
    """Units of which a group has no row.

    - ``counts``: Group to the number of these, of the groups that lack some.
    - ``expected``: How many units each group should have.
    - ``unit``: In words, singular.
    - ``counted``: What became of them: ``"counted 0"``, ``"left out"``.
    - ``stated``: Whether an option says what absent means: then it holds no light back.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    expected: int = 0
    unit: str = "item"
    counted: str = "left out"
    stated: bool = False

    def in_words(self, group: str) -> str:
        """``"35 of 40 queries absent"``."""
        return f"{count(self.counts[group])} of {counted(self.expected, self.unit)} absent"

    def too_many(self, max_unscored: float) -> frozenset[str]:
        """The groups that lack a larger share, unless an option says what that means."""
        if self.stated:
            return frozenset()
        return frozenset(g for g, n in self.counts.items() if n > max_unscored * self.expected)

    def notes(self) -> tuple[Note, ...]:
        """The note of the first rank; none where no group lacks any."""
        if not self.counts:
            return ()
        most = sorted(self.counts, key=lambda g: -self.counts[g])
        named = [f"{self.in_words(g)}{f' ({g})' if g else ''}" for g in most]
        short = "; ".join(named)
        if len(most) > _MOST_NAMED:
            fewest, largest = self.counts[most[-1]], self.counts[most[0]]
            of = f"of {counted(self.expected, self.unit)} absent ({listed(most, _MOST_NAMED)})"
            short = f"{count(fewest)}{f' to {count(largest)}' if largest > fewest else ''} {of}"
        return (Note("absent", f"{short}, {self.counted}", f"{'; '.join(named)}, {self.counted}."),)


def absent_of(
    items: pd.DataFrame,
    by: str,
    units: str,
    *,
    expected: Collection[str] | None = None,
    unit: str = "item",
    counted: str = "",
    stated: bool = False,
) -> Absent:
    """The units that each group lacks: rows that a study filled in (column ``row_absent``), and units without a row.

    Parameters
    ----------
    expected : collection of str, optional
        The units that every group should have; by default all of the table, where the groups share most of theirs.
    unit : str
        A unit in words.
    counted : str
        What became of them; by default ``"counted 0"`` where rows were filled in, else ``"left out"``.
    stated : bool
        Whether an option of the study says what absent means.

    Examples
    --------
    >>> import pandas as pd
    >>> items = pd.DataFrame({"id": ["p", "q", "r", "p"], "model": ["a", "a", "a", "b"]})
    >>> absent_of(items, "model", "id", unit="query").notes()[0].short
    '2 of 3 queries absent (b), left out'
    """
    import pandas as pd

    whose, groups = groups_of(items, by)
    found, which = codes(items[units].astype(str).fillna(""))
    everything, there, filled = len(found), whose >= 0, ABSENT in items
    if expected is not None:
        due = {*map(str, expected)}
        everything, there = len(due), there & pd.Index(found).isin(due)[which]
    if filled:
        there &= ~items[ABSENT].to_numpy(dtype=bool)
    whose, which = pairs_of(whose[there], which[there], len(found))
    if expected is None and not filled and not _shared(whose, which, len(groups)):
        return Absent()
    lacks = everything - np.bincount(whose, minlength=len(groups))
    return Absent(
        {str(group): int(n) for group, n in zip(groups, lacks, strict=True) if n},
        everything,
        unit,
        counted or ("counted 0" if filled else "left out"),
        stated,
    )


def groups_of(items: pd.DataFrame, by: str) -> tuple[Ints, list[str]]:
    """The place of each item's group among their names, in few bytes, -1 without one; and the names, ascending: one without one where there are no groups."""
    import pandas as pd

    if by not in items or not items[by].notna().any():
        return np.zeros(len(items), dtype=np.int8), [""]
    whose, names = pd.factorize(items[by], sort=True)
    return whose.astype(np.min_scalar_type(-len(names))), [*map(str, names)]


def pairs_of(whose: Ints, which: Ints, n: int) -> tuple[Ints, Ints]:
    """The groups and the units that there are together, each pair once.

    - ``n``: How many units there are.

    Examples
    --------
    >>> [found.tolist() for found in pairs_of(np.array([1, 0, 1, 1]), np.array([2, 0, 2, 1]), 3)]
    [[0, 1, 1], [0, 1, 2]]
    """
    pairs = n * whose.astype(np.int64) + which
    pairs.sort()
    once = np.append(np.ones(min(1, len(pairs)), dtype=bool), pairs[1:] != pairs[:-1])
    return np.divmod(pairs if once.all() else pairs[once], max(1, n))


def same_but_for_writing(groups: Collection[str], by: str) -> tuple[Note, ...]:
    """A note where names of groups differ by case, blanks or signs alone: they may be one.

    Examples
    --------
    >>> same_but_for_writing(["gpt", "GPT", "llama"], "model")[0].short
    'GPT and gpt differ by case alone: are they one model?'
    """
    alike: dict[str, list[str]] = {}
    for name in sorted(map(str, groups)):
        alike.setdefault("".join(name.casefold().split()), []).append(name)
    clauses = [
        f"{first} and {other} differ by {differs_by(first, other)} alone: are they one {by.replace('_', ' ')}?"
        for first, *others in alike.values()
        for other in others
    ]
    return (Note("mixed", " ".join(clauses[:_MOST_NAMED]), " ".join(clauses)),) if clauses else ()


def needed(
    items: pd.DataFrame, measures: Sequence[Measure], units: str, also: Sequence[str] = ("unscored", "undefined")
) -> pd.DataFrame:
    """The columns of items that estimates are made of; without reasons those that comparisons are."""
    sums = [name.removeprefix("#") for measure in measures for name in measure.sums]
    return items[[name for name in dict.fromkeys([units, CLUSTER, *also, *sums]) if name in items]]


def without_absent(items: pd.DataFrame) -> pd.DataFrame:
    """The items without rows that were filled in."""
    return items[~items[ABSENT].astype(bool)] if ABSENT in items else items


def _shared(whose: Ints, which: Ints, n: int) -> bool:
    """Whether n groups have the same units: each shares at least half of its own with the one that has most.

    ``whose`` and ``which``: A group and a unit that it has, each pair once.
    """
    if n < 2:
        return False
    own = np.bincount(whose, minlength=n)
    if (own == which.max() + 1).all():
        return True
    of_largest = np.isin(which, which[whose == own.argmax()])
    return bool((2 * np.bincount(whose[of_largest], minlength=n) >= own).all())


def mark_absent(items: pd.DataFrame, by: str, units: str, *, found: str, due: str) -> pd.DataFrame:
    """The items with ``row_absent`` where a group found nothing though something is due, of groups that are nearly silent.

    For tables that have a row for each thing found, and none for a unit without any: a group that finds something in less
    than half as many units as another is taken to lack their rows.  Without such a group the items are as they were.

    Examples
    --------
    >>> import pandas as pd
    >>> items = pd.DataFrame({"id": ["p", "q", "r"] * 2, "model": list("aaabbb"), "found": [1, 1, 1, 1, 0, 0], "true": 1})
    >>> absent_of(mark_absent(items, "model", "id", found="found", due="true"), "model", "id").counts
    {'b': 2}
    """
    has = items[items[found] > 0].groupby(by)[units].nunique().reindex(items[by].unique(), fill_value=0)
    silent = has.index[2 * has < has.max()]
    if not len(silent):
        return items
    return items.assign(**{ABSENT: items[by].isin(silent) & (items[found] == 0) & (items[due] > 0)})


def unscored_share(e: Estimate, max_unscored: float) -> str:
    """How large a share is unscored, where that leaves too little for a light; else empty."""
    total = e.n + e.n_unscored + e.n_undefined
    return f"{percent(e.n_unscored / total, [max_unscored])} unscored" if e.n_unscored > max_unscored * total else ""


def trials_unscored(items: pd.DataFrame | None, max_unscored: float) -> str:
    """How large a share of the trials of a group is unscored, though their items are not, where that is too much for a light; else empty.

    Examples
    --------
    >>> import pandas as pd
    >>> trials_unscored(pd.DataFrame({"n_trials": [3, 3], "n_trials_lost": [1, 0]}), 0.05)
    '17% of trials unscored'
    """
    if items is None or "n_trials_lost" not in items:
        return ""
    lost, n = int(items["n_trials_lost"].sum()), int(items["n_trials"].sum())
    return f"{percent(lost / n, [max_unscored])} of trials unscored" if lost > max_unscored * n else ""
