"""What can be asked of a table: every study is tried, in words that somebody who does not know them understands."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from generated import one_in_twenty
from jsonschema import Draft202012Validator
from some_studies import some_studies

from evalbench import load, studies
from evalbench.asking.trying import needs
from evalbench.cli import group
from evalbench.errors import BadInput
from evalbench.readers.catalog import entries
from evalbench.readers.sample_rows import MOST_ROWS

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "asked.schema.json").read_text(encoding="utf-8"))
TAKEN = yaml.safe_load((Path(__file__).parent / "samples_taken.yaml").read_text(encoding="utf-8"))
"""Sample → the studies that are ready for it, as it is."""
ANSWERS = pd.DataFrame(
    {
        "id": ["1", "2", "3"] * 2,
        "model": ["fern"] * 3 + ["oak"] * 3,
        "question": ["1 + 1?", "2 + 2?", "3 + 3?"] * 2,
        "output": ["two", "five", "six", "two", "four", "seven"],
        "reference": ["two", "four", "six"] * 2,
    }
)


def ready(found):
    return {offer.study for offer in found.ready}


def missing(found, study):
    return next(offer.missing for offer in found.offers if offer.study == study)


def test_every_study_says_what_it_computes_and_needs() -> None:
    assert list(needs()) == studies.names()
    for computes, wanted, instead in needs().values():
        assert computes
        assert all(instead.values())
        assert wanted
        assert all(need.holds and not re.search(r"[_`.]", need.words) for need in wanted)


def test_answers_of_two_models_with_references() -> None:
    found = load(ANSWERS)
    assert (found.rows, set(found.groups)) == (6, {"fern", "oak"})
    assert ready(found) == {"text_metrics", "cascade"}
    assert found.roles == {
        "id": "id", "model": "model", "question": "question", "output": "answer", "reference": "reference",
    }  # fmt: skip
    assert missing(found, "reproduction") == ("a second answer of the same model to each question",)
    assert missing(found, "rag_generation") == ("the passages that each answer was given",)
    text = str(found)
    assert text.startswith("frames: 6 rows, 2 models: fern, oak\n")
    assert "evalbench.text_metrics.evaluate(evalbench.load(data, study='text_metrics'))" in text
    assert found.studies()["study"].tolist() == [offer.study for offer in found.ready]
    assert len(found.studies()) + len(found.not_ready()) == len(studies.names())


def test_what_a_table_lacks_is_said_in_words() -> None:
    found = load(ANSWERS.drop(columns="reference"))
    assert ready(found) == {"cascade", "text_metrics"}
    (own,) = [offer for offer in found.offers if offer.study == "text_metrics"]
    assert own.computes.startswith("length and language of each answer")
    found = load(ANSWERS[["id", "model", "output"]])
    assert missing(found, "text_metrics") == ("a reference, or the question",)
    found = load(ANSWERS[ANSWERS["model"] == "fern"])
    assert ready(found) == {"text_metrics"}
    assert missing(found, "cascade") == ("a second model's answer to each question",)
    assert "imported" not in ready(found)
    assert missing(found, "imported") == ("scores that somebody or something gave",)


def test_a_table_without_values_or_for_no_study_is_ready_for_none() -> None:
    assert not load(ANSWERS.assign(output=None, reference=None)).ready
    found = load(pd.DataFrame({"colour": ["red", "blue"], "weight_count": [1, 2]}))
    assert not found.ready
    assert "No study is ready for this table" in str(found)
    assert found.roles == {"colour": "", "weight_count": ""}


def test_data_that_cannot_be_read_are_refused(tmp_path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        load(tmp_path / "none.csv")
    (tmp_path / "odd.jsonl").write_text("{")
    with pytest.raises(BadInput, match="not JSON Lines"):
        load(tmp_path / "odd.jsonl")
    with pytest.raises(BadInput, match="are a study's"):
        load(ANSWERS, cluster="question")


def test_a_rename_counts(tmp_path) -> None:
    path = tmp_path / "mine.csv"
    ANSWERS.rename(columns={"output": "spoken"}).to_csv(path, index=False)
    assert ready(load(path)) == set()
    found = load(path, columns={"spoken": "output"})
    assert "text_metrics" in ready(found)
    assert found.roles["spoken"] == "answer"
    assert f"evalbench run text_metrics --data {path} --map spoken=output" in str(found)


@pytest.mark.slow
def test_a_large_table_is_decided_from_whole_items(tmp_path) -> None:
    n = 4 * MOST_ROWS
    rows = pd.concat([ANSWERS.iloc[[0]]] * n, ignore_index=True)
    rows = rows.assign(id=[str(i // 2) for i in range(n)], model=["fern", "oak"] * (n // 2))
    rows = rows.sort_values("model", kind="stable")
    for name in ("mine.csv", "mine.parquet"):
        path = tmp_path / name
        rows.to_csv(path, index=False) if name.endswith("csv") else rows.to_parquet(path, index=False)
        found = load(path)
        assert found.rows == n
        assert found.tried <= MOST_ROWS
        assert ready(found) == {"text_metrics", "cascade"}
        assert found.notes[0].startswith("decided from ")


def test_it_shows_itself_in_a_notebook() -> None:
    table = ANSWERS.rename(columns={"question": "<script>alert(1)</script>"})
    bundle, _ = load(table)._repr_mimebundle_()
    assert bundle["text/plain"].startswith("frames: 6 rows")
    assert "<script>alert" not in bundle["text/html"]
    assert "text_metrics" in bundle["text/html"]


def test_the_object_for_programs_keeps_its_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for table in (ANSWERS, pd.DataFrame({"colour": ["red"]})):
        Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(load(table).to_json(), allow_nan=False)))


@pytest.mark.benchmark
def test_all_studies_are_tried_in_three_seconds() -> None:
    rows = pd.concat([ANSWERS] * 7, ignore_index=True)[:40]
    rows["id"] = [str(i // 2) for i in range(40)]
    load(rows)
    before = time.process_time()
    load(rows)
    assert time.process_time() - before < 3


@pytest.mark.generated
@pytest.mark.parametrize("study", some_studies(studies.names()))
def test_a_sample_is_offered_its_own_study(study) -> None:
    sample = str(studies.defaults(study)["data"])
    found = load(sample)
    assert study in ready(found)
    assert set(TAKEN[sample]) <= ready(found)


def test_every_sample_is_listed_with_its_own_study() -> None:
    assert set(TAKEN) == set(entries())
    own = {name: str(studies.defaults(name)["data"]) for name in studies.names()}
    assert not {name: sample for name, sample in own.items() if name not in TAKEN[sample]}


OTHERS = [
    (sample, study) for sample, names in TAKEN.items() for study in names if studies.defaults(study)["data"] != sample
]


@pytest.mark.slow
@pytest.mark.parametrize(("sample", "study"), OTHERS)
def test_a_sample_runs_in_every_study_that_is_ready_for_it(sample, study) -> None:
    result = studies.study(study).evaluate(load(sample, study=study), n_resamples=2)
    assert any(estimate.value is not None for estimate in result.summary.estimates)
    assert result.n_unscored < len(result.items)


FOREIGN = {"imported_runs@1.0.0": {"expected"}}
"""Sample → names of columns that are another tool's, or those of who wrote its file for that tool."""


@pytest.mark.slow
@pytest.mark.parametrize("sample", TAKEN)
def test_no_sample_names_a_column_as_studies_did_before(sample) -> None:
    for study in TAKEN[sample]:
        read_as = load(sample, study=study).read_as
        assert {name for own in read_as.values() for name in own} <= FOREIGN.get(sample, set())


NATURAL = ROOT / "tests" / "readers" / "natural"
FIGURES = {
    name: case
    for name, case in yaml.safe_load((NATURAL / "expected.yaml").read_text(encoding="utf-8")).items()
    if "figures" in case and (NATURAL / "tables" / case["file"]).exists()
}


@pytest.mark.generated
@pytest.mark.soak
@pytest.mark.parametrize("name", one_in_twenty(FIGURES, in_check=12))
def test_a_table_as_people_have_it_is_offered_to_the_study_that_reads_it(name: str) -> None:
    assert FIGURES[name]["study"] in ready(load(str(NATURAL / "tables" / FIGURES[name]["file"])))


def test_columns_named_after_raters_are_marks_that_people_gave() -> None:
    found = load(str(NATURAL / "tables" / "three_raters.csv"))
    assert "human_correlation" in ready(found)
    assert {found.roles[f"rater{i}"] for i in (1, 2, 3)} == {"mark"}


def test_files_of_agents_runs_are_what_a_run_reads_them_as(tmp_path):
    def talk(task, **more):
        told = [{"role": "user", "content": f"Do {task}."}, {"role": "assistant", "content": "Done."}]
        return {"task_id": task, "model": "M", "system": "Be kind.", "colour": "red", "messages": told, **more}

    path = tmp_path / "runs.jsonl"
    rows = [talk("a", success=True), talk("b", success=False), talk("c")]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = load(path)
    assert found.ready[0].study == "trajectories"
    wanted = {
        "task_id": "id",
        "model": "model",
        "system": "policy",
        "messages": "steps",
        "success": "mark",
        "colour": "",
    }
    assert {name: found.roles[name] for name in wanted} == wanted
    assert found.notes[0] == "runs.jsonl: read as trajectories of the form openai-messages"
    assert "runs.jsonl: fields that were not read: colour" in found.notes
    assert found.notes[-1] == "3 trajectories of 3 tasks, 1 agent, 9 steps; 2 of 3 have a mark"


@pytest.mark.slow
def test_a_study_whose_columns_are_there_refuses_what_cells_hold_and_needs_nothing(tmp_path):
    steps = [{"id": "a", "step": i, "kind": "message", "text": "x", "seconds": 1} for i in range(3)]
    for name, row in (("seconds", {"seconds": "soon"}), ("step", {"step": "first"}), ("id", {"id": None})):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, [*steps, {**steps[0], "step": 4, **row}])), encoding="utf-8")
        found = load(path)
        (own,) = [offer for offer in found.offers if offer.study == "trajectories"]
        assert not own.missing
        assert f"column {name}: " in own.refused
        assert (found.roles["step"], found.roles["kind"], found.roles["seconds"]) == ("step", "kind", "seconds")


def test_outcomes_alone_are_what_agents_reached(tmp_path):
    rows = [{"id": f"t{i}", "model": "oak", "trial": t, "resolved": i % 2} for i in range(4) for t in (1, 2)]
    pd.DataFrame(rows).to_csv(tmp_path / "outcomes.csv", index=False)
    found = load(str(tmp_path / "outcomes.csv"))
    assert "trajectories" in ready(found)
    assert found.roles["resolved"] == "outcome"
    printed = CliRunner().invoke(group, ["data", "check", str(tmp_path / "outcomes.csv")]).output
    assert "8 trajectories of 4 tasks, 1 agent, up to 2 trials of a task, 0 steps; 8 of 8 have a mark" in " ".join(
        printed.split()
    )


@pytest.mark.slow
def test_what_a_study_reads_in_a_form_of_its_own_is_read_by_it(tmp_path):
    span = {"start": 0, "end": 4, "label": "PER"}
    spans = [{"text": f"Anna saw {n}.", "gold_spans": [span], "pred_spans": [span], "colour": "red"} for n in range(4)]
    sources = [{"id": n, "question": f"Who is {n}?", "answer": "Ann [1].", "sources": [{"id": 1, "title": "A", "text": "It is Ann."}]} for n in "ab"]  # fmt: skip
    for name, rows, column in (
        ("spans", spans, "gold_spans"),
        ("spans", spans, "pred_spans"),
        ("sources", sources, "sources"),
    ):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        found = load(path)
        study = {"spans": "ner_quality", "sources": "citation"}[name]
        assert study in ready(found)
        assert found.roles[column].startswith("read by ")
        assert study in found.roles[column]
        assert not found.roles.get("colour")


@pytest.mark.slow
def test_instruction_and_input_together_are_the_question_and_text_metrics_is_ready(tmp_path):
    rows = [{"instruction": "Name the city.", "input": f"Land {n}", "output": f"Town {n}"} for n in range(4)]
    path = tmp_path / "alpaca.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    found = load(path)
    assert found.roles == {"instruction": "question", "input": "question", "output": "answer"}
    assert "text_metrics" in ready(found)
    assert studies.study("text_metrics").evaluate(load(path, study="text_metrics"), n_resamples=50).summary.estimates


@pytest.mark.slow
def test_row_numbers_without_a_name_are_no_scores(tmp_path):
    rows = ANSWERS[ANSWERS["model"] == "fern"].drop(columns=["id", "model"])
    for name, table in (
        ("", rows),
        ("Unnamed: 0", rows),
        ("index", rows.assign(question_id=["a", "b", "c"])),
        ("__index_level_0__", pd.concat([rows.assign(model="fern"), rows.assign(model="oak")])),
    ):
        path = tmp_path / "table.csv"
        table.reset_index(drop=True).assign(**{name: [*range(3)] * (len(table) // 3)}).to_csv(path, index=False)
        found = load(path)
        assert "imported" not in ready(found), name
        assert "text_metrics" in ready(found)
        assert not found.roles.get(name or "Unnamed: 3")
        assert any("holds row numbers and is not used" in note for note in found.notes), name
    kept = tmp_path / "kept.csv"
    rows.assign(**{"Unnamed: 0": [0.25, 0.5, 1]}).to_csv(kept, index=False)
    assert "imported" in ready(load(kept))


@pytest.mark.slow
def test_numbers_of_which_nothing_says_that_they_are_scores_are_not_offered_as_such(tmp_path):
    weather = pd.DataFrame({"date": ["2025-01-01", "2025-01-02"], "temperature": [4, -2], "humidity": [51, 88]})
    found = load(weather)
    assert not found.ready
    assert missing(found, "imported")[0].startswith("the names of the columns that are scores: -p 'metrics=[")
    for more in (
        {"model": ["oak", "fern"]},
        {"question": ["a?", "b?"]},
        {"answer": ["a", "b"]},
        {"faithfulness": [0.5, 1]},
    ):
        assert "imported" in ready(load(weather.assign(id=["1", "2"], **more))), more
    result = studies.study("imported").evaluate(load(weather, study="imported"), metrics=["humidity"], n_resamples=50)
    assert result.estimate("humidity", model="model not named").value == 69.5


def test_a_word_among_scores_is_said_with_its_row(tmp_path):
    path = tmp_path / "scores.csv"
    table = pd.DataFrame(
        {"question": [f"{n}?" for n in range(6)], "answer": "a", "score": [0.5, 1, "high", 0.2, 0.1, 1]}
    )
    table.to_csv(path, index=False)
    found = load(path)
    assert "imported" in ready(found)
    assert "column score: expected numbers, found “high” (row 4); such a cell is unscored" in found.notes


def test_of_a_run_of_another_tool_what_its_reader_made_is_not_listed(tmp_path):
    case = {
        "name": "one",
        "input": "2+2?",
        "actualOutput": "4",
        "expectedOutput": "4",
        "success": True,
        "runDuration": 1.0,
    }
    case["metricsData"] = [{"name": "Correctness", "threshold": 0.5, "success": True, "score": 0.9, "reason": "ok"}]
    body = {
        "testCases": [case],
        "metricsScores": [],
        "testPassed": 1,
        "testFailed": 0,
        "runDuration": 2.0,
        "evaluationCost": 0.1,
    }
    (tmp_path / "test_run.json").write_text(json.dumps(body), encoding="utf-8")
    roles = load(tmp_path / "test_run.json").roles
    assert {name: roles[name] for name in ("question", "answer", "reference")} == {
        "question": "question", "answer": "answer", "reference": "reference",
    }  # fmt: skip
    assert not {"question_hash", "cost", "seconds"} & {*roles}
