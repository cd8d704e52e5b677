"""Trials: averaged over what was scored, unscored where all are lost, what they show, case by case."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from evalbench.core.measures import share_of
from evalbench.core.result import Summary
from evalbench.core.seeds import rng
from evalbench.core.verdict import Verdict
from evalbench.errors import BadInput
from evalbench.kit.trial_tables import shown
from evalbench.kit.trials import Trials, each_trial, spread
from evalbench.readers.dataset import load
from evalbench.readers.schema import TRIAL, Column, Table
from evalbench.studies import text_metrics

TABLE = {
    "items": Table(
        (
            Column("id", "id"),
            Column("output", "text", keep_null=True, empty_ok=True),
            Column("model", "id", groups=True, required=False),
        ),
        unique=("id", "model"),
        trials="model",
    )
}


def frame(**columns):
    return pd.DataFrame(columns)


def scored(right, **more):
    """A table of outputs, one row per ``(id, trial)``; right ones equal the reference, None is no output."""
    rows = [
        {"id": i, TRIAL: str(t), "reference": "cat", "output": {True: "cat", False: "dog", None: None}[ok], **more}
        for (i, t), ok in right.items()
    ]
    return pd.DataFrame(rows)


def evaluated(table, **options):
    return text_metrics.evaluate({"items": table}, metrics=["exact_match"], n_resamples=100, **options)


# -- the table ------------------------------------------------------------------------------------


def test_rows_are_unique_with_their_trial():
    table = frame(id=["a", "a", "b"], output=["x", "y", "z"], trial=[1, 2, 1])
    assert load({"items": table}, TABLE)["items"][TRIAL].tolist() == ["1", "2", "1"]
    with pytest.raises(BadInput, match=r"id: is duplicated; a column model or trial would tell them apart.*rows 1, 2"):
        load({"items": table.drop(columns=TRIAL)}, TABLE)
    with pytest.raises(BadInput, match=r"id, trial: are duplicated together.*\(rows 1, 3\)"):
        load({"items": frame(id=["a", "a", "a"], output=list("xyz"), trial=[1, 2, 1])}, TABLE)


@pytest.mark.parametrize("empty", ["", None, float("nan")])
def test_an_empty_cell_names_no_trial(empty):
    table = frame(id=["a", "a"], output=["x", "y"], trial=pd.Series(["1", empty], dtype=object))
    with pytest.raises(BadInput, match=r"column trial: empty; expected an identifier, not empty \(row 2\)"):
        load({"items": table}, TABLE)


def test_a_study_without_trials_says_why():
    without = {"items": TABLE["items"].without_trials("outputs are not repeated")}
    assert without["items"].unique == ("id", "model")
    data = load({"items": frame(id=["a", "b"], output=["x", "y"], trial=["1", "2"])}, without)
    assert data.notes == ("frame items: the column trial is not used: outputs are not repeated",)
    assert TRIAL not in data["items"]
    with pytest.raises(BadInput, match="a column trial does not: outputs are not repeated"):
        load({"items": frame(id=["a", "a"], output=["x", "y"], trial=["1", "2"])}, without)


# -- averages -------------------------------------------------------------------------------------


def test_each_item_counts_once_whatever_its_trials():
    result = evaluated(scored({("a", 1): True, ("a", 2): False, ("a", 3): False, ("b", 1): True}))
    assert result.items["exact_match"].round(6).tolist() == [0.333333, 1]
    assert result.items["n_trials"].tolist() == [3, 1]
    assert result.estimate("exact_match", model="model not named").value == pytest.approx(2 / 3)
    assert result.tables["trials"][TRIAL].tolist() == ["1", "2", "3", "1"]


def test_a_lost_trial_is_counted_and_an_item_is_unscored_only_where_all_are():
    table = scored({("a", 1): True, ("a", 2): None, ("b", 1): None, ("b", 2): None, ("c", 1): False, ("c", 2): True})
    result = evaluated(table)
    assert result.items["unscored"].tolist() == ["", "no-output", ""]
    assert result.items["exact_match"].tolist()[::2] == [1, 0.5]
    assert np.isnan(result.items["exact_match"][1])
    assert result.items["n_trials_lost"].tolist() == [1, 2, 0]
    estimate = result.summary.estimates[0]
    assert (estimate.n, estimate.n_unscored) == (2, 1)
    assert any("Trials that could not be scored: 3 of 6 (3 no output)" in note for note in result.notes)


def test_columns_of_words_keep_what_trials_share():
    trials = Trials("model", {"m, trial 1": ("m", "1"), "m, trial 2": ("m", "2")})
    items = frame(
        id=["a", "a", "b", "b"],
        model=["m, trial 1", "m, trial 2"] * 2,
        topic=["x", "x", "y", "z"],
        n=[1, 1, 2, 3],
        score=[0.1, 0.2, np.nan, 0.4],
        score_undefined=["", "", "no-reference", ""],
        unscored="",
        undefined=["", "", "no-reference", ""],
    )
    out, rows = trials.averaged(items, "id")
    assert out["topic"].tolist() == ["x", "y; z"]
    assert out["n"].tolist() == [1, 2.5]
    assert out["score"].round(9).tolist() == [0.15, 0.4]
    assert out["score_undefined"].tolist() == out["undefined"].tolist() == ["", ""]
    assert rows is not None
    assert rows.columns.tolist()[:3] == ["id", "model", TRIAL]


def test_equal_trials_leave_every_number_as_it_is():
    values = rng(0, "equal").random(200)
    table = pd.DataFrame({"id": [f"q{i:03}" for i in range(200)], "x": values, "unscored": "", "undefined": ""})
    labels = {f"m, trial {t}": ("m", str(t)) for t in range(7)}
    each = pd.concat([table.assign(model=label) for label in labels], ignore_index=True)
    out, _ = Trials("model", labels).averaged(each, "id")
    assert out["x"].tolist() == values.tolist()


def test_trials_are_in_the_order_of_their_numbers():
    result = evaluated(scored({("a", t): t != 10 for t in (10, 9, 100)}))
    assert result.tables["trials"][TRIAL].tolist() == ["9", "10", "100"]


def test_many_names_of_trials_are_numbered_within_their_items():
    table = scored({(f"q{i % 60:02}", f"run-{i:04}"): i % 3 > 0 for i in range(180)})
    result = evaluated(table)
    assert sorted(set(result.tables["trials"][TRIAL])) == ["1", "2", "3"]
    assert result.trials["items"] == 60
    assert any("The 180 names of trials are numbers within their items" in note for note in result.notes)


def test_a_single_trial_each_changes_nothing():
    table = scored({(f"q{i}", 1): i % 2 > 0 for i in range(10)})
    result, plain = evaluated(table), evaluated(table.drop(columns=TRIAL))
    assert result.to_json()["summary"] == plain.to_json()["summary"]
    assert "trials" not in result.to_json()
    assert "trials" not in result.tables


# -- what they show -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planted():
    """200 questions, five trials each: twenty flicker, 120 are always right."""
    right = {}
    for i in range(200):
        for t in range(5):
            right[f"q{i:03}", t] = t % 2 > 0 if i < 20 else i < 140
    return evaluated(scored(right, model="fern"))


def test_planted_flickering_is_found_and_named(planted):
    (found,) = planted.trials["flickering"]
    assert (found["n"], found["of"], found["share"]) == (20, 200, 0.1)
    assert found["ci_low"] < 0.1 < found["ci_high"]
    assert [item["id"] for item in found["items"]] == [f"q{i:03}" for i in range(20)]
    assert [t["answer"] for t in found["items"][0]["trials"]] == ["dog", "cat", "dog", "cat", "dog"]
    table = planted.tables["flickering"]
    assert set(table["id"]) == {f"q{i:03}" for i in range(20)}
    assert len(table) == 100


def test_pass_at_k_and_pass_hat_k_of_the_planted(planted):
    (found,) = planted.trials["pass_k"]
    assert [point["k"] for point in found["curve"]] == [1, 2, 3, 4, 5]
    last = found["curve"][-1]
    assert (last["pass_at_k"], last["pass_hat_k"]) == pytest.approx((140 / 200, 120 / 200))
    assert found["left_out"] == 0


def test_a_figure_has_one_interval_wherever_it_is(planted):
    for curve in planted.trials["pass_k"]:
        group = {name: curve[name] for name in planted.by if name in curve}
        (own,) = (e for e in planted.summary.estimates if (e.metric, e.group) == (curve["metric"], group))
        assert own.n == curve["n_items"]
        for side in ("at", "hat"):
            assert (curve["curve"][0][f"{side}_low"], curve["curve"][0][f"{side}_high"]) == (own.ci_low, own.ci_high)


def split_figures(result, *cuts, lights=None, decides=True):
    """The figures that are split, in their order, where the second of two is red and decides."""
    both = (share_of("exact_match"), share_of("lit", higher_is_better=False), share_of("other"))
    first = result.summary.estimates[0]
    lit = replace(first, metric="lit", light="red", cuts=cuts, higher_is_better=False)
    others = [replace(first, metric="other", light="yellow"), lit, replace(first, light="unlit", cuts=())]
    verdict = Verdict("red", "…", decided_by=lit.place if decides else None)
    rows = result.tables["trials"].assign(lit=lambda t: 1 - t["exact_match"], other=lambda t: t["exact_match"])
    judged = replace(
        result, summary=Summary(tuple(others), verdict), parameters={**result.parameters, "lights": lights or {}}
    )
    found = shown(judged, rows, both, None)
    assert [one["metric"] for one in found.json["noise"]] == [one["metric"] for one in found.json["flickering"]]
    return [one["metric"] for one in found.json["noise"]]


def test_a_figure_that_is_lit_since_something_happened_does_not_displace_the_first(planted):
    assert split_figures(planted, 0.0) == ["exact_match", "lit", "other"]


def test_a_graded_figure_that_decides_comes_first_and_then_that_of_the_study(planted):
    assert split_figures(planted, 0.2) == ["lit", "exact_match", "other"]
    assert split_figures(planted, 0.0, lights={"lit": {"green_to": 0}}) == ["lit", "exact_match", "other"]
    assert split_figures(planted, 0.2, decides=False) == ["exact_match", "lit", "other"]


def test_without_measures_nothing_is_split(planted):
    found = shown(planted, planted.tables["trials"], (), None)
    assert (found.json["noise"], found.json["flickering"], found.tables) == ([], [], {})


def test_the_noise_of_the_planted(planted):
    (found,) = planted.trials["noise"]
    parts = {part["component"]: part for part in found["components"]}
    assert parts["answers"]["variance"] == pytest.approx(0.1 * 0.3)
    assert sum(part["share"] for part in parts.values()) == pytest.approx(1)
    assert found["sentence"].startswith("Five answers a question shrink the interval from ±")
    width = planted.summary.estimates[0].ci_high - planted.summary.estimates[0].ci_low
    assert found["half_width"] == pytest.approx(width / 2, rel=0.25)


def test_an_average_of_trials_has_a_bootstrap_interval_and_single_answers_wilsons(planted):
    assert planted.summary.estimates[0].method.startswith("percentile bootstrap")
    assert evaluated(scored({("a", 1): True, ("b", 1): False})).summary.estimates[0].method == "modified Wilson"


def test_lists_of_cases_take_every_trial_as_a_case(planted):
    @each_trial
    def cases(result, n):
        return result.items["model"].head(n).tolist(), result.tables["texts"]["model"].nunique()

    assert cases(planted, 2) == (["fern, trial 0", "fern, trial 1"], 5)
    assert planted.items["model"].unique().tolist() == ["fern"]


def test_the_order_of_rows_changes_nothing(planted):
    table = planted.tables["texts"].sample(frac=1, random_state=3)
    again = evaluated(table)
    assert again.to_json()["trials"] == planted.to_json()["trials"]
    assert again.tables["flickering"].equals(planted.tables["flickering"])


def test_data_without_trials_stay_as_they_are():
    data = load({"items": frame(id=["a", "b"], output=["x", "y"])}, TABLE)
    same, trials = spread(data, TABLE)
    assert same is data
    items = frame(id=["a"], unscored=[""])
    out, rows = trials.averaged(items, "id")
    assert out is items
    assert rows is None


def test_rows_without_ids_are_numbered_by_their_questions():
    table = scored({(f"q{i}", t): t > i for i in range(3) for t in range(2)}).drop(columns="id")
    table["prompt"] = [f"What is {i}?" for i in range(3) for _ in range(2)]
    data = load({"items": table}, text_metrics.SCHEMA)
    assert data["items"]["id"].tolist() == ["q0001", "q0001", "q0002", "q0002", "q0003", "q0003"]


def test_a_model_that_is_asked_leaves_the_trials_of_the_table_aside(planted):
    trials = Trials("model", {"fern, trial 1": ("fern", "1")})
    items, rows = trials.averaged(frame(id=["a"], model=["oak"], x=[1.0], unscored=[""], undefined=[""]), "id")
    assert rows is None
    assert items["model"].tolist() == ["oak"]
    assert "The trials of the table are not used" in trials.reported(planted, None).notes[-1]
