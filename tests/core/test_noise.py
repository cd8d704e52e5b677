"""The noise of a mean, split: known parts come back, unbalanced designs, laws, what cannot be split."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from evalbench.core.noise import noise_sentence, noise_split
from evalbench.core.seeds import rng

PARTS = {"items": 0.5, "answers": 0.3, "judging": 0.2}


def simulated(seed, n_items, trials, verdicts, parts=PARTS):
    """Rows of a nested random-effects model: values, items, answers."""
    draw = rng(seed, "noise")
    n = draw.choice(trials, n_items)
    item = np.repeat(np.arange(n_items), n)
    level = draw.normal(0, parts["items"] ** 0.5, n_items)[item] + draw.normal(0, parts["answers"] ** 0.5, len(item))
    row = np.repeat(np.arange(len(item)), draw.choice(verdicts, len(item)))
    return level[row] + draw.normal(0, parts["judging"] ** 0.5, len(row)), item[row], row


def by_name(split):
    return {c.name: c for c in split.components}


@pytest.mark.parametrize(("trials", "verdicts"), [([3], [2]), ([1, 2, 4], [1, 2, 3]), ([1, 5], [1, 2])])
def test_known_parts_come_back_within_their_intervals(trials, verdicts):
    found = [by_name(noise_split(*simulated(seed, 100, trials, verdicts))) for seed in range(250)]
    for name, true in PARTS.items():
        held = np.mean([c[name].low <= true <= c[name].high for c in found])
        assert 0.9 <= held <= 0.99, (name, held)
        estimates = np.array([c[name].variance for c in found])
        assert abs(estimates.mean() - true) < 4 * estimates.std() / len(found) ** 0.5 + 1e-3, name


def test_answers_that_are_right_or_wrong_split_without_bias_whatever_their_number():
    """p uniform: the variance of items is 1/12, the mean variance within them 1/6, however many answers each has."""
    found = []
    for seed in range(250):
        draw = rng(seed, "binary")
        item = np.repeat(np.arange(120), draw.choice([2, 3, 6], 120))
        found.append(by_name(noise_split((draw.random(len(item)) < draw.random(120)[item]).astype(float), item)))
    for name, true in (("items", 1 / 12), ("answers", 1 / 6)):
        assert np.mean([c[name].variance for c in found]) == pytest.approx(true, rel=0.03)
        assert 0.9 <= np.mean([c[name].low <= true <= c[name].high for c in found]) <= 0.99


def test_a_balanced_design_agrees_with_restricted_maximum_likelihood():
    values, item, _ = simulated(3, 60, [4], [1])
    fit = smf.mixedlm("y ~ 1", pd.DataFrame({"y": values, "g": item}), groups=item).fit(reml=True)
    found = by_name(noise_split(values, item))
    assert found["answers"].variance == pytest.approx(fit.scale, rel=1e-4)
    assert found["items"].variance == pytest.approx(float(fit.cov_re.iloc[0, 0]), rel=1e-3)


def test_the_interval_as_asked_is_that_of_the_mean():
    values, item, _ = simulated(1, 80, [3], [1])
    means = pd.Series(values).groupby(item).mean()
    assert noise_split(values, item).half_width() == pytest.approx(1.959964 * means.std() / 80**0.5, rel=1e-6)


def test_shares_sum_to_one_and_the_widths_have_their_order():
    split = noise_split(*simulated(5, 200, [3], [2]))
    assert sum(c.share for c in split.components) == pytest.approx(1)
    one = split.half_width(answers=1, verdicts=1)
    assert split.half_width(200 * 3, 1, 1) < split.half_width(answers=3, verdicts=1) < one
    assert split.half_width(200 * 3, 1, 1) == pytest.approx(one / 3**0.5)
    assert (split.answers, split.verdicts) == pytest.approx((3, 2))


def test_the_order_and_the_names_of_rows_change_no_bit():
    values, item, answer = simulated(2, 50, [1, 2, 4], [1, 3])
    order = rng(0, "order").permutation(len(values))
    assert noise_split(values[order], item[order], answer[order]) == noise_split(values, item, answer)
    named = noise_split(values, [f"q{i:03}" for i in item], answer)
    assert named == noise_split(values, item, answer)


def test_answers_numbered_within_their_items_are_theirs():
    values, item, answer = simulated(2, 50, [3], [2])
    within = answer - pd.Series(answer).groupby(item).transform("min").to_numpy()
    assert noise_split(values, item, within) == noise_split(values, item, answer)


def test_scores_without_a_value_are_left_out():
    with_gap = noise_split([1, 0, np.nan, 1, 1, 0, 0], [0, 0, 0, 1, 1, 2, 2])
    assert with_gap == noise_split([1, 0, 1, 1, 0, 0], [0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize("values", [[], [np.nan, np.nan], [1.0, 0.0]])
def test_nothing_repeated_nothing_split(values):
    assert noise_split(values, list(range(len(values)))) is None


def test_a_negative_estimate_is_zero_and_said():
    split = noise_split([1, 0] * 30, np.repeat(np.arange(30), 2))
    items = split.components[0]
    assert (items.variance, items.negative, items.share) == (0, True, 0)
    assert "The unbiased estimate of items is negative and counts as 0." in noise_sentence(split)


def test_answers_that_never_differ():
    split = noise_split(np.repeat([0.0, 1.0] * 10, 3), np.repeat(np.arange(20), 3))
    assert by_name(split)["answers"].variance == 0
    sentence = noise_sentence(split)
    assert sentence.startswith("More answers a question would not shrink the interval of ±0.22; three times the ")


def test_nothing_varies():
    split = noise_split([1.0] * 6, [0, 0, 1, 1, 2, 2])
    assert all(c.variance == 0 and np.isnan(c.share) for c in split.components)
    assert noise_sentence(split) == "Every answer has the same score: there is no noise to split."


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_noise_of_rounding_is_no_variance_and_has_no_interval(scale):
    jitter = 1e-9 * rng(4, "rounding").normal(size=60)
    item = np.repeat(np.arange(20), 3)
    same = noise_split(scale * (0.7 + jitter), item)
    assert all((c.variance, c.negative) == (0, False) and np.isnan([c.low, c.high]).all() for c in same.components)
    assert noise_sentence(same) == "Every answer has the same score: there is no noise to split."
    answers = by_name(noise_split(scale * (np.repeat(np.arange(20.0), 3) + jitter), item))["answers"]
    assert (answers.variance, answers.negative) == (0, False)
    assert np.isnan([answers.low, answers.high]).all()


def test_a_negative_estimate_is_one_at_any_scale():
    one_each = 1e-7 * np.array([1.0, 0.0] * 30)
    items = noise_split(one_each, np.repeat(np.arange(30), 2)).components[0]
    assert (items.variance, items.negative) == (0, True)


def test_verdicts_alone_repeated():
    draw = rng(0, "verdicts")
    item = np.repeat(np.arange(60), 3)
    split = noise_split(draw.normal(size=60)[item] + draw.normal(size=180), item, np.zeros(180))
    assert [c.name for c in split.components] == ["items", "judging"]
    assert noise_sentence(split).startswith("Three verdicts an answer shrink the interval from ±")


def test_the_sentence_says_what_more_answers_would_do():
    split = noise_split(*simulated(8, 100, [3], [1], {"items": 0.04, "answers": 0.05, "judging": 0})[:2])
    assert noise_sentence(split) == (
        "Three answers a question shrink the interval from ±0.057 (one answer) to ±0.045; the same calls spent on "
        "three times the questions would shrink it to ±0.033."
    )


@pytest.mark.parametrize(("tasks", "trials"), [(60, 1), (60, 4)])
def test_two_runs_differ_by_more_than_is_said_as_often_as_is_said(tasks, trials):
    draw = np.random.default_rng(5)
    chances = draw.beta(1.5, 1.5, tasks)  # each task has its own chance of success, the same in every run
    seen = draw.random((tasks, 40)) < chances[:, None]
    split = noise_split(seen.ravel().astype(float), np.repeat(np.arange(tasks), 40))
    pairs = (draw.random((4000, 2, tasks, trials)) < chances[:, None]).mean(axis=(2, 3))
    apart = np.abs(pairs[:, 0] - pairs[:, 1])
    assert np.mean(apart > split.between_runs(trials) + 1e-9) == pytest.approx(0.05, abs=0.015)
    true = split.between_runs(trials, power=0.8)
    better = np.clip(chances + true, 0, 1)
    gain = float((better - chances).mean())
    other = (draw.random((4000, tasks, trials)) < better[:, None]).mean(axis=(1, 2))
    power = np.mean(np.abs(other - pairs[:, 0] + true - gain) > split.between_runs(trials))
    assert power == pytest.approx(0.8, abs=0.06)
