"""``evalbench label``: which items people should label next, the page on which they do, and one table of what they said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalbench.commands import completion
from evalbench.commands.options import RENAMES, ROOT, ROOT_OF_RUN, NewPath, Number, assignments
from evalbench.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.judge.criteria import Criterion
    from evalbench.label.merged import Merged


@click.group("label")
def label() -> None:
    """Choose the items that people should label, make the page for them, merge what they send back."""


@label.command("plan")
@click.argument("run", metavar="RUN", type=click.Path(path_type=str))
@click.option("-n", "--n", default=40, show_default=True, type=click.IntRange(min=1), help="Items to label.")
@click.option(
    "--out", default=Path("plan.jsonl"), show_default=True, type=NewPath(dir_okay=False), help="JSON Lines or Parquet."
)
@click.option("--table", default="", help="A table of the run in place of its items (of matching: pairs).")
@click.option(
    "--mark", default="", help="The column of the judge's marks (default: the figure that decided the light)."
)
@click.option("--of", "criterion", default="", help="The criterion, where there are several.")
@click.option("--judge", "judges", multiple=True, help="A judge, where there are several; may be repeated.")
@click.option("--threshold", type=Number(), help="Where a mark decides (default: the middle of the scale).")
@click.option("--scale", nargs=2, type=Number(), help="Ends of the marks' scale.")
@click.option(
    "--random",
    "random_share",
    default=0.25,
    show_default=True,
    type=Number(),
    help="The share that is spread at random, over 0 to 1.",
)
@click.option("--labels", type=click.Path(path_type=Path), help="Labels that exist: their items are not drawn again.")
@click.option("--label-scale", nargs=2, type=Number(), help="Ends of the labels' scale, where it is another.")
@click.option("--texts", type=click.Path(path_type=Path), help="The items' texts, where the run keeps none.")
@click.option("--seed", default=0, show_default=True, help="Of the draw.")
@ROOT_OF_RUN
def plan(run: str, out: Path, root: Path | None, **options: Any) -> None:
    """Choose the items of a finished RUN that people should label next.

    Most are drawn where judges disagree or a mark is near the threshold, the rest at random. Each has a known
    probability, which stays beside its label, so that estimates can be corrected for the choice.

    \b
    evalbench label plan reports/rag_generation/A --n 40 --mark faithfulness --out plan.jsonl
    evalbench label page plan.jsonl --criterion faithful.yaml --out label.html
    """
    from evalbench import workbench
    from evalbench.label.existing import read_labels
    from evalbench.label.lines import planned
    from evalbench.label.marks import read_marks
    from evalbench.label.plan import plan_labels
    from evalbench.readers.runs import run_folder

    _form(out, (".jsonl", ".parquet"))
    _folder(out)
    names = ("table", "mark", "criterion", "judges", "threshold", "scale", "texts")
    marks = read_marks(run_folder(run, workbench.reports(root)), **{name: options[name] for name in names})
    path, of = options["labels"], options["criterion"]
    labels = read_labels(path, marks, criterion=of, scale=options["label_scale"]) if path else None
    made = plan_labels(marks, options["n"], random_share=options["random_share"], labels=labels, seed=options["seed"])
    for line in planned(made, marks, options["random_share"], labels):
        click.echo(line)
    click.echo(f"written  {_written(made.table, out)}: evalbench label page {out} --criterion FILE")


@label.command("page")
@click.argument("table", metavar="TABLE", shell_complete=completion.data_sets)
@click.option(
    "--criterion",
    required=True,
    type=click.Path(path_type=Path),
    help="YAML with name, definition, scale (mark: when it is given), examples, needs_basis.",
)
@click.option("--name", default="", help="The criterion, where the file has several.")
@click.option("--out", default=Path("label.html"), show_default=True, type=NewPath(dir_okay=False))
@click.option("--side-by-side", is_flag=True, help="Compare each two models' answers to one id.")
@click.option(
    "--language", default="en", show_default=True, type=click.Choice(["en", "ru", "zh"]), help="Of the page's buttons."
)
@click.option("--title", default="", help="The page's title (default: the criterion's name).")
@click.option("--instructions", type=click.Path(path_type=Path), help="A text file, shown before the first item.")
@click.option("--send-to", default="", help="To whom the saved file goes, shown at the end.")
@click.option("--seed", default=0, show_default=True, help="Of the order of the items and of their sides.")
@click.option("--in-order", is_flag=True, help="Keep the order of the table; it may show which model answers.")
@RENAMES
@ROOT
def page(
    table: str,
    criterion: Path,
    name: str,
    out: Path,
    side_by_side: bool,
    language: str,
    title: str,
    instructions: Path | None,
    send_to: str,
    seed: int,
    in_order: bool,
    renames: tuple[str, ...],
    root: Path | None,
) -> None:
    """Write one HTML file on which a person labels the answers of TABLE, blind to models and judges.

    The file opens from disk and sends nothing. The key, which answer is whose, is written beside it as
    OUT.key.json and stays with you.

    \b
    evalbench label page answers.csv --criterion helpful.yaml --out label.html --send-to "Anna, anna@example.org"
    """
    from evalbench.commands.source import table_source
    from evalbench.core.wording import counted
    from evalbench.label.items import read_items
    from evalbench.label.page import page_and_key
    from evalbench.readers.runs import write_json, write_text

    chosen = _criterion(criterion, name)
    items = read_items(
        table_source(table) or table,
        chosen,
        columns=assignments(renames, "--map"),
        side_by_side=side_by_side,
        seed=seed,
        shuffle=not in_order,
        root=root,
    )
    html, key = page_and_key(
        items,
        chosen,
        side_by_side=side_by_side,
        language=language,
        title=title,
        instructions=_text(instructions),
        send_to=send_to,
        seed=seed,
    )
    key_file = out.with_suffix(".key.json")
    _folder(out)
    _keep_key(key_file, key["page"])
    write_text(out, html)
    write_json(key_file, key)
    for note in items.notes:
        click.echo(f"note: {note}", err=True)
    what = (
        counted(len(items.items), "pair of answers", "pairs of answers")
        if side_by_side
        else counted(len(items.items), "item")
    )
    click.echo(f"page  {out}  ({what}, criterion {chosen.name}): send this file to each annotator")
    needed = "; labels of this page can only be read with it" if items.opaque or side_by_side else ""
    click.echo(f"key   {key_file}: whose answer each one is; keep it{needed}")


def _keep_key(path: Path, page: str) -> None:
    """Refuse to write over the key of another page: what came back from it could not be read any more."""
    from evalbench.readers.runs import read_json

    if path.exists() and (other := read_json(path).get("page")) != page:
        raise BadInput(
            f"{path}: is the key of another page ({other}), whose labels could not be read without it; give another --out, "
            "or remove that file"
        )


def _criterion(path: Path, name: str) -> Criterion:
    from evalbench.judge.criteria import read_criteria

    found = read_criteria(path)
    if not name and len(found) == 1:
        return found[0]
    chosen = [one for one in found if one.name == name]
    if not chosen:
        known = ", ".join(one.name for one in found)
        raise BadInput(
            f"{path}: {f'no criterion {name!r}' if name else 'several criteria'}; choose with --name: {known}"
        )
    return chosen[0]


def _text(path: Path | None) -> str:
    from evalbench.readers.decoded import decoded
    from evalbench.readers.files import read_bytes

    return decoded(path, read_bytes(path))[0] if path else ""


def _form(out: Path, forms: Sequence[str]) -> None:
    if out.suffix not in forms:
        raise BadInput(f"{out}: expected a name that ends in {' or '.join(forms)}")


def _folder(out: Path) -> None:
    if out.is_dir():
        raise BadInput(f"{out}: is a folder, expected the name of a file")
    if not out.parent.is_dir():
        raise BadInput(f"{out.parent}: no such folder")


@label.command("merge")
@click.argument("files", metavar="FILES…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--key",
    "key_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="What `label page` wrote beside the page; may be repeated.",
)
@click.option(
    "--out",
    default=Path("labels.csv"),
    show_default=True,
    type=NewPath(dir_okay=False),
    help="JSON Lines, Parquet or CSV.",
)
@click.option("--seed", default=0, show_default=True, help="Of the intervals.")
@click.option("--n-resamples", default=2000, show_default=True, type=click.IntRange(min=0), help="Of the intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def merge_files(
    files: tuple[Path, ...], key_files: tuple[Path, ...], out: Path, seed: int, n_resamples: int, as_json: bool
) -> None:
    """Merge the files that annotators sent back into one table of labels.

    Rows that several files share count once; where one annotator marked an item differently, the later mark counts.
    Both are listed. The table is read as it is by human_correlation; of pairs of violations, as pair_verdicts of
    matching_calibration.

    \b
    evalbench label merge labels-*.jsonl --key label.key.json --out labels.csv
    evalbench run human_correlation --data labels.csv
    """
    from evalbench.label.merged import agreement, merge
    from evalbench.label.saved import read_keys, read_saved

    _form(out, (".csv", ".jsonl", ".parquet"))
    _folder(out)
    keys = read_keys(key_files)
    merged = merge(read_saved(files, keys), keys)
    found = agreement(merged.rows, seed=seed, n_resamples=n_resamples)
    written = [_written(merged.labels, out)]
    if merged.comparisons is not None:
        written.append(_written(merged.comparisons, out.with_suffix(f".comparisons{out.suffix}")))
    if as_json:
        click.echo(json.dumps(_as_json(merged, found, written), ensure_ascii=False, indent=1, allow_nan=False))
        return
    from evalbench.label.lines import lines

    for line in lines(merged, found, len(dict.fromkeys(files))):
        click.echo(line)
    for path in written:
        click.echo(f"written  {path}")


def _written(frame: pd.DataFrame, out: Path) -> Path:
    from evalbench.commands.dataset_folder import json_lines
    from evalbench.readers.runs import whole_file, write_text
    from evalbench.report.rows import csv_text

    if out.suffix == ".csv":
        return write_text(out, csv_text(frame))
    if out.suffix == ".jsonl":
        return write_text(out, json_lines(frame))
    with whole_file(out) as temporary:
        frame.to_parquet(temporary, index=False)
    return out


def _as_json(merged: Merged, found: dict[str, Any], written: Sequence[Path]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if hasattr(value, "_asdict"):
            return value._asdict()
        if isinstance(value, dict):
            return {name: plain(inner) for name, inner in value.items()}
        return [plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value

    columns = ["criterion", "annotator", "id", "mark", "skipped", "file", "row"]
    return {
        "labels": len(merged.labels),
        "duplicates": merged.duplicates[columns].to_dict("records"),
        "contradictions": merged.contradictions[columns].to_dict("records"),
        "agreement": plain(found),
        "files": [str(path) for path in written],
    }
