"""What a record says beside its steps: which task, model and trial it is, how it was marked, and what was expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evalbench.readers.tools.safe import mapping
from evalbench.readers.tools.shapes import clipped
from evalbench.readers.trajectories.flags import NO_ERROR
from evalbench.readers.trajectories.shape import (
    Source,
    expected_calls,
    first_of,
    json_text,
    mark_of,
    name_of,
    word_of,
    worded_mark,
)

IDS = (
    *(
        "task_id",
        "instance_id",
        "example_id",
        "question_id",
        "item_id",
        "sample_id",
        "test_case_id",
        "id",
        "trajectory_id",
    ),
    *("conversation_id", "session_id", "thread_id", "trace_id", "transcript_id", "run_id", "uuid", "custom_id"),
)
TRIALS = (
    "trial",
    "trial_id",
    "attempt",
    "epoch",
    "repeat",
    "task_repeat",
    "rollout",
    "rollout_id",
    "sample_index",
    "trial_index",
)
RUNS = ("run", "run_no", "run_number", "run_index")
"""Which trial it is, where each trial of a task has another; else what several trials are of."""
MODELS = ("model", "model_name", "model_id", "model_name_or_path", "agent_model", "agent", "agent_name", "system_name")
MARKS = (
    *("mark", "reward", "success", "is_success", "succeeded", "passed", "resolved", "solved", "correct", "is_correct"),
    *("score", "outcome"),
)
WORDED = ("result", "verdict", "evaluation", "grade", "test_result")
"""What may say pass or fail, and may as well say anything else."""
QUESTIONS = ("question", "instruction", "goal", "task_description", "problem_statement", "task", "query")
REFERENCES = ("reference", "reference_answer", "expected_output", "expected_answer", "ground_truth", "target")
EXPECTED = (
    *("expected", "expected_calls", "expected_actions", "expected_tool_calls", "reference_tool_calls", "gold_actions"),
    *("expected_tools", "actions"),
)
POLICIES = ("policy", "system_prompt", "instructions")
ENDS = ("ended", "termination_reason", "stop_reason", "finish_reason", "exit_status", "limit")
_ELSE = ("metadata", "info", "error")
_DONE = frozenset(
    {
        "stop",
        "end_turn",
        "completed",
        "complete",
        "done",
        "success",
        "agent_stop",
        "user_stop",
        "stop_sequence",
        "submitted",
    }
    | {
        "tool_calls",
        "tool_call",
        "tool-calls",
        "function_call",
        "tool_use",
        "finished",
        "ok",
        "none",
        "user_done",
        "agent_done",
    }
)
_LIMITS = ("limit", "length", "max_", "context", "truncat", "timeout", "too_many", "budget")


FIELDS: Mapping[str, tuple[str, ...]] = {
    "trial": (*TRIALS, *RUNS),
    "model": MODELS,
    "mark": (*MARKS, *WORDED),
    "question": QUESTIONS,
    "reference": REFERENCES,
    "expected": EXPECTED,
    "policy": (*POLICIES, "system"),
    "ended": ENDS,
    "id": IDS,
}
"""What is read of a record beside its steps → the fields where it is looked for, the first that is there."""


def about_of(record: Mapping[str, Any], source: Source) -> dict[str, Any]:
    """Fields of a :class:`~evalbench.readers.trajectories.shape.Trajectory` that a record has, by usual names.

    A record's ``metadata`` or ``info`` is looked into for what the record itself lacks.  A value that is not a mark from 0 to 1 is
    none, with a note.
    """
    inner = mapping(record.get("metadata")) or mapping(record.get("info"))
    # The ids of metadata are of other things than the task, but for those that say so.
    levels = (record, {key: value for key, value in inner.items() if key not in IDS or key == "task_id"})
    out: dict[str, Any] = {
        "id": _name(levels, IDS),
        "trial": _name(levels, TRIALS),
        "run": _name((record,), RUNS),
        "model": _text(levels, MODELS) or "",
        "mark": _mark(levels, source),
        "question": _text(levels, QUESTIONS),
        "policy": _text(levels, POLICIES),
        "ended": ended_of(_first(levels, ENDS)),
    }
    reference = _first(levels, REFERENCES)
    out["reference"] = None if reference is None else json_text(reference)
    out["expected"] = next(
        (calls for level in levels for key in EXPECTED if (calls := expected_calls(level.get(key))) is not None), None
    )
    error = record.get("error")
    if error and not out["ended"] and not (isinstance(error, str) and error.strip().lower() in NO_ERROR):
        out["ended"] = error_text(error)
    return out


def _first(levels: tuple[Mapping[str, Any], ...], keys: tuple[str, ...]) -> Any:
    return next((value for level in levels if (value := first_of(level, keys)) is not None), None)


def _name(levels: tuple[Mapping[str, Any], ...], keys: tuple[str, ...]) -> str:
    return next((name for level in levels for key in keys if (name := name_of(level.get(key)))), "")


def _text(levels: tuple[Mapping[str, Any], ...], keys: tuple[str, ...]) -> str | None:
    return next((text for level in levels for key in keys if (text := word_of(level.get(key)).strip())), None)


def _mark(levels: tuple[Mapping[str, Any], ...], source: Source) -> float | None:
    for level in levels:
        for key in MARKS:
            if level.get(key) is None:
                continue
            mark = mark_of(level[key])
            if mark is not None:
                return mark
            source.note(
                f"{clipped(key)}: {clipped(json_text(level[key]), 40)} is not a mark from 0 to 1: these trials are unscored"
            )
    worded = (level.get(key) for level in levels for key in WORDED)
    return next((mark for value in worded if (mark := worded_mark(value)) is not None), None)


def left_unread(record: Mapping[str, Any], read: Iterable[str]) -> Iterator[str]:
    """The fields of a record with a text, number or yes and no that neither :func:`about_of` nor a reader reads."""
    known = {*IDS, *TRIALS, *RUNS, *MODELS, *MARKS, *QUESTIONS, *REFERENCES, *EXPECTED, *POLICIES, *ENDS, *_ELSE, *read}
    for key, value in record.items():
        if key in known or (key in WORDED and worded_mark(value) is not None):
            continue
        if isinstance(value, (str, int, float)) and value != "":
            yield clipped(key, 60)


def ended_of(value: Any) -> str:
    """Why a trajectory ended before the agent was done: a limit, an error, any other word; empty where it was done.

    Examples
    --------
    >>> ended_of("end_turn"), ended_of("max_steps"), ended_of("agent_error"), ended_of({"type": "token"}), ended_of(None)
    ('', 'limit: max_steps', 'error: agent_error', 'limit: token', '')
    """
    if isinstance(value, dict):
        return f"limit: {word_of(value.get('type'))}" if word_of(value.get("type")) else ""
    word = word_of(value).strip()
    plain = word.lower().replace(" ", "_").rpartition(".")[2]
    if not word or plain in _DONE:
        return ""
    if any(mark in plain for mark in _LIMITS):
        return f"limit: {clipped(word, 100)}"
    return f"error: {clipped(word, 100)}" if "error" in plain or "fail" in plain else clipped(word, 100)


def error_text(error: Any) -> str:
    """What an error of the run says, its first line."""
    said = error if isinstance(error, str) else first_of(mapping(error), ("message", "error", "type"))
    return f"error: {clipped(said if isinstance(said, str) else json_text(error), 200)}"
