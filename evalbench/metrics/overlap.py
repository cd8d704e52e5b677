"""Word overlap of two texts in any language: exact match, token F1, Jaccard, length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Ints
from evalbench.metrics.registry import metric
from evalbench.metrics.text import (
    Pairs,
    References,
    Scores,
    Texts,
    best_of,
    best_pair,
    checked_lists,
    checked_texts,
    f_measure,
    pairs,
    share,
)
from evalbench.text.normalise import Normalisation, normalised_ids, tokenizer
from evalbench.text.words import TokenIds, word_counts

_SQUAD = "Rajpurkar et al. 2016, SQuAD: 100,000+ questions for machine comprehension of text, section 6.1"
_NORMALISED = "metrics (docs/methods.md), opening: lower case, no stop-words, no punctuation, no extra whitespace"
PAIRS_AT_ONCE = 10_000


class Common(NamedTuple):
    """Tokens of pairs: how many both sides share, and how many each has; ``(n_pairs,)`` each."""

    common: Ints
    left: Ints
    right: Ints


def common_tokens(codes: Ints, rows: Ints, n_pairs: int, *, distinct: bool = False) -> Common:
    """Multiset (or set) intersections of many pairs of token lists at once.

    Parameters
    ----------
    codes : (n_tokens,) int64 array
        Token codes of all left texts, then of all right texts.
    rows : (n_tokens,) int64 array
        The text of each token: 0 … n_pairs − 1 are left texts, n_pairs … 2·n_pairs − 1 right ones.
    distinct : bool
        Count each token of a text once.
    """
    width = int(codes.max(initial=-1)) + 1
    keys, counts = np.unique(rows * width + codes, return_counts=True)
    if distinct:
        counts = np.ones_like(counts)
    at = np.searchsorted(keys, n_pairs * width)
    left, right = keys[:at], keys[at:] - n_pairs * width
    sizes = [
        np.bincount(side // max(width, 1), weights=weight, minlength=n_pairs).astype(np.int64)
        for side, weight in ((left, counts[:at]), (right, counts[at:]))
    ]
    shared, i, j = np.intersect1d(left, right, assume_unique=True, return_indices=True)
    both = np.minimum(counts[:at][i], counts[at:][j])
    common = np.bincount(shared // max(width, 1), weights=both, minlength=n_pairs).astype(np.int64)
    return Common(common, *sizes)


def overlaps(flat: Pairs, cut: Callable[[Sequence[str]], TokenIds], *, distinct: bool = False) -> Common:
    """Common tokens of every pair, in chunks that bound memory."""
    parts = []
    for start in range(0, max(len(flat.outputs), 1), PAIRS_AT_ONCE):
        left = flat.outputs[start : start + PAIRS_AT_ONCE]
        right = flat.references[start : start + PAIRS_AT_ONCE]
        tokens = cut([*left, *right])
        parts.append(common_tokens(tokens.ids, tokens.rows, len(left), distinct=distinct))
    return Common(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def token_scores(found: Common) -> Scores:
    """F1, precision and recall of common tokens; two texts without tokens agree."""
    both_empty = np.where((found.left == 0) & (found.right == 0), 1.0, 0.0)
    precision = np.maximum(share(found.common, found.left), both_empty)
    recall = np.maximum(share(found.common, found.right), both_empty)
    return {"f1": f_measure(precision, recall), "precision": precision, "recall": recall}


def _any_reference(equal: npt.NDArray[np.bool_], flat: Pairs) -> Floats:
    return equal.astype(float)[best_pair(equal.astype(float), flat.first)]


@metric(
    kind="texts",
    aliases=("exactmatch",),
    range=(0, 1),
    higher_is_better=True,
    unit="0/1",
    example=({"outputs": ["42", "Нет"], "references": [["41", "42"], "нет"]}, [1.0, 0.0]),
    reference=_SQUAD,
    category="accuracy",
    limitations="an answer in other words scores 0; case, punctuation and spaces count",
    values="1: equal; 0: not",
)
def exact_match(outputs: Texts, references: References) -> Floats:
    """Whether the output equals a reference, character by character.

    Parameters
    ----------
    outputs : sequence of str
    references : sequence of str or of sequences of str
        The best reference counts.

    Returns
    -------
    (n,) array of 0 and 1

    Raises
    ------
    BadInput
        For unequal lengths or entries that are no text.

    Examples
    --------
    >>> exact_match(["42", "yes"], ["42", ["Yes", "no"]])
    array([1., 0.])
    """
    flat = pairs(outputs, references)
    return _any_reference(np.array([a == b for a, b in zip(flat.outputs, flat.references, strict=True)], bool), flat)


@metric(
    kind="texts",
    aliases=("normalized_exactmatch",),
    range=(0, 1),
    higher_is_better=True,
    unit="0/1",
    example=({"outputs": ["The  Answer!", "not guilty"], "references": ["an answer", "guilty"]}, [1.0, 0.0]),
    reference=_NORMALISED,
    category="accuracy",
    limitations="an answer in other words scores 0",
    values="1: equal after normalising; 0: not",
)
def normalized_exact_match(
    outputs: Texts, references: References, *, normalise: Normalisation = "full", language: str = "en"
) -> Floats:
    """Whether the output equals a reference after both are normalised.

    Parameters
    ----------
    outputs : sequence of str
    references : sequence of str or of sequences of str
        The best reference counts.
    normalise, language
        See :func:`evalbench.text.normalise.tokenizer`.  Negations are never removed.

    Returns
    -------
    (n,) array of 0 and 1

    Examples
    --------
    >>> normalized_exact_match(["It is the cat."], ["A cat"]), normalized_exact_match(["not me"], ["me"])
    (array([1.]), array([0.]))
    """
    flat = pairs(outputs, references)
    tokens = tokenizer(normalise, language)
    normal = {text: tokens(text) for text in {*flat.outputs, *flat.references}}
    equal = [normal[a] == normal[b] for a, b in zip(flat.outputs, flat.references, strict=True)]
    return _any_reference(np.array(equal, bool), flat)


def _token_f1(flat: Pairs, normalise: Normalisation, language: str, *, distinct: bool = False) -> Scores:
    found = overlaps(flat, partial(normalised_ids, normalise=normalise, language=language), distinct=distinct)
    return best_of(token_scores(found), flat.first)


@metric(
    kind="texts",
    aliases=("f1score",),
    range=(0, 1),
    higher_is_better=True,
    example=({"outputs": ["red red apple"], "references": ["red apple pie"]}, [2 / 3]),
    reference=_SQUAD,
    category="accuracy",
    limitations="order and meaning of words are ignored; long outputs lose precision",
    values="0: no word in common; 1: the same words, in any order",
)
def f1_score(
    outputs: Texts, references: References, *, normalise: Normalisation = "full", language: str = "en"
) -> Scores:
    """Token F1: 2pr / (p + r), p = common / output tokens, r = common / reference tokens, as multisets.

    Parameters
    ----------
    outputs : sequence of str
    references : sequence of str or of sequences of str
        The reference with the best F1 counts.
    normalise, language
        See :func:`evalbench.text.normalise.tokenizer`; ``"squad"`` gives SQuAD's F1.

    Returns
    -------
    mapping
        ``f1``, ``precision``, ``recall``: (n,) arrays in [0, 1].  Two texts without any token score 1, one without 0.

    Examples
    --------
    >>> f1_score(["the cat sat"], ["a cat"], normalise="squad")["f1"]
    array([0.66666667])
    >>> f1_score(["кот спит", ""], ["кот спит", "кот"], language="ru")["f1"]
    array([1., 0.])
    """
    return _token_f1(pairs(outputs, references), normalise, language)


@metric(
    kind="texts",
    range=(0, 1),
    higher_is_better=True,
    example=({"outputs": ["red red apple"], "references": ["red apple pie"]}, [0.8]),
    reference="token F1 on sets: 2|A ∩ B| / (|A| + |B|), Dice 1945",
    category="accuracy",
    limitations="order, repeats and meaning of words are ignored",
    values="0: no word in common; 1: the same words",
)
def f1_score_set(
    outputs: Texts, references: References, *, normalise: Normalisation = "full", language: str = "en"
) -> Scores:
    """Token F1 on sets of words: repeats count once.

    Otherwise as :func:`f1_score`.

    Examples
    --------
    >>> f1_score_set(["red red apple"], ["red apple"])["f1"]
    array([1.])
    """
    return _token_f1(pairs(outputs, references), normalise, language, distinct=True)


@metric(
    kind="texts",
    range=(0, 1),
    higher_is_better=True,
    example=({"outputs": ["red apple"], "references": ["green apple"]}, [1 / 3]),
    reference="Jaccard 1912, The distribution of the flora in the alpine zone",
    category="accuracy",
    limitations="order, repeats and meaning of words are ignored; below F1 on the same texts",
    values="0: no word in common; 1: the same words",
)
def jaccard_similarity(
    outputs: Texts, references: References, *, normalise: Normalisation = "full", language: str = "en"
) -> Floats:
    """Unique words in common: |A ∩ B| / |A ∪ B|.

    Parameters
    ----------
    outputs : sequence of str
    references : sequence of str or of sequences of str
        The best reference counts.
    normalise, language
        See :func:`evalbench.text.normalise.tokenizer`.

    Returns
    -------
    (n,) array in [0, 1]
        Two texts without any token score 1.

    Examples
    --------
    >>> jaccard_similarity(["我的家"], ["我家"], language="")
    array([0.66666667])
    """
    flat = pairs(outputs, references)
    found = overlaps(flat, partial(normalised_ids, normalise=normalise, language=language), distinct=True)
    values = share(found.common, found.left + found.right - found.common, otherwise=1.0)
    return best_of({"": values}, flat.first)[""]


@metric(
    kind="texts",
    aliases=("knowledge_f1score",),
    range=(0, 1),
    higher_is_better=True,
    needs=("context",),
    example=({"outputs": ["red apple"], "contexts": ["a red apple fell"]}, [0.8]),
    reference="Shuster et al. 2021, Retrieval augmentation reduces hallucination in conversation, section 4.1",
    category="faithfulness",
    limitations="overlap of words: a false statement in the context's words scores high",
    values="0: no word in common with the context; 1: the same words",
)
def knowledge_f1_score(
    outputs: Texts, contexts: References, *, normalise: Normalisation = "full", language: str = "en"
) -> Scores:
    """Token F1 of the output against its context.

    Parameters
    ----------
    outputs : sequence of str
    contexts : sequence of str or of sequences of str
        Several passages of one output are joined.
    normalise, language
        See :func:`evalbench.text.normalise.tokenizer`.

    Returns
    -------
    mapping
        ``f1``, ``precision``, ``recall``: (n,) arrays in [0, 1].  A long context makes a high F1 impossible;
        precision reports how much of the output is in it.

    Examples
    --------
    >>> knowledge_f1_score(["red apple"], ["a red apple fell"])["precision"]
    array([1.])
    """
    return _token_f1(pairs(outputs, joined(contexts, len(outputs))), normalise, language)


def joined(contexts: References, n: int) -> list[str]:
    """Each row's passages as one text."""
    return ["\n".join(passages) for passages in checked_lists(contexts, "contexts", n)]


@metric(
    kind="texts",
    range=(0, np.inf),
    higher_is_better=None,
    unit="ratio",
    example=({"outputs": ["one two three"], "references": ["one two"]}, [1.5]),
    reference="words of the output / words of the reference",
    category="quality",
    limitations="length says nothing of content",
    values="1: as long as the reference; 2: twice as long",
)
def verbosity_ratio(outputs: Texts, references: References) -> Floats:
    """Words of the output per word of the reference.

    Parameters
    ----------
    outputs : sequence of str
    references : sequence of str or of sequences of str
        The reference nearest in length counts.

    Returns
    -------
    (n,) array, ≥ 0
        NaN where no reference has a word.

    Examples
    --------
    >>> verbosity_ratio(["one two three", "x"], [["one", "a b c"], ""])
    array([ 1., nan])
    """
    flat = pairs(outputs, references)
    ours = word_counts(flat.outputs).astype(float)
    theirs = word_counts(flat.references).astype(float)
    nearness = np.where(theirs > 0, -np.abs(ours - theirs), -np.inf)
    return share(ours, theirs, otherwise=np.nan)[best_pair(nearness, flat.first)]


@metric(
    kind="texts",
    range=(0, np.inf),
    higher_is_better=None,
    needs=(),
    unit="words",
    example=({"outputs": ["one two, three", "我的家", ""]}, [3.0, 3.0, 0.0]),
    reference="Unicode Standard Annex #29, section 4",
    category="quality",
    limitations="length says nothing of content",
)
def length(outputs: Texts) -> Floats:
    """Words of the output; characters in scripts written without spaces.

    Parameters
    ----------
    outputs : sequence of str

    Returns
    -------
    (n,) array, ≥ 0

    Examples
    --------
    >>> length(["one two, three"])
    array([3.])
    """
    return word_counts(checked_texts(outputs, "outputs")).astype(float)
