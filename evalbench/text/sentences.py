"""Sentences of any language."""

from __future__ import annotations

import re
from functools import cache

_QUOTE = re.compile("['‘’]")
_ELIDED = re.compile(
    r"['‘’](?:\d0s\b|(?:n|em|tis|twas|til|cause|cos|bout|round)\b|(?:s|ll|re|ve|d|m|t)\b(?=\s))", re.IGNORECASE
)
"""Where a word is short for another, as in '90s, rock 'n' roll and a possessive that a tokenizer parted: Fenn 's."""
_APOSTROPHE = "\u02bc"
_WIDE_BLANK = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of a text, in order.

    - ``language``: ISO 639-1 code: abbreviations and closing marks differ by language. Line ends always cut.

    Returns: Stripped, none empty; joined they hold every non-blank character of the text. Russian by razdel where it is
    installed, all else by sentencex: :func:`splitter` reports which.

    Examples
    --------
    >>> sentences("Dr. Fenn came. He left at 3.5 p.m. today!")
    ['Dr. Fenn came.', 'He left at 3.5 p.m. today!']
    >>> sentences("你好。再见！", "zh")
    ['你好。', '再见！']
    """
    lines = [line for line in text.splitlines() if line.strip()]
    return [piece.strip() for line in lines for piece in _split(line, language) if piece.strip()]


@cache
def splitter(language: str) -> str:
    """Name of the library that cuts this language's sentences here: for a study's notes."""
    from importlib.util import find_spec

    return "razdel" if language == "ru" and find_spec("razdel") else "sentencex"


def _split(line: str, language: str) -> list[str]:
    if splitter(language) == "razdel":
        from razdel import sentenize

        return [s.text for s in sentenize(line)]
    from sentencex import segment

    # A blank of several bytes after an initial makes the library stop.
    plain, cursor, found = _without_apostrophes(_WIDE_BLANK.sub(" ", line)), 0, []
    for piece in segment(language, plain):
        found.append(line[cursor : cursor + len(piece)])
        cursor += len(piece)
    return found


def _without_apostrophes(line: str) -> str:
    """The line with a letter for each single quotation mark that neither opens nor closes a quotation.

    The library takes everything up to the next such mark for one quotation, and does not cut it.
    """
    if not _QUOTE.search(line):
        return line
    signs, opened = list(line), -1
    for match in _QUOTE.finditer(line):
        at = match.start()
        inside, before_word = line[at - 1 : at].isalnum(), line[at + 1 : at + 2].isalnum()
        if opened >= 0 and not before_word:
            opened = -1
        elif inside or _ELIDED.match(line, at) or not line[at + 1 : at + 2].strip():
            signs[at] = _APOSTROPHE
        else:
            if opened >= 0:
                signs[opened] = _APOSTROPHE
            opened = at
    if opened >= 0:
        signs[opened] = _APOSTROPHE
    return "".join(signs)
