"""Rows of a log store removed: what is older than a time, and what a client asks to have forgotten."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.monitor.store import LogStore
from evalbench.readers.log_store.tables import tables

if TYPE_CHECKING:
    import sqlalchemy as sa

_AT_ONCE = 500
_PATIENCE_S = 5.0


class Forgotten(NamedTuple):
    """How many rows were removed; ``traces``: whether readers kept the removed texts in SQLite's log file for now."""

    interactions: int
    feedback: int
    losses: int
    traces: bool = False


def forget(store: LogStore, *, before: int | None = None, client: str = "", dry_run: bool = False) -> Forgotten:
    """Remove interactions with the feedback on them.

    In steps of 500, each a transaction, so that writers wait for none of them long; one that is interrupted can be repeated.
    On SQLite the removed texts are overwritten, on PostgreSQL the tables are vacuumed.

    - ``before``: Microseconds since 1970, UTC: older interactions, older losses, and older feedback on interactions
      that are not in the store.
    - ``client``: A client's keyed hash: its interactions only; with ``before`` the older ones of them.
    - ``dry_run``: Count only.

    Raises ``BadInput``: Without any condition.
    """
    import sqlalchemy as sa

    if before is None and not client:
        raise BadInput("nothing to forget is named: a time, a client, or both")
    has = tables()
    rows, marks, gone = has.interactions, has.feedback, has.losses
    which = [] if before is None else [rows.c.ts < before]
    which += [rows.c.client == client] if client else []
    own = marks.c.interaction.in_(sa.select(rows.c.id).where(*which))
    known = sa.exists().where(rows.c.id == marks.c.interaction)
    orphans = [] if client else [sa.and_(marks.c.ts < before, ~known)]
    lost = [] if client else [gone.c.ts < before]
    if dry_run:
        with store.reading() as connection:
            return Forgotten(
                _count(connection, rows, which),
                _count(connection, marks, [sa.or_(own, *orphans)]),
                _count(connection, gone, lost) if lost else 0,
            )
    interactions = feedback = 0
    while True:
        with store.writing() as connection:
            found = connection.execute(sa.select(rows.c.seq, rows.c.id).where(*which).limit(_AT_ONCE)).tuples().all()
            if not found:
                break
            ids = [id for _, id in found]
            feedback += connection.execute(marks.delete().where(marks.c.interaction.in_(ids))).rowcount
            interactions += connection.execute(rows.delete().where(rows.c.seq.in_([seq for seq, _ in found]))).rowcount
    feedback += sum(_removed(store, marks, condition) for condition in orphans)
    losses = sum(_removed(store, gone, condition) for condition in lost)
    return Forgotten(interactions, feedback, losses, not _cleaned(store))


def _count(connection: sa.Connection, table: sa.Table, which: list[Any]) -> int:
    import sqlalchemy as sa

    return connection.execute(sa.select(sa.func.count()).select_from(table).where(*which)).scalar_one()


def _removed(store: LogStore, table: sa.Table, condition: Any) -> int:
    import sqlalchemy as sa

    removed = 0
    while True:
        with store.writing() as connection:
            some = sa.select(table.c.seq).where(condition).limit(_AT_ONCE)
            n = connection.execute(table.delete().where(table.c.seq.in_(some))).rowcount
        removed += n
        if n < _AT_ONCE:
            return removed


def _cleaned(store: LogStore) -> bool:
    """Whether nothing of the removed texts is left in SQLite's log file; PostgreSQL's tables are vacuumed."""
    if not store.address.path:
        store.outside("VACUUM interactions, feedback, losses")
        return True
    give_up = time.monotonic() + _PATIENCE_S
    while store.outside("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
        if time.monotonic() > give_up:
            return False
        time.sleep(0.05)
    return True
