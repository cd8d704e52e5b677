"""Studies against a real model on this machine: it proves the plumbing, never quality."""

import os
import signal
import subprocess
import sys

import pandas as pd
import pytest
from generated import VARIABLE
from waiting import wait_until

from evalbench import (
    budget,
    cascade,
    citation,
    confidence,
    cot_levels,
    dry_run,
    load,
    ner_variants,
    rag_generation,
    reproduction,
    trajectories,
)
from evalbench.judge.criteria import task_of_criterion
from evalbench.judge.criteria_lint import handbook_criteria
from evalbench.judge.geval import geval
from evalbench.models.local import weights as local
from evalbench.models.store.cache import ReplyCache, cache_folder, usual_file

NAME = "local/smollm2-135m"
pytestmark = [pytest.mark.model, pytest.mark.slow]
# The local model takes a minute or more of both cores for each: `make check` asks it what the others do not show.
IN_MINUTES = [
    pytest.mark.soak,
    pytest.mark.skipif(os.environ.get(VARIABLE) != "soak", reason=f"{VARIABLE} is not soak"),
]


def in_minutes(test):
    """A test for ``make soak`` alone."""
    for mark in IN_MINUTES:
        test = mark(test)
    return test


@pytest.fixture(scope="module", autouse=True)
def weights():
    pytest.importorskip("xllamacpp", reason="peer not importable: xllamacpp")


def test_chains_of_thought_are_collected_and_scored():
    local.fetch(NAME)
    data = load("word_problems@1.1.0", study="cot_levels")
    result = cot_levels.evaluate(data, model=NAME, n_samples=3, max_tokens=96)
    assert (result.items["unscored"] == "").all()
    assert result.items["final"].between(0, 1).all()
    assert result.accounting["calls"] == 3
    again = cot_levels.evaluate(data, model=NAME, n_samples=3, max_tokens=96)
    assert again.accounting["cache_hits"] == 3
    assert again.to_json() == result.to_json()


def test_cited_answers_are_collected_judged_or_unscored():
    local.fetch(NAME)
    data = load("cited_answers@1.1.0", study="citation")
    result = citation.evaluate(data, model=NAME, n_samples=1, max_tokens=200, judge=NAME, judge_max_tokens=48)
    assert len(result.items) == 1
    item = result.items.iloc[0]
    assert item["unscored"] in ("", "unparsed")
    assert (item["unscored"] == "") == (item["final"] == item["final"])


@in_minutes
def test_trajectories_are_judged_or_unscored_and_asked_about_once():
    local.fetch(NAME)
    frames = load("parcel_desk@1.0.0", study="trajectories").tables
    few = {
        name: frame[frame["id"] == "claim-01"] for name, frame in frames.items() if name not in ("verdicts", "tools")
    }
    few = {
        name: own[(own["trial"] == "1") & (own["model"] == "fern-desk")] if "trial" in own else own
        for name, own in few.items()
    }
    options = {"judge": NAME, "judge_max_tokens": 96, "judge_max_characters": 2000, "n_resamples": 50}
    result = trajectories.evaluate(load(few, study="trajectories"), **options)
    assert set(result.tables["faults"]["unscored"]) | set(result.tables["verdicts"]["unscored"]) <= {
        "",
        "unparsed",
        "cut",
        "no-such-step",
    }
    assert result.accounting["calls"] == len(result.tables["calls"]) == 4
    again = trajectories.evaluate(load(few, study="trajectories"), **options)
    assert again.accounting["cache_hits"] == again.accounting["calls"]
    assert again.to_json()["summary"] == result.to_json()["summary"]


@in_minutes
def test_questions_are_written_from_answers_or_unscored():
    local.fetch(NAME)
    data = load("rule_book_answers@1.1.0", study="rag_generation")
    options = {
        "judge": NAME,
        "judge_max_tokens": 200,
        "n_samples": 1,
        "n_questions": 1,
        "metrics": ["answer_relevance"],
    }
    result = rag_generation.evaluate(data, **options)
    scored = result.items["unscored"] == ""
    assert set(result.items["unscored"]) <= {"", "unparsed"}
    assert result.items["answer_relevance"].notna().equals(scored)
    again = rag_generation.evaluate(data, **options)
    assert again.accounting["cache_hits"] == result.accounting["calls"] == 2
    assert again.to_json() == result.to_json()


@pytest.mark.parametrize("form", ["tuples", pytest.param("json", marks=IN_MINUTES)])
def test_entities_are_asked_for_in_every_wording_and_no_request_is_repeated(form):
    local.fetch(NAME)
    data = load("ner_requests@1.1.0", study="ner_variants")
    options = {"model": NAME, "max_tokens": 24, "reply_format": form, "descriptions": ["none", "definition"]}
    first = ner_variants.evaluate(data, n_samples=1, **options)
    assert set(first.items["unscored"]) <= {"", "unparsed", "truncated"}
    asked = first.accounting["calls"]
    more = ner_variants.evaluate(data, n_samples=2, **options)
    assert (more.accounting["calls"], more.accounting["cache_hits"]) == (2 * asked, asked)
    again = ner_variants.evaluate(data, n_samples=2, **options)
    assert again.accounting["cache_hits"] == again.accounting["calls"]
    assert again.to_json() == more.to_json()


ITEMS = [{"id": str(n), "question": f"What do {n} tickets cost?", "answer": f"{n} crowns."} for n in range(3)]
STEPS = ["Read the answer.", "Give the mark."]
GEVAL = f"""
from evalbench.judge.criteria import task_of_criterion
from evalbench.judge.criteria_lint import handbook_criteria
from evalbench.judge.geval import geval
task = task_of_criterion(next(one for one in handbook_criteria() if one.needs_basis == "none"))
geval({ITEMS!r}, by={NAME!r}, task=task, steps={STEPS!r}, n_samples=2, max_tokens=48, concurrency=1)
"""


def test_geval_goes_on_where_it_was_killed():
    local.fetch(NAME)

    def kept() -> int:
        if not usual_file().exists():
            return 0
        with ReplyCache() as cache:
            return sum(each.replies for each in cache.entries() if each.model == NAME)

    before = kept()
    first = subprocess.Popen([sys.executable, "-c", GEVAL])
    assert wait_until(lambda: kept() >= before + 3)
    first.send_signal(signal.SIGKILL)
    first.wait(60)
    there = kept() - before
    task = task_of_criterion(next(one for one in handbook_criteria() if one.needs_basis == "none"))
    options = {"by": NAME, "task": task, "steps": STEPS, "n_samples": 2, "max_tokens": 48, "concurrency": 1}
    found = geval(ITEMS, **options)
    assert sum(one.accounting["cache_hits"] for one in found.asked) == there >= 3
    for row in found.rows:
        assert (row.method, row.unscored) in {("samples", ""), ("", "unparsed"), ("", "truncated")}
        assert row.unscored or task.labels[min(task.labels)] <= row.mark <= task.labels[max(task.labels)]
    again = geval(ITEMS, **options)
    assert all(one.accounting["cache_hits"] == one.accounting["calls"] for one in again.asked)
    assert again.frame().equals(found.frame())


AGENT = f"""
from evalbench import citation, load
tables = load("cited_answers@1.1.0", study="citation").tables
few = {{name: tables[name][tables[name]["id"] == "ca-01"] for name in ("answers", "sources")}}
result = citation.evaluate(load(few, study="citation"), judge="agent[calls=2]:{NAME}", judge_max_tokens=24, n_resamples=20)
"""


@in_minutes
def test_a_judge_that_looks_things_up_goes_on_where_it_was_killed(no_replies):
    first = subprocess.Popen([sys.executable, "-c", AGENT])

    def kept() -> int:
        with ReplyCache() as cache:
            return sum(each.replies for each in cache.entries())

    assert wait_until(lambda: usual_file().exists() and kept() >= 2, seconds=300)
    first.send_signal(signal.SIGKILL)
    first.wait(60)
    there = kept()
    found: dict = {}
    exec(AGENT, found)
    result = found["result"]
    assert result.accounting["cache_hits"] == there < result.accounting["calls"]
    assert set(result.items["unscored"]) <= {"", "unparsed", "cut", "agent-limit", "evidence-not-found"}
    exec(AGENT, found)
    again = found["result"]
    assert again.accounting["cache_hits"] == again.accounting["calls"]
    assert again.to_json()["summary"] == result.to_json()["summary"]


@pytest.fixture
def no_replies(tmp_path, monkeypatch):
    """A cache with the weights and nothing else."""
    local.fetch(NAME)
    (tmp_path / "weights").symlink_to(cache_folder() / "weights")
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))


@pytest.mark.parametrize(
    ("study", "data", "options"),
    [
        pytest.param(
            cot_levels, "word_problems@1.1.0", {"n_samples": 9, "max_tokens": 24}, id="cot_levels", marks=IN_MINUTES
        ),
        pytest.param(
            ner_variants,
            "ner_requests@1.1.0",
            {"n_samples": 2, "max_tokens": 24, "descriptions": ["none"]},
            id="ner_variants",
            marks=IN_MINUTES,
        ),
        pytest.param(
            reproduction,
            "repeated_answers@1.1.0",
            {"n_samples": 4, "n_generations": 2, "max_tokens": 12},
            id="reproduction",
        ),
        pytest.param(
            confidence,
            "quiz_answers@1.0.0",
            {"n_samples": 6, "samples_per_item": 2, "max_tokens": 16},
            id="confidence",
            marks=IN_MINUTES,
        ),
    ],
)
def test_a_dry_run_says_what_the_run_then_asks(study, data, options, no_replies):
    tables = load(data, study=study.__name__.rpartition(".")[2])
    plan = dry_run(lambda: study.evaluate(tables, model=NAME, **options))
    accounting = study.evaluate(tables, model=NAME, **options).accounting
    assert accounting["reasks"] == accounting["retries"] == 0
    sums = {
        name: [sum(row[name][i] for row in plan.rows) for i in (0, 1)]
        for name in ("to_send", "tokens_in", "tokens_out")
    }
    assert sums["to_send"] == [accounting["requests"]] * 2
    assert sums["tokens_in"][0] == pytest.approx(accounting["tokens_in"], rel=0.1)
    assert sums["tokens_out"][0] <= accounting["tokens_out"] <= sums["tokens_out"][1]


@in_minutes
def test_the_plan_of_a_cascade_holds_what_the_run_then_asks(no_replies):
    rows = {
        "id": [f"q{n}" for n in range(6)],
        "question": [f"When does the pool {n} open?" for n in range(3)]
        + [f"Когда откроют бассейн {n}?" for n in range(3)],
        "answer_a": [f"At {n + 7}." for n in range(3)] + [f"В {n + 7} часов." for n in range(3)],
        "answer_b": [f"Go there from {n + 9} on." for n in range(3)] + [f"Приходите после {n + 9}." for n in range(3)],
        "facts": [["It opens at 7."], *[[]] * 5],
    }
    options = {"judge": NAME, "judge_max_tokens": 48, "run_stages": [1, 2, 9, 11], "embed": "jaccard"}
    tables = load(pd.DataFrame(rows), study="cascade")
    plan = cascade.plan(tables, **options).set_index("stage")
    result = cascade.evaluate(tables, n_resamples=20, **options)
    made = result.tables["stages"].set_index("stage")
    assert plan.loc[9, "calls_low"] == plan.loc[9, "calls_high"] == made.loc[9, "calls"] == 2 * len(tables["items"])
    assert (plan["calls_low"] <= made["calls"]).all()
    assert (made["calls"] <= plan["calls_high"]).all()
    for ours, theirs in (("input_tokens", "tokens_in"), ("output_tokens", "tokens_out")):
        assert plan[f"{ours}_low"].sum() <= result.accounting[theirs] <= plan[f"{ours}_high"].sum()
    assert plan["cost_low"].sum() == plan["cost_high"].sum() == result.accounting["cost"] == 0


def test_a_budget_stops_and_a_higher_one_goes_on(no_replies):
    tables = load("word_problems@1.1.0", study="cot_levels")
    scored = []
    for limit, requests in ((5, 5), (10, 5)):
        with budget(max_calls=limit):
            result = cot_levels.evaluate(tables, model=NAME, max_tokens=16)
        assert (result.accounting["calls"], result.accounting["requests"]) == (limit, requests)
        scored.append(set(result.items.loc[result.items["unscored"] == "", "id"]))
    assert scored[0] < scored[1]
