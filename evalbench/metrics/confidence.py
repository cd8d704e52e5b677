"""How sure a model is of its own answer, by further answers that were drawn at a raised temperature: one number per item.

p is the model's confidence in its answer: the share of samples that repeat it, or how similar they are to it.  The others turn p,
or the groups of equal answers, into uncertainty: higher where the answer should be doubted.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Ints
from evalbench.errors import BadInput
from evalbench.metrics.registry import metric
from evalbench.metrics.semantic import Embed, cosines
from evalbench.text.normalise import Normalisation, tokenizer

NORMALISE = "full-stop_words"
"""Lower case, no punctuation, one space: stop-words stay, since they may be all of an answer (*A*, *to be*)."""
_HANDBOOK = "handbook (docs/methods.md), «Качество прогноза: уверенность LLM в ошибочных ответах»"
_SHANNON = "Shannon 1948, A Mathematical Theory of Communication, section 6"
_ANSWERS = {"answers": ["Oslo", "7"], "samples": [["oslo.", "Oslo", "Bergen", "Oslo"], ["8", "9"]]}


def equal_codes(texts: Sequence[str], normalise: Normalisation = NORMALISE, language: str = "") -> Ints:
    """A number per text, the same for texts that are equal after normalising; see :func:`evalbench.text.normalise.tokenizer`.

    Examples
    --------
    >>> equal_codes(["Oslo", " oslo.", "Bergen"]).tolist()
    [0, 0, 1]
    """
    tokens = tokenizer(normalise, language)
    key = functools.cache(lambda text: " ".join(tokens(text)))
    known: dict[str, int] = {}
    return np.array([known.setdefault(key(text), len(known)) for text in texts], dtype=np.int64)


class Drawn:
    """Answers and their samples as flat arrays.

    Attributes
    ----------
    sizes : (n,) array of int
        How many samples each answer has.
    item : (m,) array of int
        The answer that each sample belongs to.
    flat : list of str
        All samples.
    """

    def __init__(self, answers: Sequence[str], samples: Sequence[Sequence[str]]) -> None:
        if len(answers) != len(samples):
            raise BadInput(f"{len(answers)} answers and {len(samples)} lists of samples: there must be as many")
        self.sizes = np.array([len(own) for own in samples], dtype=np.int64)
        if (self.sizes == 0).any():
            at = np.flatnonzero(self.sizes == 0)
            raise BadInput(
                f"{len(at)} answers have no samples (N = 0), the first at {at[0]}: confidence needs one or more"
            )
        self.item = np.repeat(np.arange(len(answers)), self.sizes)
        self.flat = [text for own in samples for text in own]

    def mean(self, values: npt.ArrayLike) -> Floats:
        """The mean of one value per sample over each answer's samples."""
        return np.bincount(self.item, weights=np.asarray(values, float), minlength=len(self.sizes)) / self.sizes


@metric(
    kind="samples",
    range=(0, 1),
    higher_is_better=None,
    needs=("samples",),
    reference=f"{_HANDBOOK}: a discrete set of answers",
    limitations="another wording of the same answer counts as another answer; N samples give N + 1 values",
    example=(_ANSWERS, [0.75, 0.0]),
)
def match_confidence(
    answers: Sequence[str],
    samples: Sequence[Sequence[str]],
    *,
    normalise: Normalisation = NORMALISE,
    language: str = "",
) -> Floats:
    """p by match: the share of an answer's samples that equal it after normalising.

    Parameters
    ----------
    answers : sequence of str
    samples : sequence of sequence of str
        Of each answer one or more; their number may differ.
    normalise, language : str
        See :func:`evalbench.text.normalise.tokenizer`.

    Returns
    -------
    (n,) array
        0–1, one of the values 0, 1/N, …, 1.

    Raises
    ------
    BadInput
        If an answer has no samples, or there are not as many lists as answers.

    Examples
    --------
    >>> match_confidence(["Oslo"], [["oslo.", "Bergen"]]).tolist()
    [0.5]
    """
    drawn = Drawn(answers, samples)
    codes = equal_codes([*answers, *drawn.flat], normalise, language)
    return drawn.mean(codes[len(answers) :] == codes[drawn.item])


def mean_cosine(answers: Sequence[str], samples: Sequence[Sequence[str]], *, embed: Embed) -> Floats:
    """The mean cosine of the embeddings of an answer and of each of its samples, −1 to 1; see :func:`similarity_confidence`.

    Examples
    --------
    >>> mean_cosine(["a"], [["a", "b"]], embed=lambda texts: np.eye(2)[[int(t == "b") for t in texts]]).tolist()
    [0.5]
    """
    drawn = Drawn(answers, samples)
    values = cosines(embed, [answers[i] for i in drawn.item.tolist()], drawn.flat)
    return np.clip(drawn.mean(values), -1.0, 1.0)


def _letters(texts: Sequence[str]) -> Any:
    """An embedding for examples: one direction for each text."""
    return [[float(text == "a"), float(text != "a")] for text in texts]


@metric(
    kind="samples",
    range=(0, 1),
    higher_is_better=None,
    needs=("samples", "embed"),
    languages="the embedding model's",
    reference=f"{_HANDBOOK}: other answers; it prints the cosine distance, by which the surest answer has p = 0",
    limitations="a similarity is not a probability, and unrelated texts have one above 0",
    example=({"answers": ["a"], "samples": [["a", "b"]], "embed": _letters}, [0.5]),
)
def similarity_confidence(answers: Sequence[str], samples: Sequence[Sequence[str]], *, embed: Embed) -> Floats:
    """p by similarity: the mean cosine of an answer and its samples, clipped to [0, 1].

    Parameters
    ----------
    answers, samples
        As of :func:`match_confidence`.
    embed : callable
        Texts → (n, d) array of vectors.

    Returns
    -------
    (n,) array
    """
    return np.clip(mean_cosine(answers, samples, embed=embed), 0.0, 1.0)


@metric(
    kind="samples",
    range=(0, 1),
    higher_is_better=None,
    needs=("samples", "embed"),
    languages="the embedding model's",
    reference="Bouchard and Chauhan 2025, Uncertainty Quantification for Language Models (uqlm), cosine similarity of sampled answers",
    limitations="unrelated texts are near 0.5, so that its values are higher than raw cosines",
    example=({"answers": ["a"], "samples": [["a", "b"]], "embed": _letters}, [0.75]),
)
def similarity01(answers: Sequence[str], samples: Sequence[Sequence[str]], *, embed: Embed) -> Floats:
    """The mean of (1 + cosine) / 2 over an answer's samples.

    Parameters and result as of :func:`similarity_confidence`.
    """
    return (1 + mean_cosine(answers, samples, embed=embed)) / 2


@metric(
    kind="confidence",
    range=(0, 1 / np.e),
    higher_is_better=None,
    needs=("samples",),
    unit="nats",
    reference=f"{_HANDBOOK}: the entropy as it is printed",
    limitations="0 at p = 0 as at p = 1: an answer that no sample repeats looks as sure as one that all repeat",
    example=({"p": [0.0, 0.5, 1.0]}, [0.0, 0.5 * np.log(2), 0.0]),
)
def neg_p_log_p_handbook(p: npt.ArrayLike) -> Floats:
    """−p · ln p, one term of an entropy; 0 at p = 0.

    Parameters
    ----------
    p : (n,) array
        0–1; NaN where there is none.

    Returns
    -------
    (n,) array
        Nats, at most 1/e, which is reached at p = 1/e.

    Examples
    --------
    >>> neg_p_log_p_handbook([0, 1, 0.5]).round(4).tolist()
    [0.0, 0.0, 0.3466]
    """
    shares = _shares(p)
    return _plus_0(-_x_log_x(shares))


@metric(
    kind="confidence",
    range=(0, np.log(2)),
    higher_is_better=None,
    needs=("samples",),
    unit="nats",
    reference=_SHANNON,
    limitations="0 at p = 0 as at p = 1: an answer that no sample repeats looks as sure as one that all repeat",
    example=({"p": [0.0, 0.5, 1.0]}, [0.0, np.log(2), 0.0]),
)
def binary_entropy(p: npt.ArrayLike) -> Floats:
    """−p · ln p − (1 − p) · ln(1 − p); 0 at p = 0 and at p = 1.  Parameters and result as of :func:`neg_p_log_p_handbook`.

    Examples
    --------
    >>> binary_entropy([0.25, 0.75]).round(4).tolist()
    [0.5623, 0.5623]
    """
    shares = _shares(p)
    return _plus_0(-_x_log_x(shares) - _x_log_x(1 - shares))


def _shares(p: npt.ArrayLike) -> Floats:
    shares = np.asarray(p, dtype=float)
    if ((shares < 0) | (shares > 1)).any():
        raise BadInput("p must be between 0 and 1")
    return shares


def _x_log_x(x: Floats) -> Floats:
    return np.asarray(x * np.log(np.where(x > 0, x, 1.0)))


def _plus_0(values: Floats) -> Floats:
    """Without a negative zero."""
    return values + 0.0


@metric(
    kind="clusters",
    range=(0, np.inf),
    higher_is_better=None,
    needs=("samples",),
    unit="nats",
    reference="Kuhn et al. 2023, Semantic Uncertainty, section 3; the discrete form of Farquhar et al. 2024, Nature 630",
    limitations="its maximum is ln(N + 1): values at different N do not compare",
    example=({"clusters": [["a", "a", "b", "b"], ["a", "a"]]}, [np.log(2), 0.0]),
)
def cluster_entropy(clusters: Sequence[Sequence[Hashable]]) -> Floats:
    """Shannon's entropy of the groups of equal answers, −Σ s · ln s over their shares s of the answer and its samples together.

    Parameters
    ----------
    clusters : sequence of sequence
        Of each item, the group of the answer and of each of its samples.

    Returns
    -------
    (n,) array
        Nats: 0 where all are of one group, ln(N + 1) where all N + 1 differ.  NaN for an item of nothing.

    Examples
    --------
    >>> cluster_entropy([["7", "7", "8"]]).round(4).tolist()
    [0.6365]
    """
    known: dict[Hashable, int] = {}
    sizes = np.array([len(own) for own in clusters], dtype=np.int64)
    codes = np.array([known.setdefault(each, len(known)) for own in clusters for each in own], dtype=np.int64)
    return entropy_of_groups(np.repeat(np.arange(len(clusters)), sizes), codes, len(clusters))


def entropy_of_groups(item: Ints, group: Ints, n_items: int) -> Floats:
    """The kernel of :func:`cluster_entropy`: item and group of each text.

    Examples
    --------
    >>> entropy_of_groups(np.array([0, 0, 1]), np.array([5, 6, 5]), 3).round(4).tolist()
    [0.6931, 0.0, nan]
    """
    total = np.bincount(item, minlength=n_items)
    width = int(group.max(initial=0)) + 1
    pairs, counts = np.unique(item * width + group, return_counts=True)
    at = pairs // width
    shares = counts / total[at]
    found = np.bincount(at, weights=-_x_log_x(shares), minlength=n_items)
    return np.where(total > 0, _plus_0(np.maximum(found, 0.0)), np.nan)


@metric(
    kind="entropy",
    range=(0, 1),
    higher_is_better=None,
    needs=("samples",),
    reference="the entropy over its maximum; uqlm's confidence is 1 minus it",
    limitations="with one sample it is 0 or 1",
    example=({"entropy": [np.log(2), 0.0], "n_samples": [1, 4]}, [1.0, 0.0]),
)
def normalised_cluster_entropy(entropy: npt.ArrayLike, n_samples: npt.ArrayLike) -> Floats:
    """:func:`cluster_entropy` over ln(N + 1), its maximum with N samples: items of different N compare.

    Parameters
    ----------
    entropy : (n,) array
        Nats.
    n_samples : (n,) array of int
        N, 1 or more.

    Returns
    -------
    (n,) array
        0–1.

    Examples
    --------
    >>> normalised_cluster_entropy([np.log(3)], [2]).tolist()
    [1.0]
    """
    found: Floats = np.minimum(np.asarray(entropy, float) / np.log1p(np.asarray(n_samples, float)), 1.0)
    return found
