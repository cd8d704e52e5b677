"""``evalbench batch``."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalbench.commands.options import FAIL_ON, LIMITS, MEMORY, OUT, ROOT, WORKERS, timeout_of
from evalbench.commands.run import exit_code, print_dry_run, report_edits, unjudged
from evalbench.core import progress as progressing
from evalbench.readers.runs import PAGE

if TYPE_CHECKING:
    from evalbench.commands.against import Against
    from evalbench.core.progress import State
    from evalbench.runs.batch import Outcome, Watcher
    from evalbench.runs.suite import Job

_LABEL_WIDTH = 52
_BAR_WIDTH = 48  # of the bar itself, its counts and its clock


@click.command("batch")
@click.argument("suite", type=click.Path(path_type=Path), metavar="SUITE.yaml")
@WORKERS
@click.option("--resume", is_flag=True, help="Skip runs already finished with the same inputs.")
@click.option("--fork/--no-fork", default=True, help="Fork kernels from a preloaded process, where supported.")
@timeout_of("runs whose suite sets none")
@OUT
@ROOT
@click.option(
    "--against",
    type=click.Choice(["previous"]),
    help="Compare each run with its previous comparable one, paired, with Holm's adjustment over the suite: exit with 3 "
    "where a figure got worse, with 5 where there is no evidence either way.",
)
@click.option(
    "--margin",
    "margin",
    multiple=True,
    metavar="metric=number",
    help="With --against: this metric counts, and being worse by less than number does not matter; may be repeated "
    "(default: the first metric of each run, without a margin).",
)
@MEMORY
@LIMITS
@FAIL_ON
def batch(
    suite: Path,
    workers: int | None,
    scheduler: str | None,
    resume: bool,
    fork: bool,
    timeout: float | None,
    memory: int | None,
    out: Path | None,
    root: Path | None,
    against: str | None,
    margin: tuple[str, ...],
    dry_run: bool,
    max_calls: int | None,
    max_cost: float | None,
    fail_on: tuple[str, ...],
) -> None:
    """Render a suite of reports, several at once; prints a table and rebuilds the index.

    A budget (--max-calls, --max-cost) holds for each run whose entry in the suite sets none.
    """
    from evalbench import workbench
    from evalbench.commands.against import CODES, against_lines, against_previous, state_of, unknown_margins
    from evalbench.commands.compare import margins
    from evalbench.commands.step_summary import summarise_step
    from evalbench.core.schedulers import checked_address
    from evalbench.core.wording import counted
    from evalbench.errors import BadInput
    from evalbench.report.outputs import escaped, fenced
    from evalbench.runs.batch import run_batch
    from evalbench.runs.kernel import memory_fault
    from evalbench.runs.suite import read_suite
    from evalbench.runs.tables import refuse_suite

    if margin and not against:
        raise BadInput("--margin goes with --against previous")
    stated = margins(margin)
    if scheduler is not None:
        if workers is not None:
            raise BadInput(
                "--workers and --scheduler: a scheduler has its own workers; use only one of the two options"
            )
        scheduler = checked_address(scheduler)
    if fault := memory_fault(memory):
        raise BadInput(f"--memory: {fault}")
    limits = {name: n for name, n in (("max_calls", max_calls), ("max_cost", max_cost)) if n is not None}
    jobs = read_suite(suite, root, limits)
    refuse_suite(jobs, str(suite))
    report_edits([job.plan for job in jobs])
    if dry_run:
        each = [
            print_dry_run(
                job.plan, job.timeout or timeout, job.memory or memory, False, False, f"{job.number}  {job.label}"
            )
            for job in jobs
        ]
        sys.exit(max(each))
    reports = out or workbench.reports(root)
    with _progress(jobs) as watcher:
        outcomes = run_batch(
            jobs,
            reports=reports,
            workers=workers,
            scheduler=scheduler,
            fork=fork,
            timeout=timeout,
            memory=memory,
            resume=resume,
            watcher=watcher,
        )
    lines = table(outcomes)
    click.echo("\n".join(lines))
    found, faults, code = [], [], suite_exit_code(outcomes, fail_on)
    if against:
        found = against_previous(outcomes, stated, reports)
        faults = unknown_margins(stated, [o.results for o in outcomes if o.results])
        labels = {outcome.job.number: outcome.job.label for outcome in outcomes}
        said = against_lines(found, labels, state_of(found, faults), faults)
        click.echo("\n".join(said))
        lines += ["", *said]
        code = first_code(code, CODES[state_of(found, faults)])
    summarise_step(f"### {counted(len(outcomes), 'run')} of {escaped(suite.name)}\n\n{fenced(lines)}")
    gate = {"state": state_of(found, faults), "faults": faults, "margins": stated} if against else None
    click.echo(f"summary {_summarised(suite, outcomes, found, gate, code, reports)}")
    click.echo(f"index   {reports / 'index.html'}")
    for line in unjudged([str(o.results["light"]) for o in outcomes if o.results], fail_on):
        click.echo(line, err=True)
    sys.exit(code)


def first_code(*codes: int) -> int:
    """Of several exit codes the one that says most: 1 (a run failed), 3 (red or worse), 4 (grey), 5 (inconclusive), 0.

    Examples
    --------
    >>> first_code(0, 5), first_code(4, 5), first_code(1, 3)
    (5, 4, 1)
    """
    return min((code for code in codes if code), default=0)


def _summarised(
    suite: Path,
    outcomes: Sequence[Outcome],
    found: Sequence[Against],
    gate: Mapping[str, Any] | None,
    code: int,
    reports: Path,
) -> Path:
    """Write ``batch.json`` and its page; the path of the page."""
    from evalbench.report.batch_page import FOLDER, write_summary
    from evalbench.runs import folder as folders

    folder = folders.create(reports, FOLDER, suite.stem)
    by_number = {one.number: one for one in found}
    rows = []
    for o in outcomes:
        one = by_number.get(o.job.number)
        page = o.folder / PAGE
        rows.append({
            "number": o.job.number, "label": o.job.label, "study": o.job.plan.study, "run_id": o.folder.name,
            "report": Path(os.path.relpath(page, folder)).as_posix() if page.is_file() else None,
            "status": str(o.run["status"]), "error": str(o.run.get("error") or ""), "resumed": o.resumed,
            "light": str(o.results["light"]) if o.results else None, "headline": _figure(o),
            "answer": ((o.results or {}).get("answer") or {}).get("answer"),
            "seconds": o.run.get("seconds"), "against": one.row(folder) if one else None,
        })  # fmt: skip
    tests = {figure.comparison.n_tests for one in found for figure in one.figures}
    return write_summary(
        folder,
        {
            "suite": suite.name,
            "finished": folders.now(),
            "exit_code": code,
            "runs": rows,
            "against": None if gate is None else {**gate, "n_tests": max(tests, default=0)},
        },
    )


def suite_exit_code(outcomes: Sequence[Outcome], fail_on: Sequence[str]) -> int:
    """1 where a run failed; else the code of the worst light: 3 before 4 before 0."""
    if not all(outcome.ok for outcome in outcomes):
        return 1
    codes = {exit_code(str((outcome.results or {})["light"]), fail_on) for outcome in outcomes}
    return 3 if 3 in codes else max(codes, default=0)


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """The summary: a line for each run, and one for all."""
    lines = [
        f"{'':>4}  {'run':<{_LABEL_WIDTH}}  {'light':<11} {'headline figure':<{_LABEL_WIDTH}} {'took':>9} {'memory':>8}"
    ]
    for outcome in outcomes:
        took = "resumed" if outcome.resumed else _duration(outcome.run.get("seconds"))
        memory = outcome.run.get("peak_memory_mb")
        lines.append(
            f"{outcome.job.number:>4}  {_short(outcome.job.label):<{_LABEL_WIDTH}}  {_state(outcome):<11} "
            f"{_headline(outcome):<{_LABEL_WIDTH}} {took:>9} {'' if memory is None else f'{memory:.0f} MB':>8}"
        )
        if not outcome.ok:
            lines += [f"      {line}" for line in str(outcome.run.get("error")).splitlines()[:3]]
            lines.append(f"      {outcome.folder / PAGE}")
    bad = sum(not outcome.ok for outcome in outcomes)
    resumed = sum(outcome.resumed for outcome in outcomes)
    said = f"{len(outcomes)} runs: {len(outcomes) - bad} ok, {bad} failed"
    return [*lines, said + (f", {resumed} of them already finished" if resumed else "")]


def _state(outcome: Outcome) -> str:
    if outcome.results is None:
        return f"✕ {outcome.run['status']}"
    from evalbench.core.verdict import SYMBOLS

    light = str(outcome.results["light"])
    return f"{SYMBOLS[light]} {light}"


def _headline(outcome: Outcome) -> str:
    return _short(_figure(outcome))


def _figure(outcome: Outcome) -> str:
    """The headline figure in words; empty without one."""
    from evalbench.report.history import headline

    figure = headline(outcome.results) if outcome.results else None
    if figure is None:
        return ""
    group = f" of {figure.group}" if figure.group else ""
    return f"{figure.title} {f'{figure.shown} {figure.interval}'.rstrip()}{group}"


def _short(label: str) -> str:
    return label if len(label) <= _LABEL_WIDTH else label[: _LABEL_WIDTH - 1] + "…"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)}:{int(seconds % 60):02d} min"


class Progress:
    """What runs and is at, what is done and how long it may take: on stderr, a bar on a terminal, lines elsewhere."""

    def __init__(self, n_jobs: int, bar: Any = None) -> None:
        self.n_jobs = n_jobs
        self.running: dict[int, str] = {}
        self.states: dict[int, State] = {}
        self.n_done = 0
        self.n_run = 0
        self.bar = bar
        self.began = time.monotonic()

    def started(self, job: Job, worker: str) -> None:
        self.running[job.number] = job.label
        self._show()

    def at(self, job: Job, state: State) -> None:
        if job.number in self.running:
            self.states[job.number] = state
            self._show()

    def ended(self, outcome: Outcome) -> None:
        self.running.pop(outcome.job.number, None)
        self.states.pop(outcome.job.number, None)
        self.n_done += 1
        self.n_run += not outcome.resumed
        self.say(f"{self._place()}  {_state(outcome):<11} {outcome.job.label}  {_headline(outcome)}".rstrip())
        if self.bar is not None:
            self.bar.update()
        self._show()

    def lines(self) -> list[str]:
        """What each run that says so is at."""
        at = {number: progressing.line(state) for number, state in list(self.states.items()) if state}
        return [f"{self.running.get(number, '')}: {said}" for number, said in sorted(at.items()) if said]

    def follow(self, ended: threading.Event) -> None:
        """Write a line for each of :meth:`lines` every half minute."""
        while not ended.wait(progressing.EVERY_S):
            for said in self.lines():
                self.say(said)

    def left(self) -> str:
        """The time left, from the runs so far."""
        if not self.n_run or self.n_done == self.n_jobs:
            return ""
        seconds = (time.monotonic() - self.began) / self.n_run * (self.n_jobs - self.n_done)
        return f"about {_duration(seconds) if seconds >= 60 else f'{seconds:.0f} s'} left"

    def say(self, text: str) -> None:
        if self.bar is None:
            click.echo(text, err=True)
        else:
            self.bar.write(text, file=sys.stderr)

    def _place(self) -> str:
        left = self.left()
        return f"{self.n_done}/{self.n_jobs}" + (f", {left}" if self.bar is None and left else "")

    def _show(self) -> None:
        if self.bar is not None:
            told = {number: progressing.line(state) for number, state in list(self.states.items())}
            shown = " · ".join(
                _short(label) + (f": {told[number]}" if told.get(number) else "")
                for number, label in list(self.running.items())
            )
            said = f"{self.left()} · {shown}" if self.left() else shown
            room = max(shutil.get_terminal_size().columns - _BAR_WIDTH, 20)
            self.bar.set_description_str(said if len(said) <= room else f"{said[: room - 1]}…")


@contextmanager
def _progress(jobs: Sequence[Job]) -> Iterator[Watcher]:
    from tqdm import tqdm

    from evalbench.runs.batch import Watcher

    terminal = sys.stderr.isatty()
    bar = (
        tqdm(total=len(jobs), file=sys.stderr, bar_format="{n_fmt}/{total_fmt} |{bar:24}| {elapsed}  {desc}")
        if terminal
        else None
    )
    progress = Progress(len(jobs), bar)
    ended = threading.Event()
    if bar is None:
        threading.Thread(target=progress.follow, args=(ended,), name="evalbench-progress", daemon=True).start()
    try:
        yield Watcher(progress.started, progress.ended, progress.say, progress.at)
    finally:
        ended.set()
        if bar is not None:
            bar.close()
