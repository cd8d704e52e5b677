"""One side of a comparison: a finished run, or some of its groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.errors import BadInput
from evalbench.kit.options import taken
from evalbench.readers.former_names import today
from evalbench.readers.runs import FINISHED, RUN_JSON, read_items, read_results, read_run

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

Group = Mapping[str, str]


@dataclass(frozen=True)
class Side:
    """A finished run, or some of its groups.

    - ``results``, ``run``: Content of ``results.json`` and ``run.json``.
    - ``items``: Only the selected rows.
    - ``selected``: Group columns that were fixed to a value.
    - ``name``: What the side is called in sentences.
    - ``folder``: Of the run, where its tables can be read.
    """

    run_id: str
    results: Mapping[str, Any]
    run: Mapping[str, Any]
    items: pd.DataFrame
    selected: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    folder: Path | None = None

    @property
    def by(self) -> list[str]:
        """Group columns that are not fixed."""
        return [column for column in self.results["by"] if column not in self.selected]

    def groups(self) -> list[tuple[str, ...]]:
        """Values of the free group columns, in order."""
        if not self.by:
            return [()]
        return sorted(set(map(tuple, self.items[self.by].astype(str).to_numpy())))

    def whose(self) -> dict[str, str]:
        """The group that the side is of: the selected one, or the only one that there is; nothing where there are several."""
        groups = self.groups()
        only = dict(zip(self.by, groups[0], strict=True)) if len(groups) == 1 else {}
        return {**self.selected, **only}

    def partial_groups(self) -> list[Group]:
        """Groups of some, not all, of the free columns for which the run states figures, in its order."""
        found: list[Group] = []
        for row in self.results["summary"]:
            stated = {c: str(row[c]) for c in self.results["by"] if row.get(c) is not None}
            group = {c: value for c, value in stated.items() if c not in self.selected}
            if {**stated, **self.selected} == stated and 0 < len(group) < len(self.by) and group not in found:
                found.append(group)
        return found

    def rows(self, group: Group) -> pd.DataFrame:
        """The items of a group; of all groups where it is empty."""
        kept = np.ones(len(self.items), dtype=bool)
        for column, value in group.items():
            kept &= self.items[column].astype(str).to_numpy() == value
        return self.items[kept]

    def stated(self, metric: str, group: Group) -> Mapping[str, Any] | None:
        """The run's own row of a figure for a group; None where it has none."""
        wanted = {**self.selected, **group}
        for row in self.results["summary"]:
            own = {c: row[c] for c in self.results["by"] if row.get(c) is not None}
            if row["metric"] == metric and own == wanted:
                return dict(row)
        return None

    def recorded(self, metric: str, group: Group) -> float | None:
        """The run's own value of a figure; NaN where it recorded none for this group."""
        row = self.stated(metric, group)
        if row is None:
            return math.nan
        return None if row["value"] is None else float(row["value"])

    def states(self, metric: str, group: Group) -> bool:
        """Whether the run states a figure for this group, were it without a value."""
        return self.stated(metric, group) is not None

    def options(self, function: Callable[..., Any]) -> dict[str, Any]:
        """The run's parameters that a function takes, without the size and seed of its own resampling."""
        own = {"n_resamples", "seed"}
        return {name: value for name, value in taken(function, self.results["parameters"]).items() if name not in own}


def read_side(folder: Path, items: pd.DataFrame | None = None) -> Side:
    """A finished run as a side.

    - ``items``: Some of its items, where not all are needed; by default they are read.

    Raises ``BadInput`` if the folder is not that of a finished run.
    """
    run = read_run(folder) if (folder / RUN_JSON).is_file() else {}
    if run.get("status") not in FINISHED:
        raise BadInput(f"{folder}: not the folder of a finished run (status {run.get('status', 'unknown')})")
    found = read_items(folder) if items is None else items
    return Side(folder.name, read_results(folder), run, found, folder=folder)


def selected(side: Side, wanted: dict[str, str], option: str) -> Side:
    """A side with its group columns fixed to values; the beginning of a value is enough where only one has it.

    Raises ``BadInput`` for unknown columns and values, all at once; lists what there is.
    """
    fixed, faults = {}, []
    for named, value in wanted.items():
        column = named if named in side.results["by"] else today(side.results["study"], named)
        if column not in side.results["by"]:
            known = ", ".join(side.results["by"]) or "none"
            faults.append(f"{option} {column}={value}: no group column {column}; there are: {known}")
            continue
        values = sorted(side.items[column].astype(str).unique())
        found = [v for v in values if v == value] or [v for v in values if v.startswith(value)]
        if len(found) == 1:
            fixed[column] = found[0]
        else:
            faults.append(f"{option} {column}={value}: {len(found) or 'no'} such values; there are {', '.join(values)}")
    if faults:
        raise BadInput.listing(f"{side.run_id}:", faults)
    return replace(side, items=side.rows(fixed), selected=fixed)


def stopped_early(side: Side) -> str:
    """What a comparison says of a run that stopped before all its items were asked; empty for others."""
    told = side.results.get("stopping")
    if not isinstance(told, Mapping) or not told.get("not_asked"):
        return ""
    return (
        f"{side.name or side.run_id} stopped early, after {told.get('asked')} of {told.get('items')} items: what was not asked is not compared, "
        "and intervals and p-values here are of a fixed number of items, which looking early makes too confident."
    )


def unequal(left: Mapping[str, Any], right: Mapping[str, Any]) -> tuple[tuple[str, Any, Any], ...]:
    names = [*left, *(n for n in right if n not in left)]
    return tuple((n, left.get(n), right.get(n)) for n in names if left.get(n) != right.get(n))


def surroundings(run: Mapping[str, Any]) -> dict[str, Any]:
    """Code, versions and models of a run, flat."""
    git, sha = run.get("git") or {}, run.get("sha256") or {}
    flat = {"commit": git.get("commit"), "notebook SHA-256": sha.get("notebook"), "package SHA-256": sha.get("package")}
    flat |= {f"version of {name}": version for name, version in (run.get("versions") or {}).items()}
    return flat | asked(run)


def asked(run: Mapping[str, Any]) -> dict[str, Any]:
    """Models and prompts of a run, flat."""
    models, prompts = run.get("models") or {}, run.get("prompt_hashes") or []
    named = (
        {f"model, {use}": model for use, model in models.items()}
        if isinstance(models, Mapping)
        else {"models": ", ".join(models)}
    )
    return named | {"prompts, SHA-256": ", ".join(sorted(map(str, prompts)))}


def with_names(sides: Sequence[Side]) -> tuple[Side, ...]:
    """Sides with the shortest names that tell them apart: their group, the one parameter that differs, or a letter."""
    groups = [", ".join(map(str, s.whose().values())) for s in sides]
    differing = {
        name for s in sides[1:] for name, _, _ in unequal(sides[0].results["parameters"], s.results["parameters"])
    }
    stated = (
        [f"{name}={s.results['parameters'].get(name)}" for name in differing for s in sides]
        if len(differing) == 1
        else []
    )
    letters = [chr(ord("A") + i) for i in range(len(sides))]
    for names in (groups, stated):
        if len(set(names)) == len(sides) and all(0 < len(n) <= 60 for n in names):
            return tuple(replace(s, name=n) for s, n in zip(sides, names, strict=True))
    return tuple(replace(s, name=n) for s, n in zip(sides, letters, strict=True))
