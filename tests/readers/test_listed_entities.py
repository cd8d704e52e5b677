"""Texts that list entities in the forms of others: which column is which, how places are counted, what is wrong in cells."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from evalbench import load, ner_quality
from evalbench.errors import BadInput

TEXTS = ["Ivo Lund left Oslo early.", "In Riga, Anna Berg rested."]
SPANS = [[(0, 8, "person"), (14, 18, "place")], [(3, 7, "place"), (9, 18, "person")]]


def triples(first=0, inside=0, spans=SPANS):
    return [[[a + first, b + first - inside, k] for a, b, k in row] for row in spans]


def objects(start, end, kind, spans=SPANS, **more):
    return [[{start: a, end: b, kind: k, **more} for a, b, k in row] for row in spans]


def labelled(spans=SPANS):
    """As Label Studio exports them."""
    return [
        [
            {
                "id": 1,
                "result": [
                    {"type": "labels", "value": {"start": a, "end": b, "text": text[a:b], "labels": [k]}}
                    for a, b, k in row
                ],
            }
        ]
        for text, row in zip(TEXTS, spans, strict=True)
    ]


FORMS = {
    "doccano": {"label": triples(), "prediction": triples()},
    "doccano's objects": {
        "entities": objects("start_offset", "end_offset", "label", id=3, relations=[]),
        "model_entities": objects("start_offset", "end_offset", "label"),
    },
    "prodigy": {
        "tokens": [[{"text": "Ivo", "start": 0, "end": 3, "id": 0, "ws": True}]] * 2,
        "spans": objects("start", "end", "label", token_start=0, token_end=1),
        "predicted_spans": objects("start", "end", "label"),
    },
    "Label Studio": {"annotations": labelled(), "predictions": labelled()},
    "class first": {"эталон": [[[k, a, b] for a, b, k in row] for row in SPANS], "модель": triples()},
    "from 1, inside": {"human": triples(1, 1), "auto": triples(1, 1)},
    "either side in its own way": {"gold_spans": objects("begin", "end", "tag"), "found": triples(1, 1)},
    "in an object": {
        "gold": [{"entities": row} for row in triples()],
        "predicted": [{"entities": row} for row in triples()],
    },
    "written as JSON": {"true": list(map(json.dumps, triples())), "pred": list(map(json.dumps, triples()))},
    "as Python writes it": {"true": list(map(str, SPANS)), "pred": list(map(str, SPANS))},
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_others_are_read_as_the_same_spans(form):
    texts = {"data": [{"text": text} for text in TEXTS]} if form == "Label Studio" else {"sentence": TEXTS}
    data = load(pd.DataFrame({**texts, **FORMS[form]}), study="ner_quality")
    for side in ("gold", "predictions"):
        rows = data[side].merge(data["texts"], on="id")
        found = [r.text[r.start : r.end] for r in rows.itertuples()]
        assert found == ["Ivo Lund", "Oslo", "Riga", "Anna Berg"], side
    assert any("true entities were read of" in note for note in data.notes)
    result = ner_quality.evaluate(data, n_resamples=20)
    assert {e.value for e in result.summary.estimates if e.metric == "strict_f1"} == {1.0}


def test_a_note_says_how_places_are_counted_where_not_as_ours():
    frame = pd.DataFrame({"text": TEXTS, "human": triples(1, 1), "auto": triples()})
    data = load(frame, study="ner_quality")
    assert "places of human are counted from 1, with the end inside, as the texts show" in " ".join(data.notes)
    assert not any("places of auto" in note for note in data.notes)


def test_a_models_spans_that_cut_words_are_counted_as_the_true_ones():
    cut = [[(0, 6, "person"), (14, 18, "place")], SPANS[1]]
    data = load(
        pd.DataFrame({"text": TEXTS, "label": triples(), "prediction": triples(spans=cut)}), study="ner_quality"
    )
    assert data["predictions"]["end"].tolist() == [6, 18, 7, 18]


def test_places_that_no_text_shows_are_asked_once_and_every_answer_is_taken():
    spans = [[{"begin": 2, "end": 5, "type": "x"}]]
    frame = pd.DataFrame({"text": ["GATTACAGATTACA"], "annotated": spans, "predicted": spans})
    with pytest.raises(BadInput, match="do begin and end count from 0 or from 1, and is the end inside") as asked:
        load(frame, study="ner_quality")
    for line, place in zip(asked.value.faults, ([2, 5], [2, 6], [1, 4], [1, 5]), strict=True):
        options = dict(part.split("=") for part in line.split() if "=" in part)
        data = load(frame, study="ner_quality", columns=options)
        assert data["gold"][["start", "end"]].to_numpy().tolist() == [place], line


def test_columns_that_do_not_say_whose_they_are_are_asked_for():
    frame = pd.DataFrame({"text": TEXTS, "first": triples(), "second": triples()})
    with pytest.raises(BadInput, match="which of first, second has the true entities") as asked:
        load(frame, study="ner_quality")
    assert "--map first=gold or --map second=gold" in str(asked.value)
    data = load(frame, study="ner_quality", columns={"first": "gold", "second": "predictions"})
    assert len(data["gold"]) == 4


def test_models_side_by_side_are_compared():
    frame = pd.DataFrame({"text": TEXTS, "gold": triples(), "gpt_pred": triples(), "llama_pred": [triples()[0], []]})
    result = ner_quality.evaluate(load(frame, study="ner_quality"), n_resamples=20)
    recalls = {e.group["model"]: e.value for e in result.summary.estimates if e.metric == "strict_recall"}
    assert recalls == {"gpt_pred": 1.0, "llama_pred": 0.5}


STRINGS = {
    "objects": [[{"text": "Ivo Lund", "type": "person"}], [{"mention": "Riga", "label": "place"}]],
    "pairs": [[["Ivo Lund", "person"]], [["Riga", "place"]]],
    "by class": [{"person": ["Ivo Lund"], "place": []}, {"person": [], "place": ["Riga"]}],
    "a reply": [
        '{"entities": [{"entity": "Ivo Lund", "entity_class": "person"}]}',
        '[{"name": 1, "text": "Riga", "type": "place"}]',
    ],
}


@pytest.mark.parametrize("form", STRINGS)
def test_strings_with_classes_are_read_with_their_texts(form):
    data = load(pd.DataFrame({"sentence": TEXTS, "entities": STRINGS[form]}), study="ner_conflicts")
    rows = data["predictions"]
    assert rows[["id", "entity_class", "entity"]].to_numpy().tolist() == [
        ["s00001", "person", "Ivo Lund"],
        ["s00002", "place", "Riga"],
    ]
    assert data["texts"]["text"].tolist() == TEXTS


@pytest.mark.parametrize("study", ["ner_quality", "ner_conflicts"])
@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (None, r"row 3: entities is null; write \[\] where there are no entities"),
        (7, "row 3: entities is not a list"),
        ([{"start": 1}], "row 3: .*is not an entity with start, end and class"),
        ([None, [1]], "row 3: None in entities is not an entity"),
    ],
)
def test_cells_that_list_no_entities_are_one_message_with_rows(study, cell, said):
    cells = [*(objects("start", "end", "label") if study == "ner_quality" else STRINGS["objects"]), cell]
    frame = pd.DataFrame({"text": [*TEXTS, "It rained."], "entities": pd.Series(cells, dtype=object)})
    if study == "ner_quality":
        frame["predicted"] = [*cells[:2], []]
    with pytest.raises(BadInput, match=said):
        load(frame, study=study)


def test_an_id_with_two_texts_is_refused():
    frame = pd.DataFrame({"id": ["a", "a"], "text": TEXTS, "label": triples(), "prediction": triples()})
    with pytest.raises(BadInput, match=r"these ids come with several texts:\n  - a \(row 2\)"):
        load(frame, study="ner_quality")


@pytest.mark.parametrize(("first", "inside"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_places_in_columns_of_other_names_are_counted_as_the_texts_show(first, inside):
    rows = [(i, a + first, b + first - inside, k) for i, row in enumerate(SPANS) for a, b, k in row]
    spans = pd.DataFrame(rows, columns=["doc", "begin", "stop", "tag"]).rename(
        columns={"doc": "id", "tag": "entity_class"}
    )
    texts = pd.DataFrame({"id": [0, 1], "text": TEXTS})
    data = load({"gold": spans, "predictions": spans, "texts": texts}, study="ner_quality")
    assert data["gold"]["start"].tolist() == [0, 14, 3, 9]
    assert data["predictions"]["end"].tolist() == [8, 18, 7, 18]
    with pytest.raises(BadInput, match="gold: do begin and stop count from 0 or from 1") as asked:
        load({"gold": spans, "predictions": spans}, study="ner_quality")
    options = dict(part.split("=") for part in asked.value.faults[2 * first + inside].split() if "=" in part)
    data = load({"gold": spans, "predictions": spans}, study="ner_quality", columns=options)
    assert data["gold"]["end"].tolist() == [8, 18, 7, 18]
