"""Files of interactions and of feedback, on their way into a log store: all faults of a file in one message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.monitor.clients import client_hash, is_client_hash
from evalbench.monitor.rows import as_kept
from evalbench.readers.files import raw_table, read_bytes
from evalbench.readers.frames import rows_text
from evalbench.readers.log_store.tables import SOURCES
from evalbench.readers.log_store.times import AHEAD, future, instant, shown
from evalbench.readers.renames import renamed_columns, unknown_renames
from evalbench.readers.schema import Column, Table
from evalbench.readers.tables import check

if TYPE_CHECKING:
    import pandas as pd


def _optional(name: str, kind: Any, **more: Any) -> Column:
    return Column(name, kind, required=False, empty_ok=True, **more)


_RESPONSE = _optional("response", "text", role="answer", keep_null=True, help="null: the system gave none")
SCHEMAS = {
    "interactions": Table(
        (
            Column("id", "id"),
            Column("ts", "text", role="time", help="when, with its time zone"),
            Column("request", "text", role="question", empty_ok=True),
            _RESPONSE,
            _optional("client", "text", help="as the application knows the client; its keyed hash is kept"),
            _optional("stages", "json", help="what the stages of the system made"),
            _optional("model", "id"),
            _optional("prompt_version", "id"),
            _optional("latency", "float", low=0, help="seconds"),
            _optional("input_tokens", "int", low=0),
            _optional("output_tokens", "int", low=0),
            _optional("cost", "float", low=0),
            _optional("error", "text", help="why there is no response"),
        ),
        unique=("id",),
    ),
    "feedback": Table(
        (
            Column("interaction", "id", help="the id of the interaction"),
            Column("ts", "text", role="time", help="when, with its time zone"),
            Column("source", "id", choices=SOURCES),
            _optional("id", "id"),
            _optional("judge", "id", help="who"),
            _optional("value", "float"),
            _optional("comment", "text"),
        ),
        unique=("id",),
    ),
}


def rows_of(
    table: str,
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    given: Mapping[str, str] | None = None,
    naive_is_utc: bool = False,
) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a file as a log store takes them, except for ``client``, and notes on how the file was read.

    - ``table``: ``interactions`` or ``feedback``.
    - ``path``: CSV, TSV, JSON, JSON Lines, Parquet or a workbook.
    - ``columns``: Renames: column in the file → column of the log.
    - ``given``: Cells of a column that the file does not have.
    - ``naive_is_utc``: Whether a time without a zone is in UTC; else it is a fault.

    Raises ``BadInput``: Names every fault with its column and rows.
    """
    schema = SCHEMAS[table]
    raw, notes = raw_table(path, read_bytes(path))
    frame, clashes = renamed_columns(raw, columns or {})
    own = {name: value for name, value in (given or {}).items() if value}
    faults = [f"column {name}: {what}" for name, what in clashes.items()] + unknown_renames(columns or {}, [raw])
    faults += [f"column {name}: is in the file, and given for all rows" for name in own if name in frame]
    frame = frame.assign(**{name: value for name, value in own.items() if name not in frame})
    typed, found = check(frame, schema)
    faults += map(str, found)
    times, wrong = _times(frame, naive_is_utc)
    faults += wrong
    if faults:
        raise BadInput.listing(f"{path}: {table} that the log cannot keep:", faults, 30)
    unused = [str(name) for name in typed.columns if schema.column(str(name)) is None]
    if unused:
        notes = [*notes, f"columns that are not kept: {', '.join(unused)}"]
    if "request" in typed and (blank := [*frame.index[(typed["request"].fillna("") == "").to_numpy()]]):
        notes = [*notes, f"{counted(len(blank), 'row')} without a request, kept as an empty text {rows_text(blank)}"]
    typed["ts"] = times
    names = [column.name for column in schema.columns if column.name in typed]
    cells = {name: list(_plain(typed[name], schema.column(name))) for name in names}
    rows = [dict(zip(cells, values, strict=True)) for values in zip(*cells.values(), strict=True)]
    plain = [{name: value for name, value in row.items() if name != "client"} for row in rows]
    as_kept(table, plain, [f"{path}: row {number}" for number in frame.index])
    return rows, [f"{path}: {note}" for note in notes]


def _times(frame: pd.DataFrame, naive_is_utc: bool) -> tuple[list[str], list[str]]:
    """The cells of ``ts`` with a zone, and faults with their rows; a time in the future is one."""
    if "ts" not in frame:
        return [], []
    made: list[str] = []
    wrong: dict[str, list[Any]] = {}
    latest, ahead = future(), f"more than {AHEAD.seconds // 60} minutes after this machine's clock"
    for row, cell in frame["ts"].items():
        text = "" if cell is None else str(cell)
        try:
            at = instant(text, naive_is_utc=naive_is_utc)
            text = shown(at)
            if at > latest:
                wrong.setdefault(ahead, []).append(row)
        except ValueError as error:
            if text:
                wrong.setdefault(
                    f"{error}, found {text[:40]!r}" if "zone" not in str(error) else str(error), []
                ).append(row)
        made.append(text)
    hint = "; --utc if such times are in UTC"
    return made, [f"column ts: {why}{hint if 'zone' in why else ''} {rows_text(rows)}" for why, rows in wrong.items()]


def _plain(cells: pd.Series, column: Column | None) -> Iterator[Any]:
    """Cells as Python values; what is empty and no text of its own is None."""
    assert column is not None
    for cell in cells.tolist():
        if cell is None or cell != cell or (cell == "" and column.name not in ("request", "response")):
            yield None
        else:
            yield int(cell) if column.type == "int" else cell


def hashed(rows: list[dict[str, Any]], key: bytes | None) -> list[dict[str, Any]]:
    """Rows whose clients are keyed hashes: made with the key, or given already where there is none.

    Raises ``BadInput``: Without a key, for what is not a hash.
    """
    out = []
    for row in rows:
        client = row.get("client")
        if client is not None and key is None and not is_client_hash(client):
            raise BadInput(
                "column client: expected keyed hashes, 64 hexadecimal digits, as an export of a log has them"
            )
        out.append(row if client is None or key is None else row | {"client": client_hash(client, key)})
    return out
