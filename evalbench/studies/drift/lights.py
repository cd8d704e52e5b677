"""The five tests' lights: rules over one or many resamples of their figures, without gaps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evalbench import core, kit

TESTS = ("key_metric", "statistics", "separability", "local_drift", "global_drift")
"""The tests, in the order of the method document."""
TITLES: Mapping[str, str] = {
    "key_metric": "key metric",
    "statistics": "text statistics",
    "separability": "separability",
    "local_drift": "local drift",
    "global_drift": "global drift",
}
LEAST_ROWS = 30
"""Fewer rows on a side make a light grey."""
RELIABLE_FROM = 0.2
"""The method document's bound of the mean similarity to neighbours, for embedding models whose card has none."""
PRESETS = ("handbook", "rule_of_thumb")
LIGHTS_ON = ("estimate", "ci")
PSI_LIGHTS_ON = ("excess", "raw")
NEW_TOKENS = ("increase", "ratio")
FIGURES = ("drop", "gini", "psi", "new_tokens")
"""What a user may set thresholds of."""
STOP, FREQUENCIES, COUNTS, NEW, PREDICTIONS = "stop_words", "frequencies", "counts", "new_tokens", "predictions"

Lights = npt.NDArray[np.str_]
Rules = Mapping[str, Mapping[str, float]]

# Closed as printed: a drop of 15 pp and one of 25 pp are yellow.
DROP = core.verdict.Bands(
    (
        core.verdict.Band("green", high=15 - kit.verdicts.ROUNDING),
        core.verdict.Band("yellow", 15 - kit.verdicts.ROUNDING, 25 + kit.verdicts.ROUNDING, high_closed=True),
        core.verdict.Band("red", 25 + kit.verdicts.ROUNDING, low_closed=False),
    )
)
# Open in print: the worse light has the boundary.
GINI = core.verdict.Bands.cut("green", 0.4 - kit.verdicts.ROUNDING, "yellow", 0.8 - kit.verdicts.ROUNDING, "red")
_NEW = core.verdict.Bands.cut("green", 0.3 - kit.verdicts.ROUNDING, "yellow", 0.5 - kit.verdicts.ROUNDING, "red")
_THUMB = core.verdict.Bands.cut("green", 0.1 - kit.verdicts.ROUNDING, "yellow", 0.25 - kit.verdicts.ROUNDING, "red")
_HANDBOOK = core.verdict.Bands.cut("green", 0.5 - kit.verdicts.ROUNDING, "yellow", 1 - kit.verdicts.ROUNDING, "red")
_STOP = core.verdict.Bands.cut("green", 0.5 - kit.verdicts.ROUNDING, "yellow")


def rules_of(lights: Mapping[str, Any]) -> Rules:
    """Thresholds of a user's own, checked.

    Raises ``BadInput`` for figures that have no light and faulty thresholds: all at once.

    Examples
    --------
    >>> rules_of({"gini": {"green_to": 0.2, "yellow_to": 0.5}})
    {'gini': {'green_to': 0.2, 'yellow_to': 0.5}}
    """
    return kit.rules.rules_of(lights, dict.fromkeys(FIGURES, kit.rules.Figure(False, (-math.inf, math.inf))))


def bands_for(figure: str, preset: str, rules: Rules) -> core.verdict.Bands:
    """The bands of a drop, the Gini, or a statistic by its name.

    Examples
    --------
    >>> str(bands_for("counts", "rule_of_thumb", {}))
    'green: < 0.1; yellow: [0.1, 0.25); red: ≥ 0.25'
    """
    own = kit.verdicts.bands_of(rules.get(figure if figure in ("drop", "gini", NEW) else "psi", {}))
    if own is not None:
        return own
    if figure in ("drop", "gini", NEW):
        return {"drop": DROP, "gini": GINI, NEW: _NEW}[figure]
    if preset == "rule_of_thumb":
        return _THUMB
    return _STOP if figure == STOP else _HANDBOOK


def of_drop(
    drop: npt.ArrayLike, value: npt.ArrayLike, bands: core.verdict.Bands, key: core.verdict.Bands | None
) -> Lights:
    """The light of tests 1, 4 and 5: grey without a drop; red, green, else yellow.

    - ``drop`` ((r,) array of float): In percentage points.
    - ``value`` ((r,) array of float): The key metric of OOT, measured or forecast, which ``key`` judges.
    - ``bands``: Of the drop.
    - ``key``: Without them the drop alone decides: the level is not judged.

    Examples
    --------
    >>> key = core.verdict.Bands.cut("red", 0.5, "yellow", 0.7, "green")
    >>> of_drop([10, 10, 15, 25, 26, 5], [0.8, 0.6, 0.8, 0.8, 0.8, 0.4], DROP, key).tolist()
    ['green', 'yellow', 'yellow', 'yellow', 'red', 'red']
    >>> of_drop([10.0, float("nan")], [0.8, 0.8], DROP, None).tolist()
    ['green', 'grey']
    """
    by_drop = bands.lights(drop)
    if key is None:
        return by_drop
    own = key.lights(value)
    out = np.full(by_drop.shape, "yellow", dtype="<U6")
    out[(by_drop == "green") & (own == "green")] = "green"
    out[(by_drop == "red") | (own == "red")] = "red"
    out[(by_drop == "grey") | (own == "grey")] = "grey"
    return out


def of_interval(
    drop: tuple[float, float], value: tuple[float, float], bands: core.verdict.Bands, key: core.verdict.Bands | None
) -> core.verdict.Light:
    """The light that an interval shows: red or green where it is at both ends, else yellow.

    Examples
    --------
    >>> key = core.verdict.Bands.cut("red", 0.5, "yellow", 0.7, "green")
    >>> of_interval((-2, 8), (0.75, 0.9), DROP, key), of_interval((20, 40), (0.75, 0.9), DROP, key)
    ('green', 'yellow')
    """
    low, high = of_drop([drop[0], drop[1]], [value[1], value[0]], bands, key).tolist()
    if "grey" in (low, high):
        return "grey"
    return low if low == high else "yellow"


def overall(responses: Sequence[npt.ArrayLike], requests: Sequence[npt.ArrayLike]) -> Lights:
    """The document's rule over the statistics: red from 3 red ones of responses on.

    Yellow: 1 or 2 red ones of responses, or at least 3 yellow of responses, or at least 3 red of requests; else green.  Grey:
    no statistic of responses has a light; grey ones count for none.

    - ``responses``, ``requests`` (sequences of (r,) arrays of lights)

    Examples
    --------
    >>> overall([["red", "red"], ["red", "green"], ["red", "grey"]], [["green", "green"]]).tolist()
    ['red', 'yellow']
    """
    of, other = (
        np.stack([np.asarray(one) for one in side]) if side else np.empty((0, 1)) for side in (responses, requests)
    )
    red, yellow = (of == "red").sum(axis=0), (of == "yellow").sum(axis=0)
    red_requests = (other == "red").sum(axis=0) if len(other) else np.zeros_like(red)
    out = np.full(red.shape, "green", dtype="<U6")
    out[(red >= 1) | (yellow >= 3) | (red_requests >= 3)] = "yellow"
    out[red >= 3] = "red"
    out[(of == "grey").all(axis=0)] = "grey"
    return out
