"""``evalbench data check`` says what ``evalbench run`` says, and neither starts a kernel for a table that is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from some_studies import some_studies

from evalbench import studies
from evalbench.cli import group
from evalbench.runs import run as runs
from evalbench.runs.tables import refuse_tables

REFUSED = {
    "no outputs": ("text_metrics", "id,reference\n1,b\n", [], "there are no answers to score: either the"),
    "no outputs, two answers of other names": (
        "text_metrics", "id,response,completion\n1,b,c\n", [], "(--map response=answer)"
    ),
    "no outputs, other columns": ("text_metrics", "id,said\n1,b\n", [], "is it one of said? (--map COLUMN=answer)"),
    "doubled ids": ("text_metrics", "id,output\n1,b\n1,c\n", [], "column id: is duplicated"),
    "no responses": ("cot_levels", 'id,question,reference\n1,2?,"2\n#### 2"\n', [], "no column answer; give one, or a"),
    "no answer in a reference": ("cot_levels", "id,question,reference,answer\n1,2?,two,2\n", [], "1 references have no"),
    "no answers": ("citation", "id,question\n1,why?\n", [], "the table has no column answer; give one, or a model"),
    "faulty citations": (
        "citation", 'id,question,answer,citations\n1,why?,so [1],"[{""n"": 0}]"\n', [], "id 1, citation 1: n is 0"
    ),
    "no human scores": ("human_correlation", "doc_id,output,quality\n1,a,3\n", [], "name the criteria"),
    "a rename onto a column": (
        "text_metrics", "id,answer,reference\n1,a,b\n", ["--map", "answer=reference"], "column reference: already exists"
    ),
    "a rename that is reversed": (
        "text_metrics", "id,said\n1,a\n", ["--map", "answer=said"], "did you mean --map said=answer?"
    ),
}  # fmt: skip


@pytest.fixture
def no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object) -> None:
        raise AssertionError("a kernel was started")

    monkeypatch.setattr(runs, "execute", start)


@pytest.mark.usefixtures("no_kernel")
@pytest.mark.parametrize("case", REFUSED)
def test_both_refuse_with_the_same_words(tmp_path, case):
    study, text, options, said = REFUSED[case]
    (tmp_path / "x.csv").write_text(text)
    data = str(tmp_path / "x.csv")
    check = CliRunner().invoke(group, ["data", "check", data, "--study", study, *options])
    run = CliRunner().invoke(group, ["run", study, "--data", data, "--out", str(tmp_path / "out"), *options])
    assert (check.exit_code, run.exit_code) == (2, 2)
    assert said in check.stderr
    assert run.stderr.removeprefix("evalbench: ") == check.stderr
    assert "no faults" not in check.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.generated
@pytest.mark.parametrize("study", some_studies(studies.names()))
def test_a_sample_has_no_faults(study):
    sample = str(studies.defaults(study)["data"])
    done = CliRunner().invoke(group, ["data", "check", sample, "--study", study])
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith("no faults\n")
    assert "✗" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("study", studies.names())
def test_the_tables_of_every_notebook_are_looked_at(study, monkeypatch):
    asked = []
    monkeypatch.setattr(studies, "refuse", lambda data, name, options: asked.append(name))
    key = next(iter(studies.study(study).SCHEMA.values())).columns[0].name
    refuse_tables(runs.plan(study, {"columns": {key: key}}))
    assert asked == [study]


@pytest.mark.usefixtures("no_kernel")
def test_options_count(tmp_path):
    (tmp_path / "x.csv").write_text('id,question,reference\n1,2?,"2\n#### 2"\n')
    check = ["data", "check", str(tmp_path / "x.csv"), "--study", "cot_levels"]
    assert CliRunner().invoke(group, check).exit_code == 2
    done = CliRunner().invoke(group, [*check, "-p", "model=local/smollm2-135m"])
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "no faults")
    done = CliRunner().invoke(group, [*check, "-p", "modle=x"])
    assert "unknown parameter modle; did you mean model?" in str(done.exception)


def test_standard_input(tmp_path, monkeypatch):
    for raw in ("output;reference\na;b\n", '[{"output": "a", "reference": "b"}]', '{"output": "a"}\n{"output": "b"}\n'):
        done = CliRunner().invoke(group, ["data", "check", "-", "--study", "text_metrics"], input=raw)
        assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "no faults"), done.output
        assert "no column id: the rows were numbered" in done.stdout
    done = CliRunner().invoke(group, ["data", "check", "-", "--study", "text_metrics"], input=" \n")
    assert "standard input is empty" in str(done.exception)
    seen = []
    monkeypatch.setattr(runs, "execute", lambda notebook, out, parameters, *_: seen.append(parameters["data"]) or 1 / 0)
    CliRunner().invoke(group, ["run", "text_metrics", "--data", "-", "--out", str(tmp_path)], input="output\na\n")
    assert seen
    assert Path(seen[0]).name == "stdin.csv"
    assert not Path(seen[0]).exists()


def test_values_within_objects_are_shown(tmp_path):
    rows = [{"id": "1", "reply": {"text": "a", "by": {"model": "m"}}}, {"id": "2", "reply": {"score": 1}}]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    check = ["data", "check", str(tmp_path / "x.jsonl"), "--study", "text_metrics", "--map", "reply.text=answer"]
    said = CliRunner().invoke(group, check).stdout
    assert "  ✓ answer (from reply.text): a text" in said
    assert "  + values within objects, which --map can name: reply.by.model, reply.score" in said


def test_columns_that_a_study_makes_of_a_published_form_are_not_missing(tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps({"question": "1 + 1?", "answer": "<<1+1=2>>2\n#### 2"}))
    check = ["data", "check", str(tmp_path / "x.jsonl"), "--study", "cot_levels", "-p", "model=local/smollm2-135m"]
    done = CliRunner().invoke(group, check)
    assert "  ✓ id: an identifier" in done.stdout
    assert "✗" not in done.stdout
