"""What cascade, confidence and reproduction say of small summaries: one model, two, many; every light; nothing known."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from toy_summary import answered, compared, figure, sentence, summary

from evalbench.core.result import Estimate, Summary
from evalbench.core.verdict import Light

# -- cascade -----------------------------------------------------------------------------------------

TWO = pd.DataFrame({"model_a": ["fern"], "model_b": ["oak"]})


def outcomes(
    won: int, lost: int, n: int = 40, n_open: int = 0, light: Light = "green", note: str = "", wide: float = 0.1
) -> Summary:
    value = (won - lost) / n if n else None
    ends: dict[str, Any] = {} if value is None else {"ci_low": value - wide, "ci_high": value + wide}
    share = {"n": n, "method": "Wilson score", "note": "" if n else "no question was decided"}
    return summary(
        figure("advantage", value, light, unit="−1 to 1", n=n, note=note or ("" if n else "no question was decided"), **ends),
        figure("won_a", won / n if n else None, **share),
        figure("won_b", lost / n if n else None, **share),
        figure("tied", (n - won - lost) / n if n else None, **share),
        figure("open", n_open / (n + n_open), n=n + n_open),
        light=light,
    )  # fmt: skip


def stages(calls: int) -> dict[str, pd.DataFrame]:
    return {"stages": pd.DataFrame({"calls": [0, calls], "came": [40, 12]})}


def test_a_better_model_is_named_with_its_wins_and_what_they_took() -> None:
    said = answered("cascade", outcomes(20, 5), items=TWO, tables=stages(24))
    assert said.answer == (
        "Fern is better than oak: it wins 20 questions and loses 5, more than chance explains. "
        "That took 24 calls to a judge instead of 80."
    )
    assert said.decided_by.text == "Fern's net share of wins: 0.38 [0.28, 0.47], n\N{NO-BREAK SPACE}40."
    worse = answered("cascade", outcomes(0, 30, light="red"), items=TWO, tables=stages(0))
    assert worse.answer == (
        "Oak is better than fern: it wins 30 questions and loses none, more than chance explains. No judge was asked."
    )
    assert worse.next.text == "Look at the 30 questions that fern loses."


def test_models_that_tie_or_differ_by_little_are_equally_good() -> None:
    assert (
        sentence("cascade", outcomes(0, 0), items=TWO) == "Fern and oak are equally good: they tie on all 40 questions."
    )
    assert sentence("cascade", outcomes(1, 0), items=TWO) == (
        "Fern and oak are equally good: they differ on fewer than 5% of all questions."
    )
    assert sentence("cascade", outcomes(20, 20, n=400, wide=0.03), items=TWO) == (
        "Fern and oak are equally good: neither wins 5% more questions than the other."
    )


def test_the_first_model_is_that_of_the_first_column_whatever_its_name() -> None:
    swapped = pd.DataFrame({"model_a": ["oak"], "model_b": ["fern, 7b"]})
    assert sentence("cascade", outcomes(20, 5), items=swapped).startswith("Oak is better than fern, 7b: it wins 20")


def test_a_difference_that_is_not_shown_says_what_would_show_it() -> None:
    said = answered("cascade", outcomes(8, 6, light="yellow"))
    assert (
        said.answer == "No difference between A and B is shown: A wins 8 questions and B 6, which chance could explain."
    )
    assert said.next.text == "About 120 more questions would show a difference of this size."
    assert answered("cascade", outcomes(10, 6, light="yellow", wide=0.102)).next.text.startswith(
        "A few more questions may"
    )
    assert answered("cascade", outcomes(6, 6, light="yellow")).next.text == "Nothing: both win equally often."
    small = answered("cascade", outcomes(11, 10, light="yellow")).next.text
    assert small == "A difference of this size takes more than 400 questions to show."


@pytest.mark.parametrize(
    ("note", "n", "n_open", "why", "after"),
    [
        ("The open questions could change this", 40, 4, "fern wins 20 questions and oak 5, but the 4 still open could decide it otherwise",
         "Let people decide the 4 open questions."),
        ("The outcome of 9 questions rests on baseline/lexical, which compares words (no label checks them)", 40, 0,
         "fern wins 20 questions and oak 5, but words alone were compared, which no labels confirm",
         "Missing for a light: a judge that reads, or labels of people for such questions."),
        ("", 19, 2, "only 19 questions are decided", "Missing for a light: 1 more decided question; 2 are open."),
    ],
)  # fmt: skip
def test_a_grey_comparison_says_why_it_is_not_known(note: str, n: int, n_open: int, why: str, after: str) -> None:
    won, lost = (20, 5) if n == 40 else (9, 2)
    said = answered("cascade", outcomes(won, lost, n=n, n_open=n_open, light="grey", note=note), items=TWO, n_items=40)
    assert said.answer == f"Whether fern or oak is better is not known yet: {why}."
    assert said.next.text == after


def test_unscored_questions_and_ties_that_show_nothing_leave_it_open() -> None:
    lost = answered("cascade", outcomes(9, 8, light="grey"), items=TWO, n_items=60, n_unscored=20)
    assert lost.answer == "Whether fern or oak is better is not known yet: 20 of 60 questions have no score."
    note = "Of 40 ties some do not show that the two are equal: annotators disagree on which is better on 40"
    ties = answered("cascade", outcomes(0, 0, light="grey", note=note), items=TWO, n_items=40)
    assert ties.answer == (
        "Whether fern or oak is better is not known: they tie on 40 questions, but annotators disagree on which is better on 40."
    )


def test_where_nothing_was_decided_the_answer_says_what_could_decide() -> None:
    said = answered("cascade", outcomes(0, 0, n=0, n_open=40, light="grey"), items=TWO, n_items=40)
    assert said.answer == "Whether fern or oak is better is not known: no question could be decided."
    assert (
        said.next.text
        == "Missing for a light: ground truths, labels or a judge that decide the 40 questions still open."
    )


# -- confidence --------------------------------------------------------------------------------------


def ranks(**models: tuple[float | None, Light]) -> Summary:
    """AUROC and light of each model; 30 of its 40 answers are wrong."""
    rows = []
    for name, (value, light) in models.items():
        group = {"model": name.replace("_", " ")}
        note = "" if value is not None else "every answer is right, so that there is nothing to tell apart"
        rows += [
            figure("auroc_uncertainty", value, light, group=group, higher_is_better=True, cuts=(0.7, 0.8), note=note)
        ]
        rows += [figure("error_rate", 0.75, group=group, n=80)]
    return summary(*rows)


def test_of_one_model_it_is_said_whether_its_confidence_tells_right_from_wrong() -> None:
    assert sentence("confidence", ranks(model_not_named=(0.95, "green"))) == (
        "The model's confidence tells right answers from wrong ones: "
        "a right answer is more confident than a wrong one in 95% of pairs."
    )
    assert sentence("confidence", ranks(oak=(0.75, "yellow"))).endswith(
        "only in part: a right answer is more confident than a wrong one in 75% of pairs, more than by chance, yet too little."
    )
    red = answered("confidence", ranks(oak=(0.3, "red")))
    assert red.answer == (
        "Oak's confidence does not tell right answers from wrong ones: "
        "a right answer is more confident than a wrong one in 30% of pairs, less than by chance."
    )
    assert red.next.text == "Do not act on the confidence of oak."


def test_of_two_models_each_has_its_sentence_and_those_of_one_light_are_compared() -> None:
    assert sentence("confidence", ranks(oak=(0.9, "green"), fern=(0.45, "red"))).endswith(
        "in 90% of pairs. Fern's does not: 45%, about what chance gives."
    )
    rows = ranks(oak=(0.95, "green"), fern=(0.85, "green"))
    shown = sentence("confidence", rows, by=("model",), tables=compared(("auroc_uncertainty", "oak", "fern", "better")))
    assert shown == (
        "The confidence of oak and fern tells right answers from wrong ones: "
        "a right answer is more confident than a wrong one in 95% to 85% of pairs. Oak's is better than fern's, more than chance explains."
    )
    alike = compared(("auroc_uncertainty", "oak", "fern", "no difference shown"))
    assert sentence("confidence", rows, by=("model",), tables=alike).endswith("Between the two no difference is shown.")


def test_without_thresholds_chance_and_few_answers_are_named() -> None:
    by_chance = summary(
        figure(
            "auroc_uncertainty", 0.6, "unlit", group={"model": "oak"}, higher_is_better=True, ci_low=0.49, ci_high=0.7
        ),
        figure("error_rate", 0.5, group={"model": "oak"}, n=80),
        light="unlit",
    )
    assert sentence("confidence", by_chance) == (
        "A right answer is more confident than a wrong one in 60% of pairs, where chance gives 50%; "
        "that is not shown to be more than chance; no thresholds say what is good enough."
    )
    few = summary(
        figure("auroc_uncertainty", 1.0, "unlit", group={"model": "oak"}, higher_is_better=True, n=8),
        figure("error_rate", 0.25, group={"model": "oak"}, n=8),
        light="unlit",
    )
    assert sentence("confidence", few) == (
        "Whether oak's confidence tells right answers from wrong ones is not known yet: only 2 wrong answers."
    )


def test_of_many_models_a_few_are_named() -> None:
    models: dict[str, tuple[float | None, Light]] = {f"m{i}": (0.9 - i / 100, "green") for i in range(7)}
    assert sentence("confidence", ranks(**models, late=(0.9, "grey"))) == (
        "The confidence of m0, m1, m2 and 4 more tells right answers from wrong ones: "
        "a right answer is more confident than a wrong one in 90% to 84% of pairs. Whether late's confidence does is not known yet."
    )


def test_confidence_that_cannot_be_ranked_says_what_is_missing() -> None:
    none = answered("confidence", ranks(oak=(None, "grey")))
    assert none.answer == (
        "Whether oak's confidence tells right answers from wrong ones cannot be said: every answer is right."
    )
    few = summary(
        figure("auroc_uncertainty", 1.0, "grey", group={"model": "oak"}),
        figure("error_rate", 0.05, group={"model": "oak"}),
    )
    said = answered("confidence", few)
    assert (
        said.answer
        == "Whether oak's confidence tells right answers from wrong ones is not known yet: only 2 wrong answers."
    )
    assert said.next.text == "Missing for a light: 18 more wrong answers (20 are needed)."


def test_confidence_without_thresholds_is_against_chance() -> None:
    assert sentence("confidence", ranks(oak=(0.9, "unlit"), fern=(0.6, "unlit"))) == (
        "A right answer is more confident than a wrong one in 90% (oak) and 60% (fern) of pairs, where chance gives 50%; "
        "that is not shown to be more than chance for fern; no thresholds say what is good enough."
    )


def test_a_topic_on_which_a_model_is_confidently_wrong_could_change_the_answer() -> None:
    topics = pd.DataFrame(
        {
            "model": ["oak"],
            "topic": ["tides"],
            "shown": [True],
            "share": [0.7],
            "confidently_wrong": [25],
            "confident": [35],
        }
    )
    said = answered("confidence", ranks(oak=(0.9, "green")), tables={"topics": topics})
    assert said.could_change.text == "Oak is often confidently wrong on tides: 25 of 35."


# -- reproduction ------------------------------------------------------------------------------------


def repeats(light: Light, changed: float, creative: bool = False, n: int = 40, **group: str) -> list[Estimate]:
    lit, other = (
        ("semantic_diversity", "lexical_diversity") if creative else ("lexical_diversity", "semantic_diversity")
    )
    more: dict[str, Any] = {"group": group or {"model": "model not named"}, "n": n}
    return [
        figure(lit, 7.0, light, unit="pp", ci_low=6.0, ci_high=8.0, cuts=(3.0, 5.0), **more),
        figure(other, 3.0, unit="pp", **more),
        figure("changed", changed, method="Wilson score", **more),
    ]


def test_of_one_model_it_is_said_whether_it_gives_the_same_answer_again() -> None:
    assert sentence("reproduction", summary(*repeats("green", 0.0))) == (
        "The model reliably gives the same answer again: no question got a second one."
    )
    assert sentence("reproduction", summary(*repeats("yellow", 0.05, model="oak"))) == (
        "Oak mostly gives the same answer again: 5% of questions got more than one."
    )
    red = answered("reproduction", summary(*repeats("red", 0.3, model="oak")))
    assert red.answer == "Oak does not reliably give the same answer again: 30% of questions got more than one."
    assert red.next.text == "Look at the 12 questions that got several answers."


def test_of_several_models_each_light_has_its_sentence() -> None:
    rows = [*repeats("green", 0.0, model="oak"), *repeats("red", 0.2, model="fern"), *repeats("red", 0.4, model="ash")]
    late = repeats("grey", 0.0, n=3, model="late")
    assert sentence("reproduction", summary(*rows, *late)) == (
        "Oak reliably gives the same answer again: no question got a second one. "
        "Fern and ash do not: 20% to 40% of questions did. Not known yet: late, only 3 questions."
    )


def test_a_creative_task_wants_other_answers() -> None:
    rows = [
        *repeats("green", 1.0, creative=True, model="oak", test_set="tales"),
        *repeats("red", 0.1, creative=True, model="fern", test_set="tales"),
    ]
    assert sentence("reproduction", summary(*rows)) == (
        "Oak on tales varies its answers, as a creative task wants. "
        "Fern on tales repeats itself, though a creative task wants variety."
    )


def test_too_few_questions_or_no_pair_leave_it_open() -> None:
    few = answered("reproduction", summary(*repeats("grey", 0.0, n=2)))
    assert few.answer == "Whether the model gives the same answer again is not known yet: only 2 questions."
    assert few.next.text == "Missing for a light: 18 more items (20 are needed)."
    assert sentence("reproduction", summary(*repeats("grey", 0.0, n=0, model="oak"))).endswith(
        "not known yet: no question has two answers to compare."
    )


def test_a_light_on_right_answers_has_a_clause_of_its_own() -> None:
    rows = [
        *repeats("green", 0.0),
        figure("correct", 0.4, "red", title="right answers", group={"model": "model not named"}),
    ]
    assert sentence("reproduction", summary(*rows)).endswith(
        "a second one. Right answers: 0.40; that is not good enough."
    )
