"""Invented runs of a study in small, as the sides of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from evalbench.compare.runs import Hooks, compare
from evalbench.compare.sides import Side, with_names
from evalbench.core.measures import Measure, estimate, f1_of, mean_of, share_of
from evalbench.core.result import Estimate, Summary
from evalbench.core.verdict import Verdict

N = 40


def measures(power: float = 1.0) -> list[Measure]:
    raised = Measure("power", ("score", "#score"), lambda s, n: (s / n) ** power)
    return [mean_of("score"), share_of("right"), f1_of("tp", "fp", "fn"), raised]


def summarise(items: pd.DataFrame, *, power: float = 1.0, seed: int = 0, n_resamples: int = 200) -> Summary:
    """A study in small: sums, and a correlation that is no sum."""
    found: list[Estimate] = []
    for name, rows in items.groupby("checker", sort=True):
        group = {"checker": str(name)}
        done = estimate(rows, measures(power), units=rows["id"], seed=seed, group=group, n_resamples=n_resamples)
        r = rows["score"].corr(rows["truth"])
        found += [
            *done.estimates,
            Estimate(metric="r", value=float(r), unit="−1–1", higher_is_better=True, n=len(rows), group=group),
        ]
    return Summary(tuple(found), Verdict("unlit", "said"))


MEASURES = Hooks(measures, summarise)


def items(shift: Mapping[str, float], seed: int = 0, n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 1, n)
    frames = []
    for checker, by in shift.items():
        score = np.clip(0.3 * truth + 0.3 + by + rng.normal(0, 0.05, n), 0, 1)
        frames.append(pd.DataFrame({
            "id": [f"t{i:03}" for i in range(n)], "checker": checker, "truth": truth, "score": score,
            "right": (score > 0.5).astype(float), "tp": 2.0 * (score > 0.4), "fp": 1.0 * (score < 0.5),
            "fn": 2.0 * (score <= 0.4), "unscored": "", "undefined": "",
        }))  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def run(
    frame: pd.DataFrame, run_id: str = "r1", *, sha: str = "0" * 64, study: str = "toy", **parameters: object
) -> Side:
    stated = {"power": 1.0, "seed": 0, "n_resamples": 200, **parameters}
    summary = summarise(frame, **{k: v for k, v in stated.items() if k in ("power", "seed", "n_resamples")})
    results = {
        "study": study, "question": "Which is better?", "judged": "checkers", "by": ["checker"], "id": "id", "light": "unlit", "tables": {},
        "parameters": stated, "summary": [e.row() for e in summary.estimates],
        "data": {"name": "set", "version": "1", "sha256": sha, "synthetic": True},
    }  # fmt: skip
    return Side(run_id, results, {"status": "ok", "started": "2026-01-02T03:04:05Z"}, frame)


def one(side: Side, checker: str) -> Side:
    return replace(side, items=side.rows({"checker": checker}), selected={"checker": checker})


def differences(left: Side, right: Side, **options: object):
    a, b = with_names([left, right])
    return compare(a, [b], MEASURES, **{"n_resamples": 300, "n_summaries": 8, **options})[0]
