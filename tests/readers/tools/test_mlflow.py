"""MLflow: kinds of assessments, scorers that failed, references, human labels, the legacy table."""

import json

import pandas as pd
import pytest

from evalbench.errors import BadInput
from evalbench.readers.tools.known import imported


def feedback(name, value, kind="CODE", source="me", *, error=None, rationale=None, valid=True):
    given = {"value": value} | ({"error": {"error_code": "E", "error_message": error}} if error else {})
    found = {
        "assessment_name": name,
        "source": {"source_type": kind, "source_id": source},
        "feedback": given,
        "valid": valid,
    }
    return found | ({"rationale": rationale} if rationale else {})


def expectation(name, value):
    given = (
        {"value": value}
        if isinstance(value, str)
        else {"serialized_value": {"serialization_format": "JSON_FORMAT", "value": json.dumps(value)}}
    )
    return {
        "assessment_name": name,
        "source": {"source_type": "HUMAN", "source_id": "me"},
        "expectation": given,
        "valid": True,
    }


def row(name, assessments, *, asked=None, answer="Ja", **further):
    values = {}
    for a in assessments:
        part = a.get("feedback") or a["expectation"]
        values[f"{a['assessment_name']}/value"] = part.get("value")
        if part.get("error"):
            values[f"{a['assessment_name']}/error_message"] = part["error"]["error_message"]
    return {"trace_id": name, "request": asked or {"question": f"Frage {name}?"}, "response": answer, "trace": "{}", "spans": [],
            "tags": {"mlflow.x": "1", "team": "north"}, "assessments": assessments, **values, **further}  # fmt: skip


def written(path, rows):
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return path


ROWS = [
    row("a", [feedback("kind", "yes", "LLM_JUDGE", "oak-7b", rationale="polite"), feedback("exact", True), feedback("level", 4),
              feedback("kind by people", "no", "HUMAN", "ann", rationale="curt"), expectation("expected_response", "Nein")]),
    row("b", [feedback("kind", None, source="kind", error="gave up\nTrace"), feedback("exact", False), expectation("expected_facts", ["x", "y"])]),
    row("c", [feedback("kind", "often", "LLM_JUDGE", "oak-7b"), feedback("kind", "no", "HUMAN", "bob"),
              feedback("exact", True, valid=False), feedback("exact", False)], asked={"q": "и?", "k": 2}, answer=None),
]  # fmt: skip


@pytest.fixture
def run(tmp_path):
    return imported(written(tmp_path / "r.json", ROWS))


def values(found, metric):
    return found.frames["scores"].query("metric == @metric")[["id", "value", "detail"]].values.tolist()


def test_a_scorer_that_failed_is_unscored_and_of_the_kind_of_the_rows_that_worked(run):
    assert values(run, "kind") == [["a", 1.0, ""], ["b", None, "gave up"], ["c", None, 'mlflow: the score is "often"']]
    marks = run.frames["judgements"][["id", "judge", "mark", "label", "unscored"]].values.tolist()
    assert [m[1:] for m in marks if m[0] == "a"] == [["oak-7b", 1.0, "yes", ""]]
    assert [m[2:] for m in marks if m[0] != "a"] == [[None, "", "imported"], [None, "often", "imported"]]


def test_human_feedback_is_a_label_and_an_expectation_a_reference(run):
    labels = run.frames["labels"][["id", "annotator", "criterion", "mark", "label", "comment"]].values.tolist()
    assert labels == [["a", "ann", "kind by people", 0.0, "no", "curt"], ["c", "bob", "kind", 0.0, "no", ""]]
    items = run.frames["items"]
    assert items["reference"].tolist() == ["Nein", ["x", "y"], None]
    assert "kind by people" not in run.about["metrics"]
    assert run.about["labels"] == 2


def test_feedback_that_was_overridden_does_not_count_and_what_was_not_asked_is_not_applicable(run):
    assert values(run, "exact") == [["a", 1.0, ""], ["b", 0.0, ""], ["c", 0.0, ""]]
    facts = run.about["metrics"]["level"]
    assert (facts["n"], facts["missing"], facts["not_applicable"]) == (1, 0, 2)
    assert run.about["metrics"]["kind"]["scale"] == "yes/no"
    assert run.about["metrics"]["exact"]["scale"] == "true/false"


def test_requests_answers_and_tags(run):
    items = run.frames["items"]
    assert items["question"].tolist()[::2] == ["Frage a?", '{"k": 2, "q": "и?"}']
    assert items["answer"].tolist() == ["Ja", "Ja", None]
    assert set(items["team"]) == {"north"}
    assert "trace" in run.about["left_aside"]


def test_the_question_pairs_with_another_tools(run, tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({"user_input": "Frage a?", "response": "x", "exact_match": 1.0}), encoding="utf-8")
    other = imported(path)
    assert other.frames["items"]["question_hash"].tolist()[0] == run.frames["items"]["question_hash"].tolist()[0]


def test_a_csv_of_traces_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "r.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    with pytest.raises(BadInput, match=r"save it with result_df\.to_json"):
        imported(path)


def legacy(path, columns, *data):
    return written(path, {"columns": columns, "data": list(data)})


def test_a_judge_that_failed_in_the_legacy_table(tmp_path):
    words = "Failed to score model on payload. Error: 401"
    columns = [
        "inputs",
        "ground_truth",
        "outputs",
        "token_count",
        "answer_similarity/v1/score",
        "answer_similarity/v1/justification",
        "topic",
    ]
    found = imported(
        legacy(
            tmp_path / "t.json",
            columns,
            ["a?", "x", "y", 3, 4, "close", "sea"],
            ["b?", "x", "z", 3, None, words, "sea"],
        )
    )
    assert values(found, "answer_similarity") == [["q0001", 4.0, ""], ["q0002", None, words]]
    assert found.about["metrics"]["answer_similarity"]["scale"] == "1..5"
    assert list(found.about["metrics"]) == ["answer_similarity"]
    verdicts = found.frames["judgements"].to_dict("records")
    assert [(v["mark"], v["reason"], v["unscored"]) for v in verdicts] == [(4.0, "close", ""), (None, "", "imported")]
    assert found.frames["items"]["answer"].tolist() == ["y", "z"]
    assert found.frames["items"]["topic"].tolist() == ["sea", "sea"]


def test_reading_grades_are_free_and_two_versions_of_a_metric_stay_apart(tmp_path):
    columns = ["inputs", "predictions", "ari_grade_level/v1/score", "own/v1/score", "own/v2/score"]
    found = imported(legacy(tmp_path / "t.json", columns, ["a?", "y", 17.5, 0, 1], ["b?", "z", -1, 1, 1]))
    assert found.about["metrics"]["ari_grade_level"]["scale"] == "-1..17.5 (as found)"
    assert list(found.about["metrics"]) == ["ari_grade_level", "own", "own/v2"]


def test_without_assessments_a_missing_value_is_unscored(tmp_path):
    rows = [
        {k: v for k, v in row(name, [feedback("exact", value)]).items() if k != "assessments"}
        for name, value in (("a", True), ("b", None))
    ]
    assert values(imported(written(tmp_path / "r.json", rows)), "exact") == [
        ["a", 1.0, ""],
        ["b", None, "mlflow: no score"],
    ]
