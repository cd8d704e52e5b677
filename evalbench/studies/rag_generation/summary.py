"""Items to estimates, verdict and its sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.judge.entail import BASELINE, holds_back
from evalbench.metrics.registry import card
from evalbench.studies.rag_generation import inputs

# Figure → the metrics whose questions it rests on.
PARENTS: Mapping[str, tuple[str, ...]] = {
    **{name: (name,) for name in inputs.METRICS},
    "noncommittal": (),
    "context_relevant_share": ("context_precision",),
    "claim_precision": ("answer_correctness",),
    "claim_recall": ("answer_correctness",),
    "invented": ("faithfulness", "answer_correctness"),
    "lost": ("context_recall", "answer_correctness"),
}
_WHY = {
    "faithfulness": "no answer claims anything beside contexts",
    "answer_relevance": "there is no answer",
    "context_recall": "there is no ground truth beside contexts",
    "context_precision": "there is no ground truth beside contexts",
    "answer_correctness": "there is no ground truth",
    "context_relevant_share": "there is no ground truth beside contexts",
    "claim_precision": "no answer with a ground truth claims anything",
    "claim_recall": "there is no ground truth",
}


def measures(metrics: Sequence[str] = ()) -> tuple[core.Measure, ...]:
    """The means of the metrics over answers, and what is shown beside them."""
    chosen = set(metrics or inputs.METRICS)
    share = {"higher_is_better": False, "interval": "counts"}
    known = (
        *(_mean(name) for name in inputs.METRICS),
        _mean("context_relevant_share"),
        _mean("claim_precision"),
        _mean("claim_recall"),
        core.share_of(
            "noncommittal", title="non-committal answers", higher_is_better=False, undefined="there is no answer"
        ),
        core.Measure(
            "invented",
            ("n_wrong_unsupported", "n_claims"),
            core.ratio,
            title="claims invented",
            undefined="no claim has both verdicts",
            **share,  # type: ignore[arg-type]
        ),
        core.Measure(
            "lost",
            ("n_missed_uncarried", "n_truths"),
            core.ratio,
            title="facts lost by the retriever",
            undefined="no fact has both verdicts",
            **share,  # type: ignore[arg-type]
        ),
    )
    return tuple(m for m in known if chosen >= set(PARENTS[m.metric]))


def _mean(name: str) -> core.Measure:
    entry = card(name)
    return core.mean_of(name, title=name.replace("_", " "), unit=entry.unit, worst=entry.range[0], undefined=_WHY[name])


def rules_of(lights: Mapping[str, Any], metrics: Sequence[str]) -> dict[str, dict[str, float]]:
    """The checked thresholds of each figure that has a light.

    Raises ``BadInput``: Lists lights of figures that are not computed, and thresholds that are no rule.
    """
    known = {}
    for m in measures(metrics):
        carded = m.metric in (*inputs.METRICS, "context_relevant_share", "claim_precision", "claim_recall")
        known[m.metric] = kit.rules.Figure(m.higher_is_better, (card(m.metric).range[0] if carded else 0.0, 1.0))
    return kit.rules.rules_of(lights, known)


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    given = checks.options
    checks.tried(lambda: rules_of(given["lights"] or {}, given["metrics"]))


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    metrics: Sequence[str] = (),
    lights: Mapping[str, Mapping[str, float]] | None = None,
    max_unscored: float = kit.MAX_UNSCORED,
    judge: str = BASELINE,
    correction_fit: Mapping[str, Any] | None = None,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Estimates per model and the verdict; options as of ``evaluate``.

    Without ``metrics``, all.  On the judge ``baseline/lexical`` a light is at best grey; ``correction_fit``: see
    :func:`evalbench.kit.verdicts.worst_group`.
    """
    known = [m for m in measures(metrics) if m.metric != "noncommittal" or m.metric in items]
    rules = lights or {}
    by_words = f"The judge is {judge}, which compares words." if holds_back(judge) else ""
    options: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
    found = [
        e
        for m in known
        for e in kit.verdicts.by_group(
            with_reasons(items, m.metric),
            [kit.verdicts.with_light(m, rules if m.metric in rules else {})],
            "model",
            **options,
        )
    ]
    return kit.worst_group(
        items,
        known,
        "model",
        lights=rules,
        over=core.counted(items["id"].nunique(), "question"),
        held_back=by_words.removesuffix("."),
        faults=_faults(items, max_unscored),
        max_unscored=max_unscored,
        remark=" ".join(filter(None, [_without_contexts(items), "" if rules else by_words])),
        estimates=sorted(found, key=lambda e: e.group["model"]),
        fit=correction_fit,
        **options,
    )


def _faults(items: pd.DataFrame, max_unscored: float) -> dict[str, str]:
    """Of each model what is wrong with its answers: they are their own contexts, or errors of an endpoint; items of earlier runs do not say."""
    out: dict[str, str] = {}
    if not {"own_context", "error_text"} <= {*items}:
        return out
    for model, own in items.groupby("model"):
        copied, errors = (own[name].dropna() for name in ("own_context", "error_text"))
        said = (
            (copied, 0.5, "are one of their contexts word for word, which supports itself"),
            (errors, max_unscored, "read like an error of an endpoint"),
        )
        why = [
            f"{int(found.sum())} of {core.counted(len(found), 'answer')} {what}"
            for found, most, what in said
            if found.sum() > most * len(found)
        ]
        if why:
            out[str(model)] = "; ".join(why)
    return out


def with_reasons(items: pd.DataFrame, figure: str) -> pd.DataFrame:
    """The items with the reasons of one figure as ``unscored`` and ``undefined``."""
    columns: dict[str, Any] = {}
    for kind in ("unscored", "undefined"):
        parents = PARENTS[figure] or [name for name in ("answer_relevance",) if f"{name}_{kind}" in items]
        told = [items[f"{name}_{kind}"] for name in parents]
        missing = items["unscored"].where(items["unscored"] == kit.answers.NO_OUTPUT, "") if kind == "unscored" else ""
        columns[kind] = [next(filter(None, reasons), "") for reasons in zip(*told, strict=True)] if told else missing
    return items.assign(**columns)


def _without_contexts(items: pd.DataFrame) -> str:
    lacking = items["undefined"].str.contains("no contexts", regex=False)
    return f"{core.counted(int(lacking.sum()), 'answer')} without contexts." if lacking.any() else ""
