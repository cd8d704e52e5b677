"""Texts that every database keeps: NUL, which PostgreSQL refuses, and half characters, which are not UTF-8, are escaped."""

from __future__ import annotations

import re

_MARK = "\x1a"
_ESCAPED = re.compile("[\x00\x1a\ud800-\udfff]")
_WRITTEN = re.compile("\x1a([0-9a-f]{4})")
_HALF = re.compile("[\ud800-\udfff]")


def kept(text: str) -> str:
    r"""A text as the store keeps it; :func:`restored` is its inverse.

    Examples
    --------
    >>> kept("plain"), kept("a\x00b") == "a\x1a0000b", restored(kept("\x1a0000\ud800")) == "\x1a0000\ud800"
    ('plain', True, True)
    """
    if text.isascii():
        needed = "\0" in text or _MARK in text
    else:
        needed = bool(_ESCAPED.search(text))
    return _ESCAPED.sub(lambda found: f"{_MARK}{ord(found[0]):04x}", text) if needed else text


def restored(text: str) -> str:
    """The text as it was given."""
    return _WRITTEN.sub(lambda found: chr(int(found[1], 16)), text) if _MARK in text else text


def readable(text: str) -> str:
    r"""The text as a file or a frame can hold it: half characters become U+FFFD.

    Examples
    --------
    >>> readable(kept("a\ud800b")) == "a\ufffdb"
    True
    """
    return _HALF.sub("\ufffd", restored(text)) if _MARK in text else text


def is_cut(text: str) -> bool:
    """Whether :func:`readable` loses something of a kept text."""
    return _MARK in text and bool(_HALF.search(restored(text)))
