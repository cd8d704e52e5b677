"""The headline: how well each metric stands in for annotators on criteria that people agree on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.result import Estimate, Summary
from evalbench.core.stats import Measured
from evalbench.studies.human_correlation.analysis import UNITS, Analysis, Counted, analyse, direction
from evalbench.studies.human_correlation.sentence import verdict_of
from evalbench.studies.human_correlation.trust import (
    Judge,
    Trust,
    agreement_of,
    asked_columns,
    bands_of,
    trust_of,
    trusted_columns,
    trusted_replicates,
)

if TYPE_CHECKING:
    import pandas as pd

AGREEMENT = ("ceiling", "alpha_ordinal", "alpha_interval", "alpha_nominal", "kappa")
# What n counts of the agreement's figures.
_N_OF = {"ceiling": "annotators", "kappa": "pairs of marks"}
LOWER = "lower is better: agreement is negative"


def summarise(
    items: pd.DataFrame,
    *,
    trusted: Sequence[str] = (),
    trust_from: float = 0.4,
    level: str = "auto",
    coefficient: str = "spearman",
    green_from: float = 0.7,
    yellow_from: float = 0.4,
    max_ci_width: float = 0.5,
    lower_is_better: Sequence[str] = (),
    max_unscored: float = 0.05,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Summary:
    """Correlations of every metric with every criterion, the mean over trusted criteria, agreement, and the verdict.

    Parameters
    ----------
    items : DataFrame
        One row per document, system, metric and criterion.
    trusted, trust_from
        See :func:`trust_of`.
    level : {"auto", "summary", "dataset", "system"}
        Of the headline; auto: summary where documents have several outputs, else dataset.
    coefficient : {"spearman", "kendall", "pearson"}
    green_from, yellow_from : float
        The value's light; of a metric of which less is better, the value's negative is judged, and the note says so.
    max_ci_width : float
        A wider interval makes a light grey, and so does one without width on fewer than 20 documents.
    lower_is_better : sequence of str
        Ready-made metrics of which less is better; those of the registry say it themselves.
    max_unscored : float
        More unscored outputs than this share make a metric's light grey.
    seed, n_resamples : int

    Returns
    -------
    Summary
    """
    analysis = analyse(items, level=level, coefficient=coefficient, seed=seed, n_resamples=n_resamples)
    judge = Judge(bands_of(yellow_from, green_from), max_ci_width, tuple(lower_is_better), max_unscored)
    return summary_of(analysis, judge, trust_of(analysis, trusted, trust_from))


def summary_of(analysis: Analysis, judge: Judge, trust: Trust) -> Summary:
    """The figures and the verdict of an analysis."""
    scorers = range(len(analysis.panel.scorers))
    # Where nothing is trusted there is no mean to open with: the correlations themselves do.
    headline = [_trusted_mean(analysis, judge, trust, i) for i in scorers if trust.trusted]
    headline.sort(key=lambda e: (-agreement_of(e, judge), e.group["scorer"]))
    pairs = [e for i in scorers for e in _pairs(analysis, judge, i, lit=bool(trust.trusted))]
    agreement = [
        _estimate(
            found, metric=name, group={"criterion": criterion}, unit="−1–1", higher_is_better=True,
            n_of=_N_OF.get(name, "outputs"),
        )
        for name in AGREEMENT
        for criterion, found in ((c, measures[name]) for c, measures in analysis.agreement.items())
    ]  # fmt: skip
    # What people agree on stands before the pairs; the page folds the agreement that comes after them.
    first = tuple(e for e in agreement if e.metric in AGREEMENT[:2])
    rest = tuple(e for e in agreement if e.metric not in AGREEMENT[:2])
    middle = (*first, *pairs) if headline else (*pairs, *first)
    return Summary((*headline, *middle, *rest), verdict_of(analysis, judge, trust, headline, pairs))


def _estimate(found: Measured, **fields: object) -> Estimate:
    # An end beyond the value's own range of floats does not occur; None stays None.
    return Estimate(
        value=found.value, ci_low=found.ci_low, ci_high=found.ci_high, method=found.method,
        **{"n": found.n, "note": found.note, **fields},
    )  # type: ignore[arg-type]  # fmt: skip


def _pairs(analysis: Analysis, judge: Judge, i: int, *, lit: bool) -> list[Estimate]:
    panel = analysis.panel
    scorer, share = panel.scorers[i], panel.n_unscored[i] / len(panel.x)
    sign = direction(scorer, judge.lower_is_better)
    level, kind = analysis.level, analysis.coefficient
    gaps = f"no score for {panel.n_unscored[i]} of {len(panel.x)} outputs" if panel.n_unscored[i] else ""
    found = []
    for j in np.flatnonzero(panel.compared[i]):
        criterion = panel.criteria[j]
        measured = analysis.measured(i, j, level, kind)
        light = judge.light(measured, scorer, share, analysis.n_units(i, j, level))[0]
        found.append(
            _estimate(
                measured,
                metric=f"{kind}_{level}",
                group={"scorer": scorer, "criterion": criterion},
                unit="−1–1",
                higher_is_better=sign > 0,
                light=light if lit else "grey",
                cuts=judge.cuts(sign),
                note="; ".join(filter(None, [measured.note, gaps, LOWER if sign < 0 else ""])),
                n_of=UNITS[level],
                **analysis.counted(i, j, level, kind)._asdict(),
            )
        )
    return found


def _trusted_mean(analysis: Analysis, judge: Judge, trust: Trust, i: int) -> Estimate:
    panel, level, kind = analysis.panel, analysis.level, analysis.coefficient
    scorer, share = panel.scorers[i], panel.n_unscored[i] / len(panel.x)
    value, replicates = trusted_replicates(analysis, trust, i)
    columns = trusted_columns(analysis, trust, i)
    asked = asked_columns(analysis, trust, i)
    counted = min(analysis.counted(i, j, level, kind) for j in columns or asked or np.flatnonzero(panel.compared[i]))
    n_units = min((analysis.n_units(i, j, level) for j in columns), default=0)
    sign = direction(scorer, judge.lower_is_better)
    if np.isnan(value):
        why = analysis.reason(i, asked[0], level) if asked else "its own criterion is not trusted"
        measured = Measured(None, note=why)
        counted = Counted(0, counted.n_unscored, counted.n_undefined + counted.n)
    else:
        measured = analysis.with_interval(value, replicates, level, n=counted.n, n_units=n_units)
    over = f"over {', '.join(panel.criteria[j] for j in columns)}" if columns else ""
    return _estimate(
        measured, metric="trusted_mean", group={"scorer": scorer}, unit="−1–1", higher_is_better=sign > 0,
        light=judge.light(measured, scorer, share, n_units)[0], cuts=judge.cuts(sign), n_of=UNITS[level], **counted._asdict(),
        note="; ".join(filter(None, [over, measured.note, LOWER if sign < 0 else ""])),
    )  # fmt: skip
