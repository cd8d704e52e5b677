"""What the page of trajectories shows of small tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from judged_agents import judged, steps
from studied import ROOT, page

from evalbench import load
from evalbench.studies import trajectories


def headings(study: str) -> set[str]:
    """The places of the parts of a page."""
    text = (ROOT / "notebooks" / f"{study}.ipynb").read_text(encoding="utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
    titles = [line[3:] for cell in cells for line in "".join(cell["source"]).splitlines() if line.startswith("## ")]
    return {re.sub(r"\W+", "-", title.casefold()).strip("-") for title in titles}


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


def test_trials_that_miss_the_goal_are_listed_and_no_other() -> None:
    rows = told(("a", "1", ("find",)), ("b", "0", ("find",)), ("c", None, ("find",)))
    assert trajectories.worst(judged({"steps": rows}))["id"].tolist() == ["b"]


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ((None, None), "None of 2 trajectories is scored, so that none is known to miss the goal."),
        (("1", None), "The goal is reached in every scored trajectory: 1 of 2 is scored."),
        (("1", "1"), "All 2 trajectories reach the goal."),
    ],
)
def test_where_nothing_failed_the_page_says_whether_anything_is_scored(marks: tuple[Any, Any], said: str) -> None:
    found = judged({"steps": told(("a", marks[0], ("find",)), ("b", marks[1], ("find",)))})
    assert trajectories.worst(found)["note"].tolist() == [said]
    assert trajectories.turning_points(found)["note"].tolist() == [said]
    assert said in trajectories.step_by_step(found)
    assert f"{said} Tasks that are shown: the first 2 of 2." in trajectories.lanes(found)


def test_tasks_whose_goal_is_always_reached_or_not_scored_are_no_lanes_beside_one_that_fails() -> None:
    shown = trajectories.lanes(judged({"steps": told(("a", "1", ("x",)), ("b", "0", ("y",)), ("c", None, ("z",)))}))
    assert "Tasks in which the goal is missed: 1 of 3" in shown
    assert [f">{name}<" in shown for name in ("x", "y", "z")] == [False, True, False]


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        (None, "Which calls are expected is not known."),
        ([], "No call is expected."),
        ([{"name": "find"}], "Every expected call was made."),
        ([{"name": "pay"}], "Expected and not called so: pay()"),
    ],
)
def test_what_is_lacking_of_a_failed_trial_is_said_as_far_as_it_is_known(expected: Any, said: str) -> None:
    tasks = pd.DataFrame({"id": ["a"], "expected": [expected]})
    assert said in trajectories.step_by_step(judged({"steps": told(("a", "0", ("find",))), "tasks": tasks}))


def test_a_failed_trial_with_the_calls_of_a_successful_one_parts_nowhere_and_is_counted() -> None:
    good = told(("a", "1", ("find", "pay")), ("b", "1", ("find", "pay")))
    bad = told(("a", "0", ("find", "pay")), ("b", "0", ("find", "tell")), model="elm")
    found = judged({"steps": pd.concat([good, bad], ignore_index=True)})
    assert found.tables["turning_points"]["id"].tolist() == ["b"]
    assert any(
        "same calls as a successful one of their task: 1 of 2 that can be compared" in note for note in found.notes
    )
    assert "ended there" not in set(trajectories.turning_points(found)["what differs"])
    alone = judged({"steps": pd.concat([good, bad], ignore_index=True).query("id == 'a'").reset_index(drop=True)})
    assert "All make the same calls" in trajectories.turning_points(alone)["note"][0]


def test_every_call_of_a_forbidden_tool_is_listed_with_its_place() -> None:
    rows = told(("a", "1", ("find", "pay")), ("b", "1", ("find",)))
    tasks = pd.DataFrame({"id": ["a", "b"], "forbidden": [["pay"], ["pay"]]})
    found = judged({"steps": rows, "tasks": tasks})
    assert trajectories.forbidden(found)[["task", "agent", "step", "tool"]].to_numpy().tolist() == [
        ["a", "oak", 1, "pay"]
    ]
    assert found.answer.answer.startswith("Oak called a forbidden tool (pay) in 1 of 2 trajectories.")
    assert found.answer.next.text == "Look at the call of a forbidden tool."
    assert found.answer.next.at in headings("trajectories")
    kept = judged({"steps": rows, "tasks": tasks.assign(forbidden=[["x"], None])})
    assert trajectories.forbidden(kept)["note"].tolist() == [
        "No forbidden tool is called in 1 trajectory whose task says which are forbidden."
    ]
    assert trajectories.forbidden(judged({"steps": rows}))["note"].tolist() == [
        "It is not known which tools are forbidden."
    ]


def test_trials_are_counted_where_a_task_has_several() -> None:
    rows = told(("a", "1", ("find", "pay")), ("b", "1", ("find",)))
    tasks = pd.DataFrame({"id": ["a", "b"], "forbidden": [["pay"], ["pay"]]})
    thrice = pd.concat([rows.assign(trial=str(t)) for t in range(3)], ignore_index=True)
    called = judged({"steps": thrice, "tasks": tasks})
    assert called.answer.answer.startswith("Oak called a forbidden tool (pay) in 3 of 6 trajectories.")
    assert called.answer.next.text == "Look at the 3 calls of forbidden tools."
    marked = judged({"steps": thrice.assign(mark=thrice["mark"].where(thrice["trial"] == "0"))})
    assert marked.items["unscored"].tolist() == ["", ""]
    assert marked.answer.answer == "Oak reaches the goal in 100% of trials (2 scored); 4 of 6 trials have no mark."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "You have 9 bags.",
            "No number from 10 on, identifier or name is in the agents' messages: there was none to look at.",
        ),
        (
            "It is 12 and KX-4410.",
            "Looked at in the agents' messages: 2 numbers from 10 on, identifiers and names. Each was said before.",
        ),
    ],
)
def test_how_many_claims_were_looked_at_is_said(text: str, said: str) -> None:
    rows = steps(("a", 1, "message"), ("a", 2, "message")).assign(
        role=["user", "assistant"], text=["12 of KX-4410", text]
    )
    assert trajectories.ungrounded(judged({"steps": rows}))["note"].tolist() == [said]
