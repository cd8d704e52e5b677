"""Drift on published answers: a model whose answers changed between March and June, and published indices of two years' questions."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from drifted import evaluated

from evalbench.studies.drift.statistics import statistics_of
from evalbench.studies.drift.summary import found_of, settings_of

pytestmark = pytest.mark.external
N_DRAWS, N_ROWS = 60, 30


def answers(folder, model: str) -> pd.DataFrame:
    """A snapshot's answers; one that holds the word yes, in any case, says yes; else one that holds no says no."""
    rows = pd.read_parquet(folder / "prime_full_eval.parquet")
    rows = rows[rows["model"] == f"openaichat/{model}"]
    said = rows["answer"].str.lower()
    verdict = np.where(said.str.contains(r"\byes\b"), "yes", np.where(said.str.contains(r"\bno\b"), "no", "neither"))
    truth = rows["ref_answer"].str.lower()
    return pd.DataFrame(
        {
            "id": rows["id"].to_numpy(),
            "question": rows["query"].to_numpy(),
            "answer": rows["answer"].to_numpy(),
            "prediction": verdict,
            "reference": truth.to_numpy(),
            "label": (verdict == truth).astype(int).astype(str).to_numpy(),
        }
    )


def test_the_accuracy_of_june_is_no_better_than_always_no(external_data) -> None:
    folder = external_data("llm_drift")
    frames = {side: answers(folder, model) for side, model in (("oos", "gpt-4-0314"), ("oot", "gpt-4-0613"))}
    found = evaluated(frames, embed="", tests=["key_metric", "statistics"], key_bands={})
    published = json.loads((folder / "expected.json").read_text())["prime"]
    for side, model in (("oos", "gpt-4-0314"), ("oot", "gpt-4-0613")):
        assert found.estimate("quality", side=side).value == pytest.approx(published[model], abs=1e-9)
    note = found.estimate("quality", side="oot").note
    assert 'accuracy 0.511, no better than always "no" (0.500, p 0.51)' in note
    assert "better than always" in found.estimate("quality", side="oos").note
    assert found.estimate("drop").light == "red"


@pytest.mark.slow
def test_thirty_answers_a_side_show_the_drift_always_and_the_drop_mostly(external_data) -> None:
    folder = external_data("llm_drift")
    then, now = answers(folder, "gpt-4-0314"), answers(folder, "gpt-4-0613")
    settings = settings_of({"n_resamples": 2, "n_permutations": 39})
    dropped = red = 0
    for draw in range(N_DRAWS):
        rng = np.random.default_rng(draw)
        parts = [
            f.iloc[rng.choice(len(f), N_ROWS, replace=False)].assign(side=s) for f, s in ((then, "oos"), (now, "oot"))
        ]
        rows = pd.concat(parts, ignore_index=True)
        items = rows.assign(key=rows["label"].astype(float), unscored="", undefined="")
        found = found_of(items, ("key_metric", "statistics"), settings)
        of = {s.name: s for s in found.statistics if s.part == "response"}
        lit = {e.metric: e.light for test in found.tests for e in test.estimates}
        for name in ("counts", "frequencies"):
            assert of[name].index.p < 0.05, (draw, name)
            assert lit[f"{name}_responses"] == "red", (draw, name)
        red += found.lights["statistics"] == "red"
        dropped += found.lights["key_metric"] == "red"
    assert red >= 0.98 * N_DRAWS
    assert 0.7 < dropped / N_DRAWS < 0.9


@pytest.mark.parametrize("name", ["2022H2_vs_2026", "2022H2_even_vs_odd_control"])
def test_published_indices_by_the_study_itself(external_data, name: str) -> None:
    """Texts with as many words as the published rows have tokens: index, edges and counts are the published ones."""
    folder = external_data("drift_reference")
    expected = json.loads((folder / "expected.json").read_text())[name]["n_tokens"]
    rows = pd.DataFrame([json.loads(line) for line in (folder / f"{name}_features.jsonl").read_text().splitlines()])
    items = pd.DataFrame(
        {
            "id": [str(i) for i in range(len(rows))],
            "side": np.where(rows["part"] == "ref", "oos", "oot"),
            "question": ["word " * n for n in rows["n_tokens"].astype(int)],
            "answer": "",
        }
    )
    found = statistics_of(
        items, np.empty((0, len(items))), np.arange(len(items)), parts=("request",), n_permutations=99
    )
    index = next(s.index for s in found if s.name == "counts")
    assert np.allclose(index.edges, expected["inner_edges"])
    assert (list(index.reference), list(index.current)) == (expected["ref_counts"], expected["cur_counts"])
    assert index.value == pytest.approx(expected["psi_eps1e4"], abs=1e-6)
    assert (index.p == 0.01) == (name == "2022H2_vs_2026")
