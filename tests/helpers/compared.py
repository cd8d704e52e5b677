"""A study's run on its sample compared with itself, or with a run that is worse."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
from studied import whole

from evalbench import studies
from evalbench.compare.runs import Differences, Hooks, compare
from evalbench.compare.sides import Side, with_names
from evalbench.core.result import Result
from evalbench.kit.options import taken


def side(name: str, items: pd.DataFrame | None = None, **own: Any) -> Side:
    """The sample's run; with other items, or options of its own, the run that would have had them."""
    result = whole(name)
    recorded = json.loads(json.dumps(result.to_json()))
    if items is None:
        return Side("first", recorded, {}, result.items)
    parameters = {**recorded["parameters"], **own}
    summarise = studies.study(name).summarise
    summary = summarise(items, **{**taken(summarise, parameters), "n_resamples": 2})
    stated = [e.row() for e in summary.estimates]
    return Side("second", {**recorded, "parameters": parameters, "summary": stated}, {}, items)


def worsened(result: Result) -> pd.DataFrame:
    """Items that have half of every number in every third unit."""
    every_third = result.items[result.id].map(lambda key: sum(str(key).encode()) % 3 == 0)
    changing = result.items.select_dtypes("number").columns.difference([*result.by, result.id])
    return result.items.assign(
        **{c: result.items[c].astype(float).mask(every_third, result.items[c] / 2) for c in changing}
    )


def compared(name: str, other: Side, *, exact: bool = True, **sizes: int) -> Differences:
    hooks = Hooks.of(studies.study(name))
    a, b = with_names([side(name), other])
    found = compare(a, [b], hooks if exact else hooks._replace(measures=None), n_resamples=100, **sizes)
    return found[0]


def cells(found: Differences) -> dict[tuple[str, ...], Any]:
    return {(*row.group.values(), row.comparison.metric): row.comparison for row in found.rows}
