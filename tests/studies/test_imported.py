"""Scores of another tool: their figures with our intervals, what is missing, why the tool's own figures differ."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalbench import load, record
from evalbench.compare.runs import Hooks, compare
from evalbench.compare.sides import Side, with_names
from evalbench.core.result import Result
from evalbench.core.stats import wilson
from evalbench.errors import BadInput
from evalbench.studies import imported, study
from evalbench.studies.imported.inputs import question_hash
from evalbench.studies.imported.theirs import same

HOSTILE = "<img src=x onerror=alert(1)> \u202e"


def rows(**lost: Any) -> dict[str, pd.DataFrame]:
    """Six questions, two models, two trials; metrics ``right`` (0, 1), ``manner`` (1 to 5) and ``extra``, asked of two questions."""
    items, scores = [], []
    for q in range(6):
        for model, shift in (("fern", 0), ("oak", 1)):
            for trial in ("1", "2"):
                key = {"id": f"q{q}", "model": model, "trial": trial}
                items.append(
                    {
                        **key,
                        "question": f"Вопрос {q}?",
                        "answer": f"{HOSTILE}{q}",
                        "reference": ["да"],
                        "topic": "ab"[q % 2],
                    }
                )
                scores.append({**key, "metric": "right", "value": float((q + shift + (trial == "2")) % 3 > 0)})
                scores.append({**key, "metric": "manner", "value": 1.0 + (q + shift) % 5})
                if q < 2:
                    scores.append({**key, "metric": "extra", "value": 0.5})
    frame = pd.DataFrame(scores).assign(unscored="", detail="")
    for q, model, trial, metric in lost.get("lost", ()):
        at = (frame["id"] == q) & (frame["model"] == model) & (frame["metric"] == metric)
        at &= frame["trial"].isin([trial] if trial else ["1", "2"])
        frame.loc[at, ["value", "unscored", "detail"]] = [None, "imported", f"HTTP 500 {HOSTILE}"]
    known = [
        {
            "metric": "manner",
            "low": 1.0,
            "high": 5.0,
            "direction": "lower",
            "direction_from": "file",
            "scale_from": "file",
        }
    ]
    return {"items": pd.DataFrame(items), "scores": frame, "metrics": pd.DataFrame(known)}


def run(tables: Any, **options: Any) -> Result:
    slices = options.pop("slices", ())
    return imported.evaluate(load(tables, study="imported", slices=slices), n_resamples=200, **options)


def values(tables: dict[str, pd.DataFrame], metric: str, model: str) -> pd.DataFrame:
    own = tables["scores"]
    return own[(own["metric"] == metric) & (own["model"] == model)]


LOST = [("q1", "oak", "1", "right"), ("q2", "oak", "", "right"), ("q2", "oak", "", "manner")]


# -- figures and counts ---------------------------------------------------------------------------


def test_a_question_counts_once_and_what_is_missing_is_not_zero():
    tables = rows(lost=LOST)
    result = run(tables)
    e = result.estimate("right", model="oak")
    own = values(tables, "right", "oak")
    means = own.groupby("id")["value"].mean()
    assert e.value == pytest.approx(means.mean())
    assert (e.n, e.n_unscored, e.n_undefined) == (5, 1, 0)
    assert e.ci_low is not None
    reasons = result.tables["reasons"].set_index(["metric", "model", "kind"])["n"]
    assert reasons["right", "oak", "unscored"] == 3  # scores, not questions
    assert reasons["manner", "oak", "unscored"] == 2


def test_a_metric_that_was_never_asked_for_is_neither_scored_nor_unscored():
    result = run(rows(lost=LOST))
    e = result.estimate("extra", model="oak")
    assert (e.n, e.n_unscored, e.n_undefined) == (2, 0, 4)
    own = result.tables["reasons"].query("metric == 'extra'")
    assert set(own["reason"]) == {"not-applicable"}
    assert "never asked for" in imported.unscored(result).to_string()


def test_an_answer_that_nothing_checked_is_unscored():
    tables = rows()
    tables["scores"] = tables["scores"].query("id != 'q3'")
    result = run(tables)
    assert result.n_unscored == 2
    assert result.estimate("right", model="fern").n_unscored == 1
    assert result.estimate("extra", model="fern").n_undefined == 3
    assert "nothing checked it" in set(result.tables["reasons"]["detail"])


def test_zeros_and_ones_are_a_proportion_others_are_not():
    tables = rows()
    for name in ("items", "scores"):
        tables[name] = tables[name].query("trial == '1'").drop(columns="trial")
    result = run(tables)
    right = values(tables, "right", "fern")["value"]
    e = result.estimate("right", model="fern")
    assert e.method == "modified Wilson", "one answer of few differs"
    assert (e.ci_low, e.ci_high) == pytest.approx(tuple(map(float, wilson(right.sum(), len(right)))))
    assert "bootstrap" in result.estimate("manner", model="fern").method


def test_direction_and_scale_are_the_files_or_assumed_and_said():
    result = run(rows(lost=LOST))
    assert result.estimate("manner", model="oak").higher_is_better is False
    assert result.estimate("manner", model="oak").unit == "1–5"
    assert "if every unscored item were the worst" in result.estimate("manner", model="oak").note
    assert any(note.startswith("Direction assumed, since the file has none: extra (higher is better)") or
               "right (higher is better)" in note for note in result.notes)  # fmt: skip
    told = imported.assumed(result).set_index("metric")
    assert told.loc["manner", "direction from"] == "file"
    assert told.loc["right", "direction from"] == "assumed"
    turned = run(rows(), directions={"right": "lower", "extra": "neither"}, scales={"right": [0, 2]})
    assert turned.estimate("right", model="oak").higher_is_better is False
    assert turned.estimate("extra", model="oak").higher_is_better is None
    assert turned.estimate("right", model="oak").unit == "0–2"
    assert imported.assumed(turned).set_index("metric").loc["right", "direction from"] == "option"


def test_scores_outside_their_scale_leave_it_aside():
    tables = rows()
    tables["scores"].loc[0, "value"] = 1.5
    result = run(tables, scales={"right": [0, 1]})
    assert result.estimate("right", model="fern").unit == ""
    assert any("right (0 to 1; found 0 to 1.5)" in note for note in result.notes)


def test_lights_by_option_alone():
    assert run(rows()).light == "unlit"
    lights = {"manner": {"green_to": 1.5, "yellow_to": 2}}
    result = run(rows(), lights=lights)
    assert (result.light, result.verdict.would_be) == ("grey", "red")
    assert "a light needs 20" in result.sentence
    assert run(rows(lost=LOST), lights={"right": {"green_from": 0.2, "yellow_from": 0.1}}).light == "grey"
    with pytest.raises(BadInput) as caught:
        run(rows(), lights={"manner": {"green_from": 2, "yellow_from": 1}, "nothing": {}}, directions={"right": "up"})
    assert "directions: right must be one of higher, lower, neither" in str(caught.value)
    with pytest.raises(
        BadInput, match=r"lights must be one of right(.|\n)*less is better|less is better(.|\n)*lights must be one of"
    ) as caught:
        run(rows(), lights={"manner": {"green_from": 2, "yellow_from": 1}, "nothing": {}})
    assert len(caught.value.faults) == 2


def test_slices_come_from_the_metadata():
    result = run(rows(), slices=["topic"])
    assert {s.name for s in result.summary.slices.rows} == {"a", "b"}


# -- the tool's own figures -----------------------------------------------------------------------


def theirs_of(
    tables: dict[str, pd.DataFrame], value: float | None, metric: str = "right", **more: Any
) -> dict[str, Any]:
    figure = {"metric": metric, "model": "oak", "tool_value": value, "tool_figure": "mean", **more}
    result = run({**tables, "figures": pd.DataFrame([figure])})
    (row,) = result.tables["theirs"].to_dict("records")
    return row


@pytest.mark.slow
def test_why_a_figure_differs_is_found_on_the_rows():
    tables = rows(lost=LOST)
    own = values(tables, "right", "oak")
    zeros = own.assign(value=own["value"].fillna(0)).groupby("id")["value"].mean().mean()
    assert theirs_of(tables, float(zeros))["why"] == "3 scores that failed count as 0 there"
    assert (
        theirs_of(tables, float(own["value"].mean()))["why"]
        == "there all trials are pooled; here each question counts once"
    )
    pooled = float(own["value"].sum() / len(own))
    assert theirs_of(tables, pooled)["agrees"] == "no"
    manner = values(tables, "manner", "oak")
    worst = manner.assign(value=manner["value"].fillna(5)).groupby("id")["value"].mean().mean()
    assert theirs_of(tables, float(worst), "manner")["why"] == "2 scores that failed count as 5 there"
    failed = own[own["value"].isna()][["id", "trial"]]
    left = manner.merge(failed, on=["id", "trial"], how="left", indicator=True).query("_merge == 'left_only'")
    found = theirs_of(tables, float(left.groupby("id")["value"].mean().mean()), "manner")
    assert (
        found["why"] in ("", "1 score of answers of which another score failed is left out there")
        or found["agrees"] == "yes"
    )


@pytest.mark.slow
def test_equal_figures_agree_and_others_are_never_explained_away():
    tables = rows(lost=LOST)
    ours = run(tables).estimate("right", model="oak").value
    assert theirs_of(tables, ours)["agrees"] == "yes"
    assert theirs_of(tables, round(ours, 4))["agrees"] == "yes"
    odd = theirs_of(tables, 0.12345)
    assert (odd["agrees"], odd["why"][:13]) == ("no", "not found out")
    assert theirs_of(tables, 0.12345, words="the tool weighs")["why"] == "the tool weighs"
    assert theirs_of(tables, None)["why"] == "the tool has no figure"
    cut = theirs_of(tables, ours, n=5000)
    assert "rests on 5\u202f000 rows, of which the file has 12" in cut["why"]


def test_a_figure_of_a_part_is_compared_with_that_part():
    tables = rows()
    own = values(tables, "right", "oak").merge(tables["items"][["id", "topic"]].drop_duplicates(), on="id")
    mean = own[own["topic"] == "a"].groupby("id")["value"].mean().mean()
    row = theirs_of(tables, float(mean), slice=json.dumps({"topic": "a"}))
    assert (row["agrees"], row["part"], row["n"]) == ("yes", "topic = a", 6)


def test_a_figure_of_no_model_is_of_all():
    tables = rows()
    own = tables["scores"].query("metric == 'right'")
    mean = own.groupby(["id", "model"])["value"].mean().mean()
    figure = pd.DataFrame([{"metric": "right", "model": "", "tool_value": float(mean)}])
    (row,) = run({**tables, "figures": figure}).tables["theirs"].to_dict("records")
    assert (row["model"], row["agrees"]) == ("all models", "yes")


def test_rounding_is_no_difference_where_digits_show_it():
    assert same(0.123, 0.12349)
    assert not same(0.12, 0.1249)
    assert not same(0.5, 0.49)
    assert same(1e-20, 0.0)


# -- tables of other shapes -----------------------------------------------------------------------


def test_a_table_with_a_column_per_metric():
    frame = pd.DataFrame(
        {"id": ["a", "b", "c"], "question": ["1?", "2?", "3?"], "answer": ["x", "", None], "faithfulness": [0.5, None, 1.0],
         "unscored": ["x", "y", "z"], "id_unscored": [True, False, True], "note": ["n", "1", ""]}
    )  # fmt: skip
    result = run({"items": frame})
    assert result.parameters["metrics"] == ["faithfulness", "id_unscored"]
    e = result.estimate("faithfulness", model="model not named")
    assert (e.value, e.n, e.n_unscored) == (0.75, 2, 1)
    assert result.estimate("id_unscored", model="model not named").value == pytest.approx(2 / 3)
    assert any("read as metrics" in note for note in result.notes)


def test_one_long_table():
    frame = rows()["scores"].query("trial == '1'").drop(columns=["trial", "unscored", "detail"])
    result = run({"items": frame.rename(columns={"value": "score"})})
    assert result.estimate("right", model="fern").n == 6
    assert result.id == "id"


def test_scores_without_a_trial_belong_to_all_trials_together():
    tables = rows()
    tables["scores"] = tables["scores"].query("trial == '1'").drop(columns="trial")
    result = run(tables)
    assert result.estimate("right", model="fern").n == 6
    assert not result.trials


def test_faults_come_all_at_once():
    tables = rows()
    extra = tables["scores"].iloc[[0, 1]].assign(id=["q0", "q99"])
    tables["scores"] = pd.concat([tables["scores"], extra, extra])
    with pytest.raises(BadInput) as caught:
        run(tables)
    said = str(caught.value)
    assert "1 answer not in items (id, model, trial), first q99, fern, 1" in said
    assert "given twice" in said
    with pytest.raises(BadInput, match="no scores of nothing; there are manner, right, extra"):
        run(rows(), metrics=["nothing"])
    with pytest.raises(BadInput, match="there are no scores"):
        run({"items": pd.DataFrame({"id": ["a"], "answer": ["x"]})})


def test_the_page_shows_hostile_words_as_words(tmp_path):
    judged = [
        {
            "id": "q2",
            "model": "oak",
            "trial": "1",
            "judge": HOSTILE,
            "criterion": "manner",
            "mark": 2.0,
            "reason": HOSTILE,
        }
    ]
    tables = {**rows(lost=LOST), "judgements": pd.DataFrame(judged)}
    tables["items"] = tables["items"].assign(answer=tables["items"]["answer"].where(tables["items"]["id"] != "q2"))
    result = run(tables)
    shown = [imported.worst(result, "manner"), imported.failed(result), imported.unscored(result)]
    said = "".join(
        str(cell) for frame in shown for cell in frame.to_numpy().ravel() if "eb-" in str(cell) or "<div" in str(cell)
    )
    assert "<img" not in said
    assert "no answer" in said
    assert "&lt;img" in said
    record(result, out=tmp_path / "run")


def test_without_a_graded_metric_there_is_no_spread():
    frame = pd.DataFrame({"id": list("abcd"), "right": [1, 0, 1, 1]})
    assert imported.picture_spread(run({"items": frame})) is None
    nothing = run(
        {
            "items": frame.assign(right=1.0),
            "scores": pd.DataFrame({"id": list("abcd"), "metric": "m", "value": [math.nan] * 4}),
        }
    )
    assert imported.picture_metrics(nothing) is None
    assert nothing.light == "unlit"


# -- runs of different files ----------------------------------------------------------------------


def side(result: Result, run_id: str) -> Side:
    return Side(run_id, json.loads(json.dumps(result.to_json())), {}, result.items)


def test_runs_of_different_files_are_paired_by_the_question():
    first, second = rows(), rows(lost=LOST)
    for name in ("items", "scores"):  # another file: its own ids, and one model of another name
        second[name] = second[name].query("model == 'oak'").assign(id=lambda f: "x" + f["id"], model="oak-2")
        first[name] = first[name].query("model == 'fern'")
    a, b = with_names([side(run(first), "first"), side(run(second), "second")])
    assert a.results["id"] == "unit"
    assert set(a.items["unit"]) == {question_hash(f"Вопрос {q}?")[:16] for q in range(6)}
    (found,) = compare(a, [b], Hooks.of(study("imported")), n_resamples=200)
    assert (found.n_shared, found.only_reference, found.only_side) == (6, 0, 0)
    right = next(row.comparison for row in found.rows if row.comparison.metric == "right")
    both = [one.set_index("unit")["right"] for one in (a.items, b.items)]
    assert right.difference == pytest.approx((both[1] - both[0]).dropna().mean())


def test_without_questions_only_runs_of_the_same_data_are_paired():
    frames = [rows(), rows(lost=LOST)]
    for tables in frames:
        tables["items"] = tables["items"].drop(columns="question")
    a, b = with_names([side(run(tables), name) for tables, name in zip(frames, "ab", strict=True)])
    assert a.results["id"] == "id"
    with pytest.raises(BadInput, match="read other data"):
        compare(a, [b], Hooks.of(study("imported")), n_resamples=200)


@pytest.mark.slow
def test_many_metrics_are_refused_with_the_way_out():
    frame = pd.DataFrame({"id": ["a", "b"], **{f"m{i}": np.array([0.1, 0.2]) for i in range(300)}})
    with pytest.raises(BadInput, match=r"name at most 200 of them"):
        run({"items": frame})
    assert run({"items": frame}, metrics=["m7"]).parameters["metrics"] == ["m7"]


def test_columns_under_former_names_give_the_same_figures_with_a_note_of_each():
    rows = pd.DataFrame(
        {"id": ["a", "b"], "question": ["1?", "2?"], "answer": ["x", "y"], "contexts": ["p", "q"], "f1": [0.5, 1.0]}
    )
    former = {"question": "prompt", "answer": "output", "contexts": "context"}
    own, other = (run({"items": t}) for t in (rows, rows.rename(columns=former)))
    assert [e.row() for e in own.summary.estimates] == [e.row() for e in other.summary.estimates]
    assert own.tables["texts"].equals(other.tables["texts"])
    assert set(own.items["unit"]) == {question_hash(q)[:16] for q in ("1?", "2?")}
    for ours, name in former.items():
        assert any(f"column {name} was read as {ours}" in note for note in other.notes)


def test_a_metric_called_answer_leaves_the_answers_as_they_are():
    tables = {
        "items": pd.DataFrame({"id": ["a", "b"], "question": ["1?", "2?"], "answer": ["x", "y"]}),
        "scores": pd.DataFrame({"id": ["a", "b"], "metric": "answer", "value": [1.0, 0.0]}),
    }
    result = run(tables)
    assert result.estimate("answer", model="model not named").value == 0.5
    assert list(result.tables["texts"]["answer"]) == ["x", "y"]
