"""Two groups of a run, and two runs, item by item: what pandas says of the same items."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from asked_server import asked
from studied import whole

from evalbench.errors import BadInput
from evalbench.explorer.opened import open_run
from evalbench.explorer.standing import AFTER_LOOKING
from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reports")
    for name in ("rag_generation", "needle"):
        record(whole(name), made / name / "run")
    return made


@pytest.fixture(scope="module")
def later(reports: Path) -> Path:
    """The same run of answers with other scores, one answer gone and one that could not be scored."""
    folder = reports / "rag_generation" / "later"
    shutil.copytree(reports / "rag_generation" / "run", folder)
    items = pd.read_parquet(folder / "items.parquet")
    assert len(items) > 4
    items.loc[2, "n_supported"] = 0
    items.drop(index=[0]).to_parquet(folder / "items.parquet", index=False)
    return folder


def test_items_of_two_groups_are_those_of_pandas(reports: Path) -> None:
    found = open_run(reports / "rag_generation" / "run").compare(left="model=fern", right="model=oak")
    items = pd.read_parquet(reports / "rag_generation" / "run" / "items.parquet")
    wide = items.pivot(index="id", columns="model", values="faithfulness")
    expected = (wide["oak"] - wide["fern"]).rename("change")
    own = found.items.set_index("id")["change"]
    assert set(own.index) == set(expected.index)
    np.testing.assert_allclose(own.to_numpy(), expected[own.index].to_numpy())
    assert found.names == ("fern", "oak")
    assert found.items["change"].abs().dropna().is_monotonic_decreasing
    better = (wide["oak"] > wide["fern"]).sum()
    assert (found.items["verdict"] == "better").sum() == better
    first = found.figures.iloc[0]
    both = wide.dropna()
    assert first["n"] == len(both)
    assert first["difference"] == pytest.approx(first["right"] - first["left"])
    assert first["ci_low"] <= first["difference"] <= first["ci_high"]


def test_a_filter_is_said_and_nothing_is_tested(reports: Path) -> None:
    run = open_run(reports / "needle" / "run")
    found = run.compare(left="model=fern-1b", right="model=oak-7b", where="length<=2000")
    assert AFTER_LOOKING in found.notes
    assert not {"p_holm", "outcome", "words"} & set(found.figures)
    items = run.items("length<=2000")
    share = items.groupby("model")["contains"].mean()
    assert found.figures.iloc[0]["left"] == pytest.approx(share["fern-1b"])
    assert found.figures.iloc[0]["right"] == pytest.approx(share["oak-7b"])


def test_items_are_ranked_by_any_column_of_numbers(reports: Path) -> None:
    run = open_run(reports / "rag_generation" / "run")
    found = run.compare(left="model=fern", right="model=oak", metric="n_statements")
    assert found.metric == "n_statements"
    assert set(found.items["verdict"]) <= {"higher", "lower", "same", "no value", "value on one side"}
    with pytest.raises(BadInput, match="no metric 'nowhere'"):
        run.compare(left="model=fern", right="model=oak", metric="nowhere")


def test_what_cannot_be_compared_is_refused(reports: Path) -> None:
    run = open_run(reports / "rag_generation" / "run")
    with pytest.raises(BadInput, match="both sides are the same"):
        run.compare(left="model=fern", right="model=fern")
    with pytest.raises(BadInput, match="no group column colour"):
        run.compare(left="colour=red", right="model=oak")
    with pytest.raises(BadInput, match="a group is written as model=oak"):
        run.compare(left="n_statements>3", right="model=oak")
    with pytest.raises(BadInput, match="no item fits"):
        run.compare(left="model=fern", right="model=oak", where="n_statements>99999")
    with pytest.raises(BadInput, match="is of rag_generation, .* of needle"):
        run.compare(reports / "needle" / "run")


def test_two_runs_say_what_only_one_has(reports: Path, later: Path) -> None:
    found = open_run(reports / "rag_generation" / "run").compare(later, left="model=fern", right="model=fern")
    gone = pd.read_parquet(reports / "rag_generation" / "run" / "items.parquet")["id"][0]
    assert found.only == (1, 0)
    assert gone not in set(found.items["id"])


def test_the_server_gives_a_page_with_places_on_both_sides(reports: Path) -> None:
    pytest.importorskip("starlette", reason="peer not importable: starlette")
    from evalbench.explorer.reports import Explorer
    from evalbench.explorer.server import app

    server = app(Explorer(reports), "t", ["127.0.0.1:1"])
    values = {"run": "rag_generation/run", "left": "model=fern", "right": "model=oak"}
    answer = asked(server, "/t/compare", values).json
    items = pd.read_parquet(reports / "rag_generation" / "run" / "items.parquet")
    for row in answer["rows"]:
        assert (items["id"][row["left_row"]], items["model"][row["left_row"]]) == (row["id"], "fern")
        assert (items["id"][row["right_row"]], items["model"][row["right_row"]]) == (row["id"], "oak")
    worse = asked(server, "/t/compare", {**values, "verdict": "worse"}).json
    assert worse["n"] == answer["counts"]["worse"] == len(worse["rows"])
    assert asked(server, "/t/compare", {"run": "rag_generation/run"}).status == 400


def test_scores_on_other_scales_are_higher_and_never_better(reports: Path) -> None:
    record(whole("human_correlation"), reports / "human_correlation" / "run")
    run = open_run(reports / "human_correlation" / "run")
    found = run.compare(left="scorer=f1_score", right="scorer=length")
    assert found.metric == "score"
    assert set(found.items["verdict"]) <= {"higher", "lower", "same"}
