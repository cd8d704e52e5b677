"""What the pages say is run as far as it can be here: suites are read, Python is executed, the hooks around a papermill run work."""

from __future__ import annotations

import json
import re
import sys
import types
from pathlib import Path
from typing import Any

import papermill
import pytest
import yaml
from chat import chat_endpoint
from documents import code_blocks, pages

from evalbench.report.history import read_runs

ROOT = Path(__file__).resolve().parents[1]
PAGES = [page for page in pages() if page.startswith("docs/")]
TEXT = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)


def blocks(language: str) -> list[str]:
    return [code for page in PAGES for code in code_blocks(page, language)]


def test_every_yaml_of_the_recipes_parses():
    assert len(blocks("yaml")) == 7
    assert all(yaml.safe_load(block) for block in blocks("yaml"))


def test_the_taxonomy_of_the_recipes_is_one(tmp_path):
    from evalbench.studies.trajectories.taxonomy import read_taxonomy

    (own,) = [block for block in blocks("yaml") if block.startswith("groups:")]
    (tmp_path / "kinds.yaml").write_text(own)
    assert read_taxonomy(tmp_path / "kinds.yaml").names == ("wrong_page", "misread")


@pytest.mark.model
def test_the_metrics_of_one_s_own(monkeypatch):
    monkeypatch.setenv("EVALBENCH_ROOT", str(ROOT))
    (code,) = [code for code in blocks("python") if "hub" in code]
    names: dict[str, dict[str, float]] = {}
    exec(code, names)
    assert names["found"]["last_word"] == 0.5


def test_a_rag_of_one_s_own(monkeypatch):
    monkeypatch.setenv("EVALBENCH_ROOT", str(ROOT))
    (code,) = [code for code in blocks("python") if "rag_tuning" in code]
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["tuned"].parameters["chunker"] == "function:by_lines"
    assert names["tuned"].estimate("f1_score", setting="k=5").n == 25


def test_every_option_of_the_recipes_exists():
    from evalbench.commands.batch import batch

    known = {option for parameter in batch.params for option in parameter.opts}
    said = {word for line in re.findall(r"evalbench batch [^\n`]*", TEXT) for word in re.findall(r"--[a-z-]+", line)}
    assert said
    assert said <= known


@pytest.mark.slow
def test_the_hooks_around_airflows_papermill_operator(tmp_path, monkeypatch):
    """A stand-in operator that does what the real one does: hook, papermill, hook."""
    made = {}

    class Operator:
        def __init__(self, **options):
            made.update(options)

    class Dag:
        def __init__(self, *_, **__): ...
        def __enter__(self): ...
        def __exit__(self, *_): ...

    for name in (
        "airflow",
        "airflow.providers",
        "airflow.providers.papermill",
        "airflow.providers.papermill.operators",
    ):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules["airflow"].DAG = Dag
    operators = types.ModuleType("airflow.providers.papermill.operators.papermill")
    operators.PapermillOperator = Operator
    monkeypatch.setitem(sys.modules, operators.__name__, operators)
    for name in ("EVALBENCH_RUN", "EVALBENCH_ROOT", "EVALBENCH_MARK"):
        monkeypatch.setenv(name, "")
    for name in ("notebooks", "data"):
        (tmp_path / name).symlink_to(ROOT / name)
    block = next(block for block in blocks("python") if "PapermillOperator" in block)
    exec(compile(block.replace("/srv/evalbench", str(tmp_path)), "recipe", "exec"), {})

    context = {"ts_nodash": "20261122T031500"}
    made["pre_execute"](context)
    output = made["output_nb"].replace("{{ ts_nodash }}", context["ts_nodash"])
    papermill.execute_notebook(
        made["input_nb"], output, parameters={**made["parameters"], "embed": "jaccard"}, progress_bar=False
    )
    made["post_execute"](context)
    (run,) = read_runs(tmp_path / "reports")
    assert run.status == "ok"
    assert run.headline is not None
    assert (tmp_path / "reports" / run.href).is_file()
    assert "matching" in (tmp_path / "reports" / "index.html").read_text(encoding="utf-8")


def test_changed_questions(capsys):
    (code,) = [code for code in blocks("python") if "augment" in code]
    exec(code, {})
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "How long is the trial period?"
    assert said[1] != said[0]
    assert "2" in said[4]


def test_the_log_of_an_application(monkeypatch, tmp_path):
    from evalbench.readers.log_store.log import Log

    (code,) = [code for code in blocks("python") if "logged(" in code]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALBENCH_LOG_KEY", "a key of the tests only")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    names: dict[str, Any] = {}
    with chat_endpoint(str.upper) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.name.partition("#")[0])
        exec(code, names)
    names["log"].close()
    assert names["said"] == "CAN I SEND IT BACK?"
    log = Log(tmp_path / "log.sqlite")
    answered, noted = sorted(log.rows(), key=lambda row: row["ts"])
    assert (answered["request"], answered["response"]) == ("Can I send it back?", "CAN I SEND IT BACK?")
    assert answered["client"] == noted["client"]
    assert answered["prompt_version"] == "v3"
    stages = json.loads(answered["stages"])
    assert stages["found"] == ["Returns within 30 days."]
    assert [call["model"] for call in stages["calls"]] == ["kestrel-2"]
    assert log.status().feedback == {"user": 1}
    assert names["log"].counts.lost == {}


def test_the_schedule_is_read(tmp_path):
    from evalbench.monitor.schedule import read_schedule

    (text,) = [block for block in blocks("yaml") if "metrics_from" in block]
    (tmp_path / "schedule.yaml").write_text(text)
    (tmp_path / "nightly.yaml").write_text(blocks("yaml")[0])
    (tmp_path / "monitored.json").write_text("{}")
    schedule = read_schedule(tmp_path / "schedule.yaml", ROOT)
    assert len(schedule.entries) == 5
    assert str(schedule.state) == "postgresql://db.example/logs?user=evalbench"


def test_airflow_calls_the_schedule(monkeypatch):
    made: dict[str, dict[str, Any]] = {}

    class Dag:
        def __init__(self, name, **options):
            made[name] = options

        def __enter__(self): ...
        def __exit__(self, *_): ...

    operators = types.ModuleType("airflow.providers.standard.operators.bash")
    operators.BashOperator = lambda **options: made.update(due=options)
    for name in ("airflow", "airflow.providers", "airflow.providers.standard", "airflow.providers.standard.operators"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules["airflow"].DAG = Dag
    monkeypatch.setitem(sys.modules, operators.__name__, operators)
    (block,) = [block for block in blocks("python") if "monitor due" in block]
    exec(compile(block, "recipe", "exec"), {})
    assert made["monitor"]["catchup"] is False
    assert "evalbench monitor due schedule.yaml --fail-on red" in made["due"]["bash_command"]


def test_every_option_of_the_schedule_s_recipes_exists():
    from evalbench.commands.monitor import monitor

    lines = re.findall(r"evalbench monitor (\w+) ([^\n`\"]*)", TEXT)
    assert {name for name, _ in lines} <= set(monitor.commands)
    for name, rest in lines:
        known = {option for parameter in monitor.commands[name].params for option in parameter.opts}
        assert set(re.findall(r"(?<=\s)--[a-z-]+", f" {rest}")) <= known, name
