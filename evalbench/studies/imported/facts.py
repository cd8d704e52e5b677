"""What is known of imported metrics: which end is better and how far the scale goes; what is not known is assumed, and said."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench.readers.tools.shapes import lower_by_name
from evalbench.studies.imported import inputs


class Facts(NamedTuple):
    """What is known of the metrics: the direction and the scale of each, and where that is from."""

    directions: dict[str, str]
    scales: dict[str, list[float]]
    sources: dict[str, tuple[str, str]]
    notes: tuple[str, ...]


def facts_of(
    found: inputs.Given, described: pd.DataFrame | None, directions: Mapping[str, Any], scales: Mapping[str, Any]
) -> Facts:
    """Directions and scales: the option's, else the table's, else assumed.

    Parameters
    ----------
    found : Given
    described : DataFrame or None
        The table ``metrics``.
    directions, scales : mapping
        The options, checked.
    """
    table = {} if described is None else described.set_index("metric").to_dict("index")
    outside, own = [], Facts({}, {}, {}, ())
    values = {str(name): rows["value"].to_numpy(float) for name, rows in found.scores.groupby("metric", sort=False)}
    for name in found.metrics:
        row, seen = table.get(name, {}), values.get(name, np.array([]))
        seen = seen[np.isfinite(seen)]
        direction = (
            directions.get(name) or row.get("direction") or (inputs.LOWER if lower_by_name(name) else inputs.HIGHER)
        )
        origin = (
            "option"
            if name in directions
            else row.get("direction_from") or ("file" if row.get("direction") else "assumed")
        )
        ends = [float(row.get(end, math.nan)) if row.get(end) is not None else math.nan for end in ("low", "high")]
        scale_from = (
            "option" if name in scales else row.get("scale_from") or ("file" if np.isfinite(ends).all() else "assumed")
        )
        if name in scales:
            ends = [float(end) for end in scales[name]]
        elif not np.isfinite(ends).all() and len(seen) and seen.min() >= 0 and seen.max() <= 1:
            ends, scale_from = [0.0, 1.0], "assumed"
        if np.isfinite(ends).all() and len(seen) and (seen.min() < ends[0] or seen.max() > ends[1]):
            outside.append(f"{name} ({ends[0]:g} to {ends[1]:g}; found {seen.min():g} to {seen.max():g})")
            ends = [math.nan] * 2
        if np.isfinite(ends).all() and ends[0] < ends[1]:
            own.scales[name] = ends
        own.directions[name] = direction
        own.sources[name] = (origin, scale_from if name in own.scales else "unknown")
    notes = [f"Scores outside the scale, which is then left aside: {', '.join(outside)}."] if outside else []
    for what, at in (("Direction", 0), ("Scale", 1)):
        guessed = [name for name, origin in own.sources.items() if origin[at] == "assumed"]
        option = "directions" if at == 0 else "scales"
        said = [f"{n} ({own.directions[n]} is better)" if at == 0 else f"{n} ({_span(own.scales[n])})" for n in guessed]
        notes += (
            [f"{what} assumed, since the file has none: {', '.join(said)}; `{option}` sets another."] if guessed else []
        )
    return own._replace(notes=tuple(notes))


def _span(ends: Sequence[float]) -> str:
    return f"{ends[0]:g} to {ends[1]:g}"
