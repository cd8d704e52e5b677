"""The folder that an import writes, and result files given to a study as they are."""

import json
import shutil
from dataclasses import replace

import pytest
from click.testing import CliRunner

from evalbench.commands.data import data
from evalbench.errors import BadInput
from evalbench.readers.dataset import load
from evalbench.readers.schema import Column, Table
from evalbench.readers.tools.composed import parts_of
from evalbench.readers.tools.data_folder import write
from evalbench.readers.tools.known import NAMES, runs_of

ROWS = [
    {"user_input": "2+2?", "response": "4", "reference": "4", "retrieved_contexts": ["sums"], "exact_match": 1.0},
    {
        "user_input": "Столица?",
        "response": "\x1b[31mОслик",
        "reference": None,
        "retrieved_contexts": None,
        "exact_match": None,
    },
]
CASE = {"name": "a", "input": "i", "actualOutput": "o", "metricsData": [
    {"name": "G", "threshold": 0.5, "success": True, "score": 0.8, "evaluationModel": "oak-7b", "reason": "fine"}]}  # fmt: skip


@pytest.fixture
def result(tmp_path):
    path = tmp_path / "result.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS), encoding="utf-8")
    return path


@pytest.fixture
def case_file(tmp_path):
    path = tmp_path / "test_run.json"
    path.write_text(json.dumps({"testCases": [CASE], "hyperparameters": {"model": "fern-1b"}}), encoding="utf-8")
    return path


def test_the_folder_holds_tables_record_and_card(result, tmp_path):
    done = CliRunner().invoke(data, ["import", str(result), "--to", str(tmp_path / "out")])
    said = done.output
    assert done.exit_code == 0
    assert "ragas (version not in the file): 2 rows, 2 questions" in said
    assert "unscored 1: ragas: no score" in said
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "README.md", "import.json", "items.jsonl", "metrics.jsonl", "scores.jsonl"]  # fmt: skip
    about = json.loads((tmp_path / "out" / "import.json").read_text(encoding="utf-8"))
    assert (about["rows"], about["tool"], about["metrics"]["exact_match"]["missing"]) == (2, "ragas", 1)
    assert list(about["files"]) == ["result.jsonl"]


def test_without_a_folder_nothing_is_written(result, tmp_path):
    before = sorted(tmp_path.iterdir())
    assert write(parts_of(runs_of(result)), None)["rows"] == 2
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_with_files_is_not_overwritten_and_a_fault_leaves_nothing(result, tmp_path):
    with pytest.raises(BadInput, match="is not empty: name a new folder"):
        write(parts_of(runs_of(result)), tmp_path)
    result.write_text(result.read_text(encoding="utf-8") + '{"user_input": "cut', encoding="utf-8")
    with pytest.raises(BadInput, match="line 3: not valid JSON"):
        write(parts_of(runs_of(result)), tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["result.jsonl"]


ITEMS = Table((Column("id", "id"), Column("question", "text"), Column("answer", "text", empty_ok=True, keep_null=True),
               Column("contexts", "texts", required=False, empty_ok=True)), unique=("id",))  # fmt: skip
VERDICTS = Table((Column("id", "id"), Column("mark", "float", empty_ok=True), Column("judge", "id", required=False),
                  Column("question", "text", required=False), Column("answer", "text", required=False)))  # fmt: skip


@pytest.mark.parametrize("written", [True, False])
def test_a_study_reads_the_file_and_the_folder_under_its_own_names(result, tmp_path, written):
    source = result
    if written:
        source = tmp_path / "out"
        write(parts_of(runs_of(result)), source)
    found = load(source, {"answers": ITEMS})
    assert found["answers"]["answer"].tolist() == ["4", "\x1b[31mОслик"]
    assert found["answers"]["contexts"].tolist() == [["sums"], []]
    assert any("a run of ragas (version not in the file)" in note for note in found.notes)


@pytest.mark.parametrize("written", [True, False])
def test_verdicts_of_judges_go_into_a_table_of_verdicts(case_file, tmp_path, written):
    source = case_file
    if written:
        source = tmp_path / "out"
        write(parts_of(runs_of(case_file)), source)
    found = load(source, {"verdicts": VERDICTS, "items": replace(ITEMS, required=False)})
    verdicts = found["verdicts"]
    assert verdicts[["id", "mark", "judge", "question", "answer"]].values.tolist() == [["a", 0.8, "oak-7b", "i", "o"]]
    assert "items" not in found.tables  # another table than ours: answers that a judge is asked about


def test_a_folder_that_was_written_under_former_names_is_read_with_a_note_of_each(result, tmp_path):
    now, before = tmp_path / "now", tmp_path / "before"
    write(parts_of(runs_of(result)), now)
    rows = [json.loads(line) for line in (now / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"question", "answer", "contexts"} <= set(rows[0])
    assert not {"prompt", "output", "context"} & set(rows[0])
    shutil.copytree(now, before)
    former = {"question": "prompt", "answer": "output", "contexts": "context"}
    old = [{former.get(name, name): value for name, value in row.items()} | {"question": "bare"} for row in rows]
    (before / "items.jsonl").write_text("".join(map("{}\n".format, map(json.dumps, old))), encoding="utf-8")
    found, expected = (load(folder, {"answers": ITEMS}) for folder in (before, now))
    names = ["id", "question", "answer", "contexts"]
    assert found["answers"][names].equals(expected["answers"][names])
    for column, name in former.items():
        assert any(f"column {name} was read as {column}" in note for note in found.notes)


def test_a_table_with_the_columns_of_the_study_is_read_as_a_table(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(
        json.dumps({"question": "a?", "answer": "x", "contexts": ["c"], "faithfulness": 1.0}), encoding="utf-8"
    )
    found = load(path, {"answers": ITEMS})
    assert not any("a run of" in note for note in found.notes)


def test_a_run_without_the_columns_of_a_study_is_refused_by_their_names(result):
    with pytest.raises(BadInput, match="column passage: is missing"):
        load(result, {"run": Table((Column("id", "id"), Column("passage", "text")))})


def test_an_unknown_file_is_refused_with_what_is_known(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"something": 1}', encoding="utf-8")
    with pytest.raises(
        BadInput, match=r"not a result file of a tool that is known here; it holds something\. Known are"
    ):
        runs_of(path)


def test_a_gold_answer_among_the_metadata_is_never_the_models(tmp_path):
    row = {"doc_id": 0, "doc": {"question": "2+2?", "answer": "gold", "score": 1}, "target": "gold", "filter": "none", "metrics": ["acc"], "acc": 0.0,
           "arguments": {"gen_args_0": {"arg_0": "Q: 2+2?", "arg_1": {}}}, "resps": [["five"]], "filtered_resps": ["five"], "doc_hash": "h"}  # fmt: skip
    path = tmp_path / "samples_sums_2026-01-01T00-00-00.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    found = load(path, {"answers": ITEMS})["answers"]
    columns = ["question", "answer", "metadata_question", "metadata_answer", "metadata_score"]
    assert found[columns].values.tolist() == [["Q: 2+2?", "five", "2+2?", "gold", "1"]]


def test_the_command_offers_every_format():
    from evalbench.commands import imports

    assert sorted(imports._FORMATS) == sorted(NAMES)
