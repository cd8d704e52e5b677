"""How good are the violations that a checker found, against the ground truth?

Input: true and predicted violations of the same texts, each with one or several character spans (end
exclusive) or a quoted context, the violated rule, and optionally category, explanation, correction.

Figures (method document ``violations``, sections “How do we determine if there is a match” and “Metrics: summary”):
*std* score = 0.5 text overlap + 0.5 rule similarity; *ha* ("human-aligned") score = 0.3 overlap + 0.3 rule +
0.1 category + 0.2 explanation + 0.1 correction.  Each has its own one-to-one assignment.  ``f1`` counts std matches;
``match_score`` is the mean ha score over the true violations, 0 where none was matched.
"""

from __future__ import annotations

from collections.abc import Mapping

from evalbench import core, kit, readers
from evalbench.metrics.matching import Thresholds
from evalbench.readers import Column, Table
from evalbench.studies.contract import offered
from evalbench.studies.matching import forms, inputs, method, names, pairs, summary
from evalbench.studies.matching.inputs import Violations as Violations
from evalbench.studies.matching.inputs import prepare as prepare
from evalbench.studies.matching.items import checker_table, items_of, pair_table, split_table, violation_table
from evalbench.studies.matching.pairs import Matching as Matching
from evalbench.studies.matching.pairs import Pairs as Pairs
from evalbench.studies.matching.pairs import match as match
from evalbench.studies.matching.pairs import score_pairs as score_pairs

QUESTION = "How good are the violations that a checker found, against the ground truth?"
MEASURED_BY = dict.fromkeys(
    (
        *("overlap_threshold", "rule_threshold", "score_threshold", "ha_thresholds", "std_weights", "ha_weights"),
        *("weights_file", "assignment", "filter"),
    ),
    ("*",),
) | {"absent": ()}

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
        (
            Column("id", "id", help="the text"),
            Column("violation_id", "id"),
            *_SHARED,
            Column("origin", "text", required=False, empty_ok=True, help="synthetic, where a model made the violation"),
            Column("text", "text", required=False),
        ),
        unique=("id", "violation_id"),
        whole=True,
        help="one row per true violation; or per text, with lists of true and predicted ones; or both sides' rows, told apart by a "
        "column side",
    ),
    "predictions": Table(
        (
            Column("id", "id", help="the text"),
            Column("violation_id", "id"),
            Column("model", "id", groups=True, help="name@version|model, or a name"),
            *_SHARED,
        ),
        unique=("id", "model", "violation_id"),
        whole=True,
        trials="model",
        lists=True,
        help="one row per predicted violation and checker",
    ),
    "checkers": Table(
        (Column("model", "id", help="as in predictions"), Column("description", "text", help="what it is")),
        unique=("model",),
        required=False,
        describes=True,
        help="one row per checker; the page shows the descriptions",
    ),
    "documents": Table(
        (
            Column("id", "id", help="the text"),
            Column("text", "text"),
            Column("lang", "text", required=False, empty_ok=True),
        ),
        unique=("id",),
        required=False,
        help="one row per text; needed where a text has no true violation or the truth has no column text",
    ),
}


adapt = forms.violations_of
check = prepare


def evaluate(
    data: readers.Dataset,
    *,
    embed: str = pairs.EMBED,
    dtype: str = pairs.DTYPE,
    std_weights: Mapping[str, float] = pairs.STD_WEIGHTS,
    ha_weights: Mapping[str, float] = pairs.HA_WEIGHTS,
    overlap_threshold: float = pairs.DEFAULTS.overlap,
    rule_threshold: float = pairs.DEFAULTS.rule,
    score_threshold: float = pairs.DEFAULTS.score,
    ha_thresholds: Mapping[str, float] = {},
    weights_file: str = "",
    assignment: str = pairs.ASSIGNMENT,
    filter: str = pairs.FILTER,
    missing: str = pairs.MISSING,
    context_threshold: float = inputs.CONTEXT_THRESHOLD,
    floor: float = summary.FLOOR,
    absent: str = summary.UNKNOWN,
    light_on: str = summary.LIGHT_ON,
    green_from: float | None = None,
    yellow_from: float | None = None,
    lights: Mapping[str, Mapping[str, float]] = {},
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Match predicted to true violations and judge every checker.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="matching")``: tables truth, predictions, documents, checkers.
    embed, dtype : str
        Similarity of rules and texts: ``jaccard``, ``use-multilingual``, ``minilm``, a sentence-transformers name or
        ``openai/…``; what the model computes in.  See :func:`evalbench.models.similarity.embed.embedder`.
    std_weights, ha_weights : mapping of str to float
        Weights of the std score, sum 1; weights of the human-aligned score, sum 1.
    overlap_threshold, rule_threshold, score_threshold : float
        A pair may match only above this overlap; only above this rule similarity; only above this score (0–1 each).
    ha_thresholds : mapping of {"overlap", "rule", "score"} to float
        Thresholds of the ha score, if they differ.
    weights_file : str
        A JSON file of ``matching_calibration``; its values override the options above.
    assignment : {"greedy", "optimal"}
        ``greedy`` (best pair first) or ``optimal`` (largest total score).
    filter : {"before", "after"}
        Leave inadmissible pairs out ``before`` the best is taken, or check ``after``.
    missing : {"renormalise", "zero"}
        A part that both sides lack: ``renormalise`` the other weights, or ``zero``.
    context_threshold : float
        Least similarity of a context that is located fuzzily, 0–1.
    floor : float
        Below this match quality the light is at best yellow; 0: whatever it is, as in the method document.
    absent : {"unknown", "nothing"}
        A text in which a checker has no row: ``unknown`` holds a light back where others have more, ``nothing`` was found.
    light_on : {"f1", "match_score", "ha_f1"}
        Metric of the light: ``f1``, ``match_score`` or ``ha_f1``.
    green_from, yellow_from : float or None
        Green at or above; yellow at or above, red below.  Both, or neither: then it is unlit.
    lights : mapping of str to mapping, optional
        Thresholds of further figures, ``{"recall": {"green_from": 0.9, "yellow_from": 0.7}}``; where less is better
        ``green_to`` and ``yellow_to``, at or below.  The worst light decides.

    Returns
    -------
    Result
        ``items``: one row per text and checker.  ``tables``: ``pairs``, ``violations``, ``documents``, ``split``,
        ``checkers``; with several checkers ``comparisons``; ``faults`` where a predicted context is not in its text.

    Raises
    ------
    BadInput
        For faults of the tables or the options, all at once.
    """
    options = kit.stated(evaluate, locals())
    calibration = inputs.read_weights(options.pop("weights_file"))
    options |= calibration.get("parameters", {})
    limits = {name: options[f"{name}_threshold"] for name in Thresholds._fields}
    weights = {name: options[name] for name in ("std_weights", "ha_weights")}
    how = {name: options[name] for name in ("assignment", "filter", "missing")}
    checks = kit.Checks(options)
    checks.share("context_threshold", *(f"{name}_threshold" for name in limits))
    checks.any_of(ha_thresholds=limits)
    checks.share(**{f"ha_thresholds {name}": value for name, value in options["ha_thresholds"].items()})
    pairs.check_options(checks, weights, **how)
    summary.check_options(checks)
    checks.refuse("matching")
    of_std, of_ha = Thresholds(**limits), Thresholds(**{**limits, **options["ha_thresholds"]})
    described = data.get("checkers")
    data, trials = kit.trials.spread(data, SCHEMA)
    violations = prepare(data, context_threshold=context_threshold)
    scored = pairs.score_pairs(violations, embed=embed, dtype=dtype)
    std = pairs.match(scored, weights=options["std_weights"], thresholds=of_std, **how)
    ha = pairs.match(scored, weights=options["ha_weights"], thresholds=of_ha, **how)
    items, of_trials = trials.averaged(items_of(scored, std, ha), "id")
    items = kit.grouping.carried(items, data, unit="id")
    if not any(what in note for note in data.notes for what in (names.BY_TEXT, names.CLEAN)):
        items = kit.evidence.mark_absent(items, "model", "id", found="n_predicted", due="n_truth")
    checkers = trials.names(violations.checkers)
    compared = kit.comparing.compare_groups(
        items,
        [m for m in summary.measures() if m.metric in {"f1", "match_score", light_on}],
        "model",
        units="id",
        rank_by=light_on,
        seed=seed,
        n_resamples=n_resamples,
    )
    result = kit.result_of(
        evaluate,
        data,
        options,
        items,
        id="id",
        by=("model",),
        judged=kit.collecting.several("checker", checkers),
        tables={
            "pairs": pair_table(scored, std, ha),
            "violations": violation_table(scored, std, ha),
            "documents": violations.documents,
            "split": split_table(violations, data.card),
            "checkers": checker_table(checkers, trials.named(violations.predictions), described),
        },
        some={"comparisons": compared, "faults": violations.faults},
        notes=(
            *kit.comparing.in_words(compared, "model", light_on, len(checkers), called="checker"),
            *violations.notes,
            *pairs.cautions(scored),
            *scored.warnings,
            *method.hardly_overlapping(items),
            *method.remarks(items, len(violations.faults)),
            *method.calibrated(calibration, options),
        ),
        method=method.described(options, of_std, of_ha, violations.placed),
        accounting={**scored.accounting, "models": {"embed": embed}},
    )
    return trials.reported(result, of_trials, summary.measures())


globals().update(offered(__name__))
