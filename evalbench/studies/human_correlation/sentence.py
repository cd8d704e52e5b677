"""The verdict in words: the best metric, the evidence that it rests on, and what holds a light back."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

import numpy as np

from evalbench.core.result import Estimate
from evalbench.core.stats import FEW_UNITS, Measured, light_stability
from evalbench.core.verdict import Verdict
from evalbench.core.wording import aligned, counted, estimate_text, percent, signed
from evalbench.studies.human_correlation.analysis import FEWEST_SYSTEMS, UNITS, Analysis, direction
from evalbench.studies.human_correlation.trust import Judge, Trust, agreement_of, trusted_columns, trusted_replicates


def verdict_of(
    analysis: Analysis, judge: Judge, trust: Trust, headline: Sequence[Estimate], pairs: Sequence[Estimate]
) -> Verdict:
    """The light of the best metric over trusted criteria; grey, with the correlations, where none is trusted.

    Parameters
    ----------
    analysis, judge, trust
    headline : sequence of Estimate
        The metrics' means over trusted criteria; empty where none is trusted.
    pairs : sequence of Estimate
        Metric × criterion.
    """
    if not analysis.panel.scorers:
        return Verdict("unlit", _agreement_alone(analysis))
    people = "annotators' mean" if len(analysis.panel.annotators) > 1 else "human score"
    rule = (
        f"{analysis.coefficient} with the {people} at {analysis.level} level, averaged over trusted criteria, "
        f"of the best metric: {judge.bands}; grey where its interval is wider than {judge.max_ci_width:g}, or "
        f"has no width on fewer than {FEW_UNITS} documents"
        + (f", or on fewer than {FEWEST_SYSTEMS} systems" if analysis.level == "system" else "")
    )
    if not trust.trusted:
        return Verdict("grey", _untrusted(analysis, judge, trust, pairs), rule)
    known = [e for e in headline if e.value is not None]
    if not known:
        why = f"No metric has a correlation on {', '.join(trust.trusted)}: {headline[0].note}"
        return Verdict("grey", f"{why}; {_evidence(analysis, trust.trusted)}.", rule)
    best = max(known, key=lambda e: agreement_of(e, judge))
    scorer = best.group["scorer"]
    i = analysis.panel.scorers.index(scorer)
    columns = trusted_columns(analysis, trust, i)
    n_units = min(analysis.n_units(i, j, analysis.level) for j in columns)
    share = analysis.panel.n_unscored[i] / len(analysis.panel.x)
    _, would_be = judge.light(Measured(best.value, best.ci_low, best.ci_high), scorer, share, n_units)
    # Each resample has a best metric of its own, as the light has that of all documents.
    replicates = np.fmax.reduce(
        [
            trusted_replicates(analysis, trust, analysis.panel.scorers.index(name))[1]
            * direction(name, judge.lower_is_better)
            for name in (e.group["scorer"] for e in known)
        ]
    )
    there = [analysis.panel.criteria[j] for j in columns]
    gone = [c for c in trust.trusted if c not in there]
    without = f", without {', '.join(gone)}, where it has no value" if gone else ""
    sentence = (
        f"{_name(best, known)}: {analysis.coefficient} {estimate_text(best, headline)} at {analysis.level} level, "
        f"mean over {', '.join(there)} ({trust.why}{without}){_ceiling(analysis, trust)}; "
        f"{_evidence(analysis, trust.trusted, best, n_units)}.{_unscored(analysis, judge, i)}"
    )
    stability = light_stability(judge.bands, replicates, best.light) if best.light != "grey" else None
    return Verdict(best.light, sentence, rule, stability, would_be if best.light == "grey" else None, best.place)  # type: ignore[arg-type]


def _agreement_alone(analysis: Analysis) -> str:
    """How far the annotators agree, of a study that no metric takes part in."""
    said = []
    alphas = [measures["alpha_ordinal"] for measures in analysis.agreement.values()]
    texts = aligned([a.value for a in alphas], [a.ci_low for a in alphas], [a.ci_high for a in alphas])
    for (criterion, measures), alpha, text in zip(analysis.agreement.items(), alphas, texts, strict=True):
        ceiling = measures["ceiling"].value
        if alpha.value is None:
            said.append(f"{criterion}: no alpha ({alpha.note})")
            continue
        follows = f", one against the others {signed(f'{ceiling:.2f}')}" if ceiling is not None else ""
        said.append(f"{criterion} {text}{follows}")
    named = f"Ordinal alpha of {counted(len(analysis.panel.annotators), 'annotator')}, without a metric"
    return f"{named}: {'; '.join(said)}; {_evidence(analysis, analysis.panel.criteria)}."


def _untrusted(analysis: Analysis, judge: Judge, trust: Trust, pairs: Sequence[Estimate]) -> str:
    """The best metric of each criterion, and the line that would make a headline of them."""
    said, found = [], []
    for criterion in analysis.panel.criteria:
        known = [e for e in pairs if e.group["criterion"] == criterion and e.value is not None]
        if known:
            found.append(max(known, key=lambda e: agreement_of(e, judge)))
            said.append(f"{estimate_text(found[-1], pairs)} with {criterion} ({_name(found[-1], known)})")
    option = "-p " + shlex.quote("trusted=" + json.dumps(list(analysis.panel.criteria), ensure_ascii=False))
    trusting = f"No light, because no criterion is trusted: {trust.why}. To trust what you know to be sound: {option}"
    if not found:
        return f"No metric has a correlation: {pairs[0].note}; {_evidence(analysis, trust.untrusted)}. {trusting}"
    i = analysis.panel.scorers.index(found[0].group["scorer"])
    n_units = min(
        analysis.n_units(analysis.panel.scorers.index(e.group["scorer"]), analysis.panel.criteria.index(e.group["criterion"]), analysis.level)
        for e in found
    )  # fmt: skip
    return (
        f"Correlation at {analysis.level} level ({analysis.coefficient}): {'; '.join(said)}; "
        f"{_evidence(analysis, analysis.panel.criteria, min(found, key=lambda e: e.n), n_units)}."
        f"{_unscored(analysis, judge, i)} {trusting}"
    )


def _name(best: Estimate, known: Sequence[Estimate]) -> str:
    return best.group["scorer"] + (f", the best of {len(known)}" if len(known) > 1 else "")


def _ceiling(analysis: Analysis, trust: Trust) -> str:
    values = [c.value for name in trust.trusted if (c := analysis.agreement[name]["ceiling"]).value is not None]
    return f"; one annotator against the others: {signed(format(np.mean(values), '.2f'))}" if values else ""


def _evidence(
    analysis: Analysis, criteria: Sequence[str], best: Estimate | None = None, n_units: int = FEW_UNITS
) -> str:
    """Documents and outputs, those with human marks where not all have them, and those that the figure rests on."""
    panel = analysis.panel
    over = f"{counted(panel.n_documents, 'document')}, {counted(len(panel.x), 'output')}"
    if analysis.level == "system" and panel.has_systems:
        over = f"{counted(len(np.unique(panel.system)), 'system')}, {over}"
    marked = {c: int(np.isfinite(panel.y[:, panel.criteria.index(c)]).sum()) for c in criteria}
    if min(marked.values()) < len(panel.x):
        numbers = sorted(set(marked.values()))
        over += f", {numbers[0]} of them with human marks" if len(numbers) == 1 else (
            ", with human marks: " + ", ".join(f"{n} on {c}" for c, n in marked.items())
        )  # fmt: skip
    if best is not None and best.n_undefined + best.n_unscored:
        unit = UNITS[analysis.level]
        over += f", {counted(best.n, unit.removesuffix('s'))} with a value"
    if n_units >= (FEWEST_SYSTEMS if analysis.level == "system" else FEW_UNITS):
        return over
    without = analysis.level == "system" or (best is not None and best.ci_low is None)
    return over + (", too few for an interval" if without else ", so few that the interval is too narrow")


def _unscored(analysis: Analysis, judge: Judge, i: int) -> str:
    n, total = int(analysis.panel.n_unscored[i]), len(analysis.panel.x)
    if not n:
        return ""
    said = f" {analysis.panel.scorers[i]} has no score for {n} of {total} outputs ({analysis.panel.why_unscored(i)})"
    if n <= judge.max_unscored * total:
        return said + "."
    return f"{said}: more than {percent(judge.max_unscored, [judge.max_unscored])}, not enough evidence for a light."
