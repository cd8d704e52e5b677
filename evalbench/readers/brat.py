"""Folders of brat's stand-off files to raw frames: ``NAME.ann`` with the text ``NAME.txt`` beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.readers.files import records_frame, sha256

if TYPE_CHECKING:
    import pandas as pd

ANNOTATIONS = "annotations"


def brat_files(folder: Path) -> list[Path]:
    """The ``.ann`` files of a folder, or of its folders, each of which is then a model's."""
    own = sorted(p for p in folder.glob("*.ann") if p.is_file() and not p.name.startswith("."))
    return own or sorted(p for p in folder.glob("*/*.ann") if p.is_file() and not p.name.startswith("."))


def brat_frame(folder: Path) -> tuple[pd.DataFrame, list[str], dict[str, str]]:
    """A row per document: ``id, text, annotations`` (a list of start, end, entity_class) and, of folders, ``model``; notes;
    SHA-256 values by file.

    Raises ``BadInput`` for annotations that are not brat's, leave the text, or quote other words than are there: all
    of them.
    """
    records: list[dict[str, Any]] = []
    faults: list[str] = []
    digests: dict[str, str] = {}
    parted = 0
    for file in brat_files(folder):
        name = file.relative_to(folder).as_posix()
        beside = file.with_suffix(".txt")
        raw = file.read_bytes()
        digests[name] = sha256(raw)
        text = None
        try:
            lines = raw.decode("utf-8-sig").split("\n")
            if beside.is_file():
                known = beside.read_bytes()
                digests[beside.relative_to(folder).as_posix()] = sha256(known)
                text = known.decode("utf-8")
        except UnicodeDecodeError as error:
            faults.append(f"{name}: it, or its text, is not UTF-8 ({error.reason})")
            continue
        spans = []
        for number, line in enumerate(lines, start=1):
            if not line.startswith("T"):
                continue
            try:
                span, pieces = _span(line.rstrip("\r"), text)
            except ValueError as error:
                faults.append(f"{name}, line {number}: {error}")
                continue
            parted += pieces > 1
            spans.append(span)
        model = {"model": file.parent.name} if file.parent != folder else {}
        records.append({"id": file.stem, "text": text, ANNOTATIONS: spans, **model})
    if faults:
        raise BadInput.listing(f"{folder}: not brat's annotations:", faults)
    notes = [f"{counted(len(records), 'document')} of brat were read; of its annotations only entities (T) are used"]
    if parted:
        notes.append(
            f"{counted(parted, 'entity', 'entities')} of several fragments were read from the first to the last"
        )
    return records_frame(records, [name for name in digests if name.endswith(".ann")]), notes, digests


def _span(line: str, text: str | None) -> tuple[dict[str, Any], int]:
    """One entity, and of how many fragments it is."""
    cells = line.split("\t")
    if len(cells) < 2:
        raise ValueError(f"{line[:60]!r} lacks the tab behind {line.split(' ')[0]!r}")
    kind, _, places = cells[1].partition(" ")
    try:
        pieces = [tuple(map(int, piece.split(" "))) for piece in places.split(";")]
        if not kind or any(len(piece) != 2 or not 0 <= piece[0] < piece[1] for piece in pieces):
            raise ValueError
    except ValueError:
        raise ValueError(f"{cells[1][:60]!r} is not a class with a start and an end") from None
    start, end = pieces[0][0], pieces[-1][1]
    if text is not None:
        if end > len(text):
            raise ValueError(f"ends at {end}, but the text has {counted(len(text), 'character')}")
        quoted = " ".join(text[a:b] for a, b in pieces).replace("\n", " ")
        if len(cells) > 2 and cells[2].split() != quoted.split():
            raise ValueError(
                f"quotes {cells[2][:40]!r}, but {quoted[:40]!r} is there; are its places counted in bytes?"
            )
    return {"start": start, "end": end, "entity_class": kind}, len(pieces)
