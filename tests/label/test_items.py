"""Tables to blinded items: whatever shape, all faults at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalbench.errors import BadInput
from evalbench.judge.criteria import Criterion
from evalbench.label.items import read_items
from evalbench.label.page import page_and_key

CRITERION = Criterion("good", "Is it good?", {0: "no", 1: "yes"})


def table(tmp_path: Path, rows: list[dict[str, Any]]) -> Path:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_names_of_other_tables_are_understood(tmp_path: Path) -> None:
    rows = [
        {"doc_id": f"d{i}", "system": "oak", "question": "q?", "response": f"a{i}", "ground_truth": ["r", "s"]}
        for i in range(3)
    ]
    items = read_items(table(tmp_path, rows), CRITERION, shuffle=False)
    assert [(item.id, item.texts["reference"], item.outputs) for item in items.items][:1] == [("d0", "r\n\ns", ("a0",))]
    assert items.items[0].key == {"id": "d0", "model": "oak"}
    assert not items.opaque


def test_the_order_is_the_seed_s_and_of_no_row(tmp_path: Path) -> None:
    rows = [{"id": f"d{i:02d}", "output": f"a{i}"} for i in range(30)]
    path = table(tmp_path, rows)
    shuffled = [item.id for item in read_items(path, CRITERION).items]
    assert sorted(shuffled) == [row["id"] for row in rows] != shuffled
    assert [item.id for item in read_items(path, CRITERION).items] == shuffled
    assert [item.id for item in read_items(path, CRITERION, seed=1).items] != shuffled


def test_null_answers_are_left_out_and_counted_empty_ones_stay(tmp_path: Path) -> None:
    items = read_items(table(tmp_path, [{"id": "a", "output": None}, {"id": "b", "output": ""}]), CRITERION)
    assert [item.outputs for item in items.items] == [("",)]
    assert any("1 row without an answer left out" in note for note in items.notes)


def test_columns_that_are_not_shown_are_named_and_texts_with_a_model_s_name_counted(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "model": "oak-7b", "output": "I am OAK-7B.", "score": 3},
        {"id": "b", "model": "oak-7b", "output": "b", "score": 3},
    ]
    items = read_items(table(tmp_path, rows), CRITERION)
    assert any("not shown: score" in note for note in items.notes)
    assert any("1 item of 2 show" in note for note in items.notes)


def test_wide_tables_and_each_two_of_three_models_side_by_side(tmp_path: Path) -> None:
    wide = [
        {"id": f"d{i}", "prompt": "p", "output_a": f"a{i}", "output_b": f"b{i}", "model_a": "oak", "model_b": "elm"}
        for i in range(20)
    ]
    items = read_items(table(tmp_path, wide), CRITERION, side_by_side=True)
    sides = {item.key["left"] for item in items.items}
    assert sides == {"oak", "elm"}
    assert all(item.outputs[0][0] == {"oak": "a", "elm": "b"}[item.key["left"]] for item in items.items)
    named = [{name.replace("output_", "answer_"): cell for name, cell in row.items()} for row in wide]
    assert [i.key for i in read_items(table(tmp_path, named), CRITERION, side_by_side=True).items] == [
        i.key for i in items.items
    ]
    long = [{"id": "d", "model": m, "output": m.upper()} for m in ("oak", "elm", "ash")]
    made = read_items(table(tmp_path, long), CRITERION, side_by_side=True)
    assert sorted(sorted((item.key["left"], item.key["right"])) for item in made.items) == [
        ["ash", "elm"],
        ["ash", "oak"],
        ["elm", "oak"],
    ]
    assert made.opaque


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ([{"id": "a"}], {}, "no column output"),
        ([{"id": "a", "output_a": "x", "output_b": "y"}], {}, "--side-by-side"),
        ([{"id": "a", "output": "x"}, {"id": "a", "output": "y"}], {}, "2 rows share id, first a; a column model"),
        ([{"id": "a", "output": None}], {}, "nothing to label"),
        ([{"id": "a", "output": "x"}], {"side_by_side": True}, "answers side by side need a column model"),
        ([{"id": "a", "model": "m", "output": "x"}], {"side_by_side": True}, "no id has answers of two models"),
        ([{"id": "a", "model": "m", "output": "x"}] * 2, {"side_by_side": True}, "several answers of one model"),
        ([{"id": "a", "output": "x", "probability": 2}], {}, "column probability"),
    ],
)
def test_what_cannot_be_labelled(
    tmp_path: Path, rows: list[dict[str, Any]], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput) as error:
        read_items(table(tmp_path, rows), CRITERION, **options)
    assert said in str(error.value)


def test_a_criterion_s_basis_is_needed(tmp_path: Path) -> None:
    rows = [{"id": "a", "output": "x", "context": "c"}, {"id": "b", "output": "y", "context": ""}]
    needs = Criterion("good", "Is it good?", {0: "no", 1: "yes"}, (), "context")
    with pytest.raises(BadInput, match="1 row without it, first b"):
        read_items(table(tmp_path, rows), needs)
    assert len(read_items(table(tmp_path, rows[:1]), needs).items) == 1


def test_the_page_is_the_same_for_the_same_table_and_another_for_another(tmp_path: Path) -> None:
    rows = [{"id": f"d{i}", "output": f"a{i}"} for i in range(5)]
    first, second = (page_and_key(read_items(table(tmp_path, r), CRITERION), CRITERION) for r in (rows, rows[::-1]))
    assert first[1]["page"] != second[1]["page"]
    assert page_and_key(read_items(table(tmp_path, rows), CRITERION), CRITERION) == first
    with pytest.raises(BadInput, match="not in 'de'"):
        page_and_key(read_items(table(tmp_path, rows), CRITERION), CRITERION, language="de")
