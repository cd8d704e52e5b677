"""What a light of rag_retrieval rests on, and what the sentence says of it."""

from __future__ import annotations

import pandas as pd
import pytest
from searched import evaluated

from evalbench import BadInput


def queries(n, *, run="run", first=0, relevant_at=1, top=10.0, step=-1.0):
    """Each query's relevant passage is at one place of ten."""
    rows = [
        {"id": f"q{q:02}", "doc_id": f"p{q:02}{place}", "score": top + step * place, "model": run}
        for q in range(first, n)
        for place in range(1, 11)
    ]
    qrels = [{"id": f"q{q:02}", "doc_id": f"p{q:02}{relevant_at}", "relevance": 1} for q in range(n)]
    return pd.DataFrame(rows), pd.DataFrame(qrels)


LIT = {"lights": {"mrr": {"green_from": 0.7, "yellow_from": 0.5}}}


def test_a_run_of_few_of_the_queries_is_grey_and_the_sentence_says_how_many_it_lacks():
    run, qrels = queries(40)
    few = evaluated(run[run["id"] < "q05"], qrels, **LIT)
    assert few.verdict.light == "grey"
    assert "35 of 40 queries absent (run), counted 0." in few.sentence
    stated = evaluated(run[run["id"] < "q05"], qrels, absent="zero", **LIT)
    assert stated.verdict.light == "red"
    assert "35 of 40 queries absent (run), counted 0." in stated.sentence
    skipped = evaluated(run[run["id"] < "q05"], qrels, absent="skip", **LIT)
    assert "35 of 40 queries absent (run), in no mean." in skipped.sentence


def test_runs_are_compared_on_the_queries_that_both_have():
    run, qrels = queries(40)
    partial = run[run["id"] < "q05"].assign(model="partial")
    both = evaluated(pd.concat([run.assign(model="full"), partial]), qrels, **LIT)
    assert "35 of 40 queries absent (partial), counted 0." in both.sentence
    compared = both.tables["comparison"].query("metric == 'mrr_at_2'").iloc[0]
    assert (compared["difference"], compared["outcome"]) == (0, "same")
    assert "Compared on 5 of 40 units" in compared["words"]
    stated = evaluated(pd.concat([run.assign(model="full"), partial]), qrels, absent="zero", **LIT)
    assert abs(stated.tables["comparison"].query("metric == 'mrr_at_2'")["difference"].iloc[0]) == 35 / 40


def test_scores_that_are_distances_are_suspected():
    run, qrels = queries(40, step=1.0)
    result = evaluated(run, qrels, **LIT)
    assert "In the reversed order MRR@2 would be run 1.00: are the scores distances?" in result.sentence
    assert "reversed" not in evaluated(*queries(40), **LIT).sentence
    assert "reversed" not in evaluated(*queries(40, relevant_at=6), **LIT).sentence


def test_searches_without_an_order_and_ids_in_another_writing_are_in_the_sentence():
    run, qrels = queries(40)
    assert (
        "the search gives no order (run: 40 of 40 queries)" in evaluated(run.assign(score=1.0), qrels, **LIT).sentence
    )
    upper = run["id"] >= "q10"
    cased = run.assign(id=run["id"].where(~upper, run["id"].str.upper()))
    said = "30 judged queries are not in run: they differ from known ones by case alone, such as q10 and Q10."
    assert said in evaluated(cased, qrels, **LIT).sentence
    with pytest.raises(BadInput, match="differ from known ones by case alone"):
        evaluated(run.assign(doc_id=run["doc_id"].str.upper()), qrels)
