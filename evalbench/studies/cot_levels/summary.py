"""Items to headline figures, verdict and its sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.measures import Estimated, Measure, estimate, mean_of, share_of
from evalbench.core.result import Summary
from evalbench.studies._passing import bands_of, estimated_by_model, held, reaches, too_many_unscored, verdict

if TYPE_CHECKING:
    import pandas as pd


LEAST_MARKED = 0.5
CEILING = mean_of("reference_once", "level 4 of the references", undefined="no reference has an equation", worst=None)


def measures(threshold: float) -> tuple[Measure, ...]:
    """The figures of one model, and last the references' ceiling."""
    return (*_of_model(threshold), CEILING)


def _of_model(threshold: float) -> tuple[Measure, ...]:
    return (
        mean_of("final", bands=bands_of(threshold)),
        share_of("passed"),
        share_of("answer", "level 1 answer"),
        mean_of("steps", "level 2 steps", undefined="no reference has a step"),
        mean_of("similarity", "level 3 similarity"),
        mean_of("coherence", "level 4 coherence", undefined="no response has an equation"),
        share_of("answer_strict", "answer, strict"),
        share_of("answer_flexible", "answer, flexible"),
        share_of("marked", "answer marked", undefined="no response has a text", worst=None),
        mean_of("accuracy", "right equations", undefined="no response has an equation"),
        mean_of("sourced", "sourced steps", undefined="no response has an equation"),
    )


def with_sums(items: pd.DataFrame, *, threshold: float = 0.8) -> pd.DataFrame:
    """The items with what the figures sum beside their columns: who passed, and each problem's reference once."""
    again = items.duplicated("id")
    if "marked" not in items:  # of a run before markers were counted
        items = items.assign(marked=np.nan)
    return items.assign(
        passed=reaches(items["final"], threshold), reference_once=items["reference_coherence"].mask(again)
    )


def summarise(
    items: pd.DataFrame,
    *,
    answer_extractor: str = "strict",
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
    answer_extractor : {"strict", "flexible"}
        With ``strict``, a model whose responses mostly lack a marker of the answer makes the light grey.
    threshold : float
        A model passes if its mean final score reaches it; the worst model decides the light.
    max_unscored : float
    seed, n_resamples : int

    Returns
    -------
    Summary
    """
    rows = with_sums(items, threshold=threshold)
    done = estimated_by_model(rows, _of_model(threshold), seed=seed, n_resamples=n_resamples)
    problems = rows.drop_duplicates("id").assign(unscored="", undefined="")
    ceiling = estimate(problems, [CEILING], units=problems["id"], seed=seed, n_resamples=n_resamples)
    lost = {str(m): said for m, own in rows.groupby("model") if (said := unmarked(own))}
    if answer_extractor != "strict":
        lost = {}
    crowded = too_many_unscored(rows, max_unscored)
    estimates = [e for one in done for e in held(one.estimates, crowded or lost.get(_model(one), ""))]
    light = verdict(
        rows,
        done,
        what="Mean final score",
        unit="problems",
        score=_of_model(threshold)[0],
        threshold=threshold,
        max_unscored=max_unscored,
        seed=seed,
        n_resamples=n_resamples,
        held_back="; ".join(f"{name}: {said}" for name, said in lost.items()),
    )
    return Summary((*estimates, *ceiling.estimates), light)


def _model(one: Estimated) -> str:
    return one.estimates[0].group["model"]


def unmarked(items: pd.DataFrame) -> str:
    """What a model's answers are found by, where fewer than half of its responses mark theirs; else empty.

    A response without a marker is wrong; a marker that most lack says that the marker does not suit the responses.
    """
    marked = items["marked"].dropna()
    if marked.empty or marked.mean() >= LEAST_MARKED:
        return ""
    return f"{int(marked.sum())} of {len(marked)} responses mark their final answer ({found(items)})"


def found(items: pd.DataFrame) -> str:
    """How many right answers each extractor finds."""
    n = int(items["answer_strict"].notna().sum())
    strict, flexible = int(items["answer_strict"].sum()), int(items["answer_flexible"].sum())
    return f"right answers: strict extraction finds {strict} of {n}, flexible finds {flexible} of {n}"
