"""Where failed trajectories leave the way of successful ones of their task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.metrics import trajectories as metrics
from evalbench.studies.trajectories.cells import in_words
from evalbench.studies.trajectories.items import Followed

OTHER_TOOL, OTHER_ARGUMENTS, STOPPED, WENT_ON = "another tool", "other arguments", "ended there", "went on"
SAME = "the same calls"
"""Not a turning point: the calls do not part, and the outcome differs all the same."""
PARTED = ["run", "at", "kind", "name", "arguments", "instead_of", "instead_of_arguments", "followed"]
_ENOUGH = 2


class Parted(NamedTuple):
    """Turning points, and the arguments that were not compared: tool → those that are new in every trajectory."""

    turns: pd.DataFrame
    fresh: Mapping[str, frozenset[str]]


class _Turn(NamedTuple):
    """Where a trajectory parts from another: after how many calls, and the rows of their next calls, if any."""

    run: int
    at: int
    here: int
    there: int
    followed: int


_NOWHERE = -1


def parted(found: Followed) -> Parted:
    """Where each failed trajectory parts from the successful one of its task that it follows longest: of its model, else of another.

    Of both the steps are known.  One that makes the same calls as the successful one parts nowhere: its kind is :data:`SAME`.  Arguments
    that are new in every trajectory (an identifier that is made up, a time, a free text) tell successful ones apart, too: they do not count.
    """
    keys = found.calls["key"].to_numpy()
    turns = _turns(found, keys)
    names = found.calls["name"].to_numpy()
    rows = [(one.here, one.there) for one in turns if _NOWHERE not in (one.here, one.there)]
    fresh = _fresh(found, {names[here] for here, there in rows if names[here] == names[there]})
    if fresh:
        turns = _turns(found, _keys_without(found.calls, keys, fresh))
    return Parted(pd.DataFrame(_said(turns, found.calls), columns=PARTED), fresh)


def _turns(found: Followed, keys: core.Ints) -> list[_Turn]:
    runs, calls = found.runs[found.runs["n_calls"].notna()], found.calls
    ends = np.searchsorted(calls["run"].to_numpy(), np.arange(len(found.runs) + 1)).tolist()
    good = runs[runs["success"] == 1]
    same = {key: list(own) for key, own in good.groupby(["id", "model"])["run"]}
    others = {key: list(own) for key, own in good.groupby("id")["run"]}
    turns: list[_Turn] = []
    for run, task, model in runs.loc[runs["success"] == 0, ["run", "id", "model"]].itertuples(index=False):
        candidates = same.get((task, model)) or others.get(task)
        if candidates:
            mine, *theirs = (keys[ends[one] : ends[one + 1]].tolist() for one in (run, *candidates))
            at, of = metrics.parting(mine, theirs)
            followed = candidates[of]
            here, there = (ends[one] + at if at < ends[one + 1] - ends[one] else _NOWHERE for one in (run, followed))
            turns.append(_Turn(run, at, here, there, followed))
    return turns


def _fresh(found: Followed, tools: set[str]) -> dict[str, frozenset[str]]:
    """Of each of these tools the arguments of which no value is in two trajectories of one task, of several successful ones either."""
    own = found.calls[found.calls["name"].isin(tools) & (found.calls["unreadable"] == "")]
    tasks, reached = found.runs["id"].tolist(), (found.runs["success"] == 1).tolist()
    holders: dict[tuple[str, str], dict[tuple[str, str], int]] = defaultdict(dict)
    successes: dict[tuple[str, str], dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    shared: set[tuple[str, str]] = set()
    for run, name, text in own[["run", "name", "arguments"]].itertuples(index=False, name=None):
        for key, value in metrics.arguments_of(text).value.items():
            argument = name, key
            if argument in shared:
                continue
            said = tasks[run], metrics.call_key("", {"": value})
            if holders[argument].setdefault(said, run) != run:
                shared.add(argument)
            elif reached[run]:
                successes[argument][tasks[run]].add(run)
    fresh: dict[str, set[str]] = defaultdict(set)
    for (name, key), of_tasks in successes.items():
        if (name, key) not in shared and sum(len(runs) - 1 for runs in of_tasks.values()) >= _ENOUGH:
            fresh[name].add(key)
    return {name: frozenset(own) for name, own in fresh.items()}


def _keys_without(calls: pd.DataFrame, keys: core.Ints, fresh: Mapping[str, frozenset[str]]) -> core.Ints:
    """The keys of calls, those of these tools without these arguments."""
    rows = np.flatnonzero((calls["name"].isin(list(fresh)) & (calls["unreadable"] == "")).to_numpy())
    own = calls[["name", "arguments"]].take(rows)
    texts = [
        metrics.call_key(name, metrics.arguments_of(text).value, fresh[name])
        for name, text in own.itertuples(index=False, name=None)
    ]
    out = keys.copy()
    out[rows] = pd.factorize(np.array(texts, dtype=object))[0] + keys.max(initial=0) + 1
    return out


def _said(turns: Sequence[_Turn], calls: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    rows = np.array([row for turn in turns for row in (turn.here, turn.there) if row != _NOWHERE], dtype=np.int64)
    known = calls[["name", "arguments", "unreadable"]].take(rows)
    words = {
        row: (name, text if fault else in_words(metrics.arguments_of(text).value))
        for row, name, text, fault in known.itertuples(name=None)
    }
    for run, at, here, there, followed in turns:
        (name, arguments), (other, wanted) = words.get(here, ("", "")), words.get(there, ("", ""))
        kind = OTHER_TOOL if name != other else OTHER_ARGUMENTS
        kind = STOPPED if here == _NOWHERE else WENT_ON if there == _NOWHERE else kind
        kind = SAME if here == there == _NOWHERE else kind
        yield run, at + 1, kind, name, arguments, other, wanted, followed


def not_compared(fresh: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """The note on arguments that are new in every trajectory."""
    if fresh:
        named = ", ".join(f"{tool:.60}({', '.join(sorted(own)):.60})" for tool, own in sorted(fresh.items())[:5])
        more = f" and {len(fresh) - 5} more tools" if len(fresh) > 5 else ""
        yield f"Arguments that are new in every trajectory, successful ones among them, do not count where failed ones leave the way: {named}{more}."
