"""Where a string occurs in a text: anywhere or as whole words, in any script, never in the middle of a visible character."""

from __future__ import annotations

import functools
import unicodedata

import regex

from evalbench.text.words import UNSPACED

_OTHER, _WORD, _UNSPACED, _EXTENDS, _JOINER = range(5)
_EXTENDING = regex.compile(r"[\p{Grapheme_Extend}\p{M}\p{Emoji_Modifier}]", regex.V1)
_LETTER = regex.compile(r"[\p{L}\p{N}\p{Pc}]", regex.V1)
_ALONE = regex.compile(rf"[{UNSPACED}]", regex.V1)


class _Kinds(dict[str, int]):
    """What each character does to a word; remembered, of which there are as many as there are characters."""

    def __missing__(self, character: str) -> int:
        if character == "\u200d":
            kind = _JOINER
        elif _EXTENDING.match(character):
            kind = _EXTENDS
        elif _ALONE.match(character):
            kind = _UNSPACED
        else:
            kind = _WORD if _LETTER.match(character) else _OTHER
        self[character] = kind
        return kind


_KIND = _Kinds()


def comparable(text: str, *, case_sensitive: bool = True) -> str:
    """A text in composed form (NFC) and, if wanted, without case; the latter keeps the place of every character.

    Examples
    --------
    >>> comparable("Cafe\\u0301") == "Café", comparable("ΟΔΟΣ Straße", case_sensitive=False)
    (True, 'οδοσ straße')
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if case_sensitive:
        return text
    folded = text.casefold()
    return folded if len(folded) == len(text) else "".join(map(_folded, text))


@functools.lru_cache(maxsize=1 << 16)
def _folded(character: str) -> str:
    return next((f for f in (character.casefold(), character.lower()) if len(f) == 1), character)


def places(text: str, string: str, *, whole_words: bool = True) -> list[int]:
    """Where a string begins in a text, from left to right, without overlaps.

    - ``text``, ``string``: As :func:`comparable` makes them.
    - ``whole_words``: Whether a word may go on before or behind it: of scripts written without spaces every character
      is a word.

    Returns: Empty for an empty string. A base letter is not found in a letter with marks, nor one emoji in a joined
    sequence.

    Examples
    --------
    >>> places("Paris Hilton visits Paris", "Paris"), places("Parisian", "Paris"), places("Parisian", "Paris", whole_words=False)
    ([0, 20], [], [0])
    >>> places("我在北京市", "北京"), places("e\\u0301", "e", whole_words=False)
    ([2], [])
    """
    found: list[int] = []
    size = len(string)
    at = text.find(string) if size else -1
    while at >= 0:
        if _edge(text, at, whole_words) and _edge(text, at + size, whole_words):
            found.append(at)
            at = text.find(string, at + size)
        else:
            at = text.find(string, at + 1)
    return found


def _edge(text: str, at: int, whole_words: bool) -> bool:
    """Whether a string may begin or end before this character."""
    if not 0 < at < len(text):
        return True
    behind, before = _KIND[text[at]], _KIND[text[at - 1]]
    if behind >= _EXTENDS or before == _JOINER:
        return False
    if not whole_words or behind != _WORD:
        return True
    while before == _EXTENDS and at > 1:
        at -= 1
        before = _KIND[text[at - 1]]
    return before != _WORD
