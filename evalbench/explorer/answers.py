"""What the explorer's page asks of a run, answered as JSON: the calls of :class:`evalbench.explorer.opened.Run`, once more."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.explorer.conditions import mark_name
from evalbench.explorer.deciding import decided_from
from evalbench.explorer.mark_files import marked_after_seeing, marks_of, merge_line
from evalbench.explorer.marks import blinded, read_blind, reveals
from evalbench.explorer.standing import NEEDS_A_RUN, free_options, standing
from evalbench.readers.runs import PAGE as PAGE_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from evalbench.core.result import Estimate
    from evalbench.explorer.rows import Rows

MOST_ROWS = 1000
PAGE = 100


def about(run: str, rows: Rows) -> dict[str, Any]:
    """What a run is: its answer, figures and notes, the columns of its items, the options that may change."""
    from evalbench.runs.choices import choices_of
    from evalbench.runs.notebooks import known_parameters

    results = rows.results
    hooks = studies.study(str(results["study"]))
    free, known, words = free_options(hooks), known_parameters(hooks.name), choices_of(hooks.name)
    kept = ("study", "question", "judged", "light", "sentence", "id", "by", "notes", "decided_by", "light_rule")
    options = [
        {
            "name": name,
            "value": results["parameters"].get(name, option.default),
            "default": option.default,
            "kind": _kind(str(option.annotation)),
            "help": known[name].help if name in known else "",
            "choices": words.get(name, []),
        }
        for name, option in free.items()
    ]
    fixed = [
        {"name": name, "value": value, "why": NEEDS_A_RUN}
        for name, value in results["parameters"].items()
        if name in hooks.options() and name not in free
    ]
    return {
        "run": run,
        **{name: results.get(name) for name in kept},
        "answer": results.get("answer"),
        "n": rows.n,
        "columns": [column._asdict() for column in rows.columns.values()],
        "figures": results["summary"],
        "decided_from": decided_from(rows),
        "groups": {name: _values(results["summary"], name) for name in rows.by},
        "options": options,
        "fixed_options": fixed,
        "tables": sorted(rows.linked),
        "page": (rows.folder / PAGE_FILE).is_file(),
        "read_blind": read_blind(rows),
        "mark": mark_name(rows.columns),
    }


def items(rows: Rows, where: str, sort: str, offset: int, limit: int) -> dict[str, Any]:
    """A page of the items that a filter leaves, and how many these are."""
    if not 0 < limit <= MOST_ROWS or offset < 0:
        raise BadInput(f"limit must be from 1 to {MOST_ROWS} and offset from 0; got {limit} and {offset}")
    found = rows.page(where, sort, offset, limit)
    return {"total": rows.n, "n": rows.count(where), "rows": found}


def item(rows: Rows, row: int, where: str, sort: str, blind: bool = False) -> dict[str, Any]:
    """An item with everything behind it, and which come before and after it among those that a filter leaves.

    - ``blind``: Only its texts.
    """
    return {**(blinded(rows, row) if blind else rows.item(row)), "near": rows.neighbours(row, where, sort)}


def marks(rows: Rows, row: str, where: str, sort: str, annotator: str) -> dict[str, Any]:
    """The marks of one item, how many items have some, the command that makes labels of them, what the filter and the order say of it
    that a blind reader is not to know, by what they select it, and whether this one marked it after seeing before.
    """
    from evalbench.label.merged import selected_by

    found = marks_of(rows.folder)
    return {
        "n": int(found["row"].nunique()),
        "marks": found[found["row"].astype(str) == row].to_dict("records"),
        "reveals": reveals(rows, where, sort),
        "selected_by": selected_by(where, sort, rows.by),
        "seen": marked_after_seeing(rows.folder, annotator, row),
        "line": merge_line(rows.folder),
    }


def compare(
    left: Rows, right: Rows, groups: tuple[str, str], metric: str, where: str, verdict: str, sort: str, offset: int
) -> dict[str, Any]:
    """A page of the pairs of two sides, the largest changes first."""
    from evalbench.explorer.comparing import page_of

    return page_of(left, right, groups, metric, where, verdict=verdict, sort=sort, offset=offset, limit=PAGE)


def difference(left: Rows, right: Rows, groups: tuple[str, str], metric: str, where: str) -> dict[str, Any]:
    """The figures of two sides, with interval and p."""
    from evalbench.explorer.comparing import difference_of

    return difference_of(left, right, groups, metric, where)


def stands(rows: Rows, where: str, options: str) -> dict[str, Any]:
    """Figures and light of the items that a filter leaves, under other options (JSON)."""
    found = standing(rows, where, object_of(options, "options"))
    verdict = found.summary.verdict if found.summary else None
    return {
        "n": found.n,
        "of": found.of,
        "sample": found.sample,
        "light": verdict.light if verdict else "",
        "sentence": verdict.sentence if verdict else "No item is left.",
        "figures": [_row(estimate) for estimate in found.summary.estimates] if found.summary else [],
        "line": found.line,
        "note": found.note,
        "moved": found.moved._asdict() if found.moved else None,
    }


def code(run: Path, where: str, sort: str, options: str) -> dict[str, str]:
    """The cell of a notebook that gives what is on the screen."""
    named = ", ".join(f"{part}={value!r}" for part, value in (("where", where), ("sort", sort)) if value)
    changed = "".join(f", {name}={value!r}" for name, value in object_of(options, "options").items())
    lines = ["import evalbench", "", f"run = evalbench.open_run({str(run)!r})", f"run.items({named})"]
    if changed or where:
        lines.append(
            f"run.with_options({', '.join([repr(where)] if where else [])}{changed if where else changed[2:]})"
        )
    return {"code": "\n".join(lines)}


def _values(summary: list[dict[str, Any]], name: str) -> list[str]:
    return list(dict.fromkeys(str(row[name]) for row in summary if row.get(name) not in (None, "")))


def object_of(text: str, name: str) -> dict[str, Any]:
    """A JSON object; an empty one of no text.

    Raises ``BadInput`` where it is none.
    """
    try:
        found = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name}: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise BadInput(f"{name}: expected an object of names and values")
    return found


def _row(estimate: Estimate) -> Mapping[str, Any]:
    return {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in estimate.row().items()}


def _kind(annotation: str) -> str:
    """How the page lets an option change, by its annotation.

    Examples
    --------
    >>> _kind("float | None"), _kind("str"), _kind("Mapping[str, Mapping[str, float]]")
    ('number', 'text', 'json')
    """
    if annotation.startswith(("float", "int")):
        return "number"
    return {"str": "text", "bool": "yes/no"}.get(annotation, "json")
