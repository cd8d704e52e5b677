"""Test 2: how far the texts of OOT are from those of OOS, by statistics that need no label."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.metrics.text_statistics import TextStatistics, text_statistics
from evalbench.studies.drift import lights

PARTS = ("response", "request")
COLUMNS: Mapping[str, str] = {"response": "answer", "request": "question"}
"""Part → the column that holds it."""
NAMES: Mapping[str, str] = {
    lights.STOP: "share of stop-words",
    lights.FREQUENCIES: "token frequencies",
    lights.COUNTS: "number of tokens",
    lights.NEW: "new tokens",
    lights.PREDICTIONS: "predictions",
}
_OF_PART: Mapping[str, tuple[str, ...]] = {
    "response": (lights.STOP, lights.FREQUENCIES, lights.COUNTS, lights.NEW, lights.PREDICTIONS),
    "request": (lights.STOP, lights.FREQUENCIES, lights.COUNTS, lights.NEW),
}

UNCHANGING = "every token is one of {}, so that their share says nothing: name languages"


@dataclass(frozen=True)
class Statistic:
    """One statistic of requests or of responses.

    - ``name``: Of :data:`NAMES`.
    - ``part`` ({"response", "request"})
    - ``value``: What the light is of: the index beyond its null's mean, the index, or for new tokens their increase;
      NaN without one.
    - ``index``: None for new tokens.
    - ``share``, ``expected``: Of new tokens, in OOT and between halves of OOS.
    - ``drawn`` ((r,) array of float): The value in resamples, moved so that their mean is the value: resamples of a
      sample are further apart than samples.
    - ``n``: Rows of both sides behind it.
    - ``why``: Why there is no value, or too few rows for a light.
    """

    name: str
    part: str
    value: float
    index: core.psi.Psi | None = None
    share: float = math.nan
    expected: float = math.nan
    drawn: core.Floats = field(default_factory=lambda: np.empty(0), repr=False)
    n: int = 0
    why: str = ""

    @property
    def metric(self) -> str:
        return f"{self.name}_{self.part}s"

    @property
    def title(self) -> str:
        return f"{NAMES[self.name]}, {self.part}s"


def texts_of(items: pd.DataFrame, part: str, *, languages: Any = (), seed: int = 0) -> TextStatistics:
    """What the texts of one part look like, OOS being the reference."""
    ids = (items["side"] + "/" + items["id"]).tolist()
    return text_statistics(
        items[COLUMNS[part]].tolist(), (items["side"] == "oot").to_numpy(), ids, languages=tuple(languages), seed=seed
    )


def statistics_of(
    items: pd.DataFrame,
    weights: core.Floats,
    blocks: core.Ints,
    *,
    languages: Any = (),
    psi_light_on: str = "excess",
    new_tokens: str = "increase",
    n_bins: int = core.psi.N_BINS,
    epsilon: float = core.psi.EPSILON,
    n_permutations: int = core.psi.N_PERMUTATIONS,
    parts: Sequence[str] = PARTS,
    seed: int = 0,
) -> list[Statistic]:
    """Every statistic, of responses first.

    - ``items``: Rows of both sides that have a response, in a fixed order.
    - ``weights`` ((r, n) array): How often each row is drawn in each resample; none: no intervals.
    - ``blocks`` ((n,) array of int): Rows of one block and side are dealt together.
    - ``languages``, ``psi_light_on``, ``new_tokens``, ``n_bins``, ``epsilon``, ``n_permutations``, ``seed``: See
      :func:`evalbench.studies.drift.evaluate`.
    - ``parts`` (sequence of {"response", "request"})
    """
    side = (items["side"] == "oot").to_numpy()
    few = min(int(side.sum()), int((~side).sum()))
    why = f"fewer than {lights.LEAST_ROWS} rows on a side ({few})" if few < lights.LEAST_ROWS else ""
    dealt = 2 * blocks + side
    sizes: dict[str, Any] = {"epsilon": epsilon, "n_permutations": n_permutations, "blocks": dealt}
    found = []
    for part in parts:
        texts = texts_of(items, part, languages=languages, seed=seed) if few else None
        for name in _OF_PART[part]:
            if name == lights.PREDICTIONS and "prediction" not in items:
                continue
            place = core.seeds.rng(seed, f"psi/{name}/{part}")
            if texts is None:
                found.append(Statistic(name, part, math.nan, why="a side has no rows"))
            elif name == lights.NEW:
                found.append(_new(texts, part, side, weights, new_tokens, why))
            elif name in (lights.STOP, lights.COUNTS):
                numbers = texts.stop_share if name == lights.STOP else texts.n_tokens
                if name == lights.STOP and np.isfinite(numbers).any() and not (numbers < 1).any():
                    found.append(Statistic(name, part, math.nan, why=why or UNCHANGING.format(texts.stop_words.source)))
                    continue
                index = core.psi.psi_of_numbers(numbers, side, place, n_bins=n_bins, **sizes)
                known = np.isfinite(numbers)
                where = np.searchsorted(index.edges, np.where(known, numbers, 0), side="right")
                found.append(
                    _psi(name, part, index, _one_hot(where, known), side, weights, psi_light_on, why, int(known.sum()))
                )
            else:
                rows = texts.counts if name == lights.FREQUENCIES else _of_categories(items["prediction"])
                index = core.psi.psi_of_counts(rows, side, place, **sizes)
                n = int((np.asarray(rows.sum(axis=1)).ravel() > 0).sum())
                found.append(_psi(name, part, index, rows, side, weights, psi_light_on, why, n))
    return found


def _psi(
    name: str,
    part: str,
    index: core.psi.Psi,
    rows: Any,
    side: core.Bools,
    weights: core.Floats,
    light_on: str,
    why: str,
    n: int,
) -> Statistic:
    value = index.excess if light_on == "excess" else index.value
    if not math.isfinite(value):
        return Statistic(name, part, math.nan, index, n=n, why=why or "a side has no token")
    drawn = np.empty(0)
    if len(weights):
        now, then = (np.asarray((rows.T @ (weights * of).T).T, dtype=float) for of in (side, ~side))
        drawn = core.psi.psi(then, now, index.epsilon)
        drawn = drawn - np.nanmean(drawn) + value if np.isfinite(drawn).any() else np.empty(0)
    return Statistic(name, part, value, index, drawn=drawn, n=n, why=why)


def _new(texts: TextStatistics, part: str, side: core.Bools, weights: core.Floats, kind: str, why: str) -> Statistic:
    share, expected = texts.new.share, texts.new.expected
    value = texts.new.increase if kind == "increase" else texts.new.ratio - 1
    n = int(np.isfinite(texts.n_tokens).sum())
    if not math.isfinite(value):
        reason = (
            "no two rows of OOS with tokens" if kind == "increase" else "the halves of OOS lack no token of each other"
        )
        return Statistic(lights.NEW, part, math.nan, None, share, expected, n=n, why=why or reason)
    drawn = np.empty(0)
    if len(weights):
        own = weights[:, side]
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = own @ np.nan_to_num(texts.n_new[side]) / (own @ np.nan_to_num(texts.n_tokens[side]))
        drawn = shares - expected if kind == "increase" else shares / expected - 1
    return Statistic(lights.NEW, part, value, None, share, expected, drawn, n, why)


def _one_hot(where: core.Ints, known: core.Bools) -> Any:
    from scipy.sparse import csr_matrix

    rows = np.flatnonzero(known)
    return csr_matrix((np.ones(len(rows)), (rows, where[rows])), shape=(len(where), int(where.max(initial=0)) + 1))


def _of_categories(cells: pd.Series) -> Any:
    """A row for each cell, a column for each category; an empty cell has none."""
    names = cells.fillna("").to_numpy(dtype=str)
    known = names != ""
    _, where = np.unique(names, return_inverse=True)
    return _one_hot(where.astype(np.int64), known)
