"""Scores outside the scale that the file or an option states: grey, and the sentence says how many."""

from __future__ import annotations

import pandas as pd
import pytest

from evalbench import imported, load
from evalbench.core.notes import first_rank

N = 40


def run(scores, **options):
    rows = pd.DataFrame(
        {
            "id": [f"q{i:02}" for i in range(N)],
            "question": [f"what is {i}?" for i in range(N)],
            "answer": [f"word {i}" for i in range(N)],
            "score": scores,
        }
    )
    return imported.evaluate(load({"items": rows}, study="imported"), n_resamples=200, **options)


@pytest.mark.parametrize("name", ["right_answer", "correct_answer", "правильный ответ", "正确答案", "ground_truth"])
def test_a_right_answer_that_is_a_number_is_the_reference_and_no_score(name):
    rows = pd.DataFrame(
        {
            "qid": [f"q{i}" for i in range(N)],
            "model_answer": [str(i) for i in range(N)],
            name: range(N),
            "is_correct": 1,
        }
    )
    result = imported.evaluate(load(rows, study="imported"), n_resamples=100)
    assert result.parameters["metrics"] == ["is_correct"]
    assert result.read_as["items"][name] == "reference"


def estimated(result):
    return result.estimate("score", model="model not named")


def test_scores_off_their_scale_are_grey_with_the_cause():
    result = run([90.0] * N, scales={"score": [0, 1]}, lights={"score": {"green_from": 0.8, "yellow_from": 0.5}})
    verdict = result.summary.verdict
    assert (verdict.light, verdict.would_be) == ("grey", "green")
    assert "40 of 40 scores lie outside their scale" in verdict.sentence
    assert result.parameters["scales"] == {"score": [0.0, 1.0]}, "what was stated is kept"
    assert estimated(result).unit == ""


def test_one_score_off_the_scale_is_enough_and_the_stated_scale_is_the_way_out():
    scores, lights = [4.0] * (N - 1) + [9.0], {"score": {"green_from": 3, "yellow_from": 2}}
    assert "1 of 40 scores lie outside" in run(scores, scales={"score": [1, 5]}, lights=lights).sentence
    fits = run(scores, scales={"score": [1, 10]}, lights=lights)
    assert (fits.light, estimated(fits).unit) == ("green", "1–10")


def test_the_summary_of_the_items_is_the_same():
    result = run([90.0] * N, scales={"score": [0, 1]}, lights={"score": {"green_from": 0.8, "yellow_from": 0.5}})
    kept = {
        k: v for k, v in result.parameters.items() if k in {"metrics", "directions", "scales", "lights", "n_resamples"}
    }
    assert imported.summarise(result.items, **kept).verdict.light == "grey"
    assert estimated(result).value == pytest.approx(90)


def test_a_number_that_may_mean_not_rated_is_in_the_sentence_and_in_the_mean():
    result = run([-1.0] * 3 + [1.0, 5.0, 4.0] + [4.0] * (N - 6))
    said = "3 of 40 marks of score are −1, the others 1 to 5: if it means not rated, leave these cells empty"
    assert said in [note.short for note in first_rank(result.notes)]
    assert estimated(result).n == N
    assert not [note for note in run([-1.0, 0.0, 1.0, 1.0] * 10).notes if "not rated" in note]


def test_models_whose_scores_seem_to_be_of_two_scales_are_not_compared():
    one, other = ([0.1, 0.9] * (N // 2), [98.0, 41.5] * (N // 2))
    rows = pd.concat(
        pd.DataFrame({"question": [f"{i}?" for i in range(N)], "model": model, "answer": "yes", "score": scores})
        for model, scores in (("oak", one), ("birch", other))
    )
    lights = {"score": {"green_from": 0.8, "yellow_from": 0.5}}
    result = imported.evaluate(load(rows, study="imported"), n_resamples=100, lights=lights)
    assert result.answer.answer.startswith(
        "Which model is better on “score” cannot be said: score of oak lies within 0"
    )
    assert result.light == "grey"
    assert "are they of one scale?" in result.sentence
    assert result.answer.next.text == "Bring the scores to one scale, and run again."
    assert not len(result.tables.get("comparison", ()))
    same = imported.evaluate(load(rows.assign(score=rows["score"].clip(upper=1)), study="imported"), n_resamples=100)
    assert "birch is better than oak" in same.answer.answer
