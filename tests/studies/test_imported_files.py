"""Files of other tools in the studies: their verdicts audited, their human labels correlated, runs of two tools compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalbench import load
from evalbench.compare.runs import Hooks, compare
from evalbench.compare.sides import Side, with_names
from evalbench.core.result import Result
from evalbench.studies import human_correlation, imported, judge_audit, study

ROOT = Path(__file__).resolve().parents[2]
BEFORE = ROOT / "data" / "imported_runs" / "1.0.0" / "before.json"
N = 24


def written(path: Path, content: Any, *, lines: bool = False) -> Path:
    text = (
        "\n".join(json.dumps(row, ensure_ascii=False) for row in content)
        if lines
        else json.dumps(content, ensure_ascii=False)
    )
    path.write_text(text, encoding="utf-8")
    return path


def scored(name: str, value: float | None, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "threshold": 0.5,
        "success": value is not None and value >= 0.5,
        "score": value,
        "evaluationModel": "none",
        **more,
    }


def deepeval(path: Path) -> Path:
    """A run of N questions: exact match, and a judge that fails on the first."""
    cases, values = [], {"Exact Match": [], "Tone [GEval]": []}
    for i in range(N):
        judged = {"error": "judge reply did not parse"} if i == 0 else {"reason": "fine"}
        metrics = [
            scored("Exact Match", float(i % 3 > 0)),
            {**scored("Tone [GEval]", None if i == 0 else 0.5 + i / 60), "evaluationModel": "oak-7b", **judged},
        ]
        for metric in metrics:
            values[metric["name"]] += [] if metric["score"] is None else [metric["score"]]
        cases.append({"name": f"case {i}", "input": f"Вопрос {i}?", "actualOutput": "да", "expectedOutput": "да", "success": True,
                      "order": i, "metricsData": [{k: v for k, v in m.items() if v is not None} for m in metrics]})  # fmt: skip
    sums = [{"metric": m, "scores": v, "passes": len(v), "fails": 0, "errors": N - len(v)} for m, v in values.items()]
    return written(path, {"testCases": cases, "conversationalTestCases": [], "metricsScores": sums, "hyperparameters": {"model": "fern"},
                          "testPassed": N - 1, "testFailed": 1, "runDuration": 1.0})  # fmt: skip


def ragas(path: Path) -> Path:
    """The same questions in another order, with a metric of the same name."""
    rows = [
        {
            "user_input": f"Вопрос {i}?",
            "retrieved_contexts": None,
            "response": "нет",
            "reference": "да",
            "Exact Match": float(i % 2),
        }
        for i in reversed(range(N))
    ]
    return written(path, rows, lines=True)


def mlflow(path: Path) -> Path:
    """Answers with a judge's score and the marks of two people, as MLflow keeps its assessments."""
    rows = []
    for i in range(N):

        def given(name: str, kind: str, who: str, value: Any) -> dict[str, Any]:
            source = {"source_type": kind, "source_id": who}
            return {
                "assessment_name": name,
                "source": source,
                "feedback": {"value": value},
                "rationale": "so",
                "metadata": {},
                "valid": True,
            }

        assessments = [
            given("useful by oak", "LLM_JUDGE", "oak-7b", i % 5),
            given("useful", "HUMAN", "ann", min(4, i % 5 + (i % 7 == 0))),
            given("useful", "HUMAN", "bo", max(0, i % 5 - (i % 6 == 0))),
        ]
        rows.append({"trace_id": f"t{i}", "state": "OK", "request": {"question": f"Вопрос {i}?"}, "response": f"ответ {i}",
                     "useful by oak/value": i % 5, "assessments": assessments})  # fmt: skip
    return written(path, rows)


def result_of(path: Path) -> Result:
    return imported.evaluate(load(path, study="imported"), n_resamples=100)


def side(result: Result, run_id: str) -> Side:
    return Side(run_id, json.loads(json.dumps(result.to_json())), {}, result.items)


# -- intervals and counts straight from a file -----------------------------------------------------


def test_a_file_gets_intervals_and_says_what_failed(tmp_path):
    result = result_of(deepeval(tmp_path / "run.json"))
    exact, tone = (result.estimate(metric, model="fern") for metric in ("Exact Match", "Tone [GEval]"))
    assert (exact.value, exact.n, exact.method) == (pytest.approx(16 / 24), 24, "Wilson")
    assert (tone.n, tone.n_unscored) == (23, 1)
    assert set(result.tables["reasons"]["detail"]) == {"judge reply did not parse"}
    agrees = result.tables["theirs"].set_index("metric")["agrees"]
    assert agrees["Exact Match"] == agrees["Tone [GEval]"] == "yes"
    assert any(note.endswith("a run of deepeval (version not in the file)") for note in result.notes)


def test_the_sample_says_what_promptfoo_counts_as_0():
    table = result_of(BEFORE).tables["theirs"]
    row = table.query("metric == 'pass' and model == 'thistle-mini'").iloc[0]
    assert row["why"] == "8 scores that failed count as 0 there"
    assert row["ours"] > row["theirs"]
    pooled = table.query("metric == 'manner' and model == 'thistle-mini'").iloc[0]["why"]
    assert pooled.startswith("1 score that failed counts as 0 there, 7 answers without any score left out")


# -- runs of two tools -----------------------------------------------------------------------------


def test_runs_of_two_tools_are_paired_by_their_questions(tmp_path):
    a, b = with_names([
        side(result_of(deepeval(tmp_path / "run.json")), "deepeval"), side(result_of(ragas(tmp_path / "rows.jsonl")), "ragas")
    ])  # fmt: skip
    (found,) = compare(a, [b], Hooks.of(study("imported")), n_resamples=200)
    assert (found.n_shared, found.only_reference, found.only_side) == (N, 0, 0)
    (row,) = found.rows
    difference = sum(i % 2 for i in range(N)) / N - sum(i % 3 > 0 for i in range(N)) / N
    assert row.comparison.difference == pytest.approx(difference)
    assert any("Only in" in note and "Tone [GEval]" in note for note in found.notes)


# -- verdicts and labels ---------------------------------------------------------------------------


def test_recorded_verdicts_of_a_file_are_audited(tmp_path):
    labels = pd.DataFrame(
        {"id": [f"q{i:04d}" for i in range(1, 33) for _ in "ab"], "annotator": ["ann", "bo"] * 32,
         "model": "sorrel-9b", "trial": "1", "mark": [0.6 + (i % 4) / 10 for i in range(32) for _ in "ab"]}
    )  # fmt: skip
    labels.to_csv(tmp_path / "labels.csv", index=False)
    data = load(BEFORE, study="judge_audit", labels=tmp_path / "labels.csv")
    assert data["verdicts"]["answer"].ne("").any()
    result = judge_audit.evaluate(data, n_resamples=60)
    judge = "invented:juniper-judge"
    unmarked = next(e for e in result.summary.estimates if e.title == "share without a mark")
    assert unmarked.group["judge"] == judge
    assert unmarked.value == pytest.approx(3 / 121)


def test_human_labels_of_a_file_meet_the_tools_scores(tmp_path):
    result = human_correlation.evaluate(
        load(mlflow(tmp_path / "result.json"), study="human_correlation"), n_resamples=60
    )
    assert "useful by oak" in {row["scorer"] for row in result.items.to_dict("records")}
    own = result.items[result.items["scorer"] == "useful by oak"]
    assert own["score"].corr(own["human"]) > 0.8
    assert sorted(
        load(mlflow(tmp_path / "result.json"), study="human_correlation")["ratings"]["annotator"].unique()
    ) == ["ann", "bo"]


def test_a_table_of_labels_is_read_by_id_model_and_mark(tmp_path):
    rows = [
        {"id": f"q{i}", "model": model, "annotator": who, "criterion": "useful", "mark": (i + (who == "bo" and i % 5 == 0)) % 3}
        for i in range(20) for model in ("fern", "oak") for who in ("ann", "bo")
    ]  # fmt: skip
    path = tmp_path / "labels.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    data = load(path, study="human_correlation")
    assert {"id", "model", "mark"} <= set(data["items"])
    assert not any("was read as" in note for note in data.notes)
    result = human_correlation.evaluate(data, n_resamples=60)
    assert any(e.value is not None and e.n for e in result.summary.estimates)


def test_trials_are_systems_where_people_mark_each():
    rows = [
        {"id": f"q{i}", "model": "fern", "trial": t, "annotator": who, "criterion": "useful", "mark": (i + int(t)) % 3}
        for i in range(12) for t in "12" for who in ("ann", "bo")
    ]  # fmt: skip
    data = load({"items": pd.DataFrame(rows)}, study="human_correlation")
    assert set(data["items"]["model"]) == {"fern, trial 1", "fern, trial 2"}
