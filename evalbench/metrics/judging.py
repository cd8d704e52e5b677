"""What a judge's own verdicts say of it: the place of an answer, and repeats.  Intervals are in :mod:`evalbench.core.probes`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.core.probes import equal_repeats, first_slot, inconsistent
from evalbench.errors import BadInput
from evalbench.metrics.registry import metric

_ZHENG = "Zheng et al. 2023, Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, NeurIPS, section 3.3"
_PAIRS = {"ab": [1, 1, 0, 1], "ba": [1, 0, 0, 0]}


@metric(
    kind="verdicts",
    range=(0, 1),
    higher_is_better=None,
    needs=("verdicts in both orders",),
    reference=_ZHENG,
    values="0.5: no liking for a place; 1: always the answer shown first; 0: always the second",
    limitations="a judge that answers at random has 0.5: read it beside position_inconsistent",
    example=(_PAIRS, 0.75),
)
def first_slot_share(ab: npt.ArrayLike, ba: npt.ArrayLike) -> float:
    """Share of the verdicts, over both orders of each pair, that the answer shown first won.

    Parameters
    ----------
    ab, ba : (n,) arrays
        Preference for one answer, 0–1, where it was shown first, and where it was shown second; NaN where there is none.

    Returns
    -------
    float
        0–1; NaN where no pair has both orders.

    Raises
    ------
    BadInput
        For columns of different lengths, or a preference beyond 0–1.

    Examples
    --------
    >>> first_slot_share([1, 1], [0, 1])
    0.75
    """
    return _mean(first_slot(*_preferences(ab, ba)))


@metric(
    kind="verdicts",
    range=(0, 1),
    higher_is_better=False,
    needs=("verdicts in both orders",),
    reference=_ZHENG,
    values="0: both orders always name the same winner",
    limitations="a judge that wavers is inconsistent without a liking for a place",
    example=(_PAIRS, 0.5),
)
def position_inconsistent(ab: npt.ArrayLike, ba: npt.ArrayLike) -> float:
    """Share of pairs on which the two orders name different winners, or one of them a tie.

    Parameters, result and errors as of :func:`first_slot_share`.

    Examples
    --------
    >>> position_inconsistent([1, 1], [0, 1])
    0.5
    """
    return _mean(inconsistent(*_preferences(ab, ba)))


@metric(
    kind="verdicts",
    range=(0, 1),
    higher_is_better=True,
    needs=("repeated verdicts",),
    reference="Gwet 2014, Handbook of Inter-Rater Reliability, chapter 2: percent agreement, of one rater with itself",
    values="1: every repeat has the same mark",
    limitations="high where nearly all marks are equal anyway",
    example=({"repeats": [[1, 1, 1], [1, 0, 1]]}, 2 / 3),
)
def self_consistency(repeats: npt.ArrayLike) -> float:
    """Share of pairs of repeats of one verdict that have the same mark, averaged over items.

    Parameters
    ----------
    repeats : (n, k) array
        One row an item; NaN where a repeat has no verdict.

    Returns
    -------
    float
        0–1; NaN where no item has two repeats.

    Raises
    ------
    BadInput
        If it has not two dimensions.

    Examples
    --------
    >>> self_consistency([[2, 2], [0, 1]])
    0.5
    """
    x = np.asarray(repeats, dtype=float)
    if x.ndim != 2:
        raise BadInput(f"repeats have shape {x.shape}; expected one row an item, one column a repeat")
    return _mean(equal_repeats(x))


def _preferences(ab: npt.ArrayLike, ba: npt.ArrayLike) -> tuple[Floats, Floats]:
    one, other = np.asarray(ab, dtype=float), np.asarray(ba, dtype=float)
    if one.ndim != 1 or one.shape != other.shape:
        raise BadInput(f"ab of shape {one.shape} and ba of shape {other.shape}: both must be of one length")
    both = np.concatenate([one, other])
    if ((both < 0) | (both > 1)).any():
        raise BadInput("a preference is not between 0 and 1")
    return one, other


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
