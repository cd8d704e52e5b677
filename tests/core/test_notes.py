"""Notes of the first rank are data, and none is missing from the sentence."""

from __future__ import annotations

import copy
import pickle

import pandas as pd
import pytest

from evalbench.core.notes import Note, first_rank, says, with_notes
from evalbench.core.result import DataLabel, Result, Summary
from evalbench.core.verdict import Verdict

MIXED = Note("mixed", "two models are taken as one", "gpt-4 answers the word problems, llama the cited questions.")
LATE = Note("absent", "37 of 40 texts absent (late), counted 0")


def result(notes, of_verdict=()):
    items = pd.DataFrame({"id": ["p"], "unscored": "", "undefined": ""})
    summary = Summary((), Verdict("grey", "F1 0.90 (a). 37 of 40 texts absent (late), counted 0.", notes=of_verdict))
    label = DataLabel("toy", "1.0.0", "0" * 64)
    return Result(
        study="toy", question="?", judged="a", parameters={}, data=label, id="id", items=items, summary=summary, notes=notes
    )  # fmt: skip


def test_a_result_has_notes_of_the_first_rank_in_its_sentence_once():
    found = result(("Columns are guessed.", MIXED), (LATE,))
    assert found.sentence == f"{found.verdict.sentence} Two models are taken as one."
    stored = found.to_json()
    assert stored["sentence"] == found.sentence
    assert [row["kind"] for row in stored["first_rank"]] == ["absent", "mixed"]
    assert all(says(stored["sentence"], row) for row in stored["first_rank"])
    assert stored["notes"] == [str(LATE), "Columns are guessed.", str(MIXED)]
    assert all(type(note) is str for note in stored["notes"])


def test_without_them_a_result_is_as_before():
    found = result(("Columns are guessed.",))
    assert found.sentence == found.verdict.sentence
    assert "first_rank" not in found.to_json()


def test_a_note_is_copied_whole():
    for again in (pickle.loads(pickle.dumps(MIXED)), copy.deepcopy(MIXED)):
        assert (again, again.kind, again.short) == (MIXED, "mixed", MIXED.short)
    assert first_rank([MIXED, "plain", MIXED]) == (MIXED,)
    assert with_notes("Two models are taken as one.", [MIXED]) == "Two models are taken as one."


def test_its_kind_is_one_of_the_list():
    with pytest.raises(ValueError, match="kind must be one of absent, unscored"):
        Note("other", "something")


def test_a_note_that_asks_ends_with_its_question_mark():
    asks = Note("shifted", "places are off by one: do they count from 1?")
    assert with_notes("F1 0.00.", [asks]) == "F1 0.00. Places are off by one: do they count from 1?"
    assert str(asks) == "Places are off by one: do they count from 1?"
