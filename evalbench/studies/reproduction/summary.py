"""Items to figures of every test set and model, and their verdict: by words or by meaning, as the task asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.reproduction import inputs

WORDS, MEANING = "lexical_diversity", "semantic_diversity"
LIT: Mapping[str, str] = {inputs.EXACT: WORDS, inputs.CREATIVE: MEANING}
MARKED = ("correct", "flickers")
"""Figures of generations that are marked right or wrong."""
# A value at a threshold has the worse light, also where floating point puts it beside.
BANDS: Mapping[str, core.verdict.Bands] = {
    inputs.EXACT: core.verdict.Bands.cut(
        "green", 3 - kit.verdicts.ROUNDING, "yellow", 5 - kit.verdicts.ROUNDING, "red"
    ),
    inputs.CREATIVE: core.verdict.Bands.cut(
        "red", 3 + kit.verdicts.ROUNDING, "yellow", 5 + kit.verdicts.ROUNDING, "green"
    ),
}
TITLES: Mapping[str, str] = {WORDS: "lexical diversity", MEANING: "semantic diversity"}
JUDGED: Mapping[str, str] = {inputs.EXACT: "exact task, by words", inputs.CREATIVE: "creative task, by meaning"}
COPIED = "the further generations are copies of whole rows, so that one answer may be listed again"
SEVERAL = "by test set"
"""The task of a table whose test sets have several."""
Rules = Mapping[str, Mapping[str, float]]


def measures(*, task: str = "") -> tuple[core.Measure, ...]:
    """The figures of a test set of this task, without lights; of test sets of several tasks, without a direction.

    Examples
    --------
    >>> [(m.metric, m.higher_is_better) for m in measures(task="creative")[:3]]
    [('semantic_diversity', True), ('lexical_diversity', None), ('changed', None)]
    """
    one = {"": inputs.EXACT}.get(task, task)
    fewer = False if one == inputs.EXACT else None
    lexical, semantic = (_in_points(WORDS, fewer), _in_points(MEANING, True if one == inputs.CREATIVE else fewer))
    one_answer = "every question has fewer than two generations with a text"
    return (
        *((semantic, lexical) if one == inputs.CREATIVE else (lexical, semantic)),
        core.share_of("changed", higher_is_better=fewer, title="questions with several answers", undefined=one_answer),
        core.mean_of(
            "answer_disagreement", higher_is_better=fewer, title="pairs of answers that differ", undefined=one_answer
        ),
        core.share_of(
            "changed_text", higher_is_better=fewer, title="questions with several texts", undefined=one_answer
        ),
        core.mean_of("distinct_ngrams_set", higher_is_better=None, title="distinct n-grams, set", undefined=one_answer),
        core.mean_of(
            "distinct_ngrams_pairs_handbook",
            higher_is_better=None,
            title="distinct n-grams, pairs (handbook)",
            undefined=one_answer,
        ),
        core.mean_of("correct", title="right answers", undefined="no generation is marked right or wrong"),
        core.share_of(
            "flickers",
            higher_is_better=False,
            title="questions that flicker",
            undefined="no question has two generations that are marked right or wrong",
        ),
    )


def _in_points(column: str, higher_is_better: bool | None) -> core.Measure:
    """A mean in percentage points; not scored counts as what the task does not want."""
    worst_of = {False: 100.0, True: 0.0}
    return core.Measure(
        column,
        (column, f"#{column}"),
        _percentage_points,
        unit="pp",
        higher_is_better=higher_is_better,
        title=TITLES[column],
        undefined="every question has fewer than two generations with a text",
        worst=None if higher_is_better is None else worst_of[higher_is_better],
        scale=(0.0, 100.0),
    )


def _percentage_points(total: core.arrays.Floats, n: core.arrays.Floats) -> core.arrays.Floats:
    return 100 * core.ratio(total, n)


def rules_of(lights: Mapping[str, Any] | None, tasks: Sequence[str]) -> Rules:
    """The thresholds of a user's own, checked.

    Raises ``BadInput`` for a figure that is not there, that no task gives a direction, and faulty thresholds: all at
    once.
    """
    known = {}
    for m in measures():
        directions = [n.higher_is_better for t in tasks for n in measures(task=t) if n.metric == m.metric]
        better = next((d for d in directions if d is not None), None)
        known[m.metric] = kit.rules.Figure(better, (0.0, 100.0 if m.metric in TITLES else 1.0))
    return kit.rules.rules_of(lights, known)


def with_lights(task: str, lights: Rules) -> tuple[core.Measure, ...]:
    """The figures of a task with their lights: the task's own, and those of a user."""
    out = []
    for measure in measures(task=task):
        bands = BANDS[task] if measure.metric == LIT[task] else None
        rule = lights.get(measure.metric)
        if rule and measure.higher_is_better is not None and ("green_from" in rule) == measure.higher_is_better:
            bands = kit.verdicts.bands_of(rule)
        out.append(replace(measure, bands=bands) if bands else measure)
    return tuple(out)


def groups_of(items: pd.DataFrame) -> Iterator[tuple[dict[str, str], str, pd.DataFrame]]:
    """Every model, or model and test set, with its task and its items."""
    by = ["model", *(["test_set"] if "test_set" in items else [])]
    for names, rows in items.groupby(by, sort=True):
        yield dict(zip(by, map(str, names), strict=True)), str(rows["task"].iloc[0]), rows


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    task = checks.options["task"]
    checks.tried(lambda: rules_of(checks.options["lights"], (task,) if task in inputs.TASKS else inputs.TASKS))


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    task: str = "",
    lights: Rules | None = None,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Figures of every test set and model, and the verdict: the worst light decides; options as of ``evaluate``."""
    options = {"seed": seed, "n_resamples": n_resamples}
    found: list[core.Estimate] = []
    shown: list[core.Estimate] = []
    lit: list[tuple[int, core.Measure, pd.DataFrame]] = []
    lost: dict[str, str] = {}
    absent = kit.evidence.absent_of(items.assign(_unit=_units(items)), "model", "_unit", unit="question")
    too_many = absent.too_many(max_unscored)
    for group, of, rows in groups_of(items):
        marked = "correct" in rows and (rows["correct"].notna().any() or not {*(lights or {})}.isdisjoint(MARKED))
        own = [m for m in with_lights(of, lights or {}) if m.metric in rows and (marked or m.metric not in MARKED)]
        why = _lost(rows, max_unscored)
        if not why and group["model"] in too_many:
            why = f"more than {core.percent(max_unscored, [max_unscored])} of the questions are absent"
        estimates = _estimates(rows, own, group, options)
        few = [kit.evidence.too_few(e) for m, e in zip(own, estimates, strict=True) if m.bands is not None]
        if why := why or next(filter(None, few), ""):
            lost[", ".join(group.values())] = why
        for measure, e in zip(own, estimates, strict=True):
            if measure.bands is not None:
                lit.append((len(found), measure, rows))
            found.append(e)
            shown.append(kit.verdicts.held(e, why, kit.evidence.unscored_share(e, max_unscored)))
    light, alone = (core.verdict.worst([side[i].light for i, _, _ in lit]) for side in (shown, found))
    basis = found if light == "grey" else shown
    alone = core.verdict.worst([basis[i].light for i, _, _ in lit])
    decided = core.result.decisive([basis[i] for i, _, _ in lit])
    own_of = {(m.metric, *found[i].group.values()): LIT[str(rows["task"].iloc[0])] for i, m, rows in lit}
    about = [found[i] for i, m, _ in lit if m.metric in TITLES]
    sentence = "".join(
        (
            _figures(about, found, task),
            _other(decided, own_of[decided.metric, *decided.group.values()]),
            f"; {_size(items)}.",
            kit.sentences.few([e for e in about if not kit.evidence.too_few(e)]),
            kit.verdicts.left_out(items),
            _not_compared(items),
            _grey(lost, light, alone, [e for e in about if kit.evidence.unscored_share(e, max_unscored)], max_unscored),
        )
    )
    drawn = [
        core.stability.Lit(rows, _units(rows), m, basis is shown and shown[i] is not found[i]) for i, m, rows in lit
    ]
    stability = core.stability.joint_stability(drawn, alone, **options)
    tasks = dict.fromkeys(task_of for _, task_of, _ in groups_of(items))
    rule = "; ".join(
        f"{m.title} ({t}), pp: {m.bands}" if m.unit == "pp" else f"{m.title} ({t}): {m.bands}"
        for t in tasks
        for m in with_lights(t, lights or {})
        if m.bands
    )
    verdict = core.verdict.Verdict(
        light,
        sentence,
        f"{rule}; the worst decides",
        stability,
        None if alone == light else alone,
        decided.place,
        absent.notes(),
    )
    directions = {m.metric: m.higher_is_better for m in measures(task=task)}
    if (
        task == SEVERAL
    ):  # what is better in one test set is worse in another, so that the figure itself has no direction
        shown = [replace(e, higher_is_better=directions[e.metric]) for e in shown]
    return core.Summary(tuple(shown), verdict)


def _estimates(
    rows: pd.DataFrame, own: Sequence[core.Measure], group: Mapping[str, str], options: Mapping[str, int]
) -> tuple[core.Estimate, ...]:
    """Of a figure that has reasons of its own why it is not scored, with these."""
    apart = [m for m in own if f"{m.metric}_unscored" in rows]
    together = [m for m in own if m not in apart]
    found = {
        e.metric: e for e in core.measures.estimate(rows, together, units=rows["id"], group=group, **options).estimates
    }
    for m in apart:
        why = rows["unscored"].where(rows["unscored"] != "", rows[f"{m.metric}_unscored"])
        seen = rows.assign(unscored=why)
        found |= {
            e.metric: e for e in core.measures.estimate(seen, [m], units=rows["id"], group=group, **options).estimates
        }
    return tuple(found[m.metric] for m in own)


def _units(rows: pd.DataFrame) -> pd.Series:
    """Questions by name; those of two test sets may have the same id."""
    return rows["test_set"] + "/" + rows["id"] if "test_set" in rows else rows["id"]


# -- what is said --------------------------------------------------------------------------------


def _figures(about: Sequence[core.Estimate], found: Sequence[core.Estimate], task: str) -> str:
    """The figures that have a light, by task, the worst first; how many answers change beside them."""
    said = []
    for t in (inputs.EXACT, inputs.CREATIVE):
        own = sorted((e for e in about if e.metric == LIT[t]), key=lambda e: _goodness(e, t))
        if not own:
            continue
        default = ", the default" if t == inputs.EXACT and not task else ""
        known = [e for e in own if e.value is not None]
        named = own if len(own) <= kit.verdicts.NAMED or len(known) < 2 else [known[0], known[-1]]
        more = f" (the ends of {len(own)})" if len(named) < len(own) else ""
        figures = "; ".join(_said(e, own, found) for e in named)
        said.append(f"judged as {_an(t)} {JUDGED[t]}{default}: {TITLES[LIT[t]]}{more} {figures}")
    text = ". ".join(part[:1].upper() + part[1:] for part in said)
    return text or "No figure has a light"


def _an(task: str) -> str:
    return "an" if task == inputs.EXACT else "a"


def _goodness(e: core.Estimate, task: str) -> tuple[bool, float]:
    return e.value is not None, (e.value or 0.0) * (-1 if task == inputs.EXACT else 1)


def _said(e: core.Estimate, own: Sequence[core.Estimate], found: Sequence[core.Estimate]) -> str:
    name = "" if len(own) == 1 and [*e.group.values()] == [kit.collecting.UNNAMED] else ", ".join(e.group.values())
    if e.value is None:
        return f"has no value ({', '.join(filter(None, [name, e.note]))})"
    if e.metric == MEANING:
        return f"{core.wording.estimate_text(e, own)} pp{f' ({name})' if name else ''}"
    shares = [f for f in found if f.metric == "changed"]
    changed = next(core.wording.share_text(f, shares) for f in shares if f.group == e.group)
    return f"{core.wording.estimate_text(e, own)} pp ({f'{name}; ' if name else ''}{changed} of the questions get more than one answer)"


def _other(decided: core.Estimate, own: str) -> str:
    """The figure that the light rests on, where it is not the one that its task is judged by."""
    if decided.metric == own:
        return ""
    unit = " pp" if decided.unit == "pp" else ""
    value = (
        f"no value ({decided.note})"
        if decided.value is None
        else f"{core.wording.estimate_text(decided, [decided])}{unit}"
    )
    named = [name for name in decided.group.values() if name != kit.collecting.UNNAMED]
    whose = f" ({', '.join(named)})" if named else ""
    return f"; the light is that of {decided.title}: {value}{whose}"


def _size(items: pd.DataFrame) -> str:
    sizes = items["n_generations"]
    low, high = int(sizes.min()), int(sizes.max())
    each = core.counted(low, "generation") if low == high else f"{low} to {high} generations"
    sets = items["test_set"] if "test_set" in items else [""] * len(items)
    n = len(dict.fromkeys(zip(sets, items["id"], strict=True)))
    return f"{core.counted(n, 'question')}, {each}{' each' if n > 1 else ''}"


def _not_compared(items: pd.DataFrame) -> str:
    """How many generations are lost or empty, and how many questions have no pair to compare."""
    total, lost, empty = (int(items[name].sum()) for name in ("n_generations", "n_lost", "n_empty"))
    parts = [f"{n} {what}" for n, what in ((lost, "lost"), (empty, "empty")) if n]
    out = f" Of {total} generations {' and '.join(parts)}: not compared." if parts else ""
    undefined = int((items["undefined"] != "").sum())
    if undefined:
        verb = "has" if undefined == 1 else "have"
        out += (
            f" {undefined} of {len(items)} {verb} no diversity ({'; '.join(sorted(set(items['undefined']) - {''}))})."
        )
    return out


def _lost(rows: pd.DataFrame, max_unscored: float) -> str:
    """Why a group's light stays grey: its generations are copies, or too many are lost, empty or an endpoint's error."""
    if "copied" in rows:
        return COPIED
    total, gone = int(rows["n_generations"].sum()), int((rows["n_lost"] + rows["n_empty"]).sum())
    errors = int(rows["n_errors"].sum()) if "n_errors" in rows else 0  # items of earlier runs do not say
    said = ((gone, "are lost or empty"), (errors, "read like an error of an endpoint"))
    return next(
        (
            f"{core.percent(n / total, [max_unscored])} of the generations {what}"
            for n, what in said
            if n > max_unscored * total
        ),
        "",
    )


def _grey(
    lost: Mapping[str, str], light: str, alone: str, without: Sequence[core.Estimate], max_unscored: float
) -> str:
    """Why the light, or that of some groups, stays grey, and what it would be."""
    crowd = [", ".join(e.group.values()) for e in without if ", ".join(e.group.values()) not in lost]
    whose: dict[str, list[str]] = {}
    for name, why in lost.items():
        whose.setdefault(why, []).append(name)
    reasons = [f"{'; '.join(names)}: {why}" for why, names in whose.items()]
    reasons += [
        f"{name}: more than {core.percent(max_unscored, [max_unscored])} of the questions are unscored"
        for name in crowd
    ]
    if not reasons:
        return ""
    if light == "grey":
        return kit.verdicts.stays_grey("; ".join(reasons), alone)
    groups = "that group stays" if len(lost) + len(crowd) == 1 else "these groups stays"
    return f" {'; '.join(reasons)}, so the light of {groups} grey."


def lost_generations(rows: pd.DataFrame) -> list[str]:
    """Notes that count the generations that were not compared."""
    lost = rows["unscored"][rows["unscored"] != ""]
    spoken = rows["answer"][rows["unscored"] == ""]
    empty = int(np.sum([not text.strip() for text in spoken]))
    out = []
    if len(lost):
        out.append(f"Lost generations, in no figure: {len(lost)} of {len(rows)} ({core.unscored.counted(lost)}).")
    if empty:
        wrong = " Where there are references, they count as wrong answers." if "reference" in rows else ""
        out.append(f"Empty generations, not compared with others: {empty} of {len(rows)}.{wrong}")
    return out
