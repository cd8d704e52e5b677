"""``evalbench compare``."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalbench.commands.options import ROOT, assignments, out_folder
from evalbench.compare import N_SUMMARIES
from evalbench.errors import BadInput
from evalbench.kit.defaults import N_RESAMPLES, SEED
from evalbench.readers.runs import PAGE, run_folder

if TYPE_CHECKING:
    from evalbench.compare.sides import Side


def margins(pairs: Sequence[str]) -> dict[str, float]:
    """``metric=number`` words.

    Raises ``BadInput`` if one is no positive number.
    """
    out, faults = {}, []
    for name, text in assignments(pairs, "--margin").items():
        try:
            out[name] = float(text)
        except ValueError:
            out[name] = 0.0
        if not 0 < out[name] < float("inf"):
            faults.append(f"--margin {name}={text}: expected a positive number")
    if faults:
        raise BadInput.listing("invalid command line:", faults)
    return out


def sizes(text: str) -> tuple[float, ...]:
    """``1:1`` as numbers.

    Raises ``BadInput`` if one is no positive number.

    Examples
    --------
    >>> sizes("9:1"), sizes("")
    ((9.0, 1.0), ())
    """
    try:
        found = tuple(float(part) for part in text.split(":")) if text else ()
    except ValueError:
        found = (0.0,)
    if not all(0 < part < float("inf") for part in found):
        raise BadInput(f"--ratio {text}: expected positive numbers between colons, such as 1:1")
    if found and max(found) > 1e6 * min(found):
        raise BadInput(f"--ratio {text}: one side is planned more than a million times as large as another")
    return found


def target(sides: Sequence[Side], options: object, reports: Path) -> Path:
    """The folder of a comparison: the same comparison goes to the same place."""
    stated = [[s.run_id, dict(s.selected)] for s in sides]
    digest = hashlib.sha256(json.dumps([stated, options], sort_keys=True).encode()).hexdigest()[:8]
    return reports / "compare" / f"{sides[0].results['study']}-{digest}"


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="REFERENCE [RUN]…")
@click.option("--left", multiple=True, metavar="column=value", help="The group of the reference, e.g. model=fern.")
@click.option("--right", multiple=True, metavar="column=value", help="The group compared with it.")
@click.option("--unpaired", is_flag=True, help="Independent samples: runs on different data may be compared.")
@click.option(
    "--ratio",
    default="",
    metavar="N:N",
    help="With --unpaired: the planned sizes of the sides, e.g. 1:1; a split that does not fit is reported.",
)
@click.option(
    "--covariate",
    default="",
    metavar="COLUMN",
    help="With --unpaired: a number known of each unit before the experiment, which narrows the intervals of means (CUPED): a "
    "column of the runs' items or tables, or FILE:COLUMN.",
)
@click.option(
    "--aa",
    is_flag=True,
    help="Split the units of the first run at random, 200 times: how often do the halves differ? One run is enough.",
)
@click.option("--metric", default="", help="Metric to list first and to rank changed items by.")
@click.option(
    "--margin",
    "margin",
    multiple=True,
    metavar="metric=number",
    help="Differences within ±number are treated as equivalent.",
)
@click.option("--seed", default=SEED, show_default=True)
@click.option("--n-resamples", default=N_RESAMPLES, show_default=True, type=click.IntRange(min=100))
@click.option(
    "--n-summaries",
    default=N_SUMMARIES,
    show_default=True,
    type=click.IntRange(min=0),
    help="Resamples for metrics that are not sums (one study call each); 0 skips these metrics.",
)
@out_folder("Folder of the page (default: below reports/compare/).")
@ROOT
@click.option(
    "--fail-on",
    type=click.Choice(["worse"]),
    help="Exit with 3 if the first metric is worse in a later run than in the first.",
)
def compare(
    runs: tuple[str, ...],
    left: tuple[str, ...],
    right: tuple[str, ...],
    unpaired: bool,
    ratio: str,
    covariate: str,
    aa: bool,
    metric: str,
    margin: tuple[str, ...],
    seed: int,
    n_resamples: int,
    n_summaries: int,
    out: Path | None,
    root: Path | None,
    fail_on: str | None,
) -> None:
    """Compare two runs of one study, each two of several, or two groups of a run: RUN is a run's folder or id.

    \b
    evalbench compare reports/matching/A reports/matching/B
    evalbench compare reports/matching/A reports/matching/B reports/matching/C
    evalbench compare reports/matching/A --left model=fern --right model=moss
    evalbench compare reports/dialogue/A reports/dialogue/B --unpaired --ratio 1:1 --covariate before.csv:score
    evalbench compare reports/matching/A --aa
    """
    from evalbench import studies, workbench
    from evalbench.compare.experiment import experiment, refuse_experiment
    from evalbench.compare.matrix import Pairs, compare_pairs, with_answers
    from evalbench.compare.runs import Hooks
    from evalbench.report.compare_experiment import answers_lines, experiment_lines
    from evalbench.report.compare_files import write
    from evalbench.report.compare_overall import overall
    from evalbench.report.compare_table import ARROWS
    from evalbench.report.compare_words import family, headline, judged_by, outcome, plain, sentences

    reports = workbench.reports(root)
    alone = aa and len(runs) == 1 and not right
    if alone:
        _refuse_alone({"--metric": metric, "--margin": margin, "--fail-on": fail_on, "--unpaired": unpaired})
    sides = _alone(runs[0], left, reports) if alone else _sides(runs, left, right, reports)
    hooks, planned = Hooks.of(studies.study(str(sides[0].results["study"]))), sizes(ratio)
    refuse_experiment(len(sides), paired=not unpaired, planned=planned, covariate=covariate)
    pairs = Pairs(sides, ())
    if not alone:
        pairs = compare_pairs(
            sides,
            hooks,
            paired=not unpaired,
            metric=metric,
            margins=margins(margin),
            seed=seed,
            n_resamples=n_resamples,
            n_summaries=n_summaries,
        )
    pairs = with_answers(pairs, seed=seed, n_resamples=n_resamples)
    asked: dict[str, Any] = {"planned": planned, "covariate": covariate, "aa": aa}
    found = experiment(sides, pairs.found, hooks, paired=not unpaired, seed=seed, **asked)
    pairs = pairs._replace(experiment=found)
    stated = [unpaired, metric, sorted(margin), seed, n_resamples, n_summaries, *([asked] if found else [])]
    folder = out or target(sides, stated, reports)
    folder.mkdir(parents=True, exist_ok=True)
    folders = {s.run_id: s.folder for s in sides if s.folder}
    links = {i: Path(os.path.relpath(f / PAGE, folder.resolve())).as_posix() for i, f in folders.items()}
    page = write(pairs, folder, links, keep=out is not None)
    if len(sides) > 2:
        click.echo(overall(pairs))
    for one in pairs.found:
        by = f"{judged_by(one)}, " if judged_by(one) else ""
        click.echo(f"{ARROWS[outcome(one)]} {outcome(one)}  {by}{one.side.name} against {one.reference.name}")
        tests = family(one) if len(sides) == 2 else ""
        said = list(dict.fromkeys(filter(None, [plain(one), *sentences(one), tests])))
        notes = [note for note in one.notes if note not in said]
        click.echo("\n".join([*(f"  {line}" for line in said), *(f"  note: {note}" for note in notes)]))
    for pair in pairs.refused:
        click.echo(f"– not compared  {pair.side.name} against {pair.reference.name}: {pair.reason}")
    click.echo("\n".join([*experiment_lines(pairs.experiment), *answers_lines(pairs), f"page  {page}"]))
    first = [one for one in pairs.found if one.reference.name == sides[0].name]
    if fail_on and any(row.comparison.outcome == "worse" for one in first for row in headline(one)):
        sys.exit(3)


def _refuse_alone(given: dict[str, object]) -> None:
    """Refuse what would say nothing of one run that is split by itself."""
    faults = [f"{name} needs a second side" for name, value in given.items() if value]
    if faults:
        raise BadInput.listing("--aa of one run compares it with nothing else:", faults)


def _alone(run: str, left: Sequence[str], reports: Path) -> tuple[Side, ...]:
    """One run, or one group of it, that is split by itself."""
    from evalbench.compare.sides import read_side, selected

    side = selected(read_side(run_folder(run, reports)), assignments(left, "--left"), "--left")
    return (replace(side, name=", ".join(side.selected.values()) or side.run_id),)


def _sides(runs: Sequence[str], left: Sequence[str], right: Sequence[str], reports: Path) -> tuple[Side, ...]:
    """The sides that the command line names, with names of their own."""
    from evalbench.compare.sides import read_side, selected, with_names

    wanted = [assignments(left, "--left"), assignments(right, "--right")]
    if len(runs) == 1 and not (wanted[0] and wanted[1]):
        raise BadInput("only one run given: name two of its groups with --left and --right, or give a second run")
    if len(runs) > 2 and any(wanted):
        raise BadInput("--left and --right go with one or two runs")
    named = [runs[0], *(runs[1:] or runs[:1])]
    sides = [read_side(run_folder(name, reports)) for name in named]
    if any(wanted):
        sides = [selected(s, w, o) for s, w, o in zip(sides, wanted, ("--left", "--right"), strict=True)]
    return with_names(sides)
