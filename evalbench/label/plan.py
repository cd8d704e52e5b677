"""Which items people should label next: where judges disagree or a mark is near the threshold, and some at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.arrays import Floats, Indices
from evalbench.core.ppi import Corrected, corrected_mean, sampled_mean
from evalbench.core.seeds import rng
from evalbench.errors import BadInput
from evalbench.label.existing import Labels
from evalbench.label.marks import Marks

if TYPE_CHECKING:
    import pandas as pd

_Z = 1.959964
_MOST_STRATA = 10
_PER_STRATUM = 4
_DISAGREE = 0.15  # standard deviation of the judges, of the scale
_LEAST = 0.1  # of the greatest anticipated deviation: a judge may be wrong where it is sure
_PRIOR = 5  # labels that the anticipated deviation of a stratum is worth
UNMARKED = "no mark"


@dataclass(frozen=True)
class Stratum:
    """Items of like marks, and how many of them are drawn."""

    name: str
    size: int
    drawn: int
    deviation: float


class Width(NamedTuple):
    """What n labels would give: widths of 95 % intervals of the mean human mark, on the scale of the marks.

    - ``alone``: Labels alone, drawn at random.
    - ``random``: With the judge too, by its correlation with people.
    - ``planned``, ``proportional``: As planned, and drawn at random from the strata, if marks mean what they say.
    - ``r``, ``r_low``, ``r_high``: The correlation of judge and people on the labels that exist.
    - ``now``: The corrected mean from the labels that exist, see :func:`corrected`.
    - ``after``: The width with these and the planned labels.
    """

    alone: float
    random: dict[float, float]
    planned: float
    proportional: float
    r: float | None = None
    r_low: float | None = None
    r_high: float | None = None
    now: Corrected | None = None
    after: float | None = None


@dataclass(frozen=True)
class Plan:
    """The items to label next.

    - ``table``: One row per item: ids, texts, ``probability`` with which it was drawn, ``stratum``.
    - ``n_items``, ``n_labelled``: Items of the run, and those that are labelled already and so not drawn.
    """

    table: pd.DataFrame
    strata: tuple[Stratum, ...]
    width: Width
    n_items: int
    n_labelled: int


def plan_labels(
    marks: Marks, n: int, *, random_share: float = 0.25, labels: Labels | None = None, seed: int = 0
) -> Plan:
    """Draw n items for people to label.

    Strata are groups of like marks (with several judges, apart where they disagree).  Of n, ``random_share`` is spread over the
    strata by their size N_h, the rest by N_h σ_h (Neyman allocation), σ_h the deviation of people's marks that is anticipated: p(1 − p) with
    p the mark, moved so that it is ½ at the threshold, plus the judges' own variance, averaged over the stratum; with labels, pooled
    with the residuals seen.  Within a stratum items are drawn at random, so each has the probability n_h / N_h, never under
    about ``random_share`` · n / N.

    - ``n``: Of all items not labelled yet, at most all.
    - ``random_share``: Over 0, up to 1.
    - ``labels``: Those that exist, on the scale of the marks.

    Raises ``BadInput`` for n below 1, a share outside (0, 1], labels off the scale; nothing left to label.

    References
    ----------
    Neyman (1934), Journal of the Royal Statistical Society 97, 558–625; Cochran (1977), Sampling Techniques, section 5.5.
    """
    faults = [] if n >= 1 else [f"n is {n}; at least 1"]
    faults += [] if 0 < random_share <= 1 else [f"the random share is {random_share:g}; over 0, up to 1"]
    total = len(marks.items)
    given = np.full(total, np.nan) if labels is None else (labels.human - marks.low) / (marks.high - marks.low)
    if (off := given[(given < 0) | (given > 1)]).size:
        faults.append(
            f"{off.size} labels are off the scale {marks.low:g}–{marks.high:g} of the marks (--scale LOW HIGH)"
        )
    free = np.isnan(given)
    faults += [] if free.any() else ["every item is labelled already"]
    if faults:
        raise BadInput.listing("no plan can be made:", faults)
    n = min(n, int(free.sum()))
    mean = marks.mean
    which, names = strata_of(mean, marks.variance, _MOST_STRATA if n >= 2 * _PER_STRATUM else 1, n, free)
    if len(np.unique(which[free])) > n:
        which, names = np.zeros(total, dtype=np.int64), ["all items"]
    deviation = anticipated(mean, marks.variance, marks.threshold, which, given)
    size = np.bincount(which[free], minlength=len(names))
    drawn = allocation(n, size, deviation, random_share)
    chosen, probability = np.zeros(total, dtype=bool), np.full(total, np.nan)
    for h, name in enumerate(names):
        members = np.flatnonzero(free & (which == h))
        picked = rng(seed, "label/plan", name).permutation(len(members))[: drawn[h]]
        chosen[members[picked]] = True
        probability[members[picked]] = drawn[h] / size[h] if size[h] else np.nan
    table = marks.items[chosen].assign(probability=probability[chosen], stratum=[names[h] for h in which[chosen]])
    strata = tuple(
        Stratum(name, int(size[h]), int(drawn[h]), float(deviation[h])) for h, name in enumerate(names) if size[h]
    )
    weights = None if labels is None else np.nan_to_num(1 / labels.probability, nan=1.0)
    width = expected(marks, given, n, size, drawn, deviation, weights)._replace(now=corrected(marks, labels))
    return Plan(table.reset_index(drop=True), strata, width, total, int((~free).sum()))


def strata_of(
    mean: Floats, variance: Floats, most: int, n: int, free: Floats | None = None
) -> tuple[Indices, list[str]]:
    """The stratum of each item, and the strata's names: like marks, apart where judges disagree; small ones joined.

    Examples
    --------
    >>> which, names = strata_of(np.array([0, 0, 1, 1, np.nan]), np.zeros(5), 10, 40)
    >>> which.tolist(), names
    ([0, 0, 1, 1, 2], ['mark 0', 'mark 1', 'no mark'])
    """
    known = ~np.isnan(mean)
    wanted = max(1, min(most, n // _PER_STRATUM))
    distinct = np.unique(mean[known].round(9))
    if len(distinct) <= wanted:
        edges = distinct
    else:
        cuts: Any = np.quantile(mean[known], np.arange(1, wanted) / wanted, method="higher") if wanted > 1 else []
        edges = np.unique([distinct[0], *cuts])
    group = np.clip(np.searchsorted(edges, mean.round(9), side="right") - 1, 0, None)
    names: list[str] = []
    which = np.zeros(len(mean), dtype=np.int64)
    for g in range(len(edges)):
        inside = known & (group == g)
        if not inside.any():
            continue
        low, high = float(mean[inside].min()), float(mean[inside].max())
        name = f"mark {low:.2g}" if high - low < 1e-9 else f"mark {low:.2g}–{high:.2g}"
        apart = inside & (np.sqrt(variance) > _DISAGREE)
        for part, words in ((inside & ~apart, name), (apart, f"{name}, judges disagree")):
            if part.any():
                which[part] = len(names)
                names.append(words if words not in names else f"{words} ({g + 1})")
    if not known.all():
        which[~known] = len(names)
        names.append(UNMARKED)
    return which, names


def anticipated(mean: Floats, variance: Floats, threshold: float, which: Indices, human: Floats) -> Floats:
    """The deviation σ_h of people's marks around the judge that is expected in each stratum; 0–1."""
    m = np.where(np.isnan(mean), threshold, mean)
    p = np.where(m <= threshold, 0.5 * m / threshold, 0.5 + 0.5 * (m - threshold) / (1 - threshold))
    count = np.maximum(np.bincount(which), 1)
    prior = np.minimum(np.bincount(which, weights=p * (1 - p) + variance) / count, 0.25)
    prior = np.maximum(prior, (_LEAST**2) * max(float(prior.max()), 0.01))
    seen = ~np.isnan(human)
    if not seen.any():
        return np.sqrt(prior)
    squares = np.bincount(
        which[seen], weights=(human - np.where(np.isnan(mean), 0.5, mean))[seen] ** 2, minlength=len(prior)
    )
    labels = np.bincount(which[seen], minlength=len(prior))
    return np.sqrt((_PRIOR * prior + squares) / (_PRIOR + labels))


def allocation(n: int, size: Indices, deviation: Floats, random_share: float) -> Indices:
    """How many of n are drawn from each stratum: whole numbers that add up to n, at least two where there is room.

    Examples
    --------
    >>> allocation(20, np.array([50, 50]), np.array([0.1, 0.4]), 0.25).tolist()
    [6, 14]
    """
    wanted = random_share * size / size.sum() + (1 - random_share) * size * deviation / (size * deviation).sum()
    least = np.minimum(2 if n >= 2 * (size > 0).sum() else 1 if n >= (size > 0).sum() else 0, size)
    drawn = least.copy()
    while (rest := n - int(drawn.sum())) > 0:
        room = size - drawn
        lack = np.where(room > 0, np.maximum(wanted * n - drawn, 0), 0.0)
        lack = np.where(room > 0, lack if lack.sum() > 0 else room, 0.0)
        share = lack / lack.sum() * rest
        step = np.minimum(np.floor(share).astype(np.int64), room)
        if not step.any():
            order = np.argsort(-(share - np.floor(share)), kind="stable")
            step[order[room[order] > 0][:rest]] = 1
            step = np.minimum(step, room)
        drawn = drawn + step
    return drawn


def expected(
    marks: Marks, human: Floats, n: int, size: Indices, drawn: Indices, deviation: Floats, weights: Floats | None = None
) -> Width:
    """Widths of the 95 % interval that n labels would give, see :class:`Width`; ``weights`` are those of the labels (n_items,)."""
    weights = np.ones(len(marks.items)) if weights is None else weights
    mean = marks.mean[~np.isnan(marks.mean)]
    total, seen = len(marks.items), ~np.isnan(human)
    spread = marks.high - marks.low
    p = float(mean.mean()) if mean.size else 0.5
    var = _variance(human[seen], weights[seen]) if seen.sum() >= 2 else max(p * (1 - p), 1e-4)
    m = int(seen.sum())

    def of(variance: float) -> float:
        return 2 * _Z * spread * float(np.sqrt(max(variance, 0.0)))

    def with_judge(r: float, labels: int) -> float:
        return of(var / labels * (1 - r**2 * (total - labels) / total))

    share = size[size > 0] / size.sum()
    sigma, taken = deviation[size > 0], np.maximum(drawn[size > 0], 1)
    between = var / total
    r, low, high = _correlation(marks.mean, human, weights)
    return Width(
        of(var / n),
        {value: with_judge(value, n) for value in (0.3, 0.5, 0.7)},
        of(float((share**2 * sigma**2 / taken).sum()) + between),
        of(float((share * sigma**2).sum()) / n + between),
        r,
        low,
        high,
        None,
        with_judge(max(r, 0.0), m + n) if r is not None else None,
    )


def corrected(marks: Marks, labels: Labels | None) -> Corrected | None:
    """The mean human mark over all items, from the labels that exist: by the probabilities with which a plan drew them, else as if
    they were drawn at random; None without labels, or where the probabilities are not those of one plan over all items.
    """
    if labels is None or np.isnan(labels.human).all():
        return None
    judged = marks.low + (marks.high - marks.low) * marks.mean
    drawn = ~np.isnan(labels.probability)
    if not drawn.any():
        return corrected_mean(judged, labels.human)
    whole = float((1 / labels.probability[drawn]).sum())
    if (~np.isnan(labels.human) & ~drawn).any() or abs(whole - len(judged)) > 0.01 * len(judged):
        return None
    return sampled_mean(judged, labels.human, labels.probability, labels.stratum)


def _variance(values: Floats, weights: Floats) -> float:
    centre = np.average(values, weights=weights)
    return float(np.average((values - centre) ** 2, weights=weights)) * len(values) / (len(values) - 1)


def _correlation(mean: Floats, human: Floats, weights: Floats) -> tuple[float | None, float | None, float | None]:
    """Pearson's r of judge and people over all items, labels weighted by how many they are drawn for, and its 95 % interval by
    Fisher's z with the effective number of labels (Σw)² / Σw².
    """
    both = ~np.isnan(mean) & ~np.isnan(human)
    f, y, w = mean[both], human[both], weights[both]
    n = float(w.sum() ** 2 / (w**2).sum()) if both.any() else 0.0
    if n < 4 or np.ptp(f) == 0 or np.ptp(y) == 0:
        return None, None, None
    f, y = f - np.average(f, weights=w), y - np.average(y, weights=w)
    r = float(np.clip((w * f * y).sum() / np.sqrt((w * f**2).sum() * (w * y**2).sum()), -0.999999, 0.999999))
    half = _Z / np.sqrt(n - 3)
    return r, float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))


def saving(r: float) -> float:
    """At most so many times fewer labels are needed with a judge of this correlation: 1 / (1 − r²).

    Examples
    --------
    >>> round(saving(0.39), 2)
    1.18
    """
    return 1 / (1 - r**2)
