"""deepeval: metrics of single cases and dialogues, errors, directions, the forms of its files."""

import json

import pytest

from evalbench.errors import BadInput
from evalbench.readers.tools.known import imported


def metric(name, score=None, passed=True, threshold=0.5, **further):
    data = {"name": name, "threshold": threshold, "success": passed, **further}
    return data if score is None else {**data, "score": score}


CASES = [
    {"name": "a", "input": "Wie alt?", "actualOutput": "", "context": [], "metricsData": [
        metric("Bias", 0.2, evaluationModel="oak-7b", reason="mild", evaluationCost=0.01, inputTokenCount=30, outputTokenCount=4),
        metric("Own", 0.9), metric("Faithful", 0.9, error="timed out", passed=False)]},
    {"input": "Сколько лет?", "actualOutput": "Семь", "order": 1, "metadata": {"model": "x", "nested": {"a": 1}}, "metricsData": [
        metric("Own", 0.2, passed=False), metric("Bias", passed=False, error="Evaluation LLM outputted an invalid JSON.\nTrace", evaluationModel="oak-7b")]},
]  # fmt: skip
DIALOGUE = {
    "name": "talk", "scenario": "Billing", "expectedOutcome": "refund",
    "turns": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi", "retrievalContext": ["c1"]},
              {"role": "user", "content": "Refund?"}, {"role": "assistant", "content": "Done"}],
    "metricsData": [metric("Turn Relevancy", 1.0, evaluationModel="oak-7b")],
}  # fmt: skip


def written(path, **content):
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture
def run(tmp_path):
    path = written(
        tmp_path / "test_run.json",
        testCases=CASES,
        conversationalTestCases=[DIALOGUE],
        metricsScores=[{"metric": "Bias", "scores": [0.2], "passes": 1, "fails": 0, "errors": 1}],
        testPassed=1,
        testFailed=2,
    )
    return imported(path)


def test_metrics_of_a_row_are_scored_unscored_or_not_applicable(run):
    facts = run.about["metrics"]
    counts = {name: (f["n"], f["missing"], f["not_applicable"]) for name, f in facts.items()}
    assert counts == {"Bias": (1, 1, 1), "Own": (2, 0, 1), "Faithful": (0, 1, 2), "Turn Relevancy": (1, 0, 2)}
    assert facts["Faithful"]["missing_words"] == {"timed out": 1}  # a score beside an error is not one
    assert facts["Bias"]["missing_words"] == {"Evaluation LLM outputted an invalid JSON.": 1}


def test_direction_comes_from_the_rows_that_pass(run):
    facts = run.about["metrics"]
    assert (facts["Bias"]["higher_is_better"], facts["Bias"]["direction_from"]) == (False, "file")
    assert (facts["Own"]["higher_is_better"], facts["Own"]["direction_from"]) == (True, "file")
    assert facts["Faithful"]["direction_from"] == "assumed"


def test_a_dialogue_keeps_its_turns(run):
    item = run.frames["items"].to_dict("records")[-1]
    assert (item["id"], item["answer"], item["reference"], item["contexts"]) == ("talk", "Done", "refund", ["c1"])
    assert item["messages"] == DIALOGUE["turns"]
    assert item["question"].endswith("user: Refund?")


def test_verdicts_are_those_of_metrics_with_a_judge(run):
    rows = run.frames["judgements"].to_dict("records")
    assert [(r["id"], r["criterion"], r["mark"], r["unscored"]) for r in rows] == [
        ("a", "Bias", 0.2, ""), ("test_case_1", "Bias", None, "imported"), ("talk", "Turn Relevancy", 1.0, "")]  # fmt: skip
    assert (rows[0]["tokens"], rows[0]["cost"], rows[0]["reason"]) == (34, 0.01, "mild")


def test_metadata_do_not_overwrite_our_columns(run):
    items = run.frames["items"]
    assert "model" not in items
    assert items["metadata_model"].tolist()[1] == "x"
    assert items["nested"].tolist()[1] == '{"a": 1}'
    assert items["answer"].tolist()[:2] == ["", "Семь"]
    assert items["contexts"].tolist()[0] == []


def test_what_the_tool_counts_as_failed_is_beside_ours(run):
    mean, overall = run.about["figures"]
    assert (mean["tool_value"], mean["ours"], mean["agrees"], mean["reason"]) == (0.2, 0.2, True, "failed-left-out")
    assert (overall["tool_value"], overall["ours"], overall["n"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3), 3)
    assert overall["words"].startswith("a metric that raised an error fails its test case: 2 of 3 cases")


def test_a_wrapped_run_is_read_and_a_link_refused(tmp_path):
    found = imported(written(tmp_path / "a.json", testRunData={"testCases": CASES, "hyperparameters": {"model": "m"}}))
    assert found.about["models"] == ["m"]
    with pytest.raises(BadInput, match=r"holds only a link to a run, no results; import .*latest_run_full\.json"):
        imported(written(tmp_path / "b.json", testRunLink="https://example.com/run"))


def test_cases_of_one_name_stay_apart(tmp_path):
    found = imported(written(tmp_path / "a.json", testCases=[CASES[0], CASES[0]], conversationalTestCases=[]))
    assert found.frames["items"]["id"].tolist() == ["a", "a (2)"]


def test_a_model_that_the_file_names_is_not_renamed(tmp_path):
    path = written(tmp_path / "a.json", testCases=CASES, hyperparameters={"model": "m"})
    with pytest.raises(BadInput, match="--model n: the file names its model itself, m"):
        imported(path, model="n")


def test_a_row_that_nothing_checked_is_unscored(tmp_path):
    found = imported(
        written(tmp_path / "a.json", testCases=[CASES[0], {"name": "b", "input": "x", "actualOutput": "y"}])
    )
    assert found.frames["items"][["unscored", "detail"]].values.tolist() == [
        [None, None],
        ["imported", "nothing checked this row"],
    ]
    assert "1 of 2 rows have no score of any metric: nothing checked them" in found.about["notes"]


def test_what_the_tool_keeps_for_itself_is_not_listed_as_left_aside(tmp_path):
    case = {**CASES[0], "success": True, "runDuration": 1.0, "toolsCalled": [{"name": "search"}], "expectedTools": None}
    body = {"testCases": [case], "runDuration": 2.0, "evaluationCost": 0.1, "testFile": "t.py", "notes": "by hand"}
    assert imported(written(tmp_path / "r.json", **body)).about["left_aside"] == {"toolsCalled": 1, "notes": 1}
