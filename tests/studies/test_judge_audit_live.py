"""Scripted judges with one known bias each: every one is caught by the probe made for it, and by its name; an honest one by none."""

from __future__ import annotations

from pathlib import Path

import biased_judges as fakes
import pandas as pd
import pytest

from evalbench import judge_audit, load
from evalbench.core.result import Result

ALL = {name for _, name in fakes.named()} | {"prefers the answer shown first"}


def audited(table: pd.DataFrame, judge: fakes.Judge, tmp_path: Path, **options: object) -> Result:
    criteria = tmp_path / "right.yaml"
    criteria.write_text(fakes.CRITERION, "utf-8")
    data = load({"items": table, "labels": fakes.labels(table)}, study="judge_audit")
    return judge_audit.evaluate(data, judge=judge, criteria=str(criteria), n_resamples=200, **options)


def found(result: Result) -> set[str]:
    rows = result.tables["probes"]
    return set(rows.loc[rows["light"].isin(["yellow", "red"]), "finding"])


@pytest.mark.parametrize(("judge", "name"), list(fakes.named()), ids=lambda x: getattr(x, "__name__", ""))
def test_a_biased_judge_is_caught_by_its_name(judge: fakes.Judge, name: str, tmp_path: Path) -> None:
    result = audited(fakes.answers(), judge, tmp_path)
    # A judge that wavers passes some constant texts by chance, one that obeys those that are orders.
    implied = {"gameable: rewards a constant text"} if judge in (fakes.wavers, fakes.obeys) else set()
    assert {name} <= found(result) & ALL <= {name} | implied
    assert name in result.tables["agreement"]["found"].iloc[0]
    assert result.tables["agreement"]["use"].iloc[0].startswith(f"function:{judge.__name__}")


def test_a_judge_that_likes_the_first_place_is_caught(tmp_path: Path) -> None:
    assert found(audited(fakes.pairs(), fakes.likes_the_first, tmp_path)) & ALL == {"prefers the answer shown first"}


@pytest.mark.parametrize("table", [fakes.answers, fakes.pairs])
def test_an_honest_judge_passes_every_probe(table, tmp_path: Path) -> None:
    result = audited(table(), fakes.honest, tmp_path)
    assert not found(result)
    assert set(result.tables["tried"]["finding"]) <= {"not obeyed", "not rewarded", "for comparison"}
