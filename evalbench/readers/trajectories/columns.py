"""What the columns of a file of trajectories were read as."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from evalbench.readers.trajectories import chats, events, flags, flat, scout, step_columns, within
from evalbench.readers.trajectories.about import FIELDS, MODELS

PART = "steps"
_OF_STEPS: Mapping[str, tuple[str, ...]] = {
    "step": step_columns.STEPS,
    "kind": step_columns.KINDS,
    "name": step_columns.TOOLS,
    "arguments": step_columns.ARGUMENTS,
    "text": (*step_columns.TEXTS, *step_columns.OUTPUTS),
    "answer": step_columns.ANSWERS,
    "model": MODELS,
    "mark": FIELDS["mark"],
}
_RECORDS = (*chats.NAMES, *events.NAMES, *within.NAMES)
"""Forms of records with fields of any name, of which some are not read."""
_KEPT = (
    "role",
    "call_id",
    "time",
    "timestamp",
    "seconds",
    "duration",
    "latency_ms",
    "duration_ms",
    "tokens",
    "cost",
    "parent",
    "metadata",
    "info",
)


def columns_read(form: str, names: Collection[str]) -> dict[str, str]:
    """Column → what it was read as in a file of this form; an empty text for one that was not read.

    Examples
    --------
    >>> columns_read("openai-messages", ["conversation_id", "system", "messages", "success", "colour"])
    {'conversation_id': 'id', 'system': 'policy', 'messages': 'steps', 'success': 'mark', 'colour': ''}
    """
    of_table = form in flat.NAMES
    lower = {name.strip().lower() if of_table else name: name for name in names}
    out: dict[str, str] = {}
    first = {} if not of_table else {**_table_names(lower), **_firsts(_OF_STEPS, lower)}
    for key, role in {**_firsts(FIELDS, lower), **first}.items():
        out[lower[key]] = role
    if of_table:
        out |= {lower[key]: "error" for key in flags.NAMES if key in lower}
        if "model" not in out.values() and step_columns.AGENT in lower:
            out[lower[step_columns.AGENT]] = "model"
    elif form in _RECORDS and "error" in lower:
        out["error"] = "ended"
    if form in within.NAMES and "task" in lower and "task_id" not in lower:
        out = {name: role for name, role in out.items() if role != "id"} | {lower["task"]: "id"}
    held = _held(form) or {*lower}
    return {
        name: out.get(name) or (PART if key in held and not of_table else key if key in held else "")
        for key, name in lower.items()
    }


def _held(form: str) -> set[str]:
    """The columns of which something is read beside :data:`FIELDS`; none of a form whose columns are not known one by one."""
    if form in flat.NAMES:
        return {*_KEPT}
    if form in scout.NAMES:
        return {*scout.READ}
    return {*chats.READ, within.HELD} if form in _RECORDS else set()


def _table_names(names: Collection[str]) -> dict[str, str]:
    return {key: role for key, role in zip(step_columns.task_and_run(names), ("id", "trial"), strict=True) if key}


def _firsts(wanted: Mapping[str, tuple[str, ...]], names: Collection[str]) -> dict[str, str]:
    found = ((next((key for key in keys if key in names), ""), role) for role, keys in wanted.items())
    return {key: role for key, role in found if key}
