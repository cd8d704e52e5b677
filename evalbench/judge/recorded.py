"""Judgements from a file: people's, or those of an earlier run."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.judge.tasks import Task
from evalbench.readers.files import parsed_json

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


class RecordedJudgement(NamedTuple):
    """One row of the file; ``raw`` is the row as it stands there, as JSON."""

    sample: int
    label: str
    reason: str
    raw: str


def read_recorded(path: str, task: Task) -> dict[str, tuple[RecordedJudgement, ...]]:
    """Judgements by item id, in the order of their samples.

    Parameters
    ----------
    path : str
        CSV, TSV or JSON Lines with ``id`` (or ``item_id``), ``label`` (or ``mark``), and if wanted ``reason`` and
        ``sample``.

    Raises
    ------
    BadInput
        If the file cannot be read, or with all faulty rows at once: no id, an unknown label, a verdict given twice.
    """
    file = Path(path)
    kept: dict[str, dict[int, RecordedJudgement]] = {}
    faults = []
    for place, row in enumerate(_rows(file), start=1):
        item_id, said, sample = _first(row, "id", "item_id"), _first(row, "label", "mark"), _sample(row)
        label = task.label(said)
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
            raw = json.dumps(row, ensure_ascii=False, sort_keys=True)
            verdict = RecordedJudgement(sample, label, str(row.get("reason") or ""), raw)
            kept.setdefault(item_id, {})[sample] = verdict
    if faults:
        raise BadInput.listing(f"recorded verdicts in {file} are invalid:", faults)
    return {item_id: tuple(v for _, v in sorted(samples.items())) for item_id, samples in kept.items()}


def _rows(file: Path) -> list[dict[str, Any]]:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"recorded verdicts {file} cannot be read: {error}") from error
    if file.suffix in _SEPARATORS:
        csv.field_size_limit(max(len(text), csv.field_size_limit()))
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=_SEPARATORS[file.suffix]))
    if file.suffix in (".jsonl", ".ndjson"):
        # Not splitlines: it also cuts at characters that may stand within a text, such as U+2028.
        return [_object(file, place, line) for place, line in enumerate(text.split("\n"), 1) if line.strip()]
    raise BadInput(f"recorded verdicts {file}: expected .csv, .tsv or .jsonl")


def _object(file: Path, place: int, line: str) -> dict[str, Any]:
    try:
        row = parsed_json(line)
    except ValueError as error:
        raise BadInput(f"recorded verdicts {file}, line {place}: not JSON ({error})") from error
    if not isinstance(row, dict):
        raise BadInput(f"recorded verdicts {file}, line {place}: expected an object, got {type(row).__name__}")
    return row


def _first(row: dict[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _sample(row: dict[str, Any]) -> int | None:
    given = row.get("sample")
    if given in (None, ""):
        return 0
    return int(given) if str(given).isdecimal() else None
