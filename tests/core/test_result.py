"""A Result and its parts show themselves in a line, and say what there is."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from evalbench.core.measures import estimate, mean_of, share_of
from evalbench.core.result import DataLabel, Estimate, Result, Summary, Tables, deciding_row, decisive
from evalbench.core.verdict import Verdict
from evalbench.errors import BadInput
from evalbench.readers.runs import read_results


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
        summary=Summary(figures, Verdict("green", "All is well.")),
        tables={"pairs": pd.DataFrame({"truth_id": range(500), "score": 0.5})},
    )


def test_a_figure_that_is_not_there_names_those_that_are(result):
    with pytest.raises(KeyError, match="no figure 'f2' for the whole; metrics: f1"):
        result.estimate("f2")
    with pytest.raises(KeyError, match=r"no figure 'f1' for .*'b'.*; it exists for .*'a'.*, the whole"):
        result.estimate("f1", checker="b")


def test_a_result_is_one_line_of_text(result):
    assert repr(result) == "<Result of matching: green. All is well. Rows: items 1000, pairs 500>"


def test_tables_show_their_columns_and_sizes(result):
    assert repr(result.tables) == "pairs: 500 rows of truth_id, score"
    assert isinstance(result.tables, Tables)
    assert result.tables == {"pairs": result.tables["pairs"]}


def test_a_title_is_the_identifier_unless_given():
    plain = Estimate(metric="f1", value=0.5)
    titled = Estimate(metric="citation_recall", value=0.5, title="citation recall (ALCE)")
    assert (plain.title, titled.title) == ("f1", "citation recall (ALCE)")
    assert list(titled.row())[:3] == ["metric", "title", "value"]
    assert mean_of("final", title="final score").title == "final score"
    assert share_of("passed").title == "passed"
    found = estimate({"x": [1.0, 0.0]}, [mean_of("x", "mean_x", title="mean of x")], units=["a", "b"], seed=0)
    assert (found.estimates[0].metric, found.estimates[0].title) == ("mean_x", "mean of x")


def test_a_title_in_place_of_a_metric_is_answered_with_the_metric():
    titled = Estimate(metric="citation_recall", value=0.5, title="citation recall (ALCE)")
    with pytest.raises(KeyError, match="did you mean 'citation_recall'"):
        Summary((titled,), Verdict("green", "All is well.")).estimate("citation recall (ALCE)")


def test_results_of_the_first_schema_are_read_with_the_metric_as_title(result, tmp_path):
    content = {**result.to_json(), "tables": {}}
    assert content["schema_version"] == 3
    for version, rows in (
        (3, content["summary"]),
        (2, content["summary"]),
        (1, [without(row, "title") for row in content["summary"]]),
    ):
        written = {**content, "schema_version": version, "by": ["checker"], "summary": rows}
        (tmp_path / "results.json").write_text(json.dumps(written))
        assert [row["title"] for row in read_results(tmp_path)["summary"]] == ["f1", "f1"]
    (tmp_path / "results.json").write_text(json.dumps({**content, "schema_version": 4}))
    with pytest.raises(BadInput, match="schema_version: expected 1 or 2 or 3, found 4"):
        read_results(tmp_path)


def without(row, name):
    return {k: v for k, v in row.items() if k != name}


class TestWhichFigureDecided:
    oak = Estimate(metric="final", value=0.788, light="yellow", group={"model": "oak"})
    ash = Estimate(metric="final", value=0.655, light="red", group={"model": "ash"})
    elm = Estimate(metric="final", value=0.61, light="red", group={"model": "elm"})
    none = Estimate(metric="final", value=None, note="no value", light="grey", group={"model": "fir"})

    def test_the_least_good_of_the_worst_light_does(self):
        assert decisive([self.oak, self.ash, self.elm, self.none]) is self.elm
        assert decisive([self.oak, self.none]) is self.oak
        green = replace(self.oak, light="green")
        assert decisive([green, self.none]) is self.none

    def test_less_good_is_more_where_less_is_better(self):
        few, many = (
            Estimate(metric="ter", value=v, light="red", higher_is_better=False, group={"model": str(v)})
            for v in (0.7, 0.9)
        )
        assert decisive([few, many]) is many

    def test_a_file_leads_to_the_row(self, result):
        whole, of_a = result.summary.estimates[1], result.summary.estimates[0]
        for figure in (whole, of_a):
            verdict = Verdict("red", "Bad.", decided_by=figure.place)
            told = replace(result, by=("checker",), summary=Summary(result.summary.estimates, verdict)).to_json()
            assert told["decided_by"] == {"metric": "f1", **figure.group}
            assert deciding_row(told) == figure.row()

    def test_none_decided_or_an_older_file(self, result):
        assert result.to_json()["decided_by"] is None
        assert deciding_row(result.to_json()) is None
        older = {k: v for k, v in result.to_json().items() if k != "decided_by"}
        assert deciding_row(older) is None

    def test_a_figure_that_is_not_there_cannot_decide(self, result):
        with pytest.raises(KeyError, match="no figure 'f1' for .*'b'"):
            Summary(result.summary.estimates, Verdict("red", "", decided_by={"metric": "f1", "checker": "b"}))
