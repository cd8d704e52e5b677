"""Which models give the same answer again, and which of those that should vary do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalbench import core, kit
from evalbench.core.wording import counted
from evalbench.kit.answering import Facts
from evalbench.studies.reproduction.summary import COPIED, MEANING, WORDS

SAME = (WORDS, MEANING, "changed", "answer_disagreement", "changed_text", "distinct_ngrams_set", "flickers")
"""Figures of how much the answers to one question differ."""
NAMED = 3
Forms = Mapping[str, tuple[str, str]]
"""Of a light what is said of one group, and of several."""
EXACT: Forms = {
    "green": ("reliably gives the same answer again", "reliably give the same answer again"),
    "yellow": ("mostly gives the same answer again", "mostly give the same answer again"),
    "red": ("does not reliably give the same answer again", "do not reliably give the same answer again"),
}
AFTER: Forms = {"yellow": ("mostly does", "mostly do"), "red": ("does not", "do not")}
"""The same where the first sentence has said what is meant."""
CREATIVE: Forms = {
    "green": ("varies its answers, as a creative task wants", "vary their answers, as a creative task wants"),
    "yellow": (
        "varies its answers too little for a creative task",
        "vary their answers too little for a creative task",
    ),
    "red": (
        "repeats itself, though a creative task wants variety",
        "repeat themselves, though a creative task wants variety",
    ),
}


TELL_APART = "Drop the copies, or add a column trial if each row is a generation of its own."


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Who does, on how many questions another answer came, and of whom it is not known."""
    groups = list({tuple(e.group.items()): e for e in summary.estimates if e.metric in (WORDS, MEANING)}.values())
    parts: list[str] = []
    for light in EXACT:
        if rows := [e for e in groups if not _creative(e, summary) and _light(e, summary) == light]:
            what = (AFTER if parts else EXACT)[light][len(rows) > 1]
            parts.append(f"{_names(rows)} {what}: {_changed(rows, summary, brief=bool(parts))}.")
    for light, forms in CREATIVE.items():
        if rows := [e for e in groups if _creative(e, summary) and _light(e, summary) == light]:
            parts.append(f"{_names(rows)} {forms[len(rows) > 1]}.")
    if rest := [e for e in groups if _light(e, summary) in ("grey", "unlit")]:
        parts.append(_unknown(rest, summary, facts, first=not parts))
    decided = kit.answering.deciding(summary)
    if decided is not None and decided.metric not in SAME:
        title, value = kit.saying.opened(kit.saying.title_of(decided)), kit.saying.figure(decided)
        parts.append(f"{title}: {value}{kit.answering.passing(summary)}.")
    following = TELL_APART if _copied(facts) else _next(decided, summary)
    return kit.answering.answered(summary, facts, " ".join(parts), next=following)


def _copied(facts: Facts) -> bool:
    """Whether the further generations are copies of whole rows."""
    return facts.items is not None and "copied" in facts.items


def _of(e: core.Estimate, summary: core.Summary) -> list[core.Estimate]:
    """The figures of the same group."""
    return [o for o in summary.estimates if o.group == e.group]


def _creative(e: core.Estimate, summary: core.Summary) -> bool:
    """Whether its task wants other answers: it is judged by meaning alone."""
    lit = {o.metric for o in _of(e, summary) if o.light != "unlit"}
    return MEANING in lit and WORDS not in lit


def _light(e: core.Estimate, summary: core.Summary) -> str:
    """The light of how much its answers differ."""
    return core.verdict.worst([o.light for o in _of(e, summary) if o.metric in SAME])


def _names(rows: Sequence[core.Estimate], *, first: bool = True) -> str:
    """Models, of several test sets with these."""
    models = [kit.saying.named(next(iter(e.group.values()), "the whole")) for e in rows]
    sets = [e.group.get("test_set", "") for e in rows]
    one = f" on {sets[0]}" if sets[0] and len({*sets}) == 1 else ""
    said = models if one else [f"{m} on {t}" if t else m for m, t in zip(models, sets, strict=True)]
    text = f"{kit.saying.names(said, NAMED)}{one}"
    return kit.saying.opened_name(text) if first else text


def _changed(rows: Sequence[core.Estimate], summary: core.Summary, *, brief: bool) -> str:
    """On how many questions another answer came."""
    own = [o for e in rows for o in _of(e, summary) if o.metric == "changed" and o.value is not None]
    shares = sorted(o.value or 0.0 for o in own)
    if not shares or not shares[-1]:
        return "no question got a second one"
    ends = dict.fromkeys(map(kit.saying.share, (shares[0], shares[-1])))
    return f"{' to '.join(ends)} of questions {'did' if brief else 'got more than one'}"


def _unknown(rows: Sequence[core.Estimate], summary: core.Summary, facts: Facts, *, first: bool) -> str:
    """Of whom it is not known: too few questions, generations without a text, or copies of one."""
    least = min((max(o.n for o in _of(e, summary)) for e in rows), default=0)
    few = f"only {counted(least, 'question')}" if 0 < least < core.stats.FEW_UNITS else ""
    copied = COPIED if _copied(facts) else ""
    why = copied or few or ("" if least else "no question has two answers to compare")
    names = _names(rows, first=False)
    if not first:
        return f"Not known yet: {names}{f', {why}' if why else ''}."
    gives = "gives" if len(rows) == 1 else "give"
    return f"Whether {names} {gives} the same answer again is not known yet{f': {why}' if why else ''}."


def _next(decided: core.Estimate | None, summary: core.Summary) -> str | None:
    """Of a clear red the questions to look at; else what every study says."""
    if decided is None or summary.verdict.light not in ("red", "yellow") or kit.answering.more_items(decided):
        return None
    changed = next((o for o in _of(decided, summary) if o.metric == "changed" and o.value), None)
    if changed is None or _creative(decided, summary):
        return None
    return f"Look at the {counted(round((changed.value or 0.0) * changed.n), 'question')} that got several answers."
