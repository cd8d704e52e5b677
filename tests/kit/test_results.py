"""The result of a study: what is composed, and what a study overrides."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from evalbench import core, kit
from evalbench.kit.options import also_called
from evalbench.readers import Column, Table
from evalbench.readers.dataset import Dataset, load

QUESTION = "How often is it right?"
SCHEMA = {"items": Table((Column("id", "id"), Column("model", "id", groups=True)), unique=("id", "model"))}
ROWS = pd.DataFrame({"id": ["1", "2"], "model": ["b", "a"]})


def measures() -> tuple[core.Measure, ...]:
    return (core.share_of("right"),)


def summarise(items: pd.DataFrame, *, seed: int = 0, n_resamples: int = 10) -> core.Summary:
    return kit.worst_group(items, measures(), "model", seed=seed, n_resamples=n_resamples)


@also_called(rows="data")
def evaluate(data: Dataset, *, k: int = 1, n_resamples: int = 5, own: Any = None) -> core.Result:
    options = {"k": k, "n_resamples": n_resamples}
    items = data["items"].assign(right=1.0, unscored="", undefined="")
    return kit.result_of(evaluate, data, options, items, **{"notes": (*data.notes, "", "seen"), **(own or {})})


def result(**own: Any) -> core.Result:
    return evaluate(load({"items": ROWS}, SCHEMA), own=own)


def test_what_every_study_has_comes_from_the_module_of_evaluate() -> None:
    found = result()
    assert (found.study, found.question, found.judged) == ("test_results", QUESTION, "2 models: a, b")
    assert (found.id, found.by, dict(found.parameters)) == ("id", ("model",), {"k": 1, "n_resamples": 5})
    assert found.summary.estimates == summarise(found.items, n_resamples=5).estimates
    assert (found.notes, found.method, dict(found.tables), found.accounting) == (("seen",), (), {}, {})
    assert evaluate(rows=load({"items": ROWS}, SCHEMA)).study == "test_results"


def test_a_study_states_what_is_its_own() -> None:
    summary = summarise(result().items, seed=3)
    found = result(judged="one", by=(), id="model", summary=summary, method=["m"], files={"a": b"1"}, items_of="words")
    assert (found.judged, found.by, found.id, found.method) == ("one", (), "model", ("m",))
    assert found.summary is summary
    assert (found.files, found.items_of) == ({"a": b"1"}, "words")


def test_tables_that_may_be_empty_are_left_out_where_they_are() -> None:
    none = pd.DataFrame({"a": []})
    found = result(tables={"kept": none}, some={"rows": ROWS, "none": none, "nothing": None})
    assert list(found.tables) == ["kept", "rows"]


def test_accounts_add_up() -> None:
    assert result(spent=[{"calls": 2}, {"calls": 3}]).accounting == {"calls": 5}
    assert result(spent=[{"calls": 2}], accounting={"calls": 1}).accounting == {"calls": 1}


@pytest.mark.parametrize("n", [0, 3])
def test_a_result_that_stopped_early_has_its_plan_its_evidence_and_its_method(n: int) -> None:
    plan = kit.stopping.Plan.drawn([*"abc"], seed=0)
    stopped = kit.stopping.stopped_at(plan, [1.0] * n)
    found = result(stopped=stopped, counted=("problem", "mean score"), method=("own",))
    assert found.method == ("own", kit.stopping.METHOD)
    assert f"{n} of 3 problems" in found.stopping["sentence"]
    assert list(found.tables) == ["evidence", "not_asked"]
    assert list(found.files) == ["plan.json"]
