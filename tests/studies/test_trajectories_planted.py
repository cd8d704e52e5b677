"""Every fault that is planted in the sample is found where it is planted, and none elsewhere."""

from __future__ import annotations

import json
from functools import partial

import pandas as pd
import pytest
from judged_agents import KEYS, judged, runs
from studied import page

from evalbench import load
from evalbench.core.result import Result
from evalbench.studies import trajectories
from evalbench.studies.trajectories import calls, items, ordered, said


@pytest.fixture(scope="module")
def desk() -> Result:
    return trajectories.evaluate(load("parcel_desk@1.0.0", study="trajectories"), n_resamples=50)


@pytest.fixture(scope="module")
def planted(script) -> dict[str, set[tuple[str, ...]]]:
    made = script("make_parcel_desk").PLANTED
    return {
        fault: {(task, model, trial) for model, own in agents.items() for task, trial in own}
        for fault, agents in made.items()
    }


def test_the_sample_is_what_its_script_writes(script) -> None:
    made = script("make_parcel_desk")
    for name, rows in made.rows().items():
        written = (made.OUT / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line) for line in written] == rows, name


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("wrong arguments", lambda calls: calls["look"] == "wrong arguments"),
        ("forbidden", lambda calls: calls["forbidden"]),
        ("loop", lambda calls: calls["cycle"] > 0),
        ("loop", lambda calls: calls["repeated"]),
        ("error left", lambda calls: calls["failed"] & ~calls["recovered"]),
        ("error made good", lambda calls: calls["recovered"]),
    ],
)
def test_what_was_planted_in_calls_is_found_and_nothing_else(desk: Result, planted, fault: str, found) -> None:
    made = desk.tables["tool_calls"]
    assert runs(made[found(made)]) == planted[fault]


def test_what_was_planted_in_words_and_outcomes_is_found_and_nothing_else(desk: Result, planted) -> None:
    assert runs(desk.tables["ungrounded"]) == planted["from nowhere"]
    assert set(desk.tables["ungrounded"]["claim"]) == {"45"}
    odd = desk.tables["contradictions"]
    assert runs(odd[odd["kind"] == "success without every expected call"]) == planted["luck"]
    assert runs(odd[odd["kind"] == "a tool is named in words and never called"]) == planted["promise"]
    assert runs(odd[odd["kind"] == "every expected call and no success"]) == planted["forbidden"]
    rows = desk.tables["trials"]
    assert runs(rows[rows["unscored"] != ""]) == planted["no mark"]
    failing = set().union(*(planted[f] for f in ("wrong arguments", "forbidden", "loop", "error left", "promise")))
    assert runs(rows[rows["success"] == 0]) == failing == runs(desk.tables["turning_points"])


def test_a_failed_trial_parts_where_the_fault_was_planted(desk: Result, planted) -> None:
    turns = desk.tables["turning_points"].set_index(KEYS)
    for fault, kind in (
        ("wrong arguments", "other arguments"),
        ("forbidden", "went on"),
        ("promise", "ended there"),
        ("loop", "another tool"),
    ):
        assert set(turns.loc[sorted(planted[fault]), "kind"]) == {kind}


def test_a_forbidden_call_is_red_and_none_is_no_light(desk: Result) -> None:
    assert desk.light == "red"
    assert "forbidden call 0.02" in desk.sentence
    assert "Success 0.82" in desk.sentence
    sound = {name: own[own["model"] == "fern-desk"] if "model" in own else own for name, own in sample().items()}
    assert judged(sound).light == "unlit"


def sample() -> dict[str, pd.DataFrame]:
    return {name: frame.copy() for name, frame in load("parcel_desk@1.0.0", study="trajectories").tables.items()}


def test_the_page_shows_lanes_and_steps_without_a_script(desk: Result) -> None:
    lanes, steps = trajectories.lanes(desk), trajectories.step_by_step(desk)
    assert lanes.count("<tr>") == 3 * (6 + 1)
    assert all(word in lanes for word in ("◐", "✗", "goal not reached"))
    assert "<script" not in lanes + steps
    assert "reroute-04, oak-desk, trial 2" in steps
    assert "parcel_desk" in page("trajectories", desk)


def test_calls_that_do_not_fit_their_schema_are_found_where_they_were_planted_and_nowhere_else(
    desk: Result, planted
) -> None:
    assert runs(desk.tables["misfits"]) == planted["misfit"]
    assert len(desk.tables["misfits"]) == len(planted["misfit"])
    assert desk.tables["tools"]["unknown"].sum() == 0
    assert desk.estimate("misfit_calls", model="fern-desk").value == 0
    made = desk.tables["tools"].query("model == 'oak-desk'")["calls"].sum()
    assert desk.estimate("misfit_calls", model="oak-desk").value == pytest.approx(2 / made)


def test_how_many_tasks_are_looked_at_at_once_changes_nothing(desk: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (calls, said, items):
        monkeypatch.setattr(module, "parts", partial(ordered.parts, most=1))
    found = trajectories.evaluate(load("parcel_desk@1.0.0", study="trajectories"), n_resamples=50)
    pd.testing.assert_frame_equal(found.items, desk.items)
    assert found.notes == desk.notes
    assert found.tables.keys() == desk.tables.keys()
    for name, table in desk.tables.items():
        pd.testing.assert_frame_equal(found.tables[name], table)
