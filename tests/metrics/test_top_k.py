"""Agreement of tops: worked by hand, by definition, and at its ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.errors import BadInput
from evalbench.metrics import top_k
from evalbench.metrics.top_k import top_agreement

PAIRS = st.integers(1, 7).flatmap(
    lambda k: st.lists(st.tuples(*[st.permutations(range(9)).map(lambda order: order[:k])] * 2), min_size=1, max_size=4)
)


def by_definition(a, b, k, p):
    one, other = set(a[:k]), set(b[:k])
    common = [len(set(a[:d]) & set(b[:d])) / d for d in range(1, k + 1)]
    rbo = common[-1] * p**k + (1 - p) / p * sum(x * p**d for d, x in enumerate(common, 1))
    return float(one == other), len(one & other) / k, len(one & other) / len(one | other), rbo


@given(PAIRS, st.sampled_from([0.5, 0.9, 0.98]))
def test_every_depth_is_as_defined(pairs, p):
    before, after = ([pair[i] for pair in pairs] for i in (0, 1))
    found = top_agreement(before, after, persistence=p)
    for row, (a, b) in enumerate(pairs):
        for k in range(1, len(a) + 1):
            expected = by_definition(a, b, k, p)
            assert [each[row, k - 1] for each in found] == pytest.approx(expected)
    assert (found.changed_strict >= found.changed_soft - 1e-12).all()
    assert (found.rbo <= 1 + 1e-12).all()


def test_the_document_s_table_is_of_unchanged_shares():
    before = np.arange(5)[None].repeat(2, axis=0)
    found = top_agreement(before, [[0, 1, 2, 3, 4], [0, 9, 2, 8, 7]])
    assert found.unchanged_strict.mean(axis=0).tolist() == [1.0, 0.5, 0.5, 0.5, 0.5]
    assert found.unchanged_soft.mean(axis=0).tolist() == pytest.approx([1.0, 0.75, 5 / 6, 0.75, 0.7])


def test_shorter_rankings_and_none():
    found = top_agreement([[1, -1, -1], [-1, -1, -1], [1, 2, -1]], [[1, -1, -1], [-1, -1, -1], [2, -1, -1]])
    assert found.unchanged_soft[0].tolist() == [1, 1, 1]
    assert found.rbo[0].tolist() == pytest.approx([1, 1, 1])
    assert np.isnan(found).all(axis=(0, 2))[1]
    assert found.unchanged_soft[2].tolist() == [0, 0.5, 0.5]
    assert found.jaccard[2].tolist() == [0, 0.5, 0.5]
    assert found.unchanged_strict[2].tolist() == [0, 0, 0]


def test_no_query_and_blocks(monkeypatch):
    assert top_agreement(np.empty((0, 3), int), np.empty((0, 3), int)).rbo.shape == (0, 3)
    order = np.random.default_rng(0).permuted(np.tile(np.arange(12), (50, 1)), axis=1)[:, :6]
    whole = top_agreement(order, order[::-1])
    monkeypatch.setattr(top_k, "_AT_ONCE", 100)
    parts = top_agreement(order, order[::-1])
    assert all((a == b).all() for a, b in zip(whole, parts, strict=True))


def test_all_faults_at_once():
    with pytest.raises(BadInput) as caught:
        top_agreement([[1, 1], [-1, 2]], [[1, 2, 3]], persistence=1)
    said = str(caught.value)
    for part in (
        "persistence must be between",
        "before: row 0: a passage is ranked twice",
        "row 1: a passage behind",
        "shape",
    ):
        assert part in said
    with pytest.raises(BadInput, match="1 dimensions"):
        top_agreement([1, 2], [[1, 2]])
