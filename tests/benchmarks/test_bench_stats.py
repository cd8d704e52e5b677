"""Speed and memory of the statistics, as ratios against scipy at its best settings where there is a peer."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats

from evalbench.core.agreement import krippendorff_alpha
from evalbench.core.stats import bootstrap_sums, percentile_interval

pytestmark = pytest.mark.benchmark

UNITS, RESAMPLES = 10_000, 2000
# scipy is fastest where a batch fits the processor's cache; the best of these is its figure.
BATCHES = (5, 10, 20, 50, 200, None)


def seconds(call, repeats=5):
    """The least processor time of several calls: what other work on the machine disturbs least."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def scipy_seconds(data, statistic):
    def call(batch):
        scipy_stats.bootstrap(
            data,
            statistic,
            paired=True,
            n_resamples=RESAMPLES,
            batch=batch,
            method="percentile",
            vectorized=True,
            rng=np.random.default_rng(0),
        )

    return min(seconds(lambda batch=batch: call(batch), 3) for batch in BATCHES)


def our_seconds(units, value):
    def call():
        percentile_interval(bootstrap_sums(units, value, np.random.default_rng(0), RESAMPLES))

    return seconds(call)


def mean(sums):
    return sums / UNITS


def f1(sums):
    return (2 * sums[:, 0] / (2 * sums[:, 0] + sums[:, 1] + sums[:, 2]))[:, None]


def scores(kind):
    g = np.random.default_rng(0)
    return {
        "right or wrong": lambda: (g.random(UNITS) < 0.7).astype(float),
        "marks 0 to 1 in twentieths": lambda: g.binomial(20, 0.7, UNITS) / 20,
        "shares of tokens": lambda: (lambda words: g.binomial(words, 0.6) / words)(g.integers(5, 25, UNITS)),
        "all different": lambda: g.beta(4, 2, UNITS),
    }[kind]()


@pytest.mark.parametrize(
    ("kind", "times"),
    [
        ("right or wrong", 3.0),
        ("marks 0 to 1 in twentieths", 3.0),
        ("shares of tokens", 3.0),
        # 3.5 to 4 times on an idle machine; every draw is a look-up on both sides, so noise weighs most here.
        ("all different", 2.5),
    ],
)
def test_bootstrap_of_a_mean(kind, times):
    x = scores(kind)
    ours, peer = our_seconds(x[:, None], mean), scipy_seconds((x,), np.mean)
    print(
        f"\nmean of 10 000 scores, {kind}: {ours * 1e3:.1f} ms, scipy {peer * 1e3:.0f} ms, {peer / ours:.1f} times"
    )
    assert peer > times * ours


def test_bootstrap_of_f1():
    g = np.random.default_rng(1)
    truth = g.poisson(4, UNITS)
    tp = g.binomial(truth, 0.7)
    counts = np.column_stack([tp, g.poisson(1.2, UNITS), truth - tp]).astype(float)

    def reference(tp, fp, fn, axis=-1):
        tp, fp, fn = tp.sum(axis), fp.sum(axis), fn.sum(axis)
        return 2 * tp / (2 * tp + fp + fn)

    ours, peer = our_seconds(counts, f1), scipy_seconds(tuple(counts.T), reference)
    print(
        f"\nF1 of 10 000 documents: {ours * 1e3:.1f} ms, scipy {peer * 1e3:.0f} ms, {peer / ours:.1f} times"
    )
    assert peer > 3 * ours


def test_twenty_figures_cost_at_most_three_times_one():
    table = np.random.default_rng(2).random((UNITS, 20))
    twenty, one = our_seconds(table, mean), our_seconds(table[:, :1], mean)
    print(f"\ntwenty means {twenty * 1e3:.1f} ms, one {one * 1e3:.1f} ms, {twenty / one:.1f} times")
    assert twenty < 3 * one


MILLION = """
import json, sys, time
import numpy as np
sys.path.insert(0, FOLDER)
from peak_memory import peak_bytes
from evalbench.core.figures import estimate, f1_of, mean_of, share_of
n, g = 1_000_000, np.random.default_rng(0)
columns = {
    "score": g.random(n),
    "right": (g.random(n) < 0.7).astype(float),
    **{name: g.poisson(k, n).astype(float) for name, k in (("tp", 3), ("fp", 1), ("fn", 1))},
}
start = time.perf_counter()
out = estimate(
    columns, [mean_of("score"), share_of("right"), f1_of("tp", "fp", "fn")], units=np.arange(n), seed=0, n_resamples=2000
)
print(json.dumps({
    "seconds": time.perf_counter() - start,
    "peak": peak_bytes(),
    "values": [[e.value, e.ci_low, e.ci_high] for e in out.estimates],
}))
"""


def test_a_million_units_take_less_than_a_gigabyte():
    """The whole process, data included."""
    run = subprocess.run(
        [sys.executable, "-c", f"FOLDER = {str(Path(__file__).parent)!r}\n{MILLION}"],
        capture_output=True,
        text=True,
        check=True,
    )
    out = json.loads(run.stdout)
    print(f"\nthree figures over 1 000 000 units: {out['peak'] / 1e6:.0f} MB, {out['seconds']:.0f} s")
    assert out["peak"] < 1e9
    value, low, high = out["values"][0]
    assert low < value < high
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(1 / 12 / 1e6), rel=0.1)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_over_100_000_ratings(level):
    """With its interval of 2 000 resamples: four annotators, 25 000 texts, marks 1 to 5."""
    g = np.random.default_rng(3)
    truth = g.integers(1, 6, 25_000)
    ratings = np.clip(truth + g.integers(-1, 2, (4, 25_000)), 1, 5)
    units = np.broadcast_to([f"text-{i}" for i in range(25_000)], ratings.shape)
    spent = seconds(lambda: krippendorff_alpha(units.ravel(), ratings.ravel(), level), 2)
    print(f"\nalpha ({level}) over 100 000 ratings with interval: {spent:.2f} s")
    assert spent < 1
