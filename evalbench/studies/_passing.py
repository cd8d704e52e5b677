"""The pass mark of the explainability studies: a mean score reaches a threshold or it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evalbench.core.measures import Estimated, Measure, estimate
from evalbench.core.result import Estimate, decisive
from evalbench.core.stability import Lit, joint_stability
from evalbench.core.stats import of_few
from evalbench.core.unscored import counted
from evalbench.core.verdict import Band, Bands, Verdict, worst
from evalbench.core.wording import counted as counted_of
from evalbench.core.wording import estimate_text, percent, share_text
from evalbench.errors import BadInput
from evalbench.judge.entail import holds_back

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9
"""A mean that misses the threshold by less than this misses it by floating point."""


def bands_of(threshold: float) -> Bands:
    """Green from the threshold on, red below: the seed's pass and fail."""
    return Bands((Band("red", high=threshold - ROUNDING), Band("green", low=threshold - ROUNDING)))


def reaches(scores: pd.Series, threshold: float | pd.Series) -> pd.Series:
    """1 where a score reaches the threshold, 0 where not, NaN where there is none."""
    return (scores >= threshold - ROUNDING).astype(float).where(scores.notna())


def check_shares(**shares: float) -> None:
    """Refuses options that do not lie between 0 and 1, all at once."""
    faults = [f"{name} is {value}; it lies between 0 and 1" for name, value in shares.items() if not 0 <= value <= 1]
    if faults:
        raise BadInput.listing("options out of range:", faults)


def check_together(*checks: Callable[[], object]) -> None:
    """Refuses what any of several checks of options refuses, in one message; a single refusal keeps its own."""
    refused = []
    for check in checks:
        try:
            check()
        except BadInput as error:
            refused.append(str(error))
    if len(refused) == 1:
        raise BadInput(refused[0])
    if refused:
        faults = [line.removeprefix("  - ") for said in refused for line in _listed(said)]
        raise BadInput.listing("options that cannot be taken:", faults)


def _listed(message: str) -> list[str]:
    """The lines of a message's list, or the message."""
    head, *lines = message.split("\n")
    return lines or [head]


def check_resamples(n_resamples: int) -> None:
    """Refuses a number of resamples that gives no interval."""
    if n_resamples < 2:
        raise BadInput(f"n_resamples is {n_resamples}; at least 2")


def estimated_by_model(
    items: pd.DataFrame, measures: Sequence[Measure], *, seed: int, n_resamples: int
) -> list[Estimated]:
    """The figures of each model over its items, whose ``id`` is the unit; models in order of their names."""
    return [
        estimate(rows, measures, units=rows["id"], seed=seed, group={"model": str(model)}, n_resamples=n_resamples)
        for model, rows in items.groupby("model", sort=True)
    ]


def held(estimates: Iterable[Estimate], held_back: str) -> tuple[Estimate, ...]:
    """Estimates whose lights are grey where something holds the verdict back."""
    return tuple(replace(e, light="grey") if held_back and e.light != "unlit" else e for e in estimates)


def held_back_by(judge: str) -> str:
    """Why a verdict that rests on this judge is at best grey; empty where nothing holds it back."""
    return f"The judge of the citations is {judge}, which compares words" if holds_back(judge) else ""


def too_many_unscored(items: pd.DataFrame, max_unscored: float) -> str:
    """Why so many items without a score give no light; empty where few enough are unscored."""
    if int((items["unscored"] != "").sum()) <= max_unscored * len(items):
        return ""
    return f"That is more than {percent(max_unscored, [max_unscored])}: not enough evidence for a light."


def verdict(
    items: pd.DataFrame,
    done: Sequence[Estimated],
    *,
    what: str,
    unit: str,
    score: Measure,
    threshold: float,
    max_unscored: float,
    seed: int,
    n_resamples: int,
    held_back: str = "",
) -> Verdict:
    """The light of several models, the worst of which decides.

    Parameters
    ----------
    items : DataFrame
        Columns ``id``, ``model``, ``unscored``, ``undefined`` and what the score sums.
    done : sequence of Estimated
        One per model; its first figure is the score, its second the share passed.
    what, unit : str
        The score and the items, in words.
    score : Measure
        The first of the figures, with its bands.
    threshold, max_unscored : float
    seed, n_resamples : int
        Of the light's stability.
    held_back : str
        Why the verdict is at best grey; empty where nothing holds it back.
    """
    scores = [one.estimates[0] for one in done]
    light = worst([e.light for e in scores])
    said = "; ".join(_said(one, done) for one in sorted(done, key=_value))
    over = counted_of(items["id"].nunique(), unit.removesuffix("s"))
    sentence = f"{what} {said}; {over}, threshold {threshold:g}.{of_few(e.n for e in scores if e.value is not None)}"
    unscored = int((items["unscored"] != "").sum())
    if unscored:
        sentence += f" {unscored} of {len(items)} could not be scored ({counted(items['unscored'])})."
    too_many = too_many_unscored(items, max_unscored)
    if too_many:
        sentence += f" {too_many}"
    without = items["undefined"][items[scores[0].metric].isna() & (items["unscored"] == "")]
    if len(without):
        sentence += f" {len(without)} of {len(items)} have no value ({counted(without)})."
    if held_back:
        alone = "" if light == "grey" else f"; the figures alone would give {light}"
        sentence += f" {held_back}, so the light stays grey{alone}."
    rule = f"{what[:1].lower()}{what[1:]}, the worst model decides: green ≥ {threshold:g}; red < {threshold:g}"
    shown = "grey" if too_many or held_back else light
    return Verdict(
        shown,
        sentence,
        rule,
        joint_stability(
            [Lit(rows, rows["id"], score) for _, rows in items.groupby("model", sort=True)],
            light,
            seed=seed,
            n_resamples=n_resamples,
        ),
        None if shown == light else light,
        decisive(scores).place,
    )


def _value(one: Estimated) -> float:
    value = one.estimates[0].value
    return -1.0 if value is None else value


def _said(one: Estimated, done: Sequence[Estimated]) -> str:
    score, passed = one.estimates[:2]
    name = next(iter(score.group.values()), "")
    if score.value is None:
        return f"has no value ({name})"
    rows = [e for each in done for e in each.estimates[:2]]
    return f"{estimate_text(score, rows)} ({name}, {share_text(passed, rows)} passed)"
