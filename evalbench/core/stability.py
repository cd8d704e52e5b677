"""How stable a light is where several groups or figures decide together: one joint bootstrap for every study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.clusters import drawn_together
from evalbench.core.measures import Columns, Measure, unit_sums
from evalbench.core.seeds import rng
from evalbench.core.stats import bootstrap_sums
from evalbench.core.verdict import Bands, Light, Rules, worst_lights


class Lit(NamedTuple):
    """One figure of one group that has a say in the light.

    - ``columns`` (mapping of str to (n,) arrays): The group's items.
    - ``units`` ((n,) array): The resampling unit of each item; the groups share their units' names. Clusters take their
      place where the columns hold some.
    - ``measure``: With bands.
    - ``held``: Evidence holds it back: grey, whatever is drawn.
    """

    columns: Columns
    units: npt.ArrayLike
    measure: Measure
    held: bool = False


def joint_stability(lit: Sequence[Lit], light: Light, *, seed: int, n_resamples: int = 2000) -> float | None:
    """The share of resamples in which the worst of all lights is this one.

    In every resample as many units are drawn, with replacement, as there are in any of the groups together; every figure
    of every group is computed anew from these same units, and the worst light decides.  A group has no share in a unit
    that it lacks; one that has nothing of what was drawn is grey, as is a figure without a value.

    Parameters
    ----------
    light : Light
        The light of the figures themselves.

    Returns
    -------
    float or None
        0–1; None with fewer than two units, or where nothing is lit.

    Examples
    --------
    >>> from evalbench.core.measures import mean_of
    >>> from evalbench.core.verdict import Bands
    >>> score = mean_of("score", bands=Bands.cut("red", 0.4, "green"))
    >>> joint_stability([Lit({"score": [1, 1, 1, 1]}, list("abcd"), score)], "green", seed=0)
    1.0
    """
    if not lit:
        return None
    done = [unit_sums(one.columns, one.measure.sums, drawn_together(one.columns, one.units)) for one in lit]
    every = np.unique(np.concatenate([ids for _, ids in done]))
    if len(every) < 2:
        return None
    ends = np.cumsum([0, *(len(one.measure.sums) for one in lit)])
    table = np.zeros((len(every), int(ends[-1])))
    for begin, (sums, ids) in zip(ends[:-1], done, strict=True):
        table[np.searchsorted(every, ids), begin : begin + sums.shape[1]] = sums
    drawn = bootstrap_sums(table, lambda sums: sums, rng(seed, "bootstrap/light"), n_resamples)
    lights = [_lights(one, drawn[:, a:b]) for one, a, b in zip(lit, ends[:-1], ends[1:], strict=True)]
    return float(np.mean(worst_lights(lights) == light))


def _lights(one: Lit, sums: npt.NDArray[np.float64]) -> npt.NDArray[np.str_]:
    if one.held or one.measure.bands is None:
        return np.full(len(sums), "grey" if one.held else "unlit", dtype="<U6")
    return one.measure.bands.lights(one.measure.value(*sums.T))


def light_stability(
    rule: Bands | Rules, replicates: npt.ArrayLike | Mapping[str, npt.ArrayLike], light: Light
) -> float | None:
    """The share of resamples that give the same light.

    Parameters
    ----------
    replicates : (r,) array for Bands, mapping of figure to (r,) arrays for Rules
        Replicates from one set of resamples; an undefined one (NaN) gives grey.
    light : Light
        The light of the figures themselves.

    Returns
    -------
    float or None
        0–1; None where nothing was resampled.

    Examples
    --------
    >>> light_stability(Bands.cut("red", 0.4, "green"), [0.3, 0.5, 0.6, 0.7], "green")
    0.75
    """
    if isinstance(rule, Rules):
        if not isinstance(replicates, Mapping):
            raise TypeError("Rules need the replicates of each figure by name")
        lights = rule.lights(replicates)
    else:
        if isinstance(replicates, Mapping):
            raise TypeError("Bands judge one figure: give its replicates alone")
        lights = rule.lights(replicates)
    return float(np.mean(lights == light)) if lights.size else None
