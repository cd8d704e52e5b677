"""Whatever a judge is asked, the items whose verdicts rest on it are found by it, and it by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from some_studies import some_studies
from studied import evaluated, sample

from evalbench.explorer.rows import Rows
from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")

# The purposes of the calls that every item has, or some.
ASKED = {
    "cascade": ("mark", False), "citation": ("entailment", False), "explainability": ("entailment", False), "needle": ("correctness", True),
    "rag_generation": ("claims", True), "rag_tuning": ("answer", False), "trajectories": ("trajectory/goal_reached", True),
}  # fmt: skip


def judge(item: dict[str, Any]) -> str:
    """A judge, a fake, that finds everything right."""
    return "ENTAILMENT" if "premise" in item else "CORRECT"


@pytest.mark.slow
@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(ASKED))
def test_calls_lead_to_their_items_and_items_to_their_calls(tmp_path: Path, name: str) -> None:
    purpose, by_all = ASKED[name]
    result = evaluated(name, sample(name), judge=judge)
    record(result, tmp_path)
    run = Rows(tmp_path)
    asked = result.tables["calls"]
    whose = {i for own in asked.loc[asked["purpose"] == purpose, "asked_for"] for i in own}
    ids = result.items[result.id].astype(str)
    assert whose == set(ids) if by_all else whose < set(ids)
    assert run.count(f'purpose="{purpose}"') == ids.isin(whose).sum()
    first = run.page(f'purpose="{purpose}"', limit=1)[0]
    calls = run.item(first["row"])["tables"]["calls"]
    assert purpose in {call["purpose"] for call in calls}
    assert all(call["prompt"] or call["reply"] for call in calls)
