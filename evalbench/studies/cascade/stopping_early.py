"""Stage 9 until the evidence decides: questions in an order of the seed, looked at after each batch.

The order is drawn over all questions before the first call.  What an earlier stage decided enters the evidence at its place without
a call; a pair that reaches stage 9 is asked when its turn comes.  The questions up to the stop are then a random part of all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.cascade import state

SIGNED = ("advantage", "low", "high")


def plan_of(names: Sequence[str], options: Mapping[str, Any]) -> kit.stopping.Plan:
    """The order of all questions, and when the evidence is looked at."""
    return kit.stopping.Plan.drawn(names, seed=options["seed"], batch=options["stop_batch"])


def until_decided(
    cases: Sequence[state.Case],
    plan: kit.stopping.Plan,
    decided: Mapping[str, tuple[int, state.Decision]],
    ask: Callable[[Sequence[state.Case]], state.Found],
    beside: Mapping[str, Any],
) -> state.Found:
    """What asking the pairs finds until it is decided which model is better.

    - ``cases``: That reach the stage.
    - ``decided`` (mapping of str to (int, Decision)): What earlier stages decided; a question that they set aside has
      no outcome.
    - ``ask``: The stage, on some of the cases.
    - ``beside``: What else ``plan.json`` holds.
    """
    waiting = {case.id: case for case in cases}
    found = state.Found()

    def outcomes(ids: Sequence[str]) -> list[float]:
        part = [waiting[name] for name in ids if name in waiting]
        if part:
            found.add(ask(part))
        known = {name: state.SCORES.get(d.outcome, np.nan) for name, (_, d) in decided.items()}
        known |= {name: state.SCORES.get(d.outcome, np.nan) for name, d in found.decided.items()}
        known |= dict.fromkeys(found.equal, 0.0)
        return [(known.get(name, np.nan) + 1) / 2 for name in ids]

    stopped = kit.stopping.ask_until_decided(plan, outcomes, beside=beside)
    found.stopped = stopped
    found.not_asked = tuple(name for name in stopped.not_asked if name in waiting)
    return found


def stopped_of(items: pd.DataFrame, stop_batch: int) -> kit.stopping.Stopped | None:
    """The evidence out of the items; None where the cascade did not stop early."""
    if kit.early.PLACE not in items:
        return None
    known = until_stop(items)
    return kit.stopping.stopped_at(
        kit.stopping.Plan(tuple(known["id"].astype(str)), batch=stop_batch), known["preference"].to_numpy(float)
    )


def until_stop(items: pd.DataFrame) -> pd.DataFrame:
    """The questions up to the stop, in the order of the plan: a random part of all."""
    return (
        items[items[kit.early.PLACE].notna()].sort_values([kit.early.PLACE, "id"], kind="stable")
        if kit.early.PLACE in items
        else items
    )


def n_not_asked(items: pd.DataFrame) -> int:
    """Questions whose pair was not asked about."""
    return int((items["undefined"] == kit.stopping.NOT_ASKED).sum())


def estimates_of(
    found: Sequence[core.Estimate], items: pd.DataFrame, measures: Sequence[core.Measure], stopped: kit.stopping.Stopped
) -> tuple[core.Estimate, ...]:
    """Estimates over the questions up to the stop, with confidence sequences; the advantage is that of the evidence."""
    first, *others = kit.early.sequenced(found, until_stop(items), measures, ends=dict.fromkeys(SIGNED, (-1.0, 1.0)))
    value, low, high = stopped.interval
    if value is None:
        return (first, *others)
    note = "up to the stop; pairs that the judge of pairs found equal count as ties"
    n = len(stopped.outcomes) - stopped.n_unscored
    method = others[-1].method if first.value is None else first.method
    own = replace(first, value=2 * value - 1, ci_low=2 * low - 1, ci_high=2 * high - 1, n=n, note=note, method=method)
    return (own, *others)


def outcome_of(low: float | None, high: float | None, margin: float) -> Any:
    """What a confidence sequence of the advantage shows.

    Examples
    --------
    >>> outcome_of(0.1, 0.4, 0.0), outcome_of(-0.02, 0.01, 0.05), outcome_of(-0.5, 0.5, 0.05)
    ('better', 'equivalent', 'no difference shown')
    """
    if low is None or high is None:
        return "undefined"
    if margin and -margin < low and high < margin:
        return "equivalent"
    return "better" if low >= 0 < high else "worse" if high <= 0 > low else "no difference shown"


def as_stopped(compared: core.compared.Comparison, e: core.Estimate, margin: float) -> core.compared.Comparison:
    """A comparison whose outcome is that of the confidence sequence; p-values of a fixed number do not hold."""
    return replace(
        compared,
        difference=e.value,
        ci_low=e.ci_low,
        ci_high=e.ci_high,
        outcome=outcome_of(e.ci_low, e.ci_high, margin),
        p=None,
        p_holm=None,
        smallest=None,
    )


def by_evidence(
    compared: core.compared.Comparison, stopped: kit.stopping.Stopped, margin: float
) -> core.compared.Comparison:
    """A comparison of the whole as the evidence has it."""
    value, low, high = stopped.interval
    ends = None if value is None else (2 * value - 1, 2 * low - 1, 2 * high - 1)
    e = core.Estimate(metric="advantage", value=None, note="no outcome")
    return as_stopped(compared, replace(e, value=ends[0], ci_low=ends[1], ci_high=ends[2]) if ends else e, margin)


def said(items: pd.DataFrame, stopped: kit.stopping.Stopped) -> str:
    """After how many questions it was decided, a sentence."""
    head = "Decided" if stopped.decided else "Not decided"
    return (
        f"{head} after {core.wording.count(len(stopped.outcomes))} of {core.counted(len(items), 'question')} in the order of the seed; "
        f"{core.wording.count(n_not_asked(items))} not asked. Advantage and figures are of the questions up to there, a random part of all."
    )


def to_json(stopped: kit.stopping.Stopped, items: pd.DataFrame) -> dict[str, Any]:
    """For ``Result.stopping``."""
    return {**stopped.to_json(), "not_asked": n_not_asked(items), "sentence": said(items, stopped)}


def tables_of(stopped: kit.stopping.Stopped, items: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The path of the evidence, and the questions that were not asked."""
    lacking = items.loc[items["undefined"] == kit.stopping.NOT_ASKED, ["id"]].reset_index(drop=True)
    return {**stopped.tables(), "not_asked": lacking}
