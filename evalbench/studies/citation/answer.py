"""Whose cited answers hold up: are the sources real, do they support what is said, is the answer right?"""

from __future__ import annotations

from dataclasses import replace

from evalbench import core, kit
from evalbench.judge.entail import holds_back
from evalbench.kit.answering import Facts
from evalbench.kit.saying import beside, share

_SLIGHT = 0.1
"""What fails more rarely is no reason."""


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Who passes, who does not and for want of what."""
    found = kit.answering.by_light(summary, "final")
    whole = [e for own in found.values() for e in own]
    if all(e.value is None for e in whole):
        said = "No cited answer could be scored, so it is not known whether they hold up."
        return kit.answering.answered(summary, facts, said)
    nowhere = facts.notes[0].short if _leads_nowhere(summary) and facts.notes and "grey" in found else ""
    green, red, grey = found.get("green", []), found.get("red", []), found.get("grey", [])
    said = kit.saying.parted(
        found,
        "cited answers",
        "hold up",
        "do not" if green else "do not hold up",
        praise=_listed(summary, green[0]) if len(green) == len(whole) == 1 else "",
        blame=_blamed(summary, red[-1], len(whole)) if red else "",
        doubt=_doubted(summary, grey[-1], len(whole), nowhere) if grey else "",
    )
    if len(green) == len(whole) == 2:
        said += " Which are better was not tested."
    decided = kit.answering.decided_line(summary, "Final score")
    after = _next(summary, facts)
    said_already = 1 if nowhere and nowhere in said else 0
    rest = replace(facts, notes=facts.notes[said_already:])
    return kit.answering.answered(summary, rest, said, decided_by=decided, next=after)


def _listed(summary: core.Summary, e: core.Estimate) -> str:
    """The three parts of the question, each with its figure."""
    fake, held, right = (
        beside(summary, metric, e) for metric in ("fabricated_citations", "citation_recall", "correctness")
    )
    parts = []
    if fake is not None:
        some = f"{share(fake.value)} of its citations are" if fake.value else "no citation is"
        parts.append(f"{some} likely fabricated")
    if held is not None:
        parts.append(f"its sources support {_of(held.value or 0.0, 'its statements')}")
    if right is not None:
        parts.append(
            "all its answers are right" if right.value == 1 else f"its answers are {share(right.value or 0.0)} right"
        )
    unknown = "" if right is not None else "; whether they are right is not known"
    return f"{kit.saying.names(parts)}{unknown}"


def _of(value: float, things: str) -> str:
    return f"all {things}" if value == 1 else f"{share(value)} of {things}" if value else f"none of {things}"


def _blamed(summary: core.Summary, worst: core.Estimate, n_models: int) -> str:
    """What fails most in the answers of the least good model; of a single one the two worst."""
    whose = "its" if n_models == 1 else kit.saying.whose(worst)
    figures = {
        metric: e.value or 0.0
        for metric in ("correctness", "fabricated_citations", "citation_recall", "answers_without_a_citation")
        if (e := beside(summary, metric, worst))
    }
    lack = {m: 1 - v if m in ("correctness", "citation_recall") else v for m, v in figures.items()}
    worst_first = sorted((m for m in lack if lack[m] > _SLIGHT), key=lambda m: -lack[m])
    return kit.saying.names(_failed(m, figures[m], whose) for m in worst_first[: 2 if n_models == 1 else 1])


def _failed(metric: str, value: float, whose: str) -> str:
    if metric == "correctness":
        return f"{whose} answers are only {share(value)} right" if value else f"none of {whose} answers is right"
    if metric == "citation_recall":
        return f"the sources support {'only ' if value else ''}{_of(value, f'{whose} statements')}"
    return f"{share(value)} of {whose} {'citations are likely fabricated' if metric == 'fabricated_citations' else 'answers cite nothing'}"


def _doubted(summary: core.Summary, e: core.Estimate, n_models: int, nowhere: str) -> str:
    """Why it is not known: few answers, sources that cannot be followed, or a judge that compares words."""
    if why := kit.saying.too_little(e, "answer"):
        return why
    if nowhere:
        return nowhere
    if n_models > 1:
        return "they were judged by common words alone"
    return f"judged by common words alone, {_listed(summary, e)}"


def _leads_nowhere(summary: core.Summary) -> bool:
    return "name what does not exist" in summary.verdict.missing


def _next(summary: core.Summary, facts: Facts) -> core.Line:
    """To give sources or correct marks, or which answers to look at; else what every study says."""
    default, e = kit.answering.next_line(summary, facts), kit.answering.deciding(summary)
    if _leads_nowhere(summary) and not holds_back(str(facts.parameters.get("judge") or "")):
        return core.Line(
            "Give the sources that are cited, or correct marks, addresses and quotes; then run again.", "notes"
        )
    passed = beside(summary, "passed", e) if e else None
    if default.text.startswith("Look at") and e and passed and e.cuts:
        low = core.counted(round((1 - (passed.value or 0.0)) * passed.n), "answer")
        return core.Line(f"Look at the {low} of {kit.saying.name_of(e)} that score below {e.cuts[0]:g}.", "items")
    return default
