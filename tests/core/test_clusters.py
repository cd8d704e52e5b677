"""Items of one cluster drawn together: coverage, tests, order, and what is said of few."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from evalbench.core.clusters import CLUSTER, codes, how_many, widened
from evalbench.core.comparison import compare_measures
from evalbench.core.measures import estimate, mean_of, share_of
from evalbench.core.result import Estimate
from evalbench.core.stability import Lit, joint_stability
from evalbench.core.verdict import Bands

SIZES = np.tile([1, 2, 3, 5, 9], 10)


def one_sample(
    generator: np.random.Generator, sizes: npt.NDArray[np.int_] = SIZES
) -> dict[str, npt.NDArray[np.float64]]:
    """Right or wrong in clusters of unequal size: each has a rate of its own, half of the items are right on the whole."""
    rate = generator.beta(2, 2, size=len(sizes))
    which = np.repeat(np.arange(len(sizes)), sizes)
    right = generator.random(len(which)) < rate[which]
    return {"right": right.astype(float), CLUSTER: which.astype(str)}


def covers(sizes: npt.NDArray[np.int_], n_samples: int, *, clustered: bool = True) -> float:
    held = 0
    for i in range(n_samples):
        columns = one_sample(np.random.default_rng(i), sizes)
        if not clustered:
            columns.pop(CLUSTER)
        units = np.arange(len(columns["right"]))
        (e,) = estimate(columns, [mean_of("right")], units=units, seed=i, n_resamples=500).estimates
        assert e.ci_low is not None
        assert e.ci_high is not None
        held += e.ci_low <= 0.5 <= e.ci_high
    return held / n_samples


@pytest.mark.slow
def test_intervals_over_50_clusters_of_unequal_size_cover_what_they_say() -> None:
    assert 0.92 <= covers(SIZES, 400) <= 0.97
    assert covers(SIZES, 150, clustered=False) < 0.85


@pytest.mark.slow
def test_20_clusters_are_covered_better_than_by_the_plain_percentile_interval() -> None:
    assert 0.91 <= covers(np.tile([1, 3, 5, 9], 5), 400) <= 0.98


def test_clusters_make_intervals_of_alike_items_wider_and_name_themselves() -> None:
    columns = one_sample(np.random.default_rng(0))
    units = np.arange(len(columns["right"]))
    (e,) = estimate(columns, [mean_of("right")], units=units, seed=0).estimates
    (plain,) = estimate({"right": columns["right"]}, [mean_of("right")], units=units, seed=0).estimates
    assert e.value == plain.value
    assert e.n == plain.n == 200
    assert e.ci_high - e.ci_low > 1.2 * (plain.ci_high - plain.ci_low)  # type: ignore[operator]
    assert e.method == "percentile bootstrap of 50 clusters, widened by t, 2000 resamples"


def test_few_clusters_are_said_and_one_has_no_interval() -> None:
    some = {"right": [1.0, 0, 1, 0] * 6, CLUSTER: [f"p{i // 2}" for i in range(24)]}
    (e,) = estimate(some, [mean_of("right")], units=range(24), seed=0).estimates
    assert "12 clusters, fewer than 30: the interval is uncertain" in e.note
    (alone,) = estimate({**some, CLUSTER: ["p"] * 24}, [mean_of("right")], units=range(24), seed=0).estimates
    assert alone.ci_low is None
    assert "fewer than two clusters" in alone.note


def test_proportions_are_bootstrapped_in_clusters_and_wilsons_where_all_agree() -> None:
    cluster = [f"p{i // 2}" for i in range(40)]

    def of(ok: list[float]) -> Estimate:
        return estimate({"ok": ok, CLUSTER: cluster}, [share_of("ok")], units=range(40), seed=0).estimates[0]

    mixed, halves, alike = of([1.0, 1, 1, 0] * 10), of([1.0, 0] * 20), of([1.0] * 40)
    assert "bootstrap of 20 clusters" in mixed.method
    # all clusters are half right: the bootstrap has no width, and Wilson's upper end for 0 of 20 clusters may be anything
    assert halves.method == alike.method == "Wilson over clusters, all agree"
    assert (halves.ci_low, halves.ci_high) == pytest.approx((0.4194, 0.5806), abs=1e-4)
    assert alike.ci_low == pytest.approx(0.8389, abs=1e-4)


def test_comparisons_swap_whole_clusters() -> None:
    generator = np.random.default_rng(4)
    shift = generator.normal(0.1, 0.3, size=12)
    a = {"x": np.repeat(shift, 20), CLUSTER: np.repeat(np.arange(12), 20).astype(str)}
    b = {"x": np.zeros(240), CLUSTER: a[CLUSTER]}
    ids = [f"q{i:03}" for i in range(240)]
    (clustered,) = compare_measures(a, b, [mean_of("x")], units_a=ids, units_b=ids, seed=0).comparisons
    (plain,) = compare_measures(
        {"x": a["x"]}, {"x": b["x"]}, [mean_of("x")], units_a=ids, units_b=ids, seed=0
    ).comparisons
    assert plain.p < 0.001  # type: ignore[operator]
    assert clustered.p > 0.05  # type: ignore[operator]
    assert clustered.difference == pytest.approx(plain.difference)
    assert (clustered.n_a, clustered.n_clusters) == (240, 12)
    assert clustered.least_p == pytest.approx(2 / 2**12)
    assert "240 units in 12 clusters" in clustered.words
    (one_sided,) = compare_measures(
        a, {"x": b["x"]}, [mean_of("x")], units_a=ids, units_b=ids, seed=0
    ).comparisons  # clusters that one side names hold for both
    assert (one_sided.p, one_sided.ci_low) == (clustered.p, clustered.ci_low)
    unpaired = compare_measures(a, b, [mean_of("x")], units_a=ids, units_b=ids, seed=0, paired=False).comparisons[0]
    assert unpaired.n_clusters == 12
    assert unpaired.p > 0.05  # type: ignore[operator]


def test_a_light_is_as_stable_as_its_clusters() -> None:
    bands = Bands.cut("red", 0.5, "green")
    columns = {"x": np.repeat([0.0, 1, 1], 40), CLUSTER: np.repeat(["p", "q", "r"], 40)}
    stable = joint_stability([Lit({"x": columns["x"]}, range(120), mean_of("x", bands=bands))], "green", seed=0)
    shaky = joint_stability([Lit(columns, range(120), mean_of("x", bands=bands))], "green", seed=0)
    assert stable > 0.99  # type: ignore[operator]
    assert shaky < 0.85  # type: ignore[operator]


def test_the_order_of_rows_changes_no_bit() -> None:
    columns = one_sample(np.random.default_rng(1))
    columns["right"] = columns["right"] * np.random.default_rng(2).random(200)
    ids = np.array([f"q{i:03}" for i in range(200)])
    order = np.random.default_rng(3).permutation(200)
    moved = {name: column[order] for name, column in columns.items()}
    first = estimate(columns, [mean_of("right")], units=ids, seed=0).estimates
    assert first == estimate(moved, [mean_of("right")], units=ids[order], seed=0).estimates


def test_codes_are_those_of_sorted_texts() -> None:
    for names in (["b", "a", "b", ""], [3, 10, 3], [1.5, 2.0, 1.5], ["1", 1, "10"]):
        expected = np.unique(np.asarray(names, dtype=str), return_inverse=True)
        found = codes(np.array(names, dtype=object) if names == ["1", 1, "10"] else names)
        assert found[0].tolist() == expected[0].tolist()
        assert found[1].tolist() == expected[1].tolist()


def test_codes_of_texts_of_arrow_are_the_same_ascending_or_not() -> None:
    for names in (["a", "b", "ba"], ["b", "a"], ["a", "a"], ["a"], ["A", "a", "é", "я", "中", "𝒜"]):
        found, at = codes(pd.Series(names, dtype="str"))
        expected, where = np.unique(np.array(names), return_inverse=True)
        assert (found.tolist(), at.tolist()) == (expected.tolist(), where.tolist())


def test_the_interval_is_widened_by_t_and_the_number_of_clusters() -> None:
    levels = [widened(n) for n in (2, 5, 20, 50, 1000)]
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] == pytest.approx(0.95, abs=1e-3)


@pytest.mark.parametrize(
    "names",
    [["a", "b", "c"], ["a", "a", "b", "é", "é"], ["b", "a", "b", "B"], ["one"], [], ["b", None, "a"]],
    ids=["ascending", "repeated", "in no order", "one", "none", "with a gap"],
)
def test_texts_of_arrow_have_the_codes_that_others_have(names: list[str | None]) -> None:
    column = pd.Series(names, dtype="str")
    found, places = codes(column)
    expected, at = np.unique([str(name) for name in column.dropna()], return_inverse=True)
    assert [str(name) for name in found][: len(expected)] == expected.tolist()
    assert np.asarray(places)[column.notna().to_numpy()].tolist() == at.tolist()
    assert how_many(column) == len(expected)
