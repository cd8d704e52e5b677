"""A data set's notes: which columns nothing uses, and what a study's options use beside its schema."""

import pandas as pd
import pytest

from evalbench import load as loaded
from evalbench.readers.dataset import load
from evalbench.readers.schema import Column, Table

SCHEMA = {"items": Table((Column("id", "id"),)), "marks": Table((Column("id", "id"),), required=False)}


def test_columns_that_a_study_uses_by_name_are_not_noted():
    tables = {
        "items": pd.DataFrame({"id": ["1"], "m": [0.5], "n": [1]}),
        "marks": pd.DataFrame({"id": ["1"], "m": [2]}),
    }
    data = load(tables, SCHEMA)
    assert data.unused == {"items": ("m", "n"), "marks": ("m",)}
    assert data.notes == ("items: columns that are not used: m, n", "marks: columns that are not used: m")
    assert data.notes_beside({"m"}) == ("items: columns that are not used: n",)
    assert data.notes_beside(["m", "n"]) == ()


def test_remarks_on_the_tables_stay(tmp_path):
    (tmp_path / "items.csv").write_text("id,said,extra\n1,,x\n2,yes,y\n")
    schema = {"items": Table((Column("id", "id"), Column("said", "text", empty_ok=True, keep_null=True)))}
    data = load(tmp_path / "items.csv", schema)
    assert data.notes[0] == "items: columns that are not used: extra"
    assert data.notes_beside({"extra"}) == data.remarks
    assert "1 empty cell of column said was read as an empty answer" in data.remarks[0]


@pytest.mark.parametrize(
    ("study", "how"), [("text_metrics", "counted like any other"), ("reproduction", "counted as repeats")]
)
def test_exact_copies_of_rows_are_named(study, how):
    rows = pd.DataFrame({"question": ["a?", "b?", "a?"], "answer": ["x", "x", "x"], "reference": ["x", "y", "x"]})
    assert any(f"1 row is an exact copy of another (row 3), {how}" in note for note in loaded(rows, study=study).notes)
    assert not any("exact cop" in note for note in loaded(rows[:2], study=study).notes)


def test_rows_that_an_id_tells_apart_are_no_copies():
    rows = pd.DataFrame({"id": ["1", "2"], "answer": ["x", "x"], "reference": ["x", "x"]})
    assert not any("exact cop" in note for note in loaded(rows, study="text_metrics").notes)
