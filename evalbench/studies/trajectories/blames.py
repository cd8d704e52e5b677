"""Who is to blame for a failure, and at which step: judges against people, beside what chance gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors
from evalbench.studies.trajectories.inputs import RUN, USERS, Given
from evalbench.studies.trajectories.taxonomy import slug

RIGHT = {"agent": "the agent", "step": "the step", "step_1": "the step, within 1", "step_3": "the step, within 3"}
"""What a judge may have right, in words."""
KIND = {"kind": "the kind of failure"}
"""What a judge that is asked now may have right besides."""
TOO_RARE = 10
"""Kinds of failures that people name less often are too rare to say how well a judge names them."""
_OTHERS = USERS | {"system", "tool", "developer", ""}


def blamed(
    found: Given, seed: int, n_resamples: int, ours: pd.DataFrame | None = None, kinds: Mapping[str, str] = {}
) -> tuple[pd.DataFrame | None, pd.DataFrame | None]:
    """How often each judge blames what people blame.

    Right by chance is the mean over trajectories of what a judge has right who picks at random: one of the agents that
    speak, 1 / agents; one of the steps, 1 / steps; within w, the share of the steps that are so near to the right one.  Of kinds it is
    Σ p q over the kinds, of how often the judge and people name each.

    Parameters
    ----------
    ours : DataFrame, optional
        Of a judge that is asked now, see :func:`~evalbench.studies.trajectories.faults.ours`.
    kinds : mapping
        Kinds in small letters with ``_`` for blanks, as they are called.

    Returns
    -------
    figures : DataFrame or None
        ``judge``, ``what`` (see :data:`RIGHT`), ``value``, ``ci_low``, ``ci_high`` (tasks are resampled), ``chance``, ``n`` tasks, ``of`` (how
        many trajectories people blame somebody for); None without judges and people.
    kinds : DataFrame or None
        ``judge``, ``kind``, ``people`` and ``judged`` (how often each named it), ``both``, ``f1``, ``kappa`` and ``note`` where a kind is
        too rare; None where no kinds are named.

    Raises
    ------
    BadInput
        Lists blames of trajectories and steps that are not there, and rows of both a judge and a person or of neither.
    """
    if found.blames is None:
        return None, None
    own = _placed(found)
    own = own if ours is None else pd.concat([own, ours], ignore_index=True).fillna({"annotator": ""})
    own = own.assign(kind=[kinds.get(slug(kind), kind) for kind in own["kind"]] if kinds else own["kind"])
    people, judged = own[own["judge"] == ""], own[own["judge"] != ""]
    if people.empty or judged.empty:
        return None, None
    truth = people.drop_duplicates("run")[["run", "at", "agent", "kind"]]
    pairs = judged.merge(truth, on="run", suffixes=("", "_true")).merge(_sizes(found, truth), on="run")
    pairs = pairs.assign(**dict(_scores(pairs))).sort_values(["judge", "id", "run"], ignore_index=True)
    named = ours is not None and bool((pairs["kind_true"] != "").any())
    figures = _figures(pairs, RIGHT | KIND if named else RIGHT, seed, n_resamples)
    return figures.assign(of=len(truth)), _kinds(pairs)


def _placed(found: Given) -> pd.DataFrame:
    """The blames, each with its trajectory and the place of its step in it."""
    assert found.blames is not None
    steps = found.steps[["run", "step"]].assign(at=found.steps.groupby("run").cumcount())
    own = found.blames.merge(found.runs[[*RUN, "run"]], on=list(RUN), how="left")
    faults = [f"{task}: no step and no outcome" for task in own.loc[own["run"].isna(), "id"].unique()]
    own = own.dropna(subset="run").astype({"run": int}).merge(steps, on=["run", "step"], how="left")
    faults += [f"{row.id}: there is no step {row.step}" for row in own[own["at"].isna()].itertuples()]
    both = (own["judge"] == "") == (own["annotator"] == "")
    faults += [f"{task}: needs either a judge or an annotator" for task in own.loc[both, "id"].unique()]
    if faults:
        raise errors.BadInput.listing("blames:", faults)
    return own[~own["run"].isin(_disputed(own))]


def _disputed(own: pd.DataFrame) -> set[int]:
    """The trajectories for which people blame different agents or steps."""
    people = own[own["judge"] == ""].drop_duplicates([c for c in ("run", *RUN, "step", "agent") if c in own])
    return {*people.loc[people.duplicated("run"), "run"]}


def unsettled(found: Given) -> Iterator[str]:
    """A note on trajectories that people blame differently, which are left out."""
    if found.blames is None:
        return
    own = found.blames.merge(found.runs[[*RUN, "run"]], on=list(RUN), how="left")
    people = own[own["judge"] == ""]
    if n := len(_disputed(own)):
        of = core.counted(people["run"].nunique(), "trajectory", "trajectories")
        yield f"People blame different agents or steps in {n} of {of} that they blame somebody for; these are left out of what judges have right."


def _sizes(found: Given, truth: pd.DataFrame) -> pd.DataFrame:
    """The steps of each trajectory, and the agents that speak in it, where the one that people blame is among them.

    Agents are the roles of steps, or, where more of those that people blame are names of messages, these names.
    """
    steps = found.steps
    told = {name: steps[name].str.strip().str.casefold() for name in ("role", "name")}
    whose = dict(truth[["run", "agent"]].itertuples(index=False, name=None))
    blamed = {run: agent.strip().casefold() for run, agent in whose.items()}
    spoken = ~told["role"].isin(_OTHERS - {*blamed.values()})  # who is blamed once may be to blame elsewhere, too
    best: dict[Any, int] = {}
    for which, kept in (("role", spoken), ("name", spoken & (steps["kind"] == "message") & (told["name"] != ""))):
        agents = told[which][kept].groupby(steps["run"][kept]).agg(set)
        counts: dict[Any, int] = {run: len(own) for run, own in agents.items() if blamed.get(run) in own}
        best = counts if len(counts) > len(best) else best
    sizes = steps.groupby("run").size().rename("n_steps").reset_index()
    return sizes.assign(n_agents=sizes["run"].map(best).astype(float))


def _scores(pairs: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """What each judge has right of each trajectory, and what chance gives; NaN where it cannot be said."""
    mine, true = (pairs[name].str.strip().str.casefold() for name in ("agent", "agent_true"))
    yield "agent_right", np.where(true != "", mine == true, np.nan)
    yield "agent_chance", np.where(true != "", 1 / pairs["n_agents"], np.nan)
    off, at, last = (pairs["at"] - pairs["at_true"]).abs(), pairs["at_true"], pairs["n_steps"] - 1
    for name, width in (("step", 0), ("step_1", 1), ("step_3", 3)):
        near = np.minimum(at + width, last) - np.maximum(at - width, 0) + 1
        yield f"{name}_right", (off <= width).astype(float)
        yield f"{name}_chance", near / pairs["n_steps"]
    yield "kind_right", np.where(pairs["kind_true"] != "", pairs["kind"] == pairs["kind_true"], np.nan)


def _figures(pairs: pd.DataFrame, right: Mapping[str, str], seed: int, n_resamples: int) -> pd.DataFrame:
    rows = []
    measures = [core.measures.share_of(f"{name}_right", title=said) for name, said in right.items()]
    for judge, own in pairs.groupby("judge", sort=True):
        found = core.measures.estimate(own, measures, units=own["id"], seed=seed, n_resamples=n_resamples)
        for name, e in zip(right, found.estimates, strict=True):
            ends = {"value": e.value, "ci_low": e.ci_low, "ci_high": e.ci_high}
            chance = _kind_chance(own) if name in KIND else own[f"{name}_chance"].mean()
            rows.append({"judge": judge, "what": e.title, **ends, "chance": chance, "n": e.n})
    return pd.DataFrame(rows)


def _kind_chance(own: pd.DataFrame) -> float:
    """How often judge and people would name the same kind if each named kinds as often as now, but by chance."""
    named = own[own["kind_true"] != ""]
    judge, people = (named[column].value_counts(normalize=True) for column in ("kind", "kind_true"))
    return float((judge * people.reindex(judge.index).fillna(0)).sum()) if len(named) else np.nan


def _kinds(pairs: pd.DataFrame) -> pd.DataFrame | None:
    named = pairs[pairs["kind_true"] != ""]
    if named.empty:
        return None
    rows = [row for judge, own in named.groupby("judge", sort=True) for row in _each_kind(str(judge), own)]
    return pd.DataFrame(rows)


def _each_kind(judge: str, own: pd.DataFrame) -> Iterator[Mapping[str, Any]]:
    for kind in sorted({*own["kind"], *own["kind_true"]} - {""}):
        said, true = (own["kind"] == kind).to_numpy(), (own["kind_true"] == kind).to_numpy()
        people, judged, both = int(true.sum()), int(said.sum()), int((said & true).sum())
        rare = people < TOO_RARE
        kappa = core.agreement.cohen_kappa(said.astype(int), true.astype(int), n_resamples=2).value
        yield {
            "judge": judge,
            "kind": kind,
            "people": people,
            "judged": judged,
            "both": both,
            "f1": np.nan if rare else 2 * both / (people + judged),
            "kappa": np.nan if rare or kappa is None else kappa,
            "note": "too rare to say" if rare else "",
        }
