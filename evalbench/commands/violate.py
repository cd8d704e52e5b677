"""``evalbench data violate``: violations at known places, put into texts by a model."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalbench.commands import completion
from evalbench.commands.dataset_folder import cell, json_lines, refuse_full, write_folder
from evalbench.commands.options import MODEL_CALLS, NEW_FOLDER, RENAMES, ROOT, assignments
from evalbench.core.wording import counted
from evalbench.errors import BadInput

if TYPE_CHECKING:
    from evalbench.kit.violating import Violated
    from evalbench.readers.dataset import Dataset


@click.command("violate")
@click.argument("texts", metavar="TEXTS", shell_complete=completion.data_sets)
@click.option("--rules", required=True, help="A table of rules: rule and, if wanted, category.")
@NEW_FOLDER
@click.option("--model", required=True, help="Who writes the violations, such as openai/gpt-4o.")
@click.option("-n", "--n", default=2, show_default=True, help="Violations asked for in each text.")
@click.option("--checker", default="", help="Who checks that the rule is broken (default: the model).")
@click.option("--prompt", default="", help="A folder of your own prompts rule_violation and rule_broken.")
@MODEL_CALLS
@click.option("--seed", default=0, show_default=True, help="Draws the rules of each text.")
@RENAMES
@ROOT
def violate(texts: str, rules: str, out: Path, renames: tuple[str, ...], root: Path | None, **options: Any) -> None:
    """Put violations of rules into texts by a model: ground truth for the study matching, marked synthetic.

    TEXTS is a table (id, text; if wanted lang): FILE, FOLDER, NAME@VERSION or - . A table of true violations does as
    RULES. Replies are kept as they come: after Ctrl-C or a kill the same command goes on.
    """
    from evalbench.commands.source import table_source
    from evalbench.kit import violating
    from evalbench.readers.dataset import load

    refuse_full(out)
    columns = assignments(renames, "--map")
    data = load(table_source(texts), violating.DOCUMENTS, columns=columns, root=root)
    known = load(table_source(rules), violating.RULES, columns=columns, root=root)
    for note in data.notes:
        click.echo(f"note: {note}", err=True)
    try:
        found = violating.violate(data["documents"], known["rules"], **options)
    except KeyboardInterrupt:
        click.echo("stopped; what was answered is kept, and the same command goes on from there", err=True)
        sys.exit(130)
    for line in reasons(found):
        click.echo(line, err=True)
    if found.truth.empty:
        raise BadInput(
            f"no violation was kept, and {out} was not written; what was answered is kept, and the same command asks for the rest"
        )
    tables = {"documents": found.documents, "truth": found.truth, "rejected": found.rejected}
    calls = {} if found.calls is None else {"calls.parquet": found.calls}
    lines = {f"{name}.jsonl": json_lines(table) for name, table in tables.items()}
    write_folder(out, {**lines, **calls, "README.md": card(found, data, known, options)})
    click.echo(f"{counted(len(found.truth), 'violation')} in {counted(len(found.documents), 'text')}: {out}")


def reasons(found: Violated) -> list[str]:
    """How many violations were left out, and why."""
    from evalbench.core.unscored import in_words
    from evalbench.kit.violating import REASONS

    counts = Counter(found.rejected["reason"])
    listed = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"left out: {n}, {REASONS.get(reason) or in_words(reason)}" for reason, n in listed]


def card(found: Violated, data: Dataset, rules: Dataset, options: Mapping[str, Any]) -> str:
    """The data card."""
    prompts = ", ".join(hash[:12] for hash in found.accounting.get("prompt_hashes", ()))
    kept, lost = Counter(found.truth["rule"]), Counter(found.rejected["rule"])
    rows = "\n".join(f"| {cell(rule)} | {kept[rule] + lost[rule]} | {kept[rule]} |" for rule in sorted({*kept, *lost}))
    left_out = "\n".join(f"- {line}" for line in reasons(found)) or "- nothing was left out"
    clean = int((~found.documents["id"].isin(found.truth["id"])).sum())
    return f"""# {data.label} with violations (synthetic: yes)

{counted(len(found.truth), "violation")} of {counted(len(kept), "rule")} in {counted(len(found.documents), "text")}, {clean} of them unchanged.
Nobody has read them: look through them before a judgement rests on them.

- Synthetic: the violations are a model's, put into texts of {data.label}, sha256 {data.label.sha256}.
- Rules: {rules.label}, sha256 {rules.label.sha256}.
- How made: `evalbench data violate`; written by {options["model"]}, checked by {options["checker"] or options["model"]};
  {options["n"]} asked for in each text, rules drawn with seed {options["seed"]}; temperature {options["temperature"]:g}; prompts {prompts}.
- Labelled: by construction. A violation is the words that were changed; what broke a rule in the texts before is not in `truth.jsonl`,
  so that a checker that finds it counts as wrong.
- Use: add what checkers report as `predictions.jsonl`, then `evalbench run matching --data` this folder.
- `documents.jsonl`: the texts as changed. `truth.jsonl`: one row per violation, `origin` synthetic, `correction` the words before.
  `rejected.jsonl`: what was left out, with `reason` and `detail`. `calls.parquet`: every prompt and reply.
- Licence: that of the texts, and the model's terms.

| rule | asked for | kept |
| --- | ---: | ---: |
{rows}

{left_out}
"""
