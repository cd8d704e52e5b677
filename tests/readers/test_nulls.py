"""Null, absent and empty, through every reader: an answer that is not there stays null, and "" is an answer."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from evalbench.commands.data import data as data_command
from evalbench.core.notes import first_rank
from evalbench.errors import BadInput
from evalbench.readers import gsm8k, nq
from evalbench.readers.dataset import load
from evalbench.readers.files import parsed_json, raw_frame
from evalbench.readers.schema import Column, Table

SCHEMA = {
    "items": Table(
        (
            Column("id", "id"),
            Column("output", "text", required=False, empty_ok=True, keep_null=True),
            Column("reference", "texts", required=False, empty_ok=True),
            Column("comment", "text", required=False, empty_ok=True),
        ),
        nested="rows",
    ),
    "documents": Table((Column("doc", "id"),), required=False),
}
ROWS = [
    {"id": "said", "output": "yes", "reference": ["yes"], "comment": "x"},
    {"id": "null", "output": None, "reference": None, "comment": None},
    {"id": "absent"},
    {"id": "empty", "output": "", "reference": "", "comment": ""},
]
WHOLE = ["yes", None, None, ""]


def as_json(path):
    path.write_text(json.dumps(ROWS))


def as_lines(path):
    path.write_text("\n".join(map(json.dumps, ROWS)))


def as_parquet(path):
    # Parquet has no absent cell: a key that a record lacks is a null there.
    texts = [{**row, "reference": row.get("reference") or None} for row in ROWS]
    pd.DataFrame(texts).to_parquet(path)


def as_documents(path):
    path.write_text(json.dumps({"doc": "d", "rows": ROWS}))


FILES = {
    "x.json": as_json,
    "x.jsonl": as_lines,
    "x.ndjson": as_lines,
    "x.parquet": as_parquet,
    "nested.jsonl": as_documents,
}


@pytest.mark.parametrize(("name", "write"), FILES.items(), ids=FILES)
def test_a_file_that_can_tell_null_from_empty_is_read_so(tmp_path, name, write):
    write(tmp_path / name)
    data = load(tmp_path / name, SCHEMA)
    assert data["items"]["output"].tolist() == WHOLE
    assert data["items"]["reference"].tolist() == [["yes"], [], [], []]
    assert data["items"]["comment"].tolist() == ["x", "", "", ""]
    assert not data.notes


@pytest.mark.parametrize("null", [None, float("nan"), pd.NA], ids=["None", "NaN", "NA"])
@pytest.mark.parametrize("dtype", ["object", "str", "string"])
def test_frames_keep_their_nulls(null, dtype):
    frame = pd.DataFrame({"id": ["1", "2", "3"], "output": pd.Series(["yes", null, ""], dtype=dtype)})
    assert load({"items": frame}, SCHEMA)["items"]["output"].tolist() == ["yes", None, ""]


@pytest.mark.parametrize("empty", [None, float("nan")])
def test_a_column_of_nulls_alone_is_one(empty):
    frame = pd.DataFrame({"id": ["1", "2"], "output": [empty, empty]})
    assert load({"items": frame}, SCHEMA)["items"]["output"].tolist() == [None, None]


@pytest.mark.parametrize(("name", "separator"), [("x.csv", ","), ("x.tsv", "\t")])
def test_a_file_that_cannot_tell_reads_empty_answers_and_counts_them(tmp_path, name, separator):
    lines = [["id", "output", "comment"], ["1", "yes", ""], ["2", "", "x"], ["3", "", ""], ["4", '""', ""]]
    (tmp_path / name).write_text("\n".join(separator.join(line) for line in lines))
    data = load(tmp_path / name, SCHEMA)
    assert data["items"]["output"].tolist() == ["yes", "", "", ""]
    assert data.notes == (f"{name}: 3 empty cells of column output were read as empty answers",)


def test_a_check_of_the_data_counts_empty_answers(tmp_path):
    (tmp_path / "x.csv").write_text("id,answer,reference,mine\n1,yes,yes,a\n2,,no,b\n")
    done = CliRunner().invoke(data_command, ["check", str(tmp_path / "x.csv"), "--study", "text_metrics"])
    said = done.output.splitlines()[-3:]
    assert said == [
        "  + kept as text, not read by the study: mine",
        "note: x.csv: 1 empty cell of column answer was read as an empty answer",
        "no faults",
    ]


def test_only_texts_can_stay_null():
    with pytest.raises(ValueError, match="column n: keep_null is for texts, not for float"):
        Column("n", "float", keep_null=True)


def test_published_solutions_that_are_null_are_no_answers(tmp_path):
    rows = [
        {"question": "a", "ground_truth": "A: 1", "m1": {"solution": None}, "m2": {"solution": "y"}, "other": None},
        {"question": "b", "ground_truth": "A: 1", "m1": {"solution": ""}, "m2": None, "other": None},
    ]  # fmt: skip
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, rows)))
    got = gsm8k.word_problems(raw_frame(tmp_path / "s.jsonl", (tmp_path / "s.jsonl").read_bytes()))
    assert got[["id", "model", "answer"]].values.tolist() == [
        ["q1", "m1", None], ["q1", "m2", "y"], ["q2", "m1", ""], ["q2", "m2", None],
    ]  # fmt: skip


def test_published_questions_without_answers_have_no_gold(tmp_path):
    rows = [
        {"question": "a", "answers": None, "ctxs": None, "answer": None},
        {"question": "b", "ctxs": [], "answer": ""},
        {"question": "c", "answers": ["x"], "ctxs": [{"title": None, "text": "t"}], "answer": "x"},
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    got = nq.questions({"answers": raw_frame(tmp_path / "q.jsonl", (tmp_path / "q.jsonl").read_bytes())}, said="answer")
    assert got["answers"]["reference"].tolist() == [[], [], ["x"]]
    assert got["answers"]["answer"].tolist() == [None, "", "x"]
    assert len(got["sources"]) == 1


@pytest.mark.parametrize(
    "text",
    ['{"id": "1", "output": "a", "output": "b"}', '{"id": "1", "list": [{"x": {"y": 1, "y": 1}}]}'],
    ids=["of a row", "deep within"],
)
def test_a_key_that_is_there_twice_is_refused(tmp_path, text):
    key = text.split('"')[-4 if "output" in text else -2]
    for name, raw in (("x.jsonl", text), ("x.json", f"[{text}]")):
        with pytest.raises(BadInput, match=f'an object has the key "{key}" more than once'):
            raw_frame(tmp_path / name, raw.encode())
    with pytest.raises(ValueError, match="more than once"):
        parsed_json(text)


def test_a_json_cell_with_a_doubled_key_is_refused():
    schema = {"items": Table((Column("id", "id"), Column("entry", "json")))}
    frame = pd.DataFrame({"id": ["1"], "entry": ['{"a": 1, "a": 2}']})
    with pytest.raises(BadInput, match="column entry: expected valid JSON"):
        load({"items": frame}, schema)


def test_nulls_in_lists_are_left_out_with_their_rows(tmp_path):
    path = tmp_path / "items.jsonl"
    references = [["yes", None], ["no", 7], [None]] + [["yes"]] * 40
    rows = [{"id": f"q{i}", "output": "yes", "reference": own} for i, own in enumerate(references)]
    path.write_text("\n".join(map(json.dumps, rows)))
    data = load(path, SCHEMA)
    assert data["items"]["reference"].tolist()[:3] == [["yes"], ["no", "7"], []]
    assert any("column reference: 2 nulls were left out of the lists (rows 1, 3)" in note for note in data.notes)


def test_many_nulls_in_lists_are_a_note_of_the_first_rank(tmp_path):
    path = tmp_path / "items.json"
    path.write_text(json.dumps([{"id": f"q{i}", "output": "yes", "reference": ["yes", None]} for i in range(20)]))
    (note,) = first_rank(load(path, SCHEMA).notes)
    assert note.short == "20 of 40 texts in the lists of column reference are null and were left out"


def test_what_is_no_text_in_a_list_is_refused_with_its_row(tmp_path):
    path = tmp_path / "items.json"
    path.write_text(json.dumps([{"id": "a", "output": "yes", "reference": ["yes", {"text": "no"}]}]))
    with pytest.raises(BadInput, match=r"column reference: expected a text, or a JSON list of texts.*row 1"):
        load(path, SCHEMA)
