"""Two groups of a run, and two runs, item by item: what pandas says of the same items."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from compared_runs import assert_pairs, drawn, oracle, run_of

from evalbench.errors import BadInput

pytest.importorskip("duckdb", reason="peer not importable: duckdb")

from evalbench.explorer.comparing import paired
from evalbench.explorer.pairing import VERDICTS, Pairs
from evalbench.explorer.rows import Rows

HOSTILE = "<img src=x onerror=alert(1)>\u202e'; DROP TABLE pairs; --"


def test_pages_refuse_unknown_orders_and_verdicts(tmp_path: Path) -> None:
    run_of(tmp_path / "run", drawn(0))
    rows = Rows(tmp_path / "run")
    pairs = paired(rows, rows, ("model=oak", "model=birch"), "score")
    with pytest.raises(BadInput, match="sorted by left, right, change, id; not by 'nowhere'"):
        pairs.page(sort="-nowhere")
    with pytest.raises(BadInput, match="a pair is one of better, worse"):
        pairs.page(verdict="bad")


@pytest.mark.slow
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


def test_a_pair_is_kept_while_it_is_sorted_and_made_anew_with_the_run(tmp_path: Path) -> None:
    run_of(tmp_path / "run", drawn(9))
    rows = Rows(tmp_path / "run")
    first: Pairs = paired(rows, rows, ("model=oak", "model=birch"), "score")
    assert paired(rows, rows, ("model=oak", "model=birch"), "score", " ") is first
    (tmp_path / "run" / "results.json").touch()
    assert paired(rows, rows, ("model=oak", "model=birch"), "score") is not first
