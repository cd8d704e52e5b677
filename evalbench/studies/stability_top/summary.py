"""Items to headline figures and their verdict, and the figures at every depth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.metrics.top_k import TopAgreement
from evalbench.studies.stability_top import inputs
from evalbench.studies.stability_top.items import FIGURES

TITLES = {
    "unchanged_strict": "tops unchanged (strict)",
    "unchanged_soft": "passages kept (soft)",
    "jaccard": "Jaccard similarity of the tops",
    "rbo": "rank-biased overlap",
}
MOST_ALIKE = 0.5
"""Where more questions have the very top of another one, a top that stays shows nothing."""
DOCUMENT = {"unchanged_soft": (0.1, 0.8), "unchanged_strict": (0.05, 0.7)}
"""The method document's thresholds: red up to the first, green from the second."""


def bands_of_document(metric: str) -> core.verdict.Bands | None:
    """The light of the method document; the worse one takes the lower boundary, the better one the upper, as printed.

    Examples
    --------
    >>> bands = bands_of_document("unchanged_soft")
    >>> bands.light(0.1), bands.light(0.11), bands.light(0.8)
    ('red', 'yellow', 'green')
    """
    if metric not in DOCUMENT:
        return None
    red, green = DOCUMENT[metric][0] + kit.verdicts.ROUNDING, DOCUMENT[metric][1] - kit.verdicts.ROUNDING
    middle = core.verdict.Band("yellow", red, green, low_closed=False)
    return core.verdict.Bands(
        (core.verdict.Band("red", high=red, high_closed=True), middle, core.verdict.Band("green", green))
    )


def rules_of(lights: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Checked thresholds of one's own.

    Raises ``BadInput`` for figures that there are not, and thresholds that are no rule: all of them.
    """
    return kit.rules.rules_of(lights, dict.fromkeys(FIGURES, kit.rules.Figure()))


def measures() -> tuple[core.Measure, ...]:
    """The headline: the share of tops that did not change at all, and three means."""
    undefined = "no question was changed"
    strict = core.share_of(
        "unchanged_strict",
        title=TITLES["unchanged_strict"],
        undefined=undefined,
        bands=bands_of_document("unchanged_strict"),
    )
    others = (
        core.mean_of(name, title=TITLES[name], undefined=undefined, bands=bands_of_document(name))
        for name in FIGURES[1:]
    )
    return (strict, *others)


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    checks.tried(lambda: rules_of(checks.options["lights"]))


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    k: int = inputs.K,
    lights: Mapping[str, Mapping[str, float]] = {},
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Figures of every augmentation with intervals, and the verdict: the worst light decides; options as of ``evaluate``."""
    return kit.worst_group(
        items,
        measures(),
        "augmentation",
        lights=lights,
        over=f"{core.counted(items['id'].nunique(), 'question')}, k = {k}",
        held_back=_one_top(items),
        max_unscored=max_unscored,
        absent=kit.evidence.absent_of(items, "augmentation", "id", unit="question"),
        seed=seed,
        n_resamples=n_resamples,
    )


def _one_top(items: pd.DataFrame) -> str:
    """Why the light is held back: most questions have the top of another, so that it cannot but stay."""
    known = items.drop_duplicates("id").get("same_top", pd.Series(dtype=float)).dropna()
    if len(known) >= core.stats.FEW_UNITS and known.mean() > MOST_ALIKE:
        return f"{int(known.sum())} of {core.counted(len(known), 'question')} have the same top as another question"
    return ""


def by_k_of(rows: pd.DataFrame, found: TopAgreement, *, seed: int, n_resamples: int) -> pd.DataFrame:
    """Every figure at every depth, a row per augmentation and depth: its mean and the ends of its interval, and the changed shares.

    - ``rows``: ``id, augmentation, unscored, undefined``.
    - ``found``: Of these rows.
    """
    depths = range(1, found.rbo.shape[1] + 1)
    wide = pd.concat(
        [rows, *(pd.DataFrame(getattr(found, name), rows.index, [f"{name}_{k}" for k in depths]) for name in FIGURES)],
        axis=1,
    )
    at_k = [
        (core.share_of if name == "unchanged_strict" else core.mean_of)(f"{name}_{k}", worst=None)
        for k in depths
        for name in FIGURES
    ]
    cells: dict[tuple[str, int], dict[str, Any]] = {}
    for e in kit.verdicts.by_group(wide, at_k, "augmentation", seed=seed, n_resamples=n_resamples):
        name, _, k = e.metric.rpartition("_")
        ends = {name: e.value, f"{name}_low": e.ci_low, f"{name}_high": e.ci_high}
        cells.setdefault((e.group["augmentation"], int(k)), {"n": e.n}).update(ends)
    out = pd.DataFrame([{"augmentation": a, "k": k, **row} for (a, k), row in cells.items()])
    out = out.astype({c: float for c in out if c not in ("augmentation", "k", "n")})
    for name in ("strict", "soft"):
        out[f"changed_{name}"] = 1 - out[f"unchanged_{name}"]
    return out.sort_values(["augmentation", "k"], ignore_index=True).replace({np.nan: np.nan})
