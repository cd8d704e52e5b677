"""Runs that differ in an option that measures: no verdict on what it moves, in words, on the page, in batch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from toy_runs import MEASURES, items, run

from evalbench.compare.gate import gate
from evalbench.compare.matrix import Pairs, compare_pairs
from evalbench.compare.runs import compare
from evalbench.compare.sides import with_names
from evalbench.report.compare_files import to_json, write
from evalbench.report.compare_overall import overall
from evalbench.report.compare_words import outcome, sentences

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs" / "comparison.schema.json").read_text("utf-8"))
HOOKS = MEASURES._replace(measured_by={"cut": ("score", "right"), "seed": (), "n_resamples": ()})


def test_of_several_runs_pairs_without_a_verdict_are_counted_apart() -> None:
    sides = with_names([run(items({"elm": s}), f"r{s}", cut=cut) for s, cut in ((0.0, 0.5), (0.1, 0.5), (0.2, 0.7))])
    pairs = compare_pairs(sides, HOOKS, n_resamples=200, n_summaries=4)
    assert (
        overall(pairs) == "score: 1 of 3 pairs shows a difference. 2 have no verdict: the runs measured it differently."
    )


def test_figures_measured_otherwise_have_no_verdict_and_the_page_says_why(tmp_path: Path) -> None:
    left, right = run(items({"fern": 0.0}), "r1", cut=0.5), run(items({"fern": -0.2}), "r2", cut=0.7)
    left, right = with_names([left, right])
    found = compare(left, [right], HOOKS, n_resamples=100, n_summaries=20)[0]
    outcomes = {row.comparison.metric: row.comparison.outcome for row in found.rows}
    assert outcomes["score"] == outcomes["right"] == "another measure"
    assert outcomes["f1"] == "worse"
    assert outcome(found) == "another measure"
    assert sentences(found)[0] == (
        "Measured differently (cut: 0.5 → 0.7), so that a difference may come from the measurement; without a verdict: score and right."
    )
    assert "since the runs measured it differently: −0.2" in found.rows[0].comparison.words
    assert {one.state for one in gate([found], {"score": 0.01})[0]} == {"inconclusive"}
    pairs = Pairs((left, right), (found,))
    Draft202012Validator(SCHEMA).validate(to_json(pairs))
    page = write(pairs, tmp_path, {}).read_text("utf-8")
    assert "Measured differently" in page
    assert "Measured worse, by another measure" in page
    assert "Got worse" not in page
    assert page.count("Measured differently (cut") == 1


@pytest.mark.slow
def test_an_option_that_measures_nothing_here_or_is_not_recorded_keeps_verdicts() -> None:
    for then, now in (({"seed": 0}, {"seed": 1}), ({"prompt": "a"}, {"prompt": "b"}), ({}, {"cut": 0.7})):
        left, right = run(items({"fern": 0.0}), "r1", **then), run(items({"fern": -0.2}), "r2", **now)
        found = compare(*[left, [right]], HOOKS, n_resamples=100, n_summaries=20)[0]
        assert outcome(found) == "worse"
