"""The study of dialogue lengths: worked examples, the boundaries of the light, sessions that are not as they should be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from said_in_turns import result_of, turns
from scipy import stats

from evalbench import dialogue, load
from evalbench.draw.show import shown
from evalbench.errors import BadInput
from evalbench.kit.collecting import UNNAMED


def means(tenths: int) -> dict[str, int]:
    """Ten sessions whose mean length is so many tenths."""
    return {f"s{i}": tenths // 10 + (i < tenths % 10) for i in range(10)}


# -- figures --------------------------------------------------------------------------------------


def test_a_worked_example():
    outcome = {"a": 1, "b": 1, "c": 0, "d": None}
    found = result_of(turns({"a": 1, "b": 3, "c": 6, "d": 2}, resolved=outcome), n_resamples=2000)
    values = {e.metric: (e.value, e.n) for e in found.summary.estimates}
    assert values == {
        "answers": (3.0, 4),
        "resolved": (pytest.approx(2 / 3), 3),
        "answers_resolved": (2.0, 2),
        "answers_abandoned": (6.0, 1),
    }
    assert (
        "On average resolved sessions 2.00, abandoned sessions 6.00 (67% resolved, 1 of unknown end)." in found.sentence
    )


@pytest.mark.parametrize(
    ("tenths", "goal", "discussion"),
    [
        (29, "green", "red"), (30, "yellow", "yellow"), (31, "yellow", "yellow"),
        (49, "yellow", "yellow"), (50, "yellow", "yellow"), (51, "red", "green"),
    ],
)  # fmt: skip
def test_the_boundaries_of_the_light_and_their_neighbours(tenths, goal, discussion):
    frame = turns(means(tenths))
    assert result_of(frame).light == goal
    assert result_of(frame, orientation="discussion").light == discussion


def test_a_value_at_a_threshold_of_ones_own_takes_the_better_light():
    frame = turns(means(40))
    own = {"answers": {"green_to": 4, "yellow_to": 6}}
    assert result_of(frame, lights=own).light == "green"
    own = {"answers": {"green_from": 4, "yellow_from": 2}}
    assert result_of(frame, lights=own, orientation="discussion").light == "green"


def test_sessions_that_were_given_up_do_not_make_a_goal_green():
    lengths = {f"r{i}": 6 for i in range(10)} | {f"a{i}": 1 for i in range(30)}
    found = result_of(turns(lengths, resolved={name: int(name[0] == "r") for name in lengths}))
    assert found.estimate("answers", model=UNNAMED).light == "green"
    assert found.light == "red"
    assert "Answers per resolved session 6.00" in found.sentence
    assert "30 of 40 were not resolved, or their end is not known." in found.sentence
    assert result_of(turns(lengths, resolved=0)).sentence.startswith("Share of resolved sessions 0.00")
    none = result_of(turns(lengths, resolved=0), resolved_floor=0)
    assert (none.light, "no session was resolved" in none.sentence) == ("grey", True)
    assert result_of(turns(lengths)).light == "green"
    assert "is not known, so a short one may have been given up" in result_of(turns(lengths)).sentence


def test_weeks_are_those_of_the_time_zone_and_students_intervals():
    lengths = {"a": 1, "b": 2, "c": 4, "d": 3}
    time = {"a": "2026-03-01T23:30:00Z", "b": "2026-03-02T08:00:00", "c": "2026-03-03T08:00:00+05:00", "d": None}
    frame = turns(lengths, time=time)
    found = result_of(frame)
    assert found.items["week"].tolist() == ["2026-W09", "2026-W10", "2026-W10", ""]
    moscow = result_of(frame, time_zone="Europe/Moscow")
    assert moscow.items["week"].tolist() == ["2026-W10", "2026-W10", "2026-W10", ""]
    week = found.tables["weeks"].iloc[1]
    low, high = stats.t.interval(0.95, 1, loc=3, scale=stats.sem([2, 4]))
    assert (week["mean"], week["low"], week["high"]) == pytest.approx((3, max(low, 0), high))
    assert any("Sessions without a time, which are in no week: 1 of 4" in note for note in found.notes)
    with pytest.raises(BadInput, match="'Mars/North' is not a time zone"):
        result_of(frame, time_zone="Mars/North")


def test_times_of_no_calendar_are_refused():
    with pytest.raises(BadInput, match="2 times in column time are not of the years 2 to 9998"):
        result_of(turns({"a": 1}, time="-001"))


def test_the_planted_week_is_found_and_no_other():
    found = dialogue.evaluate(load("dialogues@1.1.0", study="dialogue"), n_resamples=50)
    shown = found.tables["weeks"].query("p_holm <= 0.05")
    assert set(shown["week"]) == {"2026-W14"}
    assert (shown["difference"] > 2).all()
    outcomes = dialogue.outcomes(found).set_index(["model", "end"])["mean answers"]
    assert all(outcomes[m, "resolved"] < outcomes[m, "abandoned"] for m in ("fern-1b", "oak-7b"))


def test_weeks_without_a_difference_are_seldom_shown():
    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(40):
        items = pd.DataFrame({"model": "m", "week": [f"2026-W{10 + i % 8}" for i in range(160)]})
        items["answers"] = rng.poisson(2, 160) + 1.0
        alarms += bool((dialogue.weeks_of(items, "goal", {})["p_holm"] <= 0.05).any())
    assert alarms <= 6  # 2 expected


# -- sessions that are not as they should be ------------------------------------------------------


def test_the_order_of_rows_is_that_of_the_turns_and_times_that_go_back_are_noted():
    frame = turns({"a": 2}).assign(
        time=["2026-03-02T08:00", "2026-03-02T07:00", "2026-03-02T09:00", "2026-03-02T10:00"]
    )
    found = result_of(frame.iloc[::-1])
    assert found.tables["turns"]["turn"].tolist() == [1, 2, 3, 4]
    assert "Sessions whose times go back although their turns go on; the turns' numbers count: 1." in found.notes


def test_a_session_without_an_answer_is_in_no_mean():
    frame = pd.concat([turns({"a": 2, "b": 4}), pd.DataFrame({"session_id": ["c"], "turn": [1], "role": ["user"]})])
    found = result_of(frame, max_unscored=0.5)
    assert (found.estimate("answers", model=UNNAMED).value, found.n_unscored) == (3.0, 1)
    assert "1 of 3 could not be scored (1 no output)" in found.sentence
    assert result_of(frame).light == "grey"


def test_without_any_answer_the_light_is_grey():
    frame = turns({"a": 2, "b": 3}).assign(text=lambda f: f["role"].map({"user": "And now?"}))
    found = result_of(frame)
    assert found.light == "grey"
    assert found.estimate("answers", model=UNNAMED).value is None
    assert any("(null), such as calls of tools, which are not answers: 5" in note for note in found.notes)


def test_a_text_that_is_null_is_no_answer_and_an_empty_one_is():
    frame = turns({"a": 3}).assign(text=["?", None, "?", "", "?", "Yes."])
    assert result_of(frame).estimate("answers", model=UNNAMED).value == 2
    only = result_of(turns({"a": 3}).assign(text=None))
    assert only.estimate("answers", model=UNNAMED).value == 3
    assert "The column text is empty throughout and was not read." in only.notes


def test_rows_written_twice_count_once_and_different_rows_at_one_place_are_refused():
    frame = turns({"a": 2, "b": 1}).assign(text="x")
    twice = result_of(pd.concat([frame, frame.iloc[[1, 3]]]))
    assert twice.items["answers"].tolist() == [2, 1]
    assert "Rows that repeat another one and were left out: 2." in twice.notes
    with pytest.raises(BadInput) as caught:
        result_of(pd.concat([frame, frame.iloc[[1, 3]].assign(text="y")]))
    assert list(caught.value.faults) == ["session a, turn 2, role assistant", "session a, turn 4, role assistant"]
    # One number for a question and its answer is no fault.
    paired = frame.assign(turn=(frame["turn"] + 1) // 2)
    assert result_of(paired).items["answers"].tolist() == [2, 1]


def test_turns_without_numbers_are_in_the_order_of_times_or_rows():
    frame = turns({"a": 2})
    assert "Turns have no numbers; their order is that of the rows." in result_of(frame.drop(columns="turn")).notes
    timed = frame.drop(columns="turn").assign(time=pd.date_range("2026-03-02", periods=4, tz="UTC").astype(str))
    found = result_of(timed.iloc[::-1])
    assert found.tables["turns"]["role"].tolist() == ["user", "assistant"] * 2
    assert "Turns have no numbers; their order is that of times." in found.notes


def test_roles_are_guessed_with_a_note_named_or_refused():
    frame = turns({"a": 2})
    named = frame.assign(role=frame["role"].map({"user": "Клиент", "assistant": "Оператор"}))
    with pytest.raises(BadInput, match=r"no role is known as the model's; there are Клиент \(2\), Оператор \(2\)"):
        result_of(named)
    found = result_of(named, model_roles=["оператор"])
    assert found.items["answers"].tolist() == [2]
    assert not any("by their names" in note for note in found.notes)
    assert any("turns of the role assistant; model_roles says otherwise" in note for note in result_of(frame).notes)
    with pytest.raises(BadInput) as caught:
        result_of(frame, model_roles=["robot", "user"], user_roles=["user"])
    assert list(caught.value.faults) == [
        "role 'user' is named as the model's and as the user's", "no turn has the role 'robot'",
    ]  # fmt: skip
    three = pd.concat([frame, pd.DataFrame({"session_id": ["a"], "turn": [5], "role": ["operator"]})])
    assert any("so not counted: turns of the role operator (1)" in note for note in result_of(three).notes)


def test_gaps_answers_in_a_row_and_outcomes_that_differ_are_noted():
    frame = turns({"a": 2}).assign(resolved=[1, None, None, 0]).iloc[[0, 1, 3]]
    found = result_of(frame)
    assert found.items["resolved"].tolist() == [0]
    said = " ".join(found.notes)
    assert "Sessions that lack numbers between their turns, so that answers may be missing: 1." in said
    assert "Sessions in which answers follow each other without a user's turn; each counts: 1." in said
    assert "Sessions whose rows differ in resolved; the last one's counts: 1." in said


def test_a_user_turn_belongs_to_the_only_model_of_its_session():
    frame = turns({"a": 2, "b": 1})
    frame["model"] = ["", "fern", None, "fern", "", "oak"]
    found = result_of(frame)
    assert found.items[["session_id", "model", "turns"]].values.tolist() == [["a", "fern", 4], ["b", "oak", 2]]
    frame.loc[3, "model"] = "oak"
    both = result_of(frame)
    assert both.items["answers"].tolist() == [1, 1, 1]
    assert "Sessions with several models, in which each has its own answers: 1." in both.notes


def test_models_with_sessions_of_their_own_are_independent_samples():
    lengths = {f"f{i}": 1 + i % 2 for i in range(30)} | {f"o{i}": 5 + i % 3 for i in range(30)}
    frame = turns(lengths, model={name: {"f": "fern", "o": "oak"}[name[0]] for name in lengths})
    found = result_of(frame)
    row = found.tables["comparisons"].iloc[0]
    assert (row["model_a"], row["outcome"]) == ("fern", "better")
    assert row["difference"] == pytest.approx(-4.5)
    assert "Models are compared as independent samples of sessions." in found.method


def test_a_log_with_content_and_created_at_is_read_and_its_calls_of_tools_are_not_answers():
    frame = pd.DataFrame(
        {
            "session_id": "a",
            "role": ["user", "assistant", "assistant"],
            "content": ["Is it open?", None, "Yes."],
            "created_at": ["2026-03-02T10:00:00Z", "2026-03-02T10:00:01Z", "2026-03-02T10:00:02Z"],
        }
    )
    result = result_of(frame)
    assert result.items["answers"].tolist() == [1]
    assert len(result.tables["weeks"]) == 1
    notes = " ".join(result.notes)
    assert "column content was read as text" in notes
    assert "column created_at was read as time" in notes


def test_sessions_that_list_their_messages_are_read_as_they_are():
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    frame = pd.DataFrame({"id": ["a", "b"], "resolved": [1, 0], "messages": [said, said * 2]})
    found = result_of(frame)
    assert found.items["answers"].tolist() == [1, 2]
    assert found.items["resolved"].tolist() == [1, 0]
    shared = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]
    assert result_of(pd.DataFrame({"conversations": [shared]})).items["answers"].tolist() == [1]


def test_thresholds_that_are_no_rule_are_refused_all_at_once():
    frame = turns({"a": 2, "b": 1})
    own = {
        "answers": {"green_from": 1, "yellow_from": 0},
        "answers_abandoned": {"green_to": 1, "yellow_to": 2},
        "length": {},
    }
    with pytest.raises(BadInput) as caught:
        result_of(frame, lights=own, orientation="gaol", time_zone="Nowhere")
    assert len(caught.value.faults) == 2
    with pytest.raises(BadInput) as caught:
        result_of(frame, lights=own)
    said = "\n".join(caught.value.faults)
    assert "answers: less is better, so its thresholds are green_to and yellow_to" in said
    assert "answers_abandoned: no light" in said
    assert "lights must be one of answers, resolved" in said


def test_lengths_is_the_kernel():
    names, counts = dialogue.lengths(["b", "a", "b"], [True, False, True])
    assert (names.tolist(), counts.tolist()) == (["a", "b"], [0, 2])


def test_the_script_writes_the_sample(script, root, tmp_path, monkeypatch, capsys):
    module = script("make_dialogues")
    monkeypatch.setattr(module, "OUT", tmp_path)
    module.main()
    kept = root / "data" / "dialogues" / "1.1.0"
    assert all((tmp_path / p.name).read_bytes() == p.read_bytes() for p in kept.iterdir())


@pytest.mark.parametrize(
    ("orientation", "said"),
    [
        ("goal", "Judged as sessions with a goal, where fewer answers are better; orientation=discussion judges"),
        ("discussion", "Judged as discussions, where more answers are better; orientation=goal judges"),
    ],
)
@pytest.mark.parametrize("resolved", [None, {"a": 1, "b": 0}])
def test_the_sentence_says_which_orientation_was_assumed_and_what_changes_it(orientation, said, resolved):
    found = result_of(turns({"a": 4, "b": 4}, resolved=resolved), orientation=orientation)
    assert said in found.sentence


def test_the_unit_is_not_repeated_beside_the_name_of_a_figure():
    page = shown(result_of(turns({"a": 4, "b": 2}))).html
    assert "answers, lower is better" in page
    assert "answers, answers" not in page


def test_a_table_without_models_names_none():
    found = result_of(turns({"a": 4, "b": 2}))
    assert found.judged == "a model that the table does not name"
    assert "(model not named)" in found.sentence


def test_faults_keep_their_heading_beside_others() -> None:
    rows = [{"session_id": i, "role": r, "time": "0001-01-01"} for i in ("a", "") for r in ("user", "assistant")]
    with pytest.raises(BadInput) as caught:
        load(pd.DataFrame(rows), study="dialogue")
    assert "2 times in column time are not of the years 2 to 9998: session a" in caught.value.faults


def test_turns_that_all_have_one_number_are_in_the_order_of_the_rows():
    frame = turns({"a": 2, "b": 3}).assign(turn=1, text=[f"said {i}" for i in range(10)])
    found = result_of(frame)
    assert found.items["answers"].tolist() == [2, 3]
    assert "All turns have the number 1; their order is that of the rows." in found.notes
