"""Options of a study: stated, handed on, checked."""

from __future__ import annotations

import json

import pytest

from evalbench.errors import BadInput
from evalbench.kit.options import Checks, stated, taken


class Judge:
    def __call__(self, item):
        return "yes"


def test_every_option_is_stated_in_the_order_of_the_signature() -> None:
    def evaluate(data, *, b=1, a=("x", "y"), weights=None, judge=len):
        options = stated(evaluate, locals())
        data = a = None  # what happens afterwards changes nothing
        return options, data, a

    options = evaluate("data", weights={"k": (1, 2)}, judge=Judge())[0]
    assert list(options) == ["b", "a", "weights", "judge"]
    assert options == {"b": 1, "a": ["x", "y"], "weights": {"k": [1, 2]}, "judge": "function:Judge"}
    assert json.loads(json.dumps(options)) == options


def test_a_function_is_handed_the_options_that_it_takes() -> None:
    assert taken(lambda items, *, seed=0: None, {"seed": 3, "threshold": 0.8}) == {"seed": 3}


def test_all_faults_are_refused_in_one_message() -> None:
    checks = Checks({"n_resamples": 1})
    checks.that(False, "k is odd")
    checks.choice("level", "x", ("a", "b"))
    checks.share(threshold=2, max_unscored="0.1", fine=1)
    checks.weights("weights", {"a": 1}, ("a", "b"))
    checks.weights("final_weights", {"a": 0, "b": 0}, ("a", "b"))
    with pytest.raises(BadInput) as refused:
        checks.refuse("matching")
    assert str(refused.value).split("\n  - ") == [
        "matching: invalid options:",
        "n_resamples must be at least 2, got 1",
        "k is odd",
        "level must be one of a, b; got 'x'",
        "threshold must be between 0 and 1, got 2",
        "max_unscored must be between 0 and 1, got '0.1'",
        "weights must have exactly the keys a, b; got a",
        "final_weights must be non-negative and not all zero",
    ]


@pytest.mark.parametrize("value", [[], [""], ["a", " "], [3]])
def test_texts_are_one_or_more_and_none_is_blank(value: list[object]) -> None:
    checks = Checks()
    checks.texts("answer_markers", value)
    assert checks.faults == [f"answer_markers must be one text or more, none of them blank; got {value!r}"]
    checks.texts("answer_markers", ("A:", "B:"))
    assert len(checks.faults) == 1


def test_options_that_mean_the_same_in_every_study_are_checked_by_their_names() -> None:
    checks = Checks({
        "sample_method": "last", "cot_n_samples": -1, "temperature": -0.1, "judge_max_tokens": 0, "threshold": 2,
        "max_unscored": "0.1", "n_resamples": 1, "common_constants": "none", "context_threshold": None,
    })  # fmt: skip
    assert checks.faults == [
        "sample_method must be one of first, random; got 'last'",
        "cot_n_samples must be at least 0, got -1",
        "temperature must be at least 0, got -0.1",
        "judge_max_tokens must be at least 1, got 0",
        "threshold must be between 0 and 1, got 2",
        "max_unscored must be between 0 and 1, got '0.1'",
        "n_resamples must be at least 2, got 1",
    ]
    fine = {"sample_method": "first", "n_samples": 0, "temperature": 0.0, "max_tokens": 1, "n_resamples": 2}
    assert Checks(fine).faults == []


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), None, "1", True])
def test_a_share_is_a_number_from_0_to_1(value: object) -> None:
    checks = Checks()
    checks.share(threshold=value)
    assert len(checks.faults) == 1


@pytest.mark.parametrize("value", [-1, float("inf"), float("nan"), "1", None])
def test_weights_are_finite_and_not_negative(value: object) -> None:
    checks = Checks()
    checks.weights("weights", {"a": 1, "b": value}, ("a", "b"))
    assert checks.faults == ["weights must be non-negative and not all zero"]


def test_faults_of_a_parsed_option_are_gathered_one_by_one() -> None:
    def one():
        raise BadInput("cuts are out of order")

    def two():
        raise BadInput.listing("lights:", ["f1: no rule", "recall: no rule"])

    checks = Checks()
    assert checks.tried(lambda: 3) == 3
    assert checks.tried(one) is None
    assert checks.tried(two) is None
    assert checks.faults == ["cuts are out of order", "f1: no rule", "recall: no rule"]


def test_nothing_is_refused_where_nothing_is_wrong() -> None:
    checks = Checks()
    checks.share(threshold=0)
    checks.weights("weights", {"b": 0, "a": 0.5}, ("a", "b"))
    checks.refuse("x")


def test_options_are_checked_by_their_names() -> None:
    checks = Checks({"a": 2, "b": [0.5, 1], "c": [0, 2], "d": None, "e": 0, "f": ["x"], "g": [], "embed": "jaccard"})
    checks.share("a", "b", "c", "g")
    checks.at_least(1, "a", "c", h=[2])
    checks.within(0, 1, "a", "d")
    checks.inside(0, 3, "a", "e")
    checks.choices(a=(1, 3))
    checks.some(f="xy", g="xy")
    checks.any_of(f="y", g="y")
    checks.vectors()
    assert checks.faults == [
        "a must be between 0 and 1, got 2",
        "c must be between 0 and 1, got [0, 2]",
        "c must be at least 1, got [0, 2]",
        "h must be at least 1, got [2]",
        "a must be between 0 and 1, got 2",
        "e must be above 0 and below 3, got 0",
        "a must be one of 1, 3; got 2",
        "g must be some of x, y; got none",
        "f must be one of y; got 'x'",
        "embed: jaccard compares words and has no vectors; name an embedding model",
    ]
