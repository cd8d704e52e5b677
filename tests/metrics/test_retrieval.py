"""Retrieval metrics: worked examples, laws over generated rankings, and the figures of trec_eval."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbench.metrics import retrieval as r
from evalbench.metrics import retrieval_graded as g
from evalbench.metrics.ranking import ranked_run, ranking
from evalbench.metrics.registry import cards
from evalbench.readers.trec import trec_frame

QRELS = ("id", "", "doc_id", "relevance")
RUN = ("id", "", "doc_id", "rank", "score", "model")
FUNCTIONS = [card.function for card in cards() if card.kind == "ranking"]


def scored(function, found, k):
    more = {"max_grade": 3} if "err" in function.__name__ else {}
    more |= {"min_per_query": 2} if "auc" in function.__name__ else {}
    return function(found, k, **more)


# -- worked examples -----------------------------------------------------------------------------


def test_a_relevant_passage_at_rank_1_of_5():
    """The handbook's forms fall short of 1 on a perfect ranking, by as much as their denominators say."""
    found = ranking([[1, 0, 0, 0, 0]])
    assert r.average_precision_at_k(found, 5).tolist() == [1.0]
    assert r.average_precision_at_k_handbook(found, 5).tolist() == [0.2]
    assert g.ndcg_at_k(found, 5).tolist() == [1.0]
    assert g.ndcg_at_k_handbook(found, 5)[0] == pytest.approx(0.339, abs=5e-4)


def test_err_by_hand():
    """Grades 3, 0, 1 of a scale to 3: p = 7/8, 0, 1/8; the handbook's p = 1, 0, 1/7."""
    found = ranking([[3, 0, 1], [1, 3, None], [0, 0, 0]], missed=[[], [], [2]])
    expected = [7 / 8 + (1 / 8) * (1 / 8) / 3, 1 / 8 + (7 / 8) * (7 / 8) / 2, 0.0]
    assert g.err_at_k(found, 3, max_grade=3).tolist() == pytest.approx(expected)
    assert g.err_at_k_handbook(found, 3, max_grade=3).tolist() == pytest.approx([1.0, 1 / 7 + (6 / 7) / 2, 0.0])


def test_err_refuses_a_grade_above_the_scale():
    with pytest.raises(ValueError, match="above max_grade, 2"):
        g.err_at_k(ranking([[3]]), 1, max_grade=2)


def test_ndcg_takes_the_best_of_the_judgements_also_those_not_found():
    found = ranking([[1, 0]], missed=[[3, 2]])
    best = 3 + 2 / math.log2(3)
    assert g.ndcg_at_k(found, 2)[0] == pytest.approx(1 / best)
    assert g.ndcg_at_k_exponential(found, 2)[0] == pytest.approx(1 / (7 + 3 / math.log2(3)))


def test_k_beyond_the_list():
    found = ranking([[1, 0]], missed=[[1]])
    assert r.precision_at_k(found, 10).tolist() == [0.1]
    assert r.precision_at_k(found).tolist() == [0.5]
    assert r.recall_at_k(found, 10).tolist() == [0.5]
    assert r.unjudged_at_k(found, 10).tolist() == [0.0]


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3"])
def test_a_k_that_is_none_is_refused(k):
    with pytest.raises(ValueError, match="k must be a whole number from 1 on"):
        r.precision_at_k(ranking([[1]]), k)


def test_a_query_without_relevant_passages_has_no_value():
    found = ranking([[0, None], [1, 0]])
    for function in FUNCTIONS:
        values = scored(function, found, 2)
        assert np.isnan(values[0]), function.__name__
        assert values[1] > 0, function.__name__


def test_auc_counts_equal_scores_half():
    run = {"id": ["q"] * 4, "doc_id": list("abcd"), "score": [2.0, 1.0, 1.0, 0.0]}
    qrels = {"id": ["q"] * 4, "doc_id": list("abcd"), "relevance": [0, 1, 0, 1]}
    found = ranked_run(run, qrels)[1]
    sklearn = pytest.importorskip("sklearn.metrics", reason="peer not importable: sklearn")
    expected = sklearn.roc_auc_score([0, 1, 0, 1], [2.0, 1.0, 1.0, 0.0])
    assert r.auc_at_k(found, 4, min_per_query=4).tolist() == [expected] == [0.125]
    assert np.isnan(r.auc_at_k(found, 4)).all()


# -- orders ---------------------------------------------------------------------------------------


def tied(ties, seed=0):
    run = {"id": ["q"] * 3, "doc_id": ["a", "c", "b"], "score": [1.0, 1.0, 1.0]}
    qrels = {"id": ["q"], "doc_id": ["a"], "relevance": [1]}
    return ranked_run(run, qrels, ties=ties, seed=seed)[1]


def test_equal_scores_are_in_order_of_ids():
    assert tied("descending").rank.tolist() == [3]
    assert tied("ascending").rank.tolist() == [1]
    assert tied("descending").tied.tolist() == [3]
    assert {tied("random", seed).rank[0] for seed in range(30)} == {1, 2, 3}
    assert tied("random", 4).rank.tolist() == tied("random", 4).rank.tolist()


GRADES = st.lists(st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=1, max_size=8), min_size=1, max_size=4)


@given(grades=GRADES, missed=st.lists(st.integers(1, 3), max_size=3), k=st.integers(1, 10))
@settings(max_examples=200, deadline=None)
def test_every_metric_is_as_its_formula_written_out(grades, missed, k):
    found = ranking(grades, missed=[missed for _ in grades])
    for function in FUNCTIONS:
        values = scored(function, found, k)
        for own, value in zip(grades, values, strict=True):
            expected = written_out(function.__name__, own, missed, k)
            assert value == pytest.approx(expected, nan_ok=True), (function.__name__, own, missed, k)


def written_out(name, ranked, missed, k):
    """The formula in loops."""
    rel = [grade or 0 for grade in ranked]
    hits = [grade >= 1 for grade in rel]
    total = sum(hits) + len(missed)
    if not total:
        return math.nan
    top, depth = hits[:k], min(k, len(rel))
    best = sorted([*rel, *missed], reverse=True)
    precision = [sum(hits[: i + 1]) / (i + 1) for i in range(depth)]
    summed = sum(p for p, hit in zip(precision, hits, strict=False) if hit)

    def dcg(grades, gain=float):
        return sum(gain(grade) / math.log2(i + 2) for i, grade in enumerate(grades[:k]))

    def err(top_value):
        p = [(2**grade - 1) / top_value for grade in rel[:k]]
        return sum(p[i] / (i + 1) * math.prod(1 - q for q in p[:i]) for i in range(len(p)))

    def auc():
        judged = [grade for grade in ranked[:k] if grade is not None]
        pairs = [
            (i < j) for i, j in itertools.product(range(len(judged)), repeat=2) if judged[i] >= 1 and judged[j] < 1
        ]
        return sum(pairs) / len(pairs) if pairs else math.nan

    return {
        "precision_at_k": lambda: sum(top) / k,
        "recall_at_k": lambda: sum(top) / total,
        "hit_rate_at_k": lambda: float(any(top)),
        "f1_at_k": lambda: 2 * sum(top) / (k + total),
        "r_precision": lambda: sum(hits[: min(total, k)]) / total,
        "average_precision_at_k": lambda: summed / total,
        "average_precision_at_k_min": lambda: summed / min(total, k),
        "average_precision_at_k_handbook": lambda: summed / k,
        "mrr_at_k": lambda: next((1 / (i + 1) for i, hit in enumerate(top) if hit), 0.0),
        "ndcg_at_k": lambda: dcg(rel) / dcg(best),
        "ndcg_at_k_exponential": lambda: dcg(rel, lambda x: 2**x - 1) / dcg(best, lambda x: 2**x - 1),
        "ndcg_at_k_handbook": lambda: dcg(hits) / dcg([1] * k),
        "err_at_k": lambda: err(8),
        "err_at_k_handbook": lambda: err(7),
        "auc_at_k": auc,
    }[name]()


@given(grades=GRADES, seed=st.integers(0, 10))
@settings(max_examples=50, deadline=None)
def test_the_order_of_rows_changes_nothing(grades, seed):
    rows = [(f"q{i}", f"p{j}", -float(j // 2), grade) for i, own in enumerate(grades) for j, grade in enumerate(own)]
    shuffled = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
    judged = [row for row in rows if row[3] is not None]
    if not judged:
        return
    qrels = {"id": [q for q, *_ in judged], "doc_id": [p for _, p, *_ in judged], "relevance": [x for *_, x in judged]}
    for ties in ("descending", "ascending", "random"):
        found = [
            ranked_run(
                {"id": [q for q, *_ in order], "doc_id": [p for _, p, *_ in order], "score": [s for *_, s, _ in order]},
                qrels,
                ties=ties,
            )[1]
            for order in (rows, shuffled)
        ]
        for first, second in zip(*found, strict=True):
            np.testing.assert_array_equal(first, second)


# -- trec_eval ------------------------------------------------------------------------------------

BY_NAME = {
    "map": r.average_precision_at_k, "Rprec": r.r_precision, "recip_rank": r.mrr_at_k, "ndcg": g.ndcg_at_k,
    "P": r.precision_at_k, "recall": r.recall_at_k, "success": r.hit_rate_at_k, "map_cut": r.average_precision_at_k,
    "ndcg_cut": g.ndcg_at_k,
}  # fmt: skip


def read(path, columns):
    return trec_frame(path, path.read_bytes(), columns)[0]


def shared(found, expected):
    """Every figure of trec_eval that there is here: its name, ours, its own."""
    asked = found.ranked > 0
    for name, value in expected.items():
        stem, _, k = name.rpartition("_")
        function, depth = (BY_NAME.get(name), None) if name in BY_NAME else (BY_NAME.get(stem), k)
        if function is not None:
            yield name, np.nanmean(function(found, int(depth) if depth else None)[asked]), value


@pytest.mark.external
@pytest.mark.parametrize(
    ("case", "qrels", "run", "level"),
    [
        ("qrels.test x results.test", "qrels.test", "results.test", 1),
        ("qrels.rel_level x results.test (rel level 2)", "qrels.rel_level", "results.test", 2),
        (
            "qrels.test x results.trunc (only queries in the run; use -c to average over all)",
            "qrels.test",
            "results.trunc",
            1,
        ),
    ],
)
def test_figures_of_trec_eval_s_own_tests(case, qrels, run, level, external_data):
    folder = external_data("trec_eval_tests")
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))[case]["pytrec_eval_mean"]
    found = ranked_run(read(folder / run, RUN), read(folder / qrels, QRELS), relevant_from=level)[1]
    compared = list(shared(found, expected))
    assert len(compared) >= 24
    for name, ours, theirs in compared:
        assert ours == pytest.approx(theirs, abs=5e-5), name


@pytest.mark.external
def test_the_official_output_of_trec_eval(external_data):
    """With -c, queries that the run lacks count 0; they do so here."""
    folder = external_data("trec_eval_tests")
    lines = (folder / "out.test").read_text(encoding="utf-8").splitlines()
    official = {
        name: float(value) for name, query, value in map(str.split, lines) if query == "all" and is_number(value)
    }
    found = ranked_run(read(folder / "results.test", RUN), read(folder / "qrels.test", QRELS))[1]
    compared = list(shared(found, official))
    assert len(compared) >= 8
    for name, ours, theirs in compared:
        assert ours == pytest.approx(theirs, abs=5.1e-5), name


def is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


@pytest.mark.external
@pytest.mark.parametrize("run", ["bm25_lucene", "bm25_robertson"])
def test_cranfield_is_as_pytrec_eval_has_it(run, external_data):
    folder = external_data("cranfield")
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))[run]
    queries, found = ranked_run(read(folder / f"run_{run}.trec", RUN), read(folder / "qrels.trec", QRELS))
    compared = list(shared(found, expected["pytrec_eval_mean"]))
    assert len(compared) >= 20
    for name, ours, theirs in compared:
        assert ours == pytest.approx(theirs, abs=5.1e-7), name
    if run == "bm25_lucene":
        assert round(float(np.nanmean(r.average_precision_at_k(found))), 6) == 0.386348
    at = {query: i for i, query in enumerate(queries)}
    values = {
        "map": r.average_precision_at_k(found),
        "ndcg_cut_10": g.ndcg_at_k(found, 10),
        "Rprec": r.r_precision(found),
    }
    for query, own in expected["pytrec_eval_per_query"].items():
        for name, value in values.items():
            assert value[at[query]] == pytest.approx(own[name], abs=5.1e-7), (query, name)


def test_values_equal_pytrec_eval_to_1e_9():
    """On rankings without and with equal scores, in which single precision sees no other ties."""
    peer = pytest.importorskip("pytrec_eval", reason="peer not importable: pytrec_eval")
    random = np.random.default_rng(3)
    run, qrels = {}, {}
    for q in range(200):
        ids = [f"d{d}" for d in random.choice(300, 40, replace=False)]
        run[f"q{q}"] = dict(zip(ids, (random.integers(0, 30, 40) / 4).tolist(), strict=True))
        qrels[f"q{q}"] = {d: int(random.integers(0, 4)) for d in [*ids[:20], "x", "y"]}
        qrels[f"q{q}"]["x"] = 2
    names = {
        "map",
        "Rprec",
        "recip_rank",
        "ndcg",
        "P.5,10",
        "recall.5,10",
        "success.5,10",
        "map_cut.5,10",
        "ndcg_cut.5,10",
    }
    theirs = peer.RelevanceEvaluator(qrels, names).evaluate(run)
    flat = [(q, d, s) for q, own in run.items() for d, s in own.items()]
    judged = [(q, d, s) for q, own in qrels.items() for d, s in own.items()]
    columns = [
        dict(zip(("id", "doc_id", last), map(list, zip(*rows, strict=True)), strict=True))
        for rows, last in ((flat, "score"), (judged, "relevance"))
    ]
    queries, found = ranked_run(*columns)
    for name in next(iter(theirs.values())):
        stem, _, k = name.rpartition("_")
        function, depth = (BY_NAME[name], None) if name in BY_NAME else (BY_NAME[stem], int(k))
        np.testing.assert_allclose(function(found, depth), [theirs[q][name] for q in queries], atol=1e-9, err_msg=name)
