"""Tables of strangers in three languages: they are read as they are, or what is refused names the options that help."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from evalbench import BadInput, load, needle, text_metrics

ASKED, SAID, GOLD = ["Where?", "When?"], ["Here.", "Now."], ["here", "now"]
TABLES: dict[str, tuple[str, dict[str, Any]]] = {
    "needle, English": ("needle", {"context_length": [100, 200], "document_depth_percent": [0, 50], "answer": GOLD, "response": SAID}),
    "needle, Russian": ("needle", {"Длина контекста": [100, 200], "Глубина, %": [0, 50], "Правильный ответ": GOLD, "Ответ модели": SAID}),
    "needle, Chinese": ("needle", {"长度": [100, 200], "深度": [0, 50], "标准答案": GOLD, "模型回答": SAID}),
    "entities, Russian": ("ner_conflicts", {"Номер текста": ["a", "a"], "Текст": ["Ada", "Ada"], "Сущность": ["Ada", "Ada"], "Класс": ["PER", "LOC"]}),
    "entities, Chinese": ("ner_conflicts", {"文本编号": ["a", "a"], "句子": ["Ada", "Ada"], "实体": ["Ada", "Ada"], "类别": ["PER", "LOC"]}),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_columns_of_names_in_three_languages_are_read_with_a_note(tmp_path, name):
    study, columns = TABLES[name]
    path = tmp_path / "mine.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    data = load(path, study=study)
    assert len(next(iter(data.tables.values()))) == 2
    found = next(iter(data.read_as.values()))
    assert set(found) == set(columns)
    assert all(f"mine.csv: column {source} was read as {own}" in data.notes for source, own in found.items())


def test_a_column_of_no_known_name_is_asked_for_among_those_that_there_are(tmp_path):
    path = tmp_path / "mine.csv"
    pd.DataFrame({"sesja": ["a", "a"], "kto": ["user", "assistant"], "tresc": SAID}).to_csv(path, index=False)
    with pytest.raises(BadInput, match=r"which one has it: sesja, kto, tresc\? \(--map COLUMN=session_id\)") as refused:
        load(path, study="dialogue")
    assert "(--map COLUMN=role)" in str(refused.value)
    assert len(load(path, study="dialogue", columns={"sesja": "session_id", "kto": "role"})["turns"]) == 2


def test_a_column_of_a_name_that_only_looks_alike_is_not_proposed():
    rows = pd.DataFrame({"query_id": ["a"], "augmentation": [""], "found": ["x"]})
    with pytest.raises(BadInput) as refused:
        load({"questions": rows}, study="stability_top")
    assert "augmentation=question" not in str(refused.value)


@pytest.mark.parametrize(
    "names", [("query", "variant", "doc", "position"), ("Запрос", "Искажение", "Документ", "Место")]
)
def test_tops_of_other_names_are_tops(names):
    rows = [("q", "исходный", "d1", 1), ("q", "опечатка", "d1", 1), ("q", "опечатка", "d2", 2)]
    data = load({"questions": pd.DataFrame(rows, columns=names)}, study="stability_top")
    assert data["tops"][["id", "augmentation", "doc_id", "rank"]].to_numpy().tolist() == [list(row) for row in rows]
    assert all(any(f"column {name} was read as" in note for note in data.notes) for name in names)


@pytest.mark.parametrize("column", ["type", "Вариант", "扰动"])
def test_the_column_that_tells_variants_from_queries_has_other_names(column):
    rows = pd.DataFrame({"id": ["1", "1"], column: ["original", "typo"], "query": ["a", "b"], "output": ["c", "d"]})
    data = load({"items": rows}, study="stability")
    assert data["variants"]["augmentation"].tolist() == ["typo"]


def test_contents_in_parts_are_texts_and_calls_of_tools_are_none():
    parts = [{"type": "text", "text": "It is "}, {"type": "text", "text": "here."}]
    talk = [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": [{"type": "tool_use", "name": "map"}]},
            {"role": "assistant", "content": parts}]  # fmt: skip
    listed = load({"turns": pd.DataFrame([{"id": "a", "messages": talk}])}, study="dialogue")["turns"]
    each = load({"turns": pd.DataFrame([{"session_id": "a", **turn} for turn in talk])}, study="dialogue")["turns"]
    assert listed["text"].tolist() == each["text"].tolist() == ["Where?", None, "It is here."]


def test_days_before_months_with_points_and_yes_in_russian():
    rows = {"session_id": ["a", "b", "c"], "role": "assistant", "ts": ["03.12.2025 10:05", "2025-12-03T11:00:00", "4.1.2026"],
            "resolved": ["да", "нет", "是"]}  # fmt: skip
    turns = load({"turns": pd.DataFrame(rows)}, study="dialogue")["turns"]
    assert turns["time"].dt.strftime("%Y-%m-%d %H:%M").tolist() == [
        "2025-12-03 10:05",
        "2025-12-03 11:00",
        "2026-01-04 00:00",
    ]
    assert turns["resolved"].tolist() == [1, 0, 1]
    with pytest.raises(BadInput, match="expected a date or time"):
        load({"turns": pd.DataFrame({**rows, "ts": "31.13.2025"})}, study="dialogue")


def test_few_units_of_many_items_are_said_in_the_verdict():
    said = pd.DataFrame(
        {
            "id": [str(i) for i in range(40)],
            "needle": [f"n{i % 5}" for i in range(40)],
            "expected": "4217",
            "reply": ["4217", "no", "4217", "4217"] * 10,
        }
    )
    result = needle.evaluate(load({"items": said}, study="needle"), n_resamples=50)
    assert "They are drawn together as 5 units: the interval is too narrow." in result.sentence


@pytest.mark.parametrize(
    ("study", "former", "other"),
    [
        ("cot_levels", {"reference": ["#### 1"], "response": ["#### 2"]}, {"answer": ["1"]}),
        ("citation", {"gold_answer": ["1"], "model_answer": ["It is 2."]}, {"answer": ["1"], "reference": ["3"]}),
        ("needle", {"expected": ["1"], "reply": ["It is 2."]}, {"answer": ["1"], "reference": ["3"]}),
    ],
)
def test_columns_of_former_names_are_read_as_before_also_beside_todays(study, former, other):
    rows = {"id": ["a"], "question": ["How many?"], **former}
    alone, beside = (load(pd.DataFrame(own), study=study) for own in (rows, {**rows, **other}))
    table = next(iter(alone.tables))
    own = ["reference", "answer"]
    assert alone[table][own].to_dict("list") == beside[table][own].to_dict("list")
    assert any(note.endswith("; the column answer beside it is not used") for note in beside.notes)


def test_of_a_former_name_and_one_of_others_none_is_taken_without_a_question():
    rows = {
        "question": ["a?", "b?"],
        "response": ["Yes.", "No."],
        "output": ["No.", "No."],
        "reference": ["No.", "No."],
    }
    with pytest.raises(
        BadInput, match=r"which is meant: 'response' \(--map response=answer\) or 'output' \(--map output=answer\)"
    ):
        text_metrics.evaluate(load(pd.DataFrame(rows), study="text_metrics"))
    said = load(pd.DataFrame(rows), study="text_metrics", columns={"response": "answer"})
    assert said["items"]["answer"].tolist() == rows["response"]


@pytest.mark.parametrize("former", ["response", "reply", "output"])
def test_a_right_answer_called_answer_beside_a_former_name_is_the_right_one(former):
    rows = {"id": ["a"], "question": ["How many?"], "answer": ["#### 1"], former: ["#### 2"]}
    for study in ("cot_levels", "citation", "needle"):
        table = next(iter(load(pd.DataFrame(rows), study=study).tables.values()))
        assert table["answer"].tolist() == ["#### 2"]
        assert table["reference"].tolist() in (["#### 1"], [["#### 1"]])


def test_what_the_user_says_goes_before_a_former_name():
    rows = pd.DataFrame({"id": ["a"], "expected": ["1"], "reply": ["2"], "said": ["3"]})
    assert load(rows, study="needle", columns={"said": "answer"})["items"]["answer"].tolist() == ["3"]
