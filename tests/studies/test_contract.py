"""What a study must offer, and that a name which is nearly a hook's is refused."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.kit import measuring
from evalbench.studies.contract import study_of

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
ABSENT = {"auc*", "bertscore*", "err*", "*_handbook*", "rougeLsum*"}
ABSENT |= {"judged_*", "judged_calls_*", "failures", "failure_*"}
"""Figures that samples lack, since they need an option, or a model that is not on every machine."""
SOUND = '''
"""Whether it rains."""
from evalbench.kit import answers                   # a module is no hook, however it is called
from evalbench.core.wording import counted

QUESTION = "Does it rain?"
SCHEMA = {}

def evaluate(data, *, k=1, n_resamples=2000): ...

def summarise(items, *, n_resamples=2000): ...

def picture_rain(result): ...
'''


def module(more: str = "", without: str = "") -> ModuleType:
    made = ModuleType("evalbench.studies.rain", "Whether it rains.")
    made.__dict__["__name__"] = "evalbench.studies.rain"
    exec(SOUND + more, made.__dict__)
    if without:
        del made.__dict__[without]
    return made


def refusal(**how: Any) -> list[str]:
    with pytest.raises(BadInput, match=r"study rain breaks the contract in evalbench/studies/contract\.py") as caught:
        study_of(module(**how))
    return list(caught.value.faults)


@pytest.mark.parametrize("name", studies.names())
def test_every_study_keeps_it(name: str) -> None:
    own = studies.study(name)
    assert own.name == name
    assert own.QUESTION.endswith("?")
    assert own.pictures
    assert {"seed", "n_resamples"} <= set(own.options())
    assert "contract" not in studies.names()


@pytest.mark.parametrize("name", studies.names())
def test_every_option_measures_or_is_judged(name: str) -> None:
    own = studies.study(name)
    measures, judged = measuring.of_study(own.options(), own.MEASURED_BY, own.JUDGED_OPTIONS)
    assert [option for option in own.options() if option not in measures and option not in judged] == []
    assert set(measures) & set(judged) == set()
    assert {*own.MEASURED_BY, *own.JUDGED_OPTIONS} - set(own.options()) == set()


@pytest.mark.parametrize("name", [name for name in studies.names() if (GOLDEN / f"{name}.json").is_file()])
def test_an_option_moves_figures_that_the_study_has(name: str) -> None:
    stated = {row["metric"] for row in json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))["summary"]}
    of = {figure for figures in studies.study(name).measured_by().values() for figure in figures}
    assert {figure for figure in of if not any(measuring.moves((figure,), metric) for metric in stated)} <= ABSENT


def test_hooks_that_are_not_there_are_none() -> None:
    own = study_of(module())
    assert (own.measures, own.with_sums, own.weighted, own.adapt, own.check, own.UNIT) == (*[None] * 5, "")
    assert list(own.options()) == ["k", "n_resamples"]


@pytest.mark.parametrize(
    ("wrong", "hook"),
    [
        ("def measurs(): ...", "measures"),
        ("def weigthed(items): ...", "weighted"),
        ("def checks(data): ...", "check"),
        ("def with_sum(items): ...", "with_sums"),
        ("def adopt(frames): ...", "adapt"),
        ("UNITS = 'document'", "UNIT"),
        ("unit = 'document'", "UNIT"),
        ("def pictures_rain(result): ...", "picture_rain"),
        ("def pciture_rain(result): ...", "picture_rain"),
    ],
)
def test_a_misspelt_hook_is_refused_with_what_is_meant(wrong: str, hook: str) -> None:
    name = wrong.split("(")[0].split()[-1] if wrong.startswith("def") else wrong.split()[0]
    assert refusal(more=wrong) == [f"{name} is not a hook; did you mean {hook}?"]


@pytest.mark.parametrize(
    "helper",
    [
        "def check(data): ...\ndef checks(): ...",  # the hook itself is offered
        "def measures(): ...\ndef measure(): ...",
        "class Check: ...",
        "def _measurs(): ...",
        "def picture_sun(result): ...",
        "def worst(result): ...",
        "from evalbench.studies.contract import study_of as checks",  # another module's
    ],
)
def test_names_that_only_happen_to_be_near_are_taken(helper: str) -> None:
    assert study_of(module(more=helper)).name == "rain"


@pytest.mark.parametrize("hook", ["QUESTION", "SCHEMA", "evaluate", "summarise"])
def test_what_every_study_has_is_missed(hook: str) -> None:
    assert refusal(without=hook) == [f"{hook} is missing"]


def test_everything_that_is_wrong_is_one_message() -> None:
    wrong = "UNIT = 3\nmeasures = 'f1'\ndel evaluate\ndef evaluatee(data): ...\n"
    assert refusal(more=wrong, without="picture_rain") == [
        "evaluate is missing",
        "there is no picture: a function picture_…(result)",
        "UNIT must be a str, found 3",
        "measures must be a function, found 'f1'",
        "evaluatee is not a hook; did you mean evaluate?",
    ]


def test_options_are_keywords_with_defaults() -> None:
    assert refusal(more="def evaluate(rows, n, *, k): ...") == [
        "the first parameter of evaluate must be data",
        "evaluate: n must be keyword-only with a default",
        "evaluate: k must be keyword-only with a default",
    ]
    assert refusal(more="def summarise(table): ...") == ["the first parameter of summarise must be items"]
