"""What is due is claimed, run and written down, one entry after the other, until nothing is due any more."""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from evalbench.errors import BadInput
from evalbench.monitor.due import FIRST, Known, Seen, Standing, due, first_known
from evalbench.monitor.ledger import Claim, Ended, Ledger
from evalbench.monitor.schedule import Schedule

Clock = Callable[[], datetime]
Carry = Callable[[Standing], Ended]
_BEATS = 4  # signs that a run gives within a lease


class Rows(NamedTuple):
    """How far a log store has come.

    - ``mark``: Of the newest row.
    - ``count``: How many rows arrived after a mark.
    - ``before``: The mark of the newest row whose own time is before a moment.
    """

    mark: Callable[[], int]
    count: Callable[[int], int]
    before: Callable[[datetime], int]


class Done(NamedTuple):
    """An entry that was run, or given up, and how that ended."""

    standing: Standing
    ended: Ended


def standings(
    schedule: Schedule, ledger: Ledger, now: datetime, rows: Rows | None = None, keep: bool = True
) -> tuple[tuple[Standing, ...], dict[str, Known]]:
    """Where every entry is at a moment, and what is kept of it.

    - ``rows``: Of the schedule's store.
    - ``keep``: False writes nothing: an entry that has not been seen before is not registered.
    """
    first = {entry.name: first_known(entry, schedule, now) for entry in schedule.entries}
    if rows:
        newest = rows.mark()
        for entry in schedule.entries:
            at = first[entry.name]
            counted = entry.rows and entry.starts is not None
            mark = rows.before(at.covered + FIRST) if counted else newest
            first[entry.name] = at._replace(mark=mark)
    known = ledger.known(schedule.name, first, keep)
    seen = {
        entry.name: Seen(
            rows.count(known[entry.name].mark) if entry.rows and rows else 0,
            ledger.lights(schedule.name, entry.watched, known[entry.name].covered) if entry.watched else (),
        )
        for entry in schedule.entries
    }
    return due(schedule, known, now, seen), known


def carry_out(
    schedule: Schedule,
    ledger: Ledger,
    carry: Carry,
    *,
    clock: Clock,
    rows: Rows | None = None,
    only: Collection[str] = (),
    owner: str = "",
    begins: Callable[[Standing], None] = lambda standing: None,
    say: Callable[[str], None] = lambda text: None,
) -> list[Done]:
    """Run what is due; an entry once at most, one that another's new light makes due too.

    - ``carry``: Runs an entry for its due time. What it cannot do it returns as ``failed``; :class:`BadInput` counts as
      that. Any other exception is written down as a failed run, and ends the call.
    - ``clock``: The time, with a time zone.
    - ``rows``: Of the schedule's store.
    - ``only``: Names of the entries that are looked at; empty: all.
    - ``owner``: Who runs them; by default host and process.
    - ``begins``, ``say``: Given what begins, and whatever else is worth a line.
    """
    owner = owner or f"{platform.node()}, process {os.getpid()}"
    lease = timedelta(minutes=schedule.lease)
    done: list[Done] = []
    while True:
        found, known = standings(schedule, ledger, clock(), rows)
        seen = {one.standing.entry.name for one in done}
        todo = [
            one for one in found
            if one.state in ("due", "give up") and one.entry.name not in seen and (not only or one.entry.name in only)
        ]  # fmt: skip
        if not todo:
            return done
        standing, kept = todo[0], known[todo[0].entry.name]
        mark = rows.mark() if rows else 0
        if standing.state == "give up":
            if ledger.give_up(schedule.name, standing, kept, clock(), mark):
                done.append(Done(standing, Ended("died", said=standing.because)))
            continue
        claim = ledger.claim(schedule.name, standing, kept, owner, clock(), lease, mark)
        if claim is None:
            continue
        begins(standing)
        try:
            with _beating(ledger, claim, clock, lease, say):
                ended = _carried(carry, standing)
        except BaseException as error:
            with suppress(BadInput):  # its lease ends by itself
                ledger.finish(claim, Ended("failed", said=f"{type(error).__name__}: stopped"), standing, kept, clock())
            raise
        done.append(Done(standing, ledger.finish(claim, ended, standing, kept, clock())))


def _carried(carry: Carry, standing: Standing) -> Ended:
    try:
        return carry(standing)
    except BadInput as error:
        return Ended("failed", said="; ".join(error.faults) or str(error))


@contextmanager
def _beating(
    ledger: Ledger, claim: Claim, clock: Clock, lease: timedelta, say: Callable[[str], None]
) -> Iterator[None]:
    """Keep the lease of a claim ahead while a run is under way."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(lease.total_seconds() / _BEATS):
            try:
                if not ledger.beat(claim, clock(), lease):
                    say(f"{claim.entry}: another host has taken its run over; what this one finds does not count")
                    return
            except Exception as error:  # noqa: BLE001 - whatever a database does, the next sign may get through
                say(f"{claim.entry}: no sign could be given ({type(error).__name__}: {error}); it is tried again")

    thread = threading.Thread(target=beat, name="evalbench-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def worst_light(lights: Sequence[str]) -> str:
    """Of several lights the one that an entry is said to have; empty without any.

    Examples
    --------
    >>> worst_light(["green", "grey", "unlit"]), worst_light([])
    ('grey', '')
    """
    order = ("red", "yellow", "grey", "green", "unlit")
    return min(lights, key=order.index, default="")


def unknown_names(schedule: Schedule, names: Sequence[str]) -> None:
    """Refuse names of entries that a schedule lacks.

    Raises
    ------
    BadInput
    """
    known = {entry.name for entry in schedule.entries}
    lacking = [name for name in names if name not in known]
    if lacking:
        raise BadInput(
            f"{schedule.path}: no entry {', '.join(map(repr, lacking))}; there are {', '.join(sorted(known))}"
        )
