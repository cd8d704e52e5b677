"""Cells to values of a column's type: every cell was read as text or JSON; what does not fit is a fault with its rows."""

from __future__ import annotations

import gc
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalbench.readers.files import parsed_json
from evalbench.readers.schema import Column

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

ROWS_SHOWN = 5
_LOOKED_AT = 1000
_TRUE = {"1", "true", "yes", "1.0", "да", "是"}
_FALSE = {"0", "false", "no", "0.0", "нет", "否"}
_DAY_FIRST = r"\d{1,2}\.\d{1,2}\.\d{4}(?:[ T]+\d{1,2}:\d{2}(?::\d{2})?)?"
"""Dates as they are written with points, of which the day is always first."""


@dataclass(frozen=True)
class Fault:
    """One fault of one column and the rows that have it.

    - ``column``: Its name, or those of several after commas.
    - ``given``: What the file calls it, where that is another name.
    """

    column: str
    what: str
    rows: tuple[int, ...] = ()
    sample: str = ""
    hint: str = ""
    given: str = ""

    def as_given(self, read_as: Mapping[str, str]) -> Fault:
        """The fault under the names of the file, where columns of other names were read as its own (source → column).

        Examples
        --------
        >>> str(Fault("mark", "empty", (3,)).as_given({"success": "mark"}))
        'column success (read as mark): empty (row 3)'
        """
        sources: dict[str, list[str]] = {}
        for source, column in read_as.items():
            sources.setdefault(column, []).append(source)
        own = self.column.split(", ")
        given = [", ".join(sources.get(name, [name])) for name in own]
        return self if given == own else replace(self, given=", ".join(given))

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.rows[:ROWS_SHOWN]))
        more = f" and {len(self.rows) - ROWS_SHOWN} more" if len(self.rows) > ROWS_SHOWN else ""
        where = f" ({'row' if len(self.rows) == 1 else 'rows'} {shown}{more})" if self.rows else ""
        found = f", found {self.sample}" if self.sample else ""
        name = f"{self.given} (read as {self.column})" if self.given else self.column
        return f"column {name}: {self.what}{found}{where}{self.hint and f'; {self.hint}'}"


def without_blanks(cells: pd.Series, name: str) -> tuple[pd.Series, list[str]]:
    """Identifiers without the blanks at their ends, and a note where some had them.

    Examples
    --------
    >>> import pandas as pd
    >>> cells, notes = without_blanks(pd.Series(["D0 ", "D1"]), "text_id")
    >>> cells.tolist(), notes
    (['D0', 'D1'], ['column text_id: 1 identifier has blanks at an end ("D0 "); it is read without them'])
    """
    import pandas as pd

    if isinstance(cells.dtype, pd.StringDtype):
        bare = cells.str.strip()
    elif _numeric(cells):
        return cells, []
    else:
        bare = cells.map(lambda v: v.strip() if isinstance(v, str) else v)
    held = cells.notna() & (bare != cells).fillna(False).astype(bool)
    if not held.any():
        return cells, []
    n, first = int(held.sum()), json.dumps(clipped(str(cells[held].iloc[0])), ensure_ascii=False)
    words = "identifier has" if n == 1 else "identifiers have"
    return bare, [
        f"column {name}: {n} {words} blanks at an end ({first}); {'it is' if n == 1 else 'they are'} read without them"
    ]


def lists_without_nulls(cells: pd.Series, name: str) -> tuple[pd.Series, list[str]]:
    """Lists without their nulls, numbers in them as texts, and a note with the rows of nulls.

    Examples
    --------
    >>> import pandas as pd
    >>> cells, notes = lists_without_nulls(pd.Series([["a", None], ["b", 7]], index=[1, 2]), "samples")
    >>> cells.tolist(), notes
    ([['a'], ['b', '7']], ['column samples: 1 null was left out of the lists (row 1)'])
    """
    import pandas as pd

    if cells.dtype != object or not any(type(c) is list and any(type(v) is not str for v in c) for c in cells):
        return cells, []
    with_nulls = cells.map(lambda cell: isinstance(cell, list) and any(v is None or v != v for v in cell))
    n = sum(sum(v is None or v != v for v in cell) for cell in cells if isinstance(cell, list))
    plain = [_listed(cell) if isinstance(cell, list) else cell for cell in cells]
    out = pd.Series(plain, index=cells.index, dtype=object)
    if not n:
        return out, []
    words = "1 null was" if n == 1 else f"{n} nulls were"
    return out, [str(Fault(name, f"{words} left out of the lists", tuple(cells.index[with_nulls])))]


def _listed(cell: list[Any]) -> list[Any]:
    kept = [v for v in cell if v is not None and v == v]
    return [as_text(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else v for v in kept]


def typed(cells: pd.Series, column: Column) -> tuple[pd.Series, list[Fault]]:
    """Cells as the column's type, and the cells that are not of it (left empty)."""
    import pandas as pd

    absent = absent_cells(cells)
    faults = []
    if not column.empty_ok and absent.any():
        faults.append(Fault(column.name, f"empty; expected {column.expected()}", tuple(cells.index[absent])))
    values, wrong = _CONVERT[column.type](cells, absent)
    if column.keep_null and cells.isna().any():
        values = pd.Series(values, index=cells.index, dtype=object).where(cells.notna(), None)
    if wrong.any():
        sample = clipped(as_text(cells[wrong].iloc[0]))
        faults.append(
            Fault(
                column.name,
                f"expected {column.expected()}",
                tuple(cells.index[wrong]),
                json.dumps(sample, ensure_ascii=False),
                column.hint,
            )
        )
    return pd.Series(values, index=cells.index), faults


def absent_cells(cells: pd.Series) -> pd.Series:
    """Which cells of a raw column are empty: null, ``""`` or not a number."""
    import pandas as pd

    if isinstance(cells.dtype, pd.StringDtype):
        return (cells.isna() | (cells == "")).astype(bool)
    return cells.isna() if _numeric(cells) else cells.map(_absent).astype(bool)


def _numeric(cells: pd.Series) -> bool:
    import pandas as pd

    return pd.api.types.is_numeric_dtype(cells.dtype) and not pd.api.types.is_bool_dtype(cells.dtype)


def _absent(value: Any) -> bool:
    return value is None or (value == "" if isinstance(value, str) else isinstance(value, float) and math.isnan(value))


def as_texts(cells: pd.Series) -> pd.Series | list[str]:
    """Cells of a raw column, each as :func:`as_text` has it."""
    import pandas as pd

    return (
        cells.fillna("")
        if isinstance(cells.dtype, pd.StringDtype)
        else [cell if type(cell) is str else as_text(cell) for cell in cells.tolist()]
    )


def as_text(value: Any) -> str:
    """A JSON value as the text that a CSV cell would hold."""
    if isinstance(value, str):
        return value
    if _absent(value):
        return ""
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return repr(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _texts_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    import pandas as pd

    if isinstance(cells.dtype, pd.StringDtype):
        return cells, absent & False
    values = [as_text(v) for v in cells]
    wrong = cells.map(lambda v: isinstance(v, (list, dict))) & ~absent
    return values, wrong


def _ids_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    import pandas as pd

    if isinstance(cells.dtype, pd.StringDtype):
        return cells, absent & False
    values = [as_text(v) for v in cells]
    return values, cells.map(lambda v: isinstance(v, (list, dict, float, bool))) & ~absent


def _numbers_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    import numpy as np
    import pandas as pd

    if _numeric(cells):
        plain = cells
    elif isinstance(cells.dtype, pd.StringDtype):
        plain = cells.where(~absent, None).astype(object)
    else:
        plain = cells.where(~cells.map(_no_number), "?").where(~absent, None)
    numbers = pd.to_numeric(plain, errors="coerce").astype(float)
    finite = pd.Series(np.isfinite(numbers.to_numpy()), index=numbers.index)
    return numbers.where(finite, np.nan), ~finite & ~absent


def _no_number(value: Any) -> bool:
    return isinstance(value, (bool, list, dict)) or (isinstance(value, int) and value.bit_length() > 1023)


def _integers_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    numbers, wrong = _numbers_of(cells, absent)
    # Beyond 2**53 a number that was read as a float may be its neighbour.
    wrong = wrong | (((numbers % 1 != 0) | (numbers.abs() > 2**53)) & ~absent)
    if absent.any() or wrong.any():
        return numbers.where(~wrong), wrong
    return numbers.astype("int64"), wrong


def _booleans_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    words = cells.map(lambda v: as_text(v).strip().lower())
    values = words.map(lambda w: 1.0 if w in _TRUE else 0.0 if w in _FALSE else math.nan).astype(float)
    return values, values.isna() & ~absent


def _json_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    return _parsed(cells, absent, lambda _: True, None)


def _spans_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    return _parsed(cells, absent, is_spans, [])


def _lists_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    import pandas as pd

    if isinstance(cells.dtype, pd.StringDtype):
        with uncollected():
            lists = _shared_lists(cells) if _repeat(cells) else [[cell] for cell in cells.tolist()]
        for place in absent.to_numpy().nonzero()[0]:
            lists[place] = []
        return pd.Series(lists, index=cells.index, dtype=object), absent & False
    values: list[Any] = []
    wrong = []
    for cell in cells:
        value = [as_text(cell)] if isinstance(cell, (str, int, float)) and not _absent(cell) else cell
        bad = not _absent(value) and not (isinstance(value, list) and all(isinstance(v, str) for v in value))
        values.append([] if bad or _absent(value) else value)
        wrong.append(bad)
    return pd.Series(values, index=cells.index, dtype=object), pd.Series(wrong, index=cells.index, dtype=bool)


def _repeat(cells: pd.Series) -> bool:
    """Whether texts seem to repeat, by the first of them."""
    first = cells.iloc[:_LOOKED_AT]
    return 2 * first.nunique() < len(first)


def _shared_lists(cells: pd.Series) -> np.ndarray:
    """A list for each different text, which is that of all its cells."""
    import numpy as np

    codes, texts = cells.factorize()
    lists = np.fromiter(([text] for text in [*texts, ""]), dtype=object)
    return np.take(lists, codes)


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the search for garbage, which takes most of the time in which a million small lists are made."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _parsed(cells: pd.Series, absent: pd.Series, good: Any, empty: Any) -> tuple[Any, pd.Series]:
    import pandas as pd

    values: list[Any] = []
    wrong = []
    for cell, gone in zip(cells, absent, strict=True):
        value, bad = cell, False
        if isinstance(cell, str) and not gone:
            try:
                value = parsed_json(cell)
            except ValueError:
                bad = True
        bad = bad or (not gone and not good(value))
        values.append(empty if bad or gone else value)
        wrong.append(bad)
    return pd.Series(values, index=cells.index, dtype=object), pd.Series(wrong, index=cells.index, dtype=bool)


def is_spans(value: Any) -> bool:
    """Whether a JSON value is a list of ``[start, end]`` pairs of whole numbers, 0 ≤ start < end."""
    return isinstance(value, list) and all(
        isinstance(pair, Sequence)
        and len(pair) == 2
        and all(isinstance(x, int) and not isinstance(x, bool) for x in pair)
        and 0 <= pair[0] < pair[1]
        for pair in value
    )


def _times_of(cells: pd.Series, absent: pd.Series) -> tuple[Any, pd.Series]:
    import pandas as pd

    cells = cells.map(lambda v: as_text(v) if isinstance(v, (bool, int, float)) else v)
    points = cells.map(lambda v: isinstance(v, str) and re.fullmatch(_DAY_FIRST, v.strip()) is not None).astype(bool)
    times = pd.to_datetime(cells.where(~absent & ~points, None), errors="coerce", utc=True, format="ISO8601")
    if points.any():
        pointed = pd.to_datetime(cells.where(points, None), errors="coerce", utc=True, format="mixed", dayfirst=True)
        times = times.where(~points, pointed)
    return times, times.isna() & ~absent


_CONVERT: Mapping[str, Any] = {
    "id": _ids_of,
    "text": _texts_of,
    "texts": _lists_of,
    "int": _integers_of,
    "float": _numbers_of,
    "bool": _booleans_of,
    "json": _json_of,
    "spans": _spans_of,
    "ts": _times_of,
}


def clipped(text: str, size: int = 60) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"
