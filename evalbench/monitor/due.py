"""What is due: a pure function of the schedule, of what is known of each entry, and of the time.

A run counts for a *due time*: the last time at which its cron expression was due, or the moment at which a trigger was
seen.  Times that were missed are caught up by one run, for the last of them.  While a run of an entry is under way no
other run of it begins.  A run that gives no sign for its lease is begun again; a run that failed is tried again after a
while, at most so often, and then given up; a new due time that comes first takes its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from evalbench.core.wording import count, counted
from evalbench.monitor.occasions import MOST, Times, due_times, next_time, window_at
from evalbench.monitor.schedule import Entry, Schedule

State = Literal["due", "give up", "running", "retry", "waiting"]
FIRST = timedelta(seconds=1)
"""How long before its ``starts`` an entry counts as covered, so that this moment itself is due."""


class Known(NamedTuple):
    """What is kept of an entry between calls.

    - ``covered``: Everything due up to here has had its run; at first when the schedule was first looked at.
    - ``version``: Counts changes; 0: not kept yet.
    - ``due``: The due time that has begun and has not come to an end.
    - ``attempt``: Of that due time.
    - ``missed``: How many earlier due times that run catches up.
    - ``owner``: Who runs it; empty where nobody does.
    - ``mark``: Of the store's newest row when the last run that covered something began.
    """

    covered: datetime
    version: int = 0
    due: datetime | None = None
    attempt: int = 0
    missed: int = 0
    because: str = ""
    owner: str = ""
    lease_until: datetime | None = None
    retry_at: datetime | None = None
    mark: int = 0


class Seen(NamedTuple):
    """What triggers look at, since the entry's last due time.

    - ``rows``: New in the store.
    - ``lights``: Of the watched entry's runs, oldest first: the last one before, and those since.
    """

    rows: int = 0
    lights: Sequence[str] = ()


class Standing(NamedTuple):
    """Where an entry is.

    - ``state``: ``due``; ``give up``: begun as often as is allowed; ``running`` elsewhere; ``retry`` later;
      ``waiting``.
    - ``due``: The due time that a run now would count for.
    - ``attempt``: That a run now would be.
    - ``next``: When it is due next by the clock.
    """

    entry: Entry
    state: State
    due: datetime | None
    missed: int
    attempt: int
    because: str
    next: datetime | None


def first_known(entry: Entry, schedule: Schedule, now: datetime) -> Known:
    """What is known of an entry that has not been seen before: what was due before does not count, unless it says so."""
    if entry.starts is None:
        return Known(now)
    start = window_at([entry.starts, "9999-12-31"], now, schedule.zone).start
    return Known(start - FIRST)


def due(
    schedule: Schedule, known: Mapping[str, Known], now: datetime, seen: Mapping[str, Seen] | None = None
) -> tuple[Standing, ...]:
    """Where every entry of a schedule is at a moment.

    - ``known``: By the name of the entry; what is not kept yet is as in :func:`first_known`.
    - ``now``: With a time zone.

    Returns: In the order of the schedule.
    """
    now = now.astimezone(UTC)
    return tuple(
        _standing(schedule, entry, known.get(entry.name) or first_known(entry, schedule, now), now, (seen or {}).get(entry.name, Seen()))
        for entry in schedule.entries
    )  # fmt: skip


def _standing(schedule: Schedule, entry: Entry, known: Known, now: datetime, seen: Seen) -> Standing:
    following = next_time(entry.cron, schedule.zone, now) if entry.cron else None

    def state(which: State, due: datetime | None, missed: int, attempt: int, because: str) -> Standing:
        return Standing(entry, which, due, missed, attempt, because, following)

    if known.owner and known.lease_until and known.lease_until > now:
        return state("running", known.due, known.missed, known.attempt, _running(known, schedule, now))
    times = due_times(entry.cron, schedule.zone, known.covered, now) if entry.cron else Times(0, None, None)
    if known.due is not None and (times.last is None or times.last <= known.due):
        return state(*_again(schedule, entry, known, now))
    if times.first is not None and times.last is not None:
        because = f"due {shown_in(schedule, times.last)}"
        if times.n > 1:
            many = f"more than {count(MOST)}" if times.n > MOST else f"{times.n}"
            because += f"; one run for all {many} due times since {shown_in(schedule, times.first)}"
        if known.due is not None:
            because += f"; the run for {shown_in(schedule, known.due)} did not succeed"
        return state("due", times.last, times.n - 1, 1, because)
    triggered, because = _triggered(schedule, entry, known, seen)
    if triggered:
        return state("due", now.replace(microsecond=0), 0, 1, because)
    if known.covered > now:
        because = f"its last due time, {shown_in(schedule, known.covered)}, is in the future: a clock went back"
    return state("waiting", None, 0, 0, because)


def _again(
    schedule: Schedule, entry: Entry, known: Known, now: datetime
) -> tuple[State, datetime | None, int, int, str]:
    """What becomes of a due time whose run failed or gave no sign."""
    ended = f"{known.owner} gave no sign before its lease ended" if known.owner else "the run before it failed"
    if known.attempt > entry.retries:
        return "give up", known.due, known.missed, known.attempt, f"{ended}; {counted(known.attempt, 'attempt')}"
    again = known.attempt + 1
    if known.retry_at and known.retry_at > now:
        said = f"{ended}; attempt {again} from {shown_in(schedule, known.retry_at)}"
        return "retry", known.due, known.missed, again, said
    because = known.because.partition("; attempt ")[0]
    return "due", known.due, known.missed, again, f"{because}; attempt {again}: {ended}"


def _triggered(schedule: Schedule, entry: Entry, known: Known, seen: Seen) -> tuple[bool, str]:
    """Whether a trigger makes an entry due, and why or why not."""
    waits = []
    if entry.rows:
        said = f"{counted(seen.rows, 'new row')} since {shown_in(schedule, known.covered + FIRST)}, {count(entry.rows)} make it due"
        if seen.rows >= entry.rows:
            return True, said
        waits.append(said)
    if entry.watched:
        pairs = zip(seen.lights, seen.lights[1:], strict=False)
        changes = [(a, b) for a, b in pairs if a != b and (not entry.turns_to or b in entry.turns_to)]
        if changes:
            return True, f"the light of {entry.watched} changed from {changes[-1][0]} to {changes[-1][1]}"
        to = f" to {' or '.join(entry.turns_to)}" if entry.turns_to else ""
        first = f": {seen.lights[0]} is its first" if len(seen.lights) == 1 else ""
        waits.append(f"the light of {entry.watched} did not change{to}{first}")
    return False, "; ".join(waits)


def _running(known: Known, schedule: Schedule, now: datetime) -> str:
    assert known.lease_until
    said = f"{known.owner} runs it; unless it gives a sign, its lease ends {shown_in(schedule, known.lease_until)}"
    if known.lease_until - now > timedelta(minutes=2 * schedule.lease):
        return f"{said}, further ahead than a lease: a clock is wrong; --release frees it"
    return said


def shown_in(schedule: Schedule, at: datetime) -> str:
    """A moment to the minute, in the schedule's zone."""
    return at.astimezone(schedule.zone).strftime("%Y-%m-%d %H:%M %Z")
