"""Corrected rates and means of a judge: intervals by formula, and what more labels would bring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.judge_audit import figures, items

Z = 1.959963984540054
WAYS = {
    "stratified": "post-stratified by verdict",
    "rogan-gladen": "Rogan–Gladen, interval of Lang and Reiczigel",
    "ppi": "prediction-powered (PPI++)",
    "sampled": "weighted by the probability of being drawn",
}


def way_of(rows: pd.DataFrame, labels_drawn: str) -> str:
    """Which correction these answers get."""
    if labels_drawn == "probability":
        return "sampled"
    if rows["scale"].iloc[0] == items.ZERO_ONE:
        return "rogan-gladen" if labels_drawn == "elsewhere" else "stratified"
    return "ppi"


def corrected(rows: pd.DataFrame, labels_drawn: str) -> core.ppi.Corrected:
    """The corrected rate or mean of one judge's answers, with its interval by formula."""
    mark, human = rows["mark"].to_numpy(dtype=float), rows["human"].to_numpy(dtype=float)
    human = np.where(np.isnan(mark), np.nan, human)
    way = way_of(rows, labels_drawn)
    if way == "stratified":
        return stratified_rate(mark, human)
    if way == "rogan-gladen":
        told = np.where(mark == 0.5, np.nan, mark)
        return core.judged_rates.rogan_gladen_rate(told, human)
    if way == "ppi":
        return core.ppi.corrected_mean(mark, human)
    chance = rows["probability"].to_numpy(dtype=float)
    known = np.where(np.isnan(chance) | ~((chance > 0) & (chance <= 1)), np.nan, chance)
    there = ~np.isnan(mark)
    return core.ppi.sampled_mean(mark[there], np.where(np.isnan(known), np.nan, human)[there], known[there])


def _strata(mark: core.Floats, human: core.Floats) -> tuple[core.Floats, core.Floats, core.Floats]:
    levels = (1.0, 0.5, 0.0)
    labelled = ~np.isnan(human)
    return (
        np.array([(mark == level).sum() for level in levels], dtype=float),
        np.array([(labelled & (mark == level)).sum() for level in levels], dtype=float),
        np.array([human[labelled & (mark == level)].sum() for level in levels], dtype=float),
    )


def stratified_rate(mark: core.Floats, human: core.Floats) -> core.ppi.Corrected:
    """The rate of 0/1 verdicts, post-stratified by verdict, with its interval."""
    q, m, k = _strata(mark, human)
    labels, n = int(m.sum()), int(q.sum())
    naive = float(np.nanmean(mark)) if n else None
    if not labels:
        return core.ppi.Corrected(None, naive=naive, n_unlabelled=n, note="no judged answer has a human label")
    share, rate = figures.stratified(q, m, k)
    value = float((share * rate).sum())
    half = _half(share, rate, m, n)
    truth = float(human[~np.isnan(human)].mean())
    return core.ppi.Corrected(
        value, max(0.0, value - half), min(1.0, value + half), naive, truth, None, labels, n - labels
    )


def _half(share: core.Floats, rate: core.Floats, m: core.Floats, n: int) -> float:
    within = float((share**2 * rate * (1 - rate) / (m + 2)).sum())
    between = float((share * rate**2).sum() - (share * rate).sum() ** 2) / n
    return Z * math.sqrt(max(within + between, 0.0))


def with_twice(rows: pd.DataFrame, labels_drawn: str) -> float | None:
    """The share of its width that the interval loses with twice the labels, all else equal; None where that is unknown.

    Of labels drawn at random: the part of the variance that rests on labels is halved, the rest stays.
    """
    found = corrected(rows, labels_drawn)
    if found.ci_low is None or found.ci_high is None or found.n_unlabelled < found.n_labelled:
        return None
    mark, human = rows["mark"].to_numpy(dtype=float), rows["human"].to_numpy(dtype=float)
    human = np.where(np.isnan(mark), np.nan, human)
    way = way_of(rows, labels_drawn)
    if way == "stratified":
        q, m, k = _strata(mark, human)
        share, rate = figures.stratified(q, m, k)
        now, then = (_half(share, rate, times * m, int(q.sum())) for times in (1, 2))
        return 1 - then / now if now else None
    if way != "ppi" or found.trust is None or found.n_labelled < 2:
        return None
    both, known = ~np.isnan(human), ~np.isnan(mark)
    n, n_all = found.n_labelled, int(known.sum())
    f, y, spread = mark[both], human[both], float(np.var(mark[known], ddof=1))
    if n_all < 2 * n or spread == 0:
        return None
    covariance = float(np.cov(f, y)[0, 1])

    def variance(labels: int) -> float:
        rest = n_all - labels
        trust = min(1.0, max(0.0, covariance / ((1 + labels / rest) * spread))) if rest else 0.0
        return float(np.var(y - trust * f, ddof=1)) / labels + (trust**2 * spread / rest if rest else 0.0)

    now, then = variance(n), variance(2 * n)
    return 1 - math.sqrt(then / now) if now > 0 else None


def title_of(title: str, only: Sequence[str]) -> str:
    """The title of a corrected figure, with the models that it is of where labels are of these alone."""
    if not only:
        return title
    return f"{title}, {', '.join(only) if len(only) <= kit.verdicts.NAMED else core.counted(len(only), 'model')} only"


def with_formula(e: core.Estimate, rows: pd.DataFrame, labels_drawn: str) -> core.Estimate:
    """A corrected figure with the interval of its formula; clusters keep their bootstrap."""
    only = items.labelled_models(rows)
    rows = items.correctable(rows)
    found = corrected(rows, labels_drawn)
    corrects = "" if only else figures.NAIVE[str(rows["scale"].iloc[0])]
    e = replace(e, title=title_of(e.title, only), corrects=corrects, n_labels=found.n_labelled)
    if e.value is None:
        why = found.note or e.note
        return replace(e, note=why)
    if core.clusters.is_clustered(rows) or found.ci_low is None or found.ci_high is None:
        return e
    way = WAYS[way_of(rows, labels_drawn)]
    notes = [note for note in (e.note.split("; ") if e.note else []) if not note.startswith("fewer than")]
    return replace(
        e, ci_low=found.ci_low, ci_high=found.ci_high, method=way, note="; ".join([*notes, *filter(None, [found.note])])
    )


def sampled_estimate(rows: pd.DataFrame, group: Any) -> core.Estimate:
    """The corrected figure of labels that were drawn with known probabilities."""
    only, rows = items.labelled_models(rows), items.correctable(rows)
    found = corrected(rows, "probability")
    scale = str(rows["scale"].iloc[0])
    n = int(rows["mark"].notna().sum())
    return core.Estimate(
        metric=figures.CORRECTED[scale],
        title=title_of("corrected by labels", only),
        value=found.value,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        method=WAYS["sampled"] if found.ci_low is not None else "",
        n=n,
        n_unscored=int((rows["unscored"] != "").sum()),
        n_undefined=len(rows) - n - int((rows["unscored"] != "").sum()),
        unit="0–1" if scale == items.ZERO_ONE else "marks",
        note=found.note,
        group=group,
        corrects="" if only else figures.NAIVE[scale],
        n_labels=found.n_labelled,
    )
