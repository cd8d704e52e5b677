"""How many items are enough, and what so many items could have shown."""

from __future__ import annotations

import math

from scipy.special import ndtr, ndtri


def _reach(alpha: float, power: float) -> float:
    """How many standard errors away a truth must lie to be shown with this power."""
    if not 0 < alpha < 1 or not 0 < power < 1:
        raise ValueError(f"alpha and power must be between 0 and 1, got {alpha} and {power}")
    return float(ndtri(1 - alpha / 2) + ndtri(power))


def smallest_difference(standard_error: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest true difference that a comparison of this precision shows with the given power.

    (z₁₋α⸝₂ + z_power) · standard error: 2.80 standard errors by default.

    Parameters
    ----------
    standard_error : float
        Of the difference; the standard deviation of its bootstrap replicates will do.

    References
    ----------
    Bloom (1995), Evaluation Review 19, 547–556; Miller (2024), Adding Error Bars to Evals, section 5.

    Examples
    --------
    >>> round(smallest_difference(0.01), 3)
    0.028
    """
    if not standard_error >= 0:
        raise ValueError(f"a standard error must not be negative: {standard_error}")
    return _reach(alpha, power) * standard_error


def least_p(n_a: int, n_b: int, *, paired: bool) -> float:
    """The least two-sided p-value that a permutation test of so many units can give.

    Paired: 2 / 2ⁿ, the observed assignment and its mirror image among all swaps within n units.  Independent:
    1 / C(n_a + n_b, n_a) of all ways to deal the units, twice that where both sides have as many.

    Parameters
    ----------
    n_a, n_b : int
        Units on either side; equal where paired.

    References
    ----------
    Good (2005), Permutation, Parametric, and Bootstrap Tests of Hypotheses, section 3.2.

    Examples
    --------
    >>> least_p(5, 5, paired=True), least_p(6, 6, paired=True), round(least_p(3, 3, paired=False), 3)
    (0.0625, 0.03125, 0.1)
    """
    if min(n_a, n_b) < 0:
        raise ValueError(f"numbers of units must not be negative: {n_a} and {n_b}")
    if paired:
        return min(1.0, 2.0 ** (1 - min(n_a, n_b)))
    log_ways = math.lgamma(n_a + n_b + 1) - math.lgamma(n_a + 1) - math.lgamma(n_b + 1)
    return min(1.0, (2 if n_a == n_b else 1) * math.exp(-log_ways))


def units_for_difference(
    difference: float, standard_deviation: float, *, alpha: float = 0.05, power: float = 0.8
) -> int:
    """Units needed to show a difference of paired means: ⌈((z₁₋α⸝₂ + z_power) · sd / difference)²⌉, at least 2.

    Parameters
    ----------
    difference : float
        The true difference that should be seen; not 0.
    standard_deviation : float
        Of the units' differences.

    References
    ----------
    Cohen (1988), Statistical Power Analysis, section 2.4, in the normal approximation.

    Examples
    --------
    >>> units_for_difference(0.05, 0.4)
    503
    """
    if difference == 0 or not math.isfinite(difference) or not standard_deviation >= 0:
        raise ValueError(f"cannot plan for a difference of {difference} with standard deviation {standard_deviation}")
    return max(2, math.ceil((_reach(alpha, power) * standard_deviation / difference) ** 2))


def units_for_correlation(r: float, *, against: float = 0.4, alpha: float = 0.05, power: float = 0.8) -> int:
    """Items needed to tell a correlation from a fixed one: ((z₁₋α⸝₂ + z_power) / (atanh r − atanh r₀))² + 3.

    Rounded to the nearest whole number, as tables give it.

    References
    ----------
    Fisher (1921), Metron 1, 3–32; Cohen (1988), section 4.4.

    Examples
    --------
    >>> [units_for_correlation(r) for r in (0.5, 0.6, 0.7, 0.8)]
    [500, 111, 43, 20]
    """
    if not (-1 < r < 1 and -1 < against < 1) or r == against:
        raise ValueError(f"two different correlations between −1 and 1 are needed, not {r} and {against}")
    return round((_reach(alpha, power) / (math.atanh(r) - math.atanh(against))) ** 2 + 3)


def power_of_difference(difference: float, standard_error: float, *, alpha: float = 0.05) -> float:
    """The chance that a two-sided test shows a true difference, in the normal approximation.

    Examples
    --------
    >>> round(power_of_difference(0.028, 0.01), 2)
    0.8
    """
    if not standard_error > 0:
        raise ValueError(f"a standard error must be positive: {standard_error}")
    z, shift = float(ndtri(1 - alpha / 2)), difference / standard_error
    return float(ndtr(shift - z) + ndtr(-shift - z))


def equivalent(ci_low: float, ci_high: float, margin: float) -> bool:
    """Whether an interval of a difference lies wholly inside ±margin.

    With a 95 % interval this is two one-sided tests at 2.5 % each, stricter than the usual 5 %.

    References
    ----------
    Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, 657–680.

    Examples
    --------
    >>> equivalent(-0.01, 0.015, 0.02), equivalent(-0.01, 0.025, 0.02)
    (True, False)
    """
    if not (margin > 0 and math.isfinite(margin)):
        raise ValueError(f"a margin must be positive, got {margin}")
    return -margin < ci_low and ci_high < margin
