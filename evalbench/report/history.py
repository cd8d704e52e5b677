"""The runs below a folder of reports, out of ``run.json`` and ``results.json`` alone: what they say, what changed.

A change is relative to the previous *comparable* run: the same study, data (SHA-256), thing judged and parameters, but for
those that only resample or rename (:data:`NOT_COUNTED`); and to the same figure of the same group in it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote

from evalbench.core.result import deciding_row
from evalbench.core.wording import estimate_parts, group_of, shared_decimals, title_of
from evalbench.draw.verdict import data_label
from evalbench.errors import BadInput
from evalbench.readers.runs import FINISHED, PAGE, read_results, read_run, run_folders

NOT_COUNTED = ("data", "columns", "cluster", "slices", "seed", "n_resamples")
UNREADABLE = "cannot be read"  # the status of a run whose files are damaged
HISTORY = 60  # runs that a history shows


class Headline(NamedTuple):
    """A figure of a run.

    - ``group``: Names of its groups; empty for the whole.
    - ``n_groups``: How many groups have this figure.
    - ``decides``: Whether the run's light rests on it.
    - ``shown``, ``interval``: Value and interval as the page's table has them.
    - ``title``: The words for the metric.
    """

    metric: str
    value: float | None
    low: float | None
    high: float | None
    higher_is_better: bool | None
    group: str
    n_groups: int
    decides: bool = False
    shown: str = "–"
    interval: str = ""
    title: str = ""


class Change(NamedTuple):
    """A figure against that of the previous comparable run.

    - ``clear``: The two intervals have no value in common.
    - ``better``: None where the figure has no direction, or nothing changed.
    - ``headline``: As it was.
    """

    delta: float
    clear: bool
    better: bool | None
    headline: Headline
    before: Run


class Run(NamedTuple):
    """One line.

    - ``started``: UTC, ISO 8601; empty where unknown.
    - ``judged``, ``light``: Empty where the run has no result.
    - ``data``: ``name@version``; empty where unknown.
    - ``headline``: See :func:`headline`.
    - ``headlines``: All figures that have a value, by metric and group.
    - ``comparable``: Equal for comparable runs; empty where there is nothing to compare.
    - ``href``: The run's page, relative to the index; empty where it has none.
    - ``settings``: Parameters but for those of :data:`NOT_COUNTED`.
    - ``seed``: The parameter of this name.
    - ``sha256``: Of the data; empty where unknown.
    - ``answer``: What the study answers, in plain words; empty where the run has none.
    """

    study: str
    run_id: str
    status: str
    error: str
    started: str
    seconds: float | None
    judged: str = ""
    data: str = ""
    light: str = ""
    synthetic: bool = False
    headline: Headline | None = None
    headlines: Mapping[tuple[str, str], Headline] = MappingProxyType({})
    comparable: str = ""
    href: str = ""
    settings: Mapping[str, Any] = MappingProxyType({})
    seed: Any = None
    sha256: str = ""
    answer: str = ""


class Line(NamedTuple):
    """A run, what changed, and the parameters that tell it from the other runs of its study on its data.

    ``replaced``: it failed, and there is a newer run of its study on its data.
    """

    run: Run
    change: Change | None
    differs: str = ""
    replaced: bool = False


class Standing(NamedTuple):
    """The state of a study on a data set: its last run, its last figure, and the figure's history."""

    last: Run
    line: Line | None
    history: tuple[Headline, ...]
    n_runs: int


# -- reading ------------------------------------------------------------------------------------


def read_runs(reports: Path) -> list[Run]:
    """Every run below a folder of reports, newest first."""
    found = [_run(folder) for folder in run_folders(reports)]
    return sorted(found, key=lambda run: (run.started, run.run_id), reverse=True)


def _run(folder: Path) -> Run:
    study, run_id = folder.parent.name, folder.name
    href = f"{quote(study)}/{quote(run_id)}/{PAGE}" if (folder / PAGE).is_file() else ""
    try:
        record = read_run(folder)
        status = str(record["status"])
        results = read_results(folder) if status in FINISHED else None
    except BadInput as error:
        return Run(study, run_id, UNREADABLE, str(error).replace(f"{folder}/", ""), "", None, href=href)
    seconds = record.get("seconds")
    started = str(record.get("started") or "")
    known = record.get("data")
    data = data_label(known) if isinstance(known, Mapping) else ""
    base = Run(study, run_id, status, str(record.get("error") or ""), started, seconds, data=data, href=href)
    return base if results is None else _with_results(base, results)


def _with_results(run: Run, results: Mapping[str, Any]) -> Run:
    shown = headline(results)
    by = results.get("by") or ()
    data = results["data"]
    settings = {k: v for k, v in results["parameters"].items() if k not in NOT_COUNTED}
    key = [run.study, results["judged"], data["sha256"], settings]
    headlines = _headlines([row for row in results["summary"] if row["value"] is not None], by)
    return run._replace(
        judged=str(results["judged"]),
        data=data_label(data),
        light=str(results["light"]),
        synthetic=bool(data.get("synthetic")),
        headline=shown,
        headlines={(f.metric, f.group): f for f in headlines},
        comparable=json.dumps(key, sort_keys=True) if shown and shown.value is not None else "",
        settings=settings,
        seed=results["parameters"].get("seed"),
        sha256=str(data["sha256"]),
        answer=str((results.get("answer") or {}).get("answer", "")),
    )


def headline(results: Mapping[str, Any]) -> Headline | None:
    """The figure that the light rests on; where none decided, the first one: that of the whole, or of the first group.

    - ``results``: Content of ``results.json``.
    """
    summary, by = results["summary"], results.get("by") or ()
    if not summary:
        return None
    deciding = deciding_row(results)
    row = deciding or _first(summary, by, str(results["light"]))
    groups = [r for r in summary if r["metric"] == row["metric"] and group_of(r, by)]
    own = [r for r in summary if r["metric"] == row["metric"]]
    return _headlines(own, by)[own.index(row)]._replace(n_groups=max(len(groups), 1), decides=deciding is not None)


def _first(summary: Sequence[Mapping[str, Any]], by: Sequence[str], light: str) -> Mapping[str, Any]:
    """Of the first metric with a light, the row with the run's own light; of the first metric, the whole or the first group."""
    lit = [row for row in summary if row.get("light") not in (None, "unlit")]
    if lit:
        rows = [row for row in lit if row["metric"] == lit[0]["metric"]]
        return next((row for row in rows if row["light"] == light), rows[0])
    rows = [row for row in summary if row["metric"] == summary[0]["metric"]]
    return next((row for row in rows if not group_of(row, by)), rows[0])


def _headlines(rows: Sequence[Mapping[str, Any]], by: Sequence[str]) -> list[Headline]:
    """A summary's rows, rounded as the page's table has them: all rows of a metric alike."""
    metrics: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        metrics.setdefault(row["metric"], []).append(row)
    decimals = {name: shared_decimals(group) for name, group in metrics.items()}
    return [
        Headline(
            str(row["metric"]),
            row["value"],
            row.get("ci_low"),
            row.get("ci_high"),
            row.get("higher_is_better"),
            group_of(row, by),
            1,
            False,
            *(("–", "") if row["value"] is None else estimate_parts(row, decimals[row["metric"]])),
            title_of(row),
        )
        for row in rows
    ]


# -- comparing ----------------------------------------------------------------------------------


def lines(runs: Sequence[Run]) -> list[Line]:
    """Each run with its change; ``runs`` newest first."""
    last: dict[str, Run] = {}
    found = []
    varying = _varying(runs)
    newest = {(run.study, run.data): run for run in reversed(runs)}
    for run in reversed(runs):
        before = last.get(run.comparable) if run.comparable else None
        differs = ", ".join(
            f"{name}={_shown(run.settings[name])}"
            for name in varying.get((run.study, run.data), ())
            if name in run.settings
        )
        failed = not run.light and run.status != "running"
        replaced = failed and newest[run.study, run.data] is not run
        found.append(Line(run, _change(run, before) if before else None, differs, replaced))
        if run.comparable:
            last[run.comparable] = run
    return found[::-1]


def previous(runs: Sequence[Run], run: Run, besides: Collection[str] = ()) -> tuple[Run | None, str]:
    """The last comparable run before a run: of those with its seed, else of all; or why there is none.

    - ``runs``: Newest first.
    - ``besides``: Ids of runs that do not count, such as those of the same suite.
    """
    if not run.comparable:
        return None, "its headline figure has no value"
    before = [
        r
        for r in runs
        if r.comparable and r.run_id not in besides and (r.started, r.run_id) < (run.started, run.run_id)
    ]
    alike = [r for r in before if r.comparable == run.comparable]
    if alike:
        return next((r for r in alike if r.seed == run.seed), alike[0]), ""
    return None, _not_comparable([r for r in before if r.study == run.study], run)


def _not_comparable(before: Sequence[Run], run: Run) -> str:
    """How the earlier runs of a study differ from a run: the last ones with its data, else the last one."""
    if not before:
        return f"no earlier run of {run.study}"
    _, judged, data, settings = json.loads(run.comparable)
    others = [(r.run_id, *json.loads(r.comparable)[1:]) for r in before]
    run_id, subject, sha256, stated = next((o for o in others if o[2] == data), others[0])
    if sha256 != data:
        return (
            f"other data than in all earlier runs of {run.study}, such as {run_id}: they are not compared unit by unit"
        )
    differing = [name for name in {**settings, **stated} if settings.get(name) != stated.get(name)]
    what = [f"{subject} was judged"] * (subject != judged) + [f"{name} differs" for name in differing]
    return f"no earlier run is comparable; in the last on these data, {run_id}, {', '.join(what)}"


def _varying(runs: Sequence[Run]) -> dict[tuple[str, str], list[str]]:
    """For each study and data set the parameters of which its runs have several values."""
    values: dict[tuple[str, str], dict[str, set[str]]] = {}
    for run in runs:
        seen = values.setdefault((run.study, run.data), {})
        for name, value in run.settings.items():
            seen.setdefault(name, set()).add(_shown(value))
    return {key: [name for name, held in seen.items() if len(held) > 1] for key, seen in values.items()}


def _shown(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _change(run: Run, before: Run) -> Change | None:
    """The headline figure against that of the same group before; None where that run does not have it."""
    now = run.headline
    then = before.headlines.get((now.metric, now.group)) if now else None
    if now is None or now.value is None or then is None or then.value is None:
        return None
    delta = now.value - then.value
    known = None not in (now.low, now.high, then.low, then.high)
    clear = known and (now.low > then.high or now.high < then.low)  # type: ignore[operator]
    better = None if now.higher_is_better is None or delta == 0 else (delta > 0) == now.higher_is_better
    return Change(delta, bool(clear), better, then, before)


def standings(found: Sequence[Line]) -> list[Standing]:
    """One per study and data set, in the order of their names; ``found`` newest first.

    The history is that of the runs comparable to the last one with a figure.
    """
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in found:
        groups.setdefault((line.run.study, line.run.data), []).append(line)
    named = {study for study, data in groups if data}
    return [_standing(members) for (study, data), members in sorted(groups.items()) if data or study not in named]


def _standing(members: Sequence[Line]) -> Standing:
    newest = next((m for m in members if m.run.comparable), None)
    if newest is None or newest.run.headline is None:
        return Standing(members[0].run, newest, (), len(members))
    place = (newest.run.headline.metric, newest.run.headline.group)
    alike = [m.run.headlines.get(place) for m in members if m.run.comparable == newest.run.comparable]
    return Standing(members[0].run, newest, tuple(f for f in alike if f)[:HISTORY][::-1], len(members))
