"""The ranges behind the bars of a distribution."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.draw import bars
from evalbench.draw.bars import Behind, of_bar, ranges
from evalbench.draw.pictures import distribution
from evalbench.draw.style import picture
from evalbench.readers.where import parse

numbers = st.one_of(st.floats(-1e6, 1e6, allow_nan=False), st.integers(-9, 9).map(float), st.just(0.1))


def kept(found: list[tuple[str, str]], values: np.ndarray) -> list[int]:
    """How many values each range leaves, read as a filter."""
    counts = []
    for low, high in found:
        fits = np.ones(len(values), dtype=bool)
        for term in parse(of_bar("p", low, high)):
            fits &= values >= float(term.values[0]) if term.operator == ">=" else values < float(term.values[0])
        counts.append(int(fits.sum()))
    return counts


@given(st.lists(numbers, min_size=1, max_size=40), st.integers(1, 30), st.booleans())
def test_each_range_holds_what_its_bar_holds(given_values: list[float], bins: int, inner: bool) -> None:
    values = np.array(given_values)
    low, high = values.min(), values.max()
    edges = np.linspace(low, high if high > low else low + 1, bins + 1)
    if inner and bins > 2:
        edges = edges[1:-1]  # values outside are in no bar
    if len(np.unique(edges)) < len(edges):
        return
    counts = np.histogram(values, edges)[0]
    assert kept(ranges(values, edges, Behind("p")), values) == counts[counts > 0].tolist()


def test_ranges_are_of_the_column_where_what_is_drawn_is_scaled() -> None:
    assert ranges([10.0, 90.0], np.linspace(0, 100, 11), Behind("x", scale=0.01)) == [("", "0.2"), ("0.9", "")]
    assert ranges([5.0, 5.0], [0, 10], Behind("p")) == [("", "")]


def test_a_picture_carries_the_rows_whose_items_are_known() -> None:
    values = {"oak": [0.1, 0.2, np.nan, 0.9], "all & others": [0.5]}
    words = {"title": "A <title>", "xlabel": "p of an answer", "domain": (0, 1), "bins": 10}
    figure, alt = distribution(values, **words, behind={"oak": Behind("p", "model=oak")})
    assert json.loads(bars.of(figure)) == [["oak", "model=oak", "p", [["", "0.2"], ["0.2", "0.3"], ["0.9", ""]]]]
    assert ' data-bars="[[&quot;oak&quot;' in picture(figure, alt)
    plain = distribution(values, **words)
    assert bars.of(plain[0]) == ""
    assert "data-bars" not in picture(*plain)
    with pytest.raises(ValueError, match="no row of the picture: elm"):
        distribution(values, **words, behind={"elm": Behind("p")})


def test_a_value_that_rounding_carried_over_the_end_is_in_the_last_bar() -> None:
    figure, _ = distribution(
        {"a": [0.2, 1.0000000000000004]},
        title="Two values",
        xlabel="score of a text",
        domain=(0, 1),
        behind={"a": Behind("p")},
    )
    assert json.loads(bars.of(figure))[0][3] == [["", "0.23"], ["1", ""]]
