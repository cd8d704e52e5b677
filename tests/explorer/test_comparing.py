"""Two groups of a run, and two runs, item by item: what pandas says of the same items."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from asked_server import asked
from studied import whole

from evalbench import studies
from evalbench.compare.changes import changes
from evalbench.compare.runs import Hooks
from evalbench.compare.sides import read_side
from evalbench.core.comparison import compare_measures
from evalbench.core.measures import mean_of
from evalbench.errors import BadInput
from evalbench.explorer.opened import Run, open_run
from evalbench.explorer.standing import AFTER_LOOKING
from evalbench.kit.verdicts import N_RESAMPLES, SEED
from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")

from evalbench.explorer import comparing
from evalbench.explorer.comparing import paired, scores
from evalbench.explorer.pairing import VERDICTS, Pairs
from evalbench.explorer.rows import Rows
from evalbench.explorer.sided import sides

HOSTILE = "<img src=x onerror=alert(1)>\u202e'; DROP TABLE pairs; --"
OF_COLUMNS = {"higher", "lower", "same", "no value", "no value left", "no value right", "only left", "only right"}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reports")
    for name in ("rag_generation", "needle"):
        record(whole(name), made / name / "run")
    return made


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


def run_of(
    folder: Path,
    items: pd.DataFrame,
    texts: pd.DataFrame | None = None,
    *,
    by: tuple[str, ...] = ("model",),
    **results: Any,
) -> Run:
    """A run of needle with these items, as a folder has them; each is a needle of its own where nothing else is said."""
    items = items if "needle" in items else items.assign(needle=items["id"])
    folder.mkdir(parents=True)
    items.to_parquet(folder / "items.parquet", index=False)
    if texts is not None:
        texts.to_parquet(folder / "texts.parquet", index=False)
    own: dict[str, Any] = {
        "schema_version": 2, "study": "needle", "question": "Is it found?", "judged": "oak", "parameters": {}, "id": "id", "by": list(by),
        "data": {"name": "d", "version": "1", "sha256": "0"}, "light": "red", "sentence": "It is not.", "light_stability": None,
        "light_rule": "", "items": {"n": len(items), "unscored": 0}, "notes": [], "method": [], "summary": [],
        "tables": {} if texts is None else {"texts": "texts.parquet"}, **results,
    }  # fmt: skip
    (folder / "results.json").write_text(json.dumps(own), encoding="utf-8")
    (folder / "run.json").write_text(
        json.dumps({"status": "ok", "study": "needle", "run_id": folder.name}), encoding="utf-8"
    )
    return open_run(folder)


def drawn(seed: int, n: int = 80) -> pd.DataFrame:
    """Items of two models: ids that only one has, some twice, and scores that are missing, NaN or infinite."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame({
        "id": [f"q{i}" for i in draw.integers(0, n // 2, n)],
        "model": draw.choice(["oak", "birch", "elm"], n),
        "score": draw.choice([0.0, 0.25, 0.5, 1.0, np.nan, np.inf, -np.inf], n),
        "right": pd.array(draw.choice([True, False, None], n), dtype=object),  # type: ignore[call-overload]
        "whole": draw.integers(-3, 4, n),
        "unscored": draw.choice(["", "no-output"], n),
    })  # fmt: skip


def oracle(left: pd.DataFrame, right: pd.DataFrame, keys: list[str], score: str) -> pd.DataFrame:
    """Pairs by key with both values, their difference and the verdict, by pandas alone."""

    def means(items: pd.DataFrame) -> pd.Series:
        own = items.assign(**{key: items[key].astype(str) for key in keys})
        value = pd.to_numeric(own[score].astype(object).map(lambda v: np.nan if v is None else float(v)))
        return value.where(np.isfinite(value)).groupby([own[key] for key in keys]).mean()

    both = pd.concat([means(left).rename("left"), means(right).rename("right")], axis=1)
    has = [both.index.isin(means(items).index) for items in (left, right)]
    both["change"] = both["right"] - both["left"]
    none = [both[side].isna() for side in ("left", "right")]
    both["verdict"] = np.select(
        [~has[1], ~has[0], none[0] & none[1], none[0], none[1], both["change"].abs() <= 1e-12, both["change"] > 0],
        ["only left", "only right", "no value", "no value left", "no value right", "same", "higher"],
        "lower",
    )
    return both


def assert_pairs(found: pd.DataFrame, expected: pd.DataFrame, keys: list[str]) -> None:
    assert len(found) == len(expected)
    own = found.set_index(keys).loc[expected.index]
    for name in ("left", "right", "change"):
        np.testing.assert_allclose(own[name].astype(float), expected[name].astype(float), atol=1e-12)
    assert own["verdict"].tolist() == expected["verdict"].tolist()


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


def test_pages_refuse_unknown_orders_and_verdicts(tmp_path: Path) -> None:
    run_of(tmp_path / "run", drawn(0))
    rows = Rows(tmp_path / "run")
    pairs = paired(rows, rows, ("model=oak", "model=birch"), "score")
    with pytest.raises(BadInput, match="sorted by left, right, change, id; not by 'nowhere'"):
        pairs.page(sort="-nowhere")
    with pytest.raises(BadInput, match="a pair is one of better, worse"):
        pairs.page(verdict="bad")


# -- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("score", ["score", "right", "whole"])
def test_pairs_are_those_of_pandas(tmp_path: Path, seed: int, score: str) -> None:
    """Nulls, NaN, infinities, ids that are there twice, ids of one side alone."""
    items = drawn(seed)
    found = run_of(tmp_path / "run", items).compare(left="model=oak", right="model=birch", metric=score)
    sides = [items[items["model"] == name] for name in ("oak", "birch")]
    expected = oracle(*sides, ["id"], score)
    assert set(expected["verdict"]) >= {"only left", "only right"}
    assert_pairs(found.items, expected, ["id"])
    assert found.items["change"].abs().dropna().is_monotonic_decreasing
    assert found.items["change"].isna().sort_values().tolist() == found.items["change"].isna().tolist()
    assert found.only == tuple((expected["verdict"] == f"only {side}").sum() for side in ("left", "right"))


@pytest.mark.parametrize("seed", range(4))
def test_two_runs_are_paired_by_id_and_every_group(tmp_path: Path, seed: int) -> None:
    left, right = drawn(seed), drawn(seed + 100)
    found = run_of(tmp_path / "a", left).compare(run_of(tmp_path / "b", right[right["model"] != "elm"]), metric="score")
    expected = oracle(left, right[right["model"] != "elm"], ["id", "model"], "score")
    assert (expected.loc[(slice(None), "elm"), "verdict"] == "only left").all()
    assert_pairs(found.items, expected, ["id", "model"])


@pytest.mark.parametrize(
    ("of_left", "of_right"), [(int, str), (str, int), (int, int), (float, float), (str, float)], ids=str
)
def test_ids_of_other_types_are_equal_by_their_texts(tmp_path: Path, of_left: type, of_right: type) -> None:
    left, right = (pd.DataFrame({"id": [kind(i) for i in range(9)], "score": np.arange(9) * s}) for kind, s in ((of_left, 1), (of_right, 2)))  # fmt: skip
    found = run_of(tmp_path / "a", left, by=()).compare(run_of(tmp_path / "b", right, by=()))
    assert_pairs(found.items, oracle(left, right, ["id"], "score"), ["id"])
    rows = paired(Rows(tmp_path / "a"), Rows(tmp_path / "b"), ("", "")).page()
    assert len(rows) == (9 if str(of_left(1)) == str(of_right(1)) else 18)


def test_runs_of_one_group_each_are_paired_whatever_it_is_called(tmp_path: Path) -> None:
    left, right = (pd.DataFrame({"id": list("abc"), "model": name, "score": [0.1, 0.2, x]}) for name, x in (("oak", 0.3), ("birch", 0.9)))  # fmt: skip
    found = run_of(tmp_path / "a", left).compare(run_of(tmp_path / "b", right))
    assert found.names == ("oak", "birch")
    assert found.items["verdict"].tolist() == ["higher", "same", "same"]


def test_null_ids_and_groups_and_hostile_names_are_values(tmp_path: Path) -> None:
    quoted = 'a "b" c'
    items = pd.DataFrame({
        "id": [HOSTILE, None, "x|y", HOSTILE, None, "x|y"],
        "left": [HOSTILE] * 3 + [quoted] * 3,
        quoted: [0.0, 0.5, 1.0, 1.0, 0.5, 0.0],
    })  # fmt: skip
    run = run_of(tmp_path / "run", items, by=("left",))
    sides = {"left": 'left="' + HOSTILE + '"', "right": 'left="a \\"b\\" c"'}
    found = run.compare(**sides, metric=quoted).items
    assert dict(zip(found["id"].fillna("none"), found["change"], strict=True)) == {
        HOSTILE: 1.0,
        "x|y": -1.0,
        "none": 0.0,
    }
    two = run_of(tmp_path / "a", items, by=("left",)).compare(
        run_of(tmp_path / "b", items[::-1], by=("left",)), metric=quoted
    )
    assert set(two.items["left (group)"]) == {HOSTILE, quoted}
    assert (two.items["verdict"] == "same").all()


def test_a_group_that_the_other_run_lacks_is_only_there(tmp_path: Path) -> None:
    items = drawn(1)
    found = run_of(tmp_path / "a", items).compare(
        run_of(tmp_path / "b", items[items["model"] == "oak"]), metric="whole"
    )
    assert set(found.items.loc[found.items["model"] != "oak", "verdict"]) == {"only left"}
    assert set(found.items.loc[found.items["model"] == "oak", "verdict"]) == {"same"}
    assert found.only == ((items.drop_duplicates(["id", "model"])["model"] != "oak").sum(), 0)


def test_trials_that_disagree_flicker(tmp_path: Path) -> None:
    items = pd.DataFrame({
        "id": list("abcd") * 2, "model": ["oak"] * 4 + ["birch"] * 4, "needle": list("abcd") * 2,
        "contains": [1, 0, 2 / 3, 0, 1, 1, 1, np.nan], "recall": [1, 0, 2 / 3, 0, 1, 1, 1, np.nan], "n_trials": 3,
        "unscored": ["", "", "", "", "", "", "", "no-output"],
    })  # fmt: skip
    row = {"metric": "recall", "title": "recall", "value": 0.5, "n": 4, "unit": "0–1", "light": "red"}
    summary = [{"model": name, **row} for name in ("oak", "birch")]
    run_of(tmp_path / "run", items, summary=summary)
    rows = Rows(tmp_path / "run")
    page = paired(rows, rows, ("model=oak", "model=birch"), "recall").page(sort="id")
    assert [row["verdict"] for row in page] == ["same", "better", "flickering", "no value right"]
    assert [row["right_why"] for row in page] == ["", "", "", "no-output"]
    assert page[3]["left_row"] == 3
    assert page[3]["right_row"] == 7


def test_inputs_that_differ_are_said_and_their_items_are_not_compared(tmp_path: Path) -> None:
    items = pd.DataFrame({"id": list("abcdef"), "model": "oak", "score": [0.0] * 6})
    texts = items[["id", "model"]].assign(question=[f"What is {one}?" for one in "abcdef"], answer="It is.")
    other = texts.assign(question=texts["question"].where(texts["id"] != "c", "Who?"), answer="Another one.")
    other.loc[other["id"] == "e", "question"] = None  # not kept: nothing is known of it
    left = run_of(tmp_path / "a", items, texts)
    right = run_of(tmp_path / "b", items.assign(score=1.0), other, data={"name": "d", "version": "2", "sha256": "1"})
    found = left.compare(right, metric="score").items.set_index("id")
    assert found.loc["c", "verdict"] == "inputs differ"
    assert np.isnan(found.loc["c", "change"])
    assert found.loc["c", "right"] == 1
    assert set(found.drop(index="c")["verdict"]) == {"higher"}


def test_pages_of_every_order_hold_each_pair_once(tmp_path: Path) -> None:
    items = drawn(3, 200)
    run_of(tmp_path / "run", items)
    rows = Rows(tmp_path / "run")
    pairs = paired(rows, rows, ("model=oak", "model=birch"), "score")
    table = pairs.frame()
    assert sum(pairs.counts.values()) == len(table)
    for sort in ("", "change", "-change", "left", "-right", "id", "-id"):
        pages = [row for offset in range(0, len(table), 7) for row in pairs.page(sort=sort, offset=offset, limit=7)]
        assert sorted(row["key"]["id"] for row in pages) == sorted(table["id"])
        name = sort.removeprefix("-")
        values = [row["key"]["id"] if name == "id" else row[name] for row in pages if name]
        known = [value for value in values if value is not None]
        assert known == sorted(known, reverse=sort.startswith("-"))
        assert values[: len(known)] == known  # what has no value is last
    for verdict, n in pairs.counts.items():
        assert len(pairs.page(verdict, limit=1000)) == n
        assert verdict in VERDICTS


def test_places_are_those_of_the_items(tmp_path: Path) -> None:
    items = drawn(4)
    run_of(tmp_path / "run", items)
    rows = Rows(tmp_path / "run")
    pairs = paired(rows, rows, ("model=oak", "model=birch"), "whole")
    for row in pairs.page(limit=1000):
        for side, model in (("left", "oak"), ("right", "birch")):
            own = items[(items["id"] == row["key"]["id"]) & (items["model"] == model)]
            assert row[f"{side}_n"] == len(own)
            assert row[f"{side}_row"] == (own.index.min() if len(own) else None)
    assert pairs.places(0).tolist() == items.index[items["model"] == "oak"].tolist()


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


def test_a_filter_keeps_pairs_of_which_either_item_fits(tmp_path: Path) -> None:
    items = drawn(6)
    found = run_of(tmp_path / "run", items).compare(
        left="model=oak", right="model=birch", metric="whole", where="whole>=2"
    )
    own = items[items["model"].isin(["oak", "birch"])]
    fits = set(own.loc[own["whole"] >= 2, "id"])
    assert set(found.items["id"]) == fits
    kept = own[own["id"].isin(fits)]
    sides = [kept[kept["model"] == name] for name in ("oak", "birch")]
    assert_pairs(found.items, oracle(*sides, ["id"], "whole"), ["id"])


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
    assert "The figures are those of 100 pairs, drawn evenly." in found.notes
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


def test_a_pair_is_kept_while_it_is_sorted_and_made_anew_with_the_run(tmp_path: Path) -> None:
    run_of(tmp_path / "run", drawn(9))
    rows = Rows(tmp_path / "run")
    first: Pairs = paired(rows, rows, ("model=oak", "model=birch"), "score")
    assert paired(rows, rows, ("model=oak", "model=birch"), "score", " ") is first
    (tmp_path / "run" / "results.json").touch()
    assert paired(rows, rows, ("model=oak", "model=birch"), "score") is not first


def test_scores_on_other_scales_are_higher_and_never_better(reports: Path) -> None:
    record(whole("human_correlation"), reports / "human_correlation" / "run")
    run = open_run(reports / "human_correlation" / "run")
    found = run.compare(left="scorer=f1_score", right="scorer=length")
    assert found.metric == "score"
    assert set(found.items["verdict"]) <= {"higher", "lower", "same"}
