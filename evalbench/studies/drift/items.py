"""What is measured of each row: its vector's neighbours and distances, the class of its response, what a classifier makes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalbench import core, kit
from evalbench.models.similarity.embed import embed as embedded
from evalbench.models.similarity.search import Search
from evalbench.studies.drift import inputs, separating

EXACT_UP_TO = 50_000
"""Labelled requests from which on neighbours are found by a graph (usearch), most of them and not all."""
RECALL_ROWS = 500
"""Requests by which the share of neighbours that a graph finds is measured."""
N_CLUSTERS = 10
_PER_CLUSTER = 30


@dataclass(frozen=True)
class Measured:
    """The items and what belongs to them."""

    items: pd.DataFrame
    separated: separating.Separated | None = None
    notes: list[str] = field(default_factory=list)


def items_of(rows: pd.DataFrame, key: npt.ArrayLike, options: Mapping[str, Any]) -> Measured:
    """One row per interaction and side.

    - ``rows``: ``side, id, question, answer`` and, where known, ``time`` and ``prediction``; in order of side and id.
    - ``key`` ((n,) array of float): The key metric, 0–1; NaN where there is no label.
    - ``options``: ``embed``, ``n_neighbours``, ``formula``, ``tests``, ``period``, ``size``, ``seed``,
      ``n_permutations``, ``n_resamples``.

    Returns: ``items``: also ``key``, ``period``, ``unscored``, ``undefined``, ``expected`` and ``similarity`` (local
    drift), ``part`` and distances (global drift), scores and folds out of the classifiers, ``prediction``.
    """
    unscored = kit.answers.why_unscored(rows["answer"].tolist())
    scored = unscored == ""
    items = pd.DataFrame(
        {
            "side": rows["side"],
            "id": rows["id"],
            **(
                {"time": rows["time"], "period": inputs.periods_of(rows["time"], options["period"])}
                if "time" in rows
                else {}
            ),
            "key": np.where(scored, np.asarray(key, dtype=float), np.nan),
            "question": rows["question"].fillna(""),
            "answer": rows["answer"],
            "unscored": unscored,
            "undefined": "",
        }
    )
    notes: list[str] = []
    for name in rows.columns:
        if name == core.clusters.CLUSTER or str(name).startswith(core.slices.SLICE):
            items[name] = rows[name]
    if "model" in rows:
        items["model"] = rows["model"].fillna("").astype(str)
    if "reference" in rows:
        items["reference"] = rows["reference"].fillna("").astype(str)
    if "prediction" in rows:
        items["prediction"] = rows["prediction"].fillna("").astype(str)
    known = items[scored]
    current = (known["side"] == "oot").to_numpy()
    vectors = None
    if options["embed"] and len(known):
        if {"separability", "local_drift", "global_drift"} & {*options["tests"]}:
            core.progress.at(f"vectors of {len(known)} requests")
            vectors = np.asarray(embedded(known["question"].tolist(), options["embed"]), dtype=np.float32)
        if "prediction" not in items and "statistics" in options["tests"] and (~current).sum() >= 2 * _PER_CLUSTER:
            core.progress.at(f"vectors of {len(known)} responses")
            of_responses = embedded(known["answer"].tolist(), options["embed"])
            clusters = clusters_of(np.asarray(of_responses, dtype=float), options["seed"])
            items["prediction"] = ""
            items.loc[scored, "prediction"] = [f"cluster {c + 1}" for c in clusters]
            notes.append(
                f"Predictions: the nearest of {clusters.max() + 1 if len(clusters) else 0} clusters of the responses of both samples "
                f"(k-means of vectors of {options['embed']}); a column prediction takes their place"
            )
    found: dict[str, Any] = {}
    if vectors is not None and current.any():
        labels = known["key"].to_numpy(dtype=float)
        labelled = np.isfinite(labels) & ~current
        if "local_drift" in options["tests"] and labelled.sum() >= 2:
            core.progress.at("neighbours of each request")
            columns, said = _local(vectors, labels, labelled, current, options["n_neighbours"], options["formula"])
            found |= columns
            notes += said
        if "global_drift" in options["tests"] and labelled.sum() >= 2 * core.global_drift.LEAST_SIZE:
            core.progress.at("distances of each request")
            found |= _global(vectors, labelled, current, options["size"], options["seed"])
    apart = None
    if "separability" in options["tests"] and len(known):
        core.progress.at("a classifier of both samples")
        apart = separating.separated(known, vectors, options)
        found |= apart.columns
        notes += apart.notes
    for name, values in found.items():
        whole = np.full(len(items), np.nan) if values.dtype.kind == "f" else np.full(len(items), "", dtype=object)
        whole[scored] = values
        items[name] = whole
    return Measured(items, apart, notes)


def _local(
    vectors: npt.NDArray[np.float32],
    labels: core.Floats,
    labelled: npt.NDArray[np.bool_],
    current: npt.NDArray[np.bool_],
    k: int,
    formula: core.local_drift.Formula,
) -> tuple[dict[str, core.Floats], list[str]]:
    """The expected quality of each request from its labelled neighbours in OOS, those of OOS without themselves; and how they were found."""
    among = vectors[labelled]
    y = labels[labelled]
    search, said = _graph(among, vectors[current], k) if len(among) > EXACT_UP_TO else (None, [])
    expected, similarity = np.full(len(vectors), np.nan), np.full(len(vectors), np.nan)
    for which, itself in ((labelled, True), (current, False)):
        places, near = _neighbours(vectors[which], among, k, search, itself=itself)
        expected[which] = core.local_drift.expected_quality(
            near, core.local_drift.labels_near(among, y, places, itself=itself), formula
        )
        similarity[which] = near.mean(axis=1)
    return {"expected": expected, "similarity": similarity}, said


def _graph(among: Any, asked: Any, k: int) -> tuple[Search, list[str]]:
    """A search among very many vectors, and what the page says of it: the share of the nearest that it finds."""
    from importlib.util import find_spec

    from evalbench.models.similarity.search import exact_nearest, graph_of, recall_against

    if find_spec("usearch") is None:
        return (lambda queries, n: exact_nearest(among, queries, n)), []
    search = graph_of(among)
    some = asked[np.unique(np.linspace(0, len(asked) - 1, min(len(asked), RECALL_ROWS)).astype(int))]
    recall = recall_against(search(some, k), exact_nearest(among, some, k))
    return search, [
        f"Local drift: neighbours among {core.wording.count(len(among))} labelled requests of OOS were found by a graph (usearch), which found "
        f"{math.floor(1000 * recall) / 10:g}% of the nearest ones of {core.counted(len(some), 'request')} of OOT"
    ]


def _neighbours(
    vectors: Any, among: Any, k: int, search: Search | None, *, itself: bool
) -> tuple[core.Ints, core.Floats]:
    """As :func:`evalbench.core.local_drift.nearest`; of very many by a search."""
    if search is None:
        return core.local_drift.nearest(vectors, among, k, itself=itself)
    found = search(vectors, min(k + itself, len(among)))
    if not itself:
        return found.places, found.scores
    own = found.places == np.arange(len(vectors))[:, None]
    own[~own.any(axis=1), -1] = True  # an equal one took its place
    kept = ~own
    shape = (len(vectors), found.places.shape[1] - 1)
    return found.places[kept].reshape(shape), found.scores[kept].reshape(shape)


def _global(
    vectors: Any, labelled: npt.NDArray[np.bool_], current: npt.NDArray[np.bool_], size: int, seed: int
) -> dict[str, Any]:
    """The half and sub-sample of each labelled request of OOS, and the distances of all others to the base."""
    place = np.flatnonzero(labelled)
    base, parts = core.global_drift.dealt(len(place), size, seed)
    part = np.full(len(vectors), "", dtype=object)
    part[place[base]] = "base"
    for number, rows in enumerate(parts, 1):
        part[place[rows]] = f"add {number}"
    asked = current | np.array([str(p).startswith("add") for p in part])
    distances = np.full((len(vectors), 3), np.nan)
    if asked.any() and len(base):
        distances[asked] = core.global_drift.of_rows(vectors[asked], vectors[place[base]])
    return {"part": part, **{name: distances[:, j].copy() for j, name in enumerate(DISTANCES)}}


DISTANCES: Sequence[str] = ("mean_distance", "mean_square_distance", "largest_distance")
"""Of a request to the base of OOS, 1 − cosine."""


def clusters_of(vectors: core.Floats, seed: int) -> core.Ints:
    """The cluster of each vector, by k-means of all, the most populous first.

    Of both samples together: clusters of one alone would fit it better, and a null that deals rows to both would not.

    - ``vectors`` ((n, d) array): Of unit length.

    Examples
    --------
    >>> two = np.array([[1.0, 0.0]] * 70 + [[0.0, 1.0]] * 40)
    >>> np.bincount(clusters_of(two, 0)).tolist()
    [70, 40]
    """
    from scipy.cluster.vq import kmeans2, vq

    k = max(1, min(N_CLUSTERS, len(vectors) // _PER_CLUSTER, len(np.unique(vectors.round(6), axis=0))))
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty cluster stays empty
        centres, _ = kmeans2(vectors, k, minit="++", rng=core.seeds.rng(seed, "clusters"))
    which, _ = vq(vectors, centres)
    sizes = np.bincount(which, minlength=k)
    rank = np.empty(k, dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(k)
    found: core.Ints = rank[which]
    return found
