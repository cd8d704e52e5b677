"""Speed of retrieval metrics from TREC files, as ratios against the peers, and over a million queries."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from benchmark_table import against, at_most
from peak_memory import peak_bytes
from timing import Race, alone, race, seconds

from evalbench.metrics import retrieval, retrieval_graded
from evalbench.metrics.ranking import ranked_run, rankings
from evalbench.readers.trec import trec_frame

pytestmark = pytest.mark.benchmark

KS = (1, 5, 10, 20, 100)
QUERIES, PASSAGES, JUDGED = 5000, 100, 20
OURS = {
    "P": retrieval.precision_at_k, "recall": retrieval.recall_at_k, "success": retrieval.hit_rate_at_k,
    "map_cut": retrieval.average_precision_at_k, "ndcg_cut": retrieval_graded.ndcg_at_k,
}  # fmt: skip
QRELS = ("id", "", "doc_id", "relevance")
RUN = ("id", "", "doc_id", "", "score", "")


def files(folder):
    """A run and qrels whose scores differ in each query, also in single precision."""
    rng = np.random.default_rng(0)
    run, qrels = folder / "run.trec", folder / "qrels.trec"
    with run.open("w") as ranked, qrels.open("w") as judged:
        for q in range(QUERIES):
            ids = rng.permutation(2000)[: PASSAGES + JUDGED // 4] + 2000 * (q % 50)
            score = np.cumsum(rng.integers(1, 90, PASSAGES))[::-1] / 100
            ranked.writelines(f"q{q} Q0 d{ids[i]} {i + 1} {score[i]} mine\n" for i in range(PASSAGES))
            known = [*rng.choice(ids[:PASSAGES], JUDGED - JUDGED // 4, replace=False), *ids[PASSAGES:]]
            judged.writelines(f"q{q} 0 d{d} {g}\n" for d, g in zip(known, rng.integers(0, 4, JUDGED), strict=True))
    return run, qrels


def ours(run, qrels):
    tables = [trec_frame(path, path.read_bytes(), columns)[0] for path, columns in ((run, RUN), (qrels, QRELS))]
    queries, found = ranked_run(*tables)
    values = {f"{name}_{k}": function(found, k) for name, function in OURS.items() for k in KS}
    # pytrec_eval has no reciprocal rank at a depth.
    reciprocal = {k: retrieval.mrr_at_k(found, k) for k in KS}
    return queries, values | {"recip_rank": reciprocal[KS[-1]]}


def against_pytrec_eval():
    """Both give the same values."""
    import pytrec_eval

    measures = {f"{name}.{','.join(map(str, KS))}" for name in OURS} | {"recip_rank"}

    def theirs(run, qrels):
        with run.open() as ranked, qrels.open() as judged:
            return pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(judged), measures).evaluate(
                pytrec_eval.parse_run(ranked)
            )

    with tempfile.TemporaryDirectory() as folder:
        paths = files(Path(folder))
        queries, found = ours(*paths)
        expected = theirs(*paths)
        for name, values in found.items():
            own = np.array([expected[query][name] for query in queries])
            known = np.isfinite(values)  # a query without relevant passages counts 0 there and has no value here
            np.testing.assert_allclose(values[known], own[known], atol=1e-9, err_msg=name)
            assert not own[~known].any()
        return race(lambda _: ours(*paths), lambda _: theirs(*paths), goal=1.3)


def test_six_metrics_from_trec_files_against_pytrec_eval(record):
    pytest.importorskip("pytrec_eval", reason="peer not importable: pytrec_eval")
    took = Race(*alone(against_pytrec_eval))
    record(against(f"{len(OURS) + 1} metrics at {len(KS)} depths, {QUERIES} × {PASSAGES}", took, "pytrec_eval", 1.3))


def against_ranx():
    """Both give the same means; ranx is warm."""
    import warnings

    warnings.simplefilter("ignore")
    import ranx

    names = ("precision", "recall", "hit_rate", "map", "ndcg", "mrr")

    def theirs(run, qrels):
        judged, ranked = ranx.Qrels.from_file(str(qrels), kind="trec"), ranx.Run.from_file(str(run), kind="trec")
        return ranx.evaluate(judged, ranked, [f"{name}@{k}" for name in names for k in KS], make_comparable=True)

    with tempfile.TemporaryDirectory() as folder:
        paths = files(Path(folder))
        expected, (_, found) = theirs(*paths), ours(*paths)
        for name, values in zip(names, list(OURS), strict=False):
            for k in KS if name != "mrr" else ():
                mean = np.nan_to_num(found[f"{values}_{k}"]).mean()
                np.testing.assert_allclose(mean, expected[f"{name}@{k}"], atol=1e-9, err_msg=f"{name}@{k}")
        return race(lambda _: ours(*paths), lambda _: theirs(*paths), goal=3)


@pytest.mark.large
def test_six_metrics_from_trec_files_against_ranx(record):
    pytest.importorskip("ranx", reason="peer not importable: ranx", exc_type=ImportError)
    took = Race(*alone(against_ranx))
    record(against(f"{len(OURS) + 1} metrics at {len(KS)} depths, {QUERIES} × {PASSAGES}", took, "ranx, warm", 3))


def many(n):
    """Seconds of n queries × 10 passages out of order, three of them judged, from arrays in memory; and the peak."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(n), 10)
    score = rng.integers(0, 1_000_000, len(query)) / 1000
    passage = np.arange(len(query))
    grade = np.full(len(query), np.nan)
    judged = rng.choice(len(query), 3 * n, replace=False)
    grade[judged] = rng.integers(0, 4, len(judged))
    found: list[float] = []

    def work():
        ranked = rankings(
            query, score, passage, grade, judged_query=query[judged], judged_grade=grade[judged], n_queries=n
        )
        values = [function(ranked, k) for function in (*OURS.values(), retrieval.mrr_at_k) for k in (1, 3, 5, 10)]
        found.append(float(np.nanmean(values[0])))

    return seconds(work), peak_bytes()


@pytest.mark.large
def test_a_million_queries_take_seconds_and_linear_time(record):
    (some, _), (all_of_them, peak) = alone(many, 200_000), alone(many, 1_000_000)
    record(at_most("a million queries × 10, six metrics at 4 depths", all_of_them, 15, "s"))
    record(at_most("a million queries × 10, memory", peak, 2e9, "B"))
    record(at_most("five times the queries", all_of_them / some / 5, 1.5, "×"))
