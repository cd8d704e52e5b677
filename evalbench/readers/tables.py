"""Raw frames to typed, checked tables; all faults of a table in one message.

Types first (every cell was read as text or JSON), then pandera checks values lazily; the faults are
told in our wording, with column and rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalbench.core.notes import Note
from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.readers.cells import Fault, as_text, as_texts, clipped, lists_without_nulls, typed, without_blanks
from evalbench.readers.renames import meant, renamed_columns, usual
from evalbench.readers.schema import MOST_GROUPS, TRIAL, Column, Table
from evalbench.readers.written import NUMBERED, QUESTIONS, copies
from evalbench.text.null_words import WORDS as NULL_WORDS
from evalbench.text.null_words import is_null_word

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMED = 15
FAULTS_SHOWN = 30
_COMPARED = frozenset(
    {"reference", "references", "ground_truth", "gold_answer", "expected", "rule", "fact", "entity", "entity_class"}
)
"""Columns besides identifiers that others are compared with: a missing value written as a word would equal another."""
_MEASURED = frozenset({"int", "float", "bool", "ts"})
_BEGIN_NULL_WORDS = tuple({begin for word in NULL_WORDS for begin in (word[0], word[0].upper())})
NOT_GIVEN = NULL_WORDS | {"na", "n/a", "#n/a", "nil", "\\n"}
"""Words that a number, a yes or no, or a time is never."""
_A_FEW = 0.05
_NAMES_ROWS = re.compile(r"\brows? \d")


def checked(raw: pd.DataFrame, table: Table, source: str, columns: Mapping[str, str] | None = None) -> pd.DataFrame:
    """A typed copy of a raw frame that keeps the schema.

    - ``raw``: From :func:`evalbench.readers.files.raw_frame`; the index holds the row numbers shown in messages.
    - ``source``: Named in the message.
    - ``columns``: Renames: column in the file → column that we expect.

    Returns: Schema columns first, typed; columns that the schema does not name stay as text. Index 0, 1, ….

    Raises ``BadInput``: Lists every fault with its column and first rows.
    """
    frame, faults = check(raw, table, columns)
    if faults:
        raise BadInput.listing(f"{source}: {_count(len(faults), 'fault')}:", map(str, faults), FAULTS_SHOWN)
    return frame


def check(
    raw: pd.DataFrame, table: Table, columns: Mapping[str, str] | None = None
) -> tuple[pd.DataFrame, list[Fault]]:
    """As :func:`checked`, but the faults are returned."""
    import pandas as pd

    renamed, clashes = renamed_columns(raw, columns or {})
    faults = [Fault(name, what) for name, what in clashes.items()]
    out: dict[str, Any] = {}
    how = "counted as repeats" if table.column(TRIAL) else "counted like any other"
    of_answers = table.column("answer") or table.column("turn")  # what is found in a text may be found twice
    notes = copies(raw, how) if of_answers and not table.unique else []
    unknown = False
    for column in table.columns:
        if column.name not in renamed:
            if column.required:
                free = [str(c) for c in renamed.columns if table.column(str(c)) is None]
                plain = [name for name in free if column.type != "id" or not _holds_objects(renamed[name])]
                near = usual(column.name, plain) or _near(column.name, free) or _shared(column, table, renamed.columns)
                near = near or _asked(column.name, free, first=not unknown)
                unknown = unknown or "--map COLUMN=" in near
                faults.append(Fault(column.name, f"is missing; expected {column.expected()}{near}"))
            continue
        cells = renamed[column.name]
        if column.type == "id":
            cells, note = without_blanks(cells, column.name)
            notes += note
        elif column.type == "texts":
            cells, note = lists_without_nulls(cells, column.name)
            notes += _many_nulls(note, renamed[column.name])
        if column.type in _MEASURED and column.empty_ok:
            cells, note = without_null_words(cells, column.name)
            notes += note
        if column.type == "id" or column.name in _COMPARED:
            notes += _null_words(cells, column.name)
        out[column.name], found = typed(cells, column)
        faults += found
    for name in renamed.columns:
        if name not in out and table.column(str(name)) is None:
            out[str(name)] = as_texts(renamed[name])
    frame = pd.DataFrame(out, index=raw.index)
    faults += _value_faults(frame, table)
    frame = frame.reset_index(drop=True)
    frame.attrs["notes"] = notes
    return frame, faults


def counted_as(faults: Iterable[str], sheets: Iterable[str]) -> str:
    """How rows are counted, for the head of a message that names rows of tables out of sheets; else nothing.

    Examples
    --------
    >>> counted_as(["items.csv: column score: expected a number (row 3)"], ["items"])
    " (rows as a spreadsheet counts them: a CSV's header is row 1)"
    >>> counted_as(["items.csv: column score: is missing"], ["items"]), counted_as(["line 3"], [])
    ('', '')
    """
    if not any(sheets) or not any(_NAMES_ROWS.search(fault) for fault in faults):
        return ""
    return " (rows as a spreadsheet counts them: a CSV's header is row 1)"


def _holds_objects(cells: pd.Series) -> bool:
    return cells.dtype == object and any(isinstance(cell, (dict, list)) for cell in cells)


def _many_nulls(notes: list[str], cells: pd.Series) -> list[str]:
    """The note on nulls in lists: of the first rank where they are more than a few of all that is listed."""
    if not notes:
        return []
    listed = [one for cell in cells if isinstance(cell, list) for one in cell]
    n = sum(one is None or one != one for one in listed)
    short = f"{n:,} of {counted(len(listed), 'text')} in the lists of column {cells.name} are null and were left out"
    return [Note("unscored", short, text) if n > _A_FEW * len(listed) else text for text in notes]


def without_null_words(cells: pd.Series, name: str) -> tuple[pd.Series, list[str]]:
    """Cells of numbers or times, the words for nothing in them empty, and a note where there were some.

    Examples
    --------
    >>> import pandas as pd
    >>> without_null_words(pd.Series(["0.5", "NULL", "n/a"]), "mark")[1]
    ['column mark: 2 cells that say null, n/a were read as empty']
    """
    import pandas as pd

    if isinstance(cells.dtype, pd.StringDtype):
        words = cells.str.strip().str.casefold()
    elif cells.dtype == object:
        words = cells.map(lambda cell: cell.strip().casefold() if isinstance(cell, str) else None)
    else:
        return cells, []
    said = words.isin(NOT_GIVEN)
    if not said.any():
        return cells, []
    listed = ", ".join(dict.fromkeys(words[said]))
    read = "was" if said.sum() == 1 else "were"
    return cells.mask(said, None), [
        f"column {name}: {counted(int(said.sum()), 'cell')} that say{'s' if read == 'was' else ''} {listed} {read} read as empty"
    ]


def _null_words(cells: pd.Series, name: str) -> list[str]:
    """A note where more than a few cells of a column are the word nan, None or null, which equals itself."""
    import pandas as pd

    if isinstance(cells.dtype, pd.StringDtype):
        words = cells.str.strip()
        words = words[words.str.startswith(_BEGIN_NULL_WORDS).fillna(False)]
        n = int(words.str.rstrip(".").str.lower().isin(NULL_WORDS).sum())
    else:
        n = sum(map(is_null_word, cells)) if cells.dtype == object else 0
    if n <= max(1, _A_FEW * len(cells)):
        return []
    return [
        Note("unmatched", f"{n:,} of {counted(len(cells), 'cell')} of column {name} are the word nan, None or null")
    ]


def _value_faults(frame: pd.DataFrame, table: Table) -> list[Fault]:
    """Ranges, choices and uniqueness, by pandera."""
    import pandera.pandas as pa

    fields, wording = {}, {}
    faults: list[Fault] = []
    for column in table.columns:
        if column.name not in frame:
            continue
        rules = []
        if column.low is not None:
            rules.append(pa.Check.ge(column.low, name="range"))
        if column.high is not None:
            rules.append(pa.Check.le(column.high, name="range"))
        if column.choices:
            allowed = [*column.choices, *([""] if column.empty_ok else [])]
            rules.append(pa.Check.isin(allowed, name="choices"))
        if rules:
            fields[column.name] = pa.Column(None, rules, nullable=True)
            wording[column.name] = f"expected {column.expected()}"
        if column.groups and (n := frame[column.name].nunique()) > MOST_GROUPS:
            what = f"holds {n} different values, at most {MOST_GROUPS} are judged in one run: if each row has its own, "
            faults.append(Fault(column.name, what + "rename or drop the column; else divide the rows among runs"))
    faults += (
        _pandera_faults(frame, pa.DataFrameSchema(fields), wording, {c.name for c in table.columns if c.choices})
        if fields
        else []
    )
    keys = [key for key in table.unique if key in frame]
    needed = {column.name for column in table.columns if column.required}
    if keys and not needed & set(table.unique) - set(keys):
        doubled = _doubled(frame, keys)
        if doubled.any():
            doubled &= ~(frame[keys] == "").any(axis=1)
        if doubled.any():
            first = json.dumps("|".join(map(str, frame.loc[doubled, keys].iloc[0])), ensure_ascii=False)
            what = "is duplicated" if len(keys) == 1 else "are duplicated together"
            others = [key for key in table.unique if key not in frame]
            if others and (number := _numbered_twice(frame, keys, table)):
                what += (
                    f"; a number of {number} appears twice: give each row of the same {' and '.join(keys[:-1])} its own"
                )
            elif others:
                free = [str(c) for c in frame.columns if table.column(str(c)) is None]
                meant_by = "".join(usual(other, free) for other in others)
                what += f"; a column {' or '.join(others)} would tell them apart{meant_by}"
            if table.no_trials and TRIAL in frame:
                what += f"; a column {TRIAL} does not: {table.no_trials}"
            faults.append(Fault(", ".join(keys), what, tuple(frame.index[doubled]), clipped(first)))
    return faults


def _doubled(frame: pd.DataFrame, keys: Sequence[str]) -> pd.Series:
    """Which rows have the same keys as another; whether there are any takes half the time."""
    import pandas as pd

    if len(keys) == 1 and frame[keys[0]].is_unique:
        return pd.Series(False, index=frame.index)
    return frame.duplicated(keys, keep=False)


def _numbered_twice(frame: pd.DataFrame, keys: Sequence[str], table: Table) -> str:
    """The column of numbers whose repeats a further column would not explain: no row has the first number of its group twice."""
    column = table.column(keys[-1])
    if column is None or column.type != "int" or len(keys) < 2:
        return ""
    first = frame[keys[-1]] == frame.groupby(list(keys[:-1]), dropna=False)[keys[-1]].transform("min")
    return "" if frame[first].duplicated(keys).any() else keys[-1]


def _pandera_faults(
    frame: pd.DataFrame, schema: Any, wording: Mapping[str, str], words: Collection[str]
) -> list[Fault]:
    import pandera.errors

    try:
        schema.validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as errors:
        cases = errors.failure_cases
        return [
            Fault(
                str(name),
                wording[str(name)],
                tuple(sorted(set(rows["index"]))),
                _found(rows["failure_case"], str(name) in words),
            )
            for name, rows in cases.groupby("column", sort=False)
        ]
    return []


def _found(values: pd.Series, words: bool) -> str:
    """The first value that is wrong; of words of which only some are known, all that are not."""
    each = [clipped(_plain_number(value)) for value in (values.unique() if words else values.iloc[:1])]
    return ", ".join(each[:MOST_NAMED]) + (f" and {len(each) - MOST_NAMED} more" if len(each) > MOST_NAMED else "")


def _plain_number(value: Any) -> str:
    """A whole number as the file has it, although a column with empty cells holds floats."""
    return as_text(int(value) if isinstance(value, float) and value.is_integer() else value)


def _shared(column: Column, table: Table, present: Collection[Any]) -> str:
    """What an identifier is for, where rows of several groups were not numbered."""
    if column is not table.columns[0] or column.name not in NUMBERED:
        return ""
    asked = next((name for name in QUESTIONS[:2] if table.column(name)), "")
    shown = [name for name in QUESTIONS if name in present]
    questions = f", or the questions? (--map COLUMN={asked})" if asked and asked not in present else ""
    repeated = f"; {' and '.join(shown)} cannot show it: cells are empty, or repeat within a model" if shown else ""
    return (
        f"; outputs for the same input share one: which column has it? (--map COLUMN={column.name}){questions}{repeated}; "
        f"otherwise add a column {column.name} that is equal for rows of the same input"
    )


def _asked(name: str, free: Sequence[str], *, first: bool) -> str:
    """The option for a column that none is probably meant by; the first such fault lists those that there are."""
    if not free:
        return ""
    more = f" and {len(free) - MOST_NAMED} more" if len(free) > MOST_NAMED else ""
    listed = f"; which one has it: {', '.join(map(clipped, free[:MOST_NAMED]))}{more}?" if first else ""
    return f"{listed} (--map COLUMN={name})"


def _near(name: str, others: Sequence[Any]) -> str:
    from difflib import get_close_matches

    an_id = name.endswith("_id")
    lowered = {low: str(other) for other in others if (low := str(other).lower()).endswith("_id") == an_id}
    found = [lowered[near] for near in get_close_matches(name, lowered, n=1, cutoff=0.65)]
    return meant(found[0], name) if found else ""


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")
