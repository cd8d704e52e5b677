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
    assert [(item.id, item.texts["reference"], item.answers) for item in items.items][:1] == [("d0", "r\n\ns", ("a0",))]
    assert items.items[0].key == {"id": "d0", "model": "oak"}
    assert not items.opaque


def test_columns_of_former_names_make_the_same_items_with_a_note_of_each(tmp_path: Path) -> None:
    now = [{"id": f"d{i}", "model": "oak", "question": "q?", "contexts": ["c"], "answer": f"a{i}"} for i in range(3)]
    former = {"question": "prompt", "contexts": "context", "answer": "output"}
    before = [{former.get(name, name): cell for name, cell in row.items()} for row in now]
    given, old = (read_items(table(tmp_path, rows), CRITERION) for rows in (now, before))
    assert old.items == given.items
    for column, name in former.items():
        assert any(f"column {name} was read as {column}" in note for note in old.notes)


def test_pairs_of_violations_are_items_of_their_texts_also_as_plans_had_them_before(tmp_path: Path) -> None:
    pairs = [("s1", "t1", "p1"), ("s1", "t1", "p2"), ("s2", "t3", "p1")]
    now = [{"id": s, "model": "c", "truth_id": t, "prediction_id": p, "answer": "x"} for s, t, p in pairs]
    before = [
        {**row, "id": f"{row['id']}|x", "sample_id": row["id"], "checker": "c", "output": "x", "answer": None}
        for row in now
    ]
    given, old = (read_items(table(tmp_path, rows), CRITERION, shuffle=False) for rows in (now, before))
    assert [item.id for item in given.items] == ["s1|t1|p1", "s1|t1|p2", "s2|t3|p1"]
    assert [item.key for item in given.items] == [
        {"id": s, "model": "c", "truth_id": t, "prediction_id": p} for s, t, p in pairs
    ]
    assert [(item.id, item.key) for item in old.items] == [(item.id, item.key) for item in given.items]


def test_the_order_is_the_seed_s_and_of_no_row(tmp_path: Path) -> None:
    rows = [{"id": f"d{i:02d}", "answer": f"a{i}"} for i in range(30)]
    path = table(tmp_path, rows)
    shuffled = [item.id for item in read_items(path, CRITERION).items]
    assert sorted(shuffled) == [row["id"] for row in rows] != shuffled
    assert [item.id for item in read_items(path, CRITERION).items] == shuffled
    assert [item.id for item in read_items(path, CRITERION, seed=1).items] != shuffled


def test_null_answers_are_left_out_and_counted_empty_ones_stay(tmp_path: Path) -> None:
    items = read_items(table(tmp_path, [{"id": "a", "answer": None}, {"id": "b", "answer": ""}]), CRITERION)
    assert [item.answers for item in items.items] == [("",)]
    assert any("1 row without an answer left out" in note for note in items.notes)


def test_columns_that_are_not_shown_are_named_and_texts_with_a_model_s_name_counted(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "model": "oak-7b", "answer": "I am OAK-7B.", "score": 3},
        {"id": "b", "model": "oak-7b", "answer": "b", "score": 3},
    ]
    items = read_items(table(tmp_path, rows), CRITERION)
    assert any("not shown: score" in note for note in items.notes)
    assert any("1 item of 2 show" in note for note in items.notes)


def test_wide_tables_and_each_two_of_three_models_side_by_side(tmp_path: Path) -> None:
    wide = [
        {"id": f"d{i}", "question": "p", "answer_a": f"a{i}", "answer_b": f"b{i}", "model_a": "oak", "model_b": "elm"}
        for i in range(20)
    ]
    items = read_items(table(tmp_path, wide), CRITERION, side_by_side=True)
    sides = {item.key["left"] for item in items.items}
    assert sides == {"oak", "elm"}
    assert all(item.answers[0][0] == {"oak": "a", "elm": "b"}[item.key["left"]] for item in items.items)
    former = [{name.replace("answer_", "output_"): cell for name, cell in row.items()} for row in wide]
    assert [i.key for i in read_items(table(tmp_path, former), CRITERION, side_by_side=True).items] == [
        i.key for i in items.items
    ]
    long = [{"id": "d", "model": m, "answer": m.upper()} for m in ("oak", "elm", "ash")]
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
        ([{"id": "a"}], {}, "no column answer"),
        ([{"id": "a", "answer_a": "x", "answer_b": "y"}], {}, "--side-by-side"),
        ([{"id": "a", "answer": "x"}, {"id": "a", "answer": "y"}], {}, "2 rows share id, first a; a column model"),
        ([{"id": "a", "answer": None}], {}, "nothing to label"),
        ([{"id": "a", "answer": "x"}], {"side_by_side": True}, "answers side by side need a column model"),
        ([{"id": "a", "model": "m", "answer": "x"}], {"side_by_side": True}, "no id has answers of two models"),
        ([{"id": "a", "model": "m", "answer": "x"}] * 2, {"side_by_side": True}, "several answers of one model"),
        ([{"id": "a", "answer": "x", "probability": 2}], {}, "column probability"),
    ],
)
def test_what_cannot_be_labelled(
    tmp_path: Path, rows: list[dict[str, Any]], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput) as error:
        read_items(table(tmp_path, rows), CRITERION, **options)
    assert said in str(error.value)


def test_a_criterion_s_basis_is_needed(tmp_path: Path) -> None:
    rows = [{"id": "a", "answer": "x", "contexts": "c"}, {"id": "b", "answer": "y", "contexts": ""}]
    needs = Criterion("good", "Is it good?", {0: "no", 1: "yes"}, (), "context")
    with pytest.raises(BadInput, match="1 row without it, first b"):
        read_items(table(tmp_path, rows), needs)
    assert len(read_items(table(tmp_path, rows[:1]), needs).items) == 1


def test_the_page_is_the_same_for_the_same_table_and_another_for_another(tmp_path: Path) -> None:
    rows = [{"id": f"d{i}", "answer": f"a{i}"} for i in range(5)]
    first, second = (page_and_key(read_items(table(tmp_path, r), CRITERION), CRITERION) for r in (rows, rows[::-1]))
    assert first[1]["page"] != second[1]["page"]
    assert page_and_key(read_items(table(tmp_path, rows), CRITERION), CRITERION) == first
    with pytest.raises(BadInput, match="not in 'de'"):
        page_and_key(read_items(table(tmp_path, rows), CRITERION), CRITERION, language="de")
