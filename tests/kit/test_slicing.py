"""Slices: a planted worst value, values tried for nothing, crossed with clusters, many, few, and hostile ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalbench.core.dealing import value_tests
from evalbench.core.measures import mean_of
from evalbench.core.result import Summary
from evalbench.draw.slices import slices_html
from evalbench.kit.slicing import MOST_VALUES, sliced
from evalbench.kit.verdicts import worst_group


def measures() -> tuple[Any, ...]:
    return (mean_of("score"),)


@sliced(measures=measures)
def summarise(items: pd.DataFrame, *, seed: int = 0, n_resamples: int = 200) -> Summary:
    return worst_group(items, measures(), "model", seed=seed, n_resamples=n_resamples)


def items_of(score: Any, **columns: Any) -> pd.DataFrame:
    n = len(score)
    return pd.DataFrame(
        {"id": [f"q{i:05}" for i in range(n)], "score": score, "unscored": "", "undefined": "", **columns}
    )


def test_the_planted_value_is_named_and_others_are_not() -> None:
    generator = np.random.default_rng(0)
    topic = np.array(["law", "art", "sport", "food", "news"])[np.arange(500) % 5]
    score = (generator.random(500) < np.where(topic == "law", 0.4, 0.8)).astype(float)
    found = summarise(items_of(score, **{"slice:topic": topic}))
    assert found.slices is not None
    assert "Worst by topic: law, score 0." in found.verdict.sentence
    assert "Holm p < 0.001 over 5 tests" in found.verdict.sentence
    # The rest of the others holds the planted value, so they may be better; none of them is worse.
    assert [s.name for s in found.slices.rows if s.p_holm is not None and s.p_holm <= 0.05 and s.worse_by > 0] == [
        "law"
    ]


@pytest.mark.slow
def test_values_that_mean_nothing_are_seldom_shown() -> None:
    shown = 0
    for i in range(20):
        generator = np.random.default_rng(i)
        names = generator.integers(0, 8, 240).astype(str)
        found = summarise(items_of(generator.random(240).round(), **{"slice:x": names}), n_resamples=10)
        shown += found.slices is not None and any((s.p_holm or 1) <= 0.05 for s in found.slices.rows)
    assert shown <= 4


def test_a_value_under_20_items_is_grey_and_not_tested() -> None:
    found = summarise(items_of([1.0] * 81 + [0.0] * 19, **{"slice:x": ["a"] * 81 + ["b"] * 19}))
    assert found.slices is not None
    rows = {s.name: s for s in found.slices.rows}
    assert (rows["b"].few, rows["b"].p) == (True, None)
    assert "Worst" not in found.verdict.sentence
    page = slices_html(
        {"slices": [s.row() for s in found.slices.rows], "by": [], "summary": [e.row() for e in found.estimates]}
    )
    assert page.count("eb-few") == 1


def test_10_000_values_are_capped_and_said() -> None:
    names = [f"v{i % 10_000}" for i in range(12_000)]
    found = summarise(items_of(np.arange(12_000) % 2.0, **{"slice:x": names}), n_resamples=20)
    assert found.slices is not None
    assert len(found.slices.rows) == MOST_VALUES
    assert (
        "x has 10000 values: the 40 with the most items are looked at apart, the 9960 others" in found.slices.notes[0]
    )


def test_values_within_clusters_are_dealt_within_them() -> None:
    """Every passage has an easy and a hard question: passages differ far more than questions do."""
    generator = np.random.default_rng(1)
    level = np.repeat(generator.normal(0, 1, 40), 4)
    hard = np.tile([0, 0, 1, 1], 40)
    score = level - 0.3 * hard + generator.normal(0, 0.1, 160)
    columns = {"cluster": np.repeat(np.arange(40), 4).astype(str), "slice:kind": np.where(hard, "hard", "easy")}
    found = summarise(items_of(score, **columns))
    assert found.slices is not None
    assert all(s.p_holm is not None and s.p_holm < 0.001 for s in found.slices.rows)
    nested = summarise(items_of(score, **{**columns, "slice:kind": np.repeat(np.tile(["x", "y"], 20), 4)}))
    assert nested.slices is not None
    assert all(s.p_holm is not None and s.p_holm > 0.01 for s in nested.slices.rows)


def test_hostile_values_are_text_on_the_page() -> None:
    names = np.where(np.arange(80) % 2, "<img src=x onerror=alert(1)>", "a" * 500)
    found = summarise(items_of(np.arange(80) % 2.0, **{"slice:<b>x</b>": names}))
    assert found.slices is not None
    rows = [s.row() for s in found.slices.rows]
    page = slices_html({"slices": rows, "by": [], "summary": [e.row() for e in found.estimates]})
    assert "<img" not in page
    assert "<b>x" not in page


@pytest.mark.parametrize("n", [4_000, 40_000])
def test_p_values_of_many_units_are_those_of_a_z_test(n: int) -> None:
    from scipy.stats import norm

    generator = np.random.default_rng(2)
    x, of = generator.random(n), generator.integers(0, 3, n)
    x[of == 0] += 2.2 / np.sqrt(n / 3) * 0.29
    table = np.stack([x, np.ones(n)], axis=1)
    found = value_tests(table, of, np.arange(n), lambda s: s[:, 0] / s[:, 1], np.random.default_rng(0))
    for j, p in enumerate(found):
        a, b = x[of == j], x[of != j]
        z = (a.mean() - b.mean()) / np.sqrt(x.var() * (1 / len(a) + 1 / len(b)))
        assert p == pytest.approx(2 * norm.sf(abs(z)), abs=0.02)
