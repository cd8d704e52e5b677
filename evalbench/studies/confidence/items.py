"""Answers and samples to items: confidence, uncertainty by several scores, and whether the answer is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, kit
from evalbench.metrics import confidence, text
from evalbench.studies.confidence import inputs
from evalbench.studies.confidence.clusters import EXACT, by_entailment

MATCH, SIMILARITY = "match", "similarity"
P_BY = (MATCH, SIMILARITY)
SCORES: Mapping[str, str] = {
    "uncertainty": "1 − p",
    "neg_p_log_p_handbook": "−p · ln p",
    "binary_entropy": "binary entropy of p",
    "cluster_entropy": "cluster entropy",
    "dissimilarity": "1 − (1 + cosine) / 2",
}
"""Every score, higher where an answer should be doubted, and its words."""
SHARE = "cluster_entropy_share"
"""Cluster entropy over its maximum: what answers are ordered by, since their numbers of samples may differ."""


class Scored(NamedTuple):
    """Items, and what a reader must know of them."""

    items: pd.DataFrame
    notes: tuple[str, ...]


def column_of(score: str) -> str:
    """The column of the items that holds a score."""
    return SHARE if score == "cluster_entropy" else score


def items_of(
    rows: pd.DataFrame,
    *,
    p_by: str,
    clusters: str,
    normalise: str,
    language: str,
    embed: str,
    metric: str,
    correct_from: float | None,
    docket: kit.judging.Docket | None,
) -> Scored:
    """One row per answer; options as of ``evaluate``.

    Columns: ``n_samples``, ``p``, the scores, ``cosine``, ``similarity01``, ``n_clusters``, ``correct``, ``wrong``, ``gap``
    (p − correct), ``mark`` (what ``correct`` comes from) and why there is no value.
    """
    items = rows[[*inputs.KEYS, *(["topic"] if "topic" in rows else [])]].reset_index(drop=True)
    scored = (rows["unscored"] == "").to_numpy()
    own = rows[scored].reset_index(drop=True)
    notes: list[str] = []
    found: dict[str, Any] = {"n_samples": rows["samples"].map(len).to_numpy(float)}
    if len(own):
        columns = _uncertainty(own, p_by, clusters, normalise, language, embed, docket, notes)
    else:
        similar = ("cosine", "similarity01", "dissimilarity") if embed else ()
        names = ("p", *(name for name in SCORES if name != "dissimilarity"), SHARE, "n_clusters", *similar)
        columns = dict.fromkeys(names, np.full(0, np.nan))
    for name, values in columns.items():
        found[name] = np.full(len(rows), np.nan) if values.dtype.kind == "f" else np.full(len(rows), "", dtype=object)
        found[name][scored] = values
    why = rows["unscored"].to_numpy(object).copy()
    lacking = found.pop("p_unscored", None)
    if lacking is not None:
        why = np.where(why == "", lacking, why)
    mark, right, source = _correctness(rows, metric, correct_from, normalise, language)
    if source == "column":
        notes.append(
            "Which answers are right is the table's column correct"
            + (", reference is not used." if "reference" in rows else ".")
        )
        why = np.where((why == "") & np.isnan(right), "no-value", why)
    else:
        at = "1" if correct_from is None else f"{correct_from:g}"
        notes.append(f"Which answers are right was computed: {metric} against the reference, right from {at} on.")
    known = why == ""
    for name, values in found.items():
        if name != "cluster_unscored":
            found[name] = np.where(known, values, np.nan)
    right = np.where(known, right, np.nan)
    found |= {"correct": right, "wrong": 1 - right, "gap": found["p"] - right, "mark": np.where(known, mark, np.nan)}
    undefined = np.where(known & np.isnan(right), kit.answers.NO_REFERENCE, "")
    out = pd.DataFrame({**items, **found, "unscored": why, "undefined": undefined})
    return Scored(out, (*notes, *_sizes(out), *_never_repeated(out)))


def _uncertainty(
    own: pd.DataFrame,
    p_by: str,
    clusters: str,
    normalise: str,
    language: str,
    embed: str,
    docket: kit.judging.Docket | None,
    notes: list[str],
) -> dict[str, Any]:
    """The columns of answers that are there."""
    answers, samples = own["answer"].tolist(), own["samples"].tolist()
    drawn, n = confidence.Drawn(answers, samples), len(own)
    codes = confidence.equal_codes([*answers, *drawn.flat], normalise, language)
    of_answer, of_sample = codes[:n], codes[n:]
    match = drawn.mean(of_sample == of_answer[drawn.item])
    cosine, failed = np.full(n, np.nan), ""
    if embed:
        from evalbench.models.similarity.embed import embed as vectors

        try:
            cosine = confidence.mean_cosine(answers, samples, embed=lambda texts: vectors(texts, embed))
        except (text.Unavailable, errors.ModelUnavailable) as error:
            failed = error.unscored
            notes.append(f"There is no similarity: {error}")
    item = np.concatenate([np.arange(n), drawn.item])
    order = np.argsort(item, kind="stable")  # each answer before its samples
    item, code = item[order], codes[order]
    lost = np.full(n, "", dtype=object)
    if clusters != EXACT and docket is not None:
        flat = np.array([*answers, *drawn.flat], dtype=object)[order].tolist()
        asked, langs = (own[name].tolist() if name in own else [""] * n for name in ("question", "lang"))
        code, lost = by_entailment(item, code, flat, asked, langs, docket)
    entropy = np.where(lost == "", confidence.entropy_of_groups(item, code, n), np.nan)
    pairs = np.unique(np.stack([item, code]), axis=1)[0]
    p = match if p_by == MATCH else np.clip(cosine, 0.0, 1.0)
    return {
        "p": p,
        "uncertainty": 1 - p,
        "neg_p_log_p_handbook": confidence.neg_p_log_p_handbook(p),
        "binary_entropy": confidence.binary_entropy(p),
        "cluster_entropy": entropy,
        SHARE: confidence.normalised_cluster_entropy(entropy, drawn.sizes),
        "n_clusters": np.where(lost == "", np.bincount(pairs, minlength=n).astype(float), np.nan),
        **({"cosine": cosine, "similarity01": (1 + cosine) / 2, "dissimilarity": (1 - cosine) / 2} if embed else {}),
        **({"cluster_unscored": lost} if clusters != EXACT else {}),
        **({"p_unscored": np.full(n, failed, dtype=object)} if p_by == SIMILARITY and failed else {}),
    }


def _correctness(
    rows: pd.DataFrame, metric: str, correct_from: float | None, normalise: str, language: str
) -> tuple[Any, Any, str]:
    """The mark of each answer, whether it is right, and where that comes from."""
    if "correct" in rows:
        marks = inputs.marks_of(rows["correct"].tolist())
        return marks, inputs.right_or_wrong(marks, correct_from, "column correct"), "column"
    marks = np.full(len(rows), np.nan)
    ready = np.flatnonzero(((rows["unscored"] == "") & (rows["reference"].map(len) > 0)).to_numpy())
    if len(ready):
        from evalbench.metrics.registry import card, options_of

        options = {"normalise": normalise, "language": language or "en"}
        if metric.endswith("exact_match") or "normalise" in options_of(card(metric)):
            options["language"] = language
        options = {name: value for name, value in options.items() if name in options_of(card(metric))}
        some = rows.iloc[ready]
        found = text.score(metric, some["answer"].tolist(), references=some["reference"].tolist(), **options)
        marks[ready] = found[metric]
    return marks, inputs.right_or_wrong(marks, correct_from, f"the metric {metric}"), "reference"


def _sizes(items: pd.DataFrame) -> list[str]:
    """Whether answers have different numbers of samples."""
    sizes = items.loc[items["unscored"] == "", "n_samples"]
    if not len(sizes) or sizes.nunique() == 1:
        return []
    least, most, usual = int(sizes.min()), int(sizes.max()), int(sizes.mode().iloc[0])
    return [
        f"Answers have from {least} to {most} samples (most often {usual}): p of few samples is coarser, and the maximum of cluster "
        "entropy is ln(N + 1), by which it is divided; for the calibration error each p goes to the nearest of "
        f"0, 1/{most}, …, 1."
    ]


def _never_repeated(items: pd.DataFrame) -> list[str]:
    """How many answers no sample repeats: two scores call them sure."""
    never = int((items["p"] == 0).sum())
    if not never:
        return []
    return [
        f"{core.counted(never, 'answer')} of {len(items)} {'has' if never == 1 else 'have'} p = 0: −p · ln p and the binary entropy are 0 there, "
        "as at p = 1, so that they call the least certain answers certain."
    ]
