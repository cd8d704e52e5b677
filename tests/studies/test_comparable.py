"""What comparisons of some studies must do beyond the laws of all."""

from __future__ import annotations

import pytest
from compared import cells, compared, side, worsened
from studied import whole

ALL_SUMS = ("citation", "cot_levels", "explainability", "text_metrics")


@pytest.mark.parametrize("name", ALL_SUMS)
def test_no_statistic_is_left_to_resampling_the_summary(name: str) -> None:
    """Without calls of the study all that both runs state is compared."""
    first = side(name)
    found = cells(compared(name, side(name, worsened(whole(name))), n_summaries=0))
    by = first.results["by"]
    stated = {(*(r[c] for c in by if r.get(c) is not None), r["metric"]) for r in first.results["summary"]}
    assert set(found) == stated


@pytest.mark.parametrize(
    ("name", "own"), [("citation", {"threshold": 0.95}), ("explainability", {"weight_cot": 0.0, "cot_threshold": 0.95})]
)
def test_each_side_keeps_its_own_options(name: str, own: dict[str, float]) -> None:
    """A threshold or a weight of the other run is not a fault of the definition."""
    found = compared(name, side(name, whole(name).items, **own), n_summaries=0)
    assert not any("not compared" in note for note in found.notes)
    assert any(row.comparison.difference for row in found.rows)


@pytest.mark.parametrize("name", ALL_SUMS)
def test_a_worse_run_has_items_that_changed_for_the_worse(name: str) -> None:
    found = compared(name, side(name, worsened(whole(name))), n_summaries=0)
    assert found.changes is not None
    assert found.changes.counts["worse"] > 0
