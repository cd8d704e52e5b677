"""What the pages of the studies of entities say of few, of none, and of several models."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.text import Text
from studied import whole

from evalbench import load, ner_conflicts, ner_quality, ner_variants
from evalbench.report.rows import _telling


def spans(texts, entity_class="P", start=0, model="x"):
    rows = [(t, start, start + 3, entity_class, model) for t in texts]
    return pd.DataFrame(rows, columns=["id", "start", "end", "entity_class", "model"])


TEXTS = [f"t{i}" for i in range(30)]


def judged(predictions, gold, **options):
    data = load({"gold": gold, "predictions": predictions}, study="ner_quality")
    return ner_quality.evaluate(data, n_resamples=50, **options)


def test_a_model_that_finds_nothing_has_no_green_light_for_confusing_nothing():
    both = pd.concat([spans(TEXTS), spans(TEXTS, "Q", start=9)])
    gold = both.drop(columns="model")
    result = judged(pd.concat([spans(TEXTS, start=5), both.assign(model="y")]), gold, f1_floor=0)
    assert result.light == "grey"
    assert "no true entity was found, so that none can be taken for another class" in result.sentence
    assert "Missed: 30 of 30 P, 30 of 30 Q (x)." in result.sentence
    lights = {e.group["model"]: e.light for e in result.summary.estimates if e.metric == "confusion_of_p"}
    assert lights == {"x": "grey", "y": "green"}
    assert judged(both, gold).light == "green"


def test_a_red_largest_confusion_decides_itself():
    gold = pd.concat([spans(TEXTS[:20]), spans(TEXTS[20:], "Q")]).drop(columns="model")
    result = judged(spans(TEXTS, "R"), gold)
    assert result.light == "red"
    assert "second" not in result.sentence


def strings(n_texts=3, **options):
    texts = pd.DataFrame({"id": ["a", "b", "c"], "text": ["Bo met Bo", "Al ran", "Bo"]})[:n_texts]
    predictions = pd.DataFrame({"id": ["a"], "entity_class": ["P"], "entity": ["Bo"]})
    data = load({"predictions": predictions, "texts": texts}, study="ner_conflicts")
    return ner_conflicts.evaluate(data, n_resamples=50, **options)


def test_means_over_conflicts_rest_on_the_texts_that_have_some():
    found = {e.metric: e for e in strings().summary.estimates}
    for metric in ("mean_gap", "mean_occurrences", "nested_share", "absent_share"):
        e = found[metric]
        assert (e.n, e.n_undefined) == (1, 2)
        if e.value in (0, 1) and e.unit == "0–1":  # at an end of its scale, however few
            assert (e.method, e.note) == ("Wilson over units, all agree", "")
        else:
            assert (e.ci_low, "no interval: fewer than two units" in e.note) == (None, True)


def test_a_light_on_another_figure_is_named_after_it():
    result = strings(lights={"mean_gap": {"green_to": 1, "yellow_to": 2}})
    assert result.sentence.startswith("occurrences less predictions, per conflict by class and string 1.00")


def replies(rows, **more):
    gold = pd.DataFrame({"id": ["a", "b"], "start": 0, "end": 2, "entity_class": "P"})
    texts = pd.DataFrame({"id": ["a", "b", "c"], "text": ["Bo met Bo", "Al ran", "Nobody"]})
    table = pd.DataFrame(rows, columns=["id", "requests", "description", "answer"]).assign(**more)
    return ner_variants.evaluate(
        load({"replies": table, "gold": gold, "texts": texts}, study="ner_variants"), n_resamples=50
    )


def test_two_wordings_that_find_nothing_have_no_light():
    result = replies([(i, "all", d, "[]") for i in "abc" for d in ("none", "definition")])
    assert (result.light, result.verdict.would_be) == ("grey", None)
    assert "Neither wording finds a true entity, so the light stays grey." in result.sentence


def test_wordings_that_share_no_text_are_not_called_unscored():
    result = replies([("a", "all", "none", "[]"), ("b", "all", "definition", '[("Al", "P")]')])
    assert "has no value (no text has replies to both wordings)" in result.sentence


def test_few_texts_of_many_classes_are_few():
    rows = [(i, "all", d, '[("Bo", "P")]') for i in "abc" for d in ("none", "definition")]
    gold = pd.DataFrame({"id": ["a"] * 9, "start": 0, "end": 2, "entity_class": [f"K{i}" for i in range(8)] + ["P"]})
    texts = pd.DataFrame({"id": ["a", "b", "c"], "text": ["Bo met Bo", "Al ran", "Nobody"]})
    table = pd.DataFrame(rows, columns=["id", "requests", "description", "answer"])
    data = load({"replies": table, "gold": gold, "texts": texts}, study="ner_variants")
    result = ner_variants.evaluate(data, n_resamples=50)
    assert "Fewer than 20 have a score" in result.sentence
    assert {e.n_of for e in result.summary.estimates} == {"texts × classes"}
    assert ner_variants.gains(result)["texts"].tolist()[0] == 3


def test_pictures_of_several_models_name_them():
    rows = [(i, "all", d, '[("Bo", "P")]') for i in "ab" for d in ("none", "definition")]
    both = pd.concat([pd.DataFrame(rows).assign(model=m) for m in ("m, all", "n")]).set_axis(
        ["id", "requests", "description", "answer", "model"], axis=1
    )
    gold = pd.DataFrame({"id": ["a", "b"], "start": 0, "end": 2, "entity_class": "P"})
    texts = pd.DataFrame({"id": ["a", "b"], "text": ["Bo met Bo", "Al ran"]})
    result = ner_variants.evaluate(
        load({"replies": both, "gold": gold, "texts": texts}, study="ner_variants"), n_resamples=50
    )
    for picture in (ner_variants.picture_gains, ner_variants.picture_classes):
        labels = [text.get_text() for text in picture(result)[0].findobj(Text)]
        for model in ("m, all", "n"):
            assert any(label.startswith(f"{model}, all, ") for label in labels)
    assert result.judged.count(";") == 3


def test_all_items_name_the_class_that_tells_rows_apart():
    items = whole("ner_variants").items
    assert _telling(items, ["id", "model"]) == ["entity_class"]
    assert _telling(whole("needle").items, ["id", "model"]) == []


@pytest.mark.parametrize("p", [0.0, 0.0004])
def test_small_p_of_weeks_is_not_0(p):
    from dataclasses import replace

    from evalbench import dialogue

    result = whole("dialogue")
    weeks = result.tables["weeks"].assign(p_holm=p)
    table = dialogue.weeks(replace(result, tables={**result.tables, "weeks": weeks}))
    assert set(table["p, Holm"]) == {"< 0.001"}
