"""Items to headline figures and their light."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.trajectories import faults, judging
from evalbench.studies.trajectories.lacking import Lacking, lacking

CLEANED = "success_without_others_faults"
EVERY_TRIAL = 0
"""The k of pass^k that stands for as many trials as nearly every task has."""
ENDLESS = ("calls", "seconds", "tokens", "cost")
_UNKNOWN = "no task says which calls are expected"
_NO_SUCCESS = "no trajectory reached the goal"
_NOT_REQUIRED = "no trajectory has requirements that are all judged"
FLAT = "every task has the same value, which does not say how far other tasks may differ: no interval"
_NO_CALL = "no call was made"
_NO_SCHEMA = "no call is of a tool whose schema is given"
_NO_TOOLS = "no call was made, or no table lists the tools"


def all_measures(k: int) -> tuple[core.Measure, ...]:
    """Every figure of one model."""
    return (
        core.share_of("success"),
        core.share_of("pass_hat", "pass_hat_k", title=f"pass^{k}", undefined=f"no task has {k} scored trials"),
        core.share_of("pass_at", "pass_at_k", title=f"pass@{k}", undefined=f"no task has {k} scored trials"),
        core.share_of(
            "own_success",
            CLEANED,
            title="success, without what others are to blame for",
            undefined="no outcome says whose fault a failure is",
            worst=None,
        ),
        _ratio("n_met", "n_required", "requirements_met", "requirements met", undefined=_NOT_REQUIRED),
        _ratio(
            "n_met_with_needs",
            "n_required",
            "requirements_met_with_needs",
            "requirements met with all that they need",
            undefined=_NOT_REQUIRED,
        ),
        core.share_of("all_met", "every_requirement_met", title="every requirement met", undefined=_NOT_REQUIRED, worst=None),
        core.measures.precision_of("tp", "fp", "call_precision", title="precision of calls", undefined=_UNKNOWN),
        core.measures.recall_of("tp", "fn", "call_recall", title="recall of calls", undefined=_UNKNOWN),
        core.measures.f1_of("tp", "fp", "fn", "call_f1", title="F1 of calls", undefined=_UNKNOWN),
        _ratio("named", "made", "precision_by_name", "precision by tool alone", undefined=_UNKNOWN),
        _ratio("named", "wanted", "recall_by_name", "recall by tool alone", undefined=_UNKNOWN),
        core.share_of("ordered", "order_kept", title="expected calls in order", undefined="no task has an order of calls"),
        core.share_of(
            "forbidden", "forbidden_calls", title="trajectories with a forbidden call", higher_is_better=False,
            undefined="no task forbids a tool", worst=None,
        ),
        _ratio("n_unreadable", "n_calls", "unreadable_arguments", "calls with unreadable arguments", higher_is_better=False),
        _ratio(
            "n_misfit", "n_held", "misfit_calls", "calls that do not fit their tool's schema", higher_is_better=False, undefined=_NO_SCHEMA
        ),
        _ratio("n_unknown", "n_calls", "unknown_calls", "calls of unknown tools", higher_is_better=False, undefined=_NO_TOOLS),
        _ratio("n_failed", "n_calls", "failed_calls", "calls that fail", higher_is_better=False),
        _ratio("n_recovered", "n_failed", "recovered_errors", "failed calls made good", undefined="no call failed"),
        _ratio("n_repeats", "n_calls", "repeated_calls", "calls that repeat an earlier one", higher_is_better=False),
        core.share_of("looped", "loops", title="trajectories with a loop", higher_is_better=False, worst=None),
        core.share_of(
            "stopped", "ended_by_limit", title="trajectories ended by a limit or an error", higher_is_better=False, worst=None,
            undefined="no table says how trajectories ended",
        ),
        _ratio(
            "n_ungrounded", "n_claims", "ungrounded_claims", "claims without ground", higher_is_better=None,
            undefined="no message of an agent has a number from 10 on, an identifier or a name",
        ),
        core.mean_of("n_calls", "calls", title="calls of a trajectory", unit="calls", higher_is_better=None, worst=None),
        core.mean_of(
            "detour", title="calls beyond the shortest success", unit="calls", higher_is_better=False, undefined=_NO_SUCCESS
        ),
        *(figure for spent in ("seconds", "tokens", "cost") for figure in _spent(spent)),
    )  # fmt: skip


def _ratio(above: str, below: str, metric: str, title: str, **options: Any) -> core.Measure:
    options = {"interval": "counts", "undefined": _NO_CALL, **options}
    return core.Measure(metric, (above, below), core.ratio, title=title, **options)


def _spent(column: str) -> tuple[core.Measure, core.Measure]:
    own: dict[str, Any] = {"unit": column, "higher_is_better": False, "undefined": f"no step says its {column}"}
    return (
        core.mean_of(column, title=f"{column} of a trajectory", **own),
        core.Measure(
            f"{column}_per_success", (column, "success"), core.ratio, title=f"{column} per success",
            **{**own, "undefined": _NO_SUCCESS},
        ),
    )  # fmt: skip


def measures(
    figures: Sequence[str] = (),
    k: int = EVERY_TRIAL,
    criteria: Sequence[str] = (),
    kinds: Sequence[str] = (),
    step_criteria: Sequence[str] = (),
) -> tuple[core.Measure, ...]:
    """Success and the figures of these names, by default all; of a single trial none that needs several.

    ``criteria``, ``kinds``, ``step_criteria``: What a judge was asked, see :mod:`~evalbench.studies.trajectories.faults`.
    """
    known = [m for m in all_measures(max(k, 1)) if k > 1 or m.metric not in ("pass_hat_k", "pass_at_k")]
    known += faults.figures(criteria, kinds, step_criteria)
    return tuple(m for m in known if not figures or m.metric in ("success", *figures))


COMPARED = ("success", "pass_hat_k", "requirements_met", "call_f1", "cost")


def compared(own: Sequence[core.Measure]) -> tuple[core.Measure, ...]:
    """Those of the figures that agents are compared on: few, since every further one costs the others power."""
    return tuple(m for m in own if m.metric in COMPARED)


def allowed(
    items: pd.DataFrame, k: int, criteria: Sequence[str] = (), step_criteria: Sequence[str] = ()
) -> tuple[str, ...]:
    """The figures that the tables allow: those of which some item has what they are made of; all of the criteria, and no kinds of failures."""
    judged = {m.metric for m in faults.figures(criteria, (), step_criteria)}

    silent = () if (items["n_calls"] > 0).any() else ("calls",)

    def has_all(measure: core.Measure) -> bool:
        known = all(np.isfinite(items[column.removeprefix("#")]).any() for column in measure.sums)
        return known and measure.metric not in silent

    return tuple(
        m.metric for m in measures((), k, criteria, (), step_criteria) if m.metric in {"success", *judged} or has_all(m)
    )


def checked_figures(figures: Sequence[str], checks: kit.Checks, **asked: Sequence[str]) -> None:
    """Gather names of figures that do not exist."""
    for name in figures:
        checks.choice("figures", name, [m.metric for m in measures((), 2, **asked)])


def rules_of(lights: Mapping[str, Any] | None, k: int, **asked: Sequence[str]) -> dict[str, dict[str, float]]:
    """The checked thresholds of each figure that has a light."""
    every = [*all_measures(max(k, 1)), *faults.figures(**{**judging.NOBODY, **asked})]
    known = [m for m in every if m.higher_is_better is not None and m.metric != CLEANED]
    return kit.rules.rules_of(lights, kit.rules.figures_of(known, *ENDLESS))


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    given = checks.options
    asked = {name: given[name] for name in ("criteria", "kinds", "step_criteria")}
    checks.tried(lambda: rules_of(given["lights"], given["k"], **asked))


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    figures: Sequence[str] = (),
    k: int = EVERY_TRIAL,
    criteria: Sequence[str] = (),
    kinds: Sequence[str] = (),
    step_criteria: Sequence[str] = (),
    success_by: str = "",
    judge: Any = "",
    lights: Mapping[str, Mapping[str, float]] | None = None,
    max_unscored: float = kit.MAX_UNSCORED,
    correction_fit: Mapping[str, Any] | None = None,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """The figures of every model and the verdict, from items alone; options as of ``evaluate``.

    Without ``lights`` the light is unlit, but for a forbidden call, which is red.
    """
    own, lights = measures(figures, k, criteria, kinds, step_criteria), lights or {}
    seen = "forbidden" in items and "forbidden_calls" not in lights and bool((items["forbidden"] > 0).any())
    if seen:
        red = kit.verdicts.pass_mark(0.0, higher_is_better=False)
        own = tuple(
            replace(m, bands=red, least_units=1, certain="red") if m.metric == "forbidden_calls" else m for m in own
        )
    lit = {name: rule for name, rule in lights.items() if name in {m.metric for m in own}}
    resampled: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
    known = lacking(items)
    estimates = faults.estimates(items, own, lit, **resampled)
    if seen:  # an agent that called none is not praised because another did
        estimates = [
            replace(e, light="unlit") if e.metric == "forbidden_calls" and not e.value else e for e in estimates
        ]
    found = kit.worst_group(
        items.drop(columns="n_trials_lost", errors="ignore"),
        own,
        "model",
        lights=lit,
        estimates=estimates,
        remark=f"Whether the goal is reached is decided by the judge {judge}." if success_by == faults.JUDGE else "",
        fit=correction_fit,
        headline="success",
        over=core.counted(items["id"].nunique(), "task"),
        held_back=lambda e: _unmarked(e, known, max_unscored),
        faults=_in_words(ended_from_outside(items, max_unscored), absent(known, max_unscored)),
        max_unscored=max_unscored,
        **resampled,
    )
    undefined = {m.metric: m.undefined for m in own if not _rests_on_marks(m) and not faults.is_judged(m.metric)}
    shown = (_without_flat(_without_marks(e, undefined)) for e in found.estimates)
    return replace(found, estimates=tuple(_at_worst(_of_those(e, items), known, items) for e in shown))


_BY_MARKS = frozenset({"success", "pass_hat", "pass_at", "own_success", "detour"})


def _rests_on_marks(measure: core.Measure) -> bool:
    return not _BY_MARKS.isdisjoint(measure.sums)


def _unmarked(e: core.Estimate, known: Mapping[str, Lacking], most: float) -> str:
    """Why a figure of marks has no light: too many trials have none."""
    own = known.get(e.group.get("model", ""))
    on_marks = e.metric in ("success", CLEANED, "pass_hat_k", "pass_at_k", "detour") or e.metric.endswith(
        "_per_success"
    )
    if own is None or not on_marks or own.unmarked <= most * own.of:
        return ""
    return f"{core.wording.count(own.unmarked)} of {core.counted(own.of, 'trial')} have no mark"


def absent(known: Mapping[str, Lacking], most: float) -> dict[str, str]:
    """Why a model's light is grey: more than this share of its trials are not in the tables."""
    return {
        model: f"{core.wording.count(own.absent)} of {core.counted(own.of, 'trial')} of {model} are absent"
        for model, own in known.items()
        if own.absent > most * own.of
    }


def _in_words(*faults: Mapping[str, str]) -> dict[str, str]:
    """Several reasons of each model as one."""
    models = dict.fromkeys(model for one in faults for model in one)
    return {model: "; ".join(one[model] for one in faults if model in one) for model in models}


_OF_COUNTS = frozenset({"call_precision", "call_recall", "call_f1", "precision_by_name", "recall_by_name"})


def _of_those(e: core.Estimate, items: pd.DataFrame) -> core.Estimate:
    """A figure of counts whose n are the tasks that have something to count: those that expect no call have no part in recall."""
    if e.metric not in _OF_COUNTS or e.value is None:
        return e
    (measure,) = (m for m in all_measures(1) if m.metric == e.metric)
    own = items[items["model"] == e.group["model"]] if "model" in e.group else items
    n = kit.evidence.n_behind(own, measure, own["id"])
    return replace(e, n=n, n_undefined=e.n_undefined + e.n - n)


def _at_worst(e: core.Estimate, known: Mapping[str, Lacking], items: pd.DataFrame) -> core.Estimate:
    """Success with what it would be if every trial without a mark, or that is absent, had failed."""
    own = known.get(e.group.get("model", ""))
    if e.metric != "success" or e.value is None or own is None or own.share == 0 or own.trials < 2 or len(e.group) > 1:
        return e
    rows = items[items["model"] == e.group["model"]]
    reached = float((rows["success"].fillna(0) * (rows["n_trials"] - rows["n_trials_lost"])).sum())
    which = [word for word, n in (("unmarked", own.unmarked), ("absent", own.absent)) if n]
    said = f"{reached / own.of:.3g} if every {' or '.join(which)} trial had failed"
    others = [part for part in e.note.split("; ") if part and not part.endswith("were the worst")]
    return replace(e, note="; ".join([*others, said]))


def _without_marks(e: core.Estimate, undefined: Mapping[str, str]) -> core.Estimate:
    """A figure that rests on no mark: where a trajectory lacks it, it is undefined, whether the trajectory has a mark or not."""
    if e.metric not in undefined or not e.n_unscored:
        return e
    note = undefined[e.metric] if e.value is None else e.note
    return replace(e, n_unscored=0, n_undefined=e.n_undefined + e.n_unscored, note=note)


def _without_flat(e: core.Estimate) -> core.Estimate:
    """A figure without an interval of no width: where all tasks have the same value of no known scale, nothing bounds the others."""
    if e.ci_low is None or e.ci_high is None or not core.stats.no_width(e.ci_low, e.ci_high):
        return e
    return replace(e, ci_low=None, ci_high=None, note=FLAT)


def judged_measures(
    figures: Sequence[str] = (),
    k: int = EVERY_TRIAL,
    criteria: Sequence[str] = (),
    kinds: Sequence[str] = (),
    step_criteria: Sequence[str] = (),
    success_by: str = "",
) -> tuple[core.Measure, ...]:
    """The figures that rest on the judge and that people's labels correct."""
    return tuple(faults.labelled(measures(figures, k, criteria, kinds, step_criteria), criteria, success_by))


def rests_on_judge(figure: str, group: Mapping[str, str], *, success_by: str = "") -> bool:
    """Whether a figure could change with the judge: what marks and calls alone decide could not."""
    return faults.rests_on_judge(figure, success_by)


def ended_from_outside(items: pd.DataFrame, most: float) -> dict[str, str]:
    """Why a model's light is grey: limits or errors of the environment ended more than this share of its trajectories."""
    shares = items.groupby("model")["stopped"].mean()
    return {
        str(
            model
        ): f"{core.percent(share, [most])} of the trajectories of {model} were ended by limits or by errors of the environment"
        for model, share in shares.items()
        if share > most
    }
