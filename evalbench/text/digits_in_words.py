"""Numbers written as words, ``five``, where a reference has digits, ``5``: as texts they differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evalbench.core.notes import Note
from evalbench.core.wording import counted
from evalbench.text.number_words import number_words
from evalbench.text.numbers import ascii_numerals


def number_word_notes(
    texts: Sequence[object], references: Iterable[Sequence[object]], max_unscored: float, noun: str = "answer"
) -> list[str]:
    """A note on texts that write in words a number which their reference has in digits; of the first rank where they are many.

    Examples
    --------
    >>> number_word_notes(["It is five.", "5"], [["5"], ["5"]], 0.05)[0].short
    '1 of 2 answers writes in words a number that the reference has in digits ("It is five." for 5)'
    """
    n, first = 0, ""
    for text, wanted in zip(texts, references, strict=True):
        numbers = [one.strip().rstrip(".") for one in wanted if isinstance(one, str)]
        if not isinstance(text, str) or not numbers or not all(map(str.isdecimal, numbers)):
            continue
        if any(re.search(rf"(?<![0-9]){number}(?![0-9])", text) for number in numbers):
            continue
        if {int(number) for number in numbers} & number_words(text):
            n += 1
            first = first or f'"{text.strip()[-40:]}" for {numbers[0]}'
    if not n:
        return []
    verb = "writes" if n == 1 else "write"
    short = f"{n} of {counted(len(texts), noun)} {verb} in words a number that the reference has in digits ({first})"
    text = f"{short}: as texts they differ."
    return [Note("unmatched", short, text) if n > max_unscored * len(texts) else text]


def other_digit_notes(
    texts: Sequence[object], references: Iterable[Sequence[object]], max_unscored: float, noun: str = "answer"
) -> list[str]:
    """A note on texts that have their reference's number in digits of another script; of the first rank where they are many.

    Examples
    --------
    >>> other_digit_notes(["１４", "14"], [["14"], ["14"]], 0.05)[0].short
    '1 of 2 answers writes the number of its reference in digits of another script ("１４" for 14)'
    """
    n, first = 0, ""
    for text, wanted in zip(texts, references, strict=True):
        numbers = [one.strip() for one in wanted if isinstance(one, str)]
        if not isinstance(text, str) or text.isascii() or not numbers or not all(map(str.isdecimal, numbers)):
            continue
        found = [re.search(rf"(?<![0-9]){ascii_numerals(number)}(?![0-9])", ascii_numerals(text)) for number in numbers]
        if any(found) and not any(number in text for number in numbers):
            n += 1
            first = first or f'"{text.strip()[-40:]}" for {numbers[0]}'
    if not n:
        return []
    verb, its = ("writes", "its") if n == 1 else ("write", "their")
    short = (
        f"{n} of {counted(len(texts), noun)} {verb} the number of {its} reference in digits of another script ({first})"
    )
    text = f"{short}: as texts they differ."
    return [Note("unmatched", short, text) if n > max_unscored * len(texts) else text]
