"""The first sentence of cot_levels, citation and explainability, of summaries built by hand."""

from __future__ import annotations

from typing import Any

import pytest
from summaries import CUT, fig, summary

from evalbench.core.notes import Note
from evalbench.core.result import Estimate
from evalbench.kit.answering import Facts
from evalbench.studies.citation.answer import answer as of_citation
from evalbench.studies.cot_levels.answer import answer as of_cot
from evalbench.studies.explainability.answer import answer as of_both

# -- cot_levels ------------------------------------------------------------------------------------


def solved(
    final: float, light: Any, model: str = "oak", right: float = 0.9, sound: float | None = 0.9, **more: Any
) -> list[Estimate]:
    """A model's figures: its score, its answers, its calculations, how many problems it passes."""
    return [
        fig("final", final, model, light=light, cuts=CUT, **more),
        fig("passed", right, model),
        fig("answer", right, model),
        fig("coherence", sound, model),
    ]  # fmt: skip


def test_one_model_whose_chains_hold() -> None:
    said = of_cot(summary("green", *solved(0.9, "green")), Facts())
    assert said.answer == "Oak's chains of thought hold: 90% of its answers are right, and the steps lead to them."
    assert said.decided_by.text == "Final score 0.90 [0.85, 0.95] (oak), n\N{NO-BREAK SPACE}40."


def test_steps_without_equations_are_not_said_to_lead_anywhere() -> None:
    said = of_cot(summary("green", *solved(0.9, "green", sound=None)), Facts()).answer
    assert said.endswith("whether the steps lead to them could not be checked.")


def test_a_model_that_the_table_does_not_name_is_the_model() -> None:
    said = of_cot(summary("red", *solved(0.3, "red", "model not named", right=0.0)), Facts()).answer
    assert said == "The model's chains of thought do not hold: none of its answers is right."


def test_of_two_models_the_one_that_fails_is_named_with_the_reason_and_where_to_look() -> None:
    said = of_cot(summary("red", *solved(0.9, "green"), *solved(0.5, "red", "fern", right=0.4)), Facts())
    assert said.answer == "Oak's chains of thought hold; those of fern do not: only 40% of fern's answers are right."
    assert said.next.text == "Look at the 24 problems in which fern scores below 0.8."


def test_two_that_hold_are_not_ranked() -> None:
    said = of_cot(summary("green", *solved(0.95, "green"), *solved(0.9, "green", "fern")), Facts()).answer
    assert said == "The chains of thought of oak and fern hold. Which are better was not tested."


def test_of_many_models_the_worst_come_first() -> None:
    own = [e for i in range(8) for e in solved(0.9 - i / 10, "green" if i < 2 else "red", f"m{i}", right=0.9 - i / 10)]
    said = of_cot(summary("red", *own, decided=own[-4]), Facts()).answer
    assert said.startswith(
        "The chains of thought of m0 and m1 hold; those of m7, m6, m5, m4 and 2 more do not: only 20%"
    )


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"n": 1}, "1 problem is too few"),
        ({"n": 7}, "7 problems are too few"),
        ({"n_unscored": 10}, "10 of 50 problems have no score"),
    ],
)
def test_what_is_not_known_of_chains_and_why(more: dict[str, Any], why: str) -> None:
    said = of_cot(summary("grey", *solved(0.9, "grey", **more)), Facts()).answer
    assert said == f"Whether oak's chains of thought hold is not known yet: {why}."


def test_answers_that_are_not_marked_are_said_not_to_be_found() -> None:
    own = [
        *solved(0.3, "grey", right=0.0),
        fig("answer_marked", 0.0),
        fig("answer_strict", 0.0),
        fig("answer_flexible", 1.0),
    ]
    said = of_cot(summary("grey", *own, missing="0 of 40 responses mark their final answer"), Facts())
    assert said.answer.endswith("not known yet: no response marks the final answer as was asked.")
    assert said.next.text.startswith("Read the last number as the answer (answer_extractor=flexible): 100%")


def test_nothing_scored_is_not_known() -> None:
    none = fig("final", None, light="grey")
    assert of_cot(summary("grey", none), Facts()).answer.startswith("No response could be scored")
    assert of_citation(summary("grey", none), Facts()).answer.startswith("No cited answer could be scored")


# -- citation --------------------------------------------------------------------------------------


def cited(
    final: float,
    light: Any,
    model: str = "oak",
    fake: float | None = 0.0,
    right: float | None = 0.9,
    held: float = 0.8,
    **more: Any,
) -> list[Estimate]:
    return [
        fig("final", final, model, light=light, cuts=CUT, **more),
        fig("passed", final, model),
        fig("correctness", right, model),
        fig("citation_recall", held, model),
        fig("fabricated_citations", fake, model, higher_is_better=False),
    ]  # fmt: skip


def test_cited_answers_that_hold_up_answer_all_three_parts_of_the_question() -> None:
    said = of_citation(summary("green", *cited(0.9, "green", fake=0.05)), Facts()).answer
    assert said == (
        "Oak's cited answers hold up: 5% of its citations are likely fabricated, its sources support 80% of its "
        "statements and its answers are 90% right."
    )


def test_without_right_answers_it_is_not_said_that_answers_are_right() -> None:
    said = of_citation(summary("green", *cited(0.9, "green", right=None)), Facts()).answer
    assert said.endswith("its sources support 80% of its statements; whether they are right is not known.")


def test_the_two_worst_failures_of_one_model_and_the_worst_of_two() -> None:
    bad = cited(0.4, "red", fake=0.7, right=0.2)
    said = of_citation(summary("red", *bad), Facts()).answer
    assert said == (
        "Oak's cited answers do not hold up: its answers are only 20% right and 70% of its citations are likely fabricated."
    )
    both = of_citation(summary("red", *bad, *cited(0.9, "green", "fern")), Facts()).answer
    assert both == "Fern's cited answers hold up; those of oak do not: oak's answers are only 20% right."


def test_a_judge_that_compares_words_leaves_it_open_and_its_figures_are_said_to_be_its() -> None:
    held = "The judge of the citations is baseline/lexical, which compares words"
    said = of_citation(
        summary("grey", *cited(0.9, "grey"), missing=held), Facts(parameters={"judge": "baseline/lexical"})
    )
    assert said.answer.startswith(
        "Whether oak's cited answers hold up is not known yet: judged by common words alone, no "
    )
    assert said.next.text == "Missing for a light: a judge that reads; baseline/lexical compares words."


def test_marks_that_lead_nowhere_are_the_reason_and_are_said_once() -> None:
    notes = (Note("dangling", "40 of 40 answers have marks without an entry"), Note("labels", "labels differ"))
    missing = "more than 5% of the answers name what does not exist"
    said = of_citation(summary("grey", *cited(1.0, "grey"), missing=missing), Facts(notes=notes))
    assert said.answer.endswith("is not known yet: 40 of 40 answers have marks without an entry.")
    assert said.could_change.text == "Labels differ."
    assert said.next.text.startswith("Give the sources that are cited")


def test_labels_that_correct_the_score_decide() -> None:
    alone, corrected = fig("final", 0.9), fig("final_corrected", 0.6, corrects="final", light="red", cuts=CUT)
    said = of_citation(summary("red", alone, corrected, fig("correctness", 0.3)), Facts()).answer
    assert said == "Oak's cited answers do not hold up: its answers are only 30% right."


# -- explainability --------------------------------------------------------------------------------


def halves(cot: Any, citation: Any, light: Any, **more: Any) -> Any:
    """Value, light and what else of either half, and the overall light."""
    whole = fig("XAI_overall_score", 0.5, "", title="overall score", light=light, cuts=CUT)
    parts = [
        fig("score", half[0], "", light=half[1], cuts=CUT, **{"group": {"part": part}, **half[2]})
        for part, half in (("cot", cot), ("citation", citation))
    ]
    return of_both(summary(light, whole, *parts), Facts(judged="model oak", by=("part",), **more))


GOOD, BAD = (0.9, "green", {}), (0.3, "red", {})


@pytest.mark.parametrize(
    ("cot", "citation", "light", "said"),
    [
        (GOOD, GOOD, "green", "Oak can explain its answers: both its chains of thought and its cited answers hold up."),
        (
            BAD, BAD, "red",
            "Oak cannot explain its answers well enough: neither its chains of thought (0.30) nor its cited answers (0.30) hold up.",
        ),
        (
            GOOD, BAD, "red",
            "Oak cannot explain its answers well enough: its chains of thought hold, but its cited answers score only 0.30 of 1.",
        ),
        (
            GOOD, (0.9, "grey", {"n": 3}), "grey",
            "Whether oak can explain its answers is not known yet: its chains of thought hold, but 3 cited answers are too few.",
        ),
        (
            BAD, (None, "grey", {"n_unscored": 40}), "grey",
            "Whether oak can explain its answers is not known yet: its chains of thought do not hold, and its cited answers have no score.",
        ),
    ],
)  # fmt: skip
def test_the_half_that_fails_or_is_not_known_is_named(cot: Any, citation: Any, light: Any, said: str) -> None:
    assert halves(cot, citation, light).answer == said


def test_how_many_of_which_half_are_missing() -> None:
    few = (0.9, "grey", {"n": 3})
    assert halves(GOOD, few, "grey").next.text == "Missing for a light: 17 more cited answers (20 are needed)."


def test_a_half_without_weight_is_not_spoken_of() -> None:
    said = halves(GOOD, BAD, "green", parameters={"weight_citation": 0.0}).answer
    assert said == "Oak can explain its answers: its chains of thought hold."
