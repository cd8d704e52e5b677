"""The nearest vectors: exactly those of a full sort, by the graph nearly all of them."""

from __future__ import annotations

import numpy as np
import pytest

from evalbench.errors import BadInput, ModelUnavailable
from evalbench.models.similarity import search
from evalbench.models.similarity.search import exact_nearest, graph_of, recall_against


def unit(n: int, d: int, seed: int) -> np.ndarray:
    made = np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def sorted_out(vectors: np.ndarray, queries: np.ndarray, k: int) -> np.ndarray:
    cosines = (queries.astype(float) @ vectors.astype(float).T).round(7)
    return np.argsort(-cosines, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize(
    ("n", "k", "block", "queries"), [(500, 10, 64, 7), (64, 1, 64, 1024), (65, 20, 16, 3), (10, 30, 4, 5), (1, 1, 4, 1)]
)
def test_the_nearest_are_those_of_a_full_sort(n, k, block, queries, monkeypatch):
    monkeypatch.setattr(search, "BLOCK", block)
    monkeypatch.setattr(search, "QUERIES", queries)
    vectors, asked = unit(n, 24, 1), unit(40, 24, 2)
    found = exact_nearest(vectors, asked, k)
    assert found.places.tolist() == sorted_out(vectors, asked, k).tolist()
    exact = np.take_along_axis(asked.astype(float) @ vectors.astype(float).T, found.places, 1)
    assert np.allclose(found.scores, exact, atol=1e-6)


def test_vectors_that_come_nearer_from_block_to_block(monkeypatch):
    monkeypatch.setattr(search, "BLOCK", 16)
    vectors, asked = unit(300, 8, 3), np.repeat(unit(1, 8, 4), 5, axis=0)
    rising = vectors[np.argsort(vectors @ asked[0])]
    assert exact_nearest(rising, asked, 6).places.tolist() == sorted_out(rising, asked, 6).tolist()


def test_of_equal_vectors_the_first_come_first():
    vectors = np.repeat(np.eye(3, dtype=np.float32), 4, axis=0)
    assert exact_nearest(vectors, np.eye(3, dtype=np.float32), 3).places.tolist() == [[0, 1, 2], [4, 5, 6], [8, 9, 10]]


def test_a_blank_text_is_near_to_nothing():
    found = exact_nearest(np.zeros((3, 4), np.float32), np.zeros((1, 4), np.float32), 2)
    assert (found.places.tolist(), found.scores.tolist()) == ([[0, 1]], [[0.0, 0.0]])


def test_nothing_to_search_and_nothing_asked():
    assert exact_nearest(np.empty((0, 4)), unit(2, 4, 0), 3).places.shape == (2, 0)
    assert exact_nearest(unit(2, 4, 0), np.empty((0, 4)), 3).places.shape == (0, 2)


@pytest.mark.parametrize(
    ("vectors", "queries", "k", "faults"),
    [
        (np.eye(2), np.eye(2), 0, ["k must be a whole number from 1, got 0"]),
        (np.eye(2), np.eye(2), -1, ["k must be a whole number from 1, got -1"]),
        (np.eye(2), np.eye(3), 1, ["vectors of 2 and queries of 3 numbers"]),
        (np.eye(2)[0], np.eye(2), 1, ["vectors must be a table of rows, got an array of 1 dimensions"]),
        (
            np.array([[np.nan, 1], [0, 1]]),
            np.array([[np.inf, 1]]),
            1.5,
            [
                "k must be a whole number from 1, got 1.5",
                "vectors: 1 rows hold numbers that are not finite",
                "queries: 1 rows hold numbers that are not finite",
            ],
        ),
    ],
)
def test_what_cannot_be_searched_is_refused_all_at_once(vectors, queries, k, faults):
    with pytest.raises(BadInput) as caught:
        exact_nearest(vectors, queries, k)
    assert list(caught.value.faults) == faults


def test_the_graph_finds_nearly_all_and_a_second_one_the_same():
    vectors, asked = unit(3000, 16, 5), unit(50, 16, 6)
    found, again = (graph_of(vectors)(asked, 10) for _ in range(2))
    true = exact_nearest(vectors, asked, 10)
    assert recall_against(found, true) > 0.95
    assert found.places.tolist() == again.places.tolist()
    assert (np.diff(found.scores, axis=1) <= 1e-7).all()
    exact = np.take_along_axis(asked @ vectors.T, found.places, 1)
    assert np.allclose(found.scores, exact, atol=1e-5)


@pytest.mark.parametrize("n", [1, 5, 200])
def test_the_graph_of_few_or_of_equal_vectors_gives_as_many_as_there_are(n):
    found = graph_of(np.repeat(unit(1, 8, 0), n, axis=0))(unit(3, 8, 1), 10)
    assert found.places.shape == (3, min(n, 10))
    assert all(len(set(row)) == len(row) for row in found.places.tolist())


def test_without_its_package_the_graph_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(search, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'evalbench\[ml\]'"):
        graph_of(np.eye(2))


def test_recall_is_the_share_that_is_as_near_as_the_true_ones():
    true = search.Nearest(np.array([[2, 3, 4]]), np.array([[0.9, 0.8, 0.8]]))
    found = search.Nearest(np.array([[2, 7, 1]]), np.array([[0.9, 0.8, 0.5]]))
    assert recall_against(found, true) == pytest.approx(2 / 3)
    assert np.isnan(
        recall_against(search.Nearest(np.empty((0, 3)), np.empty((0, 3))), found._replace(scores=np.empty((0, 3))))
    )
