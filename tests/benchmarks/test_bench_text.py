"""Speed of text metrics and of correlation tables, as ratios against peers where there are any."""

from __future__ import annotations

import numpy as np
import pytest
from benchmark_table import against, at_most
from peak_memory import peak_bytes
from scipy import stats
from timing import Race, alone, least, race, seconds
from zipf_texts import texts

from evalbench.core.correlation_table import correlation_table
from evalbench.metrics.character_ngrams import chrf
from evalbench.metrics.rouge import rouge
from evalbench.metrics.text import score

pytestmark = pytest.mark.benchmark

TYPES = ["rouge1", "rouge2", "rougeL"]
PAIRS, FEW = 20_000, 1_000
LEAST_OF_ROUGE_SCORE, LEAST_OF_SACREBLEU, LEAST_OF_SCIPY = 5, 5, 5


def rouge_against_rouge_score():
    """Both give the same values."""
    from rouge_score.rouge_scorer import RougeScorer

    outputs, references = texts(PAIRS)
    peer = RougeScorer(TYPES)
    found = rouge(outputs, references, TYPES)
    expected = [peer.score(r, o) for o, r in zip(outputs[:FEW], references[:FEW], strict=True)]
    for name in TYPES:
        np.testing.assert_allclose(found[name]["f1"][:FEW], [score[name].fmeasure for score in expected], atol=1e-9)

    def theirs(_):
        for output, reference in zip(outputs[:FEW], references[:FEW], strict=True):
            peer.score(reference, output)

    took = race(lambda _: rouge(outputs, references, TYPES), theirs, goal=LEAST_OF_ROUGE_SCORE * FEW / PAIRS)
    return took._replace(peer=took.peer * PAIRS / FEW)


def test_rouge_is_five_times_as_fast_as_rouge_score_with_the_same_values(record):
    pytest.importorskip("rouge_score", reason="peer not importable: rouge_score")
    took = Race(*alone(rouge_against_rouge_score))
    record(against(f"ROUGE-1/2/L of {PAIRS} pairs", took, "rouge-score", LEAST_OF_ROUGE_SCORE))


def chrf_against_sacrebleu():
    """Both give the same values."""
    from sacrebleu.metrics.chrf import CHRF

    outputs, references = texts(PAIRS)
    peer = CHRF()
    found = chrf(outputs, references)
    expected = [peer.sentence_score(o, [r]).score for o, r in zip(outputs[:FEW], references[:FEW], strict=True)]
    np.testing.assert_allclose(found[:FEW], expected, atol=1e-9)

    def theirs(_):
        for output, reference in zip(outputs[:FEW], references[:FEW], strict=True):
            peer.sentence_score(output, [reference])

    took = race(lambda _: chrf(outputs, references), theirs, goal=LEAST_OF_SACREBLEU * FEW / PAIRS)
    return took._replace(peer=took.peer * PAIRS / FEW)


def test_chrf_is_five_times_as_fast_as_sacrebleu_with_the_same_values(record):
    pytest.importorskip("sacrebleu", reason="peer not importable: sacrebleu")
    took = Race(*alone(chrf_against_sacrebleu))
    record(against(f"chrF of {PAIRS} pairs", took, "sacrebleu", LEAST_OF_SACREBLEU))


LEXICAL = [
    "exact_match", "normalized_exact_match", "f1_score", "f1_score_set", "jaccard_similarity", "rouge1", "rouge2",
    "rougeL", "rougeLsum", "knowledge_f1_score", "rouge_for_context", "verbosity_ratio", "length", "sacrebleu", "chrf",
]  # fmt: skip


def all_lexical_metrics():
    outputs, references = texts(100_000)
    for name in LEXICAL:
        score(name, outputs, references=references, contexts=references)
    return peak_bytes()


@pytest.mark.large
@pytest.mark.timeout(900)
def test_all_lexical_metrics_over_100_000_pairs_stay_below_1_gb(record):
    peak = alone(all_lexical_metrics)
    record(at_most(f"{len(LEXICAL)} lexical metrics over 100 000 pairs, memory", peak, 1e9, "B"))


def table_against_scipy():
    """Seconds of our whole table, and of scipy's pooled Spearman and Kendall alone for as many resamples."""
    rng = np.random.default_rng(0)
    documents, systems, p, q, resamples = 100, 16, 12, 4, 2000
    document, system = np.divmod(np.arange(documents * systems), systems)
    y = rng.integers(1, 6, (len(document), q)).astype(float)
    x = y[:, [0, 1, 2, 3] * 3] + rng.standard_normal((len(document), p))
    options = {"document": document, "system": system, "partial": True, "n_resamples": resamples}
    found = correlation_table(x, y, **options)
    expected = stats.spearmanr(x, y).statistic[:p, p:]
    np.testing.assert_allclose(found["dataset", "spearman"].values, expected, atol=1e-9)

    few = 20
    drawn = rng.integers(documents, size=(few, documents))
    rows = [np.concatenate([np.arange(d * systems, (d + 1) * systems) for d in draw]) for draw in drawn]
    # scipy at its best: all columns in one call for Spearman; its Kendall takes one pair at a time.
    spearman = seconds(lambda: [stats.spearmanr(x[r], y[r]) for r in rows])
    kendall = seconds(
        lambda: [stats.kendalltau(x[r, i], y[r, j]) for r in rows[:2] for i in range(p) for j in range(q)]
    )
    theirs = spearman * resamples / few + kendall * resamples / 2
    ours = least(lambda: correlation_table(x, y, **options), goal=theirs / LEAST_OF_SCIPY, rounds=1)
    return ours, theirs


@pytest.mark.large
def test_a_correlation_table_takes_a_fraction_of_scipy_s_time(record):
    """12 metrics × 4 criteria × 1 600 rows, 3 levels, 3 coefficients and partial ones, 2 000 resamples."""
    took = Race(*alone(table_against_scipy), rounds=1)
    record(against("a whole correlation table", took, "scipy's pooled Spearman and Kendall alone", LEAST_OF_SCIPY))


def linearised_and_resampled():
    """Seconds of 3 metrics × 2 criteria × 6 000 rows pooled, from influence functions and with ranks made anew."""
    from evalbench.core import correlation_table as module

    rng = np.random.default_rng(0)
    document, system = np.divmod(np.arange(6000), 6)
    y = rng.integers(1, 6, (6000, 2)).astype(float)
    x = y[:, [0, 1, 0]] + rng.standard_normal((6000, 3))
    options = {"document": document, "system": system, "levels": ("dataset",), "partial": True, "n_resamples": 1000}
    ours = least(lambda: correlation_table(x, y, **options), goal=0.0, most=3)
    module.is_linearised = lambda rows, documents: False
    return ours, seconds(lambda: correlation_table(x, y, **options))


def test_replicates_of_many_rows_take_a_tenth_of_the_time_of_resampled_ones(record):
    took = Race(*alone(linearised_and_resampled), rounds=1)
    record(against("pooled correlations of 6000 rows", took, "ranks made anew in every resample", 10))
