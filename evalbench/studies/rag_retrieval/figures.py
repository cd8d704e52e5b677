"""The figures of a ranking by their names: which function computes each, and what it is called at a depth."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from evalbench import core
from evalbench.metrics import ranking, registry

UNJUDGED = "unjudged"
NAMES: Mapping[str, tuple[str, str]] = {
    "ndcg": ("ndcg_at_k", "nDCG"),
    "ndcg_exponential": ("ndcg_at_k_exponential", "nDCG, exponential gain"),
    "ndcg_handbook": ("ndcg_at_k_handbook", "nDCG, handbook"),
    "average_precision": ("average_precision_at_k", "MAP"),
    "average_precision_min": ("average_precision_at_k_min", "MAP over min(R, k)"),
    "average_precision_handbook": ("average_precision_at_k_handbook", "MAP, handbook"),
    "mrr": ("mrr_at_k", "MRR"),
    "precision": ("precision_at_k", "precision"),
    "recall": ("recall_at_k", "recall"),
    "f1": ("f1_at_k", "F1"),
    "hit_rate": ("hit_rate_at_k", "hit rate"),
    "r_precision": ("r_precision", "R-precision"),
    "err": ("err_at_k", "ERR"),
    "err_handbook": ("err_at_k_handbook", "ERR, handbook"),
    "auc": ("auc_at_k", "AUC"),
}
"""Metric → the name of its card, and its words."""
FORMULAS: Mapping[str, str] = {
    "ndcg": "Σᵢ rel / log₂(i + 1) over the first k ranks i, divided by that of the best order of all judged passages",
    "ndcg_exponential": "as nDCG with 2^rel − 1 in place of rel",
    "ndcg_handbook": "Σᵢ r / log₂(i + 1), r = 1 where relevant, divided by Σᵢ 1 / log₂(i + 1) over the first k ranks",
    "average_precision": "precision at the rank of each relevant passage among the first k, summed, divided by R",
    "average_precision_min": "as MAP, divided by the fewer of R and k",
    "average_precision_handbook": "as MAP, divided by k",
    "mrr": "1 / rank of the first relevant passage among the first k, 0 without one",
    "precision": "relevant passages among the first k, divided by k",
    "recall": "relevant passages among the first k, divided by R",
    "f1": "2 × relevant passages among the first k, divided by k + R",
    "hit_rate": "1 where a relevant passage is among the first k, else 0",
    "r_precision": "relevant passages among the first R, divided by R",
    "err": "Σᵢ pᵢ / i × Π (1 − p) of the ranks before, p = (2^rel − 1) / 2^max_grade",
    "err_handbook": "as ERR with p = (2^rel − 1) / (2^max_grade − 1)",
    "auc": "pairs of a relevant and an irrelevant judged passage among the first k whose relevant one is first, equal scores half",
}
"""Metric → its value for one query; R: how many passages are relevant."""
NEED_SCALE = ("err", "err_handbook")
WITHOUT_K = ("r_precision",)
"""Metrics of the whole ranking, whatever k is."""


class Figure(NamedTuple):
    """A metric at a depth."""

    metric: str
    k: int

    @property
    def name(self) -> str:
        """Of its column and its estimate, such as ``ndcg_at_5``: that of its card, with the depth."""
        own = f"{UNJUDGED}_at_k" if self.metric == UNJUDGED else NAMES[self.metric][0]
        return own.replace("_at_k", f"_at_{self.k}")

    @property
    def words(self) -> str:
        """The metric at any depth, for people."""
        return "unjudged share" if self.metric == UNJUDGED else NAMES[self.metric][1]

    @property
    def title(self) -> str:
        return self.words if self.metric in WITHOUT_K else f"{self.words}@{self.k}"

    @property
    def card(self) -> registry.Card:
        return registry.card(NAMES[self.metric][0])


def figures_of(metrics: Sequence[str], ks: Sequence[int]) -> list[Figure]:
    """Every metric at every depth, each column once.

    Examples
    --------
    >>> [figure.name for figure in figures_of(["mrr", "r_precision"], [1, 3])]
    ['mrr_at_1', 'mrr_at_3', 'r_precision']
    """
    found = [Figure(metric, k) for metric in metrics for k in ks]
    return list({figure.name: figure for figure in reversed(found)}.values())[::-1]


def bare(name: str) -> str:
    """A metric's name from that of its card or of a figure.

    Examples
    --------
    >>> bare("ndcg_at_k_handbook"), bare("map_at_k"), bare("ndcg_at_5"), bare("mrr")
    ('ndcg_handbook', 'average_precision', 'ndcg', 'mrr')
    """
    by_card = {known: metric for metric, (own, _) in NAMES.items() for known in (own, *registry.card(own).aliases)}
    return by_card.get(re.sub(r"_at_\d+", "_at_k", str(name)), str(name))


def values_of(
    found: ranking.Rankings, figures: Sequence[Figure], *, max_grade: float | None, min_per_query: int
) -> dict[str, core.Floats]:
    """Each figure's value for each query."""
    options: dict[str, dict[str, Any]] = {name: {"max_grade": max_grade} for name in NEED_SCALE}
    options["auc"] = {"min_per_query": min_per_query}
    out = {}
    for figure in figures:
        function: Callable[..., core.Floats] = figure.card.function
        depth = None if figure.metric in WITHOUT_K else figure.k
        out[figure.name] = function(found, depth, **options.get(figure.metric, {}))
    return out
