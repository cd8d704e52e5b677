"""``evalbench run``."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from evalbench.commands import completion
from evalbench.commands.options import OF_A_RUN, OF_PARTS, RENAMES, assignments
from evalbench.commands.parameters import OfAStudy
from evalbench.commands.source import table_source
from evalbench.errors import BadInput
from evalbench.readers.runs import PAGE

if TYPE_CHECKING:
    from evalbench.runs.run import Plan, Run

_RANK = {"red": 3, "yellow": 2, "grey": 1}


def failing(fail_on: Sequence[str]) -> frozenset[str]:
    """The lights that fail a run: each of ``fail_on`` and all worse ones; grey beside others stands for itself alone.

    Examples
    --------
    >>> sorted(failing(["yellow"])), sorted(failing(["red", "grey"])), sorted(failing(["grey"]))
    (['red', 'yellow'], ['grey', 'red'], ['grey', 'red', 'yellow'])
    """
    colours = [name for name in fail_on if name != "grey"] or list(fail_on)
    worse = {light for name in colours for light, rank in _RANK.items() if rank >= _RANK[name]}
    return frozenset(worse | set(fail_on))


def exit_code(light: str, fail_on: Sequence[str]) -> int:
    """3 where a light fails, 4 where it is grey and grey fails, else 0; see :func:`failing`.

    Examples
    --------
    >>> exit_code("red", ["yellow"]), exit_code("grey", ["red", "grey"]), exit_code("grey", ["yellow"])
    (3, 4, 0)
    """
    if light not in failing(fail_on):
        return 0
    return 4 if light == "grey" else 3


_NOT_JUDGED = {
    "unlit": ("no rule for a light", "set thresholds to judge it"),
    "grey": ("too little evidence for a light", "add --fail-on grey to fail it"),
}


def unjudged(lights: Sequence[str], fail_on: Sequence[str]) -> list[str]:
    """A line for each kind of light that passes ``fail_on`` without having been judged.

    Examples
    --------
    >>> unjudged(["unlit", "green"], ["red"])
    ['unlit: 1 of 2 runs has no rule for a light, so --fail-on red passes it unjudged; set thresholds to judge it']
    >>> unjudged(["grey"], ["red"])
    ['grey: this run has too little evidence for a light, so --fail-on red passes it unjudged; add --fail-on grey to fail it']
    >>> unjudged(["green"], ["red"]), unjudged(["grey"], ["grey"])
    ([], [])
    """
    if not fail_on:
        return []
    asked = " ".join(f"--fail-on {name}" for name in fail_on)
    lines = []
    for light, (why, way_out) in _NOT_JUDGED.items():
        n = sum(found == light for found in lights)
        if n and light not in failing(fail_on):
            which = "this run has" if len(lights) == 1 else f"{n} of {len(lights)} runs {'has' if n == 1 else 'have'}"
            lines.append(f"{light}: {which} {why}, so {asked} passes {'it' if n == 1 else 'them'} unjudged; {way_out}")
    return lines


def gathered(
    target: str, data: str | None, pairs: Sequence[str], renames: Sequence[str], model: str | None, root: Path | None
) -> dict[str, Any]:
    """Parameters out of the command line's options."""
    values: dict[str, Any] = dict(assignments(pairs, "-p"))
    given = {"data": data, "model": model, "columns": assignments(renames, "--map") or None}
    doubled = [name for name, value in given.items() if value is not None and name in values]
    if doubled:
        raise BadInput(f"{', '.join(doubled)}: given twice, with -p and with its own option")
    return values | {name: value for name, value in given.items() if value is not None}


def report_edits(plans: Sequence[Plan]) -> None:
    """Lines on standard error: notebooks whose defaults are not their study's own, models of a folder's ``models.toml``."""
    from evalbench.models.names import folder_aliases
    from evalbench.runs.parameters import edits_text

    for line in folder_aliases({name for planned in plans for name in _texts(planned.in_force)}):
        click.echo(line, err=True)

    for name, edits in {planned.notebook.name: planned.edited for planned in plans if planned.edited}.items():
        click.echo(f"{name}: edited; its defaults are not the study's own: {edits_text(edits)}", err=True)


def _texts(values: Any) -> Iterator[str]:
    if isinstance(values, str):
        yield values
    elif isinstance(values, Mapping):
        yield from _texts([*values.keys(), *values.values()])
    elif isinstance(values, Sequence):
        for value in values:
            yield from _texts(value)


def print_dry_run(
    planned: Plan, timeout: float | None, memory: int | None, fork: bool, as_json: bool, label: str = ""
) -> int:
    """Print what a run would ask; the exit code, 1 where its notebook failed."""
    from evalbench.commands.printed import run_object
    from evalbench.runs.dry_run import dry_run

    found, error = dry_run(planned, timeout=timeout, fork=fork, memory=memory)
    if as_json:
        status = "failed" if error else "dry-run"
        click.echo(run_object(planned.study, status, int(bool(error)), error=error, plan=found.to_json()))
        return int(bool(error))
    click.echo(f"{label or planned.study}: dry run, nothing was sent\n\n{found}\n")
    if error:
        click.echo(f"failed: {error}", err=True)
    return int(bool(error))


LOG = click.option(
    "--log",
    metavar="STORE",
    help="Keep every reply that models are asked for in a log store: a file, or postgresql://HOST/DATABASE.",
)


@contextmanager
def logging_into(store: str | None) -> Iterator[None]:
    """Let the kernels of the block log into a store, which is made if there is none.

    Raises ``BadInput`` if the store cannot be used.
    """
    if store is None:
        yield
        return
    from evalbench.monitor.replies import environment
    from evalbench.monitor.store import LogStore

    with LogStore(store, create=True) as made, made.reading():
        variables = environment(made.address)
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@click.command("run", cls=OfAStudy)
@click.argument("target", metavar="[STUDY|NOTEBOOK.ipynb]", required=False, shell_complete=completion.studies)
@click.option(
    "--data",
    metavar="NAME@VERSION|PATH|-",
    help="The data: a data set of the catalog, a file, a folder or a log store; - for standard input.",
    shell_complete=completion.data_sets,
)
@click.option(
    "-p",
    "pairs",
    multiple=True,
    metavar="name=value",
    help="A parameter of the notebook; may be repeated. `evalbench run STUDY --help` lists them.",
    shell_complete=completion.parameters,
)
@RENAMES
@click.option("--model", metavar="NAME", help="The model that answers, e.g. openai/gpt-4o or local/smollm2-135m.")
@OF_A_RUN
@OF_PARTS
@LOG
def run_study(
    target: str | None,
    data: str | None,
    pairs: tuple[str, ...],
    renames: tuple[str, ...],
    model: str | None,
    root: Path | None,
    max_calls: int | None,
    max_cost: float | None,
    workers: int | None,
    scheduler: str | None,
    **how: Any,
) -> None:
    """Render one study into a report; prints the answer, its light and figures, and where the page is.

    Without a study, but with --data: lists the studies that can be asked of the data, and asks for one at a terminal.
    """
    work_on_parts(workers, scheduler)
    if target is None:
        target, data = study_for(data, renames, root, how["as_json"])
    from evalbench.runs.fork import forking

    # Before anything else: the kernel's imports take longer than all that comes before its start.
    fork = click.get_current_context().with_resource(forking())

    def planned() -> Plan:
        from evalbench.runs.limits import limited
        from evalbench.runs.run import plan
        from evalbench.runs.tables import refuse_tables

        given = gathered(target, table_source(data), pairs, renames, model, root)
        found = limited(plan(target, given, root), max_calls, max_cost)
        refuse_tables(found)
        return found

    sys.exit(carry_out(planned, Path(target).stem, Carried(fork=fork, **how)))


def work_on_parts(processes: int | None, scheduler: str | None) -> None:
    """Name to the kernel who reads the parts of a table that does not fit."""
    from evalbench.core.schedulers import PROCESSES, SCHEDULER, checked_address

    if processes is not None and scheduler is not None:
        raise click.UsageError(
            "--workers and --scheduler: a scheduler has its own workers; use only one of the two options"
        )
    if processes is not None:
        os.environ[PROCESSES] = str(processes)
    if scheduler is not None:
        try:
            os.environ[SCHEDULER] = checked_address(scheduler)
        except BadInput as error:
            raise click.UsageError(str(error)) from error


def study_for(data: str | None, renames: Sequence[str], root: Path | None, as_json: bool) -> tuple[str, str]:
    """The study that somebody chooses of those that are ready for the data, and these, read from standard input once.

    Ends the command where nobody can be asked, and where the data cannot be read.
    """
    from evalbench.commands.asked import asked_of, chosen
    from evalbench.commands.printed import run_object

    if data is None:
        missing = click.UsageError(
            "Missing argument 'STUDY', or --data for what can be asked of a table.", click.get_current_context()
        )
        missing.show()
        if as_json:
            click.echo(run_object("", "refused", 2, error=missing.format_message()))
        sys.exit(2)
    try:
        found = asked_of(data, assignments(renames, "--map"), root)
        if as_json:
            ready = ", ".join(offer.study for offer in found.ready) or "no study"
            raise BadInput(f"name a study; ready for this table: {ready} (evalbench data check --json says more)")
        return chosen(found), data
    except BadInput as error:
        click.echo(f"evalbench: {error}", err=True)
        if as_json:
            click.echo(run_object("", "refused", 2, error=str(error)))
        sys.exit(2)


class Carried(NamedTuple):
    """How a plan is carried out, by the options of the command line."""

    out: Path | None
    timeout: float | None
    memory: int | None
    dry_run: bool
    fail_on: tuple[str, ...]
    as_json: bool
    quiet: bool
    fork: bool
    log: str | None = None


def carry_out(
    make: Callable[[], Plan], name: str, how: Carried, after: Callable[[Run], Sequence[str]] | None = None
) -> int:
    """Plan a run, carry it out and print what came of it; the exit code.

    - ``make``: Gives the plan; what it refuses is printed.
    - ``name``: The study, for what fails before there is a plan.
    - ``after``: Further lines about a finished run.
    """
    from evalbench.commands.brief import brief
    from evalbench.commands.printed import printed_read_as, printed_unused, read_as_of, run_object
    from evalbench.commands.step_summary import summarise_run
    from evalbench.core.budget import in_words
    from evalbench.core.progress import Shown
    from evalbench.report.index import write_index
    from evalbench.runs.run import run

    def ends_early(status: str, code: int, error: str) -> NoReturn:
        click.echo(error if status == "interrupted" else f"evalbench: {error}", err=True)
        if how.as_json:
            click.echo(run_object(name, status, code, error=error))
        sys.exit(code)

    try:
        planned = make()
        report_edits([planned])
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # what stops a run from outside is written down
        if how.dry_run:
            return print_dry_run(planned, how.timeout, how.memory, how.fork, how.as_json)
        follow = None if how.quiet else lambda read: Shown(read, sys.stderr, planned.study)
        with logging_into(how.log):
            done = run(planned, out=how.out, timeout=how.timeout, memory=how.memory, progress=follow, fork=how.fork)
    except BadInput as error:
        ends_early("refused", 2, str(error))
    except KeyboardInterrupt:
        ends_early(
            "interrupted", 130, "Interrupted. Replies received so far are cached; run the same command to continue."
        )
    write_index(done.folder.parents[1])
    notes = unjudged([done.light], how.fail_on) if done.results else []
    code = exit_code(done.light, how.fail_on) if done.results else 1
    page = done.folder / PAGE
    if done.results is None:
        click.echo(f"{done.status}: {done.error}", err=True)
    if how.as_json:
        click.echo(
            run_object(
                planned.study,
                done.status,
                code,
                error=done.error,
                folder=done.folder,
                results=done.results,
                notes=notes,
            )
        )
    elif how.quiet:
        click.echo(page)
    else:
        if done.results is not None:
            click.echo("\n".join(brief(done.results)))
            if stopped := done.results.get("stopping"):
                click.echo(f"  {stopped['sentence']}")
            if stopped := in_words(done.results.get("budget") or {}):
                click.echo(f"budget  {stopped}")
        if done.results is not None:
            used = [column for columns in read_as_of(done.folder).values() for column in columns]
            for line in (*printed_read_as(done.folder), *printed_unused(done.results["notes"], used)):
                click.echo(line)
        for line in after(done) if after and done.results is not None else ():
            click.echo(line)
        click.echo(f"report  {page}", err=done.results is None)
        if planned.dataset and "data" not in planned.parameters:
            said = f"data    {planned.dataset}, the sample that comes with evalbench; --data FILE takes yours"
            click.echo(said, err=done.results is None)
    for line in notes:
        click.echo(line, err=True)
    summarise_run(done.folder)
    return code
