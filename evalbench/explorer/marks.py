"""A reader's own verdicts on items, blind or after the scores were seen, saved at once as rows that ``evalbench label merge`` reads."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.explorer.conditions import length_of, mark_name
from evalbench.explorer.mark_files import CANNOT_SAY, CRITERION, MARKS, add, marked_after_seeing
from evalbench.readers.where import parse

if TYPE_CHECKING:
    from evalbench.explorer.rows import Rows

LONGEST_NAME, LONGEST_COMMENT = 80, 10_000
_READ = {
    "prompt", "question", "request", "context", "contexts", "chunk", "text", "texts", "source", "source_text", "reference", "ground_truth",
    "gold_answer", "expected", "right", "output", "output_a", "output_b", "answer", "answer_a", "answer_b", "answer_other", "model_answer",
    "response", "reply", "said", "claim", "quote", "rule", "truth_rule", "prediction_rule", "explanation", "correction",
}  # fmt: skip
"""Columns of texts that a blind annotator reads."""
_OF_TEXTS = ("text", "list")


def blinded(rows: Rows, row: int) -> dict[str, Any]:
    """An item as a blind annotator reads it: its texts, without scores, verdicts, calls, or who answered."""
    found = rows.item(row)
    place = found["place"]
    tables = {}
    for name, parts in found["tables"].items():
        known = _read(rows, name)
        own = [part for part in parts if all(str(part.get(by, place[by])) == str(place[by]) for by in rows.by)]
        read = [{column: part[column] for column in known if part[column] not in (None, "")} for part in own]
        if name != "calls" and any(read):
            tables[name] = [part for part in read if part]
    item = {column: found["item"][column] for column in _read(rows, "items")}
    return {"row": row, "item": item, "place": {rows.id: place[rows.id]}, "tables": tables, "others": []}


def read_blind(rows: Rows) -> list[str]:
    """The columns of the items that a blind annotator reads in their list."""
    return [rows.id, *_read(rows, "items")]


def _read(rows: Rows, table: str) -> list[str]:
    known = [column.name for column in rows.columns_of(table) if column.name in _READ and column.kind in _OF_TEXTS]
    return [name for name in known if name not in (rows.id, *rows.by)]


def reveals(rows: Rows, where: str, sort: str) -> list[str]:
    """What a filter and an order say that a blind annotator is not to know: scores, verdicts, lights, who answered.

    Raises ``BadInput`` for a filter that cannot be read.
    """
    ordered = sort[1:] if sort.startswith("-") and sort not in rows.columns else sort
    asked = [length_of(term.column, rows.columns) or term.column for term in parse(where)]
    named = dict.fromkeys([*asked, ordered])
    tables = [table for table in ("items", *rows.linked) if table != "calls"]
    free = {rows.id, *(name for table in tables for name in _read(rows, table))}
    called = {name for name, columns in rows.behind.items() if "calls" in (column.table for column in columns)}
    own, mark = {name for name in rows.columns if name not in called}, mark_name(rows.columns)
    return [name for name in named if name and name != mark and not (name in own and name in free)]


def save(rows: Rows, said: Mapping[str, Any]) -> dict[str, Any]:
    """Add a mark to the annotator's file.

    - ``said``: ``row`` (the item's place), ``annotator``, ``mark`` (0 wrong, 1 right, empty for none), ``skipped`` (why there is
      none), ``comment``, ``blind``, ``where`` and ``sort`` (the filter and the order that were on).

    Returns: The row that was written, and ``file``: where, below the folder of reports. One without mark, reason and comment takes an
    earlier one back. It is blind only where the filter and the order do not say what it is to be blind to (:func:`reveals`), and the
    annotator did not mark the item after seeing.

    Raises ``BadInput``: All faults of what was said at once; or where there is no such item.
    """
    given = _checked(said, rows.n)
    item = rows.item(given["row"])["place"]
    before = marked_after_seeing(rows.folder, given["annotator"], str(given["row"]))
    blind = given["blind"] and not reveals(rows, given["where"], given["sort"]) and not before
    page = f"{rows.folder.parent.name}/{rows.folder.name} {given['annotator']} {'blind' if blind else 'seen'}"
    names = [str(item[by]) for by in rows.by if item[by] not in (None, "")]
    known = {"id": str(item[rows.id]), **({"model": ", ".join(names)} if names else {})}
    line = {
        "page": page, "criterion": CRITERION, "annotator": given["annotator"], "id": str(given["row"]), "mark": given["mark"],
        "skipped": given["skipped"], "comment": given["comment"], "at": datetime.datetime.now(datetime.UTC).isoformat(),
        "blind": blind, "where": given["where"], "sort": given["sort"],
    }  # fmt: skip
    file = add(rows.folder, line, known, rows.by)
    return {**line, **known, "row": given["row"], "file": file.relative_to(rows.folder.parent.parent).as_posix()}


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
