"""Sentences of any language."""

from __future__ import annotations

from functools import cache


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

    return list(segment(language, line))
