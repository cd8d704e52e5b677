"""Is an accuracy any better than that of the one answer which is right most often?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.significance import mcnemar
from evalbench.core.wording import p_text

ALPHA = 0.05


class ConstantAnswer(NamedTuple):
    """An accuracy beside that of the best constant answer.

    - ``accuracy``: Of the rows that have a label, and a true answer where there are any; NaN without such rows.
    - ``answer``: The constant answer, as it is spelled most often; None where no true answers are known.
    - ``constant``: Its accuracy; NaN where it is unknown.
    - ``p``: Two-sided exact binomial test of the accuracy against ``constant``.
    - ``only_answers``, ``only_constant``: Rows that the answers alone, and the constant alone, get right.
    - ``p_paired``: McNemar's exact test of these two.
    """

    accuracy: float
    answer: str | None
    constant: float
    p: float
    only_answers: int
    only_constant: int
    p_paired: float
    n: int

    def __str__(self) -> str:
        """The sentence beside the accuracy."""
        if not self.n:
            return "no row has a label and a true answer"
        own = f"accuracy {self.accuracy:.3f}"
        if self.answer is None:
            return f"{own}; without a column of true answers the best constant answer is unknown"
        than = f'always "{self.answer}" ({self.constant:.3f}, p {p_text(self.p)})'
        if self.p >= ALPHA:
            paired = ""
            if self.p_paired < ALPHA:
                total = self.only_answers + self.only_constant
                paired = f"; of the {total} rows where one of the two is right, it is right on {self.only_answers} (p {p_text(self.p_paired)})"
            return f"{own}, no better than {than}{paired}"
        return f"{own}, {'better' if self.accuracy > self.constant else 'worse'} than {than}"


def constant_answer(right: npt.ArrayLike, truth: Sequence[str | None] | None = None) -> ConstantAnswer:
    """The accuracy of answers against that of the best constant answer: the most frequent true one.

    Parameters
    ----------
    right : (n,) array of float
        0 or 1; NaN where there is no label, and the row is left out.
    truth : (n,) sequence of str or None, optional
        The true answers; case and blanks at the ends do not count, and rows with None or "" are left out.

    Returns
    -------
    ConstantAnswer
        Without ``truth``, or where no row has one, the constant answer is unknown: right and wrong alone do not name it.

    Raises
    ------
    ValueError
        For labels other than 0 and 1, and for unequal lengths.

    Notes
    -----
    Of several most frequent answers it is the one whose rows are right most often: who always says it is right on the same rows.
    The two tests answer two questions.  The binomial one asks whether so many right answers are more than the constant's share
    would bring; McNemar's whether the rows where the two differ favour one, and it sees skill on few rows.  Both take the rows
    to be independent, and the constant is chosen on the same rows, which favours it a little.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26 (the exact binomial distribution); McNemar (1947), Psychometrika 12, 153–157.

    Examples
    --------
    >>> truth = ["no"] * 10 + ["yes"] * 10
    >>> print(constant_answer([1] * 10 + [1] + [0] * 9, truth))
    accuracy 0.550, no better than always "no" (0.500, p 0.82)
    >>> print(constant_answer([1, 0, 1]))
    accuracy 0.667; without a column of true answers the best constant answer is unknown
    """
    from scipy.stats import binomtest

    label = np.asarray(right, dtype=float)
    if truth is not None and len(truth) != len(label):
        raise ValueError(f"{len(label)} labels and {len(truth)} true answers: there must be as many")
    known = np.isfinite(label)
    if not np.isin(label[known], (0, 1)).all():
        raise ValueError("labels must be 0 or 1, NaN where there is none")
    spelled = ["" if t is None or t != t else str(t).strip() for t in truth] if truth is not None else []
    if any(spelled):
        known &= np.array([bool(t) for t in spelled])
    n, hits = int(known.sum()), int(label[known].sum())
    accuracy = hits / n if n else math.nan
    if not any(spelled) or not n:
        return ConstantAnswer(accuracy, None, math.nan, math.nan, 0, 0, math.nan, n)
    keys = np.array([t.casefold() for t in spelled], dtype=object)
    often = Counter(keys[known].tolist())
    right_on = Counter(keys[known & (label == 1)].tolist())
    best = min(often, key=lambda key: (-often[key], -right_on[key], key))
    spelling = Counter(spelled[i] for i in np.flatnonzero(known) if keys[i] == best)
    only_answers, only_constant = hits - right_on[best], often[best] - right_on[best]
    share = often[best] / n
    p = float(binomtest(hits, n, share).pvalue)
    name = min(spelling, key=lambda text: (-spelling[text], text))
    return ConstantAnswer(
        accuracy, name, share, p, only_answers, only_constant, mcnemar(only_answers, only_constant), n
    )
