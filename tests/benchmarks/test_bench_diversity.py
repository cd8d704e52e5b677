"""Lexical similarity of all pairs of generations, against plain Python with nltk's n-grams."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from benchmark_table import against, at_most
from timing import Race, alone, least, race

from evalbench.core.seeds import rng
from evalbench.metrics.diversity import NORMALISED, lexical_diversity
from evalbench.text.normalise import tokenizer

pytestmark = pytest.mark.benchmark

QUESTIONS, GENERATIONS, WORDS, MOST_SECONDS = 1000, 20, 40, 1.0
FEW, FASTER = 200, 10


def generations(n: int) -> list[list[str]]:
    """Answers of forty words, each of which differs from its question's in about eight."""
    draw = rng(0, "bench/diversity")
    vocabulary = [f"word{i}" for i in range(3000)]
    groups = []
    for _ in range(n):
        shared = draw.integers(3000, size=WORDS)
        group = []
        for _ in range(GENERATIONS):
            own = shared.copy()
            own[draw.integers(WORDS, size=8)] = draw.integers(3000, size=8)
            group.append(" ".join(vocabulary[i] for i in own) + ".")
        groups.append(group)
    return groups


def by_nltk(groups: list[list[str]]) -> list[float]:
    """Plain Python at its best: each answer cut and counted once, then Counters of all pairs."""
    from nltk.util import ngrams

    cut = tokenizer(NORMALISED, "")
    out = []
    for group in groups:
        tokens = [cut(text) for text in group]
        counted = [[Counter(ngrams(each, n)) for n in range(1, 6)] for each in tokens]
        sizes = [[c.total() for c in each] for each in counted]
        apart = 0.0
        for i, j in combinations(range(len(group)), 2):
            dice = [
                2 * sum(min(n, b[gram]) for gram, n in a.items() if gram in b) / (m + k)
                for a, b, m, k in zip(counted[i], counted[j], sizes[i], sizes[j], strict=True)
                if m + k
            ]
            apart += 1 - sum(dice) / len(dice)
        out.append(apart / (len(group) * (len(group) - 1) / 2))
    return out


def all_pairs() -> float:
    groups = generations(QUESTIONS)
    return least(lambda: lexical_diversity(groups), goal=MOST_SECONDS)


def raced() -> tuple[float, float, int, float]:
    groups = generations(FEW)
    took = race(lambda _: lexical_diversity(groups), lambda _: by_nltk(groups), goal=FASTER, rounds=2)
    apart = max(abs(a - b) for a, b in zip(lexical_diversity(groups), by_nltk(groups), strict=True))
    return took.ours, took.peer, took.rounds, apart


def test_all_pairs_of_twenty_generations_of_a_thousand_questions_take_a_second(record):
    took = alone(all_pairs)
    record(at_most("lexical similarity, 1 000 questions × 20 generations, all pairs", took, MOST_SECONDS, "s"))


def test_many_times_as_fast_as_plain_python_and_the_same(record):
    ours, peer, rounds, apart = alone(raced)
    assert apart < 1e-12
    took = Race(ours, peer, rounds)
    record(
        against(
            "lexical similarity, 200 questions × 20 generations, all pairs", took, "Counter over nltk's n-grams", FASTER
        )
    )
