"""Four levels over all published GSM8K solutions."""

from __future__ import annotations

import pytest
from benchmark_table import at_most
from timing import alone, least

from evalbench import load
from evalbench.metrics.reasoning import LEVELS, WEIGHTS
from evalbench.studies.cot_levels.items import items_of
from evalbench.text.final_answers import MARKERS
from evalbench.text.solutions import parse_solution

pytestmark = [pytest.mark.benchmark, pytest.mark.external]

MOST_SECONDS = 10


def all_solutions(file: str) -> tuple[int, float]:
    rows = load(file, study="cot_levels")["items"].assign(unscored="")
    weights = dict(zip(LEVELS, WEIGHTS, strict=True))

    def levels() -> None:
        parse_solution.cache_clear()
        items_of(rows, "strict", weights, markers=MARKERS)

    return len(rows), least(levels, goal=MOST_SECONDS, rounds=2)


def test_levels_of_5276_solutions_take_less_than_ten_seconds(external_data, record):
    n, took = alone(all_solutions, str(external_data("gsm8k") / "example_model_solutions.jsonl"))
    assert n == 5276
    record(at_most("four levels of 5 276 published solutions", took, MOST_SECONDS, "s"))
