"""Judgements from a file or a table: people's, or those of an earlier run."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.judge.tasks import Task, parts_of
from evalbench.readers.files import parsed_json

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True)
class Recording:
    """Recorded judgements that were read already: a table of the data set, say.

    Attributes
    ----------
    rows : sequence of mapping
        As the rows of a file, see :func:`read_recorded`.
    name : str
        What results call the judge.
    """

    rows: Sequence[Mapping[str, Any]]
    name: str = "recorded"


class RecordedJudgement(NamedTuple):
    """One row of the file; ``raw`` is the row as it is there, as JSON."""

    sample: int
    label: str
    reason: str
    raw: str
    parts: Mapping[str, Any]


def read_recorded(
    source: str | Recording, task: Task, asked: Collection[str] | None = None
) -> dict[str, tuple[RecordedJudgement, ...]]:
    """Judgements by item id, in the order of their samples.

    Parameters
    ----------
    source : str or Recording
        The table of calls of an earlier run (``calls.parquet``), or CSV, TSV or JSON Lines with ``id`` (or ``item_id``), ``label`` (or ``mark``), and if wanted ``reason``, ``sample`` and
        ``task``: a row of another task is passed over.  What the task's reply holds besides (:attr:`Task.parts`) is in
        columns of these names or, as a JSON object, in ``reply``.
    asked : collection of str, optional
        The ids that are wanted: a reply to another one may have another form, such as a ranking of more answers.

    Raises
    ------
    BadInput
        If the file cannot be read, or with all faulty rows at once: no id, an unknown label, a part that is missing or of another
        type, a verdict given twice.
    """
    rows: Sequence[Mapping[Any, Any]] = source.rows if isinstance(source, Recording) else _rows(Path(source))
    kept: dict[str, dict[int, RecordedJudgement]] = {}
    faults = []
    for place, row in enumerate(rows, start=1):
        if row.get("task") not in (None, "", task.name):
            continue
        item_id, said, sample = _first(row, "id", "item_id"), _first(row, "label", "mark"), _sample(row)
        label = task.label(said) if task.labels else ""
        try:
            parts = parts_of(task, _with_reply(row))
        except ValueError as error:
            if asked is None or item_id in asked:
                faults.append(f"row {place} ({item_id}): {error}")
            continue
        if item_id in (None, ""):
            faults.append(f"row {place}: no id")
        elif not isinstance(item_id, str):
            faults.append(f"row {place}: its id is {item_id!r}, not a text")
        elif None in row:
            faults.append(f"row {place} ({item_id}): more cells than the header has columns")
        elif label is None:
            faults.append(f"row {place} ({item_id}): {said!r} is none of {', '.join(task.labels)}")
        elif sample is None:
            faults.append(f"row {place} ({item_id}): sample {row['sample']!r} is not a whole number from 0")
        elif sample in kept.get(item_id, {}):
            faults.append(f"row {place} ({item_id}): a second verdict for sample {sample}")
        else:
            raw = json.dumps(row, ensure_ascii=False, sort_keys=True, default=str)
            verdict = RecordedJudgement(sample, label, str(row.get("reason") or ""), raw, parts)
            kept.setdefault(item_id, {})[sample] = verdict
    if faults:
        where = f"of the table {source.name}" if isinstance(source, Recording) else f"in {Path(source)}"
        raise BadInput.listing(f"recorded verdicts {where} are invalid:", faults)
    return {item_id: tuple(v for _, v in sorted(samples.items())) for item_id, samples in kept.items()}


def _with_reply(row: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The row with what its ``reply`` holds; a cell of a CSV that looks like JSON is read as such."""
    reply = _read(row.get("reply"))
    cells = {name: _read(cell) for name, cell in row.items() if cell not in (None, "")}
    return {**cells, **reply} if isinstance(reply, Mapping) else cells


def _read(cell: Any) -> Any:
    if not isinstance(cell, str) or cell[:1] not in ("[", "{"):
        return cell
    try:
        return parsed_json(cell)
    except ValueError:
        return cell


def _calls(file: Path) -> list[dict[str, Any]]:
    """The verdicts of an earlier run's table of calls."""
    import pandas as pd
    import pyarrow as pa

    columns = ["item_id", "purpose", "sample", "parsed"]
    try:
        table = pd.read_parquet(file, columns=columns)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise BadInput(f"recorded verdicts {file}: expected a table with {', '.join(columns)}: {error}") from error
    told = table[table["parsed"].fillna("") != ""]
    return [
        {"id": row["item_id"], "task": row["purpose"], "sample": row["sample"], **parsed_json(row["parsed"])}
        for row in told.to_dict("records")
    ]


def _rows(file: Path) -> list[dict[str, Any]]:
    if file.suffix == ".parquet":
        return _calls(file)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"recorded verdicts {file} cannot be read: {error}") from error
    if file.suffix in _SEPARATORS:
        csv.field_size_limit(max(len(text), csv.field_size_limit()))
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=_SEPARATORS[file.suffix]))
    if file.suffix in (".jsonl", ".ndjson"):
        # Not splitlines: it also cuts at characters that may occur within a text, such as U+2028.
        return [_object(file, place, line) for place, line in enumerate(text.split("\n"), 1) if line.strip()]
    raise BadInput(f"recorded verdicts {file}: expected .csv, .tsv, .jsonl or an earlier run's calls.parquet")


def _object(file: Path, place: int, line: str) -> dict[str, Any]:
    try:
        row = parsed_json(line)
    except ValueError as error:
        raise BadInput(f"recorded verdicts {file}, line {place}: not JSON ({error})") from error
    if not isinstance(row, dict):
        raise BadInput(f"recorded verdicts {file}, line {place}: expected an object, got {type(row).__name__}")
    return row


def _first(row: Mapping[Any, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _sample(row: Mapping[Any, Any]) -> int | None:
    given = row.get("sample")
    if given in (None, ""):
        return 0
    return int(given) if str(given).isdecimal() else None
