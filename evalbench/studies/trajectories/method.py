"""What a reader should know of the figures: formulas, notes, and the steps as they are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit, readers
from evalbench.metrics.trajectories import LONGEST_CYCLE, TURNS
from evalbench.readers.schema import TRIAL
from evalbench.studies.trajectories import blames, items, schemas, turning
from evalbench.studies.trajectories.inputs import AGENTS, RUN, Given
from evalbench.studies.trajectories.ordered import among

JUDGED = (
    "Judge: each trajectory is marked by each criterion, (mark − lowest) / (highest − lowest), and given one kind of failure, or none, with its "
    "step. A kind whose step the trajectory has not, or the judge was not shown, is unscored, no-such-step. Of several failures the judge "
    "names that without which the trajectory would have ended well, the first: a share of a kind is that of trajectories, no count of mistakes."
)
STEPS = ["step", "kind", "role", "name", "arguments", "text", "error"]


def shown_steps(given: Given, followed: items.Followed) -> pd.DataFrame:
    """Every step with the names of its trajectory, a call with what it is."""
    looks = np.full(len(given.steps), "", dtype=object)
    looks[(given.steps["kind"] == "call").to_numpy()] = followed.calls["look"].to_numpy()
    names = [key for key in RUN if given.repeated or key != TRIAL]
    return given.steps[[*names, *STEPS]].assign(look=pd.Series(looks, dtype="str"))


def with_followed(turns: pd.DataFrame, names: pd.DataFrame, repeated: bool) -> pd.DataFrame:
    """The turning points, each with the name of the successful trajectory that it is held against."""
    own = names.set_index("run")
    said = own["model"] + (", trial " + own[TRIAL] if repeated else "")
    return turns.assign(followed=turns["followed"].map(said))


def notes(
    given: Given, followed: items.Followed, found: pd.DataFrame, parted: turning.Parted, options: Mapping[str, Any]
) -> Iterator[str]:
    """What was left out, repeated, cut, and what contradicts itself."""
    runs = followed.runs
    n = len(runs)
    yield from kit.answers.remarks(found)
    if equal := items.equal_trials(given):
        short = f"{equal} of {core.counted(n, 'trajectory', 'trajectories')} are, step by step, the same as another trial of their task"
        text = f"{short}. If a cache or a fixed seed repeats them, they show no more than one trial does."
        yield core.Note("sample", short, text) if equal > options["max_unscored"] * n else text
    if given.tasks_known and (strangers := sorted({*runs["id"]} - given.tasks_known)):
        short = f"{len(strangers)} of {core.counted(runs['id'].nunique(), 'task')} {'is' if len(strangers) == 1 else 'are'} not in the table tasks, such as {strangers[0]:.40}"
        why = readers.strangers.written_otherwise(strangers, given.tasks_known)
        said = f"{short}{f': {why}' if why else ''}"
        yield core.Note("unmatched", said) if why or len(strangers) > options["max_unscored"] * n else f"{said}."
    if empty := int(runs["n_calls"].isna().sum()):
        yield f"Outcomes without a step, whose success counts and of whose way nothing is known: {empty} of {n}."
    yield from _partial(given, options)
    yield from _fewer_scored(runs, options["k"])
    if stray := int((given.steps["kind"] == "result").sum() - followed.calls["answered"].sum()):
        yield (
            f"Results that belong to no call: {stray} of {int((given.steps['kind'] == 'result').sum())}; they count as nothing that was done, and "
            "claims may rest on them."
        )
    if unfinished := int((runs["unfinished"] == 1).sum()):
        yield (
            f"Trajectories whose last step is a call or a tool's result: {unfinished} of {n}. They may have been cut by a limit or by the log; "
            "that is not giving up."
        )
    if beyond := items.beyond_limit(given):
        yield (
            f"Trajectories with more steps than max_steps: {beyond} of {n}. The limit does not count the rows of this table, so that none is "
            "taken to have been ended by it."
        )
    yield from _expecting_none(given, followed)
    unreadable = followed.calls["unreadable"]
    if lost := int((unreadable != "").sum()):
        yield f"Calls whose arguments cannot be read: {lost} of {len(unreadable)}; they match no expected call."
    yield from _of_schemas(followed.calls)
    yield from blames.unsettled(given)
    yield from _between_runs(runs)
    yield from turning.not_compared(parted.fresh)
    if alike := int((parted.turns["kind"] == turning.SAME).sum()):
        yield (
            f"Failed trajectories that make the same calls as a successful one of their task: {alike} of {len(parted.turns)} that can be compared. They "
            "leave its way nowhere and are not in the table turning_points."
        )
    silent = ~among(given.steps.loc[given.steps["kind"] == "message", "role"], AGENTS)
    if len(silent) and silent.all():
        yield f"No message has a role of an agent ({', '.join(sorted(AGENTS))}), so that claims without ground are not looked for."
    if repeats := int(followed.calls["repeated"].sum()):
        same = int(followed.calls["same_result"].sum())
        yield f"Calls that repeat an earlier one of their trajectory: {repeats}; of {same} the result is the same, too."
    lucky, unpaid = ((runs["success"] == a) & (runs["complete"] == b) for a, b in ((1, 0), (0, 1)))
    if lucky.any() or unpaid.any():
        yield (
            f"Success and expected calls disagree: {core.counted(int(lucky.sum()), 'success', 'successes')} without every expected call, "
            f"{core.counted(int(unpaid.sum()), 'trajectory', 'trajectories')} with all of them and no success (table contradictions)."
        )


def _expecting_none(given: Given, followed: items.Followed) -> Iterator[str]:
    """What tasks that expect no call do to the figures of calls."""
    tasks = given.runs[given.runs["knows_expected"]]
    none = tasks[~tasks["run"].isin(given.expected["run"])]
    if len(none) and len(none) < len(tasks):
        made = int(followed.calls["run"].isin(none["run"]).sum())
        yield (
            f"Tasks that expect no call: {none['id'].nunique()} of {tasks['id'].nunique()}. Each of their {core.counted(made, 'call')} counts as "
            "not expected in the precision; they have no part in the recall, and by calls alone it is not known whether they are reached."
        )


def _partial(given: Given, options: Mapping[str, Any]) -> Iterator[str]:
    """Marks between 0 and 1 that are too low for a success."""
    if options["success_by"] != items.MARK:
        return
    marks = given.runs["mark"].dropna()
    if partly := int(((marks > 0) & (marks < 1) & (marks < options["success_from"])).sum()):
        counts = f"{'lies' if partly == 1 else 'lie'} between 0 and 1 and {'counts' if partly == 1 else 'count'} as not reached"
        short = f"{partly} of {core.counted(len(marks), 'mark')} {counts} (success_from={options['success_from']:g})"
        yield core.Note("instrument", short) if partly > options["max_unscored"] * len(marks) else f"{short}."


def _fewer_scored(runs: pd.DataFrame, k: int) -> Iterator[str]:
    """Why pass^k is of fewer trials than there are."""
    each = runs.groupby(["id", "model"])["success"].agg(["size", "count"])
    tried = int(each["size"].mode().max())
    lacking = int((each["count"] < tried).sum())
    if k < tried and lacking:
        which = f"pass^{k}, not pass^{tried}" if k > 1 else f"no pass^{tried}"
        pairs = core.counted(len(each), "pair of a task and an agent", "pairs of a task and an agent")
        yield f"There is {which}: of {lacking} of {pairs} fewer than {tried} trials are scored."


def _of_schemas(calls: pd.DataFrame) -> Iterator[str]:
    """What could not be held against a schema, and tools that do not exist."""
    n = len(calls)
    if stray := calls.loc[calls["schema"] == schemas.UNKNOWN, "name"].tolist():
        yield f"Calls of tools that are not listed: {len(stray)} of {n}, such as {stray[0]:.60} (table misfits)."
    if bare := calls.loc[calls["schema"] == schemas.NONE, "name"].unique().tolist():
        named = f"{core.counted(len(bare), 'tool')} that {'is' if len(bare) == 1 else 'are'} called"
        yield f"No schema is given of {named}, such as {bare[0]:.60}: the calls are held against none."
    if large := int((calls["schema"] == schemas.TOO_MUCH).sum()):
        yield f"Calls that take too long to be held against the schema of their tool: {large} of {n}; they are left out of that figure."


def _between_runs(runs: pd.DataFrame) -> Iterator[str]:
    """How far two runs of the same agent part by chance, by the noise between trials of a task."""
    scored = runs.dropna(subset="success")
    if len(scored) and not scored.duplicated(["id", "model"]).any():
        yield "No task was tried twice by an agent, so that it is not known how far two of its runs differ by chance alone."
        return
    for model, own in scored.groupby("model"):
        split = core.noise.noise_split(own["success"], own["id"])
        if split is not None and split.n_items < core.stats.FEW_UNITS:
            few = f"{core.counted(split.n_items, 'task')} tried more than once"
            yield f"How far two runs of {model} differ by chance alone is not known: {few}, of at least {core.stats.FEW_UNITS} that it takes."
        elif split is not None:
            yield core.noise.runs_sentence(split, str(model), "success", "task", "trial")


def described(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The formulas in force."""
    ignored = ", ".join(options["ignore_arguments"])
    texts = options["argument_similarity"]
    equal = "arguments are equal as JSON, numbers by value"
    equal += f", texts from a similarity of {texts:g} on" if texts < 1 else ""
    equal += f"; {ignored} do not count" if ignored else ""
    success = {
        items.MARK: f"the mark is at least {options['success_from']:g}",
        items.CALLS: "every expected call was made and no forbidden one",
        items.REQUIREMENTS: "every requirement is met",
        items.JUDGE: f"the judge's mark by the first criterion is at least {options['success_from']:g} of the highest",
    }[options["success_by"]]
    return (
        f"Success: {success}. pass^k = C(c, k) / C(n, k) of a task with c successes in n trials (Yao et al. 2024), pass@k = 1 − C(n − c, k) / "
        "C(n, k) (Chen et al. 2021), both without bias, averaged over tasks. Trials of a task are averaged before tasks are.",
        f"A call is right where tool and arguments are those of an expected call: {equal}. Each expected call is matched once. Precision: "
        "right calls / calls; recall: right calls / expected ones; of sums over tasks.",
        "A call does not fit the schema of its tool where its arguments do not parse, or break the JSON Schema that is given; formats of texts are "
        "not checked, and nothing that a schema refers to is fetched. Calls of tools that are not listed are counted apart.",
        f"Made good: a later call of the same tool in the trajectory does not fail. A loop is a cycle of at most {LONGEST_CYCLE} calls that is "
        f"gone through at least {TURNS} times.",
        "Claims without ground: numbers from 10 on, identifiers and names in messages of the agent that no result, no message of others and no "
        "instruction before them holds, numbers by value, the rest without case. What the agent worked out itself, such as a sum, is listed too: "
        "a list to look at, not a count of lies.",
        "Requirements met with all that they need: each of these is met, too, and what it needs in turn. Success without what others are to blame "
        "for leaves out trajectories whose fault is that of the environment, the user or the grader; no light rests on it.",
        "Blames: a judge is right where it names the agent or the step that a person named; chance picks one of the agents that speak in the "
        "trajectory, where the one that people blame is among them, or one of all its steps, each as likely as any other.",
        *([JUDGED] if options.get("criteria") else []),
        "Failed trajectories are held against the successful one of the same task that they follow longest, of their own agent, else of another.",
        "Loggers count steps differently (a thought and its call as one or as two) and log costs at their own prices: lengths and costs are "
        "compared within one source.",
        "Intervals resample tasks. No thresholds are stated by a method document; a forbidden call is red where tasks name some.",
    )
