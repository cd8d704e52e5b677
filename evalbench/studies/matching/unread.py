"""Tables whose sides cannot be told, or that hold no violations: refused with the options that name the columns."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Any

import pandas as pd

from evalbench import errors, readers
from evalbench.studies.matching.names import FORMS, SIDE, SIDES, TRUE_LISTS, WITHIN

_ANSWERS = (
    "output",
    "prediction",
    "predicted",
    "answer",
    "response",
    "completion",
    "generated_text",
    "ответ",
    "ответ модели",
)
_REFERENCES = ("reference", "references", "ground_truth", "gold", "expected", "target", "эталон")
PLACES = ("start", "end", "spans", "context")
_OURS = ("id", "sample_id", "violation_id", "text", "lang", "№", "номер")


def refuse_answers(frame: pd.DataFrame, true: str, found: str) -> None:
    """Refuse answers beside references, which are a table of another study.

    Raises ``BadInput`` where the columns are named as answers and references are and hold plain texts.
    """
    names = {true: _REFERENCES, found: _ANSWERS}
    if not all(column.strip().casefold() in known for column, known in names.items()):
        return
    cells = [cell for column in names for cell in frame[column] if cell is not None and cell == cell]
    if any(not isinstance(cell, str) or cell.strip().startswith(("[", "{")) for cell in cells):
        return
    raise errors.BadInput(
        f"the table has answers ({found}) beside references ({true}), and no violations: evalbench run text_metrics scores such a "
        f"table; where the two columns list violated rules, say so: --map {quote(f'{true}=true_violations')} "
        f"--map {quote(f'{found}=found_violations')}"
    )


def refuse_unread(frame: pd.DataFrame, column: str) -> None:
    """Refuse a table of one side whose columns may hold both, or name the rule otherwise.

    - ``frame``: What was read as truth, without predictions beside it.
    - ``column``: Its column that lists violations; empty without one.

    Raises ``BadInput``: With the options for the columns that are probably meant; nothing where it is a table of true
    violations.
    """
    names = {str(c).strip().casefold(): str(c) for c in frame.columns}
    options: list[str] = []
    faults: list[str] = []
    who = next((names[n] for n in (SIDE, *SIDES) if n in names and frame[names[n]].map(_said).nunique() > 1), "")
    placed = any(name in frame for name in PLACES)
    if "rule" not in frame and not column and (placed or who):
        rule = next((names[n] for n in WITHIN["rule"] if n in names), "")
        faults.append("no column rule (the violated rule)" + (f"; is {rule!r} meant?" if rule else _some(frame)))
        options += [f"{rule or 'COLUMN'}=rule"]
    if who and who != SIDE:
        first, *others = sorted(set(frame[who].map(_said)) - {""})
        faults.append(
            f"no row of column {who} says that it is the truth; to take {first} for the truth and {', '.join(others[:3])}"
            f"{' and others' if len(others) > 3 else ''} for {'a checker' if len(others) == 1 else 'checkers'}, name it {SIDE}"
        )
        options.append(f"{who}={SIDE}")
    elif "rule" not in frame and not placed:
        true = column or next(filter(readers.sides.says_true, _texts(frame)), "")
        found = next((c for c in _texts(frame) if c != column and readers.sides.says_found(c)), "")
        if not true and not found and not _texts(frame):
            return
        faults.append(
            f"which columns list the true violations of a text, and which those that were found?{_some(frame)}"
        )
        named = column.strip().casefold() in TRUE_LISTS
        options += [] if named else [f"{true or 'COLUMN'}=true_violations"]
        options.append(f"{found or 'COLUMN'}=found_violations")
        faults.append("of several checkers: one row per text and checker, with a column model")
    if not faults or not options:
        return
    tail = f"\nto read it so: {' '.join(f'--map {quote(option)}' for option in options)}"
    raise errors.BadInput.listing(
        "the table was not understood as true and found violations:", [*faults, *_forms()], 20, tail
    )


def _forms() -> list[str]:
    return [f"read is: {form}" for form in FORMS]


def _texts(frame: pd.DataFrame) -> list[str]:
    own: Mapping[str, Any] = {str(c): frame[c] for c in frame.columns if str(c).strip().casefold() not in _OURS}
    return [c for c, cells in own.items() if any(isinstance(cell, (str, list)) for cell in cells)]


def _some(frame: pd.DataFrame) -> str:
    return f" (columns: {', '.join(_texts(frame)[:12])})"


def _said(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell).strip()
