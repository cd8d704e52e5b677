"""The headline: how well each metric stands in for annotators on criteria that people agree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.result import Estimate, Summary
from evalbench.core.stats import FEW_UNITS, Measured, light_stability, no_width, with_interval
from evalbench.core.verdict import Band, Bands, Verdict
from evalbench.errors import BadInput
from evalbench.studies.human_correlation.analysis import Analysis, analyse, direction

if TYPE_CHECKING:
    import pandas as pd

AGREEMENT = ("ceiling", "alpha_ordinal", "alpha_interval", "alpha_nominal", "kappa")
LOWER = "lower is better: agreement is negative"


@dataclass(frozen=True)
class Trust:
    """Which criteria count for the headline, and why."""

    trusted: tuple[str, ...]
    why: str
    untrusted: tuple[str, ...] = ()


def bands_of(yellow_at: float, green_at: float) -> Bands:
    """Green where the value reaches ``green_at``, yellow where it reaches ``yellow_at``, else red.

    Raises
    ------
    BadInput
        Unless −1 < yellow_at < green_at ≤ 1.
    """
    if not -1 < yellow_at < green_at <= 1:
        raise BadInput(f"yellow_at and green_at must ascend within −1 to 1, got {yellow_at} and {green_at}")
    return Bands((
        Band("red", high=yellow_at), Band("yellow", yellow_at, green_at), Band("green", green_at),
    ))  # fmt: skip


def trust_of(analysis: Analysis, trusted: Sequence[str], trust_from: float) -> Trust:
    """The trusted criteria: those named beforehand, else those with ordinal alpha of at least ``trust_from``.

    With one annotator there is no alpha, and none is trusted unless named.

    Raises
    ------
    BadInput
        If a named one is not among the criteria.
    """
    criteria = analysis.panel.criteria
    unknown = [name for name in trusted if name not in criteria]
    if unknown:
        raise BadInput(f"trusted: {', '.join(unknown)} not among the criteria {', '.join(criteria)}")
    if trusted:
        rest = tuple(c for c in criteria if c not in trusted)
        return Trust(tuple(trusted), "named beforehand", rest)
    if len(analysis.panel.annotators) < 2:
        return Trust((), "one annotator only, so agreement is unknown: name criteria in trusted", criteria)
    alphas = {c: analysis.agreement[c]["alpha_ordinal"].value for c in criteria}
    good = tuple(c for c in criteria if alphas[c] is not None and alphas[c] >= trust_from)
    return Trust(
        good, f"ordinal alpha of the annotators ≥ {trust_from:g}", tuple(c for c in criteria if c not in good)
    )


def summarise(
    items: pd.DataFrame,
    *,
    trusted: Sequence[str] = (),
    trust_from: float = 0.4,
    level: str = "auto",
    coefficient: str = "spearman",
    green_at: float = 0.7,
    yellow_at: float = 0.4,
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
    green_at, yellow_at : float
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
    judge = _Judge(bands_of(yellow_at, green_at), max_ci_width, tuple(lower_is_better), max_unscored)
    return summary_of(analysis, judge, trust_of(analysis, trusted, trust_from))


@dataclass(frozen=True)
class _Judge:
    bands: Bands
    max_ci_width: float
    lower_is_better: tuple[str, ...]
    max_unscored: float

    def light(self, found: Measured, scorer: str, share_unscored: float, n_documents: int) -> tuple[str, str]:
        """The light of a correlation, and what it would be where the evidence holds it back."""
        if found.value is None:
            return "grey", "grey"
        would_be = self.bands.light(found.value * direction(scorer, self.lower_is_better))
        low, high = found.ci_low, found.ci_high
        wide = low is None or high is None or high - low > self.max_ci_width
        # A few documents that all agree look certain: two always correlate perfectly.
        chance = not wide and n_documents < FEW_UNITS and no_width(low, high)  # type: ignore[arg-type]
        held_back = wide or chance or share_unscored > self.max_unscored
        return ("grey" if held_back else would_be), would_be


def summary_of(analysis: Analysis, judge: _Judge, trust: Trust) -> Summary:
    """The figures and the verdict of an analysis."""
    headline = [_trusted_mean(analysis, judge, trust, i) for i in range(len(analysis.panel.scorers))]
    headline.sort(key=lambda e: (-_agreement(e, judge), e.group["scorer"]))
    pairs = [e for i in range(len(analysis.panel.scorers)) for e in _pairs(analysis, judge, i)]
    agreement = [
        _estimate(found, metric=name, group={"criterion": criterion}, unit="−1–1", higher_is_better=True)
        for name in AGREEMENT
        for criterion, found in ((c, measures[name]) for c, measures in analysis.agreement.items())
    ]
    # What people agree on stands before the pairs; the page folds the agreement that comes after them.
    first = tuple(e for e in agreement if e.metric in AGREEMENT[:2])
    rest = tuple(e for e in agreement if e.metric not in AGREEMENT[:2])
    return Summary((*headline, *first, *pairs, *rest), _verdict(analysis, judge, trust, headline))


def _estimate(found: Measured, **fields: object) -> Estimate:
    # An end beyond the value's own range of floats does not occur; None stays None.
    return Estimate(
        value=found.value, ci_low=found.ci_low, ci_high=found.ci_high, n=found.n, method=found.method,
        **{"note": found.note, **fields},
    )  # type: ignore[arg-type]  # fmt: skip


def _pairs(analysis: Analysis, judge: _Judge, i: int) -> list[Estimate]:
    panel = analysis.panel
    scorer, share = panel.scorers[i], panel.n_unscored[i] / len(panel.x)
    sign = direction(scorer, judge.lower_is_better)
    table = analysis.tables[analysis.level, analysis.coefficient]
    found = []
    for j, criterion in enumerate(panel.criteria):
        measured = analysis.measured(i, j, analysis.level, analysis.coefficient)
        n_documents = analysis.n_documents(i, j, analysis.level, analysis.coefficient)
        found.append(
            _estimate(
                measured,
                metric=f"{analysis.coefficient}_{analysis.level}",
                group={"scorer": scorer, "criterion": criterion},
                unit="−1–1",
                higher_is_better=sign > 0,
                light=judge.light(measured, scorer, share, n_documents)[0],
                note="; ".join(filter(None, [measured.note, LOWER if sign < 0 else ""])),
                n_undefined=int(table.n_undefined[i, j]),
                n_unscored=int(panel.n_unscored[i]),
            )
        )
    return found


def _agreement(e: Estimate, judge: _Judge) -> float:
    """The value with the sign that means agreement; below all where there is none."""
    return -2.0 if e.value is None else e.value * direction(e.group["scorer"], judge.lower_is_better)


def _trusted_columns(analysis: Analysis, trust: Trust, i: int) -> list[int]:
    """The trusted criteria on which scorer i has a value."""
    values = analysis.tables[analysis.level, analysis.coefficient].values
    criteria = analysis.panel.criteria
    return [j for j, c in enumerate(criteria) if c in trust.trusted and np.isfinite(values[i, j])]


def trusted_replicates(analysis: Analysis, trust: Trust, i: int) -> tuple[float, np.ndarray]:
    """Mean over the trusted criteria where scorer i has a value, and its replicates."""
    found = analysis.tables[analysis.level, analysis.coefficient]
    columns = _trusted_columns(analysis, trust, i)
    if not columns:
        return float("nan"), np.full(len(found.replicates), np.nan)
    return float(found.values[i, columns].mean()), found.replicates[:, i, columns].mean(axis=1)


def _trusted_mean(analysis: Analysis, judge: _Judge, trust: Trust, i: int) -> Estimate:
    panel = analysis.panel
    scorer, share = panel.scorers[i], panel.n_unscored[i] / len(panel.x)
    value, replicates = trusted_replicates(analysis, trust, i)
    columns = _trusted_columns(analysis, trust, i)
    level, kind = analysis.level, analysis.coefficient
    n_documents = min((analysis.n_documents(i, j, level, kind) for j in columns), default=0)
    sign = direction(scorer, judge.lower_is_better)
    if np.isnan(value):
        j = next((j for j, c in enumerate(panel.criteria) if c in trust.trusted), None)
        why = f"no criterion is trusted ({trust.why})" if j is None else analysis.reason(i, j, analysis.level)
        measured = Measured(None, note=why)
    else:
        measured = with_interval(
            value,
            replicates,
            n=n_documents,
            n_units=n_documents,
            clustered=panel.several_per_document,
        )
    named = f"over {', '.join(panel.criteria[j] for j in columns)}" if columns else ""
    return _estimate(
        measured, metric="trusted_mean", group={"scorer": scorer}, unit="−1–1", higher_is_better=sign > 0,
        light=judge.light(measured, scorer, share, n_documents)[0], n_unscored=int(panel.n_unscored[i]),
        n_undefined=int(analysis.tables[level, kind].n_undefined[i, columns].max(initial=0)),
        note="; ".join(filter(None, [named, measured.note, LOWER if sign < 0 else ""])),
    )  # fmt: skip


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")


def _verdict(analysis: Analysis, judge: _Judge, trust: Trust, headline: Sequence[Estimate]) -> Verdict:
    panel = analysis.panel
    rule = (
        f"{analysis.coefficient} with the annotators' mean at {analysis.level} level, averaged over trusted criteria, "
        f"of the best metric: {judge.bands}; grey where its interval is wider than {judge.max_ci_width:g}, or "
        f"has no width on fewer than {FEW_UNITS} documents"
    )
    over = f"{_counted(panel.n_documents, 'document')}, {_counted(len(panel.x), 'output')}"
    if not trust.trusted:
        return Verdict("grey", f"No criterion is trusted ({trust.why}), so no metric can be: {over}.", rule)
    known = [e for e in headline if e.value is not None]
    if not known:
        return Verdict(
            "grey", f"No metric has a correlation on {', '.join(trust.trusted)}: {headline[0].note}.", rule
        )
    best = max(known, key=lambda e: _agreement(e, judge))
    i = panel.scorers.index(best.group["scorer"])
    _, would_be = judge.light(
        Measured(best.value, best.ci_low, best.ci_high),
        best.group["scorer"],
        panel.n_unscored[i] / len(panel.x),
        best.n,
    )
    # Each resample has a best metric of its own, as the light has that of all documents.
    replicates = np.fmax.reduce(
        [
            trusted_replicates(analysis, trust, panel.scorers.index(name))[1]
            * direction(name, judge.lower_is_better)
            for name in (e.group["scorer"] for e in known)
        ]
    )
    interval = f" [{best.ci_low:.2f}, {best.ci_high:.2f}]" if best.ci_low is not None else ""
    ceilings = [
        c.value for name in trust.trusted if (c := analysis.agreement[name]["ceiling"]).value is not None
    ]
    ceiling = f"; one annotator against the others: {np.mean(ceilings):.2f}" if ceilings else ""
    chosen = f", the best of {len(known)}" if len(known) > 1 else ""
    there = [panel.criteria[j] for j in _trusted_columns(analysis, trust, i)]
    gone = [c for c in trust.trusted if c not in there]
    without = f", without {', '.join(gone)}, where it has no value" if gone else ""
    if best.n_undefined:
        over += f", {_counted(best.n, 'document')} with a value"
    if best.n < FEW_UNITS:
        over += ", so few that the interval is too narrow"
    sentence = (
        f"{best.group['scorer']}{chosen}: {analysis.coefficient} {best.value:.2f}{interval} at {analysis.level} level, mean over "
        f"{', '.join(there)} ({trust.why}{without}){ceiling}; {over}."
    )
    stability = light_stability(judge.bands, replicates, best.light) if best.light != "grey" else None
    return Verdict(
        best.light, sentence, rule, stability, would_be if best.light == "grey" else None, best.place
    )  # type: ignore[arg-type]
