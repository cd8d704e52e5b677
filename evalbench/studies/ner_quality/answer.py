"""Which entities a model finds, and which classes it takes for others."""

from __future__ import annotations

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.studies.ner_quality.scores import OWN

SOUGHT = kit.finders.Sought("strict_f1", "strict_recall", "strict_precision", "entities", " with place and class right")

MORE = "Add texts with entities of this class."


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """What each model finds and which is better; which class the worst takes for which; what is not known."""
    known, open_ones = kit.finders.told(summary, facts, SOUGHT)
    said = kit.finders.sentences(summary, facts, SOUGHT)
    taken = confused(summary, facts)
    if taken:
        whose = "It" if len(known) == 1 else kit.saying.opened_name(kit.saying.name_of(taken[0]))
        true, other, share = pair_of(taken[0], facts)
        often = "too often, in" if taken[0].light == "red" else "in"
        said.append(f"{whose} takes {true} for {other} {often} {kit.saying.share(share)} of cases.")
    elif summary.verdict.light == "green" and sum(e.metric.startswith(OWN) for e in summary.estimates) > len(known):
        said.append(_allowed(summary, facts))
    if summary.verdict.light == "grey" and not open_ones:
        said.append(f"Which classes are confused is not known: {_why(summary)}.")
    return kit.answering.answered(
        summary, facts, kit.doubts.within(kit.doubts.with_doubt(summary, said), 38), next=_next(summary, facts)
    )


def _allowed(summary: core.Summary, facts: Facts) -> str:
    """The largest confusion of those that are green, a sentence."""
    largest = max((e for e in summary.estimates if e.metric.startswith(OWN)), key=lambda e: e.value or 0.0)
    true, other, share = pair_of(largest, facts)
    if not other:
        return "No class is taken for another."
    return f"The largest confusion is of {true} with {other}, {kit.saying.share(share)}, which is within the threshold."


def confused(summary: core.Summary, facts: Facts) -> list[core.Estimate]:
    """The confusions that are not green, the one that decides first, then the largest."""
    own = [
        e
        for e in summary.estimates
        if e.metric.startswith(OWN) and e.light in ("yellow", "red") and e.value and pair_of(e, facts)[1]
    ]
    decides = kit.answering.deciding(summary)
    return sorted(own, key=lambda e: (e is not decides, -(e.value or 0.0)))


def pair_of(e: core.Estimate, facts: Facts) -> tuple[str, str, float]:
    """The class of a confusion, the class that it is taken for most often, and the share."""
    table = facts.tables["confusions"]
    true = e.title.removeprefix("largest confusion of ")
    own = table[(table["true_class"] == true) & (table["predicted_class"] != true)]
    own = own[(own["model"] == e.group.get("model")) & ~own["predicted_class"].str.startswith("(")]
    if own.empty or not own["n"].max():
        return true, "", 0.0
    row = own.iloc[int(own["share"].argmax())]
    return true, str(row["predicted_class"]), float(row["share"])


def _why(summary: core.Summary) -> str:
    """Why there is no light though there are texts enough, a clause."""
    e = kit.answering.deciding(summary)
    note = next((o.note for o in summary.estimates if o.metric.startswith(OWN) and o.value is None and o.note), "")
    why = summary.verdict.missing or (e.note if e else "")
    return kit.saying.lowered(note if note and "no confusion" in why else why) or "there are too few entities"


def scarce(summary: core.Summary) -> bool:
    """Whether a class is found in too few texts to see what it is taken for."""
    return "is found in only" in summary.verdict.missing


def _next(summary: core.Summary, facts: Facts) -> str | None:
    light, decides = summary.verdict.light, kit.answering.deciding(summary)
    if any(note.kind == "shifted" for note in facts.notes):
        return "Check from where places are counted, and run again."
    known, open_ones = kit.finders.told(summary, facts, SOUGHT)
    if light == "grey":
        if open_ones:
            return kit.doubts.adding(open_ones[-1], facts, "text")
        nothing = [e for e in known if not e.value]
        return "Look at the texts: no prediction fits a true entity." if nothing else MORE if scarce(summary) else None
    if light == "green" or decides is None:
        return None
    if not decides.metric.startswith(OWN):
        return kit.finders.look(summary, decides, SOUGHT)
    true, other, _ = pair_of(decides, facts)
    if not other:
        return None
    return f"Look at the {true} entities that {kit.saying.name_of(decides)} takes for {other}."
