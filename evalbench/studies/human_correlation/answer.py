"""Which metrics may stand in for annotators, beside how far one annotator agrees with the others."""

from __future__ import annotations

from collections.abc import Sequence

from evalbench import core, kit
from evalbench.core.wording import count, counted
from evalbench.kit.answering import Facts
from evalbench.studies.human_correlation import pairs as judged_pairs
from evalbench.studies.human_correlation import trust
from evalbench.studies.human_correlation.summary import MAX_CI_WIDTH, agreement_of

NAMED = 3
MAY = "may stand in for annotators"


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Who may, who may not; where that is not known, what the marks of people lack."""
    means = [e for e in summary.estimates if e.metric == "trusted_mean"]
    pairs = [
        e for e in summary.estimates if {"scorer", "criterion"} <= {*e.group} and e.metric not in judged_pairs.FIGURES
    ]
    scorers = list(dict.fromkeys(e.group["scorer"] for e in (*means, *pairs)))
    known = sorted((e for e in means or pairs if e.value is not None), key=agreement_of, reverse=True)
    after: str | None = None
    if not scorers:
        said, after = _without_metrics(summary), "Give a column of scores, or name metrics, to judge one."
    elif not known:
        note = next((e.note for e in (*means, *pairs) if e.note), "").removeprefix("constant human score: ")
        said = f"Whether {_one_of(scorers)} {MAY} cannot be said{f': {note}' if note else ''}."
        after = "Missing for a light: outputs that differ in quality."
    elif not means:
        why, after = _untrusted(summary, facts)
        said = f"Whether {_one_of(scorers)} {MAY} is not known: {_prefers(summary) or _agrees(known[0], scorers, facts)}, but {why}."
    elif known[0].light == "grey":
        why, after = _wide(known[0], facts)
        said = f"Whether {_one_of(scorers)} {MAY} is not known yet: {_agrees(known[0], scorers, facts)}, {why}."
    else:
        said = _said([e for e in known if e.light == known[0].light], scorers, facts)
        after = {
            "red": "Let people mark, or try other metrics.",
            "yellow": f"Look at the outputs on which {known[0].group['scorer']} and people differ most.",
        }.get(known[0].light)
    return kit.answering.answered(summary, facts, said, next=after)


def _one_of(scorers: Sequence[str]) -> str:
    return scorers[0] if len(scorers) == 1 else f"any of {count(len(scorers))} metrics"


def _agrees(best: core.Estimate, scorers: Sequence[str], facts: Facts) -> str:
    """The correlation of the best metric, beside that of one annotator with the others."""
    who = "it" if len(scorers) == 1 else f"the best, {best.group['scorer']},"
    return f"{who} correlates at {kit.saying.figure(best)} with people{_people(facts)}"


def _prefers(summary: core.Summary) -> str:
    """In how many pairs the best metric prefers what people prefer; empty where people compared none."""
    own = kit.saying.ranked(summary, "pair_accuracy")
    if not own:
        return ""
    who = "it" if len({e.group["scorer"] for e in own}) == 1 else f"the best, {own[0].group['scorer']},"
    return f"{who} prefers what people prefer in {kit.saying.share(own[0].value or 0.0)} of pairs"


def _people(facts: Facts) -> str:
    """How far one annotator agrees with the others, over trusted criteria."""
    table = facts.tables.get("agreement")
    if table is None:
        return ""
    ceilings = table.loc[table["trusted"].astype(bool), "ceiling"].dropna()
    if ceilings.empty:
        return ""
    return f", one annotator at {core.wording.signed(f'{ceilings.mean():.2f}')} with the others"


def _said(best: Sequence[core.Estimate], scorers: Sequence[str], facts: Facts) -> str:
    """The metrics of the best light."""
    light, one = best[0].light, len(scorers) == 1
    names = kit.saying.names([e.group["scorer"] for e in best], NAMED)
    of = "" if one else f"Of {count(len(scorers))} metrics "
    first = kit.saying.opened_name(names) if one else names
    agrees = _agrees(best[0], scorers if len(best) > 1 else scorers[:1], facts)
    if light == "red":
        subject = f"{kit.saying.opened_name(names)} may not" if one else f"None of {count(len(scorers))} metrics may"
        return f"{subject} stand in for annotators: {_agrees(best[0], scorers, facts)}."
    return f"{of}{first} {MAY}{' only in part' if light == 'yellow' else ''}: {agrees}."


def _untrusted(summary: core.Summary, facts: Facts) -> tuple[str, str]:
    """Why the marks of people are not trusted, and what would help."""
    alphas = [e for e in summary.estimates if e.metric == "alpha_ordinal"]
    if not alphas:
        return (
            "nothing shows how far people agree with each other",
            f"Have {core.stats.FEW_UNITS} outputs judged by a second person.",
        )
    known = [e for e in alphas if e.value is not None]
    if not known:
        return "people gave every output the same mark", "Missing for a light: outputs that differ in quality."
    best = max(known, key=lambda e: (e.n >= core.stats.FEW_UNITS, -2.0 if e.ci_low is None else e.ci_low))
    lacking = core.stats.FEW_UNITS - best.n
    if lacking > 0:
        two = f"only {counted(best.n, 'output')} {'has' if best.n == 1 else 'have'} marks of two people"
        return two, f"Have {counted(lacking, 'more output')} judged by a second person."
    if (best.ci_low or 0.0) >= float(facts.parameters.get("trust_from", trust.TRUST_FROM)):
        return (
            "the outputs that two people marked are of too few documents",
            "Have outputs of more documents marked by two people.",
        )
    return (
        "people do not agree enough with each other",
        "Make the guideline clearer, or name criteria to rely on (trusted).",
    )


def _wide(best: core.Estimate, facts: Facts) -> tuple[str, str | None]:
    """Why a trusted figure gives no light: few documents, or a wide interval."""
    of = best.n_of.removesuffix("s") or "document"
    if best.n < core.stats.FEW_UNITS:
        return f"but on only {counted(best.n, of)}", None
    most = float(facts.parameters.get("max_ci_width", MAX_CI_WIDTH))
    wide = (best.ci_high or 0.0) - (best.ci_low or 0.0)
    if wide <= most:
        return "but too few could be scored", None
    if not most:
        return "but its interval has a width", None
    more = kit.answering.rounded_up(int(best.n * ((wide / most) ** 2 - 1)) + 1)
    return "but the interval is too wide", f"Missing for a light: about {counted(more, f'more {of}')}."


def _without_metrics(summary: core.Summary) -> str:
    """How far people agree, where no metric takes part."""
    known = [e for e in summary.estimates if e.metric == "alpha_ordinal" and e.value is not None]
    if not known:
        return "No metric takes part, and how far the annotators agree has no value."
    ends = sorted(known, key=lambda e: e.value or 0.0)
    span = dict.fromkeys(kit.saying.figure(e, ends) for e in (ends[0], ends[-1]))
    return f"No metric takes part; the annotators agree with each other at {' to '.join(span)}, where 1 is always and 0 is chance."
