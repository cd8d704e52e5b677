"""Arguments held against schemas: fits and misfits by hand, drafts, and schemas that are wrong, endless or want to be fetched."""

from __future__ import annotations

import time
import urllib.request
from typing import Any

import pytest

from evalbench.errors import BadInput
from evalbench.metrics import tool_schemas

PAY = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 1}, "to": {"enum": ["ann", "bob"]}},
    "required": ["n"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"n": 1}, ""),
        ({"n": 1.0, "to": "bob"}, ""),
        ({"n": "1"}, "$.n: '1' is not of type 'integer'"),
        ({"n": True}, "$.n: True is not of type 'integer'"),
        ({"n": 0}, "$.n: 0 is less than the minimum of 1"),
        ({"n": 1, "to": "eve"}, "$.to: 'eve' is not one of ['ann', 'bob']"),
        ({}, "$: 'n' is a required property"),
        ({"n": 1, "x": 2}, "$: Additional properties are not allowed ('x' was unexpected)"),
    ],
)
def test_the_first_reason_is_said_with_its_place(arguments: dict[str, Any], why: str) -> None:
    assert tool_schemas.schema_check(PAY)(arguments) == why


def test_the_draft_that_a_schema_names_is_the_one_that_holds() -> None:
    listed = {"properties": {"a": {"items": [{"type": "string"}], "additionalItems": False}}}
    old = {"$schema": "http://json-schema.org/draft-07/schema#", **listed}
    assert tool_schemas.schema_check(old)({"a": ["x"]}) == ""
    assert tool_schemas.schema_check(old)({"a": [1]}).startswith("$.a[0]")
    inner = {"$defs": {"x": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/x"}}}
    assert tool_schemas.schema_check(inner)({"a": 1}) == "$.a: 1 is not of type 'string'"


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ([], "expected an object, found list"),
        ({"type": "number?"}, "$.type"),
        ({"properties": {"a": {"required": True}}}, "$.properties.a.required"),
        ({"properties": {"a": {"pattern": "("}}}, "$.properties.a.pattern"),
        ({"$ref": "https://example.org/s.json"}, "nothing is fetched"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "nothing is fetched"),
        ({"$ref": "#/nowhere"}, "which is not in it"),
        ({"allOf": [{}] * 20_000}, "more than 10,000"),
    ],
)
def test_what_is_no_schema_is_refused_with_the_place_and_nothing_is_fetched(
    monkeypatch: pytest.MonkeyPatch, schema: Any, said: str
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(urllib.request, "urlopen", asked.append)
    with pytest.raises(BadInput) as caught:
        tool_schemas.schema_check(schema)
    assert said in str(caught.value)
    assert asked == []


def test_a_deep_schema_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"not": schema}
    with pytest.raises(BadInput, match="nested too deeply"):
        tool_schemas.schema_check(schema)


def _doubling(depth: int) -> dict[str, Any]:
    inner = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(depth)}
    return {"$defs": {**inner, f"a{depth}": {}}, "$ref": "#/$defs/a0"}


@pytest.mark.parametrize(
    ("schema", "arguments", "found"),
    [
        ({"$ref": "#"}, {}, None),
        (_doubling(40), {}, None),
        (_doubling(5), {}, ""),
        (
            {"properties": {"a": {"pattern": "^(a+)+$"}}},
            {"a": "a" * 1000 + "!"},
            "$.a: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…' does not match '^(a+)+$'",
        ),
        ({"properties": {"a": {"items": {"anyOf": [{"const": i} for i in range(9000)]}}}}, {"a": [8999] * 9000}, None),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": [{"i": i} for i in range(20_000)]}, ""),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": [{"i": 1}, {"i": 1.0}]}, "$.a: entries repeat"),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": [1, True, "1"]}, ""),
    ],
)
def test_what_would_take_for_ever_is_given_up(schema: Any, arguments: dict[str, Any], found: str | None) -> None:
    start = time.process_time()
    why = tool_schemas.schema_check(schema)(arguments)
    assert time.process_time() - start < 20
    assert why == found


def test_a_pattern_of_names_is_searched_and_its_values_are_checked() -> None:
    check = tool_schemas.schema_check({"patternProperties": {"^n_": {"type": "number"}}})
    assert (check({"n_a": 1, "b": "x"}), check({"n_a": "x"})) == ("", "$.n_a: 'x' is not of type 'number'")


def test_reasons_are_short() -> None:
    why = tool_schemas.schema_check(PAY)({"n": "x" * 10_000})
    assert why is not None
    assert len(why) < 300


def test_a_pattern_that_backtracks_for_ever_is_given_up() -> None:
    check = tool_schemas.schema_check({"properties": {"a": {"pattern": "(x+x+)+y"}}})
    start = time.process_time()
    assert check({"a": "x" * 5000}) is None
    assert time.process_time() - start < 5
    assert check({"a": "xxxy"}) == ""
