"""Every call of every trajectory: its result, whether it was expected, forbidden, repeated, part of a loop, recovered from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from rapidfuzz import fuzz

from evalbench import core
from evalbench.metrics import trajectories as metrics
from evalbench.studies.trajectories import schemas
from evalbench.studies.trajectories.cells import in_words
from evalbench.studies.trajectories.inputs import Given
from evalbench.studies.trajectories.ordered import parts

RIGHT, WRONG, EXTRA, AGAIN, MADE = "right", "wrong arguments", "extra", "repeat", "made"
FAILED, FORBIDDEN = "error", "forbidden"
LOOKS = (RIGHT, WRONG, EXTRA, AGAIN, FAILED, FORBIDDEN, MADE)
"""What a call is; of several things the first of: forbidden, failed, as expected, with other arguments than expected, the same as an earlier
one, not expected; *made* where it is not known what is expected."""


def calls_of(found: Given, ignore: Sequence[str], similarity: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The calls, and the expected ones that were not made.

    Returns
    -------
    calls : DataFrame
        ``run``, ``at`` (its number in the trajectory, from 1), ``step``, ``name``, ``arguments``, ``unreadable``, ``schema`` and ``misfit``
        (see :func:`~evalbench.studies.trajectories.schemas.held`), ``result``, ``error``,
        ``matched``, ``named`` (right by name), ``forbidden``, ``failed``, ``recovered``, ``repeated``, ``same_result``, ``cycle``, ``look``,
        ``expected`` (of one with wrong arguments), and the ``key`` that equal calls share.
    missed : DataFrame
        ``run``, ``place``, ``name``, ``arguments``, and ``called``: whether the tool was called with other arguments.
    """
    made, lacking, known = [], [], 0
    for steps, expected in parts(found.steps, found.expected, found.runs):
        calls, missed = _of_part(found, steps, expected, ignore, similarity)
        made.append(calls.assign(key=calls["key"] + known))
        lacking.append(missed)
        known += int(calls["key"].max() + 1) if len(calls) else 0
    return pd.concat(made, ignore_index=True), pd.concat(lacking, ignore_index=True)


def _of_part(
    found: Given, steps: pd.DataFrame, expected: pd.DataFrame, ignore: Sequence[str], similarity: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    calls, runs = _with_results(steps), found.runs
    parsed = [metrics.arguments_of(text) for text in calls["arguments"].tolist()]
    keys = [
        metrics.call_key(name, {"": text} if own.fault else own.value, () if own.fault else ignore)
        for name, text, own in zip(calls["name"].tolist(), calls["arguments"].tolist(), parsed, strict=True)
    ]
    wanted_keys = [metrics.call_key(n, a, ignore) for n, a in zip(expected["name"], expected["arguments"], strict=True)]
    codes = pd.factorize(np.array([*keys, *wanted_keys], dtype=object))[0].astype(np.int64)
    run, failed = calls["run"].to_numpy(), (calls["error"] != "").to_numpy()
    calls = calls.assign(
        unreadable=pd.Series([own.fault for own in parsed], index=calls.index, dtype="str"),
        key=codes[: len(calls)],
        failed=failed,
    )
    values = [own.value for own in parsed]
    calls, missed = _matched(
        schemas.held(calls, values, found.tools), values, expected.assign(key=codes[len(calls) :]), similarity, ignore
    )
    knows, banned = runs["knows_expected"].to_numpy()[run], _banned(runs, run, calls["name"])
    again = metrics.repeated(run, calls["key"])
    result = pd.factorize(calls["result"])[0].astype(np.int64)
    calls = calls.assign(
        forbidden=banned,
        recovered=metrics.recovered(run, calls["name"], failed),
        repeated=again,
        same_result=metrics.repeated(run, calls["key"].to_numpy() * (result.max(initial=0) + 1) + result),
        cycle=metrics.looping(run, calls["key"]),
        look=np.select(
            [banned, failed, calls["matched"], calls["named"], again, knows],
            [FORBIDDEN, FAILED, RIGHT, WRONG, AGAIN, EXTRA],
            MADE,
        ),
    )
    return calls, missed


def _banned(runs: pd.DataFrame, run: core.Ints, names: pd.Series) -> core.Bools:
    """Which calls are of a tool that their task forbids."""
    lists = runs["forbidden"].to_numpy()
    sets = {r: set(lists[r]) for r in np.unique(run).tolist() if isinstance(lists[r], list)}
    if not sets:
        return np.zeros(len(run), dtype=bool)
    return np.array([name in sets.get(r, ()) for r, name in zip(run.tolist(), names, strict=True)], dtype=bool)


def _with_results(steps: pd.DataFrame) -> pd.DataFrame:
    """The calls, each with its result: that of its identifier, else the results in the order of the calls."""
    calls, results = (steps[steps["kind"] == kind].reset_index(drop=True) for kind in ("call", "result"))
    keys = ["run", "call_id", "turn"]
    one, other = (frame.assign(turn=frame.groupby(["run", "call_id"]).cumcount()) for frame in (calls, results))
    merged = one.merge(other[[*keys, "text", "error", "step"]], on=keys, how="left", suffixes=("", "_result"))
    said = merged["error_result"].fillna("")
    own = merged["error"].where(merged["error"] != "", said)
    return pd.DataFrame(
        {
            "run": calls["run"],
            "at": calls.groupby("run").cumcount() + 1,
            "step": calls["step"],
            "name": calls["name"],
            "arguments": calls["arguments"],
            "result": merged["text_result"].fillna(""),
            "answered": merged["step_result"].notna(),
            "error": own,
        }
    )


def _matched(
    calls: pd.DataFrame, values: Sequence[Any], wanted: pd.DataFrame, similarity: float, ignore: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Which calls are expected ones, and which by name alone; of equal calls those that did not fail come first."""
    order = calls.sort_values(["run", "failed", "at"], kind="stable").index.to_numpy()
    exact = np.zeros(len(calls), dtype=bool)
    ordered = calls.loc[order]
    exact[order] = metrics.matched(ordered["run"], ordered["key"], wanted["run"], wanted["key"])
    met = metrics.matched(wanted["run"], wanted["key"], calls["run"], calls["key"])
    if similarity < 1:
        for i, j in _similar(ordered[~exact[order]], values, wanted[~met], similarity, ignore):
            exact[i], met[j] = True, True
    by_tool = ["run", "name", "turn"]
    rest, lacking = (_in_turn(frame) for frame in (ordered[~exact[order]], wanted[~met]))
    pairs = rest[[*by_tool, "row"]].merge(lacking[[*by_tool, "row"]], on=by_tool)
    mine, theirs = pairs["row_x"].to_numpy(dtype=int), pairs["row_y"].to_numpy(dtype=int)
    near, called = np.zeros(len(calls), dtype=bool), np.zeros(len(wanted), dtype=bool)
    near[mine], called[theirs] = True, True
    partner = np.full(len(calls), "", dtype=object)
    partner[mine] = [in_words(arguments) for arguments in wanted["arguments"].to_numpy()[theirs]]
    missed = wanted.assign(called=called)[~met].drop(columns="key").reset_index(drop=True)
    return calls.assign(matched=exact, named=exact | near, expected=partner), missed


def _in_turn(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with their number among those of their trajectory and tool, and their place in the whole."""
    return frame.assign(turn=frame.groupby(["run", "name"]).cumcount(), row=frame.index)


def _similar(
    mine: pd.DataFrame, values: Sequence[Any], theirs: pd.DataFrame, similarity: float, ignore: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Calls and the first expected calls of the same trajectory and tool that are similar enough, each once."""
    own = mine.groupby(["run", "name"], sort=True).groups
    for key, rows in theirs.groupby(["run", "name"], sort=True).groups.items():
        free = list(rows)
        for i in own.get(key, ()):
            at = next((j for j in free if alike(values[i], theirs["arguments"][j], similarity, ignore)), None)
            if at is not None:
                free.remove(at)
                yield i, at


def alike(made: Any, wanted: Any, similarity: float, ignore: Sequence[str] = ()) -> bool:
    """Whether arguments are equal but for texts that are similar enough, case aside.

    Examples
    --------
    >>> alike({"note": "Late parcel", "n": 1}, {"note": "late parcels", "n": 1.0}, 0.9)
    True
    >>> alike({"note": "Late parcel", "n": 2}, {"note": "late parcels", "n": 1}, 0.9)
    False
    """
    if isinstance(made, dict) and isinstance(wanted, dict):
        keys = {*made, *wanted} - set(ignore)
        return all(k in made and k in wanted and alike(made[k], wanted[k], similarity) for k in keys)
    if isinstance(made, list) and isinstance(wanted, list):
        return len(made) == len(wanted) and all(map(lambda a, b: alike(a, b, similarity), made, wanted))
    if isinstance(made, str) and isinstance(wanted, str):
        return fuzz.ratio(made.casefold(), wanted.casefold()) >= 100 * similarity
    return metrics.call_key("", {"": made}) == metrics.call_key("", {"": wanted})
