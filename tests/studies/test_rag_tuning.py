"""rag_tuning: its figures against plain loops, its planted sample, what it refuses, and parts of one's own."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from studied import sample, whole
from tuned import WORDS, documents, evaluated, first_sentence, quality, questions, refusal, writer

from evalbench import rag_tuning, studies
from evalbench.studies.rag_tuning.pictures import picture_top_k
from evalbench.studies.rag_tuning.summary import best_cells, chosen_k
from tests.helpers.lights import of_figures

# -- figures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["hit_rate", "mrr", "recall", "precision"])
def test_retrieval_figures_are_those_of_a_plain_loop(target):
    rng = np.random.default_rng(3)
    vectors = {text: rng.standard_normal(6) for text in [*documents()["text"], *questions()["question"]]}
    more = pd.DataFrame({"id": ["q0", "q0", "q3"], "doc_id": ["d4", "d7", "d1"], "relevance": [1.0, 0.0, 2.0]})
    result = evaluated(
        {"sources": more},
        target_metric=target,
        embed=lambda texts: np.array([vectors[text] for text in texts]),
        chunker="documents",
        k=4,
        most_k=4,
    )
    sources = {f"q{i}": {f"d{i}"} for i in range(10)}
    sources["q0"] |= {"d4"}
    sources["q3"] |= {"d1"}
    for k in range(1, 5):
        expected = []
        for row in questions().itertuples():
            asked = vectors[row.question] / np.linalg.norm(vectors[row.question])
            near = sorted(
                documents().itertuples(),
                key=lambda d: -float(vectors[d.text] @ asked / np.linalg.norm(vectors[d.text])),
            )
            hits = [d.doc_id in sources[row.id] for d in near[:k]]
            expected.append(
                {
                    "hit_rate": float(any(hits)),
                    "mrr": 1 / (hits.index(True) + 1) if any(hits) else 0.0,
                    "recall": sum(hits) / len(sources[row.id]),
                    "precision": sum(hits) / k,
                }[target]
            )
        assert quality(result, f"k={k}") == pytest.approx(expected)
        assert result.estimate(target, setting=f"k={k}").value == pytest.approx(np.mean(expected))


@pytest.mark.external
def test_retrieval_on_cranfield_is_that_of_a_plain_count(external_data: Callable[[str], Path]) -> None:
    """By an embedding of words; hit rate, reciprocal rank and recall from the published judgements."""
    folder = external_data("cranfield")
    docs = [json.loads(line) for line in (folder / "docs.jsonl").read_text("utf-8").splitlines()]
    asked = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    judged = [line.split() for line in (folder / "qrels.trec").read_text("utf-8").splitlines()]
    tables = {
        "documents": pd.DataFrame({"doc_id": [d["_id"] for d in docs], "text": [d["text"] for d in docs]}),
        "questions": pd.DataFrame({"id": [q["_id"] for q in asked], "question": [q["text"] for q in asked]}),
        "sources": pd.DataFrame([(q, d, float(r)) for q, _, d, r in judged], columns=["id", "doc_id", "relevance"]),
    }
    words = sorted({word for q in asked for word in q["text"].split()})
    column = {word: i for i, word in enumerate(words)}

    def embed(texts: list[str]) -> np.ndarray:
        out = np.zeros((len(texts), len(words)))
        for i, text in enumerate(texts):
            for word in text.split():
                if word in column:
                    out[i, column[word]] += 1
        return np.sqrt(out)

    result = evaluated(tables, embed=embed, chunker="documents", k=10, most_k=10)
    assert "Documents without text: 2 of 1400; they have no chunk." in result.notes
    texts = {d["_id"]: d["text"] for d in docs if d["text"].strip()}
    names, vectors = sorted(texts), embed([texts[name] for name in sorted(texts)])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    relevant: dict[str, set[str]] = {}
    for q, _, d, r in judged:
        if int(r) > 0 and d in texts:
            relevant.setdefault(q, set()).add(d)
    expected = []
    for q in asked:
        cosines = (vectors @ embed([q["text"]])[0]) / np.linalg.norm(embed([q["text"]])[0])
        top = [names[i] for i in np.lexsort((np.arange(len(names)), -cosines.round(7)))[:10]]
        hits = [name in relevant[q["_id"]] for name in top]
        rank = hits.index(True) + 1 if any(hits) else np.inf
        expected.append((float(any(hits)), 1 / rank, sum(hits) / len(relevant[q["_id"]]), sum(hits) / 10))
    rows = result.items[result.items["setting"] == "k=10"].set_index("id").loc[[q["_id"] for q in asked]]
    assert np.allclose(rows[["hit_rate", "mrr", "recall", "precision"]].mean(), np.mean(expected, axis=0), atol=2e-3)


def test_generated_questions_are_found_as_a_plain_loop_finds_them():
    result = whole("rag_tuning")
    table = result.tables["generated"]
    asked = table[(table["unscored"] == "") & (table["undefined"] == "")]
    assert len(asked) == 28
    e = {
        m: result.estimate(m, setting="use-multilingual").value
        for m in ("hit_rate_at_1", "hit_rate_at_5", "mean_place", "mrr_at_5")
    }
    from evalbench.models.similarity.embed import embed
    from evalbench.text.chunks import chunk_spans

    rows = sample("rag_tuning")["documents"].sort_values("doc_id")
    chunks = [
        (f"{row.doc_id}:{a}-{b}", row.text[a:b])
        for row in rows.itertuples()
        for a, b in chunk_spans(row.text, 240, 0, row.lang)
    ]
    places = []
    for row in asked.itertuples():
        cosines = embed([text for _, text in chunks], "use-multilingual") @ embed([row.question], "use-multilingual")[0]
        ranked = [chunks[i][0] for i in np.argsort(-cosines, kind="stable")]
        places.append(ranked.index(row.id) + 1)
    found = [place for place in places if place <= 5]
    assert e["hit_rate_at_1"] == pytest.approx(np.mean([place == 1 for place in places]))
    assert e["hit_rate_at_5"] == pytest.approx(len(found) / len(places))
    assert e["mean_place"] == pytest.approx(np.mean(found))
    assert e["mrr_at_5"] == pytest.approx(sum(1 / place for place in found) / len(places))


def test_the_planted_behaviour_of_the_sample_is_found():
    own = {**studies.defaults("rag_tuning"), "n_resamples": 200}
    options = {key: value for key, value in own.items() if key in studies.study("rag_tuning").options()}
    result = rag_tuning.evaluate(studies.load(own["data"], study="rag_tuning"), **options)
    assert result.n_unscored == 0
    assert result.light == "green"
    assert chosen_k(result.items)[:2] == (4, 4)
    assert "The highest f1_score is at k = 4" in result.sentence
    at = {e.group["setting"]: e.value for e in result.summary.estimates if e.metric == "f1_score"}
    assert at["k=0"] < 0.2 < at["k=1"] < at["k=4"] > at["k=5"]
    assert list(result.tables["rewrites"]["n_rewrites"].unique()) == [2]


def test_a_chunk_carries_a_passage_that_it_shares_half_of():
    table = questions().assign(passage=[f"The {word} are regulated." for word in WORDS])
    whole_documents = evaluated({"questions": table}, k=1, most_k=1, chunker="documents")
    assert quality(whole_documents, "k=1") == [1.0] * 10
    sentence_by_sentence = evaluated({"questions": table}, k=1, most_k=1, chunk_size=32)
    found = sentence_by_sentence.tables["found"]
    assert found["carries"].tolist() == ["are regulated" in text for text in found["text"]]
    assert found["carries"].sum() > 0 or sentence_by_sentence.estimate("hit_rate", setting="k=1").value == 0


# -- the curve over k -----------------------------------------------------------------------------


def test_the_curve_goes_to_k_and_on_until_nothing_grows_three_times():
    settings = evaluated(k=5).items["setting"].unique().tolist()
    assert settings == [f"k={k}" for k in (1, 2, 3, 4, 5)]  # found at once: no growth after k = 1
    assert evaluated(k=2, patience=4).items["k"].max() == 5
    assert evaluated(k=1, patience=9, most_k=3).items["k"].max() == 3


def test_k_beyond_the_chunks_ends_with_all_of_them_and_says_so():
    result = evaluated(k=500, most_k=500, chunker="documents")
    assert result.items["k"].max() == 10
    assert "There are 10 chunks, fewer than k = 500: all are found." in result.notes
    assert picture_top_k(result) is not None


def test_k_0_has_an_answer_figure_only():
    result = evaluated(target_metric="f1_score", model=first_sentence, question_model=writer, k=2, most_k=3)
    rows = result.items[result.items["setting"] == "k=0"]
    assert rows["quality"].notna().all()
    assert rows[["hit_rate", "mrr", "recall", "precision"]].isna().all(axis=None)
    without = evaluated(k=2)
    assert "k=0" not in set(without.items["setting"])
    assert "Not applicable: k = 0 (hit rate needs chunks; answers have a figure without any)." in without.notes


def test_the_best_k_is_the_highest_and_beside_it_one_within_a_standard_error():
    values = {1: [0.0, 0.4, 0.2], 2: [0.5, 0.9, 0.7], 3: [0.6, 1.0, 0.8], 4: [0.6, 1.0, 0.8]}
    items = pd.DataFrame([{"part": "top k", "k": k, "quality": v} for k, several in values.items() for v in several])
    found = chosen_k(items)
    assert (found.best, found.plain) == (3, 2)
    assert found.error == pytest.approx(np.std([0.6, 1.0, 0.8], ddof=1) / math.sqrt(3))
    assert chosen_k(items.assign(quality=np.nan)) is None


def test_a_best_setting_is_named_only_where_it_beats_every_other():
    def table(*rows: tuple[str, str, str]) -> pd.DataFrame:
        return pd.DataFrame(rows, columns=["setting_a", "setting_b", "outcome"])

    assert best_cells(table(("a", "b", "better"), ("a", "c", "better"), ("b", "c", "no difference shown"))) == ["a"]
    assert best_cells(table(("a", "b", "better"), ("a", "c", "no difference shown"))) == []
    assert best_cells(table(("a", "b", "same"), ("a", "c", "better"), ("b", "c", "better"))) == ["a", "b"]
    assert best_cells(table(("a", "b", "same"))) == []
    assert best_cells(table()) == []


def test_chunks_are_labelled_by_their_real_sizes():
    result = evaluated(chunk_sizes=[20, 40, 60], overlaps=[0, 10])
    settings = result.tables["settings"].set_index(["size", "overlap"])
    for (size, overlap), row in settings.iterrows():
        from evalbench.text.chunks import chunk_spans

        sizes = [b - a for text in documents()["text"] for a, b in chunk_spans(text, size, overlap)]
        assert row["n_chunks"] == len(sizes)
        assert [row["size_low"], row["size_high"]] == np.quantile(sizes, [0.025, 0.975]).tolist()


# -- several queries ------------------------------------------------------------------------------


@pytest.mark.parametrize("fusion", ["rrf", "union"])
def test_several_queries_are_fused_and_compared_in_pairs(fusion):
    result = evaluated(question_model=writer, n_chunks=0, fusion=fusion, k=2)
    names = ["single query", f"several queries ({fusion})"]
    assert set(names) < set(result.items["setting"])
    table = rag_tuning.comparison(result, "queries")
    assert set(table["units"]) == {10}
    # Every wording is about the same word, so that nothing moves.
    assert set(table["verdict"]) == {"same"}
    assert quality(result, names[0]) == quality(result, names[1])
    assert result.tables["rewrites"]["n_rewrites"].tolist() == [3] * 10
    assert any("over the first 20 chunks of each" in line for line in result.method)


def test_a_rewrite_without_a_line_leaves_the_single_query():
    result = evaluated(question_model=lambda fields: "" if "question" in fields else writer(fields), k=2)
    assert result.tables["rewrites"]["n_rewrites"].tolist() == [0] * 10
    assert quality(result, "several queries (rrf)") == quality(result, "single query")


# -- the embedding --------------------------------------------------------------------------------


def test_marks_must_be_above_the_least_one():
    marks = iter([1, 2, 3, 4, 5] * 2)
    result = evaluated(
        question_model=writer, n_chunks=10, n_rewrites=0, judge=lambda item: next(marks), chunker="documents"
    )
    table = result.tables["generated"]
    assert (table["undefined"] == "low-mark").sum() == 6
    e = result.estimate("hit_rate_at_1", setting=result.items["setting"].iloc[0])
    assert (e.n, e.n_undefined, e.n_unscored) == (4, 6, 0)
    assert "6 of 10 generated questions marked 3 or lower are left out." in result.notes


def test_the_chunks_are_drawn_by_the_seed():
    def drawn(seed: int) -> list[str]:
        options = {"question_model": writer, "n_chunks": 8, "n_rewrites": 0, "seed": seed}
        return evaluated(**options).tables["generated"]["id"].tolist()

    assert drawn(1) == drawn(1) != drawn(2)
    unmarked = evaluated(question_model=writer, n_chunks=8, n_rewrites=0)
    assert any(note.startswith("Nobody marked whether the chunks answer") for note in unmarked.notes)
    assert len(drawn(1)) == 8


def test_thresholds_of_ones_own():
    own = {"hit_rate_at_1": {"green_from": 1.0, "yellow_from": 0.2}}
    result = evaluated(question_model=writer, n_rewrites=0, chunker="documents", lights=own)
    assert of_figures(result) == "green"
    assert "lights: f1_score has no light" in refusal(lights={"f1_score": {"green_from": 1, "yellow_from": 0}})
