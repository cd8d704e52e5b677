"""Sessions to headline figures and their light, and the same week by week, each against all other weeks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit

ALPHA = 0.05
FEWEST = 10
"""Weeks of fewer sessions are not tested."""

ORIENTATIONS = ("goal", "discussion")
ORIENTATION = "goal"
SHORT, LONG = 3.0, 5.0
LEAST = 10
"""Of fewer sessions, or resolved ones, the mean has no light."""
RESOLVED_FLOOR = 0.5
"""Where fewer sessions with a goal were resolved, the light is at best yellow."""
_BETWEEN = core.verdict.Band("yellow", SHORT, LONG, high_closed=True)
# As the document prints them: 3 and 5 themselves are yellow, whatever the sessions are for.
DOCUMENT: Mapping[str, core.verdict.Bands] = {
    "goal": core.verdict.Bands(
        (core.verdict.Band("green", high=SHORT), _BETWEEN, core.verdict.Band("red", LONG, low_closed=False))
    ),
    "discussion": core.verdict.Bands(
        (core.verdict.Band("red", high=SHORT), _BETWEEN, core.verdict.Band("green", LONG, low_closed=False))
    ),
}


def rules_of(orientation: str, lights: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """The checked thresholds that were stated.

    Raises ``BadInput``: Lists thresholds that are no rule, and figures that have none.

    Examples
    --------
    >>> rules_of("goal", {"answers": {"green_to": 4, "yellow_to": 6}})
    {'answers': {'green_to': 4, 'yellow_to': 6}}
    """
    return kit.rules.rules_of(lights, kit.rules.figures_of(_figures(orientation), "answers"))


def _figures(orientation: str) -> tuple[core.Measure, ...]:
    longer = orientation == "discussion"
    answers: dict[str, Any] = {"unit": "answers", "worst": 0.0 if longer else None}
    return (
        core.mean_of("answers", title="answers per session", higher_is_better=longer, undefined="no session has an answer", **answers),
        core.share_of("resolved", title="share of resolved sessions", undefined="it is not known how any session ended"),
        core.mean_of(
            "answers_resolved", title="answers per resolved session", higher_is_better=longer,
            undefined="no session was resolved", **answers,
        ),
        core.mean_of(
            "answers_abandoned", title="answers per abandoned session", higher_is_better=None, unit="answers", worst=None,
            undefined="no session was abandoned",
        ),
    )  # fmt: skip


def measures(
    orientation: str = ORIENTATION, lights: Mapping[str, Mapping[str, float]] = {}
) -> tuple[core.Measure, ...]:
    """The headline figures with their lights.

    Of sessions with a goal the rule of all sessions holds for the resolved ones too: those that were given up make the mean
    shorter, and must not make it green.
    """
    rules = rules_of(orientation, lights)
    lit = ("answers", "answers_resolved") if orientation == "goal" else ("answers",)
    found = []
    for measure in _figures(orientation):
        name = measure.metric
        rule = rules.get(name) or (rules.get("answers", {}) if name in lit else {})
        bands = kit.verdicts.bands_of(rule, higher_is_better=measure.higher_is_better is not False)
        bands = bands or (DOCUMENT[orientation] if name in lit else None)
        found.append(replace(measure, bands=bands, least_units=1 if name == "answers_resolved" else LEAST))
    return tuple(found)


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    checks.choices(orientation=ORIENTATIONS)
    checks.share("resolved_floor")
    if checks.options["orientation"] in ORIENTATIONS:
        checks.tried(lambda: rules_of(checks.options["orientation"], checks.options["lights"]))


@kit.slicing.sliced("session_id", measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    orientation: str = ORIENTATION,
    lights: Mapping[str, Mapping[str, float]] = {},
    resolved_floor: float = RESOLVED_FLOOR,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """The figures of every model and the verdict; options as of ``evaluate``."""
    known = bool(items["resolved"].notna().any())
    own = measures(orientation, lights)
    found = kit.worst_group(
        items,
        own if known else own[:1],
        "model",
        over=core.counted(items["session_id"].nunique(), "session"),
        headline="resolved" if known and orientation == "goal" else "",
        floor=resolved_floor if known and orientation == "goal" else 0.0,
        remark=f"{outcome(items) if known else NO_OUTCOME[orientation]} {ASSUMED[orientation]}",
        held_back=lambda e: _few_resolved(e) or (_unknown_ends(e, items, max_unscored) if known else ""),
        max_unscored=max_unscored,
        units="session_id",
        seed=seed,
        n_resamples=n_resamples,
    )
    said, decided = found.verdict.sentence, (found.verdict.decided_by or {}).get("metric", "")
    if decided == "answers_resolved":
        said = re.sub(r" have no value\.", " were not resolved, or their end is not known.", said, count=1)
    return replace(found, verdict=replace(found.verdict, sentence=f"{said[:1].upper()}{said[1:]}"))


def compared_of(
    items: pd.DataFrame, orientation: str, max_unscored: float
) -> tuple[pd.DataFrame, tuple[core.Measure, ...], list[core.Note]]:
    """What models are compared on: their items, the figures, and who is left out.

    Where it is known how sessions with a goal ended, short ones may have been given up: then the length of all has no
    better side, and the resolved ones and their share are compared too, without models of whose sessions it is not known.
    """
    answers, resolved, of_resolved, _ = measures(orientation)
    unknown = items[items["unscored"] == ""].groupby("model")["resolved"].agg(lambda ends: ends.isna().mean())
    dark = [str(model) for model, share in unknown.items() if share > max_unscored]
    if orientation != ORIENTATION or len(dark) == len(unknown):
        return items, (answers,), []
    said = [
        core.Note("absent", f"how sessions ended is not known of {' and '.join(dark)}, not compared with other models")
    ]
    own = items[~items["model"].isin(dark)]
    return own, (of_resolved, resolved, replace(answers, higher_is_better=None)), said if dark else []


def _few_resolved(e: core.Estimate) -> str:
    """Why the light of resolved sessions is held back: a few that were resolved say little of how long it takes."""
    if e.metric != "answers_resolved" or e.value is None or e.n >= LEAST:
        return ""
    which = "1 session was" if e.n == 1 else f"{e.n} sessions were"
    return f"Only {which} resolved, fewer than {LEAST}"


def _unknown_ends(e: core.Estimate, items: pd.DataFrame, max_unscored: float) -> str:
    """Why the lights of resolved sessions are held back: of too many sessions it is not known how they ended."""
    if e.metric not in ("resolved", "answers_resolved"):
        return ""
    own = items[(items["model"] == e.group.get("model", "")) & (items["unscored"] == "")]["resolved"]
    unknown = int(own.isna().sum())
    if unknown <= max_unscored * len(own):
        return ""
    return f"How {unknown} of {core.counted(len(own), 'session')} ended is not known"


ASSUMED = {
    "goal": "Judged as sessions with a goal, where fewer answers are better; orientation=discussion judges the other way round.",
    "discussion": "Judged as discussions, where more answers are better; orientation=goal judges the other way round.",
}
NO_OUTCOME = {
    "goal": "Which sessions were resolved is not known, so a short one may have been given up.",
    "discussion": "Which sessions were resolved is not known.",
}


def outcome(items: pd.DataFrame) -> str:
    """How long resolved and abandoned sessions are, a sentence."""
    share = items["resolved"].mean()
    means = {how: items[f"answers_{how}"].mean() for how in ("resolved", "abandoned")}
    said = [f"{how} sessions {mean:.2f}" for how, mean in means.items() if mean == mean]
    unknown = int((items["resolved"].isna() & (items["unscored"] == "")).sum())
    beside = f", {unknown} of unknown end" if unknown else ""
    return f"On average {', '.join(said)} ({core.percent(share)} resolved{beside})."


def weeks_of(items: pd.DataFrame, orientation: str, lights: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """One row per model and week.

    - ``items``: ``model``, ``week`` and ``answers``; sessions without a date or an answer are left out.
    - ``orientation``, ``lights``: Of the light of each week.

    Returns: ``model, week, n, mean, low, high, light``, ``difference`` from the mean of the model's other weeks, and
    ``p_holm``: as large a difference under a random deal of the model's sessions to its weeks (normal approximation),
    Holm over all rows. Intervals are Student's, of two sessions and more; weeks of fewer than ten sessions are not
    tested.
    """
    from scipy import stats

    known = items[(items["week"] != "") & items["answers"].notna()]
    if known.empty:
        return pd.DataFrame()
    # Whole numbers: the sums are exact in any order.
    squared = known.assign(squared=known["answers"] ** 2)
    table = squared.groupby(["model", "week"], sort=True).agg(
        n=("answers", "size"), total=("answers", "sum"), squares=("squared", "sum")
    ).reset_index()  # fmt: skip
    whole = table.groupby("model")[["n", "total", "squares"]].transform("sum")
    n, mean, variance = _moments(table)
    others, others_mean, _ = _moments(whole - table[["n", "total", "squares"]])
    _, _, all_variance = _moments(whole)
    with np.errstate(all="ignore"):
        half = stats.t.ppf(0.975, n - 1) * np.sqrt(variance / n)
        spread = np.sqrt(all_variance * (1 / n + 1 / others))
        p = np.where(n >= FEWEST, 2 * stats.norm.sf(np.abs(mean - others_mean) / spread), np.nan)
    adjusted = np.full(len(p), np.nan)
    adjusted[np.isfinite(p)] = core.significance.holm(p[np.isfinite(p)])
    bands = measures(orientation, lights)[0].bands
    return pd.DataFrame(
        {
            "model": table["model"],
            "week": table["week"],
            "n": table["n"],
            "mean": mean,
            "low": np.maximum(mean - half, 0),
            "high": mean + half,
            "light": bands.lights(mean) if bands else "unlit",
            "difference": mean - others_mean,
            "p_holm": adjusted,
        }
    )


def _moments(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number, mean and variance out of sums; NaN where there are too few."""
    n, total, squares = (table[name].to_numpy(float) for name in ("n", "total", "squares"))
    with np.errstate(all="ignore"):
        mean = np.where(n > 0, total / n, np.nan)
        variance = np.where(n > 1, np.maximum(squares - n * mean**2, 0) / (n - 1), np.nan)
    return n, mean, variance
