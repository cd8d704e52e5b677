"""Arithmetic whose references are answers without a solution, and a figure that lies exactly at its threshold."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from evalbench import cot_levels, load, text_metrics

WHO = ("Ana", "Ben", "Cleo", "Dov", "Eli")
THINGS = ("pears", "stamps", "shells", "coins")


def problem(i: int) -> tuple[str, int, str]:
    """Question, answer and working of the i-th problem, of three kinds, each of one or two steps."""
    a, b, c, what = 3 + i % 7, 2 + i % 5, 1 + i % 4, THINGS[i % 4]
    if i % 3 == 0:
        asked = f"{WHO[i % 5]} has {a} boxes of {b} {what} and gives {c} away. How many are left?"
        return asked, a * b - c, f"{a} * {b} = {a * b}. {a * b} - {c} = {a * b - c}."
    if i % 3 == 1:
        return f"{WHO[i % 5]} buys {a} {what} and then {b} more. How many in all?", a + b, f"{a} + {b} = {a + b}."
    left = a + b - c
    asked = f"There are {a + b} {what}; {c} are lost and {a} found. How many are there?"
    return asked, left + a, f"{a + b} - {c} = {left}. {left} + {a} = {left + a}."


def judged(reference: str, response: str, right: float = 1.0, **options: Any):
    """The family with the texts of references and responses as patterns; a share of the responses is off by one."""
    rows = []
    for i in range(120):
        question, answer, working = problem(i)
        said = answer if i % 10 < 10 * right else answer + 1
        given = response.format(working=working, said=said)
        rows.append((f"m{i:03}", question, reference.format(answer), given))
    frame = pd.DataFrame(rows, columns=["id", "question", "reference", "answer"])
    return cot_levels.evaluate(load(frame, study="cot_levels"), n_resamples=200, **options)


@pytest.mark.parametrize(
    ("reference", "response", "right", "light", "passed"),
    [
        ("#### {}", "{working}\n#### {said}", 1.0, "green", 1.0),
        ("{}", "{working}\nAnswer: {said}", 1.0, "green", 1.0),
        ("#### {}.0", "{working}\n#### {said}", 1.0, "green", 1.0),
        ("#### {}", "One counts them all.\n#### {said}", 1.0, "green", 1.0),
        ("#### {}", "{working}\n#### {said}", 0.5, "red", 0.5),
        ("#### {}", "{working}\n#### {said}", 0.0, "red", 0.0),
    ],
)
def test_of_answers_alone_the_answers_decide(reference, response, right, light, passed):
    result = judged(reference, response, right)
    assert result.light == light
    for metric in ("passed", "answer"):
        assert result.estimate(metric, model="model not named").value == pytest.approx(passed)
    assert {result.estimate(m, model="model not named").value for m in ("steps", "similarity")} == {None}
    assert "120 of 120 references have no step: levels 2 and 3 do not count there" in result.sentence


def test_answers_that_are_not_marked_are_grey_with_the_cause():
    result = judged("{}", "{working} The answer is {said}.")
    assert result.light == "grey"
    assert "strict extraction finds 0 of 120, flexible finds 120 of 120" in result.sentence


def test_a_figure_exactly_at_its_threshold_says_how_sure_its_light_is():
    """Half right of 40, green from a half: green by the rule, and half of the resamples are not."""
    rows = [(f"q{i}", f"pier {i}" if i % 2 else "no idea", f"pier {i}") for i in range(40)]
    frame = pd.DataFrame(rows, columns=["id", "output", "reference"])
    lights = {"f1_score": {"green_from": 0.5, "yellow_from": 0.3}}
    result = text_metrics.evaluate(
        load(frame, study="text_metrics"), metrics=["f1_score"], lights=lights, n_resamples=500
    )
    assert result.light == "green"
    assert result.sentence.startswith("f1_score 0.50 [0.35, 0.65]")
    assert 0.4 < result.summary.verdict.stability < 0.65
