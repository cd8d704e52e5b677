"""A table that does not fit gives, part by part, what it gives in one piece."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dask_hosts import can_make_hosts, certificates, cluster, hosts

from evalbench import load, text_metrics
from evalbench.asking.asking import asked
from evalbench.core.result import Result
from evalbench.core.schedulers import PROCESSES, SCHEDULER
from evalbench.core.seeds import keys
from evalbench.errors import BadInput
from evalbench.kit import parts, workers
from evalbench.monitor.store import LogStore
from evalbench.readers import large, log_parts
from evalbench.readers.dealt import ends_of
from evalbench.readers.log_store import frames as log_frames
from evalbench.readers.nameless import UNNAMED
from evalbench.runs.record import record
from evalbench.studies.text_metrics import inputs, items

OPTIONS: dict[str, Any] = {"metrics": ["f1_score", "rougeL", "sacrebleu"], "n_resamples": 100}
ANSWERS = ("a b c", "b c", "a  b", "", "Кот спит", "null", None, "<think>x</think> a b")
START = datetime(2026, 11, 1, tzinfo=UTC)
REFERENCES = (["a b c"], ["b c", "c"], [], None)


def texts(n: int = 60, trials: int = 0) -> pd.DataFrame:
    """Odd cells in every column, in no order."""
    rng = np.random.default_rng(1)
    rows = [
        {
            "id": f"q{i:03}",
            "model": model,
            "answer": ANSWERS[rng.integers(len(ANSWERS))],
            "reference": REFERENCES[rng.integers(len(REFERENCES))],
            "topic": f"t{i % 3}",
            **({"trial": str(trial)} if trials else {}),
        }
        for i in range(n)
        for model in ("oak", "fern")
        for trial in range(trials or 1)
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=1)


def written(folder: Path, frame: pd.DataFrame, files: int = 3) -> Path:
    folder.mkdir()
    for k in range(files):
        frame.iloc[k::files].to_parquet(folder / f"part-{k}.parquet")
    return folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of a hundred rows does not fit, and is read by this process alone."""
    monkeypatch.setattr(large, "LARGE_ROWS", 50)
    monkeypatch.setattr(parts, "ROWS", 25)
    monkeypatch.setitem(text_metrics.SCHEMA, "items", replace(inputs.SCHEMA["items"], sampled=20))
    monkeypatch.setenv(PROCESSES, "1")


def whole(folder: Path, **options: Any) -> Result:
    """The result of all rows at once."""
    frame = pd.concat([pd.read_parquet(file) for file in sorted(folder.glob("*.parquet"))], ignore_index=True)
    cells = {
        name: frame[name].map(lambda c: c.tolist() if isinstance(c, np.ndarray) else c)
        for name in ("reference", "contexts")
        if name in frame
    }
    data = load({"items": frame.assign(**cells)}, study="text_metrics", slices="topic")
    return text_metrics.evaluate(data, **(OPTIONS | options))


def in_parts(folder: Path | str, **options: Any) -> Result:
    return text_metrics.evaluate(load(folder, study="text_metrics", slices="topic"), **(OPTIONS | options))


def assert_same(a: Result, b: Result) -> None:
    pd.testing.assert_frame_equal(a.items, b.items, check_dtype=False)
    pd.testing.assert_frame_equal(a.figures, b.figures)
    for name in {*a.tables, *b.tables} - {"texts", "flickering"}:
        tables = (result.tables[name].reset_index(drop=True) for result in (a, b))
        pd.testing.assert_frame_equal(*tables, check_dtype=False)
    shown = [text_metrics.worst_texts(result, metric) for result in (a, b) for metric in ("f1_score", "sacrebleu")]
    pd.testing.assert_frame_equal(shown[0], shown[2], check_dtype=False)
    pd.testing.assert_frame_equal(shown[1], shown[3], check_dtype=False)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("rows", [7, 25, 1000])
def test_the_figures_are_those_of_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(parts, "ROWS", rows)
    folder = written(tmp_path / "log", texts())
    found = in_parts(folder)
    assert_same(whole(folder), found)
    assert any(note.startswith("log: all 120 rows were read, in parts; notes on how") for note in found.notes)
    assert len(pd.read_parquet(found.stored["texts"].path)) == 120


@pytest.mark.usefixtures("small")
def test_trials_are_those_of_one_piece(tmp_path: Path) -> None:
    frame = texts(30, trials=3)
    once = (frame["id"] < "q010") & (frame["trial"] != "0")  # a part without a second trial
    folder = written(tmp_path / "log", frame[~once])
    a, b = whole(folder), in_parts(folder)
    assert_same(a, b)
    assert {**a.to_json()["trials"], "flickering": 0} == {**b.to_json()["trials"], "flickering": 0}


@pytest.mark.usefixtures("small")
def test_columns_of_other_types_in_other_files(tmp_path: Path) -> None:
    frame = texts().reset_index(drop=True)
    folder = written(tmp_path / "log", frame)
    file = folder / "part-1.parquet"
    pq.write_table(
        pq.read_table(file).to_pandas().assign(model=lambda f: f["model"].astype("category")).pipe(pa.table), file
    )
    assert_same(whole(folder), in_parts(folder))
    number = frame.assign(id=range(120), answer="yes", reference="yes")
    pq.write_table(pa.table(number.iloc[::3].assign(answer=[["yes"]] * 40)), folder / "part-2.parquet")
    with pytest.raises(BadInput, match="other types"):
        in_parts(folder)


@pytest.mark.usefixtures("small")
def test_other_shapes_are_read_whole(tmp_path: Path) -> None:
    frame = texts()
    wide = frame[frame["model"] == "oak"].rename(columns={"answer": "answer_oak"}).drop(columns="model")
    wide["answer_fern"] = wide["answer_oak"]
    found = in_parts(written(tmp_path / "wide", wide))
    assert len(found.items) == 120
    assert not found.stored
    assert len(in_parts(written(tmp_path / "numbered", frame.drop(columns=["id", "model"]))).items) == 120
    named = in_parts(written(tmp_path / "named", frame.rename(columns={"answer": "bot_response"})))
    assert named.stored
    assert len(named.items) == 120


def interactions(models: tuple[str | None, ...], n: int = 120) -> list[dict[str, Any]]:
    """Odd answers, in no order of their ids; a version of the prompt in the place of a reference."""
    rng = np.random.default_rng(3)
    return [
        {
            "ts": START + timedelta(seconds=i),
            "id": f"q{(7 * i) % n:03}",
            "model": models[(7 * i) % n * len(models) // n],
            "request": "Why?",
            "response": ANSWERS[rng.integers(len(ANSWERS))],
            "prompt_version": ("a b c", "b c", None)[rng.integers(3)],
        }
        for i in range(n)
    ]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("models", [("oak", "fern"), ("oak", "fern", None), (None,)], ids=["all", "some", "none"])
def test_a_log_store_gives_in_parts_what_it_gives_in_one_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: tuple[str | None, ...]
) -> None:
    rows, columns = interactions(models), {"prompt_version": "reference"}
    with LogStore(tmp_path / "log.sqlite", create=True) as log:
        log.append(rows)
        log.append_feedback([{"ts": START, "interaction": "q003", "source": "annotator", "value": 1}])
    frame = pd.DataFrame(rows).rename(columns={"request": "question", "response": "answer"}).drop(columns="ts")
    frame["model"] = frame["model"].fillna(UNNAMED) if any(models) else frame["model"]
    folder = written(tmp_path / "log", frame.dropna(axis=1, how="all"))

    def found(data: Path) -> Result:
        return text_metrics.evaluate(load(data, study="text_metrics", columns=columns), **OPTIONS)

    whole = found(tmp_path / "log.sqlite")
    monkeypatch.setattr(log_frames, "LARGE_ROWS", 50)
    monkeypatch.setattr(log_parts, "PART_ROWS", 40)
    divided = found(tmp_path / "log.sqlite")
    assert not whole.stored
    assert len(pd.read_parquet(divided.stored["texts"].path)) == 120
    assert_same(whole, divided)
    assert_same(found(folder), divided)
    assert {note for note in whole.notes if " outputs " not in note} <= {*divided.notes}  # others are of the sample


@pytest.mark.usefixtures("small")
def test_a_log_store_in_parts_has_the_marks_of_people_and_of_a_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [("q003", "annotator", None, 1), ("q005", "annotator", None, 0), ("q003", "judge", "elm", 0.5)]
    with LogStore(tmp_path / "log.sqlite", create=True) as log:
        log.append(interactions(("oak",)))
        fields = ("interaction", "source", "judge", "value")
        log.append_feedback([{"ts": START, **dict(zip(fields, row, strict=True))} for row in said])
    monkeypatch.setattr(log_frames, "LARGE_ROWS", 50)
    monkeypatch.setattr(log_parts, "PART_ROWS", 40)
    frame = log_frames.logged(tmp_path / "log.sqlite", 20, part_rows=25).frame
    own = frame.attrs[large.STREAM].parts
    assert len(own) == 3
    rows = pd.concat([b.to_pandas() for one in own for _, b in one.batches(["score", "id", "label"])])
    marked = rows.dropna(how="all", subset=["label", "score"]).sort_values("id").set_index("id")
    assert marked["label"].tolist() == [1, 0]
    assert marked["score"].tolist()[:1] == [0.5]
    assert {"label", "score", "model"} <= {*frame.columns}
    assert "latency" not in frame


@pytest.mark.usefixtures("small")
def test_a_pattern_is_checked_as_it_is_run(tmp_path: Path) -> None:
    folder = written(tmp_path / "log", texts())
    assert "text_metrics" in [offer.study for offer in asked(f"{folder}/part-*.parquet").offers if offer.ready]
    for pattern in (f"{folder}/**a.parquet", f"{folder}/none-*.parquet"):
        with pytest.raises(BadInput, match="not a pattern of files|no such file"):
            load(pattern, study="text_metrics")


@pytest.mark.usefixtures("small")
@pytest.mark.slow
def test_processes_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "log", texts())
    alone = in_parts(folder)
    monkeypatch.setenv(PROCESSES, "2")
    assert_same(alone, in_parts(f"{folder}/part-*.parquet"))


def made_by_a_worker_that_is_killed_once(data: Any, options: Any) -> parts.Made:
    """A fake worker's accident."""
    flag = Path(options["flag"])
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return items.made_of(data, options)


def made_by_a_worker_that_is_killed(data: Any, options: Any) -> parts.Made:
    """A fake worker's fate."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


@pytest.mark.usefixtures("small")
@pytest.mark.slow
def test_a_killed_worker_costs_its_part_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROCESSES, "2")
    data = load(written(tmp_path / "log", texts()), study="text_metrics")
    asked = {"asked": OPTIONS["metrics"], "judge": "", "flag": str(tmp_path / "flag")}
    options = {**in_parts(tmp_path / "log").parameters, **asked}
    found = parts.made(made_by_a_worker_that_is_killed_once, data, options)
    assert (tmp_path / "flag").exists()
    assert found.n == 120
    pd.testing.assert_frame_equal(found.items, parts.made(items.made_of, data, options).items)
    with pytest.raises(BadInput, match=r"a process that made a part ended 3 times without a word"):
        parts.made(made_by_a_worker_that_is_killed, data, options)


@pytest.mark.usefixtures("small")
@pytest.mark.slow
def test_three_hosts_with_a_shared_folder_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask
    import distributed  # noqa: F401  its defaults, which would go with the settings of this test

    if not can_make_hosts():
        pytest.skip("network namespaces cannot be made here")
    folder = written(tmp_path / "log", texts())
    alone = in_parts(folder)
    monkeypatch.chdir(tmp_path)
    secret = certificates(tmp_path / "keys")
    with (
        hosts(3) as prefix,
        cluster(tmp_path / "hosts", *secret.options, address="tls://10.97.0.1:8786", prefix=((), *prefix)) as address,
        dask.config.set(secret.client),
    ):
        monkeypatch.setenv(SCHEDULER, address)
        assert_same(alone, in_parts(folder))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".parts-")]


@pytest.mark.usefixtures("small")
def test_faults_of_all_parts_are_in_one_message(tmp_path: Path) -> None:
    frame = texts()
    ids = sorted(frame["id"].unique(), key=lambda one: keys(0, "rows", [one])[0])[-2:]  # not in the sample
    folder = written(tmp_path / "log", pd.concat([frame, frame[frame["id"].isin(ids) & (frame["model"] == "oak")]]))
    with pytest.raises(BadInput, match="log: faults in parts of it") as caught:
        in_parts(folder)
    said = "\n".join(caught.value.faults)
    assert all(f'found "{one}|oak" (rows part-' in said for one in ids)


@pytest.mark.usefixtures("small")
def test_a_run_keeps_all_texts_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "log", texts())
    run = tmp_path / "run"
    run.mkdir()
    monkeypatch.setenv("EVALBENCH_RUN", str(run))
    (run / "run.json").write_text("{}")
    result = in_parts(folder)
    record(result)
    monkeypatch.delenv("EVALBENCH_RUN")
    assert len(pd.read_parquet(run / "texts.parquet")) == 120
    assert len(result.tables["texts"]) <= 120
    del result
    assert not [path for path in run.iterdir() if path.is_dir()]


@pytest.mark.slow
def test_a_run_of_the_command_line(tmp_path: Path) -> None:
    n = 100_500
    rows = {"id": np.repeat([f"q{i:06}" for i in range(n)], 2), "model": ["oak", "fern"] * n}
    right = np.arange(2 * n) % 4 > 0
    frame = pd.DataFrame(rows).assign(answer=np.where(right, "yes", "no"), reference="yes")
    folder = written(tmp_path / "log", frame)
    words = ["run", "text_metrics", "--data", f"{folder}/*.parquet", "-p", 'metrics=["exact_match"]']
    done = subprocess.run(
        [sys.executable, "-m", "evalbench.cli", *words, "--workers", "2", "--out", str(tmp_path / "out")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "out" / "text_metrics").iterdir()
    figures = json.loads((run / "results.json").read_text())["summary"]
    assert {(row["model"], row["value"], row["n"]) for row in figures} == {("fern", 1.0, n), ("oak", 0.5, n)}
    assert pq.read_metadata(run / "texts.parquet").num_rows == pq.read_metadata(run / "items.parquet").num_rows == 2 * n
    assert not [path.name for path in run.iterdir() if path.is_dir()]
    assert "all 201\u202f000 rows were read, in parts" in (run / "report.html").read_text()


@pytest.mark.usefixtures("small")
def test_labels_of_ids_outside_the_sample_are_known(tmp_path: Path) -> None:
    frame = texts().assign(answer="It rains.", contexts=[["It is dry."]] * 120)
    folder = written(tmp_path / "log", frame)
    labels = tmp_path / "labels.csv"
    rows = [f"{one},oak,ann,context_contradiction,{i % 2}" for i, one in enumerate(sorted(frame["id"].unique()))]
    labels.write_text("\n".join(["id,model,annotator,criterion,mark", *rows]))
    judged = {"metrics": ["context_contradiction"], "judge": lambda item: "CONTRADICTION", "labels": str(labels)}
    a, b = (made.figures for made in (whole(folder, **judged), in_parts(folder, **judged)))
    pd.testing.assert_frame_equal(a, b)
    assert (a["corrects"] == "context_contradiction").any()
    labels.write_text("id,model,annotator,criterion,mark\nelsewhere,oak,ann,context_contradiction,1")
    with pytest.raises(BadInput, match="elsewhere"):
        in_parts(folder, **judged)


@pytest.mark.parametrize("given", ["0", "-1", "two", "1.5"])
def test_a_number_of_processes_that_is_none(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv(PROCESSES, given)
    with pytest.raises(BadInput, match=f"EVALBENCH_PROCESSES: expected a whole number from 1, found '{given}'"):
        workers.processes()


def test_ranges_of_equal_ids_are_one() -> None:
    assert ends_of(["a"] * 5, 4).tolist() == ["a"]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("nameless", [["q003"], ["q000", "q001", "q002", "q003", "q004", "q005", "q006", "q007"]])
@pytest.mark.parametrize("trials", [0, 2])
@pytest.mark.parametrize("empty", [None, ""])
def test_rows_without_a_model_are_what_they_are_in_one_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, nameless: list[str], trials: int, empty: str | None
) -> None:
    monkeypatch.setattr(parts, "ROWS", rows)  # also so few that a part has nothing but rows without a model
    frame = texts(trials=trials)
    frame = frame[(frame["model"] == "oak") | ~frame["id"].isin(nameless)]  # whole parts name no model
    monkeypatch.setattr(parts, "ends_of", lambda _, n: ends_of(frame["id"].tolist(), n))
    folder = written(tmp_path / "log", frame.assign(model=frame["model"].mask(frame["id"].isin(nameless), empty)))
    a, b = whole(folder), in_parts(folder)
    assert_same(a, b)
    said = [note for note in b.notes if "no model" in str(note)]
    of_one = [note for note in a.notes if "no model" in str(note)]
    assert len(said) == len(of_one) == 1
    assert str(said[0]).split(" (rows")[0].split(":")[1][:20] == str(of_one[0]).split(":")[1][:20]
