"""Published answers of two snapshots of two models as two generations of each question: what changed, and what was right."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from evalbench import load, reproduction


def judged(frame):
    return reproduction.evaluate(load({"items": frame}, study="reproduction"), embed="", n_resamples=100)


def values(result, model):
    return {e.metric: e.value for e in result.summary.estimates if e.group == {"model": model}}


def snapshots(external_data, name, column="answer"):
    """Two snapshots of two models as two generations of each question."""
    rows = pd.read_parquet(external_data("llm_drift") / f"{name}_eval.parquet")
    named = rows["model"].str.extract(r"(gpt-4|gpt-3\.5).*-(\d+)$")
    return pd.DataFrame({"id": rows["id"], "model": named[0], "trial": named[1], "answer": rows[column]}), rows


def said(text):
    words = set(pd.Series([text.lower()]).str.findall(r"\w+")[0])
    return "yes" if "yes" in words else "no" if "no" in words else "neither"


def accuracies(result):
    return result.tables["trials"].set_index(["model", "trial"])["correct"].round(3).to_dict()


@pytest.mark.external
def test_what_two_snapshots_say_of_primes(external_data):
    frame, rows = snapshots(external_data, "prime_full")
    expected = json.loads((external_data("llm_drift") / "expected.json").read_text())["prime"]
    texts = judged(frame)
    assert values(texts, model="gpt-4")["changed_text"] == values(texts, model="gpt-3.5")["changed_text"] == 0.999
    result = judged(frame.assign(answer=frame["answer"].map(said), reference=rows["ref_answer"]))
    assert {f"{m}{'-turbo' * (m != 'gpt-4')}-{t}": v for (m, t), v in accuracies(result).items()} == expected
    assert [values(result, model=m)["changed"] for m in ("gpt-4", "gpt-3.5")] == [0.626, 0.597]
    marks = result.tables["generations"].query("model == 'gpt-4'").pivot(index="id", columns="trial", values="correct")
    assert (
        ((marks["0314"] == 1) & (marks["0613"] == 0)).mean(),
        ((marks["0314"] == 0) & (marks["0613"] == 1)).mean(),
    ) == (0.476, 0.147)
    assert result.light == "red"


@pytest.mark.external
def test_happy_numbers_code_and_sensitive_questions_by_snapshot(external_data):
    expected = json.loads((external_data("llm_drift") / "expected.json").read_text())["recomputed"]
    frame, rows = snapshots(external_data, "countahappynumber")
    boxed = [
        column.str.extract(r"(boxed\{[^}]*\})")[0].fillna("none") for column in (frame["answer"], rows["ref_answer"])
    ]
    happy = judged(frame.assign(answer=boxed[0], reference=boxed[1]))
    found = {"happy": accuracies(happy)}
    for name, file, column in (
        ("leetcode", "leetcode_easy", "Directly Usable"),
        ("sensitive_answered", "sensitiveq", "Response Rate"),
    ):
        frame, rows = snapshots(external_data, file, column)
        found[name] = accuracies(judged(frame.assign(correct=rows[column])))
    for name, by_model in found.items():
        for model, (march, june) in expected[name].items():
            dates = ("0314", "0613") if model == "gpt-4" else ("0301", "0613")
            assert [by_model[model, t] for t in dates] == [march, june], name
