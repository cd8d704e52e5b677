"""A sheet of Excel to a raw frame; needs openpyxl, the extra ``xlsx``."""

from __future__ import annotations

import datetime
import io
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.readers.frames import more_than_once, rows_text
from evalbench.readers.parquet import MOST_CELLS

if TYPE_CHECKING:
    import pandas as pd

_OLD_OR_LOCKED = b"\xd0\xcf\x11\xe0"
INSTALL = "pip install 'evalbench[xlsx]'"


def tables_of_sheets(path: Path, names: Collection[str]) -> dict[str, pd.DataFrame]:
    """The sheets of a workbook that have the names of tables; nothing where fewer than two have, or it is no workbook."""
    if path.suffix.lower() != ".xlsx":
        return {}
    raw = path.read_bytes()
    own = {str(sheet.title).strip().casefold(): str(sheet.title) for sheet in _book(path, raw).worksheets}
    found = [name for name in names if name in own]
    return {name: excel_frame(path, raw, own[name])[0] for name in found} if len(found) > 1 else {}


def excel_frame(path: Path, raw: bytes, title: str = "") -> tuple[pd.DataFrame, list[str]]:
    """A sheet of a workbook, by default the first, its header in the first row that is not empty; rows are counted as Excel counts them.

    Raises ``BadInput``: Without openpyxl, for what is no workbook, a sheet without rows, columns that are doubled,
    cells with an error.
    """
    import pandas as pd

    book = _book(path, raw)
    try:
        sheet = book[title] if title else book.worksheets[0]
        rows = _rows(path, sheet)
    except BadInput:
        raise
    except Exception as error:
        raise BadInput(f"{path}: not a workbook of Excel ({type(error).__name__}: {error})") from error
    if not rows:
        raise BadInput(f"{path}: the sheet {sheet.title!r} is empty")
    header, *below = rows.items()
    names = ["" if cell is None else str(cell) for cell in header[1]]
    used = [i for i, name in enumerate(names) if name.strip() or any(i < len(r) and r[i] is not None for _, r in below)]
    if nameless := [str(i + 1) for i in used if not names[i].strip()]:
        raise BadInput(f"{path}: column {', '.join(nameless)} of the sheet has no name in row {header[0]}")
    if doubled := more_than_once(names[i] for i in used):
        raise BadInput(f"{path}: column {', '.join(doubled)} appears more than once in the header")
    if not below:
        raise BadInput(f"{path}: a header but no rows")
    index = [number for number, _ in below]
    cells = {names[i]: [_value(row[i]) if i < len(row) else "" for _, row in below] for i in used}
    faults = []
    for name, values in cells.items():
        wrong = [number for number, value in zip(index, values, strict=True) if isinstance(value, _Error)]
        if wrong:
            faults.append(f"column {name}: a cell holds an error of the sheet, such as #N/A {rows_text(wrong)}")
    if faults:
        raise BadInput.listing(f"{path}: cells that have no value:", faults)
    frame = pd.DataFrame({name: pd.Series(values, dtype=object, index=index) for name, values in cells.items()})
    n = len(book.sheetnames)
    return frame, [f"its first sheet {sheet.title!r} of {n} was read"] if n > 1 and not title else []


def _book(path: Path, raw: bytes) -> Any:
    try:
        import openpyxl
    except ImportError as error:
        raise BadInput(
            f"{path}: a workbook of Excel is read with openpyxl, which is not installed: {INSTALL}, "
            "or save the sheet in Excel as CSV UTF-8"
        ) from error
    if raw.startswith(_OLD_OR_LOCKED):
        raise BadInput(
            f"{path}: a workbook with a password, or of Excel before 2007; save it as .xlsx without a password"
        )
    try:
        return openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
    except Exception as error:
        raise BadInput(f"{path}: not a workbook of Excel, or a damaged one ({error})") from error


class _Error(str):
    """A cell that shows #N/A or the like."""


def _rows(path: Path, sheet: Any) -> dict[int, list[Any]]:
    """Rows that are not empty, by number."""
    rows, cells = {}, 0
    for number, row in enumerate(sheet.iter_rows(), start=1):
        values = [_Error(cell.value) if cell.data_type == "e" else cell.value for cell in row]
        if any(value is not None for value in values):
            rows[number] = values
            cells += len(values)
        if cells > MOST_CELLS:
            raise BadInput(f"{path}: more than {MOST_CELLS} cells; save the columns that the study uses as CSV UTF-8")
    return rows


def _value(cell: Any) -> Any:
    if cell is None:
        return ""
    return (
        cell.isoformat()
        if isinstance(cell, (datetime.datetime, datetime.date, datetime.time))
        else (str(cell) if isinstance(cell, datetime.timedelta) else cell)
    )
