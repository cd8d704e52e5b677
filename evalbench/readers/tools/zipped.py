"""Zip archives from strangers: names, counts and sizes are checked before anything is unpacked, and nothing is written to disk.

Entries may be stored, deflated, or compressed by zstd (method 93), which ``zipfile`` reads from Python 3.14 on only; here
Arrow unpacks them, also where an entry has several frames.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from evalbench.errors import BadInput
from evalbench.readers.tools.safe import parsed

MOST_ENTRIES = 50_000
MOST_DIRECTORY = 32_000_000
MOST_ENTRY = 250_000_000
MOST_RATIO = 500
RATIO_FROM = 2_000_000
"""Smaller entries may be compressed as well as they can be."""
METHODS = {0: "stored", 8: "deflate", 93: "zstd"}
_END = b"PK\x05\x06"
_ENTRY = b"PK\x01\x02"
_END_64 = b"PK\x06\x07"
_LOCAL = 30


@dataclass(frozen=True)
class Archive:
    """An open archive whose entries passed all checks."""

    path: Path
    file: BinaryIO
    entries: dict[str, zipfile.ZipInfo]

    def document(self, name: str) -> Any:
        """The JSON value of an entry."""
        return parsed(unpacked_entry(self, name), f"{self.path}: {name}")


@contextmanager
def archive(path: Path) -> Iterator[Archive]:
    """An archive, opened and checked.

    Raises ``BadInput`` for a file that is no zip archive or is cut, and for entries that are too many or too large,
    are encrypted, have an unknown method, the same name twice, or a name that leads out of the archive: all faults in
    one message.
    """
    with path.open("rb") as file:
        _refuse_many(path, file)
        try:
            with zipfile.ZipFile(file) as opened:
                infos = opened.infolist()
        except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError) as error:
            raise BadInput(f"{path}: not a zip archive that can be read ({error}); is the file cut?") from error
        if len(infos) > MOST_ENTRIES:
            raise BadInput(f"{path}: holds {len(infos):,} entries, at most {MOST_ENTRIES:,} are read; divide the log")
        faults = [fault for info in infos for fault in _faults(info)]
        if doubled := len(infos) - len({info.filename for info in infos}):
            faults.append(f"{doubled} names appear twice")
        if faults:
            raise BadInput.listing(f"{path}: the archive is refused:", faults, 5)
        yield Archive(path, file, {info.filename: info for info in infos})


def _refuse_many(path: Path, file: BinaryIO) -> None:
    """What the end of the file says of the directory, before it is read whole."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 66_000))
    tail = file.read()
    place = tail.rfind(_END)
    if place < 0:
        raise BadInput(f"{path}: not a zip archive that can be read (its end is missing); is the file cut?")
    entries = int.from_bytes(tail[place + 10 : place + 12], "little")
    directory = int.from_bytes(tail[place + 12 : place + 16], "little")
    if _END_64 in tail[max(0, place - 20) : place] and (found := tail.rfind(b"PK\x06\x06", 0, place)) >= 0:
        entries = int.from_bytes(tail[found + 32 : found + 40], "little")
        directory = int.from_bytes(tail[found + 40 : found + 48], "little")
    if directory <= MOST_DIRECTORY:  # the number that the end states may be a lie
        file.seek(max(0, size - len(tail) + place - directory - 100))
        entries = max(entries, file.read(directory + 100).count(_ENTRY))
    file.seek(0)
    if entries > MOST_ENTRIES:
        raise BadInput(f"{path}: holds {entries:,} entries, at most {MOST_ENTRIES:,} are read; divide the log")
    if directory > MOST_DIRECTORY:
        raise BadInput(
            f"{path}: its directory has {directory:,} bytes, at most {MOST_DIRECTORY:,} are read; divide the log"
        )


def _faults(info: zipfile.ZipInfo) -> Iterator[str]:
    name, shown = info.filename, ascii(info.filename)[:80]
    if name.startswith("/") or "\\" in name or "\0" in name or ".." in name.split("/") or re.match(r"^[A-Za-z]:", name):
        yield f"{shown}: the name leads out of the archive"
    if info.compress_type not in METHODS:
        known = ", ".join(f"{number} ({words})" for number, words in METHODS.items())
        yield f"{shown}: compression method {info.compress_type}; known are {known}"
    if info.flag_bits & 1:
        yield f"{shown}: encrypted"
    if info.file_size > MOST_ENTRY:
        yield f"{shown}: {info.file_size:,} bytes, of one entry at most {MOST_ENTRY:,} are read"
    elif info.file_size > RATIO_FROM and info.file_size > MOST_RATIO * max(info.compress_size, 1):
        yield f"{shown}: unpacks to {info.file_size // max(info.compress_size, 1):,} times its size, at most {MOST_RATIO} is read"


def unpacked_entry(opened: Archive, name: str) -> bytes:
    """The bytes of an entry, never more than it declares.

    Raises ``BadInput`` for an entry that is damaged, cut, or unpacks to another size.
    """
    info = opened.entries[name]
    where = f"{opened.path}: {ascii(name)[:80]}"
    opened.file.seek(info.header_offset)
    head = opened.file.read(_LOCAL)
    if head[:4] != b"PK\x03\x04" or len(head) < _LOCAL:
        raise BadInput(f"{where}: the entry is damaged (its header is missing)")
    opened.file.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), 1)
    packed = opened.file.read(info.compress_size)
    try:
        raw = _unpacked(packed, info.compress_type, info.file_size + 1)
    except (zlib.error, OSError, EOFError) as error:
        raise BadInput(f"{where}: the entry is damaged ({error})") from error
    if len(raw) != info.file_size or zlib.crc32(raw) != info.CRC:
        raise BadInput(f"{where}: the entry is damaged (its size or checksum is another than declared)")
    return raw


def _unpacked(packed: bytes, method: int, most: int) -> bytes:
    if method == 0:
        return packed[:most]
    if method == 8:
        return zlib.decompressobj(-15).decompress(packed, most)
    import pyarrow

    if not pyarrow.Codec.is_available("zstd"):
        raise BadInput(
            "the entries are compressed by zstd, which this build of pyarrow lacks: install pyarrow from PyPI, or write the "
            "log anew with: inspect log convert --to json"
        )
    out = bytearray()
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as stream:
        while len(out) < most and (piece := stream.read(min(1 << 20, most - len(out)))):
            out += piece
    return bytes(out)
