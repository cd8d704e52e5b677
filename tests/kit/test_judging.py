"""The bench of a judge: what is asked, how often, in which language, and what is said about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chat import Chat, chat_endpoint

from evalbench.errors import BadInput
from evalbench.judge import offline
from evalbench.judge.entail import Entailer
from evalbench.judge.verdicts import Judgement, mark_task
from evalbench.kit.collecting import accounting_of, calls_of
from evalbench.kit.judging import Docket, Question, contradictions, contradictions_table, p_contradiction

BREVITY = mark_task("brevity", "Is it short?", {0: "long", 1: "short"})
CLARITY = mark_task("clarity", "Is it clear?", {0: "murky", 1: "clear"})


def pair(premise: str, hypothesis: str, lang: str = "en", name: str = "") -> Question:
    return Question({"premise": premise, "hypothesis": hypothesis}, lang, name)


class Counting:
    """Says what it was scripted to say, and keeps what it was asked."""

    def __init__(self, said: Any = "ENTAILMENT") -> None:
        self.said, self.asked = said, []

    def __call__(self, item: dict[str, Any]) -> Any:
        self.asked.append(item)
        return self.said(item) if callable(self.said) else self.said


def test_each_distinct_question_is_asked_once_over_all_rounds() -> None:
    by = Counting(lambda item: "ENTAILMENT" if item["premise"] == item["hypothesis"] else "NEUTRAL")
    docket = Docket(by)
    first = docket.ask("entailment", [pair("a", "b"), pair("c", "c"), pair("a", "b")])
    second = docket.ask("entailment", [pair("c", "c"), pair("d", "a")])
    assert [j.label for j in first + second] == ["NEUTRAL", "ENTAILMENT", "NEUTRAL", "ENTAILMENT", "NEUTRAL"]
    assert len(by.asked) == 3
    heard = docket.heard()
    assert heard.judge == "function:Counting"
    assert heard.accounting["calls"] == sum(map(len, heard.calls)) == len(heard.answers) == 3
    assert [j.id for _, j in heard.answers] == sorted(j.id for _, j in heard.answers)
    assert len(calls_of([], [heard, heard])["calls"]) == accounting_of([], [heard, heard])["calls"] == 6


def test_the_order_of_questions_changes_no_call() -> None:
    questions = [pair(str(n), "x") for n in range(20)]
    calls = []
    for order in (questions, questions[::-1]):
        docket = Docket(Counting())
        docket.ask("entailment", order)
        (table,) = docket.heard().calls
        calls.append(table["item_id"].tolist())
    assert calls[0] == calls[1] == sorted(calls[0])


def test_texts_of_other_fields_criteria_and_tasks_are_other_questions() -> None:
    by = Counting(lambda item: 1 if "answer" in item and "gold" not in item else {"label": "CORRECT"})
    docket = Docket(by)
    answer = {"answer": "x"}
    docket.ask(BREVITY, [Question(answer)])
    docket.ask(CLARITY, [Question(answer)])
    docket.ask("correctness", [Question({"question": "q", "gold": ["x"], "answer": "x"})])
    assert len(by.asked) == 3
    docket.ask(BREVITY, [Question(answer)])
    assert len(by.asked) == 3


def test_named_questions_keep_their_names_and_are_asked_each() -> None:
    by = Counting(1)
    docket = Docket(by)
    docket.ask(BREVITY, [Question({"answer": "x"}, "en", "d1/s0"), Question({"answer": "x"}, "en", "d0/s0")])
    assert [item["id"] for item in by.asked] == ["d0/s0", "d1/s0"]
    assert docket.heard().calls[0]["item_id"].tolist() == ["d0/s0", "d1/s0"]
    docket.ask(CLARITY, [Question({"answer": "x"}, "en", "d0/s0")])
    assert len(by.asked) == 3


def test_what_is_unscored_keeps_its_reason_and_is_not_asked_again() -> None:
    by = Counting({"unscored": "timeout", "detail": "after 60 s"})
    docket = Docket(by)
    for _ in range(2):
        (judgement,) = docket.ask("entailment", [pair("a", "b")])
        assert (judgement.unscored, judgement.detail, judgement.label) == ("timeout", "after 60 s", "")
    assert len(by.asked) == 1
    assert docket.heard().accounting["unscored"] == {"timeout": 1}


def test_nothing_asked_leaves_no_trace() -> None:
    docket = Docket("baseline/lexical")
    assert docket.ask("entailment", []) == []
    heard = docket.heard()
    assert (heard.judge, heard.answers, heard.calls, dict(heard.accounting)) == ("baseline/lexical", (), (), {})


def test_faulty_fields_are_refused() -> None:
    with pytest.raises(BadInput, match="hypothesis is None, not a text"):
        Docket(Counting()).ask("entailment", [Question({"premise": "a"})])


@pytest.fixture
def model() -> Iterator[Chat]:
    with chat_endpoint(lambda prompt: '{"reason": "so", "label": "NEUTRAL"}') as chat:
        yield chat


def test_a_model_is_asked_in_the_language_of_the_item_and_else_in_english(
    model: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    own = tmp_path / "own"
    own.mkdir()
    (own / "entailment.de.jinja").write_text("Folgt das daraus? {{ premise }} {{ hypothesis }}", "utf-8")
    docket = Docket(model.name, prompt=str(own), seed=1, max_tokens=64)
    docket.ask("entailment", [pair("a", "b", lang) for lang in ("de", "ru", "en", "tlh", "")])
    calls = {text.split("\n")[0][:30] for frame in docket.heard().calls for text in frame["prompt"]}
    # Klingon and no language at all are the same question as the English one.
    assert docket.heard().accounting["calls"] == 3
    assert any("Folgt das" in text for text in calls)
    assert len(docket.heard().accounting["prompt_hashes"]) == 3


class TestContradictions:
    def test_labels_count_one_or_zero_and_failures_have_their_reason(self) -> None:
        said = {"x": "CONTRADICTION", "y": "NEUTRAL", "z": {"unscored": "refused"}}
        docket = Docket(lambda item: said[item["hypothesis"]])
        values, why = contradictions(docket, ["a", "a", "a", "a"], ["x", "y", "z", "x"])
        np.testing.assert_array_equal(values, [1.0, 0.0, np.nan, 1.0])
        assert why == ["", "", "refused", ""]
        table = contradictions_table(docket.heard())
        assert table["statement"].tolist() == ["x", "y", "z"]
        assert table["unscored"].tolist() == ["", "", "refused"]

    def test_probabilities_are_of_contradiction_against_entailment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = np.array([[0.2, 0.2, 0.6], [0.0, 1.0, 0.0]])
        monkeypatch.setattr(offline, "entailer", lambda name: Entailer(name, {}, lambda p, h: rows[: len(p)]))
        docket = Docket("a-folder")
        values, _ = contradictions(docket, ["a", "b"], ["a", "b"])
        assert sorted(values.tolist()) == pytest.approx([0.0, 0.75])
        heard = docket.heard()
        assert heard.judge == "a-folder"
        assert heard.accounting["models"] == ["a-folder"]
        assert all("neutral" in reason for reason in contradictions_table(heard)["reason"])

    def test_a_label_without_probabilities_decides(self) -> None:
        assert p_contradiction(Judgement(id="1", label="CONTRADICTION", probability=0.4)) == 1.0
        assert np.isnan(p_contradiction(Judgement(id="1", unscored="timeout")))

    def test_an_empty_table_has_its_columns(self) -> None:
        table = contradictions_table(Docket("baseline/lexical").heard())
        assert list(table.columns)[:3] == ["call", "passage", "statement"]
        assert table.empty
