"""What holds for every study that can ask a model, unasked: a budget ends nothing, a dry run sends nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import biased_judges
import pytest
from asked_studies import MORE, tables
from chat import Chat, chat_endpoint, cite, solve
from some_studies import some_studies
from studied import evaluated, page

from evalbench import budget, studies
from evalbench.core import dry
from evalbench.models.names import is_model_name

ASKED_BY = ("model", "judge", "question_model", "answer_judge", "cot_model", "citation_model", "rephraser")
ASKING = [name for name in studies.names() if {*ASKED_BY} & studies.study(name).options().keys()]


def options(name: str, model: str, folder: Path) -> dict[str, Any]:
    asked: dict[str, Any] = {option: model for option in ASKED_BY if option in studies.study(name).options()}
    fewer = {"n_samples": 8} if "n_samples" in studies.study(name).options() else {}
    if name == "judge_audit":
        (folder / "right.yaml").write_text(biased_judges.CRITERION, encoding="utf-8")
        return asked | {"criteria_file": str(folder / "right.yaml")}
    return asked | fewer | MORE.get(name, {}) | ({"judges": [model]} if name == "human_correlation" else {})


def answer(prompt: str) -> str:
    if "[text " in prompt:  # entities are asked for as a list
        return "[]"
    return cite(prompt) if "https://" in prompt else solve(prompt)


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    with chat_endpoint(answer) as server:
        yield server


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(ASKING))
def test_a_budget_leaves_the_rest_unscored_and_says_so(name: str, chat: Chat, tmp_path: Path) -> None:
    with budget(max_calls=3):
        result = evaluated(name, tables(name), **options(name, chat.name, tmp_path))
    assert (
        result.budget["calls"]
        == result.accounting["calls"] - result.accounting["cache_hits"]
        == 3
        <= len(chat.answered)
    )
    assert result.budget["not_asked"] > 0
    assert "Stopped by its budget after 3 of " in result.notes[0]
    assert result.to_json()["budget"] == result.budget
    assert "budget" in set(result.items["unscored"]), result.items["unscored"].value_counts()
    assert "budget" in result.sentence
    assert result.light in ("grey", "unlit")
    assert "budget" in page(name, result, drawn=False)


@pytest.mark.parametrize("stand", ["long", *(pytest.param(s, marks=pytest.mark.slow) for s in ("none", "short"))])
@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(ASKING))
def test_a_dry_run_sends_nothing(name: str, stand: dry.Stand, chat: Chat, tmp_path: Path) -> None:
    with dry.noting(stand) as noted:
        evaluated(name, tables(name), **options(name, chat.name, tmp_path))
    assert not chat.answered
    assert sum(found.to_send for found in noted.rounds) > 0
    assert not noted.seen & {""}


def test_every_model_of_a_study_is_among_those_that_are_tried_here() -> None:
    """An option that names a model by default is asked here too."""
    for name in studies.names():
        named = {
            o
            for o, p in studies.study(name).options().items()
            if isinstance(p.default, str) and is_model_name(p.default)
        }
        assert named <= set(ASKED_BY), name
