"""Every Eval Ever: turns, dialogues, errors, repeats, the aggregate file, versions."""

import json

import pytest

from evalbench.errors import BadInput
from evalbench.readers.tools.known import imported


def row(sample="s1", score=1.0, *, correct=True, name="quiz", version="0.3.0", raw="Wer?", **further):
    return {
        "schema_version": version, "evaluation_id": "quiz/fern/1", "model_id": "org/fern-1b", "evaluation_name": name, "sample_id": sample,
        "sample_hash": "h", "interaction_type": "single_turn", "input": {"raw": raw, "formatted": None, "reference": ["Ich"], "choices": None},
        "output": {"raw": ["Ich"]}, "messages": None,
        "answer_attribution": [{"turn_idx": 0, "source": "output.raw", "extracted_value": "ich", "extraction_method": "regex", "is_terminal": True}],
        "evaluation": {"score": score, "is_correct": correct}, "token_usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        "performance": {"latency_ms": 1500}, "error": None, "metadata": {"subject": "история"}, **further,
    }  # fmt: skip


def written(path, *rows):
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")
    return path


def test_an_error_is_unscored_whatever_the_score(tmp_path):
    found = imported(
        written(
            tmp_path / "r_samples.jsonl",
            row(),
            row("s2", 0.0, correct=False, error="API timeout", output=None, raw="Was?"),
        )
    )
    scores = found.frames["scores"][["id", "value", "detail", "answer", "passed"]].values.tolist()
    assert scores == [["s1", 1.0, "", "ich", True], ["s2", None, "API timeout", "ich", None]]
    items = found.frames["items"].to_dict("records")
    assert (
        items[0]["answer"],
        items[0]["reference"],
        items[0]["tokens"],
        items[0]["seconds"],
        items[0]["subject"],
    ) == ("Ich", "Ich", 3.0, 1.5, "история")
    assert (items[1]["answer"], items[1]["error"]) == (None, "API timeout")
    assert (found.about["tool"], found.about["format_version"], found.about["models"]) == (
        "every_eval_ever",
        "0.3.0",
        ["org/fern-1b"],
    )


def test_dialogues_and_several_answers(tmp_path):
    messages = [
        {"turn_idx": 0, "role": "user", "content": "Hi"},
        {"turn_idx": 1, "role": "assistant", "content": "Привет"},
    ]
    rows = (
        row(interaction_type="multi_turn", output=None, messages=messages),
        row("s2", output={"raw": ["a", "b"]}, input={"raw": "x", "reference": ["1", "2"], "choices": ["1", "2"]}),
    )
    items = imported(written(tmp_path / "r.jsonl", *rows)).frames["items"].to_dict("records")
    assert (items[0]["answer"], items[0]["messages"]) == ("Привет", messages)
    assert (items[1]["answer"], items[1]["samples"], items[1]["reference"], items[1]["choices"]) == (
        "a",
        ["a", "b"],
        ["1", "2"],
        ["1", "2"],
    )


def test_several_evaluations_and_repeats_in_one_file(tmp_path):
    found = imported(written(tmp_path / "r.jsonl", row(), row(score=0.0), row(name="maze", raw="Wo?")))
    assert found.frames["items"][["id", "trial"]].values.tolist() == [["quiz/s1", 1], ["quiz/s1", 2], ["maze/s1", 1]]


def test_the_aggregate_file_gives_direction_and_figure(tmp_path):
    written(tmp_path / "r_samples.jsonl", row(score=2.0), row("s2", 4.0, raw="Was?"))
    (tmp_path / "r.json").write_text(json.dumps({
        "eval_library": {"name": "inspect_ai", "version": "0.3.100"},
        "evaluation_results": [{"evaluation_name": "quiz", "metric_config": {"lower_is_better": True}, "score_details": {"score": 3.0}}],
    }))  # fmt: skip
    found = imported(tmp_path / "r_samples.jsonl")
    assert (found.about["metrics"]["score"]["higher_is_better"], found.about["metrics"]["score"]["direction_from"]) == (
        False,
        "file",
    )
    assert found.about["figures"][0]["agrees"]
    assert "the run was made with inspect_ai 0.3.100" in found.about["notes"]


def test_other_versions_are_refused_by_name(tmp_path):
    assert imported(written(tmp_path / "a.jsonl", row(version="instance_level_eval_0.2.1"))).about["rows"] == 1
    with pytest.raises(BadInput, match=r"instance schema 1\.0; known are 0\.2, 0\.3"):
        imported(written(tmp_path / "b.jsonl", row(version="1.0")))
