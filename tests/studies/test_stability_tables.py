"""The study of stability to augmentations: models that are asked, which tables it reads and which it refuses."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from augmented import answers, judged, tables
from chat import chat_endpoint
from generated import one_in_twenty
from studied import page

from evalbench.errors import BadInput
from evalbench.studies.stability.inputs import CHARACTERS, WORDS, level_of
from evalbench.text.augment import AUGMENTATIONS

NULLS = [None, np.nan, "", "<script>alert(1)</script>", "  ", 0, [], True]


COLUMNS = ("id", "augmentation", "question", "answer", "reference", "level", "model", "lang", "contexts")


@pytest.mark.generated
@pytest.mark.parametrize(("table", "column"), one_in_twenty((t, c) for c in COLUMNS for t in ("items", "variants")))
def test_odd_cells_in_every_column_are_read_or_refused(table, column):
    for value in NULLS:
        frames = {name: frame.assign(model="m", lang="en") for name, frame in answers().items()}
        frame = frames[table]
        cells = frame[column].tolist() if column in frame else [""] * len(frame)
        cells[1] = value
        frames[table] = frame.assign(**{column: pd.Series(cells, dtype=object)})
        try:
            result = judged(frames, n_resamples=50)
        except BadInput as error:
            assert column in str(error) or column == "id"  # noqa: PT017
            continue
        if value == "<script>alert(1)</script>":
            assert not re.search(r"<script|>\s*(nan|None|<NA>)\s*<", page("stability", result))


# -- a model is asked -----------------------------------------------------------------------------


def test_a_model_is_asked_both_and_nothing_is_paid_for_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    items = answers()["items"].drop(columns="answer")

    def answer(query):
        return "yes" if query in set(items["question"]) else "no"

    with chat_endpoint(answer) as server:
        options = {"model": server.name, "augmentations": ["butter_finger", "transliterate"], "metric": "exact_match"}
        result = judged({"items": items}, **options)
        asked = len(server.answered)
        again = judged({"items": items}, **options)
        assert len(server.answered) == asked
    assert result.estimate("before", model=server.name, augmentation="transliterate").value == 1.0
    assert result.estimate("drop", model=server.name, augmentation="transliterate").value == 100.0
    pd.testing.assert_frame_equal(result.items, again.items)
    assert set(result.tables["calls"]["purpose"]) == {"answer to the query", "answer to the variant"}
    assert "leaves" in "\n".join(result.notes) or asked == 12
    assert result.tables["texts"]["variant"].tolist() != result.tables["texts"]["question"].tolist()


def test_given_variants_are_asked_and_a_paraphrase_needs_its_writer(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    frames = {name: frame.drop(columns="answer") for name, frame in answers().items()}
    with chat_endpoint(lambda query: None if "ild" in query else "yes") as server:
        result = judged(frames, model=server.name, metric="exact_match")
        assert sorted(server.answered) == sorted([*frames["items"]["question"], *frames["variants"]["question"]])
        assert result.items["unscored"].tolist() == ["", "no-text", "", ""]
        with pytest.raises(BadInput, match="rephraser=MODEL"):
            judged({"items": frames["items"]}, model=server.name, augmentations=["paraphrase"])
        with pytest.raises(BadInput, match="no column question"):
            judged({"items": frames["items"].drop(columns="question")}, model=server.name)
    with chat_endpoint(lambda prompt: "yes" if len(prompt) < 20 else None) as server:
        written = judged({"items": frames["items"]}, model=server.name, augmentations=["paraphrase"], rephraser=server.name,
                         metric="exact_match")  # fmt: skip
        assert set(written.items["unscored"]) == {"no-text"}, "no paraphrase, so that none was asked"
        assert "no drop has a value" in written.sentence


# -- which tables ---------------------------------------------------------------------------------


def test_names_are_those_of_the_augmentations():
    for name, one in AUGMENTATIONS.items():
        assert level_of(name) == one.level
        assert name in CHARACTERS + WORDS
    assert level_of("translate_ru_uk_ru") == "words"


def test_an_unknown_augmentation_is_shown_under_its_name_and_lit():
    frames = tables([1] * 100, [0] * 40 + [1] * 60, "KeyboardAug")
    result = judged(frames)
    assert result.light == "red"
    assert "Other augmentations: red, under KeyboardAug" in result.sentence
    assert "no known test: KeyboardAug" in "\n".join(result.notes)
    stated = judged(frames, levels={"KeyboardAug": "characters"})
    assert "Characters: red, under KeyboardAug" in stated.sentence
    frames["variants"]["level"] = "words"
    assert "Words: red, under KeyboardAug" in judged(frames).sentence
    frames["variants"].loc[0, "level"] = "characters"
    with pytest.raises(BadInput, match="KeyboardAug: characters, words"):
        judged(frames)
    with pytest.raises(BadInput, match="letters"):
        judged(frames, levels={"KeyboardAug": "letters"})


def test_one_table_may_hold_both():
    frames = answers()
    both = pd.concat(
        [frames["items"].assign(augmentation=["original", "", None, "none"]), frames["variants"]], ignore_index=True
    )
    result = judged({"items": both}, metric="exact_match")
    assert result.estimate("drop", augmentation="butter_finger").value == 25.0
    assert "by the column augmentation" in "\n".join(result.notes)
    foreign = both.rename(columns={"augmentation": "attack", "answer": "response"})
    assert judged({"items": foreign.rename(columns={"response": "answer"})}).estimate("characters").value > 0
    assert any("column response was read as answer" in note for note in judged({"items": foreign}).notes)


def test_doubled_rows_are_refused():
    frames = answers()
    with pytest.raises(BadInput, match="id"):
        judged({**frames, "variants": pd.concat([frames["variants"]] * 2)})
    with pytest.raises(BadInput, match="id"):
        judged({**frames, "items": pd.concat([frames["items"]] * 2)})
    with pytest.raises(BadInput, match="a column trial does not: an answer is paired"):
        judged({**frames, "variants": pd.concat([frames["variants"].assign(trial=t) for t in "12"])})


def test_whose_outputs_they_are_must_be_clear():
    frames = answers()
    named = {**frames, "variants": frames["variants"].assign(model="fern")}
    assert judged(named).judged == "model fern"
    two = {**frames, "variants": pd.concat([frames["variants"].assign(model=m) for m in ("fern", "oak")])}
    with pytest.raises(BadInput, match="2 models and table items no column model"):
        judged(two)


def test_tables_without_what_is_needed_are_refused_with_a_way_out():
    frames = answers()
    with pytest.raises(BadInput, match="no table variants"):
        judged({"items": frames["items"]})
    with pytest.raises(BadInput, match="neither a column reference nor a score"):
        judged({**frames, "items": frames["items"].drop(columns="reference")})
    with pytest.raises(BadInput, match="table variants has no column answer"):
        judged({**frames, "variants": frames["variants"].drop(columns="answer")})
    with pytest.raises(BadInput, match="table variants has no column marks"):
        judged({**frames, "items": frames["items"].assign(marks=1)}, metric="marks")
    with pytest.raises(BadInput, match="no best|not known"):
        judged(frames, metric="length")


def test_a_translation_may_bring_its_own_reference():
    frames = answers()
    frames["variants"] = frames["variants"].assign(augmentation="translate_en_de", answer=["ja", "ja", "nein", "ja"])
    result = judged(frames, metric="exact_match")
    assert result.estimate("after", augmentation="translate_en_de").value == 0
    assert "references in the language of the query" in "\n".join(result.notes)
    own = judged({**frames, "variants": frames["variants"].assign(reference="ja")}, metric="exact_match")
    assert own.estimate("after", augmentation="translate_en_de").value == 0.75
    assert own.estimate("before", augmentation="translate_en_de").value == 0.75
