"""ragas: what its columns become, and what a missing score is."""

import json

import pandas as pd
import pytest

from evalbench.errors import BadInput
from evalbench.readers.tools.known import imported

ROWS = [
    {"user_input": "Wer malte das Bild?", "response": "7", "reference": "Ilse", "retrieved_contexts": [], "faithfulness": 0.5, "my_score": 3},
    {"user_input": "Кто построил мост?", "response": "", "reference": None, "retrieved_contexts": None, "faithfulness": None, "my_score": 5},
    {"user_input": [{"content": "Hi", "type": "human"}, {"content": "Yes?", "type": "ai"}], "response": None,
     "reference": "桥", "retrieved_contexts": ["桥在镇上。", "It's \"old\"."], "faithfulness": 1.0, "my_score": 1},
]  # fmt: skip


def written(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_missing_score_is_unscored_and_never_0(tmp_path):
    found = imported(written(tmp_path / "r.jsonl", ROWS))
    scores = found.frames["scores"]
    (missing,) = scores[scores["unscored"] != ""].to_dict("records")
    assert missing == {
        "id": "q0002",
        "metric": "faithfulness",
        "value": None,
        "unscored": "imported",
        "detail": "ragas: no score",
    }
    facts = found.about["metrics"]["faithfulness"]
    assert (facts["n"], facts["missing"], facts["mean_scored"]) == (2, 1, 0.75)
    assert found.about["metrics"]["my_score"]["scale"] == "1..5 (as found)"


def test_texts_lists_and_nulls_stay_what_they_are(tmp_path):
    items = imported(written(tmp_path / "r.jsonl", ROWS)).frames["items"]
    assert items["answer"].tolist() == ["7", "", None]
    assert items["contexts"].tolist() == [[], None, ["桥在镇上。", 'It\'s "old".']]
    assert items["question"].tolist()[2] == "human: Hi\n\nai: Yes?"
    assert items["messages"].tolist()[2] == ROWS[2]["user_input"]


def test_csv_with_an_index_printed_arrays_and_any_order_of_columns(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(
        ",faithfulness,response,user_input,retrieved_contexts,answer_relevancy\n"
        "0,0.5,5,2+3?,\"['one, two'\n 'it''s' \"\"it's\"\"]\",\n"
        "1,,4,2+2?,[],\n",
        encoding="utf-8",
    )
    found = imported(path)
    assert found.frames["items"]["contexts"].tolist() == [["one, two", "it", "s", "it's"], []]
    assert found.frames["items"]["answer"].tolist() == ["5", "4"]
    assert set(found.about["metrics"]) == {"faithfulness", "answer_relevancy"}
    assert found.about["metrics"]["answer_relevancy"]["missing"] == 2
    assert "" not in found.frames["items"]


def test_an_answer_column_of_digits_is_no_metric_and_an_unknown_empty_column_neither(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("user_input,response,reference,exact_match,later\na,1,2,0.0,\nb,3,3,1.0,\n", encoding="utf-8")
    found = imported(path)
    assert set(found.about["metrics"]) == {"exact_match"}
    assert found.frames["items"]["reference"].tolist() == ["2", "3"]


def test_parquet_json_and_the_columns_of_earlier_versions(tmp_path):
    frame = pd.DataFrame(
        {"question": ["a?", "b?"], "answer": ["x", "y"], "contexts": [["c"], []], "ground_truth": ["x", "z"], "faithfulness": [1.0, None]}
    )  # fmt: skip
    frame.to_parquet(tmp_path / "r.parquet")
    frame.to_json(tmp_path / "r.json", orient="records")
    one, other = imported(tmp_path / "r.parquet"), imported(tmp_path / "r.json")
    for found in (one, other):
        assert found.frames["items"]["contexts"].tolist() == [["c"], []]
        assert found.frames["items"]["reference"].tolist() == ["x", "z"]
        assert found.about["metrics"]["faithfulness"]["missing"] == 1


def test_a_question_that_is_asked_twice_is_said(tmp_path):
    found = imported(written(tmp_path / "r.jsonl", [ROWS[0], ROWS[0]]))
    assert "2 ids, 1 different questions: some are asked more than once" in found.about["notes"]
    assert found.frames["items"]["id"].tolist() == ["q0001", "q0002"]


def test_a_test_set_without_scores_is_refused(tmp_path):
    path = written(tmp_path / "r.jsonl", [{"user_input": "a", "reference": "b", "reference_contexts": ["c"]}])
    with pytest.raises(
        BadInput, match="no column with scores; its columns are user_input, reference, reference_contexts"
    ):
        imported(path, "ragas")


def test_the_model_can_be_named(tmp_path):
    found = imported(written(tmp_path / "r.jsonl", ROWS), model="fern-1b")
    assert found.about["models"] == ["fern-1b"]
    assert "the model is not in the file; fern-1b was given by hand" in found.about["notes"]
    assert set(found.frames["scores"]["model"]) == {"fern-1b"}


def test_numbers_that_name_rows_are_no_metrics(tmp_path):
    found = imported(written(tmp_path / "r.jsonl", [{**ROWS[0], "id": 7, "sample_id": 3}]))
    assert set(found.about["metrics"]) == {"faithfulness", "my_score"}
    assert found.frames["items"][["id", "metadata_id", "sample_id"]].values.tolist() == [["q0001", 7, 3]]
