"""Stems of words by nltk: Porter's stemmer for English, Snowball's for the languages it has."""

from __future__ import annotations

import functools
from collections.abc import Callable

from evalbench.core.imports import import_without

_SNOWBALL = {
    "ar": "arabic", "da": "danish", "nl": "dutch", "fi": "finnish", "fr": "french", "de": "german", "hu": "hungarian",
    "it": "italian", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "es": "spanish",
    "sv": "swedish",
}  # fmt: skip


def stemmer_name(language: str) -> str:
    """Which stemmer a language has; empty for none.

    Examples
    --------
    >>> stemmer_name("en"), stemmer_name("ru"), stemmer_name("zh")
    ('porter', 'russian', '')
    """
    return "porter" if language == "en" else _SNOWBALL.get(language, "")


def import_nltk() -> None:
    """nltk without its classifiers and association measures, whose libraries take six times as long as nltk itself."""
    import_without("nltk", "sklearn", "scipy.stats")


@functools.cache
def stemmer(language: str) -> Callable[[str], str]:
    """A word's stem, each word stemmed once; the word itself where the language has no stemmer."""
    name = stemmer_name(language)
    if not name:
        return str
    import_nltk()
    from nltk.stem import PorterStemmer, SnowballStemmer

    found = PorterStemmer() if name == "porter" else SnowballStemmer(name)
    stem: Callable[[str], str] = functools.lru_cache(1 << 17)(found.stem)
    return stem
