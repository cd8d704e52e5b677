"""Violations to pairs to matches: component similarities, one-to-one assignments.

``score_pairs`` is the dear step (it embeds); ``match`` is cheap and may be called again and again with
other weights and thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.metrics import matching
from evalbench.models.accounting import embeddings_counted, merged
from evalbench.models.similarity.embed import embedder, indexed_similarities, language_warning
from evalbench.studies.matching import inputs

STD_WEIGHTS: Mapping[str, float] = {"text_overlap": 0.5, "rule_similarity": 0.5}
HA_WEIGHTS: Mapping[str, float] = {
    "text_overlap": 0.3,
    "rule_similarity": 0.3,
    "category_match": 0.1,
    "explanation_similarity": 0.2,
    "correction_similarity": 0.1,
}
DEFAULTS = matching.Thresholds()
TEXT_COMPONENTS = {
    "rule_similarity": "rule",
    "explanation_similarity": "explanation",
    "correction_similarity": "correction",
}
Assignment = Literal["greedy", "optimal"]
Filter = Literal["before", "after"]
CHOICES = {"assignment": get_args(Assignment), "filter": get_args(Filter), "missing": get_args(matching.Missing)}
EMBED = "use-multilingual"
ASSIGNMENT: Assignment = "greedy"
FILTER: Filter = "before"
DTYPE = "float32"
MISSING: matching.Missing = "renormalise"


class Codes(NamedTuple):
    """Integer codes of every pair: rows of truth and of predictions, (sample, checker) group, and (truth, checker) side.

    Each checker matches the truth anew, so the true side of an assignment is the truth under that checker.
    """

    truth: np.ndarray
    predicted: np.ndarray
    group: np.ndarray
    side: np.ndarray


def pair_codes(violations: inputs.Violations) -> Codes:
    """Every predicted × every true violation of one sample, never across samples."""
    samples = pd.Index(violations.documents["id"])
    t = samples.get_indexer(violations.truth["id"])
    p = samples.get_indexer(violations.predictions["id"])
    first = np.searchsorted(t, np.arange(len(samples)))
    count = np.bincount(t, minlength=len(samples))
    size = count[p]
    right = np.repeat(np.arange(len(p)), size)
    nth = np.arange(len(right)) - np.repeat(np.cumsum(size) - size, size)
    left = first[p[right]] + nth
    checker = pd.Categorical(violations.predictions["model"], categories=violations.checkers).codes
    n_checkers, of = len(violations.checkers), checker[right].astype(np.int64)
    return Codes(left, right, p[right].astype(np.int64) * n_checkers + of, left * n_checkers + of)


@dataclass(frozen=True)
class Pairs:
    """All pairs of a data set and their components, ready to be weighed.

    - ``components`` (mapping of str to (n,) arrays): 0–1, NaN where both sides lack the text.
    - ``accounting``: What an endpoint's embeddings cost; empty for any other backend.
    """

    violations: inputs.Violations
    codes: Codes
    components: Mapping[str, np.ndarray]
    embed: str
    warnings: tuple[str, ...] = ()
    accounting: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Pairs: {len(self.codes.truth)} of {self.violations!r}, compared by {self.embed}; frame() lists them>"

    def frame(self) -> pd.DataFrame:
        """One row per pair with its ids and components."""
        truth, predictions = self.violations.truth, self.violations.predictions
        return pd.DataFrame(
            {
                "id": predictions["id"].array.take(self.codes.predicted),
                "model": predictions["model"].array.take(self.codes.predicted),
                "truth_id": truth["violation_id"].array.take(self.codes.truth),
                "prediction_id": predictions["violation_id"].array.take(self.codes.predicted),
                **self.components,
            }
        )


def score_pairs(violations: inputs.Violations, *, embed: str = EMBED, dtype: str = DTYPE) -> Pairs:
    """The components of every pair; each distinct string is embedded once.

    - ``violations``: From :func:`prepare`.
    - ``embed``: Similarity backend: ``jaccard``, ``use-multilingual``, a sentence-transformers model, ``openai/…``.
    - ``dtype``: What the model computes in.

    Returns: ``text_overlap``: intersection over union of characters. ``…_similarity``: cosine, negative ones count 0
    (``jaccard``: of word sets); both texts absent: NaN; one absent: 0. ``category_match``: 0 or 1. ``text_overlap`` is
    NaN where no violation has a place.
    """
    codes = pair_codes(violations)
    truth, predictions = violations.truth, violations.predictions
    components: dict[str, Any] = {
        "text_overlap": matching.text_overlap(
            violations.truth_spans, violations.predicted_spans, codes.truth, codes.predicted
        )
        if violations.placed
        else np.full(len(codes.truth), np.nan)
    }
    backend = embedder(embed, dtype=dtype)
    texts: set[str] = set()
    with embeddings_counted() as spent:
        for component, column in TEXT_COMPONENTS.items():
            left, right = truth[column].tolist(), predictions[column].tolist()
            texts |= {*left, *right}
            if any(map(str.strip, {*left})) and any(map(str.strip, {*right})):
                values = indexed_similarities(backend, [*left, *right], codes.truth, codes.predicted + len(left))
            else:
                values = np.zeros(len(codes.truth))
            components[component] = _with_absent(np.clip(values, 0, 1), truth[column], predictions[column], codes)
    categories = pd.Index(truth["category"]).append(pd.Index(predictions["category"])).factorize()[0]
    same = categories[codes.truth] == categories[codes.predicted + len(truth)]
    components["category_match"] = _with_absent(same.astype(float), truth["category"], predictions["category"], codes)
    warning = language_warning(backend.card, sorted(texts))
    return Pairs(
        violations,
        codes,
        {name: components[name] for name in matching.COMPONENTS},
        embed,
        (warning,) if warning else (),
        merged(spent),
    )


def cautions(pairs: Pairs) -> list[core.notes.Note]:
    """Predictions that lie at one and the same distance from a true violation of their rule, and those that repeat another."""
    v, codes, out = pairs.violations, pairs.codes, []
    checkers = v.predictions["model"].to_numpy()
    ends = v.predicted_spans.first
    begin, end = (np.append(side, -1) for side in (v.predicted_spans.start, v.predicted_spans.end))
    some = np.diff(ends) > 0
    places = {"start": np.where(some, begin[ends[:-1]], -1), "end": np.where(some, end[ends[1:] - 1], -1)}
    repeated = v.predictions[["id", "model", "rule"]].assign(**places).duplicated().to_numpy()
    single = (np.diff(v.truth_spans.first)[codes.truth] == 1) & (np.diff(v.predicted_spans.first)[codes.predicted] == 1)
    alike = np.flatnonzero(single & (pairs.components["rule_similarity"] > 0.99))
    true, predicted = codes.truth[alike], codes.predicted[alike]
    first = v.predicted_spans.start[v.predicted_spans.first[predicted]] - v.truth_spans.start[v.truth_spans.first[true]]
    for checker in v.checkers:
        mine = checkers == checker
        by, n = np.unique(first[mine[predicted]], return_counts=True)
        if len(n) and by[n.argmax()] and n.max() > max(1, mine.sum() / 2):
            short = f"{n.max()} of {core.counted(int(mine.sum()), 'prediction')} of {checker} begin {by[n.argmax()]:+d} characters from a true"
            out.append(
                core.notes.Note("shifted", f"{short} violation of the same rule: they are off by the same distance")
            )
        if repeated[mine].sum() > kit.MAX_UNSCORED * mine.sum():
            short = f"{int(repeated[mine].sum())} of {int(mine.sum())} predictions of {checker} repeat another of the same place and rule"
            out.append(core.notes.Note("unmatched", short))
    return out


def _with_absent(values: np.ndarray, left: pd.Series, right: pd.Series, codes: Codes) -> np.ndarray:
    """Both texts absent: NaN; one absent: 0."""
    no_left = (left.str.strip() == "").to_numpy(dtype=bool)[codes.truth]
    no_right = (right.str.strip() == "").to_numpy(dtype=bool)[codes.predicted]
    return np.where(no_left & no_right, np.nan, np.where(no_left | no_right, 0.0, values))


@dataclass(frozen=True)
class Matching:
    """One assignment of predictions to truths.

    - ``score`` ((n,) array): Weighted score of every pair.
    - ``matched`` ((n,) array of bool)
    - ``why_truth``, ``why_predicted``: Why a violation is unmatched; empty where it is matched.
    - ``differs`` ((n_groups,) array of bool): Groups (sample × checker) in which greedy and optimal assignment differ;
      by group code.
    """

    score: np.ndarray
    matched: np.ndarray
    why_truth: Mapping[str, np.ndarray]
    why_predicted: np.ndarray
    differs: np.ndarray

    def __repr__(self) -> str:
        return f"<Matching: {int(self.matched.sum())} of {len(self.matched)} pairs matched>"


def match(
    pairs: Pairs,
    *,
    weights: Mapping[str, float] = STD_WEIGHTS,
    thresholds: matching.Thresholds = DEFAULTS,
    assignment: Assignment = ASSIGNMENT,
    filter: Filter = FILTER,
    missing: matching.Missing = MISSING,
) -> Matching:
    """Assign predictions to truths one to one on the weighted score.

    - ``pairs``: From :func:`score_pairs`; nothing is embedded again.
    - ``weights``: Component → weight, non-negative, sum 1.
    - ``thresholds``: Overlap, rule and score that a pair must exceed.
    - ``assignment`` ({"greedy", "optimal"}): Take the best pair and repeat, or maximise the total score.
    - ``filter`` ({"before", "after"}): Leave inadmissible pairs out first, or take the best pair and then check it,
      which blocks its row and column, as the method document ``violations`` has it.
    - ``missing`` ({"renormalise", "zero"}): What a component counts that both sides lack.

    Raises ``BadInput`` for weights that are negative, do not sum to 1 or name no component, and for unknown options.
    """
    checks = kit.Checks()
    check_options(checks, {"weights": weights}, assignment=assignment, filter=filter, missing=missing)
    checks.refuse("matching")
    codes, components = pairs.codes, pairs.components
    score = matching.weighted_score(components, weights, missing)
    overlap, rule = components["text_overlap"], np.nan_to_num(components["rule_similarity"])
    good = matching.admissible(overlap, rule, score, thresholds)
    some = np.flatnonzero(good)
    by_greedy, by_optimal = np.zeros((2, len(score)), dtype=bool)
    if filter == "after":
        by_greedy = matching.greedy(score, overlap, codes.side, codes.predicted) & good
    else:
        by_greedy[some] = matching.greedy(score[some], overlap[some], codes.side[some], codes.predicted[some])
    by_optimal[some] = matching.optimal(score[some], codes.group[some], codes.side[some], codes.predicted[some])
    matched = by_optimal if assignment == "optimal" else by_greedy
    v, n_checkers = pairs.violations, len(pairs.violations.checkers)
    differs = np.zeros(len(v.documents) * n_checkers, dtype=bool)
    differs[codes.group[by_greedy != by_optimal]] = True

    def why(side: np.ndarray, size: int) -> np.ndarray:
        return matching.unmatched_reason(side, size, overlap, rule, score, matched, thresholds)

    of_truth = why(codes.side, len(v.truth) * n_checkers).reshape(-1, n_checkers)
    why_truth = {checker: of_truth[:, k] for k, checker in enumerate(v.checkers)}
    return Matching(score, matched, why_truth, why(codes.predicted, len(v.predictions)), differs)


def check_options(checks: kit.Checks, weights: Mapping[str, Mapping[str, float]], **choices: str) -> None:
    """Check weights, each under its option's name, and the choices of :func:`match`."""
    for name, own in weights.items():
        before = len(checks.faults)
        for component, weight in own.items():
            checks.choice(f"{name}: component", component, matching.COMPONENTS)
            checks.at_least(0, **{f"{name}: {component}": weight})
        if len(checks.faults) == before:
            checks.that(abs(sum(own.values()) - 1) <= 1e-6, f"{name} must sum to 1, got {sum(own.values()):g}")
    for name, value in choices.items():
        checks.choice(name, value, CHOICES[name])
