"""How good are the violations that a checker found, against the ground truth?

Input: true and predicted violations of the same texts, each with one or several character spans (end
exclusive) or a quoted context, the violated rule, and optionally category, explanation, correction.

Figures (first document of the seeds): *std* score = 0.5 text overlap + 0.5 rule similarity; *ha*
("human-aligned") score = 0.3 overlap + 0.3 rule + 0.1 category + 0.2 explanation + 0.1 correction.  Each has its
own one-to-one assignment.  ``f1`` counts std matches; ``match_score`` is the mean ha score over the true
violations, 0 where none was matched.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.metrics.matching import COMPONENTS, Thresholds
from evalbench.readers.dataset import Dataset
from evalbench.readers.dataset import load as load_tables
from evalbench.readers.files import parsed_json
from evalbench.readers.schema import Column, Table
from evalbench.studies._passing import check_shares, check_together
from evalbench.studies.matching.comparison import compare_checkers, comparison_table, comparisons, verdicts
from evalbench.studies.matching.pairs import (
    HA_WEIGHTS,
    STD_WEIGHTS,
    Matching,
    Pairs,
    check_options,
    match,
    replaced,
    score_pairs,
)
from evalbench.studies.matching.pictures import (
    by_category,
    by_rule,
    documents,
    picture_checkers,
    picture_precision_recall,
    picture_score_matrix,
    unmatched,
    worst_samples,
)
from evalbench.studies.matching.summary import bands_of, items_of, measures, summarise
from evalbench.studies.matching.violations import Violations, prepare

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "HA_WEIGHTS",
    "QUESTION",
    "SCHEMA",
    "STD_WEIGHTS",
    "Matching",
    "Pairs",
    "Thresholds",
    "Violations",
    "by_category",
    "by_rule",
    "comparisons",
    "documents",
    "evaluate",
    "match",
    "measures",
    "picture_checkers",
    "picture_precision_recall",
    "picture_score_matrix",
    "prepare",
    "score_pairs",
    "summarise",
    "unmatched",
    "worst_samples",
]  # fmt: skip

QUESTION = "How good are the violations that a checker found, against the ground truth?"

_SHARED = (
    Column("start", "int", required=False, empty_ok=True, low=0, help="first character, counted in code points from 0"),
    Column("end", "int", required=False, empty_ok=True, low=1, help="one past the last character"),
    Column(
        "spans", "spans", required=False, empty_ok=True, help="several spans: [[start, end], …]; goes before start, end"
    ),
    Column("context", "text", required=False, empty_ok=True, help="the quoted passage, where no span is known"),
    Column("rule", "text", help="the violated rule, in words"),
    Column("category", "text", required=False, empty_ok=True),
    Column("explanation", "text", required=False, empty_ok=True),
    Column("correction", "text", required=False, empty_ok=True),
)
SCHEMA: Mapping[str, Table] = {
    "truth": Table(
        (Column("sample_id", "id"), Column("violation_id", "id"), *_SHARED, Column("text", "text", required=False)),
        unique=("sample_id", "violation_id"),
        nested="violations",
        help="one row per true violation",
    ),
    "predictions": Table(
        (
            Column("sample_id", "id"),
            Column("violation_id", "id"),
            Column("checker", "id", groups=True, help="name@version|model"),
            *_SHARED,
        ),
        unique=("sample_id", "checker", "violation_id"),
        help="one row per predicted violation and checker",
    ),
    "documents": Table(
        (Column("sample_id", "id"), Column("text", "text"), Column("lang", "text", required=False, empty_ok=True)),
        unique=("sample_id",),
        required=False,
        help="one row per text; needed where a text has no true violation or the truth has no column text",
    ),
}


def check(data: Dataset) -> None:
    """Refuse what the schema cannot see: spans beyond the text, contexts not in it, misspelt checkers.

    Raises
    ------
    BadInput
    """
    prepare(data)


def evaluate(
    data: Dataset | str | Path | Mapping[str, Any],
    *,
    embed: str = "use-multilingual",
    dtype: str = "float32",
    std_weights: Mapping[str, float] = STD_WEIGHTS,
    ha_weights: Mapping[str, float] = HA_WEIGHTS,
    overlap_threshold: float = 0.0,
    rule_threshold: float = 0.01,
    score_threshold: float = 0.5,
    ha_thresholds: Mapping[str, float] | None = None,
    weights_file: str = "",
    assignment: str = "greedy",
    filter: str = "before",
    missing: str = "renormalise",
    context_threshold: float = 0.8,
    light_on: str = "f1",
    yellow_from: float | None = None,
    green_from: float | None = None,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Result:
    """Match predicted to true violations and judge every checker.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="matching")``: tables truth, predictions, documents.
    embed, dtype : str
        Similarity backend for rules, explanations, corrections; see :func:`evalbench.models.similarity.embed.embedder`.
    std_weights, ha_weights : mapping of str to float
        Weights of the two scores, each non-negative with sum 1.
    overlap_threshold, rule_threshold, score_threshold : float
        A pair may match only above all three, strictly.
    ha_thresholds : mapping of {"overlap", "rule", "score"} to float, optional
        Those of the ha score, where they are others.
    weights_file : str
        A JSON file of ``matching_calibration``; what it states goes before the options above.
    assignment : {"greedy", "optimal"}
    filter : {"before", "after"}
    missing : {"renormalise", "zero"}
    context_threshold : float
        Least similarity of a context that is located fuzzily, 0–1.
    light_on, yellow_from, green_from
        See :func:`summarise`.
    seed, n_resamples : int

    Returns
    -------
    Result
        ``items``: one row per sample and checker.  ``tables``: ``pairs``, ``violations``, ``documents``; with several
        checkers ``comparisons``; ``faults`` where a predicted context does not stand in its text.

    Raises
    ------
    BadInput
        For faults of the tables or the options, all at once.
    """
    data = data if isinstance(data, Dataset) else load_tables(data, SCHEMA)
    stated = {
        "std_weights": dict(std_weights), "ha_weights": dict(ha_weights), "overlap_threshold": overlap_threshold,
        "rule_threshold": rule_threshold, "score_threshold": score_threshold, "ha_thresholds": dict(ha_thresholds or {}),
    }  # fmt: skip
    calibration = read_weights(weights_file) if weights_file else {}
    stated |= calibration.get("parameters", {})
    thresholds = Thresholds(stated["overlap_threshold"], stated["rule_threshold"], stated["score_threshold"])
    own = {k: v for k, v in stated["ha_thresholds"].items() if isinstance(v, (int, float))}
    check_together(
        lambda: check_shares(
            context_threshold=context_threshold,
            **{f"{name}_threshold": value for name, value in thresholds._asdict().items()},
            **{f"ha_thresholds {name}": value for name, value in own.items()},
        ),
        lambda: replaced(thresholds, stated["ha_thresholds"]),
        lambda: check_options(stated["std_weights"], assignment, filter, missing, name="std_weights"),
        lambda: check_options(stated["ha_weights"], assignment, filter, missing, name="ha_weights"),
        lambda: bands_of(light_on, yellow_from, green_from),
    )
    of_ha = replaced(thresholds, stated["ha_thresholds"])
    options = {"assignment": assignment, "filter": filter, "missing": missing}
    pairs = score_pairs(prepare(data, context_threshold=context_threshold), embed=embed, dtype=dtype)
    std = match(pairs, weights=stated["std_weights"], thresholds=thresholds, **options)
    ha = match(pairs, weights=stated["ha_weights"], thresholds=of_ha, **options)
    items = items_of(pairs, std, ha)
    violations = pairs.violations
    summary = summarise(
        items, light_on=light_on, yellow_from=yellow_from, green_from=green_from, seed=seed, n_resamples=n_resamples
    )
    compared = compare_checkers(items, light_on=light_on, seed=seed, n_resamples=n_resamples)
    checkers = violations.checkers["checker"].tolist()
    return Result(
        study="matching",
        question=QUESTION,
        judged=f"checker {checkers[0]}" if len(checkers) == 1 else f"{len(checkers)} checkers: {', '.join(checkers)}",
        parameters={
            "embed": embed, "dtype": dtype, **stated, **options, "context_threshold": context_threshold,
            "light_on": light_on, "yellow_from": yellow_from, "green_from": green_from, "seed": seed,
            "n_resamples": n_resamples,
        },
        data=data.label,
        id="sample_id",
        by=("checker",),
        items=items,
        summary=summary,
        tables={
            "pairs": pair_table(pairs, std, ha),
            "violations": violation_table(pairs, std, ha),
            "documents": violations.documents,
            **({"comparisons": comparison_table(compared)} if compared else {}),
            **({"faults": violations.faults} if len(violations.faults) else {}),
        },
        notes=(*verdicts(compared, light_on, len(checkers)), *violations.notes, *pairs.warnings, *_remarks(items, violations),
               *_calibrated(calibration, embed, missing)),
        method=_method(stated, thresholds, of_ha, embed, assignment, filter, missing),
        accounting={**pairs.accounting, "models": {"embed": embed}},
    )  # fmt: skip


def read_weights(path: str) -> dict[str, Any]:
    """A calibration file: ``parameters`` holds weights and thresholds, the rest says where they came from.

    Raises
    ------
    BadInput
        If it cannot be read or states something unknown.
    """
    known = {"std_weights", "ha_weights", "overlap_threshold", "rule_threshold", "score_threshold", "ha_thresholds"}
    try:
        content = parsed_json(Path(path).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"weights_file {path}: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("parameters"), dict):
        raise BadInput(f'weights_file {path}: expected an object with a key "parameters"')
    unknown = sorted(set(content["parameters"]) - known)
    if unknown:
        raise BadInput(f"weights_file {path}: unknown {', '.join(unknown)}; it may state {', '.join(sorted(known))}")
    return content


def _calibrated(calibration: Mapping[str, Any], embed: str, missing: str) -> list[str]:
    """Where calibrated weights came from, and a warning where this run scores otherwise than they were made for."""
    if not calibration:
        return []
    options, data = calibration.get("options") or {}, calibration.get("data") or {}
    out = [
        f"Weights and thresholds from a calibration on {data.get('name', 'unknown data')}: {calibration.get('sentence', '')}"
    ]
    for name, here in (("embed", embed), ("missing", missing)):
        there = options.get(name, here)
        if there != here:
            out.append(f"The weights were calibrated with {name}={there}, this run has {name}={here}: calibrate anew.")
    return out


def pair_table(pairs: Pairs, std: Matching, ha: Matching) -> pd.DataFrame:
    """One row per pair: ids, components, both scores, whether each assignment took it."""
    scores = {"std_score": std.score, "ha_score": ha.score, "std_match": std.matched, "ha_match": ha.matched}
    return pairs.frame().assign(**scores)


def violation_table(pairs: Pairs, std: Matching, ha: Matching) -> pd.DataFrame:
    """One row per true violation and checker, and per prediction: its spans, its partner, or why it has none."""
    import numpy as np
    import pandas as pd

    v, codes = pairs.violations, pairs.codes
    text = ["rule", "category", "explanation", "correction"]
    columns = ["sample_id", "violation_id", *text, "located"]
    checkers = v.checkers["checker"].tolist()
    spans_t, spans_p = _span_texts(v.truth_spans), _span_texts(v.predicted_spans)
    truth = pd.concat([v.truth[columns].assign(side="truth", checker=c, spans=spans_t) for c in checkers])
    predicted = v.predictions[[*columns, "checker"]].assign(side="prediction", spans=spans_p)
    for name, matching in (("std", std), ("ha", ha)):
        taken = np.flatnonzero(matching.matched)
        partner_t = np.full((len(v.truth), max(1, len(checkers))), "", dtype=object)
        partner_p = np.full(len(v.predictions), "", dtype=object)
        partner_t.reshape(-1)[codes.side[taken]] = v.predictions["violation_id"].to_numpy()[codes.predicted[taken]]
        partner_p[codes.predicted[taken]] = v.truth["violation_id"].to_numpy()[codes.truth[taken]]
        truth[f"{name}_partner"] = partner_t.T.reshape(-1)[: len(truth)]
        predicted[f"{name}_partner"] = partner_p
        truth[f"{name}_why_unmatched"] = np.concatenate([matching.why_truth[c] for c in checkers]) if checkers else ""
        predicted[f"{name}_why_unmatched"] = matching.why_predicted
    return pd.concat([truth, predicted], ignore_index=True)[
        ["sample_id", "checker", "side", "violation_id", "spans", "located", *text,
         "std_partner", "std_why_unmatched", "ha_partner", "ha_why_unmatched"]
    ]  # fmt: skip


def _span_texts(spans: Any) -> list[str]:
    bounds = zip(spans.first[:-1].tolist(), spans.first[1:].tolist(), strict=True)
    start, end = spans.start.tolist(), spans.end.tolist()
    if len(start) == len(spans.first) - 1 == spans.first[-1] and (spans.first[1:] > spans.first[:-1]).all():
        return list(map("[[{},{}]]".format, start, end))
    return ["[" + ",".join(f"[{start[i]},{end[i]}]" for i in range(a, b)) + "]" for a, b in bounds]


def _remarks(items: pd.DataFrame, violations: Violations) -> list[str]:
    out = []
    for prefix, name in (("", "std"), ("ha_", "ha")):
        count = int(items[f"{prefix}differs"].sum())
        out.append(f"Greedy and optimal {name} assignment differ in {count} of {len(items)} samples × checkers.")
    if len(violations.faults):
        out.append(
            f"{len(violations.faults)} predicted contexts do not stand in their text; they count as false positives (table faults)."
        )
    return out


def _method(
    stated: Mapping[str, Any], thresholds: Thresholds, of_ha: Thresholds, embed: str, assignment: str, filter: str, missing: str
) -> tuple[str, ...]:  # fmt: skip
    def formula(weights: Mapping[str, float]) -> str:
        return " + ".join(f"{weights[c]:g} × {c.replace('_', ' ')}" for c in COMPONENTS if weights.get(c))

    return (
        f"std score = {formula(stated['std_weights'])}",
        f"ha score = {formula(stated['ha_weights'])}",
        f"A pair may match if overlap > {thresholds.overlap:g}, rule similarity > {thresholds.rule:g} and score > "
        f"{thresholds.score:g}{_apart(thresholds, of_ha)}; {assignment} one-to-one assignment, inadmissible pairs left out {filter} the best is taken; "
        f"a part that both sides lack: {missing}.",
        "text overlap = characters in both / characters in either; similarities: "
        + (
            "Jaccard index of word sets"
            if embed == "jaccard"
            else f"cosine of {embed} embeddings, negative ones count 0"
        )
        + ".",
        "F1 = 2tp / (2tp + fp + fn), summed over texts; match_score = mean ha score over true violations, 0 where none matched; "
        "match_quality = the same over matched pairs.",
        "Weights and thresholds default to the values of the first seed document; intervals resample texts.",
    )


def _apart(thresholds: Thresholds, of_ha: Thresholds) -> str:
    if of_ha == thresholds:
        return ""
    return f" (ha: {of_ha.overlap:g}, {of_ha.rule:g} and {of_ha.score:g})"
