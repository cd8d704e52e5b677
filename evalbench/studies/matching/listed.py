"""Cells that list violations as one row per violation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import core, errors, readers
from evalbench.studies.matching import names

_BETWEEN = re.compile(r"\s*[;\n|]\s*")
_COMMAS = re.compile(r"\s*[,，、]\s*")


def unfolded(
    frame: pd.DataFrame,
    column: str,
    table: str,
    checker: str,
    notes: list[str],
    first: readers.offsets.Counting | None = None,
) -> tuple[pd.DataFrame, readers.offsets.Counting]:
    """One row per violation of the cells of a column: a list of objects, or of rules, or rules between semicolons; how places were counted.

    - ``frame``: One row per text and checker, with ``id``.
    - ``table``: Named in messages; predictions may be an object that lists those of each checker.
    - ``checker``: The column of checkers; empty without one.
    - ``notes``: Guesses are added to it.
    - ``first``: How the places of the true violations are counted, where these are the predicted ones.

    Raises ``BadInput`` for nulls, cells of other kinds, and lists of passages that name no rule: all of them.
    """
    rows: list[dict[str, Any]] = []
    places, faults, plain = [], [], []
    seen = {"empty": 0, "split": 0, "commas": 0, "python": 0}
    commas = _between_codes(frame[column])
    renamed: dict[str, str] = {}
    systems: dict[str, None] = {}
    # Lists hold Python's own numbers, as ids are read.
    own_ids, texts = frame["id"].tolist(), frame["text"].tolist() if "text" in frame else None
    whose = frame[checker].tolist() if checker else []
    for i, (place, cell) in enumerate(zip(frame.index, frame[column], strict=True)):
        shared = {"id": own_ids[i], **({"model": whose[i]} if checker else {})}
        value, how = _listed(cell, _COMMAS if commas else _BETWEEN)
        if how == "wrong":
            faults.append(f"row {place}: {column} {value}")
            continue
        if how:
            seen[how] += 1
        several = value.items() if isinstance(value, dict) else [(None, value)]
        systems |= dict.fromkeys(value) if isinstance(value, dict) else {}
        if isinstance(value, dict) and (table == "truth" or checker):
            faults.append(f"row {place}: {column} is an object; expected a list")
            continue
        for name, listed in several:
            own = shared if name is None else {**shared, "model": name}
            if not isinstance(listed, list):
                faults.append(f"row {place}: {column} of {name} is not a list")
                continue
            for one in listed:
                fields = _fields(one, renamed, whose or table == "truth" or name is not None)
                if fields is None:
                    faults.append(
                        f"row {place}: {column} lists {str(one)[:60]!r}, which is neither an object nor a text"
                    )
                    continue
                if isinstance(one, str):
                    plain.append(texts is not None and one.strip() in str(texts[i]))
                rows.append({**own, **fields})
                places.append(place)
    if faults:
        raise errors.BadInput.listing(f"{table}: column {column}:", faults)
    if plain and sum(plain) * 2 > len(plain):
        raise errors.BadInput.listing(
            f"{table}: column {column} lists passages of the texts ({sum(plain)} of {len(plain)} are in their text), and no rule is named "
            "with them; what is read:",
            names.FORMS,
        )
    words = {
        "empty": "read as no violations, since they are empty",
        "split": f"parted at {'commas' if commas else 'semicolons, lines or bars'}",
        "commas": "not parted at their commas; put semicolons between several rules, or write a JSON list",
        "python": "read as lists in Python's form",
    }
    notes += [f"{core.counted(n, 'cell')} of {column}: {words[how]}" for how, n in seen.items() if n]
    if plain:
        notes.append(f"the texts that {column} lists were read as rules")
    notes += [f"{old} of the objects in {column} was read as {new}" for old, new in renamed.items()]
    shown = dict(zip(frame.index, texts, strict=True)) if texts else None
    way = _counted_as_ours(rows, places, column, shown, renamed, first, notes)
    columns = list(dict.fromkeys(["id", *(["model"] if checker else []), *(k for row in rows for k in row)]))
    cells = {name: pd.Series([row.get(name) for row in rows], dtype=object, index=places) for name in columns}
    out = pd.DataFrame(cells, index=pd.Index(places))
    needed = {} if len(out) else {name: pd.Series(dtype=object) for name in ("rule", "context") if name not in out}
    out = out.assign(**needed)
    out.attrs[readers.schema.SYSTEMS] = tuple(systems)
    return out, way


def _counted_as_ours(
    rows: list[dict[str, Any]],
    places: Sequence[Any],
    column: str,
    texts: Mapping[Any, Any] | None,
    renamed: Mapping[str, str],
    first: readers.offsets.Counting | None,
    notes: list[str],
) -> readers.offsets.Counting:
    """Places counted from 0 with the end outside, in place, as keys or texts tell how they are counted; else asked."""
    placed = [
        (row, place)
        for row, place in zip(rows, places, strict=True)
        if isinstance(row.get("start"), int) and isinstance(row.get("end"), int)
    ]
    if not placed:
        return first or readers.offsets.OURS
    before = {new: old for old, new in renamed.items()}
    ends = (before.get("start", "start"), before.get("end", "end"))
    known = [
        readers.offsets.Place(
            row["start"], row["end"], str((texts or {}).get(place) or ""), str(row.get("context") or "")
        )
        for row, place in placed
    ]
    documented = ends == ("start", "end") and column.strip().casefold() in (*names.TRUE_LISTS, *names.FOUND_LISTS)
    way, said = readers.spans.counted(column, ends, known, first, documented)
    notes += said
    for row, _ in placed:
        row["start"], row["end"] = way.moved(row["start"], row["end"])
    return way


def _between_codes(cells: pd.Series) -> bool:
    """Whether rules are between commas: no text has a semicolon, and what is between commas is always one word, such as R1."""
    texts = [str(cell).strip() for cell in cells if isinstance(cell, str) and not cell.strip().startswith(("[", "{"))]
    parted = [text for text in texts if _COMMAS.search(text)]
    return not any(_BETWEEN.search(text) for text in texts) and all(
        len(part.split()) == 1 for text in parted for part in _COMMAS.split(text)
    )


def _listed(cell: Any, between: re.Pattern[str]) -> tuple[Any, str]:
    """What a cell lists, and how that was seen: ``empty``, ``split``, ``commas``, ``wrong`` (then what is wrong), or nothing."""
    if cell is None or cell != cell:
        return "is null; write [] where there are no violations, and leave out texts that were not looked at", "wrong"
    if isinstance(cell, (list, dict)):
        return cell, ""
    if not isinstance(cell, str):
        return f"is not a list, found {str(cell)[:60]}", "wrong"
    text = cell.strip()
    if not text:
        return [], "empty"
    if text.startswith(("[", "{")):
        try:
            return readers.files.parsed_json(text), ""
        except ValueError as error:
            value = readers.written.value_of(text)
            return (value, "python") if value is not None else (f"is not a list: not valid JSON ({error})", "wrong")
    how = "split" if between.search(text) else "commas" if _COMMAS.search(text) else ""
    return [part for part in between.split(text) if part], how


def _fields(one: Any, renamed: dict[str, str], known_checker: Any) -> dict[str, Any] | None:
    """The columns of one listed violation; a text is its rule."""
    if isinstance(one, str):
        return {"rule": one.strip()} if one.strip() else None
    if not isinstance(one, Mapping):
        return None
    fields: dict[str, Any] = {str(key): value for key, value in one.items()}
    span = fields.get("span")
    if isinstance(span, list):
        fields["spans"] = span if readers.cells.is_spans(span) else [span]
        del fields["span"]
        renamed["span"] = "spans"
    for own in ("model", "rule", "context", "start", "end", "category", "explanation", "correction", "violation_id"):
        if own == "model":
            found = "" if known_checker else names.known(fields, "checker") or names.known(fields, own)
        else:
            found = names.known(fields, own, names.WITHIN)
        if found and found != own:
            fields[own] = fields.pop(found)
            renamed[found] = own
    if "violation_id" not in fields and "id" in fields:
        fields["violation_id"] = fields.pop("id")
        renamed["id"] = "violation_id"
    return fields
