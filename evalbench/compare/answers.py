"""Tokens and seconds per answer of two sides, where their runs carry them: a newer model may write three times as much."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalbench.compare.runs import Differences
from evalbench.compare.sides import Side
from evalbench.core.compared import Comparison
from evalbench.core.comparison import adjusted_together, compare_measures
from evalbench.core.measures import Measure, mean_of
from evalbench.errors import BadInput
from evalbench.readers.runs import CALLS, read_frame

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = {"tokens_out": "tokens", "tokens": "tokens", "seconds": "seconds"}
_LARGEST = 1e12
ANSWER = "answer"
"""The kind of what columns of a table hold."""


class Answered(NamedTuple):
    """Tokens or seconds per answer of one kind, such as ``output`` or the task of a judge."""

    kind: str
    comparison: Comparison


def answered(d: Differences, *, seed: int, n_resamples: int = 2000) -> tuple[Answered, ...]:
    """Tokens and seconds per answer, the side against the reference.

    They come from the run's calls (``tokens_out``: what the model wrote; ``seconds`` of the call that was made, also where
    its reply is a kept one), else from columns ``tokens`` and ``seconds`` of its items or tables.  Several answers to one
    item are averaged first; paired where both sides have items in common and units are paired.

    Returns: By kind; a family of tests of their own. Empty where a side carries none, or both are the same run and
    cannot be told apart.
    """
    reference, side = (_kinds(one) for one in (d.reference, d.side))
    found: list[Answered] = []
    for kind, before in reference.items():
        after = side.get(kind)
        if after is None:
            continue
        measures = [_measure(name, kind) for name in ("tokens", "seconds") if name in before and name in after]
        paired = d.changes is not None and bool(set(before.index) & set(after.index))
        if not measures or (d.reference.run_id == d.side.run_id and before.equals(after)):
            continue
        compared = compare_measures(
            after,
            before,
            measures,
            units_a=np.asarray(after.index, dtype=str),
            units_b=np.asarray(before.index, dtype=str),
            seed=seed,
            names=(d.side.name, d.reference.name),
            paired=paired,
            n_resamples=n_resamples,
        )
        found += [Answered(kind, c) for c in compared.comparisons]
    adjusted = adjusted_together([a.comparison for a in found], [(d.side.name, d.reference.name)] * len(found))
    return tuple(a._replace(comparison=c) for a, c in zip(found, adjusted, strict=True))


def _measure(name: str, kind: str) -> Measure:
    title = f"{name} per answer" + (f" ({kind})" if kind != ANSWER else "")
    return mean_of(name, f"{name}_per_answer/{kind}", title=title, unit=name, higher_is_better=None)


def _kinds(side: Side) -> dict[str, pd.DataFrame]:
    """A table of numbers by item for each kind of answer; only of the model that the side is of, where rows name one."""
    calls = _calls(side)
    if calls is not None and "purpose" in calls:
        own = calls[calls["unscored"].fillna("") == ""] if "unscored" in calls else calls
        kinds = {str(kind): _numbers(rows, "item_id") for kind, rows in _own(own, side).groupby("purpose", sort=True)}
        return {kind: table for kind, table in kinds.items() if len(table)}
    for frame in (side.items, *_tables(side)):
        key = str(side.results["id"])
        if key in frame and (table := _numbers(_own(frame, side), key)).shape[1] and len(table):
            return {ANSWER: table}
    return {}


def _own(rows: pd.DataFrame, side: Side) -> pd.DataFrame:
    """The rows of the side's own model, where its group is one; of all where none is of it."""
    for column, value in side.whose().items():
        if column in rows and (rows[column].astype(str) == value).any():
            rows = rows[rows[column].astype(str) == value]
    return rows


def _numbers(rows: pd.DataFrame, key: str) -> pd.DataFrame:
    """Means by item of the columns that are known."""
    import pandas as pd

    columns: dict[str, pd.Series] = {}
    for name, title in _COLUMNS.items():
        if name in rows and title not in columns:
            numbers = pd.to_numeric(rows[name], errors="coerce").astype(float)
            columns[title] = numbers.where((numbers >= 0) & (numbers < _LARGEST))
    table = pd.DataFrame(columns, index=rows.index)
    means = table.groupby(rows[key].astype(str).to_numpy()).mean() if len(table.columns) else table
    return means.dropna(axis=1, how="all").dropna(axis=0, how="all")


def _calls(side: Side) -> pd.DataFrame | None:
    path = side.folder / CALLS if side.folder else None
    if path is None or not path.is_file():
        return None
    try:
        return read_frame(path)
    except BadInput:
        return None


def _tables(side: Side) -> list[pd.DataFrame]:
    found = []
    for file in side.results["tables"].values() if side.folder else ():
        if file != CALLS:
            try:
                found.append(read_frame(side.folder / file))
            except BadInput:
                continue
    return found
