"""What an ner_quality page says where entities are not found, invented, shifted, or of a single class."""

from __future__ import annotations

import pandas as pd
import pytest
from spanned import result_of, spans

TEXTS = [f"t{i:02}" for i in range(40)]
PLACES = (("PER", 0, 4), ("LOC", 6, 12), ("ORG", 20, 28))


def entities(only=("PER", "LOC", "ORG"), texts=TEXTS, start=0, end=0, **renamed):
    return spans(
        *((t, a + start, b + end, renamed.get(name, name)) for t in texts for name, a, b in PLACES if name in only)
    )


def judged(predictions, gold=None, **options):
    return result_of(entities() if gold is None else gold, predictions, **options)


def test_all_right_is_green_and_the_sentence_begins_with_f1():
    result = judged(entities())
    assert result.light == "green"
    assert result.sentence.startswith(
        "Strict F1 1.000 [0.912, 1.000] (model not named). Largest confusion of a class 0.00"
    )
    assert "Missed" not in result.sentence
    assert "of their own" not in result.sentence


def test_one_class_of_which_nothing_is_right_is_not_green():
    result = judged(entities(["PER"], start=30, end=30), entities(["PER"]))
    assert result.light == "grey"
    assert "There is no confusion to judge, so the light stays grey" in result.sentence
    assert result.sentence.startswith("Strict F1 0.00")
    assert "Missed: 40 of 40 PER. Predictions without a true entity of their own: 40 of 40." in result.sentence
    confusion = result.estimate("confusion_of_per", model="model not named")
    assert (confusion.value, confusion.light, confusion.note) == (
        None,
        "grey",
        "of a single class none can be taken for another",
    )


def test_a_single_class_is_grey_unless_f1_has_a_light():
    gold = entities(["PER"])
    alone = judged(gold, gold)
    assert (alone.light, alone.sentence.count("of a single class none can be taken for another")) == ("grey", 1)
    assert judged(gold, gold, lights={"strict_f1": {"green_from": 0.9, "yellow_from": 0.7}}).light == "green"


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        (1, 1, "starts by +1 and ends by +1: do they count from 1"),
        (1, 0, "starts by +1: do they count from 1, the end included"),
        (0, -1, "ends by -1: is the end included"),
    ],
)
def test_spans_that_are_all_off_by_one_say_so(start, end, said):
    result = judged(entities(start=start, end=end))
    assert result.light == "yellow"
    assert result.sentence.startswith("Strict F1 0.00")
    assert f"120 of 120 spans of model not named are off by the same distance, {said}" in result.sentence
    assert [note.kind for note in result.notes if hasattr(note, "kind")] == ["shifted"]


def test_a_class_that_is_never_found_is_named_and_the_light_not_green():
    result = judged(entities(["LOC", "ORG"]))
    assert result.light == "grey"
    assert "Missed: 40 of 40 PER." in result.sentence
    assert "No PER is found, so that none can be taken for another class, so the light stays grey" in result.sentence
    below = judged(entities(["LOC"]))
    assert below.light == "yellow"
    assert "at best yellow below 0.7" in below.sentence


def test_invented_entities_are_named():
    invented = spans(*((t, 30 + 5 * k, 33 + 5 * k, "LOC") for t in TEXTS for k in range(6)))
    result = judged(pd.concat([entities(), invented]))
    assert result.light == "yellow"
    assert "Predictions without a true entity of their own: 240 of 360." in result.sentence


def test_the_documents_rule_alone_counts_no_f1():
    gold = entities()
    half = pd.concat([entities(texts=TEXTS[:10]), entities(texts=TEXTS[10:25], end=2)])
    assert judged(half, gold).light == "yellow"
    assert judged(half, gold, f1_floor=0).light == "green"


def test_few_texts_are_no_evidence():
    assert judged(entities(texts=TEXTS[:1]), entities(texts=TEXTS[:1])).light == "grey"
    one_found = judged(entities(["PER"], TEXTS[:1]))
    assert one_found.light == "grey"
    assert one_found.sentence.startswith("Strict F1 0.017")


def test_predictions_that_are_given_twice_are_named():
    result = judged(pd.concat([entities(), entities()]))
    assert result.light == "yellow"
    assert "Predictions without a true entity of their own: 120 of 240." in result.sentence
    assert "120 of 240 predicted spans repeat another of the same place and class." in result.sentence


def test_classes_that_differ_by_case_are_pointed_out():
    result = judged(entities(PER="per"))
    assert "PER and per differ by case alone and are taken for different classes." in result.sentence


def test_a_model_with_rows_in_few_texts_says_so_and_is_grey_or_worse():
    both = pd.concat([entities().assign(model="whole"), entities(texts=TEXTS[:3]).assign(model="late")])
    result = judged(both)
    assert "37 of 40 texts absent (late), counted as texts in which nothing was found" in result.sentence
    assert result.light != "green"
    assert judged(both, absent="nothing", f1_floor=0).estimate("strict_f1", model="late").value == pytest.approx(6 / 43)


def test_the_largest_confusion_is_reported_where_it_is_green():
    wrong = entities(texts=TEXTS[:2], PER="LOC")
    result = judged(pd.concat([wrong, entities(texts=TEXTS[2:])]))
    assert result.light == "green"
    assert "Largest confusion of a class 0.050" in result.sentence.replace("0.05 ", "0.050 ")
    assert result.verdict.decided_by["metric"] == "confusion_of_per"
    assert "second" not in result.sentence
