"""Which weights and thresholds of ``matching`` agree best with human verdicts on pairs, and do they beat the defaults?

Input: the tables of ``matching`` and human verdicts on pairs of a true and a predicted violation: ``mark`` is 0 or 1, or
a score between, by one or several annotators.  Pairs that nobody judged are not used.

A pair is called a match where overlap, rule similarity and weighted score exceed their thresholds; the one-to-one
assignment of ``matching`` is left out, since humans judge pairs.  Weights (non-negative, sum 1) and thresholds are
searched for on all folds of texts but one and judged on that one, against the defaults on the same texts; the
weights that are written come from all texts.  The method document ``violations``, section “Metrics: summary”, leaves this
calibration to the future; cross-validation by groups: Hastie, Tibshirani & Friedman (2009), The Elements of Statistical
Learning, section 7.10.

The light: green where the gain's 95 % interval lies above 0 on texts that were not trained on, red where it lies below,
yellow where no difference is shown (then the defaults do as well), grey where no gain can be computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evalbench import core, errors, kit, readers
from evalbench.metrics.matching import Thresholds
from evalbench.studies import matching
from evalbench.studies.contract import offered
from evalbench.studies.matching.inputs import CONTEXT_THRESHOLD, prepare
from evalbench.studies.matching.pairs import CHOICES, DTYPE, EMBED, MISSING, score_pairs
from evalbench.studies.matching_calibration import inputs, method, search
from evalbench.studies.matching_calibration.items import described, fits_table, items_of, sensitivity_table
from evalbench.studies.matching_calibration.summary import summarise

QUESTION = "Which weights and thresholds agree best with human verdicts on pairs, and do they beat the defaults on unseen texts?"
MAKES_ITEMS = ("objective",)
MEASURED_BY = dict.fromkeys(("consensus", "n_folds"), ("*",))
JUDGED_OPTIONS = ("score", "objective", "weights", "thresholds", "embed", "dtype", "missing", "context_threshold")
SCHEMA: Mapping[str, readers.Table] = {
    "truth": matching.SCHEMA["truth"],
    "predictions": matching.SCHEMA["predictions"].without_trials("people judged single predictions, which are not averaged"),
    "pair_verdicts": readers.Table(
        (
            *(readers.Column(name, "id", former=inputs.FORMER.get(name, ())) for name in inputs.PAIR),
            readers.Column("mark", "float", former=inputs.FORMER["mark"], empty_ok=True, low=0, high=1, help="0 no, 1 yes, or a score between; empty: no verdict"),
            readers.Column("annotator", "id", required=False, help="who judged; needed where a pair has several verdicts"),
        ),
        unique=(*inputs.PAIR, "annotator"),
        help="one row per judged pair and annotator; the ids are violation_id of truth and predictions",
    ),
    "documents": matching.SCHEMA["documents"],
}  # fmt: skip


adapt = inputs.adapted


def check(data: readers.Dataset) -> None:
    """Refuse what ``matching`` refuses, and violations without places, whose overlap cannot be weighed.

    Raises
    ------
    BadInput
    """
    if not prepare(data).placed:
        raise errors.BadInput(
            "no violation has a place in its text (start and end, spans, or context), so that overlap cannot be weighed"
        )


def evaluate(
    data: readers.Dataset,
    *,
    score: str = "ha",
    objective: str = search.F1,
    consensus: str = inputs.MAJORITY,
    weights: bool = True,
    thresholds: Sequence[str] = search.SEARCHED,
    n_folds: int = 5,
    embed: str = EMBED,
    dtype: str = DTYPE,
    missing: str = MISSING,
    context_threshold: float = CONTEXT_THRESHOLD,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Calibrate one score of ``matching`` to human verdicts and judge it on texts that it has not seen.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="matching_calibration")``: tables truth, predictions, pair_verdicts, documents.
    score : {"ha", "std"}
        The score that is calibrated: ``ha`` (human-aligned, five parts) or ``std`` (overlap and rule).
    objective : {"f1", "spearman"}
        What should be highest: ``f1`` of the calls against the verdicts, or ``spearman`` of score and verdict
        (thresholds then follow by F1).
    consensus : {"majority", "mean"}
        Of several annotators: their ``majority`` (a tie is undefined), or the ``mean`` (the share of yes counts in part).
    weights : bool
        Whether the weights may change, or the thresholds alone.
    thresholds : sequence of {"score", "overlap", "rule"}
        Those that may change.
    n_folds : int
        Folds of whole texts: from 2 to the number of judged texts.
    embed, dtype, missing, context_threshold
        As for :func:`evalbench.studies.matching.evaluate`; the weights are only good for the same ``embed``.

    Returns
    -------
    Result
        ``items``: one row per judged pair and settings.  ``tables``: ``fits`` (weights and thresholds of each fold and of
        all texts), ``sensitivity``, ``pairs``.  ``files``: ``weights.json``, which ``matching`` takes as ``weights_file``.

    Raises
    ------
    BadInput
        For faults of the tables, the verdicts or the options, all at once.
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    checks.choices(score=method.WEIGHTS, objective=search.OBJECTIVES)
    checks.choices(consensus=inputs.CONSENSUS, missing=CHOICES["missing"])
    checks.any_of(thresholds=search.SEARCHED)
    checks.share("context_threshold")
    checks.at_least(2, "n_folds")
    checks.refuse("matching_calibration")
    pairs = score_pairs(prepare(data, context_threshold=context_threshold), embed=embed, dtype=dtype)
    judged = inputs.judged_pairs(pairs.frame(), data["pair_verdicts"], consensus)
    n_texts = judged[inputs.UNIT].nunique()
    checks.that(*inputs.enough_texts(n_folds, n_texts))
    checks.refuse("matching_calibration")
    components = list(method.WEIGHTS[score])
    arrays = inputs.training(judged, components, missing)
    default = search.Setting(tuple(method.WEIGHTS[score].values()), Thresholds())
    fold = search.folds(judged[inputs.UNIT], n_folds, core.seeds.rng(seed, "folds"))
    known = ~np.isnan(arrays.human)
    learn = {k: arrays.of(known & (fold != k)) for k in range(n_folds)}
    fitted = {k: search.fitted(data_k, default, objective, thresholds, weights=weights) for k, data_k in learn.items()}
    bounds = {k: search.fitted(data_k, default, objective, thresholds, weights=False) for k, data_k in learn.items()}
    final = search.fitted(arrays.of(known), default, objective, thresholds, weights=weights)
    items = kit.grouping.carried(items_of(judged, arrays, default, fold, fitted, bounds), data, unit=inputs.UNIT)
    summary = summarise(items, **kit.taken(summarise, options))
    found = method.weights_of(score, final)
    return kit.result_of(
        evaluate,
        data,
        options,
        items,
        id="pair_id",
        by=("settings",),
        judged=f"the {score} score of matching, {embed} similarities",
        summary=summary,
        tables={
            "fits": fits_table(arrays, components, default, fitted, final, fold),
            "sensitivity": sensitivity_table(arrays.of(known), components, final, default),
            "pairs": described(judged, pairs, arrays, default, final),
        },
        notes=(
            *method.remarks(judged, score, found),
            *method.worth(summary, objective),
            *pairs.violations.notes,
            *pairs.warnings,
        ),
        method=method.described(options),
        accounting={**pairs.accounting, "models": {"embed": embed}},
        files={"weights.json": method.weights_file(found, data.label, options, summary)},
    )


globals().update(offered(__name__))
