"""What every reader of trajectories gives: steps in time order, and what the file says of the task and of how the trial ended."""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.readers.tools.safe import finite, mapping
from evalbench.readers.tools.shapes import WORDS, number_of

KINDS = ("message", "call", "result", "handover", "note")
ROLES = ("user", "assistant", "system", "tool", "")
MOST_FAULTS, MOST_NOTES = 100, 50
MOST_STEPS = 1_000_000
"""Steps of one trajectory, which is held as a whole."""


class Malformed(ValueError):
    """A part of a record that is of another type than the format has; said with the row."""


class Step(NamedTuple):
    """One step of a trajectory; what the file does not say is empty or None.

    - ``kind`` ({"message", "call", "result", "handover", "note"}): ``note`` is what is neither said to the user nor done:
      reasoning, a summary of what was cut, an error of the run.
    - ``role`` ({"user", "assistant", "system", "tool", ""})
    - ``name``: The tool that is called or answers; of a message the agent, where it has a name.
    - ``arguments``: JSON text of a call's arguments, as the model wrote it where the file has that: it may not parse.
    - ``error``: Of a result, whether the tool failed; None where nothing shows it.
    - ``time``: ISO 8601, in UTC where the file has a zone.
    - ``parent``: What the step belongs to: the span, message or agent above it.
    """

    kind: str
    role: str = ""
    name: str = ""
    arguments: str | None = None
    call_id: str = ""
    text: str | None = None
    error: int | None = None
    time: str = ""
    seconds: float | None = None
    tokens: float | None = None
    cost: float | None = None
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One trial of one task.

    - ``mark``: How far it succeeded, 0 to 1, as the file has it; None: unscored.
    - ``ended``: Why it ended before the agent was done, in the file's words: ``limit: context``, ``error: …``; empty where
      it was done, or the file does not say.
    - ``expected``: JSON list of {name, arguments}: the calls that the task asks for.
    - ``policy``: The instruction that the system was given.
    - ``tools``: JSON list of {name, parameters}: the tools that the agent had; None where the file does not list them.
    - ``row``: The row of the file: line, entry, or name within an archive.
    - ``run``: Names the trial where nothing else does, and no other trial of the task is of the same run.
    """

    id: str
    steps: list[Step]
    model: str = ""
    trial: str = ""
    mark: float | None = None
    ended: str = ""
    question: str | None = None
    reference: str | None = None
    expected: str | None = None
    policy: str | None = None
    tools: str | None = None
    row: int | str = 0
    run: str = ""


@dataclass
class Source:
    """What a reader knows of a file beforehand, and its notes on how it was read.

    - ``model``: The name of the model where the file has none.
    - ``form``: The name of the file's form, known once reading began.
    - ``notes``: Sentences, each once; filled while the trajectories are read.
    - ``faults``: What is wrong with the file, row by row; :data:`MOST_FAULTS` end the reading.
    - ``unread``: Fields of records that nothing was read from; filled while the trajectories are read.
    """

    path: Path
    model: str = ""
    form: str = ""
    notes: dict[str, None] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    unread: dict[str, None] = field(default_factory=dict)

    def note(self, sentence: str) -> None:
        if len(self.notes) < MOST_NOTES:
            self.notes[sentence] = None

    def leave(self, names: Iterable[str]) -> None:
        for name in names:
            if len(self.unread) < MOST_NOTES:
                self.unread[name] = None

    def fault(self, row: int | str, why: object) -> None:
        self.faults.append(f"{row_name(row)}: {why}")
        if len(self.faults) >= MOST_FAULTS:
            self.refuse()

    def refuse(self) -> None:
        """Raises ``BadInput`` with all faults, if there are any."""
        if len(self.faults) == 1:
            raise BadInput(f"{self.path}: {self.faults[0]}")
        if self.faults:
            raise BadInput.listing(f"{self.path}: these trajectories cannot be read:", self.faults)


def row_name(row: int | str) -> str:
    return f"row {row}" if isinstance(row, int) else str(row)


def entries(value: Any, what: str) -> list[dict[str, Any]]:
    """The objects of a list; none of null.

    Raises ``Malformed`` for anything else than a list of objects.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise Malformed(f"{what}: expected a list, found {type(value).__name__}")
    for i, entry in enumerate(value):
        if not isinstance(entry, dict):
            raise Malformed(f"{what}[{i}]: expected an object, found {type(entry).__name__}")
    return value


def json_text(value: Any) -> str:
    """A value as JSON text; a text is itself, since models write arguments as texts."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(finite(value), ensure_ascii=False)
    except RecursionError:
        raise Malformed("a value is nested too deeply") from None


def text_or_json(value: Any) -> str | None:
    """A text as it is, None of null, JSON text of anything else."""
    return None if value is None else json_text(value)


def name_of(value: Any) -> str:
    """An identifier: a text without blanks at its ends, or a whole number; empty for anything else.

    Examples
    --------
    >>> name_of(" a "), name_of(7), name_of(None), name_of({"a": 1}), name_of(2.0), name_of(True)
    ('a', '7', '', '', '2', '')
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 200 else ""


def word_of(value: Any) -> str:
    """A text; empty for anything else."""
    return value if isinstance(value, str) else ""


def amount_of(value: Any) -> float | None:
    """A finite number of at least 0, as counts, durations and costs are, also where it is written as a text."""
    if isinstance(value, str):
        try:
            value = float(value) if len(value) < 40 else None
        except ValueError:
            return None
    number = None if isinstance(value, bool) else number_of(value)
    return number if number is not None and number >= 0 else None


def sum_of(*values: Any) -> float | None:
    """The sum of those that are amounts; None where none is."""
    amounts = [amount for value in values if (amount := amount_of(value)) is not None]
    return sum(amounts) if amounts else None


_ENDS: Mapping[str, float] = {
    **dict.fromkeys(("success", "succeeded", "passed", "resolved", "solved", "correct"), 1.0),
    **dict.fromkeys(("failure", "failed", "unresolved", "unsolved", "incorrect"), 0.0),
}


def mark_of(value: Any) -> float | None:
    """A mark from 0 to 1: a number, true or false, yes or no, pass or fail; None for anything else, a number beyond too.

    Examples
    --------
    >>> mark_of(True), mark_of("fail"), mark_of(0.5), mark_of(7), mark_of(float("nan")), mark_of(None)
    (1.0, 0.0, 0.5, None, None, None)
    """
    if isinstance(value, str):
        word = value.strip().lower()
        value = _ENDS.get(word, WORDS.get(word, amount_of(word)))
    number = number_of(value)
    return number if number is not None and 0 <= number <= 1 else None


def worded_mark(value: Any) -> float | None:
    """The mark that a text or a yes or no is, and no number: pass, failed, solved, true; None for anything else.

    Examples
    --------
    >>> worded_mark("pass"), worded_mark("Failed"), worded_mark(True), worded_mark("0.5"), worded_mark(1), worded_mark("12A")
    (1.0, 0.0, 1.0, None, None, None)
    """
    if isinstance(value, bool):
        return float(value)
    word = value.strip().lower() if isinstance(value, str) else ""
    return _ENDS.get(word, WORDS.get(word))


_ERROR = re.compile(
    r"\s*(?:(?:Error|ERROR)(?![\w-])(?!\s+(?i:rates?|bars?|margins?|budgets?|counts?|terms?|bounds?|logs?|handling|correction)\b)"
    r"|error:|Traceback \(most recent call last\)|HTTP(?:/[\d.]+)?\s+(?:(?i:error|status)\s+)?[45]\d\d\b"
    r'|\{\s*"error"\s*:(?!\s*(?:null|false|0|""|\{\}|\[\])))'
)
_SIGN = re.compile(r'"(?:error|is_error|isError|ok|success|status)"|\\u')
"""What an object has to hold to say that it is a failure: one of these keys, perhaps with signs spelled by their numbers."""
_FAILED = ("error", "failed", "failure")
_MOST_PARSED = 100_000


def reads_as_error(text: str | None) -> int:
    """Whether a tool's result reads as a failure.

    It begins with the word *Error* (not with *Error rate* and the like), a traceback or HTTP with a status of 400 or more; or it is an
    object with an ``error`` that is not empty, ``is_error`` or ``isError`` true, ``ok`` or ``success`` false, or a ``status`` of error,
    failed or failure.

    Examples
    --------
    >>> [reads_as_error(t) for t in ("Error: no such seat", '{"error": "late"}', '{"error": null}', "No errors", None)]
    [1, 1, 0, 0, 0]
    >>> [reads_as_error(t) for t in ("Error rate is 3 %", "HTTP 500", '{"isError": true}', '{"ok": false}', '{"status": "ok"}')]
    [0, 1, 1, 1, 0]
    """
    if not text:
        return 0
    begun = text[:_MOST_PARSED].lstrip()
    if begun.startswith("{") and len(text) <= _MOST_PARSED:
        if not _SIGN.search(begun):
            return 0
        try:
            value = json.loads(begun)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return int(_says_error(value))
    return int(_ERROR.match(text) is not None)


def _says_error(value: Mapping[str, Any]) -> bool:
    status = value.get("status")
    return (
        bool(value.get("error"))
        or any(value.get(key) is True for key in ("is_error", "isError"))
        or any(value.get(key) is False for key in ("ok", "success"))
        or (isinstance(status, str) and status.strip().lower() in _FAILED)
    )


def expected_calls(calls: Any) -> str | None:
    """The calls that a task asks for as a JSON list of {name, arguments}; None where it is not a list of calls."""
    if not isinstance(calls, list):
        return None
    found = []
    for call in calls:
        call = mapping(call)
        inner = mapping(call.get("function")) or call
        name = inner.get("name") or inner.get("tool") or inner.get("function")
        if not isinstance(name, str) or not name:
            return None
        keys = ("arguments", "kwargs", "args", "parameters", "input")
        given: Any = next((inner[key] for key in keys if inner.get(key) is not None), {})
        found.append({"name": name, "arguments": _parsed(given)})
    return json.dumps(finite(found), ensure_ascii=False)


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def time_of(value: Any) -> str:
    """A time in ISO 8601: of a text as it is where it is one, of a number the seconds, milli-, micro- or nanoseconds since 1970.

    Examples
    --------
    >>> time_of(1700000000), time_of("1700000000000000000"), time_of("2024-01-02T03:04:05Z"), time_of("soon")
    ('2023-11-14T22:13:20+00:00', '2023-11-14T22:13:20+00:00', '2024-01-02T03:04:05+00:00', '')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        text = value.strip()
        if not text.isdecimal() or not text.isascii() or len(text) > 20:
            return _iso(text)
        value = int(text) if len(text) > 8 else None
    number = None if isinstance(value, bool) else number_of(value)
    if number is None or number < 1e8:
        return ""
    while number >= 1e11:
        number /= 1000
    return _written(datetime.fromtimestamp(number, UTC))


def _iso(text: str) -> str:
    if not 10 <= len(text) <= 40:
        return ""
    try:
        moment = datetime.fromisoformat(text)
        return _written(moment.astimezone(UTC) if moment.tzinfo else moment)
    except (ValueError, OverflowError):
        return ""


def _written(moment: datetime) -> str:
    return moment.isoformat()


def seconds_between(start: str, end: str) -> float | None:
    """Seconds between two times of :func:`time_of`; None where one is missing, or they are in the wrong order."""
    if not start or not end:
        return None
    try:
        took = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except TypeError:
        return None
    return took if took >= 0 and math.isfinite(took) else None


def named_calls(steps: Iterable[Step]) -> list[Step]:
    """Steps whose results have the name of the call that they answer, by its id, else in order."""
    names: dict[str, str] = {}
    nameless: deque[str] = deque()
    out: list[Step] = []
    for step in steps:
        if step.kind == "call":
            if step.call_id:
                names[step.call_id] = step.name
            else:
                nameless.append(step.name)
        elif step.kind == "result" and not step.name:
            name = names.get(step.call_id, "") if step.call_id else nameless.popleft() if nameless else ""
            step = Step(step[0], step[1], name, *step[3:]) if name else step
        out.append(step)
    return out


LIMIT, ENVIRONMENT = "limit", "environment"
"""Names of the note at the end of a trial that ended by a limit, or by an error of the run."""


def finished(made: Trajectory, source: Source) -> Trajectory:
    """A trajectory with the model that the user named and a note of how it ended, where a limit or an error ended it.

    Raises ``Malformed`` for one of more than :data:`MOST_STEPS` steps.
    """
    if len(made.steps) > MOST_STEPS:
        raise Malformed(f"a trajectory of {len(made.steps):,} steps, at most {MOST_STEPS:,} are read")
    ended = LIMIT if made.ended.startswith("limit") else ENVIRONMENT if made.ended.startswith("error") else ""
    if not ended and (made.model or not source.model):
        return made
    last = [Step("note", name=ended, text=made.ended)] if ended else []
    return replace(made, model=made.model or source.model, steps=[*made.steps, *last])


def first_of(record: Mapping[str, Any], keys: Iterable[str]) -> Any:
    """The first value of these keys that is not null."""
    for key in keys:
        if (value := record.get(key)) is not None:
            return value
    return None
