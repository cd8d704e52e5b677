"""Matching a million pairs: seconds, memory, growth, and a fair Python loop as peer."""

from __future__ import annotations

import resource
import time

import numpy as np
import pandas as pd
import pytest

from evalbench import load, matching

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]

WORDS = [f"w{i:03d}" for i in range(300)]


def tables(samples: int, each: int = 10) -> dict[str, pd.DataFrame]:
    """Random violations: ``each`` true and ``each`` predicted ones per sample, rules of 3 to 8 words out of 300."""
    rng = np.random.default_rng(5)
    n = samples * each

    def sentences(count: int, low: int, high: int) -> list[str]:
        sizes = rng.integers(low, high + 1, count)
        words = rng.integers(len(WORDS), size=int(sizes.sum()))
        return [" ".join(WORDS[w] for w in part) for part in np.split(words, np.cumsum(sizes)[:-1])]

    rules = sentences(200, 3, 8)
    ids = np.repeat([f"s{i:06d}" for i in range(samples)], each)
    out = {"documents": pd.DataFrame({"sample_id": np.unique(ids), "text": "x" * 1000})}
    for name in ("truth", "predictions"):
        start = rng.integers(0, 900, n)
        out[name] = pd.DataFrame(
            {
                "sample_id": ids,
                "violation_id": np.tile([f"{name[0]}{i}" for i in range(each)], samples),
                "start": start,
                "end": start + rng.integers(5, 100, n),
                "rule": [rules[i] for i in rng.integers(len(rules), size=n)],
                "category": [f"c{i}" for i in rng.integers(6, size=n)],
                "explanation": sentences(n, 5, 12),
                "correction": "",
            }
        )
    out["predictions"]["checker"] = "loop@1|none"
    return out


def loop(data: dict[str, pd.DataFrame]) -> int:
    """The peer: plain Python at its best (word sets made once), std assignment only; returns the matches."""
    truth, predictions = {}, {}
    sets = {r: frozenset(r.split()) for f in ("truth", "predictions") for r in data[f]["rule"]}
    for target, name in ((truth, "truth"), (predictions, "predictions")):
        for row in data[name][["sample_id", "start", "end", "rule"]].itertuples(index=False):
            target.setdefault(row[0], []).append((row[1], row[2], sets[row[3]]))
    matches = 0
    for sample, left in truth.items():
        scored = []
        for i, (a, b, words) in enumerate(left):
            for j, (c, d, others) in enumerate(predictions[sample]):
                both = min(b, d) - max(a, c)
                if both <= 0:
                    continue
                overlap = both / (b - a + d - c - both)
                common = len(words & others)
                rule = common / (len(words) + len(others) - common)
                score = 0.5 * overlap + 0.5 * rule
                if rule > 0.01 and score > 0.5:
                    scored.append((-score, -overlap, i, j))
        free_i, free_j = set(range(len(left))), set(range(len(predictions[sample])))
        for _, _, i, j in sorted(scored):
            if i in free_i and j in free_j:
                free_i.discard(i)
                free_j.discard(j)
                matches += 1
    return matches


def loop_everything(data: dict[str, pd.DataFrame]) -> int:
    """The peer with all five components of every pair, as the study has them."""
    columns = ["sample_id", "start", "end", "rule", "category", "explanation"]
    sets: dict[str, frozenset[str]] = {}
    grouped: list[dict[str, list[tuple]]] = [{}, {}]
    for target, name in zip(grouped, ("truth", "predictions"), strict=True):
        for s, a, b, rule, category, why in data[name][columns].itertuples(index=False):
            for text in (rule, why):
                if text not in sets:
                    sets[text] = frozenset(text.split())
            target.setdefault(s, []).append((a, b, sets[rule], category, sets[why]))
    matches = 0
    for sample, left in grouped[0].items():
        std, ha = [], []
        for i, (a, b, words, category, why) in enumerate(left):
            for j, (c, d, others, kind, because) in enumerate(grouped[1][sample]):
                both = max(0, min(b, d) - max(a, c))
                overlap = both / (b - a + d - c - both)
                common = len(words & others)
                rule = common / (len(words) + len(others) - common)
                common = len(why & because)
                explanation = common / (len(why) + len(because) - common)
                score = 0.5 * overlap + 0.5 * rule
                aligned = (0.3 * overlap + 0.3 * rule + 0.1 * (category == kind) + 0.2 * explanation) / 0.9
                if overlap > 0 and rule > 0.01:
                    if score > 0.5:
                        std.append((-score, -overlap, i, j))
                    if aligned > 0.5:
                        ha.append((-aligned, -overlap, i, j))
        for scored in (std, ha):
            rows, taken = set(), set()
            for _, _, i, j in sorted(scored):
                if i not in rows and j not in taken:
                    rows.add(i)
                    taken.add(j)
                    matches += scored is std
    return matches


def seconds(work, *arguments) -> tuple[float, object]:
    start = time.perf_counter()
    out = work(*arguments)
    return time.perf_counter() - start, out


def study(data: dict[str, pd.DataFrame]):
    return matching.evaluate(load(data, study="matching"), embed="jaccard")


def test_a_million_pairs(capsys):
    study(tables(50))  # imports and first calls
    data = tables(10_000)
    took, result = min((seconds(study, data) for _ in range(2)), key=lambda t: t[0])
    peer, matches = seconds(loop_everything, data)
    assert result.figure("tp", checker="loop@1|none").value == matches == loop(data)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    with capsys.disabled():
        print(f"\nmatching, a million pairs: {took:.2f} s, peer loop {peer:.2f} s ({peer / took:.1f}×), peak {memory:.2f} GB")
    assert memory < 2
    assert took <= 3
    assert peer / took >= 5


def test_time_grows_linearly(capsys):
    study(tables(50))
    small, _ = min((seconds(study, tables(2_000)) for _ in range(2)), key=lambda t: t[0])
    large, _ = seconds(study, tables(8_000))
    with capsys.disabled():
        print(f"\nmatching, 4 × the samples take {large / small:.1f} × the time")
    assert large / small < 6
