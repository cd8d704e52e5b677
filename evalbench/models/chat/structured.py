"""A value of a pydantic schema out of a reply: asked for as strictly as the endpoint allows, read strictly always."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

from pydantic import BaseModel, ValidationError

from evalbench.models.exchange import Reply, TokenLogprob, schema_text

_OBJECT_START = re.compile(r'\{\s*["}]')
_MOST_STARTS = 200
_LONGEST_ERROR = 1500


class NoValue(ValueError):
    """A reply that holds no value of the schema; the message asks the model to mend it."""


@lru_cache(maxsize=256)
def response_format(schema: type[BaseModel]) -> dict[str, Any]:
    """The ``response_format`` of JSON-schema mode: every object closed, every property required, as strict mode asks."""
    return {
        "type": "json_schema",
        "json_schema": {
            "name": schema.__name__[:64],
            "strict": True,
            "schema": _closed(json.loads(schema_text(schema))),
        },
    }


def _closed(node: Any) -> Any:
    """The schema with ``additionalProperties: false`` and all properties required; defaults are dropped."""
    if isinstance(node, list):
        return [_closed(child) for child in node]
    if not isinstance(node, dict):
        return node
    closed = {key: _closed(child) for key, child in node.items() if key != "default"}
    if isinstance(node.get("properties"), dict):
        closed["properties"] = {name: _closed(child) for name, child in node["properties"].items()}
        closed["required"] = list(node["properties"])
        closed["additionalProperties"] = False
    return closed


def instruction(schema: type[BaseModel]) -> dict[str, str]:
    """The message that asks for the schema in words, for endpoints that do not enforce it."""
    return {
        "role": "user",
        "content": f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{schema_text(schema)}",
    }


def reask(raw: str, fault: NoValue) -> list[dict[str, str]]:
    """The two messages that follow a reply which did not fit: the reply itself, and what is wrong with it."""
    complaint = f"This does not fit: {fault}\nReply again with only the JSON object."
    return [{"role": "assistant", "content": raw[-_LONGEST_ERROR * 4 :]}, {"role": "user", "content": complaint}]


def parsed(text: str, schema: type[BaseModel]) -> BaseModel:
    """The value that a reply holds: the whole text as JSON, else the first JSON object in it.

    A schema with a class method ``joined`` makes one object of all those that the text holds.

    Raises ``NoValue`` if there is no object, or it does not fit.

    Examples
    --------
    >>> class Mark(BaseModel):
    ...     mark: int
    >>> parsed('Sure: {"mark": 2}.', Mark)
    Mark(mark=2)
    """
    joined = getattr(schema, "joined", None)
    found = joined(objects(text)) if joined else first_object(text)
    try:
        return schema.model_validate_json(json.dumps(found))
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, fault['loc'])) or 'the object'}: {fault['msg']}" for fault in error.errors()[:8])
        raise NoValue("; ".join(faults)[:_LONGEST_ERROR]) from None


def first_object(text: str) -> dict[str, Any]:
    """The first JSON object in a text. NaN and Infinity are not JSON.

    Raises ``NoValue`` if there is none, or what looks like one is not whole.
    """
    return objects(text, most=1)[0]


def objects(text: str, most: int = _MOST_STARTS) -> list[dict[str, Any]]:
    """The JSON objects in a text, one behind the other, one at least; see :func:`first_object`.

    Examples
    --------
    >>> objects('First {"a": 1}, then {"b": {"c": 2}}.')
    [{'a': 1}, {'b': {'c': 2}}]
    """
    decoder = json.JSONDecoder(parse_constant=_not_json)
    fault = "the reply holds no JSON object"
    out: list[dict[str, Any]] = []
    end = 0
    for count, start in enumerate(_OBJECT_START.finditer(text)):
        if count >= _MOST_STARTS or len(out) >= most:
            break
        if start.start() < end:
            continue
        try:
            found, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            fault = f"its JSON object is broken: {getattr(error, 'msg', error)}"
            continue
        if isinstance(found, dict):
            out.append(found)
    if not out:
        raise NoValue(fault)
    return out


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


@dataclass(frozen=True)
class OptionProbabilities:
    """How likely each option was at the place where the reply gives its answer.

    - ``options``: Probability per option, 0 to 1, not renormalised; empty where the endpoint gave none.
    - ``off_options``: The mass that is on none of them; NaN where the endpoint gave none.
    - ``statement``: In words, which it was.
    """

    options: dict[str, float]
    off_options: float
    statement: str


def option_probabilities(reply: Reply, options: Sequence[str], *, after: str = "") -> OptionProbabilities:
    """Probabilities of the answer options from the log-probabilities of a reply.

    - ``reply``: Of a request with ``logprobs``, best as many as there are options or more.
    - ``options``: The answers that are possible, e.g. ``("0", "1", "2")``.
    - ``after``: Look only behind the first occurrence of this text, e.g. ``'"mark"'`` in a JSON reply.

    Returns: At the first token that begins exactly one option. A likely token counts for an option if, without blanks
    and quotation marks, it begins that one and no other.
    """
    if reply.logprobs is None:
        return OptionProbabilities({}, math.nan, f"{reply.model} at {reply.host} gave no log-probabilities")
    place = _answer_place(reply.logprobs, options, after)
    if place is None:
        return OptionProbabilities({}, math.nan, "no token of the reply begins one of the options")
    mass = dict.fromkeys(options, 0.0)
    likely = place.top or ((place.token, place.logprob),)
    for token, logprob in likely:
        option = _option_of(token, options)
        if option is not None:
            mass[option] += math.exp(min(logprob, 0.0))
    off = max(0.0, 1.0 - sum(mass.values()))
    return OptionProbabilities(mass, off, f"from the {len(likely)} likeliest tokens at the answer")


def _answer_place(tokens: Sequence[TokenLogprob], options: Sequence[str], after: str) -> TokenLogprob | None:
    seen = ""
    for place in tokens:
        if after in seen and _option_of(place.token, options) is not None:
            return place
        seen += place.token
    return None


def _option_of(token: str, options: Sequence[str]) -> str | None:
    """The one option that a token begins; a token that is a whole option is that option."""
    bare = token.strip().strip("\"'")
    if not bare:
        return None
    if bare in options:
        return bare
    begun = [option for option in options if option.startswith(bare)]
    return begun[0] if len(begun) == 1 else None
