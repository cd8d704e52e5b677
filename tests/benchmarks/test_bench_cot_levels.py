"""Four levels over all published GSM8K solutions."""

from __future__ import annotations

import time

import pytest

from evalbench import load
from evalbench.metrics.reasoning import LEVELS, WEIGHTS
from evalbench.studies.cot_levels.scoring import items_of, options_of
from evalbench.text.solutions import MARKERS, parse_solution

pytestmark = [pytest.mark.benchmark, pytest.mark.external]


def best_of(n, work):
    """The fastest of n processor times, in seconds, and the result."""
    times = []
    for _ in range(n):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


def test_levels_of_5276_solutions_take_less_than_ten_seconds(external_data):
    rows = load(external_data("gsm8k") / "example_model_solutions.jsonl", study="cot_levels")["items"].assign(
        unscored=""
    )
    options = options_of("strict", MARKERS, dict(zip(LEVELS, WEIGHTS, strict=True)), "none", False, 0.0)

    def levels():
        parse_solution.cache_clear()
        return items_of(rows, options)[0]

    seconds, items = best_of(2, levels)
    print(
        f"\nlevels of {len(items)} solutions: {seconds:.2f} s of processor time, {1e6 * seconds / len(items):.0f} µs each"
    )
    assert len(items) == 5276
    assert seconds < 10
