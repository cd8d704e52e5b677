import json

import pandas as pd
import pytest

from evalbench.readers.files import raw_frame, read_bytes
from evalbench.readers.gsm8k import word_problems
from evalbench.studies import load


def test_other_frames_pass():
    for columns in ({"id": ["1"], "question": ["q"], "reference": ["r"]}, {"text": ["x"]}, {"question": ["q"]}):
        frame = pd.DataFrame(columns)
        assert word_problems(frame) is frame


def test_question_and_answer():
    got = word_problems(pd.DataFrame({"question": ["a", "b"], "answer": ["#### 1", "#### 2"]}))
    assert got.to_dict("records") == [
        {"id": "q1", "question": "a", "reference": "#### 1"},
        {"id": "q2", "question": "b", "reference": "#### 2"},
    ]


def test_given_ids_stay():
    assert word_problems(pd.DataFrame({"id": ["007"], "question": ["a"], "answer": ["#### 1"]}))["id"].tolist() == [
        "007"
    ]


def test_model_solutions():
    row = {
        "question": "a",
        "ground_truth": "A: 1",
        "m1": {"solution": "x", "is_correct": True},
        "m2": {"solution": "y"},
    }
    got = word_problems(pd.DataFrame([row, row]))
    assert got[["id", "model", "answer", "is_correct"]].values.tolist() == [
        ["q1", "m1", "x", "true"], ["q1", "m2", "y", ""], ["q2", "m1", "x", "true"], ["q2", "m2", "y", ""],
    ]  # fmt: skip


def test_model_solutions_are_read_by_the_study_that_takes_them(tmp_path):
    row = {"question": "1 + 1?", "ground_truth": "A: 2", "m1": {"solution": "1 + 1 = 2\nA: 2", "is_correct": True}}
    path = tmp_path / "solutions.jsonl"
    path.write_text("".join(json.dumps(row | {"question": f"{n}: 1 + 1?"}) + "\n" for n in range(3)), encoding="utf-8")
    items = load(path, study="cot_levels")["items"]
    assert items[["id", "model", "reference", "answer"]].values.tolist() == [
        [f"q{n}", "m1", "A: 2", "1 + 1 = 2\nA: 2"] for n in (1, 2, 3)
    ]


def test_parquet_reads_as_json_lines(tmp_path):
    frame = pd.DataFrame({"question": ["a"], "answer": ["#### 1"]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    read = [
        word_problems(raw_frame(p, read_bytes(p))).to_dict("records")
        for p in (tmp_path / "a.parquet", tmp_path / "a.jsonl")
    ]
    assert read[0] == read[1]


@pytest.mark.external
def test_the_real_files(external_data):
    folder = external_data("gsm8k")
    path = folder / "example_model_solutions.jsonl"
    got = word_problems(raw_frame(path, read_bytes(path)))
    assert len(got) == 5276
    assert sorted(got["model"].unique()) == ["175b_finetuning", "175b_verification", "6b_finetuning", "6b_verification"]
    assert (got["is_correct"] == "true").groupby(got["model"]).sum().to_dict() == {
        "175b_finetuning": 458, "175b_verification": 742, "6b_finetuning": 286, "6b_verification": 515,
    }  # fmt: skip
    path = folder / "test.jsonl"
    assert len(word_problems(raw_frame(path, read_bytes(path)))) == 1319
