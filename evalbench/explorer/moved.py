"""Which items another value of an option moves: those whose score in a figure changes, and those of groups whose light changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.measures import Measure
from evalbench.kit.options import taken

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from evalbench.core.result import Estimate
    from evalbench.studies.contract import Study

    Mask = npt.NDArray[np.bool_]


class Moved(NamedTuple):
    """Of the items that were looked at.

    - ``n``: How many these are.
    - ``rescored``: Items whose own value of at least one figure changes, or that have one only before or only after; None
      for studies without a figure that is a function of sums over items.
    - ``relit``: Items of groups with a figure whose light changes.
    """

    n: int
    rescored: int | None
    relit: int


def moved(
    hooks: Study,
    items: pd.DataFrame,
    by: Sequence[str],
    options: tuple[Mapping[str, Any], Mapping[str, Any]],
    estimates: tuple[Sequence[Estimate], Sequence[Estimate]],
) -> Moved:
    """What changes from one set of options to another.

    - ``by``: The columns of the items that name their groups.
    - ``options``, ``estimates``: Before and after.
    """
    return Moved(len(items), _rescored(hooks, items, options), int(_relit(items, by, estimates).sum()))


def _rescored(hooks: Study, items: pd.DataFrame, options: tuple[Mapping[str, Any], Mapping[str, Any]]) -> int | None:
    if hooks.measures is None:
        return None
    before, after = (_own_values(hooks.measures, hooks.with_sums, items, each) for each in options)
    changed = np.zeros(len(items), dtype=bool)
    for metric in before.keys() & after.keys():
        changed |= ~np.isclose(before[metric], after[metric], rtol=0, atol=1e-12, equal_nan=True)
    return int(changed.sum())


def _own_values(
    measures: Callable[..., Sequence[Measure]],
    with_sums: Callable[..., pd.DataFrame] | None,
    items: pd.DataFrame,
    options: Mapping[str, Any],
) -> dict[str, npt.NDArray[np.float64]]:
    """Each figure of every item alone: NaN where it is undefined; none of a figure whose parts the items do not hold."""
    summed = with_sums(items, **taken(with_sums, options)) if with_sums else items
    found = {}
    for measure in measures(**taken(measures, options)):
        if not all(name.removeprefix("#") in summed for name in measure.sums):
            continue
        with np.errstate(all="ignore"):
            own = measure.value(*(_of_single_items(summed, name) for name in measure.sums))
        found[measure.metric] = np.asarray(own, dtype=float)
    return found


def _of_single_items(items: pd.DataFrame, name: str) -> npt.NDArray[np.float64]:
    raw = np.asarray(items[name.removeprefix("#")], dtype=float)
    finite = np.isfinite(raw)
    return finite.astype(float) if name.startswith("#") else np.where(finite, raw, 0.0)


def _relit(items: pd.DataFrame, by: Sequence[str], estimates: tuple[Sequence[Estimate], Sequence[Estimate]]) -> Mask:
    before, after = ({(e.metric, *e.group.items()): e for e in each} for each in estimates)
    found = np.zeros(len(items), dtype=bool)
    for key in before.keys() & after.keys():
        if before[key].light != after[key].light:
            own = np.ones(len(items), dtype=bool)
            for column in by:
                if column in before[key].group:
                    own &= items[column].astype(str).to_numpy() == str(before[key].group[column])
            found |= own
    return found
