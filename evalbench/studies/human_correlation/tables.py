"""Tables of a human-correlation result: every coefficient, comparisons of metrics, agreement, plans."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtr

from evalbench.core.compared import at_odds, best_compared
from evalbench.core.correlation import williams
from evalbench.core.correlation_table import KINDS, LEVELS, PARTIAL
from evalbench.core.planning import units_for_correlation, units_for_difference
from evalbench.core.significance import holm
from evalbench.core.stats import percentile_interval
from evalbench.studies.human_correlation.analysis import UNITS, Analysis, direction
from evalbench.studies.human_correlation.trust import Trust

if TYPE_CHECKING:
    import pandas as pd


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


def correlation_frame(analysis: Analysis, lower_is_better: tuple[str, ...]) -> pd.DataFrame:
    """Every metric × criterion × level × coefficient with its interval, or why it has no value."""
    import pandas as pd

    panel = analysis.panel
    named = [(level, kind) for level in LEVELS for kind in KINDS]
    named += [("dataset", kind) for kind in PARTIAL] if panel.has_systems else []
    rows: list[dict[str, Any]] = []
    for i, scorer in enumerate(panel.scorers):
        agreeing = "negative" if direction(scorer, lower_is_better) < 0 else "positive"
        for j in np.flatnonzero(panel.compared[i]):
            criterion = panel.criteria[j]
            for level, kind in named:
                found = analysis.measured(i, j, level, kind)
                rows.append(
                    {
                        "scorer": scorer,
                        "criterion": criterion,
                        "level": level,
                        "coefficient": kind,
                        "value": found.value,
                        "ci_low": found.ci_low,
                        "ci_high": found.ci_high,
                        "n_of": UNITS[level],
                        **analysis.counted(i, j, level, kind)._asdict(),
                        "agreement_is": agreeing,
                        "note": found.note,
                        "definition": DEFINITIONS[kind],
                    }
                )
    frame = pd.DataFrame(rows)
    numeric = ["value", "ci_low", "ci_high"]
    return frame.astype(dict.fromkeys(numeric, float))


def comparison_table(analysis: Analysis, lower_is_better: tuple[str, ...]) -> pd.DataFrame:
    """Which of two metrics agrees better with people: difference of agreement (of a lower-is-better metric, the negative).

    Summary and dataset level: paired bootstrap over documents; p from Student's t of its standard error, widened by
    √(n / (n − 1)), with n − 1 degrees of freedom for n documents.  System level: Williams' test.  Holm over the pairs of
    metrics of one criterion at one level.

    References
    ----------
    Hesterberg (2015), What teachers should know about the bootstrap, American Statistician 69, 371–386: its standard
    error is too narrow in small samples.
    """
    import pandas as pd

    panel = analysis.panel
    signs = np.array([direction(s, lower_is_better) for s in panel.scorers], dtype=float)
    rows = []
    for j, criterion in enumerate(panel.criteria):
        for a, b in combinations(_best(analysis, signs, j), 2):
            for level in ("summary", "dataset"):
                rows.append(_bootstrapped(analysis, signs, a, b, j, level))
            rows.append(_williams(analysis, signs, a, b, j))
            for row in rows[-3:]:
                row |= {"scorer_a": panel.scorers[a], "scorer_b": panel.scorers[b], "criterion": criterion}
    first = [
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
    frame = pd.DataFrame(rows, columns=[*first, "note"])
    frame = frame.astype(dict.fromkeys(("difference", "ci_low", "ci_high", "p"), float))
    families = frame.groupby(["criterion", "level"], sort=True)["p"]
    frame["p_holm"] = families.transform(lambda p: holm(p.to_numpy())) if len(frame) else []
    frame["verdict"] = [_said(row, tests) for row, tests in zip(
        frame.to_dict("records"), families.transform("count") if len(frame) else (), strict=True
    )]  # fmt: skip
    return frame.drop(columns="note")


def _best(analysis: Analysis, signs: np.ndarray, j: int) -> list[int]:
    """The metrics that are compared on a criterion, in their order: of many, those that agree best with people."""
    found = np.flatnonzero(analysis.panel.compared[:, j])
    values = signs[found] * analysis.tables[analysis.level, analysis.coefficient].values[found, j]
    return sorted(best_compared(found[np.argsort(-values, kind="stable")].tolist()))


def _said(row: dict[str, Any], tests: float) -> str:
    """The word on a comparison; where the interval alone would say otherwise, what made it so."""
    if row["note"]:
        return str(row["note"])
    if row["p_holm"] < 0.05:
        return f"{row['scorer_a'] if row['difference'] > 0 else row['scorer_b']} agrees better"
    otherwise = at_odds(row["p"], row["ci_low"], row["ci_high"], int(tests))
    return ": ".join(filter(None, ["no difference shown", otherwise]))


def _bootstrapped(analysis: Analysis, signs: np.ndarray, a: int, b: int, j: int, level: str) -> dict[str, Any]:
    kind = analysis.coefficient
    table = analysis.tables[level, kind]
    row: dict[str, Any] = {"level": level, "test": "paired bootstrap", "coefficient": kind, "note": ""}
    difference = signs[a] * table.values[a, j] - signs[b] * table.values[b, j]
    if np.isnan(difference):
        missing = a if np.isnan(table.values[a, j]) else b
        return row | {"note": f"no comparison: {analysis.reason(missing, j, level)}"}
    replicates = signs[a] * table.replicates[:, a, j] - signs[b] * table.replicates[:, b, j]
    replicates = replicates[np.isfinite(replicates)]
    n = min(analysis.n_units(scorer, j, level) for scorer in (a, b))
    if n < 2 or not len(replicates):
        return row | {"difference": difference, "note": "no comparison: fewer than two documents"}
    low, high = percentile_interval(replicates)
    found = row | {"difference": difference, "ci_low": float(low), "ci_high": float(high)}
    # Counted replicates cannot give a p-value small enough to survive Holm over many pairs of metrics.
    error = float(replicates.std(ddof=1)) * math.sqrt(n / (n - 1)) if len(replicates) > 1 else 0.0
    if error <= _ROUNDING and abs(difference) > _ROUNDING:
        return found | {"note": "no test: every resample gives the same difference"}
    return found | {"p": float(2 * stdtr(n - 1, -abs(difference) / error)) if error > _ROUNDING else 1.0}


def _williams(analysis: Analysis, signs: np.ndarray, a: int, b: int, j: int) -> dict[str, Any]:
    row: dict[str, Any] = {"level": "system", "test": "Williams", "coefficient": "pearson", "note": ""}
    means = analysis.system_means
    if means is None:
        return row | {"note": "no comparison: there are no systems"}
    x, y = means
    one, other, human = signs[a] * x[:, a], signs[b] * x[:, b], y[:, j]
    kept = np.isfinite(one) & np.isfinite(other) & np.isfinite(human)
    columns = np.stack([one[kept], other[kept], human[kept]])
    if columns.shape[1] < 4:
        return row | {"note": "no comparison: fewer than four systems"}
    flat = np.ptp(columns, axis=1) <= 1e-12 * np.abs(columns).max(axis=1)
    if flat.any():
        return row | {"note": "no comparison: the systems' means do not vary"}
    r = np.clip(np.corrcoef(columns), -1, 1)
    test = williams(float(r[0, 2]), float(r[1, 2]), float(r[0, 1]), columns.shape[1])
    note = f"no comparison: {test.note}" if test.p is None else ""
    return row | {"difference": float(r[0, 2] - r[1, 2]), "p": math.nan if test.p is None else test.p, "note": note}


def agreement_table(analysis: Analysis, trust: Trust) -> pd.DataFrame:
    """Per criterion: alphas, mean kappa, the ceiling with its interval, and whether it is trusted."""
    import pandas as pd

    rows = []
    for criterion, measures in analysis.agreement.items():
        row: dict[str, Any] = {"criterion": criterion, "trusted": criterion in trust.trusted}
        for name, found in measures.items():
            row[name] = found.value
        alpha, ceiling = measures["alpha_ordinal"], measures["ceiling"]
        row |= {
            "alpha_low": alpha.ci_low, "alpha_high": alpha.ci_high, "ceiling_low": ceiling.ci_low,
            "ceiling_high": ceiling.ci_high, "note": "; ".join(dict.fromkeys(filter(None, (alpha.note, ceiling.note)))),
        }  # fmt: skip
        rows.append(row)
    frame = pd.DataFrame(rows)
    numeric = [c for c in frame.columns if c not in ("criterion", "trusted", "note")]
    return frame.astype(dict.fromkeys(numeric, float))


def label_plan(analysis: Analysis, lower_is_better: tuple[str, ...], against: float) -> pd.DataFrame:
    """How many independent labelled items tell each pooled correlation from ``against`` at 80 % power, or why none do."""
    import pandas as pd

    panel = analysis.panel
    found = analysis.tables["dataset", analysis.coefficient]
    rows = []
    for i, scorer in enumerate(panel.scorers):
        for j, criterion in ((j, panel.criteria[j]) for j in np.flatnonzero(panel.compared[i])):
            r = direction(scorer, lower_is_better) * float(found.values[i, j])
            note = (
                analysis.reason(i, j, "dataset") if np.isnan(r)
                else "a perfect correlation has no spread to plan with" if abs(r) > 1 - 1e-9
                else "no number tells two equal correlations apart" if abs(r - against) < 1e-9 else ""
            )  # fmt: skip
            needed = None if note else units_for_correlation(r, against=against)
            rows.append({
                "scorer": scorer, "criterion": criterion, "agreement": r, "against": against,
                "side": "" if np.isnan(r) else "above" if r > against else "below", "items_needed": needed,
                "items_here": int(found.n[i, j]), "documents_here": panel.n_documents, "note": note,
            })  # fmt: skip
    return pd.DataFrame(rows).astype({"agreement": float, "items_needed": "Int64"})


def system_plan(analysis: Analysis) -> pd.DataFrame:
    """How many documents tell two systems apart that follow each other in a metric's order, metric by metric.

    For each metric: the two neighbours in its order of systems with the median gap, the spread of their difference over
    documents, and the documents at which a paired comparison shows that gap with 80 % power, or why none do.
    """
    import pandas as pd

    panel, means = analysis.panel, analysis.system_means
    columns = [
        "scorer",
        "system_a",
        "system_b",
        "difference",
        "sd_over_documents",
        "documents_needed",
        "documents_here",
        "note",
    ]
    if means is None or len(means[0]) < 2:
        return pd.DataFrame(columns=columns)
    systems = np.unique(panel.system)
    rows = []
    for i, scorer in enumerate(panel.scorers):
        order = np.argsort(-means[0][:, i], kind="stable")
        order = order[np.isfinite(means[0][order, i])]
        if len(order) < 2:
            rows.append([scorer, "", "", math.nan, math.nan, None, 0, "fewer than two systems have a value"])
            continue
        gaps = -np.diff(means[0][order, i])
        at = int(np.argsort(gaps, kind="stable")[len(gaps) // 2])
        a, b = order[at], order[at + 1]
        d = _differences(panel.document, panel.system, panel.x[:, i], systems[a], systems[b])
        sd = float(d.std(ddof=1)) if len(d) > 1 else math.nan
        note = (
            "fewer than two documents have both systems" if len(d) < 2
            else "the two do not differ" if abs(d.mean()) < _ROUNDING else ""
        )  # fmt: skip
        rows.append(
            [scorer, systems[a], systems[b], float(d.mean()) if len(d) else math.nan, sd,
             None if note else units_for_difference(float(d.mean()), sd), len(d), note]
        )  # fmt: skip
    return pd.DataFrame(rows, columns=columns).astype({"documents_needed": "Int64"})


def _differences(document: np.ndarray, system: np.ndarray, x: np.ndarray, a: str, b: str) -> np.ndarray:
    """x of system a minus x of system b on the documents that have both."""
    left, right = system == a, system == b
    _, i, j = np.intersect1d(document[left], document[right], return_indices=True)
    d = x[left][i] - x[right][j]
    return d[np.isfinite(d)]
