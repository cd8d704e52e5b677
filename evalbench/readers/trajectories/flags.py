"""Whether a row of a table of steps says that its call failed: by an error, by a yes or no, or by a status in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from evalbench.core.wording import counted
from evalbench.readers.tools.shapes import clipped
from evalbench.readers.trajectories.kinds import kind_of
from evalbench.readers.trajectories.messages import ROLE
from evalbench.readers.trajectories.shape import Source, first_of, json_text, mark_of, word_of
from evalbench.readers.trajectories.step_columns import KINDS, TOOLS

ERRORS = ("error", "error_message", "tool_error", "is_error", "failed")
"""Columns with what went wrong, or yes where something did."""
WORKED = ("ok", "is_ok", "worked", "tool_ok", "tool_success", "call_success")
"""Columns with no where a call failed."""
EITHER = ("success", "is_success", "succeeded", "passed")
"""Columns that mark a trial where they are the same in all its rows, and say of each call whether it worked where they are not."""
STATUSES = ("status", "tool_status", "call_status", "result_status", "step_status", "status_code", "http_status")
"""Columns with a word, or a status of HTTP."""
NAMES = (*ERRORS, *WORKED, *STATUSES)
NO_ERROR = frozenset({"", "0", "0.0", "false", "no", "none", "null", "nan", "ok", "нет", "否"})
AN_ERROR = frozenset({"1", "1.0", "true", "yes", "да", "是"})
"""Words of a cell of errors that say no more than whether there is one."""
_WELL = frozenset(
    {"success", "successful", "succeeded", "ok", "okay", "completed", "complete", "done", "finished", "passed", "pass"}
)
_BADLY = frozenset(
    {
        "error",
        "errored",
        "failed",
        "fail",
        "failure",
        "timeout",
        "timed_out",
        "exception",
        "crash",
        "crashed",
        "aborted",
    }
)
Cells = Mapping[str, Any]


class Flags(NamedTuple):
    """The columns that say whether a call failed; none: false.

    - ``errors``: Whether there is a column of :data:`ERRORS`, so that a call without an error worked.
    - ``others``: The columns of :data:`WORKED`, :data:`EITHER` and :data:`STATUSES` that say it.
    """

    errors: bool = False
    others: tuple[str, ...] = ()

    @property
    def there(self) -> bool:
        return self.errors or bool(self.others)

    def said(self, cells: Cells) -> int | None:
        """Whether the cells of a row say that its call failed; None where they say nothing."""
        error = first_of(cells, ERRORS) if self.errors else None
        found = [] if error is None else [int(_flat(error) not in NO_ERROR)]
        found += [failed for key in self.others if (failed := failure_of(key, cells.get(key))) is not None]
        return max(found, default=None)

    def of(self, cells: Cells) -> int | None:
        """Whether a row's call failed; None where neither an error nor another column could say it."""
        failed = self.said(cells)
        return 0 if failed is None and self.errors else failed


def failure_of(column: str, cell: Any) -> int | None:
    """Whether a cell of a column that says how a call went says that it failed; None for a cell that says neither.

    Examples
    --------
    >>> [failure_of("ok", cell) for cell in (True, "no", 0, "maybe", None)]
    [0, 1, 1, None, None]
    >>> [failure_of("status", cell) for cell in ("success", "Timed out", "RateLimitError", 503, "200", 1, "pending")]
    [0, 1, 1, 1, 0, None, None]
    """
    if cell is None:
        return None
    word = _flat(cell).replace(" ", "_").replace("-", "_").rpartition(".")[2] if isinstance(cell, str) else ""
    if word in _BADLY or word.endswith("error") or word.startswith(("error:", "error_")):
        return 1
    if word in _WELL:
        return 0
    if column in STATUSES and not isinstance(cell, bool) and (number := _number(cell)) is not None:
        return int(number >= 400) if 100 <= number < 600 else None
    mark = mark_of(cell)
    return int(mark == 0) if mark in (0, 1) else None


def _number(cell: Any) -> float | None:
    try:
        return float(cell) if isinstance(cell, (int, float, str)) else None
    except (ValueError, OverflowError):
        return None


def _flat(cell: Any) -> str:
    return str(cell).strip().lower() if isinstance(cell, (str, int, float)) else "1"


def flags_of(
    trials: Collection[Iterable[Cells]], names: Collection[str], marks: Collection[str], source: Source
) -> Flags:
    """The columns of a table that say whether calls failed, with notes on those that are read and not read so.

    - ``names``: The columns; ``marks``: those that mark the whole trial.
    """
    others: list[str] = []
    for key in (key for key in (*WORKED, *EITHER, *STATUSES) if key in names and key not in marks):
        told = [[c for row in rows if acts(row) and (c := row.get(key)) is not None] for rows in trials]
        cells = [cell for own in told for cell in own]
        neither = [cell for cell in cells if failure_of(key, cell) is None]
        if key in STATUSES and _of_trials(key, told):
            source.note(
                f"column {key} is the same in all steps of each trial, and other in other trials: it was not read as whether a call "
                "failed. If it is the mark of the trial, name it success"
            )
            source.leave([key])
        elif len(neither) == len(cells):
            if cells and key not in EITHER:
                source.note(f"column {key} says of no call whether it failed, it has values such as {_shown(cells[0])}")
                source.leave([key])
        else:
            others.append(key)
            if key in EITHER:
                source.note(
                    f"column {key} differs between the steps of a trial: it was read as whether each call of a tool worked, and not as "
                    "the mark of the trial"
                )
            if neither:
                source.note(
                    f"column {key}: {counted(len(neither), 'value')} such as {_shown(neither[0])} "
                    f"{'says' if len(neither) == 1 else 'say'} neither that a call worked nor that it failed, and nothing was read there"
                )
    return Flags(any(key in names for key in ERRORS), tuple(others))


def _of_trials(key: str, told: Collection[list[Any]]) -> bool:
    """Whether cells say of trials what became of them, and not of calls: each of several trials has one value in all of several calls."""
    several = [{failure_of(key, cell) for cell in cells} for cells in told if len(cells) > 1]
    return len(several) > 1 and all(len(own) == 1 for own in several) and len(set.union(*several)) > 1


def _shown(cell: Any) -> str:
    return f"“{clipped(json_text(cell), 40)}”"


def acts(cells: Cells) -> bool:
    """Whether a row is a call of a tool or its result."""
    kind = kind_of(word_of(first_of(cells, KINDS)))
    if kind:
        return kind in ("call", "result")
    return bool(word_of(first_of(cells, TOOLS))) or ROLE.get(word_of(cells.get("role")).lower()) == "tool"


def with_error(output: str | None, cells: Cells) -> str | None:
    """What a tool answered, after what its error says, where that is more than that there is one."""
    said = word_of(first_of(cells, ERRORS)).strip()
    if not said or said.lower() in NO_ERROR | AN_ERROR | {"error", "failed"} or (output is not None and said in output):
        return output
    return said if output is None else f"{said}\n{output}"
