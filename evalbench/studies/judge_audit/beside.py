"""A judge that looks things up beside others on the same labelled answers: what looking up changed, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.judge.agent.naming import is_agent
from evalbench.studies.judge_audit import inputs
from evalbench.studies.judge_audit.items import GRADED, annotators_of

KEY = ["id", "model", "trial"]
COLUMNS = [
    inputs.CRITERION, "judge", "other", "of", "kind", "answers", "right", "right_other", "right_more", "right_more_low",
    "right_more_high", "kappa_more", "kappa_more_low", "kappa_more_high", "better", "worse", "seconds", "seconds_other", "cost",
    "cost_other",
]  # fmt: skip
_OF = ("lang", "model", "people say")
_LEAST = 2


def beside_of(items: pd.DataFrame, *, seed: int, n_resamples: int) -> pd.DataFrame:
    """A row for each judge that looks things up and each other judge, over all answers that both marked and people labelled,
    and one for each kind of them: language, model, what people say.

    Returns
    -------
    pandas.DataFrame
        ``right``: the share of marks that are the majority's; ``right_more`` and ``kappa_more``: by how much it is higher than the
        other's, and its Cohen's kappa with the majority (intervals draw ids; kappa is NaN where people say the same of all answers); ``better``, ``worse``: how many marks looking
        things up made right and wrong; seconds and cost are means of an answer, NaN where not known.  Without rows where no
        judge looks anything up.
    """
    rows: list[dict[str, Any]] = []
    scored = items[(items["undefined"] == "") & (items["scale"] != GRADED)]
    for criterion, own in scored.groupby(inputs.CRITERION, sort=True):
        names = sorted(own["asked"].unique())
        for agent in filter(is_agent, names):
            for other in (name for name in names if name != agent and not (is_agent(name) and name < agent)):
                pair = _paired(own, agent, other)
                for of, kind, part in _kinds(pair):
                    found = _compared(part, seed=seed, n_resamples=n_resamples)
                    rows.append(
                        {inputs.CRITERION: criterion, "judge": agent, "other": other, "of": of, "kind": kind, **found}
                    )
    return pd.DataFrame(rows, columns=COLUMNS)


def _paired(rows: pd.DataFrame, agent: str, other: str) -> pd.DataFrame:
    """The answers that both marked and people labelled, with the majority's label."""
    costs = [name for name in ("seconds", "cost") if name in rows]
    by_judge = rows.set_index(KEY)
    one, two = (by_judge[by_judge["asked"] == name] for name in (agent, other))
    joined = one.join(two[["mark", *costs]], rsuffix="_other", how="inner")
    known = joined[[*annotators_of(rows)]].to_numpy(dtype=float).reshape(len(joined), -1)
    truth = core.panels.majority(known) if known.shape[1] else np.full(len(joined), np.nan)
    joined = joined.assign(truth=truth).reset_index()
    return joined.dropna(subset=["mark", "mark_other", "truth"])


def _kinds(pair: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    yield "all", "", pair
    told = pair.assign(**{"people say": pair["truth"].map("{:g}".format)})
    for of in _OF:
        if of in told and 1 < told[of].nunique() <= 20:
            for kind, part in told.groupby(of, sort=True):
                yield of, str(kind), part


def _compared(pair: pd.DataFrame, *, seed: int, n_resamples: int) -> dict[str, Any]:
    truth, mark, other = (pair[name].to_numpy(dtype=float) for name in ("truth", "mark", "mark_other"))
    right, right_other = mark == truth, other == truth
    out: dict[str, Any] = {
        "answers": len(pair), "right": _mean(right), "right_other": _mean(right_other),
        "better": int((right & ~right_other).sum()), "worse": int((right_other & ~right).sum()),
    }  # fmt: skip
    for name in ("seconds", "cost", "seconds_other", "cost_other"):
        out[name] = _mean(pair[name].to_numpy(dtype=float)) if name in pair else math.nan
    return {**out, **_differences(pair, [truth, mark, other], seed=seed, n_resamples=n_resamples)}


def _differences(
    pair: pd.DataFrame, columns: Sequence[core.Floats], *, seed: int, n_resamples: int
) -> dict[str, float]:
    """Accuracy and kappa of the judge less the other's, with percentile intervals of a bootstrap of ids."""
    truth, mark, other = columns
    if pair["id"].nunique() < _LEAST:
        return {}
    gain = (mark == truth).astype(float) - (other == truth)

    def differences(weights: core.Floats) -> core.Floats:
        more = core.agreement.weighted_kappa(truth, mark, weights) - core.agreement.weighted_kappa(
            truth, other, weights
        )
        return np.column_stack([weights @ gain / weights.sum(axis=1), more])

    (value,) = differences(np.ones((1, len(pair))))
    drawn = core.seeds.rng(seed, "judge_audit/beside")
    replicates = core.stats.bootstrap_weights(pair["id"].to_numpy(dtype=str), differences, drawn, n_resamples)
    low, high = core.stats.percentile_interval(replicates)
    out: dict[str, float] = {}
    told = ("right_more", "kappa_more") if len(np.unique(truth)) > 1 else ("right_more",)
    for place, name in enumerate(told):
        out |= {name: float(value[place]), f"{name}_low": float(low[place]), f"{name}_high": float(high[place])}
    return out


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def notes_of(table: pd.DataFrame) -> list[str]:
    """What looking things up changed, a sentence for each pair of judges."""
    said = []
    for row in table[table["of"] == "all"].to_dict("records"):
        if not row["answers"]:
            continue
        low, high = row["right_more_low"], row["right_more_high"]
        interval = f" [{low:+.2f}, {high:+.2f}]" if not math.isnan(low) else ""
        cost = f", {row['seconds']:.1f} s an answer against {row['seconds_other']:.1f}" if not _unknown(row) else ""
        text = (
            f"{row['judge']} beside {row['other']}, on the same {core.counted(row['answers'], 'labelled answer')}: "
            f"{row['right']:.2f} agree with people against {row['right_other']:.2f} ({row['right_more']:+.2f}{interval}); "
            f"looking things up made {row['better']} right and {row['worse']} wrong{cost}"
        )
        said.append(text.replace("-0", "−0").replace("-1", "−1") + ".")
    return said


def _unknown(row: dict[Any, Any]) -> bool:
    return math.isnan(row["seconds"]) or math.isnan(row["seconds_other"])
