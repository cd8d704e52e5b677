"""A run with a judge that looks things up, killed in the middle: it goes on where it was, and nothing is asked twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tool_endpoint import FakeEndpoint, call, steps_before, verdict

from evalbench.judge.agent.naming import agent_of

pytestmark = pytest.mark.slow


def _run(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "evalbench.cli", *words]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def test_a_killed_run_goes_on_and_judging_again_asks_nothing(
    fake: FakeEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    n = 6
    rows = [
        {
            "id": f"q{i}",
            "question": "When?",
            "answer": f"Room {i} opens at nine.",
            "contexts": [f"Room {i} opens at nine o'clock."],
        }
        for i in range(n)
    ]
    pd.DataFrame(rows).to_json(tmp_path / "answers.jsonl", orient="records", lines=True)
    answered: list[str] = []
    killing = threading.Lock()
    victim: list[subprocess.Popen[str]] = []

    def says(messages: list[dict[str, Any]]) -> Any:
        with killing:
            if len(answered) == 7 and victim:
                time.sleep(2)  # what was answered before is kept by then
                os.killpg(victim.pop().pid, signal.SIGKILL)
                return "nobody hears this"
            if not victim and len(answered) == 7 and not resumed:
                return "nobody hears this"
            answered.append(json.dumps(messages, sort_keys=True))
        steps = [
            [call("search", query="rooms"), call("calculate", expression="4 + 5")],
            call("open", passage=1),
            verdict("SUPPORTED", [(1, "opens at nine")], "4 + 5 = 9.", passages=[1]),
        ]
        return steps[steps_before(messages)]

    fake.says, resumed = says, []
    name = f"agent:{fake.model}"
    assert agent_of(name).calls == 8
    words = ["run", "rag_generation", "--data", str(tmp_path / "answers.jsonl"), "-p", f"judge={name}", "-p"]
    words += ['metrics=["faithfulness"]', "--out", str(tmp_path / "runs")]
    first = _run(*words)
    victim.append(first)
    said, _ = first.communicate(timeout=300)
    assert first.returncode == -signal.SIGKILL, said
    assert len(answered) == 7
    resumed.append(True)
    second = _run(*words)
    said, _ = second.communicate(timeout=300)
    assert second.returncode == 0, said
    assert len(answered) == 3 * n, "three replies for each item"
    assert len(set(answered)) == len(answered)
    (run,) = [one.parent for one in (tmp_path / "runs").rglob("results.json")]
    calls = pd.read_parquet(run / "calls.parquet")
    assert calls.groupby("item_id")["step"].max().tolist() == [3] * n
    items = pd.read_parquet(run / "items.parquet")
    assert items["faithfulness"].tolist() == [1.0] * n
    for asked in (6 * n, 6 * n):  # anew under another name, and then no more
        again = _run("rejudge", str(run), "--judged-at", "another day", "--out", str(tmp_path / "again"))
        said, _ = again.communicate(timeout=300)
        assert again.returncode == 0, said
        assert len(answered) == asked
