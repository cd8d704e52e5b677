"""What an online experiment needs beside the comparison: the planned split, a covariate from before, splits of one run alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.compare.runs import HEADLINE, Differences, Hooks
from evalbench.compare.sides import Group, Side
from evalbench.core.clusters import CLUSTER, drawn_together, is_clustered, widened
from evalbench.core.experiments import Adjusted, FalseDifferences, SampleRatio, cuped, false_differences, sample_ratio
from evalbench.core.measures import Measure, ratio, unit_sums
from evalbench.core.sides import values_of
from evalbench.errors import BadInput
from evalbench.readers.runs import CALLS, read_frame

if TYPE_CHECKING:
    import pandas as pd

MOST_GROUPS = 12
"""Of more groups than so many, the first are split."""


class Covaried(NamedTuple):
    """One mean of one pair, with and without the covariate."""

    reference: str
    side: str
    group: Group
    metric: str
    title: str
    found: Adjusted
    n_left_out: int
    n_scored: int


class Split(NamedTuple):
    """How often random halves of a group differ in one figure."""

    group: Group
    metric: str
    title: str
    found: FalseDifferences


@dataclass(frozen=True)
class Experiment:
    """What was asked for, of :class:`SampleRatio`, covariate and splits of one run.

    - ``names``: The sides'.
    - ``counted``: What the sizes of the split are of.
    - ``covariate``: Its name; empty without one.
    - ``aa``: Of the first side.
    """

    names: tuple[str, ...]
    ratio: SampleRatio | None = None
    counted: str = "unit"
    planned: tuple[float, ...] = ()
    covariate: str = ""
    covaried: tuple[Covaried, ...] = ()
    aa: tuple[Split, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The field ``experiment`` of ``comparison.json``; only what was asked for."""
        out: dict[str, Any] = {}
        if self.ratio is not None:
            of = {"sides": list(self.names), "counted": self.counted, "planned": list(self.planned)}
            out["ratio"] = {
                **of,
                **{k: list(v) if isinstance(v, tuple) else v for k, v in self.ratio._asdict().items()},
            }
        if self.covariate:
            out["covariate"] = {"name": self.covariate, "figures": [_figure(one) for one in self.covaried]}
        if self.aa:
            own = [{**s.group, "metric": s.metric, "title": s.title, **s.found._asdict()} for s in self.aa]
            out["aa"] = {"side": self.names[0], "figures": own}
        return {**out, "notes": list(self.notes)}


def _figure(one: Covaried) -> dict[str, Any]:
    own = {"reference": one.reference, "side": one.side, **one.group, "metric": one.metric, "title": one.title}
    parts = {k: v._asdict() if hasattr(v, "_asdict") else v for k, v in one.found._asdict().items()}
    numbers = {k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in parts.items()}
    return {**own, **numbers, "n_left_out": one.n_left_out, "n_scored": one.n_scored}


def experiment(
    sides: Sequence[Side],
    found: Sequence[Differences],
    hooks: Hooks,
    *,
    paired: bool,
    planned: Sequence[float] = (),
    covariate: str = "",
    aa: bool = False,
    seed: int,
) -> Experiment | None:
    """What of an online experiment was asked for; None where nothing was.

    - ``sides``: The first is the reference, and the one that is split.
    - ``hooks``: Of the study.
    - ``paired``: Only independent samples have a planned split and a covariate.
    - ``planned``: The planned sizes of the sides, up to a factor.
    - ``covariate``: A column of the items or tables of the runs, or ``FILE:COLUMN`` of a table with the units' ids.

    Raises ``BadInput``: All faults at once.
    """
    if not (planned or covariate or aa):
        return None
    refuse_experiment(len(sides), paired=paired, planned=planned, covariate=covariate)
    summed = [hooks.summed(side) for side in sides]
    unit = hooks.unit or str(sides[0].results["id"])
    clustered = all(is_clustered(side.items) for side in sides)
    sizes = [int(side.items[CLUSTER if clustered else unit].astype(str).nunique()) for side in sides]
    defined = list(hooks.measures(**sides[0].options(hooks.measures))) if hooks.measures else []
    covaried, notes = _covaried(found, defined, unit, covariate) if covariate else ((), [])
    splits, more = _splits(summed[0], defined, unit, seed) if aa else ((), [])
    return Experiment(
        tuple(side.name or side.run_id for side in sides),
        sample_ratio(sizes, planned) if planned else None,
        "cluster" if clustered else "unit",
        tuple(planned),
        covariate,
        covaried,
        splits,
        (*notes, *more),
    )


def refuse_experiment(n_sides: int, *, paired: bool, planned: Sequence[float], covariate: str) -> None:
    """Refuse what cannot be looked at, before anything is compared.

    Raises ``BadInput``: All faults at once.
    """
    given = [name for name, on in (("--ratio", planned), ("--covariate", covariate)) if on]
    faults = [f"{name} goes with --unpaired: paired sides have the same units" for name in given if paired]
    faults += [f"{name} needs a second side" for name in given if n_sides < 2]
    if planned and len(planned) != n_sides:
        faults.append(f"--ratio names {len(planned)} sizes for {n_sides} sides")
    if faults:
        raise BadInput.listing("this experiment cannot be looked at:", faults)


def _covaried(
    found: Sequence[Differences], defined: Sequence[Measure], unit: str, covariate: str
) -> tuple[tuple[Covaried, ...], list[str]]:
    means = {f.metric: f for f in defined if f.value is ratio and f.sums[1] == f"#{f.sums[0]}"}
    scores = {f.sums[0] for f in means.values()}
    score = next((s for s in scores if covariate == s or covariate.startswith(f"{s}_")), "")
    if score:
        what = "the score itself" if covariate == score else f"a part of the score {score}"
        raise BadInput(f"--covariate {covariate}: is {what}, not something known before it")
    out, notes = [], []
    for d in found:
        known = [_covariate(side, unit, covariate) for side in (d.side, d.reference)]
        rows = [row for row in d.rows if row.headline]
        others = dict.fromkeys(row.comparison.title for row in rows if row.comparison.metric not in means)
        if others:
            notes.append(f"Only means take a covariate, not {', '.join(others)}.")
        for row in rows:
            if row.comparison.metric not in means:
                continue
            column = means[row.comparison.metric].sums[0]
            parts = [
                _of_units(side.rows(row.group), column, unit, of)
                for side, of in zip((d.side, d.reference), known, strict=True)
            ]
            (y_a, x_a, w_a, left_a, n_a), (y_b, x_b, w_b, left_b, n_b) = parts
            adjusted = cuped(y_a, x_a, y_b, x_b, weights_a=w_a, weights_b=w_b)
            c = row.comparison
            counts = (left_a + left_b, n_a + n_b)
            out.append(Covaried(d.reference.name, d.side.name, row.group, c.metric, c.title, adjusted, *counts))
    if not out:
        raise BadInput(f"--covariate {covariate}: none of the headline figures is a mean")
    return tuple(out), list(dict.fromkeys(notes))


def _of_units(
    items: pd.DataFrame, column: str, unit: str, known: Mapping[str, float]
) -> tuple[Any, Any, Any, int, int]:
    """Mean score, mean covariate and number of items of what is drawn together; how many scored items lack a covariate, of how many."""
    x = items[unit].astype(str).map(known).to_numpy(dtype=float)
    y = items[column].to_numpy(dtype=float)
    scored = np.isfinite(y)
    used = scored & np.isfinite(x)
    columns = {"y": y[used], "x": x[used]}
    sums, _ = unit_sums(columns, ["y", "x", "#y"], drawn_together(items, items[unit])[used])
    counts = np.maximum(sums[:, 2], 1)
    return sums[:, 0] / counts, sums[:, 1] / counts, sums[:, 2], int((scored & ~used).sum()), int(scored.sum())


def _covariate(side: Side, unit: str, name: str) -> dict[str, float]:
    """The covariate of each unit: the mean of its rows that have one."""
    import pandas as pd

    table, column = _table(side, unit, name)
    keys = next((c for c in (unit, "id") if c in table), "")
    if not keys or column not in table:
        lacking = f"no column {column}" if column not in table else f"no column {unit} or id that names a unit"
        raise BadInput(f"--covariate {name}: {lacking}; there are: {', '.join(map(str, table.columns))}")
    cells = table[column]
    texts = cells.astype(str).str.strip()
    numbers = pd.to_numeric(cells if cells.dtype.kind in "biuf" else texts.where(texts != ""), errors="coerce").astype(
        float
    )
    wrong = texts[numbers.isna() & cells.notna() & ~texts.str.lower().isin(["", "nan", "none", "null", "<na>"])]
    if len(wrong):
        raise BadInput(f"--covariate {name}: expected numbers, found {wrong.iloc[0][:40]!r}")
    numbers = numbers.where(np.isfinite(numbers))
    means = numbers.groupby(table[keys].astype(str).to_numpy()).mean().dropna()
    if not means.index.isin(side.items[unit].astype(str)).any():
        raise BadInput(f"--covariate {name}: none of the units of {side.name or side.run_id} has a value")
    return {str(key): float(value) for key, value in means.items()}


def _table(side: Side, unit: str, name: str) -> tuple[pd.DataFrame, str]:
    """The table that has a covariate, and its column there."""
    if name in side.items:
        return side.items, name
    path, _, column = name.rpartition(":")
    if path:
        from evalbench.readers.files import raw_frame, read_bytes

        file = Path(path).expanduser()
        return raw_frame(file, read_bytes(file)), column
    seen = dict.fromkeys(map(str, side.items.columns))
    for file in side.results["tables"].values() if side.folder else ():
        if file == CALLS:
            continue
        frame = read_frame(side.folder / file)
        if unit in frame and name in frame:
            return frame, name
        seen |= dict.fromkeys(map(str, frame.columns)) if unit in frame else {}
    raise BadInput(
        f"--covariate {name}: neither items nor tables of {side.name or side.run_id} have this column, nor is it FILE:COLUMN; "
        f"there are: {', '.join(seen)}"
    )


def _splits(side: Side, defined: Sequence[Measure], unit: str, seed: int) -> tuple[tuple[Split, ...], list[str]]:
    stated = list(dict.fromkeys(row["metric"] for row in side.results["summary"]))
    figures = sorted((f for f in defined if f.metric in stated), key=lambda f: stated.index(f.metric))[:HEADLINE]
    if not figures:
        raise BadInput("--aa: none of this study's figures is a function of sums over items")
    groups: list[Group] = [dict(zip(side.by, values, strict=True)) for values in side.groups()]
    notes = [f"--aa splits the first {MOST_GROUPS} of {len(groups)} groups."] * (len(groups) > MOST_GROUPS)
    out = []
    for group in groups[:MOST_GROUPS]:
        items = side.rows(group)
        units = drawn_together(items, items[unit])
        for f in figures:
            names = list(f.sums)
            sums, _ = unit_sums(items, [*names, *(f"#{n.removeprefix('#')}" for n in names)], units)
            sums = sums[(sums[:, len(names) :] > 0).all(axis=1), : len(names)]
            level = widened(max(2, len(sums) // 2)) if is_clustered(items) else 0.95
            found = false_differences(sums, values_of([f]), seed=seed, level=level)[0]
            out.append(Split(group if len(groups) > 1 else {}, f.metric, f.title, found))
    return tuple(out), notes
