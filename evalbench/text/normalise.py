"""Making texts comparable: case, stop-words, punctuation, spaces; by words in any language."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable
from typing import Literal, get_args

import regex

from evalbench.errors import BadInput
from evalbench.text.stopwords import stop_words
from evalbench.text.words import UNSPACED, words

Normalisation = Literal["full", "squad", "none"]

# A symbol may be all that tells two answers apart: C and C++, 5 $ and 5 €, 5 and −5.  A hyphen is a sign only
# before a number and after no letter or digit.
_SYMBOL = r"[\p{Sm}\p{Sc}\p{So}%‰]"
_SYMBOLS = regex.compile(_SYMBOL)
_SIGN = regex.compile(r"(?<![\p{L}\p{N}])-(?=\p{N})|−(?=\p{N})")
_SQUAD_PUNCTUATION = regex.compile(rf"[{re.escape(string.punctuation)}]|\p{{P}}")
_SQUAD_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
_SQUAD_TOKEN = regex.compile(rf"[{UNSPACED}]\p{{M}}*|[^{UNSPACED}]+", regex.V1)


def tokenizer(
    normalise: Normalisation = "full", language: str = "en", **switches: bool
) -> Callable[[str], list[str]]:
    """The tokens on which exact match after normalising, token F1 and Jaccard are computed.

    Parameters
    ----------
    normalise : {"full", "squad", "none"}
        ``full``: lower-case, no punctuation, no stop-words, no extra whitespace, each switchable.
        ``squad``: SQuAD's: lower-case, no punctuation (joining what it parted), no ``a``, ``an``, ``the``.
        ``none``: words as they are.
    language : str
        ISO code of the stop-words; ``""`` for none.
    **switches : bool
        ``lower``, ``punctuation``, ``stop_words``: False leaves that step of ``full`` out.

    Returns
    -------
    callable
        Text → list of str.  Negations are never stop-words; where nothing would remain, stop-words stay, and where
        there is no word at all, the text's own characters between blanks.

    Raises
    ------
    BadInput
        For an unknown normalisation, switch, or language.

    References
    ----------
    Rajpurkar et al. 2016, SQuAD: 100,000+ questions, evaluation script (``squad``).

    Examples
    --------
    >>> tokenizer("full", "en")("The defendant is  NOT guilty!")
    ['defendant', 'not', 'guilty']
    >>> tokenizer("squad")("The state-of-the-art")
    ['stateoftheart']
    """
    if normalise not in get_args(Normalisation):
        raise BadInput(f"normalise={normalise!r} is not one of {', '.join(get_args(Normalisation))}")
    unknown = set(switches) - {"lower", "punctuation", "stop_words"}
    if unknown:
        raise BadInput(
            f"no such switch: {', '.join(sorted(unknown))}; there are lower, punctuation, stop_words"
        )
    if normalise == "squad":
        return _squad_tokens
    if normalise == "none":
        return lambda text: words(text) or text.split()
    lower, bare = switches.get("lower", True), switches.get("punctuation", True)
    removed = stop_words(language) if switches.get("stop_words", True) else frozenset()

    def tokens(text: str) -> list[str]:
        found = _words_and_symbols(text, lower) if bare else _between_blanks(text, lower)
        return (
            [token for token in found if token.lower() not in removed]
            or found
            or _between_blanks(text, lower)
        )

    return tokens


def normalised(text: str, normalise: Normalisation = "full", language: str = "en", **switches: bool) -> str:
    """A text with its normalised tokens one blank apart; see :func:`tokenizer`.

    Examples
    --------
    >>> normalised("  Это   НЕ он. ", language="ru")
    'не'
    """
    return " ".join(tokenizer(normalise, language, **switches)(text))


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
