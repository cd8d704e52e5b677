"""Matches as rows: the items that the figures sum, and the tables of pairs and violations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.metrics.matching import COMPONENTS, Spans
from evalbench.studies.matching import inputs
from evalbench.studies.matching.pairs import Matching, Pairs
from evalbench.text.null_words import is_null_word

LOW_OVERLAP = 0.1


def items_of(pairs: Pairs, std: Matching, ha: Matching) -> pd.DataFrame:
    """One row per sample and checker: counts and sums, everything that the figures need."""
    v, codes = pairs.violations, pairs.codes
    samples, checkers = v.documents["id"], v.checkers
    size = len(samples) * len(checkers)

    def total(mask: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        weights = None if values is None else np.nan_to_num(values[mask])
        return np.bincount(codes.group[mask], weights=weights, minlength=size)

    sample_of_truth = pd.Index(samples).get_indexer(v.truth["id"])
    n_truth = np.repeat(np.bincount(sample_of_truth, minlength=len(samples)), len(checkers))
    sample_of_prediction = pd.Index(samples).get_indexer(v.predictions["id"])
    checker = pd.Categorical(v.predictions["model"], categories=checkers).codes
    n_predicted = np.bincount(sample_of_prediction * len(checkers) + checker, minlength=size)
    out: dict[str, np.ndarray] = {
        "id": np.repeat(samples.to_numpy(), len(checkers)),
        "model": np.tile(np.array(checkers, dtype=object), len(samples)),
        "n_truth": n_truth,
        "n_unnamed": np.repeat(
            np.bincount(sample_of_truth[v.truth["rule"].map(is_null_word).to_numpy(bool)], minlength=len(samples)),
            len(checkers),
        ),
        "n_predicted": n_predicted,
    }
    for prefix, matching in (("", std), ("ha_", ha)):
        tp = total(matching.matched)
        out |= {f"{prefix}tp": tp, f"{prefix}fp": n_predicted - tp, f"{prefix}fn": n_truth - tp}
        out[f"{prefix}score_sum"] = total(matching.matched, matching.score)
        out[f"{prefix}differs"] = matching.differs.astype(np.int64)
    for component in COMPONENTS:
        there = ha.matched & ~np.isnan(pairs.components[component])
        out[f"sum_{component}"] = total(there, pairs.components[component])
        out[f"n_{component}"] = total(there)
    out["low_overlap"] = total(std.matched & (pairs.components["text_overlap"] < LOW_OVERLAP))
    out["n_overlap"] = total(std.matched & ~np.isnan(pairs.components["text_overlap"]))
    tp, fp, fn = (out[k].astype(float) for k in ("tp", "fp", "fn"))
    out |= {
        "sample_precision": core.ratio(tp, tp + fp),
        "sample_recall": core.ratio(tp, tp + fn),
        "sample_f1": core.ratio(2 * tp, 2 * tp + fp + fn),
    }
    frame = pd.DataFrame(out)
    frame["unscored"], frame["undefined"] = "", ""
    return frame


def pair_table(pairs: Pairs, std: Matching, ha: Matching) -> pd.DataFrame:
    """One row per pair: ids, components, both scores, whether each assignment took it."""
    scores = {"std_score": std.score, "ha_score": ha.score, "std_match": std.matched, "ha_match": ha.matched}
    return pairs.frame().assign(**scores)


def violation_table(pairs: Pairs, std: Matching, ha: Matching) -> pd.DataFrame:
    """One row per true violation and checker, and per prediction: its spans, its partner, or why it has none."""
    v, codes = pairs.violations, pairs.codes
    columns = ["id", "violation_id", "rule", "category", "explanation", "correction", "located"]
    spans = _span_texts(v.truth_spans)
    truth = pd.concat([v.truth[columns].assign(side="truth", model=c, spans=spans) for c in v.checkers])
    predicted = v.predictions[[*columns, "model"]].assign(side="prediction", spans=_span_texts(v.predicted_spans))
    for name, matching in (("std", std), ("ha", ha)):
        taken = np.flatnonzero(matching.matched)
        of_truth = np.full(len(truth), "", dtype=object)
        of_truth[codes.side[taken]] = v.predictions["violation_id"].to_numpy()[codes.predicted[taken]]
        of_prediction = np.full(len(predicted), "", dtype=object)
        of_prediction[codes.predicted[taken]] = v.truth["violation_id"].to_numpy()[codes.truth[taken]]
        truth[f"{name}_partner"] = of_truth.reshape(-1, len(v.checkers)).T.ravel()
        predicted[f"{name}_partner"] = of_prediction
        truth[f"{name}_why_unmatched"] = np.concatenate([matching.why_truth[c] for c in v.checkers])
        predicted[f"{name}_why_unmatched"] = matching.why_predicted
    own = [f"{name}_{column}" for name in ("std", "ha") for column in ("partner", "why_unmatched")]
    first = ["id", "model", "side", "violation_id", "spans", "located", *columns[2:-1], *own]
    return pd.concat([truth, predicted], ignore_index=True)[first]


def split_table(violations: inputs.Violations, card: Mapping[str, str]) -> pd.DataFrame:
    """What was judged, ``about, value``: counts of texts and violations, languages, then what the data's card says."""
    texts, truth = violations.documents, violations.truth
    clean = int((~texts["id"].isin(truth["id"])).sum())
    sizes = texts["text"].str.len()
    categories = truth.loc[truth["category"] != "", "category"].nunique()
    made = int((truth["origin"] == "synthetic").sum()) if "origin" in truth else 0
    rows = {
        "number of texts": f"{len(texts)}, {clean} of them without a true violation",
        "length of a text": f"{sizes.min()} to {sizes.max()} characters, median {sizes.median():.0f}",
        "true violations": f"{len(truth)}{f' in {categories} categories' if categories else ''}{f', {made} of them synthetic' if made else ''}",
    }
    if "lang" in texts:
        n_true = truth.merge(texts, on="id")["lang"].value_counts()
        counts = (
            texts["lang"]
            .replace("", "not stated")
            .value_counts()
            .sort_index()
            .sort_values(ascending=False, kind="stable")
        )
        rows["languages"] = "; ".join(
            f"{lang}: {core.counted(n, 'text')} with {core.counted(int(n_true.get(lang, 0)), 'true violation')}"
            for lang, n in counts.items()
        )
    return pd.DataFrame([*rows.items(), *card.items()], columns=["about", "value"])


def checker_table(checkers: Sequence[str], predictions: pd.DataFrame, described: pd.DataFrame | None) -> pd.DataFrame:
    """Every checker with the parts of its name, the number of its predictions and, where there is one, its description."""
    names = pd.Series(checkers, dtype=object)
    parts = pd.DataFrame([inputs.parts_of(name) for name in names], columns=["name", "version", "llm"]).replace(
        "", "not stated"
    )
    counts = predictions["model"].value_counts()
    words: Any = {} if described is None else described.set_index("model")["description"]
    return parts.assign(
        model=names, predictions=names.map(counts).fillna(0).astype(int), description=names.map(words).fillna("")
    )[["model", *parts.columns, "predictions", "description"]]


def _span_texts(spans: Spans) -> list[str]:
    bounds = zip(spans.first[:-1].tolist(), spans.first[1:].tolist(), strict=True)
    start, end = spans.start.tolist(), spans.end.tolist()
    if len(start) == len(spans.first) - 1 == spans.first[-1] and (spans.first[1:] > spans.first[:-1]).all():
        return list(map("[[{},{}]]".format, start, end))
    return ["[" + ",".join(f"[{start[i]},{end[i]}]" for i in range(a, b)) + "]" for a, b in bounds]
