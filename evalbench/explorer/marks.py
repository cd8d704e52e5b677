"""A reader's own verdicts on items, saved at once as rows that ``evalbench label merge`` reads.

Each annotator has two files for a run, below ``marks/STUDY/RUN`` of the folder of reports: marks that were made blind, and those made
after the scores were seen.  A row is added for each change and none is rewritten: the last one counts.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.readers.runs import write_json

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.explorer.rows import Rows

FOLDER = "marks"
CRITERION = "right"
MARKS = (0, 1)
"""Wrong and right."""
CANNOT_SAY = "cannot say"
LONGEST_NAME, LONGEST_COMMENT = 80, 10_000
_READ = {
    "prompt", "question", "context", "contexts", "text", "texts", "source", "reference", "ground_truth", "gold_answer", "expected",
    "output", "answer", "model_answer", "response", "reply",
}  # fmt: skip
"""Columns of texts that a blind annotator reads."""
_writing = threading.Lock()


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


def save(reports: Path, rows: Rows, said: Mapping[str, Any]) -> dict[str, Any]:
    """Add a mark to the annotator's file.

    - ``said``: ``row`` (the item's place), ``annotator``, ``mark`` (0 wrong, 1 right, empty for none), ``skipped`` (why there is
      none), ``comment``, ``blind``, ``where`` (the filter that was on).

    Returns: The row that was written. One without mark, reason and comment takes an earlier one back.

    Raises ``BadInput``: All faults of what was said at once; or where there is no such item.
    """
    given = _checked(said)
    item = rows.item(given["row"])["place"]
    file = _file(reports, rows, given["annotator"], given["blind"])
    page = f"{rows.results['study']}/{rows.folder.name} {given['annotator']} {'blind' if given['blind'] else 'seen'}"
    names = [str(item[by]) for by in rows.by if item[by] not in (None, "")]
    known = {"id": str(item[rows.id]), **({"model": ", ".join(names)} if names else {})}
    line = {
        "page": page, "criterion": CRITERION, "annotator": given["annotator"], "id": str(given["row"]), "mark": given["mark"],
        "skipped": given["skipped"], "comment": given["comment"], "at": datetime.datetime.now(datetime.UTC).isoformat(),
        "blind": given["blind"], "where": given["where"],
    }  # fmt: skip
    with _writing:
        file.parent.mkdir(parents=True, exist_ok=True)
        _key(file, page, str(given["row"]), known)
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
            out.flush()
            os.fsync(out.fileno())
    return {**line, **known, "row": given["row"]}


def marks(reports: Path, rows: Rows) -> pd.DataFrame:
    """The last mark of each annotator on each item, blind ones and others apart; those that were taken back are left out."""
    import pandas as pd

    found = [
        {**json.loads(line), "order": i}
        for file in sorted(_folder(reports, rows).glob("*.jsonl"))
        for i, line in enumerate(file.read_text(encoding="utf-8").splitlines())
    ]
    columns = ["row", "annotator", "mark", "skipped", "comment", "blind", "where", "at"]
    if not found:
        return pd.DataFrame(columns=columns)
    table = pd.DataFrame(found).drop_duplicates(["annotator", "id", "blind"], keep="last")
    kept = table[(table["mark"] != "") | (table["skipped"] != "") | (table["comment"] != "")]
    return kept.assign(row=kept["id"].astype(int))[columns].reset_index(drop=True)


def merge_line(reports: Path, rows: Rows) -> str:
    """The command that makes one table of labels of the blind marks, or of all where none is blind."""
    folder = _folder(reports, rows)
    kind = "blind" if any(folder.glob("*.blind.jsonl")) else "seen"
    files = [f"'{path}'" for path in sorted(folder.glob(f"*.{kind}.jsonl"))]
    keys = [f"--key '{path}'" for path in sorted(folder.glob(f"*.{kind}.key.json"))]
    return " ".join(["evalbench label merge", *files, *keys, "--out labels.csv"]) if files else ""


def _checked(said: Mapping[str, Any]) -> dict[str, Any]:
    faults = []
    for name, kind in (("annotator", str), ("mark", str), ("skipped", str), ("comment", str), ("where", str)):
        if not isinstance(said.get(name, ""), kind):
            faults.append(f"{name}: expected text")
    row, blind = said.get("row"), said.get("blind", False)
    if not isinstance(row, int) or isinstance(row, bool):
        faults.append("row: expected the place of an item")
    if not isinstance(blind, bool):
        faults.append("blind: expected true or false")
    if not faults:
        name, comment = said.get("annotator", "").strip(), said.get("comment", "")
        if not 0 < len(name) <= LONGEST_NAME or any(ord(letter) < 32 for letter in name):
            faults.append(f"annotator: a name of 1 to {LONGEST_NAME} letters")
        if len(comment) > LONGEST_COMMENT:
            faults.append(f"comment: at most {LONGEST_COMMENT} letters, got {len(comment)}")
        if said.get("mark", "") not in ("", *map(str, MARKS)):
            faults.append(f"mark: one of {', '.join(map(str, MARKS))}, or empty; got {said['mark']!r}")
        if said.get("skipped", "") not in ("", CANNOT_SAY):
            faults.append(f"skipped: {CANNOT_SAY!r} or empty; got {said['skipped']!r}")
    if faults:
        raise BadInput.listing("the mark cannot be saved:", faults)
    texts = {name: said.get(name, "") for name in ("mark", "skipped", "comment", "where")}
    return {"row": row, "blind": blind, "annotator": said["annotator"].strip(), **texts}


def _folder(reports: Path, rows: Rows) -> Path:
    return reports / FOLDER / str(rows.results["study"]) / rows.folder.name


def _file(reports: Path, rows: Rows, annotator: str, blind: bool) -> Path:
    """The file of an annotator; a name that is no plain word is told from others by a digest."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in annotator)[:40]
    own = plain if plain == annotator else f"{plain}-{hashlib.sha256(annotator.encode()).hexdigest()[:8]}"
    return _folder(reports, rows) / f"{own}.{'blind' if blind else 'seen'}.jsonl"


def _key(file: Path, page: str, row: str, known: Mapping[str, str]) -> None:
    """Which item each row is of, as ``label merge --key`` reads it."""
    path = file.with_suffix(".key.json")
    key = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    items = key.get("items", {})
    if items.get(row) != known:
        write_json(
            path,
            {
                "format": 1,
                "page": page,
                "criterion": CRITERION,
                "mode": "single",
                "marks": list(MARKS),
                "items": {**items, row: dict(known)},
            },
        )
