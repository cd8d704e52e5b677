"""Matching a million pairs: seconds, memory, growth, and a fair Python loop as peer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmark_table import against, at_most
from peak_memory import peak_bytes
from scipy.optimize import linear_sum_assignment
from timing import Race, alone, least, race

from evalbench import load, matching
from evalbench.text.words import words as words_of

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]

MOST_SECONDS, LEAST_OF_A_FAIR_LOOP = 3, 5
WHY = ["no overlap", "rule too far", "score below the threshold", "its partner was taken"]
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
    out = {"documents": pd.DataFrame({"id": np.unique(ids), "text": "x" * 1000})}
    for name in ("truth", "predictions"):
        start = rng.integers(0, 900, n)
        out[name] = pd.DataFrame(
            {
                "id": ids,
                "violation_id": np.tile([f"{name[0]}{i}" for i in range(each)], samples),
                "start": start,
                "end": start + rng.integers(5, 100, n),
                "rule": [rules[i] for i in rng.integers(len(rules), size=n)],
                "category": [f"c{i}" for i in rng.integers(6, size=n)],
                "explanation": sentences(n, 5, 12),
                "correction": "",
            }
        )
    out["predictions"]["model"] = "loop@1|none"
    return out


def loop(data: dict[str, pd.DataFrame]) -> tuple[int, list[tuple], list[str]]:
    """A strong peer: the same pair table, assignments and reasons in plain Python, the same words cut once per text.

    No intervals, no items, no table of violations: what is left out speaks for the peer.
    """
    columns = ["id", "violation_id", "start", "end", "rule", "category", "explanation"]
    sets: dict[str, frozenset[str]] = {}
    grouped: list[dict[str, list[tuple]]] = [{}, {}]
    for target, name in zip(grouped, ("truth", "predictions"), strict=True):
        for sample, key, a, b, rule, category, why in data[name][columns].itertuples(index=False):
            for text in (rule, why):
                if text not in sets:
                    sets[text] = frozenset(words_of(text, lower=True))
            target.setdefault(sample, []).append((key, a, b, sets[rule], category, sets[why]))
    matches, table, reasons = 0, [], []
    for sample, left in grouped[0].items():
        right = grouped[1][sample]
        scores: tuple[list, list] = ([], [])
        first = len(table)
        reached = [[0] * len(left), [0] * len(left)]
        for i, (truth_id, a, b, words, category, why) in enumerate(left):
            for j, (prediction_id, c, d, others, kind, because) in enumerate(right):
                both = max(0, min(b, d) - max(a, c))
                overlap = both / (b - a + d - c - both)
                common = len(words & others)
                rule = common / (len(words) + len(others) - common)
                common = len(why & because)
                explanation = common / (len(why) + len(because) - common)
                same = float(category == kind)
                std = 0.5 * overlap + 0.5 * rule
                ha = (0.3 * overlap + 0.3 * rule + 0.1 * same + 0.2 * explanation) / 0.9
                table.append((sample, truth_id, prediction_id, overlap, rule, same, explanation, None, std, ha))
                for k, score in enumerate((std, ha)):
                    step = (overlap > 0) + (overlap > 0 and rule > 0.01) + (overlap > 0 and rule > 0.01 and score > 0.5)
                    reached[k][i] = max(reached[k][i], step)
                    if step == 3:
                        scores[k].append((-score, -overlap, i, j))
        for k, admissible in enumerate(scores):
            rows, taken = set(), set()
            for _, _, i, j in sorted(admissible):
                if i not in rows and j not in taken:
                    rows.add(i)
                    taken.add(j)
                    table[first + i * len(right) + j] += ("match",)
                    matches += k == 0
            reasons += ["" if i in rows else WHY[reached[k][i]] for i in range(len(left))]
            if len(admissible) > len(rows):
                matrix = np.zeros((len(left), len(right)))
                for score, _, i, j in admissible:
                    matrix[i, j] = -score
                linear_sum_assignment(matrix, maximize=True)
    return matches, table, reasons


def plain_loop(data: dict[str, pd.DataFrame]) -> float:
    """The plain peer: two loops over the violations of a sample, each pair scored as the formula reads."""

    def jaccard(a: str, b: str) -> float:
        left, right = set(words_of(a, lower=True)), set(words_of(b, lower=True))
        return len(left & right) / len(left | right)

    predictions = dict(list(data["predictions"].groupby("id")))
    total = 0.0
    for sample, left in data["truth"].groupby("id"):
        right = list(predictions[sample].itertuples())
        for t in left.itertuples():
            for p in right:
                both = max(0, min(t.end, p.end) - max(t.start, p.start))
                overlap = both / (t.end - t.start + p.end - p.start - both)
                rule, explanation = jaccard(t.rule, p.rule), jaccard(t.explanation, p.explanation)
                total += (0.3 * overlap + 0.3 * rule + 0.1 * (t.category == p.category) + 0.2 * explanation) / 0.9
    return total


def study(data: dict[str, pd.DataFrame]):
    """From frames to Result, checks included."""
    return matching.evaluate(load(data, study="matching"), embed="jaccard")


def a_million_pairs() -> dict[str, Any]:
    """Processor seconds and bytes; both peers find what we find."""
    study(tables(50))  # imports and first calls
    data, tenth = tables(10_000), tables(1_000)
    took = least(lambda: study(data), goal=MOST_SECONDS)
    peak = peak_bytes()
    result, (matches, table, _) = study(data), loop(data)
    assert result.estimate("tp", model="loop@1|none").value == matches
    assert len(table) == len(result.tables["pairs"]) == 1_000_000
    del result, table
    assert plain_loop(tenth) == pytest.approx(study(tenth).tables["pairs"]["ha_score"].sum())

    plain = race(lambda _: study(data), lambda _: plain_loop(tenth), goal=LEAST_OF_A_FAIR_LOOP / 10, rounds=2)
    checked = load(data, study="matching")
    strong = race(lambda _: matching.evaluate(checked, embed="jaccard"), lambda _: loop(data), goal=1, rounds=2)
    return {"seconds": took, "peak": peak, "plain": plain._replace(peer=10 * plain.peer), "strong": strong}


@pytest.mark.large
def test_a_million_pairs(record):
    found = alone(a_million_pairs)
    record(at_most("matching a million pairs, frames to Result", found["seconds"], MOST_SECONDS, "s"))
    record(at_most("matching a million pairs, memory", found["peak"], 2e9, "B"))
    record(against("matching a million pairs", Race(*found["plain"]), "a plain loop", LEAST_OF_A_FAIR_LOOP))
    record(against("matching a million pairs, no checks", Race(*found["strong"]), "a loop over ready word sets", 1))


def growth() -> float:
    small, large = tables(1_000), tables(8_000)
    study(small)
    took = race(lambda _: study(small), lambda _: study(large), goal=0, rounds=3)
    return took.ratio


def test_time_grows_linearly(record):
    """Time that grew with the square would be 64 times as long."""
    times = alone(growth)
    record(at_most("matching 8 × the samples", times, 16, "×"))
