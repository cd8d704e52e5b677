"""What holds for every study that names a judge, unasked: one that looks things up works, or is refused before anything is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import biased_judges
import pytest
from asked_studies import MORE, tables
from some_studies import some_studies
from studied import evaluated
from tool_endpoint import FakeEndpoint, fake_tool_endpoint

from evalbench import studies
from evalbench.core import dry
from evalbench.errors import BadInput
from evalbench.judge.rag import SUPPORT
from evalbench.models.chat import shapes

JUDGES = ("judge", "answer_judge", "judges")
JUDGING = [name for name in studies.names() if {*JUDGES} & studies.study(name).options().keys()]
BESIDE: dict[str, dict[str, Any]] = {
    "confidence": {"clusters": "entailment"},
    "needle": {"scorer": "judge"},
    "text_metrics": {"metrics": ["context_contradiction"], "lights": {}, "prompt": ""},
    "stability": {"metric": "context_contradiction", "augmentations": ["butter_finger"]},
}


def given(name: str) -> dict[str, Any]:
    """The sample, of trajectories two tasks, with passages that a judge of contradiction needs."""
    found = dict(tables(name))
    if name == "trajectories":
        few = found["tasks"]["id"].iloc[:2]
        found = {table: rows[rows["id"].isin(few)] if "id" in rows else rows for table, rows in found.items()}
    return (
        found | {"items": found["items"].assign(context=found["items"]["reference"])} if name == "stability" else found
    )


def options(name: str, judge: str, folder: Path) -> dict[str, Any]:
    own = studies.study(name).options()
    asked: dict[str, Any] = {option: [judge] if option == "judges" else judge for option in JUDGES if option in own}
    fewer = {"n_samples": 4} if "n_samples" in own else {}
    if name == "judge_audit":
        (folder / "right.yaml").write_text(biased_judges.CRITERION, encoding="utf-8")
        return asked | {"criteria_file": str(folder / "right.yaml"), "probes": [], "repeats": 1}
    return asked | fewer | {k: v for k, v in MORE.get(name, {}).items() if k in own}


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEndpoint]:
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(shapes, "_refused", {})
    with fake_tool_endpoint() as endpoint:
        yield endpoint


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(JUDGING))
@pytest.mark.parametrize(
    "fault", ["agent[calls=0]:{model}", "agent[corpus=no/such/place]:{model}", "agent:nobody", "agent:"]
)
def test_a_faulty_one_is_refused_in_one_message_and_nothing_is_asked(
    name: str, fault: str, fake: FakeEndpoint, tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as refused:
        evaluated(name, given(name), **options(name, fault.format(model=fake.model), tmp_path))
    assert "judge" in str(refused.value)
    assert not fake.asked


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(JUDGING))
def test_a_dry_run_with_one_sends_nothing_and_counts_its_steps(name: str, fake: FakeEndpoint, tmp_path: Path) -> None:
    with dry.noting("long") as noted:
        evaluated(name, given(name), **options(name, f"agent:{fake.model}", tmp_path) | BESIDE.get(name, {}))
    assert not fake.asked
    assert sum(found.to_send for found in noted.rounds) > 0, name


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(JUDGING))
def test_it_is_asked_and_what_it_does_not_prove_is_unscored(name: str, fake: FakeEndpoint, tmp_path: Path) -> None:
    """A fake model that makes its evidence up whatever it is asked."""
    fake.says = lambda messages: {
        "tool": "verdict",
        "evidence": [{"passage": 1, "quote": "quoted out of thin air by nobody"}],
        "verdict": {"reason": "so", "label": next(iter(SUPPORT.labels)), "mark": 1, "passages": []},
    }
    chosen = options(name, f"agent:{fake.model}", tmp_path) | BESIDE.get(name, {})
    result = evaluated(name, given(name), **chosen)
    assert fake.asked, name
    assert all("verdict" in json.dumps(body["tools"]) for body in fake.asked if "tools" in body)
    assert {"step", "parent", "result"} <= set(result.tables["calls"].columns)
    said = result.accounting["unscored"]
    assert said
    assert set(said) <= {"evidence-not-found", "unparsed"}, said


def test_a_model_that_answers_is_none(fake: FakeEndpoint) -> None:
    with pytest.raises(BadInput, match="no model that answers"):
        evaluated("cot_levels", tables("cot_levels"), model=f"agent:{fake.model}")
    assert not fake.asked
