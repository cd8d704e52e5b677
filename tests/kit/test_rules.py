"""Thresholds in one vocabulary: what is refused, and which light a value at its own threshold takes."""

from __future__ import annotations

import math

import pytest

from evalbench.errors import BadInput
from evalbench.kit.rules import Figure, rule_of, rules_of
from evalbench.kit.verdicts import bands_of


def test_a_value_at_its_own_threshold_takes_the_better_light():
    more = bands_of(rule_of({"green_from": 0.7, "yellow_from": 0.3}))
    assert [more.light(x) for x in (0.29, 0.3, 0.1 + 0.2, 0.69, 0.7)] == ["red", "yellow", "yellow", "yellow", "green"]
    less = bands_of(rule_of({"green_to": 0.1, "yellow_to": 0.3}, higher_is_better=False))
    assert [less.light(x) for x in (0.1, 0.11, 0.1 + 0.2, 0.31)] == ["green", "yellow", "yellow", "red"]
    assert (more.cuts, less.cuts) == ((0.3, 0.7), (0.1, 0.3))


def test_none_of_them_is_no_light():
    assert bands_of(rule_of({})) is None
    assert rule_of({"green_to": None, "yellow_to": None}, higher_is_better=False) == {}


@pytest.mark.parametrize(
    ("rule", "options", "said"),
    [
        ({"green_from": 0.7}, {}, "green_from and yellow_from are set together or not at all; got green_from alone"),
        ({"green_from": 0.7, "yellow_from": None}, {}, "got green_from alone"),
        ({"green_from": 0.3, "yellow_from": 0.3}, {}, "green_from must be above yellow_from, got 0.3 and 0.3"),
        ({"green_to": 2, "yellow_to": 1}, {"higher_is_better": False}, "green_to must be below yellow_to, got 2 and 1"),
        ({"green_from": 70, "yellow_from": 0.4}, {"within": (0, 1)}, "green_from must be between 0 and 1, got 70"),
        ({"green_to": 1, "yellow_to": -2}, {"within": (0, math.inf), "higher_is_better": False}, "at least 0, got -2"),
        ({"green_from": "a", "yellow_from": math.nan}, {}, "yellow_from must be a number, got nan"),
        ({"green_from": 1, "yellow_from": 0}, {"higher_is_better": False}, "less is better, so its thresholds are green_to"),
        ({"green": 1}, {"of": "f1"}, "lights: f1: more is better, so its thresholds are green_from and yellow_from; got green"),
        ([0.3, 0.5], {"of": "f1"}, 'lights: f1: thresholds are named: {"yellow_from": 0.3, "green_from": 0.5}; got'),
        ([0.1, 0.3], {"higher_is_better": False}, 'named: {"green_to": 0.1, "yellow_to": 0.3}; got'),
        (0.5, {}, "thresholds are named: {"),
        ({}, {"higher_is_better": None, "of": "length"}, "lights: length: no light, because it has no better and worse"),
    ],
)  # fmt: skip
def test_what_is_refused(rule, options, said):
    with pytest.raises(BadInput) as caught:
        rule_of(rule, **options)
    assert said in str(caught.value)


def test_the_rules_of_several_figures_are_checked_at_once():
    known = {"recall": Figure(), "edits": Figure(False, (0.0, math.inf)), "spread": Figure(None)}
    own = {"recall": {"green_from": 0.9, "yellow_from": 0.7}}
    assert rules_of({"edits": {"green_to": 1, "yellow_to": 2}}, known, own) == {
        **own,
        "edits": {"green_to": 1, "yellow_to": 2},
    }
    assert rules_of({"edits": {}}, known, {"recall": {"green_from": None, "yellow_from": None}}) == {"recall": {}}
    assert rules_of(None, known) == {}
    wrong = {"recall": own["recall"], "edits": {"green_to": -1, "yellow_to": 2}, "spread": {"green_to": 0}, "f1": {}}
    with pytest.raises(BadInput) as refused:
        rules_of(wrong, known, own)
    assert list(refused.value.faults) == [
        "lights: recall has its thresholds in green_from and yellow_from",
        "lights: edits: green_to must be at least 0, got -1",
        "lights: spread: no light, because it has no better and worse",
        "lights must be one of recall, edits, spread; got 'f1'",
    ]
