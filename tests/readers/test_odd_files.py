"""Whatever a file holds, it is read or refused in one message."""

import pyarrow as pa
import pytest
from generated import one_in_twenty
from odd_files import COLUMNS, FORMS, odd_files, parquet, sound

from evalbench.errors import BadInput
from evalbench.readers import parquet as reader
from evalbench.readers.dataset import load
from evalbench.readers.files import raw_frame
from evalbench.readers.schema import Column, Table

CASES = list(odd_files())
SCHEMA = {
    "items": Table(
        (
            Column("id", "id"),
            Column("text", "text", empty_ok=True),
            Column("number", "float", required=False, empty_ok=True, low=-10),
            Column("whole", "int", required=False, empty_ok=True),
            Column("flag", "bool", required=False, empty_ok=True),
            Column("at", "ts", required=False, empty_ok=True),
            Column("spans", "spans", required=False, empty_ok=True),
        ),
        unique=("id",),
    ),
    "marks": Table((Column("id", "id"), Column("text", "json", empty_ok=True)), nested="other", required=False),
}


def test_there_are_many_and_none_twice():
    assert len({name for name, *_ in CASES}) == len(CASES) > 600


@pytest.mark.parametrize("form", FORMS)
def test_the_files_that_are_broken_read_before(tmp_path, form):
    (tmp_path / f"x.{form}").write_bytes(sound(form))
    frame = load(tmp_path / f"x.{form}", SCHEMA)["items"]
    assert frame["id"].tolist() == ["a1", "a2", "a3"]
    assert frame["number"].tolist() == [1.5, -2, 0]
    assert frame["spans"].tolist() == [[[0, 2]], [], [[1, 2]]]


@pytest.mark.generated
@pytest.mark.soak
@pytest.mark.filterwarnings("error", "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("name", "form", "made"), one_in_twenty(CASES), ids=lambda v: v if isinstance(v, str) else "")
def test_odd_files_are_read_or_refused(tmp_path, name, form, made):
    file = tmp_path / f"x.{form}"
    file.write_bytes(made())
    try:
        tables = load(file, SCHEMA).tables
    except BadInput as error:
        said = str(error)
    else:
        assert all(map(len, tables.values()))
        return
    assert file.name in said
    assert len(said) < 20_000


def test_a_file_with_more_cells_than_are_read_is_refused_by_its_footer(tmp_path):
    file = pa.nulls(reader.MOST_CELLS + 1, pa.int8())
    raw = parquet({"id": file})
    assert len(raw) < 1_000_000
    with pytest.raises(
        BadInput, match=r"100000001 cells \(100000001 rows, 1 columns\), at most 100000000 are read: leave out"
    ):
        raw_frame(tmp_path / "x.parquet", raw)


def test_items_of_lists_count_as_cells(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "MOST_CELLS", 99)
    with pytest.raises(BadInput, match="100 cells"):
        raw_frame(tmp_path / "x.parquet", parquet({"id": pa.array([[0] * 50, [1] * 50])}))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("invalid UTF-8", r"column text: a text is not UTF-8; write the file with UTF-8 texts \(rows 2, 3\)"),
        (
            "unknown time zone",
            r"column text: a cell of type timestamp.*Mars/Olympus.* cannot be read .*\(rows 1, 2, 3\)",
        ),
        ("dates beyond the calendar", r"column text: a cell of type date32\[day\] cannot be read .*\(row 2\)"),
        ("binary", r"column text: expected texts, .*, found a bytes \(rows 1, 2\)"),
        ("durations", r"column text: expected texts, .*, found a timedelta \(rows 1, 2, 3\)"),
    ],
)
def test_cells_that_cannot_be_read_are_told_by_column_and_rows(tmp_path, column, message):
    with pytest.raises(BadInput, match=message):
        raw_frame(tmp_path / "x.parquet", parquet({"id": pa.array(["a", "b", "c"]), "text": COLUMNS[column]()}))


def test_cells_of_parquet_are_what_json_has(tmp_path):
    columns = {
        name: COLUMNS[name]() for name in ("known time zone", "decimals", "dictionary", "structs of texts", "maps")
    }
    frame = raw_frame(tmp_path / "x.parquet", parquet(columns))
    assert frame["known time zone"].tolist()[0] == "1970-01-01T03:00:00+03:00"
    assert frame["decimals"].tolist() == [1.5, None, -2.25]
    assert frame["dictionary"].tolist() == ["a", None, "a"]
    assert frame["structs of texts"].tolist() == [{"a": "x"}, None, {"a": "y"}]
    assert frame["maps"].tolist() == [[["k", 1]], None, []]


@pytest.mark.parametrize("number", ["1e30", str(2**60), "1e999", "9" * 400])
def test_whole_numbers_that_a_float_cannot_hold_are_refused(tmp_path, number):
    for form, text in (
        ("csv", f"id,text,whole\na,b,{number}\n"),
        ("jsonl", f'{{"id": "a", "text": "b", "whole": {number}}}\n'),
    ):
        (tmp_path / f"x.{form}").write_text(text)
        with pytest.raises(BadInput, match=r"column whole: expected a whole number.* \(row [12]\)"):
            load(tmp_path / f"x.{form}", SCHEMA)
