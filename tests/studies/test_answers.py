"""Every study's answer to its question, on its sample; tests/studies/test_planted_tables.py holds the same of small tables."""

from __future__ import annotations

from pathlib import Path

import answered
import pytest
from some_studies import some_studies
from studied import evaluated, sample, whole

from evalbench import studies
from evalbench.readers.runs import RESULTS, _faults

ROOT = Path(__file__).resolve().parents[2]


def test_every_study_answers_in_words_of_its_own() -> None:
    assert not [name for name in studies.names() if studies.study(name).answer is None]


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(studies.names()))
def test_an_answer_is_short_and_plain_and_agrees_with_its_figures(name: str) -> None:
    assert not (wrong := answered.faults_of(whole(name))), "\n".join(wrong)


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(studies.names()))
def test_an_answer_is_data_of_the_run(name: str) -> None:
    stored = whole(name).to_json()["answer"]
    assert not _faults({"answer": stored}, {"answer": RESULTS["answer?"]}, "")
    assert stored["answer"] == whole(name).answer.answer


def test_the_audit_names_who_may_stand_in_and_what_the_others_favour() -> None:
    said = whole("judge_audit").answer.answer
    assert said.startswith(
        "alder-mini and alder may stand in for an annotator. Birch and cedar may not: birch prefers a "
    )
    assert said.endswith("93% of pairs and cedar chooses the answer shown first in 84%.")


def test_an_audit_of_too_few_labels_says_how_many_are_missing() -> None:
    tables = {name: frame.copy() for name, frame in sample("judge_audit").items()}
    tables["labels"] = tables["labels"].head(12)
    found = evaluated("judge_audit", tables)
    assert not answered.faults_of(found)
    assert "not known yet" in found.answer.answer or "may not" in found.answer.answer


def test_scores_of_texts_without_thresholds_say_how_to_get_a_light() -> None:
    found = evaluated("text_metrics", sample("text_metrics"), lights={})
    assert found.light == "unlit"
    assert "no thresholds" in found.answer.answer
    assert found.answer.next.text == "Set thresholds (lights) to get a light."
