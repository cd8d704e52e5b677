"""Pictures and tables of trajectories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, draw, kit
from evalbench.readers.schema import TRIAL
from evalbench.studies.trajectories import causes
from evalbench.studies.trajectories.calls import LOOKS
from evalbench.studies.trajectories.inputs import AGENTS
from evalbench.studies.trajectories.ordered import among
from evalbench.studies.trajectories.schemas import UNKNOWN

SHOWN = {
    "success": "success",
    "pass_hat_k": "",
    "call_precision": "precision of calls",
    "call_recall": "recall of calls",
    "failed_calls": "failed calls",
    "recovered_errors": "made good",
    "repeated_calls": "repeated calls",
    "loops": "with a loop",
}
"""The figures that are drawn, with short names."""
MOST_LINES = 4
LONGEST_QUESTION = 160


def picture_figures(result: core.Result) -> draw.Drawn | None:
    """The main figures of each agent with their intervals."""
    names = [m for m in SHOWN if any(e.metric == m and e.value is not None for e in result.summary.estimates)]
    titles = {e.metric: SHOWN.get(e.metric) or e.title for e in result.summary.estimates}
    if not names:
        return None
    return draw.panels.estimate_panels(
        {titles[m]: [e for e in result.summary.estimates if e.metric == m] for m in names},
        "model",
        {titles[m]: (0.0, 1.0) for m in names},
        title="What the agents reach, and how they call tools",
        xlabel="share (0–1); trials of a task are averaged, tasks are resampled",
    )


def picture_pass_k(result: core.Result) -> draw.Drawn | None:
    """The chance that all of k trials of a task reach the goal, and that one does, by k; nothing without trials."""
    table = result.tables.get("pass_k")
    table = None if table is None else table[table["metric"] == "success"]
    if table is None or table.empty:
        return None
    series = {}
    models = [str(m) for m in sorted(table["model"].unique())][:MOST_LINES]
    for model in models:
        own = table[table["model"] == model]
        for said, column, ends in (("pass^k", "pass_hat_k", "hat"), ("pass@k", "pass_at_k", "at")):
            if len(models) <= 2 or said == "pass^k":
                line = (own["k"], own[column], own[f"{ends}_low"], own[f"{ends}_high"])
                series[f"{model} {said}"] = draw.lines.Line(*(column.to_numpy(dtype=float) for column in line))
    return draw.lines.lines(
        series,
        title="How success holds when a task is tried again",
        xlabel="k, trials of a task",
        ylabel="share of tasks (0–1)",
        domain=(0, 1),
    )


def comparison(result: core.Result) -> pd.DataFrame:
    """Every two agents on every figure; empty where there is one agent."""
    return kit.comparing.shown(result.tables.get("comparison"), "model")


def tools(result: core.Result) -> pd.DataFrame:
    """A row per agent and tool: calls, right, wrong, failed, made good."""
    table = result.tables.get("tools")
    if table is None:
        return _none("No trajectory has a call, and no task expects one")
    known = bool(result.items["tp"].notna().any())
    names = {"model": "agent", "name": "tool", "calls": "calls"}
    names |= {"right": "right", "wrong_arguments": "wrong arguments", "extra": "extra"} if known else {}
    names |= {"forbidden": "forbidden"} if table["forbidden"].any() else {}
    names |= {"misfits": "do not fit the schema"} if "misfits" in table else {}
    names |= {"unknown": "of an unknown tool"} if "unknown" in table and table["unknown"].any() else {}
    names |= {"errors": "errors", "recovered": "made good", "repeats": "repeats"}
    names |= {"expected": "expected", "missed": "missed"} if known else {}
    return table[list(names)].rename(columns=names)


def misfits(result: core.Result) -> pd.DataFrame:
    """The calls that do not fit the schema of their tool, and those of tools that do not exist; empty where no tools are listed."""
    table, tools = result.tables.get("misfits"), result.tables.get("tools")
    if table is not None:
        return table.rename(columns={"model": "agent", "name": "tool", "why": "why it does not fit"})
    held = result.items["n_held"].sum()
    if tools is None or "misfits" not in tools:
        return pd.DataFrame()
    return _none("Every call fits the schema of its tool" if held else "No call is of a tool whose schema is given")


def why_failed(result: core.Result) -> pd.DataFrame:
    """What failed trials of each agent have in common, as far as calls show it; the most frequent first."""
    table = result.tables.get("causes")
    if table is None:
        return _none(
            _none_failed(_trials_of(result))
            if (_trials_of(result)["success"] == 0).sum() == 0
            else "The steps of failed trials are not known."
        )
    own = causes.counted(table)
    said = {
        "agent": own["model"],
        "what": own["cause"],
        "tool": own["name"],
        "failed trials": own["n"],
        "of": own["of"],
    }
    return pd.DataFrame({**said, "tasks": own["tasks"], "such as": own["case"]})


def turning_points(result: core.Result) -> pd.DataFrame:
    """Where failed trajectories leave the way of successful ones: what was called in place of what, the most frequent first."""
    table = result.tables.get("turning_points")
    if table is None:
        return _none(_without_turns(_trials_of(result)))
    how = ["model", "kind", "instead_of", "name"]
    counted = (
        table.groupby(how, sort=True).agg(n=("id", "size"), tasks=("id", "nunique"), case=("id", "first")).reset_index()
    )
    counted = counted.sort_values(["n", *how], ascending=[False, *[True] * len(how)], ignore_index=True)
    names = {
        "model": "agent",
        "instead_of": "the successful one calls",
        "name": "the failed one calls",
        "kind": "what differs",
    }
    names |= {"n": "trajectories", "tasks": "tasks", "case": "such as"}
    return (
        counted[list(names)]
        .replace({"instead_of": {"": "nothing more"}, "name": {"": "nothing more"}})
        .rename(columns=names)
    )


def _without_turns(rows: pd.DataFrame) -> str:
    """Why no failed trajectory leaves the way of a successful one."""
    failed = rows[rows["success"] < 1]
    beside = int(failed["id"].isin(rows.loc[rows["success"] == 1, "id"]).sum())
    if failed.empty:
        return _none_failed(rows)
    if not beside:
        return "No failed trajectory has a successful one of the same task beside it."
    if rows["n_calls"].isna().all():
        return f"Failed trajectories with a successful one of their task: {beside}. Their steps are not known."
    return f"Failed trajectories with a successful one of their task: {beside}. All make the same calls as that one; the outcome alone differs."


def _trials_of(result: core.Result) -> pd.DataFrame:
    """One row per trajectory."""
    return result.tables.get(kit.trials.ROWS, result.items)


def _none_failed(rows: pd.DataFrame) -> str:
    """Of trajectories of which none is known to have failed: whether they reach the goal, or are not scored."""
    n, scored = len(rows), int(rows["success"].notna().sum())
    if not scored:
        return f"None of {core.counted(n, 'trajectory', 'trajectories')} is scored, so that none is known to miss the goal."
    if scored < n:
        return (
            f"The goal is reached in every scored trajectory: {scored} of {n} {'is' if scored == 1 else 'are'} scored."
        )
    return f"{'The only trajectory reaches' if n == 1 else f'All {n} trajectories reach'} the goal."


def forbidden(result: core.Result) -> pd.DataFrame:
    """Every call of a forbidden tool: the task, the agent, the trial, the step and the call."""
    calls, rows = result.tables.get("tool_calls"), _trials_of(result)
    own = None if calls is None else calls[calls["forbidden"]]
    if own is None or own.empty:
        banned = int(rows["forbidden"].notna().sum())
        which = core.counted(banned, "trajectory", "trajectories")
        none = f"No forbidden tool is called in {which} whose task says which are forbidden."
        return _none(none if banned else "It is not known which tools are forbidden.")
    names = {"id": "task", "model": "agent", TRIAL: "trial", "step": "step", "name": "tool", "arguments": "arguments"}
    return own[[name for name in names if name in own]].rename(columns=names).reset_index(drop=True)


def contradictions(result: core.Result) -> pd.DataFrame:
    """What a reviewer must look at: success without the expected calls, the calls without success, tools named and never called."""
    table = result.tables.get("contradictions")
    if table is None:
        return _none("Nothing contradicts itself")
    return table.rename(columns={"model": "agent", "kind": "what", "detail": "in particular"})


def ungrounded(result: core.Result) -> pd.DataFrame:
    """Claims of the agents that nothing before them holds, with the words around them."""
    table = result.tables.get("ungrounded")
    if table is None:
        looked_at = int(_trials_of(result)["n_claims"].sum())
        what = "number from 10 on, identifier or name"
        if not looked_at:
            return _none(f"No {what} is in the agents' messages: there was none to look at.")
        many = core.counted(looked_at, what, "numbers from 10 on, identifiers and names")
        return _none(f"Looked at in the agents' messages: {many}. Each was said before.")
    return table.rename(columns={"model": "agent", "around": "in the message"})


def _none(said: str) -> pd.DataFrame:
    return pd.DataFrame({"note": [said]})


def lanes(result: core.Result, tasks: int = 3) -> draw.Html:
    """The tasks that fail most often with all their trials, of none the first ones: every call a mark, its text one click away."""
    calls = result.tables.get("tool_calls")
    if calls is None:
        return draw.Html('<p class="eb-small">No trajectory has a call.</p>')
    rows, about = _trials_of(result), result.tables.get("tasks")
    order = result.items.groupby("id")["success"].mean().reset_index()
    missed = order[order["success"] < 1]
    chosen = order if missed.empty else missed
    worst = chosen.sort_values(["success", "id"], kind="stable")["id"].head(tasks)
    if missed.empty:
        which = f"{_none_failed(rows)} Tasks that are shown: the first {len(worst)} of {len(order)}."
    else:
        which = f"Tasks in which the goal is missed: {len(missed)} of {len(order)}; of these the {len(worst)} in which it is missed most often."
    drawn = [draw.Html(f'<p class="eb-small">{draw.escape(which)}</p>')]
    drawn.append(draw.lanes.legend([look for look in LOOKS if (calls["look"] == look).any()]))
    asked = {} if about is None else dict(zip(about["id"], about["question"].map(_shortened), strict=True))
    for task in worst:
        own, its = rows[rows["id"] == task], calls[calls["id"] == task]
        title = f"{task}: {asked[task]}" if asked.get(task) else str(task)
        drawn.append(draw.lanes.lanes(title, [_lane(case, its) for case in own.to_dict("records")]))
    return draw.Html("".join(drawn))


def _shortened(question: str) -> str:
    return question if len(question) <= LONGEST_QUESTION else f"{question[:LONGEST_QUESTION].rstrip()}…"


def _lane(case: Mapping[Any, Any], calls: pd.DataFrame) -> draw.lanes.Lane:
    keys = ["model", *([TRIAL] if TRIAL in calls else [])]
    own = kit.cases.rows_of(calls, {"model": case["model"], TRIAL: case.get(TRIAL, "")}, keys)
    success = case["success"]
    good = None if success != success else bool(success == 1)
    ended = "not scored" if good is None else "goal reached" if good else "goal not reached"
    name = f"{case['model']}, trial {case[TRIAL]}" if TRIAL in case else str(case["model"])
    marks = [draw.lanes.Mark(row["look"], row["name"], _behind(row)) for row in own.to_dict("records")]
    return draw.lanes.Lane(name, ended, good, marks)


def _behind(call: Mapping[Any, Any]) -> draw.Html:
    """What is behind a call: its arguments, what was expected, its result or error, and what else is known."""
    parts = [("arguments", call["arguments"]), ("expected", call["expected"]), ("error", call["error"])]
    parts += [("result", call["result"] if call["result"] != call["error"] else "")]
    said = "".join(f"<p>{name}</p>{draw.tables.text_block(str(text), 300)}" for name, text in parts if text)
    flags = [
        word
        for word, holds in (
            ("repeats an earlier call", call["repeated"]),
            (f"in a loop of {call['cycle']}", call["cycle"]),
            ("made good later", call["recovered"]),
            (f"arguments: {call['unreadable']}", call["unreadable"]),
            (f"does not fit the schema: {call['misfit']}", call["misfit"] and not call["unreadable"]),
            ("the tool is not listed", call["schema"] == UNKNOWN),
            ("no result", not call["answered"]),
        )
        if holds
    ]
    known = f"<p>{draw.escape('; '.join(flags))}</p>" if flags else ""
    return draw.Html(f"{said}{known}" or "<p>no arguments</p>")


@kit.trials.each_trial
def worst(result: core.Result, rows: int = 10) -> pd.DataFrame:
    """Trajectories that did not reach the goal, those that are furthest from the expected calls first."""
    failed = result.items[result.items["success"] < 1]
    if failed.empty:
        return _none(_none_failed(result.items))
    table = failed.assign(missed=failed["fn"].fillna(0) + failed["fp"].fillna(0))
    found = kit.cases.worst_cases(table, ["success", "missed"], highest=["missed"], keys=["id", "model"], n=rows)
    steps = result.tables["steps"]
    show: kit.cases.Show = {
        "id": "id",
        "agent": "model",
        "calls": "n_calls",
        "not as expected": lambda case: case["fn"] if case["fn"] == case["fn"] else None,
        "what the agent said last": lambda case: _last(steps, case),
    }
    return kit.cases.shown(found, show)


def _last(steps: pd.DataFrame, case: Mapping[Any, Any]) -> draw.Html:
    own = kit.cases.rows_of(steps, case, ["id", "model"])
    said = own.loc[(own["kind"] == "message") & (own["text"] != "") & among(own["role"], AGENTS), "text"]
    return draw.tables.text_block(said.iloc[-1]) if len(said) else draw.Html("<em>nothing</em>")


@kit.trials.each_trial
def step_by_step(result: core.Result, n: int = 1, rows: int = 60) -> draw.Html:
    """A trajectory that did not reach the goal, step by step; of all the one that lacks most expected calls."""
    failed = result.items[result.items["success"] < 1]
    table = failed.assign(missed=failed["fn"].fillna(0))
    cases = kit.cases.worst_cases(table, ["success", "missed"], highest=["missed"], keys=["id", "model"], n=n)
    if cases.empty:
        return draw.Html(f'<p class="eb-small">{draw.escape(_none_failed(result.items))}</p>')
    return draw.Html("".join(_steps(result, case, rows) for case in cases.to_dict("records")))


def _steps(result: core.Result, case: Mapping[Any, Any], rows: int) -> draw.Html:
    own = kit.cases.rows_of(result.tables["steps"], case, ["id", "model"])
    missed = result.tables.get("missed")
    lacking = [] if missed is None else kit.cases.rows_of(missed, case, ["id", "model"]).to_dict("records")
    table = kit.cases.shown(own, {"step": "step", "who": _who, "what": _what})
    said = "; ".join(f"{row['name']}({row['arguments']})" for row in lacking)
    text = f"Expected and not called so: {said}" if said else _not_lacking(case)
    title = f"{case['id']}, {case['model']}"
    return kit.cases.sheet(title, text, draw.tables.html_table(table, caption=f"Steps of {title}", rows=rows))


def _not_lacking(case: Mapping[Any, Any]) -> str:
    """Of a trajectory without a missing call: whether any is expected."""
    if case["n_calls"] != case["n_calls"]:
        return "No step of it is known."
    if case["wanted"] != case["wanted"]:
        return "Which calls are expected is not known."
    return "Every expected call was made." if case["wanted"] else "No call is expected."


def _who(step: Mapping[str, Any]) -> str:
    return str(step["role"] or step["kind"]) if step["kind"] == "message" else str(step["kind"])


def _what(step: Mapping[str, Any]) -> draw.Html:
    if step["kind"] == "call":
        sign, colour = draw.lanes.SIGNS[step["look"]]
        look, name = draw.escape(step["look"]), draw.escape(step["name"])
        arguments = draw.tables.text_block(step["arguments"], 300) if step["arguments"] else ""
        return draw.Html(f'<span class="eb-call-{colour}">{sign} {look}</span> <strong>{name}</strong>{arguments}')
    error = step["error"] if step["error"] and step["error"] != step["text"] else ""
    marked = '<span class="eb-call-bad">✗ error</span>' if step["error"] else ""
    text = "\n".join(filter(None, (error, step["text"])))
    return draw.Html(f"{marked}{draw.tables.text_block(text, 400)}")


def blamed(result: core.Result) -> pd.DataFrame:
    """How often judges blame what people blame, beside what chance gives; empty where no table says it."""
    table = result.tables.get("blamed")
    if table is None:
        return pd.DataFrame()
    ends = ([None if v != v else v for v in table[c]] for c in ("value", "ci_low", "ci_high"))
    said = core.wording.aligned(*ends)
    chance = [f"{value:.3f}" if value == value else "not known" for value in table["chance"]]
    columns = {"judge": table["judge"], "right in": table["what"], "share": said, "by chance": chance}
    return pd.DataFrame({**columns, "tasks": table["n"], "trajectories that people blame": table["of"]})


def blamed_kinds(result: core.Result) -> pd.DataFrame:
    """How well judges name each kind of failure; empty where no table says it."""
    table = result.tables.get("blamed_kinds")
    return pd.DataFrame() if table is None else table


def unmet(result: core.Result) -> pd.DataFrame:
    """How often each requirement is met, for itself and with all that it needs, those that are met least first; empty without any."""
    table = result.tables.get("requirements")
    if table is None:
        return pd.DataFrame()
    if table["requirement"].astype(str).str.fullmatch(r"\d+").all():  # numbers name nothing beyond their task
        table = table.assign(requirement=table["id"].astype(str) + ": " + table["requirement"].astype(str))
    by = table.groupby(["requirement", "model"], sort=True)
    found = by.agg(asked=("id", "size"), met=("met", "sum"), with_needs=("met_with_needs", "sum")).reset_index()
    order = (found["met"] / found["asked"]).sort_values(kind="stable").index
    names = {
        "requirement": "requirement",
        "model": "agent",
        "asked": "trajectories",
        "met": "met",
        "with_needs": "met with all that it needs",
    }
    return found.loc[order, list(names)].rename(columns=names).reset_index(drop=True)
