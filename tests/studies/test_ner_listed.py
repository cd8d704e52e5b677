"""Lists of entities that are empty or null, and texts without a text."""

from __future__ import annotations

import pandas as pd
import pytest

from evalbench import load, ner_quality
from evalbench.errors import BadInput

LISTED = [[{"start": 0, "end": 2, "label": "P"}], [{"start": 0, "end": 2, "label": "P"}]]


def listed_gold():
    return pd.DataFrame({"id": ["a", "b"], "text": ["Bo ran", "Al ran"], "entities": LISTED})


def listed_of_two():
    return pd.DataFrame({"id": ["a", "b"] * 2, "model": ["x", "x", "y", "y"], "entities": [[], [], *LISTED]})


def tagged_of_two():
    tags = {"token": ["Bo", "ran"] * 2, "gold_tag": ["B-P", "O"] * 2, "predicted_tag": ["O", "O", "B-P", "O"]}
    return pd.DataFrame({"id": ["a"] * 4, "model": ["x", "x", "y", "y"], **tags})


def in_one():
    return listed_gold().merge(listed_of_two().rename(columns={"entities": "predicted"}), on="id")


@pytest.mark.parametrize("form", ["two files", "one file", "tokens"])
def test_a_model_that_finds_nothing_anywhere_has_a_recall_of_0(form):
    frames = {
        "two files": lambda: {"gold": listed_gold(), "predictions": listed_of_two()},
        "one file": lambda: {"gold": in_one()},
        "tokens": lambda: {"gold": tagged_of_two()},
    }[form]()
    result = ner_quality.evaluate(load(frames, study="ner_quality"), n_resamples=50)
    found = {e.group["model"]: e.value for e in result.summary.estimates if e.metric == "strict_recall"}
    assert found == {"x": 0.0, "y": 1.0}


@pytest.mark.parametrize("cells", [[None, []], [None, None]])
def test_null_in_place_of_a_list_of_entities_is_refused(cells):
    predictions = pd.DataFrame({"id": ["a", "b"], "entities": cells})
    with pytest.raises(BadInput, match=r"row 1: entities is null; write \[\] where there are no entities"):
        load({"gold": listed_gold(), "predictions": predictions}, study="ner_quality")


@pytest.mark.parametrize("study", ["ner_quality", "ner_conflicts", "ner_variants"])
def test_a_text_whose_cell_is_empty_is_one_fault(study):
    spans = pd.DataFrame({"id": ["a", "b"], "start": 0, "end": 2, "entity_class": "P"})
    strings = spans.drop(columns=["start", "end"]).assign(entity="Bo")
    texts = pd.DataFrame({"id": ["a", "b"], "text": ["Bo ran", ""]})
    own = {"predictions": strings} if study == "ner_conflicts" else {"gold": spans, "predictions": spans}
    own = {"gold": spans} if study == "ner_variants" else own
    with pytest.raises(BadInput) as caught:
        load({**own, "texts": texts}, study=study)
    assert caught.value.faults == ("frame texts: column text: empty; expected a text (row 2)",)
