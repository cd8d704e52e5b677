"""rag_retrieval: what is counted and how, refusals, planted differences, answers by passage."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from searched import QRELS, RUN, evaluated, frame
from studied import sample

from evalbench import BadInput, load, rag_retrieval
from evalbench.studies.rag_retrieval.inputs import adapt
from tests.helpers.lights import of_figures


def column(result, name, run="one"):
    own = result.items[result.items["model"] == run]
    return dict(zip(own["id"], own[name], strict=True))


def test_figures_per_query_and_what_was_counted_otherwise():
    result = evaluated()
    assert column(result, "mrr_at_2") == pytest.approx({"a": 0.5, "b": 1.0, "c": np.nan}, nan_ok=True)
    assert column(result, "mrr_at_2", "two") == pytest.approx({"a": 1.0, "b": 0.5, "c": np.nan}, nan_ok=True)
    assert column(result, "unjudged_at_2") == pytest.approx({"a": 0.0, "b": 0.5, "c": np.nan}, nan_ok=True)
    assert column(result, "undefined") == {"a": "", "b": "", "c": "no-relevant-passage"}
    assert result.estimate("mrr_at_2", model="one").value == 0.75
    notes = "\n".join(result.notes)
    assert "one: 1 of its 3 queries have no judgements and were left out." in notes
    assert "Queries without a relevant passage, in no mean: 1 of 3." in notes
    assert "absent" not in notes  # no passage is relevant to the query that both runs lack
    assert "two: 3 passages of 1 query have a score that another passage" in notes


def test_queries_without_relevant_passages_and_queries_that_a_run_lacks():
    zero = evaluated(no_relevant="zero")
    assert column(zero, "mrr_at_2")["c"] == 0
    assert zero.estimate("mrr_at_2", model="one").n == 3
    run = RUN[(RUN["model"] == "one") & (RUN["id"] != "b")]
    assert column(evaluated(run), "mrr_at_2")["b"] == 0
    skipped = evaluated(run, absent="skip")
    assert np.isnan(column(skipped, "mrr_at_2")["b"])
    assert column(skipped, "undefined")["b"] == "not-in-run"
    assert skipped.estimate("mrr_at_2", model="one").n == 1


def test_r_precision_is_that_of_the_whole_ranking_whatever_k_is():
    passages = "abcdef"
    run = pd.DataFrame({"id": "q", "doc_id": list(passages), "score": np.arange(6.0, 0, -1)})
    qrels = pd.DataFrame({"id": "q", "doc_id": list("bcf"), "relevance": 1})
    result = evaluated(run, qrels, metrics=["r_precision", "mrr"], k=2, ks=[1, 2])
    assert result.estimate("r_precision", model="run").value == pytest.approx(2 / 3)
    table = rag_retrieval.figures_table(result)
    assert table.loc[table["figure"] == "R-precision", "k"].isna().all()
    assert rag_retrieval.picture_curves(result, "r_precision") is None


def test_lists_that_end_before_the_deepest_k_are_counted():
    said = {depth: [n for n in evaluated(k=1, ks=[depth]).notes if "fewer than" in n] for depth in (1, 2, 3)}
    assert [len(said[depth]) for depth in (1, 2, 3)] == [0, 1, 2]
    assert said[2][0].startswith("two: 1 of 3 queries have fewer than 2 passages")
    assert said[3][0].startswith("one: 2 of 3 queries have fewer than 3 passages")


def test_equal_scores():
    values = [column(evaluated(ties=ties), "mrr_at_2", "two")["b"] for ties in ("descending", "ascending")]
    assert values == [0.5, 1.0]  # x, r, p; then p
    mean = column(evaluated(ties="mean", tie_orders=400), "mrr_at_2", "two")["b"]
    orders = [0.5 if order[0] == "x" else 1.0 for order in itertools.permutations("pxr")]
    assert mean == pytest.approx(np.mean(orders), abs=0.05)
    assert column(evaluated(ties="mean"), "mrr_at_2") == pytest.approx(column(evaluated(), "mrr_at_2"), nan_ok=True)


def test_a_run_by_rank_alone():
    run = RUN[RUN["model"] == "one"].drop(columns=["score", "model"]).assign(rank=["1", "2", "1", "2", "1"])
    result = evaluated(run)
    assert column(result, "mrr_at_2", "run") == pytest.approx({"a": 0.5, "b": 1.0, "c": np.nan}, nan_ok=True)
    both = evaluated(RUN[RUN["model"] == "one"].assign(rank=["2", "1", "1", "2", "1"]))
    assert any("The order of column rank is not that of column score in 1 ranking;" in n for n in both.notes)


def test_a_relevance_that_is_null_was_not_judged():
    result = evaluated(qrels=QRELS.assign(relevance=["1", None, "2", "1", "0"]))
    assert column(result, "unjudged_at_2")["a"] == 0.5
    assert "Rows of qrels without a relevance, taken as not judged: 1 of 5." in result.notes


def test_ids_with_blanks_are_ids_in_a_table():
    renamed = {"p": "my passage", "a": "one query"}
    result = evaluated(RUN.replace(renamed), QRELS.replace(renamed))
    assert column(result, "mrr_at_2")["one query"] == 0.5


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"qrels": QRELS.assign(id=list("12345"))}, "run and qrels share no query: qrels have '1', '2', '3'"),
        ({"qrels": QRELS.assign(doc_id=list("12345"))}, "run and qrels share no passage"),
        ({"run": RUN.drop(columns="score")}, "needs a column score or rank"),
        ({"run": pd.concat([RUN, RUN.head(1)])}, "id, doc_id, model: are duplicated together"),
        ({"qrels": pd.concat([QRELS, QRELS.head(1)])}, "id, doc_id: are duplicated together"),
        ({"run": RUN.assign(score=["inf"] + ["1"] * 8)}, "column score: expected a finite number"),
        ({"run": RUN.assign(score=[None] + ["1"] * 8)}, "column score: empty"),
        ({"run": RUN.head(0)}, "it has no rows"),
        ({"qrels": QRELS.assign(relevance=None)}, "qrels: no passage has a relevance"),
        ({"qrels": QRELS.assign(id=["a", "", "b", "b", "c"])}, "column id: empty"),
    ],
)
def test_tables_that_are_refused(tables, message):
    with pytest.raises(BadInput, match=message):
        evaluated(**tables)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": -1}, "k must be at least 1, got -1"),
        ({"ks": [1, 0]}, r"ks must be at least 1, got \[1, 0\]"),
        ({"metrics": ["ndgc"]}, "metrics must be one of ndcg"),
        ({"metrics": ["err"]}, "err: max_grade, the highest grade of the scale, must be given"),
        ({"metrics": ["err"], "max_grade": "1"}, "max_grade must be a number or null, got '1'"),
        ({"relevant_from": "high"}, "relevant_from must be a number, got 'high'"),
        ({"tie_orders": 2.5}, "tie_orders must be a whole number, got 2.5"),
        ({"metrics": ["err"], "max_grade": 1}, "max_grade: qrels have a grade of 2, above 1"),
        ({"lights": {"ndgc": {"green_from": 0.5}}}, "lights: ndgc is not among the metrics, which are mrr, ndcg"),
        ({"lights": {"recall": {"green_from": 0.5, "yellow_from": 0.2}}}, "lights: recall is not among the metrics"),
        (
            {"lights": {"mrr_at_9": {"green_from": 0.5, "yellow_from": 0.2}}},
            "the light is that of k, which is 2: mrr_at_2",
        ),
        ({"lights": {"mrr": {"green_from": 0.2, "yellow_from": 0.5}}}, "green_from must be above yellow_from"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(BadInput, match=message):
        evaluated(**options)


def test_a_light_is_that_of_the_worst_run_at_k():
    result = evaluated(lights={"mrr": {"green_from": 0.7, "yellow_from": 0.5}})
    assert of_figures(result) == "green"
    assert of_figures(evaluated(lights={"mrr_at_2": {"green_from": 0.9, "yellow_from": 0.5}})) == "yellow"


def test_every_metric_runs_and_cards_are_taken_by_their_names():
    names = ["ndcg_at_k_handbook", "map_at_k", *rag_retrieval.figures.NAMES]
    result = evaluated(metrics=names, max_grade=2, min_per_query=2)
    assert set(result.parameters["metrics"]) == set(rag_retrieval.figures.NAMES)
    assert {"ndcg_at_2_handbook", "r_precision", "auc_at_2"} <= {e.metric for e in result.summary.estimates}


def test_the_page_says_every_formula():
    result = evaluated(metrics=list(rag_retrieval.figures.NAMES), max_grade=2)
    said = "\n".join(result.method)
    assert all(formula in said for formula in rag_retrieval.figures.FORMULAS.values())
    assert rag_retrieval.figures.FORMULAS.keys() == rag_retrieval.figures.NAMES.keys()


def test_names_of_beir_are_read():
    qrels = QRELS.set_axis(["query-id", "corpus-id", "score"], axis=1)
    found = adapt({"qrels": qrels, "documents": pd.DataFrame({"_id": ["p"], "text": ["x"]})})
    assert list(found["qrels"]) == list(QRELS)
    assert list(found["documents"]) == ["doc_id", "text"]


def test_inverted_grades_are_suspected():
    """Cranfield's own codes: 1 the most relevant, 4 the least."""
    assert not any("inverted" in note for note in evaluated(RUN[RUN["model"] == "one"]).notes)
    run = frame("a p 3\na q 2\na r 1", "id", "doc_id", "score")
    qrels = frame("a p 1\na q 2\na r 3", "id", "doc_id", "relevance")
    assert any("are the grades inverted" in note for note in evaluated(run, qrels, k=2).notes)


# -- the sample -----------------------------------------------------------------------------------


def whole(**options):
    return rag_retrieval.evaluate(
        load(dict(sample("rag_retrieval")), study="rag_retrieval"), n_resamples=100, **options
    )


def test_the_planted_places_are_found(root):
    """What the sample planted shows in the first ranks: a search that confuses countries, one that is lost in Russian."""
    places = pd.read_csv(root / "data/rule_books_search/1.1.0/places.csv")
    result = whole(ties="mean")
    found = result.items.merge(places, on=["id", "model"], validate="one_to_one")
    moss = found[found["model"] == "moss-vectors"]
    assert (moss.loc[moss["place"] == "first", "mrr_at_1"] == 1).all()
    assert (moss.loc[moss["place"] == "behind a neighbour", "ndcg_at_1"] < 1).all()
    assert (found.loc[found["place"] == "no passages", "n_ranked"] == 0).all()
    russian = found["id"].str.startswith("vereskovia")
    means = found.assign(russian=russian).groupby(["model", "russian"])["recall_at_5"].mean()
    assert means["reed-words", True] < 0.3 < 0.8 < means["reed-words", False]
    assert means["moss-vectors", True] > 0.8


def test_answers_by_the_relevance_of_the_first_passage():
    result = whole()
    table = result.tables["answer_by_passage"].set_index(["answered_by", "relevant"])
    assert table["n"].groupby("answered_by").sum().tolist() == [25, 25, 25]
    answers = sample("rag_retrieval")["answers"].astype({"correct": float})
    top = result.items[result.items["model"] == "moss-vectors"].set_index("id")["top_grade"]
    own = answers[answers["answered_by"] == "oak-7b"]
    right = own[own["id"].map(top) >= 1]["correct"]
    assert table.loc[("oak-7b", 1), "accuracy"] == pytest.approx(right.mean())
    assert table.loc[("oak-7b", 1), "accuracy"] > table.loc[("oak-7b", 0), "accuracy"] + 0.3
    first = result.tables["answer_correlation"]
    first = first[first["quality"] == "relevance of the first passage"].set_index("answered_by")
    assert first.loc["oak-7b", "ci_low"] > 0
    assert first.loc["fern-1b", "ci_low"] < 0 < first.loc["fern-1b", "ci_high"]


def test_answers_without_a_mark_are_counted_and_in_no_figure():
    tables = dict(sample("rag_retrieval"))
    marks = tables["answers"]["correct"].astype(object)
    marks.iloc[:5] = None
    tables["answers"] = tables["answers"].assign(correct=marks)
    result = rag_retrieval.evaluate(load(tables, study="rag_retrieval"), n_resamples=50)
    assert "Answers without a mark, in no figure: 5 of 75." in result.notes
    assert result.tables["answer_by_passage"]["n"].sum() == 70


def test_answers_beside_a_first_passage_that_nobody_judged_are_counted():
    answers = pd.DataFrame({"id": ["a", "b"], "correct": [1, 0], "model": "two"})
    notes = "\n".join(evaluated(tables={"answers": answers}).notes)
    assert (
        "Answers whose first passage nobody judged, or whose query found none, held to have an irrelevant one: 1 of 2."
        in notes
    )


def test_answers_that_name_no_run_are_held_against_every_run():
    tables = dict(sample("rag_retrieval"))
    tables["answers"] = tables["answers"].drop(columns="model")
    result = rag_retrieval.evaluate(load(tables, study="rag_retrieval"), n_resamples=50)
    assert any("held against every run" in note for note in result.notes)
    assert result.tables["answer_by_passage"].groupby("model")["n"].sum().tolist() == [75, 75]
    assert len(rag_retrieval.answer_correlations(result)) == 2 * 7


def test_where_two_runs_part_their_passages_are_shown():
    result = whole()
    first = result.tables["parted"].iloc[0]
    shown = result.tables["passages"]
    own = shown[(shown["id"] == first["id"]) & (shown["model"] == first["worse"])]
    assert own["rank"].dropna().is_monotonic_increasing
    assert (own["text"] != "").all()
    assert own["relevance"].max() == 2  # the passage that it missed is there too
    assert str(first["id"]) in rag_retrieval.parting(result)


def test_the_script_writes_these_bytes(script, root, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "scripts"))
    module = script("make_rule_books_search")
    monkeypatch.setattr(module, "OUT", tmp_path / "out")
    module.main()
    kept = root / "data" / "rule_books_search" / "1.1.0"
    written = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert written == sorted(p.name for p in kept.iterdir())
    assert all((tmp_path / "out" / n).read_bytes() == (kept / n).read_bytes() for n in written)


@pytest.mark.external
def test_cranfield_as_a_folder_of_trec_files(external_data):
    data = load(external_data("cranfield"), study="rag_retrieval")
    result = rag_retrieval.evaluate(data, metrics=["average_precision", "ndcg"], k=10, n_resamples=100)
    assert result.items["model"].nunique() == 2
    assert result.estimate("ndcg_at_10", model="bm25_lucene").value == pytest.approx(0.513266, abs=5e-7)
    (row,) = result.tables["comparison"].query("metric == 'ndcg_at_10'").to_dict("records")
    assert row["model_a"] == "bm25_lucene"
    assert not any("inverted" in note for note in result.notes)


def test_a_row_per_query_with_lists(tmp_path):
    rows = [
        {"id": 1, "query": "a?", "relevant": ["p1", "p2"], "retrieved": ["p1", "p9", "p2"]},
        {"id": 2, "query": "b?", "relevant": ["p3"], "retrieved": []},
        {"id": 3, "query": "c?", "relevant": [], "retrieved": ["p3"]},
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    data = load(path, study="rag_retrieval")
    assert data["run"][["id", "doc_id", "rank"]].to_numpy().tolist() == [
        ["1", "p1", 1], ["1", "p9", 2], ["1", "p2", 3], ["3", "p3", 1],
    ]  # fmt: skip
    assert data["qrels"].to_numpy().tolist() == [["1", "p1", 1.0], ["1", "p2", 1.0], ["2", "p3", 1.0]]
    assert data["questions"]["question"].tolist() == ["a?", "b?", "c?"]
    assert any("read as one row per query" in note for note in data.notes)
    items = rag_retrieval.evaluate(data, n_resamples=20).items
    assert set(items["id"]) == {"1", "2"}


def test_lists_of_several_runs_are_numbered_by_their_questions(tmp_path):
    rows = [
        {"model": run, "question": q, "relevant": ["p1"], "retrieved": found}
        for run, found in (("bm25", ["p1"]), ("dense", ["p2", "p1"]))
        for q in ("a?", "b?")
    ]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(rows))
    data = load(path, study="rag_retrieval")
    assert (len(data["run"]), len(data["qrels"]), sorted(set(data["run"]["id"]))) == (6, 2, ["q0001", "q0002"])
    path.write_text(json.dumps([*rows[:3], {**rows[3], "relevant": ["p2"]}]))
    with pytest.raises(BadInput, match="row 4: relevant differs from that of the query's first row"):
        load(path, study="rag_retrieval")


def test_lists_that_are_no_rankings_are_refused(tmp_path):
    path = tmp_path / "mine.json"
    for row, said in (
        ({"a": ["p"], "b": ["p"]}, "(?s)lists of a, b; what is read:.*relevant and retrieved.*--map NAME=relevant"),
        ({"relevant": [{"n": 1}], "retrieved": ["p"]}, "row 1: relevant must be a list of passage ids"),
        ({"relevant": ["p"], "retrieved": None}, "row 1: retrieved must be a list of passage ids; .*found None"),
        (
            {"relevant": ["p"], "retrieved": [{"id": "p", "score": s} for s in (1, 3, 2)]},
            "row 1: .*not in the order of its scores",
        ),
    ):
        sound = {"id": "b", "retrieved": ["p"]} if "retrieved" in row else {}
        path.write_text(json.dumps([{"id": "a", **row}, *([sound] if sound else [])]))
        with pytest.raises(BadInput, match=said):
            load(path, study="rag_retrieval")
