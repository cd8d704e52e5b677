"""The headline: how well each metric stands in for annotators on criteria that people agree on."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors, kit
from evalbench.studies.human_correlation import pairs as judged_pairs
from evalbench.studies.human_correlation import panels, trust

# Defaults of the options that evaluate and summarise share.
GREEN_FROM, YELLOW_FROM, MAX_CI_WIDTH = 0.7, 0.4, 0.5
AGREEMENT = {
    "ceiling": ("one annotator against the mean of the others", "annotators"),
    "alpha_ordinal": ("Krippendorff's alpha, ordinal", "outputs"),
    "alpha_interval": ("Krippendorff's alpha, interval", "outputs"),
    "alpha_nominal": ("Krippendorff's alpha, nominal", "outputs"),
    "kappa": ("Cohen's kappa, mean over pairs of annotators", "pairs of marks"),
}
"""Metric of the annotators' agreement → its title, and what n counts."""
NAMES = {"spearman": "Spearman", "kendall": "Kendall's tau-b", "pearson": "Pearson"}
LOWER = "lower is better: agreement is negative"


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    checks.choices(level=(panels.LEVEL, *core.correlation_table.LEVELS), coefficient=core.correlation_table.KINDS)
    checks.tried(lambda: thresholds(checks.options["green_from"], checks.options["yellow_from"]))
    checks.at_least(-1, "trust_from")
    checks.at_least(0, "max_ci_width")


@kit.slicing.sliced("id")
def summarise(
    items: pd.DataFrame,
    *,
    trusted: Sequence[str] = (),
    trust_from: float = trust.TRUST_FROM,
    level: str = panels.LEVEL,
    coefficient: str = panels.COEFFICIENT,
    green_from: float = GREEN_FROM,
    yellow_from: float = YELLOW_FROM,
    max_ci_width: float = MAX_CI_WIDTH,
    lower_is_better: Sequence[str] = (),
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Correlations of every metric with every criterion, the mean over trusted criteria, agreement, and the verdict; options as of ``evaluate``."""
    return summary_of(*settled(items, locals()))


def settled(items: pd.DataFrame, options: Mapping[str, Any]) -> tuple[panels.Panel, panels.Terms]:
    """The panel of items and the terms of its lights, by the options of :func:`summarise`."""
    panel = panels.panel_of(**kit.taken(panels.panel_of, {**options, "items": items}))
    bands = thresholds(**kit.taken(thresholds, options))
    trusted = trust.trusted_of(panel, options["trusted"], options["trust_from"])
    return panel, panels.Terms(*trusted, bands, options["max_ci_width"], options["max_unscored"])


def thresholds(green_from: float, yellow_from: float) -> core.verdict.Bands:
    """The light of an agreement.

    Raises ``BadInput`` if the thresholds are not within −1 to 1, or do not ascend.
    """
    bands = kit.verdicts.bands_of(
        kit.rules.rule_of({"green_from": green_from, "yellow_from": yellow_from}, within=(-1, 1))
    )
    if bands is None:
        raise errors.BadInput("green_from and yellow_from must be numbers, got None")
    return bands


def summary_of(panel: panels.Panel, terms: panels.Terms) -> core.Summary:
    """The estimates and the verdict of a panel."""
    scorers = range(len(panel.scorers))
    # Where nothing is trusted there is no mean to open with: the correlations themselves do.
    headline = [_trusted_mean(panel, terms, i) for i in scorers if terms.trusted]
    headline.sort(key=lambda e: (-agreement_of(e), e.group["scorer"]))
    pairs = [_pair(panel, terms, i, j) for i in scorers for j in np.flatnonzero(panel.compared[i]).tolist()]
    people = [
        core.Estimate(
            metric=metric,
            title=title,
            group={"criterion": criterion},
            unit="−1–1",
            higher_is_better=True,
            n_of=n_of,
            **measures[metric]._asdict(),
        )
        for metric, (title, n_of) in AGREEMENT.items()
        for criterion, measures in panel.agreement.items()
        if len(panel.annotators) > 1
    ]
    # What people agree on comes before the pairs; the page folds the agreement that comes after them.
    first, rest = people[: 2 * len(panel.criteria)], people[2 * len(panel.criteria) :]
    middle = (*first, *pairs) if headline else (*pairs, *first)
    compared = judged_pairs.estimates(panel)
    verdict = _verdict(panel, terms, headline, pairs)
    said = judged_pairs.in_words(panel, compared) + verdict.sentence
    notes = _turned_round(terms, headline or pairs)
    verdict = replace(verdict, sentence=core.notes.with_notes(said, notes), notes=notes)
    return core.Summary((*compared, *headline, *middle, *rest), verdict)


def _turned_round(terms: panels.Terms, found: Sequence[core.Estimate]) -> tuple[core.notes.Note, ...]:
    """Of metrics that go against people so far that the reverse would get a better light: the option that says so."""
    names = sorted(
        {
            e.group["scorer"]
            for e in found
            if e.higher_is_better and e.value is not None and e.ci_high is not None and e.ci_high < 0
            and terms.bands.light(-e.value) != "red"
        }
    )  # fmt: skip
    if not names:
        return ()
    option = "-p " + shlex.quote("lower_is_better=" + json.dumps(names, ensure_ascii=False))
    those = f"the metric {names[0]} goes" if len(names) == 1 else f"the metrics {', '.join(names)} go"
    return (core.notes.Note("instrument", f"{those} against people; if less of it is better: {option}"),)


def _pair(panel: panels.Panel, terms: panels.Terms, i: int, j: int) -> core.Estimate:
    level, kind = panel.level, panel.coefficient
    gaps = f"no score for {panel.n_unscored[i]} of {len(panel.x)} outputs" if panel.n_unscored[i] else ""
    return _lit(
        panel, terms, i, panel.measured(i, j, level, kind), panel.counted(i, j, level, kind), panel.n_units(i, j, level),
        metric=f"{kind}_{level}", title=f"{NAMES[kind]}, {level} level",
        group={"scorer": panel.scorers[i], "criterion": panel.criteria[j]}, note=("", gaps),
    )  # fmt: skip


def _trusted_mean(panel: panels.Panel, terms: panels.Terms, i: int) -> core.Estimate:
    level, kind = panel.level, panel.coefficient
    columns, asked = trusted_columns(panel, terms, i), asked_columns(panel, terms, i)
    basis = min(
        panel.counted(i, j, level, kind) for j in columns or asked or np.flatnonzero(panel.compared[i]).tolist()
    )
    n_units = min((panel.n_units(i, j, level) for j in columns), default=0)
    if columns:
        value, replicates = mean_over(panel, columns, i)
        found = panel.with_interval(value, replicates, level, n=basis.n, n_units=n_units)
    else:
        found = core.stats.Measured(
            None, note=panel.reason(i, asked[0], level) if asked else "its own criterion is not trusted"
        )
        basis = panels.Counted(0, basis.n_unscored, basis.n_undefined + basis.n)
    over = f"over {', '.join(panel.criteria[j] for j in columns)}" if columns else ""
    named = {"metric": "trusted_mean", "title": "mean correlation over trusted criteria"}
    return _lit(panel, terms, i, found, basis, n_units, **named, group={"scorer": panel.scorers[i]}, note=(over, ""))


def _lit(
    panel: panels.Panel, terms: panels.Terms, i: int, found: core.stats.Measured, basis: panels.Counted, n_units: int, *, metric: str,
    title: str, group: dict[str, str], note: tuple[str, str],
) -> core.Estimate:  # fmt: skip
    """An estimate of scorer i with its light; ``note``: what goes before and after the note of what was found."""
    sign = panel.signs[i]
    light = _lights(panel, terms, i, found, n_units)[0] if terms.trusted else "grey"
    notes = (note[0], found.note, note[1], LOWER if sign < 0 else "")
    return core.Estimate(
        metric=metric, title=title, group=group, unit="−1–1", higher_is_better=bool(sign > 0), light=light, n_of=panels.UNITS[panel.level],
        cuts=tuple(sorted(float(sign) * cut for cut in terms.bands.cuts)),
        **{**found._asdict(), **basis._asdict(), "note": "; ".join(filter(None, notes))},
    )  # fmt: skip


def _lights(
    panel: panels.Panel, terms: panels.Terms, i: int, found: core.stats.Measured, n_units: int
) -> tuple[core.verdict.Light, core.verdict.Light]:
    """The light of scorer i, and what it would be where the evidence holds it back."""
    if found.value is None:
        return "grey", "grey"
    would_be = terms.bands.light(panel.signs[i] * found.value)
    held_back = _why_grey(panel, terms, found, n_units) or panel.n_unscored[i] > terms.max_unscored * len(panel.x)
    return ("grey" if held_back else would_be), would_be


def _why_grey(panel: panels.Panel, terms: panels.Terms, found: core.stats.Measured, n_units: int) -> str:
    """Why a value is too uncertain for a light, a clause; empty where it is not."""
    low, high = found.ci_low, found.ci_high
    unit = "system" if panel.level == "system" else "document"
    least = panels.FEWEST_SYSTEMS if unit == "system" else core.stats.FEW_UNITS
    if n_units < least:
        return f"it rests on {core.counted(n_units, unit)}, and a light needs {least}"
    if low is None or high is None:
        return "there is no interval"
    if core.ends.ALL_AGREE in found.method or core.stats.no_width(low, high):  # a few systems look certain
        few = n_units < core.stats.FEW_UNITS
        return f"in a bootstrap the interval of {core.counted(n_units, unit)} has no width" if few else ""
    if high - low > terms.max_ci_width:
        return f"its interval is wider than {terms.max_ci_width:g}"
    return ""


def asked_columns(panel: panels.Panel, terms: panels.Terms, i: int) -> list[int]:
    """The trusted criteria that scorer i is compared with."""
    return [j for j, c in enumerate(panel.criteria) if c in terms.trusted and panel.compared[i, j]]


def trusted_columns(panel: panels.Panel, terms: panels.Terms, i: int) -> list[int]:
    """The trusted criteria that scorer i is compared with and has a value on."""
    return [j for j in asked_columns(panel, terms, i) if np.isfinite(panel.headline.values[i, j])]


def mean_over(panel: panels.Panel, columns: list[int], i: int) -> tuple[float, panels.Array]:
    """Scorer i's mean over criteria, and its replicates."""
    found = panel.headline
    return float(found.values[i, columns].mean()), found.replicates[:, i, columns].mean(axis=1)


def _verdict(
    panel: panels.Panel, terms: panels.Terms, headline: Sequence[core.Estimate], pairs: Sequence[core.Estimate]
) -> core.verdict.Verdict:
    """The light of the best metric over trusted criteria; grey, with the correlations, where none is trusted."""
    if not panel.scorers:
        return core.verdict.Verdict("unlit", _agreement_sentence(panel))
    people = "annotators' mean" if len(panel.annotators) > 1 else "human score"
    rule = (
        f"{panel.coefficient} with the {people} at {panel.level} level, averaged over trusted criteria, "
        f"of the best metric: {terms.bands}; grey where its interval is wider than {terms.max_ci_width:g}, or on fewer than "
        + (
            f"{panels.FEWEST_SYSTEMS} systems, or without width on fewer than {core.stats.FEW_UNITS}"
            if panel.level == "system"
            else f"{core.stats.FEW_UNITS} documents"
        )
    )
    if not terms.trusted:
        return core.verdict.Verdict("grey", _untrusted_sentence(panel, terms, pairs), rule)
    known = [e for e in headline if e.value is not None]
    if not known:
        return core.verdict.Verdict("grey", _no_value_sentence(panel, terms, headline[0].note), rule)
    best = max(known, key=agreement_of)
    at = {e.group["scorer"]: panel.scorers.index(e.group["scorer"]) for e in known}
    i = at[best.group["scorer"]]
    columns = trusted_columns(panel, terms, i)
    n_units = min(panel.n_units(i, j, panel.level) for j in columns)
    said = _best_sentence(panel, terms, best, known, headline, columns, n_units)
    if best.light == "grey":
        found = core.stats.Measured(best.value, best.ci_low, best.ci_high)
        return core.verdict.Verdict("grey", said, rule, None, _lights(panel, terms, i, found, n_units)[1], best.place)
    # Each resample has a best metric of its own, as the light has that of all documents.
    each = [mean_over(panel, trusted_columns(panel, terms, k), k)[1] * panel.signs[k] for k in at.values()]
    stability = core.stability.light_stability(terms.bands, np.fmax.reduce(each), best.light)
    return core.verdict.Verdict(best.light, said, rule, stability, None, best.place)


def agreement_of(e: core.Estimate) -> float:
    """The value with the sign that means agreement; below all where there is none."""
    return -2.0 if e.value is None else e.value if e.higher_is_better else -e.value


def _best_sentence(
    panel: panels.Panel, terms: panels.Terms, best: core.Estimate, known: Sequence[core.Estimate], headline: Sequence[core.Estimate],
    columns: Sequence[int], n_units: int,
) -> str:  # fmt: skip
    """The best metric's mean over the trusted criteria that it has a value on."""
    there = [panel.criteria[j] for j in columns]
    found = core.stats.Measured(best.value, best.ci_low, best.ci_high)
    gone = [c for c in terms.trusted if c not in there]
    without = f", without {', '.join(gone)}, where it has no value" if gone else ""
    ceilings = [c.value for name in terms.trusted if (c := panel.agreement[name]["ceiling"]).value is not None]
    ceiling = (
        f"; one annotator against the others: {core.wording.signed(f'{np.mean(ceilings):.2f}')}" if ceilings else ""
    )
    if ceilings and terms.why == trust.NAMED_BEFOREHAND:
        ceiling += trust.doubly_marked(panel, terms.trusted)
    return (
        f"{_name(best, known)}: {panel.coefficient} {core.wording.estimate_text(best, headline)} at {panel.level} level, "
        f"mean over {', '.join(there)} ({terms.why}{without}){ceiling}; "
        f"{_evidence(panel, terms.trusted, best)}.{_unscored(panel, terms, best)}"
        + (f" The light stays grey: {why}." if (why := _why_grey(panel, terms, found, n_units)) else "")
    )


def _no_value_sentence(panel: panels.Panel, terms: panels.Terms, why: str) -> str:
    return f"No metric has a correlation on {', '.join(terms.trusted)}: {why}; {_evidence(panel, terms.trusted)}."


def _agreement_sentence(panel: panels.Panel) -> str:
    """How far the annotators agree, of a study that no metric takes part in."""
    said = []
    alphas = [measures["alpha_ordinal"] for measures in panel.agreement.values()]
    texts = core.wording.aligned([a.value for a in alphas], [a.ci_low for a in alphas], [a.ci_high for a in alphas])
    for (criterion, measures), alpha, text in zip(panel.agreement.items(), alphas, texts, strict=True):
        ceiling = measures["ceiling"].value
        follows = f", one against the others {core.wording.signed(f'{ceiling:.2f}')}" if ceiling is not None else ""
        said.append(f"{criterion}: no alpha ({alpha.note})" if alpha.value is None else f"{criterion} {text}{follows}")
    named = f"Ordinal alpha of {core.counted(len(panel.annotators), 'annotator')}, without a metric"
    return f"{named}: {'; '.join(said)}; {_evidence(panel, panel.criteria)}."


def _untrusted_sentence(panel: panels.Panel, terms: panels.Terms, pairs: Sequence[core.Estimate]) -> str:
    """The best metric of each criterion, and the line that would make a headline of them."""
    option = "-p " + shlex.quote("trusted=" + json.dumps(list(panel.criteria), ensure_ascii=False))
    trusting = f"No light, because no criterion is trusted: {terms.why}. To trust what you know to be sound: {option}"
    said, found = [], []
    for criterion in panel.criteria:
        known = [e for e in pairs if e.group["criterion"] == criterion and e.value is not None]
        if known:
            found.append(max(known, key=agreement_of))
            said.append(f"{core.wording.estimate_text(found[-1], pairs)} with {criterion} ({_name(found[-1], known)})")
    if not found:
        return f"No metric has a correlation: {pairs[0].note}; {_evidence(panel, panel.criteria)}. {trusting}"
    places = [(panel.scorers.index(e.group["scorer"]), panel.criteria.index(e.group["criterion"])) for e in found]
    n_units = min(panel.n_units(i, j, panel.level) for i, j in places)
    return (
        f"Correlation at {panel.level} level ({panel.coefficient}): {'; '.join(said)}; "
        f"{_evidence(panel, panel.criteria, min(found, key=lambda e: e.n), n_units)}."
        f"{_unscored(panel, terms, found[0])} {trusting}"
    )


def _name(best: core.Estimate, known: Sequence[core.Estimate]) -> str:
    return best.group["scorer"] + (f", the best of {len(known)}" if len(known) > 1 else "")


def _evidence(
    panel: panels.Panel, criteria: Sequence[str], best: core.Estimate | None = None, n_units: int = core.stats.FEW_UNITS
) -> str:
    """Documents and outputs, those with human marks where not all have them, and those that the estimate rests on."""
    over = f"{core.counted(panel.n_documents, 'document')}, {core.counted(len(panel.x), 'output')}"
    if panel.level == "system" and panel.has_systems:
        over = f"{core.counted(panel.n_systems, 'system')}, {over}"
    marked = {c: int(np.isfinite(panel.y[:, panel.criteria.index(c)]).sum()) for c in criteria}
    if min(marked.values()) < len(panel.x):
        several = len(set(marked.values())) > 1
        by_criterion = ", ".join(f"{n} on {c}" for c, n in marked.items())
        over += (
            f", with human marks: {by_criterion}" if several else f", {marked[criteria[0]]} of them with human marks"
        )
    if best is not None and best.n_undefined + best.n_unscored:
        over += f", {core.counted(best.n, panels.UNITS[panel.level].removesuffix('s'))} with a value"
    if n_units >= (panels.FEWEST_SYSTEMS if panel.level == "system" else core.stats.FEW_UNITS):
        return over
    without = panel.level == "system" or (best is not None and best.ci_low is None)
    return over + (", too few for an interval" if without else ", too few documents for a reliable interval")


def _unscored(panel: panels.Panel, terms: panels.Terms, best: core.Estimate) -> str:
    i, total = panel.scorers.index(best.group["scorer"]), len(panel.x)
    n = int(panel.n_unscored[i])
    if not n:
        return ""
    said = f" {panel.scorers[i]} has no score for {n} of {total} outputs ({panel.why_unscored(i)})"
    if n <= terms.max_unscored * total:
        return said + "."
    return (
        f"{said}: more than {core.percent(terms.max_unscored, [terms.max_unscored])}, not enough evidence for a light."
    )
