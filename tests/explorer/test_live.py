"""Runs that have not ended, and runs that ended without results."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
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
SO_FAR = {"what": "mean", "value": 0.7, "low": 0.6, "high": 0.8, "n": 60, "unscored": 4, "of": 200}
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


@pytest.mark.parametrize(
    "wrong",
    [
        "", "{", "[1]", '{"what": 3, "done": "x", "total": []}', '{"what": null}', '{"done": true, "total": -1}', "[" * 90_000, "1" * 200_000,
        *(json.dumps({**STATE, "done": None, **more}) for more in (
            {"since": -1e308}, {"since": -math.inf}, {"total": 10**400}, {"fresh": 10**400}, {"cost": 10**400}, {"reasons": [1]},
            {"reasons": {"cut": -1, "x": "y", "z": True}}, {"verdicts": {"YES": 1.5, "NO": None}}, {"verdicts": "YES"},
            {"so_far": [1]}, {"so_far": {}}, {"so_far": {**SO_FAR, "value": math.nan}}, {"so_far": {**SO_FAR, "n": 10**30}},
            {"so_far": {**SO_FAR, "low": None}},
        )),
    ],
)  # fmt: skip
def test_a_state_that_cannot_be_read_is_none(begun: Begun, wrong: str) -> None:
    folder = begun()
    (folder / progress.NAME).write_text(wrong, encoding="utf-8")
    found = live(folder)
    assert (found["status"], found["done"], found["unscored"], found["verdicts"]) == ("running", None, {}, [])
    assert found["so_far"] is None
    json.dumps(found, allow_nan=False)


def test_a_state_is_read_from_a_plain_file_of_the_folder_alone(begun: Begun, tmp_path: Path) -> None:
    folder, elsewhere = begun(), tmp_path / "elsewhere.json"
    elsewhere.write_text('{"what": "a secret"}', encoding="utf-8")
    (folder / progress.NAME).symlink_to(elsewhere)
    assert live(folder)["at"] == ""
    (folder / progress.NAME).unlink()
    os.mkfifo(folder / progress.NAME)  # whoever reads it waits for ever
    assert live(folder)["at"] == ""


def test_verdicts_and_reasons_so_far_are_counted_with_an_interval(begun: Begun) -> None:
    folder = begun()
    state = {**STATE, "reasons": {"timeout": 2, "cut": 1}, "verdicts": {"YES": 15, "NO": 5}, "so_far": SO_FAR}
    (folder / progress.NAME).write_text(json.dumps(state), encoding="utf-8")
    found = live(folder)
    assert found["unscored"] == {"cut": 1, "timeout": 2}
    assert [(one["verdict"], one["n"], one["share"]) for one in found["verdicts"]] == [
        ("NO", 5, 0.25),
        ("YES", 15, 0.75),
    ]
    assert [round(found["verdicts"][1][end], 3) for end in ("low", "high")] == [0.531, 0.888]
    assert found["so_far"] == SO_FAR
    assert not {"light", "lights"} & set(found)


def test_a_judge_that_is_asked_leaves_its_verdicts_for_who_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scripted_endpoint import scripted_endpoint

    from evalbench.judge.tasks import reply_schema, task_of
    from evalbench.models.chat.collect import collect
    from evalbench.models.exchange import Request

    monkeypatch.setenv(progress.FILE, str(tmp_path / progress.NAME))
    monkeypatch.setenv("EVALBENCH_RUN", str(tmp_path))
    schema = reply_schema(task_of("correctness"))
    with scripted_endpoint() as endpoint:

        def verdicts(n: int, said: str) -> Any:
            endpoint.says(said)
            requests = [Request(f"{i}?", schema=schema) for i in range(n)]
            collect(requests, endpoint.name, cache=tmp_path / "kept.sqlite", max_retries=0, max_reasks=0)
            state = progress.told(tmp_path / progress.NAME)
            return state["verdicts"], state["reasons"], state["done"]

        assert verdicts(3, '{"reason": "so", "label": "CORRECT"}') == ({"CORRECT": 3}, {}, 3)
        # What was kept counts too: a run that goes on shows all of its replies.
        found = {"CORRECT": 3, "INCORRECT": 2}
        assert verdicts(5, '{"reason": "not so", "label": "INCORRECT"}') == (found, {}, 5)
        counts, reasons, done = verdicts(6, '{"reason": "what", "label": "PERHAPS"}')
        assert (counts, sum(reasons.values()), done) == (found, 1, 6)


def test_a_run_that_stops_early_says_its_figure_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evalbench.kit.stopping import Plan, ask_until_decided

    file = tmp_path / progress.NAME
    monkeypatch.setenv(progress.FILE, str(file))
    monkeypatch.setattr(progress, "_so_far", {})
    seen = []

    def ask(ids: Sequence[str]) -> list[float]:
        progress.at("asking m", 0, 10)
        seen.append(progress.told(file).get("so_far"))
        return [math.nan if name == "q3" else float(int(name[1:]) % 2) for name in ids]

    stopped = ask_until_decided(Plan.drawn([f"q{i}" for i in range(48)], seed=0, batch=16), ask)
    assert [None if one is None else (one["n"] + one["unscored"], one["of"]) for one in seen] == [
        None,
        (16, 48),
        (32, 48),
    ]
    assert seen[2]["low"] < seen[2]["value"] < seen[2]["high"]
    path = stopped.path
    assert seen[1] is not None
    assert (seen[1]["low"], seen[1]["high"]) == pytest.approx((path.low[0], path.high[0]), abs=0.02)


def test_a_run_whose_process_is_gone_has_died(begun: Begun) -> None:
    gone = begun(process=2**22 + 1)
    (gone / progress.NAME).write_text(json.dumps(STATE), encoding="utf-8")
    assert (live(gone)["status"], live(gone)["at"]) == ("died", "asking openai/m, 30 of 90 replies")
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
    going, ended = begun(), begun("B", status="timeout", was_at="asking m, 3 of 9 replies")
    (going / progress.NAME).write_text(json.dumps(STATE), encoding="utf-8")
    with pytest.raises(BadInput) as found:
        open_run(going)
    said = str(found.value)
    assert said.startswith(
        f"{going}: the run is not finished, asking openai/m, 30 of 90 replies, 2 failed, 4500 tokens"
    )
    assert said.endswith(f"left; evalbench view {going} follows it")
    with pytest.raises(
        BadInput, match=f"^{ended}: the run has no results: timeout; it stopped at asking m, 3 of 9 replies$"
    ):
        open_run(ended)
    with pytest.raises(BadInput, match=r"C: the run is not finished; evalbench view"):
        open_run(begun("C"))


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
