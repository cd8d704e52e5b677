"""Making texts comparable: case, stop-words, punctuation, spaces; by words in any language."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import regex

from evalbench.errors import BadInput
from evalbench.text.stopwords import stop_words
from evalbench.text.words import UNSPACED, TokenIds, token_ids, words

Normalisation = str
_MODES = ("full", "squad", "none")
_STEPS = ("lower", "punctuation", "stop_words")

# A symbol may be all that tells two answers apart: C and C++, 5 $ and 5 €, 5 and −5.  A hyphen is a sign only
# before a number and after no letter or digit.
_SYMBOL = r"[\p{Sm}\p{Sc}\p{So}%‰]"
_SYMBOLS = regex.compile(_SYMBOL)
_SIGN = regex.compile(r"(?<![\p{L}\p{N}])-(?=\p{N})|−(?=\p{N})")
_SQUAD_PUNCTUATION = regex.compile(rf"[{re.escape(string.punctuation)}]|\p{{P}}")
_SQUAD_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
_SQUAD_TOKEN = regex.compile(rf"[{UNSPACED}]\p{{M}}*|[^{UNSPACED}]+", regex.V1)


def tokenizer(normalise: Normalisation = "full", language: str = "en") -> Callable[[str], list[str]]:
    """The tokens on which exact match after normalising, token F1 and Jaccard are computed.

    - ``normalise``: ``full``: lower-case, no punctuation, no stop-words, no extra whitespace; a step is left out by its
      name after a hyphen: ``full-lower``, ``full-punctuation``, ``full-stop_words``, or several,
      ``full-lower-stop_words``. ``squad``: SQuAD's: lower-case, no punctuation (joining what it parted), no ``a``,
      ``an``, ``the``. ``none``: words as they are.
    - ``language``: ISO code of the stop-words; ``""`` for none.

    Returns: Text → list of str. Negations are never stop-words; where nothing would remain, stop-words stay, and where
    there is no word at all, the text's own characters between blanks.

    Raises ``BadInput`` for an unknown normalisation, step, or language.

    References
    ----------
    Rajpurkar et al. 2016, SQuAD: 100,000+ questions, evaluation script (``squad``).

    Examples
    --------
    >>> tokenizer("full", "en")("The defendant is  NOT guilty!")
    ['defendant', 'not', 'guilty']
    >>> tokenizer("full-stop_words", "en")("The defendant is  NOT guilty!")
    ['the', 'defendant', 'is', 'not', 'guilty']
    >>> tokenizer("squad")("The state-of-the-art")
    ['stateoftheart']
    """
    cut, removed, otherwise = _rule(normalise, language)

    def tokens(text: str) -> list[str]:
        found = cut(text)
        return [token for token in found if token.lower() not in removed] or found or otherwise(text)

    return tokens


def normalised_ids(texts: Sequence[str], normalise: Normalisation = "full", language: str = "en") -> TokenIds:
    """The tokens of :func:`tokenizer` of many texts.

    Examples
    --------
    >>> found = normalised_ids(["It is NOT it!", "!!!", "not"])
    >>> found.ids.tolist(), found.offsets.tolist()
    ([2, 3, 2], [0, 1, 2, 3])
    """
    cut, removed, otherwise = _rule(normalise, language)
    found = token_ids(texts, cut, between_blanks=True)
    kept = ~np.array([token.lower() in removed for token in found.vocabulary], bool)[found.ids]
    left = np.bincount(found.rows[kept], minlength=len(found))
    kept |= (left == 0)[found.rows]
    lengths = np.where(left == 0, found.lengths, left)
    ids, vocabulary = found.ids[kept], found.vocabulary
    bare = [i for i in np.flatnonzero(lengths == 0).tolist() if texts[i].strip()]
    if bare:
        rest = token_ids([texts[i] for i in bare], otherwise)
        vocabulary = tuple(dict.fromkeys([*vocabulary, *rest.vocabulary]))
        places = {token: i for i, token in enumerate(vocabulary)}
        own = np.array([places[token] for token in rest.vocabulary], np.int64)[rest.ids]
        ids = np.insert(ids, np.repeat(np.cumsum(lengths)[bare], rest.lengths), own)
        lengths[bare] = rest.lengths
    return TokenIds(ids, np.concatenate([[0], np.cumsum(lengths)]), vocabulary)


class _Rule(NamedTuple):
    """The tokens of what is between blanks, those that are left out, and the tokens of a text that has none."""

    cut: Callable[[str], list[str]]
    removed: frozenset[str] = frozenset()
    otherwise: Callable[[str], list[str]] = str.split


def _rule(normalise: Normalisation, language: str) -> _Rule:
    mode, *left_out = normalise.split("-")
    if mode not in _MODES or not set(left_out) <= (set(_STEPS) if mode == "full" else set()):
        raise BadInput(
            f"normalise={normalise!r} is not one of {', '.join(_MODES)}, nor full without some of the steps "
            f"{', '.join(_STEPS)}, as in full-stop_words"
        )
    if normalise == "squad":
        return _Rule(_squad_tokens, otherwise=lambda _: [])
    if normalise == "none":
        return _Rule(words)
    lower, bare = "lower" not in left_out, "punctuation" not in left_out
    between = partial(_between_blanks, lower=lower)
    removed = frozenset() if "stop_words" in left_out else stop_words(language)
    return _Rule(partial(_words_and_symbols, lower=lower) if bare else between, removed, between)


def _words_and_symbols(text: str, lower: bool) -> list[str]:
    text = text.replace("’", "'")
    if not _SYMBOLS.search(text) and "-" not in text:
        return words(text, lower=lower)
    parts = _SYMBOLS.sub(r" \g<0> ", _SIGN.sub(" − ", text)).split()
    return [token for part in parts for token in (words(part, lower=lower) or _SYMBOLS.findall(part))]


def _between_blanks(text: str, lower: bool) -> list[str]:
    return unicodedata.normalize("NFC", text.lower() if lower else text).split()


def _squad_tokens(text: str) -> list[str]:
    text = unicodedata.normalize("NFC", text.lower())
    parts = _SQUAD_ARTICLES.sub(" ", _SQUAD_PUNCTUATION.sub("", text)).split()
    return parts if text.isascii() else [token for part in parts for token in _SQUAD_TOKEN.findall(part)]
