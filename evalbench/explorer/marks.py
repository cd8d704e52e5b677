"""A reader's own verdicts on items, saved at once as rows that ``evalbench label merge`` reads.

Each annotator has two files for a run, below ``marks/STUDY/RUN`` of the folder of reports: marks that were made blind, and those made
after the scores were seen.  A row is added for each change and none is rewritten: the last one counts.  Several servers may write at
once; a row is on the disk before it is said to be saved.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from evalbench.errors import BadInput
from evalbench.explorer.conditions import MARK
from evalbench.readers.runs import read_json, write_json
from evalbench.readers.where import parse

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.explorer.rows import Rows

FOLDER = "marks"
CRITERION = "right"
MARKS = (0, 1)
"""Wrong and right."""
CANNOT_SAY = "cannot say"
WORDS = ("right", "wrong", CANNOT_SAY)
LONGEST_NAME, LONGEST_COMMENT = 80, 10_000
_READ = {
    "prompt", "question", "context", "contexts", "text", "texts", "source", "reference", "ground_truth", "gold_answer", "expected",
    "output", "answer", "model_answer", "response", "reply",
}  # fmt: skip
"""Columns of texts that a blind annotator reads."""
COLUMNS = ("row", "annotator", "mark", "skipped", "comment", "blind", "where", "sort", "at")
_TEXTS = ("annotator", "id", "mark", "skipped", "comment", "where", "at")


def blinded(rows: Rows, row: int) -> dict[str, Any]:
    """An item as a blind annotator reads it: its texts, without scores, verdicts, calls, or who answered."""
    found = rows.item(row)
    place = found["place"]
    tables = {}
    for name, parts in found["tables"].items():
        own = [part for part in parts if all(str(part.get(by, place[by])) == str(place[by]) for by in rows.by)]
        read = [{column: value for column, value in part.items() if column in _READ} for part in own]
        if name != "calls" and any(read):
            tables[name] = [part for part in read if part]
    return {"row": row, "item": {}, "place": {rows.id: place[rows.id]}, "tables": tables, "others": []}


def read_blind(rows: Rows) -> list[str]:
    """The columns of the items that a blind annotator reads in their list."""
    own = [column.name for column in rows.columns.values() if column.table == "items"]
    return [name for name in own if name == rows.id or name in _READ]


def reveals(rows: Rows, where: str, sort: str) -> list[str]:
    """What a filter and an order say that a blind annotator is not to know: scores, verdicts, lights, who answered.

    Raises ``BadInput`` for a filter that cannot be read.
    """
    ordered = sort[1:] if sort.startswith("-") and sort not in rows.columns else sort
    named = dict.fromkeys([*(term.column for term in parse(where)), ordered])
    calls = {column.name for column in rows.columns.values() if column.table == "calls"}
    free = {rows.id, *_READ, *([] if MARK in rows.columns else [MARK])} - calls
    return [name for name in named if name and name not in free]


def save(reports: Path, rows: Rows, said: Mapping[str, Any]) -> dict[str, Any]:
    """Add a mark to the annotator's file.

    - ``said``: ``row`` (the item's place), ``annotator``, ``mark`` (0 wrong, 1 right, empty for none), ``skipped`` (why there is
      none), ``comment``, ``blind``, ``where`` and ``sort`` (the filter and the order that were on).

    Returns: The row that was written. One without mark, reason and comment takes an earlier one back. It is blind only where the
    filter and the order do not say what it is to be blind to (:func:`reveals`).

    Raises ``BadInput``: All faults of what was said at once; or where there is no such item.
    """
    given = _checked(said, rows.n)
    item = rows.item(given["row"])["place"]
    blind = given["blind"] and not reveals(rows, given["where"], given["sort"])
    file = _file(reports, rows, given["annotator"], blind)
    page = f"{rows.folder.parent.name}/{rows.folder.name} {given['annotator']} {'blind' if blind else 'seen'}"
    names = [str(item[by]) for by in rows.by if item[by] not in (None, "")]
    known = {"id": str(item[rows.id]), **({"model": ", ".join(names)} if names else {})}
    line = {
        "page": page, "criterion": CRITERION, "annotator": given["annotator"], "id": str(given["row"]), "mark": given["mark"],
        "skipped": given["skipped"], "comment": given["comment"], "at": datetime.datetime.now(datetime.UTC).isoformat(),
        "blind": blind, "where": given["where"], "sort": given["sort"],
    }  # fmt: skip
    with _alone(file) as out:
        _key(file, page, str(given["row"]), known)
        out.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        out.flush()
        os.fsync(out.fileno())
    return {**line, **known, "row": given["row"]}


def marks(reports: Path, rows: Rows) -> pd.DataFrame:
    """The last mark of each annotator on each item, blind ones and others apart; those that were taken back are left out.

    Raises ``BadInput`` where a file holds something else, with file and row.
    """
    import pandas as pd

    found = [line for file in sorted(_folder(reports, rows).glob("*.jsonl")) for line in _lines(file)]
    if not found:
        return pd.DataFrame(columns=list(COLUMNS))
    table = pd.DataFrame(found).drop_duplicates(["annotator", "id", "blind"], keep="last")
    kept = table[(table["mark"] != "") | (table["skipped"] != "") | (table["comment"] != "")]
    return kept.assign(row=kept["id"].astype(int))[list(COLUMNS)].reset_index(drop=True)


def marked(rows: Rows, words: Sequence[str]) -> list[int]:
    """The places of the items that somebody marked so, blind or not: ``right``, ``wrong`` or ``cannot say``; of all marked ones for "".

    Raises ``BadInput`` for other words.
    """
    if unknown := [word for word in words if word and word not in WORDS]:
        raise BadInput(f"filter: a mark is one of {', '.join(WORDS)}; not {unknown[0]!r}")
    found = marks(rows.folder.parent.parent, rows)
    said = (
        found["mark"].map({str(mark): word for word, mark in zip(WORDS, (1, 0), strict=False)}).fillna(found["skipped"])
    )
    kept = found if "" in words else found[said.isin(words)]
    return sorted(set(kept["row"].tolist()))


def merge_line(reports: Path, rows: Rows) -> str:
    """The command that makes one table of labels of the blind marks, or of all where none is blind."""
    folder = _folder(reports, rows)
    kind = "blind" if any(folder.glob("*.blind.jsonl")) else "seen"
    files = [str(path) for path in sorted(folder.glob(f"*.{kind}.jsonl"))]
    keys = [part for path in sorted(folder.glob(f"*.{kind}.key.json")) for part in ("--key", str(path))]
    return shlex.join(["evalbench", "label", "merge", *files, *keys, "--out", "labels.csv"]) if files else ""


def _checked(said: Mapping[str, Any], n: int) -> dict[str, Any]:
    texts = {name: said.get(name, "") for name in ("annotator", "mark", "skipped", "comment", "where", "sort")}
    faults = [fault for name, text in texts.items() if (fault := _text_fault(name, text))]
    row, blind = said.get("row"), said.get("blind", False)
    if not isinstance(row, int) or isinstance(row, bool):
        faults.append("row: expected the place of an item")
    elif not 0 <= row < n:
        faults.append(f"row: there is no item {row}; there are {n}, the first is 0")
    if not isinstance(blind, bool):
        faults.append("blind: expected true or false")
    if not faults:
        texts["annotator"] = texts["annotator"].strip()
        if not 0 < len(texts["annotator"]) <= LONGEST_NAME or any(ord(letter) < 32 for letter in texts["annotator"]):
            faults.append(f"annotator: a name of 1 to {LONGEST_NAME} letters")
        if len(texts["comment"]) > LONGEST_COMMENT:
            faults.append(f"comment: at most {LONGEST_COMMENT} letters, got {len(texts['comment'])}")
        if texts["mark"] not in ("", *map(str, MARKS)):
            faults.append(f"mark: one of {', '.join(map(str, MARKS))}, or empty; got {texts['mark']!r}")
        if texts["skipped"] not in ("", CANNOT_SAY):
            faults.append(f"skipped: {CANNOT_SAY!r} or empty; got {texts['skipped']!r}")
        if texts["mark"] and texts["skipped"]:
            faults.append("mark and skipped: only one of them")
    if faults:
        raise BadInput.listing("the mark cannot be saved:", faults)
    return {"row": row, "blind": blind, **texts}


def _text_fault(name: str, text: Any) -> str:
    if not isinstance(text, str):
        return f"{name}: expected text"
    try:
        text.encode()
    except UnicodeEncodeError:
        return f"{name}: holds a lone surrogate, which is not a character"
    return ""


def _folder(reports: Path, rows: Rows) -> Path:
    # By the folders' names: what results.json calls the study is a stranger's text.
    return reports / FOLDER / rows.folder.parent.name / rows.folder.name


def _file(reports: Path, rows: Rows, annotator: str, blind: bool) -> Path:
    """The file of an annotator; a name that is no plain word, or has capitals, is told from others by a digest."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in annotator.casefold())[:40]
    own = plain if plain == annotator else f"{plain}-{hashlib.sha256(annotator.encode()).hexdigest()[:8]}"
    return _folder(reports, rows) / f"{own}.{'blind' if blind else 'seen'}.jsonl"


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


def _key(file: Path, page: str, row: str, known: Mapping[str, str]) -> None:
    """Which item each row is of, as ``label merge --key`` reads it."""
    path = file.with_suffix(".key.json")
    items = read_json(path).get("items", {}) if path.is_file() else {}
    if items.get(row) != known:
        key = {"format": 1, "page": page, "criterion": CRITERION, "mode": "single", "marks": list(MARKS)}
        write_json(path, {**key, "items": {**items, row: dict(known)}})
