"""Corrected figures: worked by hand, held to the functions of core, their lights, and coverage through a study's own path."""

import re

import numpy as np
import pandas as pd
import pytest

from evalbench.core.judged_rates import post_stratified_rate, rogan_gladen_rate
from evalbench.core.measures import mean_of, share_of
from evalbench.core.ppi import corrected_mean, sampled_mean
from evalbench.kit.correcting import fixed, state_of
from evalbench.kit.verdicts import bands_of, by_group, pass_mark, worst_group

nan = np.nan


def table(score, label, *, column="label:right", models=None, **more):
    n = len(score)
    items = pd.DataFrame(
        {
            "id": [f"q{i:04}" for i in range(n)],
            "model": models or "fern",
            "right": score,
            "unscored": "",
            "undefined": "",
        }
    )
    return items.assign(**{column: label}, **more)


def corrected(items, measure=None, **options):
    measures = [measure or mean_of("right")]
    found = fixed(items, by_group(items, measures, "model", n_resamples=50), measures, "model", **options)
    return next(e for e in found.estimates if e.corrects)


def test_a_rate_worked_by_hand():
    """80 of 100 passed; of 20 labelled that it passed 15 are good, of 10 that it failed none: a = 16/22, b = 1/12."""
    score = [1.0] * 80 + [0.0] * 20
    label = [1.0] * 15 + [0.0] * 5 + [nan] * 60 + [0.0] * 10 + [nan] * 10
    e = corrected(table(score, label))
    a, b = 16 / 22, 1 / 12
    assert e.value == pytest.approx(0.8 * a + 0.2 * b)
    half = 1.959964 * np.sqrt(0.64 * a * (1 - a) / 22 + 0.04 * b * (1 - b) / 12 + (a - b) ** 2 * 0.16 / 100)
    assert (e.ci_low, e.ci_high) == pytest.approx((e.value - half, e.value + half), abs=1e-6)
    assert (e.metric, e.corrects, e.n, e.n_labels, e.method) == (
        "right_corrected",
        "right",
        100,
        30,
        "post-stratified by verdict",
    )


def test_a_corrected_figure_says_what_more_labels_would_bring():
    rng = np.random.default_rng(4)
    score = rng.integers(0, 2, 200)
    label = np.where(np.arange(200) < 40, np.where(rng.random(200) < 0.8, score, 1 - score), np.nan)
    said = corrected(table(score.astype(float), label)).note
    assert re.search(r"with twice the labels its interval would be about 0\.\d+ wide in place of 0\.\d+", said), said


def test_marks_worked_by_hand():
    """λ is 0 where the judge's marks say nothing of people's: the figure is the mean of the labels."""
    label = [0.2, 0.8, 0.2, 0.8] + [nan] * 4
    e = corrected(table([0.5, 0.5, 0.9, 0.9] * 2, label))
    assert e.value == pytest.approx(0.5)
    assert e.method == "prediction-powered (PPI++)"


@pytest.mark.parametrize("seed", range(4))
def test_each_way_of_drawing_is_that_of_core(seed):
    g = np.random.default_rng(seed)
    score, truth = g.integers(0, 2, 200).astype(float), g.integers(0, 2, 200).astype(float)
    label = np.where(g.random(200) < 0.4, truth, nan)
    marks = g.integers(0, 5, 200) / 4
    same = lambda e, found: (e.value, e.ci_low, e.ci_high) == pytest.approx((found.value, found.ci_low, found.ci_high))  # noqa: E731
    assert same(corrected(table(score, label)), post_stratified_rate(score, label))
    assert same(corrected(table(score, label, column="label_by_class:right")), rogan_gladen_rate(score, label))
    assert same(corrected(table(marks, label)), corrected_mean(marks, label))
    pi = np.where(np.isnan(label), nan, 0.4)
    pi *= np.nansum(1 / pi) / 200  # as if the plan had been for just these
    with_plan = table(marks, label, **{"label_probability:right": pi})
    assert same(corrected(with_plan), sampled_mean(marks, label, pi))


def test_labels_drawn_by_mark_are_weighted_by_how_many_items_have_the_mark():
    """90 items marked 1, 10 marked 0; 10 labels of each: half of the ones are good, none of the others: 0.45."""
    score = [1.0] * 90 + [0.0] * 10
    label = [1.0, 0.0] * 5 + [nan] * 80 + [0.0] * 10
    assert corrected(table(score, label, column="label_by_mark:right")).value == pytest.approx(0.45)
    none = corrected(table(score, [1.0] * 20 + [nan] * 80, column="label_by_mark:right"))
    assert none.value is None
    assert "1 group of like marks without a label" in none.note


def test_labels_of_one_plan_over_two_models_are_those_of_each_model():
    """Two models in one plan: 4 of 8 drawn from each stratum; of fern the judge is right, of oak half too kind."""
    items = table(
        [1.0] * 16,
        [1.0, 1.0, 1.0, 1.0, *[nan] * 4, 1.0, 0.0, 1.0, 0.0, *[nan] * 4],
        models=["fern"] * 8 + ["oak"] * 8,
        **{"label_probability:right": [0.5] * 4 + [nan] * 4 + [0.5] * 4 + [nan] * 4},
    )
    found = fixed(items, by_group(items, [mean_of("right")], "model", n_resamples=50), [mean_of("right")], "model")
    values = {e.group["model"]: e.value for e in found.estimates if e.corrects}
    assert values == pytest.approx({"fern": 1.0, "oak": 0.5})


def test_labels_of_another_plan_are_not_taken_for_a_random_sample():
    items = table([1.0] * 20, [1.0] * 10 + [nan] * 10, **{"label_probability:right": [0.1] * 10 + [nan] * 10})
    e = corrected(items)
    assert e.value is None
    assert "drawn from about 100 items, and there are 20" in e.note
    bare = table([1.0] * 20, [1.0] * 10 + [nan] * 10, **{"label_probability:right": [0.5] * 9 + [nan] * 11})
    assert "1 label without the probability" in corrected(bare).note


def test_what_came_back_of_a_plan_is_taken_for_a_random_part_of_it():
    items = table([1.0] * 40, [1.0, 0.0] * 5 + [nan] * 30, **{"label_probability:right": [0.5] * 10 + [nan] * 30})
    e = corrected(items)
    assert e.value == pytest.approx(0.5)
    assert "about 50 % of the items drawn for labelling came back" in e.note


# -- lights ----------------------------------------------------------------------------------------


def verdict(items, **options):
    measures = [mean_of("right", bands=bands_of({"green_from": 0.8, "yellow_from": 0.5}))]
    return worst_group(items, measures, "model", what="Mean score", n_resamples=200, **options)


KIND = table([1.0] * 100, [1.0] * 15 + [0.0] * 15 + [nan] * 70)


def test_the_light_rests_on_the_corrected_figure_and_the_sentence_says_so():
    found = verdict(KIND)
    assert found.verdict.light == "yellow"
    assert found.verdict.decided_by == {"metric": "right_corrected", "model": "fern"}
    assert found.verdict.sentence.startswith("Mean score, corrected 0.50")
    assert "50 points too kind" in found.verdict.sentence
    assert found.verdict.sentence.endswith("The light rests on the corrected figure.")
    assert found.estimate("right", model="fern").light == "unlit"
    assert 0.3 < found.verdict.stability < 0.9


def test_a_figure_that_does_not_decide_is_in_the_sentence_too_where_labels_say_something_of_it():
    items = table([1.0] * 100, [nan] * 100).drop(columns="label:right").assign(kind=1.0)
    items["label:kind"] = [1.0] * 15 + [0.0] * 15 + [nan] * 70
    found = worst_group(items, [mean_of("right", bands=pass_mark(0.8)), mean_of("kind")], "model", n_resamples=50)
    assert found.verdict.light == "green"
    assert "Of kind the judge says 1.00" in found.verdict.sentence
    assert "50 points too kind" in found.verdict.sentence
    assert found.verdict.sentence.endswith("The light rests on the judge's own figure.")


def test_fewer_than_20_labels_leave_the_light_on_the_judges_figure():
    items = table([1.0] * 100, [0.0] * 19 + [nan] * 81)
    found = verdict(items)
    assert found.verdict.light == "green"
    assert found.estimate("right_corrected", model="fern").light == "unlit"
    assert (
        "the light rests on the judge's own figure: fewer than 20 labels"
        in found.estimate("right_corrected", model="fern").note
    )
    assert found.verdict.sentence.endswith("The light rests on the judge's own figure.")


def test_labels_answer_for_a_judge_that_is_held_back_and_not_for_unscored_items():
    found = verdict(KIND, held_back="The judge compares words")
    assert (found.verdict.light, found.verdict.would_be) == ("yellow", None)
    missing = KIND.assign(unscored=["timeout"] * 10 + [""] * 90, right=[nan] * 10 + [1.0] * 90)
    assert verdict(missing, max_unscored=0.05).verdict.light == "grey"


def test_without_labels_nothing_changes():
    items = KIND.drop(columns="label:right")
    measures = [mean_of("right", bands=pass_mark(0.8))]
    assert fixed(items, by_group(items, measures, "model", n_resamples=50), measures, "model") is None
    of_other = KIND.rename(columns={"label:right": "label:other"})
    assert verdict(of_other) == verdict(items)


def test_a_figure_of_which_less_is_better_is_too_strict_where_it_is_too_high():
    measure = share_of(
        "right", title="rude answers", higher_is_better=False, bands=bands_of({"green_to": 0.1, "yellow_to": 0.6})
    )
    found = worst_group(KIND, [measure], "model", n_resamples=50)
    assert "50 points too strict" in found.verdict.sentence
    assert found.verdict.light == "yellow"


def test_clusters_widen_the_interval():
    g = np.random.default_rng(0)
    block = np.repeat(np.arange(40), 5)
    truth = np.repeat(g.integers(0, 2, 40), 5).astype(float)
    score = np.where(g.random(200) < 0.8, truth, 1 - truth)
    items = table(score, np.where(block % 2, truth, nan))
    alone, together = corrected(items), corrected(items.assign(cluster=block.astype(str)))
    assert together.value == alone.value
    assert together.ci_high - together.ci_low > 1.5 * (alone.ci_high - alone.ci_low)
    assert "20 units of several items" in together.note
    one = corrected(items.assign(cluster="one"))
    assert one.ci_low is None


# -- a correction learnt elsewhere -----------------------------------------------------------------

FIT = {
    "figure": "right", "judge": "acme/judge", "criterion": "right", "learnt_on": "arena@1", "n_labels": 200, "marks": [0.0, 1.0],
    "expected": [0.1, 0.7], "block": [0, 1], "error": [0.03, 0.04],
}  # fmt: skip


def with_check(low, high, n):
    return {**FIT, "checks": {"fern": {"gap": (low + high) / 2, "low": low, "high": high, "n": n}}}


def test_a_correction_that_holds_gives_the_figure_and_its_error():
    """Half of the items marked 1, half 0: 0.5 · 0.1 + 0.5 · 0.7; error of labels √((0.5 · 0.03)² + (0.5 · 0.04)²) = 0.025."""
    items = table([1.0, 0.0] * 50, [nan] * 100)
    found = verdict(items, fit=with_check(-0.1, 0.1, 30))
    e = found.estimate("right_corrected", model="fern")
    assert e.value == pytest.approx(0.4)
    half = 1.959964 * np.sqrt(0.025**2 + 0.3**2 * 100 / 99 / 100)
    assert e.ci_high - e.value == pytest.approx(half, rel=1e-5)
    assert found.estimate("right_transport", model="fern").light == "green"
    assert found.verdict.light == "red"
    assert found.verdict.decided_by["metric"] == "right_corrected"


@pytest.mark.parametrize(
    ("check", "light"),
    [(with_check(-0.4, -0.1, 30), "red"), (with_check(-0.1, 0.1, 19), "grey"), ({**FIT, "checks": {}}, "grey")],
)
def test_a_correction_that_fails_or_is_not_checked_decides_nothing(check, light):
    items = table([1.0, 0.0] * 50, [nan] * 100)
    found = verdict(items, fit=check)
    assert found.estimate("right_transport", model="fern").light == light
    assert found.verdict.light == "yellow"
    assert found.verdict.decided_by["metric"] == "right"
    e = found.estimate("right_corrected", model="fern")
    assert e.light == "unlit"
    assert (e.value is None) == (light == "red")


def test_where_a_correction_fails_labels_of_the_items_themselves_correct():
    items = table([1.0, 0.0] * 50, [0.0] * 30 + [nan] * 70)
    found = verdict(items, fit=with_check(-0.4, -0.1, 30))
    assert found.estimate("right_corrected", model="fern").method == "post-stratified by verdict"
    assert found.verdict.light == "red"


def test_states_of_a_check():
    assert state_of({"gap": 0.1, "low": 1e-17, "high": 0.2, "n": 30}) == "holds"
    assert state_of({"gap": -0.3, "low": -0.5, "high": -0.1, "n": 5}) == "fails"
    assert state_of({}) == "unchecked"


def test_a_corrected_mark_stays_on_its_scale():
    """The few that were drawn are all too low by .5: their shortfall added to the mean of all would give 1.23."""
    label, drawn = [1.0] * 3 + [0.9] + [nan] * 20, [4 / 24] * 4 + [nan] * 20
    e = corrected(table([0.5] * 12 + [1.0] * 12, label, **{"label_probability:right": drawn}))
    assert (e.value, e.ci_low, e.ci_high) == (1, None, None)
    assert "1.23 before it was held within the scale; all of the interval is beyond the scale" in e.note


def test_labels_without_any_spread_have_an_interval_of_no_width_only_where_they_are_many():
    measure = mean_of("right", bands=bands_of({"green_from": 0.8, "yellow_from": 0.5}))

    def of(n):
        return corrected(table([0.9] * n + [1.0] * 20, [0.0] * n + [nan] * 20), measure)

    few, many = of(8), of(24)
    assert (few.ci_low, few.ci_high, few.method, few.light) == (None, None, "", "unlit")
    assert "fewer than 20 labels" in few.note
    assert many.light == "red"  # many labels against the judge decide
    assert "has no width" in few.note
    assert "has no width" in many.note
