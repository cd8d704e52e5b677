"""Tables of a human-correlation result: every coefficient, comparisons of metrics, agreement, plans."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from evalbench import core
from evalbench.studies.human_correlation import panels
from evalbench.studies.human_correlation.pairs import pairs_table

DEFINITIONS = {
    "spearman": "Pearson's r of midranks",
    "kendall": "tau-b: (C − D) / √((C + D + T_metric)(C + D + T_human))",
    "pearson": "covariance over the product of the standard deviations",
    "partial_spearman": "ranks first: Pearson's r of what is left of the ranks when each system's mean rank is taken off",
    "residual_spearman": "values first: Spearman of what is left of the values when each system's mean is taken off; "
    "in its resamples the means stay",
    "partial_pearson": "Pearson's r of what is left of the values when each system's mean is taken off",
}
# A difference of correlations below this is rounding.
_ROUNDING = 1e-12
_CORRELATION = [
    "scorer", "criterion", "level", "coefficient", "value", "ci_low", "ci_high", "n_of", "n", "n_unscored",
    "n_undefined", "agreement_is", "note", "definition",
]  # fmt: skip
_COMPARISON = [
    "criterion",
    "scorer_a",
    "scorer_b",
    "level",
    "test",
    "coefficient",
    "difference",
    "ci_low",
    "ci_high",
    "p",
]
_PLAN = [
    "scorer", "model_a", "model_b", "difference", "sd_over_documents", "documents_needed", "documents_here", "note",
]  # fmt: skip


def tables_of(panel: panels.Panel, trusted: Sequence[str], against: float) -> dict[str, pd.DataFrame]:
    """All tables of a panel; of one without a metric the agreement alone.

    - ``against``: The correlation that labels are planned against.
    """
    core.progress.at("comparisons of metrics, agreement, how many labels are needed")
    of_metrics = {
        "correlations": correlation_frame,
        "comparisons": comparison_table,
        "pairs": pairs_table,
        "label_plan": lambda panel: label_plan(panel, against),
        "system_plan": system_plan,
    }
    found = {name: table(panel) for name, table in of_metrics.items()} if panel.scorers else {}
    return {**found, "agreement": agreement_table(panel, trusted)}


def _floats(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Columns of numbers that may all be None."""
    return frame.astype(dict.fromkeys(names, float))


def correlation_frame(panel: panels.Panel) -> pd.DataFrame:
    """Every metric × criterion × level × coefficient with its interval, or why it has no value."""
    named: list[Any] = [
        (level, kind) for level in core.correlation_table.LEVELS for kind in core.correlation_table.KINDS
    ]
    named += [("dataset", kind) for kind in core.correlation_table.PARTIAL] if panel.has_systems else []
    rows: list[dict[str, Any]] = []
    for i, j in panel.cells:
        for level, kind in named:
            found, counted = panel.measured(i, j, level, kind), panel.counted(i, j, level, kind)
            agreeing = "negative" if panel.signs[i] < 0 else "positive"
            cell = {"scorer": panel.scorers[i], "criterion": panel.criteria[j], "level": level, "coefficient": kind}
            cell |= {"n_of": panels.UNITS[level], "agreement_is": agreeing, "definition": DEFINITIONS[kind]}
            rows.append({**cell, **found._asdict(), **counted._asdict()})
    return _floats(pd.DataFrame(rows)[_CORRELATION], "value", "ci_low", "ci_high")


def comparison_table(panel: panels.Panel) -> pd.DataFrame:
    """Which of two metrics agrees better with people: difference of agreement (of a lower-is-better metric, the negative).

    Summary and dataset level: paired bootstrap over documents; p from Student's t of its standard error, widened by
    √(n / (n − 1)), with n − 1 degrees of freedom for n documents.  System level: Williams' test.  Holm over the pairs of
    metrics of one criterion at one level.

    References
    ----------
    Hesterberg (2015), What teachers should know about the bootstrap, American Statistician 69, 371–386: its standard
    error is too narrow in small samples.
    """
    rows = [
        {"scorer_a": panel.scorers[a], "scorer_b": panel.scorers[b], "criterion": criterion, **found}
        for j, criterion in enumerate(panel.criteria)
        for a, b in combinations(_best(panel, j), 2)
        for found in (
            *(_bootstrapped(panel, a, b, j, level) for level in ("summary", "dataset")),
            _williams(panel, a, b, j),
        )
    ]
    frame = _floats(pd.DataFrame(rows, columns=[*_COMPARISON, "note"]), "difference", "ci_low", "ci_high", "p")
    families = frame.groupby(["criterion", "level"], sort=True)["p"]
    frame["p_holm"] = families.transform(lambda p: core.significance.holm(p.to_numpy())) if len(frame) else []
    tests = families.transform("count") if len(frame) else ()
    frame["verdict"] = [_said(row, n) for row, n in zip(frame.to_dict("records"), tests, strict=True)]
    return frame.drop(columns="note")


def _best(panel: panels.Panel, j: int) -> list[int]:
    """The metrics that are compared on a criterion, in their order: of many, those that agree best with people."""
    found = np.flatnonzero(panel.compared[:, j])
    values = panel.signs[found] * panel.headline.values[found, j]
    return sorted(core.compared.best_compared(found[np.argsort(-values, kind="stable")].tolist()))


def _said(row: Mapping[Any, Any], tests: float) -> str:
    """The word on a comparison; where the interval alone would say otherwise, what made it so."""
    if row["note"]:
        return str(row["note"])
    if row["p_holm"] < 0.05:
        return f"{row['scorer_a'] if row['difference'] > 0 else row['scorer_b']} agrees better"
    otherwise = core.compared.at_odds(row["p"], row["ci_low"], row["ci_high"], int(tests))
    return ": ".join(filter(None, ["no difference shown", otherwise]))


def _bootstrapped(panel: panels.Panel, a: int, b: int, j: int, level: str) -> dict[str, Any]:
    kind, signs = panel.coefficient, panel.signs
    table = panel.correlations[level, kind]
    row: dict[str, Any] = {"level": level, "test": "paired bootstrap", "coefficient": kind, "note": ""}
    difference = signs[a] * table.values[a, j] - signs[b] * table.values[b, j]
    if np.isnan(difference):
        missing = a if np.isnan(table.values[a, j]) else b
        return row | {"note": f"no comparison: {panel.reason(missing, j, level)}"}
    replicates = signs[a] * table.replicates[:, a, j] - signs[b] * table.replicates[:, b, j]
    replicates = replicates[np.isfinite(replicates)]
    n = min(panel.n_units(scorer, j, level) for scorer in (a, b))
    if n < 2 or not len(replicates):
        return row | {"difference": difference, "note": "no comparison: fewer than two documents"}
    level_of = 0.95
    if level != "system" and panel.clusters is not None:
        n = min(n, len(set(panel.clusters)))
        level_of = core.clusters.widened(n)
    low, high = core.stats.holding(difference, *core.stats.percentile_interval(replicates, level_of))
    found = row | {"difference": difference, "ci_low": float(low), "ci_high": float(high)}
    # Counted replicates cannot give a p-value small enough to survive Holm over many pairs of metrics.
    error = float(replicates.std(ddof=1)) * math.sqrt(n / (n - 1)) if len(replicates) > 1 else 0.0
    if error <= _ROUNDING and abs(difference) > _ROUNDING:
        return found | {"note": "no test: every resample gives the same difference"}
    return found | {"p": float(2 * stdtr(n - 1, -abs(difference) / error)) if error > _ROUNDING else 1.0}


def _williams(panel: panels.Panel, a: int, b: int, j: int) -> dict[str, Any]:
    row: dict[str, Any] = {"level": "system", "test": "Williams", "coefficient": "pearson", "note": ""}
    if panel.system_means is None:
        return row | {"note": "no comparison: there are no systems"}
    x, y = panel.system_means
    columns = np.stack([panel.signs[a] * x[:, a], panel.signs[b] * x[:, b], y[:, j]])
    columns = columns[:, np.isfinite(columns).all(axis=0)]
    if columns.shape[1] < 4:
        return row | {"note": "no comparison: fewer than four systems"}
    if (np.ptp(columns, axis=1) <= _ROUNDING * np.abs(columns).max(axis=1)).any():
        return row | {"note": "no comparison: the systems' means do not vary"}
    r = np.clip(np.corrcoef(columns), -1, 1)
    test = core.correlation.williams(float(r[0, 2]), float(r[1, 2]), float(r[0, 1]), columns.shape[1])
    note = f"no comparison: {test.note}" if test.p is None else ""
    return row | {"difference": float(r[0, 2] - r[1, 2]), "p": math.nan if test.p is None else test.p, "note": note}


def agreement_table(panel: panels.Panel, trusted: Sequence[str]) -> pd.DataFrame:
    """Per criterion: alphas, mean kappa, the ceiling with its interval, and whether it is trusted."""
    rows = []
    for criterion, measures in panel.agreement.items():
        alpha, ceiling = measures["alpha_ordinal"], measures["ceiling"]
        rows.append(
            {
                "criterion": criterion,
                "trusted": criterion in trusted,
                **{name: found.value for name, found in measures.items()},
                "alpha_low": alpha.ci_low,
                "alpha_high": alpha.ci_high,
                "ceiling_low": ceiling.ci_low,
                "ceiling_high": ceiling.ci_high,
                "note": "; ".join(dict.fromkeys(filter(None, (alpha.note, ceiling.note)))),
            }
        )
    frame = pd.DataFrame(rows)
    return _floats(frame, *frame.columns.drop(["criterion", "trusted", "note"]))


def label_plan(panel: panels.Panel, against: float) -> pd.DataFrame:
    """How many independent labelled items tell each pooled correlation from ``against`` at 80 % power, or why none do."""
    found = panel.correlations["dataset", panel.coefficient]
    rows = []
    for i, j in panel.cells:
        r = float(panel.signs[i] * found.values[i, j])
        note = ""
        if np.isnan(r):
            note = panel.reason(i, j, "dataset")
        elif abs(r) > 1 - 1e-9:
            note = "a perfect correlation has no spread to plan with"
        elif abs(r - against) < 1e-9:
            note = "no number tells two equal correlations apart"
        rows.append(
            {
                "scorer": panel.scorers[i],
                "criterion": panel.criteria[j],
                "agreement": r,
                "against": against,
                "side": "" if np.isnan(r) else "above" if r > against else "below",
                "items_needed": None if note else core.planning.units_for_correlation(r, against=against),
                "items_here": int(found.n[i, j]),
                "documents_here": panel.n_documents,
                "note": note,
            }
        )
    return pd.DataFrame(rows).astype({"agreement": float, "items_needed": "Int64"})


def system_plan(panel: panels.Panel) -> pd.DataFrame:
    """How many documents tell two systems apart that follow each other in a metric's order, metric by metric.

    For each metric: the two neighbours in its order of systems with the median gap, the spread of their difference over
    documents, and the documents at which a paired comparison shows that gap with 80 % power, or why none do.
    """
    means = panel.system_means
    rows = [] if means is None or len(means[0]) < 2 else [
        [scorer, *_neighbours(panel, panel.x[:, i], means[0][:, i])] for i, scorer in enumerate(panel.scorers)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=_PLAN).astype({"documents_needed": "Int64"} if rows else {})


def _neighbours(panel: panels.Panel, x: np.ndarray, means: np.ndarray) -> list[Any]:
    order = np.argsort(-means, kind="stable")
    order = order[np.isfinite(means[order])]
    if len(order) < 2:
        return ["", "", math.nan, math.nan, None, 0, "fewer than two systems have a value"]
    gaps = -np.diff(means[order])
    at = int(np.argsort(gaps, kind="stable")[len(gaps) // 2])
    a, b = np.unique(panel.system)[order[at : at + 2]]
    left, right = panel.system == a, panel.system == b
    _, i, j = np.intersect1d(panel.document[left], panel.document[right], return_indices=True)
    d = x[left][i] - x[right][j]
    d = d[np.isfinite(d)]
    mean, sd = (float(d.mean()) if len(d) else math.nan), (float(d.std(ddof=1)) if len(d) > 1 else math.nan)
    note = "the two do not differ" if abs(mean) < _ROUNDING else ""
    note = note if len(d) > 1 else "fewer than two documents have both systems"
    return [a, b, mean, sd, None if note else core.planning.units_for_difference(mean, sd), len(d), note]
