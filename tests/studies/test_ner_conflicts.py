"""Worked checks of predictions without places, options, scripts, and what is refused."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from studied import evaluated, page, sample

from evalbench import load, ner_conflicts
from evalbench.errors import BadInput
from evalbench.kit.collecting import UNNAMED
from tests.helpers.lights import of_figures

HILTON = "Paris Hilton visits Paris"


def result_of(text: str, predicted: list[tuple[str, str]], **options):
    texts = pd.DataFrame({"id": ["a", "b"], "text": [text, "Nothing at all."]})
    rows = pd.DataFrame([("a", *p) for p in predicted], columns=["id", "entity_class", "entity"])
    tables = {"predictions": rows, "texts": texts}
    return ner_conflicts.evaluate(load(tables, study="ner_conflicts"), n_resamples=20, **options)


def kinds(result) -> list[tuple[str, str, bool]]:
    rows = result.tables["conflicts"]
    return list(zip(rows["kind"], rows["entity_class"], rows["nested"], strict=True))


def test_two_classes_that_predict_a_string_once_are_two_conflicts_by_class():
    found = result_of(HILTON, [("LOC", "Paris"), ("PER", "Paris")])
    assert kinds(found) == [("class and string", "LOC", False), ("class and string", "PER", False)]


def test_one_too_few_and_all_together_too_many():
    found = result_of(HILTON, [("LOC", "Paris"), ("LOC", "Paris"), ("PER", "Paris")])
    assert kinds(found) == [("class and string", "PER", False), ("text and string", "", False)]
    assert found.tables["conflicts"]["predicted"].tolist() == [1, 3]


def test_nested_conflicts_are_counted_apart():
    nested = [("LOC", "Paris"), ("PER", "Paris Hilton")]
    found = result_of(HILTON, nested)
    assert kinds(found) == [("class and string", "LOC", True)]
    assert found.estimate("conflict_share", model=UNNAMED).value == 0
    assert found.estimate("nested_share", model=UNNAMED).value == 1
    assert any("nesting explains" in note for note in found.notes)
    counted = result_of(HILTON, nested, count_nested=True)
    assert counted.estimate("conflict_share", model=UNNAMED).value == 1
    assert counted.estimate("mean_gap", model=UNNAMED).value == 1


def test_the_four_aggregates():
    text = "Oak met Oak and Oak; Elm came."
    found = result_of(text, [("A", "Oak"), ("A", "Elm"), ("B", "Elm"), ("B", "Ash")])
    value = {e.metric: e.value for e in found.summary.estimates}
    assert value["conflict_share"] == 1  # the other text has no predictions
    assert value["mean_gap"] == 2  # 3 occurrences of Oak, 1 predicted
    assert value["over_share"] == pytest.approx(2 / 3)  # Elm and Ash of Oak, Elm, Ash
    assert value["mean_occurrences"] == pytest.approx((3 + 1 + 0) / 3)
    assert value["conflict_share_all"] == 0.5
    assert value["absent_share"] == pytest.approx(1 / 3)


def test_a_text_whose_strings_occur_once_is_not_applicable_and_counted():
    found = result_of("Oak met Elm.", [("A", "Oak"), ("B", "Oak"), ("A", "Elm")])
    share = found.estimate("conflict_share", model=UNNAMED)
    assert (share.value, share.n_undefined) == (None, 2)
    assert found.estimate("conflict_share_all", model=UNNAMED).value == 0.5
    assert "every predicted string occurs once" in " ".join(found.notes)
    assert "in 1 of them such a string was predicted more than once" in " ".join(found.notes)


@pytest.mark.parametrize(
    ("options", "occurrences"),
    [
        ({}, 1),
        ({"whole_words": False}, 2),
        ({"case_sensitive": False}, 2),
        ({"whole_words": False, "case_sensitive": False}, 3),
    ],
)
def test_what_counts_as_an_occurrence(options, occurrences):
    found = result_of("Мира, МИРА, Мирабель", [("A", "Мира"), ("B", "Мира"), ("C", "Мира"), ("D", "Мира")], **options)
    rows = found.tables["conflicts"]
    assert rows.loc[rows["kind"] == "text and string", "occurrences"].tolist() == [occurrences]


def test_decomposed_letters_and_joined_emoji():
    found = result_of("Cafe\u0301 Café 👩‍🚀 👩", [("A", "Café"), ("B", "👩"), ("B", "👩")])
    rows = found.tables["conflicts"].set_index("entity")
    assert rows.loc["Café", ["predicted", "occurrences"]].tolist() == [1, 2]
    assert rows.loc["👩", ["predicted", "occurrences"]].tolist() == [2, 1]


def test_the_light_is_set_by_thresholds():
    rows = [("A", "Paris"), ("B", "Paris")]
    assert result_of(HILTON, rows).light == "unlit"
    assert of_figures(result_of(HILTON, rows, green_to=0.1, yellow_to=0.3)) == "red"
    own = result_of(HILTON, rows, lights={"absent_share": {"green_to": 0.0, "yellow_to": 0.2}})
    assert of_figures(own) == "green"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"green_to": 0.3, "yellow_to": 0.1}, "green_to must be below yellow_to"),
        ({"green_to": 0.3}, "set together or not at all"),
        ({"lights": {"mean_occurrences": {"green_to": 1, "yellow_to": 2}}}, "no better and worse"),
        ({"lights": {"f1": {}}}, "lights must be one of"),
    ],
)
def test_options_are_refused(options, said):
    with pytest.raises(BadInput, match=said):
        result_of(HILTON, [("A", "Paris")], **options)


def test_predictions_with_places_are_for_the_other_study():
    tables = {table: frame.copy() for table, frame in sample("ner_conflicts").items()}
    tables["predictions"] = tables["predictions"].assign(start=0, end=3)
    with pytest.raises(BadInput, match="the study ner_quality"):
        load(tables, study="ner_conflicts") and evaluated("ner_conflicts", tables)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("id", "nowhere", "no text has the id nowhere"),
        ("entity", "  ", "column entity: 1 blank cell"),
        ("entity_class", " ", "column entity_class: 1 blank cell"),
        ("entity", "", "column entity: empty"),
        ("entity", None, "column entity: empty"),
        ("entity_class", None, "column entity_class: empty"),
        ("id", None, "column id: empty"),
        ("model", None, "column model: empty"),
        ("entity", ["a"], "column entity: expected a text"),
    ],
)
def test_bad_cells_are_refused_with_their_place(column, value, said):
    tables = dict(sample("ner_conflicts"))
    rows = tables["predictions"].astype(object).reset_index(drop=True)
    rows.at[3, column] = value
    with pytest.raises(BadInput, match=said):
        evaluated("ner_conflicts", tables | {"predictions": rows})


def test_texts_in_a_column_of_the_predictions(tmp_path):
    rows = [{"id": "a", "text": HILTON, "entity_class": c, "entity": "Paris"} for c in ("LOC", "PER")]
    pd.DataFrame(rows).to_csv(tmp_path / "p.csv", index=False)
    found = ner_conflicts.evaluate(load(tmp_path / "p.csv", study="ner_conflicts"), n_resamples=20)
    assert len(found.tables["conflicts"]) == 2
    rows[1]["text"] = "another"
    pd.DataFrame(rows).to_csv(tmp_path / "p.csv", index=False)
    with pytest.raises(BadInput, match="come with several texts"):
        load(tmp_path / "p.csv", study="ner_conflicts")


def test_documents_that_list_their_predictions(tmp_path):
    (tmp_path / "d.jsonl").write_text(
        '{"id": "a", "text": "Paris Hilton visits Paris", "predictions": [{"entity_class": "LOC", "entity": "Paris"}]}\n'
        '{"id": "b", "text": "So it is", "predictions": []}\n'
    )
    found = ner_conflicts.evaluate(load(tmp_path / "d.jsonl", study="ner_conflicts"), n_resamples=20)
    assert len(found.items) == 2
    assert found.estimate("conflict_share", model=UNNAMED).value == 1


def test_hostile_strings_reach_the_page_as_text():
    evil = "<script>alert(1)</script>"
    found = result_of(f"{evil} and {evil}", [(evil, evil)])
    assert "<script>" not in page("ner_conflicts", found)


def test_marked_texts_show_every_occurrence():
    shown = ner_conflicts.marked(result_of(HILTON, [("LOC", "Paris"), ("PER", "Paris")]))
    assert len(re.findall("<mark [^>]*>Paris</mark>", shown)) == 2
    assert "LOC predicted it 1 × of 2" in shown


def test_the_sample_has_what_its_card_says():
    found = evaluated("ner_conflicts", sample("ner_conflicts"))
    shares = [found.estimate("conflict_share", model=m).value for m in ("larch-2", "willow-1", "hazel-nano")]
    assert shares == sorted(shares)
    assert set(found.tables["conflicts"]["kind"]) == {"class and string", "text and string"}
    assert found.tables["conflicts"]["nested"].any()


def test_text_id_is_read_as_the_id_of_the_text_also_beside_an_id_of_the_row():
    rows = pd.DataFrame({"text_id": ["a", "a"], "id": [1, 2], "entity_class": ["LOC", "PER"], "entity": ["Paris"] * 2})
    texts = pd.DataFrame({"text_id": ["a"], "text": [HILTON]})
    data = load({"predictions": rows, "texts": texts}, study="ner_conflicts")
    assert (data["predictions"]["id"].tolist(), data["texts"]["id"].tolist()) == (["a", "a"], ["a"])
    assert "frame texts: column text_id was read as id" in data.notes
