"""Figures that rest on a judge: criteria of the whole, failures of each kind, and how far people blame the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors, kit
from evalbench.studies.trajectories.inputs import Given
from evalbench.studies.trajectories.judged import FAILURES, KIND, Judged
from evalbench.studies.trajectories.judging import JUDGED, figure_of
from evalbench.studies.trajectories.taxonomy import NO_FAILURE, slug

JUDGE = "judge"
"""That the judge decides whether the goal is reached."""
BY_SUCCESS = ("success", "pass_hat_k", "pass_at_k", "success_without_others_faults", "detour", "ended_by_limit")
"""Figures that another judge could move where it decides of success; and what a success costs."""


def figures(
    criteria: Sequence[str], kinds: Sequence[str], step_criteria: Sequence[str] = ()
) -> tuple[core.Measure, ...]:
    """The figures that a judge gives, those of the kinds of failures last."""
    if not criteria and not kinds:
        return ()
    none = "the judge was asked of no trajectory"
    return (
        *(
            core.mean_of(
                figure_of(name), title=f"{_words(name)}, by the judge", undefined="no trajectory has what it needs"
            )
            for name in criteria
        ),
        *(
            core.Measure(
                figure_of(name, of_steps=True),
                (figure_of(name, of_steps=True), f"{figure_of(name, of_steps=True)}_n"),
                core.ratio,
                title=f"{_words(name)} of calls, by the judge",
                interval="counts",
                undefined="no call has what it needs",
            )
            for name in step_criteria
        ),
        core.share_of(
            FAILURES, title="trajectories with a failure, by the judge", higher_is_better=False, undefined=none
        ),
        *(
            core.share_of(
                f"{KIND}{name}", title=f"failures of the kind {_words(name)}", higher_is_better=False, undefined=none
            )
            for name in kinds
        ),
    )


def _words(name: str) -> str:
    return name.strip().replace("_", " ")


def labelled(own: Sequence[core.Measure], criteria: Sequence[str], success_by: str) -> list[core.Measure]:
    """The figures that labels correct, each by the name that labels have for it: that of the criterion."""
    named = {figure_of(name): name for name in criteria} | {FAILURES: FAILURES}
    named |= {"success": "success"} if success_by == JUDGE else {}
    return [replace(m, title=named[m.metric]) for m in own if m.metric in named]


def rests_on_judge(figure: str, success_by: str) -> bool:
    """Whether a figure could change with the judge."""
    if is_judged(figure):
        return True
    return success_by == JUDGE and (figure in BY_SUCCESS or figure.endswith("_per_success"))


def is_judged(figure: str) -> bool:
    """Whether a judge alone gives a figure."""
    return figure == FAILURES or figure.startswith((KIND, JUDGED))


def estimates(
    items: pd.DataFrame, own: Sequence[core.Measure], lights: Mapping[str, Mapping[str, float]], **resampled: Any
) -> list[core.Estimate]:
    """Every figure of every model; one of the judge's with its own reasons for items that have none."""
    rules = {m.metric: lights if m.metric in lights else {} for m in own}
    lit = [kit.verdicts.with_light(m, rules[m.metric]) for m in own]
    plain = [m for m in lit if not is_judged(m.metric)]
    found = list(kit.verdicts.by_group(items, plain, "model", **resampled))
    for m in lit:
        if m not in plain:
            found += kit.verdicts.by_group(_with_reasons(items, m.metric), [m], "model", **resampled)
    place = {m.metric: i for i, m in enumerate(own)}
    return sorted(found, key=lambda e: (e.group["model"], place[e.metric]))


def _with_reasons(items: pd.DataFrame, figure: str) -> pd.DataFrame:
    column = FAILURES if figure.startswith(KIND) else figure
    return items.assign(unscored=items[f"{column}_unscored"], undefined="")


def kinds_of(
    items: pd.DataFrame, judged: Judged, names: pd.DataFrame, seed: int, n_resamples: int
) -> pd.DataFrame | None:
    """How often each agent fails in each way.

    Returns
    -------
    DataFrame or None
        ``model``, ``group``, ``kind``, ``trajectories`` (in which the judge named it), ``tasks``, ``share`` of the trajectories,
        ``ci_low``, ``ci_high`` (trials are averaged, tasks are resampled), ``n`` tasks, and one as an example: ``case`` and ``step``.
        None without a judge.
    """
    if judged.by is None:
        return None
    kinds = judged.by.taxonomy.kinds
    own = [m for m in figures((), [kind.name for kind in kinds]) if m.metric.startswith(KIND)]
    named = judged.faults.merge(names, on="run")
    rows = []
    for model, of in items.groupby("model", sort=True):
        found = core.measures.estimate(
            _with_reasons(of, FAILURES), own, units=of["id"], seed=seed, n_resamples=n_resamples
        )
        for kind, e in zip(kinds, found.estimates, strict=True):
            cases = named[(named["model"] == model) & (named["mark"] == kind.name)]
            first = cases.iloc[0] if len(cases) else None
            rows.append(
                {
                    "model": model,
                    "group": kind.group,
                    "kind": kind.name,
                    "trajectories": len(cases),
                    "tasks": cases["id"].nunique(),
                    "share": np.nan if e.value is None else e.value,
                    "ci_low": np.nan if e.ci_low is None else e.ci_low,
                    "ci_high": np.nan if e.ci_high is None else e.ci_high,
                    "n": e.n,
                    "case": "" if first is None else _case(first),
                    "step": pd.NA if first is None else first["step"],
                }
            )
    return pd.DataFrame(rows).astype({"step": "Int64"})


def _case(row: Any) -> str:
    return f"{row['id']}, trial {row['trial']}" if row["trial"] else str(row["id"])


def ours(given: Given, judged: Judged) -> pd.DataFrame | None:
    """The judge's failures as blames: ``run``, ``id``, ``judge``, ``at`` (place of the step), ``agent`` (its role), ``kind``.

    Where the judge names no failure, it blames nobody and nothing, which is wrong where people do.

    Raises
    ------
    BadInput
        If the table of blames has the judge's already.
    """
    if given.blames is None or judged.by is None or judged.faults.empty:
        return None
    told = judged.faults[judged.faults["unscored"] == ""]
    name = str(judged.faults["judge"].iloc[0])
    if (given.blames["judge"] == name).any():
        raise errors.BadInput(
            f"blames: the judge {name} has blames in the table and would be asked now; rename it, or leave judge out"
        )
    steps = given.steps.assign(at=given.steps.groupby("run").cumcount())[["run", "step", "at", "role"]]
    placed = told.astype({"step": float}).merge(steps.astype({"step": float}), on=["run", "step"], how="left")
    kind = placed["mark"].where(placed["mark"] != NO_FAILURE, "")
    return pd.DataFrame(
        {
            "run": placed["run"],
            "id": placed["run"].map(given.runs.set_index("run")["id"]),
            "judge": placed["judge"],
            "at": placed["at"],
            "agent": placed["role"].fillna(""),
            "kind": kind,
        }
    )


def kind_names(judged: Judged) -> Mapping[str, str]:
    """The kinds as people may write them, by how the taxonomy does."""
    return {slug(name).casefold(): name for name in judged.by.taxonomy.names} if judged.by else {}
