"""Machine translation's lexical metrics: BLEU by sacrebleu, METEOR by nltk."""

from __future__ import annotations

import functools
import io
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from evalbench.core.arrays import Floats
from evalbench.errors import BadInput
from evalbench.metrics.registry import metric
from evalbench.metrics.text import (
    References,
    Scores,
    Texts,
    Unavailable,
    best_pair,
    checked_lists,
    checked_texts,
    pairs,
    require,
)
from evalbench.text.stems import import_nltk, stemmer, stemmer_name
from evalbench.text.words import words

MAX_ORDER = 4
NO_WORDNET = (
    "WordNet is not in WNSEARCHDIR, WNHOME/dict, nltk's data folders or /usr/share/wordnet: install it "
    "(apt-get install wordnet-base; nltk.download('wordnet')), or ask for meteor without synonyms"
)
_METEOR = "Banerjee and Lavie 2005, METEOR, section 2.2; Lavie and Agarwal 2007 (α = .9, β = 3, γ = .5)"
_POST = "Post 2018, A call for clarity in reporting BLEU scores"


@metric(
    kind="texts",
    aliases=("bleu",),
    range=(0, 100),
    higher_is_better=True,
    needs=("reference", "package:sacrebleu"),
    unit="0–100",
    example=({"outputs": ["the cat sat on the mat"], "references": ["the cat sat on the mat"]}, [100.0]),
    reference=f"Papineni et al. 2002, BLEU, sections 2.2–2.3; {_POST}",
    category="syntactic",
    limitations="made for whole corpora and noisy on short texts; other words of the same meaning are misses",
    values="0: no n-gram in common; 100: identical",
)
def sacrebleu(outputs: Texts, references: References, *, tokenize: str = "13a") -> Scores:
    """Sentence-level BLEU with the counts that corpus-level BLEU is computed from.

    BP · exp(mean over n = 1..4 of log pₙ), exponential smoothing; the mean runs to the longest n-gram that the
    output has (effective order), so that short outputs are not 0 by construction.

    Parameters
    ----------
    outputs : sequence of str
    references : sequence of str or of sequences of str
        Several references clip n-gram counts together, as BLEU defines it.
    tokenize : str
        sacrebleu's: ``"13a"``, ``"intl"``, ``"char"``; ``"zh"`` for Chinese, ``"ja-mecab"``, ``"ko-mecab"``.

    Returns
    -------
    mapping
        ``bleu`` in [0, 100]; ``correct_1`` … ``total_4``, ``output_length``, ``reference_length``: the counts for
        :func:`corpus_bleu`.  All (n,) arrays.

    Raises
    ------
    BadInput
        For malformed columns, or a tokenizer that sacrebleu does not know.
    Unavailable
        Without sacrebleu, or without what the tokenizer needs.

    Examples
    --------
    >>> sacrebleu(["the cat sat on the mat"], ["the cat is on the mat"])["bleu"].round(3)
    array([37.992])
    """
    require("sacrebleu", "sacrebleu", "sacrebleu")
    from sacrebleu.metrics.bleu import BLEU

    texts = checked_texts(outputs, "outputs")
    lists = checked_lists(references, "references", len(texts))
    if tokenize not in BLEU.TOKENIZERS:
        raise BadInput(f"tokenize={tokenize!r} is not one of sacrebleu's {', '.join(BLEU.TOKENIZERS)}")
    try:
        scorer = BLEU(effective_order=True, tokenize=tokenize)
    except (ImportError, RuntimeError) as error:
        reason = str(error).strip().split("\n")[0]
        raise Unavailable(f"sacrebleu's tokenizer {tokenize} is not available: {reason}") from error
    found = [scorer.sentence_score(text, several) for text, several in zip(texts, lists, strict=True)]
    counts = np.array([[*s.counts, *s.totals, s.sys_len, s.ref_len] for s in found], float).reshape(-1, 10)
    return {"bleu": np.array([s.score for s in found], float), **dict(zip(BLEU_COUNTS, counts.T, strict=True))}


BLEU_COUNTS = (
    *(f"correct_{n}" for n in range(1, MAX_ORDER + 1)),
    *(f"total_{n}" for n in range(1, MAX_ORDER + 1)),
    "output_length",
    "reference_length",
)


def corpus_bleu(*sums: Floats) -> Floats:
    """Corpus-level BLEU from summed counts.

    Parameters
    ----------
    *sums : ten (r,) arrays
        Sums over texts in the order of ``BLEU_COUNTS``; one entry per resample.

    Returns
    -------
    (r,) array in [0, 100]
        sacrebleu's corpus score: exponential smoothing, no effective order; 0 where no n-gram matches or no output
        is four words long.

    Examples
    --------
    >>> counts = sacrebleu(["a b c d e", "f g h i"], ["a b c d e", "f g h j"])
    >>> corpus_bleu(*(counts[name].sum(keepdims=True) for name in BLEU_COUNTS)).round(3)
    array([79.841])
    """
    table = np.stack([np.asarray(s, float) for s in sums])
    correct, total, (ours, theirs) = table[:MAX_ORDER], table[MAX_ORDER:-2], table[-2:]
    halvings = 2.0 ** np.cumsum(correct == 0, axis=0)
    with np.errstate(all="ignore"):
        precision = np.where(correct > 0, correct, 1 / halvings) / total
        brevity = np.where(ours < theirs, np.exp(1 - theirs / ours), 1.0)
        score = 100 * brevity * np.exp(np.log(precision).mean(axis=0))
    return np.where((correct.sum(axis=0) > 0) & (total > 0).all(axis=0), score, 0.0)


@metric(
    kind="texts",
    range=(0, 1),
    higher_is_better=True,
    needs=("reference", "package:nltk"),
    languages="any (exact); stems in nltk's Snowball languages",
    example=({"outputs": ["a b"], "references": ["c d"]}, [0.0]),
    reference=_METEOR,
    category="syntactic",
    limitations="tuned on translation; synonyms are misses",
    values="0: no word in common; 1: identical, but for very short texts",
)
def meteor(outputs: Texts, references: References, *, language: str = "en") -> Floats:
    """METEOR: harmonic mean of unigram precision and recall, recall-weighted, less a penalty for broken order.

    Words match in stages: exact, then by stem where the language has a stemmer (:func:`meteor_stages`); never by synonym,
    so that the score is the same on every machine.  :func:`meteor_synonyms` adds that stage.

    Parameters
    ----------
    outputs : sequence of str
    references : sequence of str or of sequences of str
        The best reference counts.
    language : str
        ISO code: Porter's stemmer for ``"en"``, Snowball's for the languages it has, none for the others.

    Returns
    -------
    (n,) array in [0, 1]
        Even identical texts of n words score 1 − ½/n³: one chunk is still a chunk.

    Raises
    ------
    Unavailable
        Without nltk.

    Examples
    --------
    >>> meteor(["the cat sat on the mat"], ["the cat sat on the mat"]).round(4)
    array([0.9977])
    """
    return _meteor("meteor", outputs, references, language, lambda word: [])


@metric(
    kind="texts",
    range=(0, 1),
    higher_is_better=True,
    needs=("reference", "package:nltk", "WordNet"),
    languages="English",
    example=({"outputs": ["car"], "references": ["auto"]}, [0.5]),
    reference=f"{_METEOR}; Miller 1995, WordNet",
    category="syntactic",
    limitations="tuned on translation; WordNet's synonyms fit any sense of a word",
    values="0: no word in common; 1: identical, but for very short texts",
)
def meteor_synonyms(outputs: Texts, references: References, *, language: str = "en") -> Floats:
    """METEOR that matches words by WordNet's synonyms too, after exact words and stems.

    As in nltk, synonyms are looked up of what the stemmer left: ``car`` and ``auto`` match, ``automobile`` (``automobil``) has none.

    Parameters
    ----------
    outputs : sequence of str
    references : sequence of str or of sequences of str
        The best reference counts.
    language : str
        ``"en"``: WordNet is English.

    Returns
    -------
    (n,) array in [0, 1]

    Raises
    ------
    Unavailable
        Without nltk, or where WordNet is not on this machine.
    BadInput
        For any language but English.
    """
    if language != "en":
        raise BadInput(f"meteor_synonyms: WordNet is English, and language is {language!r}")
    require("nltk", "nltk", "meteor_synonyms")
    folder = wordnet_folder()
    if folder is None:
        raise Unavailable(f"meteor_synonyms: {NO_WORDNET}")
    return _meteor("meteor_synonyms", outputs, references, language, _synsets(folder))


def _meteor(
    name: str, outputs: Texts, references: References, language: str, synsets: Callable[[str], Sequence[Any]]
) -> Floats:
    require("nltk", "nltk", name)
    import_nltk()
    from nltk.translate.meteor_score import single_meteor_score

    flat = pairs(outputs, references)
    tools = {"stemmer": SimpleNamespace(stem=stemmer(language)), "wordnet": SimpleNamespace(synsets=synsets)}
    tokens = {text: words(text, lower=True) for text in {*flat.outputs, *flat.references}}
    values = [
        single_meteor_score(tokens[reference], tokens[output], **tools)
        for output, reference in zip(flat.outputs, flat.references, strict=True)
    ]
    scores = np.array(values, float)
    return scores[best_pair(scores, flat.first)]


def meteor_stages(name: str = "meteor", language: str = "en") -> tuple[str, ...]:
    """The stages by which :func:`meteor` or :func:`meteor_synonyms` matches words of a language.

    Examples
    --------
    >>> meteor_stages("meteor", "zh")
    ('exact',)
    >>> meteor_stages("meteor_synonyms")
    ('exact', 'stem', 'synonym')
    """
    stem = ("stem",) if stemmer_name(language) else ()
    return ("exact", *stem, *(("synonym",) if name == "meteor_synonyms" else ()))


@functools.cache
def _synsets(folder: Path) -> Callable[[str], Sequence[Any]]:
    """A word's synsets, each word looked up once."""
    found: Callable[[str], Sequence[Any]] = functools.lru_cache(1 << 17)(_wordnet(folder).synsets)
    return found


def wordnet_folder() -> Path | None:
    """Where WordNet's database lies: ``WNSEARCHDIR``, ``WNHOME/dict``, nltk's data folders, or Debian's place."""
    return next((folder for folder in _wordnet_places() if all(map(os.path.isfile, _files(folder)))), None)


def _files(folder: Path) -> list[Path]:
    kinds = ("noun", "verb", "adj", "adv")
    return [folder / name.format(kind) for kind in kinds for name in ("data.{}", "index.{}", "{}.exc")]


def wordnet_version(folder: Path) -> str:
    """The version that a WordNet database states at its head; empty where it states none.

    Synonyms, and so scores, differ between versions.
    """
    with (folder / "data.noun").open(encoding="utf-8", errors="replace") as lines:
        head = " ".join(line for _, line in zip(range(30), lines, strict=False))
    stated = re.search(r"WordNet (\d[\d.]*\d)", head)
    return stated.group(1) if stated else ""


def _wordnet_places() -> Iterable[Path]:
    if "WNSEARCHDIR" in os.environ:
        yield Path(os.environ["WNSEARCHDIR"])
    if "WNHOME" in os.environ:
        yield Path(os.environ["WNHOME"]) / "dict"
    import_nltk()
    import nltk.data

    for folder in nltk.data.path:
        yield Path(folder) / "corpora" / "wordnet"
    yield Path("/usr/share/wordnet")


@functools.cache
def _wordnet(folder: Path) -> Any:
    import warnings

    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):  # type: ignore[misc]
        """A WordNet folder as its makers ship it, read as plain files: nltk's own reader takes many times as long.

        nltk alone also wants a file of category names, which METEOR never reads.
        """

        def open(self, file: str) -> Any:
            if file == "lexnames" and not (folder / file).is_file():
                return io.StringIO("".join(f"{i:02d}\tcategory.{i:02d}\t1\n" for i in range(45)))
            return (folder / file).open(encoding="utf-8")

        def map_wn(self, version: str = "wordnet") -> None:
            """No mapping to another WordNet: only multilingual look-ups use it."""

    # nltk opens no file outside the folders on its path.
    if str(folder) not in nltk.data.path:
        nltk.data.path.append(str(folder))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The multilingual functions are not available")
        return Reader(str(folder), None)
