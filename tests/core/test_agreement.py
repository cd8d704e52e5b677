"""Krippendorff's alpha and Cohen's kappa: refusals, a published example, brute force, scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from evalbench.core.agreement import clustered_alpha, cohen_kappa, krippendorff_alpha, weighted_alpha, weighted_kappa

nan = np.nan
# Krippendorff (2011), section D: four observers, twelve units, missing values.
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
)


def long(table):
    units = np.broadcast_to([f"u{i:03}" for i in range(table.shape[1])], table.shape)
    return units.ravel(), table.ravel()


def by_coincidences(table, level):
    """Alpha as defined, over the matrix of coincidences, one pair at a time."""
    values = np.unique(table[~np.isnan(table)])
    seen = np.zeros((len(values), len(values)))
    for column in table.T:
        unit = np.searchsorted(values, column[~np.isnan(column)])
        for i, a in enumerate(unit):
            for j, b in enumerate(unit):
                if i != j:
                    seen[a, b] += 1 / (len(unit) - 1)
    count = seen.sum(axis=1)
    n = count.sum()
    delta = np.zeros_like(seen)
    for a in range(len(values)):
        for b in range(len(values)):
            lo, hi = min(a, b), max(a, b)
            delta[a, b] = {
                "nominal": float(a != b),
                "interval": (values[a] - values[b]) ** 2,
                "ordinal": (count[lo : hi + 1].sum() - (count[a] + count[b]) / 2) ** 2,
            }[level]
    return 1 - (n - 1) * (seen * delta).sum() / (np.outer(count, count) * delta).sum()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: krippendorff_alpha(["a"], [1, 2]), "one unit for each rating"),
        (lambda: krippendorff_alpha(["a", "a"], [1, 2], "ratio"), "unknown level 'ratio'; one of nominal"),
        (lambda: krippendorff_alpha(["a", "a"], [1, np.inf], "interval"), "infinite"),
        (lambda: krippendorff_alpha(["a", "a"], ["good", "bad"], "ordinal"), "could not convert"),
        (lambda: cohen_kappa([1], [1, 2]), "two labels for each item"),
        (lambda: cohen_kappa([1], [1], "cubic"), "unknown weights 'cubic'"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_published_example(level, alpha):
    out = krippendorff_alpha(*long(PUBLISHED), level)
    assert round(out.value, 3) == alpha
    assert out.n == 11
    assert out.ci_low <= out.value <= out.ci_high
    assert "fewer than 20 units" in out.note


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    raters=st.integers(2, 5),
    units=st.integers(2, 15),
    missing=st.floats(0, 0.6),
    level=st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_agrees_with_coincidences(seed, raters, units, missing, level):
    g = np.random.default_rng(seed)
    table = g.choice([0.0, 1.0, 2.5, 7.0], (raters, units))
    table[g.random(table.shape) < missing] = nan
    out = krippendorff_alpha(*long(table), level, n_resamples=0)
    pairable = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    if out.value is None:
        assert pairable.shape[1] < 2 or len(np.unique(pairable[~np.isnan(pairable)])) < 2
    else:
        assert out.value == pytest.approx(by_coincidences(pairable, level), abs=1e-9)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_interval_is_that_of_resampled_units(level):
    g = np.random.default_rng(1)
    truth = g.integers(1, 6, 60)
    table = np.clip(truth + g.integers(-1, 2, (3, 60)), 1, 5).astype(float)
    out = krippendorff_alpha(*long(table), level, n_resamples=4000)
    again = [by_coincidences(table[:, g.integers(60, size=60)], level) for _ in range(300)]
    assert (out.ci_low, out.ci_high) == pytest.approx(np.quantile(again, [0.025, 0.975]), abs=0.05)


def test_many_ordered_levels_agree_with_coincidences_and_with_few():
    g = np.random.default_rng(5)
    table = np.round(g.normal(size=40) + 0.5 * g.normal(size=(3, 40)), 1)
    out = krippendorff_alpha(*long(table), "ordinal", n_resamples=3000)
    assert len(np.unique(table)) > 12
    assert out.value == pytest.approx(by_coincidences(table, "ordinal"))
    again = [by_coincidences(table[:, g.integers(40, size=40)], "ordinal") for _ in range(200)]
    assert (out.ci_low, out.ci_high) == pytest.approx(np.quantile(again, [0.025, 0.975]), abs=0.06)


@pytest.mark.parametrize(
    ("units", "ratings", "note"),
    [
        ([], [], "fewer than two units with two ratings"),
        (["a", "a"], [1, 2], "fewer than two units with two ratings"),
        (["a", "b", "c"], [1, 2, 3], "fewer than two units with two ratings"),
        (list("aabb"), [1, nan, 2, nan], "fewer than two units with two ratings"),
        (list("aabb"), [0.1] * 4, "all ratings are equal: chance disagreement is 0"),
    ],
)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_without_a_value_has_a_reason(units, ratings, note, level):
    assert krippendorff_alpha(units, ratings, level) == (
        None,
        None,
        None,
        krippendorff_alpha(units, ratings, level).n,
        "",
        note,
    )


def test_labels_may_be_text_with_gaps_and_order_changes_nothing():
    units = np.array(list("aaabbbccc"))
    labels = np.array(["yes", "yes", None, "no", "no", "yes", "no", "no", ""], dtype=object)
    order = np.random.default_rng(0).permutation(9)
    first, again = (krippendorff_alpha(units[o], labels[o], seed=3) for o in (np.arange(9), order))
    assert first == again
    codes = np.array([[1, 1, nan], [0, 0, 1], [0, 0, nan]]).T
    assert first.value == pytest.approx(by_coincidences(codes, "nominal"))


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(2, 5), st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_agrees_with_scikit_learn(seed, n, k, weights):
    a, b = np.random.default_rng(seed).integers(0, k, (2, n))
    out = cohen_kappa(a, b, weights, n_resamples=50)
    if len(np.unique([a, b])) == 1:
        assert (out.value, out.note) == (None, "only one label occurs: chance agreement is 1")
    else:
        assert out.value == pytest.approx(cohen_kappa_score(a, b, weights=weights), abs=1e-12)


def test_kappa_interval_is_that_of_resampled_items():
    g = np.random.default_rng(2)
    a = g.integers(0, 3, 120)
    b = np.where(g.random(120) < 0.7, a, g.integers(0, 3, 120))
    out = cohen_kappa(a, b, n_resamples=5000)
    peers = [cohen_kappa_score(a[i], b[i]) for i in g.integers(120, size=(600, 120))]
    assert (out.ci_low, out.ci_high) == pytest.approx(np.quantile(peers, [0.025, 0.975]), abs=0.03)


def test_kappa_leaves_missing_labels_out():
    out = cohen_kappa(["y", None, "n", "", "y"], ["y", "n", "n", "y", "n"], n_resamples=50)
    assert out.n == 3
    assert cohen_kappa([None], ["y"]).note == "no item was labelled by both"


ratings = st.sampled_from([0.0, 1.0, -1.0, 0.1, 1e150, nan])


@settings(max_examples=80)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), ratings, ratings), max_size=9),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_degenerate_ratings_give_a_value_or_a_reason(rows, level):
    units = np.array([r[0] for r in rows], dtype=str)
    first, second = (np.array([r[i] for r in rows], dtype=float) for i in (1, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alpha = krippendorff_alpha(
            np.concatenate([units, units]), np.concatenate([first, second]), level, n_resamples=20
        )
        kappa = cohen_kappa(first, second, n_resamples=20)
    for out in (alpha, kappa):
        assert (
            out.note
            if out.value is None or out.ci_low is None
            else np.isfinite([out.value, out.ci_low, out.ci_high]).all()
        )


def _gappy(levels: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    truth = rng.integers(levels, size=(30, 1))
    ratings = np.clip(truth + rng.integers(-1, 2, size=(30, 3)), 0, levels).astype(float)
    ratings[rng.uniform(size=ratings.shape) < 0.15] = np.nan
    return ratings


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("levels", [4, 20])
def test_weighted_alpha_is_alpha_of_the_repeated_units(level, levels):
    ratings = _gappy(levels)
    weights = np.random.default_rng(8).multinomial(30, [1 / 30] * 30, size=4).astype(float)
    found = weighted_alpha(ratings, level, weights)
    for value, row in zip(found, weights, strict=True):
        drawn = np.repeat(ratings, row.astype(int), axis=0)
        units = np.repeat(np.arange(len(drawn)), 3)
        expected = krippendorff_alpha(units, drawn.ravel(), level, n_resamples=0).value
        assert value == pytest.approx(expected, abs=1e-12)


def test_weighted_alpha_without_a_value():
    assert np.isnan(weighted_alpha(np.ones((4, 2)), "ordinal", np.ones((3, 4)))).all()
    assert np.isnan(weighted_alpha(np.arange(4.0)[:, None], "ordinal", np.ones((3, 4)))).all()


def test_weighted_kappa_is_kappa_of_the_repeated_items():
    a, b = _gappy(4)[:, :2].T
    weights = np.random.default_rng(9).multinomial(30, [1 / 30] * 30, size=4).astype(float)
    for value, row in zip(weighted_kappa(a, b, weights), weights, strict=True):
        drawn = (np.repeat(x, row.astype(int)) for x in (a, b))
        assert value == pytest.approx(cohen_kappa(*drawn, n_resamples=1).value, abs=1e-12)
    assert np.isnan(weighted_kappa([1.0, 1.0], [1.0, 1.0], np.ones((2, 2)))).all()
    assert np.isnan(weighted_kappa([1.0, 0.0], [np.nan, np.nan], np.ones((2, 2)))).all()


@pytest.mark.parametrize(("n", "low"), [(20, 0.68), (40, 0.82), (400, 0.98)])
def test_annotators_who_agree_on_all_units_have_an_interval_with_a_width(n, low):
    """Of n units that agree a share w may not, which takes w / D from an agreement of 1."""
    labels = np.arange(n) % 2
    alpha = krippendorff_alpha(np.repeat(np.arange(n), 2), np.repeat(labels, 2), "nominal")
    kappa = cohen_kappa(labels, labels)
    for found in (alpha, kappa):
        assert (found.value, found.ci_high, found.method) == (1.0, 1.0, "Wilson over units, all agree")
        assert found.ci_low == pytest.approx(low, abs=0.01)
        assert "width" not in found.note


def test_clusters_that_agree_bound_alpha_by_their_number():
    ratings = np.repeat(np.arange(40)[:, None] % 2, 2, axis=1).astype(float)
    found = krippendorff_alpha(np.repeat(np.arange(40), 2), ratings.ravel(), "nominal", n_resamples=0)
    few, many = (clustered_alpha(found, ratings, "nominal", np.arange(40) // size, 0, 200) for size in (5, 1))
    assert few.ci_low < many.ci_low < 1 == few.ci_high
