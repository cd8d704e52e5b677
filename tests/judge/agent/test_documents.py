"""The documents of the data set as a corpus, without an option, and what they may prove."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from tool_endpoint import FakeEndpoint, call, steps_before, verdict

from evalbench import citation, load, rag_generation
from evalbench.judge.agent.corpus import corpus_of
from evalbench.judge.agent.desk import Desk
from evalbench.judge.rag import SUPPORT
from evalbench.judge.tasks import mark_task
from evalbench.judge.verdicts import judge

ITEM = {"id": "1", "passages": ["The desk opens at nine."], "statement": "Coffee is free on Fridays."}
DOCUMENTS = [("hours", "The desk opens at nine."), ("menu", "Coffee is free on Fridays. Tea costs 2 euros.")]


def looks(*evidence: tuple[int, str], label: str = "SUPPORTED") -> Any:
    steps = [call("search", query="free coffee"), call("open", passage=3), verdict(label, list(evidence))]
    return lambda messages: steps[min(steps_before(messages), 2)]


def asked(fake: FakeEndpoint, **options: Any) -> Any:
    return judge([ITEM], by=f"agent:{fake.model}", task=SUPPORT, documents=DOCUMENTS, **options)


def test_they_are_found_and_marked_as_looked_up(fake: FakeEndpoint) -> None:
    fake.says = looks((1, "opens at nine"), (3, "Coffee is free on Fridays"), label="NOT_SUPPORTED")
    found = asked(fake)
    assert found.rows[0].reason.endswith("[1] “opens at nine” [3, looked up: menu] “Coffee is free on Fridays”")
    assert "All other documents of the data can be searched" in fake.asked[0]["messages"][0]["content"]


def test_what_the_item_has_not_does_not_support_it(fake: FakeEndpoint) -> None:
    """A retriever is not credited with what it did not find."""
    fake.says = looks((3, "Coffee is free on Fridays"))
    found = asked(fake)
    assert (found.rows[0].unscored, found.rows[0].label) == ("evidence-not-found", "")


def test_a_text_of_the_item_keeps_its_number(fake: FakeEndpoint) -> None:
    desk = Desk([("passages 1", "The desk opens at nine.")], corpus_of("", "", DOCUMENTS))
    assert "Passage 1 (passages 1)" in desk.search("when does the desk open")
    assert "Passage 2:" in desk.search("coffee")
    assert desk.looked_up(1) == ""
    assert desk.looked_up(2) == "menu"


def test_where_the_answer_alone_decides_they_are_evidence(fake: FakeEndpoint) -> None:
    fake.says = lambda messages: (
        {"tool": "verdict", "evidence": [{"passage": 2, "quote": "Coffee is free on Fridays"}], "verdict": {"reason": "so", "mark": 1}}
        if steps_before(messages)
        else [call("search", query="coffee free"), call("open", passage=2)]
    )  # fmt: skip
    task = mark_task("right", "Is it right?", {0: "no", 1: "yes"})
    found = judge([{"id": "1", "answer": "It is free."}], by=f"agent:{fake.model}", task=task, documents=DOCUMENTS)
    assert found.rows[0].label == "1"


def test_a_corpus_and_an_embedding_model_search_beside(fake: FakeEndpoint) -> None:
    corpus = corpus_of("", "use-multilingual", [("a", "Das Café ist freitags gratis."), ("b", "Planes need fuel.")])
    assert corpus.best("free coffee on Friday", 1) == [0], "no word in common: found by meaning"
    assert corpus_of("", "", [("a", "Das Café ist freitags gratis.")]).best("free coffee on Friday", 1) == []


def test_without_a_corpus_the_embedding_model_searches_the_passages_of_the_item() -> None:
    desk = Desk([("passages 1", "Das Café ist freitags gratis.")], corpus_of("", "use-multilingual"))
    assert "Passage 1" in desk.search("free coffee on Friday")
    assert desk.shown == {1: "Das Café ist freitags gratis."}


@pytest.mark.parametrize("study", ["rag_generation", "citation"])
def test_a_study_gives_the_documents_of_all_its_items(fake: FakeEndpoint, study: str) -> None:
    seen: list[str] = []

    def says(messages: list[dict[str, Any]]) -> Any:
        seen.append(json.dumps(messages, ensure_ascii=False))
        if not steps_before(messages):
            return call("search", query="tea euros")
        number = 2 if "Passage 2:" in seen[-1] else 3
        return (
            call("open", passage=number)
            if steps_before(messages) == 1
            else verdict("NOT_SUPPORTED", [(1, "opens at nine")])
        )

    fake.says = says
    name = f"agent:{fake.model}"
    if study == "rag_generation":
        rows = {"id": ["1", "2"], "question": ["When?", "What?"], "answer": ["At ten.", "Tea."]}
        rows |= {"contexts": [["The desk opens at nine."], ["Tea costs 2 euros here."]]}
        rag_generation.evaluate(
            load(pd.DataFrame(rows), study=study), judge=name, metrics=["faithfulness"], n_resamples=50
        )
    else:
        cited = [{"n": 1, "claim": "It opens at ten.", "url": "https://a.example/1", "title": "", "quote": ""}]
        answers = pd.DataFrame({"id": ["1"], "question": ["When?"], "answer": ["At ten [1]."], "citations": [cited]})
        sources = pd.DataFrame(
            {
                "url": ["https://a.example/1", "https://a.example/2"],
                "text": ["The desk opens at nine.", "Tea costs 2 euros here."],
            }
        )
        citation.evaluate(load({"answers": answers, "sources": sources}, study=study), judge=name, n_resamples=50)
    assert any("Tea costs 2 euros here." in text and "The desk opens at nine." in text for text in seen)
