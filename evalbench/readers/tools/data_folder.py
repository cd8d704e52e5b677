"""A result file of another tool as a data set folder: tables, ``import.json`` and a card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from evalbench.core.wording import counted
from evalbench.readers.tools.composed import TABLES, Parts, summed
from evalbench.readers.tools.safe import finite
from evalbench.readers.tools.staged import staged

RECORD = "import.json"
CARD = "README.md"


def write(parts: Parts, to: Path | None) -> dict[str, Any]:
    """Write the folder, row by row, and return the record; with ``to`` None the rows are only counted.

    Raises ``BadInput`` if the folder is there and not empty, and for what the rows are refused for; then nothing is
    left behind.
    """
    if to is None:
        for _ in parts.rows():
            pass
        return parts.about()
    with staged(to) as stage:
        _tables(parts.rows(), stage)
        about = parts.about()
        for name, rows in summed(about).items():
            if rows:
                (stage / f"{name}.jsonl").write_text("".join(_line(row) for row in rows), encoding="utf-8")
        (stage / RECORD).write_text(json.dumps(finite(about), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        (stage / CARD).write_text(card(to.name, about), encoding="utf-8")
    return about


def _tables(rows: Iterator[tuple[str, dict[str, Any]]], stage: Path) -> None:
    with ExitStack() as stack:
        files = {
            name: stack.enter_context((stage / f"{name}.jsonl").open("w", encoding="utf-8", errors="surrogatepass"))
            for name in TABLES
        }
        for name, row in rows:
            files[name].write(_line(row))
    for name in TABLES:
        path = stage / f"{name}.jsonl"
        if not path.stat().st_size:
            path.unlink()


def _line(row: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, UnicodeEncodeError):
        text = json.dumps(finite(row), ensure_ascii=False, allow_nan=False)
    return text + "\n"


def card(name: str, about: Mapping[str, Any]) -> str:
    """The data card of an imported run."""
    version = about["tool_version"] or "version not in the file"
    files = "; ".join(f"`{_cell(file)}`, sha256 {digest}" for file, digest in about["files"].items())
    metrics = "\n".join(
        f"| {_cell(metric)} | {facts['n']} | {facts['missing']} | {facts['not_applicable']} | {facts['scale']} | "
        f"{'more' if facts['higher_is_better'] else 'less'} is better ({facts['direction_from']}) |"
        for metric, facts in about["metrics"].items()
    )
    notes = "\n".join(f"- {_cell(note)}" for note in (*about["assumed"], *about["notes"]))
    return f"""# {_cell(name)}

A run of {_cell(about["tool"])} ({_cell(version)}), imported: {counted(about["rows"], "row")}, {counted(about["questions"], "question")}.

- From: {files}.
- How made: by {_cell(about["tool"])}; brought into this form by `evalbench data import` ({about["made_by"]}). Nothing was scored anew.
- Licence: that of the run.
- `items.jsonl`: a row per question, model and trial. `scores.jsonl`: a row per metric of it; a null has its reason beside it.
  `judgements.jsonl`, `labels.jsonl`: what judges and people said, where there is any. `metrics.jsonl`, `figures.jsonl`: scale and
  direction of each metric, and the tool's own figures. `import.json`: the whole record.

| metric | scored | unscored | not applicable | scale | direction |
| --- | ---: | ---: | ---: | --- | --- |
{metrics}

What was assumed or is worth knowing:

{notes}
"""


def _cell(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")
