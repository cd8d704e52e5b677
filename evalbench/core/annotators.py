"""May a judge replace an annotator?  The alternative annotator test: does it agree with the others as well as each of them?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from evalbench.core.arrays import Floats
from evalbench.core.significance import benjamini_yekutieli

LEAST_ITEMS = 30
"""An annotator with fewer items is left out."""
LEAST_ANNOTATORS = 3
EPSILON = {"experts": 0.2, "trained": 0.15, "crowd": 0.1}
"""By how much a judge may be worse, since it costs less, by who the annotators are."""


class Against(NamedTuple):
    """The judge beside one annotator.

    - ``n``: Items that the annotator, the judge and at least two others labelled.
    - ``judge``, ``human``: Mean agreement with the others: share of equal labels, or −RMSE.
    - ``advantage``: Mean of W: share of items on which the judge agrees with the others at least as well.
    - ``difference``: Mean of D, −1 to 1: positive where the annotator is better.
    - ``p``: Of the one-sided test that the judge is worse by ε or more; NaN where the annotator was left out.
    - ``p_adjusted``: By Benjamini and Yekutieli over the annotators tested.
    - ``rejected``: The judge is as good as this annotator, ε allowed.
    """

    annotator: str
    n: int
    judge: float
    human: float
    advantage: float
    difference: float
    p: float
    p_adjusted: float
    rejected: bool


class AlternativeAnnotator(NamedTuple):
    """The test's result.

    - ``winning_rate``: ω: share of the annotators tested that the judge is as good as.
    - ``advantage``: ρ: the mean of W over the annotators tested.
    - ``annotators``: In the order given, also those left out.
    - ``note``: Why there is no rate, or whom it leaves out.
    """

    winning_rate: float | None
    advantage: float | None
    epsilon: float
    annotators: tuple[Against, ...]
    note: str = ""

    @property
    def may_replace(self) -> bool | None:
        """Whether ω is at least ½; None without a rate."""
        return None if self.winning_rate is None else self.winning_rate >= 0.5


def alternative_annotator_test(
    judge: npt.ArrayLike,
    humans: npt.ArrayLike,
    *,
    epsilon: float = EPSILON["trained"],
    ordered: bool = False,
    names: Sequence[str] = (),
    alpha: float = 0.05,
) -> AlternativeAnnotator:
    """The alternative annotator test: leave out each annotator in turn, and let the judge take the place.

    For annotator j and item i, S(x) is the agreement of x with the others: the share that gave x's label, or, for ordered
    labels, −√(mean squared difference).  W = [S(judge) ≥ S(j)], D = [S(j) ≥ S(judge)] − [S(judge) ≥ S(j)].  H₀: E D ≥ ε, against
    E D < ε, by a one-sided t-test over items; the same D on every item is rejected where below ε.  Annotators tested together are
    adjusted by Benjamini and Yekutieli.  ω is the share rejected, and from ½ on the judge may replace an annotator.

    Parameters
    ----------
    judge : (n,) array of float
        The judge's label, as a number; NaN where it has none.
    humans : (n, k) array of float
        The annotators' labels; NaN where one has none.
    epsilon : float
        See ``EPSILON``; 0–1.
    ordered : bool
        Whether labels are numbers whose distance counts.
    names : sequence of str, optional
        The annotators'.

    Returns
    -------
    AlternativeAnnotator
        Without a rate where fewer than three annotators share items, or none has 30 of them.

    Raises
    ------
    ValueError
        For arrays that do not match, or an ε out of range.

    References
    ----------
    Calderon, Reichart & Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge, ACL 2025, sections 3 and 4.

    Examples
    --------
    >>> labels = np.tile([[1.0, 1, 1], [0, 0, 0], [1, 1, 0]], (20, 1))
    >>> found = alternative_annotator_test(np.tile([1.0, 0, 1], 20), labels, names=["Ada", "Bo", "Cy"])
    >>> found.winning_rate, [(a.annotator, round(a.difference, 2), a.rejected) for a in found.annotators]
    (1.0, [('Ada', 0.0, True), ('Bo', 0.0, True), ('Cy', -0.33, True)])
    """
    f, y = np.asarray(judge, dtype=float), np.asarray(humans, dtype=float)
    if y.ndim != 2 or f.shape != y.shape[:1]:
        raise ValueError(
            f"labels of shape (items, annotators) and one of the judge are needed: {y.shape} and {f.shape}"
        )
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon must be between 0 and 1, got {epsilon}")
    known = list(names) or [f"annotator {j + 1}" for j in range(y.shape[1])]
    if len(known) != y.shape[1]:
        raise ValueError(f"{len(known)} names for {y.shape[1]} annotators")
    found = [_beside(known[j], f, y, j, epsilon, ordered=ordered) for j in range(y.shape[1])]
    adjusted = benjamini_yekutieli([one.p for one in found])
    found = [
        one._replace(p_adjusted=float(p), rejected=bool(p <= alpha)) for one, p in zip(found, adjusted, strict=True)
    ]
    tested = [one for one in found if not math.isnan(one.p)]
    left_out = [f"{one.annotator} ({one.n})" for one in found if math.isnan(one.p)]
    note = f"fewer than {LEAST_ITEMS} items shared with two others, left out: {', '.join(left_out)}" if left_out else ""
    if y.shape[1] < LEAST_ANNOTATORS:
        note = f"the test needs {LEAST_ANNOTATORS} annotators, and the table has {y.shape[1]}"
    if not tested:
        return AlternativeAnnotator(None, None, epsilon, tuple(found), note)
    rate = sum(one.rejected for one in tested) / len(tested)
    return AlternativeAnnotator(rate, sum(one.advantage for one in tested) / len(tested), epsilon, tuple(found), note)


def _beside(name: str, f: Floats, y: Floats, j: int, epsilon: float, *, ordered: bool) -> Against:
    others = np.delete(y, j, axis=1)
    used = ~np.isnan(f) & ~np.isnan(y[:, j]) & ((~np.isnan(others)).sum(axis=1) >= LEAST_ANNOTATORS - 1)
    n = int(used.sum())
    if not n:
        return Against(name, 0, math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, rejected=False)
    judge, human = (_agreement(x[used], others[used], ordered=ordered) for x in (f, y[:, j]))
    wins, losses = judge >= human - 1e-12, human >= judge - 1e-12
    d = losses.astype(float) - wins
    p = _worse_by(d, epsilon) if n >= LEAST_ITEMS else math.nan
    return Against(
        annotator=name,
        n=n,
        judge=float(judge.mean()),
        human=float(human.mean()),
        advantage=float(wins.mean()),
        difference=float(d.mean()),
        p=p,
        p_adjusted=math.nan,
        rejected=False,
    )


def _agreement(own: Floats, others: Floats, *, ordered: bool) -> Floats:
    there = ~np.isnan(others)
    n = there.sum(axis=1)
    if ordered:
        squares = np.where(there, (others - own[:, None]) ** 2, 0)
        return np.asarray(-np.sqrt(squares.sum(axis=1) / n))
    return np.asarray(np.where(there, others == own[:, None], 0).sum(axis=1) / n)


def _worse_by(d: Floats, epsilon: float) -> float:
    """P of H₀: E D ≥ ε."""
    spread = float(d.std(ddof=1))
    if spread == 0:
        return 0.0 if d[0] < epsilon else 1.0
    t = (float(d.mean()) - epsilon) / (spread / math.sqrt(len(d)))
    return float(stdtr(len(d) - 1, t))
