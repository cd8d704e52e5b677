"""ROUGE in any language, over whole columns at once; on English text equal to rouge-score.

N-grams are integer codes whose multiset intersections are taken for all pairs together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from evalbench.core.arrays import Floats, Ints
from evalbench.errors import BadInput
from evalbench.metrics.lcs import lcs_lengths, union_lcs_hits
from evalbench.metrics.overlap import PAIRS_AT_ONCE, common_tokens, joined
from evalbench.metrics.registry import metric
from evalbench.metrics.text import (
    Pairs,
    References,
    Scores,
    Texts,
    best_of,
    f_measure,
    mean_of_pairs,
    pairs,
    require,
    share,
)
from evalbench.text.sentences import sentences
from evalbench.text.stems import stemmer, stemmer_name
from evalbench.text.words import TokenIds, alphanumeric_runs, token_ids

_LIN = "Lin 2004, ROUGE: a package for automatic evaluation of summaries"
SentenceSplit = Literal["newline", "sentences"]
Several = Literal["best", "mean"]
Tokenize = Callable[[str], list[str]]


def ngram_codes(tokens: TokenIds, n: int) -> tuple[Ints, Ints]:
    """Codes and rows of all n-grams that lie inside one text.

    Returns
    -------
    codes, rows : (n_ngrams,) int64 arrays
    """
    codes, rows = tokens.ids, tokens.rows
    width = max(len(tokens.vocabulary), 1)
    for k in range(1, n):
        inside = rows[:-1] == rows[1:] if k == 1 else rows[:-1] == tokens.rows[k:]
        codes, rows = codes[:-1] * width + tokens.ids[k:], rows[:-1]
        codes, rows = np.where(inside, codes, -1), np.where(inside, rows, -1)
        # Codes are made small again, or five-grams of a large vocabulary would not fit 64 bits.
        codes = np.unique(codes, return_inverse=True)[1].reshape(-1) if k + 1 < n else codes
    kept = rows >= 0
    return np.unique(codes[kept], return_inverse=True)[1].reshape(-1), rows[kept]


def _prf(hits: Floats, n_outputs: Floats, n_references: Floats) -> Scores:
    precision, recall = share(hits, n_outputs), share(hits, n_references)
    return {"f1": f_measure(precision, recall), "precision": precision, "recall": recall}


def _rouge_n(tokens: TokenIds, n_pairs: int, n: int) -> Scores:
    codes, rows = ngram_codes(tokens, n)
    found = common_tokens(codes, rows, n_pairs)
    return _prf(found.common.astype(float), found.left.astype(float), found.right.astype(float))


def _rouge_l(tokens: TokenIds, n_pairs: int) -> Scores:
    lengths = tokens.lengths.astype(float)
    return _prf(lcs_lengths(tokens, n_pairs), lengths[:n_pairs], lengths[n_pairs:])


def _rouge_lsum(flat: Pairs, split: Callable[[str], list[str]], tokenize: Tokenize) -> Scores:
    counts = np.zeros((len(flat.outputs), 3))
    single, several = [], []
    for k, (a, b) in enumerate(zip(flat.outputs, flat.references, strict=True)):
        output, reference = ([tokenize(s) for s in split(text)] for text in (a, b))
        counts[k, 1:] = sum(map(len, output)), sum(map(len, reference))
        if len(output) <= 1 and len(reference) <= 1:
            single.append(k)
        else:
            several.append((k, output, reference))
    for k, output, reference in several:
        counts[k, 0] = union_lcs_hits(output, reference)
    if single:
        tokens = token_ids([flat.outputs[k] for k in single] + [flat.references[k] for k in single], tokenize)
        counts[single, 0] = lcs_lengths(tokens, len(single))
    return _prf(*counts.T)


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


def stemmed(tokenize: Tokenize, language: str) -> Tokenize:
    """A tokenizer that reduces words of more than three characters to their stems, as rouge-score does.

    Raises
    ------
    BadInput
        If the language has no stemmer.
    Unavailable
        Without nltk.
    """
    if not stemmer_name(language):
        raise BadInput(f"stem: no stemmer exists for language {language!r}")
    require("nltk", "nltk", "stem")
    stem = stemmer(language)
    return lambda text: [stem(token) if len(token) > 3 else token for token in tokenize(text)]


def rouge(
    outputs: Texts,
    references: References,
    types: Sequence[str] = ("rouge1", "rouge2", "rougeL"),
    *,
    several: Several = "best",
    stem: bool = False,
    sentence_split: SentenceSplit = "newline",
    language: str = "en",
    tokenize: Tokenize = alphanumeric_runs,
) -> dict[str, Scores]:
    """Several ROUGE scores of the same texts from one tokenisation.

    Parameters
    ----------
    types : sequence of str
        ``rouge1`` … ``rouge9``, ``rougeL``, ``rougeLsum``.
    several : {"best", "mean"}
        Of several references: the one with the best F1, per score, as rouge-score takes them; or the mean over all, as
        most published tables have it.
    stem : bool
        Compare stems of words, see :func:`stemmed`.
    sentence_split : {"newline", "sentences"}
        What ROUGE-Lsum takes for sentences: lines, as rouge-score does, or sentences of ``language``.  Of texts on one
        line, split by lines, it equals ROUGE-L.
    language : str
        ISO code, for ``stem`` and ``sentence_split="sentences"``.
    tokenize : callable
        Runs of letters and digits by default.

    Returns
    -------
    dict
        Type → ``f1``, ``precision``, ``recall``: (n,) arrays in [0, 1].  Texts without tokens score 0, as in
        rouge-score.

    Raises
    ------
    BadInput
        For malformed columns, or ``stem`` in a language without a stemmer.
    ValueError
        For an unknown type, or an unknown ``several``.

    References
    ----------
    Lin 2004, sections 2–3; its implementation ROUGE-1.5.5 and the package rouge-score.

    Examples
    --------
    >>> found = rouge(["the cat sat"], ["the cat ran"])
    >>> {name: round(float(s["f1"][0]), 3) for name, s in found.items()}
    {'rouge1': 0.667, 'rouge2': 0.5, 'rougeL': 0.667}
    """
    for name in types:
        if name not in {"rougeL", "rougeLsum"} and not (name[:5] == "rouge" and name[5:] in set("123456789")):
            raise ValueError(f"no ROUGE type {name!r}; choose from rouge1 … rouge9, rougeL, rougeLsum")
    if several not in ("best", "mean"):
        raise ValueError(f"several is {several!r}; best or mean")
    between_blanks = tokenize is alphanumeric_runs
    tokenize = stemmed(tokenize, language) if stem else tokenize
    over_references = best_of if several == "best" else mean_of_pairs
    flat = pairs(outputs, references)
    parts: dict[str, list[Scores]] = {name: [] for name in types}
    for start in range(0, max(len(flat.outputs), 1), PAIRS_AT_ONCE):
        left = flat.outputs[start : start + PAIRS_AT_ONCE]
        right = flat.references[start : start + PAIRS_AT_ONCE]
        cut = [*left, *right] if set(types) != {"rougeLsum"} else []
        tokens = token_ids(cut, tokenize, between_blanks=between_blanks)
        for name in types:
            if name == "rougeLsum":
                split = _lines if sentence_split == "newline" else lambda text: sentences(text, language)
                parts[name].append(_rouge_lsum(Pairs(left, right, flat.first), split, tokenize))
            elif name == "rougeL":
                parts[name].append(_rouge_l(tokens, len(left)))
            else:
                parts[name].append(_rouge_n(tokens, len(left), int(name[5:])))
    return {
        name: over_references(
            {key: np.concatenate([s[key] for s in scores]) for key in ("f1", "precision", "recall")}, flat.first
        )
        for name, scores in parts.items()
    }


@metric(
    kind="texts",
    range=(0, 1),
    higher_is_better=True,
    needs=("context",),
    example=({"outputs": ["a b"], "contexts": ["a b c d"]}, [2 / 3]),
    reference=f"{_LIN}, sections 2–3, with the context as reference",
    category="faithfulness",
    limitations="overlap of words: a false statement in the context's words scores high; short outputs lose recall",
    values="0: nothing in common with the context; 1: the context itself",
)
def rouge_for_context(outputs: Texts, contexts: References, *, stem: bool = False, language: str = "en") -> Scores:
    """ROUGE-1, ROUGE-2 and ROUGE-L F1 of the output against its context.

    Parameters
    ----------
    outputs : sequence of str
    contexts : sequence of str or of sequences of str
        Several passages of one output are joined, a line each.
    stem, language
        As in :func:`rouge`.

    Returns
    -------
    mapping
        ``rougeL`` (the headline), ``rouge1``, ``rouge2``: (n,) arrays in [0, 1]; ``rougeL_precision``: how much of
        the output occurs in the context in its order, whatever the context's length.

    Examples
    --------
    >>> rouge_for_context(["a b"], [["a b", "c d"]])["rougeL_precision"]
    array([1.])
    """
    found = rouge(outputs, joined(contexts, len(outputs)), stem=stem, language=language)
    return {
        "rougeL": found["rougeL"]["f1"],
        "rouge1": found["rouge1"]["f1"],
        "rouge2": found["rouge2"]["f1"],
        "rougeL_precision": found["rougeL"]["precision"],
    }
