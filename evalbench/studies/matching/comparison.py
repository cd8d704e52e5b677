"""Checkers against each other, paired on the texts that both judged."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.compared import Comparison, best_compared, left_out_note
from evalbench.core.comparison import adjusted_together, compare_measures
from evalbench.studies.matching.summary import measures

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.core.result import Result

HEADLINE = ("f1", "match_score")
_LINES = 3


def compare_checkers(
    items: pd.DataFrame, *, light_on: str = "f1", seed: int = 0, n_resamples: int = 2000
) -> tuple[tuple[tuple[str, str], Comparison], ...]:
    """Every pair of checkers, or of the best of many, on the headline figures, the better one first, as one family of tests.

    Parameters
    ----------
    items : DataFrame
        One row per sample and checker.
    light_on : str
        The figure that orders the checkers; it is compared besides F1 and the match score.
    seed, n_resamples : int

    Returns
    -------
    tuple of ((str, str), Comparison)
        By figure, then by the checkers' rank; empty for a single checker.  p-values swap the two checkers' rows
        within texts; Holm's adjustment covers all pairs and figures.
    """
    listed = {f.metric: f for f in measures() if f.metric in {*HEADLINE, light_on}}
    rows = dict(iter(items.groupby("checker", sort=True)))
    ranking = listed[light_on]
    totals = items.groupby("checker", sort=True)[list(ranking.sums)].sum()
    value = dict(zip(totals.index, ranking.value(*totals.to_numpy(dtype=float).T), strict=True))
    ranked = sorted(rows, key=lambda c: (-np.nan_to_num(value[c], nan=-np.inf), c))
    found = []
    for a, b in combinations(best_compared(ranked), 2):
        compared = compare_measures(
            rows[a], rows[b], list(listed.values()), units_a=rows[a]["sample_id"], units_b=rows[b]["sample_id"],
            seed=seed, names=(a, b), n_resamples=n_resamples,
        )  # fmt: skip
        found += [((a, b), c) for c in compared.comparisons]
    order = list(listed)
    found.sort(key=lambda one: order.index(one[1].metric))
    pairs = [pair for pair, _ in found]
    return tuple(zip(pairs, adjusted_together([c for _, c in found], pairs), strict=True))


def comparison_table(compared: tuple[tuple[tuple[str, str], Comparison], ...]) -> pd.DataFrame:
    """One row per pair of checkers and figure, every number of the comparison."""
    import pandas as pd

    return pd.DataFrame([{"checker_a": a, "checker_b": b, **c.row()} for (a, b), c in compared])


def verdicts(compared: tuple[tuple[tuple[str, str], Comparison], ...], light_on: str, n_checkers: int = 0) -> list[str]:
    """The paired verdicts on one figure in words: all of a few pairs, of many only those of neighbouring rank; and who was left out."""
    own = [(pair, c) for pair, c in compared if c.metric == light_on]
    if len(own) > _LINES:
        ranked = list(dict.fromkeys(name for pair, _ in own for name in pair))
        neighbours = set(pairwise(ranked))
        own = [(pair, c) for pair, c in own if pair in neighbours]
    return [c.words for _, c in own] + list(filter(None, [left_out_note(n_checkers, "checkers", light_on)]))


def comparisons(result: Result) -> pd.DataFrame:
    """Every pair of checkers on the headline figures: difference, interval, Holm's p-value, the verdict in a word."""
    import pandas as pd

    from evalbench.core.wording import p_text

    table = result.tables.get("comparisons")
    if table is None:
        return pd.DataFrame(columns=["figure", "checker", "against", "difference", "p, Holm", "verdict"])
    rows = table.to_dict("records")
    return pd.DataFrame(
        {
            "figure": [r["metric"] for r in rows],
            "checker": [r["checker_a"] for r in rows],
            "against": [r["checker_b"] for r in rows],
            "difference": [_difference(r["difference"], r["ci_low"], r["ci_high"]) for r in rows],
            "p, Holm": [p_text(r["p_holm"]) for r in rows],
            "verdict": [r["outcome"] for r in rows],
            "80 % power for": [r["smallest"] for r in rows],
        }
    )


def _difference(value: float, low: float, high: float) -> str:
    from evalbench.core.wording import difference_parts

    return "–" if np.isnan(value) else " ".join(difference_parts(value, low, high))
