"""Tables in the shapes that people have: read as the plain file is, with a note for each guess, or refused with a way out."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.readers.dataset import Dataset, load
from evalbench.readers.schema import Column, Table
from evalbench.readers.written import as_meant

Rows = list[dict[str, Any]]
ROWS: Mapping[str, Rows] = {
    "text_metrics": [
        {"id": "a1", "answer": "Москва, столица", "reference": ["Москва", "город Москва"]},
        {"id": "a2", "answer": "две; три", "reference": ["две", "три"]},
        {"id": "a3", "answer": "нет\tничего", "reference": ["не, знаю", "нет"]},
    ],
    "citation": [
        {"id": "a1", "question": "Где столица?", "answer": "В Москве [1].", "reference": ["Москва", "в Москве"]},
        {"id": "a2", "question": "Сколько?", "answer": "Две; или три", "reference": ["две", "три"]},
    ],
    "cot_levels": [
        {"id": "a1", "question": "Сколько, если 1 + 1?", "reference": "1 + 1 = 2\n#### 2", "answer": "1 + 1 = 2. Ответ: 2"},
        {"id": "a2", "question": "Сколько будет 2 + 2?", "reference": "2 + 2 = 4\n#### 4", "answer": "Четыре; то есть 4"},
    ],
    "human_correlation": [
        {"id": "a1", "answer": "Хорошо", "reference": ["Хорошо", "да"], "quality": 3.5},
        {"id": "a2", "answer": "Плохо", "reference": ["Хорошо", "да"], "quality": 1.25},
        {"id": "a3", "answer": "Так, себе", "reference": ["Хорошо", "да"], "quality": 2.75},
    ],
}  # fmt: skip


def cell(value: Any, separator: str, comma: bool = False, python: bool = False) -> str:
    if isinstance(value, list):
        text = str(value) if python else json.dumps(value, ensure_ascii=False)
    else:
        text = str(value).replace(".", ",") if comma and isinstance(value, float) else str(value)
    return '"' + text.replace('"', '""') + '"'


def table(rows: Rows, separator: str = ",", **how: bool) -> str:
    lines = [separator.join(rows[0]), *(separator.join(cell(v, separator, **how) for v in r.values()) for r in rows)]
    return "\n".join(lines) + "\n"


def lines(rows: Rows) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def without_id(rows: Rows) -> Rows:
    return [{key: value for key, value in row.items() if key not in ("id", "doc_id")} for row in rows]


def workbook(rows: Rows) -> bytes:
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append([json.dumps(v, ensure_ascii=False) if isinstance(v, list) else v for v in row.values()])
    book.create_sheet("notes")
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def parquet(rows: Rows) -> bytes:
    out = io.BytesIO()
    pd.DataFrame(rows).to_parquet(out)
    return out.getvalue()


NUMBERS = "was read as a decimal comma"
PYTHON = "in Python's form"
# A file's name, its bytes, and what its notes say, a part of each: {numbers} where the table has a column of numbers,
# {lists} where it has one of lists.
SHAPES: Mapping[str, tuple[str, Callable[[Rows], bytes], tuple[str, ...]]] = {
    "semicolons": ("x.csv", lambda r: table(r, ";").encode(), ("separated by semicolons",)),
    "semicolons, declared": ("x.csv", lambda r: ("sep=;\n" + table(r, ";")).encode(), ("separated by semicolons",)),
    "semicolons, Windows-1251, decimal commas": (
        "x.csv",
        lambda r: table(r, ";", comma=True).encode("cp1251"),
        ("Windows-1251", "separated by semicolons", "{numbers}"),
    ),
    "tabs in a CSV": ("x.csv", lambda r: table(r, "\t").encode(), ("separated by tabs",)),
    "commas in a TSV": ("x.tsv", lambda r: table(r).encode(), ("separated by commas",)),
    "UTF-16 text of Excel": ("x.txt", lambda r: table(r, "\t").encode("utf-16"), ("read as UTF-16",)),
    "UTF-8 with a mark": ("x.csv", lambda r: table(r).encode("utf-8-sig"), ()),
    "decimal commas": ("x.csv", lambda r: table(r, comma=True).encode(), ("{numbers}",)),
    "Python lists": ("x.csv", lambda r: table(r, python=True).encode(), ("{lists}",)),
    "CSV, compressed": ("x.csv.gz", lambda r: gzip.compress(table(r).encode()), ()),
    "lines, compressed": ("x.jsonl.gz", lambda r: gzip.compress(lines(r).encode()), ()),
    "results": ("x.json", lambda r: json.dumps({"model": "m", "results": r}).encode(), ('those under "results"',)),
    "data": ("x.json", lambda r: json.dumps({"data": r}).encode(), ('those under "data"',)),
    "lines called JSON": ("x.json", lambda r: lines(r).encode(), ("an object per line rather than one JSON value",)),
    "a list called lines": ("x.jsonl", lambda r: json.dumps(r, indent=1).encode(), ("is one JSON value rather than",)),
    "lines in UTF-16": ("x.jsonl", lambda r: lines(r).encode("utf-16"), ("read as UTF-16",)),
    "a workbook": ("x.xlsx", workbook, ("its first sheet 'Sheet' of 2 was read",)),
    "Parquet": ("x.parquet", parquet, ()),
}  # fmt: skip


def read(path: Path, study: str) -> Dataset:
    return studies.load(path, study=study)


def same(found: Dataset, plain: Dataset) -> None:
    assert list(found.tables) == list(plain.tables)
    for name, expected in plain.tables.items():
        got = found[name]
        assert list(got.columns) == list(expected.columns)
        for column in expected.columns:
            assert got[column].tolist() == expected[column].tolist(), column


@pytest.fixture
def plain(tmp_path: Path) -> Callable[[str, Rows], Dataset]:
    def made(study: str, rows: Rows) -> Dataset:
        (tmp_path / "plain.jsonl").write_text(lines(rows))
        return read(tmp_path / "plain.jsonl", study)

    return made


@pytest.mark.parametrize("study", ROWS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_read_as_the_plain_file_is(tmp_path, plain, study, shape):
    name, made, said = SHAPES[shape]
    rows = ROWS[study]
    (tmp_path / name).write_bytes(made(rows))
    found = read(tmp_path / name, study)
    same(found, plain(study, rows))
    kinds = {"{numbers}": (NUMBERS, float), "{lists}": (PYTHON, list)}
    parts = [kinds.get(part, (part, object)) for part in said]
    held = [part for part, kind in parts if any(isinstance(v, kind) for v in rows[0].values())]
    notes = [note for note in found.notes if "not used" not in note]
    assert len(notes) == len(held), notes
    for note, part in zip(notes, held, strict=True):
        assert note.startswith(f"{name}: ")
        assert part in note


@pytest.mark.parametrize("study", ROWS)
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_rows_without_ids_are_numbered(tmp_path, study, form):
    rows = without_id(ROWS[study])
    (tmp_path / f"x.{form}").write_text(table(rows) if form == "csv" else lines(rows))
    found = read(tmp_path / f"x.{form}", study)
    key = "id"
    frame = next(iter(found.tables.values()))
    assert frame[key].tolist() == [f"q{i:04d}" for i in range(1, len(rows) + 1)]
    said = f"x.{form}: no column {key}: the rows were numbered in their order, q0001 to q000{len(rows)}"
    assert [n for n in found.notes if "numbered" in n] == [f"{said} (--map COLUMN={key} takes a column instead)"]


@pytest.mark.parametrize("study", ROWS)
def test_a_folder_with_a_file_per_row(tmp_path, plain, study):
    rows, key = ROWS[study], "id"
    for folder, held in (("with", rows), ("without", without_id(rows))):
        (tmp_path / folder).mkdir()
        for row, content in zip(rows, held, strict=True):
            (tmp_path / folder / f"{row[key]}.json").write_text(json.dumps(content, indent=1))
        found = read(tmp_path / folder, study)
        same(found, plain(study, rows))
        notes = [n for n in found.notes if "not used" not in n]
        assert notes[0] == f"{folder}: its {len(rows)} JSON files were read as a row each, in the order of their names"
        assert [f"no column {key}: the names of the files were taken" in n for n in notes[1:]] == (
            [True] if folder == "without" else []
        )


class TestWaysOut:
    """Refused in one message, with what can be done."""

    @pytest.mark.parametrize(
        ("name", "raw", "said"),
        [
            ("x.csv", "id,answer\n1,café\n".encode("cp1252"), "byte 0xe9 in line 2; save the file with UTF-8 encoding (in Excel"),
            ("x.xls", b"\xd0\xcf\x11\xe0", "sheets of the form .xls are not read; save it as .xlsx or as CSV UTF-8"),
            ("x.xlsx", b"PK\x03\x04 no workbook", "not a workbook of Excel"),
            ("x.csv.gz", b"\x1f\x8b\x08\x00 no gzip", "the compressed file is damaged"),
            ("x.csv.gz", gzip.compress(b"", mtime=0), "the file is empty"),
            ("x.doc", b"id", "unknown file ending '.doc'; expected one of .csv, .tsv"),
            ("x.json", b'{"a": [{"id": 1}], "b": [{"id": 2}]}', "found such lists under 'a', 'b'; save each list as a file of its own"),
            ("x.json", b'{"id": "1", "answer": "a"}', "is it a single row? Put it in brackets: [ \u2026 ]"),
            ("x.csv", b"id;answer\n1;a;b\n", "quote a cell that holds ';'"),
            ("x.csv", b"answer,model\na,m1\nb,m2\n", "column id: is missing"),
        ],
    )  # fmt: skip
    def test_of_a_file(self, tmp_path, name, raw, said):
        (tmp_path / name).write_bytes(raw)
        with pytest.raises(BadInput) as caught:
            read(tmp_path / name, "text_metrics")
        assert said in str(caught.value)
        assert name in str(caught.value)

    def test_of_a_workbook_where_nothing_reads_it(self, tmp_path, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
        (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04")
        with pytest.raises(
            BadInput, match=r"openpyxl, which is not installed: pip install 'evalbench\[xlsx\]', or save"
        ):
            read(tmp_path / "x.xlsx", "text_metrics")

    def test_of_a_folder_of_other_things(self, tmp_path):
        (tmp_path / "a.json").write_text("[1]")
        (tmp_path / "b.json").write_text("{")
        with pytest.raises(BadInput) as caught:
            read(tmp_path, "text_metrics")
        assert [f.partition(" (")[0] for f in caught.value.faults] == [
            "a.json: expected one object, found list",
            "b.json: not valid JSON",
        ]

    def test_of_other_cyrillic_encodings(self, tmp_path):
        for encoding in ("koi8-r", "cp866"):
            (tmp_path / "x.csv").write_bytes("id,answer\n1,Привет всем\n".encode(encoding))
            with pytest.raises(BadInput, match="not UTF-8"):
                read(tmp_path / "x.csv", "text_metrics")
        (tmp_path / "x.csv").write_bytes("id,answer\n1,Привет всем, это проверка".encode() + b"\xd0\n")
        with pytest.raises(BadInput, match="not UTF-8: byte 0xd0 in line 2"):
            read(tmp_path / "x.csv", "text_metrics")


class TestWorkbooks:
    def test_rows_are_counted_as_excel_counts_them(self, tmp_path):
        book = openpyxl.Workbook()
        for row in (["id", "answer", None, "at"], [7, None], [None], ["8 ", "x", None, pd.Timestamp("2026-01-02")]):
            book.active.append(row)
        book.save(tmp_path / "x.xlsx")
        found = read(tmp_path / "x.xlsx", "text_metrics")
        assert found["items"].values.tolist() == [["7", "", ""], ["8", "x", "2026-01-02T00:00:00"]]
        assert "x.xlsx: 1 empty cell of column answer was read as an empty answer" in found.notes
        trimmed = 'x.xlsx: column id: 1 identifier has blanks at an end ("8 "); it is read without them'
        assert trimmed in found.notes


def test_identifiers_that_differ_in_blanks_alone_are_one(tmp_path):
    (tmp_path / "x.csv").write_text("id,answer\nD0 ,a\nD0,b\n")
    with pytest.raises(
        BadInput,
        match=r"column id: is duplicated; a column model or trial would tell them apart, found \"D0\" \(rows 2, 3\)",
    ):
        read(tmp_path / "x.csv", "text_metrics")
    (tmp_path / "x.csv").write_text("id,answer\n  ,a\nD0,b\n")
    with pytest.raises(BadInput, match=r"column id: empty; expected an identifier, not empty \(row 2\)"):
        read(tmp_path / "x.csv", "text_metrics")


class TestLists:
    SCHEMA = {"items": Table((Column("id", "id"), Column("reference", "texts", required=False, empty_ok=True)))}

    @pytest.mark.parametrize("form", ["json", "jsonl", "parquet"])
    def test_by_type_where_the_file_has_types(self, tmp_path, form):
        rows = [{"id": "1", "reference": '["a"]'}, {"id": "2", "reference": "[sic] b"}]
        (tmp_path / f"x.{form}").write_bytes(
            parquet(rows) if form == "parquet" else (lines(rows) if form == "jsonl" else json.dumps(rows)).encode()
        )
        found = load(tmp_path / f"x.{form}", self.SCHEMA)
        assert found["items"]["reference"].tolist() == [['["a"]'], ["[sic] b"]]
        assert not found.notes

    @pytest.mark.parametrize(
        ("text", "value", "note"),
        [
            ('["a", "b"]', ["a", "b"], ""),
            ("['a', \"b's\"]", ["a", "b's"], PYTHON),
            ("['a\\n', 'б',]", ["a\n", "б"], PYTHON),
            ("[]", [], ""),
            ("['a' 'b']", ["['a' 'b']"], "as a text"),  # numpy's form: its texts would run together
            ("['a', None]", ["a"], "without the nulls of its list"),
            ('["a", null, "b"]', ["a", "b"], "without the nulls of its list"),
            ("[null]", [], "without the nulls of its list"),
            ("['\\ud800']", ["['\\ud800']"], "as a text"),
            ("[1, 2]", ["[1, 2]"], "as a text"),
            ("[sic] a text", ["[sic] a text"], "as a text"),
            ("[" * 300, ["[" * 300], "as a text"),
            ("[__import__('os')]", ["[__import__('os')]"], "as a text"),
        ],
    )
    def test_of_a_sheet_where_they_are_lists_of_texts(self, tmp_path, text, value, note):
        (tmp_path / "x.csv").write_text(table([{"id": "1", "reference": text}]))
        found = load(tmp_path / "x.csv", self.SCHEMA)
        assert found["items"]["reference"].tolist() == [value]
        assert len(found.notes) == bool(note)
        assert all(note in said and "1 cell was read" in said for said in found.notes)

    def test_of_a_frame_with_lists_by_type(self):
        frame = pd.DataFrame({"id": ["1", "2"], "reference": [["a"], '["b"]']})
        assert load(frame, self.SCHEMA)["items"]["reference"].tolist() == [["a"], ['["b"]']]


class TestDecimalCommas:
    SCHEMA = Table((Column("id", "id"), Column("n", "float"), Column("said", "text", required=False)))

    @pytest.mark.parametrize(
        ("cells", "separator", "read"),
        [
            (["1,5", "2"], ",", ["1.5", "2"]),
            (["1,234", "2,5"], ",", ["1.234", "2.5"]),
            (["1,234", "20"], ",", None),  # a thousand, perhaps
            (["1,234", "20"], ";", ["1.234", "20"]),  # beside semicolons it is none
            (["0,125"], ",", ["0.125"]),
            (["1,5", "2.5"], ";", None),
            (["1,5", "about 3"], ";", None),
            (["1,000,000"], ";", None),
        ],
    )
    def test_are_read_where_the_whole_column_agrees(self, cells, separator, read):
        frame = pd.DataFrame({"id": "1", "n": cells, "said": cells, "own": cells})
        frame.attrs["separator"] = separator
        found, notes = as_meant(frame, self.SCHEMA, {})
        assert found["n"].tolist() == (read or cells)
        assert found["own"].tolist() == (read or cells)
        assert found["said"].tolist() == cells
        assert len(notes) == (2 if read else 0)


class TestPython:
    def test_one_frame_is_the_first_table(self):
        frame = pd.DataFrame(ROWS["text_metrics"])
        assert studies.load(frame, study="text_metrics")["items"]["id"].tolist() == ["a1", "a2", "a3"]
        with pytest.raises(BadInput, match="table predictions is missing .* as 'predictions' of a mapping of frames"):
            studies.load(pd.DataFrame({"id": ["1"], "text": ["Walk here"]}), study="matching")
        with pytest.raises(
            BadInput,
            match="frame items: expected a pandas DataFrame, a list of objects or a dict of columns, found int",
        ):
            studies.load(5, study="text_metrics")

    def test_what_becomes_a_frame(self):
        class Hub:
            """As a data set of Hugging Face: its lists become arrays."""

            def to_pandas(self) -> pd.DataFrame:
                rows = [{**row, "reference": np.array(row["reference"])} for row in ROWS["text_metrics"]]
                return pd.DataFrame(rows)

        for data in (Hub(), {"items": Hub()}):
            found = studies.load(data, study="text_metrics")
            assert found["items"]["reference"].tolist()[0] == ["Москва", "город Москва"]
        with pytest.raises(BadInput, match=r"unknown table train, test; .*take one of them, such as data\['train'\]"):
            studies.load({"train": Hub(), "test": Hub()}, study="text_metrics")


class TestRenames:
    def test_values_within_objects(self, tmp_path):
        rows = [
            {"id": "1", "reply": {"choices": [{"text": "a"}]}, "scores": {"all": {"mean": 1}}},
            {"id": "2", "reply": {"choices": []}, "scores": None},
        ]
        (tmp_path / "x.jsonl").write_text(lines(rows))
        columns = {"reply.choices.0.text": "answer", "scores.all.mean": "quality"}
        found = studies.load(tmp_path / "x.jsonl", study="text_metrics", columns=columns)
        assert found["items"]["answer"].tolist() == ["a", None]
        assert found["items"]["quality"].tolist() == ["1", ""]
        with pytest.raises(BadInput, match=r"no table has a column 'scores\.some' to rename"):
            studies.load(tmp_path / "x.jsonl", study="text_metrics", columns={"scores.some": "quality"})

    @pytest.mark.parametrize(
        ("columns", "said"),
        [
            ({"answer": "reference"}, r"column reference: already exists, so answer cannot be renamed to it; rename that one too"),
            ({"said": "answer"}, r"no table has a column 'said' to rename; answer exists, without a rename; there are id, answer"),
            ({"answers": "text"}, r"no table has a column 'answers' to rename; did you mean 'answer'\?"),
        ],
    )  # fmt: skip
    def test_that_cannot_be(self, tmp_path, columns, said):
        (tmp_path / "x.jsonl").write_text(lines(ROWS["text_metrics"]))
        with pytest.raises(BadInput, match=said) as caught:
            studies.load(tmp_path / "x.jsonl", study="text_metrics", columns=columns)
        assert len(caught.value.faults) == 1

    @pytest.mark.parametrize("order", [1, -1])
    def test_two_columns_that_change_places(self, tmp_path, order):
        (tmp_path / "x.csv").write_text("id,answer,reference\n1,a,b\n")
        columns = dict([("answer", "reference"), ("reference", "answer")][::order])
        found = studies.load(tmp_path / "x.csv", study="text_metrics", columns=columns)
        assert found["items"][["answer", "reference"]].values.tolist() == [["b", ["a"]]]

    def test_a_column_for_the_ids(self, tmp_path):
        (tmp_path / "x.csv").write_text("key,answer\nk7,a\nk8,b\n")
        found = studies.load(tmp_path / "x.csv", study="text_metrics", columns={"key": "id"})
        assert found["items"]["id"].tolist() == ["k7", "k8"]
        assert not found.notes
