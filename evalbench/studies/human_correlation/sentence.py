"""The verdict in words: the best metric, the evidence that it rests on, and what holds a light back."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

import numpy as np

from evalbench.core.result import Estimate
from evalbench.core.stats import FEW_UNITS
from evalbench.core.wording import aligned, counted, estimate_text, percent, signed
from evalbench.studies.human_correlation.panel import FEWEST_SYSTEMS, UNITS, Panel, Terms


def agreement_of(e: Estimate) -> float:
    """The value with the sign that means agreement; below all where there is none."""
    return -2.0 if e.value is None else e.value if e.higher_is_better else -e.value


def of_the_best(
    panel: Panel, terms: Terms, best: Estimate, known: Sequence[Estimate], headline: Sequence[Estimate],
    columns: Sequence[int], n_units: int,
) -> str:  # fmt: skip
    """The best metric's mean over the trusted criteria that it has a value on."""
    there = [panel.criteria[j] for j in columns]
    gone = [c for c in terms.trusted if c not in there]
    without = f", without {', '.join(gone)}, where it has no value" if gone else ""
    ceilings = [c.value for name in terms.trusted if (c := panel.agreement[name]["ceiling"]).value is not None]
    ceiling = f"; one annotator against the others: {signed(f'{np.mean(ceilings):.2f}')}" if ceilings else ""
    return (
        f"{_name(best, known)}: {panel.coefficient} {estimate_text(best, headline)} at {panel.level} level, "
        f"mean over {', '.join(there)} ({terms.why}{without}){ceiling}; "
        f"{_evidence(panel, terms.trusted, best, n_units)}.{_unscored(panel, terms, best)}"
    )


def of_no_value(panel: Panel, terms: Terms, why: str) -> str:
    return f"No metric has a correlation on {', '.join(terms.trusted)}: {why}; {_evidence(panel, terms.trusted)}."


def of_agreement(panel: Panel) -> str:
    """How far the annotators agree, of a study that no metric takes part in."""
    said = []
    alphas = [measures["alpha_ordinal"] for measures in panel.agreement.values()]
    texts = aligned([a.value for a in alphas], [a.ci_low for a in alphas], [a.ci_high for a in alphas])
    for (criterion, measures), alpha, text in zip(panel.agreement.items(), alphas, texts, strict=True):
        ceiling = measures["ceiling"].value
        follows = f", one against the others {signed(f'{ceiling:.2f}')}" if ceiling is not None else ""
        said.append(f"{criterion}: no alpha ({alpha.note})" if alpha.value is None else f"{criterion} {text}{follows}")
    named = f"Ordinal alpha of {counted(len(panel.annotators), 'annotator')}, without a metric"
    return f"{named}: {'; '.join(said)}; {_evidence(panel, panel.criteria)}."


def of_the_untrusted(panel: Panel, terms: Terms, pairs: Sequence[Estimate]) -> str:
    """The best metric of each criterion, and the line that would make a headline of them."""
    option = "-p " + shlex.quote("trusted=" + json.dumps(list(panel.criteria), ensure_ascii=False))
    trusting = f"No light, because no criterion is trusted: {terms.why}. To trust what you know to be sound: {option}"
    said, found = [], []
    for criterion in panel.criteria:
        known = [e for e in pairs if e.group["criterion"] == criterion and e.value is not None]
        if known:
            found.append(max(known, key=agreement_of))
            said.append(f"{estimate_text(found[-1], pairs)} with {criterion} ({_name(found[-1], known)})")
    if not found:
        return f"No metric has a correlation: {pairs[0].note}; {_evidence(panel, panel.criteria)}. {trusting}"
    places = [(panel.scorers.index(e.group["scorer"]), panel.criteria.index(e.group["criterion"])) for e in found]
    n_units = min(panel.n_units(i, j, panel.level) for i, j in places)
    return (
        f"Correlation at {panel.level} level ({panel.coefficient}): {'; '.join(said)}; "
        f"{_evidence(panel, panel.criteria, min(found, key=lambda e: e.n), n_units)}."
        f"{_unscored(panel, terms, found[0])} {trusting}"
    )


def _name(best: Estimate, known: Sequence[Estimate]) -> str:
    return best.group["scorer"] + (f", the best of {len(known)}" if len(known) > 1 else "")


def _evidence(panel: Panel, criteria: Sequence[str], best: Estimate | None = None, n_units: int = FEW_UNITS) -> str:
    """Documents and outputs, those with human marks where not all have them, and those that the estimate rests on."""
    over = f"{counted(panel.n_documents, 'document')}, {counted(len(panel.x), 'output')}"
    if panel.level == "system" and panel.has_systems:
        over = f"{counted(panel.n_systems, 'system')}, {over}"
    marked = {c: int(np.isfinite(panel.y[:, panel.criteria.index(c)]).sum()) for c in criteria}
    if min(marked.values()) < len(panel.x):
        several = len(set(marked.values())) > 1
        by_criterion = ", ".join(f"{n} on {c}" for c, n in marked.items())
        over += (
            f", with human marks: {by_criterion}" if several else f", {marked[criteria[0]]} of them with human marks"
        )
    if best is not None and best.n_undefined + best.n_unscored:
        over += f", {counted(best.n, UNITS[panel.level].removesuffix('s'))} with a value"
    if n_units >= (FEWEST_SYSTEMS if panel.level == "system" else FEW_UNITS):
        return over
    without = panel.level == "system" or (best is not None and best.ci_low is None)
    return over + (", too few for an interval" if without else ", too few documents for a reliable interval")


def _unscored(panel: Panel, terms: Terms, best: Estimate) -> str:
    i, total = panel.scorers.index(best.group["scorer"]), len(panel.x)
    n = int(panel.n_unscored[i])
    if not n:
        return ""
    said = f" {panel.scorers[i]} has no score for {n} of {total} outputs ({panel.why_unscored(i)})"
    if n <= terms.max_unscored * total:
        return said + "."
    return f"{said}: more than {percent(terms.max_unscored, [terms.max_unscored])}, not enough evidence for a light."
