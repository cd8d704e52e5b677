"""Judged pairs under each of the settings: the items that the figures come from, and the tables beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalbench import kit
from evalbench.studies.matching import Pairs
from evalbench.studies.matching_calibration import inputs, search

DEFAULTS, BOUNDS = "defaults", "thresholds alone, held out"
HELD_OUT, TRAINED = "calibrated, held out", "calibrated, in training"
SETTINGS = (DEFAULTS, BOUNDS, HELD_OUT, TRAINED)
SPLIT = "the annotators are split"


def items_of(
    judged: pd.DataFrame,
    data: search.Training,
    default: search.Setting,
    fold: np.ndarray,
    fitted: Mapping[int, search.Setting],
    bounds: Mapping[int, search.Setting],
) -> pd.DataFrame:
    """One row per judged pair and settings.

    The settings: the defaults; thresholds alone, and weights and thresholds, as found on the folds without the
    pair; the latter as found on folds with it, where ``predicted`` is the share of these fits that call it a match.
    """
    called = {k: search.calls(data, setting) for k, setting in fitted.items()}
    trained = [
        np.nanmean([np.where(fold == k, np.nan, found[part]) for k, found in called.items()], axis=0) for part in (0, 1)
    ]
    columns = {
        DEFAULTS: search.calls(data, default),
        BOUNDS: _held_out({k: search.calls(data, setting) for k, setting in bounds.items()}, fold),
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
    return judged[["pair_id", *inputs.PAIR, "human", "verdicts"]].assign(
        settings=settings,
        score=score,
        predicted=predicted,
        tp=human * predicted,
        fp=(1 - human) * predicted,
        fn=human * (1 - predicted),
        agreement=1 - np.abs(human - predicted),
        unscored="",
        undefined=np.where(
            ~np.isnan(human), "", np.where(judged["verdicts"] == inputs.NO_VERDICTS, kit.answers.NO_REFERENCE, SPLIT)
        ),
    )


def fits_table(
    data: search.Training,
    components: Sequence[str],
    default: search.Setting,
    fitted: Mapping[int, search.Setting],
    final: search.Setting,
    fold: np.ndarray,
) -> pd.DataFrame:
    """The defaults, the setting of every fold and that of all texts, with F1 on the pairs in training and held out."""
    known = ~np.isnan(data.human)
    rows = []
    for name, setting in [("defaults", default), *fitted.items(), ("all", final)]:
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


def _f1(data: search.Training, setting: search.Setting) -> float:
    called = search.calls(data, setting)[1]
    total = called.sum() + data.human.sum()
    return float(2 * (called * data.human).sum() / total) if total else float("nan")


def sensitivity_table(
    data: search.Training, components: Sequence[str], final: search.Setting, default: search.Setting
) -> pd.DataFrame:
    """F1 on all judged pairs as one weight and the score threshold move; the other weights keep their proportions."""
    levels, grid = np.round(np.linspace(0, 1, 11), 2), np.round(np.arange(0.2, 0.81, 0.05), 2)
    parts = []
    for j, component in enumerate(components):
        others = np.delete(np.array(final.weights), j)
        others = others if others.sum() > 0 else np.delete(np.array(default.weights), j)
        rest = np.outer(1 - levels, others / others.sum())
        weights = np.insert(rest, j, levels, axis=1)
        surface = search.f1_surface(data, weights, final.thresholds.overlap, final.thresholds.rule, grid.tolist())
        w, t = np.meshgrid(levels, grid, indexing="ij")
        parts.append(
            pd.DataFrame(
                {"component": component, "weight": w.ravel(), "score_threshold": t.ravel(), "f1": surface.ravel()}
            )
        )
    return pd.concat(parts, ignore_index=True)


def described(
    judged: pd.DataFrame, pairs: Pairs, data: search.Training, default: search.Setting, final: search.Setting
) -> pd.DataFrame:
    """Judged pairs with their rules, and what the defaults and the weights from all texts call them."""
    out = judged.copy()
    for side, frame in (("truth", pairs.violations.truth), ("prediction", pairs.violations.predictions)):
        rules = frame.drop_duplicates(["id", "violation_id"]).set_index(["id", "violation_id"])["rule"]
        out[f"{side}_rule"] = rules.loc[list(zip(out["id"], out[f"{side}_id"], strict=True))].to_numpy()
    for name, setting in (("default", default), ("calibrated", final)):
        out[f"{name}_score"], out[f"{name}_match"] = search.calls(data, setting)
    return out
