"""What every study promises that takes labels of people: found by its options, none is named here but to give it a judge."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import planted_rag
import pytest
from some_studies import some_studies
from studied import evaluated, sample

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.kit.labelled import OPTIONS
from evalbench.kit.options import taken
from evalbench.readers.corrections import Learnt, written

STUDIES = [name for name in studies.names() if set(OPTIONS) <= set(studies.study(name).options())]
JUDGES = ("judge", "answer_judge")
WITHOUT = {
    "confidence": "a judge groups samples of equal meaning; which answers are right is a column, and the figures are no means",
    "stability": "two outputs are compared with each other, and people label outputs",
    "human_correlation": "people's marks are its data",
    "cascade": "labels are a table of its schema, which decide questions and check its stages",
    "judge_audit": "labels are a table of its schema, and it writes the correction",
}


def contradicted(item: dict[str, Any]) -> str:
    return "CONTRADICTION" if len(item["premise"]) % 3 else "ENTAILMENT"


def supported(item: dict[str, Any]) -> dict[str, Any]:
    found = any(item["statement"] in passage for passage in item["passages"])
    return {"label": "SUPPORTED" if found else "NOT_SUPPORTED", "passages": [1] if found else []}


def answered(fields: dict[str, Any]) -> str:
    return f"The {fields['question'].split()[-1].rstrip('?')} are regulated. It rains."


def said_of(item: dict[str, Any]) -> dict[str, Any]:
    if item["criterion"] == "failure":
        return {"label": "no_failure", "steps": []}
    return {"mark": int(len(item["record"]) % 4 > 0)}


RUNS: dict[str, dict[str, Any]] = {
    "needle": {"judge": lambda item: "CORRECT" if item["gold"][0] in item["answer"] else "INCORRECT", "scorer": "judge"},
    "text_metrics": {"judge": contradicted, "metrics": ["context_contradiction"], "lights": {}},
    "trajectories": {"judge": said_of, "lights": {"judged_goal_reached": {"green_from": 0.9, "yellow_from": 0.5}}},
    "rag_generation": {"metrics": ["faithfulness"], "lights": {"faithfulness": {"green_from": 0.9, "yellow_from": 0.5}}},
    "rag_tuning": {
        "target_metric": "faithfulness", "model": answered, "answer_judge": supported, "most_k": 1, "k": 1, "n_chunks": 0,
        "n_rewrites": 0, "chunk_sizes": [], "overlaps": [],
    },
}  # fmt: skip
GROUPS = {"rag_tuning": "setting"}


def run(name: str, **more: Any):
    return evaluated(name, sample(name), **RUNS.get(name, {}), **more)


@cache
def plain(name: str):
    return run(name)


@cache
def figure(name: str) -> str:
    """A figure that labels of a study may be of, as its own message lists them."""
    with pytest.raises(BadInput, match="labels_of must be one of") as error:
        run(name, labels_of="?")
    listed = str(error.value).partition("one of ")[2].partition(";")[0].split(", ")
    return listed[0]


def rows_of(name: str) -> pd.DataFrame:
    """One row per item that the figure has a value for, with its group as model."""
    items = plain(name).items
    if "part" in items and name == "explainability":
        items = items[items["part"] == "citation"]
    column = column_of(name)
    found = items[items[column].notna()]
    group = GROUPS.get(name, "model")
    rows = pd.DataFrame({"id": found["id"], "model": found.get(group, ""), "mark": found[column]})
    return rows.drop_duplicates(["id", "model"], ignore_index=True)


def column_of(name: str) -> str:
    return {"rag_tuning": "quality"}.get(name, figure(name))


def judge_of(name: str) -> str:
    recorded = plain(name).parameters
    return str(recorded["answer_judge"] if name == "rag_tuning" else recorded["judge"])


def labels_file(folder: Path, name: str, change=lambda rows: rows) -> str:
    rows = rows_of(name).assign(annotator="ann", criterion=figure(name))
    if name == "explainability":
        rows = rows.drop(columns="model")
    path = folder / "labels.csv"
    change(rows).to_csv(path, index=False)
    return str(path)


def test_every_study_with_a_judge_takes_labels_and_corrections():
    with_judge = {name for name in studies.names() if set(JUDGES) & set(studies.study(name).options())}
    assert with_judge - set(STUDIES) <= set(WITHOUT)
    assert {"citation", "rag_generation", "explainability", "needle", "rag_tuning", "text_metrics"} <= set(STUDIES)


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(STUDIES))
def test_labels_that_agree_with_the_judge_change_little_and_the_figure_is_beside_the_naive_one(name, tmp_path):
    result = run(name, labels=labels_file(tmp_path, name))
    metric = figure(name)
    before = {tuple(e.group.items()): e for e in plain(name).summary.estimates if e.metric == metric}
    corrected = [e for e in result.summary.estimates if e.corrects == metric]
    assert corrected
    for e in corrected:
        naive = before[tuple(e.group.items())]
        assert e.value == pytest.approx(naive.value, abs=0.15)
        assert e.n_labels > 0
        assert e.ci_low is None or 0 <= e.ci_low <= e.value <= e.ci_high <= 1
    unlabelled = [e for e in result.summary.estimates if e.metric == metric]
    assert [e.value for e in unlabelled] == [before[tuple(e.group.items())].value for e in unlabelled]
    assert any(note.startswith(f"Labels of {metric.replace('_', ' ')}") for note in result.notes)


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(STUDIES))
def test_the_summary_with_labels_follows_from_the_items_read_back(name, tmp_path):
    result = run(name, labels=labels_file(tmp_path, name, lambda rows: rows.assign(mark=0.0)))
    result.items.to_parquet(tmp_path / "items.parquet")
    recorded = json.loads(json.dumps(result.to_json(), allow_nan=False))["parameters"]
    summarise = studies.study(name).summarise
    assert summarise(pd.read_parquet(tmp_path / "items.parquet"), **taken(summarise, recorded)) == result.summary
    lit = [e for e in result.summary.estimates if e.corrects and e.light != "unlit"]
    assert all(
        e.note.partition(";")[2].startswith(" the light rests on this figure") for e in lit if "labels;" in e.note
    )


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(STUDIES))
def test_labels_of_unknown_items_and_marks_off_the_scale_are_one_message(name, tmp_path):
    def wrong(rows):
        rows = rows.astype({"mark": float})
        rows.loc[0, "mark"] = 7.0
        return pd.concat([rows, rows.head(1).assign(id="<b>nobody</b>", mark=1.0)])

    with pytest.raises(BadInput) as error:
        run(name, labels=labels_file(tmp_path, name, wrong))
    said = str(error.value)
    assert "labels.csv" in said
    assert "off the scale 0–1" in said
    if name not in ("needle", "explainability"):  # whose ids are those of what is run
        assert "column id: '<b>nobody</b>' there is no such item (row" in said


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(STUDIES))
def test_a_correction_of_another_judge_is_refused_with_both_names(name, tmp_path):
    path = tmp_path / "correction.json"
    path.write_bytes(written([Learnt("acme/other", figure(name), (0.0, 1.0) * 15, (0.0, 1.0) * 15)]))
    if judge_of(name).startswith("recorded"):  # whose verdicts these were is not recorded
        assert any(
            "whether the judge is acme/other cannot be checked" in note
            for note in run(name, correction=str(path)).notes
        )
        return
    with pytest.raises(BadInput, match="learnt for the judge acme/other, and the judge here is"):
        run(name, correction=str(path))


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(STUDIES))
def test_a_correction_of_this_judge_is_checked_on_labels(name, tmp_path):
    marks = tuple(np.tile([0.0, 0.5, 1.0], 20))
    path = tmp_path / "correction.json"
    path.write_bytes(written([Learnt(judge_of(name), figure(name), marks, marks)]))
    labels = labels_file(tmp_path, name)
    holds = run(name, correction=str(path), labels=labels)
    checks = [e for e in holds.summary.estimates if e.metric == f"{figure(name)}_transport"]
    assert checks
    for e in checks:
        assert e.value is None or e.value == pytest.approx(0.0, abs=1e-9)
        assert e.light == ("grey" if e.n < 20 else "green")
    alone = run(name, correction=str(path))
    assert {e.light for e in alone.summary.estimates if e.metric == f"{figure(name)}_transport"} == {"grey"}


def test_labels_with_no_judge_are_refused(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("id,mark\nq1,1\n")
    with pytest.raises(BadInput, match="no figure rests on a judge"):
        evaluated("needle", sample("needle"), labels=str(path))


def test_the_overall_score_of_explainability_is_that_of_the_corrected_half(tmp_path):
    """Every cited answer marked 0: post-stratified or by marks, the half is near 0, and the whole near half of the other."""
    labels = labels_file(tmp_path, "explainability", lambda rows: rows.assign(mark=0.0))
    found = run("explainability", labels=labels)
    half = found.estimate("score_corrected", part="citation")
    other = found.estimate("score", part="cot")
    whole = found.estimate("XAI_overall_score_corrected")
    assert whole.value == pytest.approx(0.5 * half.value + 0.5 * other.value)
    assert found.verdict.decided_by == {"metric": "XAI_overall_score_corrected"}
    content = json.loads(next(iter(found.files.values())))
    assert content["corrected"]["overall_pass"] is False
    assert content["corrected"]["n_labels"] == half.n_labels
    assert "corrected" not in json.loads(next(iter(plain("explainability").files.values())))


def test_labels_do_not_answer_for_marks_that_lead_nowhere(tmp_path):
    """Of 40 answers whose every mark has no entry, all are labelled: the judge is right, and the light stays grey."""
    frames = planted_rag.cited(mark=2)
    bare = studies.study("citation").evaluate(
        studies.load(frames, study="citation"), **planted_rag.FAKE, n_resamples=200
    )
    path = tmp_path / "labels.csv"
    rows = bare.items[["id"]].assign(mark=bare.items["final"], annotator="ann", criterion="final")
    rows.to_csv(path, index=False)
    labelled = studies.study("citation").evaluate(
        studies.load(frames, study="citation"), **planted_rag.FAKE, labels=str(path), n_resamples=200
    )
    assert any(e.corrects == "final" for e in labelled.summary.estimates)
    assert (bare.light, labelled.light) == ("grey", "grey")
    assert "name what does not exist" in labelled.sentence
    assert "40 of 40 answers have marks without an entry" in labelled.sentence
