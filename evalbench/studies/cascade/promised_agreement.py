"""Stage 9 with a promise: a cheap judge, then a strong one, then people, by how sure each judge is.

How sure is enough is set on the labelled questions that reach the stage, so that judges agree with people on a promised share of what
they decide (:mod:`evalbench.core.escalation`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.judge.criteria import Criterion
from evalbench.judge.pairwise import ORDERS, pairwise
from evalbench.judge.rows import Judgement, Judgements
from evalbench.judge.verdicts import judge_name
from evalbench.studies.cascade import state
from evalbench.studies.cascade.pairs import in_order, item_of, task_of

PEOPLE = "people"
LIKELIEST = 10
"""So many likeliest tokens are asked for at each place of a reply: the probability of a verdict is how sure a judge is."""
_SAYS: Mapping[str, Mapping[str, state.Outcome]] = {
    "ab": {"FIRST": "a", "SECOND": "b", "TIE": "tie"},
    "ba": {"FIRST": "b", "SECOND": "a", "TIE": "tie"},
}


class Said(NamedTuple):
    """What a judge says of a pair in both orders together, and how sure it is; NaN where an order has no verdict."""

    outcome: state.Outcome
    confidence: float
    reason: str = ""
    unscored: tuple[str, str] = ("", "")


class Escalated(NamedTuple):
    """How the pairs went from judge to judge.

    - ``judges``: The cheapest first.
    - ``n_labelled``: Labelled pairs, of which every judge was asked.
    - ``asked``, ``decided``: Pairs, by judge, and last people: for these what was left.
    - ``calls``: By judge.
    - ``costs``: By judge; NaN where a price is not known.
    """

    judges: tuple[str, ...]
    found: core.escalation.Escalation
    n_labelled: int
    asked: tuple[int, ...]
    decided: tuple[int, ...]
    calls: tuple[int, ...]
    costs: tuple[float, ...]
    promise: float
    delta: float

    def tables(self) -> dict[str, pd.DataFrame]:
        """``escalation`` and ``escalation_steps``, for ``Result.tables``."""
        return {"escalation": self._judges(), "escalation_steps": self._steps()}

    def _judges(self) -> pd.DataFrame:
        """One row a judge, and last people: the confidence needed, pairs asked about and decided, calls, cost."""
        needed = self.found.thresholds or (math.nan,) * len(self.judges)
        return pd.DataFrame(
            {
                "judge": [*self.judges, PEOPLE],
                "confidence_needed": [*needed, math.nan],
                "asked": self.asked,
                "decided": self.decided,
                "calls": [*self.calls, 0],
                "cost": [*self.costs, math.nan],
            }
        )

    def _steps(self) -> pd.DataFrame:
        """One row a confidence that was tried: labelled pairs decided there, disagreements, the bound; which was chosen."""
        levels = {f"confidence_{i}": column for i, column in enumerate(self.found.level.T, 1)}
        table = pd.DataFrame(
            {**levels, "labelled": self.found.n, "errors": self.found.errors, "disagreement_at_most": self.found.upper}
        )
        return table.assign(chosen=[i == self.found.chosen for i in range(len(table))])

    def sentence(self) -> str:
        """The promise, how it is kept, and what it costs."""
        head = f"Promise: judges agree with people on at least {core.percent(self.promise)} of the pairs that they decide, with confidence {core.percent(1 - self.delta)}"
        total = sum(self.decided)
        if self.found.thresholds is None:
            return f"{head}: no confidence keeps it ({self.found.note}), so all {core.counted(total, 'pair')} go on."
        i = self.found.chosen or 0
        coverage = sum(self.decided[:-1])
        of = ", ".join(
            f"{core.wording.count(n)} by {name} (from a confidence of {least:g} on)"
            for name, n, least in zip(self.judges, self.decided, self.found.thresholds, strict=False)
        )
        spent = ", ".join(f"{core.wording.count(n)} of {name}" for name, n in zip(self.judges, self.calls, strict=True))
        return (
            f"{head}, where the labelled ones are a random part: of {core.wording.count(int(self.found.n[i]))} labelled that they decide they disagree on {core.wording.count(int(self.found.errors[i]))}, at most "
            f"{100 * self.found.upper[i]:.1f} % of all. {core.wording.count(coverage)} of {core.counted(total, 'pair')} are decided: {of}; {core.wording.count(self.decided[-1])} go on to "
            f"people. Calls: {spent}, {core.wording.count(self.n_labelled)} labelled pairs asked of each; {self.judges[-1]} alone on every pair: {core.wording.count(2 * total)}."
        )


def by_escalation(cases: Sequence[state.Case], desk: state.Desk, criteria: Sequence[Criterion]) -> state.Found:
    """Pairs decided by the first judge that is sure enough; the rest goes on."""
    given = {judge_name(one): one for one in (desk.judge, desk.strong) if one is not None}
    by = list(given.values())
    promise, delta = desk.options["promise"], desk.options["promise_delta"]
    ordered = in_order(cases, desk.options["seed"])
    said: list[dict[str, Said]] = [{} for _ in by]
    found = state.Found(instrument=" → ".join(map(judge_name, by)))
    spent: list[list[Judgements]] = [[] for _ in by]

    def ask(place: int, some: Sequence[state.Case]) -> None:
        new = [case for case in some if case.id not in said[place]]
        verdicts, heard = verdicts_of(new, by[place], desk, criteria)
        said[place] |= verdicts
        spent[place] += heard
        found.asked.extend(heard)

    labelled = [case for case in ordered if case.people]
    for place in range(len(by)):
        ask(place, labelled)
    sure = np.array([[of[case.id].confidence for of in said] for case in labelled]).reshape(-1, len(by))
    right = np.array([[of[c.id].outcome == c.people.outcome for of in said] for c in labelled if c.people], dtype=float)
    chosen = core.escalation.thresholds_with_promise(
        sure, right.reshape(-1, len(by)), alpha=round(1 - promise, 9), delta=delta
    )
    least = chosen.thresholds or (math.inf,) * len(by)
    left = ordered if chosen.thresholds else []
    for place in range(len(by)):
        ask(place, left)
        left = [case for case in left if not said[place][case.id].confidence >= least[place]]
    known = np.array([[of[c.id].confidence if c.id in of else math.nan for of in said] for c in ordered]).reshape(
        -1, len(by)
    )
    route = core.escalation.routes(known, least)
    for case, place in zip(ordered, route.tolist(), strict=True):
        if place < len(by):
            one = said[place][case.id]
            told = f"{judge_name(by[place])}, confidence {one.confidence:.2f}"
            found.decided[case.id] = state.Decision(
                one.outcome, "sure-enough", ": ".join(filter(None, [told, one.reason]))
            )
        else:
            _left(found, case, [of[case.id] for of in said if case.id in of])
    asked = (
        core.escalation.asked_of(route, len(by))
        if chosen.thresholds
        else np.array([len(labelled)] * len(by) + [len(ordered)])
    )
    decided = [int((route == place).sum()) for place in range(len(by) + 1)]
    found.escalated = Escalated(
        tuple(map(judge_name, by)),
        chosen,
        len(labelled),
        tuple(asked.tolist()),
        tuple(decided),
        tuple(sum(len(one.calls) for one in heard) for heard in spent),
        tuple(_cost(heard) for heard in spent),
        promise,
        delta,
    )
    return found


def _left(found: state.Found, case: state.Case, said: Sequence[Said]) -> None:
    failed = [one.unscored for one in said if one.unscored[0]]
    if said and len(failed) == len(said):
        found.failed[case.id] = failed[-1]
    else:
        found.equal[case.id] = "no judge is sure enough"


def _cost(heard: Sequence[Judgements]) -> float:
    costs = [
        float(one.calls["cost"].sum(skipna=False)) if "cost" in one.calls else math.nan
        for one in heard
        if len(one.calls)
    ]
    return sum(costs) if costs else 0.0


def verdicts_of(
    cases: Sequence[state.Case], by: state.By, desk: state.Desk, criteria: Sequence[Criterion]
) -> tuple[dict[str, Said], list[Judgements]]:
    """What a judge says of pairs, asked in both orders."""
    found: dict[str, Said] = {}
    heard = []
    for lang, part in state.by_language(cases, ["pairwise"], desk.prompt).items():
        settings = {**desk.settings, "logprobs": LIKELIEST}
        told: dict[str, Any] = {"task": task_of(criteria), "language": lang, "prompt": desk.prompt, **settings}
        pairs = pairwise([item_of(case) for case in part], by=by, **told)
        heard.append(pairs.asked)
        rows = {row.id: row for row in pairs.asked.rows if row.sample == 0}
        for case in part:
            found[case.id] = together({order: rows[f"{case.id}/{order}"] for order in ORDERS})
    return found, heard


def together(rows: Mapping[str, Judgement]) -> Said:
    """Both orders as one verdict: the outcome that is likeliest on average over them, a tie where two are; its mean probability.

    A verdict without probabilities has 1 for what it says.

    Examples
    --------
    >>> one = {"ab": Judgement(id="1/ab", label="FIRST", probabilities=(0.9, 0.1, 0.0)), "ba": Judgement(id="1/ba", label="SECOND")}
    >>> together(one)[:2]
    ('a', 0.95)
    >>> together({"ab": Judgement(id="1/ab", label="FIRST"), "ba": Judgement(id="1/ba", label="FIRST")})[:2]
    ('tie', 0.0)
    """
    missing = next((row for row in rows.values() if row.unscored), None)
    if missing is not None:
        return Said("tie", math.nan, unscored=(missing.unscored, missing.detail))
    mean: dict[state.Outcome, float] = {"a": 0.0, "b": 0.0, "tie": 0.0}
    for order, row in rows.items():
        names = list(_SAYS[order])
        likely = row.probabilities or tuple(float(name == row.label) for name in names)
        total = sum(likely) or 1.0
        for name, p in zip(names, likely, strict=True):
            mean[_SAYS[order][name]] += p / total / len(rows)
    best = max(mean.values())
    first = [outcome for outcome, p in mean.items() if p >= best - 1e-12]
    outcome = first[0] if len(first) == 1 else "tie"
    reason = next(filter(None, (row.reason for row in rows.values())), "")
    return Said(outcome, min(1.0, mean[outcome]), reason)
