"""Trajectories judged: planted failures named with their step and none elsewhere, lies of a scripted judge refused and counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import planted_agents
import pytest
from chat import chat_endpoint
from judges_of_agents import blaming, fine, judged, unmarked
from studied import page

from evalbench import load, record
from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.studies import judge_audit, trajectories

KEYS = ["id", "model", "trial"]
KINDS = {
    "wrong arguments": "wrong_arguments",
    "forbidden": "policy_broken",
    "loop": "loop",
    "error left": "error_left",
    "from nowhere": "made_up",
    "luck": "unchecked",
    "promise": "promised_not_done",
}


# -- the sample -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def desk() -> Result:
    return trajectories.evaluate(load("parcel_desk@1.0.0", study="trajectories"), judge="recorded", n_resamples=50)


def test_planted_failures_are_named_with_their_step_and_none_elsewhere(desk: Result, script) -> None:
    planted = script("make_parcel_desk").PLANTED
    named = desk.tables["faults"].set_index(KEYS)["mark"]
    of = {(task, model, trial): KINDS[f] for f in KINDS for model, own in planted[f].items() for task, trial in own}
    assert named[named != "no_failure"].to_dict() == of
    calls = desk.tables["tool_calls"].set_index([*KEYS, "step"])
    at = desk.tables["faults"].set_index(KEYS)["step"].dropna()
    for fault, look in (("wrong arguments", "wrong arguments"), ("forbidden", "forbidden")):
        for model, own in planted[fault].items():
            assert all(calls["look"][(task, model, trial, at[task, model, trial])] == look for task, trial in own)
    assert desk.estimate("failures", model="oak-desk").value == pytest.approx(21 / 90)
    assert desk.estimate("judged_goal_reached", model="oak-desk").n == 30
    kinds = desk.tables["fault_kinds"].set_index(["model", "kind"])
    assert kinds["trajectories"]["oak-desk", "wrong_arguments"] == 6
    assert kinds["share"]["oak-desk", "wrong_arguments"] == pytest.approx(6 / 90)
    assert kinds["ci_low"]["oak-desk", "wrong_arguments"] < 6 / 90 < kinds["ci_high"]["oak-desk", "wrong_arguments"]
    assert len(kinds) == 2 * 14
    assert any("the same of the goal in 176 of 178" in note for note in desk.notes)


def test_a_judge_changes_nothing_of_what_marks_and_calls_say(desk: Result) -> None:
    alone = trajectories.evaluate(load("parcel_desk@1.0.0", study="trajectories"), n_resamples=50)
    assert (alone.sentence, alone.light, alone.answer) == (desk.sentence, desk.light, desk.answer)
    kept = [e for e in desk.summary.estimates if not e.metric.startswith(("judged_", "failures"))]
    assert kept == list(alone.summary.estimates)
    assert not {"verdicts", "faults", "fault_kinds", "calls"} & set(alone.tables)
    assert not [c for c in alone.items if c.startswith(("judged_", "failure"))]


def test_the_page_shows_kinds_by_agent_and_the_step_marked(desk: Result) -> None:
    html = page("trajectories", desk)
    assert "promised not done" in html
    assert html.count("▶ here") == 3
    assert "refund-02, oak-desk, trial 1: wrong arguments at step 6" in html


def test_of_a_long_trajectory_the_page_shows_the_steps_around_the_failure() -> None:
    own = unmarked(1)
    more = pd.DataFrame(
        [{"id": "q00", "model": "sound", "step": i, "kind": "note", "text": f"<b>{i}"} for i in range(9, 300)]
    ).fillna("")
    own["steps"] = pd.concat([own["steps"], more])
    html = trajectories.failed_steps(judged(own, judge=blaming(200)))
    assert html.count("▶ here") == 1
    assert "156 to 215 of 295" in html
    assert "&lt;b&gt;200" in html
    assert html.count("<tr>") < 70


def test_kinds_are_figures_with_lights_where_they_are_asked_for() -> None:
    rule = {
        "failure_loop": {"green_to": 0.1, "yellow_to": 0.2},
        "judged_goal_reached": {"green_from": 0.9, "yellow_from": 0.5},
    }
    own = unmarked(40)
    found = judged(own, judge=blaming(2), figures=["failure_loop", "judged_goal_reached"], lights=rule)
    assert found.estimate("failure_loop", model="sound").value == 1
    assert found.light == "red"


# -- lies -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("says", "reason", "detail"),
    [
        (blaming(7), "no-such-step", "loop at step 7, which the record"),
        (blaming(1, 99), "no-such-step", "step 99"),
        (blaming(), "no-such-step", "loop at no step"),
        (blaming(1, kind="gremlins"), "unparsed", "gremlins"),
        (lambda item: {"label": "loop"} if item["criterion"] == "failure" else {"mark": 1}, "unparsed", "steps"),
        (
            lambda item: {"label": "loop", "steps": ["two"]} if item["criterion"] == "failure" else {"mark": 1},
            "unparsed",
            "steps",
        ),
    ],
)
def test_a_failure_at_a_step_that_is_not_there_is_no_verdict(says, reason: str, detail: str) -> None:
    found = judged(unmarked(), judge=says)
    faults = found.tables["faults"]
    assert set(faults["unscored"]) == {reason}
    assert (faults["mark"] == "").all()
    assert detail in faults["detail"][0]
    own = found.estimate("failures", model="sound")
    assert (own.value, own.n, own.n_unscored) == (None, 0, 4)
    assert any(f"failure 4 of 4 (4 {reason.replace('-', ' ')})" in note for note in found.notes)
    assert found.estimate("judged_goal_reached", model="sound").n_unscored == 0


def test_marks_off_the_scale_are_no_verdict_and_success_is_unscored_with_the_reason() -> None:
    found = judged(unmarked(), judge=lambda item: {**fine(item), "mark": 5})
    assert set(found.items["unscored"]) == {"unparsed"}
    assert found.estimate("success", model="sound").n_unscored == 4
    assert set(found.tables["verdicts"]["unscored"]) == {"unparsed"}
    assert "gave no verdict" in found.answer.answer


def test_a_model_that_gives_no_json_is_asked_again_and_then_unscored(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    with chat_endpoint(lambda prompt: "It went rather well, I think.") as server:
        found = judged(unmarked(2), judge=server.name)
    assert set(found.tables["faults"]["unscored"]) == {"unparsed"}
    assert len(found.tables["calls"]) == 3 * 2  # nobody was given a policy
    assert found.accounting["unscored"] == {"unparsed": 6}


# -- success by the judge -------------------------------------------------------------------------


def test_without_marks_the_judge_decides_and_the_sentence_names_it() -> None:
    def half(item: dict[str, Any]) -> dict[str, Any]:
        return {**fine(item), "mark": int(item["id"] < "q20")}

    found = judged(unmarked(40), judge=half)
    assert found.parameters["success_by"] == "judge"
    assert found.estimate("success", model="sound").value == pytest.approx(20 / 40)
    assert "decided by the judge function:half" in found.sentence
    assert "as the judge function:half says" in found.answer.answer
    marked = planted_agents.trajectories(40)
    assert judged(marked, judge=half).estimate("success", model="sound").value == 1
    assert judged(marked, judge=half, success_by="judge").estimate("success", model="sound").value == pytest.approx(0.5)


def test_a_lost_mark_stays_lost_beside_a_judge() -> None:
    own = planted_agents.trajectories(4, mark=lambda i: "" if i == 0 else "1")
    found = judged(own, judge=fine)
    assert found.estimate("success", model="sound").n_unscored == 1


# -- criteria and taxonomy ------------------------------------------------------------------------


def test_criteria_of_ones_own_are_figures_and_what_they_lack_is_undefined(tmp_path: Path) -> None:
    path = tmp_path / "criteria.yaml"
    path.write_text(
        "- {name: Kind words, definition: 'Is it kind?', scale: {0: never, 1: hardly, 2: always}}\n"
        "- {name: rules, definition: 'Are rules kept?', scale: {0: never, 1: always}, needs_basis: context}\n"
    )
    found = judged(unmarked(), judge=lambda item: {"label": "no_failure", "steps": []} if item["criterion"] == "failure" else 1,
                   criteria_file=str(path))  # fmt: skip
    assert found.estimate("judged_kind_words", model="sound").value == 0.5
    rules = found.estimate("judged_rules", model="sound")
    assert (rules.value, rules.n_unscored, rules.n_undefined) == (None, 0, 4)
    assert any("without a policy, which are not marked by rules: 4 of 4" in note for note in found.notes)
    tasks = unmarked()["tasks"].assign(policy="Be kind.")
    assert (
        judged({**unmarked(), "tasks": tasks}, judge=lambda item: fine(item), criteria_file=str(path))
        .estimate("judged_rules", model="sound")
        .n
        == 4
    )


def test_calls_are_marked_one_by_one_where_criteria_of_steps_are_given(tmp_path: Path) -> None:
    path = tmp_path / "steps.yaml"
    path.write_text("- {name: needed, definition: 'Is the call needed?', scale: {0: never, 2: always}}\n")
    own = unmarked(4)
    more = own["steps"][own["steps"]["kind"] == "call"].assign(step=9)
    own["steps"] = pd.concat([own["steps"], more])
    asked: list[dict[str, Any]] = []

    def says(item: dict[str, Any]) -> Any:
        asked.append(item)
        if item["step"]:
            return "?" if item["id"].startswith("q00 / sound / step 9") else 2 if item["step"] == "1" else 0
        return fine(item)

    found = judged(own, judge=says, step_criteria_file=str(path))
    table = found.tables["step_verdicts"]
    assert table["id"].tolist()[:2] == ["q00 / sound / step 1", "q00 / sound / step 9"]
    assert table["unscored"].tolist()[:4] == ["", "unparsed", "", ""]
    assert set(table["tool"]) == {"find_parcel"}
    assert found.estimate("judged_calls_needed", model="sound").value == pytest.approx(4 / 7)
    assert any("Calls without a verdict by needed: 1 of 8 (1 unparsed)" in note for note in found.notes)
    assert len(asked) == 8 + 3 * 4  # nobody was given a policy
    shown = trajectories.marked_calls(found)
    assert shown["mark"].tolist() == [0, 0, 0]
    assert shown["tool"].tolist() == ["find_parcel"] * 3
    rows = table.assign(id=table["task"], mark=["2", "", *["0"] * 6])[["id", "model", "criterion", "mark", "step"]]
    again = judged({**own, "verdicts": rows}, judge="recorded", step_criteria_file=str(path))
    assert again.estimate("judged_calls_needed", model="sound").value == pytest.approx(1 / 7)
    assert again.tables["step_verdicts"]["unscored"].tolist()[1] == "not-recorded"
    path.write_text(path.read_text().replace("needed", "goal_reached", 1))
    with pytest.raises(BadInput, match="several criteria are called goal_reached"):
        judged(own, judge=says, step_criteria_file=str(path))


def test_all_faults_of_a_taxonomy_are_one_message_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "kinds.yaml"
    path.write_text(
        "groups:\n"
        "- {name: a, kinds: [{name: x y, definition: d}, {name: X-Y, definition: d}, {name: no failure, definition: d}]}\n"
        "- {name: a, kinds: [{name: '<b>', definition: d}, {name: z}, word]}\n"
        "- {kinds: []}\n"
        "other: 1\n"
    )
    with pytest.raises(BadInput) as caught:
        judged(unmarked(), judge=fine, taxonomy_file=str(path))
    said = str(caught.value)
    for part in (
        "taxonomy_file kinds.yaml: unknown key 'other'",
        "group 2: the name 'a' appears twice",
        "group 2, kind 1: name: expected a text of letters",
        "group 2, kind 2: definition: expected a text",
        "group 2, kind 3: expected name and definition; found str",
        "group 3: name: expected",
        "group 3: kinds: expected a list",
        "the kind 'x_y' appears twice",
        "the kind 'no_failure' is ours",
    ):
        assert part in said
    assert len(caught.value.faults) == 9


def test_a_taxonomy_of_ones_own_is_what_the_judge_tells_apart(tmp_path: Path) -> None:
    path = tmp_path / "kinds.yaml"
    path.write_text("groups:\n- {name: all, kinds: [{name: Late, definition: it came late}]}\n")
    found = judged(unmarked(), judge=blaming(2, kind="LATE"), taxonomy_file=str(path))
    assert set(found.tables["faults"]["mark"]) == {"late"}
    assert found.tables["fault_kinds"]["kind"].tolist() == ["late"]


def test_options_of_a_judge_without_one_and_judges_that_cannot_read_are_refused(tmp_path: Path) -> None:
    criteria = tmp_path / "c.yaml"
    criteria.write_text("- {name: failure, definition: 'Is it so?', scale: {0: never, 1: always}}\n")
    with pytest.raises(BadInput, match="are a judge's") as caught:
        judged(unmarked(), criteria_file=str(criteria), success_by="judge", judge_max_characters=10)
    assert len(caught.value.faults) == 3
    with pytest.raises(BadInput, match="compares texts"):
        judged(unmarked(), judge="baseline/lexical")
    with pytest.raises(BadInput, match="'failure' is ours"):
        judged(unmarked(), judge=fine, criteria_file=str(criteria))
    with pytest.raises(BadInput, match="no table verdicts"):
        judged(unmarked(), judge="recorded")


def test_recorded_verdicts_on_what_is_not_there_are_refused_and_missing_ones_counted() -> None:
    rows = pd.DataFrame(
        {"id": ["q00", "q00"], "criterion": ["goal_reached", "failure"], "mark": ["1.0", "loop"], "step": [None, 2]}
    )
    own = unmarked()
    found = judged({**own, "verdicts": rows.assign(model="sound")}, judge="recorded")
    assert found.tables["verdicts"]["mark"].tolist()[0] == 1
    assert found.tables["faults"]["step"].tolist()[0] == 2
    assert set(found.tables["faults"]["unscored"][1:]) == {"not-recorded"}
    with pytest.raises(BadInput, match="q77: no step and no outcome"):
        judged({**own, "verdicts": rows.assign(model="sound", id="q77")}, judge="recorded")


# -- labels, audit, blames, replay ----------------------------------------------------------------


def test_labels_of_people_correct_the_judge(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    pd.DataFrame(
        {"id": planted_agents.ids(40), "mark": [0] * 20 + [1] * 20, "annotator": "ann", "criterion": "goal_reached"}
    ).to_csv(path, index=False)
    found = judged(planted_agents.trajectories(40), judge=fine, labels=str(path))
    own = found.estimate("judged_goal_reached_corrected", model="sound")
    assert (own.value, own.n_labels) == (pytest.approx(0.5), 40)
    assert found.estimate("judged_goal_reached", model="sound").value == 1


def test_the_audit_of_judges_reads_both_unmarked(desk: Result, tmp_path: Path) -> None:
    for table, criterion in (("verdicts", "goal_reached"), ("faults", "failure")):
        own = desk.tables[table][desk.tables[table]["criterion"] == criterion]
        own.to_parquet(tmp_path / "verdicts.parquet")
        own[[*KEYS, "criterion", "mark"]].assign(annotator="ann").to_csv(tmp_path / "labels.csv", index=False)
        data = load(tmp_path / "verdicts.parquet", study="judge_audit", labels=tmp_path / "labels.csv")
        found = judge_audit.evaluate(data, n_resamples=50)
        kappa = next(e for e in found.summary.estimates if "kappa" in e.metric and e.value is not None)
        assert kappa.value == pytest.approx(1)
        if table == "faults":
            assert len(found.tables["kinds"]) == 8


def test_a_judge_that_is_asked_now_is_held_against_the_blames_of_people() -> None:
    own = unmarked(20)
    people = pd.DataFrame(
        {
            "id": planted_agents.ids(20),
            "model": "sound",
            "step": 2,
            "agent": "",
            "kind": ["Loop", "made up"] * 10,
            "annotator": "ann",
        }
    )
    found = judged({**own, "blames": people}, judge=blaming(2))
    table = found.tables["blamed"].set_index("what")
    assert table["value"]["the step"] == 1
    assert table["chance"]["the step"] == pytest.approx(1 / 4)
    assert (table["value"]["the kind of failure"], table["chance"]["the kind of failure"]) == (0.5, 0.5)
    assert set(table["judge"]) == {"function:says"}
    kinds = found.tables["blamed_kinds"].set_index("kind")
    assert (kinds["people"]["loop"], kinds["judged"]["loop"], kinds["both"]["loop"]) == (10, 20, 10)
    silent = judged({**own, "blames": people}, judge=fine).tables["blamed"].set_index("what")
    assert (silent["value"]["the step"], silent["n"]["the step"], silent["value"]["the kind of failure"]) == (0, 20, 0)
    twice = pd.concat([people.assign(judge=""), people.assign(annotator="", judge="function:fine")])
    with pytest.raises(BadInput, match="function:fine has blames in the table"):
        judged({**own, "blames": twice}, judge=fine)


def test_verdicts_of_an_earlier_run_are_replayed_from_its_calls(tmp_path: Path) -> None:
    def says(item: dict[str, Any]) -> dict[str, Any]:
        odd = int(item["id"][1:3]) % 2
        return (
            {"label": "loop" if odd else "no_failure", "steps": [2] * odd}
            if item["criterion"] == "failure"
            else {"mark": odd}
        )

    own = unmarked(6)
    first = judged(own, judge=says)
    record(first, out=tmp_path / "run")
    again = judged(own, judge=f"recorded:{tmp_path / 'run' / 'calls.parquet'}")
    for table in ("verdicts", "faults"):
        columns = ["id", "criterion", "mark", "unscored"]
        assert again.tables[table][columns].equals(first.tables[table][columns])
    assert again.tables["faults"]["step"].equals(first.tables["faults"]["step"])
    assert np.array_equal(again.items["success"], first.items["success"])
