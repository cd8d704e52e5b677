"""The worst cases: order, ties, texts, cells of HTML."""

import numpy as np
import pandas as pd
import pytest

from evalbench.draw.html import Html, escape
from evalbench.draw.tables import html_table
from evalbench.kit.cases import cells, in_turn, rows_of, score_text, shown, worst_cases, yes_no

ITEMS = pd.DataFrame(
    {
        "id": ["a", "b", "c", "a", "b"],
        "model": ["m2", "m2", "m2", "m1", "m1"],
        "final": [0.5, 0.25, np.nan, 0.5, 1.0],
        "lang": ["en", "ru", "en", "en", "ru"],
    }
)
TEXTS = ITEMS[["id", "model"]].assign(answer=["<b>five</b>", "шесть", "", "5 < 6", "seven"], lang=["xx"] * 5)
KEYS = ["id", "model"]


def test_lowest_first_ties_by_the_keys_without_a_value_none():
    found = worst_cases(ITEMS, "final", keys=KEYS)
    assert found[KEYS].to_numpy().tolist() == [["b", "m2"], ["a", "m1"], ["a", "m2"], ["b", "m1"]]
    assert list(found.index) == [0, 1, 2, 3]


def test_order_of_rows_changes_nothing():
    shuffled = ITEMS.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(
        worst_cases(ITEMS, "final", keys=KEYS, n=3), worst_cases(shuffled, "final", keys=KEYS, n=3)
    )


def test_highest_is_the_worst_of_those_named():
    found = worst_cases(ITEMS.assign(wrong=[1, 3, 3, 2, 0]), ["wrong", "final"], keys=KEYS, highest=["wrong"], n=3)
    assert found["wrong"].tolist() == [3, 3, 2]
    assert found["final"].isna().tolist() == [False, True, False]  # within 3 the lowest score comes first


def test_unscored_rows_come_last_where_they_are_wanted():
    found = worst_cases(ITEMS, "final", keys=KEYS, unscored=True, n=None)
    assert len(found) == 5
    assert found["id"].iloc[-1] == "c"


def test_texts_are_merged_and_the_rows_own_columns_stay():
    found = worst_cases(ITEMS, "final", keys=KEYS, texts=TEXTS, n=2)
    assert found["answer"].tolist() == ["шесть", "5 < 6"]
    assert found["lang"].tolist() == ["ru", "en"]


def test_a_case_without_texts_stays():
    found = worst_cases(ITEMS, "final", keys=KEYS, texts=TEXTS[TEXTS["id"] == "a"], n=2)
    assert found["answer"].isna().tolist() == [True, False]


def test_texts_that_are_not_one_for_each_case_are_a_fault_of_the_study():
    with pytest.raises(pd.errors.MergeError):
        worst_cases(ITEMS, "final", keys=KEYS, texts=pd.concat([TEXTS, TEXTS]))


def test_cells_of_html_survive_and_texts_are_escaped():
    show = {"id": "id", "said": lambda row: Html(f"<em>{escape(row['answer'])}</em>"), "raw": "answer"}
    table = worst_cases(ITEMS, "final", keys=KEYS, texts=TEXTS, show=show)
    assert list(table.columns) == ["id", "said", "raw"]
    drawn = html_table(table, caption="cases")
    assert "<em>&lt;b&gt;five&lt;/b&gt;</em>" in drawn
    assert "<b>five" not in drawn


def test_no_case_is_an_empty_table_with_its_columns():
    show = {"id": "id", "said": lambda row: row["answer"]}
    table = worst_cases(ITEMS[ITEMS["final"] > 2], "final", keys=KEYS, texts=TEXTS, show=show)
    assert list(table.columns) == ["id", "said"]
    assert not len(table)


def test_shown_takes_names():
    assert shown(ITEMS, ["final", "id"]).columns.tolist() == ["final", "id"]


def test_cells_keep_an_index():
    assert cells(["a", "b"], [7, 9]).index.tolist() == [7, 9]


def test_groups_in_turn_keep_the_order_within_a_group():
    rows = pd.DataFrame({"model": ["b", "b", "a", "b"], "id": [1, 2, 3, 4]})
    assert in_turn(rows, "model")["id"].tolist() == [3, 1, 2, 4]
    assert in_turn(rows.iloc[:0], "model")["id"].tolist() == []


def test_rows_of_a_case():
    assert rows_of(TEXTS, {"id": "a", "model": "m1", "final": 1}, KEYS)["answer"].tolist() == ["5 < 6"]


def test_words():
    assert [score_text(v) for v in (1, np.nan, None)] == ["1.00", "–", "–"]
    assert [yes_no(v, "not known") for v in (np.True_, 0.0, np.nan, pd.NA)] == [
        "✓ yes", "✗ no", "– not known", "– not known",
    ]  # fmt: skip
