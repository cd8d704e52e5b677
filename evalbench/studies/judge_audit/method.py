"""How the figures of an audit were computed, and what a reader must know of the labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.judge.families import related
from evalbench.studies.judge_audit import inputs, kinds
from evalbench.studies.judge_audit.items import GRADED, NOMINAL, NULL_ANSWER, ORDERED, ZERO_ONE, annotators_of

_KINDS = {
    ZERO_ONE: "Cohen's kappa of the judge and one annotator, over all pairs of the two, each answer counted once; 1 − E(x − y)² / E₀(x − y)², "
    "E₀ as if both marked by chance (Cohen 1960)",
    ORDERED: "kappa weighted by squared distance, 1 − E(x − y)² / E₀(x − y)², over all pairs of judge and annotator, each answer counted once (Cohen 1968)",
    GRADED: "Spearman's correlation of the judge's mark with each annotator's, midranks over all answers, each answer counted once",
}
_KINDS[NOMINAL] = (
    "Cohen's kappa of the judge and one annotator over kinds without an order, (p − p₀)/(1 − p₀), over all pairs of the two, "
    "each answer counted once (Cohen 1960); the share of each kind is corrected by post-stratification, it against all others"
)
_RATES = {
    "random": "Corrected rates of 0/1 verdicts: post-stratified by verdict, p = Σ q a with q the share of each verdict and a = (good + 1)/(labelled + 2) among "
    "the labelled with it (Cochran 1977, 5A.9); labels are taken as a random part. Corrected means of marks: prediction-powered inference (Angelopoulos et al. 2023).",
    "elsewhere": "Corrected rates of 0/1 verdicts: (q + sp − 1)/(se + sp − 1) with q over the unlabelled (Rogan & Gladen 1978), interval of Lang & Reiczigel (2014). "
    "Corrected means of marks: prediction-powered inference (Angelopoulos et al. 2023).",
    "probability": "Corrected rates and means: the judge's mean and the labelled differences weighted by one over the probability of being drawn (Horvitz & Thompson 1952).",
}


def notes(items: pd.DataFrame, readings: inputs.Readings, labels_drawn: str) -> list[str]:
    """What is odd about verdicts and labels."""
    out = []
    labelled = items[annotators_of(items)].notna()
    if not labelled.any(axis=None):
        out.append(
            "No answer is labelled by people (table labels, or a column human), so that agreement and correction have no value."
        )
    elif labelled.shape[1] == 1:
        out.append(
            "One annotator labelled the answers: how far people agree among themselves, the ceiling of any judge, is not known."
        )
    for judge, marks in items.groupby("judge", sort=True)["mark"]:
        if marks.nunique() == 1 and marks.count() > 1:
            out.append(
                f"{judge} gave every answer the same mark{_mark(marks, readings)}: its agreement is that of a constant."
            )
    out += kit.marks.not_rated(readings.verdicts["mark"], " of the judge")
    out += kit.marks.not_rated(readings.labels["mark"], " of people")
    null = items["undefined"] == NULL_ANSWER
    if null.any():
        out.append(
            f"{core.counted(int(items.loc[null, 'id'].nunique()), 'answer')} of the null answer, which are in no other figure."
        )
    out += _families(items)
    chance = readings.labels["probability"].notna()
    if chance.any() and labels_drawn != "probability":
        out.append(f"The labels' column probability was not used: labels_drawn is {labels_drawn}.")
    return [*out, *kit.answers.remarks(items)]


def _mark(marks: pd.Series, readings: inputs.Readings) -> str:
    named = kinds.kinds_of(readings.verdicts)
    value = marks.dropna().iloc[0]
    return f", {named[int(value)] if named else format(value, 'g')}"


def _families(items: pd.DataFrame) -> list[str]:
    """Which judges mark models of their own family or vendor, by their names."""
    out = []
    for judge, rows in items[items["model"] != ""].groupby("asked", sort=True):
        own = {str(model): related(str(judge), str(model)) for model in sorted(rows["model"].unique())}
        for how in ("family", "vendor"):
            named = [model for model, said in own.items() if said == how]
            if named:
                shown = ", ".join(named[:5]) + (f" and {len(named) - 5} more" if len(named) > 5 else "")
                out.append(f"{judge} marks models of its own {how}, by their names: {shown}.")
    return out


def described(items: pd.DataFrame, options: Mapping[str, Any]) -> tuple[str, ...]:
    """How the figures were computed, a line each."""
    kinds = [f"Agreement: {_KINDS[k]}." for k in _KINDS if (items["scale"] == k).any()]
    return (
        *kinds,
        "People among themselves: the same of each two annotators of an answer, in both directions, so that judge and people are held to the same mark of one person.",
        _RATES[options["labels_drawn"]],
        f"May replace an annotator: the alternative annotator test, ε {options['epsilon']:g}, one-sided t tests at .05, Benjamini–Yekutieli (Calderon, Reichart & Dror 2025).",
        "First-slot wins: (preference shown first + 1 − preference shown second) / 2 over pairs asked in both orders; ½ without a liking for a place.",
        "Length: Spearman's correlation of mark and length (in pairs: difference of lengths) with the majority or mean of the labels held fixed, of midranks.",
        "Asked again: share of pairs of repeats with the same mark. Null answer: mean preference for a constant text; gameable where the interval's lower end is above 0.1.",
        "Own family: mean of mark − label on answers by models of the judge's family (by name) less that on others.",
        "Panel: n = k / (1 + (k − 1) ρ̄), ρ̄ the mean correlation of errors against the majority of annotators, ties left out (Kish 1965).",
    )
