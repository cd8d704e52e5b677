"""Test 3: can a classifier tell requests of OOT from those of OOS, and by what?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.metrics import separability as by_text
from evalbench.studies.drift import lights

WAYS: Mapping[str, str] = {"gini": "words and characters", "gini_embedding": "embeddings"}
"""Figure → what its classifier sees."""


@dataclass(frozen=True)
class Separated:
    """What the classifiers left at each row, and how they know a side.

    - ``columns`` (mapping of str to (n,) arrays): Out-of-fold score and fold of each way, and the group of near-copies;
      NaN and the empty text for rows that were not drawn.
    - ``typical``: Ids of the most typical new requests.
    """

    columns: Mapping[str, Any]
    telling: pd.DataFrame
    classifiers: pd.DataFrame
    typical: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def separated(items: pd.DataFrame, vectors: Any, options: Mapping[str, Any]) -> Separated:
    """Both classifiers on the rows that have a response, in a fixed order."""
    current = (items["side"] == "oot").to_numpy()
    found = by_text.separated(
        items["question"].tolist(),
        current,
        vectors=vectors,
        clusters=items[core.clusters.CLUSTER].to_numpy() if core.clusters.CLUSTER in items else None,
        n_permutations=options["n_permutations"],
        seed=options["seed"],
        n_resamples=2,
    )
    columns: dict[str, Any] = {}
    rows = []
    for name, one in (("gini", found.by_text), ("gini_embedding", found.by_vectors)):
        if one is None:
            continue
        score, fold = (np.full(len(items), np.nan) for _ in range(2))
        score[found.used], fold[found.used] = one.scores, one.folds
        columns |= {f"{name}_score": score, f"{name}_fold": fold}
        rows.append(_row(name, one))
    group = np.full(len(items), "", dtype=object)
    group[found.used] = [str(g) for g in found.groups]
    names = {"current": "OOT", "reference": "OOS"}
    telling = pd.DataFrame(
        [
            {
                "feature": t.feature,
                "kind": t.kind,
                "side": names[t.side],
                "weight": t.weight,
                "oos": t.reference,
                "oot": t.current,
                "hint": t.hint,
            }
            for t in found.telling
        ],
        columns=["feature", "kind", "side", "weight", "oos", "oot", "hint"],
    )
    return Separated(
        {**columns, "copies": group},
        telling,
        pd.DataFrame(rows),
        items["id"].iloc[found.typical].tolist(),
        [f"Separability: {note}" for note in found.notes],
    )


def _row(name: str, one: core.separability.Separability) -> dict[str, Any]:
    return {
        "metric": name,
        "features": WAYS[name],
        "gini": math.nan if one.gini.value is None else one.gini.value,
        "p": one.p,
        "null_mean": one.null_mean,
        "n_permutations": one.n_permutations,
        "n_groups": one.n_groups,
        "note": "; ".join(filter(None, [one.gini.note if one.gini.value is None else "", one.note])),
    }


def gini_of(
    items: pd.DataFrame, name: str, *, seed: int, n_resamples: int
) -> tuple[core.stats.Measured, core.Floats, str]:
    """The Gini of the items' out-of-fold scores with its interval, its resamples, and why it has no light.

    Only rows of one fold are compared; near-copies (or clusters) are drawn together.
    """
    score = items[f"{name}_score"].to_numpy(dtype=float)
    judged = np.isfinite(score)
    rows = items[judged]
    side = (rows["side"] == "oot").to_numpy()
    fewest = min(int(side.sum()), int((~side).sum()))
    if not fewest:
        return (
            core.stats.Measured(None, note="no requests of both sides were judged"),
            np.empty(0),
            "no requests of both sides",
        )
    pairs = core.separability.WithinFolds(score[judged], side, rows[f"{name}_fold"].to_numpy(dtype=np.int64))
    value = float(pairs(np.ones((1, len(rows))))[0])
    why = f"fewer than {lights.LEAST_ROWS} rows on a side ({fewest})" if fewest < lights.LEAST_ROWS else ""
    if not math.isfinite(value):
        return (
            core.stats.Measured(None, note="no fold has requests of both sides"),
            np.empty(0),
            why or "no fold has both sides",
        )
    clustered = core.clusters.CLUSTER in rows
    units = rows[core.clusters.CLUSTER if clustered else "copies"].to_numpy(dtype=str)
    drawn = core.stats.bootstrap_weights(units, pairs, core.seeds.rng(seed, f"bootstrap/{name}"), n_resamples)
    n_units = len(np.unique(units))
    found = core.stats.with_interval(
        value, drawn, n=len(rows), n_units=n_units, clustered=n_units < len(rows), clusters=clustered
    )
    return found, drawn, why
