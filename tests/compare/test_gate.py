"""What a suite's gate makes of figures against the previous run: regression, none, or no evidence either way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from toy_runs import MEASURES, items, measures, one, run, summarise

from evalbench.compare.gate import gate, margins_of
from evalbench.compare.runs import Differences, Hooks, compare
from evalbench.compare.sides import Side


def against(before: Side, now: Side, **margins: float) -> Differences:
    sides = [replace(before, name="the previous run"), replace(now, run_id="r2", name="this run")]
    return compare(sides[0], sides[1:], MEASURES, margins=margins, n_resamples=400, n_summaries=8)[0]


def states(before: Side, now: Side, **margins: float) -> list[str]:
    return [figure.state for figure in gate([against(before, now, **margins)], margins)[0]]


def only(shift: float, seed: int = 0, **columns: object) -> Side:
    return one(run(items({"elm": shift}, seed=seed).assign(**columns)), "elm")


@pytest.fixture(scope="module")
def base() -> Side:
    return only(0.1)


def shifted(base: Side, by: float, spread: float = 0.0) -> Side:
    frame = base.items.copy()
    noise = np.random.default_rng(3).normal(0, spread, len(frame))
    frame["score"] = frame["score"] + by + noise - noise.mean()
    return one(run(frame), "elm")


def test_the_same_and_a_better_run_are_no_regression(base: Side) -> None:
    assert states(base, base) == ["none"]
    assert states(base, shifted(base, 0.05, 0.02)) == ["none"]


def test_a_worse_run_is_a_regression_with_or_without_a_margin(base: Side) -> None:
    worse = shifted(base, -0.05, 0.02)
    assert states(base, worse) == ["regression"]
    assert states(base, worse, score=0.01) == ["regression"]


def test_a_worse_run_within_its_margin_is_none(base: Side) -> None:
    (figure,) = gate([against(base, shifted(base, -0.05, 0.02), score=0.1)], {"score": 0.1})[0]
    assert (figure.state, figure.comparison.outcome) == ("none", "equivalent")


def test_noise_is_no_evidence_without_a_margin_and_says_the_way_out(base: Side) -> None:
    (figure,) = gate([against(base, shifted(base, -0.002, 0.05))])[0]
    assert figure.state == "inconclusive"
    assert figure.words.endswith("Without a margin (--margin score=…) only a difference that is shown decides.")


def test_noise_within_a_margin_is_none_and_across_it_inconclusive(base: Side) -> None:
    noisy = shifted(base, -0.002, 0.05)
    assert states(base, noisy, score=0.04) == ["none"]
    (figure,) = gate([against(base, noisy, score=0.005)], {"score": 0.005})[0]
    assert figure.state == "inconclusive"
    assert figure.words.endswith("The interval does not rule out that it is worse by 0.005 or more.")


def test_a_rise_beyond_the_margin_that_is_not_shown_rules_out_a_regression(base: Side) -> None:
    """Not equivalent, not shown to be better; worse it is not either."""
    better = shifted(base, 0.05, 0.15)
    (figure,) = gate([against(base, better, score=0.02)], {"score": 0.02})[0]
    assert figure.comparison.outcome == "no difference shown"
    assert figure.comparison.ci_low > -0.02
    assert figure.state == "none"
    assert "rules out that it is worse by 0.02 or more" in figure.words


def test_the_figures_with_a_margin_count_else_the_first_one(base: Side) -> None:
    found = against(base, base, right=0.1, f1=0.1)
    assert [g.comparison.metric for g in gate([found], {"right": 0.1, "f1": 0.1})[0]] == ["right", "f1"]
    assert [g.comparison.metric for g in gate([found], {"of another study": 0.1})[0]] == ["score"]
    assert margins_of(base.results, {"right": 0.1, "of another study": 0.2}) == {"right": 0.1}


def test_every_group_counts_where_the_study_states_no_whole() -> None:
    two = run(items({"elm": 0.0, "oak": 0.1}))
    frame = two.items.assign(score=two.items["score"] - np.where(two.items["checker"] == "oak", 0.05, 0.0))
    found = gate([against(two, run(frame))])[0]
    assert [(g.group["checker"], g.state) for g in found] == [("elm", "none"), ("oak", "regression")]
    assert found[1].words.startswith("oak: score: this run is worse than the previous run: −0.05")


def test_holm_covers_the_whole_suite(base: Side) -> None:
    """What a run alone would show is not shown among many."""
    rows = shifted(base, -0.012, 0.03)
    alone = against(base, rows)
    p = alone.rows[0].comparison.p
    assert 0.005 < p <= 0.05, "the worked example is near the level on purpose"
    assert gate([alone])[0][0].state == "regression"
    many = gate([alone, *[against(base, shifted(base, 0.0, 0.05))] * 15])
    assert many[0][0].state == "inconclusive"
    assert many[0][0].comparison.n_tests == 16
    assert many[0][0].comparison.p_holm == pytest.approx(min(1, 16 * p))


def test_a_figure_without_a_direction_is_never_a_regression(base: Side) -> None:
    plain = [replace(m, higher_is_better=None) for m in measures()]
    sides = [replace(base, name="a"), replace(shifted(base, -0.05, 0.02), run_id="r2", name="b")]
    for side in sides:
        for row in side.results["summary"]:
            row["higher_is_better"] = None
    found = compare(sides[0], sides[1:], Hooks(lambda: plain, summarise), n_resamples=200, n_summaries=0)
    (figure,) = gate(found)[0]
    assert (figure.state, figure.comparison.outcome) == ("inconclusive", "lower")
    assert "it has no direction" in figure.words.lower()


def without(base: Side, n: int, reason: str) -> Side:
    frame = base.items.copy()
    frame.loc[frame.index[:n], "score"] = np.nan
    frame.loc[frame.index[:n], "unscored" if reason else "undefined"] = reason or "no value"
    return one(run(frame), "elm")


@pytest.mark.parametrize(("n", "state"), [(1, "none"), (3, "inconclusive")])
def test_failed_items_are_not_passed_in_silence(base: Side, n: int, state: str) -> None:
    (figure,) = gate([against(base, without(base, n, "timeout"))])[0]
    assert figure.state == state
    assert ("3 of 40 items of this run are unscored" in figure.words) == (n == 3)


def test_items_that_became_undefined_are_no_pass_either(base: Side) -> None:
    (figure,) = gate([against(base, without(base, 5, ""))])[0]
    assert figure.state == "inconclusive"
    assert "5 of 40 items are undefined, 0 of 40 were" in figure.words


def test_units_and_groups_of_one_run_alone_are_no_pass() -> None:
    two = run(items({"elm": 0.0, "oak": 0.1}))
    few = two.items[two.items["id"] >= "t010"]
    assert {g.state for g in gate([against(two, run(few))])[0]} == {"inconclusive"}
    three = run(items({"elm": 0.0, "oak": 0.1, "yew": 0.1}))
    gone = gate([against(three, run(three.items[three.items["checker"] != "yew"]))])[0]
    assert {g.state for g in gone} == {"inconclusive"}
    assert "The previous run has yew too, so nothing is ruled out." in gone[0].words


def test_a_regression_is_one_however_many_items_failed(base: Side) -> None:
    frame = shifted(base, -0.05, 0.02).items
    frame.loc[frame.index[:9], "score"], frame.loc[frame.index[:9], "unscored"] = np.nan, "timeout"
    assert states(base, one(run(frame), "elm")) == ["regression"]


def test_four_units_are_no_evidence(base: Side) -> None:
    few = one(run(base.items.head(4)), "elm")
    worse = shifted(few, -0.2, 0.001)
    (figure,) = gate([against_sums(few, worse)])[0]
    assert figure.state == "inconclusive"
    assert "so few units cannot show any" in figure.words


def against_sums(before: Side, now: Side) -> Differences:
    sides = [replace(before, name="the previous run"), replace(now, run_id="r2", name="this run")]
    return compare(sides[0], sides[1:], MEASURES, n_resamples=400, n_summaries=0)[0]
