"""The first sentence of dialogue, needle and drift, of summaries built by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from summaries import compared, fig, summary

from evalbench.core.result import Estimate
from evalbench.kit.answering import Facts
from evalbench.studies.dialogue.answer import answer as of_dialogue

# -- dialogue --------------------------------------------------------------------------------------


def length(value: float, light: Any, model: str = "oak", metric: str = "answers", **more: Any) -> Estimate:
    return fig(metric, value, model, unit="answers", higher_is_better=False, light=light, cuts=(3.0, 5.0), **more)


def ended(value: float, model: str = "oak", **more: Any) -> Estimate:
    return fig("resolved", value, model, light="green", cuts=(0.5,), **more)


def test_one_model_how_many_answers_whether_that_is_short_and_how_many_sessions_were_resolved() -> None:
    said = of_dialogue(summary("green", length(2.04, "green"), ended(0.8)), Facts()).answer
    assert (
        said
        == "A session with oak takes 2.0 answers on average, which is short enough. 80% of the sessions were resolved."
    )
    said = of_dialogue(summary("red", length(7.0, "red"), ended(1.0)), Facts())
    assert (
        said.answer
        == "A session with oak takes 7.0 answers on average, which is too long. All of the sessions were resolved."
    )
    assert said.next.text == "Look at the longest sessions with oak."


def test_without_the_ends_a_short_session_may_have_been_given_up() -> None:
    said = of_dialogue(summary("yellow", length(4.0, "yellow")), Facts()).answer
    assert said == (
        "A session with oak takes 4.0 answers on average, which is between short (3) and long (5). "
        "Which were resolved is not known, so short ones may have been given up."
    )


def test_sessions_that_were_not_resolved_are_not_praised_for_being_short() -> None:
    none = fig("resolved", 0.0, light="yellow", cuts=(0.5,), method="Wilson")
    said = of_dialogue(summary("yellow", length(2.0, "green"), none), Facts())
    assert (
        said.answer
        == "A session with oak takes 2.0 answers on average, but none was resolved: users may have given up."
    )
    assert said.next.text == "Look at the 40 sessions that ended without a solution."


def test_resolved_sessions_that_are_long_decide() -> None:
    solved = length(6.0, "red", metric="answers_resolved")
    said = of_dialogue(summary("red", length(4.0, "yellow"), solved, ended(0.6), decided=solved), Facts()).answer
    assert said.startswith("Solving a problem takes oak 6.0 answers on average, which is too long. 60% of")


def test_in_a_discussion_more_answers_are_better_and_ends_do_not_matter() -> None:
    facts = Facts(parameters={"orientation": "discussion"})
    said = of_dialogue(summary("green", length(7.0, "green"), ended(0.2)), facts).answer
    assert said == "A conversation with oak takes 7.0 answers on average, which is long enough."
    said = of_dialogue(summary("red", length(2.0, "red")), facts)
    assert said.answer.endswith("which is too short.")
    assert said.next.text == "Look at the shortest conversations with oak."


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("lower", "Sessions are shorter with fern than with oak, 2.0 answers against 4.0, which is shown; oak's are neither short nor long."),
        (
            "no difference shown",
            "Between fern and oak no difference in length is shown: 2.0 and 4.0 answers a session; oak's are neither short nor long.",
        ),
    ],
)  # fmt: skip
def test_two_models_with_whom_sessions_are_shorter_and_whether_that_is_shown(outcome: str, said: str) -> None:
    own = (length(4.0, "yellow"), ended(0.8), length(2.0, "green", "fern"), ended(0.6, "fern"))
    rows = pd.concat(
        [
            compared("answers", ("fern", "oak", -2.0, outcome))["comparisons"],
            compared("resolved", ("fern", "oak", -0.2, "no difference shown"))["comparisons"],
        ]
    )
    facts = Facts(by=("model",), tables={"comparisons": rows})
    assert of_dialogue(summary("yellow", *own), facts).answer == f"{said} Neither model is shown to resolve more."


def test_of_many_models_the_ends_and_those_that_are_not_told_apart() -> None:
    own = [length(2.0 + i, "green" if i < 2 else "red", f"m{i}") for i in range(7)]
    rows = [("m0", f"m{i}", -float(i), "better" if i > 1 else "no difference shown") for i in range(1, 7)]
    facts = Facts(by=("model",), tables=compared("answers", *rows, unit="answers"))
    assert of_dialogue(summary("red", *own, decided=own[-1]), facts).answer.startswith(
        "Sessions are shortest with m0 (2.0 answers) and longest with m6 (8.0); not told apart from the shortest: m1; m6's are too long."
    )


def test_what_is_not_known_of_sessions_and_how_much_is_missing() -> None:
    few = of_dialogue(summary("grey", length(2.0, "grey", n=2)), Facts())
    assert few.answer == "How many answers a session takes is not known yet: 2 sessions are too few."
    assert few.next.text == "Missing for a light: 8 more sessions (10 are needed)."
    dark = fig("resolved", 1.0, light="grey", cuts=(0.5,))
    said = of_dialogue(
        summary("grey", length(2.0, "green"), dark, missing="How 40 of 80 sessions ended is not known"), Facts()
    )
    assert said.answer.endswith("whether that is short enough is open: how 40 of 80 sessions ended is not known.")
    assert said.next.text == "Say how the other sessions ended (column resolved)."


def test_sessions_without_an_answer_say_nothing_of_their_length() -> None:
    none = fig("answers", None, light="grey", n_unscored=40)
    assert of_dialogue(summary("grey", none), Facts()).answer.startswith("No session has an answer of a model")
