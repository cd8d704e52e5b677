"""Units that got better or worse between two sides."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats
from evalbench.core.measures import Measure, unit_sums
from evalbench.kit.trials import COUNTS

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.compare.sides import Group, Side

_NOT_SCORES = {"unscored", "undefined", *COUNTS}
N_TRIALS = COUNTS[0]
FLICKERS = "flickering"


class Changes(NamedTuple):
    """Every unit that both sides have, by how much it changed.

    - ``metric``: The figure, or column of the items, whose value on single units this is.
    - ``table``: Group columns, unit, ``reference``, ``side``, ``change`` (side − reference), ``what`` (the counts that
      moved), ``verdict`` (better, worse, higher, lower, same, flickering, no value); the largest changes first.
    - ``title``: The words for ``metric``.
    """

    metric: str
    table: pd.DataFrame
    counts: Mapping[str, int]
    title: str


def changes(
    reference: Side,
    side: Side,
    groups: Sequence[tuple[Group, tuple[Group, Group]]],
    unit: str,
    metric: str,
    measure: Measure | None,
) -> Changes | None:
    """What changed on single units; None where no column of the items says how good a unit is."""
    import pandas as pd

    higher = measure.higher_is_better if measure else None
    if measure is None:
        column = _score_column(reference.items, metric, unit)
        if column is None:
            return None
        higher = _direction(reference, metric) if _is_of(column, metric, (reference, side)) else None
        metric, measure = column, Measure(column, (column, f"#{column}"), mean)
    parts = [_of_group(reference, side, group, own, unit, measure) for group, own in groups]
    table = pd.concat(parts, ignore_index=True)
    table["verdict"] = np.where(table.pop("flickers"), FLICKERS, verdicts(table, higher))
    keys = [c for c in table.columns if c in {*side.by, unit}]
    table = table.assign(size=table["change"].abs().fillna(-1)).sort_values(
        ["size", *keys], ascending=[False, *[True] * len(keys)], kind="stable", ignore_index=True
    )
    counts = table["verdict"].value_counts()
    return Changes(metric, table.drop(columns="size"), {str(k): int(v) for k, v in counts.items()}, measure.title)


def mean(total: Floats, n: Floats) -> Floats:
    """A score's mean over the items of a unit that have it; NaN where none has."""
    with np.errstate(all="ignore"):
        return np.where(n > 0, total / n, np.nan)


def _is_of(column: str, metric: str, sides: Sequence[Side]) -> bool:
    """Whether a column is a figure on single units: its own, or a score on the same scale; no other is better where it is higher."""
    units = {row.get("unit") for side in sides for row in side.results["summary"] if row["metric"] == metric}
    within = all(bool(side.items[column].dropna().between(0, 1).all()) for side in sides)
    return column == metric or (column == "score" and units == {"0–1"} and within)


def _direction(side: Side, metric: str) -> bool | None:
    return next((row["higher_is_better"] for row in side.results["summary"] if row["metric"] == metric), None)


def _score_column(items: pd.DataFrame, metric: str, unit: str) -> str | None:
    """The items' column that scores a unit: named as the figure, or ``score``, or the first of fractions."""
    numbers = [c for c in items.select_dtypes("number").columns if c != unit and c not in _NOT_SCORES]
    fractions = [c for c in numbers if items[c].dtype.kind == "f"]
    return next((c for c in (metric, "score", *fractions[:1]) if c in numbers), None)


def _of_group(
    reference: Side, side: Side, group: Group, own: tuple[Group, Group], unit: str, measure: Measure
) -> pd.DataFrame:
    import pandas as pd

    columns = list(dict.fromkeys(measure.sums))
    rows_before, rows_after = reference.rows(own[0]), side.rows(own[1])
    before, ids_before = unit_sums(rows_before, columns, rows_before[unit])
    after, ids_after = unit_sums(rows_after, columns, rows_after[unit])
    shared, at_before, at_after = np.intersect1d(ids_before, ids_after, assume_unique=True, return_indices=True)
    before, after = before[at_before], after[at_after]
    with np.errstate(all="ignore"):
        values = [measure.value(*(table[:, columns.index(n)] for n in measure.sums)) for table in (before, after)]
    counts = [c for c in columns if not c.startswith("#")]
    return pd.DataFrame(
        {
            **{column: [value] * len(shared) for column, value in group.items()},
            unit: shared,
            "reference": values[0],
            "side": values[1],
            "change": values[1] - values[0],
            "flickers": flickers(rows_before, measure, values[0]) | flickers(rows_after, measure, values[1]),
            "what": moved(counts, *(t[:, [columns.index(c) for c in counts]] for t in (before, after))),
        }
    )


def flickers(rows: Container[str], measure: Measure, values: Floats) -> npt.NDArray[np.bool_]:
    """Whether a unit is neither always right nor always wrong on a side with several trials."""
    shares = measure.interval == "wilson" and N_TRIALS in rows
    return (values > 1e-9) & (values < 1 - 1e-9) & shares


def moved(names: Sequence[str], before: Floats, after: Floats) -> list[str]:
    """The counts that are not the same, in words; of a single one nothing, it is the score itself."""
    if len(names) < 2:
        return [""] * len(before)
    return [
        ", ".join(f"{n} {a:g} → {b:g}" for n, a, b in zip(names, x, y, strict=True) if a != b)
        for x, y in zip(before.round(4).tolist(), after.round(4).tolist(), strict=True)
    ]


def verdicts(table: pd.DataFrame, higher_is_better: bool | None) -> npt.NDArray[Any]:
    """Whether each unit got better, by its ``reference``, ``side`` and ``change``."""
    up, down = {True: ("better", "worse"), False: ("worse", "better"), None: ("higher", "lower")}[higher_is_better]
    change = table["change"].to_numpy(dtype=float)
    neither = np.isnan(table["reference"].to_numpy(float)) & np.isnan(table["side"].to_numpy(float))
    tied = np.abs(change) <= 1e-12
    return np.select([neither, np.isnan(change), tied, change > 0], ["no value", "value on one side", "same", up], down)
