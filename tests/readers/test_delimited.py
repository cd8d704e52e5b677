"""CSV and TSV: what is refused rather than guessed, and that no cell is lost."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pandas as pd
import pytest

from evalbench.errors import BadInput
from evalbench.readers import delimited
from evalbench.readers.files import raw_frame, raw_table
from evalbench.readers.schema import Column, Table
from evalbench.readers.tables import checked


def frame(text: str, name: str = "t.csv"):
    return raw_frame(Path(name), text.encode())


class TestRefusals:
    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            ("1,a cat, sits\n2,b\n", ["row 2: 3, 1 too many"]),  # pandas cuts it off with no more than a warning
            ("1,a,\n2,b,\n", ["row 2: 3, 1 too many", "row 3: 3, 1 too many"]),  # ... in every row
            ("1\n2,b\n", ["row 2: 1, 1 too few"]),  # ... and fills up a short one in silence
            ('1,"a\nb"\n2,b,c\n', ["row 3: 3, 1 too many"]),  # a record is one row, however many lines it has
        ],
    )
    def test_rows_that_are_longer_or_shorter_than_the_header(self, rows, said):
        with pytest.raises(BadInput) as caught:
            frame("id,output\n" + rows)
        head, *lines = str(caught.value).splitlines()
        assert head == (
            "t.csv: the header has 2 cells, these rows have more or fewer "
            "(quote a cell that holds ',' or a line break):"
        )
        assert [line.removeprefix("  - ") for line in lines] == said

    def test_a_quote_without_end_or_an_unknown_encoding(self):
        with pytest.raises(BadInput, match="^t.csv: not a table: "):
            frame('id,output\n1,"a\n')
        with pytest.raises(BadInput, match=r"not UTF-8: byte 0xe9 in line 2; save the file with UTF-8 .*CSV UTF-8"):
            raw_frame(Path("t.csv"), "id\ncafé\n".encode("cp1252"))

    def test_uneven_rows_are_told_by_the_separator_that_the_header_has(self):
        with pytest.raises(BadInput, match=r"header has 2 cells, .*that holds ';' or a line break"):
            frame("id;output\n1;a;b\n")

    def test_a_column_in_other_letters_is_offered(self):
        with pytest.raises(BadInput, match=r"is 'ID' meant\? \(--map ID=id\)"):
            checked(frame("ID,x\n1,a\n"), Table((Column("id", "id"),), ("id",), help="one row per text"), "t.csv")

    def test_a_number_out_of_range_stands_as_in_the_file(self):
        table = Table(
            (Column("id", "id"), Column("start", "int", empty_ok=True, low=0)), ("id",), help="one row per text"
        )
        with pytest.raises(BadInput, match=r"column start: expected .*, found -1 \(row 2\)"):
            checked(frame("id,start\n1,-1\n2,\n"), table, "t.csv")


def test_no_cell_changes():
    text = '\ufeffid,output\r\n007,"a, ""b""\r\nc"\r\nNA,None\r\nd,\r\n\r\n'
    read = frame(text)
    assert read["id"].tolist() == ["007", "NA", "d"]
    assert read["output"].tolist() == ['a, "b"\r\nc', "None", ""]


def test_a_cell_longer_than_the_csv_module_s_limit():
    assert frame(f"id,output\n1,{'x' * 200_000}\n")["output"].str.len().tolist() == [200_000]


def test_headers_of_files_put_one_behind_another_are_no_rows():
    found, notes = raw_table(Path("t.csv"), b"id,output\na,x\nid,output\nb,y\nid,z\nid,output\n")
    assert found["id"].tolist() == ["a", "b", "id"]
    assert found.index.tolist() == [2, 4, 5]
    assert notes == ["rows 3, 6 are the header again, left out: were files put one behind another?"]


class TestReadAtOnce:
    """Even tables are read by Arrow, all others row by row: the same cells."""

    BITS = (
        "a",
        "b c",
        '"',
        " ",
        ",",
        "\n",
        "\r\n",
        ";",
        "\t",
        "",
        "é",
        "\u2028",
        "\x0b",
        "\x0c",
        '""',
        "NA",
        "\\",
        "nan",
    )

    def text(self, draw: random.Random) -> str:
        if draw.random() < 0.3:
            return "h1,h2\n" + "".join(draw.choices([*self.BITS, ",", "\n"], k=draw.randint(1, 14)))
        out = io.StringIO()
        writer = csv.writer(out, lineterminator=draw.choice(["\n", "\r\n"]))
        writer.writerow(["h1", "h 2", "h3"])
        writer.writerows(["".join(draw.choices(self.BITS, k=draw.randint(0, 3))) for _ in range(3)] for _ in range(3))
        return out.getvalue()

    def test_the_cells_are_those_of_reading_row_by_row(self, monkeypatch):
        draw, at_once = random.Random(11), 0
        for _ in range(1500):
            text = self.text(draw)
            found = delimited._even(text.encode(), ",")
            if found is None:
                continue
            at_once += 1
            read = frame(text) if len(found) else None
            with monkeypatch.context() as patched:
                patched.setattr(delimited, "_even", lambda raw, separator: None)
                if read is not None:
                    pd.testing.assert_frame_equal(read, frame(text))
        assert at_once > 500

    def test_a_first_cell_is_kept_that_is_empty_behind_a_line_of_a_carriage_return(self):
        assert frame("id,output\n\r,b c\n").to_numpy().tolist() == [["", "b c"]]


@pytest.mark.parametrize("tail", ["время, с", "cost, $"])
def test_a_comma_in_a_header_of_semicolons_is_no_separator(tail: str) -> None:
    rows = [f"вопрос;ответ;эталон;{tail}", *(f"q{i};a;b;1,{i}" for i in range(5))]
    found, notes = raw_table(Path("t.csv"), "\n".join(rows).encode())
    assert list(found.columns) == ["вопрос", "ответ", "эталон", tail]
    assert notes == ["its cells are separated by semicolons"]


def test_semicolons_within_cells_of_commas_stay_where_they_are() -> None:
    found, notes = raw_table(Path("t.csv"), b"id,a;b;c;d\n1,x;y;z;w\n2,p\n")
    assert found.to_numpy().tolist() == [["1", "x;y;z;w"], ["2", "p"]]
    assert notes == []


def test_a_word_of_two_scripts_does_not_hide_windows_1251() -> None:
    text = "вопрос,модель,ответ\n" + "Столица страны?,ЯндексGPT,Москва\n" * 5
    found, notes = raw_table(Path("t.csv"), text.encode("cp1251"))
    assert found["модель"].unique().tolist() == ["ЯндексGPT"]
    assert "Windows-1251" in notes[0]


@pytest.mark.parametrize("text", ["id," + "x" * 200_000 + "\n1,2\n", "id;" + "y" * 140_000 + ";z,w\n1;2;3\n"])
def test_a_header_may_be_of_any_length(text: str) -> None:
    assert len(frame(text)) == 1


def test_one_line_of_any_length_is_a_header_without_rows() -> None:
    with pytest.raises(BadInput, match=r"t\.csv: a header but no rows"):
        frame("x" * 200_000)
