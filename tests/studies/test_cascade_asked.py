"""The cascade asks a language model (a fake endpoint on the loopback): within its plan, and nothing twice, also after a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from chat import chat_endpoint

from evalbench import load
from evalbench.core.result import Result
from evalbench.models.tokens import estimated
from evalbench.studies import cascade

N = 8
TIED = {"q0", "q1", "q2"}


def rows() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": [f"q{i}" for i in range(N)],
            "question": [f"When does the pool in Mill Street {i} open?" for i in range(N)],
            "answer_a": [f"It opens at {i + 7}." for i in range(N)],
            "answer_b": [f"Go there from {i + 9} on, or later." for i in range(N)],
            "facts": [[f"It opens at {i + 7}."] for i in range(N)],
        }
    )


def dictionary() -> pd.DataFrame:
    return pd.DataFrame(
        {"term": [f"Mill Street {i}" for i in range(4)], "fact": [f"It opens at {i + 7}." for i in range(4)]}
    )


def answer(prompt: str) -> str:
    """A judge that marks all alike, ties the first three pairs, likes A in the others, and finds all facts in A."""
    if "- FIRST" in prompt:
        place = next((i for i in range(N) if f"Mill Street {i} " in prompt), 0)
        if f"q{place}" in TIED:
            return json.dumps({"reason": "equal", "label": "TIE"})
        first = prompt.rindex("It opens at") < prompt.rindex("Go there from")
        return json.dumps({"reason": "the hour", "label": "FIRST" if first else "SECOND"})
    if "- SUPPORTED" in prompt:
        return json.dumps(
            {"reason": "so", "passages": [1], "label": "SUPPORTED" if "Go there" not in prompt else "NOT_SUPPORTED"}
        )
    if "claim" in prompt and "sentence" in prompt:
        return json.dumps({"claims": [{"sentence": 1, "claim": "It opens at some hour."}]})
    return json.dumps({"reason": "equal", "mark": 1})


def asked(model: str) -> Result:
    data = load({"items": rows(), "dictionary": dictionary()}, study="cascade")
    return cascade.evaluate(data, judge=model, geval_samples=2, n_resamples=20)


def test_calls_lie_within_the_plan_and_a_second_run_asks_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    with chat_endpoint(answer) as server:
        first = asked(server.name)
        n = len(server.answered)
        again = asked(server.name)
        assert len(server.answered) == n
    assert again.to_json() == first.to_json()
    table = first.tables["stages"].set_index("stage")
    plan = first.tables["plan"].set_index("stage")
    assert (table["calls"] <= plan["calls_high"]).all()
    assert (table["calls"] >= plan["calls_low"]).all()
    assert table.loc[8, "calls"] > 0
    assert table.loc[9, ["looked", "decided", "calls"]].tolist() == [N, N - len(TIED), 2 * N]
    assert table.loc[11, "looked"] == len(TIED)
    assert table["calls"].sum() == len(first.tables["calls"]) >= n  # equal requests are sent once
    sent, low, high = (
        sum(map(estimated, first.tables["calls"]["prompt"])),
        plan["input_tokens_low"].sum(),
        plan["input_tokens_high"].sum(),
    )
    assert low <= sent <= high


def test_the_plan_counts_what_the_store_has_and_the_calls_of_each_check(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    data = load({"items": rows(), "dictionary": dictionary()}, study="cascade")
    with chat_endpoint(answer) as server:
        options = {"judge": server.name, "geval_samples": 2}
        new = cascade.plan(data, **options)
        assert not server.answered
        assert not new[["cached_calls_low", "cached_calls_high"]].to_numpy().any()
        asked(server.name)
        n = len(server.answered)
        kept = cascade.plan(data, **options)
        assert len(server.answered) == n
        part = cascade.plan(data, **options, strong="openai/none").set_index("stage")
    assert kept["calls_low"].tolist() == kept["calls_high"].tolist() == kept["cached_calls_low"].tolist()
    assert kept["calls_low"].sum() == n
    amounts = [f"{name}_{end}" for name in ("input_tokens", "output_tokens", "cost") for end in ("low", "high")]
    assert not kept[amounts].to_numpy().any()
    assert part.loc[8, "cached_calls_low"] == kept.set_index("stage").loc[8, "cached_calls_low"] > 0
    assert part.loc[9, ["questions_low", "calls_low", "calls_high", "cached_calls_high"]].tolist() == [
        N,
        2 * N,
        2 * N,
        0,
    ]
    assert "hallucination" in kept.set_index("stage").loc[8, "why"]


KILLED = """
import sys
sys.path.insert(0, sys.argv[2])
from test_cascade_asked import asked
print(asked(sys.argv[1]).sentence)
"""


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_without_repeating_a_call(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    here = Path(__file__).parent
    monkeypatch.setenv("PYTHONPATH", str(here.parent / "helpers"))
    with chat_endpoint(answer, delay=0.15) as server:
        command = [sys.executable, "-c", KILLED, server.name, str(here)]
        first = subprocess.Popen(command)
        while len(server.answered) < 14:
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
        first.wait(60)
        time.sleep(0.5)
        before = Counter(server.answered)
        subprocess.run(command, check=True, timeout=120, capture_output=True)
        again = Counter(server.answered) - before
        whole = Counter(server.answered)
    assert sum(before.values()) >= 14
    assert sum((again & before).values()) <= 16  # those that were under way when it was killed
    assert again.total() < whole.total()
    assert set(whole) == set(before) | set(again)
