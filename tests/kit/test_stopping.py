"""Asking until the evidence decides: the plan, where it stops, what it says, a run that was killed."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from evalbench.core.seeds import keys
from evalbench.draw.style import faults
from evalbench.errors import BadInput
from evalbench.kit.early import picture_of_evidence
from evalbench.kit.stopping import PLAN, Plan, ask_until_decided, stopped_at
from evalbench.readers.runs import RUN_FOLDER

IDS = [f"q{i:03}" for i in range(200)]


def outcome_of(share: float, ids) -> np.ndarray:
    """An outcome that depends on the id alone."""
    return ((keys(5, "outcome", ids) % 1000) < 1000 * share).astype(float)


def test_the_order_depends_on_ids_and_seed_alone() -> None:
    plan = Plan.drawn(IDS, seed=3)
    assert plan == Plan.drawn(reversed(IDS), seed=3)
    assert plan.order != Plan.drawn(IDS, seed=4).order
    assert sorted(plan.order) == IDS
    assert plan.sha256 != plan._replace(alpha=0.1).sha256


def test_it_stops_at_the_first_look_that_decides() -> None:
    plan, asked = Plan.drawn(IDS, seed=0), []

    def ask(ids):
        asked.append(list(ids))
        return outcome_of(0.85, ids)

    found = ask_until_decided(plan, ask)
    assert found.decided == "above"
    assert [len(batch) for batch in asked] == [16] * len(asked)
    assert tuple(i for batch in asked for i in batch) == found.asked == plan.order[: 16 * len(asked)]
    assert found.asked + found.not_asked == plan.order
    assert (found.log_evalue[:-1] < math.log(20)).all()
    assert found.log_evalue[-1] >= math.log(20)
    assert found.interval[1] >= 0.5
    n = len(found.asked)
    assert found.sentence().startswith(f"Decided after {n} of 200 questions; {200 - n} not asked: mean 0.")
    told = found.to_json()
    assert (told["asked"], told["not_asked"], told["items"]) == (n, 200 - n, 200)
    assert told["plan_sha256"] == json.loads(found.files()[PLAN])["stopping"]["sha256"] == plan.sha256
    told = SimpleNamespace(stopping=found.to_json("pair"), tables=found.tables())
    assert "of 200 pairs;" in told.stopping["sentence"]
    assert told.tables["not_asked"]["id"].tolist() == list(found.not_asked)
    figure, alt = picture_of_evidence(told)
    assert not faults(figure, alt)
    assert picture_of_evidence(SimpleNamespace(stopping={}, tables={})) is None


@pytest.mark.parametrize(("share", "null", "decided"), [(0.1, 0.5, "below"), (0.8, 0.95, "below"), (0.5, 0.5, "")])
def test_either_side_of_the_null_value_and_neither(share: float, null: float, decided: str) -> None:
    found = ask_until_decided(Plan.drawn(IDS, seed=0, null=null), lambda ids: outcome_of(share, ids))
    assert found.decided == decided
    if not decided:
        assert not found.not_asked
        assert found.path.n[-1] == 200
        assert "Not decided after 200 of 200 questions: mean" in found.sentence()
        assert f"neither above nor below {null}" in found.sentence()


def test_the_plan_is_written_before_the_first_call(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    plan = Plan.drawn(["вопрос", "b\udc80", "c"], seed=0)
    seen = []

    def ask(ids):
        seen.append(json.loads((tmp_path / PLAN).read_bytes()))
        return np.full(len(ids), math.nan)

    beside = {"stages": [1, 2]}
    found = ask_until_decided(plan, ask, beside=beside)
    assert seen == [{**beside, "stopping": {**plan.to_json(), "sha256": plan.sha256}}]
    assert (tmp_path / PLAN).read_bytes() == found.files(beside)[PLAN]
    assert found.n_unscored == 3
    assert found.interval == (None, 0.0, 1.0)
    assert "no outcome" in found.sentence()


def test_a_run_that_was_killed_asks_nothing_twice_and_stops_at_the_same_item() -> None:
    plan = Plan.drawn(IDS, seed=1, batch=8)
    kept: dict[str, float] = {}
    calls: list[str] = []

    def ask(ids, most=10_000):
        for one in ids:
            if one not in kept:
                if len(calls) == most:
                    raise KeyboardInterrupt
                calls.append(one)
                kept[one] = float(outcome_of(0.7, [one])[0])
        return [kept[one] for one in ids]

    with pytest.raises(KeyboardInterrupt):
        ask_until_decided(plan, lambda ids: ask(ids, most=13))
    resumed = ask_until_decided(plan, ask)
    whole = ask_until_decided(plan, lambda ids: outcome_of(0.7, ids))
    assert resumed.asked == whole.asked
    assert sorted(calls) == sorted(whole.asked)


def test_nothing_to_ask() -> None:
    found = ask_until_decided(Plan.drawn([], seed=0), lambda ids: [])
    assert (found.decided, found.asked, found.not_asked) == ("", (), ())
    assert found.sentence().startswith("Not decided after 0 of 0 questions: no outcome")
    assert found.table().empty


def test_all_faults_of_a_plan_in_one_message() -> None:
    with pytest.raises(BadInput) as error:
        Plan.drawn(["a", "a"], seed=0, batch=0, alpha=1, null=0)
    for fault in ("'a' appears twice", "batch is 0", "alpha is 1", "null value is 0"):
        assert fault in str(error.value)


def test_a_batch_without_an_outcome_for_each_item_is_refused() -> None:
    with pytest.raises(ValueError, match="one outcome for each of 3 items"):
        ask_until_decided(Plan.drawn("abc", seed=0), lambda ids: [1.0])


def test_recorded_verdicts_decide_after_few(external_data) -> None:
    import pandas as pd

    table = pd.read_parquet(external_data("alpaca_eval") / "verdicts_2.parquet").drop_duplicates(["system", "row"])
    of = {name: rows.set_index("row")["preference"] - 1 for name, rows in table.groupby("system")}
    weak = of["alpaca-7b"]
    weak.index = weak.index.astype(str)
    found = ask_until_decided(Plan.drawn(weak.index, seed=0), lambda ids: weak.loc[list(ids)])
    assert found.decided == "below"
    assert len(found.asked) <= 32
    same = stopped_at(Plan.drawn(weak.index, seed=0), np.full(len(weak), 0.5))
    assert same.decided == ""
