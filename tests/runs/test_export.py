"""``evalbench export``: what goes out is whole, inert, and holds no key."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
from click.testing import CliRunner

from evalbench import load, record
from evalbench.cli import group
from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.runs import export_mlflow
from evalbench.runs.export import finished, to_csv
from evalbench.runs.export_every_eval_ever import to_every_eval_ever
from evalbench.runs.export_mlflow import to_mlflow
from evalbench.studies import imported, text_metrics

HOSTILE = "=HYPERLINK(\"http://x\") <script>alert(1)</script> \u202e 'quoted', two\nlines"
METRICS = ["f1_score", "exact_match"]


def result(**more: Any) -> Result:
    ids = [f"q{i}" for i in range(6)]
    rows = [
        {"id": i, "model": model, "answer": out, "reference": ["да", "-1"], "question": f"{HOSTILE} {i}"}
        for model in ("../oak/7b", "fern")
        for i, out in zip(ids, ["да", "нет", None, HOSTILE, "-1", "да"], strict=True)
    ]
    data = load({"items": pd.DataFrame(rows)}, study="text_metrics")
    return text_metrics.evaluate(data, metrics=METRICS, n_resamples=60, **more)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "20260102T030405Z-abcdef01"
    record(result(), out=folder)
    return folder


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def said(*words: str) -> str:
    done = CliRunner().invoke(group, ["export", *words])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


# -- csv ------------------------------------------------------------------------------------------


def test_csv_has_every_figure_with_its_interval_and_the_tables(run, tmp_path):
    said(str(run), "--to", "csv", "--out", str(tmp_path / "out"))
    rows = read(tmp_path / "out" / "summary.csv")
    expected = json.loads((run / "results.json").read_text())["summary"]
    assert [(r["model"], r["metric"]) for r in rows] == [(e["model"], e["metric"]) for e in expected]
    for row, estimate in zip(rows, expected, strict=True):
        for name in ("value", "ci_low", "ci_high", "n", "n_unscored"):
            assert float(row[name]) == pytest.approx(estimate[name])
    assert {p.name for p in (tmp_path / "out").iterdir()} >= {"summary.csv", "items.csv", "texts.csv", "comparison.csv"}
    items = read(tmp_path / "out" / "items.csv")
    assert [row["unscored"] for row in items].count("no-output") == 2


def test_no_cell_is_a_formula(run, tmp_path):
    to_csv(finished(run), tmp_path / "out")
    cells = [cell for f in (tmp_path / "out").glob("*.csv") for row in read(f) for pair in row.items() for cell in pair]
    assert any(HOSTILE in cell for cell in cells)
    texts = [cell for cell in cells if not _is_number(cell)]
    assert not [cell for cell in texts if cell.startswith(("=", "+", "-", "@", "\t"))]
    assert "'-1" in cells  # a text, not the number


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_a_folder_with_something_in_it_is_refused(run, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(BadInput, match="is not empty; --out names another"):
        to_csv(finished(run), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("write", [to_csv, to_every_eval_ever], ids=["csv", "every_eval_ever"])
def test_a_key_stops_it_and_nothing_is_kept(write, tmp_path, monkeypatch):
    record(result(), out=tmp_path / "run")
    key = "sk-proj-9f8e7d6c5b4a3f2e1d0c"
    texts = pd.read_parquet(tmp_path / "run" / "texts.parquet")
    texts.assign(question=f"the key is {key}").to_parquet(tmp_path / "run" / "texts.parquet")
    monkeypatch.setenv("SOME_API_KEY", key)
    with pytest.raises(BadInput, match="SOME_API_KEY in ") as caught:
        write(finished(tmp_path / "run"), tmp_path / "out")
    assert key not in str(caught.value)
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and "run" not in p.relative_to(tmp_path).parts]


def test_a_write_that_fails_leaves_nothing(run, tmp_path, monkeypatch):
    def full(*args: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    with pytest.raises(OSError, match="No space"):
        to_csv(finished(run), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_only_finished_runs_are_exported(run, tmp_path):
    about = json.loads((run / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps({**about, "status": "failed", "error": "no"}))
    with pytest.raises(BadInput, match="no results to export"):
        finished(tmp_path)
    with pytest.raises(BadInput, match="not the folder of a run"):
        finished(tmp_path / "nothing")


# -- every_eval_ever ------------------------------------------------------------------------------

TEXT, NUMBER, YES_NO = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
TEXTS, DETAILS = {"type": "array", "items": TEXT}, {"type": "object", "additionalProperties": {"type": "string"}}


def record_of(required: dict[str, Any], more: dict[str, Any] | None = None, *, closed: bool = False) -> dict[str, Any]:
    fields = {**required, **(more or {})}
    return {"type": "object", "required": list(required), "properties": fields, "additionalProperties": not closed}


# The fields that the schema of version 0.2.2 has, described here in our own words.
INTERVAL = record_of({"lower": NUMBER, "upper": NUMBER}, {"confidence_level": NUMBER, "method": TEXT})
SOURCE = record_of({"dataset_name": TEXT, "source_type": {"const": "other"}}, {"additional_details": DETAILS})
CONFIG = record_of(
    {"lower_is_better": YES_NO, "score_type": {"enum": ["continuous"]}, "min_score": NUMBER, "max_score": NUMBER},
    {"metric_id": TEXT, "metric_name": TEXT, "metric_unit": TEXT, "additional_details": DETAILS},
)
UNCERTAINTY = record_of({}, {"confidence_interval": INTERVAL, "num_samples": {"type": "integer"}})
SCORE = record_of({"score": NUMBER}, {"details": DETAILS, "uncertainty": UNCERTAINTY})
FIGURE = record_of(
    {"evaluation_name": TEXT, "source_data": SOURCE, "metric_config": CONFIG, "score_details": SCORE},
    {"evaluation_result_id": TEXT},
)
ORIGIN = record_of(
    {"source_type": {"enum": ["documentation", "evaluation_run"]}, "source_organization_name": TEXT,
     "evaluator_relationship": {"enum": ["first_party", "third_party", "collaborative", "other"]}}
)  # fmt: skip
FIGURES = record_of(
    {"schema_version": {"const": "0.2.2"}, "evaluation_id": TEXT, "retrieved_timestamp": {"type": "string", "pattern": r"^\d+$"},
     "source_metadata": ORIGIN, "model_info": record_of({"name": TEXT, "id": TEXT}), "eval_library": record_of({"name": TEXT, "version": TEXT}),
     "evaluation_results": {"type": "array", "items": FIGURE, "minItems": 1}},
    {"evaluation_timestamp": TEXT, "detailed_evaluation_results": record_of({}, {"format": {"enum": ["jsonl", "json"]}, "file_path": TEXT,
     "checksum": TEXT, "hash_algorithm": {"enum": ["sha256", "md5"]}, "total_rows": {"type": "integer"}})},
    closed=True,
)  # fmt: skip
FOUND = record_of(
    {
        "turn_idx": {"type": "integer"},
        "source": TEXT,
        "extracted_value": TEXT,
        "extraction_method": TEXT,
        "is_terminal": YES_NO,
    }
)
ANSWER = record_of(
    {"schema_version": {"const": "0.2.2"}, "evaluation_id": TEXT, "model_id": TEXT, "evaluation_name": TEXT, "sample_id": TEXT,
     "interaction_type": {"const": "single_turn"}, "input": record_of({"raw": TEXT, "reference": TEXTS}), "output": record_of({"raw": TEXTS}),
     "answer_attribution": {"type": "array", "items": FOUND}, "evaluation": record_of({"score": NUMBER, "is_correct": YES_NO})},
    {"evaluation_result_id": TEXT, "sample_hash": TEXT, "metadata": DETAILS},
    closed=True,
)  # fmt: skip


def test_every_eval_ever_keeps_the_schema_and_the_figures(run, tmp_path):
    shown = said(str(run), "--to", "every_eval_ever", "--out", str(tmp_path), "--organisation", "Desk <b>")
    files = sorted(tmp_path.rglob("*.json"))
    assert all(tmp_path.resolve() in f.resolve().parents for f in files)
    assert len(files) == 2
    assert all(str(f) in shown for f in files)
    stated = json.loads((run / "results.json").read_text())["summary"]
    for file in files:
        content = json.loads(file.read_text())
        jsonschema.validate(content, FIGURES)
        assert content["source_metadata"]["source_organization_name"] == "Desk <b>"
        own = [row for row in stated if row["model"] == content["model_info"]["id"]]
        for row, found in zip(own, content["evaluation_results"], strict=True):
            details, bounds = found["score_details"], found["score_details"]["uncertainty"]["confidence_interval"]
            assert (details["score"], bounds["lower"], bounds["upper"]) == (row["value"], row["ci_low"], row["ci_high"])
            assert details["details"]["n_unscored"] == "1"
        samples = file.with_name(content["detailed_evaluation_results"]["file_path"])
        raw = samples.read_bytes()
        assert hashlib.sha256(raw).hexdigest() == content["detailed_evaluation_results"]["checksum"]
        rows = [json.loads(line) for line in raw.decode().splitlines()]
        assert len(rows) == content["detailed_evaluation_results"]["total_rows"] == 10  # the null answer has no record
        for row in rows:
            jsonschema.validate(row, ANSWER)
            assert row["evaluation_id"] == content["evaluation_id"]
        assert {row["input"]["raw"] for row in rows} == {f"{HOSTILE} q{i}" for i in range(6) if i != 2}
        exact = [row["evaluation"] for row in rows if row["evaluation_result_id"] == "exact_match"]
        assert {(e["score"], e["is_correct"]) for e in exact} == {(0.0, False), (1.0, True)}


def test_exported_again_it_replaces_its_files(run, tmp_path):
    first = to_every_eval_ever(finished(run), tmp_path)
    again = to_every_eval_ever(finished(run), tmp_path)
    assert first.files == again.files
    assert sorted(p for p in tmp_path.rglob("*") if p.is_file()) == sorted(again.files)


def test_an_imported_run_goes_out_with_its_questions_and_all_trials(tmp_path):
    data = load("imported_runs@1.0.0", study="imported")
    record(imported.evaluate(data, n_resamples=60), out=tmp_path / "run")
    found = to_every_eval_ever(finished(tmp_path / "run"), tmp_path / "out")
    for samples in (f for f in found.files if f.suffix == ".jsonl"):
        rows = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
        own = [row for row in rows if row["evaluation_result_id"] == "has_answer"]
        assert len(own) in (30, 32)
        assert all(row["input"]["raw"].startswith("Answer the reader of the library: ") for row in rows)
        assert {len(row["output"]["raw"]) for row in own} == ({1, 2} if len(own) == 30 else {2})


def test_what_the_schema_has_no_place_for_is_said(tmp_path):
    found = result(lights={})
    rows = load({"items": found.tables["texts"].assign(answer=None)}, study="text_metrics")
    record(text_metrics.evaluate(rows, metrics=METRICS, n_resamples=60), out=tmp_path / "run")
    with pytest.raises(BadInput, match="4 figures with no value"):
        to_every_eval_ever(finished(tmp_path / "run"), tmp_path / "out")


# -- mlflow ---------------------------------------------------------------------------------------


def test_without_mlflow_the_message_says_how_to_get_it(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(BadInput, match=r"pip install 'evalbench\[mlflow\]'"):
        to_mlflow(finished(run), tmp_path)
    assert list(tmp_path.iterdir()) == []


READ = """
import json, sys
from mlflow import MlflowClient
client = MlflowClient(tracking_uri=f"sqlite:///{sys.argv[1]}/mlflow.db")
found = []
for experiment in client.search_experiments():
    for run in client.search_runs([experiment.experiment_id]):
        files = [a.path for a in client.list_artifacts(run.info.run_id)]
        found.append([experiment.name, run.info.status, run.data.metrics, run.data.params, run.data.tags, files])
print(json.dumps(found))
"""


@pytest.mark.slow
def test_mlflow_reads_what_was_written(run, tmp_path):
    """MLflow's small package in a folder of its own, as the extra installs it; its own client reads the store."""
    uv = Path(sys.executable).parent / "uv"
    if not uv.exists():
        pytest.skip("not on this platform: there is no uv")
    wanted = ["mlflow-skinny>=3.1,<4", "sqlalchemy>=2,<3", "alembic>=1.13,<2"]
    packages = tmp_path / "packages"
    done = subprocess.run(
        [uv, "pip", "install", "-q", "--python", sys.executable, "--target", packages, *wanted],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    own = {**os.environ, "PYTHONPATH": str(packages), "MLFLOW_DISABLE_TELEMETRY": "true"}

    def python(*words: str) -> str:
        found = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=own, cwd=tmp_path)
        assert found.returncode == 0, found.stderr
        return found.stdout

    words = ["-m", "evalbench.cli", "export", str(run), "--to", "mlflow", "--out", str(tmp_path / "store")]
    assert "already" not in python(*words)
    assert "was there already" in python(*words)
    ((experiment, status, metrics, params, tags, files),) = json.loads(python("-c", READ, str(tmp_path / "store")))
    assert (experiment, status) == ("evalbench/text_metrics", "FINISHED")
    for row in json.loads((run / "results.json").read_text())["summary"]:
        name = f"{row['metric']}/{row['model'].replace('/', '_')}"
        found = [metrics[f"{name}{end}"] for end in ("", ".ci_low", ".ci_high", ".n", ".n_unscored")]
        assert found == [row[k] for k in ("value", "ci_low", "ci_high", "n", "n_unscored")]
    assert params["metrics"] == json.dumps(METRICS)
    assert tags["evalbench.run_id"] == run.name
    assert {"items.parquet", "results.json", "texts.parquet"} <= set(files)


def test_a_value_that_mlflow_would_refuse_is_cut_to_what_it_takes():
    longest = export_mlflow._LONGEST_VALUE
    assert export_mlflow._cut("x" * longest) == "x" * longest
    assert export_mlflow._cut("x" * (longest + 1)) == "x" * (longest - 1) + "…"
