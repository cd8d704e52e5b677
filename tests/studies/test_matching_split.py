"""Violation matching: what the page says of the texts and of the checkers."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from evalbench import load, matching
from evalbench.runs.parcel import pack
from evalbench.runs.run import plan

DATA = Path(__file__).parents[2] / "data" / "house_style_curated" / "1.1.0"


@pytest.fixture
def folder(tmp_path):
    """The sample's tables as a folder of one's own, without card and descriptions."""
    for name in ("documents", "truth", "predictions"):
        shutil.copy(DATA / f"{name}.csv", tmp_path)
    return tmp_path


def judged(data):
    return matching.evaluate(load(data, study="matching"), embed="jaccard", n_resamples=50)


def test_texts_and_violations_are_counted_and_the_card_is_quoted():
    said = dict(matching.split(judged("house_style_curated@1.1.0")).to_numpy())
    assert said["number of texts"] == "48, 6 of them without a true violation"
    assert said["true violations"] == "98 in 6 categories"
    assert said["languages"].startswith("en: 34 texts with 68 true violations; ru: 8 texts with 17")
    assert said["Labelled"].startswith("the violations were written together with the texts")
    assert said["Licence"] == "CC0-1.0."


def test_a_folder_s_card_is_its_readme(folder):
    without = matching.split(judged(folder))
    (folder / "README.md").write_text("# Mine\n\n- Texts: letters,\n  by hand.\n- Labelled: by two editors.\n\nMore.\n")
    said = matching.split(judged(folder))
    assert said.iloc[len(without) :].to_numpy().tolist() == [
        ["Texts", "letters, by hand."], ["Labelled", "by two editors."]
    ]  # fmt: skip
    assert said.head(len(without)).equals(without)


def test_checkers_are_described_where_there_are_descriptions(folder):
    plain = judged(folder)
    assert matching.checkers(plain).columns.tolist() == ["name", "version", "model", "predictions"]
    rows = {"model": ["fern-prompt@1.1.0|oak-7b", "gone@1|x"], "description": ["One prompt.", "Withdrawn."]}
    pd.DataFrame(rows).to_csv(folder / "checkers.csv", index=False)
    result = judged(folder)
    table = matching.checkers(result).set_index("name")
    assert table.loc["fern-prompt"].tolist() == ["1.1.0", "oak-7b", 88, "One prompt."]
    assert table.loc["moss-panel", "description"] == ""
    assert "gone" not in table.index
    assert "checkers: no predictions of gone@1|x, so it is not judged" in result.notes
    # A description changes no figure and makes no other data of it.
    assert result.data.sha256 == plain.data.sha256
    assert result.summary == plain.summary


def test_a_worker_elsewhere_gets_the_card_too():
    parcel, _ = pack(plan("matching"))
    assert "data/house_style_curated/1.1.0/README.md" in parcel.files
