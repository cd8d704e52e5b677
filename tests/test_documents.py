"""What README.md and the pages have as commands is run as it is there: blocks are taken out of the documents."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import click
import pytest
import yaml
from documents import ROOT, blocks, environment, pages, shell
from fake_gateway import fake_gateway
from waiting import wait_until

from evalbench.cli import group
from evalbench.report.history import read_runs
from evalbench.runs.notebooks import known_parameters
from evalbench.studies import names as study_names

README, BATCHES, MODELS = "README.md", "docs/batches.md", "docs/models.md"
COMPARING, RUNNING, START = "docs/comparing.md", "docs/running.md", "docs/start.md"


def solved(prompt: str) -> str:
    """An answer to a question, or a judge's label."""
    label = next((name for name in ("ENTAILMENT", "VERIFIED", "CORRECT") if name in prompt), "")
    return json.dumps({"reason": "it is said", "label": label}) if label else f"Ответ на: {prompt}"


@pytest.mark.slow
def test_gigachat_behind_a_fake_gateway(tmp_path: Path) -> None:
    """Replies, embeddings and verdicts; the gateway's key is in no file of the runs."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 8090)) == 0:
            pytest.skip("not on this platform: port 8090 of this machine is taken")
    (tmp_path / "home").mkdir()
    key = "key-of-the-gateway-0123456789"
    (tmp_path / "home" / ".gateway-key").write_text(key + "\n")
    rows = [{"id": f"q{i}", "prompt": f"Вопрос {i}?", "reference": f"Ответ на: вопрос {i}"} for i in range(6)]
    (tmp_path / "questions.jsonl").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    first, second = blocks(MODELS, "GigaChat", "bash")
    (aliases,) = blocks(MODELS, "GigaChat", "toml")
    builds = {"GigaChat": "GigaChat:2.0.28.2", "EmbeddingsGigaR": "EmbeddingsGigaR"}
    with fake_gateway(8090, key, solved, builds) as asked:
        said = shell(first, tmp_path, home=tmp_path / "home")
        (tmp_path / "models.toml").write_text(aliases)
        shell(f"{first.splitlines()[0]}\n{second}", tmp_path, home=tmp_path / "home")
    assert re.search(r"^chat +yes", said, re.MULTILINE)
    assert {(one.path, one.body["model"]) for one in asked} == {
        ("/v1/chat/completions", "GigaChat"),
        ("/v1/embeddings", "EmbeddingsGigaR"),
        ("/v1/embeddings", "GigaChat"),  # `models check` tries this too
    }
    assert {one.key for one in asked} == {key}
    runs = read_runs(tmp_path / "reports")
    assert sorted(run.study for run in runs) == ["citation", "text_metrics", "text_metrics"]
    for run in runs:
        folder = (tmp_path / "reports" / run.href).parent
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        assert record["status"] == "ok"
        assert record["other_models"] == {}
        assert not any(key.encode() in file.read_bytes() for file in folder.iterdir())
        if run.study == "text_metrics":
            summary = json.loads((folder / "results.json").read_text(encoding="utf-8"))["summary"]
            assert {row["n_unscored"] for row in summary} == {0}


JUPYTER_LAB = """#!/bin/sh
# A fake, which says where it was started: the real one waits for a browser.
pwd > "$HOME/lab"
"""
OPERATOR = """
class BashOperator:
    "A fake of Airflow's: it runs the command."
    def __init__(self, *, task_id, bash_command):
        import subprocess
        self.code = subprocess.run(["bash", "-c", bash_command]).returncode
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the README's first block makes, of the last commit."""
    if not (shutil.which("git") and shutil.which("make")):
        pytest.skip("not on this platform: there is no git or make")
    place = tmp_path_factory.mktemp("documents")
    (place / "home").mkdir()
    first = blocks(README, "Five minutes")[0].replace("<this repository>", str(ROOT))
    said = shell(first, place, home=place / "home", path=Path(sys.base_prefix) / "bin")
    assert "report.html" in said
    return place / "evalbench"


def activated(script: str, clone: Path, codes: tuple[int, ...] = (0,), **env: str) -> str:
    set_ = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in env.items())
    home, python = clone.parent / "home", Path(sys.base_prefix) / "bin"
    return shell(f"source .venv/bin/activate\n{set_}{script}", clone, home=home, path=python, codes=codes)


def old_and_new(clone: Path) -> None:
    """Two runs on answers to different users, and what was known of these users before: ``before.csv``."""
    known = ["id,score"]
    for name, at_hand in (("OLD", "old"), ("NEW", "new")):
        rows = [
            (f"{at_hand}{n}", f"a {'red' if n % 3 else 'green'} apple {n % 4}", f"a red apple {n % 2}")
            for n in range(12)
        ]
        known += [f"{i},{n % 3}" for n, (i, _, _) in enumerate(rows)]
        text = "\n".join(["id,output,reference", *map(",".join, rows)])
        (clone / f"{at_hand}.csv").write_text(text + "\n", encoding="utf-8")
        run = f"evalbench run text_metrics -q --data {at_hand}.csv -p 'metrics=[\"f1_score\"]'"
        Path(activated(run, clone).split()[-1]).parent.rename(clone / "reports" / "text_metrics" / name)
    (clone / "before.csv").write_text("\n".join(known) + "\n", encoding="utf-8")


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.timeout(2400)
def test_the_readme_from_a_clone_to_a_comparison(clone: Path, sample_run: Callable[[str], Path]) -> None:
    (clone / "mine.csv").write_text(
        "id,answer,reference\n1,a red apple,a red apple\n2,a pear,a plum\n", encoding="utf-8"
    )
    fake = clone / ".venv" / "bin" / "jupyter-lab"
    fake.write_text(JUPYTER_LAB)
    fake.chmod(0o755)
    (clone / ".venv" / ".all").touch()  # the packages of `make setup` are those that these tests run with
    said = activated(blocks(README, "Five minutes")[1], clone)
    assert "no faults" in said
    assert (clone.parent / "home" / "lab").read_text().strip() == str(clone / "lab")
    assert (clone / "lab" / "data" / "catalog.yaml").is_file()

    activated("evalbench run matching -p embed=jaccard", clone)
    runs = sorted((clone / "reports" / "matching").iterdir())
    for run, name in zip(runs[-3:], "ABC", strict=True):
        run.rename(run.with_name(name))
    old_and_new(clone)
    activated("evalbench run citation", clone)
    next((clone / "reports" / "citation").glob("2*")).rename(clone / "reports" / "citation" / "A")
    (clone / "suite.yaml").write_text("runs:\n  - study: matching\n", encoding="utf-8")
    for name in {*study_names()} - {"needle", "cot_levels"}:  # which are left to the gallery's batch, that resumes
        run = sample_run(name)
        shutil.copytree(run, clone / "reports" / name / run.name)
    block = blocks(COMPARING, "Comparing runs")[0]
    for line in block.splitlines():
        offline = line.replace("openai/gpt-4o", "baseline/lexical")
        said = activated(offline, clone, codes=(0, 5) if "--against" in line else (0,))
        assert "comparison" in said or not line.startswith("evalbench compare"), said

    (code,) = blocks(RUNNING, "In JupyterLab", "python")
    (clone / "code.py").write_text(code, encoding="utf-8")
    assert "evalbench run matching" in activated("python code.py", clone)


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.timeout(900)
def test_a_suite_by_cron_github_actions_and_airflow(clone: Path) -> None:
    (clone / "nightly.yaml").write_text(blocks(BATCHES, "A suite", "yaml")[0], encoding="utf-8")
    shutil.copytree(ROOT / "data" / "house_style_curated" / "1.1.0", clone / "incoming" / "today")
    (line,) = blocks(BATCHES, "cron")
    command = re.fullmatch(r"(?:[\d*]+ ){5} *(.*)\n", line)[1].replace("/srv/evalbench", str(clone))
    activated(command, clone, codes=(0, 3))
    log = (clone / "nightly.log").read_text()
    assert "5 runs: 5 ok, 0 failed" in log

    said = activated(blocks(BATCHES, "A gate against regressions")[0], clone, codes=(0, 5))
    assert "5 runs: 5 ok, 0 failed" in said

    (workflow,) = blocks(BATCHES, "GitHub Actions", "yaml")
    steps = [step["run"] for step in yaml.safe_load(workflow)["jobs"]["reports"]["steps"] if "run" in step]
    assert len(steps) == 2
    summary = clone.parent / "summary.md"
    for step in steps:
        said = activated(step, clone, codes=(0, 3), GITHUB_STEP_SUMMARY=str(summary))
    assert "matching" in summary.read_text()
    assert "5 runs: 5 ok, 0 failed, 5 of them already finished" in said

    airflow = clone.parent / "fakes" / "airflow" / "providers" / "standard" / "operators"
    airflow.mkdir(parents=True)
    (airflow / "bash.py").write_text(OPERATOR)
    code = blocks(BATCHES, "Airflow", "python")[0].replace("/srv/evalbench", str(clone)).strip()
    activated(f"python - <<'CODE'\n{code}\nCODE", clone, PYTHONPATH=str(clone.parent / "fakes"))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not shutil.which("openssl"), reason="not on this platform: there is no openssl")
def test_dask_by_hand_each_command_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """As it is in the recipe, but for the address: scheduler, workers and batch are processes of this machine."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 8786)) == 0:
            pytest.skip("not on this platform: port 8786 of this machine is taken")
    (script,) = blocks(BATCHES, "By hand", "bash")
    certificate, cluster, batch = script.replace("10.0.0.1", "127.0.0.1").split("\n\n")
    options = certificate.splitlines()[-1]
    places = {name: tmp_path / name for name in ("scheduler", "worker", "client")}
    for place in places.values():
        (place / "home").mkdir(parents=True)
    shell(certificate, places["client"], home=places["client"] / "home")
    for name in ("scheduler", "worker"):
        for file in ("cert.pem", "key.pem"):
            shutil.copy(places["client"] / file, places[name])
    suite = "runs:\n  - {study: matching, parameters: {embed: jaccard}, matrix: {yellow_from: [0.4, 0.5], green_from: [0.8]}}\n"
    (places["client"] / "nightly.yaml").write_text(suite, encoding="utf-8")
    processes = []
    try:
        for name, line in zip(("scheduler", "worker"), cluster.splitlines(), strict=True):
            place = places[name]
            env = environment(place / "home") | {"EVALBENCH_CACHE": str(place / "cache")}
            log = (place / "log").open("w")
            processes.append(
                subprocess.Popen(
                    ["bash", "-c", f"{options}\n{line}"],
                    cwd=place,
                    env=env,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )
        logged = places["worker"] / "log"
        assert wait_until(lambda: logged.read_text().count("Registered to") == 4, seconds=240), logged.read_text()
        said = shell(batch, places["client"], home=places["client"] / "home")
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGTERM)
        for process in processes:
            process.wait(30)
    assert "2 runs: 2 ok, 0 failed" in said
    assert len(read_runs(places["client"] / "reports")) == 2
    assert not (places["worker"] / "reports").exists()


@pytest.mark.slow
def test_a_first_table(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "mine.csv").write_text(blocks(START, "A first table")[0], encoding="utf-8")
    check, run, asked, study = blocks(START, "Start with your table")[0].splitlines()
    assert "text_metrics" in shell(check, tmp_path, home=tmp_path / "home")
    assert "unlit" in shell(run, tmp_path, home=tmp_path / "home")
    assert "text_metrics" in shell(asked, tmp_path, home=tmp_path / "home", codes=(2,))
    assert "no faults" in shell(study, tmp_path, home=tmp_path / "home")


def test_options_of_the_recipes_for_clusters_exist() -> None:
    """Kubernetes and SLURM are not here; what their recipes ask of Dask's own programs is."""
    from distributed.cli.dask_scheduler import main as scheduler
    from distributed.cli.dask_worker import main as worker

    (operator,) = blocks(BATCHES, "Kubernetes", "yaml")
    spec = yaml.safe_load(operator)["spec"]
    (job,) = blocks(BATCHES, "SLURM", "bash")
    slurm = dict(re.findall(r"dask (scheduler|worker) (.*)", job))
    tls = re.search(r'TLS="(.*)"', job)[1]
    for name, command in (("scheduler", scheduler), ("worker", worker)):
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        program, *words = spec[name]["spec"]["containers"][0]["args"]
        assert program == f"dask-{name}"
        assert {word for word in (*words, *slurm[name].split(), *tls.split()) if word.startswith("--")} <= known
    assert subprocess.run(["bash", "-n"], input=job, text=True, check=False).returncode == 0


def test_the_forms_of_make_and_run_exist() -> None:
    for line in blocks(README, "Working on it")[0].splitlines():
        words = shlex.split(line, comments=True)
        assert words[0] == "make"
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    (form,) = blocks(RUNNING, "Running a study")[:1]
    known = {option for parameter in group.get_command(None, "run").params for option in parameter.opts}
    assert set(re.findall(r"--?[a-z][a-z-]*", re.sub(r"[a-z]+-[a-z]+(?![a-z-]* )", "", form))) - {"-hash"} <= known


def commands(document: str) -> list[list[str]]:
    """The commands of evalbench in code, between backticks or in blocks, in the words of a shell."""
    text = (ROOT / document).read_text(encoding="utf-8").replace("\\\n", " ")
    fenced = [
        line for block in re.findall(r"^```.*?^```$", text, re.DOTALL | re.MULTILINE) for line in block.splitlines()
    ]
    spans = re.findall(r"`([^`\n]+)`", text)
    found = [re.match(r"(?:.*/bin/)?evalbench (.+)", one.strip().partition(" && ")[0]) for one in [*fenced, *spans]]
    return [shlex.split(one[1], comments=True) for one in found if one]


@pytest.mark.parametrize("document", [page for page in pages() if commands(page)])
def test_every_command_exists_with_its_options_and_parameters(document: str) -> None:
    found = [words for words in commands(document) if not {"STUDY|NOTEBOOK.ipynb", "COMMAND"} & {*words}]
    for words in found:
        command: click.Command = group
        rest = words
        while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
            assert rest[0] in command.list_commands(click.Context(command)), words
            command, rest = command.get_command(click.Context(command), rest[0]), rest[1:]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        options = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        assert options <= known | {"--help"}, words
        if command.name == "run" and rest and rest[0] in study_names():
            given = {value.partition("=")[0] for name, value in pairwise(rest) if name == "-p"}
            assert given <= {*known_parameters(rest[0])}, words
