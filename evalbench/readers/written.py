"""Cells of a sheet or a frame as what was meant by them: lists that are written as text, decimal commas, rows without ids."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core.wording import counted
from evalbench.readers.decoded import ending
from evalbench.readers.files import WRITTEN, parsed_json
from evalbench.readers.renames import renamed_columns
from evalbench.readers.schema import STREAM, TRIAL, Column, Table

if TYPE_CHECKING:
    import pandas as pd

_COPIES_SHOWN = 5
NUMBERED = ("id", "doc_id")
"""Names of first columns that rows can do without, where each row stands for itself."""
QUESTIONS = ("prompt", "question", "reference", "ground_truth", "context", "contexts")
"""Columns whose cells show which rows of several models belong together; the surest first."""

_BETWEEN = "\x1f"  # older pandas takes texts for equal that are so up to a NUL
_TEXT = r"""(?:'(?:[^'\\\n]|\\[^\n])*'|"(?:[^"\\\n]|\\[^\n])*"|None)"""
_PYTHON_LIST = re.compile(rf"\s*\[\s*(?:{_TEXT}(?:\s*,\s*{_TEXT})*(?:\s*,)?\s*)?\]\s*")
_COMMA = re.compile(r"[-+]?\d+,\d+")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
_PLAIN = re.compile(r"[-+]?\d+")
_OF_A_FILE = re.compile(r":\d+$")  # a row of several files, such as part-0.parquet:12


def as_meant(frame: pd.DataFrame, table: Table, renames: Mapping[str, str]) -> tuple[pd.DataFrame, list[str]]:
    """A raw frame with the lists and numbers of its text cells read, and a note for each column where something was guessed.

    - ``table``: Says which columns hold lists and which numbers.
    - ``renames``: Column of the frame → column of the table.
    """
    # Beside semicolons a comma is a decimal one; elsewhere 1,234 could be a thousand and is left as it is.
    separator = str(frame.attrs.get("separator", ""))
    changed: dict[Any, Any] = {}
    notes: list[str] = []
    for name in frame.columns:
        own = str(name).strip()
        column = table.column(renames.get(own, own))
        cells = frame[name]
        if column is not None and column.type == "texts":
            changed[name], found = lists_of(cells)
        elif column is None or column.type in ("float", "int"):
            changed[name], found = _numbers(cells, separator)
        else:
            continue
        notes += [f"column {own}: {note}" for note in found]
    return frame.assign(**{str(name): values for name, values in changed.items()}), notes


def value_of(text: str) -> Any:
    """A list or an object that a text writes in JSON, or as Python does; None for any other text.

    Examples
    --------
    >>> value_of("[1, 2]"), value_of("{'a': None}"), value_of("[a")
    ([1, 2], {'a': None}, None)
    """
    own = text.strip()
    if not own.startswith(("[", "{", "(")):
        return None
    try:
        return parsed_json(own)
    except ValueError:
        pass
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an escape that Python does not know
            value = parsed_json(json.dumps(ast.literal_eval(own)))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, (list, dict)) else None


def lists_of(cells: pd.Series) -> tuple[pd.Series, list[str]]:
    """Texts that are lists of texts as lists; a column that has lists already is taken as it is."""
    import pandas as pd

    if isinstance(cells.dtype, pd.StringDtype):
        begins_so = bool(cells.str.lstrip().str.startswith("[").any())
    else:
        begins_so = any(isinstance(cell, str) and cell.lstrip().startswith("[") for cell in cells)
    if not begins_so:
        return cells, []
    if any(isinstance(cell, list) for cell in cells):
        return cells, []
    values, python, texts, nulls = [], 0, 0, 0
    for cell in cells:
        value = cell
        if isinstance(cell, str) and cell.lstrip().startswith("["):
            listed = _json_list(cell)
            if listed is None and (listed := _python_list(cell)) is not None:
                python += None not in listed
            texts += listed is None
            nulls += listed is not None and None in listed
            value = cell if listed is None else [text for text in listed if text is not None]
        values.append(value)
    notes = [f"{_cells(python)} read as a list in Python's form, such as ['a', 'b']"] if python else []
    notes += (
        [f'{_cells(texts)} read as a text, although it begins with "[": it is not a list of texts'] if texts else []
    )
    notes += [f"{_cells(nulls)} read without the nulls of its list"] if nulls else []
    return pd.Series(values, index=cells.index, dtype=object), notes


def _cells(n: int) -> str:
    return f"{n} cell was" if n == 1 else f"{n} cells were each"


def _json_list(text: str) -> list[str | None] | None:
    """A list of texts, in which some may be null."""
    try:
        value = parsed_json(text)
    except ValueError:
        return None
    return value if isinstance(value, list) and all(v is None or isinstance(v, str) for v in value) else None


def _python_list(text: str) -> list[str | None] | None:
    """A list of quoted texts with commas between them; what numpy prints has none and would run together."""
    if not _PYTHON_LIST.fullmatch(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an escape that Python does not know
            value = ast.literal_eval(text.strip())
        "".join(filter(None, value)).encode()
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return list(value)


def _numbers(cells: pd.Series, separator: str) -> tuple[pd.Series, list[str]]:
    """Numbers with a decimal comma, where all of a column's are whole or have one."""
    import pandas as pd

    if isinstance(cells.dtype, pd.StringDtype):
        commas = cells[cells.str.contains(",", regex=False, na=False)].str.strip().tolist()
    else:
        commas = [cell.strip() for cell in cells if isinstance(cell, str) and "," in cell]
    if not commas or not all(map(_COMMA.fullmatch, commas)):
        return cells, []
    rest = [cell.strip() for cell in cells if isinstance(cell, str) and "," not in cell and cell.strip()]
    if not all(map(_PLAIN.fullmatch, rest)) or any(isinstance(cell, (list, dict, bool)) for cell in cells):
        return cells, []
    if separator != ";" and all(map(_THOUSANDS.fullmatch, commas)):
        return cells, []
    read = cells.map(lambda cell: cell.replace(",", ".") if isinstance(cell, str) else cell)
    return read, [
        f"the comma in {len(commas)} {'number' if len(commas) == 1 else 'numbers'} was read as a decimal comma"
    ]


def numbered(
    frames: Mapping[str, pd.DataFrame], schema: Mapping[str, Table], renames: Mapping[str, str]
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Tables whose rows had no ids with ids, and what was done, by table.

    Rows are numbered only where each can stand for itself: no other column of the table is an identifier, apart from one
    with a single value, and no other table names rows by the column.  Rows of several models are numbered by their questions,
    where no model has one twice.
    """
    out, notes = dict(frames), {}
    for name, table in schema.items():
        key = table.columns[0]
        if name not in frames or key.name not in NUMBERED or not key.required:
            continue
        frame = frames[name]
        renamed = renamed_columns(frame, renames)[0]
        names = set(map(str, renamed.columns))
        others = [c for table_name, other in frames.items() if table_name != name for c in map(str, other.columns)]
        if key.name in {n.casefold() for n in names} or key.name in others:
            continue
        by, places = _by_question(renamed, groups) if (groups := _several(renamed, table, key)) else ([], [])
        if groups and not by:
            continue
        files = not by and all(isinstance(row, str) and not _OF_A_FILE.search(row) for row in frame.index)
        numbers = places if by else range(1, len(frame) + 1)
        ids = [row.rpartition(".")[0] for row in frame.index] if files else numbered_ids(numbers)
        rest = frame.drop(columns=[c for c in frame.columns if str(c).strip() == key.name])
        rest.insert(0, key.name, ids)
        out[name] = rest
        notes[name] = (
            f"no column {key.name}: "
            + (
                "the names of the files were taken"
                if files
                else f"rows share a number where {' and '.join(by)} are the same, {min(ids)} to {max(ids)}"
                if len(by) > 1
                else f"rows share a number where {by[0]} is the same, {min(ids)} to {max(ids)}"
                if by
                else f"the rows were numbered in their order, {ids[0]} to {ids[-1]}"
            )
            + f" (--map COLUMN={key.name} takes a column instead)"
            + "".join(f"; {said}" for said in copies(frame, "counted like any other"))
        )
    return out, notes


def copies(frame: pd.DataFrame, how: str) -> list[str]:
    """A note on rows that are exact copies of others, where there are some.

    - ``how``: How they count, in words.

    Examples
    --------
    >>> import pandas as pd
    >>> copies(pd.DataFrame({"a": ["x", "y", "x"], "b": [["z"], ["z"], ["z"]]}, index=[2, 3, 4]), "counted as repeats")
    ['1 row is an exact copy of another (row 4), counted as repeats']
    """
    rows = frame if len(frame.columns) and STREAM not in frame.attrs else frame.iloc[:0]
    for place in range(rows.shape[1]):  # few rows are left after the first columns that tell rows apart
        rows = rows[_hashable(rows.iloc[:, place]).duplicated(keep=False)]
        if not len(rows):
            return []
    found = rows.index[rows.apply(_hashable).duplicated()]
    if not len(found):
        return []
    several = len(found) > 1
    what = f"{counted(len(found), 'row')} {'are exact copies of others' if several else 'is an exact copy of another'}"
    shown = ", ".join(map(str, found[:_COPIES_SHOWN])) + f" and {len(found) - _COPIES_SHOWN} more" * (
        len(found) > _COPIES_SHOWN
    )
    return [f"{what} (row{'s' * several} {shown}), {how}"]


def _hashable(cells: pd.Series) -> pd.Series:
    """Cells as they are, or their texts where some are lists or objects."""
    return cells.astype(str) if cells.dtype == object and any(isinstance(c, (list, dict)) for c in cells) else cells


def numbered_ids(numbers: Sequence[int]) -> list[str]:
    """Names of rows by their numbers, which sort as these do.

    Examples
    --------
    >>> numbered_ids([1, 12])
    ['q0001', 'q0012']
    """
    import pandas as pd

    width = max(4, len(str(len(numbers))))
    return pd.Series(numbers).astype("str").str.zfill(width).radd("q").tolist()


def _several(frame: pd.DataFrame, table: Table, key: Column) -> list[Column]:
    """The further identifiers of more than one value."""
    held = [(name, table.column(str(name))) for name in frame.columns]
    ids = [(name, column) for name, column in held if column is not None and column is not key and column.type == "id"]
    return [column for name, column in ids if frame[name].astype(str).nunique() > 1]


def _by_question(frame: pd.DataFrame, groups: Sequence[Column]) -> tuple[list[str], list[int]]:
    """The columns that show which rows of several systems belong together, and each row's number; else nothing.

    As few of :data:`QUESTIONS` as it takes until no system has a question twice.
    """
    import pandas as pd

    if not all(column.groups or column.name == TRIAL for column in groups):
        return [], []
    systems = frame[[column.name for column in groups]].astype(str).agg(_BETWEEN.join, axis=1)
    taken: list[str] = []
    cells: list[Any] = []
    for name in [name for name in QUESTIONS if name in frame]:
        taken.append(name)
        cells.append(frame[name].map(lambda cell: "" if _blank(cell) else repr(cell)))
        asked = pd.concat(cells, axis=1).agg(_BETWEEN.join, axis=1)
        unclear = asked.str.strip(_BETWEEN) == ""
        if not unclear.any() and not pd.DataFrame({"system": systems, "asked": asked}).duplicated().any():
            return taken, (pd.factorize(asked)[0] + 1).tolist()
    return [], []


def _blank(cell: Any) -> bool:
    return cell is None or cell != cell or cell in ("", [])


def empty_answers(frame: pd.DataFrame, table: Table, source: str) -> list[str]:
    """How many empty cells of a file that cannot tell a null from an empty text were read as empty answers."""
    if ending(Path(source)) not in WRITTEN:
        return []
    counts = {c.name: int((frame[c.name] == "").sum()) for c in table.columns if c.keep_null and c.name in frame}
    return [
        f"{source}: {n} empty {'cell' if n == 1 else 'cells'} of column {name} {'was' if n == 1 else 'were'} read as "
        f"{'an empty answer' if n == 1 else 'empty answers'}"
        for name, n in counts.items()
        if n
    ]


def has_numbers(frame: pd.DataFrame) -> bool:
    """Whether columns are numbers already, as those of a TREC file are, whatever its name ends in."""
    return any(dtype.kind in "if" for dtype in frame.dtypes)
