"""How much the answers to one question differ: n-grams in common, meaning in common, answers that are not the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Ints
from evalbench.errors import BadInput
from evalbench.metrics.pairs_of_texts import ORDERS, NgramDiversity, changes, mean_of_groups, ngram_diversity
from evalbench.metrics.registry import metric
from evalbench.text.normalise import normalised_ids
from evalbench.text.words import TokenIds

NORMALISED = "full-stop_words"
"""Lower case, no punctuation; symbols and signs stay, so that 5 and −5, C and C++ differ."""
Generations = Sequence[Sequence[str]]
Embed = Callable[[Sequence[str]], npt.NDArray[Any]]

_TEVET = (
    "Tevet and Berant 2021, Evaluating the evaluation of diversity in natural language generation: distinct n-grams"
)


def _flat(generations: Generations) -> tuple[list[str], Ints]:
    """All texts, and how many each group has.

    Raises ``BadInput`` for groups that are a text in place of a list, and entries that are not texts: all at once.
    """
    faults = []
    for i, group in enumerate(generations):
        if isinstance(group, str):
            faults.append(f"{i}: a list of texts is needed, not one text")
        elif wrong := [type(text).__name__ for text in group if not isinstance(text, str)]:
            faults.append(f"{i}: {len(wrong)} of {len(group)} are not texts ({wrong[0]})")
    if faults:
        raise BadInput.listing("generations:", faults)
    sizes = np.fromiter(map(len, generations), np.int64, len(generations))
    return [text for group in generations for text in group], sizes


def _ngrams_of(generations: Generations, orders: int) -> NgramDiversity:
    if not isinstance(orders, int) or isinstance(orders, bool) or orders < 1:
        raise BadInput(f"orders must be a whole number from 1, got {orders!r}")
    texts, sizes = _flat(generations)
    return ngram_diversity(normalised_ids(texts, NORMALISED, ""), sizes, orders=orders)


@metric(
    kind="generations",
    range=(0, 1),
    higher_is_better=None,
    needs=(),
    example=({"generations": [["It is Rome.", "it is Rome"], ["Rome", "Paris"]]}, [0.0, 1.0]),
    reference="Dice 1945, Measures of the amount of ecologic association between species, of n-grams over all pairs (ours); the method "
    "document's own formula is distinct_ngrams_pairs_handbook",
    limitations="another wording of the same answer counts as different, and one changed digit in a long answer as nearly the same",
    values="0: the same words in the same order; 1: no word in common",
)
def lexical_diversity(generations: Generations, *, orders: int = ORDERS) -> Floats:
    """How much the answers to one question differ in words: 1 − mean Dice overlap of their n-grams over all pairs.

    Parameters
    ----------
    generations : sequence of sequences of str
        The answers to each question.
    orders : int
        n-grams of 1 … ``orders`` words.

    Returns
    -------
    (n,) array in [0, 1]
        NaN for a question with fewer than two answers.  0 for identical texts; case and punctuation do not count,
        symbols and signs do.  In scripts written without spaces a word is a character.

    Raises
    ------
    BadInput
        For entries that are not texts.

    Notes
    -----
    Of a pair, Dice = 2c / (a + b) with ``a`` and ``b`` n-grams, ``c`` in common (counted as often as both have them); its mean runs
    over the orders of which either text has an n-gram.  n-grams are compared by at least 40 bits of a hash within a question.

    Examples
    --------
    >>> lexical_diversity([["It is Rome.", "it is Rome"], ["Rome", "Paris"], ["Rome", "Rome, Italy"], ["5"]]).round(3).tolist()
    [0.0, 1.0, 0.667, nan]
    """
    return _ngrams_of(generations, orders).dice


@metric(
    kind="generations",
    range=(0, 1),
    higher_is_better=None,
    needs=(),
    example=({"generations": [["a b", "a b"], ["a b", "c d"]]}, [0.5, 1.0]),
    reference=_TEVET,
    limitations="falls with the number and the length of the answers: compare only equally many; two identical answers score 0.5, not 0",
    values="near 0: the same n-grams again and again; 1: no n-gram twice",
)
def distinct_ngrams_set(generations: Generations, *, orders: int = ORDERS) -> Floats:
    """Distinct n-grams of all answers to a question by all of their n-grams, the mean over n.

    Parameters
    ----------
    generations : sequence of sequences of str
    orders : int
        n-grams of 1 … ``orders`` words.

    Returns
    -------
    (n,) array in (0, 1]
        NaN for a question with fewer than two answers, or without a word.

    Examples
    --------
    >>> distinct_ngrams_set([["a b", "a b"], ["a a", "b"]]).round(3).tolist()
    [0.5, 0.833]
    """
    return _ngrams_of(generations, orders).distinct_set


@metric(
    kind="generations",
    range=(0, 1),
    higher_is_better=None,
    needs=(),
    example=({"generations": [["a b", "a b"], ["a b", "c d"]]}, [0.5, 1.0]),
    reference="handbook (docs/methods.md), AverageNgrams; " + _TEVET,
    limitations="two identical answers score 0.5, not 0, and falls with their length",
    values="0.5: both answers of every pair are the same, without repetition; 1: no n-gram twice",
)
def distinct_ngrams_pairs_handbook(generations: Generations, *, orders: int = ORDERS) -> Floats:
    """Distinct n-grams of two answers by all n-grams of both, the mean over n and over all pairs.

    Parameters
    ----------
    generations : sequence of sequences of str
    orders : int
        n-grams of 1 … ``orders`` words.

    Returns
    -------
    (n,) array in (0, 1]
        NaN for a question with fewer than two answers, or without a word.

    Examples
    --------
    >>> distinct_ngrams_pairs_handbook([["a b", "a b", "c d"]]).round(3).tolist()
    [0.833]
    """
    return _ngrams_of(generations, orders).distinct_pairs


@metric(
    kind="generations",
    range=(0, 2),
    higher_is_better=None,
    needs=("embed",),
    languages="the embedding model's",
    unit="1 − cosine",
    example=(
        {"generations": [["a", "a", "ab"]], "embed": lambda texts: [[1, t.count("b")] for t in texts]},
        [0.195262],
    ),
    reference="Tevet and Berant 2021, Evaluating the evaluation of diversity in natural language generation: similarity of "
    "sentence embeddings; Reimers and Gurevych 2019, Sentence-BERT, section 3",
    limitations="a negation or another number moves the vector little; what counts as far depends on the model",
    values="0: identical in meaning; where unrelated texts lie depends on the model; 2: opposite",
)
def semantic_diversity(generations: Generations, *, embed: Embed) -> Floats:
    """How much the answers to one question differ in meaning: 1 − mean cosine of their embeddings over all pairs.

    Parameters
    ----------
    generations : sequence of sequences of str
    embed : callable
        Texts → (n, d) array; each distinct text is embedded once.

    Returns
    -------
    (n,) array in [0, 2]
        NaN for a question with fewer than two answers; 0 for identical texts.  A blank text has the cosine 0 with others.

    Examples
    --------
    >>> semantic_diversity([["aa", "aa"], ["a", "b"]], embed=lambda texts: [[t.count("a"), t.count("b")] for t in texts]).tolist()
    [0.0, 1.0]
    """
    texts, sizes = _flat(generations)
    group = np.repeat(np.arange(len(sizes)), sizes)
    distinct = sorted(set(texts))
    places = {text: i for i, text in enumerate(distinct)}
    keys, counts = np.unique(
        group * max(len(distinct), 1) + np.fromiter(map(places.__getitem__, texts), np.int64, len(texts)),
        return_counts=True,
    )
    own, text = np.divmod(keys, max(len(distinct), 1))
    several = np.bincount(own, minlength=len(sizes))[own] > 1
    own, text, counts = own[several], text[several], counts[several]
    pairs = sizes * (sizes - 1) / 2
    apart = np.zeros(len(sizes))
    if len(own):
        wanted = np.unique(text)
        vectors = np.asarray(embed([distinct[i] for i in wanted.tolist()]), dtype=np.float64)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        blank = np.array([not distinct[i].strip() for i in wanted.tolist()])
        unit[blank] = 0.0
        weighted = unit[np.searchsorted(wanted, text)] * counts[:, None]
        starts = np.flatnonzero(changes(own))
        # Of unit vectors v with counts c: Σ c_i c_j cos_ij over i < j is half of |Σ c v|² − Σ |c v|².
        sums = np.add.reduceat(weighted, starts)
        alike = (
            np.einsum("ij,ij->i", sums, sums) - np.add.reduceat(np.einsum("ij,ij->i", weighted, weighted), starts)
        ) / 2
        ends = np.append(starts, len(own))
        squares = np.add.reduceat(counts.astype(float) ** 2, starts)
        different = (np.add.reduceat(counts, starts).astype(float) ** 2 - squares) / 2
        apart[own[ends[:-1]]] = np.clip(different - alike, 0.0, None)
    return np.clip(mean_of_groups(apart, pairs), 0.0, 2.0)


@metric(
    kind="generations",
    range=(0, 1),
    higher_is_better=None,
    needs=(),
    example=({"generations": [["Rome", "rome.", "Paris"], ["5", "-5"]]}, [2 / 3, 1.0]),
    reference="Simpson 1949, Measurement of diversity, in its unbiased form: 1 − Σ n(n − 1) / N(N − 1)",
    limitations="another wording of the same answer is another answer: of long answers nearly all differ",
    values="0: every answer is the same; 1: no two are",
)
def answer_disagreement(generations: Generations) -> Floats:
    """How often two answers to one question differ after normalising (case, punctuation, spaces): the share of pairs.

    Parameters
    ----------
    generations : sequence of sequences of str

    Returns
    -------
    (n,) array in [0, 1]
        NaN for a question with fewer than two answers.  Its expectation does not depend on how many answers there are.

    Examples
    --------
    >>> answer_disagreement([["Rome", "rome.", "Paris"], ["Да", "да!"]]).round(3).tolist()
    [0.667, 0.0]
    """
    texts, sizes = _flat(generations)
    _, counts, own = answer_counts(normalised_ids(texts, NORMALISED, ""), sizes)
    same = np.bincount(own, weights=counts * (counts - 1.0), minlength=len(sizes))
    return mean_of_groups(np.asarray(sizes * (sizes - 1.0) - same), sizes * (sizes - 1))


def answer_counts(tokens: TokenIds, sizes: Ints) -> tuple[Ints, Ints, Ints]:
    """Which texts of a group have the same tokens.

    Parameters
    ----------
    tokens : TokenIds
        The texts, group after group.
    sizes : (n_groups,) int array

    Returns
    -------
    answer : (n,) int array
        The number of each text's answer; equal numbers are equal answers of one group.
    counts : (n_answers,) int array
        Texts of each answer.
    group : (n_answers,) int array
        The group of each answer.

    Examples
    --------
    >>> [a.tolist() for a in answer_counts(normalised_ids(["Rome", "rome!", "Paris", "rome"]), np.array([3, 1]))]
    [[0, 0, 1, 2], [2, 1, 1], [0, 0, 1]]
    """
    numbers: dict[bytes, int] = {}
    codes = [numbers.setdefault(tokens[i].tobytes(), len(numbers)) for i in range(len(tokens))]
    group = np.repeat(np.arange(len(sizes)), sizes)
    width = max(len(numbers), 1)
    keys, answer, counts = np.unique(group * width + np.array(codes, np.int64), return_inverse=True, return_counts=True)
    return answer, counts, keys // width
