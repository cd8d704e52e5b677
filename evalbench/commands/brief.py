"""What a finished run says on a terminal: the answer, its lines, and the figures in columns; at most fifteen lines of 80 letters."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from evalbench.commands.printed import headline, uncertain
from evalbench.core.result import deciding_row
from evalbench.core.stats import FEW_UNITS
from evalbench.core.verdict import SYMBOLS
from evalbench.core.wording import count, counted, cut, estimate_text, group_of, title_of

WIDTH = 80
MOST_LINES = 14  # and the line of the report
_TITLE, _FIGURE, _UNIT = 25, 20, 8
_DECIDES = " decides"
_LABELS: Mapping[str, str] = {"decided_by": "decided by", "could_change": "could change", "next": "next"}
_SEVERITY = ("red", "yellow", "grey", "green", "unlit")


def brief(results: Mapping[str, Any]) -> list[str]:
    """The lines of a run with an answer; of an older one its sentence and figures.

    - ``results``: Content of ``results.json``.
    """
    light = str(results["light"])
    head = f"{SYMBOLS[light]} {light}  "
    answer = results.get("answer")
    if not answer:
        return [f"{head}{results['sentence']}", *uncertain(results), *headline(results)]
    lines = textwrap.wrap(answer["answer"], WIDTH, initial_indent=head, subsequent_indent="  ", break_on_hyphens=False)
    first = {} if results.get("decided_by") else {"decided_by": "first figure"}
    for name, label in {**_LABELS, **first}.items():
        if text := answer[name]["text"]:
            lines += textwrap.wrap(
                text, WIDTH, initial_indent=f"  {label:<13}", subsequent_indent=" " * 15, break_on_hyphens=False
            )
    if not any("of resamples" in line for line in lines):
        lines += uncertain(results)
    return lines + figures(results, max(MOST_LINES - len(lines), 3))


def figures(results: Mapping[str, Any], most: int) -> list[str]:
    """The figures in columns, the one that decided first, then the worst lights; of many the first ones and how many more."""
    deciding, every = deciding_row(results), list(results["summary"])
    order = list(dict.fromkeys(row["metric"] for row in every))
    rows = sorted(
        every, key=lambda row: (row is not deciding, _SEVERITY.index(row["light"]), order.index(row["metric"]))
    )
    narrow = _narrow(every)
    most -= len(narrow)
    shown = rows if len(rows) <= most else rows[: most - 1]
    texts = [_figure(row, every) for row in shown]
    wide = min(max(map(len, texts), default=0), _FIGURE + 6)
    title = min(max((len(title_of(row)) for row in shown), default=0), _room(shown, results["by"], wide, deciding))
    lines = [
        _line(row, text, results["by"], title, wide, row is deciding) for row, text in zip(shown, texts, strict=True)
    ]
    unshown = len(rows) - len(shown)
    return [*lines, *([f"  … and {counted(unshown, 'more figure')}: see the report"] if unshown else []), *narrow]


def _narrow(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """How many of the intervals are of so few units that they are too narrow, a line; none where none is."""
    found = sum("too narrow" in (row["note"] or "") for row in rows)
    if not found:
        return []
    return [f"  {counted(found, 'interval')} too narrow: of fewer than {FEW_UNITS} units"]


def _room(rows: Sequence[Mapping[str, Any]], by: Sequence[str], wide: int, deciding: Mapping[str, Any] | None) -> int:
    """The letters for a title: what lights, figures, counts and groups leave, and not fewer than 25."""
    others = [len(group_of(row, by)) + len(_DECIDES) * (row is deciding) for row in rows]
    counts = [max(len(count(row["n"] or 0)), 4) for row in rows]
    left = WIDTH - len("  ●   ") - wide - len("  n  ") - max(counts, default=0) - max(others, default=0)
    return max(left, _TITLE)


def _figure(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    if row["value"] is None:
        return f"– ({row['note']})"
    unit = str(row.get("unit") or "")
    word = (
        unit
        if unit in ("pp", "%", "s") or (unit.isalpha() and unit not in ("difference", "score") and len(unit) <= _UNIT)
        else ""
    )
    return f"{estimate_text(row, rows)} {word}".rstrip()


def _line(row: Mapping[str, Any], text: str, by: Sequence[str], title: int, wide: int, decides: bool) -> str:
    group = group_of(row, by)
    lamp = " " if row["light"] == "unlit" else SYMBOLS[row["light"]]
    said = (
        f"  {lamp} {_short(title_of(row), title):<{title}}  {_short(text, wide):<{wide}}  n {count(row['n'] or 0):<4}"
    )
    mark = _DECIDES if decides else ""
    return f"{said} {cut(group, WIDTH - len(said) - 1 - len(mark))}{mark}".rstrip()


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: max(most - 1, 0)]}…"
