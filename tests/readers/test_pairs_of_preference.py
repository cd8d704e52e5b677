"""Pairs of a preferred and a rejected answer, as they are published: two models, or what people prefer where that is said."""

from __future__ import annotations

import pandas as pd

from evalbench import load

ROWS = pd.DataFrame(
    {"prompt": ["Why so?", "When?"], "chosen": ["It is so.", "At 9 sharp."], "rejected": ["No idea.", "Go away."]}
)


def test_the_two_answers_are_those_of_two_models() -> None:
    items = load(ROWS, study="text_metrics")["items"]
    assert items[["question", "model", "answer"]].to_numpy().tolist()[:2] == [
        ["Why so?", "chosen", "It is so."],
        ["Why so?", "rejected", "No idea."],
    ]
    asked = load(ROWS)
    assert {"cascade", "text_metrics"} <= {offer.study for offer in asked.ready}
    assert asked.groups == ("chosen", "rejected")


def test_people_prefer_the_chosen_one_where_that_is_said() -> None:
    items = load(ROWS, study="human_correlation", columns={"chosen": "better", "rejected": "worse"})["items"]
    assert items[["better", "worse"]].to_numpy().tolist() == ROWS[["chosen", "rejected"]].to_numpy().tolist()


def test_a_column_of_sides_is_no_answer() -> None:
    rows = {"question": ["Why?"], "answer_a": ["So."], "answer_b": ["No."], "chosen": ["a"], "rejected": ["b"]}
    items = load(pd.DataFrame(rows), study="cascade")["items"]
    assert items["answer_a"].tolist() == ["So."]


def test_answers_of_two_sides_are_of_the_models_that_columns_beside_them_name() -> None:
    rows = {
        "prompt": ["Why?", "When?", "Who?"],
        "model_a": ["oak", "fern", "pine"],
        "model_b": ["fern", "pine", "oak"],
        "response_a": ["It is so.", "At 9.", "Ada did."],
        "response_b": ["No idea.", "At 10.", "Bob did."],
    }
    data = load(pd.DataFrame(rows), study="text_metrics")
    found = data["items"].set_index("answer")["model"].to_dict()
    assert found == dict(zip(rows["response_a"] + rows["response_b"], rows["model_a"] + rows["model_b"], strict=True))
    assert any("each of the model that model_a, model_b name" in note for note in data.notes)
    assert sorted(load(pd.DataFrame(rows)).groups) == ["fern", "oak", "pine"]
