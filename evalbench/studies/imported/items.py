"""One row per answer: the scores that a tool gave it, and why scores are missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalbench import readers
from evalbench.studies.imported import inputs
from evalbench.studies.imported.columns import IMPORTED

TEXTS = ("question", "answer", "reference", "contexts", "error")


def items_of(rows: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """The items of scored answers.

    Returns: ``id``, ``unit`` (that is resampled: a hash of the question, or the id), ``model``, a column per metric
    (:func:`~evalbench.studies.imported.inputs.column_of`), ``COLUMN_unscored`` and ``COLUMN_undefined`` where a value
    is missing, of all metrics; ``unscored`` where no metric that was asked for has a value, or none was asked for; ``undefined``
    nowhere.
    """
    columns = [inputs.column_of(name) for name in metrics]
    values = np.stack([rows[c].to_numpy(dtype=float) for c in columns])
    why = np.stack([rows[f"{c}_unscored"].to_numpy(dtype=object) for c in columns])
    reasons = np.array(["; ".join(filter(None, dict.fromkeys(row))) or IMPORTED for row in why.T], dtype=object)
    lost = np.isnan(values).all(axis=0)
    kept = [c for column in columns for c in (column, f"{column}_unscored", f"{column}_undefined")]
    out = rows[["id", inputs.UNIT, "model", *kept]].assign(unscored=np.where(lost, reasons, ""), undefined="")
    # Of an answer that nothing checked every metric is unscored, and none not applicable.
    for c in columns:
        never = lost & (out[f"{c}_undefined"] != "").to_numpy() & (why == "").all(axis=0)
        out[f"{c}_unscored"] = np.where(never, IMPORTED, out[f"{c}_unscored"])
        out[f"{c}_undefined"] = np.where(never, "", out[f"{c}_undefined"])
    return out


def without_empty(items: pd.DataFrame, each: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Items without the reasons of metrics of which no answer has one.

    - ``each``: The items of every trial.
    """
    reasons = [f"{inputs.column_of(name)}_{kind}" for name in metrics for kind in ("unscored", "undefined")]
    return items.drop(columns=[c for c in reasons if (each[c] == "").all()])


def texts_of(rows: pd.DataFrame) -> pd.DataFrame:
    """The texts of every answer."""
    keys = ["id", "model", *([readers.schema.TRIAL] if readers.schema.TRIAL in rows else [])]
    return rows[[*keys, inputs.UNIT, *(c for c in TEXTS if c in rows)]].sort_values(
        keys, kind="stable", ignore_index=True
    )


def with_reasons(items: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The items with the reasons of one metric as ``unscored`` and ``undefined``."""
    column = inputs.column_of(metric)
    return items.assign(**{kind: items.get(f"{column}_{kind}", "") for kind in ("unscored", "undefined")})


def reasons_of(items: pd.DataFrame, scores: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """How many scores are missing, by model, metric, reason and the tool's own words, in no order; those never asked for apart.

    - ``items``: One row per answer, trials apart.
    """
    keys = ["metric", "model", "kind", "reason", "detail"]
    lost = scores[scores["unscored"] != ""].assign(kind="unscored", reason=lambda f: f["unscored"])
    found = [lost.groupby(keys, sort=False).size().rename("n").reset_index()]
    for metric in metrics:
        c = inputs.column_of(metric)
        for kind, reason in (("undefined", inputs.NOT_APPLICABLE), ("unscored", IMPORTED)):
            own = items[items.get(f"{c}_{kind}", pd.Series("", index=items.index)) != ""]
            if kind == "unscored":
                own = own[~inputs.among(own, scores[scores["metric"] == metric], ["id", "model"])]
            counts = own.groupby("model").size()
            found.append(
                pd.DataFrame(
                    {
                        "metric": metric,
                        "model": counts.index,
                        "kind": kind,
                        "reason": reason,
                        "detail": "nothing checked it" if kind == "unscored" else "",
                        "n": counts.to_numpy(),
                    }
                )
            )
    return pd.concat([f for f in found if len(f)] or [found[0]], ignore_index=True)


def in_order(reasons: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Counts of reasons, those of several parts together."""
    keys = ["metric", "model", "kind", "reason", "detail"]
    out = reasons.groupby(keys, sort=False, as_index=False)["n"].sum()
    out = out.assign(_at=out["metric"].map({m: i for i, m in enumerate(metrics)})).sort_values(
        ["_at", "model", "kind", "n", "detail", "reason"], ascending=[True, True, False, False, True, True]
    )
    ordered: pd.DataFrame = out.drop(columns="_at").reset_index(drop=True)
    return ordered
