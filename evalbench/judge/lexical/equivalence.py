"""Does an answer mean the same as a gold answer?  Five features, a logistic model, the best over the gold answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.judge.lexical.alignment import coverage, denials_differ, function_words, terms, values
from evalbench.judge.lexical.card import EMBEDDER, card
from evalbench.models.similarity.embed import embed

# Set, not fitted: nearly equal answers with another number or a denial are too rare in the data to learn from.
OPPOSED = -4.0


class EquivalenceFeatures(NamedTuple):
    """What speaks for an answer meaning the same as a gold answer; words of the question count as known to both.

    Attributes
    ----------
    gold_covered, answer_covered : float
        Weighted share of the one's words found in the other, 0–1.
    spelling : float
        Share of the gold's character trigrams found in the answer, 0–1.
    meaning : float
        Cosine of their embeddings, −1–1.
    opposed : float
        1 where both give numbers and none agrees, or one denies what the other affirms.
    """

    gold_covered: float
    answer_covered: float
    spelling: float
    meaning: float
    opposed: float


def without_known(text: str, question: str) -> str:
    """The words of a text that the question does not hold already; all of them if none is left."""
    known = set(terms(question)) - function_words()
    return " ".join([t for t in terms(text) if t not in known] or terms(text))


def _trigrams(text: str) -> set[str]:
    padded = f"  {text} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def equivalence_features(question: str, gold: str, answer: str, cosine: float) -> EquivalenceFeatures:
    """Features of one gold answer; ``cosine`` is that of both texts :func:`without_known`."""
    new_gold, new_answer = without_known(gold, question), without_known(answer, question)
    gold_terms, answer_terms = tuple(new_gold.split()), tuple(new_answer.split())
    said, wanted = values(answer), values(gold)
    grams = _trigrams(new_gold)
    return EquivalenceFeatures(
        coverage(gold_terms, answer_terms),
        coverage(answer_terms, gold_terms),
        len(grams & _trigrams(new_answer)) / len(grams),
        cosine,
        float(bool(said and wanted and not said & wanted) or denials_differ(answer, gold)),
    )


def equivalence_table(
    questions: Sequence[str], golds: Sequence[Sequence[str]], answers: Sequence[str]
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Features of every (item, gold answer) pair.

    Returns
    -------
    (n_pairs, 5) array, (n_pairs,) array
        The features and the item that each row belongs to.
    """
    pairs = [(i, gold) for i, of_item in enumerate(golds) for gold in of_item]
    left = [without_known(gold, questions[i]) for i, gold in pairs]
    right = [without_known(answers[i], questions[i]) for i, _ in pairs]
    vectors = embed([*left, *right], EMBEDDER).astype(np.float64)
    cosines = np.einsum("ij,ij->i", vectors[: len(pairs)], vectors[len(pairs) :])
    rows = [equivalence_features(questions[i], g, answers[i], c) for (i, g), c in zip(pairs, cosines, strict=True)]
    return np.array(rows).reshape(-1, len(EquivalenceFeatures._fields)), np.array([i for i, _ in pairs], dtype=int)


def equivalence(questions: Sequence[str], golds: Sequence[Sequence[str]], answers: Sequence[str]) -> Floats:
    """Probability that each answer means the same as one of its gold answers.

    Logistic in :class:`EquivalenceFeatures`, its last weight set to :data:`OPPOSED`; the best over the gold answers.  An answer equal to a gold one but for case, accents and punctuation has 1, a blank one 0.

    Parameters
    ----------
    golds : sequence of sequences of str
        At least one gold answer each; 0 where there is none.

    Returns
    -------
    (n,) float64 array
    """
    features, item = equivalence_table(questions, golds, answers)
    fitted = card()["equivalence"]
    weights = np.array([fitted["weights"][f] for f in EquivalenceFeatures._fields])
    logits = features @ weights + fitted["intercept"]
    best = np.full(len(answers), -np.inf)
    np.maximum.at(best, item, logits)
    out: Floats = 1.0 / (1.0 + np.exp(-best))
    for i, answer in enumerate(answers):
        if any(terms(answer) == terms(gold) and terms(gold) for gold in golds[i]):
            out[i] = 1.0
        elif not terms(answer):
            out[i] = 0.0
    return out
