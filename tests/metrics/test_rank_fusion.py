"""Rankings fused: against sums by hand, and what cannot be fused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbench.errors import BadInput
from evalbench.metrics.rank_fusion import fused

RANKINGS = st.integers(1, 4).flatmap(
    lambda depth: st.lists(
        st.lists(st.integers(0, 9), min_size=depth, max_size=depth, unique=True), min_size=1, max_size=4
    )
)


@settings(max_examples=200, deadline=None)
@given(RANKINGS, st.integers(1, 12))
def test_reciprocal_ranks_are_summed(rankings, k):
    sums: dict[int, float] = {}
    for ranking in rankings:
        for rank, passage in enumerate(ranking, 1):
            sums[passage] = sums.get(passage, 0) + 1 / (60 + rank)
    found = fused(rankings, k).tolist()
    assert len(found) == min(k, len(sums)) == len(set(found))
    assert [round(sums[p], 12) for p in found] == sorted((round(s, 12) for s in sums.values()), reverse=True)[:k]


def test_one_ranking_stays_as_it_is():
    for how in ("rrf", "union"):
        assert fused([[5, 3, 9]], 2, how).tolist() == [5, 3]


def test_the_union_goes_by_the_best_rank_then_by_the_order_of_the_rankings():
    assert fused([[1, 2, 3], [4, 1, 5], [6, 2, 7]], 9, "union").tolist() == [1, 4, 6, 2, 3, 5, 7]


def test_places_without_a_passage_are_passed_over():
    assert fused([[1, -1, -1], [2, 1, -1]], 5).tolist() == [1, 2]
    assert fused(np.full((2, 3), -1), 5).tolist() == []


def test_what_cannot_be_fused_is_refused_all_at_once():
    with pytest.raises(BadInput) as caught:
        fused([1, 2], 0, "sum", -1)
    assert list(caught.value.faults) == [
        "fusion must be one of rrf, union; got 'sum'",
        "k must be at least 1, got 0",
        "constant must be at least 0, got -1",
        "rankings must be a table, one a row; got 1 dimensions",
    ]
