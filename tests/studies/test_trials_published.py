"""Two snapshots of a model as two trials of 1 000 questions: published accuracies, and flickering counted directly."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from evalbench.studies import text_metrics


@pytest.mark.external
@pytest.mark.parametrize("model", ["gpt-4", "gpt-3.5"])
def test_snapshots_as_trials_have_their_published_accuracies(model, external_data):
    folder = external_data("llm_drift")
    rows = pd.read_parquet(folder / "prime_full_eval.parquet")
    rows = rows[rows["model"].str.contains(model, regex=False)]
    words = rows["answer"].astype(str).str.lower()
    said = np.select([words.str.contains(r"\byes\b"), words.str.contains(r"\bno\b")], ["yes", "no"], "")
    table = pd.DataFrame(
        {
            "id": rows["id"].astype(str),
            "trial": rows["model"],
            "output": said,
            "reference": rows["ref_answer"].astype(str).str.lower().str.extract(r"(yes|no)", expand=False),
        }
    )
    result = text_metrics.evaluate({"items": table}, metrics=["exact_match"], n_resamples=100)
    published = {
        name: v for name, v in json.loads((folder / "expected.json").read_text())["prime"].items() if model in name
    }
    each = result.tables["trials"].groupby("trial")["exact_match"].mean()
    (curve,) = (one["curve"] for one in result.trials["pass_k"])
    for snapshot, accuracy in published.items():
        (own,) = (value for name, value in each.items() if snapshot in name)
        assert own == pytest.approx(accuracy, abs=0.0006), snapshot
    assert curve[0]["pass_at_k"] == pytest.approx(each.mean())
    right = result.tables["trials"].pivot(index="id", columns="trial", values="exact_match")
    (flickering,) = result.trials["flickering"]
    assert flickering["n"] == int((right.iloc[:, 0] != right.iloc[:, 1]).sum())
    if model == "gpt-4":  # right, then wrong, or wrong, then right
        assert flickering["share"] == pytest.approx(0.476 + 0.147, abs=0.001)
    assert curve[1]["pass_at_k"] - curve[1]["pass_hat_k"] == pytest.approx(flickering["share"])
