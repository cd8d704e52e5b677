"""Human verdicts on pairs, joined with the pairs' components; and the items that the figures come from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.errors import BadInput
from evalbench.kit.answers import NO_REFERENCE
from evalbench.metrics.matching import COMPONENTS
from evalbench.studies.matching_calibration.search import Setting, Training, calls

if TYPE_CHECKING:
    import pandas as pd

PAIR = ("sample_id", "checker", "truth_id", "prediction_id")
CONSENSUS = ("majority", "mean")
DEFAULTS, BOUNDS = "seed defaults", "thresholds alone, held out"
HELD_OUT, TRAINED = "calibrated, held out", "calibrated, in training"
SETTINGS = (DEFAULTS, BOUNDS, HELD_OUT, TRAINED)
SPLIT = "the annotators are split"
NO_VERDICTS = "[]"


def judged_pairs(pairs: pd.DataFrame, verdicts: pd.DataFrame, consensus: str = "majority") -> pd.DataFrame:
    """One row per judged pair: ids, components, all verdicts, and what the humans say together.

    Parameters
    ----------
    pairs : DataFrame
        Every pair with its components, see :meth:`evalbench.studies.matching.Pairs.frame`.
    verdicts : DataFrame
        ``sample_id, checker, truth_id, prediction_id, is_match`` (0–1, NaN for none) and, optionally, ``annotator``.
    consensus : {"majority", "mean"}
        The verdict of most annotators (0 or 1; a tie is undefined), or the mean of their verdicts.

    Returns
    -------
    DataFrame
        Sorted by ids; ``human`` is NaN where the annotators are split or gave no verdict, ``verdicts`` a JSON list.

    Raises
    ------
    BadInput
        If a verdict names a pair that does not exist, or verdicts of one kind alone remain.
    """
    found = verdicts.groupby(list(PAIR), sort=True)["is_match"].agg(["mean", list]).reset_index()
    judged = found.merge(pairs, on=list(PAIR), how="left", indicator=True)
    strangers = judged[judged["_merge"] == "left_only"]
    if len(strangers):
        raise BadInput.listing(
            f"pair_verdicts: {len(strangers)} verdicts on pairs that do not exist (a true and a predicted violation of one sample):",
            [", ".join(f"{c} {row[c]}" for c in PAIR) for row in strangers.to_dict("records")],
        )
    human = judged["mean"].to_numpy(dtype=float)
    if consensus == "majority":
        human = np.where((human == 0.5) | np.isnan(human), np.nan, (human > 0.5).astype(float))
    known = human[~np.isnan(human)]
    if not len(known) or known.min() == known.max():
        raise BadInput(
            f"pair_verdicts: nothing to learn from {len(judged)} judged pairs: the humans must call some of them a match and some not"
        )
    judged["human"] = human
    judged["verdicts"] = [json.dumps(sorted(v for v in values if v == v)) for values in judged["list"]]
    judged["pair_id"] = judged[list(PAIR)].agg("|".join, axis=1)
    return judged[["pair_id", *PAIR, *COMPONENTS, "human", "verdicts"]]


def training(judged: pd.DataFrame, components: Sequence[str], missing: Any) -> Training:
    """Judged pairs as arrays; a pair on which the annotators are split keeps its NaN."""
    return Training(
        judged[list(components)].to_numpy(dtype=float),
        judged["text_overlap"].to_numpy(dtype=float),
        np.nan_to_num(judged["rule_similarity"].to_numpy(dtype=float)),
        judged["human"].to_numpy(dtype=float),
        missing,
    )


def items_of(
    judged: pd.DataFrame,
    data: Training,
    default: Setting,
    fold: np.ndarray,
    fitted: Mapping[int, Setting],
    bounds: Mapping[int, Setting],
) -> pd.DataFrame:
    """One row per judged pair and settings.

    The settings: the seed's defaults; thresholds alone, and weights and thresholds, as found on the folds without the
    pair; the latter as found on folds with it, where ``predicted`` is the share of these fits that call it a match.
    """
    import pandas as pd

    called = {k: calls(data, setting) for k, setting in fitted.items()}
    trained = [
        np.nanmean([np.where(fold == k, np.nan, found[part]) for k, found in called.items()], axis=0) for part in (0, 1)
    ]
    columns = {
        DEFAULTS: calls(data, default),
        BOUNDS: _held_out({k: calls(data, setting) for k, setting in bounds.items()}, fold),
        HELD_OUT: _held_out(called, fold),
        TRAINED: trained,
    }
    return pd.concat(
        [_rows(judged, name, score, predicted.astype(float)) for name, (score, predicted) in columns.items()],
        ignore_index=True,
    ).sort_values(["pair_id", "settings"], kind="stable", ignore_index=True)


def _held_out(called: Mapping[int, tuple[np.ndarray, np.ndarray]], fold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Score and call of every pair by the setting that was found without its fold."""
    rows = np.arange(len(fold))
    scores, calls_ = (np.stack([called[k][part] for k in sorted(called)]) for part in (0, 1))
    return scores[fold, rows], calls_[fold, rows]


def _rows(judged: pd.DataFrame, settings: str, score: np.ndarray, predicted: np.ndarray) -> pd.DataFrame:
    human = judged["human"].to_numpy(dtype=float)
    return judged[["pair_id", *PAIR, "human", "verdicts"]].assign(
        settings=settings,
        score=score,
        predicted=predicted,
        tp=human * predicted,
        fp=(1 - human) * predicted,
        fn=human * (1 - predicted),
        agreement=1 - np.abs(human - predicted),
        unscored="",
        undefined=np.where(~np.isnan(human), "", np.where(judged["verdicts"] == NO_VERDICTS, NO_REFERENCE, SPLIT)),
    )
