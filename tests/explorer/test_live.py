"""Runs that have not ended, and runs that ended without results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked_server import asked

from evalbench.core import progress
from evalbench.errors import BadInput
from evalbench.explorer.live import live
from evalbench.explorer.opened import open_run
from evalbench.runs import folder as folders
from evalbench.runs.closing import close
from evalbench.runs.kernel import Ended

STATE = {
    "what": "asking openai/m", "done": 30, "total": 90, "unit": "replies", "fresh": 30, "failed": 2, "elsewhere": 0, "since": 0.0,
    "tokens": 4500, "cost": 0.01,
}  # fmt: skip
Begun = Callable[..., Path]


@pytest.fixture
def begun(tmp_path: Path) -> Begun:
    """A folder of a run that has begun; by default of this process, which is alive."""

    def make(name: str = "A", **more: Any) -> Path:
        at = tmp_path / "reports" / "needle" / name
        at.mkdir(parents=True)
        run = {
            "status": "running",
            "study": "needle",
            "run_id": name,
            "started": folders.now(),
            "host": folders.host(),
            "process": os.getpid(),
        }
        (at / "run.json").write_text(json.dumps({**run, **more}), encoding="utf-8")
        return at

    return make


def test_what_a_run_is_at_is_said_while_it_runs(begun: Begun) -> None:
    folder = begun()
    assert live(folder)["at"] == ""
    (folder / progress.NAME).write_text(json.dumps(STATE), encoding="utf-8")
    found = live(folder)
    assert (found["status"], found["done"], found["total"], found["finished"]) == ("running", 30, 90, False)
    for part in ("30 of 90 replies", "2 failed", "4500 tokens", "cost 0.0100 so far", "left"):
        assert part in found["at"]


@pytest.mark.parametrize("wrong", ["", "{", "[1]", '{"what": 3, "done": "x", "total": []}', '{"what": null}'])
def test_a_state_that_cannot_be_read_is_none(begun: Begun, wrong: str) -> None:
    folder = begun()
    (folder / progress.NAME).write_text(wrong, encoding="utf-8")
    found = live(folder)
    assert (found["status"], found["done"]) == ("running", None)


def test_a_run_whose_process_is_gone_has_died(begun: Begun) -> None:
    assert live(begun(process=2**22 + 1))["status"] == "died"
    assert live(begun("B", process=2**22 + 1, host="another machine"))["status"] == "running"


def test_where_a_run_stopped_is_kept_and_no_file_is_left(begun: Begun) -> None:
    folder = begun()
    (folder / progress.NAME).write_text(json.dumps(STATE), encoding="utf-8")
    (folder / f"{progress.NAME}.1-2").write_text("x", encoding="utf-8")
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    close(folder, run, Ended("died", "the process that ran it is gone"))
    assert not list(folder.glob("progress*"))
    found = live(folder)
    assert (found["status"], found["at"]) == ("died", "asking openai/m, 30 of 90 replies")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "It stopped at: asking openai/m, 30 of 90 replies." in page


def test_an_unfinished_run_is_not_opened_in_a_notebook(begun: Begun) -> None:
    with pytest.raises(BadInput, match="results.json|finished"):
        open_run(begun())


def test_the_server_says_what_runs_are_at(begun: Begun) -> None:
    pytest.importorskip("starlette", reason="peer not importable: starlette")
    pytest.importorskip("duckdb", reason="peer not importable: duckdb")
    from evalbench.explorer.reports import Explorer
    from evalbench.explorer.server import app

    folder = begun()
    (folder / progress.NAME).write_text(json.dumps(STATE), encoding="utf-8")
    server = app(Explorer(folder.parent.parent), "t", ["127.0.0.1:1"])
    (run,) = asked(server, "/t/runs").json
    assert (run["run"], run["status"]) == ("needle/A", "running")
    assert run["at"].startswith("asking openai/m, 30 of 90 replies")
    assert asked(server, "/t/live", {"run": "needle/A"}).json["total"] == 90
    assert asked(server, "/t/live", {"run": "needle/../.."}).status == 400
    begun("B", process=2**22 + 1)
    assert {one["status"] for one in asked(server, "/t/runs").json} == {"running", "died"}
