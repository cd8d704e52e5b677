"""``evalbench data curate``: what is written, what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from evalbench.commands.data import data
from evalbench.errors import BadInput

ROWS = [
    ("id", "comment", "grade", "part"),
    ("1", "The room was clean.", "good", "train"),
    ("2", "the room was CLEAN", "good", "test"),
    ("3", "The lift is broken.", "bad", "train"),
    ("4", "The lift, is broken.", "good", "train"),
    ("5", "", "bad", "train"),
    ("6", "<script>alert(1)</script> | a pipe", "good", "train"),
]
NAMED = ["--text", "comment", "--label", "grade", "--split", "part", "--near", "2"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "mine.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows(ROWS)
    return file


def lines(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_the_rows_that_stay_the_findings_and_the_card(table: Path, tmp_path: Path) -> None:
    before = table.read_bytes()
    ran = CliRunner().invoke(
        data, ["curate", str(table), "--out", str(tmp_path / "out"), *NAMED], catch_exceptions=False
    )
    assert ran.exit_code == 0
    out = tmp_path / "out"
    assert lines(out / "rows.jsonl") == [dict(zip(ROWS[0], ROWS[i], strict=True)) for i in (2, 6)]
    assert [row["id"] for row in lines(out / "conflicts.jsonl")] == ["3", "4"]
    assert [(row["id"], row["kind"]) for row in lines(out / "findings.jsonl")] == [
        ("1", "leak"), ("3", "label-conflict"), ("4", "label-conflict"), ("5", "empty"),
    ]  # fmt: skip
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "2 rows stay of 6" in card
    assert "| label-conflict | 2 |" in card
    assert "- test: 1" in card
    assert "2 of 6 rows stay" in ran.output
    assert "1 (2): equal texts; this row in train, the other in test" in ran.output
    assert table.read_bytes() == before


def test_the_version_is_that_of_the_rows(table: Path, tmp_path: Path) -> None:
    cards = []
    for name, more in (("a", []), ("b", []), ("c", ["--hold-out", "train"])):
        CliRunner().invoke(
            data, ["curate", str(table), "--out", str(tmp_path / name), *NAMED, *more], catch_exceptions=False
        )
        cards.append((tmp_path / name / "README.md").read_text(encoding="utf-8").splitlines()[0])
    assert cards[0] == cards[1]
    assert cards[0] != cards[2]


def test_a_new_split_is_drawn(table: Path, tmp_path: Path) -> None:
    args = [
        "curate",
        str(table),
        "--out",
        str(tmp_path / "out"),
        "--text",
        "comment",
        "--near",
        "2",
        "--draw",
        "train=0.5",
        "--draw",
        "test=0.5",
    ]
    CliRunner().invoke(data, args, catch_exceptions=False)
    assert {row["split"] for row in lines(tmp_path / "out" / "rows.jsonl")} == {"train", "test"}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--draw", "train=most"], "expected name=share such as train=0.8"),
        (["--hold-out", "dev"], "no split 'dev'"),
        (["--text", "remark"], "text"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(
    table: Path, tmp_path: Path, more: list[str], why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        CliRunner().invoke(
            data, ["curate", str(table), "--out", str(tmp_path / "out"), *NAMED, *more], catch_exceptions=False
        )
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_empty_is_left_alone(table: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not empty: name a new folder"):
        CliRunner().invoke(data, ["curate", str(table), "--out", str(tmp_path), *NAMED], catch_exceptions=False)
