"""The cascade on its sample: what is decided without a call, what it costs, what comes back from annotators."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from studied import evaluated, sample, whole

from evalbench import load
from evalbench.errors import BadInput
from evalbench.studies import cascade

STATES = {"right": 2, "part": 1, "vague": 0, "wrong": 0, "none": 0}


def stages(**more: Any) -> pd.DataFrame:
    return (evaluated("cascade", sample("cascade"), **more) if more else whole("cascade")).tables["stages"]


def planted(root: Path) -> dict[str, int]:
    rows = pd.read_csv(root / "data" / "cascade" / "1.1.0" / "states.csv")
    gap = rows["a"].map(STATES) - rows["b"].map(STATES)
    return {str(i): int((g > 0) - (g < 0)) for i, g in zip(rows["id"], gap, strict=True)}


def test_most_questions_are_decided_before_any_call():
    result = whole("cascade")
    free = result.tables["stages"].query("stage < 7")
    assert free["calls"].sum() == 0
    assert free["decided"].sum() > 0.8 * len(result.items)
    assert (result.items["calls"] == 0).mean() > 0.8


def test_the_counts_add_up_at_every_stage():
    for table in (stages(), stages(annotators=False), stages(judge="", strong=""), stages(naive="filter")):
        n = len(whole("cascade").items)
        assert (table["came"] == table["decided"] + table["left"]).all()
        assert (table["came"].iloc[1:].to_numpy() == table["left"].iloc[:-1].to_numpy()).all()
        assert table["came"].iloc[0] == n
        assert (table["looked"] <= table["came"]).all()
        assert (table["decided"] <= table["looked"]).all()
        assert (table["saved"] == 2 * table["decided"] - table["calls"]).all()
        assert list(table["stage"]) == list(range(1, 14))


def test_the_calls_of_questions_and_stages_are_those_of_the_table_of_calls():
    result = whole("cascade")
    assert result.tables["stages"]["calls"].sum() == result.items["calls"].sum() == len(result.tables["calls"])


def test_the_verdict_is_that_of_asking_about_every_pair_for_less_than_a_third_of_the_calls():
    both = whole("cascade").tables["every_pair"].set_index("asked")
    ours, all_ = both.loc["the cascade"], both.loc["every pair, both orders"]
    assert ours["verdict"] == all_["verdict"] == "fern is better"
    assert all_["calls"] == 300
    assert ours["calls"] < all_["calls"] / 3


def test_the_outcomes_are_mostly_what_was_planted(root):
    truth = planted(root)
    items = whole("cascade").items
    decided = items[items["advantage"].notna()]
    assert (decided["advantage"] == decided["id"].map(truth)).mean() > 0.9


def filled(winner: str) -> pd.DataFrame:
    rows = list(csv.DictReader(io.StringIO(whole("cascade").files["to_label.csv"].decode("utf-8"))))
    return pd.DataFrame([{**row, "winner": winner, "annotator": "ada"} for row in rows])


def test_the_filled_table_changes_the_verdict():
    before = whole("cascade")
    left = set(before.items.loc[before.items["open"] == 1, "id"])
    assert before.light == "grey"
    assert before.verdict.would_be == "green"
    for winner, light, said in (
        ("tie", "green", "fern is better than oak"),
        ("oak", "yellow", "No difference is shown"),
        ("b", "yellow", "No"),
    ):
        table = filled(winner)
        assert set(table["id"]) == left
        after = evaluated("cascade", {**sample("cascade"), "annotated": table})
        assert after.light == light
        assert after.sentence.startswith(said)
        assert (after.items.set_index("id").loc[sorted(left), "stage"] == 13).all()
        assert after.items["open"].sum() == 0
        assert "to_label.csv" not in after.files


def test_an_empty_table_changes_nothing():
    after = evaluated("cascade", {**sample("cascade"), "annotated": filled("")})
    assert after.summary == whole("cascade").summary


def test_a_winner_that_is_none_is_refused():
    with pytest.raises(
        BadInput, match='column winner: expected a, b, tie or a model\'s name, .*, found "elm" \\(rows 1, 2, 3, 4\\)'
    ):
        evaluated("cascade", {**sample("cascade"), "annotated": filled("elm")})


def test_a_page_is_made_of_the_exported_table(tmp_path):
    from evalbench.judge.criteria import Criterion
    from evalbench.label.items import read_items

    file = tmp_path / "to_label.csv"
    file.write_bytes(whole("cascade").files["to_label.csv"])
    criterion = Criterion("better", "Which answer is better?", {0: "the left", 1: "the right"})
    found = read_items(file, criterion, side_by_side=True)
    assert len(found.items) == len(filled(""))
    assert all(len(item.answers) == 2 for item in found.items)
    assert "fern" not in " ".join(item.id for item in found.items)


def test_comparisons_of_label_merge_are_read(tmp_path):
    rows = filled("")
    merged = pd.DataFrame({"doc_id": rows["id"], "left": "fern", "right": "oak", "choice": ["left"] * (len(rows) - 1) + ["tie"],
                           "winner": ["fern"] * (len(rows) - 1) + [""], "annotator": "boris", "criterion": "better"})  # fmt: skip
    after = evaluated("cascade", {**sample("cascade"), "annotated": merged})
    own = after.items.set_index("id").loc[rows["id"], "outcome"]
    assert list(own) == ["a"] * (len(rows) - 1) + ["tie"]


def test_cells_that_look_like_formulas_are_neutralised_and_ids_come_back():
    rows = {
        "id": ["=1+1", "x"],
        "question": ["-Why?", "Why not?"],
        "answer_a": ["=cmd()", "Yes."],
        "answer_b": ["Because it rains.", "No, never."],
    }
    data = cascade_data(pd.DataFrame(rows))
    first = cascade.evaluate(data, run_stages=[1], n_resamples=20)
    text = first.files["to_label.csv"].decode("utf-8")
    assert "\n'=1+1,'-Why?," in text
    assert "'=cmd()" in text
    table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False).assign(winner="a")
    again = cascade.evaluate(
        load({"items": pd.DataFrame(rows), "annotated": table}, study="cascade"), run_stages=[13], n_resamples=20
    )
    assert list(again.items["outcome"]) == ["a", "a"]


def cascade_data(items: pd.DataFrame, **tables: pd.DataFrame) -> Any:
    return load({"items": items, **tables}, study="cascade")


def test_what_contradicts_what_is_listed():
    found = whole("cascade").tables["contradictions"]
    assert found["contradiction"].str.contains("classified wrongly").any()


def test_answers_below_each_other_are_read():
    wide = sample("cascade")["items"]
    long = pd.concat([
        wide[["id", "question", "reference", "lang"]].assign(system=wide[f"model_{s}"], response=wide[f"answer_{s}"]) for s in ("a", "b")
    ])  # fmt: skip
    result = cascade.evaluate(
        load(long.rename(columns={"reference": "ground_truth", "question": "query"}), study="cascade"), n_resamples=50
    )
    assert result.judged == "2 models: fern, oak"
    own = result.items.set_index("id")
    there = whole("cascade").items.set_index("id").query("stage in (1, 2)")
    assert (own.loc[there.index, "outcome"] == there["outcome"]).all()
    with pytest.raises(BadInput, match="compares two models, and the column model names 3"):
        load(pd.concat([long, long.head(1).assign(system="elm")]), study="cascade")


def test_the_tables_of_the_method_document_drive_the_plan():
    result = whole("cascade")
    bases = result.tables["bases"].set_index(["basis", "option"])["state"]
    assert bases["ground_truth", "good"] == "at hand"
    assert bases["labels", "low agreement"] == "at hand"
    assert bases["instruction", "for models"] == "missing, a must-have"
    assert any("Must-haves" in note for note in result.notes)
    asked = result.tables["criteria"].set_index("asked as")["this run"]
    assert asked["hallucination"] == "asked"
    assert evaluated("cascade", sample("cascade"), task="chat", judge="", strong="").parameters["criteria"] == [
        "hallucination",
        "consistency",
    ]


def test_bad_and_ambiguous_ground_truths():
    bad = stages(basis_quality={"ground_truth": "bad"}).set_index("stage")
    assert bad.loc[5, "looked"] == 0
    assert "stated to be bad" in bad.loc[5, "why"]
    result = evaluated("cascade", sample("cascade"), basis_quality={"ground_truth": "ambiguous"})
    assert set(result.items.loc[result.items["stage"] == 5, "label"]) == {"both-right"}


def test_the_plan_costs_nothing_and_holds_what_the_run_then_cost():
    data = load(dict(sample("cascade")), study="cascade")
    planned = cascade.plan(data, judge="elm-small", strong="elm-large").set_index("stage")
    run = stages().set_index("stage")
    assert (planned["calls_low"] <= run["calls"]).all()
    assert (run["calls"] <= planned["calls_high"]).all()
    assert (planned["questions_low"] <= run["came"]).all()
    assert (run["came"] <= planned["questions_high"]).all()
    assert planned.loc[8, "calls_low"] == run.loc[8, "calls"]


def test_the_script_writes_these_bytes(script, root, tmp_path, monkeypatch):
    module = script("make_cascade")
    monkeypatch.setattr(module, "OUT", tmp_path / "out")
    module.main()
    kept = root / "data" / "cascade" / "1.1.0"
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(p.name for p in kept.iterdir())
    assert all((kept / p.name).read_bytes() == p.read_bytes() for p in (tmp_path / "out").iterdir())
