"""Marks made in the browser: saved at once, read by ``label merge``, blind ones apart from those made after the scores were seen."""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from asked_server import asked
from marked_rows import mark, merged
from some_studies import some_studies
from studied import whole

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.explorer.answers import about
from evalbench.explorer.mark_files import marks_of
from evalbench.explorer.marks import blinded, reveals, save
from evalbench.explorer.opened import open_run
from evalbench.explorer.rows import Rows
from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")
HOSTILE = "<script>alert(1)</script>\u202e=1+1"


@pytest.fixture
def reports(folder: Path) -> Path:
    return folder.parent.parent


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"row": "3", "annotator": "anna"}, "row: expected the place of an item"),
        ({"row": True, "annotator": "anna"}, "row: expected the place"),
        ({"row": 3}, "annotator: a name of 1 to 80 letters"),
        ({"row": 3, "annotator": "a\nb"}, "annotator: a name"),
        ({"row": 3, "annotator": "a" * 81}, "annotator: a name"),
        ({"row": 3, "annotator": 5}, "annotator: expected text"),
        ({"row": 3, "annotator": "anna", "mark": "2"}, "mark: one of 0, 1, or empty; got '2'"),
        ({"row": 3, "annotator": "anna", "skipped": "lazy"}, "skipped: 'cannot say' or empty"),
        ({"row": 3, "annotator": "anna", "comment": "x" * 10_001}, "comment: at most 10000 letters"),
        ({"row": 3, "annotator": "anna", "blind": "yes"}, "blind: expected true or false"),
        ({"row": 3, "annotator": "anna", "mark": "1", "skipped": "cannot say"}, "mark and skipped: only one"),
        ({"row": 3, "annotator": "anna", "comment": "\ud800"}, "comment: holds a lone surrogate"),
        ({"row": 3, "annotator": "\udfff"}, "annotator: holds a lone surrogate"),
        ({"row": 3, "annotator": "anna", "where": "score<", "blind": True}, "filter: a value is missing"),
        ({"row": 10**30, "annotator": "anna"}, "there is no item 1000"),
        ({"row": 999, "annotator": "anna"}, "there is no item 999"),
        ({"row": -1, "annotator": "anna"}, "there is no item -1"),
    ],
)
def test_what_is_no_mark_is_refused_and_nothing_is_written(rows: Rows, reports: Path, said: Any, fault: str) -> None:
    with pytest.raises(BadInput, match=fault.replace("(", r"\(")):
        save(rows, said)
    assert not (reports / "marks").exists()


def test_all_faults_are_said_at_once(rows: Rows, reports: Path) -> None:
    with pytest.raises(BadInput) as found:
        save(rows, {"row": 3, "annotator": "", "mark": "7"})
    assert "annotator" in str(found.value)
    assert "mark: one of" in str(found.value)


def test_the_last_mark_counts_and_blind_ones_are_apart(rows: Rows, reports: Path) -> None:
    save(rows, mark(3, "0", blind=True))
    save(rows, mark(3, "0", where="model=birch"))
    save(rows, mark(3, "1", comment=HOSTILE, where="model=birch"))
    save(rows, mark(4, "1"))
    save(rows, mark(4, ""))
    found = marks_of(rows.folder)
    assert found[["row", "mark", "blind"]].values.tolist() == [[3, "0", True], [3, "1", False]]
    assert found["comment"].tolist() == ["", HOSTILE]
    assert found["where"].tolist() == ["", "model=birch"]
    assert open_run(rows.folder).marks().equals(found)


@pytest.mark.parametrize("study", ["../../../evil", "/tmp/evil", "..", "marks/../../x"])
def test_a_study_that_a_stranger_named_leads_nowhere(changed: Any, reports: Path, study: str) -> None:
    rows = Rows(changed(study=study))
    save(rows, mark(3))
    (written,) = reports.parent.rglob("*.jsonl")
    assert written == reports / "marks" / "needle" / "run" / "anna.seen.jsonl"
    assert len(marks_of(rows.folder)) == 1


@pytest.mark.parametrize("name", ["../../up", "/etc/passwd", "..", "a/b", "con", "Анна", "a b", HOSTILE])
def test_no_name_leads_out_of_the_folder(rows: Rows, reports: Path, name: str) -> None:
    save(rows, mark(0, annotator=name))
    written = [path for path in reports.rglob("*") if path.is_file() and rows.folder not in path.parents]
    assert len(written) == 2
    assert all(path.parent == reports / "marks" / "needle" / "run" for path in written)
    assert marks_of(rows.folder)["annotator"].tolist() == [name]


def test_names_that_look_alike_in_a_file_system_have_files_of_their_own(rows: Rows, reports: Path) -> None:
    names = ["A b", "Anna", "a b", "a/b", "a_b", "anna", "Анна", "анна"]
    for name in names:
        save(rows, mark(0, annotator=name))
    assert sorted(marks_of(rows.folder)["annotator"]) == names
    files = [path.name for path in reports.glob("marks/*/*/*")]
    assert len({name.casefold() for name in files}) == len(files) == 2 * len(names)


@pytest.mark.slow
def test_two_people_at_once_lose_nothing(rows: Rows, reports: Path) -> None:
    said = [mark(row, annotator=name) for row in range(60) for name in ("anna", "ben")]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: save(rows, one), said))
    found = marks_of(rows.folder)
    assert found.groupby("annotator").size().to_dict() == {"anna": 60, "ben": 60}


def _save_many(folder: Path, first: int) -> None:
    rows = Rows(folder)
    for row in range(first, first + 20):
        save(rows, mark(row))


@pytest.mark.slow
def test_one_person_at_two_servers_loses_nothing(rows: Rows, reports: Path, tmp_path: Path) -> None:
    spawned = multiprocessing.get_context("spawn")
    at_once = [spawned.Process(target=_save_many, args=(rows.folder, first)) for first in (0, 20, 40)]
    for one in at_once:
        one.start()
    for one in at_once:
        one.join(60)
    assert [one.exitcode for one in at_once] == [0, 0, 0]
    assert sorted(marks_of(rows.folder)["row"]) == list(range(60))
    assert len(merged(rows, tmp_path)) == 60


@pytest.mark.parametrize(
    "comment",
    [
        "a\u2028b\u2029c",
        "a\x85b\x0bc\x1cd",
        "a\r\nb\rc",
        "\x00\x1b[2J",
        '"}\n{"',
        HOSTILE,
        "<b>",
        "\ufeff",
        "x" * 10_000,
    ],
)
def test_a_comment_is_a_text_whatever_it_holds(rows: Rows, reports: Path, tmp_path: Path, comment: str) -> None:
    save(rows, mark(3, comment=comment))
    save(rows, mark(4))
    assert marks_of(rows.folder)["comment"].tolist() == [comment, ""]
    assert len(merged(rows, tmp_path)) == 2


@pytest.mark.parametrize("torn", [b'{"page": "x', b"{", b'{"page": "\xd0', b"[1]", b"\x00\x00"])
def test_a_row_that_was_cut_is_no_mark_and_the_next_one_is_whole(
    rows: Rows, reports: Path, tmp_path: Path, torn: bytes
) -> None:
    save(rows, mark(3))
    (file,) = reports.glob("marks/*/*/*.jsonl")
    file.write_bytes(file.read_bytes() + torn)
    assert marks_of(rows.folder)["row"].tolist() == [3]
    save(rows, mark(4))
    assert marks_of(rows.folder)["row"].tolist() == [3, 4]
    assert len(merged(rows, tmp_path)) == 2


def test_a_last_row_without_its_end_is_kept(rows: Rows, reports: Path) -> None:
    save(rows, mark(3))
    (file,) = reports.glob("marks/*/*/*.jsonl")
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    assert marks_of(rows.folder)["row"].tolist() == [3]
    save(rows, mark(4))
    assert marks_of(rows.folder)["row"].tolist() == [3, 4]


@pytest.mark.parametrize("line", ["nonsense", "[]", '{"id": "1"}', '{"id": 1}', "[" * 100_000])
def test_a_file_with_other_rows_is_said_to_hold_them(rows: Rows, reports: Path, line: str) -> None:
    save(rows, mark(3))
    (file,) = reports.glob("marks/*/*/*.jsonl")
    file.write_text(f"{line}\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    with pytest.raises(BadInput, match=r"anna.seen.jsonl: row 1: not a mark"):
        marks_of(rows.folder)


def test_a_folder_that_cannot_be_written_is_a_sentence(rows: Rows, reports: Path) -> None:
    (reports / "marks").write_text("a file", encoding="utf-8")
    with pytest.raises(BadInput, match="the mark cannot be saved"):
        save(rows, mark(3))


def test_marks_are_asked_for_by_the_filter(rows: Rows, reports: Path) -> None:
    assert (rows.count("mark="), rows.count("mark!="), rows.count("mark=right")) == (60, 0, 0)
    save(rows, mark(2, "1"))
    save(rows, mark(3, "0", annotator="ben", blind=True))
    save(rows, mark(4, "", skipped="cannot say"))
    save(rows, mark(5, "", comment="odd"))
    save(rows, mark(6, "1"))
    save(rows, mark(6, ""))
    found = {
        term: rows.places(term).tolist()
        for term in ("mark=right", "mark=wrong|right", 'mark="cannot say"', "mark!=", "mark!=right", "-mark=")
    }
    assert found == {
        "mark=right": [2], "mark=wrong|right": [2, 3], 'mark="cannot say"': [4], "mark!=": [2, 3, 4, 5], "mark!=right": [3, 4, 5],
        "-mark=": [2, 3, 4, 5],
    }  # fmt: skip
    assert rows.count("mark= model=oak") == 28
    assert len(open_run(rows.folder).items("mark!=")) == 4
    for wrong, fault in (
        ("mark=good", "a mark is one of right, wrong, cannot say"),
        ("mark~right", "equal or not equal"),
    ):
        with pytest.raises(BadInput, match=fault):
            rows.count(wrong)


def test_where_the_run_has_a_column_mark_those_of_a_reader_have_another_name(rows: Rows, reports: Path) -> None:
    save(rows, mark(2, "1"))
    items = rows.frame()
    items.assign(mark=1).to_parquet(rows.folder / "items.parquet")
    again = Rows(rows.folder)
    assert again.places("my_mark!=") == again.places("my_mark=right") == [2]
    assert again.count("mark=1") == again.n
    assert about("needle/run", again)["mark"] == "my_mark"
    assert about("needle/run", rows)["mark"] == "mark"
    assert reveals(again, "my_mark=right mark=1", "") == ["mark"]
    with pytest.raises(BadInput, match="no column 'my_mark'"):
        rows.count("my_mark=right")


@pytest.mark.parametrize(
    ("where", "sort", "named"),
    [
        ("score<0.5", "", ["score"]), ("", "-score", ["score"]), ("model=oak", "id", ["model"]), ("light=red", "", ["light"]),
        ("reply~yes -unscored=", "", ["reply", "unscored"]), ("question~x mark= refund", "-id", []), ("", "", []),
    ],
)  # fmt: skip
def test_a_filter_that_says_the_score_leaves_no_mark_blind(
    rows: Rows, reports: Path, where: str, sort: str, named: list[str]
) -> None:
    assert reveals(rows, where, sort) == named
    said = save(rows, mark(3, blind=True, where=where, sort=sort))
    assert said["blind"] is (not named)
    assert marks_of(rows.folder)[["blind", "where", "sort"]].values.tolist() == [[not named, where, sort]]


def test_an_item_that_was_marked_after_seeing_is_not_marked_blind_any_more(rows: Rows, reports: Path) -> None:
    assert save(rows, mark(3, blind=True))["blind"] is True
    save(rows, mark(3))
    save(rows, mark(3, ""))
    assert save(rows, mark(3, "0", blind=True))["blind"] is False
    assert save(rows, mark(4, blind=True))["blind"] is True
    assert save(rows, mark(3, annotator="ben", blind=True))["blind"] is True
    assert marks_of(rows.folder)[["row", "annotator", "mark", "blind"]].values.tolist() == [
        [3, "anna", "1", True], [4, "anna", "1", True], [3, "anna", "0", False], [3, "ben", "1", True],
    ]  # fmt: skip


def test_a_blind_reader_sees_texts_and_not_who_answered_or_what_was_scored(rows: Rows) -> None:
    found = blinded(rows, 3)
    said = json.dumps(found, ensure_ascii=False)
    assert found["tables"] == {
        "texts": [{"question": "Вопрос 1 о Возврате", "answer": rows.item(3)["tables"]["texts"][1]["answer"]}]
    }
    for hidden in ("birch", "oak", "score", "reply", "unscored"):
        assert hidden not in said


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(studies.names()))
def test_of_every_study_a_blind_reader_sees_texts_and_no_figure_and_no_group(tmp_path: Path, name: str) -> None:
    record(whole(name), tmp_path / name / "run")
    rows = Rows(tmp_path / name / "run")
    shown = [blinded(rows, row) for row in range(min(rows.n, 20))]
    assert any(one["item"] or one["tables"] for one in shown)
    columns = {
        column
        for one in shown
        for parts in ([one["item"]], *one["tables"].values())
        for part in parts
        for column in part
    }
    texts = {
        column.name for column in rows.columns.values() if column.kind in ("text", "list")
    }  # a figure may have the name of one
    hidden = {row["metric"] for row in rows.results["summary"]} - texts | {
        *rows.by,
        "unscored",
        "undefined",
        "correctness",
        "outcome",
    }
    assert not columns & hidden
    assert all(set(one["place"]) == {rows.id} for one in shown)


def test_the_server_saves_marks_of_its_own_page_only(rows: Rows, reports: Path) -> None:
    pytest.importorskip("starlette", reason="peer not importable: starlette")
    from evalbench.explorer.reports import Explorer
    from evalbench.explorer.server import app

    server = app(Explorer(reports), "t", ["127.0.0.1:1"])
    body = json.dumps({"run": "needle/run", **mark(3)}).encode()
    ours = {"origin": "http://127.0.0.1:1"}
    assert asked(server, "/t/mark", method="POST", body=body).status == 403
    assert asked(server, "/t/mark", method="POST", body=body, origin="http://evil.example").status == 403
    assert asked(server, "/t/mark").status == 405
    for wrong in (b"", b"[]", b"{", b"\xff", b"[" * 90_000, b'{"run": "needle/../needle/run/../../x"}'):
        assert asked(server, "/t/mark", method="POST", body=wrong, **ours).status == 400
    assert asked(server, "/t/mark", method="POST", body=b"1" * 200_000, **ours).status == 413
    assert not (reports / "marks").exists()
    assert asked(server, "/t/mark", method="POST", body=body, **ours).json["id"] == "q1"
    found = asked(server, "/t/marks", {"run": "needle/run", "row": 3}).json
    assert found["n"] == 1
    assert found["marks"][0]["annotator"] == "anna"
    assert "label merge" in found["line"]
