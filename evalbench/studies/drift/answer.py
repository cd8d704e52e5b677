"""Whether quality has fallen since the validation, and whether requests and responses have changed."""

from __future__ import annotations

import re

from evalbench import core, kit
from evalbench.kit.answering import Facts
from evalbench.studies.drift.drops import TOO_LOW
from evalbench.studies.drift.lights import LEAST_ROWS
from evalbench.studies.drift.summary import EARLY, OTHER_MODEL, SAME_ROWS, SWAPPED
from evalbench.studies.drift.unread_texts import EMPTY

SIDES = {"oos": "the validation", "oot": "the later sample"}
BECAUSE = {
    "gini": "a classifier tells the two samples apart by their texts",
    "gini_embedding": "a classifier tells the two samples apart by their texts",
    "expected_drop": "requests like the new ones were answered less well before",
    "predicted_drop": "from how far the new requests lie from the old ones a drop is predicted",
}
"""What a test says that decided and is neither the drop nor a statistic of the texts."""
UNKNOWN = "whether quality has fallen since the validation is not known"
THE_JUDGES = "a drop may be the judge's"
MANY_YELLOW = 3
_STATISTICS = ("stop_words_", "frequencies_", "counts_", "new_tokens_", "predictions_")


def answer(summary: core.Summary, facts: Facts) -> core.Answer:
    """Quality first, then the texts; then what decided, where that is neither, or why nothing did."""
    quality, texts = _quality(summary, facts), _texts(summary)
    parts = [quality, texts] if quality.startswith(UNKNOWN) else [", and ".join(filter(None, [quality, texts]))]
    if not quality and not texts:
        parts = ["no test has a figure, so it is not known what has changed"]
    said = " ".join(f"{kit.saying.opened(part)}." for part in [*parts, _because(summary, quality)] if part)
    return kit.answering.answered(
        summary, facts, said, could_change=_could_change(summary, facts), next=_next(summary, facts)
    )


def _figure(summary: core.Summary, metric: str, **group: str) -> core.Estimate | None:
    return next((e for e in summary.estimates if e.metric == metric and dict(e.group) == group), None)


def _sides(summary: core.Summary) -> tuple[core.Estimate | None, core.Estimate | None]:
    return _figure(summary, "quality", side="oos"), _figure(summary, "quality", side="oot")


def _quality(summary: core.Summary, facts: Facts) -> str:
    """What has become of the quality, or why that is not known, a clause; empty where nobody asked."""
    drop, (then, now) = _figure(summary, "drop"), _sides(summary)
    if drop is None or then is None or now is None:
        return ""
    if drop.light in ("grey", "unlit") or drop.value is None or then.value is None or now.value is None:
        return f"{UNKNOWN}: {_why_unknown(drop, then, now, facts)}"
    before, after = (kit.saying.figure(e, (then, now)) for e in (then, now))
    much = (
        ""
        if _by_level(drop)
        else {"red": "more than is allowed", "yellow": "which is between the thresholds"}.get(drop.light, "")
    )
    if drop.ci_low is not None and drop.ci_low > 0:
        much = much or ("" if _by_level(drop) else "which is within what is allowed")
        return f"quality has fallen since the validation, from {before} to {after}{f', {much}' if much else ''}"
    if drop.ci_high is not None and drop.ci_high < 0:
        return f"quality has risen since the validation, from {before} to {after}"
    if before == after:
        return f"quality is what it was at the validation, {after}"
    though = (
        f", though a drop from {before} to {after} is {much.removeprefix('which is ')}"
        if much
        else f": {before} then, {after} now"
    )
    return f"no change of quality since the validation is shown{though}"


def _by_level(drop: core.Estimate) -> bool:
    """Whether the light of the drop is that of the quality now, which ``key_bands`` judges."""
    return drop.note.startswith(f"{drop.light} since")


def _why_unknown(drop: core.Estimate, then: core.Estimate, now: core.Estimate, facts: Facts) -> str:
    """For want of labels or of scores; else what the drop's note says."""
    most = float(facts.parameters.get("max_unscored", kit.MAX_UNSCORED))
    if judge := _judge(drop):
        return f"{judge}, so {THE_JUDGES if (drop.ci_low or 0.0) > 0 else 'it may hide a drop'}"
    lost = [e for e in (then, now) if e.n_unscored > most * (e.n + e.n_unscored + e.n_undefined)]
    if lost:
        e = max(lost, key=lambda e: e.n_unscored)
        many = "no response" if not e.n + e.n_undefined else core.counted(e.n_unscored, "response")
        return f"{many} of {_side(e)} {'could be scored' if many == 'no response' else 'could not be scored'}"
    few = [e for e in (then, now) if e.n < LEAST_ROWS]
    if not few:
        return kit.saying.lowered(drop.note.split(";")[0]) or "there is not enough evidence"
    if not any(e.n for e in (then, now)):
        return "there are no labels"
    e = min(few, key=lambda e: e.n)
    return f"{_side(e)} has {core.counted(e.n, 'label') if e.n else 'no labels'}"


def _judge(drop: core.Estimate | None) -> str:
    """What has become of the judge where that holds the light of the drop back, a clause; else empty."""
    note = "" if drop is None else drop.note
    if note.startswith("the judge changed"):
        return "another judge marked the later sample"
    moved = re.match(r"the judge itself moved by ([−-]?)", note)
    return f"the judge itself has become {'stricter' if moved[1] else 'more lenient'}" if moved else ""


def _side(e: core.Estimate) -> str:
    return SIDES[e.group["side"]]


def _lights(summary: core.Summary, part: str) -> list[str]:
    """Those of the text statistics of requests or responses."""
    return [e.light for e in summary.estimates if e.metric.startswith(_STATISTICS) and e.metric.endswith(part)]


def _texts(summary: core.Summary) -> str:
    """Which texts have changed, a clause; empty where none could be compared."""
    lights = {part: _lights(summary, part) for part in ("requests", "responses")}
    known = {part: own for part, own in lights.items() if {*own} & {"green", "yellow", "red"}}
    moved = [part for part, own in known.items() if "red" in own or own.count("yellow") >= MANY_YELLOW]
    kept = [part for part in known if part not in moved]
    if not moved:
        what = "lengths and words of the " if _told_apart(summary) else ""
        return f"the {what}{' and '.join(kept)} have hardly changed" if kept else ""
    return f"the {' and '.join(moved)} have changed{f'; the {kept[0]} hardly have' if kept else ''}"


def _told_apart(summary: core.Summary) -> bool:
    """Whether a classifier that tells the samples apart has decided."""
    e = kit.answering.deciding(summary)
    return e is not None and e.metric in ("gini", "gini_embedding") and summary.verdict.light in ("yellow", "red")


def _because(summary: core.Summary, quality: str) -> str:
    """What decided where neither the drop nor the statistics did, or why there is no light; a sentence."""
    e, light = kit.answering.deciding(summary), summary.verdict.light
    if light == "grey" and not quality.startswith(UNKNOWN):
        if e is not None and e.light == "grey" and e.note:
            return f"The {kit.saying.title_of(e)} is not known: {kit.saying.lowered(e.note.split(';')[0])}"
        return f"That is not enough evidence for a verdict: {summary.verdict.missing or EMPTY}"
    if e is None or light not in ("yellow", "red"):
        return ""
    if e.metric == "drop":
        level = "below the level that was asked for" if light == "red" else "between the levels that were asked for"
        return f"quality is now {level}" if _by_level(e) else ""
    return BECAUSE.get(e.metric, "")


def _could_change(summary: core.Summary, facts: Facts) -> core.Line:
    """What else than time lies between the samples; else what every study says."""
    others = tuple(f"{words}." for words in (SAME_ROWS, SWAPPED, OTHER_MODEL, EARLY))
    for said in re.split(r"(?<=\.) ", summary.verdict.sentence):
        if said.endswith(others):
            return core.Line(said.replace("OOT", "the later sample").replace("OOS", "the validation"), "verdict")
    return kit.answering.changing_line(summary, facts)


def _next(summary: core.Summary, facts: Facts) -> core.Line:
    """What to label, or what to read; else what every study says."""
    default, light = kit.answering.next_line(summary, facts), summary.verdict.light
    then, now = _sides(summary)
    e = kit.answering.deciding(summary)
    if light in ("grey", "unlit") and then is not None and now is not None:
        lack = {e.group["side"]: LEAST_ROWS - e.n for e in (then, now) if e.n < LEAST_ROWS and not e.n_unscored}
        if len(lack) == 2:
            return core.Line(
                f"Label {LEAST_ROWS} responses of each side, or leave out the tests that need labels (tests).",
                "figures",
            )
        for side, more in lack.items():
            return core.Line(
                f"Label {core.counted(more, 'more response')} of {SIDES[side]} ({LEAST_ROWS} are needed).", "figures"
            )
    if light == "grey" and _judge(_figure(summary, "drop")):
        return core.Line("Have one judge mark both samples again, or have people label them.", "figures")
    if light == "grey" and any(e.metric == "drop" and TOO_LOW in e.note for e in summary.estimates):
        return core.Line("Say which level of the key metric is good enough (key bands).", "figures")
    if light == "grey" and e is not None and e.light != "grey":
        which = "requests" if summary.verdict.missing.startswith("many requests") else "responses"
        return core.Line(f"Look at the {which}.", "items")
    if e is not None and light in ("yellow", "red") and (default.text.startswith("Look at") or _by_level(e)):
        wrong = e.metric.endswith("drop")
        return core.Line(
            f"Look at the {'later responses that are wrong' if wrong else 'texts that tell the two samples apart'}.",
            "items",
        )
    return default
