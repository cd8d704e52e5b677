"""Runs of different judges: no verdict on the system, in words; the judge's own drift where both judged the same answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from toy_runs import MEASURES, items, run

from evalbench.compare.gate import gate
from evalbench.compare.matrix import Pairs
from evalbench.compare.runs import Differences, Hooks, compare
from evalbench.compare.sides import Side
from evalbench.report.compare_files import to_json, write
from evalbench.report.compare_words import outcome, sentences

HOSTILE = "acme/<script>alert(1)</script>"
SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs" / "comparison.schema.json").read_text("utf-8"))


def judged(run_id: str, shift: float, judge: str, *, model: str = "", **more: Any) -> Side:
    """A run whose answers a judge marked; ``more`` is of its ``run.json`` or its parameters."""
    known = {name: more.pop(name) for name in ("judge_prompts", "judge_versions", "sha256") if name in more}
    side = run(items({"fern": shift}), run_id, judge=judge, model=model, **more)
    return replace(side, run={**side.run, **known}, name=run_id)


def against(left: Side, right: Side, hooks: Hooks = MEASURES) -> Differences:
    return compare(left, [right], hooks, n_resamples=100, n_summaries=20)[0]


def outcomes(found: Differences) -> dict[str, str]:
    return {row.comparison.metric: row.comparison.outcome for row in found.rows}


@pytest.mark.parametrize(
    ("then", "now", "words"),
    [
        ({"judge": "acme/a"}, {"judge": "acme/b"}, "the judge from acme/a to acme/b"),
        ({"judge": "acme/a"}, {"judge": HOSTILE}, f"the judge from acme/a to {HOSTILE}"),
        ({"judge_prompts": ["aa" * 32]}, {"judge_prompts": ["bb" * 32]}, "its prompt from aaaaaaaa to bbbbbbbb"),
        ({"judge_versions": ["m-05"]}, {"judge_versions": ["m-08"]}, "its version from m-05 to m-08"),
        ({"judge_temperature": 0.0}, {"judge_temperature": 1.0}, "judge_temperature from 0.0 to 1.0"),
    ],
)
def test_another_judge_prompt_version_or_setting_voids_the_verdict(
    then: Any, now: Any, words: str, tmp_path: Path
) -> None:
    left, right = (
        judged(name, shift, **{"judge": "acme/a", "model": "acme/m", **more})
        for name, shift, more in (("r1", 0.0, then), ("r2", -0.2, now))
    )
    found = against(left, right)
    assert set(outcomes(found).values()) == {"another judge"}
    assert outcome(found) == "another judge"
    assert words in sentences(found)[0]
    assert "no verdict on the system" in sentences(found)[0]
    assert all(row.comparison.difference is not None for row in found.rows)
    assert "since the runs had different judges: −0.2" in found.rows[0].comparison.words
    gated = gate([found], {"score": 0.01})[0]
    assert {one.state for one in gated} == {"inconclusive"}
    pairs = Pairs((left, right), (found,))
    Draft202012Validator(SCHEMA).validate(to_json(pairs))
    page = write(pairs, tmp_path, {}).read_text("utf-8")
    assert "Different judges" in page
    assert "<script>alert" not in page


def test_the_same_judge_gives_verdicts_as_ever() -> None:
    same = {"judge_prompts": ["aa" * 32], "judge_versions": ["m-05"], "model": "acme/m"}
    found = against(judged("r1", 0.0, "acme/a", **same), judged("r2", -0.2, "acme/a", **same))
    assert outcomes(found)["score"] == "worse"
    assert found.judging is None


def test_a_judge_whose_prompt_is_not_recorded_is_named_so() -> None:
    found = against(judged("r1", 0.0, "openai/a", model="m"), judged("r2", 0.0, "openai/a", model="m"))
    assert found.judging is not None
    assert found.notes[0] == "Whether the judge's prompt or version changed is not known: a run has no record of it."
    assert outcomes(found)["score"] == "same"


def test_on_the_same_answers_the_difference_is_the_judges_and_its_drift_is_a_figure() -> None:
    found = against(judged("r1", 0.0, "acme/a"), judged("r2", -0.2, "acme/b"))
    assert set(outcomes(found).values()) == {"another judge"}
    assert "rest on it are the judge's, none is the system's" in sentences(found)[0]
    assert found.judging is not None
    assert found.judging.drift is not None
    assert found.judging.drift.shift.value == pytest.approx(-0.2, abs=0.02)
    assert found.judging.light == "grey"
    assert sentences(found)[1].startswith("From the earlier judge to the later one marks differ by −0.2")


@pytest.mark.slow
def test_units_that_another_judge_marks_differently_did_not_get_worse(tmp_path: Path) -> None:
    pages = []
    for second in ("acme/b", "acme/a"):
        left, right = judged("r1", 0.0, "acme/a"), judged("r2", -0.2, second)
        found = against(left, right)
        pages.append(write(Pairs((left, right), (found,)), tmp_path / second, {}).read_text("utf-8"))
    assert "Judged worse, by another judge" in pages[0]
    assert "Got worse" not in pages[0]
    assert " judged worse" in pages[0]
    assert "Got worse" in pages[1]


@pytest.mark.slow
def test_sides_that_read_different_data_are_said_to(tmp_path: Path) -> None:
    left, right = judged("r1", 0.0, "acme/a"), judged("r2", -0.2, "acme/a")
    moved = replace(right, results={**right.results, "data": {**right.results["data"], "sha256": "cd" * 32}})
    for side, there in ((moved, True), (right, False)):
        found = compare(left, [side], MEASURES, paired=False, n_resamples=100, n_summaries=20)[0]
        page = write(Pairs((left, side), (found,)), tmp_path / str(there), {}).read_text("utf-8")
        assert ("the sides read different data" in page) is there


def test_a_run_judged_again_by_the_same_judge_shows_how_it_moved() -> None:
    same = {"judge_prompts": ["aa" * 32], "judge_versions": ["m-05"], "model": "acme/m"}
    left = judged("r1", 0.0, "acme/a", sha256={"identity": "ab" * 32}, **same)
    right = judged("r2", -0.2, "acme/a", **same)
    right = replace(right, results={**right.results, "judged_again": {"run": "r1", "identity": "ab" * 32}})
    truth = np.clip(left.items["score"].to_numpy(), 0, 1)
    right = replace(right, items=right.items.assign(**{"label:score": truth}))
    found = against(left, right)
    assert found.judging is not None
    assert found.judging.same_answers
    assert found.judging.light == "red"
    assert "agreement with people 1.00 then, 0.80 now" in found.notes[0]


def test_figures_that_rest_on_no_judge_keep_their_verdict() -> None:
    def rests(figure: str, group: dict[str, str], *, model: str = "") -> bool:
        return figure == "right" or not model

    hooks = MEASURES._replace(rests_on_judge=rests)
    found = against(judged("r1", 0.0, "acme/a", model="acme/m"), judged("r2", -0.2, "acme/b", model="acme/m"), hooks)
    assert outcomes(found)["right"] == "another judge"
    assert outcomes(found)["score"] == "worse"
    assert sentences(found)[1].startswith("No judge has a part in these, which keep their verdict: ")
    assert "right" not in sentences(found)[1].partition(": ")[2].split(", ")
    assert set(outcomes(against(judged("r1", 0.0, "acme/a"), judged("r2", -0.2, "acme/b"), hooks)).values()) == {
        "another judge"
    }


def test_a_judge_that_no_figure_rests_on_says_nothing() -> None:
    hooks = MEASURES._replace(rests_on_judge=lambda figure, group: False)
    found = against(judged("r1", 0.0, "acme/a", model="acme/m"), judged("r2", -0.2, "acme/b", model="acme/m"), hooks)
    assert found.judging is None
    assert outcomes(found)["score"] == "worse"
    assert any("judge" in note for note in found.notes)
