"""Several judges: majority or mean, ties, missing votes."""

from __future__ import annotations

import math
from typing import Any

import pytest

from evalbench.errors import BadInput
from evalbench.judge.panel import panel
from evalbench.judge.recorded import Recording
from evalbench.judge.tasks import mark_task

ITEMS = [{"id": str(i), "question": "q", "gold": "g", "answer": f"a{i}"} for i in range(4)]


def judges(*labels: str) -> list[Recording]:
    return [
        Recording([{"id": str(i), "label": word} for i, word in enumerate(one.split()) if word != "-"], f"judge {j}")
        for j, one in enumerate(labels)
    ]


def test_the_majority_decides_and_a_tie_does_not() -> None:
    by = judges("CORRECT CORRECT INCORRECT -", "CORRECT INCORRECT PARTIALLY_CORRECT -", "INCORRECT - CORRECT -")
    found = panel(ITEMS, by=by, task="correctness", n_resamples=50)
    assert [row.label for row in found.rows] == ["CORRECT", "", "", ""]
    assert [row.tied for row in found.rows] == [False, True, True, False]
    assert [row.unscored for row in found.rows] == ["", "", "", "not-recorded"]
    assert found.rows[0].value == 1
    assert math.isnan(found.rows[1].value)
    assert dict(found.rows[1].votes) == {"judge 0": "CORRECT", "judge 1": "INCORRECT"}


def test_marks_are_averaged() -> None:
    task = mark_task("clarity", "Is it clear?", {0: "no", 1: "partly", 2: "yes"})
    by: list[Any] = [lambda item: 2, Recording([{"id": "0", "mark": 1}], "kept")]
    found = panel(ITEMS, by=by, task=task, how="mean", n_resamples=50)
    assert [row.value for row in found.rows] == [1.5, 2, 2, 2]
    assert found.agreement.value is None


def test_agreement_is_over_labels() -> None:
    by = judges("CORRECT INCORRECT CORRECT INCORRECT", "CORRECT INCORRECT CORRECT INCORRECT")
    assert panel(ITEMS, by=by, task="correctness", n_resamples=50).agreement.value == 1


def test_judges_that_cannot_be_a_panel_are_refused() -> None:
    with pytest.raises(BadInput) as raised:
        panel(ITEMS, by=judges("CORRECT")[:1], task="correctness", how="median")  # type: ignore[arg-type]
    assert "two judges at least" in str(raised.value)
    assert "how is 'median'" in str(raised.value)
    with pytest.raises(BadInput, match="two judges are called 'judge 0'"):
        panel(ITEMS, by=judges("CORRECT") * 2, task="correctness")
