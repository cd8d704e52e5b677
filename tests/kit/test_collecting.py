"""Texts of a table, or collected from a model in the languages of the prompts that exist."""

from __future__ import annotations

import pandas as pd
import pytest
from chat import chat_endpoint

from evalbench.errors import BadInput
from evalbench.kit.collecting import UNNAMED, accounting_of, asked, calls_of, collected, given, several

ROWS = pd.DataFrame({"id": ["1", "2", "3", "4"], "lang": ["en", "de", "ru", "tlh"], "question": list("abcd")})


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def own(tmp_path):
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "word_problem.de.jinja").write_text("Löse: {{ question }}")
    return folder


def prompts_of(rows=ROWS, **options):
    with chat_endpoint(lambda prompt: "42") as server:
        replies = asked(
            rows, server.name, "word_problem", lambda row: {"question": row["question"]}, purpose="response", **options
        )
    return [reply.request.prompt_text.split("\n")[0].split(":")[0] for reply in replies], replies


def test_a_row_is_asked_in_its_language_where_the_prompt_exists_in_it() -> None:
    heads, replies = prompts_of(max_tokens=9)
    english = "Solve a word problem step by step."
    assert heads == [english, english, "Решите текстовую задачу по шагам.", english]
    assert [reply.text for reply in replies] == ["42"] * 4
    assert {reply.request.max_tokens for reply in replies} == {9}
    assert calls_of(replies)["calls"]["item_id"].tolist() == ["1", "2", "3", "4"]
    assert accounting_of(replies)["calls"] == 4


def test_a_folder_of_ones_own_adds_a_language(own) -> None:
    english = "Solve a word problem step by step."
    assert prompts_of(prompt=str(own))[0] == [english, "Löse", "Решите текстовую задачу по шагам.", english]


def test_the_other_languages_of_a_file_are_found_beside_it(own) -> None:
    (own / "word_problem.en.jinja").write_text("Solve: {{ question }}")
    assert prompts_of(prompt=str(own / "word_problem.en.jinja"))[0] == ["Solve", "Löse", "Solve", "Solve"]


def test_a_file_alone_asks_every_row(own) -> None:
    assert prompts_of(prompt=str(own / "word_problem.de.jinja"))[0] == ["Löse"] * 4
    (own / "mine.txt").write_text("Mine: {{ question }}")
    assert prompts_of(prompt=str(own / "mine.txt"))[0] == ["Mine"] * 4


def test_rows_without_a_language_are_asked_in_english() -> None:
    rows = [{"id": "1", "question": "a"}, {"id": "2", "question": "b", "lang": None}]
    assert set(prompts_of(rows)[0]) == {"Solve a word problem step by step."}


def test_a_table_without_texts_names_both_ways_out() -> None:
    with pytest.raises(BadInput, match=r"no column response; give one, or a model to collect responses from"):
        given(pd.DataFrame({"id": ["1"]}), "response", "responses")


def test_texts_of_a_table_without_a_model_have_a_name() -> None:
    frame = pd.DataFrame({"id": ["1"], "response": ["x"]})
    assert given(frame, "response", "responses")["model"].tolist() == [UNNAMED]
    assert given(frame.assign(model="m"), "response", "responses")["model"].tolist() == ["m"]


def test_without_a_model_the_texts_are_those_of_the_table() -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "response": ["", None]})
    texts, replies = collected(frame, "response", "word_problem", dict)
    assert texts["unscored"].tolist() == ["", "no-output"]
    assert texts["model"].tolist() == [UNNAMED] * 2
    assert replies == []


def test_a_model_is_asked_once_for_each_id() -> None:
    frame = ROWS.assign(response="x", model="m").iloc[[0, 0, 2]]
    with chat_endpoint(lambda prompt: "" if "текст" in prompt else "42") as server:
        texts, replies = collected(
            frame, "response", "word_problem", lambda row: {"question": row["question"]}, model=server.name
        )
    assert texts["id"].tolist() == ["1", "3"]
    assert texts["response"].iloc[0] == "42"
    assert set(texts["model"]) == {server.name}
    assert texts["unscored"].iloc[0] == ""
    assert [reply.request.purpose for reply in replies] == ["response"] * 2


def test_nothing_asked_leaves_no_table_and_no_account() -> None:
    assert calls_of([]) == accounting_of([]) == {}


def test_who_was_judged_is_counted_above_one() -> None:
    assert several("model", ["a", "a"]) == "model a"
    assert several("model", ["b", "a"]) == "2 models: a, b"


def test_samples_of_a_row_are_asked_one_by_one_each_with_a_seed_of_its_own() -> None:
    _, replies = prompts_of(ROWS.head(2), samples=3, seed=7, temperature=1.0)
    assert [(reply.request.item_id, reply.request.sample) for reply in replies] == [
        (i, sample) for i in "12" for sample in range(3)
    ]
    assert {reply.request.seed for reply in replies} == {7}
    assert len({reply.key for reply in replies}) == 6
