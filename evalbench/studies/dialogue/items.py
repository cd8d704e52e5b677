"""Turns to sessions: how many answers, how they ended, in which week they began."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalbench import core, kit
from evalbench.studies.dialogue import inputs

KEYS = ("session_id", "model")


def lengths(sessions: npt.ArrayLike, answers: npt.ArrayLike) -> tuple[npt.NDArray[np.str_], core.arrays.Ints]:
    """How many answers each session has.

    - ``sessions`` ((n,) array): The session of each turn.
    - ``answers`` ((n,) array of bool): Whether the turn is an answer of the model.
    - Returns ``names``: The sessions, in ascending order.
    - Returns ``counts``: 0 where a session has no answer.

    Examples
    --------
    >>> names, counts = lengths(["a", "a", "b", "a"], [True, False, False, True])
    >>> names.tolist(), counts.tolist()
    (['a', 'b'], [2, 0])
    """
    names, index = np.unique(np.asarray(sessions, dtype=str), return_inverse=True)
    counts = np.bincount(index, weights=np.asarray(answers, dtype=float), minlength=len(names))
    return names, counts.astype(np.int64)


def items_of(found: inputs.Turns, time_zone: str) -> pd.DataFrame:
    """One row per session and model, sorted by both.

    Columns: ``answers`` (none where the session has no answer: unscored, ``no-output``), ``turns``, ``resolved`` (1, 0 or
    unknown), ``answers_resolved`` and ``answers_abandoned``, ``started`` and ``week`` (ISO 8601, empty where undated).
    """
    turns = found.turns
    own = turns[turns["model"] != ""]
    groups = own.groupby([*KEYS], sort=True)
    items = groups["answer"].agg(answers="sum", turns="size").reset_index()
    scored = items["answers"].to_numpy() > 0
    items["answers"] = items["answers"].astype(float).where(scored)
    outcome = pd.Series(np.nan, items.index)
    if "resolved" in turns:
        last = turns.dropna(subset=["resolved"]).drop_duplicates("session_id", keep="last")
        outcome = items["session_id"].map(last.set_index("session_id")["resolved"]).astype(float)
    items["resolved"] = outcome.where(scored)
    items["answers_resolved"] = items["answers"].where(outcome == 1)
    items["answers_abandoned"] = items["answers"].where(outcome == 0)
    items["started"] = items["week"] = ""
    if "time" in turns:
        first = items["session_id"].map(turns.groupby("session_id", sort=False)["time"].min())
        dated = first.notna().to_numpy()
        local = pd.DatetimeIndex(first[dated]).tz_convert(time_zone)
        calendar = local.isocalendar()
        weeks = [f"{year}-W{week:02}" for year, week in zip(calendar["year"], calendar["week"], strict=True)]
        items.loc[dated, "started"] = pd.Series(local.strftime("%Y-%m-%dT%H:%M:%S%z"), items.index[dated])
        items.loc[dated, "week"] = pd.Series(weeks, items.index[dated])
    items["unscored"] = np.where(scored, "", kit.answers.NO_OUTPUT)
    items["undefined"] = ""
    return items
