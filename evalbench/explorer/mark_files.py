"""The files of marks: each annotator has two for a run, to which rows are only added, below ``marks/STUDY/RUN`` of the folder of reports.

Several servers may write at once; a row is on the disk before it is said to be saved, and of an item's rows the last one counts.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from evalbench.errors import BadInput
from evalbench.readers.runs import read_json, write_json

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "marks"
CRITERION = "right"
MARKS = (0, 1)
"""Wrong and right."""
CANNOT_SAY = "cannot say"
WORDS = ("right", "wrong", CANNOT_SAY)
COLUMNS = ("row", "annotator", "mark", "skipped", "comment", "blind", "where", "sort", "at")
_TEXTS = ("annotator", "id", "mark", "skipped", "comment", "where", "at")


def marks_of(run: Path) -> pd.DataFrame:
    """The last mark of each annotator on each item, blind ones and others apart; those that were taken back are left out.

    Raises ``BadInput`` where a file holds something else, with file and row.
    """
    import pandas as pd

    found = [line for file in sorted(folder_of(run).glob("*.jsonl")) for line in _lines(file)]
    if not found:
        return pd.DataFrame(columns=list(COLUMNS))
    table = pd.DataFrame(found).drop_duplicates(["annotator", "id", "blind"], keep="last")
    kept = table[(table["mark"] != "") | (table["skipped"] != "") | (table["comment"] != "")]
    return kept.assign(row=kept["id"].astype(int))[list(COLUMNS)].reset_index(drop=True)


def marked(run: Path, words: Sequence[str]) -> list[int]:
    """The places of the items that somebody marked so, blind or not: ``right``, ``wrong`` or ``cannot say``; of all marked ones for "".

    Raises ``BadInput`` for other words.
    """
    if unknown := [word for word in words if word and word not in WORDS]:
        raise BadInput(f"filter: a mark is one of {', '.join(WORDS)}; not {unknown[0]!r}")
    found = marks_of(run)
    said = (
        found["mark"].map({str(mark): word for word, mark in zip(WORDS, (1, 0), strict=False)}).fillna(found["skipped"])
    )
    kept = found if "" in words else found[said.isin(words)]
    return sorted(set(kept["row"].tolist()))


def marked_after_seeing(run: Path, annotator: str, row: str) -> bool:
    """Whether an annotator marked an item after its scores were seen, taken back or not."""
    try:
        file = _file(run, annotator, blind=False)
    except UnicodeEncodeError:
        return False
    return file.is_file() and any(line["id"] == row for line in _lines(file))


def merge_line(run: Path) -> str:
    """The command that makes one table of labels of the blind marks, or of all where none is blind."""
    folder = folder_of(run)
    kind = "blind" if any(folder.glob("*.blind.jsonl")) else "seen"
    files = [str(path) for path in sorted(folder.glob(f"*.{kind}.jsonl"))]
    keys = [part for path in sorted(folder.glob(f"*.{kind}.key.json")) for part in ("--key", str(path))]
    return shlex.join(["evalbench", "label", "merge", *files, *keys, "--out", "labels.csv"]) if files else ""


def add(run: Path, line: Mapping[str, Any], known: Mapping[str, str], by: Sequence[str] = ()) -> Path:
    """Add a row to the annotator's file, which is returned, and the item that it is of to the key.

    - ``line``: The columns of a saved label, and ``blind``, ``where`` and ``sort``.
    - ``known``: ``id``, and ``model`` where there are several.
    - ``by``: The columns that name an item's group: a filter by them alone chooses among no group's items.

    Raises ``BadInput`` if the files cannot be written.
    """
    file = _file(run, str(line["annotator"]), bool(line["blind"]))
    with _alone(file) as out:
        _key(file, line, known, by)
        out.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        out.flush()
        os.fsync(out.fileno())
    return file


def folder_of(run: Path) -> Path:
    """Where the marks of a run are: beside its study, by the folders' names; what its files call it is a stranger's text."""
    return run.parent.parent / FOLDER / run.parent.name / run.name


def _file(run: Path, annotator: str, blind: bool) -> Path:
    """The file of an annotator; a name that is no plain word, or has capitals, is told from others by a digest."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in annotator.casefold())[:40]
    own = plain if plain == annotator else f"{plain}-{hashlib.sha256(annotator.encode()).hexdigest()[:8]}"
    return folder_of(run) / f"{own}.{'blind' if blind else 'seen'}.jsonl"


@contextlib.contextmanager
def _alone(file: Path) -> Iterator[BinaryIO]:
    """A file of marks, to be added to by nobody else for now, this process's other threads and other servers included."""
    import fcntl

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab+") as out:
            fcntl.flock(out, fcntl.LOCK_EX)
            _mend(out)
            yield out
    except OSError as error:
        raise BadInput(f"{file}: the mark cannot be saved ({error.strerror or error})") from error


def _mend(out: BinaryIO) -> None:
    """A row of which a full disk or a lost machine left a part was never said to be saved: it is taken out."""
    if not out.seek(0, os.SEEK_END):
        return
    out.seek(-1, os.SEEK_END)
    if out.read(1) == b"\n":
        return
    out.seek(0)
    whole, _, rest = out.read().rpartition(b"\n")
    if _is_mark(rest):  # a hand left the last line without its end
        out.write(b"\n")
    else:
        out.truncate(len(whole) + bool(whole))


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    # Not splitlines: a comment may hold what Unicode calls the end of a line.
    *rows, last = file.read_bytes().split(b"\n")
    for number, row in enumerate([*rows, *([last] if _is_mark(last) else [])], 1):
        if row.strip():
            if not _is_mark(row):
                raise BadInput(f"{file}: row {number}: not a mark of the explorer")
            yield {"sort": "", **json.loads(row)}


def _is_mark(row: bytes) -> bool:
    try:
        found = json.loads(row)
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(found, dict)
        and all(isinstance(found.get(name), str) for name in _TEXTS)
        and isinstance(found.get("blind"), bool)
        and found["id"].isdecimal()
    )


def _key(file: Path, line: Mapping[str, Any], known: Mapping[str, str], by: Sequence[str]) -> None:
    """Which item each row is of, as ``label merge --key`` reads it."""
    path = file.with_suffix(".key.json")
    items = read_json(path).get("items", {}) if path.is_file() else {}
    if items.get(line["id"]) != known:
        key = {
            "format": 1,
            "page": line["page"],
            "criterion": CRITERION,
            "mode": "single",
            "marks": list(MARKS),
            "by": list(by),
        }
        write_json(path, {**key, "items": {**items, line["id"]: dict(known)}})
