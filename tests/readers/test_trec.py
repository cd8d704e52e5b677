"""TREC files are read as they are written in the wild; what they cannot hold is refused with the line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from evalbench import load
from evalbench.errors import BadInput
from evalbench.readers.trec import is_trec, trec_frame

QRELS = ("id", "", "doc_id", "relevance")
RUN = ("id", "", "doc_id", "rank", "score", "model")


def run_of(raw, name="x.run"):
    return trec_frame(Path(name), raw, RUN)


def test_blanks_tabs_empty_lines_and_a_byte_order_mark_are_read():
    frame, notes = run_of("\ufeff\n1\tQ0  é 1 3.0 x \r\n\r\n 2 Q0 b 1 1e-3 x".encode())
    assert frame.index.tolist() == [2, 4]
    assert frame.to_dict("list") == {
        "id": ["1", "2"],
        "doc_id": ["é", "b"],
        "rank": [1.0, 1.0],
        "score": [3.0, 0.001],
        "model": ["x", "x"],
    }
    assert notes == []


def test_a_compressed_file_is_read():
    assert len(run_of(gzip.compress(b"1 Q0 a 1 3 x\n"), "x.run.gz")[0]) == 1


def test_what_follows_the_run_is_a_comment_with_a_note():
    frame, notes = run_of(b"1 Q0 a 1 3 x\n1 Q0 b 2 1 x more junk\n")
    assert frame["doc_id"].tolist() == ["a", "b"]
    assert notes == ["what follows the name of the run in 1 lines was not read"]


def test_an_id_with_a_blank_is_refused_with_its_line_and_a_way_out():
    with pytest.raises(BadInput) as caught:
        run_of(b"1 Q0 a 1 3 x\n1 Q0 my passage 1 3 x\n\n2 Q0\n")
    assert "x.run: expected 6 fields in each line (id Q0 doc_id rank score model)" in str(caught.value)
    assert "save the table as CSV" in str(caught.value)
    assert caught.value.faults == ("line 2: 7 fields", "line 4: 2 fields")


@pytest.mark.parametrize("score", ["nan", "inf", "abc", ""])
def test_a_score_that_is_no_finite_number_is_refused_as_in_any_table(score, tmp_path):
    (tmp_path / "qrels.trec").write_text("1 0 a 1\n", encoding="utf-8")
    (tmp_path / "run.trec").write_text(f"1 Q0 a 1 2.5 x\n1 Q0 b 2 {score} x\n", encoding="utf-8")
    with pytest.raises(BadInput, match="expected a finite number|expected 6 fields"):
        load(tmp_path, study="rag_retrieval")


def test_a_table_with_a_header_is_no_trec_file():
    assert not is_trec(Path("q.tsv"), b"id\titeration\tdoc_id\trelevance\n", QRELS)
    assert is_trec(Path("q.tsv"), b"1\t0\tp\t1\n", QRELS)
    assert not is_trec(Path("q.csv"), b"1 0 p 1\n", QRELS)
    assert not is_trec(Path("q.txt"), b"1 0 p 1\n", ())


def test_a_file_of_another_form_is_refused_with_both_forms(tmp_path):
    (tmp_path / "x.run").write_text("1 a 3\n", encoding="utf-8")
    (tmp_path / "qrels.trec").write_text("1 0 a 1\n", encoding="utf-8")
    with pytest.raises(BadInput, match="lines of a TREC file: id Q0 doc_id rank score model"):
        load(tmp_path / "x.run", study="rag_retrieval", qrels=tmp_path / "qrels.trec")


def test_a_folder_holds_several_runs(tmp_path):
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n", encoding="utf-8")
    for name in ("one", "two"):
        (tmp_path / f"run_{name}.trec").write_text("1 Q0 a 1 2.5 same\n", encoding="utf-8")
    data = load(tmp_path, study="rag_retrieval")
    assert data["run"]["model"].tolist() == ["run_one", "run_two"]
    assert any("called as their files" in note for note in data.notes)
    assert data["qrels"]["relevance"].tolist() == [1.0]


def test_numbers_are_numbers_at_once():
    frame, _ = run_of(b"1 Q0 a 1 2.5 x\n")
    assert frame["score"].dtype == np.float64
    assert str(frame["id"].dtype) == "str"
