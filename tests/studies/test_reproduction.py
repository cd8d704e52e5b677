"""Generations compared with each other: lights and their borders, the task, what is lost, shapes of tables, a model that is asked."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from compared import cells, compared, side
from studied import evaluated, page, sample, whole

from evalbench import load, reproduction
from evalbench.errors import BadInput
from evalbench.studies.reproduction.summary import BANDS


def table(answers: dict[str, list[str | None]], **columns: object) -> pd.DataFrame:
    """A row for each answer to each question."""
    rows = [(i, str(n), text) for i, texts in answers.items() for n, text in enumerate(texts, 1)]
    return pd.DataFrame(rows, columns=["id", "trial", "answer"]).assign(**columns)


def judged(frame: pd.DataFrame, **options):
    data = load({"items": frame}, study="reproduction")
    return reproduction.evaluate(data, **{"n_resamples": 100, "embed": "", **options})


def values(result, **group):
    group = group or {"model": "model not named"}
    return {e.metric: e.value for e in result.summary.estimates if e.group == group}


# -- lights --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "value", "light"),
    [
        ("exact", 0, "green"), ("exact", 2.999, "green"), ("exact", 3, "yellow"), ("exact", 3 - 1e-12, "yellow"), ("exact", 4.999, "yellow"),
        ("exact", 5, "red"), ("exact", 5 - 1e-12, "red"), ("exact", 5.001, "red"), ("exact", 100, "red"), ("creative", 0, "red"),
        ("creative", 2.999, "red"), ("creative", 3, "red"), ("creative", 3 + 1e-12, "red"), ("creative", 3.001, "yellow"),
        ("creative", 5, "yellow"), ("creative", 5 + 1e-12, "yellow"), ("creative", 5.001, "green"), ("creative", 100, "green"),
    ],
)  # fmt: skip
def test_a_boundary_has_the_worse_light_and_nothing_is_between_two(task, value, light):
    assert BANDS[task].light(value) == light


def test_the_sentence_names_the_figure_that_decides():
    frame = table({f"q{i:02}": ["a b", "A b"] for i in range(30)}, reference="c")
    result = judged(frame, lights={"changed_text": {"green_to": 0.1, "yellow_to": 0.2}})
    assert (result.light, values(result)["lexical_diversity"]) == ("red", 0)
    assert "; the light is that of questions with several texts: 1.00 [0.89, 1.00]; 30 questions" in result.sentence
    marks = {"correct": {"green_from": 0.9, "yellow_from": 0.5}}
    assert "right answers: 0.00" in judged(frame, lights=marks).sentence
    without = judged(frame.assign(reference=""), lights=marks)
    assert without.light == "grey"
    assert "right answers: no value (no generation is marked right or wrong)" in without.sentence


def test_a_light_on_what_cannot_be_computed_is_refused():
    frame = table({"q": ["a", "b"]})
    both = {"semantic_diversity": {"green_to": 1, "yellow_to": 2}, "flickers": {"green_to": 0.1, "yellow_to": 0.2}}
    with pytest.raises(BadInput) as refused:
        judged(frame, lights=both)
    assert "semantic_diversity needs an embedding model" in str(refused.value)
    assert "flickers needs answers that are marked: a column correct or reference" in str(refused.value)


def test_rows_that_no_column_brings_together_are_refused():
    frame = pd.DataFrame({"answer": ["a", "b", "c"], "session": ["x", "x", "y"], "temperature": 0.7})
    with pytest.raises(BadInput, match=r"no column id or question.*; name one: --map session=id$"):
        judged(frame)
    with pytest.raises(BadInput, match=r"name one \(--map COLUMN=id\)"):
        judged(frame[["answer", "temperature"]])


def test_the_question_may_have_another_name():
    frame = pd.DataFrame({"answer": ["a", "b"], "вопрос": ["?", "?"]})
    assert any("column вопрос was read as question" in note for note in judged(frame).notes)


@pytest.mark.parametrize(("changed", "light"), [(1, "green"), (2, "yellow"), (3, "red")])
def test_the_share_of_questions_with_another_answer_moves_the_light(changed, light):
    """Of 40 questions each that has two answers of one word, 1:1, adds 2.5 percentage points; at 2 and 3: 5.0 and 7.5."""
    result = judged(table({f"q{i:02}": ["yes", "no" if i < changed else "yes", "yes"] for i in range(40)}))
    expected = 100 * changed * (2 / 3) / 40
    assert values(result)["lexical_diversity"] == pytest.approx(expected)
    assert result.light == light
    assert values(result)["changed"] == changed / 40


def test_the_default_task_is_said_and_one_that_is_given_is_not_called_a_default():
    frame = table({"a": ["yes", "no"], "b": ["yes", "yes"]})
    assert "judged as an exact task, by words, the default" in judged(frame).sentence.lower()
    assert any("No task was given" in note for note in judged(frame).notes)
    for options in ({"task": "exact"}, {}):
        stated = judged(frame if options else frame.assign(task="exact"), **options)
        assert "Judged as an exact task, by words: " in stated.sentence
        assert not any("No task was given" in note for note in stated.notes)


def test_each_test_set_has_the_light_of_its_task_and_the_worst_decides():
    steady = table({f"q{i:02}": ["yes"] * 3 for i in range(20)}, test_set="facts", task="exact")
    tales = table(
        {f"q{i:02}": ["The sun.", "A goat sings of taxes."] for i in range(20)}, test_set="tales", task="creative"
    )
    result = judged(pd.concat([steady, tales]), embed="use-multilingual")
    lights = {e.group["test_set"]: e.light for e in result.summary.estimates if e.light != "unlit"}
    assert lights == {"facts": "green", "tales": "green"}
    assert result.light == "green"
    dull = judged(pd.concat([steady, tales.assign(answer="The sun.")]), embed="use-multilingual")
    assert dull.light == "red"
    assert dull.verdict.decided_by == {"metric": "semantic_diversity", "model": "model not named", "test_set": "tales"}
    assert "lower is better" not in page("reproduction", dull).partition("semantic_diversity")[2][:200]


def test_thresholds_of_ones_own_take_the_better_light():
    frame = table({f"q{i:02}": ["yes", "no" if i < 4 else "yes"] for i in range(40)})
    at_it = judged(frame, lights={"lexical_diversity": {"green_to": 10, "yellow_to": 20}})
    assert at_it.light == "green"
    both = judged(frame, lights={"changed": {"green_to": 0.01, "yellow_to": 0.05}})
    assert {e.metric: e.light for e in both.summary.estimates if e.light != "unlit"} == {
        "lexical_diversity": "red",
        "changed": "red",
    }


# -- what is not there ---------------------------------------------------------------------------


def test_lost_and_empty_generations_are_counted_and_compared_with_nothing():
    answers = {f"q{i:02}": ["yes"] * 5 for i in range(20)}
    answers["q00"] = ["yes", None, "no", "yes", ""]
    result = judged(table(answers, reference="yes"))
    item = result.items.iloc[0]
    assert (item.n_generations, item.n_lost, item.n_empty, item.n_answers) == (5, 1, 1, 2)
    assert item.lexical_diversity == pytest.approx(2 / 3)
    assert item.correct == pytest.approx(2 / 4)  # an empty answer is wrong, one that is lost is no answer
    assert "Of 100 generations 1 lost and 1 empty: not compared." in result.sentence


@pytest.mark.parametrize("gone", [None, "", "  "])
def test_too_many_of_them_leave_no_light(gone):
    answers = {f"q{i:02}": ["yes", "yes", gone if i < 10 else "yes"] for i in range(20)}
    result = judged(table(answers))
    assert (result.light, result.verdict.would_be) == ("grey", "green")
    assert "17% of the generations are lost or empty" in result.sentence


def test_a_question_with_one_answer_has_no_diversity_and_says_why():
    answers = {"one": ["yes"], "lost": ["yes", None], "gone": [None, None], "blank": ["", " "], "two": ["yes", "no"]}
    result = judged(table(answers))
    items = result.items.set_index("id")
    assert items.loc["two", "lexical_diversity"] == 1
    assert (
        items.drop(index="two")[["lexical_diversity", "changed", "answer_disagreement", "distinct_ngrams_set"]]
        .isna()
        .all(axis=None)
    )
    assert items["undefined"].to_dict() == {
        "one": "one generation only", "lost": "fewer than two generations with a text", "gone": "", "two": "",
        "blank": "fewer than two generations with a text",
    }  # fmt: skip
    assert items["unscored"].to_dict() == dict.fromkeys(items.index, "") | {"gone": "no-output"}
    (words,) = (e for e in result.summary.estimates if e.metric == "lexical_diversity")
    assert (words.n, words.n_unscored, words.n_undefined) == (1, 1, 3)


def test_a_table_with_one_generation_each_has_no_light():
    result = judged(table({f"q{i}": ["yes"] for i in range(30)}))
    assert result.light == "grey"
    assert "30 of 30 have no diversity (one generation only)" in result.sentence
    assert result.summary.estimates[0].value is None


@pytest.mark.parametrize("every", [2, 3])
def test_null_answers_leave_the_figures_of_the_others(every):
    """What is lost is as if it had not been there, but counted."""
    frame = sample("reproduction")["items"].reset_index(drop=True)
    gone = frame.index % every == 0
    nulls = frame.assign(answer=frame["answer"].astype(object).mask(gone, None))
    mine, rest = (evaluated("reproduction", {"items": each}) for each in (nulls, frame[~gone]))
    figures = [c for c in mine.items.select_dtypes("number") if c not in ("n_generations", "n_lost")]
    keys = ["test_set", "id", "model"]
    there = mine.items.set_index(keys).loc[pd.MultiIndex.from_frame(rest.items[keys])]
    pd.testing.assert_frame_equal(there[figures], rest.items.set_index(keys)[figures])
    assert set(mine.items["unscored"]) <= {"", "no-output"}
    assert mine.items["n_lost"].sum() == gone.sum() + rest.items["n_lost"].sum()
    assert mine.light == "grey"


def test_a_reference_in_one_row_is_that_of_the_question():
    frame = table({"a": ["yes", "no"], "b": ["Да!", "да"]}).assign(reference=["yes", None, "", "да"])
    assert judged(frame).items["correct"].tolist() == [0.5, 1.0]


def test_without_any_mark_nothing_is_right_or_wrong():
    result = judged(table({"a": ["x", "y"]}, reference=""))
    assert "correct" not in values(result)
    assert result.items["correct_undefined"].tolist() == ["no-reference"]
    for shown in (reproduction.by_trial, reproduction.passes, reproduction.noise, reproduction.flickering):
        assert shown(result).columns.tolist() == ["note"]


def test_a_model_that_is_not_installed_leaves_meaning_unscored():
    frame = table({f"q{i}": ["x", "y"] for i in range(30)})
    exact, creative = (judged(frame, embed="no/such-model", task=task) for task in ("exact", "creative"))
    (meaning,) = (e for e in exact.summary.estimates if e.metric == "semantic_diversity")
    assert (exact.light, meaning.value, meaning.n_unscored) == ("red", None, 30)
    assert "not installed" in meaning.note
    assert (creative.light, creative.summary.estimates[0].metric) == ("grey", "semantic_diversity")
    assert any("Diversity of meaning is unscored" in note for note in exact.notes)


# -- shapes of tables ----------------------------------------------------------------------------


LONG = table({"a": ["x", "x", "y"], "b": ["z", "z", "z"]})


@pytest.mark.parametrize(
    "frame",
    [
        LONG.drop(columns="trial"),
        pd.DataFrame({"id": ["a", "b"], "samples": [["x", "x", "y"], ["z", "z", "z"]]}),
        pd.DataFrame({"id": ["a", "b"], "answer": ["x", "z"], "samples": [["y", "x"], ["z", "z"]]}),
        pd.DataFrame({"id": ["a", "b"], "samples": [json.dumps(["x", "x", "y"]), json.dumps(["z", "z", "z"])]}),
        LONG.drop(columns=["id", "trial"]).assign(question=["A?"] * 3 + ["B?"] * 3),
    ],
    ids=["no trial", "a list each", "an answer and a list", "a list in JSON", "no ids, but questions"],
)
def test_tables_of_other_shapes_give_the_same_figures(frame):
    assert values(judged(frame)) == values(judged(LONG))


def test_columns_of_our_names_with_another_meaning_are_left_out_with_a_note():
    foreign = LONG.assign(task="anatomy", correct=["A", "B", None] * 2)
    result = judged(foreign)
    assert values(result) == values(judged(LONG))
    assert sum("is not used: it does not say" in note for note in result.notes) == 2
    assert not foreign.attrs
    assert "by meaning" in judged(LONG.assign(task=" Creative "), embed="use-multilingual").sentence
    with pytest.raises(BadInput, match="column task: expected one of exact, creative"):
        judged(LONG.assign(task=["exact"] * 5 + ["anatomy"]))
    listed = judged(pd.DataFrame({"id": ["a"], "generations": [["x", "y"]]}))
    assert any("column generations was read as samples" in note for note in listed.notes)


def test_a_csv_with_lists_is_read(tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text('id,samples\na,"[""x"", ""x"", ""y""]"\nb,"[\'z\', \'z\', \'z\']"\n', encoding="utf-8")
    result = reproduction.evaluate(load(str(file), study="reproduction"), embed="", n_resamples=100)
    assert values(result) == values(judged(LONG))


def test_the_same_id_in_two_test_sets_is_two_questions():
    both = pd.concat([LONG.assign(test_set="one"), LONG.assign(test_set="two", answer="same")])
    assert judged(both).items[["test_set", "id", "n_answers"]].to_numpy().tolist() == [
        ["one", "a", 2], ["one", "b", 1], ["two", "a", 1], ["two", "b", 1],
    ]  # fmt: skip


def test_faults_are_refused_with_their_places():
    twice = LONG.assign(trial=["1", "1", "2", "1", "2", "2"], task=["exact"] * 5 + ["creative"])
    with pytest.raises(BadInput) as caught:
        judged(twice)
    assert "id a, trial 1 appears more than once" in str(caught.value)
    assert "id b, trial 2 appears more than once" in str(caught.value)
    assert "the table has two tasks" in str(caught.value)
    with pytest.raises(BadInput, match="column correct is that of one generation, and samples lists several"):
        judged(pd.DataFrame({"id": ["a"], "samples": [["x", "y"]], "correct": [1]}))
    with pytest.raises(BadInput, match="no column answer or samples"):
        judged(pd.DataFrame({"id": ["a"], "question": ["?"]}))
    with pytest.raises(BadInput, match="no column question, which the model is asked"):
        judged(LONG, model="openai/x")
    with pytest.raises(BadInput, match="(?s)column question is empty:.*id b"):
        judged(pd.DataFrame({"id": ["a", "b"], "question": ["?", None]}), model="openai/x")


def test_options_are_refused_at_once():
    wrong = {
        "task": "art",
        "embed": "jaccard",
        "n_generations": 1,
        "lights": {"speed": {}, "distinct_ngrams_set": {"green_to": 1, "yellow_to": 2}},
    }
    with pytest.raises(BadInput) as caught:
        judged(LONG, **wrong)
    assert len(caught.value.faults) == 5
    with pytest.raises(BadInput, match="a creative task is judged by meaning"):
        judged(LONG, task="creative")


def test_two_hundred_generations_of_one_question():
    result = judged(table({"a": [f"answer {i % 7}" for i in range(200)], "b": ["x"] * 200}))
    assert result.items["n_answers"].tolist() == [7, 1]
    shown = reproduction.most_different(result)
    assert len(shown) == 1
    assert "2 further answers" in shown.iloc[0, -1]


def test_hostile_texts_are_text():
    evil = "<script>alert(1)</script> $5 … $6 \u202e=cmd()"
    frame = table({evil: [evil, "b"], "q": ["x", "x"]}, model=evil, test_set=evil, question=evil)
    assert "<script>" not in page("reproduction", judged(frame))


# -- the sample, comparison, noise ---------------------------------------------------------------


def test_the_page_names_what_is_planted_in_the_sample():
    result = whole("reproduction")
    assert "(rowan-2b, facts; 10% of the questions get more than one answer)" in result.sentence
    facts = {m: values(result, model=m, test_set="facts") for m in ("alder-7b", "rowan-2b")}
    assert (facts["rowan-2b"]["flickers"], facts["alder-7b"]["flickers"]) == (0.1, 0)
    assert facts["alder-7b"]["correct"] == 0.8 < facts["rowan-2b"]["correct"]
    flickering = reproduction.flickering(result)
    assert len(flickering) == 4
    assert flickering["whose, differing by"].str.startswith("rowan-2b, facts<br>words 70.0 pp").all()
    assert {i.partition("-")[2][:2] for i in flickering["id"]} == {"en", "ru"}
    lights = {(e.group["model"], e.group["test_set"]): e.light for e in result.summary.estimates if e.light != "unlit"}
    assert lights == {
        ("alder-7b", "facts"): "green", ("rowan-2b", "facts"): "red", ("alder-7b", "tales"): "grey", ("rowan-2b", "tales"): "grey",
    }  # fmt: skip


def test_two_runs_are_compared_question_by_question():
    calmer = whole("reproduction").items.copy()
    facts = calmer["test_set"] == "facts"
    calmer.loc[facts, ["lexical_diversity", "changed", "flickers"]] = 0.0
    found = cells(compared("reproduction", side("reproduction", calmer), n_summaries=0))
    row = found["rowan-2b", "facts", "lexical_diversity"]
    assert row.difference == pytest.approx(-7.0)
    assert found["rowan-2b", "facts", "flickers"].difference == pytest.approx(-0.1)
    assert row.n_a == 40


def test_creative_answers_that_are_nearly_the_same_are_shown_and_no_others():
    alike = reproduction.most_alike(whole("reproduction"), rows=50)
    assert len(alike) == 12
    assert alike["whose, differing by"].str.startswith("alder-7b, tales").all()
    assert reproduction.most_alike(judged(LONG))["note"].tolist() == ["No test set is a creative task"]


def test_noise_and_passes_of_the_sample():
    noise = reproduction.noise(whole("reproduction"))
    assert set(noise["model"]) == {"alder-7b", "rowan-2b"}
    assert "questions would shrink it" in noise.iloc[1]["what more calls would do"]
    passes = reproduction.passes(whole("reproduction"))
    rowan = passes[passes["model"] == "rowan-2b"]
    assert rowan["k"].tolist() == [1, 2, 3, 4, 5]
    assert (rowan["questions"] + rowan["left out"] == 40).all()


# -- a model that is asked -----------------------------------------------------------------------


def test_no_figure_is_nan_or_infinite():
    for e in whole("reproduction").summary.estimates:
        assert e.value is None or math.isfinite(e.value)
        assert not isinstance(e.value, np.floating)


def test_one_answer_to_all_questions_and_refusals_are_in_the_sentence():
    same = judged(table({f"q{i:02}": ["Yes."] * 3 for i in range(40)}), embed="")
    assert "40 of 40 questions have the same answer as the others." in same.sentence
    declined = judged(table({f"q{i:02}": [f"I cannot answer {i}."] * 3 for i in range(40)}), embed="")
    assert "120 of 120 generations decline to answer." in declined.sentence
    assert "the same answer" not in declined.sentence


# -- rows that are not generations ------------------------------------------------------------------


def test_a_table_that_was_exported_twice_is_no_second_generation():
    once = pd.DataFrame({"id": [f"q{i}" for i in range(30)], "answer": [f"answer {i}" for i in range(30)]})
    twice = pd.concat([once, once], ignore_index=True)
    result = judged(twice)
    assert result.light == "grey"
    assert "not known yet: the further generations are copies of whole rows" in result.answer.answer
    assert "add a column trial" in result.answer.next.text
    assert "copies of whole rows" in result.sentence
    for apart in ("trial", "latency_ms"):
        assert judged(twice.assign(**{apart: [str(n // 30) for n in range(60)]})).light == "green"
    other = twice.assign(answer=[f"no {i}" if i > 56 else text for i, text in enumerate(twice["answer"])])
    assert judged(other).light != "grey"


def test_marks_of_one_answer_are_no_generations():
    rows = [(f"q{i}", f"answer {i}", who, str(i % 5)) for i in range(30) for who in ("Ольга", "Пётр")]
    frame = pd.DataFrame(rows, columns=["id", "ответ", "аннотатор", "оценка"])
    with pytest.raises(BadInput, match="differ in аннотатор and оценка alone: they are marks of one answer") as refused:
        judged(frame)
    assert "human_correlation" in str(refused.value)
    other = frame.assign(ответ=[f"{text} {n}" for n, text in enumerate(frame["ответ"])])
    assert judged(other).light == "red"
