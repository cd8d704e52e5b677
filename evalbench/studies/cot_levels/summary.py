"""Items to headline figures, verdict and its sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.figures import Estimated, Figure, estimate, mean_of, share_of
from evalbench.core.result import Estimate, Summary
from evalbench.core.verdict import Band, Bands, Light, Verdict, worst

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9


def bands_of(threshold: float) -> Bands:
    """Green from the threshold on, else red: the seed's pass and fail."""
    return Bands((Band("red", high=threshold), Band("green", low=threshold)))


def figures(threshold: float) -> tuple[Figure, ...]:
    """The figures of one model."""
    return (
        mean_of("final", bands=bands_of(threshold - ROUNDING)),
        share_of("passed"),
        share_of("answer", "level 1 answer"),
        share_of("answer_strict", "answer, strict"),
        share_of("answer_flexible", "answer, flexible"),
        mean_of("steps", "level 2 steps", undefined="the reference has no step"),
        mean_of("similarity", "level 3 similarity"),
        mean_of("coherence", "level 4 coherence", undefined="no response has an equation"),
        mean_of("accuracy", "right equations", undefined="no response has an equation"),
        mean_of("sourced", "sourced steps", undefined="no response has an equation"),
    )


CEILING = mean_of(
    "reference_coherence",
    "level 4 of the references",
    undefined="no reference has an equation",
    worst=None,
)


def summarise(
    items: pd.DataFrame,
    *,
    threshold: float = 0.8,
    max_unscored: float = 0.05,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Summary:
    """Headline figures per model, the ceiling of the references, and the verdict.

    Parameters
    ----------
    items : DataFrame
        One row per problem and model.
    threshold : float
        A model passes if its mean final score reaches it; the worst model decides the light.
    max_unscored : float
    seed, n_resamples : int

    Returns
    -------
    Summary
    """
    passed = np.where(items["final"].isna(), np.nan, (items["final"] >= threshold - ROUNDING).astype(float))
    rows = items.assign(passed=passed)
    models = sorted(rows["model"].unique())
    done = [
        estimate(
            one, figures(threshold), units=one["id"], seed=seed, group={"model": m}, n_resamples=n_resamples
        )
        for m in models
        for one in [rows[rows["model"] == m]]
    ]
    problems = items.drop_duplicates("id").assign(unscored="", undefined="")
    ceiling = estimate(problems, [CEILING], units=problems["id"], seed=seed, n_resamples=n_resamples)
    estimates = [e for one in done for e in one.estimates] + list(ceiling.estimates)
    return Summary(tuple(estimates), _verdict(rows, done, threshold, max_unscored))


def _verdict(rows: pd.DataFrame, done: list[Estimated], threshold: float, max_unscored: float) -> Verdict:
    bands = bands_of(threshold - ROUNDING)
    finals = [one.estimates[0] for one in done]
    figures_light = worst([e.light for e in finals])
    n = rows["id"].nunique()
    unscored = int((rows["unscored"] != "").sum())
    said = "; ".join(_said(one) for one in sorted(done, key=_value))
    sentence = f"Mean final score {said}; {n} problems, threshold {threshold:g}."
    if unscored:
        sentence += f" {unscored} of {len(rows)} responses could not be scored."
    rule = f"mean final score, the worst model decides: green ≥ {threshold:g}; red < {threshold:g}"
    replicates = np.stack([bands.lights(one.replicates["final"]) for one in done])
    stability = None
    if replicates.size:
        agree = np.array([worst(list(column)) == figures_light for column in replicates.T])
        stability = float(agree.mean())
    if unscored > max_unscored * len(rows):
        sentence += f" That is more than {max_unscored:.0%}: not enough evidence for a light."
        return Verdict("grey", sentence, rule, stability, would_be=figures_light)
    light: Light = figures_light
    return Verdict(light, sentence, rule, stability)


def _value(one: Estimated) -> float:
    value = one.estimates[0].value
    return -1.0 if value is None else value


def _said(one: Estimated) -> str:
    final, passed = one.estimates[0], one.estimates[1]
    if final.value is None:
        return f"undefined ({final.group['model']})"
    interval = f" [{final.ci_low:.2f}, {final.ci_high:.2f}]" if final.ci_low is not None else ""
    return f"{final.value:.3f}{interval} ({final.group['model']}, {_share(passed)} passed)"


def _share(e: Estimate) -> str:
    return "–" if e.value is None else f"{e.value:.0%}"
