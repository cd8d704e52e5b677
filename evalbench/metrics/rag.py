"""Answers from retrieved contexts: what of them the contexts carry, what of them is right, and what was retrieved for it.

Every formula takes verdicts as 1 and 0, NaN where there is none; who gives the verdicts is another matter.  Sources: method
document ``ragnotes`` (docs/methods.md); Es et al. 2024, RAGAS; Ru et al. 2024, RAGChecker.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.metrics.registry import metric

_NOTES = "method document ragnotes"
_RAGAS = "Es, James, Espinosa-Anke, Schockaert 2024, RAGAS, section 3"
_CHECKER = "Ru et al. 2024, RAGChecker, section 3.3"


class Paired(NamedTuple):
    """Facts of an answer and of the ground truth, paired one to one.

    Attributes
    ----------
    answer, truth : (n_answer,), (n_truth,) arrays of int
        The place of each fact's partner on the other side; -1 where it has none.
    """

    answer: npt.NDArray[np.int64]
    truth: npt.NDArray[np.int64]

    @property
    def tp(self) -> int:
        """Pairs."""
        return int((self.answer >= 0).sum())

    @property
    def fp(self) -> int:
        """Facts of the answer without a partner."""
        return int((self.answer < 0).sum())

    @property
    def fn(self) -> int:
        """Facts of the ground truth without a partner."""
        return int((self.truth < 0).sum())


@metric(
    kind="claims",
    range=(0, 1),
    higher_is_better=True,
    needs=("context", "judge"),
    reference=f"{_NOTES}, Faithfulness; {_RAGAS}",
    example=({"supported": [1, 1, 1, 1]}, 1.0),
)
def faithfulness(supported: npt.ArrayLike) -> float:
    """Share of an answer's statements that the contexts support.

    Parameters
    ----------
    supported : (n_statements,) array
        1 for each statement that the contexts support, else 0.

    Returns
    -------
    float
        Σ supported / n, 0–1; NaN without statements or where a verdict is missing.

    Notes
    -----
    What the answer leaves out does not lower it: that is the affair of :func:`context_recall` and :func:`answer_correctness`.

    Examples
    --------
    >>> faithfulness([1, 1, 1, 1]), faithfulness([1, 0])
    (1.0, 0.5)
    """
    return _share(supported, "supported")


@metric(
    kind="claims",
    range=(-1, 1),
    higher_is_better=True,
    needs=("request", "judge", "embed"),
    unit="cosine",
    reference=f"{_NOTES}, Answer relevance; {_RAGAS}",
    example=({"cosines": [1.0, 0.5, 0.0]}, 0.5),
)
def answer_relevance(cosines: npt.ArrayLike) -> float:
    """Mean cosine of the question and the questions that a model generated from the answer.

    Parameters
    ----------
    cosines : (n_questions,) array
        Of each generated question with the question that was asked, −1 to 1.

    Returns
    -------
    float
        (1/N) Σ cos(E_gᵢ, E_o), −1 to 1; NaN without questions or where a cosine is missing.

    Examples
    --------
    >>> answer_relevance([1.0, 0.5, 0.0])
    0.5
    """
    return _mean(np.asarray(cosines, dtype=float))


@metric(
    kind="claims",
    range=(0, 1),
    higher_is_better=True,
    needs=("reference", "context", "judge"),
    reference=f"{_NOTES}, Context Recall; {_CHECKER} (claim recall)",
    example=({"carried": [1, 1, 1]}, 1.0),
)
def context_recall(carried: npt.ArrayLike) -> float:
    """Share of the ground truth's claims that the retrieved contexts carry.

    Parameters
    ----------
    carried : (n_claims,) array
        1 for each claim that can be attributed to a context, else 0.

    Returns
    -------
    float
        Σ carried / n, 0–1; NaN without claims or where a verdict is missing.

    Examples
    --------
    >>> context_recall([1, 1, 1])
    1.0
    """
    return _share(carried, "carried")


@metric(
    kind="claims",
    range=(0, 1),
    higher_is_better=True,
    needs=("reference", "context", "judge"),
    reference=f"{_NOTES}, Context Precision",
    example=({"relevant": [1, 1, 0, 1]}, 11 / 12),
)
def context_precision(relevant: npt.ArrayLike) -> float:
    """How far up the relevant contexts are ranked: Σ precision@k · v_k / number of relevant ones in the top K.

    Parameters
    ----------
    relevant : (K,) array
        v_k by rank: 1 where the context is relevant, 0 where it is partially relevant or not.

    Returns
    -------
    float
        0–1: 1 where all relevant contexts come before all others, 0 where none is relevant; NaN without contexts or where
        a verdict is missing.

    Examples
    --------
    >>> context_precision([0, 1, 0]), context_precision([1, 1, 0])
    (0.5, 1.0)
    >>> round(context_precision([1, 1, 0, 1]), 4)
    0.9167
    """
    v = _verdicts(relevant, "relevant")
    if not v.size or np.isnan(v).any():
        return float("nan")
    if not v.any():
        return 0.0
    return float((precisions(v) * v).sum() / v.sum())


def precisions(relevant: npt.ArrayLike) -> Floats:
    """Precision@k at every rank k: the share of relevant contexts among the first k.

    Examples
    --------
    >>> precisions([0, 1, 0, 1]).tolist()
    [0.0, 0.5, 0.3333333333333333, 0.5]
    """
    v = np.asarray(relevant, dtype=float)
    found: Floats = np.cumsum(v) / np.arange(1, v.size + 1)
    return found


@metric(
    kind="claims",
    range=(0, 1),
    higher_is_better=True,
    needs=("reference", "context", "judge"),
    reference=f"{_CHECKER} (there called context precision)",
    example=({"relevant": [1, 1, 0, 1]}, 0.75),
)
def context_relevant_share(relevant: npt.ArrayLike) -> float:
    """Share of the retrieved contexts that are relevant, whatever their rank.

    Parameters
    ----------
    relevant : (K,) array
        As in :func:`context_precision`.

    Returns
    -------
    float
        0–1; NaN without contexts or where a verdict is missing.

    Examples
    --------
    >>> context_relevant_share([1, 1, 0, 1])
    0.75
    """
    return _share(relevant, "relevant")


@metric(
    kind="claims",
    range=(0, 1),
    higher_is_better=True,
    needs=("reference", "judge"),
    reference=f"{_NOTES}, Answer Correctness",
    example=({"tp": 2, "fp": 2, "fn": 1}, 4 / 7),
)
def answer_correctness(tp: int, fp: int, fn: int) -> float:
    """F1 of facts: TP / (TP + ½(FP + FN)).

    Parameters
    ----------
    tp : int
        Facts of the answer that are paired with one of the ground truth, see :func:`paired`.
    fp, fn : int
        Facts of the answer alone; facts of the ground truth alone.

    Returns
    -------
    float
        0–1; NaN where neither side has a fact.

    Examples
    --------
    >>> round(answer_correctness(2, 2, 1), 3), answer_correctness(0, 1, 1)
    (0.571, 0.0)
    """
    if min(tp, fp, fn) < 0:
        raise ValueError(f"counts must be at least 0, got {tp}, {fp}, {fn}")
    return tp / (tp + 0.5 * (fp + fn)) if tp + fp + fn else float("nan")


@metric(
    kind="claims",
    range=(0, 1),
    higher_is_better=True,
    needs=("reference", "judge"),
    reference=f"{_CHECKER} (overall precision)",
    example=({"right": [1, 1, 0, 1]}, 0.75),
)
def claim_precision(right: npt.ArrayLike) -> float:
    """Share of an answer's claims that the ground truth states; 0–1, NaN without claims or where a verdict is missing.

    Examples
    --------
    >>> claim_precision([1, 1, 0, 1])
    0.75
    """
    return _share(right, "right")


@metric(
    kind="claims",
    range=(0, 1),
    higher_is_better=True,
    needs=("reference", "judge"),
    reference=f"{_CHECKER} (overall recall)",
    example=({"stated": [1, 0]}, 0.5),
)
def claim_recall(stated: npt.ArrayLike) -> float:
    """Share of the ground truth's claims that the answer states; 0–1, NaN without claims or where a verdict is missing.

    Examples
    --------
    >>> claim_recall([1, 0])
    0.5
    """
    return _share(stated, "stated")


def paired(same: npt.ArrayLike) -> Paired:
    """Pair facts one to one, as many as possible.

    Parameters
    ----------
    same : (n_answer, n_truth) array of bool
        Which fact of the answer states which fact of the ground truth.

    Returns
    -------
    Paired
        Of several ways to pair as many, one that is the same for the same matrix.

    Examples
    --------
    >>> found = paired([[1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]])
    >>> found.tp, found.fp, found.fn
    (2, 2, 1)
    >>> paired([[1, 1], [1, 0]]).answer.tolist()
    [1, 0]
    """
    from scipy.optimize import linear_sum_assignment

    matrix = np.atleast_2d(np.asarray(same, dtype=float))
    answer, truth = np.full(matrix.shape[0], -1), np.full(matrix.shape[1], -1)
    for i, j in zip(*linear_sum_assignment(matrix, maximize=True), strict=True):
        if matrix[i, j]:
            answer[i], truth[j] = j, i
    return Paired(answer, truth)


def correctness_objects(tp: Sequence[str], fp: Sequence[str], fn: Sequence[str]) -> tuple[str, str]:
    """The two JSON objects of the method document: the lists, and their numbers with the score.

    Parameters
    ----------
    tp, fp, fn : sequences of str
        The facts.

    Returns
    -------
    lists : str
        ``{"TP": […], "FP": […], "FN": […]}``.
    scored : str
        ``{"num_tp", "num_fp", "num_fn", "json", "score"}``, where ``json`` is the first as a text; a score that has no value
        is null.

    Examples
    --------
    >>> lists, scored = correctness_objects([], ["It is 16."], ["It is 18."])
    >>> lists
    '{"TP": [], "FP": ["It is 16."], "FN": ["It is 18."]}'
    >>> sorted(json.loads(scored))
    ['json', 'num_fn', 'num_fp', 'num_tp', 'score']
    """
    lists = json.dumps({"TP": list(tp), "FP": list(fp), "FN": list(fn)}, ensure_ascii=False)
    score = answer_correctness(len(tp), len(fp), len(fn))
    numbers = {"num_tp": len(tp), "num_fp": len(fp), "num_fn": len(fn)}
    whole = {**numbers, "json": lists, "score": None if np.isnan(score) else score}
    return lists, json.dumps(whole, ensure_ascii=False)


def _verdicts(values: npt.ArrayLike, name: str) -> Floats:
    found = np.asarray(values, dtype=float)
    if not np.isin(found[~np.isnan(found)], (0, 1)).all():
        raise ValueError(f"{name}: verdicts are 1, 0, or NaN where there is none; got {values!r}")
    return found


def _share(values: npt.ArrayLike, name: str) -> float:
    return _mean(_verdicts(values, name))


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")
