"""Trajectories of agents in small tables, worked by hand; bad tables refused at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import planted_agents
import pytest
from judged_agents import judged, steps

from evalbench import load
from evalbench.errors import BadInput
from evalbench.studies import trajectories

# -- small tables ---------------------------------------------------------------------------------


def test_steps_alone_are_counted_and_their_success_is_unscored() -> None:
    found = judged({"steps": steps(("a", 1, "call", "find"), ("b", 1, "call", "find"))})
    success = found.estimate("success", model="model not named")
    assert (success.value, success.n, success.n_unscored) == (None, 0, 2)
    assert found.estimate("calls", model="model not named").value == 1
    assert "call_recall" not in {e.metric for e in found.summary.estimates}
    assert "not known" in found.answer.answer


def test_expected_calls_decide_where_that_is_asked_for() -> None:
    tasks = pd.DataFrame(
        {"id": ["a", "b", "c"], "expected": [[{"name": "find"}], [{"name": "pay", "arguments": {"n": 1}}], None]}
    )
    rows = steps(("a", 1, "call", "find"), ("b", 1, "call", "pay", '{"n": 1.0}'), ("c", 1, "call", "pay"))
    found = judged({"steps": rows, "tasks": tasks}, success_by="calls")
    assert found.items["success"].tolist()[:2] == [1, 1]
    assert np.isnan(found.items["success"][2])
    assert found.items["undefined"].tolist() == ["", "", "no-reference"]
    assert found.items["unscored"].tolist() == ["", "", ""]


def test_results_belong_to_their_calls_by_identifier_and_else_by_order() -> None:
    rows = steps(
        ("a", 1, "call", "find"), ("a", 2, "call", "pay"), ("a", 3, "result", "pay", "", "", "no money"), ("a", 4, "result", "find", "", "here")
    )  # fmt: skip
    by_order = judged({"steps": rows}).tables["tool_calls"]
    assert by_order["error"].tolist() == ["no money", ""]
    by_id = judged({"steps": rows.assign(call_id=["x", "y", "y", "x"])}).tables["tool_calls"]
    assert by_id["error"].tolist() == ["", "no money"]


def test_arguments_that_cannot_be_read_match_nothing_and_are_counted() -> None:
    tasks = pd.DataFrame({"id": ["a", "b"], "expected": [[{"name": "find", "arguments": {}}]] * 2})
    rows = steps(("a", 1, "call", "find", "{"), ("b", 1, "call", "find", ""))
    found = judged({"steps": rows, "tasks": tasks})
    assert found.tables["tool_calls"]["look"].tolist() == ["wrong arguments", "right"]
    assert any("cannot be read: 1 of 2" in note for note in found.notes)


def test_arguments_are_read_as_text_and_as_objects_also_with_half_characters(tmp_path: Path) -> None:
    tasks = [{"id": i, "expected": [{"name": "find", "arguments": {"x": "é", "n": 1}}]} for i in "ab"]
    rows = [
        {"id": "a", "step": 1, "kind": "call", "name": "find", "arguments": {"n": 1.0, "x": "é"}},
        {"id": "a", "step": 2, "kind": "call", "name": "find", "arguments": '{"x": "\\ud800"}'},
        {"id": "b", "step": 1, "kind": "call", "name": "find", "arguments": '{"x": "\\u00e9", "n": 1}'},
    ]
    for name, own in (
        ("steps", rows),
        ("tasks", tasks),
        ("outcomes", [{"id": "a", "mark": 0}, {"id": "b", "mark": 1}]),
    ):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own), encoding="utf-8")
    found = trajectories.evaluate(load(tmp_path, study="trajectories"), n_resamples=50)
    assert found.tables["tool_calls"]["look"].tolist() == ["right", "extra", "right"]
    for table in found.tables.values():
        table.to_parquet(tmp_path / "table.parquet")


def test_ignored_arguments_and_similar_texts_count_as_equal() -> None:
    tasks = pd.DataFrame(
        {"id": ["a"], "expected": [[{"name": "note", "arguments": {"text": "Parcel is late", "by": "x"}}]]}
    )
    frames = {"steps": steps(("a", 1, "call", "note", '{"text": "parcel is late.", "by": "y"}')), "tasks": tasks}

    def right(**options: Any) -> bool:
        return bool(judged(frames, **options).tables["tool_calls"]["matched"][0])

    assert not right()
    assert not right(ignore_arguments=["by"])
    assert not right(argument_similarity=0.9)
    assert right(ignore_arguments=["by"], argument_similarity=0.9)


def test_the_given_order_of_calls_counts_where_a_task_says_so() -> None:
    expected = [[{"name": "find"}, {"name": "pay"}]] * 3
    tasks = pd.DataFrame({"id": ["a", "b", "c"], "expected": expected, "order": ["given", "given", "any"]})
    rows = steps(
        ("a", 1, "call", "find"), ("a", 2, "call", "pay"), ("b", 1, "call", "pay"), ("b", 2, "call", "find"), ("c", 1, "call", "pay")
    )  # fmt: skip
    found = judged({"steps": rows, "tasks": tasks}).items["ordered"].tolist()
    assert found[:2] == [1, 0]
    assert np.isnan(found[2])


def test_many_trajectories_ended_from_outside_make_a_light_grey() -> None:
    own = planted_agents.trajectories()
    lit = {"lights": {"success": {"green_from": 0.8, "yellow_from": 0.5}}}
    ended = steps(*((f"q{i:02}", 9, "note", "limit") for i in range(3)), model="sound")
    assert judged(own, **lit).light == "green"
    found = judged({**own, "steps": pd.concat([own["steps"], ended]).fillna("")}, **lit)
    assert found.light == "grey"
    assert "ended by limits" in found.sentence


def test_equal_trials_are_said_to_be_no_further_trials() -> None:
    own = planted_agents.trajectories()
    frames = {
        name: pd.concat([frame.assign(trial=t) for t in "12"]) if name != "tasks" else frame
        for name, frame in own.items()
    }
    assert "80 of 80 trajectories are, step by step, the same as another trial" in judged(frames).sentence
    other = frames["steps"].assign(text=frames["steps"]["text"] + frames["steps"]["trial"])
    assert "step by step" not in judged({**frames, "steps": other}).sentence


def test_marks_are_read_as_numbers_and_words_in_either_table() -> None:
    rows = steps(("a", 1, "message"), ("b", 1, "message"), ("c", 1, "message"), ("d", 1, "message"))
    marked = judged({"steps": rows.assign(mark=["yes", "0", None, "0.5"])})
    beside = judged(
        {"steps": rows, "outcomes": pd.DataFrame({"id": list("abcd"), "mark": ["passed", "failed", "", "0.5"]})}
    )
    for found in (marked, beside):
        assert found.items["success"].tolist()[:2] == [1, 0]
        assert found.items["unscored"].tolist() == ["", "", "no-value", ""]
        assert found.items["success"][3] == 0
    assert judged({"steps": rows.assign(mark=["yes", "0", None, "0.5"])}, success_from=0.5).items["success"][3] == 1


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        ({"steps": steps(("a", 1, "call", ""))}, "1 call without a name, row 1"),
        ({"steps": steps(("a", 1, "shout"))}, "one of message, call, result, handover, note"),
        ({"steps": steps(("a", 1, "note"), ("a", 1, "note"))}, "duplicated together"),
        (
            {"steps": steps(("a", 1, "note")), "tasks": pd.DataFrame({"id": ["a"], "expected": [[{"arguments": {}}]]})},
            "expected of id a",
        ),
        (
            {"steps": steps(("a", 1, "note")), "tasks": pd.DataFrame({"id": ["a"], "forbidden": [[1]]})},
            "forbidden of id a",
        ),
        ({"steps": steps(("a", 1, "note"), ("a", 2, "note")).assign(mark=["1", "0"])}, "1 trajectory with several"),
        (
            {"steps": steps(("a", 1, "note"), mark="1"), "outcomes": pd.DataFrame({"id": ["a"], "mark": ["0"]})},
            "one mark in steps and another in outcomes",
        ),
        (
            {"steps": steps(("a", 1, "note")), "outcomes": pd.DataFrame({"id": ["a"], "trial": ["1"], "mark": ["1"]})},
            "steps lacks the column trial of outcomes",
        ),
        ({"steps": steps(("a", 1, "note")), "outcomes": pd.DataFrame({"id": ["a"], "mark": ["perhaps"]})}, "perhaps"),
    ],
)
def test_bad_tables_are_refused_with_their_place(frames: dict[str, pd.DataFrame], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        judged(frames)


def test_all_faults_of_the_tables_are_in_one_message() -> None:
    tasks = pd.DataFrame({"id": ["a"], "expected": [["find"]], "forbidden": [{"x": 1}]})
    with pytest.raises(BadInput) as caught:
        judged({"steps": steps(("a", 1, "call", "")), "tasks": tasks})
    assert len(caught.value.faults) == 3


def test_figures_that_do_not_exist_and_lights_that_are_no_rule_are_refused() -> None:
    with pytest.raises(BadInput) as caught:
        judged(
            {"steps": steps(("a", 1, "note"))},
            figures=["sucess"],
            lights={"success": {"green_from": 2, "yellow_from": 0}},
            k=-1,
        )
    assert len(caught.value.faults) == 3


# -- requirements and faults ----------------------------------------------------------------------


def required(*rows: tuple[str, str, Any, list[str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["id", "requirement", "met", "needs"])


def test_a_requirement_counts_with_what_it_needs_and_a_task_with_all() -> None:
    listed = required(
        ("a", "x", 0, []), ("a", "y", 1, ["x"]), ("a", "z", 1, []), ("b", "x", 1, []), ("c", "x", None, [])
    )
    rows = steps(("a", 1, "note"), ("b", 1, "note"), ("c", 1, "note"), ("d", 1, "note"))
    found = judged({"steps": rows, "requirements": listed}, success_by="requirements")
    assert found.estimate("requirements_met", model="model not named").value == 3 / 4
    assert found.estimate("requirements_met_with_needs", model="model not named").value == 2 / 4
    assert found.items["success"].tolist()[:2] == [0, 1]
    assert found.items["unscored"].tolist() == ["", "", "no-value", ""]
    assert found.items["undefined"].tolist() == ["", "", "", "no-reference"]


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        (required(("a", "x", 1, ["y"])), "a: requirements that are needed and do not exist: y"),
        (required(("a", "x", 1, ["y"]), ("a", "y", 1, ["x"])), "a: requirements need each other in a circle"),
        (required(("b", "x", 1, [])), "b: no step and no outcome"),
        (required(("a", "x", 1, ["x", 7])), "needs of a: not a list of names"),
    ],
)
def test_faulty_requirements_are_refused(listed: pd.DataFrame, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        judged({"steps": steps(("a", 1, "note")), "requirements": listed})


def test_success_is_also_given_without_what_others_are_to_blame_for_and_no_light_rests_on_it() -> None:
    own = planted_agents.trajectories(mark=lambda i: "0" if i < 10 else "1")
    blamed = own["outcomes"].assign(fault=["grader"] * 5 + ["agent"] * 5 + [""] * 30)
    found = judged({**own, "outcomes": blamed})
    assert found.estimate("success", model="sound").value == 30 / 40
    cleaned = found.estimate("success_without_others_faults", model="sound")
    assert (cleaned.value, cleaned.n) == (30 / 35, 35)
    with pytest.raises(BadInput, match="lights must be one of"):
        judged(own, lights={"success_without_others_faults": {"green_from": 0.8, "yellow_from": 0.5}})


# -- blames ---------------------------------------------------------------------------------------

SPEAKERS = ("planner", "coder", "critic")


def blaming(*rows: tuple[Any, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["id", "step", "agent", "kind", "annotator", "judge"])


def talks(sizes: dict[str, int]) -> pd.DataFrame:
    """Trajectories of so many steps, in which the speakers take turns; steps are numbered by tens."""
    rows = [
        {"id": task, "step": 10 * i, "kind": "message", "role": SPEAKERS[i % 3], "text": f"{task} {i}"}
        for task, n in sizes.items()
        for i in range(n)
    ]
    return pd.DataFrame(rows)


def test_a_judge_is_held_against_people_beside_chance() -> None:
    blames = blaming(
        ("a", 20, "critic", "plan", "ann", ""), ("a", 30, "Critic", "plan", "", "late"),
        ("b", 0, "planner", "plan", "ann", ""), ("b", 30, "planner", "end", "", "late"),
    )  # fmt: skip
    found = judged({"steps": talks({"a": 5, "b": 4}), "blames": blames}).tables["blamed"].set_index("what")
    assert found["value"].tolist() == [1, 0, 0.5, 1]
    by_hand = [1 / 3, (1 / 5 + 1 / 4) / 2, (3 / 5 + 2 / 4) / 2, (5 / 5 + 4 / 4) / 2]
    assert found["chance"].tolist() == pytest.approx(by_hand)
    assert (found["n"] == 2).all()


def test_a_judge_that_always_names_the_last_step_has_what_a_script_counts() -> None:
    draw = np.random.default_rng(3)
    sizes = {f"t{i:02}": int(draw.integers(2, 9)) for i in range(40)}
    true = {task: int(draw.integers(0, n)) for task, n in sizes.items()}
    people = [(task, 10 * at, SPEAKERS[at % 3], "", "ann", "") for task, at in true.items()]
    last = [(task, 10 * (n - 1), SPEAKERS[(n - 1) % 3], "", "", "last") for task, n in sizes.items()]
    found = judged({"steps": talks(sizes), "blames": blaming(*people, *last)}).tables["blamed"].set_index("what")
    for what, width in (("the step", 0), ("the step, within 1", 1), ("the step, within 3", 3)):
        assert found["value"][what] == np.mean([n - 1 - true[t] <= width for t, n in sizes.items()])
        hits = [np.mean([abs(i - true[t]) <= width for i in range(n)]) for t, n in sizes.items()]
        assert found["chance"][what] == pytest.approx(np.mean(hits))
    assert found["value"]["the agent"] == np.mean([true[t] % 3 == (n - 1) % 3 for t, n in sizes.items()])
    assert found["chance"]["the agent"] == pytest.approx(np.mean([1 / min(n, 3) for n in sizes.values()]))


def test_kinds_that_people_name_rarely_are_too_rare_to_say() -> None:
    sizes = {f"t{i:02}": 3 for i in range(20)}
    people = [(t, 0, "", "plan" if i < 15 else "end", "ann", "") for i, t in enumerate(sizes)]
    judge = [(t, 0, "", "plan" if i < 12 else "end", "", "j") for i, t in enumerate(sizes)]
    found = judged({"steps": talks(sizes), "blames": blaming(*people, *judge)}).tables["blamed_kinds"].set_index("kind")
    assert found.loc["plan", ["people", "judged", "both", "note"]].tolist() == [15, 12, 12, ""]
    assert found["f1"]["plan"] == 24 / 27
    assert found["kappa"]["plan"] == pytest.approx((0.85 - 0.55) / 0.45)
    assert found["note"]["end"] == "too rare to say"
    assert np.isnan(found["f1"]["end"])


def test_trajectories_that_people_blame_differently_are_left_out_and_counted() -> None:
    blames = blaming(
        ("a", 0, "", "", "ann", ""), ("a", 0, "", "", "", "j"), ("b", 0, "", "", "ann", ""), ("b", 10, "", "", "bob", ""), ("b", 0, "", "", "", "j"),
        ("c", 0, "", "", "ann", ""),
    )  # fmt: skip
    result = judged({"steps": talks({"a": 2, "b": 2, "c": 2}), "blames": blames})
    table = result.tables["blamed"].set_index("what")
    assert table.loc["the step", ["n", "of"]].tolist() == [1, 2]
    assert any(
        note.startswith("People blame different agents or steps in 1 of 3 trajectories") for note in result.notes
    )


def test_agents_that_go_by_the_names_of_their_messages_are_those_of_chance() -> None:
    steps = talks({"a": 3, "b": 3}).assign(name=["planner", "coder", "tester"] * 2, role="assistant")
    blames = blaming(
        ("a", 10, "coder", "", "ann", ""), ("a", 10, "coder", "", "", "j"), ("b", 0, "nobody", "", "ann", ""), ("b", 0, "nobody", "", "", "j")
    )  # fmt: skip
    table = judged({"steps": steps, "blames": blames}).tables["blamed"].set_index("what")
    assert table.loc["the agent", "chance"] == pytest.approx(1 / 3)


def test_faulty_blames_are_refused_all_at_once() -> None:
    blames = blaming(
        ("a", 5, "", "", "ann", ""), ("x", 0, "", "", "ann", ""), ("b", 0, "", "", "ann", "j"), ("c", 0, "", "", "ann", "")
    )  # fmt: skip
    with pytest.raises(BadInput) as caught:
        judged({"steps": talks({"a": 2, "b": 2, "c": 2}), "blames": blames})
    assert list(caught.value.faults) == [
        "x: no step and no outcome",
        "a: there is no step 5",
        "b: needs either a judge or an annotator",
    ]


# -- kinds and numbers of steps, marks and results that need a word ---------------------------------------


def test_kinds_in_other_words_are_read_and_all_unknown_ones_are_named_at_once() -> None:
    rows = steps(
        ("a", 1, "user msg", "", "", "Pay 40."), ("a", 2, "tool call", "pay"), ("a", 3, "tool result", "pay"), ("a", 4, "agent msg", "", "", "Paid 77.")
    )  # fmt: skip
    found = judged({"steps": rows})
    assert found.tables["steps"]["kind"].tolist() == ["message", "call", "result", "message"]
    assert found.tables["ungrounded"]["claim"].tolist() == ["77"]
    with pytest.raises(BadInput, match="found dance, sing"):
        judged({"steps": steps(("a", 1, "dance"), ("a", 2, "call", "pay"), ("a", 3, "sing"), ("a", 4, "dance"))})


def test_step_numbers_that_appear_twice_are_not_taken_for_trials() -> None:
    twice = steps(("a", 1, "call", "find"), ("a", 2, "result", "find"), ("a", 2, "result", "find")).assign(model="M")
    with pytest.raises(
        BadInput, match="a number of step appears twice: give each row of the same id and model its own"
    ):
        judged({"steps": twice})
    again = steps(("a", 1, "call", "find"), ("a", 1, "call", "find"), ("a", 2, "note")).assign(model="M")
    with pytest.raises(BadInput, match="a column trial would tell them apart"):
        judged({"steps": again})


def test_marks_between_0_and_1_that_are_no_success_are_counted_in_a_note() -> None:
    rows = pd.concat(
        [steps((i, 1, "call", "find"), mark=mark) for i, mark in zip("abc", ("0.95", "0", "1"), strict=True)]
    )
    said = "1 of 3 marks lies between 0 and 1 and counts as not reached (success_from=1)."
    assert said in judged({"steps": rows}).notes
    assert said not in judged({"steps": rows}, success_from=0.9).notes


def test_results_that_belong_to_no_call_are_counted_in_a_note() -> None:
    rows = steps(("a", 1, "call", "find"), ("a", 2, "result", "find"), ("a", 3, "result", "find"))
    assert any(note.startswith("Results that belong to no call: 1 of 2") for note in judged({"steps": rows}).notes)
    assert not any("belong to no call" in note for note in judged({"steps": rows[:2]}).notes)
