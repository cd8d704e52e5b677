"""A schedule: what is to be run when, in one YAML file, checked whole before anything is run.

::

    timezone: Europe/Berlin          # cron expressions and windows are read in it
    store: logs.sqlite               # the log store: a file, or postgresql://HOST/DATABASE
    lease: 15                        # minutes after which a run that gives no sign is taken over
    retries: 1                       # how often a run that failed is tried again
    retry_after: 10                  # minutes before that
    entries:
      - name: drift
        cron: "0 6 * * *"            # due by the clock …
        rows: 5000                   # … or as soon as the store has so many new rows
        study: drift
        windows: {oos: [2026-01-01, 2026-04-01], oot: last 30 days}
        parameters: {n_resamples: 500}
      - name: closer look
        after_light: {entry: drift, to: [yellow, red]}
        study: text_metrics
        window: last 7 days          # the store's rows of this window, as a table
        metrics_from: monitored.json
      - {name: weekly suite, cron: "0 3 * * 1", suite: nightly.yaml}
      - {name: to the warehouse, cron: "30 * * * *", export: delivered}

Relative paths start from the folder of the schedule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from evalbench.core.verdict import LIGHTS
from evalbench.errors import BadInput
from evalbench.monitor.occasions import cron_fault, window_fault
from evalbench.readers.log_store.address import Address, address_of
from evalbench.readers.strict_yaml import read_yaml
from evalbench.runs.notebooks import known_parameters

LEASE, RETRIES, RETRY_AFTER = 15.0, 1, 10.0
WHEN, WHAT = ("cron", "rows", "after_light"), ("study", "suite", "export")
BATCH = ("data", "parameters", "matrix", "timeout", "memory", "max_calls", "max_cost")
_TOP = ("name", "timezone", "store", "state", "out", "lease", "retries", "retry_after", "entries")
_ENTRY = ("name", *WHEN, "starts", *WHAT, *BATCH, "window", "windows", "metrics_from", "out", "retries", "retry_after")
_NAME = re.compile(r"[^\s/\\.](?:[^/\\\n\r\t]{0,78}[^\s/\\.])?")
_NAMED = "expected 1 to 80 characters without slashes, dots or spaces at its ends"
_A_YEAR = 366 * 24 * 60


@dataclass(frozen=True)
class Entry:
    """What is run, and when.

    - ``cron``: Empty where the clock does not make it due.
    - ``rows``: New rows of the store that make it due; 0: none do.
    - ``watched``, ``turns_to``: The entry whose change of light makes it due, and the lights that count; all where
      empty.
    - ``what``: ``study``, ``suite`` or ``export``.
    - ``target``: The study or notebook; the path of the suite, the folder of the export.
    - ``batch``: What an entry of a suite would state: data, parameters, matrix, limits.
    - ``window``: The rows of the store that a study is given as a table, or an export has; None without.
    - ``windows``: Name → window, given to the study as parameters ``NAME_from`` and ``NAME_to``.
    - ``metrics_from``: A file that ``evalbench monitor choose`` wrote.
    - ``starts``: When it counts from: a date or time, else None: when the schedule is first looked at.
    - ``out``: Folder of its reports.
    - ``retry_after``: Minutes.
    """

    name: str
    cron: str
    rows: int
    watched: str
    turns_to: tuple[str, ...]
    what: str
    target: str
    batch: Mapping[str, Any] = field(default_factory=dict)
    window: Any = None
    windows: Mapping[str, Any] = field(default_factory=dict)
    metrics_from: Path | None = None
    starts: Any = None
    out: Path | None = None
    retries: int = RETRIES
    retry_after: float = RETRY_AFTER


@dataclass(frozen=True)
class Schedule:
    """A schedule that has been checked.

    - ``name``: What its state is kept under; the stem of the file unless stated.
    - ``store``, ``stated``: Log store, and where the state is kept, where that is stated.
    - ``lease``: Minutes.
    """

    path: Path
    name: str
    zone: ZoneInfo
    store: Address | None
    stated: Address | None
    out: Path | None
    lease: float
    entries: tuple[Entry, ...]

    @property
    def base(self) -> Path:
        return self.path.parent

    @property
    def state(self) -> Address:
        """Where the state is kept: as stated, else in the store's database, else in a file beside the schedule."""
        return self.stated or self.store or Address(self.path.with_suffix(".due.sqlite"))

    def entry(self, name: str) -> Entry:
        return next(entry for entry in self.entries if entry.name == name)


def read_schedule(path: Path, root: Path | None = None) -> Schedule:
    """A schedule, checked whole.

    - ``root``: The workbench.

    Raises ``BadInput``: One message with every fault and its entry: unknown keys, names given twice, expressions that
    are never due, unknown time zones, studies, parameters, windows; entries that wait for each other's light in a
    circle.
    """
    path = path.resolve()
    content = read_yaml(path)
    if not isinstance(content, dict) or not isinstance(content.get("entries"), list) or not content["entries"]:
        raise BadInput(f"{path}: expected a mapping with 'entries:', a list of at least one")
    reading = _Reading(path.parent, content, root)
    entries = tuple(reading.entries())
    reading.whole(entries)
    if reading.faults:
        raise BadInput.listing(f"{path}: nothing was run:", reading.faults)
    return Schedule(
        path=path,
        name=str(content.get("name") or path.stem),
        zone=reading.zone or ZoneInfo("UTC"),
        store=reading.place("store"),
        stated=reading.place("state"),
        out=path.parent / content["out"] if content.get("out") else None,
        lease=float(content.get("lease") or LEASE),
        entries=entries,
    )


class _Reading:
    """The content of a file on its way to a schedule; every fault is kept."""

    def __init__(self, base: Path, content: Mapping[Any, Any], root: Path | None) -> None:
        self.base, self.content, self.root = base, content, root
        self.faults = [_unknown(name, _TOP) for name in content if name not in _TOP]
        self.zone = self._zone()
        for name in ("name", "store", "state", "out"):
            if name in content and (not isinstance(content[name], str) or not content[name].strip()):
                self.faults.append(f"{name}: expected a text, found {content[name]!r}")
            elif name in ("store", "state") and name in content:
                try:
                    address_of(content[name])
                except BadInput as error:
                    self.faults.append(f"{name}: {error}")
        if not _NAME.fullmatch(str(content.get("name", "x"))):
            self.faults.append(f"name: {_NAMED}")
        if fault := _number_fault(content.get("lease", LEASE), 1, 24 * 60, whole=False):
            self.faults.append(f"lease: expected minutes from 1 to 1440, {fault}")

    def place(self, name: str) -> Address | None:
        """A database; a file's path is absolute.  None where none is stated."""
        if not self.content.get(name):
            return None
        address = address_of(self.content[name])
        return Address((self.base / address.path).resolve()) if address.path else address

    def _zone(self) -> ZoneInfo | None:
        stated = self.content.get("timezone")
        if stated is None:
            self.faults.append("timezone: missing; cron expressions and windows need one, such as Europe/Berlin or UTC")
            return None
        try:
            return ZoneInfo(stated)
        except (KeyError, ValueError, TypeError, OSError):
            self.faults.append(f"timezone: no time zone {stated!r}; expected a name such as Europe/Berlin or UTC")
            return None

    def entries(self) -> Iterator[Entry]:
        """The entries of a sound form; the faults of all others are kept."""
        for number, values in enumerate(self.content["entries"], 1):
            named = values.get("name") if isinstance(values, dict) else None
            where = f"entry {number}" + (f" ({named})" if isinstance(named, str) else "")
            before = len(self.faults)
            if not isinstance(values, dict):
                self.faults.append(f"{where}: expected 'name:', when it is due, and what is run")
                continue
            given = {name: value for name, value in values.items() if value is not None}
            self.faults += [f"{where}: {fault}" for fault in self._entry_faults(given)]
            if len(self.faults) == before:
                yield self._entry(given)

    def _entry(self, given: Mapping[str, Any]) -> Entry:
        watched = given.get("after_light") or {}
        what = next(name for name in WHAT if name in given)
        target = str(given[what])
        if what == "export" or what == "suite" or target.endswith(".ipynb"):
            target = str((self.base / Path(target).expanduser()).resolve())
        return Entry(
            name=given["name"],
            cron=given.get("cron", ""),
            rows=given.get("rows", 0),
            watched=watched.get("entry", ""),
            turns_to=tuple(_listed(watched.get("to"))),
            what=what,
            target=target,
            batch={name: given[name] for name in BATCH if name in given},
            window=given.get("window"),
            windows=given.get("windows", {}),
            metrics_from=self.base / given["metrics_from"] if "metrics_from" in given else None,
            starts=given.get("starts"),
            out=(self.base / given["out"]).resolve() if "out" in given else None,
            retries=given.get("retries", self.content.get("retries", RETRIES)),
            retry_after=float(given.get("retry_after", self.content.get("retry_after", RETRY_AFTER))),
        )

    def _entry_faults(self, given: Mapping[Any, Any]) -> Iterator[str]:
        yield from (_unknown(name, _ENTRY) for name in given if name not in _ENTRY)
        if not isinstance(given.get("name"), str) or not _NAME.fullmatch(given["name"]):
            yield f"name: {_NAMED}"
        yield from self._when_faults(given)
        yield from self._what_faults(given)
        for name in ("retries", "retry_after"):
            value = given.get(name, self.content.get(name, 0))
            if fault := _number_fault(value, 0, 100 if name == "retries" else _A_YEAR, whole=name == "retries"):
                yield f"{name}: expected {'a count up to 100' if name == 'retries' else 'minutes, up to a year'}, {fault}"
        for name in ("out", "metrics_from"):
            if name in given and not isinstance(given[name], str):
                yield f"{name}: expected a path, found {given[name]!r}"

    def _when_faults(self, given: Mapping[Any, Any]) -> Iterator[str]:
        if not any(name in given for name in WHEN):
            yield f"when is it due? Expected at least one of {', '.join(WHEN)}"
        if "cron" in given and (fault := cron_fault(given["cron"])):
            yield f"cron: {fault}"
        if "rows" in given:
            if fault := _number_fault(given["rows"], 1, 10**12, whole=True):
                yield f"rows: expected a count of new rows from 1, {fault}"
            if not self.content.get("store"):
                yield "rows: needs a log store to count them in: state 'store:' above the entries"
        watched = given.get("after_light", {"entry": ""})
        if not isinstance(watched, dict) or set(watched) - {"entry", "to"} or not isinstance(watched.get("entry"), str):
            yield f"after_light: expected {{entry: NAME}} or {{entry: NAME, to: [red]}}, found {watched!r}"
        elif set(map(str, _listed(watched.get("to")))) - set(LIGHTS):
            yield f"after_light: to: expected lights out of {', '.join(LIGHTS)}, found {watched['to']!r}"
        if "starts" in given and (
            window_fault(["1999-12-31", given["starts"]]) or window_fault([given["starts"], "2200-01-01"])
        ):
            yield f"starts: expected a date or time from 2000 to 2199 in ISO 8601, found {given['starts']!r}"

    def _what_faults(self, given: Mapping[Any, Any]) -> Iterator[str]:
        what = [name for name in WHAT if name in given]
        if len(what) != 1 or not isinstance(given[what[0]], str) or not given[what[0]].strip():
            yield f"what is run? Expected one of {', '.join(WHAT)}, with a name or path"
            return
        stated = [name for name in (*BATCH, "windows", "metrics_from") if name in given]
        if what != ["study"] and stated:
            yield f"{', '.join(stated)}: only with study; a suite states them itself"
        if what == ["suite"]:
            if "window" in given:
                yield "window: only with study or export"
            if not (self.base / Path(given["suite"]).expanduser()).is_file():
                yield f"suite: {given['suite']}: no such file"
        windows = given.get("windows", {})
        if not isinstance(windows, dict) or not all(isinstance(name, str) for name in windows):
            yield f"windows: expected {{NAME: window}}, found {windows!r}"
            windows = {}
        for name, stated_window in [*windows.items(), *([("window", given["window"])] if "window" in given else [])]:
            if fault := window_fault(stated_window):
                yield f"{name}: {fault}"
        used = [name for name in ("window", "windows") if given.get(name)]
        if (used or what == ["export"]) and not self.content.get("store"):
            yield f"{', '.join(used) or 'export'}: needs a log store: state 'store:' above the entries"
        if used and "data" in given:
            yield f"data, {used[0]}: a window is read from the log store; state only one of the two"
        if len(used) == 2:
            yield "window, windows: state only one of the two"
        if what == ["study"]:
            yield from self._study_faults(given, windows)

    def _study_faults(self, given: Mapping[Any, Any], windows: Mapping[str, Any]) -> Iterator[str]:
        study = given["study"]
        try:
            target = str(self.base / study) if study.endswith(".ipynb") else study
            known = known_parameters(target, self.root)
        except BadInput as error:
            yield f"study: {error}"
            return
        names = [f"{name}_{end}" for name in windows for end in ("from", "to")]
        lacking = [name for name in names if name not in known]
        if lacking:
            yield f"windows: {study} has no parameter {', '.join(lacking)}"
        stated = {**_mapping(given.get("parameters")), **_mapping(given.get("matrix"))}
        yield from (f"{name}: given twice" for name in stated if name in names)
        yield from (_unknown(name, tuple(known)) for name in stated if name not in known)
        if "metrics_from" in given:
            if "metrics" not in known:
                yield f"metrics_from: {study} has no parameter metrics"
            if "metrics" in stated:
                yield "metrics, metrics_from: state only one of the two"
            if isinstance(given["metrics_from"], str) and not (self.base / given["metrics_from"]).is_file():
                yield f"metrics_from: {given['metrics_from']}: no such file; `evalbench monitor choose RUN` writes it"

    def whole(self, entries: tuple[Entry, ...]) -> None:
        """Faults that no entry has by itself."""
        listed = [v.get("name") for v in self.content["entries"] if isinstance(v, dict)]
        names = [name for name in listed if isinstance(name, str)]
        self.faults += [f"{name}: two entries have this name" for name in dict.fromkeys(names) if names.count(name) > 1]
        watched = {entry.name: entry.watched for entry in entries if entry.watched}
        for name, other in watched.items():
            if other not in names:
                near = get_close_matches(other, names, n=1)
                self.faults.append(
                    f"entry {name}: after_light: no entry {other!r}" + (f"; did you mean {near[0]}?" if near else "")
                )
        circles = {frozenset(circle) for name in watched if (circle := _circle(name, watched))}
        self.faults += [f"after_light: {', '.join(sorted(names))}: they wait for each other" for names in circles]


def _circle(name: str, watched: Mapping[str, str]) -> list[str]:
    """The entries from one back to itself; empty where there is no way back."""
    path = [name]
    while (following := watched.get(path[-1])) is not None and following not in path:
        path.append(following)
    return path if following == name else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return {str(name): one for name, one in value.items()} if isinstance(value, dict) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _unknown(name: Any, known: tuple[str, ...]) -> str:
    near = get_close_matches(str(name), known, n=1)
    return f"unknown key {name}; " + (f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}")


def _number_fault(value: Any, low: float, high: float, whole: bool) -> str:
    kinds = (int,) if whole else (int, float)
    return "" if type(value) in kinds and low <= value <= high else f"found {value!r}"
