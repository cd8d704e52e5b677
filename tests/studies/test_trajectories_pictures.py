"""What the page of trajectories shows of small tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from judged_agents import judged, steps
from studied import page

from evalbench import load
from evalbench.studies import trajectories

TEXTS = ("role", "name", "arguments", "call_id", "text", "error", "parent")


def told(*ways: tuple[str, Any, tuple[str, ...]], model: str = "oak") -> pd.DataFrame:
    """Trajectories in small: task, mark, the tools that are called."""
    rows = [
        {"id": task, "step": i, "kind": "call", "name": name, "mark": mark, "model": model}
        for task, mark, names in ways
        for i, name in enumerate(names)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("column", TEXTS)
def test_a_null_in_any_text_of_a_step_is_no_text_and_the_page_is_made(column: str, tmp_path: Path) -> None:
    rows = [
        {"kind": "message", "role": "user", "text": "when?"},
        {"kind": "call", "name": "now", "arguments": {"zone": "CET"}, "call_id": "x"},
        {"kind": "result", "name": "now", "text": "12:30", "call_id": "x", "error": "late", "parent": "1"},
        {"kind": "call", "name": "now", "arguments": '{"zone": "UTC"}', "call_id": "y"},
        {"kind": "message", "role": "assistant", "text": "12:30"},
    ]
    empty: set[int] = {
        i for i, row in enumerate(rows) if column in row and not (column == "name" and row["kind"] == "call")
    }
    lines = [
        json.dumps({"id": task, "step": i, "mark": mark, **row, **({column: None} if i == at else {})})
        for at in sorted(empty)[:1]
        for task, mark in (("a", 0), ("b", 1))
        for i, row in enumerate(rows)
    ]
    (tmp_path / "steps.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = trajectories.evaluate(load(tmp_path / "steps.jsonl", study="trajectories"), n_resamples=50)
    assert not found.tables["steps"].isna().any(axis=None)
    assert "12:30" in trajectories.step_by_step(found)
    assert "nan" not in trajectories.step_by_step(found)
    assert "goal not reached" in page("trajectories", found)


def test_what_the_agent_said_last_is_not_what_the_user_said_after_it() -> None:
    rows = steps(("a", 1, "message"), ("a", 2, "message"), ("b", 1, "message")).assign(
        role=["assistant", "user", "user"], text=["I cannot.", "Then goodbye.", "Hello?"], mark="0"
    )
    last = trajectories.worst(judged({"steps": rows})).set_index("id")["what the agent said last"]
    assert "I cannot." in last["a"]
    assert "goodbye" not in last["a"]
    assert "nothing" in last["b"]
