"""Can wrong answers be told from right ones by a score: ROC and precision–recall areas, risk by coverage, calibration error.

Kernels take how many right and how many wrong answers have each distinct score, scores ascending: one row of counts for the data,
many for its resamples.  All answers of one score are tied: none is put before another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import digamma

from evalbench.core.arrays import Floats, Indices
from evalbench.errors import BadInput
from evalbench.metrics.registry import metric

_SCORES = {"scores": [0.1, 0.4, 0.35, 0.8], "wrong": [0, 0, 1, 1]}
_TOUCHES = 1e-9


class Levels(NamedTuple):
    """Answers by distinct score.

    Attributes
    ----------
    values : (k,) array
        Ascending.
    which : (n,) array of int
        Each answer's place among them.
    right, wrong : (k,) arrays
        How many right and wrong answers have each.
    """

    values: Floats
    which: Indices
    right: Floats
    wrong: Floats


def levels(scores: npt.ArrayLike, wrong: npt.ArrayLike) -> Levels:
    """Counts by distinct score; scores that differ by rounding only (12 decimals) are one.

    Examples
    --------
    >>> levels([0.5, 0.1, 0.5], [1, 0, 0]).wrong.tolist()
    [0.0, 1.0]
    """
    x, y = np.asarray(scores, dtype=float), np.asarray(wrong, dtype=float)
    if x.ndim != 1 or x.shape != y.shape:
        raise BadInput(f"scores of shape {x.shape} and wrong of shape {y.shape}: both must be of one length")
    if not np.isfinite(x).all() or not np.isin(y, (0, 1)).all():
        raise BadInput("scores must be finite numbers and wrong 0 or 1: leave out answers that have none")
    values, which = np.unique(x.round(12), return_inverse=True)
    total, bad = (
        np.bincount(which, weights=each, minlength=len(values)).astype(np.float64) for each in (np.ones_like(y), y)
    )
    return Levels(values, which, total - bad, bad)


def _ratio(a: Floats, b: Floats) -> Floats:
    with np.errstate(all="ignore"):
        return np.asarray(np.where(b > 0, a / np.where(b > 0, b, 1), np.nan))


# -- kernels: (…, k) counts, scores ascending → (…) ------------------------------------------------


def auroc_kernel(right: Floats, wrong: Floats) -> Floats:
    """See :func:`auroc`; NaN without a right or a wrong answer."""
    below = np.cumsum(right, axis=-1) - right / 2
    return _ratio((wrong * below).sum(axis=-1), wrong.sum(axis=-1) * right.sum(axis=-1))


def auprc_kernel(right: Floats, wrong: Floats) -> Floats:
    """See :func:`auprc`; NaN without a wrong answer, and without a right one, where it could only be 1."""
    found = np.cumsum(wrong[..., ::-1], axis=-1)
    flagged = found + np.cumsum(right[..., ::-1], axis=-1)
    precision = found / np.maximum(flagged, 1)
    area = _ratio((precision * wrong[..., ::-1]).sum(axis=-1), wrong.sum(axis=-1))
    return np.where(right.sum(axis=-1) > 0, area, np.nan)


def risk_area_kernel(right: Floats, wrong: Floats) -> Floats:
    """See :func:`risk_coverage_area`; NaN without answers."""
    total = right + wrong
    kept, errors = np.cumsum(total, axis=-1), np.cumsum(wrong, axis=-1)
    before, rate = kept - total, wrong / np.maximum(total, 1)
    # Of k answers, j of them among s tied ones, (E + j·r) are wrong: summed over k by harmonic numbers.
    harmonic = digamma(kept + 1) - digamma(before + 1)
    summed = total * rate + (errors - wrong - before * rate) * harmonic
    return _ratio(summed.sum(axis=-1), total.sum(axis=-1))


def error_at_coverage_kernel(right: Floats, wrong: Floats, coverage: float) -> tuple[Indices, Floats, Floats]:
    """The place of the score up to which answers are given, the share that is given, and the share of errors among it."""
    kept, errors = np.cumsum(right + wrong, axis=-1), np.cumsum(wrong, axis=-1)
    n = kept[..., -1:]
    at = np.argmax(kept >= coverage * n - _TOUCHES, axis=-1)
    own, bad = (np.take_along_axis(each, at[..., None], axis=-1)[..., 0] for each in (kept, errors))
    return at, _ratio(own, n[..., 0]), _ratio(bad, own)


def calibration_error_kernel(right: Floats, wrong: Floats, values: Floats, bins: Indices) -> Floats:
    """See :func:`expected_calibration_error`; ``bins`` of the k values, ascending from 0."""
    total = right + wrong
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    gap = np.abs(np.add.reduceat(right - values * total, starts, axis=-1))
    return _ratio(gap.sum(axis=-1), total.sum(axis=-1))


def risk_at(right: Floats, wrong: Floats, coverages: npt.ArrayLike) -> Floats:
    """The expected share of errors among the surest answers, at each coverage (0–1, at least one answer).

    Examples
    --------
    >>> risk_at(np.array([2.0, 1.0]), np.array([0.0, 1.0]), [0.5, 0.75, 1.0]).round(4).tolist()
    [0.0, 0.1667, 0.25]
    """
    kept, errors = np.cumsum(right + wrong), np.cumsum(wrong)
    k = np.maximum(1, np.rint(np.asarray(coverages, float) * kept[-1]))
    found: Floats = np.interp(k, np.concatenate([[0], kept]), np.concatenate([[0], errors])) / k
    return found


# -- figures --------------------------------------------------------------------------------------


@metric(
    kind="discrimination",
    range=(0, 1),
    higher_is_better=True,
    needs=("scores", "correctness"),
    reference="Hanley and McNeil 1982, The Meaning and Use of the Area under a ROC Curve, Radiology 143",
    limitations="says nothing of how many answers are wrong, nor whether p is a probability",
    values="1: every wrong answer scores above every right one; 0.5: as by chance; below: the score points the wrong way",
    example=(_SCORES, 0.75),
)
def auroc(scores: npt.ArrayLike, wrong: npt.ArrayLike) -> float:
    """The chance that a wrong answer has a higher score than a right one, ties counted half: area under the ROC curve of *wrong*.

    Parameters
    ----------
    scores : (n,) array
        Higher where the answer is to be doubted.
    wrong : (n,) array of 0 and 1

    Returns
    -------
    float
        0–1; NaN where all answers are right or all are wrong: undefined.

    Raises
    ------
    BadInput
        For numbers that are not finite, or other values of ``wrong``.

    Examples
    --------
    >>> auroc([0.9, 0.1, 0.5], [1, 0, 0]), auroc([0.9, 0.1], [0, 0])
    (1.0, nan)
    """
    return float(auroc_kernel(*levels(scores, wrong)[2:]))


@metric(
    kind="discrimination",
    range=(0, 1),
    higher_is_better=True,
    needs=("scores", "correctness"),
    reference="average precision; Davis and Goadrich 2006, The Relationship between Precision-Recall and ROC Curves, ICML",
    limitations="by chance it is the share of wrong answers: without that base rate it cannot be read",
    values="the share of wrong answers: as by chance; 1: every wrong answer scores above every right one",
    example=(_SCORES, 5 / 6),
)
def auprc(scores: npt.ArrayLike, wrong: npt.ArrayLike) -> float:
    """Average precision of *wrong*: Σ (recall gained at a score) · (share of wrong answers from that score up), no interpolation.

    Parameters and result as of :func:`auroc`.

    Examples
    --------
    >>> auprc([0.9, 0.1, 0.5], [1, 0, 0]), auprc([0.5, 0.5, 0.5, 0.5], [1, 0, 0, 0])
    (1.0, 0.25)
    """
    return float(auprc_kernel(*levels(scores, wrong)[2:]))


@metric(
    kind="discrimination",
    range=(0, 1),
    higher_is_better=False,
    needs=("scores", "correctness"),
    reference="Geifman and El-Yaniv 2017, Selective Classification for Deep Neural Networks, section 2; Geifman et al. 2019",
    limitations="rests on the share of wrong answers as much as on the score: read it beside that share, which a score by chance has",
    values="the share of wrong answers: as by chance; lower is better",
    example=({"scores": [0.1, 0.2, 0.3], "wrong": [0, 0, 1]}, 1 / 9),
)
def risk_coverage_area(scores: npt.ArrayLike, wrong: npt.ArrayLike) -> float:
    """The mean, over k = 1 … n, of the share of errors among the k answers of lowest score; ties: the expectation over their orders.

    Parameters as of :func:`auroc`.

    Returns
    -------
    float
        0–1; NaN without answers.

    Examples
    --------
    >>> risk_coverage_area([0.1, 0.9], [0, 1]), risk_coverage_area([0.5, 0.5], [0, 1])
    (0.25, 0.5)
    """
    return float(risk_area_kernel(*levels(scores, wrong)[2:]))


@metric(
    kind="calibration",
    range=(0, 1),
    higher_is_better=False,
    needs=("scores", "correctness"),
    reference="Naeini et al. 2015, Obtaining Well Calibrated Probabilities Using Bayesian Binning, AAAI; bins are the values of p",
    limitations="biased upwards where bins hold few answers; says nothing of whether right answers can be told from wrong ones",
    values="0: of the answers with confidence p a share p is right",
    example=({"p": [1.0, 1.0, 0.5, 0.5], "wrong": [0, 1, 0, 1], "n_bins": 3}, 0.25),
)
def expected_calibration_error(p: npt.ArrayLike, wrong: npt.ArrayLike, n_bins: int) -> float:
    """Σ (share of the bin) · |share right − mean p| over bins of p, each p in the bin of the nearest of 0, 1/N, …, 1.

    Parameters
    ----------
    p : (n,) array
        0–1.
    wrong : (n,) array of 0 and 1
    n_bins : int
        N + 1: with N samples p has as many values.

    Returns
    -------
    float
        0–1; NaN without answers.

    Examples
    --------
    >>> expected_calibration_error([0.8, 0.8], [0, 0], 11).__round__(3)
    0.2
    """
    at = levels(p, wrong)
    if not len(at.values):
        return float("nan")
    return float(calibration_error_kernel(at.right, at.wrong, at.values, nearest_bins(at.values, n_bins)))


def nearest_bins(values: Floats, n_bins: int) -> Indices:
    """The bin of each p, numbered from 0 without gaps.

    Examples
    --------
    >>> nearest_bins(np.array([0.0, 0.1, 0.9, 1.0]), 3).tolist()
    [0, 0, 1, 1]
    """
    if n_bins < 2:
        raise BadInput(f"n_bins must be at least 2, got {n_bins!r}")
    return np.unique(np.rint(np.asarray(values) * (n_bins - 1)), return_inverse=True)[1]


@metric(
    kind="coverage",
    range=(0, 1),
    higher_is_better=False,
    needs=("scores", "correctness"),
    reference="Geifman and El-Yaniv 2017, section 2: selective risk at a coverage",
    limitations="answers of one score are given together, so that more than the wanted share may be answered",
    example=({"scores": [0.1, 0.2, 0.3, 0.4], "wrong": [0, 1, 0, 1], "coverage": 0.5}, 0.5),
)
def error_at_coverage(scores: npt.ArrayLike, wrong: npt.ArrayLike, coverage: float = 0.8) -> float:
    """The share of errors among the answers that are given: those up to the lowest score by which a share ``coverage`` is reached.

    Parameters
    ----------
    scores, wrong
        As of :func:`auroc`.
    coverage : float
        0–1.

    Returns
    -------
    float
        0–1; NaN without answers.

    Examples
    --------
    >>> error_at_coverage([0.1, 0.2, 0.3, 0.9, 0.9], [0, 0, 0, 1, 1], 0.6)
    0.0
    """
    at = levels(scores, wrong)
    return float(error_at_coverage_kernel(at.right, at.wrong, coverage)[2]) if len(at.values) else float("nan")
