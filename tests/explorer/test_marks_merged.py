"""Marks of the browser as labels: what ``label merge`` makes of them, and a study that reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from marked_rows import mark, merged
from studied import evaluated, sample

from evalbench.explorer.marks import save
from evalbench.explorer.rows import Rows
from evalbench.kit.corrected_means import LABEL
from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")


def test_the_command_is_one_command_whatever_the_run_is_called(folder: Path, tmp_path: Path) -> None:
    other = folder.rename(folder.with_name("a'; echo 'run $(x)"))
    rows = Rows(other)
    save(rows, mark(3))
    assert len(merged(rows, tmp_path)) == 1


def test_label_merge_reads_them_with_their_models(rows: Rows, tmp_path: Path) -> None:
    save(rows, mark(2, "1"))
    save(rows, mark(3, "0", comment="=1+1"))
    save(rows, mark(4, "", skipped="cannot say"))
    save(rows, mark(5, "1"))
    save(rows, mark(5, ""))
    save(rows, mark(2, "0", annotator="ben"))
    labels = merged(rows, tmp_path).sort_values(["annotator", "id", "model"])
    assert labels[["id", "model", "annotator"]].values.tolist() == [
        ["q1", "birch", "anna"], ["q1", "oak", "anna"], ["q2", "oak", "anna"], ["q1", "oak", "ben"],
    ]  # fmt: skip
    assert labels["mark"].fillna(-1).tolist() == [0, 1, -1, 0]
    assert labels["skipped"].tolist()[2] == "cannot say"


def test_a_study_reads_the_marks_as_its_labels(tmp_path: Path) -> None:
    """A judge that calls half of the right answers wrong; a reader marks some of the items, blind; the figure is corrected."""
    judged: dict[str, Any] = {
        "judge": lambda item: (
            "CORRECT" if item["gold"][0] in item["answer"] and len(item["question"]) % 2 else "INCORRECT"
        ),
        "scorer": "judge",
    }
    before = evaluated("needle", sample("needle"), **judged)
    folder = tmp_path / "reports" / "needle" / "run"
    record(before, folder)
    rows = Rows(folder)
    items = rows.frame()
    for row in items.index[items["unscored"] == ""][::4]:
        save(rows, mark(int(row), str(int(row % 5 > 0)), blind=True))
    labels = merged(rows, tmp_path)
    after = evaluated("needle", sample("needle"), **judged, labels=str(tmp_path / "labels.csv"), labels_of="recall")
    column = f"{LABEL['random']}recall"
    assert after.items[column].notna().sum() == len(labels) > 100
    given = after.items[after.items[column].notna()].set_index(["id", "model"])[column]
    assert given.to_dict() == labels.set_index(["id", "model"])["mark"].to_dict()


def test_a_merged_mark_says_which_filter_and_order_led_to_its_item(rows: Rows, tmp_path: Path) -> None:
    """A filter by the group alone chooses among no group's items; what the reader looked for is named."""
    save(rows, mark(0))
    save(rows, mark(1, where="model=oak"))
    save(rows, mark(2, where='model=oak recall=0 question~"a b"', sort="-length"))
    save(rows, mark(3, sort="model"))
    found = merged(rows, tmp_path).set_index("id")["selected_by"].fillna("")
    assert sorted(found) == ["", "", "", 'recall=0 question~"a b", sorted by -length']


def test_marks_of_all_items_have_no_column_of_a_filter(rows: Rows, tmp_path: Path) -> None:
    save(rows, mark(0))
    assert "selected_by" not in merged(rows, tmp_path)
