"""What a study says of its figures, that another judge could not change them: other judges do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from zlib import crc32

import pytest
from studied import evaluated, sample

from evalbench import studies
from evalbench.kit.options import taken

OPTIONS: dict[str, dict[str, Any]] = {
    "citation": {},
    "confidence": {"clusters": "entailment"},
    "explainability": {},
    "needle": {"lengths": [60], "depths": [0, 1]},
    "rag_tuning": {},
    "trajectories": {},
    "text_metrics": {"metrics": ["f1_score", "sacrebleu", "context_contradiction"], "lights": {}},
}
SLOW = ("confidence", "needle")
ENTAILMENT, CORRECTNESS = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"), ("CORRECT", "PARTIALLY_CORRECT", "INCORRECT")


def judge(salt: str, fails: int = 0) -> Callable[[dict[str, Any]], Any]:
    """A judge that labels by chance, always the same; of ``fails`` items one gets no label."""

    def says(item: dict[str, Any]) -> Any:
        n = crc32((salt + json.dumps(item, sort_keys=True, default=str)).encode())
        if fails and n % fails == 0:
            return "nothing"
        if "criterion" in item:  # of a trajectory
            failed = {"label": "loop", "steps": [1]} if n // 8 % 3 else {"label": "no_failure", "steps": []}
            return failed if item["criterion"] == "failure" else {"mark": n // 8 % 2}
        return (ENTAILMENT if "premise" in item else CORRECTNESS)[n // 8 % 3]

    return says


def test_every_study_that_says_so_is_here() -> None:
    assert {name for name in studies.names() if studies.study(name).rests_on_judge} == set(OPTIONS)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in OPTIONS if name != "rag_tuning"],
)
def test_figures_that_rest_on_no_judge_stay_as_they_are(name: str) -> None:
    own = studies.study(name)
    assert own.rests_on_judge is not None
    found = []
    for one in (judge("a"), judge("b"), judge("c", fails=5)):
        result = evaluated(name, sample(name), **OPTIONS[name], judge=one)
        options = taken(own.rests_on_judge, result.parameters)
        values = {(e.metric, *e.group.items()): e.value for e in result.summary.estimates}
        rests = {
            (e.metric, *e.group.items()): own.rests_on_judge(e.metric, e.group, **options)
            for e in result.summary.estimates
        }
        found.append((values, rests))
    (values, rests), *others = found
    assert set(rests.values()) == {True, False}
    for other, same in others:
        assert {key: other[key] for key in rests if not rests[key]} == {
            key: values[key] for key in rests if not rests[key]
        }
        assert rests == same
    assert any(values[key] != other.get(key) for other, _ in others for key in rests if rests[key])


@pytest.mark.parametrize(
    ("metric", "options", "rests"),
    [
        ("hit_rate", {}, False),
        ("f1_score", {"target_metric": "f1_score"}, False),
        ("faithfulness", {"target_metric": "faithfulness"}, True),
        ("hit_rate", {"target_metric": "faithfulness"}, True),
        ("mrr_at_5", {}, False),
        ("mrr_at_5", {"judge": "acme/judge"}, True),
        ("mrr_at_5", {"target_metric": "faithfulness"}, False),
        ("strange", {}, True),
    ],
)
def test_of_a_tuned_rag_k_is_chosen_by_the_target(metric: str, options: dict[str, Any], rests: bool) -> None:
    own = studies.study("rag_tuning").rests_on_judge
    assert own is not None
    assert own(metric, {}, **options) is rests
