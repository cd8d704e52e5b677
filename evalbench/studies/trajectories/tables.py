"""Finer tables: tools, calls that do not fit, what contradicts itself, tasks."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from evalbench.readers.schema import TRIAL
from evalbench.studies.trajectories import schemas
from evalbench.studies.trajectories.cells import in_words
from evalbench.studies.trajectories.inputs import Given
from evalbench.studies.trajectories.items import Followed

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
