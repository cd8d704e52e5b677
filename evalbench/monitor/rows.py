"""Rows on their way into a log store: checked, every fault named, as the database keeps them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from evalbench.errors import BadInput
from evalbench.monitor.clients import is_client_hash
from evalbench.readers.log_store.tables import FEEDBACK, INTERACTIONS, LOSSES, SOURCES
from evalbench.readers.log_store.texts import kept
from evalbench.readers.log_store.times import instant, microseconds

LONGEST_NAME = 255
_MOST = 2**63 - 1


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value or value != value.strip():
        raise ValueError("expected a text without blanks around it")
    if len(value) > LONGEST_NAME:
        raise ValueError(f"expected at most {LONGEST_NAME} characters, found {len(value)}")
    return kept(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a text, found {type(value).__name__}")
    return kept(value)


def _client(value: Any) -> str:
    if not is_client_hash(value):
        raise ValueError("expected a keyed hash, 64 hexadecimal digits; the id itself is not kept")
    return str(value)


def _time(value: Any) -> int:
    if isinstance(value, str):
        return instant(value)
    if not isinstance(value, datetime):
        raise ValueError(f"expected a time with its time zone, found {type(value).__name__}")
    return microseconds(value)


def _json(value: Any) -> str:
    try:
        return kept(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from None


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("expected a number")
    return float(value)


def _amount(value: Any) -> float:
    number = _number(value)
    if number < 0:
        raise ValueError(f"expected a number of at least 0, found {number:g}")
    return number


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise ValueError("expected a whole number of at least 0")
    return value


def _source(value: Any) -> str:
    if value not in SOURCES:
        raise ValueError(f"expected one of {', '.join(SOURCES)}")
    return str(value)


_KINDS: Mapping[str, Callable[[Any], Any]] = {
    "id": _name, "client": _client, "ts": _time, "request": _text, "response": _text, "stages": _json, "model": _name,
    "prompt_version": _name, "latency": _amount, "input_tokens": _whole, "output_tokens": _whole, "cost": _amount,
    "error": _text, "interaction": _name, "source": _source, "judge": _name, "value": _number, "comment": _text,
    "since": _time, "until": _time, "process": _name, "reason": _name, "rows": _whole, "first": _text,
}  # fmt: skip
_NEEDED = {
    "interactions": frozenset({"id", "ts", "request"}),
    "feedback": frozenset({"interaction", "ts", "source"}),
    "losses": frozenset({"id", "ts", "reason", "rows"}),
}
_COLUMNS = {"interactions": INTERACTIONS, "feedback": FEEDBACK, "losses": LOSSES}


def as_kept(table: str, rows: Sequence[Mapping[str, Any]], places: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Rows as the database keeps them, in the order of their ids, so that writers of the same ids wait in one order.

    - ``rows``: A column that is not there is null.
    - ``places``: What messages call the rows; else they are counted from 1.

    Raises ``BadInput``: Names every fault of every row.
    """
    columns, needed, kinds = _COLUMNS[table], _NEEDED[table], _KINDS
    made, faults = [], []
    for number, row in enumerate(rows):
        found: dict[str, Any] = dict.fromkeys(columns)
        wrong = [f"unknown column {name}" for name in row if name not in found]
        for name, value in row.items():
            if value is None or name not in found:
                continue
            try:
                found[name] = kinds[name](value)
            except ValueError as error:
                wrong.append(f"column {name}: {error}")
        wrong += [f"column {name}: is missing" for name in needed if row.get(name) is None]
        if table == "feedback" and not wrong:
            if found["value"] is None and found["comment"] is None:
                wrong.append("neither value nor comment")
            found["id"] = found["id"] or _id_of(found)
        if wrong:
            place = places[number] if places else f"row {number + 1}"
            faults += [f"{place}: {fault}" for fault in sorted(wrong)]
        made.append(found)
    if faults:
        raise BadInput.listing(f"{table} that the log cannot keep:", faults)
    return sorted(made, key=lambda row: row["id"]) if len(made) > 1 else made


def _id_of(row: Mapping[str, Any]) -> str:
    """The id of feedback that came without one: of its contents, so that the same feedback is not kept twice."""
    contents = json.dumps([row[name] for name in FEEDBACK if name != "id"], ensure_ascii=True)
    return hashlib.sha256(contents.encode()).hexdigest()[:32]
