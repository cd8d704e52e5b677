"""Result files of tau-bench and tau2-bench; the published file against counts worked out from it."""

import itertools
import json
from collections import Counter
from math import comb

import pytest
from trajectory_files import FOUND, POLICY, QUESTION, tau, tau2, write

from evalbench.readers.trajectories import read_trajectories, recognised


@pytest.mark.parametrize("name", ["runs.json", "runs.jsonl"])
def test_tau_bench(tmp_path, name):
    path = write(tmp_path / name, [tau(0), tau(1, 0.0), tau(2, None)])
    assert recognised(path) == "tau-bench"
    read = read_trajectories(path, "oak-7b")
    assert read.outcomes["mark"].fillna(-1).tolist() == [1.0, 0.0, -1.0]  # no mark is not 0
    assert {*read.outcomes["model"]} == {"oak-7b"}
    assert read.tasks.to_dict("records") == [
        {"id": "3", "question": "You are Ann.", "reference": '["1 May"]', "expected": '[{"name": "find_loan", "arguments": {"book": 7}}]', "policy": POLICY}
    ]  # fmt: skip
    assert read.steps[read.steps["kind"] == "result"]["error"].tolist() == [1.0, 0.0] * 3


def test_tau2_bench(tmp_path):
    path = write(tmp_path / "sim.json", tau2())
    assert recognised(path) == "tau2-bench"
    read = read_trajectories(path)
    first = read.steps[read.steps["trial"] == "0"]
    assert first["kind"].tolist() == ["message", "call", "result", "message"]
    assert first["text"].tolist()[2] == FOUND
    assert first["cost"].dropna().tolist() == [0.25, 0.5]
    assert first["tokens"].dropna().tolist() == [10.0]
    assert {*read.steps["model"]} == {"fern-1b"}
    assert read.outcomes["ended"].tolist() == ["", "limit: max_steps"]
    assert read.outcomes["mark"].fillna(-1).tolist() == [1.0, -1.0]
    task = read.tasks.to_dict("records")[0]
    assert json.loads(task["expected"]) == [
        {"name": "find_loan", "arguments": {"book": 7}}
    ]  # what the user does is not the agent's
    assert (task["question"], task["policy"]) == (QUESTION, POLICY)


def test_a_trial_that_is_there_twice_is_refused(tmp_path):
    from evalbench.errors import BadInput

    path = write(tmp_path / "runs.json", [tau(0), tau(1), tau(0)])
    with pytest.raises(BadInput, match="row 3: the id '3' has the trial '0' twice, first in row 1"):
        read_trajectories(path)


@pytest.fixture(scope="module")
def airline(external_data):
    folder = external_data("tau_airline")
    return read_trajectories(folder / "gpt-4o-airline.json.gz"), json.loads((folder / "expected.json").read_text())


def multiset(calls):
    return Counter((name, json.dumps(arguments, sort_keys=True)) for name, arguments in calls)


@pytest.mark.external
def test_the_published_trials(airline):
    read, expected = airline
    counts = expected["counts"]
    steps, marks = read.steps, read.outcomes
    assert read.form == "tau-bench"
    assert len(marks) == expected["trajectories"]
    assert marks["id"].nunique() == len(read.tasks) == expected["tasks"]
    assert {*marks.groupby("id").size()} == {expected["trials_per_task"]}
    assert marks["mark"].sum() == expected["reward_1"]
    assert (steps["kind"] == "call").sum() == counts["calls"]
    assert steps["error"].sum() == counts["tool_results_that_begin_with_Error"]
    failed = steps[steps["error"] == 1].groupby(["id", "trial"])
    assert failed.ngroups == counts["trajectories_with_such_an_error"]
    assert 4 * read.tasks["expected"].map(json.loads).map(len).sum() == counts["expected_calls"]
    assert marks.groupby("trial")["mark"].sum().to_dict() == expected["reward_1_by_trial"]
    right = marks.groupby("id")["mark"].sum().astype(int)
    for k, value in expected["pass_hat_k"].items():
        assert right.map(lambda n, k=int(k): comb(n, k) / comb(4, k)).mean() == pytest.approx(value, abs=1e-6)


@pytest.mark.external
def test_the_published_calls_match_the_expected_ones_as_often_as_was_counted(airline):
    read, expected = airline
    wanted = {
        row.id: [(c["name"], c["arguments"]) for c in json.loads(row.expected)] for row in read.tasks.itertuples()
    }
    made = {key: [] for key in read.outcomes[["id", "trial"]].itertuples(index=False, name=None)}
    for row in read.steps[read.steps["kind"] == "call"].itertuples():
        made[row.id, row.trial].append((row.name, json.loads(row.arguments)))
    whole = sum((multiset(wanted[id]) & multiset(calls)).total() for (id, _), calls in made.items())
    names = sum(
        (Counter(n for n, _ in wanted[id]) & Counter(n for n, _ in calls)).total() for (id, _), calls in made.items()
    )
    repeats = sum(a == b for calls in made.values() for a, b in itertools.pairwise(calls))
    assert whole == expected["counts"]["matched_name_and_arguments"]
    assert names == expected["counts"]["matched_name"]
    assert repeats <= expected["counts"]["identical_repeats"]
    results = read.steps[read.steps["kind"] == "result"]
    calls = read.steps[read.steps["kind"] == "call"]
    assert results["name"].tolist() == calls["name"].tolist()
