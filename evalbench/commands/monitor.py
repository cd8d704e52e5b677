"""``evalbench monitor``: the log of a system in production, kept in a file of SQLite or in PostgreSQL."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evalbench.commands.monitor_due import choose, due
from evalbench.commands.options import NewPath, assignments
from evalbench.core.wording import counted

if TYPE_CHECKING:
    from evalbench.monitor.store import Appended, LogStore

_AT_ONCE = 200
_F = TypeVar("_F", bound=Callable[..., Any])


@click.group()
def monitor() -> None:
    """The log of a system in production: keep, look at, export and forget what it was asked and answered.

    A STORE is a file of SQLite on a disk of this machine, or postgresql://HOST/DATABASE: the user comes from PGUSER or
    ?user=NAME, the password from PGPASSWORD or ~/.pgpass. Needs evalbench[monitor].
    """


def _store(place: str, *, create: bool = False) -> LogStore:
    from evalbench.monitor.store import LogStore

    return LogStore(place, create=create)


def _windowed(command: _F) -> _F:
    options: tuple[Callable[[_F], _F], ...] = (
        click.option(
            "--from", "start", default="", metavar="TIME", help="Its beginning: ISO 8601, in UTC if it has no zone."
        ),
        click.option("--to", "end", default="", metavar="TIME", help="Its end, which is not in it."),
    )
    for option in options:
        command = option(command)
    return command


_of_file: tuple[Callable[[Any], Any], ...] = (
    click.option("--map", "renames", multiple=True, metavar="column=name", help="Rename a column of the file."),
    click.option("--utc", is_flag=True, help="Times without a time zone are in UTC; else they are faults."),
)


def _read_from_a_file(command: _F) -> _F:
    for option in _of_file:
        command = option(command)
    return command


@monitor.command()
@click.argument("store")
def init(store: str) -> None:
    """Make the tables of a log store, and its file."""
    from evalbench.monitor.store import create

    with _store(store) as log:
        made = create(log)
        log.count()
    click.echo(f"{log.address}: {'made' if made else 'exists already'}")


@monitor.command()
@click.argument("store")
def status(store: str) -> None:
    """Show what a log store holds, and what applications could not log."""
    from evalbench.readers.log_store.times import shown

    with _store(store) as log:
        found = log.status()
    click.echo(f"{log.address}: version {found.version}, {counted(found.interactions, 'interaction')}")
    if found.first is not None and found.last is not None:
        click.echo(f"  from {shown(found.first)} to {shown(found.last)}; {found.errors} with an error")
    if found.ahead:
        click.echo(
            f"  in the future by this machine's clock: {counted(found.ahead, 'interaction')}, which windows up to now leave out"
        )
    for source, n in found.feedback.items():
        click.echo(f"  feedback of source {source}: {n}")
    if found.orphans:
        click.echo(f"  feedback on interactions that are not in the log: {found.orphans}")
    click.echo(f"  client ids: {'keyed hashes' if found.has_key else 'none were hashed here'}")
    for loss in found.losses:
        when = (
            f", from {shown(loss.since)} to {shown(loss.until)}"
            if loss.since is not None and loss.until is not None
            else ""
        )
        click.echo(f"  lost, {loss.reason}: {counted(loss.rows, 'row')}{when}")


@monitor.command()
@click.argument("store")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--hashed", is_flag=True, help="Its clients are keyed hashes already, as in an export.")
@_read_from_a_file
def append(store: str, file: Path, hashed: bool, renames: tuple[str, ...], utc: bool) -> None:
    """Append the interactions of a file.

    Columns: id, ts (with a time zone), request; where known response, client, stages (JSON), model, prompt_version, latency
    (seconds), input_tokens, output_tokens, cost, error. All faults of the file are shown at once, and nothing is appended
    then; a time more than 10 minutes after this machine's clock is one. An id that is there already is left as it is, so that a file may be appended again. Clients are kept as keyed
    hashes; the key is in EVALBENCH_LOG_KEY.
    """
    from evalbench.monitor.clients import needed_key
    from evalbench.monitor.from_files import hashed as with_hashes
    from evalbench.monitor.from_files import rows_of

    rows, notes = rows_of("interactions", file, columns=assignments(renames, "--map"), naive_is_utc=utc)
    key = needed_key(f"{file} has clients") if not hashed and any(row.get("client") for row in rows) else None
    with _store(store) as log:
        if key:
            log.use_key(key)
        _appended(file, with_hashes(rows, key), notes, log.append)


@monitor.command()
@click.argument("store")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--source",
    type=click.Choice(["user", "annotator", "judge"]),
    help="Of all rows, where the file has no such column.",
)
@click.option("--judge", default="", help="Who gave it, where the file has no such column.")
@click.option("--at", default="", metavar="TIME", help="When, where the file has no column ts.")
@_read_from_a_file
def feedback(
    store: str, file: Path, source: str | None, judge: str, at: str, renames: tuple[str, ...], utc: bool
) -> None:
    """Append the feedback of a file.

    Columns: interaction (its id), ts (with a time zone), source, value or comment; where known judge (who), id. What
    annotators say is what a study reads as labels; what users say never is. Feedback that is there already is not appended
    again.
    """
    from evalbench.monitor.from_files import rows_of

    given = {"source": source or "", "judge": judge, "ts": at}
    rows, notes = rows_of("feedback", file, columns=assignments(renames, "--map"), given=given, naive_is_utc=utc)
    with _store(store) as log:
        log.refuse_orphans(row["interaction"] for row in rows)
        _appended(file, rows, notes, log.append_feedback)


def _appended(file: Path, rows: list[dict[str, Any]], notes: list[str], append: Callable[..., Appended]) -> None:
    """In steps: what is interrupted can be repeated, and nobody waits long for their turn."""
    new = repeated = 0
    for start in range(0, len(rows), _AT_ONCE):
        found = append(rows[start : start + _AT_ONCE])
        new, repeated = new + found.new, repeated + found.repeated
    for note in notes:
        click.echo(f"note: {note}", err=True)
    click.echo(f"{file}: {new} appended" + (f", {repeated} were there already" if repeated else ""))


@monitor.command()
@click.argument("store")
@click.argument("folder", type=NewPath(file_okay=False))
@_windowed
def export(store: str, folder: Path, start: str, end: str) -> None:
    """Write a log store as Parquet, a file per month.

    FOLDER/interactions/month=2026-05/part-0.parquet, and feedback and losses beside it. Months that are there are replaced.
    Texts with half characters, which no file can hold, have U+FFFD in their place.
    """
    from evalbench.monitor.export import export as exported
    from evalbench.readers.log_store.times import window_of

    window = window_of(start, end, names=("--from", "--to"))
    with _store(store) as log:
        found = exported(log, folder, window)
    rows = ", ".join(f"{n} {name}" for name, n in found.rows.items())
    when = f" of {window}" if start or end else ""
    click.echo(f"{folder}: {rows}{when} in {counted(found.files, 'file')}")
    if found.removed:
        click.echo(f"  removed: {counted(found.removed, 'file')} of months without rows")
    if found.cut:
        click.echo(f"  half characters replaced in {counted(found.cut, 'text')}")


@monitor.command()
@click.argument("store")
@click.option("--before", default="", metavar="TIME", help="Older than this: ISO 8601, in UTC if it has no zone.")
@click.option(
    "--client",
    default="",
    metavar="ID",
    help="Of this client, as the application knows it; - reads it from standard input.",
)
@click.option("--dry-run", is_flag=True, help="Only count.")
def forget(store: str, before: str, client: str, dry_run: bool) -> None:
    """Remove interactions from a log store, with the feedback on them.

    Old ones, a client's, or a client's old ones. A client is found by its keyed hash; the key is in EVALBENCH_LOG_KEY.
    What was exported before stays in those files until they are exported again.
    """
    from evalbench.errors import BadInput
    from evalbench.monitor.clients import client_hash, needed_key
    from evalbench.monitor.forget import forget as forgotten
    from evalbench.readers.log_store.times import window_of

    end = window_of("", before, names=("", "--before")).end
    if client == "-":
        client = sys.stdin.readline().rstrip("\r\n")
        if not client:
            raise BadInput("--client -: standard input is empty")
    key = needed_key("--client") if client else None
    with _store(store) as log:
        if key:
            log.use_key(key, known=True)
        found = forgotten(log, before=end, client=client_hash(client, key) if key else "", dry_run=dry_run)
    click.echo(
        f"{log.address}: {'would remove' if dry_run else 'removed'} {counted(found.interactions, 'interaction')}, "
        f"{found.feedback} feedback, {counted(found.losses, 'report')} of losses"
    )
    if found.traces:
        click.echo(
            "  processes that read the log hold on to parts of it: the removed texts leave the disk when they end"
        )


@monitor.command()
@click.argument("store")
def migrate(store: str) -> None:
    """Bring the tables of an older version to this one, with all rows.

    Applications with an older evalbench cannot write to the store afterwards.
    """
    from evalbench.monitor.migrate import migrate as migrated

    before, after = migrated(log := _store(store))
    click.echo(
        f"{log.address}: version {before} → {after}" if before != after else f"{log.address}: is of version {after}"
    )


monitor.add_command(due)
monitor.add_command(choose)
