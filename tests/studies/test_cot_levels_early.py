"""cot_levels that stops early: which problems are asked, what the run says, one that was killed; what is refused."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from chat import chat_endpoint

from evalbench.core.seeds import keys
from evalbench.errors import BadInput
from evalbench.studies import cot_levels, load

N = 60
IDS = [f"p{i:02}" for i in range(N)]
ROWS = pd.DataFrame(
    {
        "id": IDS,
        "question": [f"Ann has {i} pears and buys 3 more. How many has she?" for i in range(N)],
        "reference": [f"{i} + 3 = <<{i}+3={i + 3}>>{i + 3}\n#### {i + 3}" for i in range(N)],
    }
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))


def answering(share: float, seen: list[int], most: int = 10**6):
    """A scripted model that is right on about this share of the problems, in the form of the references."""

    def reply(prompt: str) -> str:
        i = int(re.findall(r"Ann has (\d+) pears", prompt)[-1])
        seen.append(i)
        if len(seen) > most:
            raise ConnectionError
        right = keys(1, "right", [IDS[i]])[0] % 1000 < 1000 * share
        return f"{i} + 3 = <<{i}+3={i + 3}>>{i + 3}\n#### {i + 3}" if right else "I do not know.\n#### 0"

    return reply


def judged(share: float, seen: list[int] | None = None, rows: pd.DataFrame = ROWS, **options):
    seen = [] if seen is None else seen
    with chat_endpoint(answering(share, seen)) as server:
        return cot_levels.evaluate(
            load(rows, study="cot_levels"), model=server.name, n_resamples=50, **{"stop_early": True, **options}
        )


def test_a_good_model_is_decided_after_a_part_of_the_problems() -> None:
    seen: list[int] = []
    result = judged(1.0, seen, threshold=0.5)
    n = result.stopping["asked"]
    assert n in (16, 32)
    assert len(seen) == len(result.items) == n
    assert len(result.tables["not_asked"]) == N - n
    assert set(result.items["id"]).isdisjoint(result.tables["not_asked"]["id"])
    assert result.stopping["sentence"].startswith(
        f"Decided after {n} of 60 problems; {N - n} not asked: mean final score 1.00"
    )
    final = result.estimate("final", model=result.items["model"].iloc[0])
    assert final.method == "95 % confidence sequence by betting"
    assert (final.ci_low, final.n_unscored, final.light) == (result.stopping["ci_low"], 0, "green")
    assert result.verdict.stability is None
    assert "too narrow" not in result.sentence + final.note
    assert cot_levels.picture_evidence(result) is not None
    plan = json.loads(result.files["plan.json"])["stopping"]
    assert plan["sha256"] == result.to_json()["stopping"]["plan_sha256"]
    assert result.items.sort_values("place")["id"].tolist() == plan["order"][:n]
    again = cot_levels.summarise(result.items, threshold=0.5, n_resamples=50)
    assert again.estimates == result.summary.estimates


def test_without_it_everything_is_asked_and_nothing_changes() -> None:
    whole = judged(0.7, stop_early=False)
    assert len(whole.items) == N
    assert not whole.stopping
    assert cot_levels.picture_evidence(whole) is None
    assert "place" not in whole.items


def test_a_run_that_was_killed_asks_nothing_twice(monkeypatch) -> None:
    first: list[int] = []
    options = {"threshold": 0.5, "stop_batch": 8}
    from evalbench.kit import early

    asked = early.ask_until_decided

    def killed(plan, ask):
        batches = []

        def one(ids):
            if batches:
                raise KeyboardInterrupt
            batches.append(ids)
            return ask(ids)

        return asked(plan, one)

    with chat_endpoint(lambda prompt: reply(prompt)) as server:
        reply = answering(0.85, first)
        data = load(ROWS, study="cot_levels")
        told = {"model": server.name, "n_resamples": 50, "stop_early": True, **options}
        monkeypatch.setattr(early, "ask_until_decided", killed)
        with pytest.raises(KeyboardInterrupt):
            cot_levels.evaluate(data, **told)
        monkeypatch.setattr(early, "ask_until_decided", asked)
        assert len(first) == 8
        result = cot_levels.evaluate(data, **told)
        assert len(first) == len(set(first)) == result.stopping["asked"]
        assert 8 < result.stopping["asked"] < N
    alone = judged(0.85, **options)
    assert alone.stopping["asked"] == result.stopping["asked"]


def test_what_is_refused() -> None:
    data = load(ROWS.assign(answer="#### 3", topic="a"), study="cot_levels", cluster="topic")
    with pytest.raises(BadInput) as error:
        cot_levels.evaluate(data, stop_early=True, threshold=1.0, stop_batch=0)
    for fault in (
        "name a model to ask",
        "threshold above 0 and below 1",
        "drawn together",
        "stop_batch must be at least 1",
    ):
        assert fault in str(error.value)
