"""Two tables in one: variants beside their questions, texts beside the questions to them, sources beside the answers that cite them."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from evalbench import load
from evalbench.errors import BadInput

# -- variants beside their questions ---------------------------------------------------------------

PAIRS: dict[str, dict[str, list[str]]] = {
    "prefix": {
        "question": ["a?"],
        "answer": ["A"],
        "reference": ["A"],
        "noisy_question": ["b?"],
        "noisy_answer": ["B"],
    },
    "both named": {
        "original_query": ["a?"],
        "original_output": ["A"],
        "gold": ["A"],
        "perturbed_query": ["b?"],
        "perturbed_output": ["B"],
    },
    "suffix": {
        "prompt": ["a?"],
        "response_before": ["A"],
        "expected": ["A"],
        "prompt_changed": ["b?"],
        "response_changed": ["B"],
    },
    "Russian": {
        "Вопрос": ["a?"],
        "Ответ": ["A"],
        "Эталон": ["A"],
        "Вопрос с опечатками": ["b?"],
        "Ответ на вопрос с опечатками": ["B"],
    },
}


@pytest.mark.parametrize("form", ["prefix", "both named", "suffix"])
def test_variants_beside_their_questions_are_a_table_of_their_own(form: str) -> None:
    data = load(pd.DataFrame(PAIRS[form]), study="stability")
    items, variants = data["items"], data["variants"]
    assert items[["question", "answer"]].to_numpy().tolist() == [["a?", "A"]]
    assert variants[["question", "answer"]].to_numpy().tolist() == [["b?", "B"]]
    assert items["id"].tolist() == variants["id"].tolist()
    assert " were read as the variant of " in " ".join(data.notes)


def test_several_kinds_of_variants_beside_one_question() -> None:
    row = {"question": "a?", "answer": "A", "answer_typos": "B", "answer_paraphrased": "C", "model": "tiny"}
    variants = load(pd.DataFrame([row, {**row, "question": "z?"}]), study="stability")["variants"]
    assert sorted(variants["augmentation"].unique()) == ["paraphrased", "typos"]
    assert variants["id"].nunique() == 2
    assert set(variants["model"]) == {"tiny"}


def test_a_changed_question_without_its_answer_is_no_variant() -> None:
    data = load(pd.DataFrame({"question": ["a?"], "answer": ["A"], "new_question": ["b?"]}), study="stability")
    assert data.get("variants") is None


# -- texts beside questions ------------------------------------------------------------------------

PARAGRAPH = "The bay froze in 1874. A crane of oak stood there."


def squad(answers: Any, context: Any = PARAGRAPH) -> pd.DataFrame:
    return pd.DataFrame([
        {"id": "q1", "context": PARAGRAPH, "question": "When did it freeze?", "answers": {"text": ["1874"], "answer_start": [17]}},
        {"id": "q2", "context": context, "question": "Of what was the crane?", "answers": answers},
    ])  # fmt: skip


def test_paragraphs_that_repeat_are_documents_and_the_sentences_of_answers_their_passages() -> None:
    data = load(squad({"text": ["oak"], "answer_start": [34]}), study="rag_tuning")
    assert data["documents"]["text"].tolist() == [PARAGRAPH]
    assert data["questions"]["passage"].tolist() == ["The bay froze in 1874.", "A crane of oak stood there."]
    assert data["questions"]["reference"].tolist() == ["1874", "oak"]


@pytest.mark.parametrize("answers", [{"text": ["oak"], "answer_start": [3]}, {"text": ["elm"], "answer_start": [999]}])
def test_an_answer_that_is_not_at_its_place_has_no_passage(answers: Any) -> None:
    data = load(squad(answers), study="rag_tuning")
    assert data["questions"]["passage"].tolist()[1] == ""
    assert "1 answer of answers is not at its place" in " ".join(data.notes)


@pytest.mark.parametrize("answers", [None, {}, {"text": [], "answer_start": []}, []])
def test_a_question_without_an_answer_keeps_its_document(answers: Any) -> None:
    data = load(squad(answers), study="rag_tuning")
    assert data["questions"]["reference"].tolist() == ["1874", ""]
    assert data["questions"]["doc_id"].nunique() == 1


def test_a_question_without_a_text_has_no_document() -> None:
    data = load(squad({"text": ["oak"], "answer_start": [34]}, None), study="rag_tuning")
    assert data["questions"]["doc_id"].tolist() == ["d0001", ""]
    assert len(data["documents"]) == 1


# -- sources beside answers ------------------------------------------------------------------------

TEXT = "It froze in 1874 [1]. The crane was of oak [2]."
SOURCES: dict[str, Any] = {
    "objects with numbers": [
        {"id": 2, "title": "B", "text": "oak crane"},
        {"id": 1, "title": "A", "text": "froze 1874"},
    ],
    "objects by place": [
        {"url": "https://a.example/", "snippet": "froze 1874"},
        {"url": "https://b.example/", "snippet": "oak crane"},
    ],
    "texts": ["froze 1874", "oak crane"],
    "written as JSON": json.dumps([{"content": "froze 1874"}, {"content": "oak crane"}]),
}


@pytest.mark.parametrize("form", SOURCES)
def test_sources_beside_an_answer_are_what_its_marks_cite(form: str) -> None:
    data = load(pd.DataFrame([{"question": "q", "response": TEXT, "sources": SOURCES[form]}]), study="citation")
    entries = {entry["n"]: entry for entry in data["answers"]["citations"][0]}
    assert {n: entry["claim"] for n, entry in entries.items()} == {1: "It froze in 1874.", 2: "The crane was of oak."}
    texts = data["sources"].set_index("url")["text"]
    assert [texts[entries[n]["url"]] for n in (1, 2)] == ["froze 1874", "oak crane"]


def test_addresses_alone_are_cited_without_a_text() -> None:
    row = {"id": 1, "question": "q", "model_answer": TEXT, "citations": ["https://a.example/", "https://b.example/"]}
    data = load(pd.DataFrame([row]), study="citation")
    assert [entry["url"] for entry in data["answers"]["citations"][0]] == row["citations"]
    assert data.get("sources") is None


def test_an_answer_without_a_mark_cites_the_sources_beside_it_and_the_note_says_so() -> None:
    rows = [
        {"question": "q", "answer": "It froze.", "sources": ["ice"]},
        {"question": "r", "answer": "No.", "sources": []},
    ]
    data = load(pd.DataFrame(rows), study="citation")
    assert [len(cell) for cell in data["answers"]["citations"]] == [1, 0]
    assert "1 answer without a mark cites the sources beside it" in " ".join(data.notes)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("nothing", "row 2: sources must list sources"),
        (5, "row 2: sources must list sources"),
        ([{"n": 1}], "row 2: number 1 of sources is not a source: a source is a text, an address"),
        (["text", ["text"]], "row 2: number 2 of sources is not a source: a source is a text, an address"),
    ],
)
def test_cells_that_list_no_sources_are_one_message_with_rows(cell: Any, said: str) -> None:
    rows = [
        {"question": "q", "answer": TEXT, "sources": ["a", "b"]},
        {"question": "r", "answer": TEXT, "sources": cell},
    ]
    with pytest.raises(BadInput, match=said):
        load(pd.DataFrame(rows), study="citation")


def test_a_source_that_is_null_keeps_its_number_and_is_counted() -> None:
    row = {"question": "q", "answer": "It froze [2].", "sources": [None, "ice"]}
    data = load(pd.DataFrame([row]), study="citation")
    assert [entry["n"] for entry in data["answers"]["citations"][0]] == [2]
    assert "null" in " ".join(data.notes)


# -- logs in Russian -------------------------------------------------------------------------------


def test_a_russian_chat_of_a_spreadsheet_needs_no_option(tmp_path) -> None:
    lines = ["Номер диалога;Дата и время;Кто;Сообщение"]
    for chat in range(3):
        lines += [
            f"Д-{chat};{13 + chat}.03.2026 09:00;Клиент;Где посылка?",
            f"Д-{chat};{13 + chat}.03.2026 09:01;Бот;Завтра.",
        ]
    path = tmp_path / "чат.csv"
    path.write_bytes("\n".join(lines).encode("cp1251"))
    turns = load(path, study="dialogue")["turns"]
    assert turns["session_id"].nunique() == 3
    assert turns["role"].tolist() == ["Клиент", "Бот"] * 3
    assert turns["time"].dt.strftime("%Y-%m-%d").tolist()[::2] == ["2026-03-13", "2026-03-14", "2026-03-15"]
