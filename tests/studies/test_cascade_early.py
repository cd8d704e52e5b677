"""The cascade that stops early: what is asked, what is not, what the figures then rest on; a run that was killed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from studied import evaluated, sample

from evalbench.draw.style import faults
from evalbench.kit.stopping import NOT_ASKED
from evalbench.readers.runs import RUN_FOLDER
from evalbench.studies import cascade
from evalbench.studies.cascade.state import Case, Decision, Found
from evalbench.studies.cascade.stopping_early import plan_of, until_decided

STAGES = [1, 2, 9]


def early(**more: Any):
    return evaluated(
        "cascade", sample("cascade"), **{"stop_early": True, "run_stages": STAGES, "n_resamples": 60, **more}
    )


@pytest.fixture(scope="module")
def result():
    return early()


def test_counts_add_up_and_what_was_not_asked_is_a_state_of_its_own(result) -> None:
    items, stages = result.items, result.tables["stages"]
    assert (stages["came"] == stages["decided"] + stages["left"] + stages["not_asked"]).all()
    assert (stages["saved"] == 2 * (stages["decided"] + stages["not_asked"]) - stages["calls"]).all()
    spared = items[items["undefined"] == NOT_ASKED]
    assert len(spared) == stages["not_asked"].sum() == result.stopping["not_asked"] > 0
    assert spared[["advantage", "low", "high", "open", "place", "preference"]].isna().all().all()
    assert (spared["unscored"] == "").all()
    assert (spared["calls"] == 0).all()
    assert all(isinstance(text, str) for text in result.items["evidence"])
    assert set(spared["id"]) == set(result.tables["not_asked"]["id"])
    assert not set(spared["id"]) & set(str(result.files["to_label.csv"]).split(","))


def test_figures_are_of_the_questions_up_to_the_stop(result) -> None:
    n = result.stopping["asked"]
    up_to = result.items[result.items["place"].notna()]
    assert len(up_to) == n < len(result.items)
    assert result.stopping["decided"] == "above"
    e = result.estimate("advantage")
    assert e.value == pytest.approx(2 * up_to["preference"].mean() - 1)
    assert e.ci_low >= 0
    assert "confidence sequence" in e.method
    low = result.estimate("low")
    assert low.value == pytest.approx(up_to["low"].mean())
    assert low.ci_low < low.value < low.ci_high
    assert (
        f"Decided after {n} of 150 questions in the order of the seed; {result.stopping['not_asked']} not asked."
        in result.sentence
    )
    assert ", p" not in result.sentence
    assert result.verdict.stability is None
    again = cascade.summarise(result.items, n_resamples=60)
    assert again.estimates == result.summary.estimates
    for drawn in (cascade.picture_evidence(result), cascade.picture_flow(result)):
        assert not faults(*drawn)
    assert len(cascade.decided(result))
    assert len(cascade.undecided(result))


def test_without_a_decision_everything_is_asked() -> None:
    found = evaluated("cascade", sample("cascade"), stop_early=True, n_resamples=60)
    assert not found.stopping["decided"]
    assert found.stopping["not_asked"] == 0
    assert "Not decided after 150 of 150 questions" in found.sentence
    assert len(found.tables["not_asked"]) == 0


def test_the_plan_is_there_before_the_first_call_and_its_hash_in_the_results(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    seen = []

    def judge(item: dict[str, Any]) -> str:
        seen.append(json.loads((tmp_path / "plan.json").read_bytes()))
        return "FIRST"

    found = early(strong=judge)
    assert seen
    assert all(one == seen[0] for one in seen)
    assert json.loads(found.files["plan.json"]) == seen[0]
    assert seen[0]["stopping"]["sha256"] == found.to_json()["stopping"]["plan_sha256"]
    assert {"options", "stages"} <= seen[0].keys()
    assert sorted(seen[0]["stopping"]["order"]) == sorted(found.items["id"])


def test_it_stops_at_the_same_question_in_any_order_of_rows(result) -> None:
    tables = {name: table.sample(frac=1, random_state=1) for name, table in sample("cascade").items()}
    other = evaluated("cascade", tables, stop_early=True, run_stages=STAGES, n_resamples=60)
    assert other.stopping == result.stopping
    assert other.summary.estimates == result.summary.estimates


def test_batches_of_one_stop_no_later(result) -> None:
    one = early(stop_batch=1)
    assert one.stopping["asked"] <= result.stopping["asked"]
    assert one.tables["calls"].shape[0] <= result.tables["calls"].shape[0]


def test_an_earlier_stage_that_decides_all_leaves_nothing_to_ask() -> None:
    found = early(run_stages=[1])
    assert not found.stopping
    assert found.tables["stages"]["calls"].sum() == 0


@pytest.mark.slow
def test_without_a_difference_at_most_one_in_twenty_cascades_is_ever_decided() -> None:
    """150 sets of 120 questions, looked at after each; a third is decided before the stage, all by a fair coin."""
    g = np.random.default_rng(0)
    names = [f"q{i:03}" for i in range(120)]
    cases = [Case(name, "", "", "", "en") for name in names[40:]]
    decided = 0
    for seed in range(150):
        outcome = dict(zip(names, g.choice(["a", "b", "tie"], 120, p=[0.35, 0.35, 0.3]), strict=True))
        before = {name: (5, Decision(outcome[name])) for name in names[:40]}

        def ask(some: list[Case], outcome: dict[str, Any] = outcome) -> Found:
            clear = {c.id: Decision(outcome[c.id]) for c in some if outcome[c.id] != "tie"}
            return Found(decided=clear, equal={c.id: "" for c in some if c.id not in clear})

        plan = plan_of(names, {"seed": seed, "stop_batch": 1})
        decided += bool(until_decided(cases, plan, before, ask, {}).stopped.decided)
    assert decided <= 7
