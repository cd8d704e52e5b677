"""The Parquet files of a run as views of a database in memory, which reads nothing else."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.readers.former_names import renamed_of

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

PLACE = "file_row_number"
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT", "DOUBLE", "DECIMAL")  # fmt: skip
ASKED_FOR = "asked_for"
"""The column of calls with the items whose verdicts rest on each; in its view a row for each of them, of others by the call's own name."""
_EACH_ASKED_FOR = "unnest(CASE WHEN len(asked_for) > 0 THEN asked_for ELSE [item_id] END) AS asked_for"
_FRACTIONS = ("FLOAT", "DOUBLE", "DECIMAL")
_MEMORY = "250MB"
_ROWS = 1000
_MOST_EXACT = 2**53


class Column(NamedTuple):
    """A column of a view.

    - ``kind``: ``number``, ``text``, ``yes/no``, ``list`` or ``other``.
    - ``table``: The view that has it.
    """

    name: str
    kind: str
    table: str


class Database:
    """Views by name, in which every fraction is a DOUBLE, NaN is null, and columns of earlier versions have today's names.

    - ``files``: The file of each view; nothing else is read.
    - ``memory``: The most that it may use.

    Raises ``BadInput`` if a file cannot be read, or DuckDB is missing.
    """

    def __init__(self, files: dict[str, Path], memory: str = _MEMORY) -> None:
        try:
            import duckdb
        except ImportError:
            raise BadInput("the explorer needs DuckDB: pip install 'evalbench[view]'") from None
        self._root = duckdb.connect(
            ":memory:", config={"memory_limit": memory, "autoinstall_known_extensions": "false"}
        )
        for name, file in files.items():
            source = str(file).replace("'", "''")
            read = f"read_parquet('{source}', file_row_number=true)"
            try:
                types = self._root.execute(f"DESCRIBE SELECT * FROM {read}").fetchall()
                fractions = [quoted(str(column)) for column, type_, *_ in types if _bare(str(type_)) in _FRACTIONS]
                doubles = ", ".join(
                    f"CASE WHEN NOT isnan(CAST({column} AS DOUBLE)) THEN CAST({column} AS DOUBLE) END AS {column}"
                    for column in fractions
                )
                if any((column, type_) == (ASKED_FOR, "VARCHAR[]") for column, type_, *_ in types):
                    doubles = ", ".join(filter(None, [doubles, _EACH_ASKED_FOR]))
                replaced = f" REPLACE ({doubles})" if doubles else ""
                names = renamed_of(file, [str(column) for column, *_ in types])
                today = ", ".join(f"{quoted(former)} AS {quoted(own)}" for former, own in names.items())
                replaced += f" RENAME ({today})" if today else ""
                self._root.execute(f"CREATE VIEW {quoted(name)} AS SELECT *{replaced} FROM {read}")
            except (duckdb.Error, OSError) as error:
                raise BadInput(f"{file}: cannot be read ({str(error).splitlines()[0]})") from error
        paths = ", ".join("'" + str(file).replace("'", "''") + "'" for file in files.values())
        self._root.execute(
            f"SET allowed_paths=[{paths}]; SET enable_external_access=false; SET lock_configuration=true"
        )

    def columns(self, table: str) -> list[Column]:
        """The columns of a view in their order."""
        types = self.fetch(f"DESCRIBE {quoted(table)}")
        return [Column(str(name), _kind(str(type_)), table) for name, type_, *_ in types if name != PLACE]

    def fetch(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query; safe to call from several threads."""
        return self._run(sql, values).fetchall()

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, of which few are in memory."""
        found = self._run(sql, values)
        while rows := found.fetchmany(_ROWS):
            yield from rows

    def one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The only value of a query."""
        return self.fetch(sql, values)[0][0]

    def records(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """The rows of a query by column, as JSON values; the place in the file is ``row``."""
        found = self._run(sql, values)
        names = ["row" if d[0] == PLACE else str(d[0]) for d in found.description or ()]
        return [{n: as_json(v) for n, v in zip(names, row, strict=True)} for row in found.fetchall()]

    def arrays(self, sql: str, values: Sequence[Any] = ()) -> dict[str, Any]:
        """The columns of a query as arrays of numpy; those with nulls are masked."""
        return dict(self._run(sql, values).fetchnumpy())

    def keep(self, name: str, rows: str | pd.DataFrame, values: Sequence[Any] = ()) -> None:
        """A table in memory of this name: the rows of a query, or of a frame; one that has the name already is replaced."""
        cursor = self._root.cursor()
        if not isinstance(rows, str):
            cursor.register("given_rows", rows)
            cursor.execute(f"CREATE OR REPLACE TABLE {quoted(name)} AS SELECT * FROM given_rows")
            cursor.unregister("given_rows")
            return
        self._run(f"CREATE OR REPLACE TABLE {quoted(name)} AS {rows}", values)

    def drop(self, name: str) -> None:
        """Forget a table in memory."""
        self._run(f"DROP TABLE IF EXISTS {quoted(name)}", ())

    def _run(self, sql: str, values: Sequence[Any]) -> duckdb.DuckDBPyConnection:
        import duckdb

        try:
            return self._root.cursor().execute(sql, list(values))
        except duckdb.IOException as error:
            raise BadInput(f"a file of the run cannot be read any more ({str(error).splitlines()[0]})") from error


def quoted(name: str) -> str:
    """A name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _kind(type_: str) -> str:
    if type_.endswith("[]"):
        return "list"
    bare = _bare(type_)
    return "number" if bare in _NUMBERS else {"BOOLEAN": "yes/no", "VARCHAR": "text"}.get(bare, "other")


def _bare(type_: str) -> str:
    return "" if type_.endswith("]") else type_.partition("(")[0]


def as_json(value: Any) -> Any:
    """A value of a cell as JSON has it: NaN is null, what JSON or JavaScript lacks is a text: infinities, whole numbers beyond 2**53.

    Examples
    --------
    >>> as_json([1, float("nan"), float("-inf"), 2**60, b"\\xff"])
    [1, None, '-inf', '1152921504606846976', '�']
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(value, int):
        return value if abs(value) <= _MOST_EXACT else str(value)
    if isinstance(value, decimal.Decimal):
        return as_json(float(value))
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    if isinstance(value, dict):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)
