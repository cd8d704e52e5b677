"""Two runs compared value by value: clusters and slices of one side hold for both, and Simpson's paradox is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalbench.compare.sides import Side
from evalbench.compare.slices import by_value, with_grouping
from evalbench.core.comparison import compare_measures
from evalbench.core.measures import mean_of

RESULTS: dict[str, Any] = {"by": [], "id": "id", "summary": [], "parameters": {}}
SIZING: dict[str, Any] = {"unit": "id", "paired": False, "seed": 0, "n_resamples": 100}


def side(name: str, easy: tuple[int, int], hard: tuple[int, int]) -> Side:
    """A run with so many right of so many easy and hard items."""
    right = np.concatenate([np.arange(n) < k for k, n in (easy, hard)]).astype(float)
    topic = ["easy"] * easy[1] + ["hard"] * hard[1]
    items = pd.DataFrame({"id": [f"{name}{i}" for i in range(len(right))], "right": right, "slice:topic": topic})
    return Side(name, RESULTS, {}, items, name=name)


def test_the_whole_and_every_value_in_opposite_directions_are_named() -> None:
    # Charig et al. 1986, treatments of kidney stones: each better within sizes, worse over all.
    a, b = side("fern", (81, 87), (192, 263)), side("oak", (234, 270), (55, 80))
    options: dict[str, Any] = {"units_a": a.items["id"], "units_b": b.items["id"], "seed": 0, "paired": False}
    (whole,) = compare_measures(a.items, b.items, [mean_of("right")], **options).comparisons
    values, notes = by_value(b, a, [({}, ({}, {}))], mean_of("right"), [({}, whole)], **SIZING)
    assert [v.name for v in values] == ["hard", "easy"] or [v.name for v in values] == ["easy", "hard"]
    assert notes[0].startswith("Simpson's paradox by topic: right of fern is lower than that of oak over all items")
    assert "and higher within each of 2 values" in notes[0]
    same = by_value(b, b, [({}, ({}, {}))], mean_of("right"), [({}, whole)], **SIZING)[1]
    assert not [note for note in same if "Simpson" in note]


def test_columns_of_one_run_hold_for_both() -> None:
    items = pd.DataFrame({"id": ["a", "b"], "right": [1.0, 0.0]})
    plain = Side("p", RESULTS, {}, items)
    grouped = Side("g", RESULTS, {}, items.assign(**{"cluster": ["x", "x"], "slice:topic": ["u", "v"]}))
    for one, other in (with_grouping(plain, grouped, "id"), with_grouping(grouped, plain, "id")):
        assert list(one.items["cluster"]) == list(other.items["cluster"]) == ["x", "x"]
        assert list(one.items["slice:topic"]) == list(other.items["slice:topic"]) == ["u", "v"]
