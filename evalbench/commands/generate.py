"""``evalbench data generate``: a test set of questions out of documents."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalbench.commands import completion
from evalbench.commands.dataset_folder import cell, json_lines, refuse_full, write_folder
from evalbench.commands.options import EMBED, MODEL_CALLS, NEW_FOLDER, RENAMES, ROOT, Number, assignments
from evalbench.core.wording import counted
from evalbench.errors import BadInput

if TYPE_CHECKING:
    from evalbench.kit.generating import Generated
    from evalbench.readers.dataset import Dataset


@click.command("generate")
@click.argument("documents", metavar="DOCS", shell_complete=completion.data_sets)
@NEW_FOLDER
@click.option("--model", required=True, help="Who writes the questions, such as openai/gpt-4o.")
@click.option("-n", "--n", default=5, show_default=True, help="Questions per group.")
@click.option("--checker", default="", help="Who checks that the passage answers them (default: the model).")
@click.option(
    "--near", default=0.9, show_default=True, type=Number(), help="Cosine from which a question is a near-duplicate."
)
@EMBED
@click.option("--longest", default=1500, show_default=True, help="Characters of a passage.")
@click.option("--tries", default=3, show_default=True, help="At most so many times n questions are asked for.")
@click.option("--prompt", default="", help="A folder of your own prompts passage_question and answered.")
@MODEL_CALLS
@click.option("--seed", default=0, show_default=True, help="Draws the passages.")
@RENAMES
@ROOT
def generate(documents: str, out: Path, renames: tuple[str, ...], root: Path | None, **options: Any) -> None:
    """Write questions from documents by a model, each with its answer and source passage.

    DOCS is a table of documents (doc_id, text; if wanted group, lang): FILE, FOLDER, NAME@VERSION or - . Replies are kept as
    they come: after Ctrl-C or a kill the same command goes on.
    """
    from evalbench.commands.source import table_source
    from evalbench.kit import generating
    from evalbench.readers.dataset import load

    refuse_full(out)
    source = table_source(documents)
    data = load(source, generating.DOCUMENTS, columns=assignments(renames, "--map"), root=root)
    for note in data.notes:
        click.echo(f"note: {note}", err=True)
    try:
        found = generating.generate(data["documents"], **options)
    except KeyboardInterrupt:
        click.echo("stopped; what was answered is kept, and the same command goes on from there", err=True)
        sys.exit(130)
    report(found)
    if found.questions.empty:
        raise BadInput(
            f"no question was kept, and {out} was not written; what was answered is kept, and the same command asks for the rest"
        )
    write(found, out, card(found, data, options))
    click.echo(f"{counted(len(found.questions), 'question')}: {out / 'questions.jsonl'}")


def report(found: Generated) -> None:
    """What was left out and which groups are short, on standard error."""
    for line in reasons(found):
        click.echo(line, err=True)
    for row in found.groups.to_dict("records"):
        if row["kept"] < row["wanted"]:
            name = f"group {row['group']}" if row["group"] else "the documents"
            sizes = (
                f"{row['kept']} kept of {row['wanted']} wanted; {row['asked']} asked for, passages: {row['passages']}"
            )
            click.echo(f"{name}: {sizes}; more documents, --tries or another model may help", err=True)


def reasons(found: Generated) -> list[str]:
    """How many questions were left out, and why."""
    from evalbench.core.unscored import in_words
    from evalbench.kit.generating import REASONS

    counts = Counter(found.rejected["reason"])
    listed = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"left out: {n}, {REASONS.get(reason) or in_words(reason)}" for reason, n in listed]


def write(found: Generated, out: Path, text: str) -> None:
    """All files of the data set, or none."""
    files = {"questions.jsonl": json_lines(found.questions), "rejected.jsonl": json_lines(found.rejected)}
    calls = {} if found.calls is None else {"calls.parquet": found.calls}
    write_folder(out, {**files, **calls, "README.md": text})


def card(found: Generated, data: Dataset, options: Mapping[str, Any]) -> str:
    """The data card."""
    used = found.accounting
    prompts = ", ".join(hash[:12] for hash in used.get("prompt_hashes", ()))
    rows = "\n".join(
        f"| {cell(row['group'] or '(all)')} | {row['documents']} | {row['passages']} | {row['asked']} | {row['kept']} |"
        for row in found.groups.to_dict("records")
    )
    left_out = "\n".join(f"- {line}" for line in reasons(found)) or "- nothing was left out"
    checker = options["checker"] or options["model"]
    return f"""# Questions from {data.label} (synthetic: yes)

{counted(len(found.questions), "question")}, written by a model, each with its answer and the passage that it was written from.
Nobody has read them: look through them before a judgement rests on them.

- Synthetic: the questions and answers are a model's. Documents: {data.label}, sha256 {data.label.sha256}.
- How made: `evalbench data generate`; written by {options["model"]}, asked back by {checker}; passages of at most {options["longest"]}
  characters, drawn with seed {options["seed"]}; near-duplicates from cosine {options["near"]:g} on by {options["embed"]}; at most {options["tries"]} × {options["n"]}
  questions asked for in a group; temperature {options["temperature"]:g}; prompts {prompts}.
- `questions.jsonl`: one row per question (`id`, `group`, `lang`, `question`, `reference`, `doc_id`, `passage`).
  `rejected.jsonl`: what was left out, with `reason` and `detail`. `calls.parquet`: every prompt and reply.
- Licence: that of the documents, and the model's terms.

| group | documents | passages | asked for | kept |
| --- | ---: | ---: | ---: | ---: |
{rows}

{left_out}
"""
