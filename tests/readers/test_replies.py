"""Logs of clients of language models as tables of answers: every shape that docs/start.md lists, and what stays as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalbench import studies
from evalbench.errors import BadInput

Rows = list[dict[str, Any]]
TEXT = "Столица — Москва."
PARTS = [{"type": "text", "text": "Столица — "}, {"type": "text", "text": "Москва."}]
TOOL = {"id": "t", "type": "function", "function": {"name": "search", "arguments": "{}"}}


def chat(content: Any = TEXT, ended: str = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": ended, "message": {"role": "assistant", "content": content, **message}}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "tiny-1", "choices": [choice]}


def batch(reply: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": "batch_req_1",
        "custom_id": "q1",
        "response": {"status_code": 200, "body": reply},
        "error": None,
        **more,
    }


def anthropic(*parts: Any, ended: str = "end_turn") -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "tiny-1",
        "content": [*parts],
        "stop_reason": ended,
    }


def gemini(*parts: Any, ended: str = "STOP") -> dict[str, Any]:
    return {
        "candidates": [{"content": {"role": "model", "parts": [*parts]}, "finishReason": ended}],
        "modelVersion": "tiny-1",
    }


ASKED = [
    {"role": "system", "content": "Кратко."},
    {"role": "user", "content": [{"type": "text", "text": "Где столица?"}]},
]
SHAPES: dict[str, dict[str, Any]] = {
    "chat completion": chat(),
    "content in parts": chat(PARTS),
    "completion": {"id": "cmpl-1", "model": "tiny-1", "choices": [{"index": 0, "text": TEXT, "finish_reason": "stop"}]},
    "request and response": {"request": {"model": "tiny", "messages": ASKED}, "response": chat()},
    "batch": batch(chat()),
    "responses": {
        "id": "resp_1", "object": "response", "status": "completed", "model": "tiny-1",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": TEXT}]}],
    },
    "messages": {"id": "m1", "model": "tiny-1", "messages": [*ASKED, {"role": "assistant", "content": PARTS}]},
    "anthropic": anthropic({"type": "thinking", "thinking": "Hm."}, *PARTS),
    "anthropic batch": {"custom_id": "q1", "result": {"type": "succeeded", "message": anthropic(*PARTS)}},
    "gemini": gemini({"text": "Hm.", "thought": True}, {"text": TEXT}),
    "ollama chat": {"model": "tiny-1", "message": {"role": "assistant", "content": TEXT}, "done": True, "done_reason": "stop"},
    "ollama generate": {"model": "tiny-1", "prompt": "Где столица?", "response": TEXT, "context": [1, 2], "done": True},
}  # fmt: skip


def loaded(folder: Path, rows: Rows, study: str = "text_metrics", **options: Any) -> Any:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return studies.load(path, study=study, **options)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_reply_of_each_shape_is_an_answer(shape, tmp_path):
    data = loaded(tmp_path, [SHAPES[shape]])
    (row,) = data["items"].to_dict("records")
    assert row["answer"] == TEXT
    assert row["model"] == "tiny-1"
    assert any("answers were read out of" in note for note in data.notes)
    if shape in ("request and response", "messages", "ollama generate"):
        assert row["question"] == "Где столица?"
    if "batch" in shape:
        assert row["id"] == "q1"


@pytest.mark.parametrize(
    "study", ["confidence", "cot_levels", "drift", "needle", "rag_generation", "reproduction", "stability"]
)
def test_studies_whose_answers_have_other_names_read_them(study, tmp_path):
    own: dict[str, Any] = {"question": "Где столица?", "reference": "Москва", "contexts": ["Москва."]}
    table = next(iter(studies.study(study).SCHEMA.values()))
    row = {k: v for k, v in own.items() if table.column(k)} | {"request": {"messages": ASKED}, "response": chat()}
    if study == "drift":
        row |= {"ts": "2026-01-01"}
    rows = [row | {"id": f"r{i}"} for i in range(3)]
    tables = loaded(tmp_path, rows, study).tables
    column = {"confidence": "answer", "cot_levels": "answer", "needle": "answer", "rag_generation": "answer"}
    assert next(iter(tables.values()))[column.get(study, "answer")].tolist() == [TEXT] * 3


NOTHING: dict[str, tuple[dict[str, Any], str]] = {
    "refusal": (chat(None, refusal="I cannot."), "refused"),
    "tool": (chat(None, "tool_calls", tool_calls=[TOOL]), "a call of a tool"),
    "tool and empty": (chat("", "tool_calls", tool_calls=[TOOL]), "a call of a tool"),
    "cut": (chat("", "length"), "cut"),
    "filtered": (chat(None, "content_filter"), "filtered"),
    "null": (chat(None), "no text"),
    "failed": (batch(None, error={"message": "overloaded"}), "failed: overloaded"),
    "failed inside": (batch({"error": {"message": "overloaded"}}), "failed: overloaded"),
    "expired": ({"custom_id": "q1", "result": {"type": "expired"}}, "failed: expired"),
    "anthropic tool": (anthropic({"type": "tool_use", "id": "t", "name": "f", "input": {}}), "a call of a tool"),
    "gemini blocked": ({"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}}, "blocked: SAFETY"),
    "gemini tool": (gemini({"functionCall": {"name": "f"}}), "a call of a tool"),
    "nothing": ({}, "no reply"),
}


@pytest.mark.parametrize("case", NOTHING)
def test_a_reply_without_text_is_no_answer_and_never_an_empty_one(case, tmp_path):
    row, why = NOTHING[case]
    data = loaded(tmp_path, [{**dict.fromkeys(row), **chat(), "id": "a"}, row | {"id": "b"}])
    assert data["items"]["answer"].tolist() == [TEXT, None]
    assert any(note.endswith(f"1 reply without a text, unscored: 1 {why}") for note in data.notes)


def test_an_empty_text_that_the_model_chose_is_an_answer(tmp_path):
    assert loaded(tmp_path, [chat(), chat("") | {"id": "b"}])["items"]["answer"].tolist() == [TEXT, ""]


def several(*texts: Any) -> dict[str, Any]:
    return chat() | {
        "choices": [{"index": i, "message": {"role": "assistant", "content": t}} for i, t in enumerate(texts)]
    }


def test_choices_are_trials_of_one_answer(tmp_path):
    rows = [several("a", None, "c") | {"id": "x"}, several("d") | {"id": "y"}]
    items = loaded(tmp_path, rows)["items"]
    assert items[["id", "trial"]].to_numpy().tolist() == [["x", "1"], ["x", "2"], ["x", "3"], ["y", "1"]]
    assert items["answer"].tolist() == ["a", None, "c", "d"]


def test_choices_are_samples_where_a_study_has_samples_and_refused_where_it_reads_one_answer(tmp_path):
    row = several("a", "b", None, "c") | {"question": "?", "correct": 1}
    items = loaded(tmp_path, [row], "confidence")["items"]
    assert items[["answer", "samples"]].to_numpy().tolist() == [["a", ["b", "c"]]]
    with pytest.raises(BadInput, match="--map choices.0.message.content=answer") as caught:
        loaded(tmp_path, [row], "stability")
    path = str(caught.value).rpartition("--map ")[2].partition("=")[0]
    assert loaded(tmp_path, [row], "stability", columns={path: "answer"})["items"]["answer"].tolist() == ["a"]
    with pytest.raises(BadInput, match="--map response.body.choices.0.message.content=answer"):
        loaded(tmp_path, [batch(row)], "stability")


def test_models_that_answer_the_same_questions_share_numbers(tmp_path):
    rows = [
        several("a", "b") | {"id": f"chatcmpl-{m}{q}", "model": m, "messages": [{"role": "user", "content": q}]}
        for m in ("one", "two") for q in ("Q1", "Q2")
    ]  # fmt: skip
    items = loaded(tmp_path, rows)["items"]
    assert items["id"].tolist() == ["q0001", "q0001", "q0002", "q0002"] * 2
    assert set(items["model"]) == {"one", "two"}


@pytest.mark.parametrize(
    "row",
    [
        {"id": "1", "answer": TEXT, "choices": [{"label": "A", "text": "Москва"}, {"label": "B", "text": "Тула"}]},
        {"id": "1", "answer": TEXT, "messages": [*ASKED, {"role": "assistant", "content": "before"}]},
        {"id": "1", "answer": TEXT, "content": [{"type": "text", "text": "a source"}], "role": "user"},
    ],
)
def test_tables_with_answers_of_their_own_stay_as_they_are(row, tmp_path):
    data = loaded(tmp_path, [row])
    assert data["items"]["answer"].tolist() == [TEXT]
    assert not any("answers were read" in note for note in data.notes)
