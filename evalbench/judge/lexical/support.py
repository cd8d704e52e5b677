"""Does a passage support a claim?  Words, their neighbourhood, names, numbers, vectors; never a contradiction."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from evalbench.core.arrays import Floats
from evalbench.judge.lexical.alignment import (
    coverage,
    denials_differ,
    fold,
    function_words,
    gives_new_number,
    match_matrix,
    terms,
    values,
    weight,
)
from evalbench.judge.lexical.card import EMBEDDER, card
from evalbench.models.similarity.embed import embed
from evalbench.text.sentences import sentences
from evalbench.text.stopwords import NEGATIONS
from evalbench.text.words import words

NEAR_WORDS = 6
CANDIDATE_SENTENCES = 3
ALIGNED = 0.7
# What is left of a claim's probability of support where a sentence seems to say otherwise; set by reason.
LEFT_BY_CONFLICT = 0.3
_HAN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_CYRILLIC = regex.compile(r"\p{Cyrillic}")
_SCRIPTS = [
    regex.compile(rf"\p{{{name}}}")
    for name in ("Latin", "Cyrillic", "Han", "Arabic", "Greek", "Hebrew", "Devanagari", "Thai", "Hangul")
]
_GERMAN = regex.compile(r"\b(?:der|die|das|und|ist|nicht|ein|eine|im|den|dem|des|von|mit|wird|zu)\b", regex.IGNORECASE)

_ANTONYMS = (
    "increase decrease", "increased decreased", "increases decreases", "rise fall", "rose fell", "more less",
    "more fewer", "higher lower", "highest lowest", "larger smaller", "largest smallest", "above below", "win lose", "won lost", "alive dead", "true false", "accept reject",
    "accepted rejected", "allow forbid", "allowed forbidden", "legal illegal", "guilty innocent", "male female",
    "hot cold", "open closed", "earlier later", "oldest youngest", "north south", "east west",
    "northern southern", "eastern western", "possible impossible", "success failure", "always never", "all none",
    "больше меньше", "выше ниже", "первый последний", "рост падение", "вырос упал", "выросла упала",
    "старше младше", "живой мертвый", "можно нельзя", "разрешено запрещено", "победил проиграл", "всегда никогда",
)  # fmt: skip


class SentenceSupport(NamedTuple):
    """What in a passage speaks for one sentence of a claim.

    Attributes
    ----------
    found : float
        Weighted share of the claim's words found in the best two neighbouring sentences, 0–1.
    together : float
        Share of the claim's neighbouring content words that are near each other in the passage, 0–1.
    meaning : float
        Highest cosine with one of the best-aligned sentences, clipped to 0–1.
    specifics : float
        Share of the claim's names and numbers that the passage holds, 0–1; ``found`` where it has none.
    new_number : float
        1 where the claim gives a number that the passage does not, else 0.
    new_names : float
        Share of the claim's names that the passage does not hold, 0–1; 0 where it has none.
    denied : float
        1 where the claim denies what its best-aligned sentence affirms, or the other way round.
    conflict : str
        Why the best-aligned sentence seems to say otherwise: ``"number"``, ``"negation"``, ``"antonym"``, or empty.
    says : float
        Summed weight of the claim's words.
    """

    found: float
    together: float
    meaning: float
    specifics: float
    new_number: float
    new_names: float
    denied: float
    conflict: str
    says: float

    @property
    def says_otherwise(self) -> bool:
        """Whether the sentence gives a number or a name that the passage lacks, denies, or is otherwise in conflict."""
        return bool(self.conflict or self.new_number or self.denied or self.new_names > 0)

    @property
    def score(self) -> float:
        """Weighted sum, −0.4–1: the weights were set by reason on the half of the oracle passages that fits the slope."""
        positive = 0.4 * self.found + 0.25 * self.together + 0.15 * self.meaning + 0.2 * self.specifics
        return positive - 0.1 * self.denied - 0.1 * self.new_number - 0.2 * self.new_names


@dataclass(frozen=True)
class _Passage:
    sentences: tuple[str, ...]
    vocabulary: tuple[str, ...]
    positions: npt.NDArray[np.int64]
    sentence_of: npt.NDArray[np.int64]


def language_of(text: str) -> str:
    """The language whose rules cut this text into sentences, by its script: zh, ru or en."""
    return "zh" if _HAN.search(text) else "ru" if _CYRILLIC.search(text) else "en"


@functools.lru_cache(maxsize=4096)
def _passage(text: str) -> _Passage:
    cut = tuple(sentences(text, language_of(text)))
    by_sentence = [terms(s) for s in cut]
    vocabulary = tuple(sorted({t for ts in by_sentence for t in ts}))
    at = {t: i for i, t in enumerate(vocabulary)}
    return _Passage(
        cut,
        vocabulary,
        np.array([at[t] for ts in by_sentence for t in ts], dtype=np.int64),
        np.repeat(np.arange(len(cut)), [len(ts) for ts in by_sentence]),
    )


class _Alignment(NamedTuple):
    """A claim's sentence laid over a passage: ``hits`` is (words of the claim, words of the passage)."""

    claim: tuple[str, ...]
    weights: Floats
    hits: Floats
    per_sentence: Floats

    def shares(self) -> Floats:
        """Weighted share of the claim found in each sentence of the passage."""
        shares: Floats = self.per_sentence @ self.weights / self.weights.sum()
        return shares


def _align(claim: str, passage: _Passage) -> _Alignment:
    claim_terms = terms(claim)
    hits = match_matrix(claim_terms, passage.vocabulary)[:, passage.positions]
    per_sentence = np.zeros((len(passage.sentences), len(claim_terms)))
    np.maximum.at(per_sentence, passage.sentence_of, hits.T)
    return _Alignment(claim_terms, np.array([weight(t) for t in claim_terms]), hits, per_sentence)


def _found(a: _Alignment) -> float:
    pairs = np.maximum(a.per_sentence[:-1], a.per_sentence[1:])
    windows = np.concatenate([a.per_sentence, pairs])
    return float((windows @ a.weights).max() / a.weights.sum())


def _together(a: _Alignment) -> float:
    content = [i for i, t in enumerate(a.claim) if t not in function_words()]
    places = {i: np.flatnonzero(a.hits[i]) for i in content}
    near = [bool((np.abs(places[i][:, None] - places[j]) <= NEAR_WORDS).any()) for i, j in pairwise(content)]
    return float(np.mean(near)) if near else float(a.hits[content].any(axis=1).all()) if content else 0.0


def _names(claim: str) -> tuple[str, ...]:
    """Capitalised words but the first one."""
    cased = words(claim)[1:]
    return tuple(t for w in cased if w[0].isupper() and (t := fold(w)) not in function_words())


class _Specifics(NamedTuple):
    held: float | None
    new_names: float


def _specifics(claim: str, passage_text: str, passage: _Passage) -> _Specifics:
    names, numbers = _names(claim), values(claim)
    if not names and not numbers:
        return _Specifics(None, 0.0)
    named = match_matrix(names, passage.vocabulary).max(axis=1) if names else np.zeros(0)
    held = float(named.sum() + len(numbers & values(passage_text))) / (len(names) + len(numbers))
    missed = float((named == 0).mean()) if names else 0.0
    # In German every noun has a capital, so that a noun in other words is not a name yet.
    return _Specifics(held, 0.0 if missed < 1 and len(_GERMAN.findall(claim)) > 1 else missed)


def _script(text: str) -> int:
    """The place of the script that most letters of a text are of; -1 without letters."""
    counts = [len(script.findall(text)) for script in _SCRIPTS]
    return int(np.argmax(counts)) if any(counts) else -1


def in_another_script(claim: str, passage: str) -> bool:
    """Whether a passage has no letter of the script of a claim.

    Examples
    --------
    >>> in_another_script("Мост упал в 1908.", "The bridge fell in 1908."), in_another_script("1908", "упал в 1908")
    (True, False)
    """
    own = _script(claim)
    return own >= 0 and bool(passage.strip()) and not _SCRIPTS[own].search(passage)


@functools.cache
def _opposites() -> dict[str, frozenset[str]]:
    out: dict[str, set[str]] = {}
    for pair in _ANTONYMS:
        a, b = (fold(w) for w in pair.split())
        out.setdefault(a, set()).add(b)
        out.setdefault(b, set()).add(a)
    return {word: frozenset(others) for word, others in out.items()}


def _conflict(claim: str, sentence: str, passage_text: str) -> str:
    """Why a well-aligned sentence seems to say something else; too often it does not, so it only denies support."""
    own, other = terms(claim), terms(sentence)
    rest = tuple(t for t in own if not t[0].isdigit() and t not in NEGATIONS and t not in _opposites())
    if not rest or coverage(rest, other) < ALIGNED:
        return ""
    claimed, given = values(claim), values(sentence)
    if claimed and given - claimed and not claimed & values(passage_text):
        return "number"
    if denials_differ(claim, sentence):
        return "negation"
    for term in own:
        if term not in other and any(o in other and o not in own for o in _opposites().get(term, ())):
            return "antonym"
    return ""


def sentence_support(claim: str, premise: str, cosine: float = 0.0) -> SentenceSupport:
    """How a passage supports one sentence; ``cosine`` is the highest with :func:`best_sentences`."""
    passage = _passage(premise)
    if not terms(claim) or not passage.vocabulary:
        return SentenceSupport(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, "", sum(map(weight, terms(claim))))
    a = _align(claim, passage)
    best = passage.sentences[int(np.argmax(a.shares()))]
    found, specific = _found(a), _specifics(claim, premise, passage)
    return SentenceSupport(
        found,
        _together(a),
        min(max(cosine, 0.0), 1.0),
        found if specific.held is None else specific.held,
        float(gives_new_number(claim, premise)),
        specific.new_names,
        float(denials_differ(claim, best)),
        _conflict(claim, best, premise),
        float(a.weights.sum()),
    )


def best_sentences(claim: str, premise: str) -> tuple[str, ...]:
    """The sentences of a passage that hold most of the claim's words, best first."""
    passage = _passage(premise)
    if not terms(claim) or not passage.vocabulary:
        return ()
    order = np.argsort(-_align(claim, passage).shares(), kind="stable")[:CANDIDATE_SENTENCES]
    return tuple(passage.sentences[i] for i in order)


def supports(premises: Sequence[str], claims: Sequence[str]) -> list[list[SentenceSupport]]:
    """Support of every sentence of every claim by its passage; an empty claim has no sentences."""
    parts = [
        (i, sentence, premises[i])
        for i, claim in enumerate(claims)
        for sentence in sentences(claim, language_of(claim))
    ]
    candidates = [best_sentences(sentence, premise) for _, sentence, premise in parts]
    texts = sorted({t for (_, s, _), c in zip(parts, candidates, strict=True) for t in (s, *c)})
    vectors = dict(zip(texts, embed(texts, EMBEDDER).astype(np.float64), strict=True))
    out: list[list[SentenceSupport]] = [[] for _ in claims]
    for (i, sentence, premise), near in zip(parts, candidates, strict=True):
        cosine = max((float(vectors[sentence] @ vectors[n]) for n in near), default=0.0)
        out[i].append(sentence_support(sentence, premise, cosine))
    return out


def support_scores(found: Sequence[Sequence[SentenceSupport]]) -> Floats:
    """One score per claim: the mean over its sentences, weighted by how much they say; 0 for an empty claim."""
    return np.array([_mean_score(one) for one in found], dtype=np.float64)


def _mean_score(one: Sequence[SentenceSupport]) -> float:
    says = sum(s.says for s in one)
    return sum(s.score * s.says for s in one) / says if says else 0.0


def entailment(premises: Sequence[str], claims: Sequence[str]) -> Floats:
    """Probabilities of entailment, neutrality and contradiction; that of contradiction is always 0.

    Entailment is logistic in the support score.  A number or a name that the passage lacks, the opposite word, a denial or
    another script speaks against it, but shows no contradiction: sentences in conflict are about as frequent where the
    passage entails the claim as where it does not (``conflict_seen`` on the card).

    Returns
    -------
    (n, 3) float64 array
        Rows sum to 1; the last column is 0.
    """
    found = supports(premises, claims)
    fitted = card()["entailment"]
    entailed = 1.0 / (1.0 + np.exp(-(fitted["slope"] * support_scores(found) + fitted["intercept"])))
    otherwise = [
        any(s.says_otherwise for s in one) or in_another_script(claim, premise)
        for one, claim, premise in zip(found, claims, premises, strict=True)
    ]
    entailed *= np.where(otherwise, LEFT_BY_CONFLICT, 1.0)
    return np.stack([entailed, 1.0 - entailed, np.zeros(len(entailed))], axis=1)
