"""Figures from sums over items: values, intervals, counts and notes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from sklearn.metrics import f1_score

from evalbench.core.ends import unlike_at_most
from evalbench.core.measures import (
    Measure,
    estimate,
    f1_of,
    mean_of,
    precision_of,
    ratio,
    recall_of,
    share_of,
    unit_sums,
)
from evalbench.core.stats import wilson


def ids(n):
    return np.array([f"q{i:04}" for i in range(n)])


def one(columns, measure, units=None, **options):
    n = len(next(iter(columns.values())))
    options = {"seed": 0, "n_resamples": 300, **options}
    return estimate(columns, [measure], units=ids(n) if units is None else units, **options).estimates[0]


def test_mean_and_its_interval():
    x = np.random.default_rng(0).beta(3, 2, 400)
    out = one({"score": x}, mean_of("score"), n_resamples=4000)
    peer = scipy_stats.bootstrap((x,), np.mean, n_resamples=4000, method="percentile", rng=1).confidence_interval
    assert out.value == pytest.approx(x.mean())
    assert (out.ci_low, out.ci_high) == pytest.approx((peer.low, peer.high), abs=0.003)
    assert (out.method, out.n, out.note) == ("percentile bootstrap, 4000 resamples", 400, "")


def test_share_has_wilsons_interval():
    out = one({"right": np.repeat([1.0, 0.0], [20, 10])}, share_of("right"))
    assert (out.ci_low, out.ci_high) == pytest.approx(tuple(map(float, wilson(20, 30))))
    assert out.method == "Wilson"


def test_clustered_share_is_bootstrapped_unless_all_agree():
    document = np.repeat(ids(25), 4)
    mixed = one({"right": np.tile([1.0, 0, 0, 0, 1], 20)}, share_of("right"), units=document)
    assert mixed.method.startswith("clustered percentile bootstrap")
    agreed = one({"right": np.ones(100)}, share_of("right"), units=document)
    assert agreed.method == "Wilson over units, all agree"
    assert (agreed.ci_low, agreed.ci_high) == pytest.approx((float(wilson(25, 25)[0]), 1.0))


@pytest.mark.parametrize(("measure", "agreed"), [(precision_of("tp", "fp"), 1), (precision_of("fp", "tp"), 0)])
def test_precision_where_all_agree_has_wilsons_interval_over_the_items_that_predict(measure, agreed):
    """20 of 20 is [0.84, 1], not [1, 1]; items without a prediction say nothing."""
    columns = {"tp": np.repeat([2.0, 0.0], [20, 30]), "fp": np.zeros(50)}
    out = one(columns, measure)
    assert (out.value, out.method, out.note) == (agreed, "Wilson over units, all agree", "")
    assert (out.ci_low, out.ci_high) == pytest.approx(tuple(map(float, wilson(20 * agreed, 20))))
    columns["fp"][3] = 1.0
    assert one(columns, measure).method.startswith("percentile bootstrap")


def test_recall_of_one_item_with_truth_has_wilsons_interval_where_it_is_1_and_none_between():
    out = one({"tp": np.array([2.0, 0, 0]), "fn": np.zeros(3)}, recall_of("tp", "fn"))
    assert (out.value, out.ci_low, out.ci_high) == (1, pytest.approx(0.2065, abs=1e-4), 1)
    half = one({"tp": np.array([2.0, 0, 0]), "fn": np.array([2.0, 0, 0])}, recall_of("tp", "fn"))
    assert (half.value, half.ci_low, half.note) == (0.5, None, "no interval: fewer than two units")


def test_f1_precision_recall_agree_with_scikit_learn():
    g = np.random.default_rng(2)
    truth, found = g.random((2, 300)) < 0.4
    columns = {"tp": truth & found, "fp": ~truth & found, "fn": truth & ~found}
    out = estimate(
        columns,
        [f1_of("tp", "fp", "fn"), precision_of("tp", "fp"), recall_of("tp", "fn")],
        units=ids(300),
        seed=0,
        n_resamples=200,
    )
    assert out.estimates[0].value == pytest.approx(f1_score(truth, found))
    assert [e.value for e in out.estimates[1:]] == pytest.approx([truth[found].mean(), found[truth].mean()])
    f1, p, r = (out.replicates[m] for m in ("f1", "precision", "recall"))
    np.testing.assert_allclose(f1, 2 * p * r / (p + r))


@pytest.mark.parametrize(
    ("scores", "value", "note"),
    [
        ([0.5], 0.5, "no interval: fewer than two units"),
        ([np.nan, np.nan], None, "no item has a value"),
        ([0.2, 0.4] * 4, 0.3, "fewer than 20 units: the interval is too narrow"),
        ([0.5] * 30, 0.5, ""),
        ([0.25, 0.75] * 30, 0.5, ""),
    ],
)
def test_what_an_estimate_lacks_is_said(scores, value, note):
    out = one({"score": np.array(scores)}, mean_of("score"))
    assert out.value == (None if value is None else pytest.approx(value))
    assert out.note == note


@pytest.mark.parametrize(
    ("score", "low", "high"), [(1.0, 0.8389, 1), (0.0, 0, 0.1611), (0.5, 0.4194, 0.5806), (0.25, 0.2097, 0.3708)]
)
def test_a_mean_of_scores_that_are_all_alike_has_a_width(score, low, high):
    of = mean_of("score")
    out = one({"score": np.full(20, score)}, of)
    assert (out.ci_low, out.ci_high) == pytest.approx((low, high), abs=1e-4)
    assert (out.method, out.note) == ("Wilson over units, all agree", "")
    within = one({"score": np.full(80, score)}, of, units=np.repeat(ids(20), 4))
    assert (within.ci_low, within.ci_high) == pytest.approx((low, high), abs=1e-4)


def test_a_mean_on_another_scale_that_is_alike_says_that_its_interval_has_no_width():
    out = one({"words": np.full(30, 0.5)}, mean_of("words", unit="words"))
    assert (out.ci_low, out.ci_high, out.note) == (0.5, 0.5, "all resamples agree: the interval has no width")


def test_the_mean_is_within_the_interval_where_all_draws_are_alike():
    """Of scores that are unlike 0.3 in a share e, at 1, twelve alike draws are likely only where the true mean is within."""
    low, high = unlike_at_most(0.3, 12)
    for e in np.linspace(0.001, 1, 400):
        for end in (0, 1):
            truth = 0.3 * (1 - e) + end * e
            assert low <= truth <= high or (1 - e) ** 12 < 0.05


@pytest.mark.parametrize(
    ("unit", "score", "low"),
    [("0–1", 1.0, 0.8389), ("0–100", 100.0, 83.8875), ("1–5", 5.0, 4.3555), ("0/1", 1.0, 0.8389)],
)
def test_a_mean_of_scores_that_are_all_the_best_is_wilsons_on_any_scale(unit, score, low):
    out = one({"score": np.full(20, score)}, mean_of("score", unit=unit))
    assert (out.ci_low, out.ci_high, out.note) == (pytest.approx(low, abs=1e-3), score, "")
    assert out.method == "Wilson over units, all agree"
    alone = one({"score": np.full(1, score)}, mean_of("score", unit=unit))
    least = 1.0 if unit == "1–5" else 0.0
    assert alone.ci_low == pytest.approx(least + (score - least) * float(wilson(1, 1)[0]))


def test_f1_where_nothing_is_wrong_has_wilsons_interval_over_the_texts_that_have_some():
    columns = {"tp": np.repeat([3.0, 0.0], [20, 30]), "fp": np.zeros(50), "fn": np.zeros(50)}
    out = one(columns, f1_of("tp", "fp", "fn"))
    assert (out.ci_low, out.ci_high) == pytest.approx(tuple(map(float, wilson(20, 20))))


def test_f1_says_which_resamples_have_no_value():
    columns = {"tp": np.repeat([1.0, 0.0], [2, 38]), "fp": np.repeat([1.0, 0.0], [2, 38]), "fn": np.zeros(40)}
    out = one(columns, f1_of("tp", "fp", "fn"), n_resamples=2000)
    assert "% of the resamples have no value and are left out" in out.note
    share = float(out.note.split("%")[0]) / 100
    assert share == pytest.approx((38 / 40) ** 40, abs=0.04)


def test_f1_warns_under_20_units():
    counts = {"tp": np.arange(19.0), "fp": np.ones(19), "fn": np.ones(19)}
    assert "fewer than 20 units" in one(counts, f1_of("tp", "fp", "fn")).note
    more = {k: np.append(v, 1) for k, v in counts.items()}
    assert one(more, f1_of("tp", "fp", "fn")).note == ""


def test_unscored_and_undefined_are_counted_apart():
    columns = {
        "score": np.array([1.0, np.nan, np.nan, 0.5] * 10),
        "unscored": np.array(["", "no parse", "", ""] * 10, dtype=object),
        "undefined": np.array(["", "", "no claims", ""] * 10, dtype=object),
    }
    out = one(columns, mean_of("score"))
    assert (out.value, out.n, out.n_unscored, out.n_undefined) == (0.75, 20, 10, 10)
    assert out.note == "0.5 if every unscored item were the worst"


def test_units_without_a_value_do_not_count_as_evidence():
    x = np.full(40, np.nan)
    x[:6] = [0.1, 0.4, 0.2, 0.3, 0.5, 0.3]
    assert one({"score": x}, mean_of("score")).note.endswith("fewer than 20 units: the interval is too narrow")
    x[1:] = np.nan
    assert one({"score": x}, mean_of("score")).note == "no interval: fewer than two units"


@pytest.mark.parametrize("clustered", [False, True])
def test_the_order_of_items_changes_no_bit(clustered):
    g = np.random.default_rng(3)
    x = g.random(200)
    units = np.repeat(ids(40), 5) if clustered else ids(200)
    order = g.permutation(200)
    first = one({"score": x}, mean_of("score"), units=units)
    assert one({"score": x[order]}, mean_of("score"), units=units[order]) == first
    sums = [unit_sums({"score": x[o]}, ["score"], units[o])[0].tobytes() for o in (slice(None), order)]
    assert sums[0] == sums[1]


def test_clusters_widen_the_interval():
    x = np.repeat(np.random.default_rng(4).random(30), 10)
    plain = one({"score": x}, mean_of("score"))
    clustered = one({"score": x}, mean_of("score"), units=np.repeat(ids(30), 10))
    assert clustered.ci_high - clustered.ci_low > 2 * (plain.ci_high - plain.ci_low)


values = st.sampled_from([0.0, 1.0, 0.1, np.nan])


@settings(max_examples=80)
@given(st.lists(st.tuples(st.sampled_from("abc"), values, values, values), min_size=1, max_size=8))
def test_degenerate_items_give_a_value_or_a_reason(rows):
    columns = {name: np.array([r[i] for r in rows]) for i, name in enumerate(["tp", "fp", "fn"], start=1)}
    measures = [mean_of("tp"), share_of("fp"), f1_of("tp", "fp", "fn"), precision_of("tp", "fp"), recall_of("tp", "fn")]
    columns["fp"] = np.round(columns["fp"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = estimate(columns, measures, units=np.array([r[0] for r in rows]), seed=0, n_resamples=30)
    for e in out.estimates:
        assert e.note if e.value is None or e.ci_low is None else e.ci_low <= e.ci_high


def test_figures_of_several_sums_count_the_items_that_have_them_all():
    hits, total = [3.0, 1.0, np.nan, np.nan], [4.0, 2.0, np.nan, np.nan]
    rate = Measure("rate", ("hits", "total"), ratio)
    columns = {"hits": hits, "total": total, "unscored": ["", "", "", "timeout"]}
    one = estimate(columns, [rate], units=list("abcd"), seed=0).estimates[0]
    assert (one.value, one.n, one.n_undefined, one.n_unscored) == (4 / 6, 2, 1, 1)


def test_an_item_is_scored_unscored_or_undefined_once():
    scores = np.array([0.5, 1.0, np.nan, np.nan, 0.25])
    reasons = np.array(["", "", "cut", "", "no-output"], dtype=object)  # the last one has a value of this figure
    out = one({"score": scores, "unscored": reasons}, mean_of("score"))
    assert (out.n, out.n_unscored, out.n_undefined) == (3, 1, 1)
    assert out.value == pytest.approx(1.75 / 3)
    assert "0.438 if every unscored item were the worst" in out.note


@pytest.mark.parametrize(
    "measure",
    [mean_of("x"), share_of("x"), Measure("count", ("x",), np.asarray), f1_of("x", "x", "x")],
    ids=["mean", "share", "count", "f1"],
)
def test_no_figure_has_a_value_where_every_item_is_unscored(measure):
    columns = {"x": np.full(3, np.nan), "unscored": np.array(["no-output", "cut", "no-output"], dtype=object)}
    out = one(columns, measure)
    assert (out.value, out.n, out.n_unscored, out.n_undefined) == (None, 0, 3, 0)
    assert out.note == "every item is unscored: 2 no output, 1 cut"


def test_the_worst_share_of_what_should_be_low_is_one():
    columns = {"x": np.array([0.0, 0.0, np.nan]), "unscored": np.array(["", "", "cut"], dtype=object)}
    assert "0.333 if every unscored item were the worst" in one(columns, share_of("x", higher_is_better=False)).note


@pytest.mark.parametrize("n_units", [1, 3, 40])
def test_sums_of_a_unit_are_the_same_in_any_order_of_its_items(n_units):
    generator = np.random.default_rng(0)
    score, unit = generator.random(5_000), generator.integers(n_units, size=5_000).astype(str)
    sums, ids = unit_sums({"score": score}, ["score", "#score"], unit)
    order = generator.permutation(5_000)
    again, _ = unit_sums({"score": score[order]}, ["score", "#score"], unit[order])
    one_by_one = [sum(sorted(score[unit == name].tolist())) for name in ids]
    assert sums[:, 0].tolist() == again[:, 0].tolist() == one_by_one
    assert sums[:, 1].tolist() == [(unit == name).sum() for name in ids]
