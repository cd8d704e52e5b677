"""How many independent judges is a panel worth?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.core.seeds import rng
from evalbench.core.stats import Measured, bootstrap_weights, with_interval


class EffectiveJudges(NamedTuple):
    """A panel's worth.

    - ``n_items``: Items that every judge marked.
    - ``effective``: n_eff with its interval over items, 1 to ``n_judges``.
    - ``correlation``: ρ̄, the mean correlation of two judges' errors, held in 0–1.
    - ``left_out``: Judges without errors, or with only errors, whose correlation is undefined.
    """

    n_judges: int
    n_items: int
    effective: Measured
    correlation: float | None
    left_out: tuple[str, ...]


def majority(labels: npt.ArrayLike) -> Floats:
    """The label that most annotators gave to each item; NaN for a tie, or without labels.

    Parameters
    ----------
    labels : (n, k) array of float
        NaN where an annotator has none.

    Examples
    --------
    >>> majority([[1, 1, 0], [0, 1, np.nan], [2, np.nan, np.nan]]).tolist()
    [1.0, nan, 2.0]
    """
    y = np.asarray(labels, dtype=float)
    if y.ndim != 2:
        raise ValueError(f"labels of shape (items, annotators) are needed, got {y.shape}")
    kinds = np.unique(y[~np.isnan(y)])
    if not len(kinds):
        return np.full(len(y), np.nan)
    votes = np.stack([(y == kind).sum(axis=1) for kind in kinds], axis=1)
    most = votes.max(axis=1)
    clear = (most > 0) & ((votes == most[:, None]).sum(axis=1) == 1)
    return np.where(clear, kinds[votes.argmax(axis=1)], np.nan)


def effective_judges(
    verdicts: npt.ArrayLike, truth: npt.ArrayLike, *, names: Sequence[str] = (), seed: int = 0, n_resamples: int = 2000
) -> EffectiveJudges:
    """How many independent judges would err together as rarely as these: n_eff = k / (1 + (k − 1) ρ̄).

    ρ̄ is the mean over pairs of judges of the correlation of their errors, held in [0, 1]; an error is a verdict that differs
    from the truth.  A judge without errors, or with only errors, has no correlation: it is left out of ρ̄ and named.

    Parameters
    ----------
    verdicts : (n, k) array of float
        NaN where a judge has none; such items are left out.
    truth : (n,) array of float
        Such as :func:`majority` of annotators; NaN where there is none.
    names : sequence of str, optional
        The judges'.

    Returns
    -------
    EffectiveJudges
        Without a value where fewer than two judges err on some items and not on others.

    Raises
    ------
    ValueError
        For arrays that do not match.

    References
    ----------
    Kish (1965), Survey Sampling, section 5.4, for the design effect 1 + (k − 1) ρ.

    Examples
    --------
    >>> truth = np.tile([0.0, 1.0], 20)
    >>> one = np.where(np.arange(40) % 5 == 0, 1 - truth, truth)
    >>> effective_judges(np.stack([one, one, one], axis=1), truth).effective.value
    1.0
    """
    x, y = np.asarray(verdicts, dtype=float), np.asarray(truth, dtype=float)
    if x.ndim != 2 or y.shape != x.shape[:1]:
        raise ValueError(f"verdicts of shape (items, judges) and one truth each are needed: {x.shape} and {y.shape}")
    k = x.shape[1]
    known = list(names) or [f"judge {j + 1}" for j in range(k)]
    if len(known) != k:
        raise ValueError(f"{len(known)} names for {k} judges")
    used = ~np.isnan(y) & ~np.isnan(x).any(axis=1)
    errors = (x[used] != y[used, None]).astype(float)
    n = len(errors)
    varies = errors.std(axis=0) > 0 if n else np.zeros(k, dtype=bool)
    left_out = tuple(name for name, one in zip(known, varies, strict=True) if not one)
    if varies.sum() < 2:
        why = "fewer than two judges err on some items and not on others"
        return EffectiveJudges(k, n, Measured(None, n=n, note=why), None, left_out)
    of_pairs = errors[:, varies]
    rho = float(_mean_correlation(np.ones((1, n)), of_pairs)[0])
    replicates = bootstrap_weights(
        np.arange(n), lambda w: _worth(_mean_correlation(w, of_pairs), k), rng(seed, "panels/effective"), n_resamples
    )
    value = float(_worth(np.array([rho]), k)[0])
    return EffectiveJudges(k, n, with_interval(value, replicates, n=n, n_units=n), rho, left_out)


def _mean_correlation(weights: Floats, errors: Floats) -> Floats:
    """ρ̄ of each weighting ``(r, n)``, pairs that do not vary left out."""
    total = weights.sum(axis=1)
    mean = weights @ errors / total[:, None]
    first, second = np.triu_indices(errors.shape[1], 1)
    both = weights @ (errors[:, first] * errors[:, second]) / total[:, None]
    spread = np.sqrt(np.maximum(mean * (1 - mean), 0))
    with np.errstate(all="ignore"):
        pairs = (both - mean[:, first] * mean[:, second]) / (spread[:, first] * spread[:, second])
        pairs = np.where(np.isfinite(pairs), pairs, np.nan)
        found = np.nansum(pairs, axis=1) / (~np.isnan(pairs)).sum(axis=1)
    return np.asarray(np.clip(np.round(found, 12), 0, 1))


def _worth(correlation: Floats, k: int) -> Floats:
    return np.asarray(k / (1 + (k - 1) * correlation))
