"""Scores that all touch an end of their scale, or are all alike: a bootstrap has no width, the number of units bounds the mean."""

from __future__ import annotations

import re

from evalbench.core.stats import Measured, no_width, wilson

ALL_AGREE = "all agree"
"""In the name of an interval whose bootstrap has no width."""


def scale_of(unit: str) -> tuple[float, float] | None:
    """The lowest and highest score of a unit that says them; None where it does not.

    Examples
    --------
    >>> scale_of("0–1"), scale_of("1–5"), scale_of("−1–1"), scale_of("words"), scale_of("0/1")
    ((0.0, 1.0), (1.0, 5.0), (-1.0, 1.0), None, (0.0, 1.0))
    """
    found = re.fullmatch(r"([−-]?[0-9.]+)(?:–| to |/)([0-9.]+)", unit)
    ends = tuple(float(end.replace("−", "-")) for end in found.groups()) if found else ()
    return (ends[0], ends[1]) if len(ends) == 2 and ends[0] < ends[1] else None


def at_an_end(value: float, n: int, scale: tuple[float, float] | None) -> tuple[float, float] | None:
    """Wilson's interval of a mean over n units all of which touch one end of the scale; None of others.

    It holds for any scores of the scale: the worst that a unit may be is its other end.

    Examples
    --------
    >>> [round(end, 2) for end in at_an_end(5.0, 20, (1.0, 5.0))], at_an_end(4.9, 20, (1.0, 5.0))
    ([4.36, 5.0], None)
    """
    if scale is None or n < 1 or value not in scale:
        return None
    least, most = scale
    low, high = (float(least + (most - least) * end) for end in wilson(n * (value == most), n))
    return (low, value) if value == most else (value, high)


def unlike_at_most(value: float, n: int, scale: tuple[float, float] = (0.0, 1.0)) -> tuple[float, float]:
    """The 95 % interval of a mean of scores of a scale that are alike on every unit, where a bootstrap has no width.

    Units of which so many are alike are unlike in a share of at most w, Wilson's upper end for 0 of n, and those may be
    anywhere: [v − (v − least) w, v + (most − v) w].  Of scores that are all 0 or all 1 this is Wilson's interval.  Of ratios of
    sums (F1) it supposes that a unit that is unlike weighs as much as one of those that are alike.

    Examples
    --------
    >>> [tuple(round(end, 2) for end in unlike_at_most(value, 20)) for value in (1.0, 0.5, 0.0)]
    [(0.84, 1.0), (0.42, 0.58), (0.0, 0.16)]
    """
    w = float(wilson(0, n)[1])
    return value - (value - scale[0]) * w, value + (scale[1] - value) * w


def with_width(found: Measured, n: int, scale: tuple[float, float], loss: int = 1) -> Measured:
    """The value with :func:`unlike_at_most` where its bootstrap has no width; else as it was.

    Parameters
    ----------
    n : int
        The units that were drawn.
    loss : int
        How fast a figure may fall with the share w of units that are unlike: to ``least + (value − least) (1 − w)^loss``.  1 for a
        mean; for a rank correlation of 1 over the units, with the outermost ones turned round, 2 (Kendall) or 3 (Spearman).

    Examples
    --------
    >>> with_width(Measured(1.0, 1.0, 1.0, 40), 40, (-1.0, 1.0)).ci_low.__round__(2)
    0.82
    >>> with_width(Measured(1.0, 0.9, 1.0, 40), 40, (-1.0, 1.0)).ci_low
    0.9
    """
    if (
        found.value is None
        or found.ci_low is None
        or found.ci_high is None
        or not no_width(found.ci_low, found.ci_high)
    ):
        return found
    w = 1 - (1 - float(wilson(0, n)[1])) ** loss
    low, high = (found.value + (end - found.value) * w for end in scale)
    note = "; ".join(part for part in found.note.split("; ") if "no width" not in part)
    return found._replace(ci_low=low, ci_high=high, method=f"Wilson over units, {ALL_AGREE}", note=note)


def perfect_agreement(found: Measured, n: int, by_chance: float) -> Measured:
    """An agreement of 1 with the bound of units that all agree, where its bootstrap has no width; else as it was.

    Of n units that agree a share w, Wilson's upper end for 0 of n, may disagree; if these differ as far as ratings that differ by
    chance, agreement is 1 − w / D, D being the share of ratings that differ by chance: exact for labels, for marks on a scale if
    disagreements are no larger than those by chance.

    Parameters
    ----------
    n : int
        The units that were drawn.
    by_chance : float
        D, above 0.

    Examples
    --------
    >>> perfect_agreement(Measured(1.0, 1.0, 1.0, 40), 40, 0.5).ci_low.__round__(2)
    0.82
    >>> perfect_agreement(Measured(0.9, 0.8, 1.0, 40), 40, 0.5).ci_low
    0.8
    """
    alike = found.ci_low is not None and found.ci_high is not None and no_width(found.ci_low, found.ci_high)
    if not alike or found.value is None or found.value < 1 - 1e-9 or by_chance <= 0:
        return found
    low = max(-1.0, 1 - float(wilson(0, n)[1]) / by_chance)
    note = "; ".join(part for part in found.note.split("; ") if "no width" not in part)
    return found._replace(ci_low=low, ci_high=1.0, method=f"Wilson over units, {ALL_AGREE}", note=note)
