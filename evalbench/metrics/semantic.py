"""Text metrics by a model that is handed in (embeddings, BERT, a judge of contradiction), and of language."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

from evalbench.core.arrays import Floats
from evalbench.errors import BadInput
from evalbench.metrics.registry import metric
from evalbench.metrics.text import (
    References,
    Scores,
    Texts,
    Unavailable,
    best_of,
    best_pair,
    checked_lists,
    checked_texts,
    pairs,
    require,
    share,
)
from evalbench.text.sentences import sentences

Embed = Callable[[Sequence[str]], npt.NDArray[Any]]
Contradict = Callable[[Sequence[str], Sequence[str]], npt.NDArray[Any]]
_PAIRS = 1 << 14
"""Pairs whose vectors are side by side in memory at once."""
_SELFCHECK = "Manakul et al. 2023, SelfCheckGPT, section 5.5 (NLI)"


def cosines(embed: Embed, left: Sequence[str], right: Sequence[str]) -> Floats:
    """Cosine of each pair of texts; each distinct text is embedded once.

    Parameters
    ----------
    embed : callable
        Texts → (n, d) array.

    Returns
    -------
    (n,) array in [−1, 1]
        1 for identical texts, 0 where one of two different texts is blank: it has no meaning to compare.
    """
    distinct = sorted({*left, *right})
    at = {text: i for i, text in enumerate(distinct)}
    if not distinct:
        return np.zeros(0)
    vectors = np.asarray(embed(distinct), dtype=np.float64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    i, j = np.array([at[text] for text in left], int), np.array([at[text] for text in right], int)
    blocks = [slice(begin, begin + _PAIRS) for begin in range(0, len(i), _PAIRS)]
    products = [np.einsum("nd,nd->n", unit[i[block]], unit[j[block]]) for block in blocks]
    values = np.clip(np.concatenate([np.zeros(0), *products]), -1.0, 1.0)
    blank = np.array([not text.strip() for text in distinct])
    return np.where(i == j, 1.0, np.where(blank[i] | blank[j], 0.0, values))


@metric(
    kind="texts",
    aliases=("sentence_tranformers_similarity",),
    range=(-1, 1),
    higher_is_better=True,
    needs=("reference", "embed"),
    languages="the embedding model's",
    unit="cosine",
    example=(
        {"outputs": ["aa"], "references": ["ab"], "embed": lambda texts: [[t.count("a"), 1] for t in texts]},
        [3 / np.sqrt(10)],
    ),
    reference="Reimers and Gurevych 2019, Sentence-BERT, section 3",
    category="semantic",
    limitations="a negation or another number moves the vector little; long texts are cut by many models",
    values="−1: opposite; 0: unrelated; 1: identical in meaning; where unrelated texts lie depends on the model",
)
def sentence_transformers_similarity(outputs: Texts, references: References, *, embed: Embed) -> Floats:
    """Cosine of the embeddings of output and reference.

    Parameters
    ----------
    outputs : sequence of str
    references : sequence of str or of sequences of str
        The best reference counts.
    embed : callable
        Texts → (n, d) array of vectors, of any length.

    Returns
    -------
    (n,) array in [−1, 1]
        Where unrelated texts lie depends on the model: read its card before any threshold.

    Examples
    --------
    >>> by_length = lambda texts: np.array([[len(t), 1.0] for t in texts])
    >>> sentence_transformers_similarity(["abc"], ["xyz"], embed=by_length)
    array([1.])
    """
    flat = pairs(outputs, references)
    values = cosines(embed, flat.outputs, flat.references)
    return values[best_pair(values, flat.first)]


@metric(
    kind="texts",
    range=(-1, 1),
    higher_is_better=True,
    needs=("request", "embed"),
    languages="the embedding model's",
    unit="cosine",
    example=({"outputs": ["aa"], "requests": ["aa"], "embed": lambda texts: [[1.0]] * len(texts)}, [1.0]),
    reference="reference-free: cosine of answer and request",
    category="semantic",
    limitations="on the topic is not yet right",
    values="−1: opposite; 0: unrelated; 1: the request itself",
)
def request_similarity(outputs: Texts, requests: Texts, *, embed: Embed) -> Floats:
    """Cosine of the embeddings of output and request: needs no reference.

    Parameters
    ----------
    outputs, requests : sequences of str
    embed : callable
        Texts → (n, d) array of vectors.

    Returns
    -------
    (n,) array in [−1, 1]
    """
    texts = checked_texts(outputs, "outputs")
    return cosines(embed, texts, checked_texts(requests, "requests", len(texts)))


@metric(
    kind="texts",
    range=(-1, 1),
    higher_is_better=True,
    needs=("reference", "package:bert-score", "bert_model"),
    languages="the model's",
    unit="cosine",
    example=({}, None),
    reference="Zhang et al. 2020, BERTScore, section 3",
    category="semantic",
    limitations="rare and out-of-vocabulary words; length bias; noise of a domain that the model has not seen",
    values="not rescaled: unrelated texts may lie near 0.8, so compare within one model; 1: identical",
)
def bertscore(
    outputs: Texts, references: References, *, bert_model: str, num_layers: int | None = None, batch_size: int = 64
) -> Scores:
    """BERTScore: greedy matching of contextual word vectors by cosine.

    Parameters
    ----------
    outputs : sequence of str
    references : sequence of str or of sequences of str
        The reference with the best F1 counts.
    bert_model : str
        A local folder or a hub name.
    num_layers : int, optional
        The layer whose vectors are compared; must be given for models that bert-score has not tuned, so for folders.
    batch_size : int

    Returns
    -------
    mapping
        ``f1``, ``precision``, ``recall``: (n,) arrays, not rescaled by a baseline.  A blank text scores 0 against
        any other; two blank texts score 1.

    Raises
    ------
    Unavailable
        Without the package or the model; the message says how to get it.
    """
    require("bert-score", "bert_score", "bertscore")
    if not bert_model:
        raise Unavailable("bertscore needs a model: bert_model = a local folder, with num_layers, or a hub name")
    flat = pairs(outputs, references)
    values = np.zeros((3, len(flat.outputs)))
    kept = np.array([bool(a.strip() and b.strip()) for a, b in zip(flat.outputs, flat.references, strict=True)], bool)
    values[:, [not (a.strip() or b.strip()) for a, b in zip(flat.outputs, flat.references, strict=True)]] = 1.0
    if kept.any():
        scorer = _bert_scorer(bert_model, num_layers, batch_size)
        found = scorer.score(
            [a for a, keep in zip(flat.outputs, kept, strict=True) if keep],
            [b for b, keep in zip(flat.references, kept, strict=True) if keep],
        )
        values[:, kept] = np.stack([part.numpy() for part in found]).astype(float)
    precision, recall, f1 = values
    return best_of({"f1": f1, "precision": precision, "recall": recall}, flat.first)


@functools.lru_cache(2)
def _bert_scorer(model: str, num_layers: int | None, batch_size: int) -> Any:
    from bert_score import BERTScorer
    from bert_score.utils import model2layers

    if num_layers is None and model not in model2layers:
        raise Unavailable(f"bertscore needs num_layers for {model}: bert-score has tuned none for it")
    try:
        return BERTScorer(model_type=model, num_layers=num_layers, batch_size=batch_size, device="cpu")
    except OSError as error:
        reason = str(error).strip().split("\n")[0]
        raise Unavailable(f"bertscore cannot load {model}: {reason}; name a local folder") from error


def _mean_contradiction(
    outputs: Sequence[str], premises: Sequence[Sequence[str]], contradict: Contradict, language: str
) -> Floats:
    """Mean over an output's sentences and its premises of P(premise contradicts sentence); NaN without either."""
    split = {text: sentences(text, language) for text in set(outputs)}
    asked = [
        (i, premise, sentence)
        for i, (output, several) in enumerate(zip(outputs, premises, strict=True))
        for sentence in split[output]
        for premise in several
    ]
    if not asked:
        return np.full(len(outputs), np.nan)
    rows, left, right = (list(column) for column in zip(*asked, strict=True))
    values = np.asarray(contradict(left, right), dtype=float)
    if values.shape != (len(asked),):
        raise BadInput(f"contradict gave shape {values.shape} for {len(asked)} pairs")
    sums, counts = np.bincount(rows, values, len(outputs)), np.bincount(rows, minlength=len(outputs))
    return share(sums, counts, otherwise=np.nan)


@metric(
    kind="texts",
    range=(0, 1),
    higher_is_better=False,
    needs=("samples", "contradict"),
    languages="the judge's or NLI model's",
    example=(
        {
            "outputs": ["It rains. It snows."],
            "samples": [["It rains.", "It hails."]],
            "contradict": lambda p, h: [float(x != y) for x, y in zip(p, h, strict=True)],
        },
        [0.75],
    ),
    reference=_SELFCHECK,
    category="faithfulness",
    limitations="as good as its judge; an error that all samples share is not seen",
    values="0: no sample contradicts a sentence; 1: all do",
)
def selfcheck_nli(outputs: Texts, samples: References, *, contradict: Contradict, language: str = "en") -> Floats:
    """SelfCheckGPT-NLI: how far other samples of the same model contradict the output's sentences; higher is worse.

    Mean over sentences i and samples j of P(contradiction | sample j, sentence i).

    Parameters
    ----------
    outputs : sequence of str
    samples : sequence of sequences of str
        Further answers of the same model to the same request.
    contradict : callable
        Premises, hypotheses → (n,) array of P(contradiction) in [0, 1]; NaN where it failed.
    language : str
        ISO code, for cutting sentences.

    Returns
    -------
    (n,) array in [0, 1]
        NaN for an output without sentences or without samples, and where the judge failed.
    """
    texts = checked_texts(outputs, "outputs")
    lists = checked_lists(samples, "samples", len(texts), empty_ok=True)
    return _mean_contradiction(texts, lists, contradict, language)


@metric(
    kind="texts",
    aliases=("faithfulness_selfcheckgpt",),
    range=(0, 1),
    higher_is_better=False,
    needs=("context", "contradict"),
    languages="the judge's or NLI model's",
    example=(
        {
            "outputs": ["It rains. It snows."],
            "contexts": ["It rains."],
            "contradict": lambda p, h: [float(x != y) for x, y in zip(p, h, strict=True)],
        },
        [0.5],
    ),
    reference=f"{_SELFCHECK}, with the context in place of the samples",
    category="faithfulness",
    limitations="as good as its judge; what the context does not mention does not count",
    values="0: no sentence is contradicted; 1: all are",
)
def context_contradiction(
    outputs: Texts, contexts: References, *, contradict: Contradict, language: str = "en"
) -> Floats:
    """How far the context contradicts the output's sentences; higher is worse.

    Mean over sentences and passages of P(contradiction | passage, sentence).

    Parameters
    ----------
    outputs : sequence of str
    contexts : sequence of str or of sequences of str
    contradict, language
        See :func:`selfcheck_nli`.

    Returns
    -------
    (n,) array in [0, 1]
        NaN for an output without sentences, and where the judge failed.
    """
    texts = checked_texts(outputs, "outputs")
    return _mean_contradiction(texts, checked_lists(contexts, "contexts", len(texts)), contradict, language)


# Scripts that people read together as one language count as one.
_SCRIPT_GROUPS = {
    "Latin": r"\p{Latin}", "Cyrillic": r"\p{Cyrillic}", "Greek": r"\p{Greek}", "Arabic": r"\p{Arabic}",
    "Hebrew": r"\p{Hebrew}", "Devanagari": r"\p{Devanagari}", "Thai": r"\p{Thai}", "Hangul": r"\p{Hangul}",
    "Kana": r"[\p{Hiragana}\p{Katakana}ー]", "Han": r"\p{Han}",
}  # fmt: skip
_SCRIPTS = tuple(regex.compile(pattern) for pattern in _SCRIPT_GROUPS.values())
_LETTER = regex.compile(r"\p{L}")


def script_shares(texts: Sequence[str]) -> Floats:
    """Share of each text's letters by script, (n, scripts + 1); the last is every other script.  0 without letters."""
    counts = np.array([[len(p.findall(t)) for p in (*_SCRIPTS, _LETTER)] for t in texts], float).reshape(
        -1, len(_SCRIPTS) + 1
    )
    counts[:, -1] -= counts[:, :-1].sum(axis=1)
    return share(counts, counts.sum(axis=1, keepdims=True))


@metric(
    kind="texts",
    range=(0, 1),
    higher_is_better=True,
    needs=("request",),
    languages="any; languages of one script are not told apart",
    example=({"outputs": ["Да", "yes"], "requests": ["Идёшь?", "Идёшь?"]}, [1.0, 0.0]),
    reference="1 − total variation distance between the shares of letters by script (Unicode Standard Annex #24)",
    category="quality",
    limitations="languages of one script are not told apart",
    values="0: no letter in a script of the request; 1: the same shares of scripts",
)
def language_match(outputs: Texts, requests: Texts) -> Floats:
    """Whether the output is written in the request's script: a cheap sign of an answer in the wrong language.

    1 − ½ Σ |share of script s in the output − its share in the request|.

    Parameters
    ----------
    outputs, requests : sequences of str

    Returns
    -------
    (n,) array in [0, 1]
        NaN where either has no letters.

    Examples
    --------
    >>> language_match(["Да", "4"], ["Идёшь?", "2+2?"])
    array([ 1., nan])
    """
    texts = checked_texts(outputs, "outputs")
    ours, theirs = script_shares(texts), script_shares(checked_texts(requests, "requests", len(texts)))
    letters = (ours.sum(axis=1) > 0) & (theirs.sum(axis=1) > 0)
    return np.where(letters, 1 - np.abs(ours - theirs).sum(axis=1) / 2, np.nan)
