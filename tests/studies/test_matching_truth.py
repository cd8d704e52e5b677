"""What a matching page says of matches that are poor, and of checkers with rows for few texts."""

from __future__ import annotations

import pandas as pd
import pytest

from evalbench import load, matching

TEXT = "The quick brown fox was seen by the old dog near the river bank on a cold day in March."
IDS = [f"s{i:02}" for i in range(40)]


def judged(start=4, end=9, rule="Spelling must be right", ids=IDS, late=(), **options):
    truth = pd.DataFrame(
        {"id": IDS, "violation_id": "t", "start": 4, "end": 9, "rule": "Spelling must be right", "text": TEXT}
    )
    found = pd.DataFrame(
        {"id": ids, "violation_id": "p", "model": "fern@1|oak", "start": start, "end": end, "rule": rule}
    )
    more = pd.DataFrame(found[found["id"].isin(late)]).assign(model="late@1|oak")
    data = load({"truth": truth, "predictions": pd.concat([found, more])}, study="matching")
    return matching.evaluate(
        data, **{"embed": "jaccard", "green_from": 0.8, "yellow_from": 0.5, "n_resamples": 50, **options}
    )


def test_right_matches_are_green_and_say_how_good_they_are():
    result = judged()
    assert result.light == "green"
    assert result.sentence.startswith("F1 1.000 [0.912, 1.000] (fern@1|oak); 40 true violations in 40 texts")
    assert "Match score 1.00 (fern@1|oak, overlap 1.00, rules alike 1.00)." in result.sentence


def test_a_checker_that_marks_the_whole_text_is_at_best_yellow():
    result = judged(0, len(TEXT))
    assert result.light == "yellow"
    assert result.estimate("f1", model="fern@1|oak").value == 1
    assert "at best yellow below 0.8" in result.sentence
    assert "40 of 40 matches (fern@1|oak) overlap by less than 0.1." in result.sentence
    assert judged(0, len(TEXT), floor=0).light == "green"


def test_another_rule_in_the_right_place_is_at_best_yellow():
    result = judged(rule="Sentences must not be passive")
    assert result.light == "yellow"
    assert "overlap 1.00, rules alike 0.29" in result.sentence
    assert "overlap by less" not in result.sentence


def test_a_checker_with_rows_for_few_texts_says_so_and_is_grey():
    result = judged(late=IDS[:3])
    assert (result.light, result.verdict.would_be) == ("grey", "red")
    assert "37 of 40 texts absent (late@1|oak), counted as texts in which nothing was found." in result.sentence
    stated = judged(late=IDS[:3], absent="nothing")
    assert stated.light == "red"
    assert stated.estimate("f1", model="late@1|oak").value == pytest.approx(6 / 43)


def test_a_list_without_violations_is_not_absent():
    one = [{"start": 4, "end": 9, "rule": "Spelling must be right"}]
    rows = [
        {"id": i, "text": TEXT, "truth": one, "predictions": {"fern": one, "shy": one if i in IDS[:3] else []}}
        for i in IDS
    ]
    result = matching.evaluate(load({"truth": pd.DataFrame(rows)}, study="matching"), embed="jaccard", n_resamples=50)
    assert "absent" not in result.sentence


def test_places_past_the_true_ones_by_one_distance_are_named():
    result = judged(10, 15)
    assert result.estimate("f1", model="fern@1|oak").value == 0
    assert (
        "40 of 40 predictions of fern@1|oak begin +6 characters from a true violation of the same rule"
        in result.sentence
    )


def test_predictions_that_are_given_twice_and_contexts_that_are_nowhere_are_named():
    truth = pd.DataFrame({"id": IDS, "violation_id": "t", "start": 4, "end": 9, "rule": "Spelling", "text": TEXT})
    found = pd.DataFrame({"id": IDS, "model": "fern", "context": "quick", "rule": "Spelling"})
    twice = load({"truth": truth, "predictions": pd.concat([found, found], ignore_index=True)}, study="matching")
    said = matching.evaluate(twice, embed="jaccard", n_resamples=50).sentence
    assert "40 of 80 predictions of fern repeat another of the same place and rule." in said
    nowhere = load(
        {"truth": truth, "predictions": found.assign(context="Nothing of the kind stands here")}, study="matching"
    )
    said = matching.evaluate(nowhere, embed="jaccard", n_resamples=50).sentence
    assert "40 of 40 predicted violations quote a context that is not in the text." in said
