"""The server: who may ask, what it answers, and that nothing leads out of the folder of reports."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from asked_server import Answer, asked

pytest.importorskip("duckdb", reason="peer not importable: duckdb")
pytest.importorskip("starlette", reason="peer not importable: starlette")

from evalbench.explorer.reports import Explorer
from evalbench.explorer.server import app

TOKEN, HOSTS = "a-token", ["127.0.0.1:1", "localhost:1"]
RUN = {"run": "needle/run"}


@pytest.fixture
def server(folder: Path) -> Any:
    return app(Explorer(folder.parent.parent), TOKEN, HOSTS)


def get(server: Any, name: str, **values: Any) -> Answer:
    return asked(server, f"/{TOKEN}/{name}", values)


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/", {}), ("/runs", {}), (f"/{TOKEN}", {}), (f"/{TOKEN[:-1]}/runs", {}), (f"/{TOKEN}x/runs", {}), (f"//{TOKEN}/runs", {}),
        (f"/{TOKEN}/runs", {"host": "evil.example"}), (f"/{TOKEN}/runs", {"host": "127.0.0.1:2"}), (f"/{TOKEN}/runs", {"host": ""}),
        (f"/{TOKEN}/runs", {"origin": "https://evil.example"}), (f"/{TOKEN}/runs", {"origin": "null"}),
        (f"/{TOKEN}/runs", {"method": "POST"}), (f"/{TOKEN}/runs", {"method": "POST", "sec_fetch_site": "cross-site"}),
    ],
)  # fmt: skip
def test_only_its_own_page_may_ask(server: Any, path: str, more: dict[str, str]) -> None:
    found = asked(server, path, **more)
    assert found.status == 403
    assert b"needle" not in found.body


def test_every_answer_forbids_what_the_page_does_not_need(server: Any) -> None:
    for name in ("", "runs", "static/main.js", "static/style.css", "static/nothing.js", "nothing", "items"):
        headers = get(server, name).headers
        assert "default-src 'none'" in headers["content-security-policy"], name
        assert "unsafe" not in headers["content-security-policy"], name
        assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
    assert asked(server, f"/{TOKEN}/runs", host="localhost:1", origin="http://localhost:1").status == 200


@pytest.mark.parametrize("run", ["", "..", "../..", "needle", "needle/../..", "/etc/passwd", "needle/run/..", "needle/run/x", "no/such", "needle/%2e%2e"])  # fmt: skip
def test_a_name_that_leads_elsewhere_is_no_run(server: Any, run: str) -> None:
    for name in ("about", "items", "report"):
        found = get(server, name, run=run)
        assert found.status == 400
        assert found.json["fault"].startswith("there is no run")


def test_a_link_out_of_the_reports_is_no_run(folder: Path, server: Any, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "needle" / "run"
    shutil.copytree(folder, elsewhere)
    (folder.parent / "link").symlink_to(elsewhere)
    assert get(server, "about", run="needle/link").status == 400


def test_files_of_the_page_are_served_and_nothing_else(server: Any) -> None:
    assert get(server, "").headers["content-type"].startswith("text/html")
    assert get(server, "static/main.js").headers["content-type"].startswith("text/javascript")
    for name in ("../server.py", "..%2fserver.py", "server.py", "__init__.py", ""):
        assert get(server, f"static/{name}").status == 404


def test_what_the_page_asks(server: Any, folder: Path) -> None:
    assert [(run["run"], run["light"]) for run in get(server, "runs").json] == [("needle/run", "red")]
    about = get(server, "about", **RUN).json
    assert (about["n"], about["id"], about["by"], about["light"]) == (60, "id", ["model"], "red")
    assert {"name": "question", "kind": "text", "table": "texts"} in about["columns"]
    assert "green_from" in [option["name"] for option in about["options"]]
    found = get(server, "items", **RUN, where="model=oak", sort="-score", limit=5).json
    assert (found["total"], found["n"], len(found["rows"])) == (60, 30, 5)
    assert get(server, "item", **RUN, row=3).json["tables"]["texts"][1]["answer"].startswith("<img")
    assert get(server, "distribution", **RUN, column="model", where="whole=1").json["counts"] == [15, 0]
    code = get(server, "code", **RUN, where="model=oak", options='{"green_from": 0.9}').json["code"]
    assert compile(code, "cell", "exec")
    assert str(folder) in code


@pytest.mark.parametrize(
    ("name", "values", "fault"),
    [
        ("items", {"where": "nowhere=1"}, "there is no column 'nowhere'"),
        ("items", {"limit": 5000}, "limit must be from 1 to 1000"),
        ("items", {"offset": "x"}, "offset must be a whole number, got 'x'"),
        ("item", {"row": 99}, "there is no item 99"),
        ("distribution", {"column": "no"}, "the items have no column 'no'"),
        ("standing", {"options": "{"}, "options: not JSON"),
        ("standing", {"options": "[1]"}, "options: expected an object"),
        ("standing", {"options": '{"seed": 1}'}, "seed: other scores are needed: a new run"),
        ("report", {}, "the run has no page"),
    ],
)
def test_faults_are_sentences(server: Any, name: str, values: dict[str, Any], fault: str) -> None:
    found = get(server, name, **RUN, **values)
    assert found.status == 400
    assert fault in found.json["fault"]


def test_the_page_of_a_run_is_shown_without_its_scripts(server: Any, folder: Path) -> None:
    (folder / "report.html").write_text("<script>alert(1)</script>", encoding="utf-8")
    policy = get(server, "report", **RUN).headers["content-security-policy"]
    assert "sandbox" in policy
    assert "script-src" not in policy


def test_runs_in_progress_removed_and_written_anew(server: Any, folder: Path) -> None:
    assert get(server, "items", **RUN).json["n"] == 60
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    (folder / "results.json").unlink()
    (folder / "run.json").write_text(
        json.dumps({"status": "running", "study": "needle", "run_id": "run"}), encoding="utf-8"
    )
    assert get(server, "items", **RUN).json["fault"] == "needle/run: has no results yet (running)"
    assert get(server, "runs").json[0]["status"] == "running"
    (folder / "results.json").write_text(json.dumps({**results, "sentence": "It is now."}), encoding="utf-8")
    assert get(server, "about", **RUN).json["sentence"] == "It is now."
    shutil.rmtree(folder)
    assert get(server, "items", **RUN).json["fault"].startswith("there is no run")


def test_many_at_once_get_their_own_answers(server: Any) -> None:
    def ask(i: int) -> bool:
        return bool(get(server, "items", **RUN, where=f"id=q{i % 30}", limit=5).json["n"] == 2)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(80)))
