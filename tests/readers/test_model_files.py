"""A folder with a table per model is one table; files that may be anything else are not."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from evalbench import BadInput, load
from evalbench.readers import model_files

ROWS = pd.DataFrame(
    {
        "id": ["1", "2", "3"],
        "question": ["a?", "b?", "c?"],
        "answer": ["x", "y", "z"],
        "reference": [["x", "u"], ["v"], ["z"]],
    }
)
OTHER = ROWS.assign(answer=["u", "v", "w"])


def folder(path: Path, **files: pd.DataFrame) -> Path:
    path.mkdir()
    for name, frame in files.items():
        frame.to_csv(path / f"{name}.csv", index=False)
    return path


@pytest.mark.parametrize("columns", [[*ROWS], ["question", "answer", "reference"]])
def test_a_table_per_model_is_one_table_with_the_names_of_the_files_as_models(
    tmp_path: Path, columns: list[str]
) -> None:
    data = load(folder(tmp_path / "runs", gpt=ROWS[columns], claude=OTHER[columns]), study="text_metrics")
    items = data["items"].set_index(["model", "question"])
    assert items["answer"].unstack("model")[["claude", "gpt"]].to_numpy().tolist() == [
        ["u", "x"],
        ["v", "y"],
        ["w", "z"],
    ]
    assert items.loc[("gpt", "a?"), "reference"] == ["x", "u"]
    assert any("its 2 files were read as the answers of a model each: claude, gpt" in note for note in data.notes)


def test_lists_of_json_are_tables_of_models_too(tmp_path: Path) -> None:
    for name, frame in {"gpt": ROWS, "claude": OTHER}.items():
        frame.to_json(tmp_path / f"{name}.json", orient="records")
    items = load(tmp_path, study="text_metrics")["items"]
    assert items.groupby("model")["answer"].agg(list).to_dict() == {"claude": ["u", "v", "w"], "gpt": ["x", "y", "z"]}


@pytest.mark.parametrize(
    "files",
    [
        {"gpt": ROWS, "claude": OTHER.assign(id=["4", "5", "6"])},
        {"gpt": ROWS, "claude": OTHER.assign(question=["d?", "e?", "f?"])},
        {"gpt": ROWS, "claude": OTHER.assign(lang="en")},
        {"gpt": ROWS.assign(model="m"), "claude": OTHER.assign(model="m")},
        {"gold": ROWS, "claude": OTHER},
    ],
    ids=["other ids", "other questions", "other columns", "a model", "what is true"],
)
def test_files_that_may_be_anything_else_are_refused(tmp_path: Path, files: dict[str, pd.DataFrame]) -> None:
    with pytest.raises(BadInput, match="holds no file for any of items"):
        load(folder(tmp_path / "runs", **files), study="text_metrics")


def test_what_can_be_asked_of_it_is_said(tmp_path: Path) -> None:
    asked = load(folder(tmp_path / "runs", gpt=ROWS, claude=OTHER))
    assert (asked.rows, asked.groups) == (6, ("claude", "gpt"))
    assert {"text_metrics", "cascade"} <= {offer.study for offer in asked.ready}


def test_files_of_a_row_each_are_not_read_to_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows").mkdir()
    for i in range(20):
        (tmp_path / "rows" / f"{i}.json").write_text(f'{{"question": "{i}?", "answer": "x"}}')
    read = []
    monkeypatch.setattr(model_files, "read_bytes", lambda path: read.append(path) or path.read_bytes())
    assert model_files.model_files(tmp_path / "rows") == []
    assert len(read) <= 2
