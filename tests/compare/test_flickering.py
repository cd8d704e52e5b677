"""A unit that is right in some trials and wrong in others did not get better or worse."""

from __future__ import annotations

import pandas as pd

from evalbench.compare.changes import changes
from evalbench.compare.sides import Side
from evalbench.studies import text_metrics
from evalbench.studies.text_metrics import measures

# Right answers of three in each question, before and after.
BEFORE = {"steady": 3, "gained": 0, "lost": 3, "flickers": 1, "settled": 2, "stirred": 0}
AFTER = {"steady": 3, "gained": 3, "lost": 0, "flickers": 2, "settled": 3, "stirred": 1}


def side(right):
    rows = [
        {"id": name, "trial": t, "reference": "cat", "output": "cat" if t < n else "dog"}
        for name, n in right.items()
        for t in range(3)
    ]
    result = text_metrics.evaluate({"items": pd.DataFrame(rows)}, metrics=["exact_match"], n_resamples=50)
    return Side("run", result.to_json(), {}, result.items)


def test_a_flickering_item_is_not_one_that_changed_sides():
    (measure,) = measures(["exact_match"])
    found = changes(side(BEFORE), side(AFTER), [({}, ({}, {}))], "id", "exact_match", measure)
    assert dict(zip(found.table["id"], found.table["verdict"], strict=True)) == {
        "steady": "same",
        "gained": "better",
        "lost": "worse",
        "flickers": "flickering",
        "settled": "flickering",
        "stirred": "flickering",
    }
    assert found.counts == {"flickering": 3, "better": 1, "worse": 1, "same": 1}
