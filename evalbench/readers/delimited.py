"""CSV and TSV to raw frames: rows as even as the header, no cell changed; another separator is found, with a note."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evalbench.core.wording import listed
from evalbench.errors import BadInput
from evalbench.readers.frames import more_than_once

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_EXCEL = re.compile(r"sep=(.)\r?\n")
_MOST_AT_ONCE = 2**31 - 2**12
"""Bytes that Arrow reads as one block."""
_END = "\x04"
"""Cells of a row behind the last one; a quote that is not closed would swallow it."""


class Rows(NamedTuple):
    """The header, and the rows that have more or fewer cells."""

    header: list[str]
    uneven: list[str]
    separator: str


def delimited_frame(path: Path, raw: bytes, expected: str) -> tuple[pd.DataFrame, list[str]]:
    """The cells of a delimited text in UTF-8, and a note where another separator than the ending's was found.

    Raises ``BadInput`` for rows that are longer or shorter than the header, quotes without end, columns that are
    doubled, no rows.
    """
    import pandas as pd

    csv.field_size_limit(max(len(raw), csv.field_size_limit()))
    declared = _EXCEL.match(raw[:16].decode("utf-8", "ignore"))
    raw = raw[len(declared[0].encode()) :] if declared else raw
    separator = declared[1] if declared else _likelier(raw, expected)
    even = _even(raw, separator)
    rows = Rows(list(even.columns), [], separator) if even is not None else _found(path, raw, separator)
    if rows.uneven:
        raise BadInput.listing(
            f"{path}: the header has {len(rows.header)} cells, these rows have more or fewer (quote a cell that holds "
            f"{rows.separator!r} or a line break):",
            rows.uneven,
        )
    frame = _as_texts(path, raw, rows.separator) if even is None else even
    doubled = more_than_once(rows.header)
    if doubled:
        raise BadInput(f"{path}: column {', '.join(doubled)} appears more than once in the header")
    frame.index = pd.RangeIndex(2, len(frame) + 2)
    frame, notes = _without_headers(frame, rows.header)
    if frame.empty:
        raise BadInput(f"{path}: a header but no rows")
    frame.attrs["separator"] = rows.separator
    named = SEPARATORS.get(rows.separator, repr(rows.separator))
    return frame, [*([] if rows.separator == expected else [f"its cells are separated by {named}"]), *notes]


def _likelier(raw: bytes, expected: str) -> str:
    """The separator that divides the header into more cells than the expected one, where all rows are as long by it; else that one."""
    header = raw[: raw.find(b"\n")].decode("utf-8", "replace").strip()
    cells = {separator: len(next(csv.reader([header], delimiter=separator), [])) for separator in _divides(header)}
    other = max(cells, key=lambda separator: cells[separator], default=expected)
    more = expected in cells and cells[other] > max(2, cells[expected])
    return other if more and _even(raw, other) is not None else expected


def _divides(header: str) -> list[str]:
    """The separators that a header on a line of its own holds."""
    return [] if "\r" in header else [separator for separator in SEPARATORS if separator in header]


def _even(raw: bytes, separator: str) -> pd.DataFrame | None:
    """The cells of a table of several columns whose rows are all as long as a header of different names; nothing for any other."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    if len(separator) != 1 or not separator.isascii() or b"\0" in raw or len(raw) >= _MOST_AT_ONCE:
        return None
    first = raw[: raw.find(b"\n")].removesuffix(b"\r").decode("utf-8", "replace")
    header = [] if "\r" in first else next(csv.reader([first], delimiter=separator), [])
    if len(header) < 2 or not all(name.strip() for name in header) or len({*header}) < len(header):
        return None
    closed = raw + b"\n" + separator.join([_END] * len(header)).encode()
    try:
        table = arrow.read_csv(
            pa.BufferReader(closed),
            read_options=arrow.ReadOptions(use_threads=False, block_size=len(closed)),
            parse_options=arrow.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(header, pa.large_string()),
                check_utf8=False,  # whoever calls has read it as UTF-8
            ),
        )
    except pa.ArrowInvalid:
        return None
    last = [column[-1].as_py() for column in table.columns]
    return table[:-1].to_pandas() if table.column_names == header and last == [_END] * len(header) else None


def _as_texts(path: Path, raw: bytes, separator: str) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_csv(
            io.BytesIO(raw),
            sep=separator,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            index_col=False,
            skip_blank_lines=True,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise BadInput(f"{path}: not a table: {str(error).strip()}") from error


def _without_headers(frame: pd.DataFrame, header: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """The rows but those that are the header again, as where files were put one behind another; and how many these were."""
    again = frame.iloc[:, 0] == header[0]
    for place in range(1, len(header) if again.any() else 1):
        again &= frame.iloc[:, place] == header[place]
    if len(header) < 2 or not again.any():
        return frame, []
    places = listed([str(row) for row in frame.index[again]])
    which = f"row {places} is" if again.sum() == 1 else f"rows {places} are"
    return frame[~again], [f"{which} the header again, left out: were files put one behind another?"]


def _found(path: Path, raw: bytes, expected: str) -> Rows:
    """The rows by the expected separator, or by another that divides the header where that one does not fit."""
    try:
        rows = _rows(raw, expected)
    except csv.Error as error:
        raise BadInput(f"{path}: not a table: {error}") from error
    if len(rows.header) > 1 and not rows.uneven:
        return rows
    others = []
    for separator in SEPARATORS:
        if separator != expected and any(separator in cell for cell in rows.header):
            try:
                others.append(_rows(raw, separator))
            except csv.Error:
                continue
    whole = [other for other in others if len(other.header) > 1 and not other.uneven]
    if not whole and len(rows.header) == 1:  # its rows are reported by the separator of its header
        whole = [other for other in others if len(other.header) > 1]
    return max(whole, key=lambda other: len(other.header), default=rows)


def _rows(raw: bytes, separator: str) -> Rows:
    """Counted before pandas reads them, which cuts long rows off and fills up short ones."""
    uneven: list[str] = []
    header: list[str] = []
    number = last = 0
    lines = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")
    for number, row in enumerate(csv.reader(lines, delimiter=separator), start=1):
        header = header or row
        if (more := len(row) - len(header)) and "".join(row).strip():
            uneven.append(f"row {number}: {len(row)}, {abs(more)} too {'many' if more > 0 else 'few'}")
            last = number
    if uneven and last == number and _is_open(raw, separator):
        uneven[-1] = f'row {number}: a quote (") in it opens a cell and nothing closes it'
    return Rows(header, uneven, separator)


def _is_open(raw: bytes, separator: str) -> bool:
    """Whether a quote that opens a cell is not closed: it takes in all rows up to the end."""
    try:
        for _ in csv.reader(
            io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline=""), delimiter=separator, strict=True
        ):
            pass
    except csv.Error as error:
        return "end of data" in str(error)
    return False
