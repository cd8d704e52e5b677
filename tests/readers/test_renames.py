"""Columns under others' names: found within objects, asked for by name, and never refused for an id that we made."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.readers.dataset import load

NESTED = [
    {"item": {"id": f"s{i // 2}", "answer": "yes", "model": "alder" if i % 2 else "rowan"}, "score": i / 4}
    for i in range(4)
]
RENAMES = {"item.id": "id", "item.answer": "answer", "item.model": "model"}


def read(tmp_path, rows, study, **options):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    return load(path, studies.study(study).SCHEMA, **options)


def test_an_id_within_an_object_takes_the_place_of_numbers(tmp_path):
    found = read(tmp_path, NESTED, "text_metrics", columns=RENAMES)
    assert found["items"]["id"].tolist() == ["s0", "s0", "s1", "s1"]
    assert not [note for note in found.notes if "numbered" in note]


def test_rows_of_several_models_within_objects_are_not_numbered(tmp_path):
    nameless = [{**row, "item": {k: v for k, v in row["item"].items() if k != "id"}} for row in NESTED]
    with pytest.raises(BadInput, match=r"share one: which column has it\? \(--map COLUMN=id\)") as refused:
        read(tmp_path, nameless, "text_metrics", columns={"item.answer": "answer", "item.model": "model"})
    assert refused.value.faults == tuple(f for f in refused.value.faults if "duplicated" not in f)


def test_names_of_others_are_read_with_a_note_each(tmp_path):
    rows = [{"user_input": "why?", "response": "so", "retrieved_contexts": ["so"], "reference": "so"}]
    notes = read(tmp_path, rows, "rag_generation").notes
    for source, role in (("user_input", "question"), ("response", "answer"), ("retrieved_contexts", "contexts")):
        assert f"mine.jsonl: column {source} was read as {role}" in notes


def test_an_optional_column_under_another_name_is_remarked_on(tmp_path):
    rows = [{"question": "why?", "answer": "so", "contexts": ["so"], "ground_truth": "so"}]
    said = "mine.jsonl: column ground_truth was read as reference"
    assert said in read(tmp_path, rows, "rag_generation").notes
    assert said not in read(tmp_path, rows, "rag_generation", columns={"ground_truth": "reference"}).notes


def test_a_fault_of_two_tables_is_counted_once(tmp_path):
    rows = [{"text": "a b", "entities": [{"start": 0, "end": 1, "label": "PER"}]}]
    with pytest.raises(BadInput) as refused:
        read(tmp_path, rows, "ner_quality")
    head, *lines = str(refused.value).splitlines()
    assert f": {len(lines)} fault" in head


HINT = "(rows as a spreadsheet counts them: a CSV's header is row 1)"


@pytest.mark.parametrize(
    ("name", "text", "counted"),
    [
        ("mine.csv", "id,answer,score\n,a,1\n", True),
        ("mine.csv", "model,answer\nm,x\nn,y\n", False),
        ("mine.jsonl", '{"id": null, "answer": "a"}\n', False),
        ("mine.json", '[{"id": null, "answer": "a"}]', False),
    ],
)
def test_how_rows_are_counted_is_explained_where_rows_of_a_sheet_are_named(tmp_path, name, text, counted):
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput) as refused:
        load(tmp_path / name, studies.study("text_metrics").SCHEMA)
    assert (HINT in str(refused.value)) is counted


def test_rows_of_parquet_are_not_those_of_a_spreadsheet(tmp_path):
    pd.DataFrame({"id": ["", "b"], "answer": ["x", "y"]}).to_parquet(tmp_path / "mine.parquet")
    with pytest.raises(BadInput, match=r"\(row 1\)") as refused:
        load(tmp_path / "mine.parquet", studies.study("text_metrics").SCHEMA)
    assert HINT not in str(refused.value)


def asked(*questions, models=("alder", "rowan"), **more):
    return [{"model": m, "question": q, "answer": f"{m} {q}", **more} for m in models for q in questions]


def test_rows_of_several_models_are_numbered_by_their_questions(tmp_path):
    rows = asked("why?", "how?", "почему?")
    found = read(tmp_path, [*rows[:3], rows[5], rows[3], rows[4]], "text_metrics")
    assert found["items"]["id"].tolist() == ["q0001", "q0002", "q0003", "q0003", "q0001", "q0002"]
    assert any("rows share a number where question is the same, q0001 to q0003" in note for note in found.notes)


def test_a_prompt_that_all_rows_share_is_told_apart_by_their_references(tmp_path):
    rows = [{**row, "question": "sum up", "reference": [row["question"]]} for row in asked("a", "b")]
    found = read(tmp_path, rows, "text_metrics")
    assert found["items"]["id"].tolist() == ["q0001", "q0002"] * 2
    assert any("where question and reference are the same" in note for note in found.notes)


@pytest.mark.parametrize("questions", [("why?", "why?"), ("why?", ""), ("why?", None)])
def test_questions_that_repeat_or_are_empty_number_nothing(tmp_path, questions):
    with pytest.raises(BadInput) as refused:
        read(tmp_path, asked(*questions), "text_metrics")
    assert "question cannot show it: cells are empty, or repeat within a model; otherwise add a column id" in str(
        refused.value
    )
    assert len(refused.value.faults) == 1


def test_the_way_out_of_a_table_without_questions_works(tmp_path):
    rows = [{"model": row["model"], "wording": row["question"], "answer": "x"} for row in asked("a", "b")]
    with pytest.raises(BadInput, match=r"or the questions\? \(--map COLUMN=question\)") as refused:
        read(tmp_path, rows, "text_metrics")
    assert len(refused.value.faults) == 1
    found = read(tmp_path, rows, "text_metrics", columns={"wording": "question"})
    assert found["items"]["id"].tolist() == ["q0001", "q0002"] * 2


def test_a_rename_may_say_a_column_as_the_study_did_before(tmp_path):
    rows = [{"id": "1", "bot": "yes", "asked": "Is it?"}, {"id": "2", "bot": "no", "asked": "And now?"}]
    found = read(tmp_path, rows, "text_metrics", columns={"bot": "output", "asked": "prompt"})
    assert found["items"][["answer", "question"]].to_numpy().tolist() == [["yes", "Is it?"], ["no", "And now?"]]


def test_a_target_that_is_nearly_a_column_is_refused_and_any_other_kept() -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "gpt": ["x", "y"], "answer": ["u", "v"], "reference": ["u", "w"]})
    with pytest.raises(
        BadInput, match=r"no column is called 'anwser', as --map gpt=anwser says; did you mean answer\?"
    ):
        load(frame, studies.study("text_metrics").SCHEMA, columns={"gpt": "anwser"})
    kept = load(frame, studies.study("text_metrics").SCHEMA, columns={"gpt": "topic"})
    assert kept["items"]["topic"].tolist() == ["x", "y"]
