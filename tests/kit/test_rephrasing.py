"""Paraphrases and translations by a scripted endpoint, a fake."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from chat import chat_endpoint

from evalbench.errors import BadInput
from evalbench.kit.rephrasing import LANGUAGES, REPHRASINGS, check_rephrasing, rephrased
from evalbench.models.prompts import load_prompt

ROWS = pd.DataFrame(
    {
        "id": ["a", "b", "c"],
        "lang": ["ru", "en", ""],
        "query": ["Где 2 кота?", "Where are 2 cats?", "Кто там?"],
        "kept": [1, 2, 3],
    }
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))


def fenced_text(prompt: str) -> str:
    return re.search(r"\[text (\w+)\]\n(.*?)\n\[/text \1\]", prompt, re.DOTALL)[2]


def said(prompt: str) -> str:
    return f"<{fenced_text(prompt)}>"


def test_a_paraphrase_of_every_row_in_the_language_of_the_row():
    with chat_endpoint(said) as server:
        found = rephrased(ROWS, "query", "paraphrase", server.name, temperature=0.5, max_tokens=99)
    assert found.rows["query"].tolist() == ["<Где 2 кота?>", "<Where are 2 cats?>", "<Кто там?>"]
    assert found.rows["kept"].tolist() == [1, 2, 3]
    assert set(found.rows["unscored"]) == {""}
    assert found.others == 0
    assert [p.split(".")[0] for p in server.answered if "кота" in p] == ["Перескажи текст другими словами"]
    assert {body["temperature"] for body in server.bodies} == {0.5}
    assert [reply.request.purpose for reply in found.replies] == ["paraphrase"] * 3


def test_there_and_back_is_asked_leg_by_leg_and_only_once():
    with chat_endpoint(said) as server:
        for _ in range(2):
            found = rephrased(ROWS, "query", "translate_ru_uk_ru", server.name)
        heads = sorted(re.search(r"(?:Язык текста|Language of the text): .*\n.*", p)[0] for p in server.answered)
    assert found.rows["id"].tolist() == ["a", "c"]
    assert found.rows["query"].tolist() == ["<<Где 2 кота?>>", "<<Кто там?>>"]
    assert found.rows["lang"].tolist() == ["ru", ""]
    assert found.others == 1
    back = "Language of the text: Ukrainian.\nLanguage of the translation: Russian."
    there = "Язык текста: русский.\nЯзык перевода: украинский."
    assert heads == [back, back, there, there]
    assert all(reply.cached for reply in found.replies)


def test_what_is_protected_must_come_back():
    with chat_endpoint(lambda prompt: "сколько котов" if "Где" in prompt else "2 cats, where?") as server:
        found = rephrased(ROWS.iloc[:2], "query", "paraphrase", server.name, protect=["numbers"])
    assert found.rows["query"].tolist() == [None, "2 cats, where?"]
    assert found.rows["unscored"].tolist() == ["unparsed", ""]
    assert all(re.search(r"\[kept \w+\]\n2\n", prompt) for prompt in server.answered)


def test_replies_without_a_text_and_with_the_marks():
    def answer(prompt: str) -> str:
        fence = re.search(r"\[text \w+\]\n.*?\n\[/text \w+\]", prompt, re.DOTALL)[0]
        return fence if "Кто" in prompt else "  \n"

    with chat_endpoint(answer) as server:
        found = rephrased(ROWS, "query", "translate_ru_uk_ru", server.name)
    assert found.rows["query"].tolist() == [None, "Кто там?"]
    assert found.rows["unscored"].tolist() == ["no-text", ""]
    assert len(server.answered) >= 3  # the row without a text is not asked a second leg


@pytest.mark.parametrize("name", ["paraphrase", "translate"])
def test_both_prompts_ask_for_the_same(name):
    assert load_prompt(name, "en").variables == load_prompt(name, "ru").variables


def test_names():
    assert [check_rephrasing(name) for name in REPHRASINGS] == [[]] * len(REPHRASINGS)
    for name in ("translate", "translate_ru", "para", "translate_ru_ru", "translate_ru_uk_xx"):
        assert len(check_rephrasing(name)) == 1
    assert all(len(names) == 2 for names in LANGUAGES.values())
    with pytest.raises(BadInput, match=r"(?s)'para' is not paraphrase.*'words' is not one of numbers"):
        rephrased(ROWS, "query", "para", "m", protect=["words"])
