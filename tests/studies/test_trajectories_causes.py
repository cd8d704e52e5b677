"""Why failed trials failed: one cause each, and what most of an agent's have in common."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from evalbench import core, load
from evalbench.studies import trajectories
from evalbench.studies.trajectories import causes


def judged(
    trials: list[dict[str, Any]], expected: dict[str, Any] | None = None, forbidden: dict[str, Any] | None = None
) -> core.Result:
    """Trials: task, model, mark, and calls as (tool, arguments, error)."""
    steps = pd.DataFrame(
        {"id": own["id"], "model": own["model"], "trial": own["trial"], "step": 2 * i + j, "kind": kind, "name": name,
         "arguments": json.dumps(given) if kind == "call" else "", "error": error if kind == "result" else "", "mark": own["mark"]}
        for own in trials
        for i, (name, given, error) in enumerate(own["calls"])
        for j, kind in enumerate(("call", "result"))
    )  # fmt: skip
    tables = {"steps": steps}
    if expected is not None:
        tables["tasks"] = pd.DataFrame({"id": [*expected], "expected": [json.dumps(own) for own in expected.values()]})
    if forbidden is not None:
        own = [json.dumps(names) for names in forbidden.values()]
        tables["tasks"] = pd.DataFrame({"id": [*forbidden], "forbidden": own})
    return trajectories.evaluate(load(tables, study="trajectories"), n_resamples=50)


def trial(id: str, model: str, number: int, mark: int, *calls: tuple[str, dict[str, Any], str]) -> dict[str, Any]:
    return {"id": id, "model": model, "trial": number, "mark": mark, "calls": calls}


def good(id: str, model: str, number: int) -> dict[str, Any]:
    return trial(id, model, number, 1, ("look", {"id": id}, ""), ("refund", {"unit": "EUR"}, ""))


def test_a_failing_tool_is_named_and_not_the_tool_that_was_never_reached() -> None:
    trials = [good(f"t{i}", model, 1) for i in range(12) for model in ("heron", "rook")]
    trials += [good(f"t{i}", "rook", 2) for i in range(9, 12)] + [good(f"t{i}", "heron", 2) for i in range(6, 12)]
    trials += [trial(f"t{i}", "rook", 2, 0, ("look", {"id": f"t{i}"}, "503")) for i in range(9)]
    trials += [
        trial(f"t{i}", "heron", 2, 0, ("look", {"id": f"t{i}"}, ""), ("refund", {"unit": "USD"}, "")) for i in range(6)
    ]
    result = judged(trials)
    table = causes.counted(result.tables["causes"])
    found = {(row["model"], row["cause"], row["name"]): (row["n"], row["of"]) for row in table.to_dict("records")}
    assert found == {("rook", causes.FAILS, "look"): (9, 9), ("heron", causes.LEAVES, "refund"): (6, 6)}
    text = result.answer.answer
    assert "All of heron’s 6 failed trials: “refund” with other arguments; all of rook’s 9: “look” fails." in text
    assert trajectories.why_failed(result)["failed trials"].tolist() == [6, 9]


def test_a_failure_that_successful_trials_have_as_often_explains_none() -> None:
    trials = [
        trial(f"t{i}", "rook", number, mark, ("look", {"id": f"t{i}"}, "503"), ("pay", {"n": number}, ""))
        for i in range(8)
        for number, mark in ((1, 1), (2, 0))
    ]
    assert causes.FAILS not in set(judged(trials).tables["causes"]["cause"])


def test_where_expected_calls_are_known_wrong_arguments_and_missing_calls_are_causes() -> None:
    expected = {f"t{i}": [{"name": "refund", "arguments": {"unit": "EUR"}}] for i in range(10)}
    trials = [trial(f"t{i}", "rook", 1, 0, ("refund", {"unit": "USD"}, "")) for i in range(9)]
    trials += [trial("t9", "rook", 1, 0, ("look", {}, ""))]
    result = judged(trials, expected)
    assert result.tables["causes"]["cause"].tolist() == [causes.WRONG] * 9 + [causes.NOT_CALLED]
    assert "9 of rook’s 10 failed trials: “refund” with wrong arguments." in result.answer.answer


def test_no_cause_is_named_that_is_not_clearly_ahead_of_the_next_or_of_few_trials() -> None:
    def row(name: str, n: int, of: int) -> dict[str, Any]:
        return {"model": "oak", "cause": causes.FAILS, "name": name, "n": n, "of": of, "other_arguments": 0}

    whose = {"oak": "oak's"}
    assert causes.said(pd.DataFrame([row("a", 14, 25), row("b", 11, 25)]), 5, whose) == ""
    assert causes.said(pd.DataFrame([row("a", 4, 4)]), 5, whose) == ""
    assert causes.said(pd.DataFrame([row("a", 14, 16), row("b", 2, 16)]), 5, whose) == "14 of oak’s 16 failed trials: “a” fails."  # fmt: skip


def test_a_forbidden_call_comes_first_and_one_that_stops_or_goes_on_is_told_from_one_that_turns_away() -> None:
    trials = [good(f"t{i}", "oak", 1) for i in range(4)]
    trials += [
        trial("t0", "oak", 2, 0, ("look", {"id": "t0"}, "")),
        trial("t1", "oak", 2, 0, ("look", {"id": "t1"}, ""), ("refund", {"unit": "EUR"}, ""), ("wire", {}, "")),
        trial("t2", "oak", 2, 0, ("look", {"id": "t2"}, ""), ("wire", {}, "")),
        trial("t3", "oak", 2, 0, ("look", {"id": "t3"}, ""), ("wire", {}, "")),
    ]
    plain = judged(trials).tables["causes"].set_index("id")[["cause", "name"]]
    assert plain.loc["t0"].tolist() == [causes.ENDS, "refund"]
    assert plain.loc["t1"].tolist() == [causes.GOES_ON, "wire"]
    assert plain.loc["t2"].tolist() == [causes.LEAVES, "refund"]
    banned = judged(trials, forbidden={"t3": ["wire"]}).tables["causes"].set_index("id")
    assert banned.loc["t3", ["cause", "name"]].tolist() == [causes.FORBIDDEN, "wire"]
