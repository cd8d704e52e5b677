"""rag_tuning: models, parts of one's own, what does not apply, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from chat import chat_endpoint
from tuned import documents, evaluated, first_sentence, quality, questions, refusal, writer

from evalbench import BadInput, rag_tuning
from evalbench.studies.rag_tuning.inputs import EMPTY_SOURCE, LOST_PASSAGE, NO_SOURCE

# -- models ---------------------------------------------------------------------------------------


def test_an_endpoint_answers_writes_and_is_asked_each_thing_once(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))

    def model(prompt: str) -> str:
        if "Write one question" in prompt:
            return "What is said of bees?"
        return "What of it?\nAnd what of dogs?" if "other wordings" in prompt else "They are regulated."

    with chat_endpoint(model) as server:
        options = {"target_metric": "f1_score", "model": server.name, "k": 2, "most_k": 2, "n_chunks": 5, "patience": 1}
        first = evaluated(**options)
        again = evaluated(**options)
    calls = first.tables["calls"]
    assert set(calls["purpose"]) == {"answer", "question", "rewrite"}
    assert not calls.duplicated(["purpose", "prompt"]).any()
    assert first.accounting["calls"] == len(calls)
    assert again.accounting["cache_hits"] == len(calls)
    assert again.to_json() == first.to_json()


def test_replies_that_fail_are_unscored_and_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    with chat_endpoint(lambda prompt: None) as server:
        result = evaluated(target_metric="f1_score", model=server.name, k=1, most_k=1, n_chunks=5)
    assert set(result.items["unscored"]) == {"no-text"}
    assert result.light == "grey"
    assert "no text" in result.sentence
    assert result.items["quality"].notna().sum() == 0


def test_what_was_not_recorded_is_unscored():
    tables = {"replies": pd.DataFrame({"purpose": ["answer"], "asked": ["no such"], "reply": ["yes"]})}
    result = evaluated(tables, target_metric="f1_score", model="recorded", k=1, most_k=1)
    assert set(result.items["unscored"]) == {"not-recorded"}
    assert "the data have no table replies" in refusal(target_metric="f1_score", model="recorded")


def test_an_answer_without_a_right_one_is_undefined():
    table = questions().assign(reference=["", None, *questions()["reference"][2:]])
    result = evaluated(
        {"questions": table}, target_metric="f1_score", model=first_sentence, question_model=writer, k=1, most_k=1
    )
    e = result.estimate("f1_score", setting="k=1")
    assert (e.n, e.n_undefined, e.n_unscored) == (8, 2, 0)
    assert set(result.items["undefined"]) == {"", "no-reference"}


@pytest.mark.parametrize(("target", "at_0"), [("answer_correctness", 0.0), ("faithfulness", None)])
def test_answers_can_be_judged_sentence_by_sentence(target, at_0):
    def same(item: dict[str, Any]) -> dict[str, Any]:
        supported = any(item["statement"] in passage for passage in item["passages"])
        return {"label": "SUPPORTED" if supported else "NOT_SUPPORTED", "passages": [1] if supported else []}

    def answer(fields: dict[str, Any]) -> str:
        word = fields["question"].split()[-1].rstrip("?")
        return f"The {word} are regulated. It rains." if fields["contexts"] else "It rains."

    options = {"model": answer, "question_model": writer, "n_chunks": 0, "n_rewrites": 0, "k": 1, "most_k": 1}
    result = evaluated(target_metric=target, answer_judge=same, chunker="documents", **options)
    assert result.estimate(target, setting="k=0").value == at_0
    # One of two sentences is in the document; that one is the right answer: 1 / (1 + ½ (1 + 0)).
    expected = {"answer_correctness": 2 / 3, "faithfulness": 0.5}[target]
    assert result.estimate(target, setting="k=1").value == pytest.approx(expected)
    assert set(result.tables["calls"]["purpose"]) == {"answer", "support"}
    by_words = evaluated(target_metric=target, chunker="documents", **options)
    assert any("judged by baseline/lexical, which compares words" in note for note in by_words.notes)


def test_a_model_that_is_not_there_is_refused_before_anything_is_computed():
    def never(texts: list[str]) -> Any:
        raise AssertionError("computed")

    for option in ("model", "question_model", "judge"):
        with pytest.raises(BadInput, match="local/nosuch"):
            evaluated(**{"model": writer, option: "local/nosuch"}, target_metric="f1_score", embed=never)


# -- parts of one's own ---------------------------------------------------------------------------


def test_every_part_can_be_a_function():
    def halves(text: str, size: int, overlap: int, language: str) -> list[tuple[int, int]]:
        return [(0, len(text) // 2), (len(text) // 2, len(text))]

    def backwards(vectors: np.ndarray):
        def search(queries: np.ndarray, k: int):
            order = np.argsort(queries @ vectors.T, axis=1, kind="stable")[:, :k]
            return order, np.take_along_axis(queries @ vectors.T, order, 1)

        return search

    result = evaluated(chunker=halves, search=backwards, k=3)
    assert result.estimate("hit_rate", setting="k=3").value < 0.5
    assert result.parameters["chunker"] == "function:halves"
    assert any("function:backwards; its recall@10" in note for note in result.notes)


def test_parts_that_return_what_they_must_not_are_refused():
    assert "embed: 20 texts gave an array of shape (1, 2)" in refusal(embed=lambda texts: [[1.0, 2.0]], chunk_size=50)
    assert "chunker: (0, 999) is not a stretch" in refusal(chunker=lambda *how: [(0, 999)])
    assert "the documents have no chunk" in refusal(chunker=lambda *how: [])
    assert "search: places and scores of shape" in refusal(
        search=lambda vectors: lambda q, k: (np.zeros((1, 1)), np.zeros((1, 1)))
    )
    with pytest.raises(TypeError, match="not a text"):
        evaluated(target_metric="f1_score", model=lambda fields: 3)


def test_the_search_by_a_graph_states_its_recall():
    result = evaluated(graph_from=5)
    (row,) = result.tables["search"].to_dict("records")
    assert (row["search"], row["n_queries"], row["recall"]) == ("graph", 10, 1.0)
    assert any("its recall@10 against the exact search is 1.000 on 10 queries" in note for note in result.notes)
    assert quality(result, "k=1") == quality(evaluated(), "k=1")


# -- what does not apply, and bad input -----------------------------------------------------------


def test_without_a_model_sources_or_a_chunker_that_varies_what_does_not_apply_is_said():
    plain = rag_tuning.not_applicable(evaluated(chunker="documents"))
    assert dict(plain.values.tolist())["chunks"] == "the chunker takes no size"
    assert dict(plain.values.tolist())["embedding"] == "no model writes questions"
    no_sources = {"questions": questions().drop(columns="doc_id")}
    result = evaluated(no_sources, question_model=writer, n_chunks=5)
    assert set(result.items["part"]) == {"embedding"}
    assert (
        dict(rag_tuning.not_applicable(result).values.tolist())["top k"]
        == "no question names a source, and no model answers"
    )
    assert "nothing can be computed" in refusal(no_sources)
    answered = evaluated(
        no_sources, target_metric="f1_score", model=first_sentence, question_model=writer, k=1, most_k=1
    )
    assert answered.estimate("f1_score", setting="k=1").value is not None
    assert answered.items["hit_rate"].isna().all()


def test_questions_without_a_source_that_can_be_found_are_undefined_and_counted():
    docs = pd.concat([documents(), pd.DataFrame({"doc_id": ["empty", "null"], "text": ["", None]})])
    table = questions().assign(
        doc_id=["", "empty", "null", *questions()["doc_id"][3:]], passage=["", "x", "", "not in it at all", *[""] * 6]
    )
    result = evaluated({"documents": docs, "questions": table}, k=1)
    rows = result.items[result.items["setting"] == "k=1"]
    assert rows["undefined"].tolist()[:4] == [NO_SOURCE, EMPTY_SOURCE, EMPTY_SOURCE, LOST_PASSAGE]
    e = result.estimate("hit_rate", setting="k=1")
    assert (e.n, e.n_undefined) == (6, 4)
    assert "Documents without text: 2 of 12; they have no chunk." in result.notes
    assert (
        "1 of 10 questions name a passage that is not in its document: retrieval has no figure for them."
        in result.notes
    )


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"documents": pd.concat([documents(), documents()[:1]])}, "d0"),
        ({"questions": pd.concat([questions(), questions()[:1]])}, "q0"),
        ({"questions": questions().assign(doc_id="d99")}, "question q0: its source d99 is not among the documents"),
        ({"sources": pd.DataFrame({"id": ["q77"], "doc_id": ["d0"]})}, "sources: there is no question q77"),
        ({"documents": documents().assign(text=" ")}, "documents: none has a text"),
        ({"documents": documents()[:0]}, "documents"),
        ({"questions": questions().assign(question=None)}, "question"),
        ({"replies": pd.DataFrame({"purpose": ["sing"], "asked": ["a"], "reply": ["la"]})}, "one of answer, question"),
    ],
)
def test_tables_that_cannot_be_right_are_refused(tables, said):
    assert said in refusal(tables)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": -1}, "k must be at least 1, got -1"),
        ({"k": 0}, "k must be at least 1, got 0"),
        ({"chunk_size": 100, "overlap": 100}, "overlap must be below the chunk size: 100 is not below 100"),
        (
            {"chunk_sizes": [50, 300], "overlaps": [0, 60]},
            "chunk_sizes × overlaps: overlap must be below the chunk size: 60 is not",
        ),
        ({"chunk_sizes": [-5]}, "chunk_sizes × overlaps: chunk size must be a whole number from 1, got -5"),
        ({"target_metric": "f1_score"}, "target_metric: f1_score scores answers, so it needs a model"),
        ({"target_metric": "f1scor"}, "no metric 'f1scor'"),
        ({"target_metric": "length", "model": first_sentence}, "nothing can be tuned for it"),
        ({"min_mark": 5}, "min_mark must be from 0 to below 5, got 5"),
        ({"embed": "jaccard"}, "jaccard compares words and has no vectors"),
        ({"chunker": "paragraphs"}, "chunker must be one of sentences, documents; got 'paragraphs'"),
        ({"search": "faiss"}, "search must be one of auto, exact, graph; got 'faiss'"),
    ],
)
def test_options_that_cannot_be_right_are_refused(options, said):
    assert said in refusal(**options)


def test_right_answers_are_needed_where_they_are_compared_with():
    table = {"questions": questions().drop(columns="reference")}
    assert "needs right answers, a column reference" in refusal(table, target_metric="f1_score", model=first_sentence)


def test_passages_that_no_document_holds_are_named_as_the_reason():
    table = questions().assign(passage="it is nowhere in the documents at all")
    options = {"question_model": writer, "n_chunks": 3, "n_rewrites": 0, "k": 1}
    result = evaluated({"documents": documents(), "questions": table}, **options)
    why = "10 of 10 questions name a passage that is not in its document"
    assert f"{why}." in result.sentence
    assert result.tables["sections"]["why"].iloc[0] == f"{why}, none one that is, and no model answers"


def test_a_green_embedding_is_yellow_where_the_tables_own_questions_find_no_source():
    asked = pd.concat([questions(), questions().assign(id=questions()["id"] + "-again")], ignore_index=True)
    turned = asked.assign(doc_id=[*asked["doc_id"][5:], *asked["doc_id"][:5]])
    right, wrong = ({"documents": documents(), "questions": table} for table in (asked, turned))
    options = {"question_model": writer, "n_chunks": 10, "n_rewrites": 0, "k": 1, "chunk_sizes": []}
    assert evaluated(right, **options).summary.estimate("hit_rate", setting="k=1").light == "green"
    lost = evaluated(wrong, **options)
    assert lost.summary.estimate("hit_rate", setting="k=1").light == "yellow"
    assert lost.light != "green"
    assert "Hit rate 0.00" in lost.sentence or "hit rate 0.00" in lost.sentence
    assert evaluated(wrong, hit_floor=0.0, **options).summary.estimate("hit_rate", setting="k=1").light == "unlit"


def test_a_model_that_declines_to_write_questions_leaves_the_embedding_unscored():
    options = {"question_model": lambda fields: "I cannot do that.", "n_chunks": 10, "n_rewrites": 0, "k": 1}
    refused = evaluated(chunk_sizes=[], **options)
    assert set(refused.tables["generated"]["unscored"]) == {"refused"}
    assert refused.light == "grey"
