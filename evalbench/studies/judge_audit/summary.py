"""The verdict: every figure of every judge, what it may be used for, and the worst light."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.studies.judge_audit import corrected, figures
from evalbench.studies.judge_audit.doubts import doubts_of
from evalbench.studies.judge_audit.items import LABEL, NOMINAL, PAIRS, ZERO_ONE, annotators_of, labelled_models

EPSILON = 0.15
LEAST = 20
"""Fewer answers than this make the light of a figure grey."""
TURNED = -0.2
"""An agreement that is shown to be lower looks like marks that are turned round."""
MOST_SAID = 3
"""Of so many judges at most the sentence says what each may be used for."""
LABELLED = (*figures.AGREEMENT.values(), "length_bias", "family_gap")


DRAWINGS = (figures.DRAWN, "random", "elsewhere", "probability")


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    checks.choices(labels_drawn=DRAWINGS)
    checks.share("epsilon")
    checks.tried(lambda: figures.lights_of(*(checks.options[name] for name in ("green_from", "yellow_from", "lights"))))


@kit.slicing.sliced(measures=figures.measures)
def summarise(
    items: pd.DataFrame,
    *,
    labels_drawn: str = figures.DRAWN,
    epsilon: float = EPSILON,
    green_from: float = figures.GREEN_FROM,
    yellow_from: float = figures.YELLOW_FROM,
    lights: Mapping[str, Mapping[str, float]] = {},
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Every figure of every judge, and the worst of the lights; options as of ``evaluate``."""
    every = figures.measures(labels_drawn=labels_drawn, green_from=green_from, yellow_from=yellow_from, lights=lights)
    found: list[core.Estimate] = []
    for name, rows in items.groupby("judge", sort=True):
        own, scale = figures.applicable(rows, every), str(rows["scale"].iloc[0])
        group = {"judge": str(name)}
        made = core.measures.estimate(
            rows, own, units=rows["id"], seed=seed, group=group, n_resamples=n_resamples
        ).estimates
        only = labelled_models(rows)
        for e in sorted(made, key=lambda e: e.metric not in PAIRS):
            if e.metric == figures.CORRECTED.get(scale):
                e = corrected.with_formula(e, rows, labels_drawn)
            elif e.metric == figures.TOO_KIND.get(scale):
                e = replace(e, title=corrected.title_of(e.title, only))
            found.append(e)
        if labels_drawn == "probability" and figures.has_rates(rows):
            found.append(corrected.sampled_estimate(rows, group))
    beyond, doubts = _out_of_reach(found), doubts_of(items)

    def held_back(e: core.Estimate) -> str:
        why = doubts.held.get(_judge(e)) or beyond.get(_judge(e), "")
        return why if e.metric in figures.AGREEMENT.values() else ""

    summary = kit.worst_group(
        items,
        [replace(m, least_units=1) for m in every if m.metric in {e.metric for e in found}],
        "judge",
        held_back=lambda e: _held_back(e) or held_back(e),
        notes=[*doubts.notes, *_notes(items, found, beyond), *_turned_round(found, doubts.held)],
        absent=kit.evidence.Absent(),  # criteria have items of their own
        max_unscored=max_unscored,
        estimates=found,
        seed=seed,
        n_resamples=n_resamples,
    )
    uses = uses_of(items, summary.estimates, epsilon)
    uses |= {name: f"{name} cannot be judged by these labels." for name in doubts.held if name in uses}
    said = _sentence(items, summary, uses, max_unscored)
    return replace(summary, verdict=replace(summary.verdict, sentence=said))


def _judge(e: core.Estimate) -> str:
    return str(e.group.get("judge", ""))


def _out_of_reach(found: Sequence[core.Estimate]) -> dict[str, str]:
    """Judge → why its agreement has no light: people agree less among themselves than a light that is not red asks for."""
    cuts = {_judge(e): e.cuts for e in found if e.metric in figures.AGREEMENT.values() and e.cuts}
    low = [
        e
        for e in found
        if e.metric in figures.CEILINGS and e.ci_high is not None and e.n >= LEAST and _judge(e) in cuts
        and e.ci_high < cuts[_judge(e)][0]
    ]  # fmt: skip
    once = {(e.value, e.n): core.wording.estimate_text(e) for e in reversed(low)}  # the same people, judge by judge
    return {_judge(e): f"people agree at {once[e.value, e.n]} themselves" for e in low}


def _notes(items: pd.DataFrame, found: Sequence[core.Estimate], beyond: Mapping[str, str]) -> list[core.Note]:
    """Of the first rank: labels that carry no light, and labels of some models alone."""
    notes = []
    if beyond:
        which = {said: [name for name, own in beyond.items() if own == said] for said in dict.fromkeys(beyond.values())}
        of = "; ".join(
            said if len(which) == 1 else f"{said} ({', '.join(names)})"
            for said, names in list(which.items())[:MOST_SAID]
        )
        compared = _compared_with_people(found, beyond)
        short = f"{of}: no judge can be shown to be good by these labels{compared}"
        notes.append(core.Note("labels", short))
    sides = items[items["is_side"] == 1]
    if len(sides) and sides["mark"].notna().any() and sides["first_slot"].isna().all():
        short = "pairs were shown in one order only: whether the place decides is not known"
        notes.append(core.Note("instrument", short))
    only = {name: labelled_models(rows) for name, rows in items.groupby("judge", sort=True)}
    for models in dict.fromkeys(filter(None, only.values())):
        bare = sorted(set(items["model"]) - set(models))
        listed = ", ".join(bare) if len(bare) <= MOST_SAID else core.counted(len(bare), "model")
        short = f"no answer of {listed} is labelled: corrected figures are of {', '.join(models[:MOST_SAID])} alone"
        notes.append(core.Note("labels", short))
    return notes


def _turned_round(found: Sequence[core.Estimate], held: Mapping[str, str]) -> list[core.Note]:
    """A note where a judge agrees with people less than chance would."""
    names = [
        _judge(e)
        for e in found
        if e.metric in figures.AGREEMENT.values() and e.ci_high is not None and e.ci_high < TURNED and e.n >= LEAST
        and _judge(e) not in held
    ]  # fmt: skip
    if not names:
        return []
    of = core.wording.listed(names, MOST_SAID)
    return [core.Note("labels", f"agreement below that of chance ({of}): are the marks of one side turned round?")]


def _compared_with_people(found: Sequence[core.Estimate], beyond: Mapping[str, str]) -> str:
    """The judge that agrees best, beside people among themselves."""
    own = [e for e in found if e.metric in figures.BEYOND.values() and e.value is not None and _judge(e) in beyond]
    if not own:
        return ""
    best = max(own, key=lambda e: e.value or 0.0)
    low, high = best.ci_low or 0.0, best.ci_high or 0.0
    size = core.wording.estimate_text(best)
    how = "more" if low > 0 else "less" if high < 0 else "neither more nor less"
    return f"; {_judge(best)} agrees with them {how} than they do ({size})"


def _held_back(e: core.Estimate) -> str:
    what = "labelled answer" if e.metric in LABELLED else "answer"
    if e.light == "unlit" or e.n >= LEAST:
        return ""
    return f"{e.title}: {core.counted(e.n, what)}, and under {LEAST} there is no light"


def _sentence(items: pd.DataFrame, summary: core.Summary, uses: Mapping[str, str], max_unscored: float) -> str:
    """Agreement of every judge, what decided, what is missing, and for what each may be used."""
    verdict = summary.verdict
    own = [e for e in summary.estimates if e.metric in figures.AGREEMENT.values()]
    ordered = sorted(own, key=lambda e: -math.inf if e.value is None else -e.value)
    if len(ordered) > kit.verdicts.NAMED:
        ordered = [ordered[0], ordered[-1]]
    titles = list(dict.fromkeys(e.title for e in ordered))
    alone = titles[0] if len(titles) == 1 else "agreement with people"
    labelled = any(e.n for e in own)
    agreements = "; ".join(_figure(e, own, "" if len(titles) == 1 else e.title) for e in ordered)
    if not labelled:
        agreements = "is not known, since no answer has both a mark and a label"
    doubted = [n.short for n in doubts_of(items).notes]
    lead = [*doubted, *(n.short for n in verdict.notes if "no judge can be shown" in n)]
    parts = [
        *(f"{short[:1].upper()}{short[1:]}." for short in lead),
        *_pairs_in_words(summary),
        f"{alone[:1].upper()}{alone[1:]} {agreements}{_ceilings(summary)}; {core.counted(items.loc[items['undefined'] == '', 'id'].nunique(), 'item')}.",
    ]
    if verdict.light == "green":
        lit = list(dict.fromkeys(e.title for e in summary.estimates if e.light == "green"))
        parts.append(f"Every light is green: {', '.join(lit)}.")
    elif verdict.decided_by and verdict.decided_by["metric"] not in figures.AGREEMENT.values():
        e = summary.estimate(**verdict.decided_by)
        if e.value is not None:
            parts.append(
                f"What decides is the {e.title}, {core.wording.estimate_text(e)} ({e.group.get('judge', '')})."
            )
    parts.append(kit.verdicts.left_out(items).strip())
    if verdict.light == "grey" and labelled:
        why = dict.fromkeys(filter(None, (_held_back(e) for e in summary.estimates if e.light == "grey")))
        why |= dict.fromkeys(["these labels carry none"] if lead else [])
        few = [e for e in summary.estimates if e.light == "grey" and kit.evidence.unscored_share(e, max_unscored)]
        listed = [*why, *([f"more than {core.percent(max_unscored, [max_unscored])} are unscored"] if few else [])]
        said = "; ".join(listed[:3]) or "a figure has no value"
        would_be = f"; the figures alone would give {verdict.would_be}" if verdict.would_be else ""
        parts.append(f"The light stays grey: {said}{would_be}.")
    parts += uses.values() if len(uses) <= MOST_SAID else [_together(uses)]
    return " ".join(filter(None, parts))


def _pairs_in_words(summary: core.Summary) -> list[str]:
    """What became of pairs over both orders, of the judge with the most right."""
    own = [e for e in summary.estimates if e.metric == PAIRS[0] and e.value is not None]
    if not own:
        return []
    best = max(own, key=lambda e: e.value or 0.0)
    of = {e.metric: e for e in summary.estimates if e.group == best.group}
    name = f"{_judge(best)}, the best of {len(own)}" if len(own) > 1 else _judge(best)
    counts = ", ".join(
        f"{words} {core.wording.estimate_text(of[metric])} ({round((of[metric].value or 0.0) * best.n)})"
        for metric, words in zip(PAIRS, ("right", "undecided or inconsistent", "wrong"), strict=True)
    )
    slot = of.get("first_slot")
    orders = "In one order" if slot is None or slot.value is None else "Over both orders"
    return [f"{orders} of {core.counted(best.n, 'pair')} {name} is {counts}."]


def _figure(e: core.Estimate, own: Sequence[core.Estimate], title: str) -> str:
    name = ", ".join(filter(None, [e.group.get("judge", ""), title]))
    return f"has no value ({name}: {e.note})" if e.value is None else f"{core.wording.estimate_text(e, own)} ({name})"


def _ceilings(summary: core.Summary) -> str:
    """How far people agree among themselves, where that is one figure."""
    known = [e for e in summary.estimates if e.metric in figures.CEILINGS and e.value is not None]
    if len({(e.value, e.n) for e in known}) != 1:
        return ""
    return f"; people among themselves {core.wording.estimate_text(known[0])}"


def _together(uses: Mapping[str, str]) -> str:
    """Many judges in one sentence, by what they may be used for."""
    kinds: dict[str, list[str]] = {}
    for name, said in uses.items():
        kinds.setdefault(next(kind for mark, kind in KINDS.items() if mark in said), []).append(name)
    listed = [
        f"{kind}: {', '.join(names) if len(names) <= kit.verdicts.NAMED else core.counted(len(names), 'judge')}"
        for kind, names in kinds.items()
    ]
    text = "; ".join(sorted(listed, key=lambda one: list(KINDS.values()).index(one.partition(": ")[0])))
    return f"{text[:1].upper()}{text[1:]}."


KINDS: Mapping[str, str] = {
    "may take the place": "to be used in place of an annotator",
    "as an annotator does": "to be used with the limits below",
    "once they are corrected": "to be used for rates that labels correct, within the limits below",
    "in place of people": "not to be used",
    "cannot be judged": "not known yet",
    "more than people": "agree with people more than people among themselves",
    "less than people": "agree with people less than people among themselves",
    "as much as people": "agree with people as people among themselves",
}
"""The words of one judge's sentence → those for all such judges."""


def alternative(rows: pd.DataFrame, epsilon: float) -> core.annotators.AlternativeAnnotator:
    """The alternative annotator test of one judge's answers."""
    columns = annotators_of(rows)
    table = rows[[*columns]].to_numpy(dtype=float).reshape(len(rows), -1)
    there = [j for j in range(len(columns)) if (table[:, j] == table[:, j]).any()]
    return core.annotators.alternative_annotator_test(
        rows["mark"].to_numpy(dtype=float),
        table[:, there],
        epsilon=epsilon,
        ordered=bool(rows["scale"].iloc[0] not in (ZERO_ONE, NOMINAL)),
        names=[columns[j].removeprefix(LABEL) for j in there],
    )


def uses_of(items: pd.DataFrame, estimates: Sequence[core.Estimate], epsilon: float) -> dict[str, str]:
    """Of every judge one sentence: for what it may be used, and for what not."""
    found = {}
    for name, rows in items.groupby("judge", sort=True):
        own = {e.metric: e for e in estimates if e.group.get("judge") == name}
        found[str(name)] = use_of(str(name), rows, own, alternative(rows, epsilon))
    return found


def use_of(
    name: str, rows: pd.DataFrame, own: Mapping[str, core.Estimate], test: core.annotators.AlternativeAnnotator
) -> str:
    """The sentence of one judge."""
    scale = str(rows["scale"].iloc[0])
    agreement = own[figures.AGREEMENT[scale]]
    findings = found_in(own)
    limits = [limit for limit, _ in findings.values()]
    kind = kindness(own.get(figures.TOO_KIND.get(scale, "")))
    if agreement.n < LEAST or agreement.value is None:
        lead = f"cannot be judged yet: {core.counted(agreement.n, 'labelled answer')}, and at least {LEAST} are needed"
        if agreement.n >= LEAST:
            lead = f"cannot be judged by these labels: {agreement.note}"
        return f"{name} {lead}{f'; not to be used {_listed(limits)}' if limits else ''}."
    beyond = own.get(figures.BEYOND[scale])
    if agreement.light == "grey" and beyond is not None and beyond.value is not None:
        how = (
            "more than" if (beyond.ci_low or 0.0) > 0 else "less than" if (beyond.ci_high or 0.0) < 0 else "as much as"
        )
        limit = f"; not to be used {_listed(limits)}" if limits else ""
        return f"{name} agrees with people {how} people among themselves ({core.wording.estimate_text(beyond)}){limit}."
    if agreement.light == "red":
        also = f", nor {_listed(limits)}" if limits else ""
        return f"{name} is not to be used in place of people ({agreement.title} {core.wording.estimate_text(agreement)}){also}."
    rates = "the share of each kind" if scale == NOMINAL else "rates and means"
    may = f"may estimate {rates} once they are corrected by labels"
    if agreement.light == "green" and test.may_replace and not limits:
        may = f"may take the place of an annotator, and estimate {rates}"
    elif agreement.light == "green" and test.may_replace:
        may = "agrees with people as an annotator does"
    not_for = [*limits, *([f"for rates without correction ({kind})"] if kind else [])]
    if not test.may_replace:
        not_for.append("in place of an annotator" + ("" if test.may_replace is False else " (not tested)"))
    return f"{name} {may}; not to be used {_listed(not_for)}." if not_for else f"{name} {may}."


def found_in(own: Mapping[str, core.Estimate]) -> dict[str, tuple[str, str]]:
    """What the probes found: figure → for what the judge is then not to be used, and the finding's name."""
    out: dict[str, tuple[str, str]] = {}
    for metric, e in own.items():
        if e.value is None or e.n < LEAST or e.light not in ("yellow", "red") or metric in figures.AGREEMENT.values():
            continue
        if metric == "first_slot":
            place = "first" if e.value > 0.5 else "second"
            out[metric] = ("for pairs in one order only", f"prefers the answer shown {place}")
        elif metric == "length_bias":
            out[metric] = (
                "to compare answers of different length",
                f"prefers {'longer' if e.value > 0 else 'shorter'} answers",
            )
        elif metric in PROBES:
            out[metric] = PROBES[metric]
    if "family_gap" in out and (own["family_gap"].value or 0) < 0:
        out["family_gap"] = ("to compare its own family with others", "is stricter with its own family")
    null = own.get("null_answer")
    if null is not None and null.ci_low is not None and null.ci_low > 0.1:
        out["null_answer"] = PROBES["null_answer"]
    return out


PROBES: Mapping[str, tuple[str, str]] = {
    "repeat_equal": ("for single verdicts", "contradicts itself when asked again"),
    "null_answer": ("where systems compete for its praise", "gameable: rewards a constant text"),
    "raised": ("where authors of answers know of it", "obeys orders written into answers"),
    "family_gap": ("to compare its own family with others", "favours its own family"),
    "unparsed": ("without a look at what it left unmarked", "often gives no mark"),
    "inconsistent": ("for pairs in one order only", "changes sides with the order"),
}


def kindness(e: core.Estimate | None) -> str:
    """By how much a judge is too kind or too strict, where its interval is on one side of 0; else empty."""
    if e is None or e.value is None or e.ci_low is None or e.ci_high is None or e.ci_low <= 0 <= e.ci_high:
        return ""
    return kindness_in_words(e)


def kindness_in_words(e: core.Estimate) -> str:
    value = e.value or 0.0
    return f"{_size(abs(value), e.unit)} too {'kind' if value > 0 else 'strict'}"


def kindness_with_interval(e: core.Estimate) -> str:
    """The same with its interval, which runs in the direction that is said."""
    low, high = e.ci_low or 0.0, e.ci_high or 0.0
    shown = "" if low > 0 or high < 0 else "Not shown to be too kind or too strict: "
    if (e.value or 0.0) <= 0:
        low, high = -high, -low
    return f"{shown}{kindness_in_words(e)} {_ends(low, high, e.unit)}"


def _size(value: float, unit: str) -> str:
    text = core.wording.signed(f"{value:.2g}") if unit == "marks" else core.wording.signed(f"{100 * value:.0f}")
    return f"{text} {'mark' if unit == 'marks' else 'point'}{'' if text in ('1', '−1') else 's'}"


def _ends(low: float, high: float, unit: str) -> str:
    return "[" + ", ".join(_size(end, unit).partition(" ")[0] for end in (low, high)) + "]"


def _listed(parts: Sequence[str]) -> str:
    unique = list(dict.fromkeys(parts))
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} or {unique[-1]}"


def figures_of(summary: Any, judge: str) -> dict[str, core.Estimate]:
    """A judge's estimates by their metric."""
    return {e.metric: e for e in summary.estimates if e.group.get("judge") == judge}
