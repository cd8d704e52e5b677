"""Two groups of a run, and two runs: their figures, what is refused and said of them, and what the server gives."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from asked_server import asked
from compared_runs import drawn, run_of
from studied import whole

from evalbench import studies
from evalbench.compare.changes import changes
from evalbench.compare.runs import Hooks
from evalbench.compare.sides import read_side
from evalbench.core.comparison import compare_measures
from evalbench.core.measures import mean_of
from evalbench.errors import BadInput
from evalbench.explorer.opened import open_run
from evalbench.explorer.standing import AFTER_LOOKING
from evalbench.kit.verdicts import N_RESAMPLES, SEED
from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")

from evalbench.explorer import comparing
from evalbench.explorer.comparing import scores
from evalbench.explorer.pairing import Pairs
from evalbench.explorer.rows import Rows
from evalbench.explorer.sided import sides

STUDIES = ("rag_generation", "needle", "stability")
OF_COLUMNS = {"higher", "lower", "same", "no value", "no value left", "no value right", "only left", "only right"}


@pytest.fixture(scope="module")
def later(reports: Path) -> Path:
    """The same run of answers with other scores and one answer gone."""
    folder = reports / "rag_generation" / "later"
    shutil.copytree(reports / "rag_generation" / "run", folder)
    items = pd.read_parquet(folder / "items.parquet")
    assert len(items) > 4
    items.loc[2, "n_supported"] = 0
    items.drop(index=[0]).to_parquet(folder / "items.parquet", index=False)
    return folder


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked_for", "message"),
    [
        ({"left": "model=fern", "right": "model=fern"}, "both sides are the same"),
        ({}, "both sides are the same"),
        ({"left": "colour=red", "right": "model=oak"}, "no group column colour"),
        ({"left": "model=pine", "right": "model=oak"}, "no such values; there are fern, oak"),
        ({"left": "n_statements>3", "right": "model=oak"}, "a group is written as model=oak"),
        ({"left": "-model=fern", "right": "model=oak"}, "a group is written as model=oak"),
        ({"left": "fern", "right": "model=oak"}, "a group is written as model=oak; 'fern' is not"),
        ({"left": "model=fern", "right": "model=oak", "where": "n_statements>99999"}, "no item fits the filter"),
        ({"left": "model=fern", "right": "model=oak", "where": "nowhere=1"}, "run: filter: there is no column 'nowhere'"),
        ({"left": "model=fern", "right": "model=oak", "metric": "nowhere"}, "not compared by 'nowhere'; they are by faithf"),
        ({"left": "model=fern", "right": "model=oak", "metric": "id"}, "not compared by 'id'"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(reports: Path, asked_for: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        open_run(reports / "rag_generation" / "run").compare(**asked_for)


def test_runs_of_two_studies_unfinished_runs_and_sides_without_a_common_group_are_refused(
    reports: Path, tmp_path: Path
) -> None:
    run = open_run(reports / "rag_generation" / "run")
    with pytest.raises(BadInput, match="is of rag_generation, .* of needle"):
        run.compare(reports / "needle" / "run")
    items = drawn(0)
    one = run_of(tmp_path / "one", items[items["model"] != "elm"])
    other = run_of(tmp_path / "other", items.assign(model=items["model"] + "-2"))
    with pytest.raises(BadInput, match="no group in common"):
        one.compare(other)
    (tmp_path / "other" / "run.json").write_text(json.dumps({"status": "failed"}), encoding="utf-8")
    with pytest.raises(BadInput, match="not the folder of a finished run"):
        one.compare(other, left="model=oak", right="model=oak-2")
    bare = run_of(tmp_path / "bare", items[["id", "model"]])
    with pytest.raises(BadInput, match="no column of numbers in common"):
        bare.compare(left="model=oak", right="model=birch")


# -- figures ------------------------------------------------------------------------------------


def test_items_of_two_groups_are_those_of_pandas(reports: Path) -> None:
    run = open_run(reports / "rag_generation" / "run")
    found = run.compare(left="model=fern", right="model=oak", metric="faithfulness")
    items = pd.read_parquet(reports / "rag_generation" / "run" / "items.parquet")
    wide = items.pivot(index="id", columns="model", values="faithfulness")
    expected = (wide["oak"] - wide["fern"]).rename("change")
    own = found.items.set_index("id")["change"]
    assert set(own.index) == set(expected.index)
    np.testing.assert_allclose(own.to_numpy(), expected[own.index].to_numpy())
    assert found.names == ("fern", "oak")
    better = (wide["oak"] > wide["fern"]).sum()
    assert (found.items["verdict"] == "better").sum() == better
    first = found.figures.iloc[0]
    both = wide.dropna()
    assert first["n"] == len(both)
    assert first["difference"] == pytest.approx(first["right"] - first["left"])
    assert first["ci_low"] <= first["difference"] <= first["ci_high"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rag_generation", "text_metrics", "stability_top", "ner_conflicts", "cot_levels"])
def test_every_figure_of_a_study_is_compared_by_item_as_evalbench_compare_lists_changes(
    name: str, tmp_path: Path
) -> None:
    """Figures of several counts too, and columns that are not in the file, by its own code in memory."""
    folder = tmp_path / "run"
    record(whole(name), folder)
    rows = Rows(folder)
    (by,) = rows.by
    groups = list(dict.fromkeys(row[by] for row in rows.results["summary"] if row.get(by)))[:2]
    of = sides(rows, rows, (f"{by}={groups[0]}", f"{by}={groups[1]}"))
    hooks = Hooks.of(studies.study(name))
    known = [one for one in scores(of, (rows, rows), hooks).values() if one.figure]
    assert known
    read = [hooks.summed(replace(side, items=read_side(folder).rows(side.selected))) for side in of]
    for score in known:
        pairs = Pairs(rows, rows, of, score, hooks)
        found = pairs.frame().set_index(rows.id)
        expected = changes(*read, [({}, ({}, {}))], rows.id, score.name, score.measure)
        assert expected is not None
        own = found.loc[expected.table[rows.id]]
        np.testing.assert_allclose(own["change"].astype(float), expected.table["change"].astype(float), atol=1e-12)
        assert (
            own["verdict"].str.replace("no value .*", "value on one side", regex=True).tolist()
            == expected.table["verdict"].tolist()
        )
        what = {row["key"][rows.id]: row["what"] for row in pairs.page(limit=1000)}
        assert [what[one] for one in expected.table[rows.id]] == expected.table["what"].tolist()


def test_the_difference_of_a_column_is_that_of_evalbench_compare(tmp_path: Path) -> None:
    items = drawn(5).drop_duplicates(["id", "model"])
    found = run_of(tmp_path / "run", items).compare(left="model=oak", right="model=birch", metric="whole")
    sides = [items[items["model"] == name] for name in ("birch", "oak")]
    measure = mean_of("whole", unit="", scale=None, higher_is_better=None, worst=None)
    (expected,) = compare_measures(
        sides[0],
        sides[1],
        [measure],
        units_a=sides[0]["id"],
        units_b=sides[1]["id"],
        seed=SEED,
        n_resamples=N_RESAMPLES,
    ).comparisons
    first = found.figures.iloc[0]
    both = sides[1].merge(sides[0], on="id", suffixes=("_left", "_right"))
    assert first["title"] == "mean of whole"
    assert first["difference"] == pytest.approx((both["whole_right"] - both["whole_left"]).mean())
    assert (first["n"], first["p"]) == (len(both), expected.p)
    assert (first["ci_low"], first["ci_high"]) == (expected.ci_low, expected.ci_high)


def test_a_filter_is_said_and_nothing_is_tested(reports: Path) -> None:
    run = open_run(reports / "needle" / "run")
    found = run.compare(left="model=fern-1b", right="model=oak-7b", where="length<=2000")
    assert AFTER_LOOKING in found.notes
    assert not {"p", "p_holm", "outcome", "words"} & set(found.figures)
    items = run.items("length<=2000")
    share = items.groupby("model")["contains"].mean()
    assert found.figures.iloc[0]["left"] == pytest.approx(share["fern-1b"])
    assert found.figures.iloc[0]["right"] == pytest.approx(share["oak-7b"])
    assert set(found.items["id"]) == set(items["id"])


def test_items_are_ranked_by_any_column_of_numbers(reports: Path) -> None:
    run = open_run(reports / "rag_generation" / "run")
    found = run.compare(left="model=fern", right="model=oak", metric="n_statements")
    assert found.metric == "n_statements"
    assert set(found.items["verdict"]) <= OF_COLUMNS


def test_the_score_that_is_chosen_by_default_differs(tmp_path: Path) -> None:
    items = drawn(7).assign(score=1.0)
    found = run_of(tmp_path / "run", items).compare(left="model=oak", right="model=birch")
    assert found.metric == "right"


def test_by_default_items_are_compared_by_the_figure_that_decides_the_light(tmp_path: Path) -> None:
    items = drawn(7).assign(score=1.0)
    run_of(tmp_path / "run", items, decided_by={"metric": "whole", "model": "oak"})
    groups = ("model=oak", "model=birch")
    found = open_run(tmp_path / "run").compare(left=groups[0], right=groups[1])
    assert found.metric == "whole"
    rows = Rows(tmp_path / "run")
    assert comparing.page_of(rows, rows, groups, "", "", limit=1)["decides"] == "whole"
    run_of(tmp_path / "same", items, decided_by={"metric": "score", "model": "oak"})
    assert (
        open_run(tmp_path / "same").compare(left=groups[0], right=groups[1]).metric == "score"
    )  # also where nothing differs
    run_of(tmp_path / "other", items, decided_by={"metric": "no column", "model": "oak"})
    assert open_run(tmp_path / "other").compare(left=groups[0], right=groups[1]).metric == "right"


def test_the_figure_that_decides_the_light_is_no_further_figure(reports: Path, tmp_path: Path) -> None:
    shutil.copytree(reports / "rag_generation" / "run", tmp_path / "run")
    file = tmp_path / "run" / "results.json"
    results = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**results, "decided_by": {"metric": "answer_relevance"}}), encoding="utf-8")
    rows = Rows(tmp_path / "run")
    said = comparing.difference_of(rows, rows, ("model=fern", "model=oak"), "faithfulness", "")
    assert {row["metric"] for row in said["figures"] if row["headline"]} >= {"faithfulness", "answer_relevance"}


def test_two_runs_say_what_only_one_has(reports: Path, later: Path) -> None:
    found = open_run(reports / "rag_generation" / "run").compare(later, left="model=fern", right="model=fern")
    gone = pd.read_parquet(reports / "rag_generation" / "run" / "items.parquet")["id"][0]
    assert found.only == (1, 0)
    assert found.items.set_index("id").loc[gone, "verdict"] == "only left"


def test_figures_of_many_pairs_are_those_of_a_sample_and_said_to_be(
    reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "SAMPLED_FROM", 100)
    comparing._figures.cache_clear()
    found = open_run(reports / "needle" / "run").compare(left="model=fern-1b", right="model=oak-7b")
    assert "The figures are those of 100 pairs, drawn evenly; those of the run's page are of all." in found.notes
    assert len(found.items) == 800
    assert found.figures.iloc[0]["p_holm"] is not None
    comparing._figures.cache_clear()


def test_a_run_that_does_not_record_its_options_has_pairs_and_says_why_it_has_no_figures(tmp_path: Path) -> None:
    found = run_of(tmp_path / "run", drawn(8), study="text_metrics").compare(left="model=oak", right="model=birch")
    assert len(found.items)
    assert found.figures.empty
    assert "results.json lacks options" in found.notes[-1]


def test_items_without_their_unit_have_pairs_and_no_figures(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run_of(folder, drawn(8))
    drawn(8).to_parquet(folder / "items.parquet", index=False)
    found = open_run(folder).compare(left="model=oak", right="model=birch")
    assert len(found.items)
    assert "the items have no column needle" in found.notes[-1]


# -- the server ---------------------------------------------------------------------------------


def test_the_server_gives_a_page_with_places_on_both_sides(reports: Path) -> None:
    pytest.importorskip("starlette", reason="peer not importable: starlette")
    from evalbench.explorer.reports import Explorer
    from evalbench.explorer.server import app

    server = app(Explorer(reports), "t", ["127.0.0.1:1"])
    values = {"run": "rag_generation/run", "left": "model=fern", "right": "model=oak"}
    answer = asked(server, "/t/compare", values).json
    items = pd.read_parquet(reports / "rag_generation" / "run" / "items.parquet")
    for row in answer["rows"]:
        assert (items["id"][row["left_row"]], items["model"][row["left_row"]]) == (row["key"]["id"], "fern")
        assert (items["id"][row["right_row"]], items["model"][row["right_row"]]) == (row["key"]["id"], "oak")
    worse = asked(server, "/t/compare", {**values, "verdict": "worse"}).json
    assert worse["n"] == answer["counts"]["worse"] == len(worse["rows"])
    assert asked(server, "/t/compare", {"run": "rag_generation/run"}).status == 400
    assert "not by 'x'" in asked(server, "/t/compare", {**values, "sort": "x"}).json["fault"]
    assert compile(answer["code"], "cell", "exec")
    assert answer["line"].endswith("--left model=fern --right model=oak")
    figures = asked(server, "/t/difference", values).json
    assert figures["tested"]
    assert (answer["decides"], figures["figures"][0]["title"]) == ("answer_correctness", "answer correctness")
    filtered = asked(server, "/t/compare", {**values, "where": "n_statements>=1"}).json
    assert filtered["filtered"] == AFTER_LOOKING
    assert filtered["line"] == ""


@pytest.mark.slow
def test_scores_on_other_scales_are_higher_and_never_better(reports: Path) -> None:
    record(whole("human_correlation"), reports / "human_correlation" / "run")
    run = open_run(reports / "human_correlation" / "run")
    found = run.compare(left="scorer=f1_score", right="scorer=length")
    assert found.metric == "score"
    assert set(found.items["verdict"]) <= {"higher", "lower", "same"}


# -- the comparison of the run's page -----------------------------------------------------------


@pytest.mark.parametrize(
    ("study", "groups", "table"),
    [("rag_generation", ("fern", "oak"), "comparison"), ("needle", ("fern-1b", "oak-7b"), "comparisons")],
)
@pytest.mark.parametrize("turned", [False, True])
def test_two_groups_of_a_run_have_the_comparison_of_its_page(
    reports: Path, study: str, groups: tuple[str, str], table: str, turned: bool
) -> None:
    folder = reports / study / "run"
    page = pd.read_parquet(folder / f"{table}.parquet").set_index("metric")
    left, right = reversed(groups) if turned else groups
    found = open_run(folder).compare(left=f"model={left}", right=f"model={right}").figures.set_index("metric")
    assert set(page.index) <= set(found.index)
    n = len(page)
    said = (
        f"adjusted for the {n} comparisons of the run's page"
        if n > 1
        else "the only comparison of the run's page, not adjusted"
    )
    for metric, row in page.iterrows():
        own, sign = found.loc[metric], 1 if row["model_a"] == right else -1
        assert own[["p", "p_holm", "n_tests"]].tolist() == row[["p", "p_holm", "n_tests"]].tolist()
        assert own["difference"] == sign * row["difference"]
        assert [own["ci_low"], own["ci_high"]] == sorted(sign * row[["ci_low", "ci_high"]].to_numpy(dtype=float))
        assert own["family"] == said
        words = {1: {}, -1: {"better": "worse", "worse": "better"}}[sign]
        assert own["outcome"] == words.get(row["outcome"], row["outcome"])
        assert own["words"].startswith(f"{row['title']}: ")
        assert (f"{right} is {own['outcome']} than {left}" in own["words"]) is (own["outcome"] in ("better", "worse"))
    others = found.drop(index=page.index)
    assert {
        f"{kind} figures of these two groups" in family
        for kind in ("headline", "further")
        for family in others["family"]
    } == {True, False}
    assert all(
        family.startswith(f"adjusted for the {tests} ")
        for family, tests in zip(others["family"], others["n_tests"], strict=True)
    )


def test_a_filter_two_runs_and_groups_of_groups_are_no_comparison_of_the_page(reports: Path, later: Path) -> None:
    run = open_run(reports / "needle" / "run")
    assert "family" not in run.compare(left="model=fern-1b", right="model=oak-7b", where="length<=2000").figures
    runs = open_run(reports / "rag_generation" / "run").compare(later)
    assert {family.rpartition(" of ")[2] for family in runs.figures["family"]} == {"these two runs"}
    models = open_run(reports / "stability" / "run").compare(left="model=fern-1b", right="model=oak-7b").figures
    assert all(" tests of " in family for family in models["family"])


@pytest.mark.parametrize("change", ["no words", "another outcome", "no interval", "no column"])
def test_rows_that_no_study_wrote_are_not_taken_for_the_page(reports: Path, tmp_path: Path, change: str) -> None:
    folder = tmp_path / "rag_generation" / "run"
    shutil.copytree(reports / "rag_generation" / "run", folder)
    table = pd.read_parquet(folder / "comparison.parquet")
    changed = {
        "no words": table.assign(words=None),
        "another outcome": table.assign(outcome="<b>best</b>"),
        "no interval": table.assign(ci_low=np.nan),
        "no column": table.drop(columns="n_tests"),
    }[change]
    changed.to_parquet(folder / "comparison.parquet", index=False)
    found = open_run(folder).compare(left="model=fern", right="model=oak").figures
    assert not found["family"].str.contains("page").any()


def test_a_comparison_that_only_the_page_has_is_shown(reports: Path, tmp_path: Path) -> None:
    folder = tmp_path / "rag_generation" / "run"
    shutil.copytree(reports / "rag_generation" / "run", folder)
    table = pd.read_parquet(folder / "comparison.parquet")
    new = table.iloc[[0]].assign(metric="slow", title="slow figure")
    pd.concat([table, new]).to_parquet(folder / "comparison.parquet", index=False)
    found = open_run(folder).compare(left="model=fern", right="model=oak").figures.set_index("metric")
    assert found.loc["slow", "headline"]
    assert found.loc["slow", "p"] == table.iloc[0]["p"]
