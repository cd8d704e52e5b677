"""The cascade beside what it spares: a strong judge who compares every pair in both orders, where its verdicts are recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from evalbench.judge.verdicts import Recording
from evalbench.studies.cascade import pairs, stages, state, stopping_early, summary

CASCADE, ALL = "the cascade", "every pair, both orders"


def beside(
    items: pd.DataFrame,
    cases: Sequence[state.Case],
    setting: stages.Setting,
    *,
    margin: float,
    seed: int,
    n_resamples: int,
) -> pd.DataFrame | None:
    """Verdict, figures and calls of the cascade and of asking about every pair.

    Returns: Two rows; None where the judge of pairs is not recorded, or lacks a pair: asking would cost what the
    cascade spares.
    """
    if not isinstance(setting.desk.strong, Recording) or not cases:
        return None
    found = pairs.by_pairs(cases, setting.desk, setting.criteria)
    if found.failed:
        return None
    score = {
        case.id: state.SCORES[found.decided[case.id].outcome] if case.id in found.decided else 0.0 for case in cases
    }
    whole = items.assign(advantage=[score.get(name, math.nan) for name in items["id"]])
    names = summary.names_of(items)
    rows, stopped = [], stopping_early.stopped_of(items, setting.options["stop_batch"])
    for what, frame, calls in ((CASCADE, items, items["calls"].sum()), (ALL, whole, found.n_calls)):
        one = summary.tested(frame, "advantage", margin=margin, seed=seed, n_resamples=n_resamples)
        if what == CASCADE and stopped is not None:
            one = stopping_early.by_evidence(one, stopped, margin)
        counts = {f"{side}_won": int((frame["advantage"] == value).sum()) for side, value in (("a", 1), ("b", -1))}
        rows.append(
            {
                "asked": what,
                "verdict": summary.outcome_words(one.outcome, *names),
                "advantage": math.nan if one.difference is None else one.difference,
                "ci_low": math.nan if one.ci_low is None else one.ci_low,
                "ci_high": math.nan if one.ci_high is None else one.ci_high,
                "p": math.nan if one.p is None else one.p,
                **counts,
                "ties": int((frame["advantage"] == 0).sum()),
                "calls": int(calls),
            }
        )
    return pd.DataFrame(rows)
