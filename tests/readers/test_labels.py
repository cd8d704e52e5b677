"""Tables of labels: names, faults all at once, what several annotators say together."""

import numpy as np
import pandas as pd
import pytest

from evalbench.errors import BadInput
from evalbench.readers.labels import decided, label_columns, read_labels


def write(tmp_path, text, name="labels.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_what_label_merge_writes_and_our_own_names_are_read_alike(tmp_path):
    merged = write(
        tmp_path,
        "doc_id,system,annotator,criterion,score,skipped,comment,seconds,probability,stratum\n"
        "q1,fern,ann,right,1,,,3.5,0.5,mark 1\nq2,fern,ann,right,,too long,,2,0.5,mark 1\n",
    )
    own = write(
        tmp_path,
        '{"id": "q1", "model": "fern", "annotator": "ann", "criterion": "right", "mark": 1, "probability": 0.5, "stratum": "mark 1"}\n'
        '{"id": "q2", "model": "fern", "annotator": "ann", "criterion": "right", "mark": null, "skipped": "too long", "probability": 0.5, "stratum": "mark 1"}\n',
        "labels.jsonl",
    )
    first, second = read_labels(merged), read_labels(own)
    shared = ["id", "model", "annotator", "criterion", "mark", "skipped", "probability", "stratum"]
    pd.testing.assert_frame_equal(first[shared], second[shared])
    assert decided(first).skipped == 1


def test_a_column_of_ours_counts_before_one_of_another_name():
    frame = label_columns(pd.DataFrame({"id": ["a"], "doc_id": ["b"], "mark": [1], "score": [0]}))
    assert list(frame) == ["id", "doc_id", "mark", "score"]


def test_every_fault_is_in_one_message_with_column_and_rows(tmp_path):
    path = write(tmp_path, "id,annotator,mark,probability\n,ann,1,0.5\nq2,ann,good,0.5\nq3,ann,1,1.5\n")
    with pytest.raises(BadInput) as error:
        read_labels(path)
    said = str(error.value)
    assert "labels.csv" in said
    assert "column id: empty" in said
    assert 'column mark: expected a finite number (may be empty), found "good" (row 3)' in said
    assert "column probability" in said


def test_contradictions_of_one_annotator_and_of_two_draws_name_their_rows(tmp_path):
    path = write(
        tmp_path, "id,annotator,mark,probability\nq1,ann,1,0.5\nq1,ann,0,0.5\nq2,ann,1,0.5\nq2,bob,1,0.25\nq3,ann,1,0\n"
    )
    with pytest.raises(BadInput) as error:
        read_labels(path)
    said = str(error.value)
    assert "column mark: item 'q1' was marked differently by one annotator (rows 2, 3)" in said
    assert "column probability: item 'q2' was drawn with several probabilities (rows 4, 5)" in said
    assert "column probability: is 0; over 0, up to 1 (row 6)" in said


@pytest.mark.parametrize("text", ["", "id,mark\n", "id,mark\nq1,\n", "id;comment\nq1;no\n"])
def test_a_file_without_marks_is_refused(tmp_path, text):
    with pytest.raises(BadInput, match=r"labels\.csv"):
        read_labels(write(tmp_path, text))


def test_hostile_texts_are_texts(tmp_path):
    path = write(tmp_path, 'id,annotator,mark,comment\n"<script>alert(\'x\')</script>","\'=1+1",1,\u202e{{ 7 * 7 }}\n')
    rows = read_labels(path)
    assert rows["id"].tolist() == ["<script>alert('x')</script>"]
    assert rows["annotator"].tolist() == ["=1+1"]


def test_a_row_that_is_there_twice_counts_once(tmp_path):
    rows = read_labels(write(tmp_path, "id,annotator,mark\nq1,ann,1\nq1,ann,1\nq1,bob,0\n"))
    assert len(rows) == 2


def rows_of(marks):
    frame = pd.DataFrame(
        [(name, "", mark) for name, own in marks.items() for mark in own], columns=["id", "model", "mark"]
    )
    return frame.assign(probability=np.nan, stratum="")


def test_the_majority_of_0_and_1_decides_and_ties_have_no_label():
    found = decided(rows_of({"a": [1.0, 1, 0], "b": [1.0, 0], "c": [0.0], "d": [np.nan]}))
    assert dict(zip(found.labels["id"], found.labels["mark"], strict=True))["a"] == 1
    assert found.labels["mark"].isna().tolist() == [False, True, False, True]
    assert (found.ties, found.several, found.skipped, found.by_mean) == (1, 2, 1, False)


def test_the_mean_of_other_marks_decides():
    found = decided(rows_of({"a": [4.0, 3], "b": [1.0, 0]}))
    assert found.labels["mark"].tolist() == [3.5, 0.5]
    assert found.by_mean
