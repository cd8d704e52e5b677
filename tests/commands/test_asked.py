"""A table without a study: what can be asked of it, and a number at a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from evalbench.cli import group
from evalbench.commands import asked

ROOT = Path(__file__).resolve().parents[2]
ASKED = json.loads((ROOT / "docs" / "asked.schema.json").read_text(encoding="utf-8"))
RUN = json.loads((ROOT / "docs" / "run.schema.json").read_text(encoding="utf-8"))
TABLE = "id,question,output,reference\n1,1+1?,two,two\n2,2+2?,five,four\n3,3+3?,six,six\n"


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text(TABLE)
    return "mine.csv"


def said(*words, **how):
    return CliRunner().invoke(group, [*words], **how)


def test_check_without_a_study_says_what_can_be_asked(table) -> None:
    done = said("data", "check", table)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("mine.csv: 3 rows\n")
    assert "evalbench run text_metrics --data mine.csv\n" in done.stdout
    assert "cascade" in done.stdout.partition("Not ready")[2]


def test_check_as_json(table) -> None:
    done = said("data", "check", "-", "--json", input=TABLE)
    found = json.loads(done.stdout)
    Draft202012Validator(ASKED).validate(found)
    assert (found["data"], found["rows"]) == ("-", 3)
    assert [s["command"] for s in found["studies"] if s["ready"]] == ["evalbench run text_metrics --data -"]


def test_options_of_a_study_need_one(table) -> None:
    for words in (["-p", "k=3"], ["--study", "text_metrics", "--json"]):
        done = said("data", "check", table, *words)
        assert done.exit_code == 2
        assert "--study" in done.stderr


def test_run_without_a_study_lists_and_ends_with_2(table) -> None:
    done = said("run", "--data", table)
    assert done.exit_code == 2
    assert "evalbench run text_metrics --data mine.csv" in done.stdout
    assert done.stderr == "evalbench: name a study: evalbench run STUDY; ready for this table: text_metrics\n"
    assert not Path("reports").exists()


def test_run_without_a_study_as_json(table) -> None:
    done = said("run", "--data", table, "--json")
    found = json.loads(done.stdout)
    Draft202012Validator(RUN).validate(found)
    assert (done.exit_code, found["status"], found["exit_code"]) == (2, "refused", 2)
    assert "text_metrics" in found["error"]


def test_run_without_anything_is_a_fault_of_usage() -> None:
    done = said("run")
    assert done.exit_code == 2
    assert "Missing argument 'STUDY', or --data" in done.stderr


def test_at_a_terminal_a_number_is_asked_for(table, monkeypatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    found = asked.asked_of(table, {}, None)
    monkeypatch.setattr(asked, "sys", type("sys", (), {"stdin": Terminal(), "stdout": Terminal()}))
    monkeypatch.setattr(asked.click, "prompt", lambda *_, **__: 1)
    assert asked.chosen(found) == "text_metrics"


def test_no_study_is_ready(table) -> None:
    Path("odd.csv").write_text("colour\nred\n")
    done = said("run", "--data", "odd.csv")
    assert done.exit_code == 2
    assert "no study is ready for this table" in done.stderr


def test_list_for_a_file(table) -> None:
    done = said("list", "--for", table)
    assert done.exit_code == 0
    assert done.stdout.startswith("text_metrics\n")
    assert "not ready: " in done.stdout
    assert said("list", "matching", "--for", table).exit_code == 2
