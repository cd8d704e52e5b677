"""The tables of agents' trajectories, checked and joined: steps, tasks, outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.metrics.tool_schemas import Check, schema_check
from evalbench.readers import Column, Table
from evalbench.readers.role_names import plain, role_called
from evalbench.readers.role_values import first_cells, is_marks
from evalbench.readers.roles import noted
from evalbench.readers.trajectories import SCHEMAS, kind_of, speaker_of, tool_of
from evalbench.studies.trajectories import cells
from evalbench.studies.trajectories.ordered import in_order, numbered

_IN_PARTS: Mapping[str, Any] = {"sampled": 20_000, "dealt": True}
"""Of tables that may be large: read in parts, of which so many rows say what the columns are."""
FAULTS = ("agent", "environment", "user", "grader")
KINDS = ("message", "call", "result", "handover", "note")
RUN = ("id", "model", readers.schema.TRIAL)
"""The columns that name a trajectory."""
ENDED = {"limit": "a limit", "environment": "an error of the environment"}
"""Names of notes that say how a trajectory ended."""
AGENTS = frozenset({"assistant", "agent", "ai", "model", "bot"})
USERS = frozenset({"user", "human", "customer"})
_MAY_BE_OUTCOMES = frozenset(
    {"result", "outcome", "score", "status", "verdict", "pass", "final score", "итог", "результат", "结果"}
)
"""Names that mean the outcome of a trajectory in a table that has no steps."""
_AGENT = frozenset({"agent", "агент", "智能体"})
_OPTIONAL = ("role", "name", "arguments", "call_id", "text", "error")


def _own(name: str, kind: Any, said: str, **more: Any) -> Column:
    return Column(name, kind, role="none", required=False, empty_ok=True, help=said, **more)


def _mark(said: str, **more: Any) -> Column:
    return Column("mark", "float", role="outcome", empty_ok=True, low=0, high=1, help=said, **more)


_TASK = Column("id", "id", perhaps=("task", "task name", "задача", "任务"), help="the task")
_MODEL = Column("model", "id", groups=True, required=False, help="which agent")
SCHEMA: Mapping[str, Table] = {
    "steps": Table(
        (
            _TASK,
            _MODEL,
            Column("step", "int", role="none", help="its place in the trajectory"),
            Column("kind", "text", role="none", choices=KINDS),
            _own("role", "text", "who speaks: user, assistant, system; claims are those of assistant"),
            _own("name", "text", "the tool of a call or result; of a note *limit* or *environment*: how it ended"),
            _own("arguments", "text", "of a call, a JSON object"),
            _own("call_id", "text", "which result belongs to which call; without it they follow each other"),
            _own("text", "text", "what was said, or a tool's result"),
            _own("error", "text", "of a result or call: what went wrong, or yes and no; empty where nothing did"),
            _own("time", "ts", "when"),
            _own("seconds", "float", "how long the step took", low=0),
            _own("tokens", "float", "of the step", low=0),
            _own("cost", "float", "of the step, as logged", low=0),
            _own("parent", "text", "the step that it belongs to"),
            _mark("whether the goal was reached, at any step of the trajectory: 0 to 1, or yes and no", required=False),
        ),
        unique=("id", "model", "step"),
        **_IN_PARTS,
        trials="model",
        lists=True,
        help="one row per step of a trajectory",
    ),
    "tasks": Table(
        (
            _TASK,
            Column("question", "text", required=False, empty_ok=True, help="what was asked"),
            _own("expected", "json", "[{name, arguments}, …]: the calls that reach the goal; null: not known"),
            _own("forbidden", "json", "names of tools that must not be called; null: not known"),
            _own("order", "text", "whether the order of the expected calls counts", choices=("any", "given")),
            _own("max_steps", "int", "a trajectory of so many steps was ended by its limit", low=1),
            _own("policy", "text", "the instruction that the agent was given"),
            _own("lang", "text", "ISO 639-1 code; a judge is asked in it"),
        ),
        unique=("id",),
        **_IN_PARTS,
        required=False,
        help="one row per task",
    ),
    "tools": Table(
        (
            Column("name", "id", role="none", help="a tool; one that is called and not listed does not exist"),
            _own("parameters", "json", "the JSON Schema of its arguments; null: not known"),
        ),
        unique=("name",),
        required=False,
        dealt=True,
        help="one row per tool that the agents have",
    ),
    "outcomes": Table(
        (
            _TASK,
            _MODEL,
            _mark("0 to 1, or yes and no; empty: unscored"),
            _own("fault", "text", "whose fault a failure is, where somebody decided it", choices=FAULTS),
        ),
        unique=("id", "model"),
        **_IN_PARTS,
        trials="model",
        required=False,
        help="one row per trajectory: whether it reached the goal",
    ),
    "requirements": Table(
        (
            _TASK,
            _MODEL,
            Column("requirement", "id", role="none", help="its name within the task"),
            Column("met", "bool", role="none", empty_ok=True, help="whether it is met for itself; empty: not known"),
            _own("needs", "json", "[names, …] of the requirements that come before it"),
        ),
        unique=("id", "model", "requirement"),
        **_IN_PARTS,
        trials="model",
        required=False,
        help="one row per requirement of a trajectory",
    ),
    "blames": Table(
        (
            _TASK,
            _MODEL,
            Column("step", "int", role="none", help="the step at which the failure happened"),
            _own("agent", "text", "who is to blame, of several agents in a trajectory: a role of its steps"),
            _own("kind", "text", "the kind of failure"),
            _own("annotator", "text", "the person who blames"),
            _own("judge", "text", "or the judge"),
        ),
        unique=("id", "model", "annotator", "judge"),
        **_IN_PARTS,
        trials="model",
        required=False,
        help="one row per failed trajectory and person or judge: where it failed",
    ),
}


class Given(NamedTuple):
    """What the tables hold, joined.

    - ``steps``: In their order, with their texts, and seconds, tokens and cost where the table has them; with ``run``, the number of the trajectory.
    - ``runs``: One row per trajectory: its names, ``mark``, and what its task says: ``question``, ``policy``, ``order``, ``lang``, ``max_steps``,
      ``knows_expected``, ``forbidden``.
    - ``expected``: The expected calls of every trajectory: ``run``, ``place``, ``name``, ``arguments``.
    - ``repeated``: Whether the tables name trials.
    - ``tasks_known``: The ids of the table of tasks.
    - ``requirements``, ``blames``: These tables with all names of trajectories, if they are there.
    - ``tools``: What the schema of each tool makes of arguments, None of one without a schema; None where no tools are listed.
    """

    steps: pd.DataFrame
    runs: pd.DataFrame
    expected: pd.DataFrame
    repeated: bool
    tasks_known: frozenset[str]
    requirements: pd.DataFrame | None = None
    blames: pd.DataFrame | None = None
    tools: Mapping[str, Check | None] | None = None


def check(data: readers.Dataset) -> None:
    """Refuse calls without a name, faulty lists of calls and schemas, several marks of a trajectory, needs that are no names, and outcomes that belong to no trajectory; all at once."""
    faults = [
        *_step_faults(data["steps"], data.rows.get("steps")),
        *_task_faults(data.get("tasks")),
        *_mark_faults(data),
        *_need_faults(data),
    ]
    faults += _tools_of(data.get("tools"))[1]
    if faults:
        raise errors.BadInput.listing(f"{data.label}: trajectories:", faults)


def _step_faults(steps: pd.DataFrame, rows: pd.Index | None) -> Iterator[str]:
    calls = steps["kind"] == "call"
    names = steps["name"] if "name" in steps else pd.Series("", steps.index)
    places = rows if rows is not None and readers.large.is_dealt(steps) else steps.index + 1
    if nameless := places[(calls & (names.str.strip() == "")).to_numpy()].tolist():
        yield f"steps, name: {core.counted(len(nameless), 'call')} without a name, {_rows(nameless)}"


def _task_faults(tasks: pd.DataFrame | None) -> Iterator[str]:
    for row in () if tasks is None else tasks.to_dict("records"):
        listed, forbidden = row.get("expected"), row.get("forbidden")
        if listed is not None and not (isinstance(listed, list) and all(map(_is_call, listed))):
            yield f"tasks, expected of id {row['id']}: not a list of {{name, arguments}}, arguments an object"
        if forbidden is not None and not (isinstance(forbidden, list) and all(isinstance(n, str) for n in forbidden)):
            yield f"tasks, forbidden of id {row['id']}: not a list of names"


def _is_call(entry: Any) -> bool:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str) or not entry["name"].strip():
        return False
    return entry.get("arguments") is None or isinstance(entry["arguments"], Mapping)


def _mark_faults(data: readers.Dataset) -> Iterator[str]:
    steps, outcomes = data["steps"], data.get("outcomes")
    for key in ("model", readers.schema.TRIAL) if outcomes is not None else ():
        one, other = ("steps", "outcomes") if key in steps else ("outcomes", "steps")
        if (key in steps) != (outcomes is not None and key in outcomes):
            yield f"{other} lacks the column {key} of {one}: which trajectory an outcome belongs to is not known"
    if "mark" in steps:
        keys = [key for key in RUN if key in steps]
        given = steps[steps["mark"].notna()]
        several = given.groupby(keys)["mark"].nunique()
        if (several > 1).any():
            many = core.counted(int((several > 1).sum()), "trajectory", "trajectories")
            yield f"steps, mark: {many} with several, such as {several.index[several > 1][0]!r:.80}"


def _need_faults(data: readers.Dataset) -> Iterator[str]:
    frame = data.get("requirements")
    rows = [] if frame is None or "needs" not in frame else zip(frame["id"], frame["needs"], strict=True)
    for task, needs in rows:
        if needs is not None and not (isinstance(needs, list) and all(isinstance(n, str) for n in needs)):
            yield f"requirements, needs of {task}: not a list of names"


def _tools_of(tools: pd.DataFrame | None) -> tuple[dict[str, Check | None], list[str]]:
    """The checks of tools, and what is wrong with their schemas."""
    checks: dict[str, Check | None] = {}
    faults = []
    schemas = [] if tools is None else tools["parameters"] if "parameters" in tools else [None] * len(tools)
    for name, schema in zip([] if tools is None else tools["name"].astype(str), schemas, strict=True):
        try:
            checks[name] = None if schema is None else schema_check(schema)
        except errors.BadInput as error:
            faults.append(f"tools, parameters of {name:.80}: no JSON Schema that can be used: {error}")
    return checks, faults


def _rows(rows: Sequence[int | str]) -> str:
    more = "" if len(rows) <= 5 else f" and {len(rows) - 5} more"
    return f"{'row' if len(rows) == 1 else 'rows'} {', '.join(map(str, rows[:5]))}{more}"


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Kinds of steps in other words (tool call, user msg); marks in words (yes, failed, true) as 1 and 0; arguments that are objects as their JSON; errors that are yes or no as a word or nothing; tools as a provider lists them."""
    out = _outcomes_apart(frames)
    if "tools" in out:
        out["tools"] = _listed_tools(out["tools"])
    if "steps" in out and "kind" in out["steps"]:
        out["steps"] = _kinds(out["steps"])
    for name in [name for name in ("steps", "outcomes") if name in out]:
        out[name] = cells.read(out[name])
    return out


def _outcomes_apart(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables; one of outcomes that was given alone, in the place of the steps, has no steps beside it."""
    steps = frames.get("steps")
    if steps is None and {"outcomes", "requirements"} & {*frames}:
        return {"steps": _no_steps(next(frames[n] for n in ("outcomes", "requirements") if n in frames)), **frames}
    if len(frames) > 1 or steps is None or {"step", "kind", "name"} & {*steps}:
        return dict(frames)
    if {"requirement", "met"} <= {*steps}:
        return {"steps": _no_steps(steps), "requirements": steps}
    steps = _with_mark(steps)
    if "mark" not in steps:
        return dict(frames)
    return {"steps": _no_steps(steps), "outcomes": steps}


def _with_mark(outcomes: pd.DataFrame) -> pd.DataFrame:
    """A table of outcomes, its column ``mark`` under the name that it has; as it is where it has one, or several that may be."""
    known = [c for c in outcomes if plain(str(c)) in _MAY_BE_OUTCOMES and is_marks(first_cells(outcomes[c]))]
    if "mark" in outcomes or len(known) != 1 or (plain(str(known[0])) != "outcome" and _of_answers(outcomes)):
        return outcomes
    return noted(outcomes.rename(columns={known[0]: "mark"}), outcomes, {str(known[0]): "mark"})


def _of_answers(rows: pd.DataFrame) -> bool:
    """Whether a table holds answers or references, and names no agent: its marks are those of answers."""
    names = [str(name) for name in (*rows, *rows.attrs.get(readers.roles.READ_AS, ()))]
    held = {role for name in names for role in readers.role_names.roles_of(name)}
    return bool(held & {"answer", "reference"}) and not any(_AGENT & {*plain(name).split()} for name in names)


def _no_steps(other: pd.DataFrame) -> pd.DataFrame:
    """A table of steps without a row, which names trajectories as another table does."""
    kept = [name for name in other if name in RUN or role_called(str(name)) is not None]
    columns = dict.fromkeys([*kept, *(c.name for c in SCHEMA["steps"].columns if c.required)])
    return pd.DataFrame(
        {name: pd.Series(dtype=object) for name in columns if name not in ("mark", "requirement", "met")}
    )


def _kinds(steps: pd.DataFrame) -> pd.DataFrame:
    """Steps whose kinds are ours, where a word means one; without a column of roles, who speaks is that of the word."""
    words = steps["kind"]
    named = {word: kind_of(word) for word in dict.fromkeys(word for word in words.tolist() if isinstance(word, str))}
    if all(word in KINDS for word in named):
        return steps
    speakers = {word: speaker_of(word) for word, kind in named.items() if kind == "message"}
    if "role" not in steps and any(speakers.values()):
        steps = steps.assign(role=[speakers.get(word, "") if isinstance(word, str) else "" for word in words])
    return steps.assign(kind=[(named.get(word) or word) if isinstance(word, str) else word for word in words])


def _listed_tools(tools: pd.DataFrame) -> pd.DataFrame:
    """Tools in the form that OpenAI or Anthropic has for them, as name and parameters."""
    if "function" in tools and "name" not in tools:
        inner = [tool_of(cell) for cell in tools["function"]]
        return pd.DataFrame(inner, columns=["name", "parameters"], index=tools.index, dtype=object)
    other = next((name for name in SCHEMAS if name in tools), None)
    return tools.rename(columns={other: "parameters"}) if other and "parameters" not in tools else tools


def checks_of(data: readers.Dataset) -> Mapping[str, Check | None] | None:
    """What the schema of each tool makes of arguments; None where no tools are listed."""
    return None if data.get("tools") is None else _tools_of(data["tools"])[0]


def given(data: readers.Dataset, *, has_steps: bool = False) -> Given:
    """The tables joined; ``check`` was asked before; ``has_steps``: that trajectories of other parts of the tables have steps."""
    steps, outcomes = _named(data["steps"]), data.get("outcomes")
    repeated = readers.schema.TRIAL in data["steps"]
    steps = steps.assign(**{c: "" for c in _OPTIONAL if c not in steps})
    steps = steps.assign(**{c: steps[c].fillna("") for c in _OPTIONAL if steps[c].hasnans})
    of_run, first = numbered(steps, RUN)
    names = ("outcomes",) if has_steps or len(steps) or outcomes is not None else ("requirements",)
    others = [data[name] for name in names if data.get(name) is not None]
    named = [steps[list(RUN)].iloc[first], *(_named(other)[list(RUN)] for other in others)]
    runs = pd.concat(named).drop_duplicates().sort_values(list(RUN), ignore_index=True)
    runs = runs.assign(run=np.arange(len(runs)))
    own = named[0].merge(runs, on=list(RUN), how="left")["run"].to_numpy()[of_run]
    telling = steps if "mark" in steps else steps.iloc[:0].assign(mark=np.nan)
    marked = telling.loc[telling["mark"].notna(), [*RUN, "mark"]]
    steps = steps.drop(columns=["mark", "time", "parent"], errors="ignore")
    if outcomes is not None:
        marked = pd.concat([_named(outcomes)[[*RUN, "mark"]], marked], ignore_index=True)
    marks = marked.dropna(subset="mark").drop_duplicates()
    if (twice := marks.duplicated(list(RUN))).any():
        raise errors.BadInput(
            f"{core.counted(int(twice.sum()), 'trajectory', 'trajectories')} with one mark in steps and another in outcomes, such as {tuple(marks.loc[twice, list(RUN)].iloc[0])}"
        )
    runs = runs.merge(marks, on=list(RUN), how="left")
    faults = _named(outcomes)[[*RUN, "fault"]] if outcomes is not None and "fault" in outcomes else None
    runs = (
        runs.assign(fault="") if faults is None else runs.merge(faults, on=list(RUN), how="left").fillna({"fault": ""})
    )
    runs = _with_tasks(runs, data.get("tasks"))
    steps = in_order(steps.assign(run=own).reset_index(drop=True))
    tasks = data.get("tasks")
    known = frozenset() if tasks is None else frozenset(tasks["id"].astype(str))
    required, blames = (None if own is None else _named(own) for own in (data.get("requirements"), data.get("blames")))
    if blames is not None:
        blames = blames.assign(**{c: "" for c in ("agent", "kind", "annotator", "judge") if c not in blames})
    return Given(steps, runs, _expected(runs, tasks), repeated, known, required, blames, checks_of(data))


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    known = {"model": kit.collecting.UNNAMED, readers.schema.TRIAL: ""}
    out = frame.assign(**{key: value for key, value in known.items() if key not in frame})
    return out.assign(**{key: out[key].astype(str) for key in RUN})


def _with_tasks(runs: pd.DataFrame, tasks: pd.DataFrame | None) -> pd.DataFrame:
    texts, lists = ("question", "policy", "order", "lang"), ("expected", "forbidden")
    tasks = pd.DataFrame({"id": pd.Series(dtype=str)}) if tasks is None else tasks
    tasks = tasks.assign(**{c: "" for c in texts if c not in tasks}, **{c: None for c in lists if c not in tasks})
    tasks = tasks.assign(max_steps=tasks["max_steps"].astype(float) if "max_steps" in tasks else np.nan)
    known = tasks.assign(id=tasks["id"].astype(str), knows_expected=[isinstance(v, list) for v in tasks["expected"]])
    joined = runs.merge(
        known[["id", *texts, "max_steps", "knows_expected", "forbidden"]], on="id", how="left", validate="many_to_one"
    )
    joined[list(texts)] = joined[list(texts)].fillna("")
    return joined.assign(knows_expected=joined["knows_expected"].eq(True))


def _expected(runs: pd.DataFrame, tasks: pd.DataFrame | None) -> pd.DataFrame:
    """The expected calls of every trajectory, in their order."""
    rows = [
        {"id": str(task), "place": place, "name": call["name"], "arguments": call.get("arguments") or {}}
        for task, calls in (
            () if tasks is None or "expected" not in tasks else zip(tasks["id"], tasks["expected"], strict=True)
        )
        for place, call in enumerate(calls or ())
    ]
    frame = pd.DataFrame(rows, columns=["id", "place", "name", "arguments"])
    found = runs[["id", "run"]].merge(frame, on="id").sort_values(["run", "place"], ignore_index=True)
    return found.drop(columns="id")
