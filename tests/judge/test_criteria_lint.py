"""The criteria that are shipped, and advice on one's own."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from evalbench.commands.criteria import criteria
from evalbench.errors import BadInput
from evalbench.judge.criteria import Criterion, Example
from evalbench.judge.criteria_lint import handbook_criteria, lint

GOOD = Criterion(
    "politeness",
    "Does the answer address the reader politely?",
    {0: "it commands or mocks", 1: "it asks and thanks"},
    (Example(0, "Go away."), Example(1, "Please come in.")),
)


def rules(**changed: object) -> list[str]:
    return [advice.rule for advice in lint([Criterion(**{**vars(GOOD), **changed})])]  # type: ignore[arg-type]


def test_the_shipped_criteria_follow_the_rules_and_are_the_documents() -> None:
    found = handbook_criteria()
    assert lint(found) == ()
    with_basis = [one.name for one in found if one.needs_basis != "none"]
    assert with_basis == [
        "aspect_relevance", "missing", "hallucination", "optimal_approach", "reasoning_quality", "argued_assessment",
    ]  # fmt: skip
    assert [one.name for one in found if one.needs_basis == "none"] == [
        "consistency", "factuality", "thematic_relevance", "irrelevant_content", "extraction_correctness",
        "real_world_consistency", "completeness",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({}, []),
        ({"definition": "Is it polite? Is it short?"}, ["atomic"]),
        ({"definition": "Is the answer polite and also right?"}, ["atomic"]),
        ({"definition": "Вежлив ли ответ, а также верен ли он?"}, ["atomic"]),
        (
            {"scale": {1: "it commands", 5: "it asks"}, "examples": (Example(1, "Go."), Example(5, "Please."))},
            ["scale"],
        ),
        ({"definition": "Politeness"}, ["definition"]),
        ({"scale": {0: "no", 1: "it asks and thanks"}}, ["mark"]),
        ({"examples": GOOD.examples[:1]}, ["example"]),
        ({"definition": "Has the answer no typos in it?"}, ["special"]),
        ({"definition": "Нет ли в ответе орфографических ошибок?"}, ["special"]),
        ({"name": "запрещённые слова"}, ["special"]),
        ({"definition": "回答的长度是否合适？请看字数。"}, ["special"]),
    ],
)
def test_each_rule_finds_what_it_is_for(changed: dict[str, object], rule: list[str]) -> None:
    assert rules(**changed) == rule


def test_the_command_lists_the_shipped_ones_and_prints_them_as_yaml(tmp_path) -> None:
    listed = CliRunner().invoke(criteria, [], catch_exceptions=False).output
    assert "missing (0, 1, 2; needs ground truth): Which of the facts" in listed
    own = tmp_path / "own.yaml"
    own.write_text(CliRunner().invoke(criteria, ["--yaml"], catch_exceptions=False).output, encoding="utf-8")
    assert "nothing to mend" in CliRunner().invoke(criteria, [str(own)], catch_exceptions=False).output


def test_the_command_gives_advice_and_refuses_what_is_not_criteria(tmp_path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("name: style\ndefinition: Good style\nscale: {0: 'bad', 1: 'good'}\n", encoding="utf-8")
    ran = CliRunner().invoke(criteria, [str(own)], catch_exceptions=False)
    assert ran.exit_code == 0
    assert "style: without an example: mark 0, 1 [example]" in ran.output
    own.write_text("- 1\n", encoding="utf-8")
    with pytest.raises(BadInput, match="not a file of criteria"):
        CliRunner().invoke(criteria, [str(own)], catch_exceptions=False)
