"""Quantiles with intervals that assume no distribution."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from evalbench.core.stats import Measured


def quantile(values: npt.ArrayLike, q: float, level: float = 0.95) -> Measured:
    """A quantile with the interval between two of the values in order.

    The number of values below the true quantile is binomial (n, q): the ends are the values at its
    (1 ± level) / 2 quantiles. An end that no value reaches is missing, and the note says so.

    Parameters
    ----------
    values : (n,) array of float
        NaN is left out.
    q : float
        Strictly between 0 and 1.

    Returns
    -------
    Measured
        The value is interpolated linearly.

    References
    ----------
    Conover (1999), Practical Nonparametric Statistics, section 3.2.

    Examples
    --------
    >>> found = quantile(range(1, 101), 0.5)
    >>> found.value, found.ci_low, found.ci_high
    (50.5, 40.0, 61.0)
    >>> quantile([1.0, 2.0], 0.99).note
    'too few values for an upper end'
    """
    from scipy.stats import binom

    known = np.sort(np.asarray(values, dtype=float))
    known = known[np.isfinite(known)]
    n = len(known)
    if not n:
        return Measured(None, note="no values")
    value = float(np.quantile(known, q))
    tail = (1 - level) / 2
    below, above = int(binom.ppf(tail, n, q)), int(binom.ppf(1 - tail, n, q))
    low = float(known[below - 1]) if below >= 1 else None
    high = float(known[above]) if above < n else None
    missing = [name for name, end in (("a lower", low), ("an upper", high)) if end is None]
    note = f"too few values for {' and '.join(missing)} end" if missing else ""
    return Measured(value, low, high, n, "order statistics", note)


def throughput(amounts: npt.ArrayLike, seconds: npt.ArrayLike, wall: float, level: float = 0.95) -> Measured:
    """An amount per second of requests that follow one another, several chains of them at a time.

    ``Σ xᵢ / wall``, with an interval of the same relative width as that of the ratio r = Σ xᵢ / Σ tᵢ by the delta method:
    ± t √(n/(n−1) Σ (xᵢ − r tᵢ)²) / Σ xᵢ.

    Parameters
    ----------
    amounts, seconds : (n,) arrays of float
        Of each request: its tokens, say, 0 where it failed, and how long it took.
    wall : float
        Seconds from the first request to the last reply.

    Returns
    -------
    Measured
        Without a value where nothing was asked, without an interval for one request.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 2.11 (the variance of a ratio).

    Examples
    --------
    >>> found = throughput([10, 10, 12, 8], [1.0, 1.0, 1.2, 0.8], 2.0)
    >>> found.value, round(found.ci_high - found.ci_low, 9)
    (20.0, 0.0)
    """
    from scipy.special import stdtrit

    x, t = np.asarray(amounts, dtype=float), np.asarray(seconds, dtype=float)
    n = len(x)
    if not n or wall <= 0:
        return Measured(None, note="no replies")
    value = float(x.sum()) / wall
    if n < 2 or not x.sum():
        return Measured(value, n=n, note="no interval: one request" if n < 2 else "no interval: nothing came")
    rest = x - x.sum() / t.sum() * t
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * math.sqrt(n / (n - 1) * float((rest**2).sum())) / float(x.sum())
    return Measured(value, max(0.0, value * (1 - half)), value * (1 + half), n, "ratio, delta method")
