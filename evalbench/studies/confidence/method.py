"""What a reader must know of the answers, and how the figures were computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.judge.entail import BASELINE
from evalbench.studies.confidence import clusters, resampled
from evalbench.studies.confidence.items import MATCH

_SOURCE = "handbook (docs/methods.md), «Качество прогноза: уверенность LLM в ошибочных ответах»"


def notes(items: pd.DataFrame, summary: core.Summary, options: Mapping[str, Any]) -> list[str]:
    """What could mislead a reader of these very figures."""
    out = []
    if options["p_by"] != MATCH:
        out.append("p is a similarity, not a probability: there is no calibration error and no reliability diagram.")
    else:
        out += _apart(summary)
    if options["clusters"] != clusters.EXACT:
        lost = int((items["cluster_unscored"] != "").sum()) if "cluster_unscored" in items else 0
        judged = f"Answers were grouped by {options['judge']}, which judged whether they entail each other"
        out.append(
            f"{judged}; without groups, so that cluster entropy is missing: {lost} of {len(items)}."
            if lost
            else f"{judged}."
        )
        if options["judge"] == BASELINE:
            out.append("baseline/lexical compares words: what is said in other words is another group to it.")
    if not options["embed"]:
        out.append("No embedding model was named (embed), so that there is no similarity.")
    return [*out, *kit.answers.remarks(items)]


def _apart(summary: core.Summary) -> list[str]:
    """Models that tell right from wrong and are badly calibrated, and those that are well calibrated and do not."""
    at = {(e.metric, e.group["model"]): e for e in summary.estimates}
    unlike, alike = [], []
    for (metric, model), error in at.items():
        area = at["auroc_uncertainty", model]
        if metric != "calibration_error" or error.ci_low is None or area.ci_low is None or area.ci_high is None:
            continue
        if error.ci_low > 0 and area.ci_low > 0.5:
            gap = at["overconfidence", model].value or 0.0
            way = "higher" if gap > 0 else "lower"
            unlike.append(f"{model} (on average p is {abs(gap):.2f} {way} than the share of right answers)")
        if error.ci_low == 0 and area.ci_low <= 0.5 <= area.ci_high:
            alike.append(model)
    out = []
    if unlike:
        out.append(
            f"Wrong answers can be told from right ones by p, but p is not the chance of being right: {', '.join(unlike)}."
        )
    if alike:
        out.append(
            f"p may well be the share of right answers, and yet it is not shown to tell wrong answers from right ones: {', '.join(alike)}."
        )
    return out


def described(options: Mapping[str, Any], items: pd.DataFrame, several: bool) -> tuple[str, ...]:
    """The scores, the figures and their sources."""
    match = options["p_by"] == MATCH
    at = core.percent(options["coverage"])
    by = f"normalise={options['normalise']}"
    lines = [
        f"p by match: the share of an answer's samples that equal it after normalising ({by}). A sample without text is left out, an "
        "empty one is an answer. An answer without samples is unscored."
        if match
        else f"p by similarity: the mean cosine of the embeddings ({options['embed']}) of an answer and its samples, clipped to [0, 1]. "
        "The document prints the cosine distance, by which the surest answer would have p = 0.",
        "Scores, higher where an answer should be doubted: 1 − p; −p · ln p, as the document prints it, one term of an entropy and 0 at "
        "p = 0 too; binary entropy −p · ln p − (1 − p) · ln(1 − p), 0 at p = 0 too; cluster entropy, Shannon's over the groups of equal "
        f"answers, the answer and its samples together (natural logarithm; groups by {_groups(options, by)}), for AUROC and the like over "
        "its maximum ln(N + 1), which changes no order where all answers have as many samples.",
    ]
    if options["embed"]:
        lines.append(
            f"Similarity: the mean of (1 + cosine) / 2 over an answer's samples ({options['embed']}); the raw cosine is in the items. Its "
            "AUROC is that of the raw cosine, since one rises with the other."
        )
    lines += [
        "AUROC of a score: the chance that a wrong answer has a higher one than a right answer, ties half; 0.5 by chance (Hanley and "
        "McNeil 1982). AUPRC: average precision for wrong answers; by chance it is the share of wrong answers.",
        "Risk–coverage area: the mean share of errors among the k surest answers, k = 1 … n, ties as the expectation over their orders "
        "(Geifman and El-Yaniv 2017); by chance it is the share of wrong answers, and it falls with that share.",
        f"The threshold that answers {at}: the highest p from which at least that share has an answer; answers of one p are given "
        "together, so that it may be more. It is chosen on the same data as the errors are counted on, by coverage alone, without a look "
        "at what is right; in each resample it is chosen anew.",
    ]  # fmt: skip
    if match:
        lines.append(
            "Calibration error: Σ over the values of p of (share of answers) · |share right − p| (Naeini et al. 2015, bins by value). It "
            "is above 0 also where every p is right; the note has how much. A low one does not mean that wrong answers can be told from "
            "right ones: a model with one p for all answers, equal to its share of right ones, has 0 and an AUROC of 0.5."
        )
    if "topic" in items:
        lines.append(
            f"Confidently wrong on a topic: of the answers with p from {options['confident_from']:g} on a higher share is wrong than on "
            "the model's other topics; Fisher's exact test, one-sided, Holm over all models and topics (ours)."
        )
    if several:
        lines.append(
            "Models are compared on the questions that both have: paired bootstrap of the difference of AUROCs, and swaps of the two "
            "models' answers within questions."
        )
    tied = f"; in resamples a score with over {resampled.MOST_LEVELS} values is cut into {resampled.RUNS} runs of neighbouring ranks"
    lines.append(f"Intervals resample questions{tied}.")
    lines.append(f"Source: {_SOURCE}; AUROC, AUPRC, risk–coverage, calibration and cluster entropy are ours.")
    return tuple(lines)


def _groups(options: Mapping[str, Any], by: str) -> str:
    if options["clusters"] == clusters.EXACT:
        return f"equal texts, {by}"
    return f"mutual entailment as {options['judge']} judges it, of equal texts without asking"
