"""A Result and its parts show themselves in a line, and say what there is."""

from __future__ import annotations

import pandas as pd
import pytest

from evalbench.core.result import DataLabel, Estimate, Result, Summary, Tables
from evalbench.core.verdict import Verdict


@pytest.fixture
def result():
    figures = (Estimate(metric="f1", value=0.5, group={"checker": "a"}), Estimate(metric="f1", value=0.6))
    return Result(
        study="matching",
        question="How good?",
        judged="a",
        parameters={},
        data=DataLabel("mine.csv", "", "0" * 64),
        id="sample_id",
        items=pd.DataFrame({"sample_id": range(1000)}),
        figures=Summary(figures, Verdict("green", "All is well.")),
        tables={"pairs": pd.DataFrame({"truth_id": range(500), "score": 0.5})},
    )


def test_a_figure_that_is_not_there_names_those_that_are(result):
    with pytest.raises(KeyError, match="no figure 'f2' for the whole; metrics: f1"):
        result.figure("f2")
    with pytest.raises(KeyError, match=r"no figure 'f1' for .*'b'.*; it is there for .*'a'.*, the whole"):
        result.figure("f1", checker="b")


def test_a_result_is_one_line_of_text(result):
    assert repr(result) == "<Result of matching: green. All is well. Rows: items 1000, pairs 500>"


def test_tables_show_their_columns_and_sizes(result):
    assert repr(result.tables) == "pairs: 500 rows of truth_id, score"
    assert isinstance(result.tables, Tables)
    assert result.tables == {"pairs": result.tables["pairs"]}
