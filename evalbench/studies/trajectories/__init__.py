"""Does the agent reach the goal, and where does it leave the way?

Input: the steps of agents' trajectories (messages, calls of tools, results), of several trials and agents if wanted; what is expected of
each task where it is known (calls, forbidden tools, limits); whether each trajectory reached the goal, where somebody decided it.

Figures, of tasks, over which trials are averaged: success, pass^k and pass@k (Chen et al. 2021; Yao et al. 2024); precision, recall and F1 of
the calls, forbidden calls, calls that do not fit the schema of their tool, calls that fail and are made good, repeats, loops; claims that nothing before them holds; length and what it cost.
Beside them: where failed trajectories part from successful ones of the same task, and what contradicts itself.  A judge, where one is named,
marks the whole by criteria and names the kind of each failure and its step.  A trajectory without a mark is unscored, never a failure.
No figure has thresholds of its own, but that a forbidden call is red where tasks name some.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit, readers
from evalbench.studies.contract import offered
from evalbench.studies.trajectories import (
    blames,
    causes,
    cells,
    faults,
    inputs,
    items,
    judged,
    judging,
    made,
    method,
    record,
    said,
    summary,
    tables,
    turning,
)
from evalbench.studies.trajectories.answer import answer

QUESTION = "Does the agent reach the goal, and where does it leave the way?"
MAKES_ITEMS = ("k", "success_by", "judge")
_CALLS = ("call_precision", "call_recall", "call_f1", "order_kept", "repeated_calls", "loops")
MEASURED_BY = {
    **dict.fromkeys(("success_by", "success_from"), ("success", "pass_*", "detour", "*_per_success", "ended_by_limit")),
    **dict.fromkeys(("ignore_arguments", "argument_similarity"), (*_CALLS, "success", "pass_*")),
    "criteria_file": ("judged_*", "success", "pass_*", "detour", "*_per_success", "ended_by_limit"),
    "step_criteria_file": ("judged_calls_*",),
    "taxonomy_file": ("failures", "failure_*"),
    "judge_max_characters": (),
    "k": ("pass_*",),
    "figures": (),
}
SCHEMA: Mapping[str, readers.Table] = {**inputs.SCHEMA, "verdicts": judging.VERDICTS}


def evaluate(
    data: readers.Dataset,
    *,
    success_by: str = items.MARK,
    success_from: float = 1.0,
    ignore_arguments: Sequence[str] = (),
    argument_similarity: float = 1.0,
    k: int = summary.EVERY_TRIAL,
    judge: str | Callable[[dict[str, Any]], object] = "",
    criteria_file: str = "",
    step_criteria_file: str = "",
    taxonomy_file: str = "",
    judge_prompt: str = "",
    judge_max_tokens: int = 1024,
    judge_max_characters: int = judging.CHARACTERS,
    labels: str = "",
    labels_of: str = "",
    labels_scale: Sequence[float] = (),
    labels_drawn: str = "random",
    correction: str = "",
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
        ``load(…, study="trajectories")``: tables steps, tasks, tools, outcomes, requirements, blames, verdicts.
    success_by : {"mark", "calls", "requirements", "judge"}
        What decides that the goal is reached: the marks of the tables, and of tables without any the judge; that every expected call was made
        and no forbidden one; that every requirement is met; the judge, by the first of its criteria.
    success_from : float
        Least mark (0–1) of a success.
    ignore_arguments : sequence of str
        Arguments that do not count where calls are compared, such as free notes.
    argument_similarity : float
        From which similarity (0–1) of their letters on texts in arguments count as equal; 1: equal exactly.
    k : int
        Of pass^k and pass@k; 0: as many trials as nearly every task has.
    judge : str or callable
        Who judges the trajectories besides: a chat model, ``agent:MODEL``, ``recorded`` (the data set's own table of verdicts) or
        ``recorded:FILE``; empty: nobody.
    criteria_file : str
        YAML file of what the judge marks of the whole, the goal first (``evalbench criteria FILE`` looks it over); empty: goal reached,
        policy kept, user informed.
    step_criteria_file : str
        YAML file of what the judge marks of every call, a question each; empty: single calls are not marked.
    taxonomy_file : str
        YAML file of the kinds of failures that the judge tells apart; empty: fourteen kinds of ours.
    judge_prompt, judge_max_tokens
        A folder of your own prompts ``trajectory`` and ``failure``; longest verdict of a language model.
    judge_max_characters : int
        Longest trajectory that the judge is given whole, in characters; longer ones lose their middle.
    labels, labels_of, labels_scale, labels_drawn, correction
        See :func:`evalbench.kit.labelled.given`.
    figures : sequence of str
        Which figures beside success; empty: all that the tables allow, and those of the judge, but for single kinds of failures
        (``failure_KIND``).
    lights : mapping of str to mapping, optional
        Figure → its thresholds, e.g. ``{"success": {"green_from": 0.8, "yellow_from": 0.6}}`` or ``pass_hat_k``, at or above; where less is
        better ``green_to`` and ``yellow_to``, at or below.
    max_unscored, seed, n_resamples
        See :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per task and model.  ``tables``: ``steps``, ``tool_calls``, ``misfits``, ``missed``, ``tools``, ``tasks``,
        ``causes``, ``turning_points``, ``contradictions``, ``ungrounded``, ``requirements``, ``blamed`` and ``blamed_kinds`` where the tables have them,
        ``comparison`` where there are several models, and those of trials; with a judge ``verdicts`` and ``faults``, which ``judge_audit``
        reads, ``step_verdicts`` (whose ``id`` is that of a call), ``fault_kinds``, and ``calls``, what it was asked; those of tools are ``tool_calls``.

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
    checks.choices(success_by=(items.MARK, items.CALLS, items.REQUIREMENTS, items.JUDGE))
    checks.share("success_from", "argument_similarity")
    checks.at_least(0, "k")
    checks.at_least(record.LEAST, "judge_max_characters")
    checks.that(judge or success_by != items.JUDGE, "success_by judge needs a judge")
    by = judging.by_of(checks, judge, criteria_file, taxonomy_file, step_criteria_file)
    asked = by.named() if by else dict(judging.NOBODY)
    summary.checked_figures(figures, checks, **asked)
    rules = checks.tried(lambda: summary.rules_of(lights, k, **asked)) or {}
    checks.refuse("trajectories")
    dealt = any(map(kit.parts.is_dealt, data.tables.values()))
    read = kit.parts.made(
        made.made_of,
        data,
        {name: options[name] for name in made.OPTIONS} | {"has_steps": len(data["steps"]) > 0},
        SCHEMA,
    )
    given = made.given_of(read, data)
    if judge and success_by == items.MARK and given.runs["mark"].isna().all():
        options["success_by"] = success_by = items.JUDGE
    humans = kit.labelled.given(
        summary.judged_measures(figures, k, **asked, success_by=success_by),
        given.runs if dealt else data["steps"],
        **kit.taken(kit.labelled.given, options),
    )
    settings: dict[str, Any] = {"prompt": judge_prompt, "seed": seed, "max_tokens": judge_max_tokens}
    told = judged.judged(given, data, by, judge, judge_max_characters, success_from, **settings)
    followed = _followed(given, read.tables, success_by, success_from, told)
    rows = followed.runs.drop(columns="run")
    frames = {**data.tables, "runs": rows if given.repeated else rows.drop(columns=readers.schema.TRIAL)}
    spread, trials = kit.trials.spread(replace(data, tables=frames), {"runs": _RUNS})
    each = spread["runs"].sort_values(["id", "model"], kind="stable", ignore_index=True)
    averaged, of_trials = trials.averaged(
        each.drop(columns=readers.schema.TRIAL, errors="ignore"), "id", unscored_too=True
    )
    k = k or items.most_trials(of_trials)
    found = items.passed_all(items.without_idle(averaged), of_trials, k)
    resampled: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
    found, fit, of_labels = humans.on(kit.grouping.carried(found, read.data or data), *told.heard, **resampled)
    chosen = list(figures) or list(summary.allowed(found, k, asked["criteria"], asked["step_criteria"]))
    options |= {"k": k, "figures": chosen, "lights": rules, **asked, **fit}
    core.progress.at(f"intervals, {n_resamples} resamples")
    blamed, kinds = blames.blamed(given, seed, n_resamples, faults.ours(given, told), faults.kind_names(told))
    measures = summary.measures(chosen, k, **asked)
    names, parted = followed.runs[["run", *inputs.RUN]], turning.parted(followed)
    turns = parted.turns
    result = kit.result_of(
        evaluate,
        data,
        options,
        found,
        tables={"steps": method.shown_steps(given, followed)},
        some={
            name: tables.named(frame, names, given.repeated)
            for name, frame in {
                "tool_calls": followed.calls.drop(columns="key"),
                "misfits": tables.misfits(followed.calls),
                "missed": followed.missed.assign(arguments=followed.missed["arguments"].map(cells.in_words)),
                "causes": causes.causes_of(followed, turns),
                "turning_points": method.with_followed(turns[turns["kind"] != turning.SAME], names, given.repeated),
                "contradictions": tables.contradictions_of(followed),
                "ungrounded": followed.ungrounded,
                "requirements": followed.required,
                "verdicts": told.verdicts,
                "faults": told.faults,
            }.items()
        }
        | {
            "tasks": tables.tasks_of(given),
            "tools": tables.tools_of(followed, given),
            "blamed": blamed,
            "blamed_kinds": kinds,
            "step_verdicts": tables.beside(told.steps, names, given.repeated),
            "fault_kinds": faults.kinds_of(found, told, names, **resampled),
            "comparison": kit.comparing.compare_groups(found, summary.compared(measures), "model", **resampled),
        },
        notes=(*data.notes, *method.notes(given, followed, found, parted, options), *told.notes, *of_labels),
        method=method.described(options),
        heard=told.heard,
    )
    reported = trials.reported(result, of_trials, measures)
    return kit.answering.with_answer(reported, answer)  # which counts trials


def _followed(
    given: inputs.Given, found: Mapping[str, pd.DataFrame], success_by: str, success_from: float, told: judged.Judged
) -> items.Followed:
    """The trajectories with what was found in them.

    - ``found``: The tables of :func:`made.made_of`.
    """
    calls, missed = found[made.CALLS], found[made.MISSED]
    runs = items.rows_of(given, calls, missed, found[made.CLAIMS], found[made.COUNTS], success_by, success_from, told)
    runs = runs.assign(run=np.arange(len(runs)))
    unspoken = said.named_and_never_called(given, calls)
    return items.Followed(runs, calls, missed, found[made.UNGROUNDED], unspoken, found[made.REQUIRED])


_RUNS = readers.Table(
    (readers.Column("id", "id"), readers.Column("model", "id", groups=True)), unique=("id", "model"), trials="model"
)

globals().update(offered(__name__))
