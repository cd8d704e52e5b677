"""promptfoo: errors, failures, judges that failed, rows that nothing checked, repeats, prompts, versions."""

import json

import pytest

from evalbench.errors import BadInput
from evalbench.readers.dataset import load
from evalbench.readers.schema import Column, Table
from evalbench.readers.tools.known import imported

RUBRIC = {"type": "llm-rubric", "value": "is kind", "provider": {"id": "local:oak-7b"}}


def part(assertion, score, reason="Assertion passed", **further):
    return {"assertion": assertion, "pass": score > 0.5, "score": score, "reason": reason, **further}


def row(test=0, parts=(), *, asked="Wer?", output="Ich", provider="fern", prompt=0, label="short", **further):
    passed = all(p["pass"] for p in parts)
    found = {
        "testIdx": test, "promptIdx": prompt, "vars": {"question": asked}, "provider": {"id": provider, "label": ""},
        "prompt": {"raw": f"Say: {asked}", "label": label}, "response": {"output": output}, "success": passed,
        "score": sum(p["score"] for p in parts) / len(parts) if parts else 1, "failureReason": 0 if passed else 1,
        "error": None if passed else parts[0]["reason"], "namedScores": {},
        "testCase": {"assert": [p["assertion"] for p in parts if "assertion" in p]},
        "gradingResult": {"pass": passed, "score": 1, "reason": "No assertions" if not parts else "", "componentResults": list(parts)},
    }  # fmt: skip
    return {**found, **further}


def results(path, *rows, version=3, **further):
    path.write_text(
        json.dumps({"evalId": "e", "results": {"version": version, "results": rows, "stats": {}, **further}}),
        encoding="utf-8",
    )
    return path


def values(found, metric):
    return found.frames["scores"].query("metric == @metric")[["value", "detail"]].values.tolist()


@pytest.mark.parametrize(
    ("reason", "further"),
    [
        ("Could not extract JSON from llm-rubric response", {}),
        ("No output", {}),
        ("llm-rubric produced malformed response - not an object", {}),
        ("oak went away", {"metadata": {"graderError": True}}),
    ],
)
def test_a_judge_that_failed_is_unscored_and_so_are_score_and_pass(tmp_path, reason, further):
    parts = [part({"type": "contains", "value": "I"}, 1.0), part(RUBRIC, 0.0, reason, **further)]
    found = imported(results(tmp_path / "r.json", row(0, parts), row(1, [part(RUBRIC, 0.0, "not kind")], asked="Was?")))
    assert values(found, "llm-rubric") == [[None, reason], [0.0, ""]]
    assert values(found, "contains") == [[1.0, ""]]
    assert values(found, "score") == [[None, f"a judge failed: {reason}"], [0.0, ""]]
    assert values(found, "pass")[0][0] is None
    verdicts = found.frames["judgements"].to_dict("records")
    assert [(v["judge"], v["mark"], v["unscored"]) for v in verdicts] == [
        ("local:oak-7b", None, "imported"), ("local:oak-7b", 0.0, "")]  # fmt: skip


def test_only_reason_2_is_an_error_and_a_failure_has_one_too(tmp_path):
    failed = row(0, [part({"type": "equals", "value": "x"}, 0.0, "not equal")])
    broken = row(1, [part({"type": "equals", "value": "x"}, 0.0)], failureReason=2, error="HTTP 503", gradingResult=None, response={"error": "HTTP 503"})  # fmt: skip
    found = imported(results(tmp_path / "r.json", failed, broken))
    assert values(found, "equals") == [[0.0, ""], [None, "HTTP 503"]]
    assert values(found, "score") == [[0.0, ""], [None, "HTTP 503"]]
    assert found.frames["items"]["answer"].tolist() == ["Ich", None]
    assert found.frames["items"]["error"].tolist() == [None, "HTTP 503"]


def test_a_row_that_nothing_checked_is_unscored(tmp_path):
    found = imported(results(
        tmp_path / "r.json", row(0),
        prompts=[{"provider": "fern", "label": "short", "metrics": {"score": 1, "testPassCount": 1, "testFailCount": 0, "testErrorCount": 0}}],
    ))  # fmt: skip
    assert values(found, "score") == [[None, "No assertions"]]
    assert {f["reason"] for f in found.about["figures"]} == {"unchecked-as-1"}


def test_repeats_become_trials_whatever_the_order_of_rows(tmp_path):
    check = [part({"type": "equals", "value": "x"}, 1.0)]
    rows = [row(3, check, asked="b", output="4"), row(0, check, asked="a", output="1"), row(2, check, asked="b", output="3"), row(1, check, asked="a", output="2")]  # fmt: skip
    items = imported(results(tmp_path / "r.json", *rows)).frames["items"]
    assert items[["id", "trial", "answer"]].values.tolist() == [
        ["q0001", 1, "1"], ["q0001", 2, "2"], ["q0002", 1, "3"], ["q0002", 2, "4"]]  # fmt: skip


def test_equal_variables_with_other_assertions_are_other_questions(tmp_path):
    rows = row(0, [part({"type": "equals", "value": "x"}, 1.0)]), row(1, [part({"type": "equals", "value": "y"}, 1.0)])
    found = imported(results(tmp_path / "r.json", *rows))
    assert found.frames["items"]["id"].tolist() == ["q0001", "q0002"]
    assert found.about["trials"] == 1


def test_several_prompts_are_in_the_names_of_models(tmp_path):
    check = [part({"type": "equals", "value": "x"}, 1.0)]
    short = imported(
        results(tmp_path / "a.json", row(0, check, prompt=0, label="kind"), row(0, check, prompt=1, label="terse"))
    )
    assert short.about["models"] == ["fern (kind)", "fern (terse)"]
    template = "You are asked {{question}}. Answer."
    whole = imported(
        results(
            tmp_path / "b.json", row(0, check, prompt=0, label=template), row(0, check, prompt=1, label=template + "!")
        )
    )
    assert whole.about["models"] == ["fern (prompt 1)", "fern (prompt 2)"]


def test_without_variables_the_prompts_are_the_questions(tmp_path):
    check = [part({"type": "equals", "value": "x"}, 1.0)]
    rows = [row(0, check, vars={}, prompt=0, label="a"), row(0, check, vars={}, prompt=1, label="b")]
    rows[1]["prompt"]["raw"] = "Other?"
    found = imported(results(tmp_path / "r.json", *rows))
    assert found.frames["items"]["id"].tolist() == ["q0001", "q0002"]
    assert found.about["questions"] == 2


def test_metrics_have_their_name_else_their_type_and_sets_are_taken_apart(tmp_path):
    parts = [
        part({"type": "equals", "value": "x", "metric": "right"}, 1.0),
        part({"type": "contains", "value": "x"}, 1.0), part({"type": "contains", "value": "y"}, 0.0),
        {"pass": True, "score": 1, "reason": "", "componentResults": [part({"type": "regex", "value": "z"}, 1.0)]},
    ]  # fmt: skip
    found = imported(results(tmp_path / "r.json", row(0, parts)))
    assert list(found.about["metrics"]) == ["score", "pass", "right", "contains", "contains (2)", "regex"]


def test_an_output_that_is_an_object_survives(tmp_path):
    found = imported(results(tmp_path / "r.json", row(0, [part({"type": "is-json"}, 1.0)], output={"имя": "Ия"})))
    assert found.frames["items"]["answer"].tolist() == ['{"имя": "Ия"}']


def second(provider="fern", *, asked="Wer?", output="Ich", success=True, **further):
    return {
        "prompt": {"raw": f"Say: {asked}", "display": "Say: {{question}}"}, "vars": {"question": asked},
        "response": {"output": output}, "success": success, "score": float(success), "namedScores": {}, "latencyMs": 2000,
        "provider": {"id": provider, "label": ""},
        "gradingResult": {"pass": success, "score": float(success), "reason": "r", "componentResults": [part({"type": "contains", "value": "I"}, float(success))]},
        **further,
    }  # fmt: skip


def test_version_2_has_no_reasons_and_no_numbers_of_tests(tmp_path):
    rows = [
        second(), second(asked="Was?", success=False, error="Expected output to contain"),
        second(asked="Wo?", success=False, output=None, error="API error: 429", gradingResult=None, response={"error": "API error: 429"}),
        second("oak"), second("oak", asked="Was?"), second("oak", asked="Wo?"),
    ]  # fmt: skip
    metrics = {"score": 1, "testPassCount": 1, "testFailCount": 1, "testErrorCount": 1}
    table = {"head": {"prompts": [{"raw": "Say: {{question}}", "display": "Say: {{question}}", "provider": "fern", "metrics": metrics}]}, "body": []}  # fmt: skip
    path = results(tmp_path / "r.json", *rows, version=2, table=table)
    found = imported(path)
    assert found.about["format_version"] == 2
    assert found.about["models"] == ["fern", "oak"]
    assert values(found, "score")[:3] == [[1.0, ""], [0.0, ""], [None, "API error: 429"]]
    assert found.frames["items"]["seconds"].tolist()[0] == 2.0
    score = found.about["figures"][0]
    assert (score["tool_value"], score["ours"], score["reason"]) == (pytest.approx(1 / 3), 0.5, "errors-as-0")


def test_another_version_is_refused_by_name(tmp_path):
    with pytest.raises(BadInput, match="promptfoo results of version 4; known are versions 2 and 3"):
        imported(results(tmp_path / "r.json", row(0), version=4))


def test_results_without_metadata_and_lines(tmp_path):
    path = tmp_path / "r.jsonl"
    check = [part({"type": "equals", "value": "x"}, 1.0)]
    path.write_text(
        "\n".join(json.dumps({**row(i, check, asked=str(i)), "promptId": ""}) for i in (0, 1)), encoding="utf-8"
    )
    found = imported(path)
    assert (found.about["tool_version"], found.about["headline"], found.about["rows"]) == (None, {}, 2)


def test_the_table_for_people_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text('question,"[fern] Say"\nWer?,"[FAIL] (0.72, right: 0.00)\n---\nIch"\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"promptfoo's table for people.*promptfoo eval -o out\.json"):
        imported(path)
    with pytest.raises(BadInput, match=r"promptfoo eval -o out\.json"):
        load(path, {"items": Table((Column("id", "id"), Column("output", "text")))})
