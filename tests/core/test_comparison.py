"""Comparison of two systems: pairing, tests, words."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbench.core.compared import at_odds, held_back
from evalbench.core.comparison import adjusted_together, compare_measures
from evalbench.core.measures import f1_of, mean_of, share_of
from evalbench.core.significance import holm, mcnemar, sign_flip_test

FIGURES = (mean_of("score"), share_of("right"), f1_of("tp", "fp", "fn"))


def system(seed, n, lift=0.0):
    g = np.random.default_rng(seed)
    truth = g.poisson(3, n)
    tp = g.binomial(truth, min(1, 0.6 + lift))
    return {
        "score": np.clip(g.normal(0.5 + lift, 0.1, n), 0, 1),
        "right": (g.random(n) < 0.6 + lift).astype(float),
        "tp": tp.astype(float),
        "fp": g.poisson(1, n).astype(float),
        "fn": (truth - tp).astype(float),
    }


def ids(n):
    return np.array([f"q{i:04}" for i in range(n)])


def compare(a, b, figures=FIGURES, *, units_a=None, units_b=None, **options):
    n_a, n_b = (len(next(iter(c.values()))) for c in (a, b))
    options = {"seed": 0, "n_resamples": 500, "n_permutations": 1000, **options}
    return compare_measures(
        a,
        b,
        figures,
        units_a=ids(n_a) if units_a is None else units_a,
        units_b=ids(n_b) if units_b is None else units_b,
        **options,
    )


def test_refusals_are_listed_together():
    a = system(0, 30)
    with pytest.raises(ValueError, match=r"two figures of one name: score; a margin for .* not compared: bleu"):
        compare(a, a, [mean_of("score"), mean_of("score")], margins={"bleu": 0.1})


def test_a_system_against_itself_is_the_same_with_difference_0():
    a = system(1, 80)
    for one in compare(a, a).comparisons:
        assert (one.outcome, one.difference, one.ci_low, one.ci_high, one.p_holm) == ("same", 0, 0, 0, 1)
        assert one.words.endswith("A and B are the same on each of 80 units, difference 0.")


def test_values_and_tests_are_those_of_the_parts():
    a, b = system(2, 300, 0.05), system(3, 300)
    score, right, f1 = compare(a, b, n_permutations=20_000, n_resamples=4000).comparisons
    d = a["score"] - b["score"]
    assert score.difference == pytest.approx(d.mean())
    half = 1.96 * d.std() / np.sqrt(300)
    assert (score.ci_low, score.ci_high) == pytest.approx((d.mean() - half, d.mean() + half), abs=0.1 * half)
    assert score.smallest == pytest.approx(2.8016 * d.std() / np.sqrt(300), rel=0.05)
    only = [(a["right"] > b["right"]).sum(), (a["right"] < b["right"]).sum()]
    assert right.p_mcnemar == pytest.approx(mcnemar(*only))
    assert right.p == pytest.approx(
        sign_flip_test(a["right"] - b["right"], np.random.default_rng(1), 20_000).p, abs=0.02
    )
    assert (score.p_mcnemar, f1.p_mcnemar) == (None, None)
    value = {k: 2 * s["tp"].sum() / (2 * s["tp"] + s["fp"] + s["fn"]).sum() for k, s in (("a", a), ("b", b))}
    assert (f1.value_a, f1.value_b) == pytest.approx((value["a"], value["b"]))
    assert sorted([score.p_holm, right.p_holm, f1.p_holm]) >= sorted([score.p, right.p, f1.p])
    assert score.method == "paired percentile bootstrap, 4000 resamples; 20000 swaps within units"


@pytest.mark.parametrize("paired", [True, False])
def test_better_and_worse_are_mirrored(paired):
    a, b = system(4, 200, 0.2), system(5, 200)
    there, back = compare(a, b, paired=paired).comparisons, compare(b, a, paired=paired).comparisons
    assert {c.outcome for c in there} == {"better"}
    assert {c.outcome for c in back} == {"worse"}
    assert [c.difference for c in there] == pytest.approx([-c.difference for c in back])


def test_direction_of_a_figure_is_respected():
    a, b = {"words": np.full(60, 30.0) + np.arange(60) % 3}, {"words": np.full(60, 40.0)}
    outcomes = [
        compare(a, b, [mean_of("words", higher_is_better=h)]).comparisons[0].outcome for h in (True, False, None)
    ]
    assert outcomes == ["worse", "better", "lower"]


def test_words_name_the_systems_and_the_power():
    a, b = system(6, 60), system(7, 60)
    words = [c.words for c in compare(a, b, names=("fern", "oak")).comparisons]
    assert words[0].startswith("score: no difference shown between fern and oak: ")
    # Holm's adjustment over several figures asks for more than this difference: it holds for a test alone.
    assert re.search(r"; tested alone, a difference of 0\.\d+ would have been shown with 80 % power\.$", words[0])
    better = compare(system(4, 200, 0.2), system(5, 200), names=("fern", "oak")).comparisons[0]
    assert better.words.startswith("score: fern is better than oak: +0.")
    assert "p < 0.001, Holm " in better.words
    assert better.words.endswith("200 units.")


@pytest.mark.parametrize(("paired", "n", "least"), [(True, 5, "0.062"), (False, 3, "0.1")])
def test_no_power_is_claimed_where_so_few_units_cannot_show_anything(paired, n, least):
    a, b = {"score": np.linspace(0.9, 1, n)}, {"score": np.linspace(0, 0.2, n)}
    found = compare(a, b, FIGURES[:1], paired=paired).comparisons[0]
    assert found.outcome == "no difference shown"
    assert found.smallest is None
    assert found.words.endswith(f"{n} units; so few units cannot show any: p is never below {least}.")
    enough = compare({"score": np.linspace(0.9, 1, 6)}, {"score": np.linspace(0, 0.2, 6)}, FIGURES[:1])
    assert enough.comparisons[0].outcome == "better"


class TestNoDifferenceBesideAnIntervalWithoutZero:
    """The interval is of one figure, the p-value of the test decides, adjusted for all: the sentence says which it was."""

    def test_few_units_on_which_the_two_differ(self):
        # Four of 60 differ: the exact test has 16 assignments, p = 2/16; the bootstrap sees no zero in 95 %.
        a, b = {"right": np.ones(60)}, {"right": np.r_[np.zeros(4), np.ones(56)]}
        found = compare(a, b, [share_of("right")], n_resamples=2000).comparisons[0]
        assert found.ci_low > 0
        assert (found.p, found.n_differ, found.outcome) == (0.125, 4, "no difference shown")
        assert "; the two differ on 4 units only, and over so few p is never below 0.12" in found.words

    def test_a_difference_as_large_as_one_that_would_have_been_shown_is_not_contradicted(self):
        a, b = {"score": np.ones(8)}, {"score": np.array([0.25, 1, 0.25, 1, 0.24, 1, 0.26, 1])}
        found = compare(a, b, FIGURES[:1]).comparisons[0]
        assert (found.p, found.outcome) == (0.125, "no difference shown")
        assert found.smallest < abs(found.difference)
        assert "would have been shown" not in found.words

    def test_many_tests(self):
        a, b = {"right": np.ones(60)}, {"right": np.r_[np.zeros(7), np.ones(53)]}
        one = compare(a, b, [share_of("right")]).comparisons[0]
        assert (one.outcome, one.n_tests) == ("better", 1)
        assert "test" not in one.words
        many = adjusted_together([one] * 24, [("A", "B")] * 24)[0]
        assert (many.outcome, many.n_tests) == ("no difference shown", 24)
        assert "p = 0.016, Holm = 0.38 over 24 tests, 60 units" in many.words
        assert "; alone it has p = 0.016, but Holm's adjustment for 24 tests decides" in many.words

    def test_a_test_and_an_interval_that_do_not_agree(self):
        alike = at_odds(0.06, 0.001, 0.2, 1), at_odds(0.06, -0.2, -0.001, 3)
        assert set(alike) == {"the interval excludes 0, but the test, p = 0.060, decides"}
        assert at_odds(0.06, -0.1, 0.2, 24) == at_odds(0.06, 1e-17, 0.2, 24) == ""
        assert at_odds(0.06, math.nan, math.nan, 24) == ""

    def test_every_such_comparison_says_why(self):
        for seed in range(40):
            g = np.random.default_rng(seed)
            a = {"score": g.random(12), "right": (g.random(12) < 0.8).astype(float)}
            b = {"score": g.random(12) * 0.8, "right": (g.random(12) < 0.5).astype(float)}
            for c in compare(a, b, FIGURES[:2]).comparisons:
                otherwise = c.outcome == "no difference shown" and (c.p <= 0.05 or c.ci_low > 0 or c.ci_high < 0)
                assert bool(held_back(c)) == otherwise, c.words


def test_equivalent_only_inside_a_stated_margin():
    a = system(8, 400)
    b = {**a, "score": a["score"] + np.where(np.arange(400) % 2, 0.01, -0.01)}
    inside, outside, none = (
        compare(a, b, FIGURES[:1], margins=m).comparisons[0] for m in ({"score": 0.02}, {"score": 0.0005}, None)
    )
    assert inside.outcome == "equivalent"
    assert "equivalent within ±0.02" in inside.words
    assert outside.outcome == none.outcome == "no difference shown"


def test_units_of_one_side_are_counted_and_left_out():
    a, b = system(9, 50), system(9, 50)
    out = compare(a, b, units_a=ids(50), units_b=ids(60)[10:])
    assert (out.n_shared, out.only_a, out.only_b) == (40, 10, 10)
    assert {c.n_a for c in out.comparisons} == {40}
    assert out.comparisons[0].value_a == pytest.approx(a["score"][10:].mean())
    assert out.comparisons[0].value_b == pytest.approx(b["score"][:40].mean())


def test_units_unscored_on_one_side_are_left_out_of_that_figure_on_both():
    a, b = system(10, 50), system(11, 50)
    a["score"][:5] = np.nan
    b["score"][3:9] = np.nan
    b["tp"][40:] = np.nan
    score, right, f1 = compare(a, b).comparisons
    assert [(c.n_a, c.n_left_out) for c in (score, right, f1)] == [(41, 9), (50, 0), (40, 10)]
    assert score.difference == pytest.approx((a["score"] - b["score"])[9:].mean())
    assert f1.value_a == pytest.approx(2 * a["tp"][:40].sum() / (2 * a["tp"] + a["fp"] + a["fn"])[:40].sum())


def test_unpaired_systems_need_no_common_unit():
    a, b = system(12, 120, 0.2), system(13, 90)
    out = compare(a, b, units_b=np.char.add("other-", ids(90)), paired=False)
    assert (out.n_shared, out.only_a, out.only_b) == (0, 120, 90)
    assert [(c.n_a, c.n_b, c.outcome) for c in out.comparisons] == [(120, 90, "better")] * 3
    assert "120 and 90 units" in out.comparisons[0].words
    assert out.comparisons[0].method == "independent percentile bootstrap, 500 resamples; 1000 units dealt anew"


def test_clustered_items_move_together():
    a, b = system(14, 120, 0.1), system(15, 120)
    document = np.repeat(ids(30), 4)
    out = compare(a, b, units_a=document, units_b=document).comparisons
    assert {c.n_a for c in out} == {30}
    assert out[1].p_mcnemar is None


@pytest.mark.parametrize("paired", [True, False])
def test_the_order_of_items_changes_nothing(paired):
    a, b = system(16, 90), system(17, 90)
    document = np.repeat(ids(45), 2)
    order = np.random.default_rng(0).permutation(90)
    moved = {k: v[order] for k, v in a.items()}
    first = compare(a, b, units_a=document, units_b=document, paired=paired)
    assert compare(moved, b, units_a=document[order], units_b=document, paired=paired) == first


@pytest.mark.parametrize(
    ("a", "b", "note"),
    [
        ([1.0], [0.0], "fewer than two units"),
        ([np.nan] * 4, [1.0] * 4, "no unit has a value on both sides"),
        ([1.0, np.nan, 1.0], [1.0, 0.0, np.nan], "fewer than two units"),
    ],
)
def test_what_cannot_be_compared_says_why(a, b, note):
    one = compare({"score": np.array(a)}, {"score": np.array(b)}, FIGURES[:1]).comparisons[0]
    assert (one.outcome, one.p, one.ci_low) == ("undefined", None, None)
    assert note in one.note
    assert one.words.startswith("score: A and B cannot be compared: ")


def test_a_figure_undefined_on_one_side_says_so():
    zero = {"tp": np.zeros(30), "fp": np.zeros(30), "fn": np.zeros(30)}
    some = {"tp": np.ones(30), "fp": np.zeros(30), "fn": np.zeros(30)}
    one = compare(zero, some, FIGURES[2:]).comparisons[0]
    assert (one.value_a, one.value_b, one.difference, one.outcome) == (None, 1.0, None, "undefined")
    assert one.note == "neither a true nor a predicted one"


def test_a_true_null_is_called_different_at_its_rate():
    called = sum(
        compare(system(i, 40), system(i + 10_000, 40), FIGURES[2:], seed=i, n_resamples=50, n_permutations=400)
        .comparisons[0]
        .outcome
        != "no difference shown"
        for i in range(300)
    )
    assert 0.015 <= called / 300 <= 0.09


scores = st.sampled_from([0.0, 1.0, 0.1, np.nan])


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("abcd"), scores, scores), max_size=8), st.booleans())
def test_degenerate_items_give_words(rows, paired):
    units = np.array([r[0] for r in rows], dtype=str)
    a, b = ({"score": np.array([r[i] for r in rows], dtype=float)} for i in (1, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = compare(
            a, b, FIGURES[:1], units_a=units, units_b=units, paired=paired, n_resamples=20, n_permutations=20
        ).comparisons[0]
    assert one.words
    assert one.note if one.outcome == "undefined" else one.p is not None


def test_several_comparisons_are_one_family():
    pairs = [compare(system(i, 60, 0.06), system(i + 50, 60), FIGURES[:1]).comparisons[0] for i in range(4)]
    together = adjusted_together(pairs, [("fern", f"oak-{i}") for i in range(4)])
    np.testing.assert_allclose([c.p_holm for c in together], holm([c.p for c in pairs]))
    for c in together:
        assert (c.outcome == "better") == (c.p_holm <= 0.05)
        assert "fern" in c.words


def test_a_power_is_not_named_where_too_few_units_differ_for_any_p():
    from evalbench.core.measures import mean_of

    a, b = np.zeros(40), np.zeros(40)
    a[:4] = 1
    units = [f"q{i:02}" for i in range(40)]
    measure = mean_of("x", title="mean x")
    (found,) = compare_measures({"x": a}, {"x": b}, [measure], units_a=units, units_b=units, seed=0).comparisons
    assert found.outcome == "no difference shown"
    assert "p is never below 0.12" in found.words
    assert "power" not in found.words
