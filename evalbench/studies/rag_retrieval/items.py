"""Rankings to items: every figure of every query and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.kit.evidence import ABSENT
from evalbench.metrics import ranking, retrieval
from evalbench.studies.rag_retrieval import inputs
from evalbench.studies.rag_retrieval.figures import UNJUDGED, Figure, values_of

KEYS = ("id", "model")
NO_RELEVANT, NOT_IN_RUN = "no-relevant-passage", "not-in-run"
MEAN = "mean"


Ranked = tuple[Any, ranking.Rankings]
"""The ids of the judged queries, and a run's rankings."""


class Rules(NamedTuple):
    """How a ranking is read; see :func:`evalbench.studies.rag_retrieval.evaluate`."""

    relevant_from: float
    max_grade: float | None
    min_per_query: int
    ties: str
    tie_orders: int
    no_relevant: str
    absent: str
    seed: int


def by_run(items: pd.DataFrame) -> pd.DataFrame:
    """Rows of several parts of the queries in the order that they have in one: run by run."""
    return items.iloc[np.argsort(pd.factorize(items["model"])[0], kind="stable")].reset_index(drop=True)


def items_of(
    given: inputs.Given, rankings: Mapping[str, Ranked], figures: Sequence[Figure], ks: Sequence[int], rules: Rules
) -> pd.DataFrame:
    """One row per judged query and run.

    Returns: ``id``, ``model``, a column per figure, ``unjudged_at_K`` per depth, ``n_relevant``, ``n_ranked``,
    ``n_tied`` (passages that share their score), ``top_grade`` (of the first passage; NaN where it was not judged),
    ``row_absent`` (the run has no passage for it), ``unscored``, ``undefined``.
    """
    parts = []
    for name, (queries, found) in rankings.items():
        run = given.runs[name]
        values = values_of(found, figures, max_grade=rules.max_grade, min_per_query=rules.min_per_query)
        values |= {Figure(UNJUDGED, k).name: retrieval.unjudged_at_k(found, k) for k in ks}
        if rules.ties == MEAN and found.tied.any():
            _average(values, run, given.qrels, queries[found.tied > 0], found.tied > 0, figures, ks, rules)
        undefined = np.full(len(queries), "", dtype=object)
        without, missing = found.n_relevant == 0, found.ranked == 0
        for figure in figures:
            if rules.no_relevant == "zero" and figure.metric != "auc":
                values[figure.name] = np.where(without, 0.0, values[figure.name])
            if rules.absent == "skip":
                values[figure.name] = np.where(missing, np.nan, values[figure.name])
        if rules.no_relevant == "skip":
            undefined[without] = NO_RELEVANT
        if rules.absent == "skip":
            undefined[missing] = NOT_IN_RUN
        top = np.full(len(queries), np.nan)
        first = found.rank == 1
        top[found.query[first]] = found.grade[first]
        counts = {"n_relevant": found.n_relevant, "n_ranked": found.ranked, "n_tied": found.tied, "top_grade": top}
        counts |= {ABSENT: missing}
        parts.append(
            pd.DataFrame({"id": queries, "model": name, **values, **counts, "unscored": "", "undefined": undefined})
        )
    return pd.concat(parts, ignore_index=True)


def ranked(run: pd.DataFrame, qrels: pd.DataFrame, rules: Rules, *, order: int | None = None) -> Ranked:
    """The queries of the judgements and one run's rankings; ``order``: which of the random orders of equal scores."""
    ties: Any = "descending" if rules.ties == MEAN else rules.ties
    seed = rules.seed
    if order is not None:
        ties, seed = "random", rules.seed * 1_000_003 + order
    return ranking.ranked_run(run, qrels, relevant_from=rules.relevant_from, ties=ties, seed=seed)


def _average(
    values: dict[str, core.Floats],
    run: pd.DataFrame,
    qrels: pd.DataFrame,
    names: Any,
    at: Any,
    figures: Sequence[Figure],
    ks: Sequence[int],
    rules: Rules,
) -> None:
    """The means over random orders in place of the values of queries with equal scores."""
    own_run, own_qrels = (table[table["id"].isin(set(names))] for table in (run, qrels))
    total: dict[str, core.Floats] = {}
    for order in range(rules.tie_orders):
        _, found = ranked(own_run, own_qrels, rules, order=order)
        drawn = values_of(found, figures, max_grade=rules.max_grade, min_per_query=rules.min_per_query)
        drawn |= {Figure(UNJUDGED, k).name: retrieval.unjudged_at_k(found, k) for k in ks}
        total = {name: total.get(name, 0.0) + value for name, value in drawn.items()}
    for name, value in total.items():
        values[name] = values[name].copy()
        values[name][at] = value / rules.tie_orders
