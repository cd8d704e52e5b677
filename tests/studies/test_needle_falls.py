"""Falls of recall with depth: how often one is shown where there is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evalbench.studies.needle.grid import falls_of


@pytest.mark.slow
@pytest.mark.parametrize("needles", [4, 20])
def test_where_nothing_falls_a_fall_is_seldom_shown(needles):
    """By chance recall of 0.5 falls by far more than 0.2 somewhere."""
    draw = np.random.default_rng(5)
    shown, fallen = 0, 0
    for _ in range(60):
        grid = pd.DataFrame(
            {
                "needle": np.repeat([f"n{i}" for i in range(needles)], 5),
                "depth": np.tile([0, 0.25, 0.5, 0.75, 1.0], needles),
            }
        )
        items = grid.assign(model="m", haystack="", length=np.nan, recall=draw.integers(0, 2, len(grid)).astype(float))
        table = falls_of(items, 0.2, 0, 50)
        shown += bool(table["shown"].any())
        fallen += bool(table["depth"].notna().any())
    assert fallen > 25
    assert shown <= 8  # 3 expected


@pytest.mark.slow
def test_falls_of_documents_that_each_have_a_weak_place_are_seldom_shown():
    """Every document is weak at a depth of its own, for all its questions: over documents recall falls nowhere."""
    draw, shown, alone = np.random.default_rng(3), 0, 0
    depths = [0, 0.25, 0.5, 0.75, 1.0]
    for _ in range(60):
        weak = draw.integers(0, 5, 8)
        rows = [(f"d{d}", f"d{d}q{q}", depths[j], float(draw.random() < (0.2 if weak[d] == j else 0.9)))
                for d in range(8) for q in range(6) for j in range(5)]  # fmt: skip
        items = pd.DataFrame(rows, columns=["cluster", "needle", "depth", "recall"]).assign(
            model="m", haystack="", length=np.nan
        )
        shown += bool(falls_of(items, 0.2, 0, 20)["shown"].any())
        alone += bool(falls_of(items.drop(columns="cluster"), 0.2, 0, 20)["shown"].any())
    assert shown <= 6  # 3 expected
    assert alone > 12
