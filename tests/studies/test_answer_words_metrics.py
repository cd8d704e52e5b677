"""What stability, stability_top, imported and human_correlation say of small summaries: every light; nothing known."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from toy_summary import answered, compared, figure, sentence, summary

from evalbench.core.result import Estimate, Summary
from evalbench.core.verdict import Light

# -- stability ---------------------------------------------------------------------------------------


def drop(value: float | None, light: Light, way: str = "butter_finger", model: str = "", **more: Any) -> Estimate:
    group = {**({"model": model} if model else {}), "augmentation": way}
    ends: dict[str, Any] = {} if value is None else {"ci_low": value - 2, "ci_high": value + 2}
    return figure("drop", value, light, **{"unit": "pp", "group": group, "cuts": (5.0, 10.0), **ends, **more})


def test_of_one_model_the_largest_drop_is_said_with_what_makes_it() -> None:
    assert sentence("stability", summary(drop(0.0, "green"), drop(2.0, "green", "word_swap"))) == (
        "The model answers equally well however the query is written: its score falls by 2.0 points at most."
    )
    assert sentence("stability", summary(drop(-3.0, "green"))).endswith("is written: its score does not fall.")
    assert sentence("stability", summary(drop(8.0, "yellow", "paraphrase", "oak"))) == (
        "Oak answers somewhat worse when the query is written otherwise: with paraphrases its score falls by 8.0 points."
    )
    wide = summary(drop(25.0, "yellow", model="oak", ci_low=8.0), drop(0.0, "green", model="fern"))
    assert sentence("stability", wide).endswith(
        "Oak does not quite: with typing slips its score falls by 25 points, though more than 10 is not shown."
    )
    worse = figure("worse", 0.5, group={"augmentation": "made_shorter"})
    red = answered("stability", summary(drop(30.0, "red", "made_shorter"), worse))
    assert red.answer == (
        "The model answers worse when the query is written otherwise: with made shorter its score falls by 30.0 points."
    )
    assert red.next.text == "Look at the 20 items that became worse."


def test_of_several_models_each_light_has_its_sentence() -> None:
    rows = [drop(i, "green", model=f"m{i}") for i in range(5)]
    assert sentence("stability", summary(*rows, drop(20.0, "red", "transliterate", "oak"))) == (
        "m0, m1, m2 and 2 more answer equally well however the query is written: their scores fall by 4.0 points at most. "
        "Oak does not: with words in another script its score falls by 20.0 points."
    )


def test_two_models_of_one_light_are_compared() -> None:
    rows = summary(drop(12.0, "red", model="oak"), drop(25.0, "red", model="fern"))
    table = compared(
        ("drop butter_finger", "oak", "fern", "better"), ("drop word_swap", "oak", "fern", "no difference shown")
    )
    assert sentence("stability", rows, by=("model", "augmentation"), tables=table) == (
        "Oak and fern answer worse when the query is written otherwise: with typing slips their scores fall by 25.0 points. "
        "With typing slips oak falls less than fern, more than chance explains."
    )
    alike = compared(("drop butter_finger", "oak", "fern", "no difference shown"))
    assert sentence("stability", rows, by=("model", "augmentation"), tables=alike).endswith(
        "Between the two no difference is shown."
    )


def test_a_drop_on_few_items_or_from_a_score_of_nothing_is_not_known() -> None:
    few = answered("stability", summary(drop(0.0, "grey", "word_swap", n=3, ci_high=56.0)))
    assert few.answer == (
        "Whether the model answers as well when the query is written otherwise is not known yet: "
        "3 items with swapped words are too few."
    )
    assert few.next.text == "Missing for a light: about 92 more items."
    note = "before is 0 pp above the worst, so that no drop of more than 10 pp can show"
    low = answered("stability", summary(drop(0.0, "grey", model="oak", note=note), drop(0.0, "green", model="fern")))
    assert low.answer == (
        "Fern answers equally well however the query is written: its score does not fall. "
        "Whether oak does cannot be said: the score as written is too low to fall."
    )
    lost = answered(
        "stability", summary(drop(None, "grey", n=0, n_unscored=40, note="every item is unscored")), n_unscored=40
    )
    assert lost.next.text == "Missing for a light: scores of 40 items; at most 5% may lack one."


# -- stability_top -----------------------------------------------------------------------------------


def top(kept: float, light: Light, way: str = "butter_finger", n: int = 40, **more: Any) -> list[Estimate]:
    more = {"group": {"augmentation": way}, "higher_is_better": True, "n": n, **more}
    return [figure("unchanged_strict", kept / 2, light, **more), figure("unchanged_soft", kept, light, **more)]


def test_a_search_keeps_all_of_its_top_a_part_or_nothing() -> None:
    assert sentence("stability_top", summary(*top(1.0, "green")), parameters={"k": 10}) == (
        "The search finds the same passages however the question is written: of its top 10 it keeps 100%."
    )
    assert sentence("stability_top", summary(*top(0.9, "green"), *top(0.95, "green", "word_swap"))).endswith(
        "of its top 5 it keeps 90% at least."
    )
    assert sentence("stability_top", summary(*top(0.4, "yellow"), *top(0.9, "green", "word_swap"))) == (
        "The search finds only some of the same passages when the question is written otherwise: "
        "of its top 5 it keeps 90% with swapped words, but 40% with typing slips."
    )
    assert sentence("stability_top", summary(*top(0.04, "red"))) == (
        "The search finds other passages when the question is written otherwise: of its top 5 it keeps 4%."
    )
    assert sentence("stability_top", summary(*top(0.4, "unlit"))) == (
        "When the question is written otherwise, of its top 5 it keeps 40%; no thresholds say what is good enough."
    )


def test_a_search_on_few_questions_or_with_one_top_for_all_is_not_known() -> None:
    few = answered("stability_top", summary(*top(1.0, "grey", "word_swap", n=3), *top(1.0, "green")))
    assert few.answer.endswith("is not known yet: only 3 questions with swapped words.")
    assert few.next.text == "Missing for a light: 17 more items (20 are needed)."
    missing = "40 of 40 questions have the same top as another question"
    same = answered("stability_top", summary(*top(1.0, "grey"), missing=missing))
    assert same.answer.endswith(f"is not known yet: {missing}.")
    assert same.next.text == "Missing for a light: tops that differ between questions."


# -- imported ----------------------------------------------------------------------------------------


def passed(light: Light = "unlit", metric: str = "pass", **models: float | None) -> list[Estimate]:
    shared = {"method": "Wilson score", "higher_is_better": True}
    return [
        figure(
            metric, v, light, group={"model": m.replace("_", " ")}, note="" if v is not None else "no score", **shared
        )
        for m, v in models.items()
    ]


@pytest.mark.parametrize(
    ("light", "ends"),
    [("green", "that is good enough"), ("red", "that is not good enough"), ("yellow", "that is between the thresholds"),
     ("grey", "there is not enough evidence for a verdict"), ("unlit", "no thresholds say what is good enough")],
)  # fmt: skip
def test_one_model_has_its_score_and_what_the_light_says(light: Light, ends: str) -> None:
    found = summary(*passed(light, model_not_named=0.8))
    assert sentence("imported", found) == f"The model scores 80% on “pass”; {ends}."


def test_of_two_models_the_better_one_is_named_where_that_is_shown() -> None:
    rows = [*passed("green", oak=0.9), *passed("red", fern=0.5), *passed(metric="clear_tone", oak=0.5, fern=0.6)]
    table = compared(
        ("pass", "oak", "fern", "better"), ("clear_tone", "oak", "fern", "worse"), ("x", "oak", "fern", "better")
    )
    assert sentence("imported", summary(*rows), by=("model",), tables=table) == (
        "On “pass” oak is better than fern: 90% against 50%, more than chance explains; fern is not good enough. "
        "Oak is better on 1 of 2 other metrics too, and worse on 1."
    )
    alike = compared(("pass", "oak", "fern", "no difference shown"), ("clear_tone", "oak", "fern", "worse"))
    assert sentence("imported", summary(*passed(oak=0.9, fern=0.8)), by=("model",), tables=alike) == (
        "On “pass” no difference between oak and fern is shown: 90% and 80%. "
        "On 1 of 1 other metric one is shown. No thresholds say what is good enough."
    )
    none = compared(
        ("pass", "oak", "fern", "no difference shown"), ("clear_tone", "oak", "fern", "no difference shown")
    )
    assert sentence("imported", summary(*passed(oak=0.9, fern=0.8)), by=("model",), tables=none).endswith(
        "Nor is one shown on 1 other metric. No thresholds say what is good enough."
    )
    assert sentence("imported", summary(*passed("green", oak=0.9, fern=0.8))) == (
        "On “pass” oak has 90% and fern 80%; whether that is chance was not tested; that is good enough."
    )


def test_a_share_has_one_form_for_two_models_whatever_their_intervals() -> None:
    rows = [*passed(oak=0.83), figure("pass", 0.58, group={"model": "fern"}, higher_is_better=True, method="bootstrap")]
    assert sentence("imported", summary(*rows)).startswith("On “pass” oak has 83% and fern 58%;")


def test_of_many_models_the_ends_are_named() -> None:
    models = {f"m{i}": 0.9 - i / 20 for i in range(7)}
    table = compared(*(("pass", "m0", f"m{i}", "better" if i > 1 else "no difference shown") for i in range(1, 7)))
    assert sentence("imported", summary(*passed("green", **models)), by=("model",), tables=table) == (
        "On “pass” m0 is best with 90% and m6 worst with 60%; no difference from the best is shown for m1; that is good enough."
    )
    alike = compared(*(("pass", "m0", f"m{i}", "no difference shown") for i in range(1, 7)))
    assert sentence("imported", summary(*passed("green", **models)), by=("model",), tables=alike) == (
        "On “pass” none of 7 models is shown to be better: 90% (m0) to 60% (m6); that is good enough."
    )


def test_scores_without_any_value_show_nothing() -> None:
    assert sentence("imported", summary(*passed("grey", oak=None))) == (
        "What the scores show cannot be said: no model has a value on any metric."
    )


# -- human_correlation -------------------------------------------------------------------------------

AGREEMENT = {"agreement": pd.DataFrame({"trusted": [True, False], "ceiling": [0.8, None]})}


def mean(value: float | None, light: Light, scorer: str = "warmth", **more: Any) -> Estimate:
    group = {"scorer": scorer}
    return figure("trusted_mean", value, light, **{"unit": "−1–1", "group": group, "higher_is_better": True, **more})


def pair(value: float | None, note: str = "", metric: str = "spearman_summary") -> Estimate:
    group = {"scorer": "warmth", "criterion": "clear"}
    return figure(metric, value, "grey", unit="−1–1", group=group, higher_is_better=True, note=note)


def alpha(value: float | None, low: float = 0.0, n: int = 40) -> Estimate:
    ends: dict[str, Any] = {} if value is None else {"ci_low": low, "ci_high": 1.0}
    note = "" if value is not None else "all ratings are equal"
    return figure("alpha_ordinal", value, group={"criterion": "clear"}, **{"n": n, "note": note, **ends})


@pytest.mark.parametrize(
    ("light", "said"),
    [("green", "Warmth may stand in for annotators: "), ("yellow", "Warmth may stand in for annotators only in part: "),
     ("red", "Warmth may not stand in for annotators: ")],
)  # fmt: skip
def test_one_metric_is_put_beside_one_annotator(light: Light, said: str) -> None:
    found = sentence("human_correlation", summary(mean(0.5, light)), tables=AGREEMENT)
    assert found == f"{said}it correlates at 0.50 with people, one annotator at 0.80 with the others."


def test_of_many_metrics_those_that_may_are_named_or_the_best_of_those_that_may_not() -> None:
    some = summary(
        mean(0.8, "green", "oak_judge"), mean(0.75, "green", "rouge1"), mean(0.2, "red", "length"), light="green"
    )
    assert sentence("human_correlation", some, tables=AGREEMENT) == (
        "Of 3 metrics oak_judge and rouge1 may stand in for annotators: "
        "the best, oak_judge, correlates at 0.80 with people, one annotator at 0.80 with the others."
    )
    none = answered(
        "human_correlation", summary(mean(0.2, "red", "length"), mean(-0.3, "red", "rouge1")), tables=AGREEMENT
    )
    assert none.answer == (
        "None of 2 metrics may stand in for annotators: "
        "the best, length, correlates at 0.20 with people, one annotator at 0.80 with the others."
    )
    assert none.next.text == "Let people mark, or try other metrics."


@pytest.mark.parametrize(
    ("alphas", "why", "after"),
    [
        ([], "nothing shows how far people agree with each other", "Have 20 outputs judged by a second person."),
        ([alpha(None)], "people gave every output the same mark", "Missing for a light: outputs that differ in quality."),
        ([alpha(1.0, n=6)], "only 6 outputs have marks of two people", "Have 14 more outputs judged by a second person."),
        ([alpha(0.9, low=0.8)], "the outputs that two people marked are of too few documents",
         "Have outputs of more documents marked by two people."),
        ([alpha(0.3, low=0.1)], "people do not agree enough with each other",
         "Make the guideline clearer, or name criteria to rely on (trusted)."),
    ],
)  # fmt: skip
def test_where_people_are_not_trusted_it_says_what_their_marks_lack(
    alphas: list[Estimate], why: str, after: str
) -> None:
    said = answered("human_correlation", summary(pair(0.9), *alphas))
    assert (
        said.answer
        == f"Whether warmth may stand in for annotators is not known: it correlates at 0.90 with people, but {why}."
    )
    assert said.next.text == after


def test_a_wide_interval_or_few_documents_are_not_known_yet() -> None:
    wide = answered("human_correlation", summary(mean(0.5, "grey", ci_low=0.1, ci_high=0.9, n_of="documents")))
    assert wide.answer == (
        "Whether warmth may stand in for annotators is not known yet: it correlates at 0.50 with people, but the interval is too wide."
    )
    assert wide.next.text == "Missing for a light: about 63 more documents."
    few = answered("human_correlation", summary(mean(0.5, "grey", n=12, n_of="documents")))
    assert few.answer.endswith("it correlates at 0.50 with people, but on only 12 documents.")


def test_without_a_value_or_a_metric_it_says_so() -> None:
    none = sentence("human_correlation", summary(pair(None, "constant human score: every output got 3")))
    assert none == "Whether warmth may stand in for annotators cannot be said: every output got 3."
    alone: Summary = summary(alpha(0.8, low=0.7), light="unlit")
    assert sentence("human_correlation", alone).startswith(
        "No metric takes part; the annotators agree with each other at 0.80"
    )


def test_of_compared_pairs_the_share_in_which_the_metric_prefers_the_same_is_said() -> None:
    share = figure("pair_accuracy", 0.6, group={"scorer": "warmth", "criterion": "clear"}, higher_is_better=None)
    assert "it prefers what people prefer in 60% of pairs, but" in sentence(
        "human_correlation", summary(share, pair(0.3))
    )
