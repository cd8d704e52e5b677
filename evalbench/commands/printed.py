"""What a run prints: a dozen lines for people, or one JSON object for programs (``docs/run.schema.json``)."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalbench.core.result import deciding_row
from evalbench.core.verdict import SYMBOLS
from evalbench.core.wording import counted, title_of
from evalbench.models.redact import redacted, redactor
from evalbench.readers.runs import PAGE, read_run

SCHEMA_VERSION = 1
_WIDTH = 100
_SURE = 0.9
_NAMED = 8


def headline(results: Mapping[str, Any], most: int = 10) -> list[str]:
    """The figures of each group, a line each: as many whole metrics as ``most`` lines hold, and the names of the others.

    The figure that decided the light says so; its metric comes first where not all have room.
    """
    deciding = deciding_row(results)
    titles = {row["metric"]: title_of(row) for row in results["summary"]}
    metrics: dict[str, list[Mapping[str, Any]]] = {}
    for row in results["summary"]:
        found = metrics.setdefault(row["metric"], [])
        found.insert(0 if row is deciding else len(found), row)
    if deciding and sum(map(len, metrics.values())) > most:
        metrics = {deciding["metric"]: metrics[deciding["metric"]], **metrics}
    for whole in range(len(metrics), 0, -1):
        rows = [row for found in list(metrics.values())[:whole] for row in found]
        left = _others([titles[name] for name in list(metrics)[whole:]])
        if len(rows) + len(left) <= most:
            return _lines(rows, titles, results) + left
    first = next(iter(metrics.values()))
    left = _others([titles[name] for name in list(metrics)[1:]])
    shown = max(1, most - len(left) - 1)
    unshown = len(first) - shown
    more = [f"  … and {counted(unshown, 'more row')} of {titles[next(iter(metrics))]}"] if unshown > 0 else []
    return [*_lines(first[:shown], titles, results), *more, *left]


def uncertain(results: Mapping[str, Any]) -> list[str]:
    """How sure the light is, a line, where fewer than nine in ten resamples give it.

    Examples
    --------
    >>> uncertain({"light": "green", "light_stability": 0.54}), uncertain({"light": "green", "light_stability": 0.95})
    (['  only 54 % of resamples give green'], [])
    """
    share = results.get("light_stability")
    light = results.get("would_be_light") or results["light"]
    return [] if share is None or share >= _SURE else [f"  only {100 * share:.0f} % of resamples give {light}"]


def read_as_of(folder: Path) -> dict[str, dict[str, str]]:
    """The columns that a run read under other names: table → column → what it was read as."""
    return dict(read_run(folder).get("read_as") or {})


def printed_read_as(folder: Path) -> list[str]:
    """Lines on the columns that a run read under other names; none where there are none."""
    pairs = dict.fromkeys(pair for columns in read_as_of(folder).values() for pair in columns.items())
    said = ", ".join(f"{name} as {role}" for name, role in pairs if name != role)
    return textwrap.wrap(f"columns read {said}", _WIDTH, subsequent_indent="    ") if said else []


_UNUSED = "columns that are not used: "


def printed_unused(notes: Sequence[str], read: Iterable[str] = ()) -> list[str]:
    """Lines on the columns that a run did not use, and on those of which it could not tell which is meant; none where there are none.

    - ``read``: Columns that some table of it used.

    Examples
    --------
    >>> printed_unused(["a.csv: no column reference; which is meant: 'x' (--map x=reference) or 'y' (--map y=reference)?"])
    ["not read  no column reference; which is meant: 'x' (--map x=reference) or 'y' (--map y=reference)?"]
    >>> printed_unused(["items: columns that are not used: expected, gold"])
    ['not used  expected, gold']
    """
    unused = dict.fromkeys(
        n for note in notes for n in note.partition(_UNUSED)[2].rstrip(".").split(", ") if n and n not in {*read}
    )
    asked = [note.partition(": ")[2] for note in notes if "which is meant: " in note and ": no column " in note]
    said = [f"not read  {text}" for text in asked]
    if unused:
        more = f" and {len(unused) - _NAMED} more" if len(unused) > _NAMED else ""
        said.append(f"not used  {', '.join(list(unused)[:_NAMED])}{more}")
    return [line for text in said for line in textwrap.wrap(text, _WIDTH, subsequent_indent="    ")]


def _lines(rows: Sequence[Mapping[str, Any]], titles: Mapping[str, str], results: Mapping[str, Any]) -> list[str]:
    """A line each, in columns as wide as the titles that are printed."""
    by, deciding = results["by"], deciding_row(results)
    width = max([18, *(len(titles[row["metric"]]) for row in rows)])
    lines = []
    for row in rows:
        group = ", ".join(str(row[k]) for k in by if row.get(k)) or ("all" if by else "")
        n = f"n {row['n']} {row.get('n_of') or ''}".rstrip()
        line = f"  {titles[row['metric']]:<{width}} {_figure(row, results['summary']):<26} {n}  {group}".rstrip()
        lamp = f"  {SYMBOLS[row['light']]} {row['light']}" if row["light"] != "unlit" else ""
        lines.append(line + lamp + (", decides" if row is deciding else ""))
    return lines


def _others(titles: Sequence[str]) -> list[str]:
    """The names of what is left to the page, in lines of a terminal's width."""
    if not titles:
        return []
    titles = _joined(titles)
    comma = "; " if any("," in title for title in titles) else ", "
    said = f"… and {comma.join(titles)}: see the report"
    return textwrap.wrap(said, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _joined(titles: Sequence[str]) -> list[str]:
    """The titles, where more than three differ only in what they are of as one.

    Examples
    --------
    >>> _joined(["F1", *(f"F1 of {name}" for name in "ABCD"), "recall of A"])
    ['F1', 'F1 of A and 3 more', 'recall of A']
    """
    heads = Counter(title.partition(" of ")[0] for title in titles if " of " in title)
    out = []
    for title in titles:
        head, of, _ = title.partition(" of ")
        n = heads.get(head, 0) if of else 0
        if n > 3:
            heads[head] = -n
            out.append(f"{title} and {n - 1} more")
        elif n >= 0:
            out.append(title)
    return out


def _figure(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    from evalbench.core.wording import estimate_text

    if row["value"] is None:
        return f"– ({row['note']})"
    return estimate_text(row, rows)


def run_object(
    study: str,
    status: str,
    exit_code: int,
    *,
    error: str = "",
    folder: Path | None = None,
    results: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    plan: Mapping[str, Any] | None = None,
) -> str:
    """A run in one line of JSON, whatever became of it; ``docs/run.schema.json`` describes it.

    - ``status``: ``ok``, ``failed``, ``died``, ``timeout``, ``no-result``; ``refused`` where it did not start, or its
      data were refused; ``interrupted``.
    - ``exit_code``: With which the command ends.
    - ``folder``: Of the run.
    - ``results``: ``results.json`` of a run that is ok.
    - ``notes``: Lines of the gate, see :func:`evalbench.commands.run.unjudged`.
    - ``plan``: Of a dry run.

    Examples
    --------
    >>> json.loads(run_object("matching", "refused", 2, error="no such file"))["light"] is None
    True
    """
    found = results or {}
    said = {
        "schema_version": SCHEMA_VERSION,
        "study": study,
        "status": status,
        "exit_code": exit_code,
        "error": error,
        "light": found.get("light"),
        "answer": found.get("answer"),
        "sentence": found.get("sentence"),
        "decided_by": found.get("decided_by"),
        "by": list(found.get("by") or ()),
        "summary": list(found.get("summary") or ()),
        "run_id": folder.name if folder else None,
        "folder": str(folder) if folder else None,
        "report": str(folder / PAGE) if folder else None,
        "read_as": read_as_of(folder) if folder and results else None,
        "notes": list(notes),
        "budget": found.get("budget"),
        "plan": plan,
    }
    # Without a character beyond ASCII nothing in it can steer a terminal.
    return json.dumps(redacted(said, redactor()), allow_nan=False)
