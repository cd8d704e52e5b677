"""The tools that a log lists, with the JSON Schemas of their arguments, in the forms of the providers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalbench.readers.tools.safe import finite, mapping
from evalbench.readers.trajectories.shape import Source, Step, Trajectory, first_of, word_of

if TYPE_CHECKING:
    import pandas as pd

LISTS = ("tools", "functions", "tool_definitions", "available_tools")
"""Keys under which records list tools."""
SCHEMAS = (
    *("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema", "params"),
    *("schema", "json_schema", "args_schema"),
)
_DECLARED = ("functionDeclarations", "function_declarations")
_MOST = 1_000_000
"""So many characters a schema may have."""


def tool_of(value: Any) -> tuple[str, Any]:
    """Name and schema of a tool in the form of any provider; no name of one that the endpoint itself has.

    Examples
    --------
    >>> tool_of({"type": "function", "function": {"name": "pay", "parameters": {"type": "object"}}})
    ('pay', {'type': 'object'})
    >>> tool_of({"name": "pay", "input_schema": None}), tool_of("pay"), tool_of({"type": "web_search"})
    (('pay', None), ('pay', None), ('', None))
    """
    if isinstance(value, str):
        loaded = _loaded(value)
        return (value.strip(), None) if loaded is None else tool_of(loaded)
    held = mapping(value)
    inner = mapping(held.get("function")) or mapping(held.get("custom")) or mapping(held.get("toolSpec")) or held
    schema = first_of(inner, SCHEMAS)
    if isinstance(schema, dict) and set(schema) <= {"json", "jsonSchema"}:
        schema = next(iter(schema.values()), None)
    if isinstance(schema, str):
        schema = _loaded(schema)
    return word_of(inner.get("name")).strip(), schema if isinstance(schema, dict) else None


def _loaded(text: str) -> Any:
    if not text.lstrip().startswith("{") or len(text) > _MOST:
        return None
    try:
        return mapping(json.loads(text)) or None
    except (ValueError, RecursionError):
        return None


def tools_in(records: Iterable[Any], steps: Iterable[Step]) -> str | None:
    """The tools that records list, as a JSON list of {name, parameters}; None where none of them lists any.

    An entry without a name is a tool of the endpoint, or several: all that are called and not listed belong to it.

    - ``records``: What may hold such a list under one of :data:`LISTS`, or is one.
    """
    found: dict[str, Any] = {}
    listed = others = False
    for value in records:
        for one in _entries(value):
            listed = True
            name, schema = tool_of(one)
            others |= not name
            if name and found.get(name) is None:
                found[name] = schema
    if not listed:
        return None
    for step in steps if others else ():
        if step.kind == "call":
            found.setdefault(step.name, None)
    written = [{"name": name, "parameters": _written(schema)} for name, schema in found.items()]
    return json.dumps(finite(written), ensure_ascii=False)


def _written(schema: Any) -> Any:
    """A schema that is not too large and not nested too deeply to be written; None of any other."""
    try:
        return schema if len(json.dumps(schema)) <= _MOST else None
    except (RecursionError, ValueError):
        return None


def _entries(value: Any) -> Iterator[Any]:
    """The single tools of a list, of a record that has one, or of an object from name to tool."""
    if isinstance(value, dict):
        held = first_of(value, LISTS)
        if isinstance(held, dict):
            yield from ({"name": name, **mapping(one)} for name, one in held.items())
        elif isinstance(held, list | str):
            yield from _entries(_loaded_list(held))
        return
    for one in value if isinstance(value, list) else ():
        declared = first_of(mapping(one), _DECLARED)
        if isinstance(declared, list):
            yield from map(_lower_types, declared)
        elif isinstance(one, str | dict):
            yield one


def _loaded_list(held: Any) -> Any:
    if not isinstance(held, str):
        return held
    try:
        return json.loads(held) if len(held) <= _MOST else None
    except (ValueError, RecursionError):
        return None


def _lower_types(value: Any, depth: int = 60) -> Any:
    """A declaration of Gemini, whose types are written in capitals, as JSON Schema."""
    if isinstance(value, list) and depth:
        return [_lower_types(one, depth - 1) for one in value]
    if not isinstance(value, dict) or not depth:
        return value
    own = {key: _lower_types(one, depth - 1) for key, one in value.items()}
    kind = own.get("type")
    if isinstance(kind, str) and kind.isupper():
        own["type"] = [kind.lower(), "null"] if own.get("nullable") is True else kind.lower()
    return own


@dataclass
class Listed:
    """The tools of all trials of a file.

    Of trials without a list all tools that they call exist.  A tool with several schemas in the file has none, with a note: which of them held
    when it was called is not known.
    """

    schemas: dict[str, str | None] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    several: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)

    def add(self, made: Trajectory) -> None:
        if made.tools is None:
            self.called.update(step.name for step in made.steps if step.kind == "call")
            return
        if made.tools in self.seen:
            return
        self.seen.add(made.tools)
        for tool in json.loads(made.tools):
            name, schema = tool["name"], tool["parameters"]
            text = None if schema is None else json.dumps(schema, sort_keys=True, ensure_ascii=False)
            before = self.schemas.setdefault(name, text)
            if before is None:
                self.schemas[name] = text
            elif text is not None and text != before:
                self.several.add(name)

    def rows(self, source: Source) -> list[dict[str, str | None]]:
        """A row for each tool: ``name``, ``parameters`` as JSON text; no rows where no trial lists its tools."""
        if not self.seen:
            return []
        for name in sorted(self.several):
            source.note(f"the tool {name[:80]} has several schemas in the file: its calls are held against none")
        kept = {name: None if name in self.several else text for name, text in self.schemas.items()}
        return [
            {"name": name, "parameters": text} for name, text in sorted((dict.fromkeys(self.called) | kept).items())
        ]

    def frame(self, source: Source) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.rows(source), columns=["name", "parameters"], dtype=object)
