"""``evalbench monitor due`` and ``evalbench monitor choose``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalbench.commands.options import FAIL_ON, MEMORY, ROOT, WORKERS, NewPath, Number, out_folder, timeout_of
from evalbench.commands.run import unjudged
from evalbench.errors import BadInput

if TYPE_CHECKING:
    from evalbench.monitor.carrying import Done, Rows
    from evalbench.monitor.due import Standing
    from evalbench.monitor.schedule import Schedule


@click.command("due")
@click.argument("schedule_file", type=click.Path(path_type=Path), metavar="SCHEDULE.yaml")
@click.option(
    "--list",
    "--dry-run",
    "only_list",
    is_flag=True,
    help="Show what is due and why, and what comes next; run and write nothing.",
)
@click.option(
    "--at", metavar="TIME", help="With --list: as of this time, in ISO 8601 (without a zone: in the schedule's)."
)
@click.option("--entry", "names", multiple=True, metavar="NAME", help="Look at this entry only; may be repeated.")
@click.option("--release", metavar="NAME", help="End the lease of this entry, whose run will not go on; runs nothing.")
@WORKERS
@timeout_of("runs whose entry sets none")
@out_folder("Folder for reports of entries that name none (default: reports/).")
@ROOT
@MEMORY
@FAIL_ON
def due(
    schedule_file: Path,
    only_list: bool,
    at: str | None,
    names: tuple[str, ...],
    release: str | None,
    workers: int | None,
    scheduler: str | None,
    timeout: float | None,
    out: Path | None,
    root: Path | None,
    memory: int | None,
    fail_on: tuple[str, ...],
) -> None:
    """Run what is due by a schedule; call it from cron, Airflow or CI, as often as you like.

    Each due time is run once, whichever host is first; those that were missed are caught up by one run. Exit codes are
    those of `evalbench batch`; 0 also where nothing was due.
    """
    from evalbench import workbench
    from evalbench.commands.batch import _progress
    from evalbench.core.schedulers import checked_address
    from evalbench.monitor.carrying import carry_out, standings, unknown_names
    from evalbench.monitor.entry_runs import Carrier
    from evalbench.monitor.ledger import opened, shared_disk
    from evalbench.monitor.overview import overview
    from evalbench.monitor.schedule import read_schedule
    from evalbench.report.index import write_index
    from evalbench.runs.kernel import memory_fault

    _refuse_without_packages()
    schedule = read_schedule(schedule_file, root)
    unknown_names(schedule, [*names, *([release] if release else [])])
    if at and not only_list:
        raise BadInput("--at goes with --list: what is run is run now")
    if scheduler is not None and workers is not None:
        raise BadInput("--workers and --scheduler: a scheduler has its own workers; use only one of the two options")
    scheduler = checked_address(scheduler) if scheduler is not None else None
    if fault := memory_fault(memory):
        raise BadInput(f"--memory: {fault}")
    now = _moment(at, schedule) if at else datetime.now(UTC)
    with _rows(schedule) as rows:
        if only_list:
            _print_list(schedule, now, rows, names)
            return
        if schedule.state.path and (kind := shared_disk(schedule.state.path)):
            click.echo(
                f"{schedule.state.path} is on a network file system ({kind}), whose locks are not reliable: two hosts could "
                "run the same; name a PostgreSQL database in 'state:'",
                err=True,
            )
        ledger = opened(schedule.state, make=schedule.state != schedule.store)
        if release:
            freed = ledger.release(schedule.name, release, now)
            click.echo(f"{release}: {'its run can be begun again' if freed else 'nobody was running it'}")
            return
        reports = (out or schedule.out or workbench.reports(root)).resolve()
        carrier = Carrier(schedule, reports, root, workers, scheduler, timeout, memory, _progress, [])
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # what stops a run from outside is written down
        done = carry_out(
            schedule,
            ledger,
            carrier,
            clock=_now,
            rows=rows,
            only=names,
            begins=lambda standing: click.echo(f"{standing.entry.name}: {standing.because}", err=True),
            say=lambda text: click.echo(text, err=True),
        )
        found, _ = standings(schedule, ledger, _now(), rows)
        code = print_done(schedule, done, found, fail_on)
        try:
            click.echo(f"overview {overview(schedule, ledger, found, _now(), reports)}")
            write_index(reports)  # which names the overview
        except BadInput as error:  # what ran has run, and its exit code counts
            click.echo(f"no overview: {error}", err=True)
        ledger.close()
    for line in unjudged([str(o.results["light"]) for o in carrier.outcomes if o.results], fail_on):
        click.echo(line, err=True)
    sys.exit(code)


def print_done(schedule: Schedule, done: Sequence[Done], found: Sequence[Standing], fail_on: Sequence[str]) -> int:
    """Print how entries ended, and what the others wait for; the exit code."""
    from evalbench.commands.batch import first_code
    from evalbench.commands.run import exit_code
    from evalbench.core.verdict import SYMBOLS
    from evalbench.monitor.ledger import EMPTY

    codes = []
    for one in done:
        ended, name = one.ended, one.standing.entry.name
        judged = ended.status in ("ok", EMPTY)
        codes.append(0 if judged or ended.status == "lost" else 1)
        if judged and ended.light:
            codes.append(exit_code(ended.light, fail_on))
        light = f"{SYMBOLS[ended.light]} {ended.light}" if judged and ended.light else ended.status
        said = f"nothing to judge: {ended.said}" if ended.status == EMPTY else ended.said
        click.echo(f"{light:<10} {name}  {said}".rstrip())
        for page in ended.pages:
            click.echo(f"           {page}")
    if not done:
        click.echo("nothing was due")
    ran = {one.standing.entry.name for one in done}
    for standing in found:
        again = standing.state in ("retry", "running") or standing.entry.name not in ran
        if again:
            click.echo(f"{standing.state:<10} {standing.entry.name}  {_waits(schedule, standing)}".rstrip())
    return first_code(*codes)


def _waits(schedule: Schedule, standing: Standing) -> str:
    """Why an entry is where it is, and when it is due next."""
    from evalbench.monitor.due import shown_in

    following = shown_in(schedule, standing.next) if standing.next else ""
    return "; ".join(part for part in (standing.because, f"next {following}" if following else "") if part)


def _print_list(schedule: Schedule, now: datetime, rows: Rows | None, names: Sequence[str]) -> None:
    from evalbench.monitor.carrying import standings
    from evalbench.monitor.due import due as due_of
    from evalbench.monitor.ledger import is_kept, opened

    if not is_kept(schedule.state):
        found = due_of(schedule, {}, now)
    else:
        ledger = opened(schedule.state)
        found, _ = standings(schedule, ledger, now, rows, keep=False)
        ledger.close()
    zone = schedule.zone
    click.echo(f"{schedule.name}, as of {now.astimezone(zone):%Y-%m-%d %H:%M %Z}, time zone {zone.key}")
    for standing in found:
        if not names or standing.entry.name in names:
            click.echo(f"{standing.state:<10} {standing.entry.name}  {_waits(schedule, standing)}".rstrip())


@contextmanager
def _rows(schedule: Schedule) -> Iterator[Rows | None]:
    """How far the schedule's store has come."""
    from evalbench.monitor.carrying import Rows
    from evalbench.readers.log_store.log import Log
    from evalbench.readers.log_store.times import Window, microseconds

    if schedule.store is None:
        yield None
        return
    with Log(schedule.store.named) as log:
        log.mark()  # refuses what is no log store, before the state is made in its database
        yield Rows(log.mark, lambda after: log.count(after=after), lambda at: log.mark(Window(end=microseconds(at))))


def _now() -> datetime:
    return datetime.now(UTC)


def _moment(text: str, schedule: Schedule) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"--at {text}: expected a time in ISO 8601, such as 2026-12-24T06:00") from None
    return (found if found.tzinfo else found.replace(tzinfo=schedule.zone)).astimezone(UTC)


def _refuse_without_packages() -> None:
    from importlib.util import find_spec

    lacking = [name for name in ("cronsim", "sqlalchemy") if find_spec(name) is None]
    if lacking:
        raise BadInput(f"a schedule needs {' and '.join(lacking)}: pip install 'evalbench[monitor]'")


@click.command("choose")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=NewPath(dir_okay=False), help="The file to write, JSON.")
@click.option(
    "--criterion",
    "criteria",
    multiple=True,
    help="A criterion that people marked (default: those that the run trusts); may be repeated.",
)
@click.option(
    "--at-least",
    default=0.3,
    show_default=True,
    type=Number(),
    help="The lowest correlation, in the metric's own direction.",
)
@click.option(
    "--alpha",
    default=0.05,
    show_default=True,
    type=Number(),
    help="The highest p after Holm's adjustment for all metrics of the run.",
)
@click.option("--most", default=5, show_default=True, help="So many metrics at most.")
@click.option(
    "--available",
    multiple=True,
    metavar="NAME",
    help="What the log has besides request and output: reference, context, samples, or a column that holds a metric; may be repeated.",
)
def choose(
    run: Path,
    out: Path,
    criteria: tuple[str, ...],
    at_least: float,
    alpha: float,
    most: int,
    available: tuple[str, ...],
) -> None:
    """Choose the metrics to monitor by RUN, a finished run of human_correlation.

    They are those that correlate with the labels of annotators at primary validation. A schedule names the file in
    `metrics_from`. Exit code 4 where no metric qualifies.
    """
    from evalbench.monitor.chosen import CAUTION, IN_A_LOG, chosen_of
    from evalbench.readers.runs import write_json

    found = chosen_of(
        run, criteria=criteria, available=(*IN_A_LOG, *available), alpha=alpha, at_least=at_least, most=most
    )
    write_json(out, found.to_json())
    for one in found.metrics:
        value = "no value" if one.value is None else f"{one.value:.2f}"
        if one.ci_low is not None and one.ci_high is not None:
            value += f" [{one.ci_low:.2f}, {one.ci_high:.2f}]"
        p = "" if one.p_holm is None else f"  p {one.p_holm:.2g}"
        click.echo(
            f"{'monitored' if one.monitored else 'no':<10} {one.metric}  {value}{p}{f'  {one.why}' if one.why else ''}"
        )
    click.echo(f"rule: {found.rule}")
    click.echo(CAUTION)
    click.echo(f"chosen  {out}")
    sys.exit(0 if found.monitored else 4)
