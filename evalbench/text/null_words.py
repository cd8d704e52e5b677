"""Answers that are a missing value written as a word: ``nan``, ``None``, as ``astype(str)`` leaves them."""

from __future__ import annotations

from collections.abc import Iterable

from evalbench.core.notes import Note
from evalbench.core.wording import counted

WORDS = frozenset({"nan", "none", "null", "nat", "<na>"})


def is_null_word(text: object) -> bool:
    """Whether a text is nothing but such a word.

    Examples
    --------
    >>> is_null_word("NaN"), is_null_word("None."), is_null_word("NA"), is_null_word(None)
    (True, True, False, False)
    """
    return isinstance(text, str) and text.strip().rstrip(".").casefold() in WORDS


def null_word_notes(texts: Iterable[object], max_unscored: float, noun: str = "answer") -> list[str]:
    """A note on texts that are such a word; of the first rank where they are more than ``max_unscored`` of all.

    Examples
    --------
    >>> null_word_notes(["nan", "Rome"], 0.05)
    ['1 of 2 answers is the word nan, None or null: was a missing value written as a text? They were scored as they are.']
    """
    listed = list(texts)
    n = sum(map(is_null_word, listed))
    short = f"{n} of {counted(len(listed), noun)} {'is' if n == 1 else 'are'} the word nan, None or null"
    text = f"{short}: was a missing value written as a text? They were scored as they are."
    if not n:
        return []
    return [Note("unmatched", short, text) if n > max_unscored * len(listed) else text]
