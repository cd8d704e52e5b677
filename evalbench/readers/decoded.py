"""Bytes of a file to its text: what is compressed is unpacked; an encoding other than UTF-8 is guessed, with a note."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from pathlib import Path

from evalbench.errors import BadInput

MOST_BYTES = 2_000_000_000
"""A compressed file of a few megabytes can unpack to any size."""

_LOOKED_AT = 200_000
_OF_TEXTS = bytes({9, 10, 11, 12, 13, 27, *range(32, 256)})
_MOST_CONTROLS = 0.02
_LETTERS = re.compile(r"[^\W\d_a-zA-Z]+")
_CYRILLIC = frozenset("абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґў")


def ending(path: Path) -> str:
    """What a file's name says of its form, whether it is compressed or not.

    Examples
    --------
    >>> ending(Path("a.CSV")), ending(Path("a.b.jsonl.gz"))
    ('.csv', '.jsonl')
    """
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix == ".gz" else suffix


def unpacked(path: Path, raw: bytes) -> bytes:
    """The bytes of a file that may be compressed.

    Raises ``BadInput`` for a file that ends in ``.gz`` and is not whole, or unpacks to more than :data:`MOST_BYTES`.
    """
    if path.suffix.lower() != ".gz":
        return raw
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            out = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{path}: the compressed file is damaged ({error})") from error
    if len(out) > MOST_BYTES:
        raise BadInput(f"{path}: unpacks to more than {MOST_BYTES} bytes; divide the file among several runs")
    if not out.strip():
        raise BadInput(f"{path}: the file is empty")
    return out


def decoded(path: Path, raw: bytes) -> tuple[str, list[str]]:
    """The text of a file, and a note where its encoding was guessed.

    UTF-16 is known by its first two bytes; Windows-1251 by words that are all Cyrillic and mostly lower-case.

    Raises ``BadInput`` for any other encoding: the byte and the line.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not raw.startswith(codecs.BOM_UTF32_LE):
        try:
            text = raw.decode("utf-16")
        except UnicodeDecodeError as error:
            raise BadInput(f"{path}: begins as UTF-16, but is not ({error.reason}); save the file as UTF-8") from error
        if not text.strip():
            raise BadInput(f"{path}: the file is empty")
        return text, ["read as UTF-16"]
    no_text = BadInput(f"{path}: not a text but bytes of another form: is its ending the right one?")
    if b"\0" in raw[:_LOOKED_AT].partition(b"\n")[0]:
        raise no_text
    try:
        return raw.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        if len(raw[:_LOOKED_AT].translate(None, _OF_TEXTS)) > _MOST_CONTROLS * len(raw[:_LOOKED_AT]):
            raise no_text from error
        if _russian(raw, error.start):
            return raw.decode("cp1251"), ["is not UTF-8; it was read as Windows-1251"]
        line = raw[: error.start].count(b"\n") + 1
        raise BadInput(
            f"{path}: not UTF-8: byte 0x{raw[error.start]:02x} in line {line}; save the file with UTF-8 encoding "
            "(in Excel: Save As, CSV UTF-8)"
        ) from error


def in_utf8(path: Path, raw: bytes) -> tuple[bytes, list[str]]:
    """The bytes of a file in UTF-8, and a note where its encoding was guessed; see :func:`decoded`."""
    if raw.isascii() and b"\0" not in raw:
        return raw, []
    text, notes = decoded(path, raw)
    return (text.encode() if notes else raw.removeprefix(codecs.BOM_UTF8)), notes


def _russian(raw: bytes, start: int) -> bool:
    """Whether bytes are Windows-1251: in other encodings these words would be of mixed letters, or in odd capitals."""
    try:
        raw.decode("cp1251")
    except UnicodeDecodeError:
        return False
    text = raw[max(0, start - _LOOKED_AT) : start + _LOOKED_AT].decode("cp1251")
    words = _LETTERS.findall(text)
    usual = [
        word
        for word in words
        if set(word.lower()) <= _CYRILLIC and (word.islower() or word.istitle() or word.isupper())
    ]
    lower = sum(letter.islower() for word in usual for letter in word)
    upper = sum(letter.isupper() for word in usual for letter in word)
    return len(usual) >= 0.9 * len(words) and lower > upper and any(len(word) > 2 for word in usual)
