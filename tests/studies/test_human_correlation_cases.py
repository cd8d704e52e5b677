"""Human correlation: the outputs on which a metric and the annotators part."""

import pandas as pd
from rated_panels import evaluate, panel

from evalbench import human_correlation


def four(**columns):
    """One document, four outputs that people mark 4, 3, 2, 1."""
    rows = {"id": "d", "model": list("abcd"), "answer": ["A", "B", "C", "D"], "quality": [4, 3, 2, 1]}
    return pd.DataFrame({**rows, **columns})


def test_the_output_placed_farthest_apart_comes_first_with_its_texts():
    frame = four(judge=[4.0, 0.5, 2.0, 1.0], reference=["r", '["s", "t"]', "u", "v"])
    found = evaluate(frame, metrics=["judge"], criteria=["quality"], trusted=["quality"])
    table = human_correlation.disagreements(found, rows=2)
    assert table.iloc[0].to_dict() == {
        "document": "d", "system": "b", "judge": 0.5, "quality": 3.0, "places apart": -2.0, "answer": "B",
        "reference": "s\nt",
    }  # fmt: skip
    assert table["places apart"].tolist() == [-2.0, 1.0]


def test_a_metric_of_which_less_is_better_counts_its_places_from_the_lowest():
    frame = four(errors=[0.0, 1.0, 9.0, 2.0])
    found = evaluate(frame, metrics=["errors"], criteria=["quality"], lower_is_better=["errors"])
    table = human_correlation.disagreements(found)
    assert dict(zip(table["system"], table["places apart"], strict=True)) == {"a": 0, "b": 0, "c": -1, "d": 1}


def test_by_default_the_best_metric_by_the_first_trusted_criterion():
    items, ratings = panel()
    found = evaluate(items, ratings, metrics=["bad", "good"])
    assert human_correlation.disagreements(found).columns[2:4].tolist() == ["good", "quality"]
    chosen = human_correlation.disagreements(found, scorer="bad", criterion="complete")
    assert chosen.columns[2:4].tolist() == ["bad", "complete"]


def test_where_no_criterion_is_trusted_there_are_cases_all_the_same():
    frame = four(judge=[1.0, 2.0, None, 4.0]).drop(columns="model").assign(id=list("wxyz"))
    table = human_correlation.disagreements(evaluate(frame, metrics=["judge"], criteria=["quality"]))
    assert table["document"].tolist() == ["w", "z", "x"]
    assert "system" not in table
