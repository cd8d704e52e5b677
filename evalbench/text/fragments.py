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


def with_question(text: str, question: str) -> str:
    """A text of at most three words behind the question that it answers, so that it can be judged by itself.

    Examples
    --------
    >>> with_question("Rome.", "What is the capital of Italy?"), with_question("It is Rome, a city.", "What is it?")
    ('What is the capital of Italy? Rome.', 'It is Rome, a city.')
    """
    few = 0 < len(words(text)) <= MOST_WITH_STOP
    return f"{question.strip()} {text}" if few and question.strip() else text
