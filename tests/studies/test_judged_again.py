"""Every study that asks a model and a judge, judged again from what its run recorded: the model is gone, its cache too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from chat import chat_endpoint
from studied import evaluated, sample

from evalbench import record, studies
from evalbench.core.judging_time import AGAIN
from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.models.chat import replay
from evalbench.models.chat.collect import collect
from evalbench.models.exchange import Request
from tests.studies.test_labels import RUNS

PROMPT = "{{ input }}{{ prompt }}"
FEW: dict[str, dict[str, Any]] = {
    "confidence": {"n_samples": 3},
    "needle": {"n_samples": 2, "lengths": [60]},
    "rag_tuning": {},
    "stability": {"n_samples": 4},
    "citation": {"n_samples": 6},
    "explainability": {},
}
QUICK = ("needle", "stability")
STUDIES = [
    name
    for name in studies.names()
    if "model" in (options := set(studies.study(name).options())) and {"judge", "answer_judge"} & options
]
ELSEWHERE = {"text_metrics": "from the command line to the page in tests/runs/test_rejudge_studies.py"}
"""The judges of ``cascade`` and ``rag_generation``, which ask no system, are there too."""


def says(prompt: str) -> str:
    """A text that depends on what is asked, with what a page must escape."""
    n = sum(map(ord, prompt)) % 7
    return f"<script>alert({n})</script> It rains [1]. The answer is {4210 + n}.\u202e"


def again(folder: Path, *judges: str) -> str:
    about = {"run": folder.name, "folder": str(folder), "identity": "ab" * 32, "then": "a", "now": "b"}
    return json.dumps({**about, "judges": list(judges)})


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Call it for an empty cache."""
    names = iter(range(9))

    def empty() -> None:
        monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / f"cache{next(names)}"))

    empty()
    yield empty
    replay._replay.cache_clear()


def items(result: Result) -> pd.DataFrame:
    return result.items.drop(columns=[c for c in ("seconds", "cached") if c in result.items])


def test_every_study_with_a_model_and_a_judge_is_here() -> None:
    assert {"citation", "needle", "rag_tuning", "stability", "explainability", "confidence"} <= set(STUDIES)
    assert set(STUDIES) == {*FEW, *ELSEWHERE}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in sorted(FEW)]
)
def test_the_same_judge_finds_the_same_without_the_system(
    name: str, tmp_path: Path, caches: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**RUNS.get(name, {}), **FEW[name]}
    with chat_endpoint(says) as system:
        options["model"] = system.name
        first = evaluated(name, sample(name), **options)
        asked = len(system.answered)
    assert asked
    record(first, out=tmp_path / "run")
    caches()
    monkeypatch.setenv(AGAIN, again(tmp_path / "run"))
    second = evaluated(name, sample(name), **options)
    assert items(second).equals(items(first))
    assert second.to_json()["summary"] == first.to_json()["summary"]
    account = replay.active().account()
    assert (account["requests"], account["not_recorded"]) == (0, 0)
    assert account["replies"] > 0
    assert second.accounting.get("requests", 0) == 0


def test_the_judge_alone_is_asked_also_where_it_is_the_system(
    tmp_path: Path, caches: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One scripted endpoint on the loopback is system and judge: its second judging asks it for verdicts only."""
    verdict = {"label": "CORRECT"}

    def both(prompt: str) -> str:
        if "gold" in prompt.casefold() or "JSON" in prompt or "correct" in prompt.casefold():
            return json.dumps({"reason": "by the script", "label": verdict["label"], "verdict": verdict["label"]})
        return says(prompt)

    with chat_endpoint(both) as one:
        options = {**FEW["needle"], "model": one.name, "judge": one.name, "scorer": "judge"}
        first = evaluated("needle", sample("needle"), **options)
        calls = first.tables["calls"]
        n_judged = int((calls["purpose"] == "correctness").sum())
        assert 0 < n_judged < len(calls)
        record(first, out=tmp_path / "run")
        caches()
        monkeypatch.setenv(AGAIN, again(tmp_path / "run", one.name))
        verdict["label"] = "INCORRECT"
        before = len(one.answered)
        second = evaluated("needle", sample("needle"), **options)
        sent = one.answered[before:]
    assert len(sent) == n_judged
    assert (first.items["recall"].sum(), second.items["recall"].sum()) == (len(first.items), 0)


def test_another_model_than_the_judge_is_never_asked(
    tmp_path: Path, caches: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with chat_endpoint(says) as system:
        first = collect([Request("Is it so?", item_id="q1", purpose="answer")], system.name)
        frame_of(first, tmp_path)
        monkeypatch.setenv(AGAIN, again(tmp_path))
        known, strange = collect(
            [
                Request("Is it so?", item_id="q1", purpose="answer"),
                Request("And this?", item_id="q1", purpose="answer"),
            ],
            system.name,
        )
        assert len(system.answered) == 1
    assert known.text == first[0].text
    assert (strange.unscored, strange.text) == ("not-recorded", "")
    assert replay.active().account()["not_recorded"] == 1


def test_what_failed_then_has_failed_for_the_same_reason(
    tmp_path: Path, caches: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Request("Is it so?", item_id="q1", purpose="answer")
    first = collect([request], "http://127.0.0.1:9/v1#gone", max_retries=0)
    assert first[0].unscored == "connection"
    frame_of(first, tmp_path)
    monkeypatch.setenv(AGAIN, again(tmp_path))
    with chat_endpoint(says) as system:
        found = collect([request], system.name)
        assert not system.answered
    assert (found[0].unscored, found[0].detail) == ("connection", first[0].detail)


def test_calls_that_are_not_a_runs_are_refused(tmp_path: Path, caches: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pd.DataFrame({"item_id": ["q1"]}).to_parquet(tmp_path / "calls.parquet")
    monkeypatch.setenv(AGAIN, again(tmp_path))
    with pytest.raises(BadInput, match="no column"):
        collect([Request("Is it so?")], "http://127.0.0.1:9/v1#gone")


def frame_of(replies: list[Any], folder: Path) -> None:
    from evalbench.models.accounting import calls_table

    calls_table(replies).to_parquet(folder / "calls.parquet")
