"""How a judge that looks things up is asked: its tools, the form of a step, the words before the task's own prompt."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from evalbench.judge.tasks import Task, reply_schema
from evalbench.models.exchange import Tool, schema_text
from evalbench.models.wire.tool_calls import MOST_CALLS

if TYPE_CHECKING:
    from pydantic import BaseModel

VERDICT = "verdict"
MOST_QUOTES = 20
_ARGUMENTS = {
    "search": ("query", "string", "find passages by words", "a few words that the passage would hold"),
    "open": ("passage", "integer", "read a passage by its number, so that it can be quoted", "the passage's number"),
    "open_url": ("url", "string", "read a page of the web", "its address"),
    "calculate": ("expression", "string", "work out an expression", "such as (12.5 + 3) * 4 / 100"),
}
_COMPARE = "compare two texts, or two numbers"


def names_of(*, web: bool) -> tuple[str, ...]:
    """The tools besides the verdict."""
    return tuple(name for name in (*_ARGUMENTS, "compare") if web or name != "open_url")


@functools.lru_cache(maxsize=64)
def step_schema(task_key: TaskKey, names: tuple[str, ...]) -> type[BaseModel]:
    """The schema of one reply: which tool, and its arguments; of ``verdict`` evidence first, then the task's own reply.

    Further calls of the same reply are in ``more``, also where the reply holds them as ``calls`` or as objects of their own.
    """
    from pydantic import BaseModel, Field, create_model, model_validator

    class Quote(BaseModel):
        passage: int
        quote: str

    class Base(BaseModel):
        @model_validator(mode="before")
        @classmethod
        def flat(cls, given: Any) -> Any:
            return _several(given)

        @classmethod
        def joined(cls, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
            return _joined(found)

        @model_validator(mode="after")
        def whole(self) -> Any:
            if self.tool == VERDICT and self.verdict is None:  # type: ignore[attr-defined]
                raise ValueError("a verdict is missing: put it into verdict")
            return self

    fields: dict[str, Any] = {"tool": (Literal[(VERDICT, *names)], Field(description="the tool to use"))}
    for name in ("query", "passage", "url", "expression", "first", "second"):
        kind: Any = int if name == "passage" else str
        if name != "url" or "open_url" in names:
            fields[name] = (kind | None, None)
    if names:
        further = create_model("Call", **fields)
        fields["more"] = (list[further] | None, Field(default=None, max_length=MOST_CALLS))  # type: ignore[valid-type]
    fields["evidence"] = (list[Quote] | None, Field(default=None, max_length=MOST_QUOTES))
    fields[VERDICT] = (reply_schema(task_key.task) | None, None)
    return create_model("Step", __base__=Base, **fields)


class TaskKey:
    """A task by what shapes its reply."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._key = (tuple(task.labels), task.answer, repr(sorted(task.parts.items())))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TaskKey) and self._key == other._key


def _joined(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One reply of several objects: those that call a tool, in their order; without any the first."""
    calls = [one for one in found if "tool" in one]
    return {"calls": calls[:MOST_CALLS]} if len(calls) > 1 else next(iter(calls), found[0])


def _several(given: Any) -> Any:
    """A reply as a step: its first call, and the others in ``more``."""
    if not isinstance(given, Mapping):
        return given
    calls = given.get("calls") if "tool" not in given else None
    several = calls if isinstance(calls, list) and calls else [given]
    first, *rest = (_flat(one) for one in several)
    if not isinstance(first, Mapping):
        return first
    own = first.get("more")
    rest += [_flat(one) for one in own] if isinstance(own, list) else []
    return {**first, **({"more": rest} if rest else {})}


def _flat(given: Any) -> Any:
    """A call with ``arguments`` as a step, what belongs to the verdict within it; anything else as it is."""
    if not isinstance(given, Mapping):
        return given
    inner = given.get("arguments")
    if isinstance(inner, str):
        try:
            inner = json.loads(inner)
        except (ValueError, RecursionError):
            raise ValueError("its arguments are not JSON") from None
    flat = {**given, **inner} if isinstance(inner, Mapping) else dict(given)
    flat.pop("arguments", None)
    if flat.get("tool") == VERDICT and not isinstance(flat.get(VERDICT), Mapping):
        flat[VERDICT] = {
            name: value for name, value in flat.items() if name not in ("tool", "evidence", "more", VERDICT)
        }
    return flat


def tools(task: Task, names: Sequence[str]) -> tuple[Tool, ...]:
    """The tools as an endpoint of tools takes them, the verdict last."""
    made = []
    for name in names:
        if name == "compare":
            made.append(_tool(name, _COMPARE, {"first": {"type": "string"}, "second": {"type": "string"}}))
        else:
            argument, kind, does, about = _ARGUMENTS[name]
            made.append(_tool(name, does, {argument: {"type": kind, "description": about}}))
    own = json.loads(schema_text(reply_schema(task)))
    quote = {
        "type": "object",
        "properties": {"passage": {"type": "integer"}, "quote": {"type": "string"}},
        "required": ["passage", "quote"],
    }
    evidence = {"type": "array", "items": quote, "description": "what the reason rests on, word for word"}
    more = {"$defs": own["$defs"]} if "$defs" in own else {}
    made.append(_tool(VERDICT, "decide; this ends the judging", {"evidence": evidence, **own["properties"]}, **more))
    return tuple(made)


def _tool(name: str, does: str, properties: Mapping[str, Any], **more: Any) -> Tool:
    parameters = {"type": "object", "properties": properties, "required": list(properties), **more}
    return Tool(name, does, json.dumps(parameters, ensure_ascii=False))


def in_words(names: Sequence[str]) -> list[tuple[str, str]]:
    """Each tool as a call, and what it does."""
    out = []
    for name in names:
        if name == "compare":
            out.append(('{"tool": "compare", "first": "…", "second": "…"}', _COMPARE))
        else:
            argument, kind, does, _ = _ARGUMENTS[name]
            value = "1" if kind == "integer" else '"…"'
            out.append((f'{{"tool": "{name}", "{argument}": {value}}}', does))
    return out
