"""Items to headline figures and their verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalbench import core, kit
from evalbench.studies.cascade import naive_checks, people, stages, stopping_early

MARGIN, MIN_AGREEMENT = 0.05, 0.6
NONE_DECIDED = "no question was decided"
OPEN, BY_WORDS, UNSURE_TIES = "open questions could change this", "compares words", "do not show that the two are equal"
"""What is in a reason for a grey light: by these the answer tells the reasons apart."""
LIGHT_OF: Mapping[str, core.verdict.Light] = {
    "better": "green", "equivalent": "green", "same": "green", "worse": "red", "no difference shown": "yellow", "undefined": "grey",
}  # fmt: skip
RULE = (
    "red: B is better (p ≤ 0.05 over the decided questions); green: A is better, the two are equivalent within the margin, or on a par; "
    "grey: the open questions could change that, too many could not be scored, or what decided only compares words and no labels "
    "confirm it; yellow (else)"
)


def measures() -> tuple[core.Measure, ...]:
    """The headline figures of a comparison of A with B."""
    more: dict[str, Any] = {"undefined": NONE_DECIDED}
    ends: dict[str, Any] = {"unit": "−1 to 1", "worst": -1.0}
    return (
        core.mean_of("advantage", title="advantage of A", **ends, **more),
        core.share_of("won_a", title="A is better", **more),
        core.share_of("won_b", title="B is better", higher_is_better=False, **more),
        core.share_of("tied", title="ties", higher_is_better=None, worst=None, **more),
        core.mean_of("low", title="advantage, all open ones for B", **ends, undefined="no question has two answers"),
        core.mean_of("high", title="advantage, all open ones for A", **ends, undefined="no question has two answers"),
        core.share_of("open", title="open questions", higher_is_better=False, undefined="no question has two answers"),
        core.mean_of(
            "quality_a", title="quality of A", undefined="no stage marked both answers of a question", worst=None
        ),
        core.mean_of(
            "quality_b",
            title="quality of B",
            undefined="no stage marked both answers of a question",
            higher_is_better=None,
            worst=None,
        ),
    )


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    checks.share("min_agreement", "margin")
    checks.at_least(1, "stop_batch")


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    margin: float = MARGIN,
    min_agreement: float = MIN_AGREEMENT,
    stop_batch: int = kit.stopping.BATCH,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """The figures and the verdict; options as of ``evaluate``."""
    stopped, known = stopping_early.stopped_of(items, stop_batch), stopping_early.until_stop(items)
    found = core.measures.estimate(known, measures(), units=known["id"], seed=seed, n_resamples=n_resamples).estimates
    found = (_with_width(found[0], known), *found[1:])
    told = {
        column: tested(known, column, margin=margin, seed=seed, n_resamples=n_resamples)
        for column in ("advantage", "low", "high")
    }
    if stopped is not None:
        found = stopping_early.estimates_of(found, items, measures(), stopped)
        told = {e.metric: stopping_early.as_stopped(told[e.metric], e, margin) for e in found if e.metric in told}
    main, par = told["advantage"], on_a_par(items, margin)
    alone: core.verdict.Light = "green" if par else LIGHT_OF[main.outcome]
    turned = [side for side in ("low", "high") if LIGHT_OF[told[side].outcome] != alone and not par]
    n_open = int(np.nansum(items["open"]))
    unscored = int((items["unscored"] != "").sum())
    reasons = []
    if unscored > max_unscored * len(items):
        reasons.append(f"More than {core.percent(max_unscored, [max_unscored])} are unscored")
    if n_open and turned and alone != "grey":
        reasons.append(f"The {OPEN}")
    if par or main.outcome in ("equivalent", "same"):
        reasons += _empty_ties(items, max_unscored)
    reasons += _broken_answers(items)
    if by_words := _unconfirmed(items, min_agreement):
        reasons.append(by_words)
    if kit.evidence.too_few(found[0]):
        decided = core.counted(found[0].n, "question")
        reasons.append(
            f"Only {decided} {'is' if found[0].n == 1 else 'are'} decided and a light needs {core.stats.FEW_UNITS}"
        )
    light: core.verdict.Light = "grey" if reasons else alone
    estimates = (_lit(found[0], light, reasons), *found[1:])
    verdict = core.verdict.Verdict(
        light=light,
        sentence=sentence(items, main, told, estimates, reasons, alone, margin, stopped),
        rule=RULE,
        stability=None if stopped else _stability(items, alone, margin, seed=seed, n_resamples=n_resamples),
        would_be=alone if reasons and alone != "grey" else None,
        decided_by={"metric": "advantage"},
    )
    return core.Summary(estimates, verdict)


def tested(items: pd.DataFrame, column: str, *, margin: float, seed: int, n_resamples: int) -> core.compared.Comparison:
    """A against B over a column of −1, 0 and 1: paired test by swapping the two, interval, smallest difference that could be shown."""
    score = items[column].to_numpy(float)
    more = {name: items[name] for name in ("cluster",) if name in items}
    a, b = ({"score": sign * score / 2, **more} for sign in (1, -1))
    compared = core.comparison.compare_measures(
        a,
        b,
        [core.mean_of("score", title="advantage", unit="−1 to 1")],
        units_a=items["id"],
        units_b=items["id"],
        seed=seed,
        margins={"score": margin} if margin else None,
        n_resamples=max(2, n_resamples),
    )
    return compared.comparisons[0]


def _with_width(e: core.Estimate, items: pd.DataFrame) -> core.Estimate:
    """The advantage with an interval that has a width, also where all questions have one outcome."""
    if e.value is None or e.ci_low is None or e.ci_low != e.ci_high:
        return e
    units = items["cluster" if "cluster" in items else "id"].to_numpy()
    found = core.bounded.bounded_mean(items["advantage"].to_numpy(float), low=-1.0, units=units, n_resamples=200)
    return replace(e, ci_low=found.ci_low, ci_high=found.ci_high, method=found.method, note="")


def on_a_par(items: pd.DataFrame, margin: float) -> bool:
    """Whether so few questions are open, won or lost that losing all of them would stay within the margin."""
    known = items[items["open"].notna()]
    return bool(len(known) and not stopping_early.n_not_asked(items) and ((known["advantage"] != 0).mean() < margin))


def _lit(e: core.Estimate, light: core.verdict.Light, reasons: list[str]) -> core.Estimate:
    note = "; ".join(filter(None, [e.note, *(reasons if e.value is not None else [])]))
    return replace(e, light=light, note=note)


def _unconfirmed(items: pd.DataFrame, min_agreement: float) -> str:
    """Why what rests on a comparison of words is not enough; empty where people's labels confirm it."""
    own = items[(items["by_words"] == 1) & items["advantage"].notna()]
    if own.empty:
        return ""
    checked = own[own["people"].notna()]
    agreed = int((checked["people"] == checked["advantage"]).sum())
    low, high = (float(end) for end in core.stats.wilson(agreed, len(checked)))
    share = agreed / len(checked) if len(checked) else None
    if kit.evidence.gate("agreement", share, low, high, len(checked), threshold=min_agreement).allowed:
        return ""
    said = f"labels agree on {agreed} of {len(checked)}" if len(checked) else "no label checks them"
    return f"The outcome of {core.counted(len(own), 'question')} rests on baseline/lexical, which {BY_WORDS} ({said})"


def _empty_ties(items: pd.DataFrame, most: float) -> list[str]:
    """Why too many ties do not show that the two are equal; nothing where few are of that kind."""
    words = {
        naive_checks.BOTH_FAILED: "both answers failed a naive check",
        people.DIVIDED: "annotators disagree on which is better",
    }
    n_of = {label: int((items["label"] == label).sum()) for label in words}
    ties = int((items["outcome"] == "tie").sum())
    if sum(n_of.values()) <= most * len(items):
        return []
    why = " and ".join(f"{words[label]} on {n}" for label, n in n_of.items() if n)
    return [f"Of {core.counted(ties, 'tie')} some {UNSURE_TIES}: {why}"]


def _broken_answers(items: pd.DataFrame) -> list[str]:
    """Why a comparison with a model that mostly gave no answer says nothing of the two; nothing where few lack one."""
    n_of = {
        name: int(items.get(f"broken_{side}", pd.Series(0, items.index)).sum())
        for side, name in zip("ab", names_of(items), strict=True)
    }
    return [
        f"{n} of {core.counted(len(items), 'answer')} of {name} are empty or errors of an endpoint"
        for name, n in n_of.items()
        if n > len(items) / 2
    ]


class Names(NamedTuple):
    """What the two models are called."""

    a: str
    b: str


def names_of(items: pd.DataFrame) -> Names:
    return Names(*(str(items[f"model_{side}"].iloc[0]) if len(items) else side.upper() for side in ("a", "b")))


def sentence(
    items: pd.DataFrame,
    main: core.compared.Comparison,
    told: Mapping[str, core.compared.Comparison],
    estimates: tuple[core.Estimate, ...],
    reasons: list[str],
    alone: core.verdict.Light,
    margin: float,
    stopped: kit.stopping.Stopped | None = None,
) -> str:
    """The verdict in words, with its figures."""
    a, b = names_of(items)
    lost = kit.verdicts.left_out(items)
    decided = items[items["advantage"].notna()]
    if decided.empty:
        waiting = int(np.nansum(items["open"]))
        left = f" {core.counted(waiting, 'question')} {'is' if waiting == 1 else 'are'} open." if waiting else ""
        return f"No question was decided, so nothing can be said of {a} and {b}.{left}{lost}"
    won, beaten, ties = (int((decided["outcome"] == outcome).sum()) for outcome in ("a", "b", "tie"))
    what = {
        "better": f"{a} is better than {b}",
        "worse": f"{a} is worse than {b}",
        "equivalent": f"{a} and {b} are equivalent",
        "same": f"{a} and {b} are the same",
    }.get(main.outcome, f"No difference is shown between {a} and {b}")
    if on_a_par(items, margin):
        what = f"{a} and {b} are on a par, since they differ on fewer than {core.percent(margin, [margin])} of all questions"
    advantage = f", advantage {core.wording.estimate_text(estimates[0], estimates)}"
    p = f", p {core.wording.p_equals(main.p)}" if main.p is not None else ""
    shown = _could_show(main)
    out = f"{what}: {won} won, {beaten} lost, {ties} tied of {core.counted(len(decided), 'decided question')}{advantage}{p}{shown}."
    n_open = int(np.nansum(items["open"]))
    if n_open:
        low, high = (outcome_words(told[side].outcome, a, b) for side in ("low", "high"))
        out += f" {core.counted(n_open, 'question')} {'is' if n_open == 1 else 'are'} open: with all for {b}, {low}; with all for {a}, {high}."
    free = int((decided["calls"] == 0).sum())
    calls = int(np.nansum(items["calls"]))
    out += f" {free} of {len(decided)} were decided without a call; {core.counted(calls, 'call')} where every pair in both orders takes {stages.PER_PAIR * int(items['calls'].notna().sum())}."
    held = (
        f" {'. '.join(reasons)}, so the light stays grey{'' if alone == 'grey' else f'; the figures alone would give {alone}'}."
        if reasons
        else ""
    )
    early_on = f" {stopping_early.said(items, stopped)}" if stopped else ""
    return f"{out}{early_on}{lost}{held}"


def outcome_words(outcome: str, a: str, b: str) -> str:
    """An outcome of A against B, a clause.

    Examples
    --------
    >>> outcome_words("worse", "fern", "oak"), outcome_words("no difference shown", "fern", "oak")
    ('oak is better', 'no difference is shown')
    """
    return {
        "better": f"{a} is better",
        "worse": f"{b} is better",
        "equivalent": "they are equivalent",
        "same": "they are the same",
    }.get(outcome, "no difference is shown")


def _could_show(main: core.compared.Comparison) -> str:
    """What held a difference back, and the smallest one that so many questions could have shown."""
    why = f"; {held}" if (held := core.compared.held_back(main)) else ""
    if main.outcome in ("better", "worse", "same") or not main.smallest:
        return why
    return f"{why}; an advantage of {main.smallest:.2g} would have been shown with 80 % power"


def _stability(
    items: pd.DataFrame, light: core.verdict.Light, margin: float, *, seed: int, n_resamples: int
) -> float | None:
    """The share of resamples in which the decided questions give the same light, the test by its normal approximation."""
    known = items["open"].notna().to_numpy()
    counted_ones = items.assign(
        known=known.astype(float), differs=(known & (items["advantage"] != 0).to_numpy()).astype(float)
    )
    sums, _ = core.measures.unit_sums(
        counted_ones, ["advantage", "#advantage", "known", "differs"], core.clusters.drawn_together(items, items["id"])
    )
    if len(sums) < 2:
        return None
    table = np.column_stack([sums, sums[:, 0] ** 2])
    drawn = core.stats.bootstrap_sums(table, lambda s: s, core.seeds.rng(seed, "bootstrap/light"), n_resamples)
    return float(np.mean(_lights(drawn, margin) == light))


def _lights(sums: npt.NDArray[np.float64], margin: float) -> npt.NDArray[np.str_]:
    from scipy.special import ndtri

    total, n, known, differs, squares = sums.T
    z = float(ndtri(1 - core.compared.ALPHA / 2))
    with np.errstate(all="ignore"):
        mean, spread = total / n, np.sqrt(squares)
        shown = np.abs(total) >= z * spread
        half = z * np.sqrt(np.maximum(squares - n * mean**2, 0)) / n
        inside = (np.abs(mean) + half < margin) & (margin > 0)
    light = np.full(len(sums), "yellow", dtype="<U6")
    light[inside | (squares == 0)] = "green"
    light[shown & (total > 0)] = "green"
    light[shown & (total < 0)] = "red"
    light[n == 0] = "grey"
    light[(known > 0) & (differs < margin * known)] = "green"
    return light
