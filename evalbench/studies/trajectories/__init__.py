"""Does the agent reach the goal, and where does it leave the way?

Input: the steps of agents' trajectories (messages, calls of tools, results), of several trials and agents if wanted; what is expected of
each task where it is known (calls, forbidden tools, limits); whether each trajectory reached the goal, where somebody decided it.

Figures, of tasks, over which trials are averaged: success, pass^k and pass@k (Chen et al. 2021; Yao et al. 2024); precision, recall and F1 of
the calls, forbidden calls, calls that do not fit the schema of their tool, calls that fail and are made good, repeats, loops; claims that nothing before them holds; length and what it cost.
Beside them: where failed trajectories part from successful ones of the same task, and what contradicts itself.  A trajectory without a
mark is unscored, never a failure.  No figure has thresholds of its own, but that a forbidden call is red where tasks name some.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evalbench import core, kit, readers
from evalbench.studies.contract import offered
from evalbench.studies.trajectories import blames, inputs, items, method, requirements, said, summary, tables
from evalbench.studies.trajectories import calls as called
from evalbench.studies.trajectories.inputs import SCHEMA as SCHEMA

QUESTION = "Does the agent reach the goal, and where does it leave the way?"
MAKES_ITEMS = ("k",)
_CALLS = ("call_precision", "call_recall", "call_f1", "order_kept", "repeated_calls", "loops")
MEASURED_BY = {
    **dict.fromkeys(("success_by", "success_from"), ("success", "pass_*", "detour", "*_per_success", "ended_by_limit")),
    **dict.fromkeys(("ignore_arguments", "argument_similarity"), (*_CALLS, "success", "pass_*")),
    "k": ("pass_*",),
    "figures": (),
}


def evaluate(
    data: readers.Dataset,
    *,
    success_by: str = items.MARK,
    success_from: float = 1.0,
    ignore_arguments: Sequence[str] = (),
    argument_similarity: float = 1.0,
    k: int = summary.EVERY_TRIAL,
    figures: Sequence[str] = (),
    lights: Mapping[str, Mapping[str, float]] | None = None,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Judge agents by their trajectories.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="trajectories")``: tables steps, tasks, tools, outcomes, requirements, blames.
    success_by : {"mark", "calls", "requirements"}
        What decides that the goal is reached: the marks of the tables; that every expected call was made and no forbidden one; that every
        requirement is met.
    success_from : float
        Least mark (0–1) of a success.
    ignore_arguments : sequence of str
        Arguments that do not count where calls are compared, such as free notes.
    argument_similarity : float
        From which similarity (0–1) of their letters on texts in arguments count as equal; 1: equal exactly.
    k : int
        Of pass^k and pass@k; 0: as many trials as nearly every task has.
    figures : sequence of str
        Which figures beside success; empty: all that the tables allow.
    lights : mapping of str to mapping, optional
        Figure → its thresholds, e.g. ``{"success": {"green_from": 0.8, "yellow_from": 0.6}}`` or ``pass_hat_k``, at or above; where less is
        better ``green_to`` and ``yellow_to``, at or below.
    max_unscored, seed, n_resamples
        See :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per task and model.  ``tables``: ``steps``, ``calls``, ``misfits``, ``missed``, ``tools``, ``tasks``,
        ``turning_points``, ``contradictions``, ``ungrounded``, ``requirements``, ``blamed`` and ``blamed_kinds`` where the tables have them,
        ``comparison`` where there are several models, and those of trials.

    Raises
    ------
    BadInput
        For faults of the options and of the tables, each all at once.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalbench import load
    >>> steps = [("a", 1, "call", "find", "1"), ("a", 2, "result", "find", ""), ("b", 1, "call", "pay", "0")]
    >>> data = load({"steps": pd.DataFrame(steps, columns=["id", "step", "kind", "name", "mark"])}, study="trajectories")
    >>> evaluate(data, n_resamples=100).estimate("success", model="model not named").value
    0.5
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    checks.choices(success_by=(items.MARK, items.CALLS, items.REQUIREMENTS))
    checks.share("success_from", "argument_similarity")
    checks.at_least(0, "k")
    summary.checked_figures(figures, checks)
    rules = checks.tried(lambda: summary.rules_of(lights, k)) or {}
    checks.refuse("trajectories")
    inputs.check(data)
    given = inputs.given(data)
    followed = _followed(given, ignore_arguments, argument_similarity, success_by, success_from)
    rows = followed.runs.drop(columns="run")
    frames = {**data.tables, "runs": rows if given.repeated else rows.drop(columns=readers.schema.TRIAL)}
    spread, trials = kit.trials.spread(replace(data, tables=frames), {"runs": _RUNS})
    each = spread["runs"].sort_values(["id", "model"], kind="stable", ignore_index=True)
    averaged, of_trials = trials.averaged(each.drop(columns=readers.schema.TRIAL, errors="ignore"), "id")
    k = k or items.most_trials(of_trials)
    found = items.passed_all(averaged, of_trials, k)
    found = kit.grouping.carried(found, data)
    options |= {"k": k, "figures": list(figures) or list(summary.allowed(found, k)), "lights": rules}
    core.progress.at(f"intervals, {n_resamples} resamples")
    blamed, kinds = blames.blamed(given, seed, n_resamples)
    measures = summary.measures(options["figures"], k)
    names = followed.runs[["run", *inputs.RUN]]
    result = kit.result_of(
        evaluate,
        data,
        options,
        found,
        tables={"steps": method.shown_steps(given, followed)},
        some={
            name: tables.named(frame, names, given.repeated)
            for name, frame in {
                "calls": followed.calls.drop(columns="key"),
                "misfits": tables.misfits(followed.calls),
                "missed": followed.missed.assign(arguments=followed.missed["arguments"].map(inputs.in_words)),
                "turning_points": method.with_followed(tables.parted(followed), names, given.repeated),
                "contradictions": tables.contradictions_of(followed),
                "ungrounded": followed.ungrounded,
                "requirements": followed.required,
            }.items()
        }
        | {
            "tasks": tables.tasks_of(given),
            "tools": tables.tools_of(followed, given),
            "blamed": blamed,
            "blamed_kinds": kinds,
            "comparison": kit.comparing.compare_groups(
                found, summary.compared(measures), "model", seed=seed, n_resamples=n_resamples
            ),
        },
        notes=(*data.notes, *method.notes(given, followed, found, options)),
        method=method.described(options),
    )
    return trials.reported(result, of_trials, measures)


def _followed(
    given: inputs.Given, ignore: Sequence[str], similarity: float, success_by: str, success_from: float
) -> items.Followed:
    core.progress.at("calls")
    calls, missed = called.calls_of(given, ignore, similarity)
    core.progress.at("claims")
    claims, ungrounded = said.claims_of(given)
    required, counts = requirements.counted(given.requirements, given.runs)
    runs = items.rows_of(given, calls, missed, claims, counts, success_by, success_from)
    runs = runs.assign(run=np.arange(len(runs)))
    unspoken = said.named_and_never_called(given, calls)
    return items.Followed(runs, calls, missed, ungrounded, unspoken, required)


_RUNS = readers.Table(
    (readers.Column("id", "id"), readers.Column("model", "id", groups=True)), unique=("id", "model"), trials="model"
)

globals().update(offered(__name__))
