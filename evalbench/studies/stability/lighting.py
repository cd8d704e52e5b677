"""When a drop is shown, and when there are too few items to say: from bootstrap replicates to a light for each augmentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from evalbench import core, kit

LIGHT_ON = "ci"
LIGHTS_ON = (LIGHT_ON, "estimate")
GREEN, YELLOW = 5.0, 10.0
ALPHA = 0.025
"""One-sided: the lower end of a 95 % interval."""
_WORST_FIRST = ("red", "yellow", "grey", "green")


class Drops(NamedTuple):
    """The drops of augmentations, a column each.

    - ``value``, ``low``, ``high``, ``above`` ((g,) arrays): Percentage points; NaN where there is none. ``above``: mean
      score before, above the metric's worst.
    - ``replicates`` ((r, g) array): Bootstrap of each.
    - ``n`` ((g,) array): Items with a value.
    - ``family`` ((g,) array of int): Whose drops are adjusted together.
    """

    value: core.Floats
    low: core.Floats
    high: core.Floats
    above: core.Floats
    replicates: core.Floats
    n: Any
    family: Any


def bands_of(thresholds: tuple[float, float] | None = None) -> core.verdict.Bands:
    """Green below the first threshold, red above the second; the document's own, or thresholds that take the better light.

    Examples
    --------
    >>> str(bands_of()), bands_of().light(5.0), bands_of((5, 10)).light(5.0)
    ('green: < 5; yellow: [5, 10]; red: > 10', 'yellow', 'green')
    """
    if thresholds is None:
        low, high = GREEN - kit.verdicts.ROUNDING, YELLOW + kit.verdicts.ROUNDING
        middle = core.verdict.Band("yellow", low, high, high_closed=True)
        return core.verdict.Bands(
            (core.verdict.Band("green", high=low), middle, core.verdict.Band("red", high, low_closed=False))
        )
    low, high = (cut + kit.verdicts.ROUNDING for cut in thresholds)
    middle = core.verdict.Band("yellow", low, high, low_closed=False, high_closed=True)
    return core.verdict.Bands(
        (
            core.verdict.Band("green", high=low, high_closed=True),
            middle,
            core.verdict.Band("red", high, low_closed=False),
        )
    )


def all_agree(drop: float, above: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """The interval of a drop that is the same in each of n items, which no resample can give.

    At least ``w = n / (n + z²)`` of all items (Wilson's bound for n of n) drop so; the others rise to the best score or fall to the
    worst: ``w · drop − (1 − w)(100 − above)`` to ``w · drop + (1 − w) · above``.

    - ``drop``: Percentage points.
    - ``above``: Mean score before, percentage points above the worst.

    Examples
    --------
    >>> [round(end, 1) for end in all_agree(0.0, 100.0, 40)], [round(end, 1) for end in all_agree(0.0, 60.0, 10)]
    ([0.0, 8.8], [-11.1, 16.7])
    """
    w = n / (n + float(ndtri(0.5 + level / 2)) ** 2)
    return w * drop - (1 - w) * max(100 - above, 0.0), w * drop + (1 - w) * max(above, 0.0)


def unseen(drop: float, above: float, n: int, *, fell: bool, rose: bool, level: float = 0.95) -> tuple[float, float]:
    """How far the ends of an interval lie from a drop at least, where none of n items fell, or none rose; else the drop itself.

    As in :func:`all_agree`, a share of up to ``1 − w`` may: ``drop + (1 − w) · above`` where no item fell, ``drop − (1 − w)(100 − above)``
    where none rose.  Resamples hold only what the items hold.

    Examples
    --------
    >>> [round(end, 1) for end in unseen(-1.0, 80.0, 100, fell=False, rose=True)]
    [-1.0, 2.0]
    """
    z = float(ndtri(0.5 + level / 2))
    share = z**2 / (n + z**2)
    return drop - (0 if rose else share * max(100 - above, 0.0)), drop + (0 if fell else share * max(above, 0.0))


def _p_agree(drop: float, above: float, n: int, limit: float) -> float:
    """One-sided p of drops that all agree: at which level the lower end of :func:`all_agree` is the limit."""
    if drop <= limit:
        return 1.0
    other = -max(100 - above, 0.0)
    w = (limit - other) / (drop - other)
    return 0.0 if w <= 0 else float(1 - ndtr(np.sqrt(n * (1 - w) / w)))


def p_values(drops: Drops, limit: float, at: core.Floats | None = None) -> core.Floats:
    """How improbable it is that the drop is at most the limit: one-sided, (1 + k) / (1 + r) for k of r replicates at or below it.

    Where there is none, the tail of a normal distribution with the replicates' spread, if that is less.

    - ``limit``: Percentage points.
    - ``at`` ((b, g) array, optional): Other values than the drops' own, with intervals of the same width.

    Returns ((b, g) array): NaN without a value; (1, g) without ``at``.
    """
    values = drops.value[None, :] if at is None else at
    out = np.full(values.shape, np.nan)
    r = len(drops.replicates)
    for j in np.flatnonzero(~np.isnan(drops.value)):
        own = drops.replicates[:, j]
        own = np.sort(own[~np.isnan(own)])
        if not own.size or r == 1:
            out[:, j] = np.where(values[:, j] > limit, 0.0, 1.0) if r == 1 else 1.0
        elif core.stats.no_width(own[0], own[-1]):
            out[:, j] = _p_agree(float(drops.value[j]), float(drops.above[j]), int(drops.n[j]), limit)
        else:
            below = np.searchsorted(own, limit - values[:, j] + drops.value[j], side="right")
            # Beyond the last replicate the tail is a normal one: else many augmentations would need ever more resamples.
            tail = ndtr((limit - values[:, j]) / own.std(ddof=1))
            out[:, j] = np.where(below > 0, (1 + below) / (1 + own.size), np.minimum(tail, 1 / (1 + own.size)))
    return np.where(np.isnan(values), np.nan, out)


def holm_rows(p: core.Floats, family: Any) -> core.Floats:
    """Holm's adjustment of each row over each family; NaN is not a test.

    Examples
    --------
    >>> holm_rows(np.array([[0.01, 0.04, np.nan, 0.02]]), [0, 0, 0, 1]).tolist()
    [[0.02, 0.04, nan, 0.02]]
    """
    out = np.full(p.shape, np.nan)
    labels = np.asarray(family)
    for one in np.unique(labels):
        at = np.flatnonzero(labels == one)
        own = p[:, at]
        order = np.argsort(own, axis=1, kind="stable")  # NaN last
        m = (~np.isnan(own)).sum(axis=1, keepdims=True)
        ordered = np.take_along_axis(own, order, axis=1) * np.maximum(m - np.arange(len(at)), 1)
        adjusted = np.minimum(np.maximum.accumulate(ordered, axis=1), 1)
        back = np.empty_like(own)
        np.put_along_axis(back, order, adjusted, axis=1)
        out[:, at] = back
    return out


def lights_of(drops: Drops, light_on: str, bands: core.verdict.Bands, at: core.Floats | None = None) -> Any:
    """The light of each augmentation.

    ``estimate``: that of the drop, grey of fewer than 20 items.  ``ci``: red or yellow where the drop is shown to lie there (Holm's p ≤ 0.025, one-sided), green where
    it lies in the green and the upper end of its interval not in the red, else grey.  Either way a green light is grey where the score before is
    so low that it cannot fall into the red.

    - ``light_on`` ({"ci", "estimate"})
    - ``at`` ((b, g) array, optional): See :func:`p_values`.

    Returns: (b, g) array of str.
    """
    values = drops.value[None, :] if at is None else at
    yellow, red = bands.cuts
    if light_on == "estimate":
        lights = np.where(drops.n < core.stats.FEW_UNITS, "grey", bands.lights(values))
    else:
        # A value at a cut has the light of its band: what is shown is that the drop lies beyond the lower one.
        below = (
            yellow - 2 * kit.verdicts.ROUNDING
            if bands.light(yellow) == "yellow"
            else yellow + 2 * kit.verdicts.ROUNDING
        )
        shown = [
            holm_rows(p_values(drops, cut, at), drops.family) <= ALPHA
            for cut in (below, red + 2 * kit.verdicts.ROUNDING)
        ]
        high = drops.high[None, :] + (values - drops.value[None, :])
        unknown = (bands.lights(values) != "green") | (bands.lights(high) == "red")
        lights = np.select([np.isnan(high), shown[1], shown[0], unknown], ["grey", "red", "yellow", "grey"], "green")
    low_start = np.broadcast_to(bands.lights(drops.above) != "red", values.shape)
    return np.where((lights == "green") & low_start, "grey", lights)


def held_together(drops: Drops, at: int, bands: core.verdict.Bands) -> str:
    """Why a drop whose own interval lies in the red is not shown to: several are tested together; empty elsewhere."""
    n = int(np.sum(np.asarray(drops.family) == drops.family[at]))
    if n < 2 or np.isnan(drops.low[at]) or bands.light(float(drops.low[at])) != "red":
        return ""
    return f" once {n} augmentations are tested together (Holm), though its own interval lies above"


def worst_of(lights: Any) -> Any:
    """The worst light of each row."""
    rank = np.select([lights == light for light in _WORST_FIRST], range(len(_WORST_FIRST)), default=len(_WORST_FIRST))
    return np.array([*_WORST_FIRST, "unlit"])[rank.min(axis=1)]


def stability_of(
    drops: Drops, at: core.Floats, held: Sequence[bool], light_on: str, bands: core.verdict.Bands, light: str
) -> float | None:
    """The share of resamples of all items with the same light, intervals as wide as those of all items.

    - ``at`` ((b, g) array): The drops in resamples that all augmentations share.
    - ``held`` ((g,) sequence of bool): Whose lights are grey whatever is drawn.
    - ``light_on``, ``bands``: See :func:`lights_of`.
    """
    if not at.size:
        return None
    lights = lights_of(drops, light_on, bands, at)
    lights = np.where(np.asarray(held, dtype=bool)[None, :], "grey", lights)
    return float(np.mean(worst_of(lights) == light))
