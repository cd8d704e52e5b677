"""What the studies of retrieved contexts answer, in words: answers, searches, and how to tune."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from spoken import absent, answer, est, pairs
from summaries import summary

from evalbench.core.notes import Note
from evalbench.core.result import Estimate

FAITH, RIGHT, POINT = "faithfulness", "answer_correctness", "answer_relevance"


@pytest.mark.parametrize(
    ("own", "light", "said"),
    [
        (
            [est(FAITH, 0.93, "oak", light="green"), est(RIGHT, 0.64, "oak", light="yellow"), est(POINT, 0.2, "oak", light="red")], "red",
            "Oak's answers are faithful to their contexts (93%), not always right (64%), too seldom to the point (20%).",
        ),
        (
            [est(FAITH, 0.0, "model not named", light="red"), est(RIGHT, 0.0, "model not named", light="red")], "red",
            "The model's answers are not faithful to their contexts (0%) and not right (0%).",
        ),
        (
            [est(FAITH, 0.93, "oak"), est(RIGHT, 0.64, "oak"), est("context_recall", 0.76, "oak")], "unlit",
            "Oak's answers are 93% faithful to their contexts and 64% right; their contexts hold 76% of what right answers need.",
        ),
        ([est("context_recall", 0.76, "oak")], "unlit", "Oak's contexts hold 76% of what right answers need."),
        ([est(FAITH, 1.0, "oak", light="grey", n=2)], "grey", "How good oak's answers are is not known: it rests on only 2 answers, and 20 are needed."),
        (
            [est(FAITH, 1.0, "oak", light="grey", n=20, n_unscored=20)], "grey",
            "How good oak's answers are is not known: 20 of 40 answers have no score.",
        ),
        (
            [est(FAITH, None, "oak", light="grey", note="no answer claims anything")], "grey",
            "How good the answers are is not known: no answer claims anything.",
        ),
    ],
)  # fmt: skip
def test_answers_of_one_model(own: list[Estimate], light: str, said: str) -> None:
    lit = [e for e in own if e.light != "unlit"]
    decides = max(lit, key=lambda e: e.light == light) if lit else None
    facts = {"parameters": {"judge": "scripted", "lights": {}}}
    assert answer("rag_generation", summary(light, *own, decided=decides), **facts).answer == said


def test_two_models_whose_answers_are_better_and_what_else_is_wrong() -> None:
    low = est(RIGHT, 0.64, "oak", light="yellow")
    own = [est(RIGHT, 0.87, "fern", light="green"), low, est(FAITH, 0.85, "oak", light="yellow")]
    tables = {"comparison": pairs(RIGHT, ("fern", "oak", "better"))}
    result = answer("rag_generation", summary("yellow", *own, decided=low), by=("model",), tables=tables)
    assert result.answer == (
        "Fern's answers are 87% right, oak's 64%; fern is better, more than chance explains. "
        "Oak's are not always faithful to their contexts (85%). Oak is between the thresholds."
    )


def test_of_many_models_the_best_the_worst_and_those_not_told_apart() -> None:
    own = [est(FAITH, 0.9 - i / 10, f"m{i}", light="green" if i < 6 else "red") for i in range(7)]
    rows = [("m0", f"m{i}", "better" if i > 1 else "no difference shown") for i in range(1, 7)]
    tables = {"comparison": pairs(FAITH, *rows)}
    said = answer("rag_generation", summary("red", *own, decided=own[6]), by=("model",), tables=tables).answer
    assert said == (
        "m0's answers are 90% faithful to their contexts, m6's, the worst, 30%; no difference from the best is shown for m1. m6 is not good enough."
    )


def test_a_judge_that_compares_words_leaves_the_answer_open() -> None:
    own = est(FAITH, 0.9, "oak", light="grey")
    missing = "The judge is baseline/lexical, which compares words"
    result = answer(
        "rag_generation", summary("grey", own, decided=own, missing=missing), parameters={"judge": "baseline/lexical"}
    )
    assert result.answer == "How good oak's answers are is not known: the judge compares words and does not read."
    assert "a judge that reads" in result.next.text


def test_figures_that_labels_correct_are_those_that_are_read_out() -> None:
    by_judge = est(FAITH, 0.95, "oak")
    by_labels = est("faithfulness_corrected", 0.7, "oak", light="yellow", corrects=FAITH)
    result = answer("rag_generation", summary("yellow", by_judge, by_labels))
    assert result.answer == "Oak's answers are not always faithful to their contexts (70%)."


def test_a_grey_light_of_another_cause_is_said_after_the_figures() -> None:
    own = est(FAITH, 0.9, "oak", light="grey")
    said = answer("rag_generation", summary("grey", own, missing="Labels are too few")).answer
    assert (
        said == "Oak's answers are 90% faithful to their contexts. Whether that holds is not known: labels are too few."
    )


def ranks(run: str, value: float | None, light: str = "unlit", metric: str = "ndcg_at_5", **more: Any) -> Estimate:
    return est(metric, value, run, title="nDCG@5", light=light, **more)


@pytest.mark.parametrize(
    ("own", "light", "said"),
    [
        ([ranks("run", 0.72, "green")], "green", "The search reaches 72% of the best possible ranking of the first 5 passages. That is good enough."),
        (
            [ranks("run", 0.3, "red"), ranks("run", 0.5, metric="hit_rate_at_5")], "red",
            "The search reaches 30% of the best possible ranking of the first 5 passages. For 50% of queries one that answers is among them. "
            "That is not good enough.",
        ),
        ([ranks("run", 0.0, "red")], "red", "The search finds no passage that answers among the first 5. That is not good enough."),
        (
            [ranks("words", 0.6, metric="hit_rate_at_5")], "unlit",
            "Words finds a passage that answers among the first 5 for 60% of queries. No thresholds say what is good enough.",
        ),
        ([ranks("words", 0.41, metric="mrr_at_5", ci_low=0.3, ci_high=0.5)], "unlit", "Words reaches 0.41 in nDCG@5. No thresholds say what is good enough."),
        ([ranks("run", 1.0, "grey", n=2)], "grey", "How well the search finds passages is not known: it rests on only 2 queries, and 20 are needed."),
        ([ranks("run", None, note="no query has a relevant passage")], "unlit", "How well passages are found is not known: no query has a relevant passage."),
    ],
)  # fmt: skip
def test_one_search(own: list[Estimate], light: str, said: str) -> None:
    decides = own[0] if light != "unlit" else None
    facts = {"parameters": {"lights": {}}}
    assert answer("rag_retrieval", summary(light, *own, decided=decides), **facts).answer == said


def test_a_search_that_lacks_one_query_of_many_is_compared() -> None:
    own = [ranks("moss", 0.724, n=25), ranks("reed", 0.72, n=25)]
    result = answer("rag_retrieval", summary("unlit", *own), notes=(absent("1 of 25 queries absent (reed)"),))
    assert result.answer.startswith(
        "Moss reaches 72% of the best possible ranking of the first 5 passages, reed 72%; whether that is chance was not tested."
    )


def test_of_few_queries_the_next_step_is_more_of_them_also_without_thresholds() -> None:
    result = answer("rag_retrieval", summary("unlit", ranks("run", 1.0, n=7)))
    assert result.next.text == "Add 13 more queries."


def test_two_searches_of_which_one_lacks_most_queries() -> None:
    own = [ranks("dense", 0.93, "green"), ranks("late", 0.07, "grey")]
    notes = (absent("37 of 40 queries absent (late)"),)
    result = answer("rag_retrieval", summary("grey", *own, decided=own[1]), notes=notes)
    assert result.answer.endswith("How well late finds passages is not known: 37 of 40 queries are absent.")
    assert result.next.text == "Add the 37 queries that late lacks."


@pytest.mark.parametrize(
    ("outcome", "after"),
    [
        ("better", "dense is better, more than chance explains"),
        ("no difference shown", "no difference between them is shown"),
    ],
)
def test_two_searches(outcome: str, after: str) -> None:
    own = [ranks("dense", 0.93), ranks("words", 0.38)]
    tables = {"comparison": pairs("ndcg_at_5", ("dense", "words", outcome))}
    result = answer("rag_retrieval", summary("unlit", *own), by=("model",), tables=tables, parameters={"lights": {}})
    assert result.answer.startswith(
        f"Dense reaches 93% of the best possible ranking of the first 5 passages, words 38%; {after}."
    )


def test_scores_that_are_distances_are_to_be_turned_round() -> None:
    own = ranks("run", 0.39, "red")
    notes = (Note("instrument", "In the reversed order nDCG@5 would be run 1.00: are the scores distances?"),)
    result = answer("rag_retrieval", summary("red", own, decided=own), notes=notes)
    assert result.next.text == "If the scores are distances, turn them round."


def hits(metric: str, value: float | None, light: str = "green", **more: Any) -> Estimate:
    return est(metric, value, "minilm", "setting", light=light, method="Wilson", **more)


def at(k: int, value: float, metric: str = "hit_rate", **more: Any) -> Estimate:
    share = {"method": "Wilson"} if metric == "hit_rate" else {}
    return est(metric, value, f"k={k}", "setting", **{**share, **more})


TUNED = {"target_metric": "hit_rate", "k": 5, "chunk_size": 800}


def chunks(outcome: str) -> dict[str, pd.DataFrame]:
    rows = ("chunks 240/0", "chunks 120/0", outcome)
    settings = pd.DataFrame({"setting": ["chunks 120/0", "chunks 240/0"], "size": [120, 240], "overlap": [0, 0]})
    return {"compared_chunks": pairs("hit_rate", rows, by="setting"), "settings": settings}


def queries(outcome: str) -> dict[str, pd.DataFrame]:
    rows = ("several queries (rrf)", "single query", outcome)
    return {"compared_queries": pairs("hit_rate", rows, by="setting")}


@pytest.mark.parametrize(
    ("own", "light", "more", "said", "then"),
    [
        (
            [hits("hit_rate_at_1", 0.86), at(1, 0.6), at(4, 0.9), at(5, 0.85)], "green",
            {"tables": chunks("better") | queries("no difference shown")},
            "Questions find their source most often with 4 chunks, 90%; 240 characters each are shown to be best. "
            "The embedding finds the right chunk first for 86% of questions. Several queries are not shown to help.",
            "Try 4 chunks (k = 4) and chunks of 240 characters.",
        ),
        (
            [hits("hit_rate_at_1", 0.1, "red"), at(5, 0.3)], "red", {"tables": chunks("no difference shown") | queries("worse")},
            "With 5 chunks 30% of questions find their source, with more no more; no size of chunks is shown to be best. "
            "The embedding finds the right chunk first for 10% of questions, which is too few.", "Try another embedding.",
        ),
        (
            [at(3, 0.9, "rougeL"), at(5, 0.8, "rougeL")], "unlit", {"parameters": TUNED | {"target_metric": "rougeL", "n_chunks": 0}},
            "The rougeL of answers is highest with 3 chunks, 0.90.", "Set question_model and n_chunks to look at the embedding.",
        ),
        (
            [at(1, 0.0, light="yellow"), at(2, 0.0, light="yellow")], "yellow", {},
            "No question finds its source, however many chunks are taken.", "Check the sources that the questions name.",
        ),
        (
            [hits("hit_rate_at_1", 1.0, "grey", n=2), at(1, 1.0, n=2)], "grey", {},
            "How well the embedding finds chunks is not known: it rests on only 2 generated questions, and 20 are needed.",
            "Add 18 more generated questions.",
        ),
        (
            [hits("hit_rate_at_1", 0.9), at(2, 1.0, light="grey", n=3)], "grey", {},
            "How often questions find their source is not known: it rests on only 3 questions, and 20 are needed. "
            "The embedding finds the right chunk first for 90% of questions.", "Name the sources of 17 more questions.",
        ),
        ([], "unlit", {}, "How the RAG should be tuned is not known: nothing was compared.", "Set question_model and n_chunks to look at the embedding."),
    ],
)  # fmt: skip
def test_how_to_tune(own: list[Estimate], light: str, more: dict[str, Any], said: str, then: str) -> None:
    decides = own[0] if own and light != "unlit" else None
    result = answer("rag_tuning", summary(light, *own, decided=decides), **{"parameters": TUNED, **more})
    assert (result.answer, result.next.text) == (said, then)
