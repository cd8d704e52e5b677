"""What ran for which due time: two tables in a database that several hosts may share.

An entry is one row with a counter of its changes.  To begin a run is to change the row that was read, and only that:
``UPDATE … WHERE version = …``; of two hosts that try it at the same time one changes nothing and begins nothing.  Nobody
holds a lock while a run is under way: the row names its owner until a moment, its lease, which the owner moves ahead.
The clocks of the hosts need to agree within a part of the lease.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.monitor.due import Known, Standing
from evalbench.readers.log_store.address import Address
from evalbench.readers.log_store.connection import engine_of
from evalbench.readers.log_store.faults import faults_told

ENTRIES, RUNS = "schedule_entries", "schedule_runs"
KEPT = 1000
"""Runs of each entry; older ones are forgotten, so that a schedule of every minute fills no database."""
EMPTY = "empty"
"""The status of a run whose window of the log had no rows: there was nothing to judge, and nothing failed."""
_STAMP = "%Y-%m-%dT%H:%M:%S.%fZ"
_LOCK = 0x65766475  # of PostgreSQL's advisory locks, while tables are made
_REMOTE = ("nfs", "cifs", "smb", "sshfs", "fuse.sshfs", "glusterfs", "ceph", "lustre", "9p", "afs")


class Claim(NamedTuple):
    """The right to run an entry for a due time, until it is taken away.

    - ``version``: Of the entry's row; who has another has lost it.
    - ``run``: The row of the run.
    - ``mark``: Of the store's newest row when it began.
    """

    schedule: str
    entry: str
    due: datetime
    attempt: int
    version: int
    run: int
    mark: int = 0


class Ended(NamedTuple):
    """How a run of an entry ended.

    - ``status``: ``ok``, ``empty``, ``failed``, ``died``, ``lost`` (another host has taken it over in the meantime).
    - ``light``: The worst of its runs; empty without one.
    - ``said``: Its headline figures, or what failed.
    - ``pages``: Paths of its pages.
    """

    status: str
    light: str = ""
    said: str = ""
    pages: Sequence[str] = ()


class Past(NamedTuple):
    """A run that has begun: a row of the history."""

    entry: str
    due: datetime
    attempt: int
    missed: int
    because: str
    owner: str
    started: datetime
    finished: datetime | None
    status: str
    light: str
    said: str
    pages: tuple[str, ...]


@dataclass(frozen=True)
class Ledger:
    """The state of schedules in a database; made by :func:`opened`."""

    address: Address
    engine: Any
    entries: Any
    runs: Any

    def known(self, schedule: str, first: Mapping[str, Known], keep: bool = True) -> dict[str, Known]:
        """What is known of the entries; one that is not kept yet is kept as ``first`` has it.

        - ``first``: Of all entries, see :func:`evalbench.monitor.due.first_known`.
        - ``keep``: False writes nothing.
        """
        import sqlalchemy as sql

        table = self.entries
        with self._connected() as connection:
            rows = connection.execute(sql.select(table).where(table.c.schedule == schedule)).mappings().all()
        found = {row["entry"]: _known(row) for row in rows if row["entry"] in first}
        for name in first:
            if name in found or not keep:
                found.setdefault(name, first[name])
                continue
            kept = first[name]._replace(version=1)
            values = {"schedule": schedule, "entry": name, **_columns(kept)}
            try:
                with self._connected() as connection:
                    connection.execute(sql.insert(table).values(**values))
                found[name] = kept
            except _Taken:
                return self.known(schedule, first)
        return found

    def claim(
        self,
        schedule: str,
        standing: Standing,
        known: Known,
        owner: str,
        now: datetime,
        lease: timedelta,
        mark: int = 0,
    ) -> Claim | None:
        """Begin a run; None where the entry is no longer as it was read, for example since another host has begun it."""
        import sqlalchemy as sql

        assert standing.due is not None
        name, runs = standing.entry.name, self.runs
        changed = Known(
            known.covered, known.version + 1, standing.due, standing.attempt, standing.missed, standing.because, owner, now + lease, mark=known.mark
        )  # fmt: skip
        with self._connected() as connection:
            if not self._changed(connection, schedule, name, known.version, changed):
                return None
            self._close_open_runs(connection, schedule, name, now)
            made = connection.execute(
                sql.insert(runs).values(
                    schedule=schedule, entry=name, due=_stamp(standing.due), attempt=standing.attempt,
                    missed=standing.missed, because=standing.because, owner=owner, started=_stamp(now),
                    status="running", light="", said="", pages="[]",
                )
            )  # fmt: skip
            run = int(made.inserted_primary_key[0])
            self._forget(connection, schedule, name)
        return Claim(schedule, name, standing.due, standing.attempt, changed.version, run, mark)

    def beat(self, claim: Claim, now: datetime, lease: timedelta) -> bool:
        """Move the end of the lease ahead; False where the run has been taken over."""
        import sqlalchemy as sql

        table = self.entries
        with self._connected() as connection:
            said = connection.execute(
                sql.update(table)
                .where(table.c.schedule == claim.schedule, table.c.entry == claim.entry, table.c.version == claim.version)
                .values(lease_until=_stamp(now + lease))
            )  # fmt: skip
            return bool(said.rowcount == 1)

    def finish(self, claim: Claim, ended: Ended, standing: Standing, known: Known, now: datetime) -> Ended:
        """Write down how a run ended.

        A due time is covered by a run that is ok or empty, and by one that failed as often as is allowed.

        Returns: ``lost`` where another host has taken the run over, whose end counts.
        """
        import sqlalchemy as sql

        done = Known(max(known.covered, claim.due), claim.version + 1, mark=claim.mark)
        if ended.status not in ("ok", EMPTY) and claim.attempt <= standing.entry.retries:
            done = done._replace(
                covered=known.covered, mark=known.mark, due=claim.due, attempt=claim.attempt, missed=standing.missed,
                because=standing.because, retry_at=now + timedelta(minutes=standing.entry.retry_after),
            )  # fmt: skip
        with self._connected() as connection:
            if not self._changed(connection, claim.schedule, claim.entry, claim.version, done):
                ended = ended._replace(status="lost")
            connection.execute(
                sql.update(self.runs)
                .where(self.runs.c.id == claim.run)
                .values(
                    finished=_stamp(now), status=ended.status, light=ended.light, said=ended.said,
                    pages=json.dumps(list(ended.pages)),
                )
            )  # fmt: skip
        return ended

    def give_up(self, schedule: str, standing: Standing, known: Known, now: datetime, mark: int = 0) -> bool:
        """Cover a due time whose runs gave no sign as often as is allowed; False where another host was first."""
        assert standing.due is not None
        done = Known(max(known.covered, standing.due), known.version + 1, mark=mark)
        with self._connected() as connection:
            if not self._changed(connection, schedule, standing.entry.name, known.version, done):
                return False
            self._close_open_runs(connection, schedule, standing.entry.name, now)
        return True

    def release(self, schedule: str, entry: str, now: datetime) -> bool:
        """End the lease of an entry by hand, so that its run can be begun again; False where nobody runs it."""
        import sqlalchemy as sql

        table = self.entries
        mine = (table.c.schedule == schedule, table.c.entry == entry, table.c.owner != "")
        with self._connected() as connection:
            changed = {"lease_until": _stamp(now), "version": table.c.version + 1}
            return bool(connection.execute(sql.update(table).where(*mine).values(**changed)).rowcount)

    def history(self, schedule: str, most: int = KEPT) -> list[Past]:
        """The last runs of each entry of a schedule, so many of each; oldest first."""
        import sqlalchemy as sql

        table = self.runs
        newest = sql.func.row_number().over(partition_by=table.c.entry, order_by=table.c.id.desc()).label("newest")
        found = sql.select(table, newest).where(table.c.schedule == schedule).subquery()
        with self._connected() as connection:
            last = sql.select(found).where(found.c.newest <= most).order_by(found.c.id)
            rows = connection.execute(last).mappings().all()
        return [_past(row) for row in rows]

    def lights(self, schedule: str, entry: str, since: datetime) -> tuple[str, ...]:
        """The lights of an entry's finished runs since a moment, oldest first, after the last one before it."""
        import sqlalchemy as sql

        table = self.runs
        finished = (
            table.c.schedule == schedule, table.c.entry == entry, table.c.status == "ok", table.c.light != "",
        )  # fmt: skip
        before, later = table.c.finished <= _stamp(since), table.c.finished > _stamp(since)
        with self._connected() as connection:
            ordered = sql.select(table.c.light).where(*finished)
            last = connection.execute(ordered.where(before).order_by(table.c.id.desc()).limit(1)).scalars().all()
            new = connection.execute(ordered.where(later).order_by(table.c.id)).scalars().all()
        return (*last, *new)

    def _changed(self, connection: Any, schedule: str, entry: str, version: int, to: Known) -> bool:
        import sqlalchemy as sql

        table = self.entries
        read = (table.c.schedule == schedule, table.c.entry == entry, table.c.version == version)
        return bool(connection.execute(sql.update(table).where(*read).values(**_columns(to))).rowcount == 1)

    def _forget(self, connection: Any, schedule: str, entry: str) -> None:
        import sqlalchemy as sql

        table = self.runs
        own = (table.c.schedule == schedule, table.c.entry == entry)
        newest = sql.select(table.c.id).where(*own).order_by(table.c.id.desc())
        connection.execute(sql.delete(table).where(*own, table.c.id <= newest.offset(KEPT).limit(1).scalar_subquery()))

    def _close_open_runs(self, connection: Any, schedule: str, entry: str, now: datetime) -> None:
        import sqlalchemy as sql

        table = self.runs
        still = (table.c.schedule == schedule, table.c.entry == entry, table.c.status == "running")
        ended = {"status": "died", "finished": _stamp(now), "said": "it gave no sign before its lease ended"}
        connection.execute(sql.update(table).where(*still).values(**ended))

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        """A transaction that may write; faults of the database are reported in words."""
        from sqlalchemy.exc import IntegrityError

        try:
            with faults_told(self.address), self.engine.begin() as connection:
                yield connection
        except IntegrityError as error:
            raise _Taken from error

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()


class _Taken(Exception):
    """A row that another process has written first."""


def opened(address: Address, make: bool = False) -> Ledger:
    """The state in a database; its tables are made where they are not there.

    - ``make``: Make the file, where it is one and there is none.

    Raises ``BadInput`` if the database cannot be reached or written.
    """
    import sqlalchemy as sql

    def text(name: str, **more: Any) -> Any:
        return sql.Column(name, sql.Text, nullable=False, **more)

    def maybe(name: str) -> Any:
        return sql.Column(name, sql.Text)

    def whole(name: str) -> Any:
        return sql.Column(name, sql.BigInteger, nullable=False)

    metadata = sql.MetaData()
    entries = sql.Table(
        ENTRIES, metadata, text("schedule", primary_key=True), text("entry", primary_key=True), whole("version"),
        text("covered"), maybe("due"), whole("attempt"), whole("missed"), text("because"), text("owner"),
        maybe("lease_until"), maybe("retry_at"), whole("mark"),
    )  # fmt: skip
    number = sql.BigInteger().with_variant(sql.Integer(), "sqlite")
    runs = sql.Table(
        RUNS, metadata, sql.Column("id", number, primary_key=True, autoincrement=True), text("schedule"), text("entry"),
        text("due"), whole("attempt"), whole("missed"), text("because"), text("owner"), text("started"),
        maybe("finished"), text("status"), text("light"), text("said"), text("pages"),
        sql.Index(f"{RUNS}_by_entry", "schedule", "entry", "id"),
    )  # fmt: skip
    if address.path and make and not address.path.exists():
        with faults_told(address):
            os.close(os.open(address.path, os.O_CREAT | os.O_RDWR, 0o600))
    engine = engine_of(address, writes=True)
    with faults_told(address), engine.begin() as connection:
        if not address.path:  # two at the same time would both make them
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        metadata.create_all(connection)
    return Ledger(address, engine, entries, runs)


def is_kept(address: Address) -> bool:
    """Whether a database has the state of schedules; writes nothing."""
    import sqlalchemy as sql

    if address.path and not address.path.exists():
        return False
    engine = engine_of(address)
    try:
        with faults_told(address), engine.connect() as connection:
            return bool(sql.inspect(connection).has_table(RUNS))
    finally:
        engine.dispose()


def shared_disk(path: Path) -> str:
    """The kind of a network file system that a file is on, whose locks cannot be relied on; empty for a local one."""
    import psutil

    resolved = path.resolve()
    mounts = [part for part in psutil.disk_partitions(all=True) if resolved.is_relative_to(part.mountpoint)]
    kind = max(mounts, key=lambda part: len(part.mountpoint)).fstype if mounts else ""
    return kind if kind.startswith(_REMOTE) else ""


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime(_STAMP)


def _moment(stamp: str | None) -> datetime | None:
    return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC) if stamp else None


def _columns(known: Known) -> dict[str, Any]:
    moments = {name: getattr(known, name) for name in ("covered", "due", "lease_until", "retry_at")}
    return {**known._asdict(), **{name: at and _stamp(at) for name, at in moments.items()}}


def _known(row: Mapping[str, Any]) -> Known:
    moments = {name: _moment(row[name]) for name in ("covered", "due", "lease_until", "retry_at")}
    return Known(**{name: moments.get(name, row[name]) for name in Known._fields})


def _past(row: Mapping[str, Any]) -> Past:
    moments = {name: _moment(row[name]) for name in ("due", "started", "finished")}
    values = {name: moments.get(name, row[name]) for name in Past._fields}
    return Past(**{**values, "pages": tuple(json.loads(row["pages"]))})
