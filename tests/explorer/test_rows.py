"""Rows by filter: what DuckDB gives is what pandas gives."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
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


def test_of_several_linked_tables_with_a_column_any_may_fit(folder: Path, changed: Callable[..., Path]) -> None:
    steps = pd.DataFrame(
        {"id": ["q1", "q2", "q3"], "step": [1, 2, 8], "score": [9.0, 9.0, 9.0], "said": ["a", "b", "7"]}
    )
    tools = pd.DataFrame({"id": ["q2", "q4"], "step": ["one", None], "name": ["x", "voucher"], "said": [3.0, 7.0]})
    steps.to_parquet(folder / "steps.parquet")
    tools.assign(name=None).to_parquet(folder / "tools.parquet")
    tools.to_parquet(folder / "more.parquet")
    rows = Rows(changed(tables={name: f"{name}.parquet" for name in ("steps", "tools", "more", "calls")}))
    ids = lambda where: sorted({*rows.frame(where)["id"]})  # noqa: E731
    assert ids("name=voucher") == ["q4"]
    assert ids("step=one") == ["q2"]
    assert ids("step>=2") == ["q2", "q3"]
    assert ids("said=7") == ["q3", "q4"]
    assert ids("said~b") == ["q2"]
    assert "q4" not in ids("-name=voucher")
    assert ids("score=9") == []  # the items' own
    with pytest.raises(BadInput, match="score is a column of numbers"):
        rows.count("score=x")


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
    drawn = rows.places("model=oak", sample=10).tolist()
    assert drawn == rows.places("model=oak", sample=10).tolist()
    assert len(set(drawn)) == 10
    assert all(place % 2 == 0 for place in drawn)


def test_places_that_are_kept_are_those_of_filter_and_order(folder: Path) -> None:
    rows = Rows(folder)
    own = pd.read_parquet(folder / "items.parquet")
    for _ in range(2):
        for model in ("oak", "birch"):
            expected = own.index[own["model"] == model].to_list()
            assert rows.count(f"model={model}") == len(expected)
            assert [row["row"] for row in rows.page(f"model={model}")] == expected
            falling = own.loc[expected].sort_values("id", ascending=False, kind="stable").index.to_list()
            assert [row["row"] for row in rows.page(f"model={model}", "-id")] == falling
            assert [row["row"] for row in rows.page(f"model={model}", "-id", 1, 1)] == falling[1:2]


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
        (lambda r: r.count("scroe=1"), "there is no column 'scroe'; did you mean score? There are id, model, score"),
        (lambda r: r.count("length(nowhere)>1"), "there is no column 'nowhere'; there are"),
        (
            lambda r: r.count("question>5"),
            "question is a column of texts, not of numbers; its length is length(question)>5",
        ),
        (lambda r: r.count("length(score)>5"), "only texts have a length; the kind of score is number"),
        (lambda r: r.count("length(question)~5"), "a length is a number, such as length(question)>200"),
        (lambda r: r.count("length(question)>much"), "length(question) is a column of numbers; 'much' is not"),
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
        "odd": [np.inf, -np.inf, np.nan, 1.5], "same": 2.0, "huge": [-1e308, 1e308, 0.5, 7.0],
    })  # fmt: skip
    items.to_parquet(folder / "items.parquet")
    rows = Rows(changed(tables={}))
    assert rows.place_of(2) == rows.place_of("2") == 2
    assert [rows.item(i)["item"]["odd"] for i in range(4)] == ["inf", "-inf", None, 1.5]
    assert rows.item(0)["item"]["at"] == "2026-01-01T00:00:00"
    assert distribution(rows, "odd")["empty_all"] == 3
    assert distribution(rows, "same")["all"] == [4]
    assert distribution(rows, "huge", bins=4)["all"] == [1, 0, 2, 1]
    assert distribution(rows, "at")["empty_all"] == 1


def test_nan_is_null_and_last_in_every_order(folder: Path, changed: Callable[..., Path]) -> None:
    odd = pa.array([1.0, math.nan, math.inf, None, 0.5])
    money = pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("0.10"), None, None])
    table = pa.table(
        {"id": [*"abcde"], "model": ["oak"] * 5, "odd": odd, "narrow": odd.cast(pa.float32()), "money": money}
    )
    pq.write_table(table, folder / "items.parquet")
    rows = Rows(changed(tables={}))
    for column in ("odd", "narrow"):
        assert rows.places(sort=column).tolist() == [4, 0, 2, 1, 3]
        assert rows.places(sort=f"-{column}").tolist() == [2, 0, 4, 1, 3]
        assert rows.places(f"{column}=").tolist() == [1, 3]
        assert rows.places(f"{column}<inf").tolist() == [0, 4]
        assert rows.places(f"{column}!=0.5").tolist() == [0, 2]
    assert rows.places("money=1.5").tolist() == [0]


@pytest.mark.parametrize("number", ["nan", "NaN", "1_000", "0x10", "infinity", "Inf", "٣", " 1", "1e", ".", "--1"])
def test_what_is_no_number_is_refused(folder: Path, number: str) -> None:
    with pytest.raises(BadInput, match="filter: score is a column of numbers"):
        Rows(folder).count(f'score<"{number}"')


def test_several_values_of_yes_and_no_are_one_of_them(folder: Path) -> None:
    rows = Rows(folder)
    assert rows.count("right=yes|no") == 60
    assert rows.count("right!=yes|no") == 0
    assert rows.count("right>no") == rows.count("right=yes")


@pytest.mark.parametrize(
    "ids",
    [[1.0, 0.5, 1e16], pd.date_range("2026-01-01", periods=3, freq="h"), [True, False, None], [2**53 + 1, 2**53, 1]],
)
def test_what_is_behind_an_id_of_any_type_is_found(folder: Path, changed: Callable[..., Path], ids: Any) -> None:
    items = pd.DataFrame({"id": ids, "model": "oak"})
    pd.concat([items, items.assign(model="birch")]).to_parquet(folder / "items.parquet")
    items.assign(model="oak", answer="x").to_parquet(folder / "texts.parquet")
    rows = Rows(changed())
    found = rows.item(0)
    assert [len(found["tables"]["texts"]), len(found["others"])] == [1, 1]
    assert rows.place_of(ids[0], model="oak") == 0
    assert found["place"]["id"] == rows.page()[0]["id"]


def test_null_ids_have_nothing_behind_them(folder: Path, changed: Callable[..., Path]) -> None:
    items = pd.DataFrame({"id": ["None", None, "a"], "model": ["oak", None, None]})
    items.to_parquet(folder / "items.parquet")
    items.assign(answer="x").to_parquet(folder / "texts.parquet")
    rows = Rows(changed())
    assert (rows.item(1)["tables"], rows.item(1)["others"]) == ({}, [])
    assert rows.places("answer=x").tolist() == [0]
    assert rows.places("light!=red").tolist() == [1, 2]  # of no group, so of none that has a red figure


def test_calls_are_those_of_every_id_that_theirs_begins_with(folder: Path, changed: Callable[..., Path]) -> None:
    items = pd.DataFrame({"id": ["a", "a|b", "a|bc", "b"], "model": "oak"})
    items.to_parquet(folder / "items.parquet")
    pd.DataFrame({"item_id": ["a|b|oak", "a|bc"], "prompt": ["one", "two"]}).to_parquet(folder / "calls.parquet")
    rows = Rows(changed(tables={"calls": "calls.parquet"}))
    for word in ("one", "two"):
        behind = [i for i in range(4) if word in [call["prompt"] for call in rows.item(i)["tables"].get("calls", [])]]
        assert rows.places(f"prompt={word}").tolist() == behind == {"one": [0, 1], "two": [0, 2]}[word]


def test_groups_of_yes_and_no_have_a_light(folder: Path, changed: Callable[..., Path]) -> None:
    figure = {"metric": "score", "title": "score", "value": 0.5, "n": 60, "unit": "0–1"}
    lit = [{"right": True, "light": "green", **figure}, {"right": False, "light": "red", **figure}]
    rows = Rows(changed(by=["right"], summary=lit))
    assert rows.count("light=green") == rows.count("right=yes") > 0
    assert rows.count("light!=red") == rows.count("right=yes")
