"""Violations to pairs to matches: located spans, component similarities, one-to-one assignments.

``score_pairs`` is the dear step (it embeds); ``match`` is cheap and may be called again and again with
other weights and thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from evalbench.core.result import DataLabel
from evalbench.errors import BadInput
from evalbench.metrics.matching import (
    COMPONENTS,
    Missing,
    Spans,
    Thresholds,
    admissible,
    flat_spans,
    greedy,
    optimal,
    pair_overlaps,
    unmatched_reason,
    weighted_score,
)
from evalbench.models.embed import embedder, indexed_similarities, language_warning
from evalbench.text.locate import locate

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.dataset import Dataset

STD_WEIGHTS: Mapping[str, float] = {"text_overlap": 0.5, "rule_similarity": 0.5}
HA_WEIGHTS: Mapping[str, float] = {
    "text_overlap": 0.3,
    "rule_similarity": 0.3,
    "category_match": 0.1,
    "explanation_similarity": 0.2,
    "correction_similarity": 0.1,
}
TEXT_COMPONENTS = {
    "rule_similarity": "rule",
    "explanation_similarity": "explanation",
    "correction_similarity": "correction",
}
Assignment = Literal["greedy", "optimal"]
Filter = Literal["before", "after"]


@dataclass(frozen=True)
class Violations:
    """True and predicted violations with located spans, sorted by sample, checker and id.

    Attributes
    ----------
    truth, predictions : DataFrame
        With ``located`` (how the span was found) and, for predictions, ``checker``.
    documents : DataFrame
        ``sample_id, text``, one row per sample.
    checkers : DataFrame
        ``checker, name, version, model``.
    truth_spans, predicted_spans : Spans
    faults : DataFrame
        Predicted contexts that do not stand in their text: they count as predictions that overlap with nothing.
    label : DataLabel
    notes : tuple of str
    """

    truth: pd.DataFrame
    predictions: pd.DataFrame
    documents: pd.DataFrame
    checkers: pd.DataFrame
    truth_spans: Spans
    predicted_spans: Spans
    faults: pd.DataFrame
    label: DataLabel
    notes: tuple[str, ...] = ()


def prepare(data: Dataset, *, context_threshold: float = 0.8) -> Violations:
    """Check and order violations and find their spans.

    Parameters
    ----------
    data : Dataset
    context_threshold : float
        Least similarity of a fuzzily located context, 0–1.

    Raises
    ------
    BadInput
        All faults at once: samples without a text, spans beyond the text, true contexts that do not stand in
        the text, rows with neither span nor context, checkers not written ``name@version|model``.
    """
    import pandas as pd

    documents, faults = _documents(data)
    texts = dict(zip(documents["sample_id"], documents["text"], strict=True))
    truth = data["truth"].sort_values(["sample_id", "violation_id"], kind="stable", ignore_index=True)
    predictions = data["predictions"].sort_values(
        ["sample_id", "checker", "violation_id"], kind="stable", ignore_index=True
    )
    for frame in (truth, predictions):
        for column in ("category", "explanation", "correction"):
            if column not in frame:
                frame[column] = ""
    truth_spans, truth_lost = _spans(truth, texts, "truth", context_threshold, faults)
    spans, lost = _spans(predictions, texts, "predictions", context_threshold, faults)
    faults += [
        f"truth: violation {row.violation_id} of sample {row.sample_id}: its context does not stand in the text: {_clip(row.context)}"
        for row in truth_lost.itertuples()
    ]
    checkers = _checkers(predictions["checker"], faults)
    if faults:
        raise BadInput.listing(f"{data.label}: {len(faults)} fault{'s' * (len(faults) != 1)}:", faults)
    notes = list(data.notes)
    for name, frame in (("truth", truth), ("predictions", predictions)):
        for how in ("white space", "fuzzy"):
            count = int((frame["located"] == how).sum())
            if count:
                notes.append(
                    f"{name}: {count} contexts were located in the text by {how} search, not exactly"
                )
    return Violations(
        truth, predictions, documents, checkers, flat_spans(truth_spans), flat_spans(spans),
        pd.DataFrame(lost), data.label, tuple(notes),
    )  # fmt: skip


def _documents(data: Dataset) -> tuple[pd.DataFrame, list[str]]:
    import pandas as pd

    faults: list[str] = []
    documents = data.get("documents")
    if documents is None:
        if "text" not in data["truth"]:
            raise BadInput(
                f"{data.label}: the truth has no column text and there is no table documents (sample_id, text)"
            )
        documents = data["truth"][["sample_id", "text"]].drop_duplicates()
        doubled = documents.loc[documents["sample_id"].duplicated(), "sample_id"].unique()
        faults += [f"truth: sample {sample} has different texts in different rows" for sample in doubled]
    known = set(documents["sample_id"])
    for table in ("truth", "predictions"):
        samples = pd.Index(data[table]["sample_id"].unique())
        faults += [f"{table}: sample {s} has no text in documents" for s in samples[~samples.isin(known)]]
    return documents.sort_values("sample_id", ignore_index=True), faults


def _spans(
    frame: pd.DataFrame, texts: Mapping[str, str], table: str, threshold: float, faults: list[str]
) -> tuple[list[list[tuple[int, int]]], pd.DataFrame]:
    """Spans of every row from ``spans``, else ``start, end``, else a located ``context``; and the rows not found."""
    n = len(frame)
    start = frame["start"].to_numpy(dtype=float) if "start" in frame else np.full(n, np.nan)
    end = frame["end"].to_numpy(dtype=float) if "end" in frame else np.full(n, np.nan)
    listed = frame["spans"].tolist() if "spans" in frame else [[]] * n
    contexts = frame["context"].tolist() if "context" in frame else [""] * n
    size = frame["sample_id"].map({s: len(t) for s, t in texts.items()}).fillna(0).to_numpy(dtype=float)
    given = ~np.isnan(start) & ~np.isnan(end)
    whole = given & np.array([not spans for spans in listed], dtype=bool)
    wrong = whole & ((start < 0) | (end <= start) | (end > size))
    for i in np.flatnonzero(wrong):
        faults.append(
            f"{_row(table, frame, i)}: span {start[i]:.0f}–{end[i]:.0f} is not inside its text of {size[i]:.0f} characters"
        )
    out: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for i in np.flatnonzero(whole & ~wrong):
        out[i] = [(int(start[i]), int(end[i]))]
    how = np.where(whole, "given", "").astype(object)
    lost = []
    for i in np.flatnonzero(~whole):
        sample = frame["sample_id"].iat[i]
        if listed[i]:
            beyond = [s for s in listed[i] if s[1] > size[i]]
            if beyond:
                faults.append(
                    f"{_row(table, frame, i)}: span {beyond[0]} is not inside its text of {size[i]:.0f} characters"
                )
            out[i], how[i] = [(int(a), int(b)) for a, b in listed[i]], "given"
        elif str(contexts[i]).strip():
            place = locate(contexts[i], texts.get(sample, ""), threshold)
            out[i], how[i] = ([(place.start, place.end)], place.how) if place else ([], "not found")
            if place is None:
                lost.append(i)
        else:
            faults.append(f"{_row(table, frame, i)}: neither start and end nor spans nor a context")
    frame["located"] = how
    columns = [c for c in ("sample_id", "checker", "violation_id", "context") if c in frame]
    return out, frame.iloc[lost][columns].reset_index(drop=True)


def _row(table: str, frame: pd.DataFrame, i: int) -> str:
    return f"{table}: violation {frame['violation_id'].iat[i]} of sample {frame['sample_id'].iat[i]}"


def _clip(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _checkers(column: pd.Series, faults: list[str]) -> pd.DataFrame:
    """``name@version|model`` split into its parts."""
    import pandas as pd

    names = pd.Series(sorted(column.unique()), dtype=str)
    parts = names.str.extract(r"^(?P<name>[^@|]+)@(?P<version>[^@|]+)\|(?P<model>.+)$")
    faults += [
        f"predictions: checker {n!r} is not written name@version|model" for n in names[parts["name"].isna()]
    ]
    return pd.concat([names.rename("checker"), parts], axis=1)


class Codes(NamedTuple):
    """Integer codes of every pair: rows of truth and of predictions, (sample, checker) group, and (truth, checker) side.

    Each checker matches the truth anew, so the true side of an assignment is the truth under that checker.
    """

    truth: np.ndarray
    predicted: np.ndarray
    group: np.ndarray
    side: np.ndarray


def pair_codes(violations: Violations) -> Codes:
    """Every predicted × every true violation of one sample, never across samples."""
    import pandas as pd

    samples = pd.Index(violations.documents["sample_id"])
    t = samples.get_indexer(violations.truth["sample_id"])
    p = samples.get_indexer(violations.predictions["sample_id"])
    first = np.searchsorted(t, np.arange(len(samples)))
    count = np.bincount(t, minlength=len(samples))
    size = count[p]
    right = np.repeat(np.arange(len(p)), size)
    nth = np.arange(len(right)) - np.repeat(np.cumsum(size) - size, size)
    left = first[p[right]] + nth
    checker = pd.Categorical(
        violations.predictions["checker"], categories=violations.checkers["checker"]
    ).codes
    checkers, of = max(1, len(violations.checkers)), checker[right].astype(np.int64)
    return Codes(left, right, p[right].astype(np.int64) * checkers + of, left * checkers + of)


@dataclass(frozen=True)
class Pairs:
    """All pairs of a data set and their components, ready to be weighed.

    Attributes
    ----------
    violations : Violations
    codes : Codes
    components : mapping of str to (n,) arrays
        0–1, NaN where both sides lack the text.
    embed : str
    warnings : tuple of str
    """

    violations: Violations
    codes: Codes
    components: Mapping[str, np.ndarray]
    embed: str
    warnings: tuple[str, ...] = ()

    def frame(self) -> pd.DataFrame:
        """One row per pair with its ids and components."""
        import pandas as pd

        truth, predictions = self.violations.truth, self.violations.predictions
        return pd.DataFrame(
            {
                "sample_id": predictions["sample_id"].to_numpy()[self.codes.predicted],
                "checker": predictions["checker"].to_numpy()[self.codes.predicted],
                "truth_id": truth["violation_id"].to_numpy()[self.codes.truth],
                "prediction_id": predictions["violation_id"].to_numpy()[self.codes.predicted],
                **self.components,
            }
        )


def score_pairs(violations: Violations, *, embed: str = "use-multilingual", dtype: str = "float32") -> Pairs:
    """The components of every pair; each distinct string is embedded once.

    Parameters
    ----------
    violations : Violations
        From :func:`prepare`.
    embed : str
        Similarity backend: ``jaccard``, ``use-multilingual``, a sentence-transformers model, ``openai/…``.
    dtype : str
        What the model computes in.

    Returns
    -------
    Pairs
        ``text_overlap``: intersection over union of characters.  ``…_similarity``: cosine, negative ones count 0
        (``jaccard``: of word sets); both texts absent: NaN; one absent: 0.  ``category_match``: 0 or 1.
    """
    codes = pair_codes(violations)
    truth, predictions = violations.truth, violations.predictions
    components: dict[str, Any] = {
        "text_overlap": pair_overlaps(
            violations.truth_spans, violations.predicted_spans, codes.truth, codes.predicted
        )
    }
    backend = embedder(embed, dtype=dtype)
    texts: list[str] = []
    for component, column in TEXT_COMPONENTS.items():
        left, right = truth[column].tolist(), predictions[column].tolist()
        texts += [*left, *right]
        values = indexed_similarities(backend, [*left, *right], codes.truth, codes.predicted + len(left))
        components[component] = _with_absent(np.clip(values, 0, 1), left, right, codes)
    left, right = truth["category"].tolist(), predictions["category"].tolist()
    index = {name: i for i, name in enumerate(sorted({*left, *right}))}
    a, b = np.array([index[x] for x in left]), np.array([index[x] for x in right])
    same = (a[codes.truth] == b[codes.predicted]).astype(float) if len(codes.truth) else np.zeros(0)
    components["category_match"] = _with_absent(same, left, right, codes)
    warning = language_warning(backend.card, sorted(set(texts)))
    return Pairs(
        violations,
        codes,
        {name: components[name] for name in COMPONENTS},
        embed,
        (warning,) if warning else (),
    )


def _with_absent(values: np.ndarray, left: list[str], right: list[str], codes: Codes) -> np.ndarray:
    """Both texts absent: NaN; one absent: 0."""
    no_left = np.array([not x.strip() for x in left], dtype=bool)[codes.truth] if left else np.zeros(0, bool)
    no_right = (
        np.array([not x.strip() for x in right], dtype=bool)[codes.predicted] if right else np.zeros(0, bool)
    )
    return np.where(no_left & no_right, np.nan, np.where(no_left | no_right, 0.0, values))


@dataclass(frozen=True)
class Matching:
    """One assignment of predictions to truths.

    Attributes
    ----------
    score : (n,) array
        Weighted score of every pair.
    matched : (n,) array of bool
    why_truth, why_predicted : arrays of str
        Why a violation is unmatched; empty where it is matched.
    differs : (n_groups,) array of bool
        Groups (sample × checker) in which greedy and optimal assignment differ; by group code.
    """

    score: np.ndarray
    matched: np.ndarray
    why_truth: Mapping[str, np.ndarray]
    why_predicted: np.ndarray
    differs: np.ndarray


def match(
    pairs: Pairs,
    *,
    weights: Mapping[str, float] = STD_WEIGHTS,
    thresholds: Thresholds = Thresholds(),
    assignment: Assignment = "greedy",
    filter: Filter = "before",
    missing: Missing = "renormalise",
) -> Matching:
    """Assign predictions to truths one to one on the weighted score.

    Parameters
    ----------
    pairs : Pairs
        From :func:`score_pairs`; nothing is embedded again.
    weights : mapping of str to float
        Component → weight, non-negative, sum 1.
    thresholds : Thresholds
        Overlap, rule and score that a pair must exceed.
    assignment : {"greedy", "optimal"}
        Take the best pair and repeat (the seed), or maximise the total score.
    filter : {"before", "after"}
        Leave inadmissible pairs out first, or take the best pair and then check it, which blocks its row and column (the seed).
    missing : {"renormalise", "zero"}
        What a component counts that both sides lack.

    Raises
    ------
    BadInput
        For weights that are negative, do not sum to 1 or name no component, and for unknown options.
    """
    check_options(weights, assignment, filter, missing)
    codes, components = pairs.codes, pairs.components
    score = weighted_score(components, weights, missing)
    overlap, rule = components["text_overlap"], np.nan_to_num(components["rule_similarity"])
    good = admissible(overlap, rule, score, thresholds)
    some = np.flatnonzero(good)
    by_greedy, by_optimal = np.zeros(len(score), dtype=bool), np.zeros(len(score), dtype=bool)
    if filter == "after":
        by_greedy = greedy(score, overlap, codes.side, codes.predicted) & good
    else:
        by_greedy[some] = greedy(score[some], overlap[some], codes.side[some], codes.predicted[some])
    by_optimal[some] = optimal(score[some], codes.group[some], codes.side[some], codes.predicted[some])
    matched = by_optimal if assignment == "optimal" else by_greedy
    n_groups = len(pairs.violations.documents) * max(1, len(pairs.violations.checkers))
    differs = np.zeros(n_groups, dtype=bool)
    differs[codes.group[by_greedy != by_optimal]] = True
    size_t, size_p = len(pairs.violations.truth), len(pairs.violations.predictions)
    why_predicted = unmatched_reason(codes.predicted, size_p, overlap, rule, score, matched, thresholds)
    n_checkers = max(1, len(pairs.violations.checkers))
    why = unmatched_reason(
        codes.side, size_t * n_checkers, overlap, rule, score, matched, thresholds
    ).reshape(-1, n_checkers)
    why_truth = {checker: why[:, k] for k, checker in enumerate(pairs.violations.checkers["checker"])}
    return Matching(score, matched, why_truth, why_predicted, differs)


def check_options(weights: Mapping[str, float], assignment: str, filter: str, missing: str) -> None:
    """Refuse weights and options that :func:`match` cannot take, all at once."""
    faults = [
        f"weights: unknown component {name!r}; there are {', '.join(COMPONENTS)}"
        for name in weights
        if name not in COMPONENTS
    ]
    faults += [
        f"weights: {name} is {value}; weights are not negative"
        for name, value in weights.items()
        if not value >= 0
    ]
    if not faults and abs(sum(weights.values()) - 1) > 1e-6:
        faults.append(f"weights: sum {sum(weights.values()):g}; they must sum to 1")
    for name, value, known in (
        ("assignment", assignment, ("greedy", "optimal")),
        ("filter", filter, ("before", "after")),
        ("missing", missing, ("renormalise", "zero")),
    ):
        if value not in known:
            faults.append(f"{name}: {value!r}; one of {', '.join(known)}")
    if faults:
        raise BadInput.listing("matching cannot run with these options:", faults)
