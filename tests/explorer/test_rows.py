"""Rows by filter: what DuckDB gives is what pandas gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalbench.errors import BadInput

pytest.importorskip("duckdb", reason="peer not importable: duckdb")

from evalbench.explorer.distributions import distribution
from evalbench.explorer.rows import LONGEST, Rows

Mask = Callable[[pd.DataFrame, pd.DataFrame], Any]
ORACLES: list[tuple[str, Mask]] = [
    ("model=oak", lambda i, t: i.model == "oak"),
    ("model!=oak", lambda i, t: i.model != "oak"),
    ("-model=oak", lambda i, t: i.model != "oak"),
    ("model=oak|birch", lambda i, t: i.model.notna()),
    ("score>=0.5", lambda i, t: i.score >= 0.5),
    ("score<0.5", lambda i, t: i.score < 0.5),
    ("-score<0.5", lambda i, t: ~(i.score < 0.5)),
    ("score!=0.5", lambda i, t: i.score.notna() & (i.score != 0.5)),
    ("score=", lambda i, t: i.score.isna()),
    ("score!=", lambda i, t: i.score.notna()),
    ("whole=1|3 score>0.2", lambda i, t: i.whole.isin([1, 3]) & (i.score > 0.2)),
    ("right=yes", lambda i, t: i.right),
    ("right!=true", lambda i, t: ~i.right),
    ("unscored!=", lambda i, t: i.unscored != ""),
    ("unscored=no-output", lambda i, t: i.unscored == "no-output"),
    ('"a \\"b\\" c"=v1', lambda i, t: i['a "b" c'] == "v1"),
    ('"a \\"b\\" c"=', lambda i, t: i['a "b" c'].isna()),
    ('"a \\"b\\" c"!=v1', lambda i, t: i['a "b" c'].notna() & (i['a "b" c'] != "v1")),
    ("tags~t1", lambda i, t: i.tags.map(lambda tags: "t1" in tags)),
    ("question~ВОЗВРАТ", lambda i, t: i.id.notna()),
    ("answer~答案", lambda i, t: t.answer.str.contains("答案")),
    ("DROP", lambda i, t: t.answer.str.contains("DROP")),
    ("light=red", lambda i, t: i.model == "oak"),
    ("light!=red", lambda i, t: i.model != "oak"),
    ("prompt~ten", lambda i, t: i.id == "q10"),
    ("'; DROP TABLE items; --".replace(" ", "_"), lambda i, t: i.id == "no such"),
]


@pytest.mark.parametrize(("where", "mask"), ORACLES, ids=[where for where, _ in ORACLES])
def test_a_filter_leaves_what_pandas_leaves(folder: Path, where: str, mask: Mask) -> None:
    items, texts = pd.read_parquet(folder / "items.parquet"), pd.read_parquet(folder / "texts.parquet")
    expected = items[np.asarray(mask(items, texts), dtype=bool)].reset_index(drop=True)
    rows = Rows(folder)
    assert rows.count(where) == len(expected)
    pd.testing.assert_frame_equal(rows.frame(where), expected)
    for column in items:
        found = distribution(rows, column, where)
        assert sum(found["all"]) + found["empty_all"] + found.get("more_all", 0) == len(items)
        assert sum(found["counts"]) + found["empty"] + found.get("more", 0) == len(expected)


def test_pages_are_sorted_with_nulls_last_and_long_texts_cut(folder: Path) -> None:
    rows = Rows(folder)
    items = pd.read_parquet(folder / "items.parquet")
    falling = [row["row"] for row in rows.page(sort="-score", limit=60)]
    assert falling == items.sort_values("score", ascending=False, kind="stable", na_position="last").index.tolist()
    assert [row["row"] for row in rows.page(sort="score", offset=50, limit=20)][-1] == 56
    assert rows.page(sort="-score", offset=59)[0]["score"] is None
    texts = pd.read_parquet(folder / "items.parquet").assign(unscored="x" * 1000)
    texts.to_parquet(folder / "items.parquet")
    assert len(Rows(folder).page(limit=1)[0]["unscored"]) == LONGEST
    assert len(Rows(folder).item(0)["item"]["unscored"]) == 1000


def test_a_sample_is_even_and_always_the_same(folder: Path) -> None:
    rows = Rows(folder)
    drawn = rows.places("model=oak", sample=10)
    assert drawn == rows.places("model=oak", sample=10)
    assert len(set(drawn)) == 10
    assert all(place % 2 == 0 for place in drawn)


def test_an_item_comes_with_all_that_is_linked_to_it(folder: Path) -> None:
    rows = Rows(folder)
    found = rows.item(rows.place_of("q1", model="oak"))
    assert found["place"] == {"id": "q1", "model": "oak"}
    assert [text["model"] for text in found["tables"]["texts"]] == ["oak", "birch"]
    assert [call["reply"] for call in found["tables"]["calls"]] == ["yes"]  # and not that of q10
    assert [(other["row"], other["model"]) for other in found["others"]] == [(3, "birch")]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.count("nowhere=1"), "there is no column 'nowhere'; there are id, model, score"),
        (lambda r: r.count("score=much"), "score is a column of numbers; 'much' is not a number"),
        (lambda r: r.count("right=perhaps"), "right is true or false; not 'perhaps'"),
        (lambda r: r.count("light>red"), "a light is equal or not equal"),
        (lambda r: r.page(sort='score" DESC; DROP VIEW items; --'), "the items have no column"),
        (lambda r: distribution(r, "question"), "the items have no column 'question'"),
        (lambda r: r.item(60), "there is no item 60; there are 60, the first is 0"),
        (lambda r: r.place_of("q1"), "2 items have id=q1: model=oak; model=birch"),
        (lambda r: r.place_of("q99"), "no item has id=q99"),
        (lambda r: r.place_of("q1", judge="x"), "judge: items of this run differ by model"),
    ],
)
def test_what_is_not_there_is_said(folder: Path, ask: Callable[[Rows], Any], message: str) -> None:
    with pytest.raises(BadInput) as refused:
        ask(Rows(folder))
    assert message in str(refused.value)


def test_files_that_lead_elsewhere_are_cut_or_missing_are_refused(
    folder: Path, changed: Callable[..., Path], tmp_path: Path
) -> None:
    secret = tmp_path / "secret.parquet"
    (folder / "calls.parquet").rename(secret)
    (folder / "calls.parquet").symlink_to(secret)
    with pytest.raises(BadInput, match="leads out of the run's folder"):
        Rows(folder)
    (folder / "calls.parquet").unlink()
    with pytest.raises(BadInput, match="has no calls.parquet"):
        Rows(folder)
    (folder / "calls.parquet").write_bytes(secret.read_bytes()[:100])
    with pytest.raises(BadInput, match=r"calls.parquet: cannot be read"):
        Rows(folder)
    secret.rename(folder / "calls.parquet")
    with pytest.raises(BadInput, match="has no column nothing, which results.json names"):
        Rows(changed(by=["nothing"]))


def test_ids_that_are_numbers_and_columns_of_odd_values(folder: Path, changed: Callable[..., Path]) -> None:
    items = pd.DataFrame({
        "id": range(4), "model": "oak", "at": pd.to_datetime(["2026-01-01", None, "2026-01-02", "2026-01-03"]),
        "odd": [np.inf, -np.inf, np.nan, 1.5], "same": 2.0,
    })  # fmt: skip
    items.to_parquet(folder / "items.parquet")
    rows = Rows(changed(tables={}))
    assert rows.place_of(2) == rows.place_of("2") == 2
    assert rows.item(0)["item"]["odd"] is None
    assert rows.item(0)["item"]["at"] == "2026-01-01T00:00:00"
    assert distribution(rows, "odd")["empty_all"] == 3
    assert distribution(rows, "same")["all"] == [4]
    assert distribution(rows, "at")["empty_all"] == 1
