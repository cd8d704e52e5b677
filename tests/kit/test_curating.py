"""A table of texts looked through: each planted fault is found, and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evalbench.errors import BadInput
from evalbench.kit.curating import REMOVES, curate, duplicates

PLACES = ("harbour", "station", "museum", "market", "chapel", "library", "theatre", "garden", "bridge", "tower")
GOODS = ("bread", "lamps", "boats", "maps", "clocks", "gloves")


def table(**changed: object) -> pd.DataFrame:
    texts = [
        f"The {place} sells {goods} on day {i}."
        for i, (place, goods) in enumerate((p, g) for p in PLACES for g in GOODS)
    ]
    rows = pd.DataFrame({"id": [f"r{i:02}" for i in range(60)], "text": texts, "label": ["a", "b"] * 30})
    return rows.assign(**changed)


def found(rows: pd.DataFrame, **options: object) -> dict[str, list[str]]:
    out = curate(rows, **{"near": 2.0, **options})  # type: ignore[arg-type]
    return {kind: own["id"].tolist() for kind, own in out.findings.groupby("kind")}


def planted(texts: dict[int, str], labels: dict[int, str] | None = None) -> pd.DataFrame:
    rows = table()
    for i, text in texts.items():
        rows.loc[i, "text"] = text
    for i, label in (labels or {}).items():
        rows.loc[i, "label"] = label
    return rows


def test_a_clean_table_stays_as_it_is() -> None:
    out = curate(table(), near=2)
    assert out.findings.empty
    pd.testing.assert_frame_equal(out.rows, table())


def test_texts_that_are_empty_and_texts_that_agree() -> None:
    rows = planted({3: "  ", 10: "the HARBOUR sells bread — on day 0."}, {10: "a"})
    out = curate(rows, near=2)
    assert out.findings.values.tolist() == [["r03", "empty", "", ""], ["r10", "duplicate", "r00", ""]]
    assert len(out.rows) == 58
    assert "r00" in set(out.rows["id"])


def test_rows_that_agree_under_several_labels_are_set_aside() -> None:
    rows = planted({11: "The harbour sells bread on day 0."}, {11: "b", 0: "a"})
    out = curate(rows, near=2)
    assert out.findings[["id", "kind", "other"]].values.tolist() == [
        ["r00", "label-conflict", "r11"], ["r11", "label-conflict", "r00"],
    ]  # fmt: skip
    assert set(out.conflicts["id"]) == {"r00", "r11"}
    assert not set(out.conflicts["id"]) & set(out.rows["id"])
    assert found(rows.drop(columns="label")) == {"duplicate": ["r11"]}


def test_a_label_that_is_missing_conflicts_with_none() -> None:
    rows = planted({11: "The harbour sells bread on day 0."}, {11: ""})
    assert found(rows) == {"duplicate": ["r11"]}


@pytest.mark.parametrize(("hold_out", "goes"), [("", "r00"), ("test", "r00"), ("train", "r11")])
def test_a_leak_leaves_the_split_that_is_held_out_whole(hold_out: str, goes: str) -> None:
    rows = planted({11: "The harbour sells bread on day 0."}, {11: "a"})
    rows["split"] = ["train"] * 11 + ["test"] * 49
    out = curate(rows, near=2, hold_out=hold_out)
    assert out.findings[["id", "kind"]].values.tolist() == [[goes, "leak"]]
    assert "this row in" in out.findings["detail"][0]
    assert sum(out.splits.values()) == 59


def test_texts_that_end_in_the_middle() -> None:
    assert found(planted({5: "The tower sells"})) == {"cut": ["r05"]}
    long = {i: f"{i:02} " + "word " * 40 for i in (4, 8, 15)}
    assert found(planted({i: text.strip() for i, text in long.items()})) == {"cut": ["r04", "r08", "r15"]}
    assert found(table(text=[f"row {i}" + " and" * (i % 7) for i in range(60)])) == {}


def test_near_duplicates_and_outliers_by_meaning() -> None:
    rows = planted({20: "The harbour sells breads on day 0.", 33: "q#7 zz!! 0xFE"}, {20: "a"})
    out = curate(rows, near=0.98)
    kinds = dict(zip(out.findings["id"], out.findings["kind"], strict=True))
    assert kinds.get("r33") == "outlier"
    assert all(kind in ("near-duplicate", "label-conflict", "outlier", "cut") for kind in kinds.values())
    assert "r33" in set(out.rows["id"])


def test_links_chain_and_a_crowd_of_equals_is_one_group() -> None:
    angles = np.concatenate([np.arange(6) * 0.1, [2.0, 3.0], np.full(40, 4.5)])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    keys = [f"k{i}" for i in range(len(angles))]
    group = duplicates(keys, vectors, np.cos(0.11)).group
    assert len(set(group[:6])) == 1
    assert len(set(group[8:])) == 1
    assert len(set(group)) == 4


def test_the_order_of_rows_changes_what_is_found_only_by_which_row_is_first() -> None:
    rows = planted({3: "", 10: "the HARBOUR sells bread — on day 0.", 5: "The tower sells"}, {10: "a"})
    turned = rows.iloc[::-1]
    assert found(turned) == {"cut": ["r05"], "duplicate": ["r00"], "empty": ["r03"]}


def test_a_new_split_is_drawn_by_the_seed_in_exact_shares() -> None:
    one = curate(table(), near=2, shares={"train": 0.8, "test": 0.2}, seed=1)
    assert one.splits == {"test": 12, "train": 48}
    again = curate(table().sample(frac=1, random_state=3), near=2, shares={"train": 0.8, "test": 0.2}, seed=1)
    by_id = dict(zip(one.rows["id"], one.rows["split"], strict=True))
    assert by_id == dict(zip(again.rows["id"], again.rows["split"], strict=True))
    other = curate(table(), near=2, shares={"train": 0.8, "test": 0.2}, seed=2)
    assert by_id != dict(zip(other.rows["id"], other.rows["split"], strict=True))


def test_findings_account_for_every_row_that_goes() -> None:
    rows = planted(
        {3: "", 10: "the HARBOUR sells bread — on day 0.", 21: "The station sells bread on day 6."}, {21: "z"}
    )
    out = curate(rows, near=2)
    gone = set(rows["id"]) - set(out.rows["id"])
    assert gone == set(out.findings.loc[out.findings["kind"].isin(REMOVES), "id"])


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(BadInput, match="no row stays"):
        curate(table(text=[" "] * 60), near=2)
    with pytest.raises(BadInput, match="no split 'dev'"):
        curate(table(), near=2, hold_out="dev")
    with pytest.raises(BadInput, match="add up to 1"):
        curate(table(), near=2, shares={"train": 0.8})
    with pytest.raises(BadInput, match="the table has splits"):
        curate(table(split="x"), near=2, shares={"train": 0.5, "test": 0.5})
    with pytest.raises(BadInput, match="ids appear twice: r00"):
        curate(table(id=["r00"] * 60), near=2)
