"""Trajectories to items: what each reached, made, repeated, said, took."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.metrics import trajectories as metrics
from evalbench.readers.schema import TRIAL
from evalbench.studies.trajectories import schemas
from evalbench.studies.trajectories.inputs import ENDED, RUN, Given
from evalbench.studies.trajectories.judged import Judged
from evalbench.studies.trajectories.ordered import among, parts

NO_MARK = "no-value"
MARK, CALLS, REQUIREMENTS, JUDGE = "mark", "calls", "requirements", "judge"
SPENT = ("seconds", "tokens", "cost")


class Followed(NamedTuple):
    """Trajectories and what was found in them.

    - ``runs``: One row per trajectory, in the order of ``run``: its names and the columns of the items.
    - ``calls``, ``missed``, ``ungrounded``, ``unspoken`` (named and never called), ``required``: With ``run``.
    """

    runs: pd.DataFrame
    calls: pd.DataFrame
    missed: pd.DataFrame
    ungrounded: pd.DataFrame
    unspoken: pd.DataFrame
    required: pd.DataFrame


def rows_of(
    found: Given,
    calls: pd.DataFrame,
    missed: pd.DataFrame,
    claims: pd.DataFrame,
    required: pd.DataFrame,
    success_by: str,
    success_from: float,
    judged: Judged,
) -> pd.DataFrame:
    """One row per trajectory: its names, its counts, what a judge says, ``unscored`` and ``undefined``.

    - ``missed``, ``claims``: As of :mod:`~evalbench.studies.trajectories.calls` and :mod:`~evalbench.studies.trajectories.said`.
    - ``required``: The counts of requirements, in the order of ``run``.
    """
    runs, n = found.runs, len(found.runs)
    read = np.bincount(found.steps["run"], minlength=n) > 0
    knows = runs["knows_expected"].to_numpy() & read

    def count(frame: pd.DataFrame, which: Any = None) -> core.Floats:
        own = frame if which is None else frame[which]
        return np.where(read, np.bincount(own["run"].astype(int), minlength=n), np.nan)

    def count_of_tools(which: Any) -> core.Floats:
        return count(calls, which) if found.tools is not None else np.full(n, np.nan)

    made, expected = count(calls), np.bincount(found.expected["run"].astype(int), minlength=n).astype(float)
    tp, named = count(calls, calls["matched"]), count(calls, calls["named"])
    banned = runs["forbidden"].map(lambda names: isinstance(names, list)).to_numpy(dtype=bool) & read
    said = claims.set_index("run").reindex(range(n))
    out = runs[list(RUN)].assign(
        tp=np.where(knows, tp, np.nan),
        fp=np.where(knows, made - tp, np.nan),
        fn=np.where(knows, expected - tp, np.nan),
        named=np.where(knows, named, np.nan),
        made=np.where(knows, made, np.nan),
        wanted=np.where(knows, expected, np.nan),
        ordered=_ordered(found, calls, knows),
        forbidden=np.where(banned, count(calls, calls["forbidden"]) > 0, np.nan),
        n_calls=made,
        n_unreadable=count(calls, calls["unreadable"] != ""),
        n_held=count_of_tools(calls["schema"] == schemas.HELD),
        n_misfit=count_of_tools(calls["misfit"] != ""),
        n_unknown=count_of_tools(calls["schema"] == schemas.UNKNOWN),
        n_failed=count(calls, calls["failed"]),
        n_recovered=count(calls, calls["recovered"]),
        n_repeats=count(calls, calls["repeated"]),
        looped=np.where(read, count(calls, calls["cycle"] > 0) > 0, np.nan),
        n_claims=said["claims"].to_numpy(dtype=float),
        n_ungrounded=said["ungrounded"].to_numpy(dtype=float),
        **{c: _summed(found.steps, c, n) for c in SPENT},
        **{str(c): required[c].to_numpy(dtype=float) for c in required},
    )
    complete = knows & (out["fn"] == 0).to_numpy()
    missing = (missed.groupby("run").size().reindex(range(n)).fillna(0) > 0).to_numpy()
    assert (complete == (knows & ~missing)).all()
    told = judged.columns[judged.goal] if judged.goal else pd.Series(np.nan, runs.index)
    marked, decided = (
        np.where(own.notna(), own >= success_from - kit.verdicts.ROUNDING, np.nan) for own in (runs["mark"], told)
    )
    says = knows & ((expected > 0) | banned)
    by_calls = np.where(says, complete & (out["forbidden"] != 1), np.nan)
    success = {MARK: marked, CALLS: by_calls, REQUIREMENTS: out["all_met"].to_numpy(), JUDGE: decided}[success_by]
    lost, blamed = np.isnan(success), bool((runs["fault"] != "").any())
    out = out.assign(
        success=success,
        own_success=np.where(blamed & runs["fault"].isin(("", "agent")).to_numpy(), success, np.nan),
        detour=_detour(out.assign(success=success)),
        stopped=_stopped(found, success, read),
        unfinished=_unfinished(found, read),
        complete=np.where(knows, complete, np.nan),
    )
    if success_by == JUDGE:
        why = judged.columns[f"{judged.goal}_unscored"].to_numpy(dtype=object)
    else:
        asked = {MARK: True, CALLS: False, REQUIREMENTS: (out["n_listed"] > 0).to_numpy()}[success_by]
        why = np.where(lost & asked, NO_MARK, "")
    no_reference = np.where(lost & (why == ""), kit.answers.NO_REFERENCE, "")
    out = out.drop(columns="n_listed").assign(**{str(c): judged.columns[c].to_numpy() for c in judged.columns})
    return out.assign(unscored=why.astype(object), undefined=no_reference.astype(object))


def _ordered(found: Given, calls: pd.DataFrame, knows: core.Bools) -> core.Floats:
    """Whether the expected calls that were made came in the given order; NaN where their order does not count."""
    out = np.full(len(found.runs), np.nan)
    wanted = np.flatnonzero(knows & (found.runs["order"] == "given").to_numpy())
    own = calls[calls["run"].isin(wanted) & calls["matched"]]
    expected = found.expected[found.expected["run"].isin(wanted)]
    made, given = own.groupby("run")["name"].agg(list), expected.groupby("run")["name"].agg(list)
    for run in wanted.tolist():
        keys = made.get(run, [])
        if len(given.get(run, [])) > 1:
            out[run] = float(metrics.in_order(keys, given[run]) == len(keys))
    return out


def _summed(steps: pd.DataFrame, column: str, n: int) -> core.Floats:
    """What the steps of each trajectory took together; NaN where no step says."""
    if column not in steps:
        return np.full(n, np.nan)
    known = steps[column].notna()
    sums = np.bincount(steps.loc[known, "run"], steps.loc[known, column], minlength=n)
    return np.where(np.bincount(steps.loc[known, "run"], minlength=n) > 0, sums, np.nan)


def _detour(runs: pd.DataFrame) -> core.Floats:
    """Calls of a successful trajectory beyond those of the shortest successful one of its task, whoever made it."""
    lengths = runs["n_calls"].where(runs["success"] == 1)
    return (lengths - lengths.groupby(runs["id"]).transform("min")).to_numpy(dtype=float)


def _stopped(found: Given, success: core.Floats, read: core.Bools) -> core.Floats:
    """Whether a limit or an error of the environment ended a trajectory without success; NaN where nothing says so."""
    steps, n = found.steps, len(found.runs)
    noted = (steps["kind"] == "note") & among(steps["name"], ENDED)
    told = np.bincount(steps.loc[noted, "run"], minlength=n) > 0
    most = found.runs["max_steps"].to_numpy(dtype=float)
    with np.errstate(invalid="ignore"):
        spent = (np.bincount(steps["run"], minlength=n) >= most) & (success != 1)
    if beyond_limit(found):
        spent, most = np.zeros(n, dtype=bool), np.full(n, np.nan)
    return np.where(read & (told.any() | np.isfinite(most)), told | spent, np.nan)


def beyond_limit(found: Given) -> int:
    """How many trajectories have more steps than their limit, which is then of something else than the rows of the table."""
    taken = np.bincount(found.steps["run"], minlength=len(found.runs))
    return int((taken > found.runs["max_steps"].to_numpy(dtype=float)).sum())


def _unfinished(found: Given, read: core.Bools) -> core.Floats:
    """Whether the last step of a trajectory is a call or a result, so that it may have been cut; notes aside."""
    steps = found.steps.loc[found.steps["kind"] != "note", ["run", "kind"]]
    last = steps.drop_duplicates("run", keep="last")
    open_ended = last.loc[last["kind"].isin(("call", "result")), "run"]
    return np.where(read, np.isin(np.arange(len(found.runs)), open_ended), np.nan)


_SHARES_OF = {
    **dict.fromkeys(("n_unreadable", "n_unknown", "n_failed", "n_repeats"), "n_calls"),
    "n_misfit": "n_held",
    "n_recovered": "n_failed",
    "n_ungrounded": "n_claims",
}
"""What is counted → what it is a share of."""


def without_idle(items: pd.DataFrame) -> pd.DataFrame:
    """The items without counts that are a share of nothing: a task without a failed call has no part in how many are made good."""
    out = items
    for above, below in reversed(_SHARES_OF.items()):
        out = out.assign(**{above: out[above].where(items[below] != 0)})
    return out


def passed_all(items: pd.DataFrame, rows: pd.DataFrame | None, k: int) -> pd.DataFrame:
    """The items with ``pass_hat`` and ``pass_at``: the chance that all, and that one, of k trials reach the goal; NaN with fewer."""
    each = (items if rows is None else rows).groupby(["id", "model"], sort=False)["success"]
    keys = pd.MultiIndex.from_frame(items[["id", "model"]])
    n, c = (own.reindex(keys).to_numpy(dtype=float).astype(np.int64) for own in (each.count(), each.sum()))
    return items.assign(pass_hat=core.trials.pass_hat_k(n, c, k), pass_at=core.trials.pass_at_k(n, c, k))


def most_trials(rows: pd.DataFrame | None) -> int:
    """The k of pass^k: so many scored trials as nearly every task has with every model; 1 without trials."""
    if rows is None:
        return 1
    n = rows.groupby(["id", "model"])["success"].count().to_numpy()
    return max(core.trials.largest_k(n), 1)


def equal_trials(found: Given) -> int:
    """How many trajectories are, step by step, the same as another trial of their task and model."""
    if TRIAL not in found.runs:
        return 0
    sums = [_fingerprints(steps) for steps, _ in parts(found.steps, found.expected, found.runs) if len(steps)]
    own = found.runs.assign(_hash=found.runs["run"].map(pd.concat(sums)) if sums else np.nan)
    return int(own.dropna(subset="_hash").duplicated(["id", "model", "_hash"], keep=False).sum())


def _fingerprints(steps: pd.DataFrame) -> pd.Series:
    """A hash of all steps of each trajectory."""
    texts = steps[["kind", "role", "name", "arguments", "text", "error"]]
    each = pd.util.hash_pandas_object(texts, index=False).to_numpy()
    place = steps.groupby("run").cumcount().to_numpy()
    mixed = pd.util.hash_array(each ^ (place.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)))
    with np.errstate(over="ignore"):
        return pd.Series(mixed).groupby(steps["run"].to_numpy()).sum()
