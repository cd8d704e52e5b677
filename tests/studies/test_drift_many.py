"""Local drift among very many labelled requests: neighbours by a graph, and what the page says of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drifted import small

from evalbench.core.local_drift import expected_quality, labels_near, nearest
from evalbench.studies.drift import items

N_OOS, N_OOT, WIDTH, TOPICS = 15_400, 2_000, 48, 300


def planted() -> tuple[Any, Any, Any]:
    """Vectors of topics, a fifth of which are answered badly; OOT asks twice as much about these."""
    rng = np.random.default_rng(5)
    centres = rng.standard_normal((TOPICS, WIDTH))
    bad = np.arange(TOPICS) < TOPICS // 5
    weight = np.where(bad, 2.0, 1.0)
    topic = np.concatenate([rng.integers(0, TOPICS, N_OOS), rng.choice(TOPICS, N_OOT, p=weight / weight.sum())])
    vectors = (centres[topic] + 0.7 * rng.standard_normal((len(topic), WIDTH))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    right = (rng.random(len(topic)) < np.where(bad[topic], 0.1, 0.95)).astype(float)
    return vectors, right, np.arange(len(topic)) >= N_OOS


@pytest.mark.slow
def test_the_graph_shows_a_planted_local_drift_as_the_exact_search_does(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, right, current = planted()
    monkeypatch.setattr(items, "EXACT_UP_TO", 15_000)  # of 50 000, which take the exact search minutes
    found, (said,) = items._local(vectors, right, ~current, current, 5, "weighted")
    among, y = vectors[~current], right[~current]
    asked = np.flatnonzero(~current)[::50]  # every 50th of OOS
    places, near = nearest(vectors[current], among, 5)
    of_oot = expected_quality(near, labels_near(among, y, places))
    wide, close = nearest(vectors[asked], among, 6)
    own = wide == asked[:, None]
    assert own.any(axis=1).all()
    kept = (~own).reshape(-1)
    shape = (len(asked), 5)
    of_oos = expected_quality(close.reshape(-1)[kept].reshape(shape), y[wide.reshape(-1)[kept].reshape(shape)])
    drop = {
        "exact": of_oos.mean() - of_oot.mean(),
        "graph": found["expected"][asked].mean() - found["expected"][current].mean(),
    }
    planted_drop = right[~current].mean() - right[current].mean()
    assert drop["graph"] == pytest.approx(drop["exact"], abs=0.002)
    assert drop["graph"] == pytest.approx(planted_drop, abs=0.03)
    assert drop["graph"] > 0.08
    assert np.mean(np.abs(found["expected"][current] - of_oot) < 1e-6) > 0.9
    assert found["similarity"][current].mean() == pytest.approx(near.mean(), abs=1e-3)
    recall = float(said.partition("which found ")[2].partition("%")[0])
    assert recall >= 95
    assert said.startswith(
        "Local drift: neighbours among 15\u202f400 labelled requests of OOS were found by a graph (usearch)"
    )


def test_the_page_says_that_a_graph_was_searched_and_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"embed": "use-multilingual", "tests": ["local_drift"]}
    exact = small(**options)
    monkeypatch.setattr(items, "EXACT_UP_TO", 100)
    graph = small(**options)
    assert not any("graph" in note for note in exact.notes)
    assert any(note.endswith("of the nearest ones of 80 requests of OOT") for note in graph.notes)
    assert graph.estimate("expected_drop").value == pytest.approx(exact.estimate("expected_drop").value, abs=1.0)
