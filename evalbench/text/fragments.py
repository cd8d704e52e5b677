"""Texts that say nothing without the question that they answer: ``Rome``, ``at most 5 km``."""

from __future__ import annotations

from evalbench.text.words import words

MOST_WORDS, MOST_WITH_STOP = 8, 3
_STOPS = (".", "!", "?", "…", "。", "！", "？")


def is_fragment(text: str) -> bool:
    """Whether a text is too short to be a statement: at most eight words without a full stop, or three with one.

    Examples
    --------
    >>> is_fragment("Rome"), is_fragment("Rome."), is_fragment("It lies on the Tiber."), is_fragment("")
    (True, True, False, False)
    """
    bare = text.strip()
    n = len(words(bare))
    return 0 < n <= (MOST_WITH_STOP if bare.endswith(_STOPS) else MOST_WORDS)
