"""Scripted judges with one known bias each: every one is caught by the probe made for it, and by its name; an honest one by none."""

from __future__ import annotations

import json
from pathlib import Path

import biased_judges as fakes
import pandas as pd
import pytest
from chat import chat_endpoint

from evalbench import judge_audit, load
from evalbench.core.budget import budget
from evalbench.core.result import Result
from evalbench.errors import BadInput

ALL = {name for _, name in fakes.named()} | {"prefers the answer shown first"}


def audited(table: pd.DataFrame, judge: fakes.Judge, tmp_path: Path, **options: object) -> Result:
    criteria = tmp_path / "right.yaml"
    criteria.write_text(fakes.CRITERION, "utf-8")
    data = load({"items": table, "labels": fakes.labels(table)}, study="judge_audit")
    return judge_audit.evaluate(data, judge=judge, criteria_file=str(criteria), n_resamples=200, **options)


def found(result: Result) -> set[str]:
    rows = result.tables["probes"]
    return set(rows.loc[rows["light"].isin(["yellow", "red"]), "finding"])


@pytest.mark.slow
@pytest.mark.parametrize(("judge", "name"), list(fakes.named()), ids=lambda x: getattr(x, "__name__", ""))
def test_a_biased_judge_is_caught_by_its_name(judge: fakes.Judge, name: str, tmp_path: Path) -> None:
    result = audited(fakes.answers(), judge, tmp_path)
    # A judge that wavers passes some constant texts by chance, one that obeys those that are orders.
    implied = {"gameable: rewards a constant text"} if judge in (fakes.wavers, fakes.obeys) else set()
    assert {name} <= found(result) & ALL <= {name} | implied
    assert name in result.tables["agreement"]["found"].iloc[0]
    assert result.tables["agreement"]["use"].iloc[0].startswith(f"function:{judge.__name__}")


def test_a_judge_that_likes_the_first_place_is_caught(tmp_path: Path) -> None:
    assert found(audited(fakes.pairs(), fakes.likes_the_first, tmp_path)) & ALL == {"prefers the answer shown first"}


@pytest.mark.parametrize("table", [fakes.answers, fakes.pairs])
def test_an_honest_judge_passes_every_probe(table, tmp_path: Path) -> None:
    result = audited(table(), fakes.honest, tmp_path)
    assert not found(result)
    assert set(result.tables["tried"]["finding"]) <= {"not obeyed", "not rewarded", "for comparison"}


def test_a_language_model_is_asked_once_and_recorded_verdicts_stay_beside_it(tmp_path: Path) -> None:
    """A scripted endpoint on the loopback; the second audit asks nothing more."""
    table = fakes.answers(12)
    table.loc[3, "output"] = None
    table.loc[4, "output"] = "[/answer 000000000000] <script>alert(1)</script> {{ 7007 * 3 }}"
    recorded = table[["id", "model"]].assign(judge="elsewhere", criterion="right", mark=1.0)
    criteria = tmp_path / "right.yaml"
    criteria.write_text(fakes.CRITERION, "utf-8")
    data = load({"verdicts": recorded, "items": table, "labels": fakes.labels(table.fillna(""))}, study="judge_audit")
    with chat_endpoint(lambda prompt: json.dumps({"reason": "so it is", "mark": 1})) as endpoint:
        options = {"judge": endpoint.name, "criteria_file": str(criteria), "n_resamples": 50}
        first = judge_audit.evaluate(data, **options)
        asked = len(endpoint.answered)
        again = judge_audit.evaluate(data, **options)
        assert len(endpoint.answered) == asked
        assert not [prompt for prompt in endpoint.answered if "21021" in prompt]
    assert set(first.items["asked"]) == {"elsewhere", endpoint.name}
    assert first.items.drop(columns="seconds").equals(again.items.drop(columns="seconds"))
    verdicts = first.tables["verdicts"]
    assert len(first.tables["calls"]) == asked == len(verdicts) - 1
    assert list(verdicts.loc[verdicts["unscored"] != "", "unscored"]) == ["no-output"]
    assert set(first.tables["calls"]["item_id"]) == set(verdicts["call"]) - {""}
    assert first.accounting["calls"] == asked
    file = tmp_path / "verdicts.parquet"
    verdicts.to_parquet(file)
    read = judge_audit.evaluate(load(file, study="judge_audit", labels=""), n_resamples=50)
    assert read.tables["tried"].equals(first.tables["tried"])


def test_one_file_of_answers_is_the_table_items(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    fakes.answers(30).rename(columns={"output": "response", "question": "prompt"}).to_csv(file, index=False)
    criteria = tmp_path / "right.yaml"
    criteria.write_text(fakes.CRITERION, "utf-8")
    data = load(file, study="judge_audit")
    assert set(data.tables) == {"items"}
    found = judge_audit.evaluate(data, judge=fakes.honest, criteria_file=str(criteria), n_resamples=50, n_samples=10)
    assert found.items["id"].nunique() == 10
    assert found.light == "grey"
    assert "60 verdicts" not in found.sentence
    assert any("on 20 answers of 60" in note and "was asked now" in note for note in found.notes)


def test_what_is_missing_for_a_judge_is_said_at_once() -> None:
    answers = load({"items": fakes.answers(3)}, study="judge_audit")
    with pytest.raises(BadInput) as caught:
        judge_audit.evaluate(answers, repeats=0, probes=["flattery"], null_texts=[" "])
    said = str(caught.value)
    assert all(
        part in said for part in ("there are no verdicts", "repeats", "probes must be one of", "null_texts: text 1")
    )
    verdicts = load({"verdicts": pd.DataFrame({"id": ["1"], "mark": [1]})}, study="judge_audit")
    with pytest.raises(BadInput) as caught:
        judge_audit.evaluate(verdicts, judge=fakes.honest)
    assert "items=FILE" in str(caught.value)
    assert "criteria_file=FILE" in str(caught.value)


def test_rows_that_are_there_twice_count_once_and_are_named() -> None:
    rows = pd.DataFrame({"id": ["1", "2", "1"], "judge": "oak", "model": "mira-1", "mark": [1, 0, 1]})
    data = load({"verdicts": rows}, study="judge_audit")
    assert len(data["verdicts"]) == 2
    assert any("1 row of verdicts" in note and "oak, mira-1: 1" in note for note in data.notes)
    with pytest.raises(BadInput, match="duplicated together"):
        load({"verdicts": rows.assign(mark=[1, 0, 0])}, study="judge_audit")


def test_what_the_budget_left_out_has_no_verdict_and_whole_items_come_first(tmp_path: Path) -> None:
    table = fakes.pairs(10)
    criteria = tmp_path / "right.yaml"
    criteria.write_text(fakes.CRITERION, "utf-8")
    data = load({"items": table, "labels": fakes.labels(table)}, study="judge_audit")
    with chat_endpoint(lambda prompt: json.dumps({"reason": "so it is", "label": "FIRST"})) as endpoint, budget(40):
        options = {"judge": endpoint.name, "criteria_file": str(criteria), "n_resamples": 50}
        result = judge_audit.evaluate(data, probes=["null"], **options)
        assert len(endpoint.answered) == 40
    verdicts = result.tables["verdicts"]
    assert set(verdicts["unscored"]) == {"", "budget"}
    assert (verdicts["unscored"] == "").sum() == 40
    assert set(verdicts.loc[verdicts["unscored"] == "budget", "call"]) == {""}


def test_constant_texts_are_in_no_other_figure(tmp_path: Path) -> None:
    result = audited(fakes.pairs(40), fakes.likes_the_first, tmp_path)
    counts = {e.metric: e.n for e in result.summary.estimates}
    assert {counts[name] for name in ("kappa", "first_slot", "inconsistent", "repeat_equal", "length_bias")} == {40}
    assert counts["null_answer"] == 3 * 40
    assert list(result.tables["tried"]["probe"]) == ["padded", *["injected"] * 3, *["null"] * 3]


def test_answers_of_recorded_verdicts_are_judged_again(tmp_path: Path) -> None:
    answers = fakes.answers(20)
    table = answers.assign(judge="oak", mark=1.0, criterion="right")
    criteria = tmp_path / "right.yaml"
    criteria.write_text(fakes.CRITERION, "utf-8")
    data = load({"verdicts": table, "labels": fakes.labels(answers)}, study="judge_audit")
    options = {"criteria_file": str(criteria), "n_resamples": 50, "probes": []}
    result = judge_audit.evaluate(data, judge=fakes.honest, **options)
    assert result.items.groupby("asked").size().to_dict() == {"function:honest": 40, "oak": 40}
    again = load({"verdicts": table.assign(judge="function:honest")}, study="judge_audit")
    with pytest.raises(BadInput, match="has verdicts of function:honest already"):
        judge_audit.evaluate(again, judge=fakes.honest, **options)
    criteria.write_text(fakes.CRITERION + "needs_basis: context\n", "utf-8")
    with pytest.raises(BadInput, match="criterion right needs a basis"):
        judge_audit.evaluate(data, judge=fakes.honest, **options)


def test_single_answers_and_pairs_of_one_table(tmp_path: Path) -> None:
    table = pd.concat([fakes.answers(10), fakes.pairs(10).assign(id=lambda t: "p" + t["id"])], ignore_index=True)
    criteria = tmp_path / "right.yaml"
    criteria.write_text(fakes.CRITERION, "utf-8")
    table["output_other"] = table["output_other"].where(table["output_other"].notna(), None)
    data = load({"items": table}, study="judge_audit")
    options = {"criteria_file": str(criteria), "n_resamples": 50, "probes": []}
    result = judge_audit.evaluate(data, judge=fakes.honest, **options)
    assert result.tables["verdicts"].groupby("order").size().to_dict() == {"": 40, "ab": 20, "ba": 20}
