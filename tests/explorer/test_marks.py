"""Marks made in the browser: saved at once, read by ``label merge``, blind ones apart from those made after the scores were seen."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from asked_server import asked
from click.testing import CliRunner

from evalbench.cli import group
from evalbench.errors import BadInput
from evalbench.explorer.marks import blinded, marks, merge_line, save
from evalbench.explorer.opened import open_run
from evalbench.explorer.rows import Rows

pytest.importorskip("duckdb", reason="peer not importable: duckdb")
HOSTILE = "<script>alert(1)</script>\u202e=1+1"


@pytest.fixture
def rows(folder: Path) -> Rows:
    return Rows(folder)


@pytest.fixture
def reports(folder: Path) -> Path:
    return folder.parent.parent


def mark(row: int, value: str = "1", annotator: str = "anna", **more: Any) -> dict[str, Any]:
    return {"row": row, "mark": value, "annotator": annotator, **more}


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
        ({"row": 999, "annotator": "anna"}, "there is no item 999"),
        ({"row": -1, "annotator": "anna"}, "there is no item -1"),
    ],
)
def test_what_is_no_mark_is_refused_and_nothing_is_written(rows: Rows, reports: Path, said: Any, fault: str) -> None:
    with pytest.raises(BadInput, match=fault.replace("(", r"\(")):
        save(reports, rows, said)
    assert not (reports / "marks").exists()


def test_all_faults_are_said_at_once(rows: Rows, reports: Path) -> None:
    with pytest.raises(BadInput) as found:
        save(reports, rows, {"row": 3, "annotator": "", "mark": "7"})
    assert "annotator" in str(found.value)
    assert "mark: one of" in str(found.value)


def test_the_last_mark_counts_and_blind_ones_are_apart(rows: Rows, reports: Path) -> None:
    save(reports, rows, mark(3, "0", where="model=birch"))
    save(reports, rows, mark(3, "1", comment=HOSTILE, where="model=birch"))
    save(reports, rows, mark(3, "0", blind=True))
    save(reports, rows, mark(4, "1"))
    save(reports, rows, mark(4, ""))
    found = marks(reports, rows)
    assert found[["row", "mark", "blind"]].values.tolist() == [[3, "0", True], [3, "1", False]]
    assert found["comment"].tolist() == ["", HOSTILE]
    assert found["where"].tolist() == ["", "model=birch"]
    assert open_run(rows.folder).marks().equals(found)


@pytest.mark.parametrize("name", ["../../up", "/etc/passwd", "..", "a/b", "con", "Анна", "a b", HOSTILE])
def test_no_name_leads_out_of_the_folder(rows: Rows, reports: Path, name: str) -> None:
    save(reports, rows, mark(0, annotator=name))
    written = [path for path in reports.rglob("*") if path.is_file() and rows.folder not in path.parents]
    assert len(written) == 2
    assert all(path.parent == reports / "marks" / "needle" / "run" for path in written)
    assert marks(reports, rows)["annotator"].tolist() == [name]


def test_names_that_look_alike_in_a_file_system_have_files_of_their_own(rows: Rows, reports: Path) -> None:
    for name in ("a b", "a_b", "a/b"):
        save(reports, rows, mark(0, annotator=name))
    assert sorted(marks(reports, rows)["annotator"]) == ["a b", "a/b", "a_b"]


def test_two_people_at_once_lose_nothing(rows: Rows, reports: Path) -> None:
    said = [mark(row, annotator=name) for row in range(60) for name in ("anna", "ben")]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: save(reports, rows, one), said))
    found = marks(reports, rows)
    assert found.groupby("annotator").size().to_dict() == {"anna": 60, "ben": 60}


def test_label_merge_reads_them_with_their_models(rows: Rows, reports: Path, tmp_path: Path) -> None:
    save(reports, rows, mark(2, "1"))
    save(reports, rows, mark(3, "0", comment="=1+1"))
    save(reports, rows, mark(4, "", skipped="cannot say"))
    save(reports, rows, mark(5, "1"))
    save(reports, rows, mark(5, ""))
    save(reports, rows, mark(2, "0", annotator="ben"))
    line = merge_line(reports, rows)
    out = tmp_path / "labels.csv"
    words = line.replace("'", "").split()[1:-2]
    result = CliRunner().invoke(group, [*words, "--out", str(out)])
    assert result.exit_code == 0, result.output
    labels = pd.read_csv(out).sort_values(["annotator", "doc_id", "system"])
    assert labels[["doc_id", "system", "annotator"]].values.tolist() == [
        ["q1", "birch", "anna"], ["q1", "oak", "anna"], ["q2", "oak", "anna"], ["q1", "oak", "ben"],
    ]  # fmt: skip
    assert labels["score"].fillna(-1).tolist() == [0, 1, -1, 0]
    assert labels["skipped"].tolist()[2] == "cannot say"


def test_a_blind_reader_sees_texts_and_not_who_answered_or_what_was_scored(rows: Rows) -> None:
    found = blinded(rows, 3)
    said = json.dumps(found, ensure_ascii=False)
    assert found["tables"] == {
        "texts": [{"question": "Вопрос 1 о Возврате", "answer": rows.item(3)["tables"]["texts"][1]["answer"]}]
    }
    for hidden in ("birch", "oak", "score", "reply", "unscored"):
        assert hidden not in said


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
    for wrong in (b"", b"[]", b"{", b"\xff"):
        assert asked(server, "/t/mark", method="POST", body=wrong, **ours).status == 400
    assert asked(server, "/t/mark", method="POST", body=b"1" * 200_000, **ours).status == 413
    assert not (reports / "marks").exists()
    assert asked(server, "/t/mark", method="POST", body=body, **ours).json["id"] == "q1"
    found = asked(server, "/t/marks", {"run": "needle/run", "row": 3}).json
    assert found["n"] == 1
    assert found["marks"][0]["annotator"] == "anna"
    assert "label merge" in found["line"]
