"""Tables of which drift reads a sample: the texts of all rows are counted, and the page says what is of which."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalbench.core.result import Result
from evalbench.readers import large
from evalbench.readers.dataset import load
from evalbench.studies import drift
from evalbench.studies.drift.pictures import statistics_shown

SAMPLED = {name: replace(table, sampled=120) for name, table in drift.SCHEMA.items()}
QUICK: dict[str, Any] = {
    "tests": ["statistics"], "embed": "", "n_resamples": 20, "n_permutations": 19, "period": "month", "languages": ["en", "ru"]
}  # fmt: skip
SMALL = 200_000


@pytest.fixture
def tables(root: Path) -> dict[str, pd.DataFrame]:
    folder = root / "data" / "desk_log" / "1.1.0"
    found = {side: pd.read_csv(folder / f"{side}.csv", dtype=str, keep_default_na=False) for side in ("oos", "oot")}
    return {side: frame[frame["answer"] != ""][-260:].reset_index(drop=True) for side, frame in found.items()}


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LARGE_ROWS", 100)


def written(folder: Path, tables: dict[str, pd.DataFrame]) -> Path:
    for name, frame in tables.items():
        (folder / name).mkdir(parents=True)
        middle = len(frame) // 2
        frame[middle:].to_parquet(folder / name / "a.parquet", index=False)
        frame[:middle].to_parquet(folder / name / "b.parquet", index=False)
    return folder


def ran(data: object, **options: Any) -> Result:
    return drift.evaluate(load(data, SAMPLED, adapt=drift.adapt), **{**QUICK, **options})


def as_over_all(found: Result, whole: Result) -> None:
    """The column of all rows is the index that the whole tables have in memory."""
    own, expected = (r.tables["statistics"].set_index(["statistic", "of"]) for r in (found, whole))
    for key, value in own["all_rows"].items():
        if key[0] == "predictions":
            continue
        exact = expected.loc[key, "value" if key[0] == "new_tokens" else "psi"]
        assert value == pytest.approx(exact, abs=1e-9), key


@pytest.mark.slow
def test_two_folders_of_parquet_files(tmp_path: Path, tables: dict[str, pd.DataFrame], lowered: None) -> None:
    found = ran(written(tmp_path / "log", tables))
    whole = drift.evaluate(load(tables, drift.SCHEMA, adapt=drift.adapt), **QUICK)
    assert found.items.groupby("side").size().tolist() == [120, 120]
    assert len(whole.items) > 240
    as_over_all(found, whole)
    assert "all_rows" not in whole.tables["statistics"]
    shown = statistics_shown(found)
    assert "all rows" in shown
    notes = " ".join(found.notes)
    assert "oos: 120 of" in notes
    assert f"of all {len(tables['oos'])} rows of OOS and {len(tables['oot'])} of OOT" in notes
    assert "lights, intervals and p of test 2 are of the 240 rows that were read" in notes
    assert "The key metric is of all rows, the texts are of a sample of 240 of 520 rows." in found.sentence


def test_one_file_that_times_divide(tmp_path: Path, tables: dict[str, pd.DataFrame], lowered: None) -> None:
    frame = pd.concat(tables.values(), ignore_index=True)
    frame["id"] = [str(i) for i in range(len(frame))]
    frame.to_parquet(tmp_path / "log.parquet", index=False)
    windows = {"oos_to": tables["oot"]["time"].min(), "oot_from": tables["oot"]["time"].min()}
    found = ran(tmp_path / "log.parquet", **windows)
    whole = drift.evaluate(load(frame, drift.SCHEMA, adapt=drift.adapt), **QUICK, **windows)
    assert len(found.items) == 120
    as_over_all(found, whole)


def test_a_log_store(log_place: str, tables: dict[str, pd.DataFrame], lowered: None, monkeypatch: Any) -> None:
    from evalbench.monitor.store import LogStore
    from evalbench.readers.log_store import frames
    from evalbench.readers.log_store.tables import IN_FRAMES

    monkeypatch.setattr(frames, "LARGE_ROWS", 100)
    frame = pd.concat(tables.values(), ignore_index=True)[["time", "question", "answer"]]
    frame["id"] = [str(i) for i in range(len(frame))]
    with LogStore(log_place, create=True) as log:
        log.append(frame.rename(columns={name: own for own, name in IN_FRAMES.items()}).to_dict("records"))
    windows = {"oos_to": tables["oot"]["time"].min(), "oot_from": tables["oot"]["time"].min()}
    found = ran(log_place, **windows)
    assert len(found.items) == 120
    as_over_all(found, drift.evaluate(load(frame, drift.SCHEMA, adapt=drift.adapt), **QUICK, **windows))


def test_a_small_table_beside_a_large_one(tmp_path: Path, tables: dict[str, pd.DataFrame], lowered: None) -> None:
    some = {"oos": tables["oos"][:90], "oot": tables["oot"]}
    found = ran(written(tmp_path / "log", some))
    as_over_all(found, drift.evaluate(load(some, drift.SCHEMA, adapt=drift.adapt), **QUICK))
    assert found.items.groupby("side").size().tolist() == [90, 120]


def test_a_column_of_parts_is_of_the_sample_alone(
    tmp_path: Path, tables: dict[str, pd.DataFrame], lowered: None
) -> None:
    frame = pd.concat([table.assign(part=name) for name, table in tables.items()], ignore_index=True)
    frame["id"] = [str(i) for i in range(len(frame))]
    frame.to_parquet(tmp_path / "log.parquet", index=False)
    found = ran(tmp_path / "log.parquet")
    assert "all_rows" not in found.tables["statistics"]
    assert any(note.startswith("Of the sample alone") for note in found.notes)
    assert "All tests are of a sample of 120 of 520 rows." in found.sentence


KEYED: dict[str, Any] = {"tests": ["key_metric"], "languages": []}


def worse_beyond_the_sample(folder: Path, tables: dict[str, pd.DataFrame], right: Any, wrong: Any) -> dict[str, Any]:
    """Labels that are right in every row that is read, and wrong in every third of the others of OOT."""
    whole = {name: frame.assign(label=right) for name, frame in tables.items()}
    read = {*ran(written(folder / "first", whole), **KEYED).items.query("side == 'oot'")["id"]}
    oot = whole["oot"]
    hit = ~oot["id"].isin(read) & (oot.index % 3 == 0)
    return {**whole, "oot": oot.assign(label=oot["label"].mask(hit, wrong))}


@pytest.mark.parametrize(("right", "wrong"), [("1", "0"), (1.0, -1.0), ("yes", "no")])
def test_the_key_metric_of_all_rows_decides(
    tmp_path: Path, tables: dict[str, pd.DataFrame], lowered: None, right: Any, wrong: Any
) -> None:
    labelled = worse_beyond_the_sample(tmp_path, tables, right, wrong)
    share = (labelled["oot"]["label"] == wrong).mean()
    if right == "yes":
        labelled = {name: frame.rename(columns={"label": "correct"}) for name, frame in labelled.items()}
    found = ran(written(tmp_path / "log", labelled), **KEYED)
    drop, now = found.estimate("drop"), found.estimate("quality", side="oot")
    assert drop.value == pytest.approx(100 * share)
    assert drop.ci_low < drop.value < drop.ci_high
    assert (drop.light, drop.n, now.n) == ("yellow", 520, 260)
    assert found.light == "yellow"
    assert "260 rows of OOS, 260 rows of OOT" in found.sentence
    lights = found.tables["lights"].set_index("name")
    assert lights.loc["", "drop"] == pytest.approx(100 * share)
    assert lights["n_oot"][1:].sum() == 260
    again = drift.summarise(
        found.items, **{k: found.parameters[k] for k in ("all_rows", "tests", "metric", "n_resamples")}
    )
    assert again.estimates[0].value == drop.value


def test_a_larger_n_samples_than_the_rows_that_are_read_says_why_not(
    tmp_path: Path, tables: dict[str, pd.DataFrame], lowered: None
) -> None:
    found = ran(written(tmp_path / "log", tables), n_samples=200)
    assert "although n_samples is 200: no more texts are read of so large a table." in found.sentence
    assert "although" not in ran(tmp_path / "log", n_samples=50).sentence


def test_responses_that_all_rows_lack_make_the_key_metric_grey(
    tmp_path: Path, tables: dict[str, pd.DataFrame], lowered: None
) -> None:
    lost = worse_beyond_the_sample(tmp_path, tables, "1", "0")
    gone = lost["oot"]["answer"].mask(lost["oot"]["label"] == "0", None)
    found = ran(written(tmp_path / "log", {**lost, "oot": lost["oot"].assign(answer=gone)}), **KEYED)
    assert found.light == "grey"
    assert "of OOT are unscored" in found.sentence


def test_the_study_reads_all_rows_of_smaller_tables() -> None:
    assert large.LARGE_ROWS == SMALL
    assert {table.sampled for table in drift.SCHEMA.values()} == {10_000}
