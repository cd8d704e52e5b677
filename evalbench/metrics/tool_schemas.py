"""Whether the arguments of a call fit the JSON Schema of its tool.

A schema comes from a log or a table of someone else's: nothing is fetched, and what takes too many steps is given up.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import regex as re

from evalbench.errors import BadInput
from evalbench.metrics.trajectories import call_key

Check = Callable[[Mapping[str, Any]], str | None]
MOST_STEPS = 50_000
"""So many keywords of a schema are applied to the arguments of one call."""
MOST_PARTS = 10_000
"""So many objects and lists a schema may have."""
_DEEPEST = 60
_SECONDS = 0.1
"""So long one pattern may look at one text."""
_CLIPPED = 200


class _TooMuch(Exception):
    """A schema that takes too long to be held against a value."""


def schema_check(schema: Any) -> Check:
    """What a tool's schema makes of the arguments of a call: why they do not fit, or nothing.

    Parameters
    ----------
    schema : mapping or bool
        JSON Schema of the arguments; of the draft that ``$schema`` names, by default 2020-12.  ``format`` is an annotation and is not checked.

    Returns
    -------
    callable
        From arguments to the first reason why they do not fit, with its place; the empty text where they fit; None where that takes more
        than :data:`MOST_STEPS` steps.  It raises ``BadInput`` for a schema that refers to what is not in it.

    Raises
    ------
    BadInput
        For what is no schema, with the place of the fault; for one that is too large, or refers to another document: nothing is fetched.

    References
    ----------
    JSON Schema, draft 2020-12: https://json-schema.org/draft/2020-12/json-schema-validation

    Examples
    --------
    >>> check = schema_check({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    >>> check({"n": 7}), check({"n": "7"}), check({})
    ('', "$.n: '7' is not of type 'integer'", "$: 'n' is a required property")
    """
    from jsonschema import exceptions, validators
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    if not isinstance(schema, Mapping | bool):
        raise BadInput(f"$: expected an object, found {type(schema).__name__}")
    for ref in _looked_over(schema):
        raise BadInput(f"it refers to {ref[:100]!r}, which is not in it; nothing is fetched")
    known = validators.validator_for(schema, default=validators.Draft202012Validator)
    try:
        known.check_schema(schema)
    except exceptions.SchemaError as error:
        raise BadInput(f"{error.json_path}: {_clipped(error.message)}") from None
    except RecursionError:
        raise BadInput("$: nested too deeply") from None
    left = [0]
    bounded = validators.extend(known, _bounded(known.VALIDATORS, left))
    validator = bounded(schema, registry=Registry())

    def check(arguments: Mapping[str, Any]) -> str | None:
        left[0] = MOST_STEPS
        try:
            error = next(validator.iter_errors(arguments), None)
        except Unresolvable as lacking:
            raise BadInput(f"it refers to {str(lacking.ref)[:100]!r}, which is not in it") from None
        except (_TooMuch, RecursionError, TimeoutError):
            return None
        return "" if error is None else f"{_clipped(error.json_path)}: {_clipped(error.message)}"

    check({})  # what cannot be resolved is said at once, where it is reached
    return check


def _looked_over(schema: Any) -> Iterator[str]:
    """The references of a schema to other documents.

    Raises ``BadInput`` for one that is too large or nested too deeply.
    """
    level, parts = [schema], 0
    for _ in range(_DEEPEST):
        level = [one for one in level if isinstance(one, Mapping | list)]
        parts += len(level)
        if parts > MOST_PARTS:
            raise BadInput(f"$: more than {MOST_PARTS:,} objects and lists")
        for one in level:
            refs = (
                [one.get(key) for key in ("$ref", "$dynamicRef", "$recursiveRef")] if isinstance(one, Mapping) else []
            )
            yield from (ref for ref in refs if isinstance(ref, str) and not ref.startswith("#"))
        level = [inner for one in level for inner in (one.values() if isinstance(one, Mapping) else one)]
    if any(isinstance(one, Mapping | list) for one in level):
        raise BadInput("$: nested too deeply")


def _bounded(keywords: Mapping[str, Any], left: list[int]) -> dict[str, Any]:
    """Keywords that count their steps, with patterns that end, and a comparison of entries that is not quadratic."""
    own = {**keywords, "pattern": _pattern, "patternProperties": _pattern_properties, "uniqueItems": _unique}
    return {name: _counted(keyword, left) for name, keyword in own.items()}


def _counted(keyword: Any, left: list[int]) -> Any:
    @functools.wraps(keyword)
    def counted(*arguments: Any) -> Iterator[Any]:
        left[0] -= 1
        if left[0] < 0:
            raise _TooMuch
        yield from keyword(*arguments) or ()

    return counted


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(value, str) and not _compiled(pattern).search(value, timeout=_SECONDS):
        yield ValidationError(f"{_clipped(value, 60)!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], value: Any, schema: Any) -> Iterator[Any]:
    for pattern, inner in patterns.items() if isinstance(value, Mapping) else ():
        for name, one in value.items():
            if _compiled(pattern).search(name, timeout=_SECONDS):
                yield from validator.descend(one, inner, path=name, schema_path=pattern)


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise BadInput(f"the pattern {pattern[:100]!r} cannot be read ({error})") from None


def _unique(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if wanted and isinstance(value, list) and len({call_key("", {"": one}) for one in value}) < len(value):
        yield ValidationError("entries repeat")


def _clipped(text: str, size: int = _CLIPPED) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"
