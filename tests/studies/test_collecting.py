"""Responses and cited answers are asked of a model, kept as they come, and never asked twice."""

import os
import signal
import subprocess
import sys

import pytest
from chat import chat_endpoint, cite, solve
from waiting import wait_until

from evalbench import citation, cot_levels, load
from tests.helpers.lights import of_figures


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_responses_are_collected_scored_and_accounted(cache):
    with chat_endpoint(solve) as server:
        data = load("word_problems@1.1.0", study="cot_levels")
        result = cot_levels.evaluate(data, model=server.name, n_samples=3)
        again = cot_levels.evaluate(data, model=server.name, n_samples=3)
        assert len(server.answered) == 3
    assert result.items["correct"].tolist() == [1, 0, 0]
    assert result.judged == f"model {server.name}"
    assert len(result.tables["calls"]) == 3
    assert (result.tables["calls"]["purpose"] == "response").all()
    assert result.accounting["requests"] == 3
    assert again.accounting["cache_hits"] == 3
    assert again.to_json() == result.to_json()
    assert all("Solve a word problem" in p for p in server.answered)


def test_problems_are_asked_in_their_language(cache):
    with chat_endpoint(solve) as server:
        data = load("word_problems@1.1.0", study="cot_levels")
        cot_levels.evaluate(data, model=server.name)
    heads = {p.split("\n", 1)[0] for p in server.answered}
    assert heads == {
        "Solve a word problem step by step.",
        "Решите текстовую задачу по шагам.",
        "请一步一步解答应用题。",
    }


def test_cited_answers_are_collected_and_judged_by_models(cache):
    with chat_endpoint(cite) as server:
        data = load("cited_answers@1.1.0", study="citation")
        result = citation.evaluate(data, model=server.name, judge=server.name, n_samples=3)
        asked = len(server.answered)
        again = citation.evaluate(data, model=server.name, judge=server.name, n_samples=3)
        assert len(server.answered) == asked
    assert of_figures(result) in ("green", "red")
    assert result.items["correctness"].tolist() == [1, 1, 1]
    assert result.tables["citations"]["verification_label"].tolist() == ["UNCERTAIN"] * 3
    assert set(result.tables["calls"]["purpose"]) == {"cited answer", "entailment", "correctness"}
    assert result.accounting["calls"] == len(result.tables["calls"])
    assert again.to_json() == result.to_json()


def test_a_reply_that_is_no_cited_answer_leaves_the_answer_unscored(cache):
    with chat_endpoint(lambda prompt: "I would rather not.") as server:
        data = load("cited_answers@1.1.0", study="citation")
        result = citation.evaluate(data, model=server.name, n_samples=2)
    assert result.items["unscored"].tolist() == ["unparsed", "unparsed"]
    assert result.items["final"].isna().all()
    assert result.light == "grey"


RUN = """
import sys
from evalbench import cot_levels, load
result = cot_levels.evaluate(load("word_problems@1.1.0", study="cot_levels"), model=sys.argv[1], n_samples=40)
print(result.accounting["cache_hits"], result.accounting["requests"])
"""


@pytest.mark.slow
def test_a_run_resumed_after_a_kill_repeats_no_call_that_was_answered(cache, root):
    command = [sys.executable, "-c", RUN]
    with chat_endpoint(solve, delay=0.15) as server:
        first = subprocess.Popen([*command, server.name], cwd=root, env=os.environ | {"EVALBENCH_CACHE": str(cache)})
        assert wait_until(lambda: len(server.answered) >= 16)
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        assert wait_until(lambda: not server.connected)  # what was under way at the kill ends, unread
        before = len(server.answered)
        second = subprocess.run(
            [*command, server.name],
            cwd=root,
            env=os.environ | {"EVALBENCH_CACHE": str(cache)},
            capture_output=True,
            text=True,
            check=True,
        )
        hits, requests = map(int, second.stdout.split())
        assert before >= 16
        assert hits >= before - 2 * 8  # what was under way, eight at a time, had no reader
        assert hits > 0
        assert hits + requests == 40
        assert len(server.answered) == before + requests
