"""``evalbench data import``: a result file of another tool as a data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from evalbench.commands.options import NewPath
from evalbench.core.wording import counted

_FORMATS = ("ragas", "deepeval", "promptfoo", "inspect", "lm-eval", "mlflow", "helm", "every_eval_ever")
AGENTS = "agents"
_MOST = 5


@click.command("import")
@click.argument("path", metavar="FILE|FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "tool",
    type=click.Choice((*_FORMATS, AGENTS)),
    help="The tool that wrote it, where the content does not show it.",
)
@click.option(
    "--to", type=NewPath(file_okay=False), help="A new or empty folder for the data set; without it nothing is written."
)
@click.option("--model", default="", help="The name of the model, where the file has none.")
def import_data(path: Path, tool: str | None, to: Path | None, model: str) -> None:
    """Read a result file of another tool: print what was understood, and write it as a data set.

    A score that is missing, a judge that failed and a row that raised an error are unscored, with the tool's own words,
    and never 0. Nothing is scored anew. Runs of agents (--format agents) become steps, tasks and outcomes.
    """
    from evalbench.readers.tools.composed import parts_of
    from evalbench.readers.tools.data_folder import write
    from evalbench.readers.tools.known import runs_of

    if tool == AGENTS or (tool is None and _holds_trajectories(path)):
        from evalbench.readers.trajectories.folder import write as write_trajectories

        for line in write_trajectories(path, to, model).lines():
            click.echo(line)
        click.echo(_where(to))
        return
    about = write(parts_of(runs_of(path, tool or ""), model), to)
    for line in understood(about):
        click.echo(line)
    click.echo(_where(to))


def _where(to: Path | None) -> str:
    return f"written: {to}" if to else "nothing was written; --to DIR writes the data set"


def _holds_trajectories(path: Path) -> bool:
    """Whether a file or folder is one of agents' runs, and not the result of another tool."""
    from evalbench.errors import BadInput
    from evalbench.readers.tools.known import runs_of
    from evalbench.readers.trajectories import recognised

    if not recognised(path):
        return False
    try:
        runs_of(path)
    except BadInput:
        return True
    return False


def understood(about: Mapping[str, Any]) -> Iterator[str]:
    """What a file was taken for, line by line."""
    version = about["tool_version"] or "version not in the file"
    models = about["models"]
    named = f"{', '.join(models[:_MOST])}{f' and {len(models) - _MOST} more' if len(models) > _MOST else ''}"
    trials = f", up to {counted(about['trials'], 'trial')} of each" if about["trials"] > 1 else ""
    yield f"{about['tool']} ({version}): {counted(about['rows'], 'row')}, {counted(about['questions'], 'question')}{trials}"
    yield f"  models: {named or 'not in the file'}"
    for metric, facts in about["metrics"].items():
        better = "more" if facts["higher_is_better"] else "less"
        mean = "no score" if facts["mean_scored"] is None else f"mean {facts['mean_scored']:.4g}"
        other = f", {facts['not_applicable']} not applicable" if facts["not_applicable"] else ""
        assumed = "" if facts["direction_from"] == "file" else ", assumed"
        yield (
            f"  {metric}: {facts['n']} scored, {facts['missing']} unscored{other}; {mean}; "
            f"scale {facts['scale']}, {better} is better{assumed}"
        )
        for words, n in list(facts["missing_words"].items())[:_MOST]:
            yield f"      unscored {n}: {words}"
    verdicts = about["judgements"]
    if verdicts["rows"]:
        judges = ", ".join(verdicts["judges"][:_MOST]) or "not in the file"
        yield f"  verdicts of judges: {verdicts['rows']}, {verdicts['unscored']} of them unscored; judge: {judges}"
    if about["labels"]:
        yield f"  human labels: {about['labels']}"
    for figure in about["figures"]:
        if figure["reason"] or not figure["agrees"]:
            what = " ".join(filter(None, [figure["metric"], figure["model"], *figure["slice"].values()])) or "overall"
            said = f"the tool has {_shown(figure['tool_value'])} ({figure['tool_figure']})"
            yield f"  {what}: {said}, ours is {'the same' if figure['agrees'] else _shown(figure['ours'])}"
            yield f"      {figure['words']}"
    for sentence in about["assumed"]:
        yield f"  assumed: {sentence}"
    for note in about["notes"]:
        yield f"  note: {note}"
    if about["left_aside"]:
        yield f"  left aside: {', '.join(about['left_aside'])}"


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
