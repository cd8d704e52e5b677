"""A judge's pass rate, corrected by the items that people labelled: two ways, by how the labels were drawn."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from evalbench.core.arrays import Floats
from evalbench.core.ppi import Corrected

LEAST_SKILL = 0.1
"""A judge whose sensitivity and specificity add up to less than 1 + this is too near to a coin to be corrected."""
LEAST_OF_CLASS = 2
"""Labels of each class that sensitivity and specificity need at least."""


def post_stratified_rate(judged: npt.ArrayLike, human: npt.ArrayLike, *, level: float = 0.95) -> Corrected:
    """Share of good items, from a judge's 0/1 verdict on all and human labels on a random part of them.

    p = q a + (1 − q) b, with q the judge's pass rate over all n items, and a and b the share of good ones among the labelled
    that it passed and failed, each with one good and one bad item added: a = (k₁ + 1)/(m₁ + 2), b = (k₀ + 1)/(m₀ + 2).
    Half-width z √(q² a(1 − a)/(m₁ + 2) + (1 − q)² b(1 − b)/(m₀ + 2) + (a − b)² q(1 − q)/n), clipped to [0, 1].

    Parameters
    ----------
    judged : (n,) array of 0 and 1
        The judge's verdicts; an item with NaN is left out.
    human : (n,) array of 0 and 1
        The human label; NaN where the item was not labelled.  Labelled items are a random part of all.

    Returns
    -------
    Corrected
        ``trust`` is None.

    Raises
    ------
    ValueError
        For arrays of different lengths, or a value that is neither 0 nor 1 nor NaN.

    Notes
    -----
    The 95 % interval covers 95–97 % at 50–100 labels, simulated in ``tests/core/test_judged_rates.py``, where
    :func:`evalbench.core.ppi.corrected_mean` covers 88–94 %.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 5A.9; Agresti & Coull (1998), The American Statistician 52, 119–126, for the
    items added.

    Examples
    --------
    >>> nan = np.nan
    >>> found = post_stratified_rate([1] * 80 + [0] * 20, [1] * 15 + [0] * 5 + [nan] * 60 + [0] * 10 + [nan] * 10)
    >>> round(found.naive, 2), round(found.value, 3)
    (0.8, 0.598)
    """
    f, y = _zero_one(judged, human)
    labelled = ~np.isnan(y)
    n, m = len(f), int(labelled.sum())
    if not m:
        note = "no judged item has a human label"
        return Corrected(None, naive=float(f.mean()) if n else None, n_unlabelled=n, note=note)
    q = float(f.mean())
    share, spread = 0.0, 0.0
    rates = []
    for verdict, weight in ((1.0, q), (0.0, 1 - q)):
        of = labelled & (f == verdict)
        trials = int(of.sum()) + 2
        rate = (float(y[of].sum()) + 1) / trials
        share += weight * rate
        spread += weight**2 * rate * (1 - rate) / trials
        rates.append(rate)
    of_labels = spread
    spread += (rates[0] - rates[1]) ** 2 * q * (1 - q) / n
    half = _z(level) * math.sqrt(spread)
    ends = max(0.0, share - half), min(1.0, share + half)
    return Corrected(
        share, *ends, q, float(y[labelled].mean()), None, m, n - m, of_labels=of_labels / spread if spread else None
    )


def rogan_gladen_rate(judged: npt.ArrayLike, human: npt.ArrayLike, *, level: float = 0.95) -> Corrected:
    """Share of good items among the unlabelled, from a judge's 0/1 verdicts and its errors on labels from elsewhere.

    p = (q + sp − 1)/(se + sp − 1), clipped to [0, 1]: q is the pass rate over the n items without a label, se the share of
    passed among the n₁ labelled good, sp of failed among the n₀ labelled bad.  For labels chosen by class or taken from another
    sample, whose share of good items says nothing of this one.  The interval is Lang and Reiczigel's: with
    q′ = (n q + z²/2)/(n + z²), se′ = (n₁ se + 1)/(n₁ + 2), sp′ = (n₀ sp + 1)/(n₀ + 2), s = se′ + sp′ − 1, p′ = (q′ + sp′ − 1)/s and
    d = 2z² (p′ se′(1 − se′)/(n₁ + 2) − (1 − p′) sp′(1 − sp′)/(n₀ + 2)), it is p′ + d ± z/s · √(q′(1 − q′)/(n + z²) +
    p′² se′(1 − se′)/(n₁ + 2) + (1 − p′)² sp′(1 − sp′)/(n₀ + 2)), clipped to [0, 1].

    Parameters
    ----------
    judged, human, level
        As in :func:`post_stratified_rate`; labelled items are not a random part.

    Returns
    -------
    Corrected
        Without a value, and with the reason in ``note``, where a class has fewer than two labels, or se + sp − 1 < 0.1.

    Raises
    ------
    ValueError
        As in :func:`post_stratified_rate`.

    References
    ----------
    Rogan & Gladen (1978), American Journal of Epidemiology 107, 71–76; Lang & Reiczigel (2014), Preventive Veterinary Medicine
    113, 13–22.

    Examples
    --------
    >>> labels = [1] * 50 + [0] * 50 + [np.nan] * 200
    >>> verdicts = [1] * 45 + [0] * 5 + [1] * 10 + [0] * 40 + [1] * 110 + [0] * 90
    >>> found = rogan_gladen_rate(verdicts, labels)
    >>> round(found.naive, 2), round(found.value, 2)
    (0.55, 0.5)
    """
    f, y = _zero_one(judged, human)
    labelled = ~np.isnan(y)
    good, bad, rest = labelled & (y == 1), labelled & (y == 0), ~labelled
    n, n_good, n_bad, m = int(rest.sum()), int(good.sum()), int(bad.sum()), int(labelled.sum())
    q = float(f[rest].mean()) if n else None
    known = Corrected(None, naive=q, human=float(y[labelled].mean()) if m else None, n_labelled=m, n_unlabelled=n)
    if q is None:
        return known._replace(note="every judged item has a label: none is left whose rate would be estimated")
    if min(n_good, n_bad) < LEAST_OF_CLASS:
        return known._replace(
            note=f"labels of both classes are needed, at least {LEAST_OF_CLASS} each: {n_good} good and {n_bad} bad"
        )
    se, sp = float(f[good].mean()), float(1 - f[bad].mean())
    if se + sp - 1 < LEAST_SKILL:
        return known._replace(
            note=f"the judge passes {se:.0%} of the good and {1 - sp:.0%} of the bad items, too nearly the same to be corrected"
        )
    z = _z(level)
    q_, se_, sp_ = (n * q + z * z / 2) / (n + z * z), (n_good * se + 1) / (n_good + 2), (n_bad * sp + 1) / (n_bad + 2)
    skill = se_ + sp_ - 1
    p_ = (q_ + sp_ - 1) / skill
    of_good, of_bad = se_ * (1 - se_) / (n_good + 2), sp_ * (1 - sp_) / (n_bad + 2)
    middle = p_ + 2 * z * z * (p_ * of_good - (1 - p_) * of_bad)
    of_labels = p_**2 * of_good + (1 - p_) ** 2 * of_bad
    spread = q_ * (1 - q_) / (n + z * z) + of_labels
    half = z * math.sqrt(spread) / skill
    value, low, high = (min(1.0, max(0.0, x)) for x in ((q + sp - 1) / (se + sp - 1), middle - half, middle + half))
    low, high = min(low, value), max(high, value)
    return known._replace(value=value, ci_low=low, ci_high=high, of_labels=of_labels / spread)


def _zero_one(judged: npt.ArrayLike, human: npt.ArrayLike) -> tuple[Floats, Floats]:
    f, y = np.asarray(judged, dtype=float), np.asarray(human, dtype=float)
    if f.shape != y.shape or f.ndim != 1:
        raise ValueError(f"one human label (or NaN) for each verdict is needed: shapes {f.shape} and {y.shape}")
    for what, values in (("verdict", f), ("label", y)):
        if not (np.isnan(values) | np.isin(values, (0.0, 1.0))).all():
            raise ValueError(f"a {what} is neither 0 nor 1")
    judged_at_all = ~np.isnan(f)
    return f[judged_at_all], y[judged_at_all]


def _z(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}")
    return float(ndtri(0.5 + level / 2))
