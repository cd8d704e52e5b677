"""Tables of rag_retrieval under the names of columns that it had before, and who answered."""

from __future__ import annotations

import pandas as pd
import pytest
from searched import QRELS, RUN, evaluated, frame

from evalbench import BadInput, load

OLD = {"id": "query_id", "doc_id": "passage_id", "model": "run"}
MARKS = frame("""a 1 one oak
    b 0 one oak
    a 0 two oak
    b 1 two oak""", "id", "correct", "model", "answered_by")  # fmt: skip


def answer_table(answers, run=RUN, qrels=QRELS):
    return evaluated(run, qrels, tables={"answers": answers}).tables["answer_by_passage"].to_dict("list")


@pytest.mark.parametrize("beside", [{}, {"id": 7, "doc_id": "x", "model": "bge"}])
def test_former_names_give_the_same_figures_whatever_stands_beside_them(beside):
    result = evaluated(RUN.rename(columns=OLD).assign(**beside), QRELS.rename(columns=OLD))
    assert result.summary == evaluated().summary
    assert sum("column run was read as model" in note for note in result.notes) == 1
    pd.testing.assert_frame_equal(result.items, evaluated().items)


@pytest.mark.parametrize(
    "former", [{**OLD, "correct": "answer_correct", "answered_by": "model"}, {**OLD, "answered_by": "system"}]
)
def test_in_answers_that_name_a_run_the_model_is_who_answered(former):
    assert answer_table(MARKS.rename(columns=former)) == answer_table(MARKS)


def test_in_answers_that_name_no_run_a_model_that_is_no_search_is_who_answered():
    own = MARKS[MARKS["model"] == "one"].drop(columns="model")
    assert answer_table(own.rename(columns={"answered_by": "model"})) == answer_table(own)
    searched = MARKS.drop(columns="answered_by")
    assert answer_table(searched)["model"] == answer_table(MARKS)["model"]
    assert set(answer_table(searched)["answered_by"]) == {"answers"}


def test_answers_of_nobody_are_a_group_of_their_own():
    result = evaluated(tables={"answers": MARKS.assign(answered_by=["oak", "oak", None, None])})
    assert any("2 of 4 rows name no model" in note for note in result.notes)
    with pytest.raises(BadInput, match="column model: empty"):
        evaluated(RUN.assign(model=["one", None, *["two"] * 7]))


def test_numbered_runs_are_searches_and_lists_may_name_theirs_run():
    numbered = evaluated(RUN.assign(model=RUN["model"].map({"one": "1", "two": "2"})).rename(columns={"model": "run"}))
    assert sorted(set(numbered.items["model"])) == ["1", "2"]
    rows = [{"run": run, "id": "a", "relevant": ["p"], "retrieved": ["p"]} for run in ("one", "two")]
    data = load(pd.DataFrame(rows), study="rag_retrieval")
    assert data["run"]["model"].tolist() == ["one", "two"]
    assert any("column run was read as model" in note for note in data.notes)


def test_scores_of_beirs_qrels_are_the_relevance_also_in_a_whole_data_set():
    qrels = QRELS.set_axis(["query-id", "corpus-id", "score"], axis=1)
    assert evaluated(qrels=qrels).summary == evaluated().summary
