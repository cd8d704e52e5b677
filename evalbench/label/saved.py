"""Files that annotators saved: each row checked, all faults of all files at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.label.items import OF_PAIRS
from evalbench.readers.files import raw_table, read_bytes
from evalbench.readers.labels import unguarded
from evalbench.readers.runs import read_json
from evalbench.readers.schema import Column, Table
from evalbench.readers.tables import check

if TYPE_CHECKING:
    import pandas as pd

CHOICES = ("left", "tie", "right")
MODES = ("single", "pairs")
_TEXT: Any = {"required": False, "empty_ok": True}
ROW = Table(
    (
        Column("page", "id", help="which page"),
        Column("criterion", "id"),
        Column("annotator", "id"),
        Column("id", "id", help="the item of the page"),
        Column("mark", "text", empty_ok=True, help="a mark of the scale, or left, tie, right"),
        Column("skipped", "text", **_TEXT, help="why there is no mark"),
        Column("comment", "text", **_TEXT),
        Column("flag", "bool", **_TEXT),
        Column("seconds", "float", low=0, **_TEXT),
        Column("order", "int", low=0, **_TEXT),
        Column("changes", "int", low=0, **_TEXT),
        Column("at", "ts", **_TEXT),
        Column("where", "text", **_TEXT, help="the filter of the explorer that was on"),
        Column("sort", "text", **_TEXT, help="and the order"),
    ),
    help="one row per item that was labelled, skipped or commented on",
)


@dataclass(frozen=True)
class Key:
    """What ``label page`` wrote beside a page; see :func:`evalbench.label.page.page_and_key`.

    - ``by``: Of marks of the explorer the columns that name an item's group.
    """

    page: str
    criterion: str
    mode: str
    marks: tuple[int, ...]
    items: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    by: tuple[str, ...] = ()


def read_keys(paths: Sequence[Path]) -> dict[str, Key]:
    """Keys by page.

    Raises ``BadInput``: With the faults of all of them: not a key, or two for one page that differ.
    """
    found: dict[str, Key] = {}
    faults = []
    for path in paths:
        try:
            content = read_json(path)
        except BadInput as error:
            faults.append(str(error))
            continue
        if wrong := _key_fault(content):
            faults.append(f"{path}: not a key that `evalbench label page` wrote ({wrong})")
            continue
        parts = (content["page"], content["criterion"], content["mode"])
        items = {name: _of_pair(item) for name, item in content["items"].items()}
        key = Key(*parts, tuple(content["marks"]), items, tuple(content.get("by", ())))
        if found.setdefault(key.page, key) != key:
            faults.append(f"{path}: another key of the same page differs")
    if faults:
        raise BadInput.listing("keys:", faults)
    return found


def _of_pair(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item of a key; one of a pair of violations that was written before, by its text and checker."""
    kept = {name: value for name, value in item.items() if name not in OF_PAIRS}
    return kept | {OF_PAIRS[name]: value for name, value in item.items() if name in OF_PAIRS}


def _key_fault(content: Mapping[str, Any]) -> str:
    if content.get("format") != 1:
        return "no format 1"
    for name in ("page", "criterion"):
        if not isinstance(content.get(name), str) or not content[name]:
            return f"no {name}"
    marks, items, pairs = content.get("marks"), content.get("items"), content.get("mode") == "pairs"
    if content.get("mode") not in MODES:
        return "no mode"
    if not isinstance(marks, list) or not marks or not all(type(mark) is int for mark in marks):
        return "no marks"
    needed = ("id", "left", "right") if pairs else ("id",)
    if not isinstance(items, dict) or not items:
        return "no items"
    for name, item in items.items():
        if not isinstance(item, dict) or not all(isinstance(item.get(part), str) and item[part] for part in needed):
            return f"item {name}: no {', '.join(needed)}"
    by = content.get("by", [])
    return "" if isinstance(by, list) and all(isinstance(name, str) for name in by) else "by is not a list of names"


def read_saved(paths: Sequence[Path], keys: Mapping[str, Key]) -> pd.DataFrame:
    """The rows of all files, in the order of files and rows.

    - ``paths``: JSON Lines or CSV as the page saves them, or any other form with the columns of :data:`ROW`.
    - ``keys``: By page.

    Returns: The columns of :data:`ROW`, ``mark`` as text, and ``file``, ``row``.

    Raises ``BadInput``: With all faults of all files at once: unreadable files, missing columns, items and marks that
    the page does not have, pages without a key that need one, one file twice.
    """
    import pandas as pd

    faults: list[str] = []
    parts = []
    for path in dict.fromkeys(paths):
        try:
            raw, _ = raw_table(path, read_bytes(path))
        except BadInput as error:
            faults += [f"{path}: {fault}" for fault in error.faults] or [str(error)]
            continue
        frame, wrong = check(_plain(raw), ROW)
        faults += [f"{path}: {fault}" for fault in wrong]
        if not wrong:
            found = _filled(frame).assign(file=str(path), row=list(raw.index))
            faults += [f"{path}: {fault}" for fault in _row_faults(found, keys)]
            parts.append(found)
    if faults:
        raise BadInput.listing("labels cannot be merged:", faults)
    return pd.concat(parts, ignore_index=True)


def _plain(raw: pd.DataFrame) -> pd.DataFrame:
    """Texts without the apostrophe that keeps a spreadsheet from reading them as formulas; marks as text."""
    import pandas as pd

    frame = raw.copy()
    for name in ("criterion", "annotator", "id", "comment", "skipped"):
        if name in frame:
            # A Series of its own dtype: pandas would turn texts with None into its own kind, with NaN.
            frame[name] = pd.Series([unguarded(cell) for cell in frame[name]], index=frame.index, dtype=object)
    return frame


def _filled(frame: pd.DataFrame) -> pd.DataFrame:
    """All columns of :data:`ROW`; those that a file lacks are empty."""
    import pandas as pd

    empty: dict[str, Any] = {"skipped": "", "comment": "", "flag": 0.0, "at": pd.NaT, "where": "", "sort": ""}
    out = pd.DataFrame(
        {c.name: frame[c.name] if c.name in frame else empty.get(c.name, float("nan")) for c in ROW.columns},
        index=frame.index,
    )
    out["mark"] = out["mark"].map(lambda mark: str(mark).strip().removesuffix(".0"))
    out["flag"] = out["flag"].fillna(0.0)
    return out.assign(at=pd.to_datetime(out["at"], utc=True))


def _row_faults(frame: pd.DataFrame, keys: Mapping[str, Key]) -> list[str]:
    faults = []
    for page, rows in frame.groupby("page", sort=False):
        key = keys.get(str(page))
        if key is None and keys:
            faults.append(f"page {page}: no key of this page is among those given")
        items = set(key.items) if key else set(rows["id"])
        marks = {str(mark) for mark in key.marks} if key and key.mode == "single" else set(CHOICES) if key else set()
        if key is None and rows["mark"].isin(CHOICES).any():
            faults.append(f"page {page}: two answers side by side, which only the key names: give --key")
        if key and (other := sorted(set(rows["criterion"]) - {key.criterion})):
            faults.append(f"page {page}: the criterion is {key.criterion}, not {', '.join(other)}")
        faults += _named(rows, ~rows["id"].isin(items), "id", "the page has no such item")
        given = rows["mark"] != ""
        if key:
            faults += _named(rows, given & ~rows["mark"].isin(marks), "mark", "is not on the scale of the page")
        elif not rows["mark"].isin(CHOICES).any():
            faults += _named(rows, given & ~rows["mark"].str.fullmatch(r"-?\d+"), "mark", "is not a whole number")
    return faults


def _named(rows: pd.DataFrame, wrong: pd.Series, column: str, what: str) -> list[str]:
    bad = rows[wrong.astype(bool)]
    if not len(bad):
        return []
    places = ", ".join(map(str, bad["row"].head(5))) + (f" and {len(bad) - 5} more" if len(bad) > 5 else "")
    return [f"{column} {str(bad.iloc[0][column])[:60]!r} {what} ({'row' if len(bad) == 1 else 'rows'} {places})"]
