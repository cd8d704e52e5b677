"""Steps in the order of their trajectories, a part of them at a time."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

import numpy as np
import pandas as pd

from evalbench import core


def numbered(steps: pd.DataFrame, names: Sequence[str]) -> tuple[core.Ints, core.Ints]:
    """Which trajectory each step is of, by numbers from 0, and the first row of each."""
    codes = np.zeros(len(steps), dtype=np.int64)
    for column in names:
        own, known = pd.factorize(steps[column])
        codes = pd.factorize(codes * max(len(known), 1) + own)[0].astype(np.int64)
    return codes, np.unique(codes, return_index=True)[1]


def in_order(steps: pd.DataFrame) -> pd.DataFrame:
    """Steps by trajectory and number; these very columns, which may be large, where they are in order."""
    run, step = steps["run"].to_numpy(), steps["step"].to_numpy()
    ahead = np.diff(run)
    if ((ahead > 0) | ((ahead == 0) & (np.diff(step) >= 0))).all():
        return steps
    return steps.take(np.lexsort((step, run))).reset_index(drop=True)


PART = 50_000


def parts(
    steps: pd.DataFrame, expected: pd.DataFrame, runs: pd.DataFrame, most: int = PART
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Steps and expected calls of so many steps and more at a time, of whole tasks: what is kept of each is less than these."""
    firsts = np.flatnonzero(~runs["id"].duplicated().to_numpy())  # runs are sorted by task
    step_ends = np.append(np.searchsorted(steps["run"].to_numpy(), firsts[1:]), len(steps))
    call_ends = np.append(np.searchsorted(expected["run"].to_numpy(), firsts[1:]), len(expected))
    at = of = 0
    for end, until in zip(step_ends.tolist(), call_ends.tolist(), strict=True):
        if end - at >= most or (end == len(steps) and until == len(expected)):
            yield steps.iloc[at:end].reset_index(drop=True), expected.iloc[of:until].reset_index(drop=True)
            at, of = end, until
            if end == len(steps) and until == len(expected):
                return


def among(cells: pd.Series, words: Container[str]) -> core.Bools:
    """Which texts are one of these words, but for case and blanks at their ends."""
    codes, known = pd.factorize(cells)
    return np.array([*(str(one).strip().casefold() in words for one in known), False], dtype=bool)[codes]
