"""``evalbench rejudge``: the judge alone is asked, the page names the old run, and a run that was killed goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from chat import Chat, chat_endpoint

from evalbench.errors import BadInput
from evalbench.readers.runs import read_results, read_run
from evalbench.runs.again import judged_again

HOSTILE = "<script>alert(1)</script>"
FACTS = pd.DataFrame(
    {
        "id": [f"k{i}" for i in range(6)],
        "needle": [f"The keeper {i} has {4210 + i} keys. {HOSTILE}" for i in range(6)],
        "question": [f"How many keys has the keeper {i}?" for i in range(6)],
        "reference": [str(4210 + i) for i in range(6)],
    }
)
HAY = pd.DataFrame({"id": ["h1"], "kind": ["vanilla"], "text": ["The tide came in and went out. " * 60]})
OPTIONS = ("-p", "scorer=judge", "-p", "lengths=[60]", "-p", "depths=[0,0.5,1]", "-p", "n_resamples=100")


def evalbench(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "EVALBENCH_CACHE": str(cwd / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "evalbench.cli", *words], capture_output=True, text=True, cwd=cwd, env=env, check=False
    )


def verdict(label: str) -> Any:
    return lambda prompt: json.dumps({"reason": f"by the script {HOSTILE}", "label": label, "verdict": label})


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Chat]]:
    """A run of scripted endpoints on the loopback; its system still listens, so that a request to it would be seen."""
    folder = tmp_path_factory.mktemp("judged")
    (folder / "mine").mkdir()
    FACTS.to_csv(folder / "mine" / "needles.csv", index=False)
    HAY.to_csv(folder / "mine" / "haystacks.csv", index=False)
    with chat_endpoint(lambda prompt: f"There are 4211. {HOSTILE}") as system:
        with chat_endpoint(verdict("CORRECT")) as first:
            words = ("needle", "--data", "mine", "--model", system.name, "-p", f"judge={first.name}", *OPTIONS)
            done = evalbench("run", *words, "--out", "reports", "-q", cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / "name").write_text(str(Path(done.stdout.strip()).parent))
        yield folder, system


def run_of(folder: Path) -> Path:
    return Path((folder / "name").read_text())


@pytest.mark.slow
def test_only_the_judge_is_asked_and_the_page_names_the_old_run(judged: tuple[Path, Chat]) -> None:
    folder, system = judged
    asked, old = len(system.answered), run_of(folder)
    with chat_endpoint(verdict("INCORRECT")) as other:
        done = evalbench("rejudge", str(old), "--judge", other.name, "--out", "reports", cwd=folder)
        n = len(other.answered)
    assert done.returncode == 0, done.stderr
    assert len(system.answered) == asked
    assert "The system was not asked: 0 requests" in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.startswith("compare"))
    new = Path(line.split()[-1])
    results, run = read_results(new), read_run(new)
    assert results["judged_again"]["run"] == old.name
    assert results["judged_again"]["identity"] == read_run(old)["sha256"]["identity"]
    assert (results["judged_again"]["requests"], results["judged_again"]["not_recorded"]) == (0, 0)
    assert run["requests"] == n > 0
    assert results["notes"][0].startswith(f"Judged again: the answers are those of the run {old.name}")
    page = (new / "report.html").read_text("utf-8")
    assert f"../{old.name}/report.html" in page
    assert HOSTILE not in page
    compared = evalbench(*line.split()[2:], cwd=folder)
    assert "Both runs judged the same answers, and the judge changed" in compared.stdout, compared.stderr


@pytest.mark.slow
def test_a_rejudging_that_was_killed_asks_only_what_is_missing(judged: tuple[Path, Chat]) -> None:
    folder, system = judged
    asked, old = len(system.answered), run_of(folder)
    env = {**os.environ, "EVALBENCH_CACHE": str(folder / "cache")}
    with chat_endpoint(verdict("INCORRECT"), delay=0.4) as other:
        words = ["rejudge", str(old), "--judge", other.name, "-p", "judge_max_tokens=900", "--out", "reports", "-q"]
        first = subprocess.Popen(
            [sys.executable, "-m", "evalbench.cli", *words], cwd=folder, env=env, start_new_session=True
        )
        while len(other.answered) < 3:
            time.sleep(0.05)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait(60)
        time.sleep(1)
        before = Counter(other.answered)
        done = evalbench(*words, cwd=folder)
        again = Counter(other.answered) - before
    assert done.returncode == 0, done.stderr
    assert len(system.answered) == asked
    assert sum((before & again).values()) <= 8  # those that were under way when it was killed
    results = read_results(Path(done.stdout.strip()).parent)
    assert results["items"]["unscored"] == 0


@pytest.mark.slow
def test_what_cannot_be_judged_again_is_refused(judged: tuple[Path, Chat], tmp_path: Path) -> None:
    folder, system = judged
    old = run_of(folder)
    asked = len(system.answered)
    (tmp_path / "mine").mkdir()
    FACTS.assign(reference="7").to_csv(tmp_path / "mine" / "needles.csv", index=False)
    HAY.to_csv(tmp_path / "mine" / "haystacks.csv", index=False)
    with pytest.raises(BadInput, match="its data mine are others now"):
        judged_again(old, "baseline/lexical", {"data": str(tmp_path / "mine")})
    with pytest.raises(BadInput, match="not the folder of a finished run"):
        judged_again(tmp_path, "baseline/lexical")
    planned = judged_again(old)
    assert planned.variables["EVALBENCH_JUDGED_AT"]
    assert judged_again(old, "baseline/lexical").identity != judged_again(old, judged_at="2026-11").identity
    assert len(system.answered) == asked


@pytest.mark.slow
def test_a_run_without_a_judge_is_refused(tmp_path: Path) -> None:
    table = "id,output,reference\n" + "".join(f"{i},word{i} here,word{i % 3} here\n" for i in range(9))
    (tmp_path / "mine.csv").write_text(table)
    words = ("text_metrics", "--data", "mine.csv", "-p", 'metrics=["f1_score"]', "-p", "n_resamples=100")
    done = evalbench("run", *words, "--out", "reports", "-q", cwd=tmp_path)
    again = evalbench("rejudge", str(Path(done.stdout.strip()).parent), cwd=tmp_path)
    assert again.returncode == 2
    assert "the run had no judge; name one with --judge" in again.stderr
