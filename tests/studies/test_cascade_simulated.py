"""How often the cascade shows a difference between answers that are equally good, or that differ as planned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from generated import in_soak

from evalbench import load
from evalbench.core.planning import smallest_difference
from evalbench.studies import cascade

# -- simulations ----------------------------------------------------------------------------------

N, DECISIVE = 500, 0.5
TIMES = in_soak(400, 40)
SPREAD = (400 / TIMES) ** 0.5  # of a share over so many, beside that over 400


def simulated(advantage: float, number: int) -> str:
    """The verdict on one set of questions of which the judge knows the better answer."""
    draw = np.random.default_rng([16, number])
    chances = [(DECISIVE + advantage) / 2, (DECISIVE - advantage) / 2, 1 - DECISIVE]
    better = draw.choice(["A", "B", "TIE"], N, p=chances)
    rows = {
        "id": [f"q{i:03}" for i in range(N)],
        "question": ["Which?"] * N,
        "answer_a": [f"a {i}" for i in range(N)],
        "answer_b": [f"b {i}" for i in range(N)],
    }

    def judge(item: dict[str, Any]) -> str:
        side, place = item["first"].split()
        winner = str(better[int(place)])
        return "TIE" if winner == "TIE" else "FIRST" if winner.lower() == side else "SECOND"

    data = load(pd.DataFrame(rows), study="cascade")
    result = cascade.evaluate(data, strong=judge, run_stages=[9], annotators=False, margin=0.0, n_resamples=2)
    return {"green": "better", "red": "worse"}.get(result.light, "no difference shown")


@pytest.mark.slow
@pytest.mark.soak
def test_without_a_true_difference_one_is_rarely_shown():
    found = [simulated(0.0, number) for number in range(TIMES)]
    assert np.mean([one != "no difference shown" for one in found]) == pytest.approx(0.0475, abs=0.0275 * SPREAD)


@pytest.mark.slow
@pytest.mark.soak
def test_the_planned_difference_is_shown_with_the_planned_power():
    advantage = 0.14
    for _ in range(50):  # the spread of an outcome hangs on the advantage itself
        advantage = smallest_difference(((DECISIVE - advantage**2) / N) ** 0.5)
    found = [simulated(advantage, 1000 + number) for number in range(TIMES)]
    assert np.mean([one == "better" for one in found]) == pytest.approx(0.8, abs=0.04 * SPREAD)
