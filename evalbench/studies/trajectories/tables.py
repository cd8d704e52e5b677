"""Finer tables: tools, where failed trajectories leave the way, what contradicts itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench.metrics import trajectories as metrics
from evalbench.readers.schema import TRIAL
from evalbench.studies.trajectories import schemas
from evalbench.studies.trajectories.inputs import Given, in_words
from evalbench.studies.trajectories.items import Followed

OTHER_TOOL, OTHER_ARGUMENTS, STOPPED, WENT_ON = "another tool", "other arguments", "ended there", "went on"
SAME = "the same calls"
"""Not a turning point: the calls do not part, and the outcome differs all the same."""
PARTED = ["run", "at", "kind", "name", "arguments", "instead_of", "instead_of_arguments", "followed"]
CONTRADICTIONS = {
    "unexpected_success": "success without every expected call",
    "unrewarded": "every expected call and no success",
    "unspoken": "a tool is named in words and never called",
}


def named(frame: pd.DataFrame, runs: pd.DataFrame, repeated: bool) -> pd.DataFrame:
    """A table with the names of its trajectories in place of their numbers."""
    keys = ["id", "model", *([TRIAL] if repeated else [])]
    out = runs.set_index("run")[keys].reindex(frame["run"]).reset_index(drop=True)
    rest = frame.drop(columns="run").reset_index(drop=True)
    return pd.concat([out, rest], axis=1).reset_index(drop=True)


def beside(frame: pd.DataFrame, runs: pd.DataFrame, repeated: bool) -> pd.DataFrame:
    """A table with ids of its own, and agent and trial of its trajectories in place of their numbers."""
    keys = ["model", *([TRIAL] if repeated else [])]
    return frame.merge(runs[["run", *keys]], on="run", how="left").drop(columns="run")


def tools_of(found: Followed, given: Given) -> pd.DataFrame:
    """A row per model and tool: how often it was called, rightly, failed, recovered from, and how often it was expected and missed."""
    model = found.runs["model"].to_numpy()
    run = found.calls["run"].to_numpy(dtype=int)
    calls = found.calls.drop(columns=["arguments", "result", "error", "expected"])
    calls = calls.assign(model=model[run], known=given.runs["knows_expected"].to_numpy()[run])
    expected = given.expected.assign(model=model[given.expected["run"].to_numpy(dtype=int)])
    missed = found.missed.assign(model=model[found.missed["run"].to_numpy(dtype=int)])
    keys = ["model", "name"]
    counted = {
        "calls": calls,
        "right": calls[calls["matched"]],
        "wrong_arguments": calls[calls["named"] & ~calls["matched"]],
        "extra": calls[~calls["named"] & calls["known"]],
        "forbidden": calls[calls["forbidden"]],
        "misfits": calls[calls["misfit"] != ""],
        "unknown": calls[calls["schema"] == schemas.UNKNOWN],
        "errors": calls[calls["failed"]],
        "recovered": calls[calls["recovered"]],
        "repeats": calls[calls["repeated"]],
        "expected": expected,
        "missed": missed,
    }
    if given.tools is None:
        counted = {name: frame for name, frame in counted.items() if name not in ("misfits", "unknown")}
    table = pd.DataFrame({name: frame.groupby(keys).size() for name, frame in counted.items()}).fillna(0).astype(int)
    return (
        table.rename_axis(keys)
        .reset_index()
        .sort_values(["model", "calls", "name"], ascending=[True, False, True], ignore_index=True)
    )


def misfits(calls: pd.DataFrame) -> pd.DataFrame:
    """The calls that do not fit the schema of their tool, and those of unknown tools, with ``why``."""
    odd = calls[(calls["misfit"] != "") | (calls["schema"] == schemas.UNKNOWN)]
    why = odd["misfit"].where(odd["misfit"] != "", odd["schema"])
    return odd[["run", "step", "name", "arguments"]].assign(why=why).reset_index(drop=True)


def parted(found: Followed) -> pd.DataFrame:
    """Where each failed trajectory parts from the successful one of its task that it follows longest: of its model, else of another.

    Of both the steps are known.  One that makes the same calls as the successful one parts nowhere: its kind is :data:`SAME`.
    """
    runs, calls = found.runs[found.runs["n_calls"].notna()], found.calls
    ends = np.searchsorted(calls["run"].to_numpy(), np.arange(len(found.runs) + 1)).tolist()
    keys = calls["key"].to_numpy()
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
    return pd.DataFrame(_said(turns, calls), columns=PARTED)


class _Turn(NamedTuple):
    """Where a trajectory parts from another: after how many calls, and the rows of their next calls, if any."""

    run: int
    at: int
    here: int
    there: int
    followed: int


_NOWHERE = -1


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


def contradictions_of(found: Followed) -> pd.DataFrame:
    """What a reviewer must look at: ``run``, ``kind``, ``detail``."""
    return pd.DataFrame(list(_contradicting(found)), columns=["run", "kind", "detail"]).sort_values(
        ["run", "kind", "detail"], ignore_index=True
    )


def _contradicting(found: Followed) -> Iterator[tuple[int, str, str]]:
    runs, missed = found.runs, found.missed
    lacking = missed.groupby("run")["name"].agg(list).to_dict()
    for run, success, complete in runs[["run", "success", "complete"]].itertuples(index=False):
        if success == 1 and complete == 0:
            yield run, CONTRADICTIONS["unexpected_success"], f"not called as expected: {', '.join(lacking[run])}"
        if success == 0 and complete == 1:
            yield run, CONTRADICTIONS["unrewarded"], ""
    for run, name, around in found.unspoken[["run", "name", "around"]].itertuples(index=False):
        yield run, CONTRADICTIONS["unspoken"], f"{name}: {around}"


def tasks_of(given: Given) -> pd.DataFrame:
    """What is known of each task: ``id``, ``question``, ``expected`` and ``forbidden`` in words."""
    tasks = given.runs.drop_duplicates("id")
    calls = given.expected.assign(
        said=[f"{n}({in_words(a)})" for n, a in zip(given.expected["name"], given.expected["arguments"], strict=True)]
    )
    expected = calls.groupby("run")["said"].agg("; ".join)
    banned = [", ".join(names) if isinstance(names, list) else "" for names in tasks["forbidden"]]
    said = tasks["run"].map(expected).fillna("")
    return pd.DataFrame(
        {"id": tasks["id"], "question": tasks["question"], "expected": said, "forbidden": banned}
    ).reset_index(drop=True)
