"""Items to headline figures, verdict and its sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.measures import Measure, mean_of, ratio, share_of
from evalbench.core.result import Summary
from evalbench.studies._passing import (
    bands_of,
    estimated_by_model,
    held,
    held_back_by,
    reaches,
    too_many_unscored,
    verdict,
)

if TYPE_CHECKING:
    import pandas as pd

UNITS = "answers"
NO_GOLD = "there is no right answer to compare with"


def measures(threshold: float) -> tuple[Measure, ...]:
    """The figures of one model."""
    cited = {"undefined": "nothing was cited"}
    return (
        mean_of("final", bands=bands_of(threshold)),
        share_of("passed"),
        mean_of("interpretability"),
        mean_of("correctness", undefined=NO_GOLD),
        mean_of("support", undefined="no text of any source is at hand"),
        mean_of("verification", undefined="no citation has a quote to look for in a supplied source"),
        mean_of("alce_recall", "citation recall (ALCE)", undefined="no statement"),
        mean_of("alce_precision", "citation precision (ALCE)", **cited),
        Measure(
            "fabricated citations",
            ("n_fabricated", "n_checked"),
            ratio,
            higher_is_better=False,
            undefined="no source or quote could be checked",
        ),
        mean_of("claim_consistency_seed", worst=None, **cited),
        mean_of("source_credibility", worst=None, **cited),
        share_of("uncited", "answers without a citation", higher_is_better=False),
        Measure("marks without an entry", ("n_dangling",), np.asarray, unit="marks", higher_is_better=False),
        Measure("entries never cited", ("n_unmarked",), np.asarray, unit="entries", higher_is_better=False),
    )


def with_sums(items: pd.DataFrame, *, threshold: float = 0.8) -> pd.DataFrame:
    """The items with what the figures sum beside their columns: who passed, who cited nothing.

    An answer none of whose citations could be checked is not one that fabricates nothing: it is undefined there.
    """
    uncited = (items["n_citations"] == 0).astype(float).where(items["unscored"] == "")
    checked = items["n_checked"].where(items["n_checked"] > 0)
    return items.assign(passed=reaches(items["final"], threshold), uncited=uncited, n_checked=checked)


def summarise(
    items: pd.DataFrame,
    *,
    threshold: float = 0.8,
    max_unscored: float = 0.05,
    judge: str = "baseline/lexical",
    seed: int = 0,
    n_resamples: int = 2000,
) -> Summary:
    """Headline figures per model and the verdict.

    Parameters
    ----------
    items : DataFrame
        One row per answer.
    threshold : float
        A model passes if its mean final score reaches it; the worst model decides the light.
    max_unscored : float
    judge : str
        Who judged: on ``baseline/lexical`` the light stays grey.
    seed, n_resamples : int

    Returns
    -------
    Summary
    """
    rows = with_sums(items, threshold=threshold)
    done = estimated_by_model(rows, measures(threshold), seed=seed, n_resamples=n_resamples)
    light = verdict(
        rows,
        done,
        what="Mean final score",
        unit=UNITS,
        score=measures(threshold)[0],
        threshold=threshold,
        max_unscored=max_unscored,
        seed=seed,
        n_resamples=n_resamples,
        held_back=held_back_by(judge),
    )
    light = replace(light, sentence=light.sentence + _without_gold(items))
    why = held_back_by(judge) or too_many_unscored(rows, max_unscored)
    return Summary(held((e for one in done for e in one.estimates), why), light)


def _without_gold(items: pd.DataFrame) -> str:
    scored = items["unscored"] == ""
    n = int((items["correctness"].isna() & scored).sum())
    if not n:
        return ""
    which = "All answers" if n == scored.sum() else f"{n} of {scored.sum()} answers"
    return f" {which} have no right answer to compare with: the final score is interpretability there."
