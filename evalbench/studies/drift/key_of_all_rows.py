"""Test 1 over all rows of tables of which only a sample was read: the key metric's count, sum and squares by side and period."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors, readers
from evalbench.readers.partitions import times_of
from evalbench.studies.drift import figures


def named(table: readers.large.Large, read_as: Mapping[str, str]) -> readers.large.Large:
    """The table with the names under which the columns of its sample were read."""
    found = {own: source for source, own in read_as.items() if source in table.parts[0].columns()}
    return replace(table, renamed={**found, **table.renamed})


def summed(
    tables: Mapping[str, readers.large.Large], ends: Mapping[str, Any], *, metric: str, period: str, sampled: int
) -> dict[str, Any] | None:
    """Rows, rows with a value, their sum and squares, and rows without a response: by side, and by period of OOT.

    - ``tables``: ``oos`` and ``oot``, or one that ``ends`` divide.
    - ``sampled``: Rows that were read, for which the sums stand in.

    Returns: None where a table does not hold the key metric, such as a log store.

    Raises ``BadInput`` for values that the metric cannot have.
    """
    needed = [metric, "answer", *(["time"] if ends else [])]
    if not all({t.renamed.get(name, name) for name in needed} <= {*t.parts[0].columns()} for t in tables.values()):
        return None
    found: dict[tuple[str, str], Any] = {}
    scale = _Scale(metric)
    for name, table in tables.items():
        own = {column: table.renamed.get(column, column) for column in (metric, "answer", "time")}
        if own["time"] not in table.parts[0].columns():
            del own["time"]
        sides = ("oos", "oot") if len(tables) == 1 else (name,)
        for part in table.parts:
            for where, batch in part.batches(list(own.values())):
                cells = dict(zip(own, batch.columns, strict=True))
                values = scale.read(cells[metric].to_pandas())
                lost = np.asarray(cells["answer"].is_null())
                times = times_of(where, cells["time"], own["time"]) if "time" in own else None
                for side in sides:
                    rows = _within(times, ends, side, len(values))
                    for key, some in _periods(times, rows, side, period):
                        found[key] = found.get(key, 0) + _sums(values[some], lost[some])
    scale.check()
    every = {
        key: dict(zip(("rows", "n", "sum", "squares", "n_unscored"), scale.of(s).tolist(), strict=True))
        for key, s in found.items()
    }
    if {("oos", ""), ("oot", "")} - every.keys():
        return None
    return {
        "sampled": sampled,
        **{side: every[side, ""] for side in ("oos", "oot")},
        "periods": {name: sums for (side, name), sums in sorted(every.items()) if side == "oot" and name},
    }


class _Scale:
    """Values of the key metric as numbers, and whether they are −1 and 1."""

    def __init__(self, metric: str) -> None:
        self.metric, self.low, self.high, self.signs = metric, 0.0, 1.0, True

    def read(self, column: pd.Series) -> core.Floats:
        """Labels in words as numbers, an empty cell as NaN."""
        if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
            values = column.to_numpy(dtype=float, na_value=np.nan)
        else:
            codes, words = pd.factorize(column)
            known = np.array([self._number(word) for word in words] + [math.nan])
            values = known[codes]
        there = values[np.isfinite(values)]
        if len(there):
            self.low, self.high = min(self.low, float(there.min())), max(self.high, float(there.max()))
            self.signs &= bool(np.isin(there, (-1.0, 1.0)).all())
        return np.asarray(values)

    def _number(self, cell: Any) -> float:
        text = readers.verdicts.truth_of(cell) or str(cell).strip().replace("−", "-")
        try:
            return float(text) if text else math.nan
        except ValueError:
            raise errors.BadInput(f"{self.metric}: cells are not numbers, such as {cell!r:.60}") from None

    def check(self) -> None:
        if self.high > 1 or (self.low < 0 and not self.signs):
            raise errors.BadInput(
                f"{self.metric}: must lie between 0 and 1 (or be −1 and 1), found {self.high if self.high > 1 else self.low:g} among all rows"
            )

    def of(self, sums: Any) -> Any:
        """Sums of −1 and 1 as those of 0 and 1."""
        if self.low >= 0:
            return sums
        rows, n, total, _, lost = sums
        right = (total + n) / 2
        return np.array([rows, n, right, right, lost])


def _sums(values: core.Floats, lost: Any) -> Any:
    known = values[np.isfinite(values) & ~lost]
    return np.array([len(values), len(known), known.sum(), (known**2).sum(), lost.sum()])


def _within(times: pd.Series | None, ends: Mapping[str, Any], side: str, n: int) -> Any:
    """Which rows are of a side: within its half-open window; all where there is none."""
    own = np.ones(n, dtype=bool)
    for name, before in ((f"{side}_from", False), (f"{side}_to", True)):
        if name in ends and times is not None:
            own &= (times < ends[name] if before else times >= ends[name]).to_numpy()
    return own


def _periods(times: pd.Series | None, rows: Any, side: str, period: str) -> list[tuple[tuple[str, str], Any]]:
    """The rows of a side, and of OOT those of each month, week or day (UTC), as :func:`inputs.periods_of` names them."""
    parts: list[tuple[tuple[str, str], Any]] = [((side, ""), rows)]
    if side == "oot" and times is not None:
        days = times.dt.tz_localize(None).to_numpy().astype("datetime64[D]")
        if period == "week":
            days = days - (days.astype(np.int64) + 3) % 7
        units = days.astype("datetime64[M]") if period == "month" else days
        parts += [((side, str(unit)), rows & (units == unit)) for unit in np.unique(units[rows & ~np.isnat(days)])]
    return parts


# -- the figures of test 1 ------------------------------------------------------------------------


def quality(of_sample: core.Estimate, sums: Mapping[str, float]) -> core.Estimate:
    """The key metric of a side, of all its rows."""
    n, rows, lost = (int(sums[name]) for name in ("n", "rows", "n_unscored"))
    own = replace(of_sample, n=n, n_unscored=lost, n_undefined=rows - n - lost)
    if not n:
        return replace(own, value=None, ci_low=None, ci_high=None, method="")
    value, spread = moments(sums)
    if is_share(sums):
        low, high = (float(end) for end in core.stats.wilson(sums["sum"], n))
        return replace(
            own,
            value=value,
            ci_low=low,
            ci_high=high,
            method=f"{core.stats.wilson_name(sums['sum'], n)}, of all rows",
            note="",
        )
    half = 1.96 * spread
    return replace(own, value=value, ci_low=value - half, ci_high=value + half, method="normal, of all rows", note="")


def drop(
    of_sample: core.Estimate, then: core.Estimate, now: core.Estimate, all_rows: Mapping[str, Any]
) -> core.Estimate:
    """The drop of the key metric, of all rows of both sides."""
    own = replace(
        of_sample,
        n=then.n + now.n,
        n_unscored=then.n_unscored + now.n_unscored,
        n_undefined=then.n_undefined + now.n_undefined,
    )
    if then.value is None or now.value is None:
        return replace(own, value=None, ci_low=None, ci_high=None, method="")
    value = 100 * (then.value - now.value)
    if all(is_share(all_rows[side]) for side in ("oos", "oot")):
        low, high = figures.newcombe(then, now)
        return replace(
            own,
            value=value,
            ci_low=low,
            ci_high=high,
            method="Newcombe, of both Wilson intervals, of all rows",
            note="",
        )
    half = 196 * math.hypot(*(moments(all_rows[side])[1] for side in ("oos", "oot")))
    return replace(own, value=value, ci_low=value - half, ci_high=value + half, method="normal, of all rows", note="")


def moments(sums: Mapping[str, float]) -> tuple[float, float]:
    """The mean, and its standard error."""
    n = max(sums["n"], 1)
    mean = sums["sum"] / n
    return mean, math.sqrt(max(0.0, sums["squares"] / n - mean**2) / n)


def is_share(sums: Mapping[str, float]) -> bool:
    """Whether every value is 0 or 1."""
    return abs(sums["squares"] - sums["sum"]) < 1e-6


def drawn(all_rows: Mapping[str, Any], seed: int, n: int) -> Sequence[core.Floats]:
    """The key metric of both sides in resamples, by its normal approximation."""
    generator = core.seeds.rng(seed, "all rows")
    return [
        mean + error * generator.standard_normal(n)
        for mean, error in (moments(all_rows[side]) for side in ("oos", "oot"))
    ]
