"""Which weights and thresholds of ``matching`` agree best with human verdicts on pairs, and do they beat the defaults?

Input: the tables of ``matching`` and human verdicts on pairs of a true and a predicted violation: ``is_match`` is 0 or 1, or
a score between, by one or several annotators.  Pairs that nobody judged are not used.

A pair is called a match where overlap, rule similarity and weighted score exceed their thresholds; the one-to-one
assignment of ``matching`` is left out, since humans judge pairs.  Weights (non-negative, sum 1) and thresholds are
searched for on all folds of texts but one and judged on that one, against the seed's defaults on the same texts; the
weights that are written come from all texts.  The work that the first seed document leaves to the future; cross-validation by
groups: Hastie, Tibshirani & Friedman (2009), The Elements of Statistical Learning, section 7.10.

The light: green where the gain's 95 % interval lies above 0 on texts that were not trained on, red where it lies below,
yellow where no difference is shown (then the defaults do as well), grey where no gain can be computed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.result import DataLabel, Result, Summary
from evalbench.core.seeds import rng
from evalbench.core.wording import estimate_text
from evalbench.errors import BadInput
from evalbench.metrics.matching import Thresholds
from evalbench.readers.dataset import Dataset
from evalbench.readers.schema import Column, Table
from evalbench.studies import matching
from evalbench.studies.matching import HA_WEIGHTS, STD_WEIGHTS
from evalbench.studies.matching_calibration.pictures import (
    disagreements,
    fits,
    picture_sensitivity,
    picture_settings,
    picture_weights,
    sensitivity,
)
from evalbench.studies.matching_calibration.search import (
    OBJECTIVES,
    Setting,
    Training,
    calls,
    f1_surface,
    folds,
    search,
)
from evalbench.studies.matching_calibration.summary import RULE as RULE
from evalbench.studies.matching_calibration.summary import measures, summarise
from evalbench.studies.matching_calibration.verdicts import (
    CONSENSUS,
    NO_VERDICTS,
    PAIR,
    items_of,
    judged_pairs,
    training,
)

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.studies.matching import Pairs

__all__ = [
    "QUESTION",
    "RULE",
    "SCHEMA",
    "UNIT",
    "Setting",
    "Training",
    "calls",
    "disagreements",
    "evaluate",
    "f1_surface",
    "fits",
    "folds",
    "judged_pairs",
    "measures",
    "picture_sensitivity",
    "picture_settings",
    "picture_weights",
    "search",
    "sensitivity",
    "summarise",
]  # fmt: skip

QUESTION = "Which weights and thresholds agree best with human verdicts on pairs, and do they beat the defaults on unseen texts?"
UNIT = "sample_id"
WEIGHTS = {"std": STD_WEIGHTS, "ha": HA_WEIGHTS}
SEARCHED = ("score", "overlap", "rule")
SCHEMA: Mapping[str, Table] = {
    "truth": matching.SCHEMA["truth"],
    "predictions": matching.SCHEMA["predictions"],
    "pair_verdicts": Table(
        (
            *(Column(name, "id") for name in PAIR),
            Column("is_match", "float", empty_ok=True, low=0, high=1, help="0 no, 1 yes, or a score between; empty: no verdict"),
            Column("annotator", "id", required=False, help="who judged; needed where a pair has several verdicts"),
        ),
        unique=(*PAIR, "annotator"),
        help="one row per judged pair and annotator; the ids are violation_id of truth and predictions",
    ),
    "documents": matching.SCHEMA["documents"],
}  # fmt: skip


def evaluate(
    data: Dataset,
    *,
    score: str = "ha",
    objective: str = "f1",
    consensus: str = "majority",
    weights: bool = True,
    thresholds: Sequence[str] = SEARCHED,
    n_folds: int = 5,
    embed: str = "use-multilingual",
    dtype: str = "float32",
    missing: str = "renormalise",
    context_threshold: float = 0.8,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Result:
    """Calibrate one score of ``matching`` to human verdicts and judge it on texts that it has not seen.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="matching_calibration")``: tables truth, predictions, pair_verdicts, documents.
    score : {"ha", "std"}
        Whose weights and thresholds are calibrated.
    objective : {"f1", "spearman"}
        What should be highest: F1 of the calls against the verdicts, or the rank correlation of score and verdict
        (thresholds then follow by F1).
    consensus : {"majority", "mean"}
        Several annotators: their majority, a tie is undefined; or the share of yes, which counts in part.
    weights : bool
        Whether the weights may change, or the thresholds alone.
    thresholds : sequence of {"score", "overlap", "rule"}
        Those that may change.
    n_folds : int
        2 up to the number of judged texts.
    embed, dtype, missing, context_threshold
        As for :func:`evalbench.studies.matching.evaluate`; the weights are only good for the same ``embed``.
    seed, n_resamples : int

    Returns
    -------
    Result
        ``items``: one row per judged pair and settings.  ``tables``: ``fits`` (weights and thresholds of each fold and of
        all texts), ``sensitivity``, ``pairs``.  ``files``: ``weights.json``, which ``matching`` takes as ``weights_file``.

    Raises
    ------
    BadInput
        For faults of the tables or the options, all at once.
    """
    _check(score, objective, consensus, thresholds, missing)
    pairs = matching.score_pairs(matching.prepare(data, context_threshold=context_threshold), embed=embed, dtype=dtype)
    judged = judged_pairs(pairs.frame(), data["pair_verdicts"], consensus)
    n_texts = judged["sample_id"].nunique()
    if not 2 <= n_folds <= n_texts:
        raise BadInput(f"n_folds: {n_folds}; {n_texts} texts have verdicts, so 2 to {n_texts} folds are possible")
    components = list(WEIGHTS[score])
    arrays = training(judged, components, missing)
    default = Setting(tuple(WEIGHTS[score].values()), Thresholds())
    fold = folds(judged["sample_id"], n_folds, rng(seed, "folds"))
    known = ~np.isnan(arrays.human)
    learn = [arrays.of(known & (fold != k)) for k in range(n_folds)]
    fitted = {k: search(data_k, default, objective, thresholds, weights=weights) for k, data_k in enumerate(learn)}
    bounds = {k: search(data_k, default, objective, thresholds, weights=False) for k, data_k in enumerate(learn)}
    final = search(arrays.of(known), default, objective, thresholds, weights=weights)
    items = items_of(judged, arrays, default, fold, fitted, bounds)
    summary = summarise(items, objective=objective, seed=seed, n_resamples=n_resamples)
    parameters = {
        "score": score, "objective": objective, "consensus": consensus, "weights": weights, "thresholds": list(thresholds), "n_folds": n_folds,
        "embed": embed, "dtype": dtype, "missing": missing, "context_threshold": context_threshold, "seed": seed,
        "n_resamples": n_resamples,
    }  # fmt: skip
    stated = stated_parameters(score, final)
    return Result(
        study="matching_calibration",
        question=QUESTION,
        judged=f"the {score} score of matching, {embed} similarities",
        parameters=parameters,
        data=data.label,
        id="pair_id",
        by=("settings",),
        items=items,
        summary=summary,
        tables={
            "fits": fits_table(arrays, components, default, {"defaults": default, **fitted, "all": final}, fold),
            "sensitivity": sensitivity_table(arrays.of(known), components, final, default),
            "pairs": described(judged, pairs, arrays, default, final),
        },
        notes=(*_notes(judged, score, stated), *_worth(summary, objective), *pairs.violations.notes, *pairs.warnings),
        method=_method(score, objective, consensus, thresholds, n_folds),
        accounting={**pairs.accounting, "models": {"embed": embed}},
        files={"weights.json": weights_file(stated, data.label, parameters, summary)},
    )


def _check(score: str, objective: str, consensus: str, thresholds: Sequence[str], missing: str) -> None:
    stated = (
        ("score", score, tuple(WEIGHTS)),
        ("objective", objective, OBJECTIVES),
        ("consensus", consensus, CONSENSUS),
        ("missing", missing, ("renormalise", "zero")),
        *(("thresholds", t, SEARCHED) for t in thresholds),
    )
    faults = [f"{name}: {value!r}; one of {', '.join(known)}" for name, value, known in stated if value not in known]
    if faults:
        raise BadInput.listing("matching_calibration cannot run with these options:", faults)


def stated_parameters(score: str, setting: Setting) -> dict[str, Any]:
    """A setting as parameters of ``matching``: only the calibrated score changes, the other keeps the defaults."""
    weights = dict(zip(WEIGHTS[score], setting.weights, strict=True))
    if score == "ha":
        return {"ha_weights": weights, "ha_thresholds": setting.thresholds._asdict()}
    o, r, s = setting.thresholds
    return {
        "std_weights": weights, "overlap_threshold": o, "rule_threshold": r, "score_threshold": s,
        "ha_thresholds": Thresholds()._asdict(),
    }  # fmt: skip


def weights_file(stated: Mapping[str, Any], label: DataLabel, parameters: Mapping[str, Any], summary: Summary) -> bytes:
    """What ``matching`` takes as ``weights_file``: parameters, and where they came from."""
    content = {
        "schema_version": 1,
        "parameters": dict(stated),
        "calibrated_by": "matching_calibration",
        "data": {"name": label.name, "version": label.version, "sha256": label.sha256, "synthetic": label.synthetic},
        "options": dict(parameters),
        "light": summary.verdict.light,
        "sentence": summary.verdict.sentence,
    }
    return (json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def fits_table(
    data: Training, components: Sequence[str], default: Setting, found: Mapping[int | str, Setting], fold: np.ndarray
) -> pd.DataFrame:
    """The defaults, the setting of every fold and that of all texts, with F1 on the pairs in training and held out."""
    import pandas as pd

    known = ~np.isnan(data.human)
    rows = []
    for name, setting in found.items():
        held = known & (fold == name) if isinstance(name, int) else np.zeros(len(fold), dtype=bool)
        trained = known & ~held
        rows.append(
            {
                "fold": str(name + 1) if isinstance(name, int) else name,
                **dict(zip(components, setting.weights, strict=True)),
                **{f"{k}_threshold": v for k, v in setting.thresholds._asdict().items()},
                "pairs_trained_on": int(trained.sum()) if name != "defaults" else 0,
                "f1_in_training": _f1(data.of(trained), setting),
                "f1_held_out": _f1(data.of(held), setting),
                "f1_of_defaults_held_out": _f1(data.of(held), default),
            }
        )
    return pd.DataFrame(rows)


def _f1(data: Training, setting: Setting) -> float:
    called = calls(data, setting)[1]
    total = called.sum() + data.human.sum()
    return float(2 * (called * data.human).sum() / total) if total else float("nan")


def sensitivity_table(data: Training, components: Sequence[str], final: Setting, default: Setting) -> pd.DataFrame:
    """F1 on all judged pairs as one weight and the score threshold move; the other weights keep their proportions."""
    import pandas as pd

    levels, grid = np.round(np.linspace(0, 1, 11), 2), np.round(np.arange(0.2, 0.81, 0.05), 2)
    parts = []
    for j, component in enumerate(components):
        others = np.delete(np.array(final.weights), j)
        others = others if others.sum() > 0 else np.delete(np.array(default.weights), j)
        rest = np.outer(1 - levels, others / others.sum())
        weights = np.insert(rest, j, levels, axis=1)
        surface = f1_surface(data, weights, final.thresholds.overlap, final.thresholds.rule, grid.tolist())
        w, t = np.meshgrid(levels, grid, indexing="ij")
        parts.append(
            pd.DataFrame(
                {"component": component, "weight": w.ravel(), "score_threshold": t.ravel(), "f1": surface.ravel()}
            )
        )
    return pd.concat(parts, ignore_index=True)


def described(judged: pd.DataFrame, pairs: Pairs, data: Training, default: Setting, final: Setting) -> pd.DataFrame:
    """Judged pairs with their rules, and what the defaults and the weights from all texts call them."""
    rules = {
        side: frame.set_index(["sample_id", "violation_id"])["rule"]
        for side, frame in (("truth", pairs.violations.truth), ("prediction", pairs.violations.predictions))
    }
    rules = {side: series[~series.index.duplicated()] for side, series in rules.items()}
    out = judged.copy()
    for side, series in rules.items():
        out[f"{side}_rule"] = series.loc[list(zip(out["sample_id"], out[f"{side}_id"], strict=True))].to_numpy()
    for name, setting in (("default", default), ("calibrated", final)):
        out[f"{name}_score"], out[f"{name}_match"] = calls(data, setting)
    return out


def _notes(judged: pd.DataFrame, score: str, stated: Mapping[str, Any]) -> list[str]:
    counts = judged["verdicts"].str.count(",") + 1
    silent = judged["verdicts"] == NO_VERDICTS
    split = int((judged["human"].isna() & ~silent).sum())
    out = [
        f"{len(judged)} judged pairs, {int((counts > 1).sum())} of them by several annotators"
        + (f"; on {split} the annotators are split, which are left out" if split else "")
        + (f"; {int(silent.sum())} have no verdict and are left out." if silent.any() else ".")
    ]
    weights = ", ".join(f"{k} {v:g}" for k, v in stated[f"{score}_weights"].items())
    limits = stated["ha_thresholds"] if score == "ha" else {k: stated[f"{k}_threshold"] for k in SEARCHED}
    bounds = ", ".join(f"{k} > {v:g}" for k, v in limits.items())
    other = "std" if score == "ha" else "ha"
    out.append(
        f"weights.json, from all texts: {weights}; {bounds}. It changes the {score} score of matching and leaves the {other} score alone."
    )
    return out


def _worth(summary: Summary, objective: str) -> list[str]:
    """Whether the weights add anything to the thresholds."""
    gain = next((e for e in summary.estimates if e.metric == f"gain_of_weights_{objective}"), None)
    if gain is None or gain.ci_low is None or gain.ci_high is None or objective != "f1":
        return []
    said = estimate_text(gain)
    if gain.ci_low > 0:
        return [f"The weights add to what the thresholds alone gain: {said}."]
    return [
        f"No gain of the weights over the thresholds alone is shown: {said}; thresholds are the simpler change (weights=False)."
    ]


def _method(score: str, objective: str, consensus: str, thresholds: Sequence[str], n_folds: int) -> tuple[str, ...]:
    what = {
        "f1": "F1 = 2tp / (2tp + fp + fn) of calls against verdicts",
        "spearman": "Spearman's ρ of score and verdict",
    }
    verdict = {
        "majority": "the verdict of most annotators, ties left out",
        "mean": "the share of annotators who say yes, which counts in part for tp, fp and fn",
    }
    return (
        f"Searched: weights of the {score} score (non-negative, sum 1, steps of 0.01) and the thresholds of "
        f"{', '.join(thresholds) or 'nothing'}; highest {what[objective]}; of equally good settings the one nearest the defaults.",
        f"Humans: {verdict[consensus]}.",
        f"Held out: {n_folds} folds of whole texts; every pair is called by the settings that were found on the other folds. "
        "In training: by those that saw it.  Thresholds alone: searched for with the default weights.",
        "A pair is called a match above all thresholds; the one-to-one assignment of matching plays no part.",
        "Defaults: weights and thresholds of the first seed document.  Intervals resample texts; they do not hold what another "
        "draw of training texts would change, for which see the spread of the folds' weights.",
        "Light: the 95 % interval of held out − defaults; its stability asks how often another draw of texts, with an interval as "
        "wide, gives the same light.",
    )
