"""Entities against a gold standard: published figures, the light, forms of input, bad input."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from spanned import result_of, spans
from studied import evaluated, sample, whole

from evalbench import load, ner_quality
from evalbench.core.verdict import Bands
from evalbench.core.wording import estimate_text
from evalbench.errors import BadInput
from evalbench.kit.collecting import UNNAMED
from evalbench.studies.ner_quality import summary
from evalbench.studies.ner_quality.summary import METHOD_BANDS, rules_of

STRICT = {
    "arcada": 39.98, "drexel_cci": 26.30, "flytxt": 38.35, "mic_cis": 37.06, "sjtu_adapt": 40.42,
    "spinningbytes": 40.78, "uh_ritual": 41.86,
}  # fmt: skip

# -- published figures -----------------------------------------------------------------------------


@pytest.mark.external
@pytest.mark.parametrize("system", STRICT)
def test_strict_f1_of_the_systems_of_wnut17(external_data, system):
    folder = external_data("wnut17")
    data = load(folder / "gold_test.conll", study="ner_quality", predictions=folder / f"pred_{system}.conll")
    result = ner_quality.evaluate(data, n_resamples=2)
    expected = json.loads((folder / "expected.json").read_text())["systems"][system]
    assert round(100 * result.estimate("strict_f1", model=UNNAMED).value, 2) == STRICT[system]
    macro = result.estimate("macro_strict_f1", model=UNNAMED).value
    assert macro == pytest.approx(expected["seqeval"]["macro avg"]["f1-score"], abs=1e-9)
    own = result.tables["modes"].query("over == 'all entities'").set_index("mode")
    for mode in ("strict", "exact", "partial"):
        theirs = expected["nervaluate_overall"][mode]
        for count in ("correct", "incorrect", "partial", "missed", "spurious"):
            assert own.loc[mode, count] == theirs[count], (mode, count)
    assert own.loc["type", "correct"] >= expected["nervaluate_overall"]["ent_type"]["correct"]
    classes = result.tables["classes"].query("mode == 'strict'").set_index("entity_class")
    for name, theirs in expected["seqeval"].items():
        if name in classes.index:
            assert classes.loc[name, "f1"] == pytest.approx(theirs["f1-score"], abs=1e-9)
    assert (result.items["n_true"].sum(), result.items["n_predicted"].sum()) == (1079, expected["n_pred"])


@pytest.mark.external
def test_a_conll_file_with_both_columns(external_data, tmp_path):
    path = tmp_path / "both.conll"
    path.write_text((external_data("ner_metric_cases") / "conlleval_ground_truth.txt").read_text())
    result = ner_quality.evaluate(load(path, study="ner_quality"), n_resamples=20)
    figures = [
        100 * result.estimate(m, model=UNNAMED).value for m in ("strict_precision", "strict_recall", "strict_f1")
    ]
    assert [round(x, 2) for x in figures] == [68.83, 80.83, 74.35]


# -- the light -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "light"),
    [(0.2499, "green"), (0.25, "yellow"), (0.2501, "yellow"), (0.4999, "yellow"), (0.5, "red"), (0.5001, "red")],
)
def test_the_worse_light_takes_the_documents_boundary(share, light):
    assert METHOD_BANDS.light(share) == light


def test_a_value_at_ones_own_threshold_takes_the_better_light():
    bands, _ = rules_of(0.25, 0.5)
    assert [bands.light(x) for x in (0.25, 0.26, 0.5, 0.51)] == ["green", "yellow", "yellow", "red"]
    assert isinstance(bands, Bands)


def with_confusions(**taken_for_b: int):
    """Twenty true entities of each of four classes, of which twice so many of a class are predicted as Z."""
    gold, predicted = [], []
    for name in "ABCD":
        for i in range(20):
            gold.append((f"{name}{i}", 0, 3, name))
            predicted.append((f"{name}{i}", 0, 3, "Z" if i < 2 * taken_for_b.get(name, 0) else name))
    return result_of(spans(*gold), spans(*predicted))


@pytest.mark.parametrize(
    ("taken", "light", "decides"),
    [
        ({"A": 5}, "red", "confusion_of_a"),
        ({"A": 4}, "green", "confusion_of_b"),
        ({"A": 4, "B": 3}, "yellow", "confusion_of_b"),
        ({"A": 2, "B": 2, "C": 2, "D": 2}, "green", "confusion_of_a"),
        ({}, "green", "confusion_of_a"),
    ],
)
def test_the_light_of_the_test(taken, light, decides):
    result = with_confusions(**taken)
    assert result.light == light
    assert result.verdict.decided_by == {"metric": decides, "model": UNNAMED}
    assert result.estimate(**result.verdict.decided_by).light == light
    assert estimate_text(result.estimate(**result.verdict.decided_by), result.summary.estimates) in result.sentence


def test_missed_entities_confuse_no_class():
    gold = spans(*[(f"t{i}", 0, 3, "AB"[i % 2]) for i in range(80)])
    result = result_of(gold, gold.head(40), f1_floor=0)
    assert result.light == "green"
    missed = result.tables["confusions"].query("predicted_class == '(missed)'")
    assert missed["n"].tolist() == [20, 20]


def test_without_a_true_entity_or_with_none_found_the_light_is_grey():
    texts = pd.DataFrame({"id": ["a", "b"], "text": ["Mira", "Ivo"]})
    gold = spans(("a", 0, 4, "X"))
    assert result_of(gold.head(1), spans(("b", 0, 3, "Y")), texts).light == "grey"
    empty = summary.summarise(
        result_of(gold, gold, texts).items.assign(**{'true "X"': 0, 'missed "X"': 0}), n_resamples=10
    )
    assert empty.verdict.light == "grey"


def test_thresholds_of_f1():
    result = evaluated(
        "ner_quality", sample("ner_quality"), lights={"strict_f1": {"green_from": 0.99, "yellow_from": 0.98}}
    )
    assert result.estimate("strict_f1", model="larch-2").light == "red"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"green_to": 0.5, "yellow_to": 0.2}, "green_to must be below yellow_to"),
        ({"lights": {"f1": {"green_from": 1, "yellow_from": 0.5}}}, "lights must be one of strict_f1"),
        ({"lights": {"strict_f1": {"green_to": 1, "yellow_to": 0.5}}}, "more is better"),
    ],
)
def test_options_are_refused(options, said):
    with pytest.raises(BadInput, match=said):
        result_of(spans(("a", 0, 1, "X")), spans(("a", 0, 1, "X")), **options)


# -- figures ---------------------------------------------------------------------------------------


def test_the_summary_of_very_many_texts_is_that_of_blocks(monkeypatch):
    few = evaluated("ner_quality", sample("ner_quality"), n_resamples=400)
    monkeypatch.setattr(summary, "MOST_UNITS", 50)
    many = evaluated("ner_quality", sample("ner_quality"), n_resamples=400)
    assert [e.value for e in many.summary.estimates] == pytest.approx([e.value for e in few.summary.estimates])
    for one, other in zip(few.summary.estimates, many.summary.estimates, strict=True):
        assert one.n == other.n
        if one.ci_high - one.ci_low > 0.01:
            assert other.ci_high - other.ci_low == pytest.approx(one.ci_high - one.ci_low, rel=0.35)


def test_a_class_that_is_not_drawn_has_no_part_in_the_mean():
    measure = summary.macro_of(["A", "B"], "strict")
    assert measure.value(*map(np.array, ([1.0], [1.0], [1.0], [0.0], [0.0], [3.0]))).tolist() == [1.0]


def test_names_of_metrics_tell_classes_apart():
    names = ["PER", "per", "Per", "creative-work", "creative_work", "ЛИЦО", "МЕСТО", "", "  "]
    found = [summary.class_id(name) for name in names]
    assert len(set(found)) == len(names)
    assert found[0] == "per"


def test_models_part_on_what_one_finds():
    result = whole("ner_quality")
    table = ner_quality.parting(result)
    models = ["hazel-nano", "larch-2", "willow-1"]
    assert list(table) == ["id", "entity", "class", *models]
    right = (table[models] == "right").sum(axis=1)
    assert right.between(1, 2).all()


def test_spans_of_one_model_are_all_accounted_for():
    result = whole("ner_quality")
    rows = result.tables["spans"]
    for model, own in rows.groupby("model"):
        items = result.items[result.items["model"] == model]
        assert (own["outcome"] != "spurious").sum() == items["n_true"].sum()
        assert (own["outcome"] != "missed").sum() == items["n_predicted"].sum()
        assert (own["outcome"] == "right").sum() == items["strict"].sum()


def test_comparisons_are_paired_with_holm():
    compared = whole("ner_quality").tables["comparisons"]
    assert len(compared) == 12
    assert (compared["p_holm"] >= compared["p"]).all()


def test_the_class_that_holds_a_green_light_back_is_the_one_that_decides():
    gold = [*((f"t{i}", 0, 4, "PER") for i in range(30)), *((f"t{i}", 5, 9, "LOC") for i in range(30))]
    taken = [(f"t{i}", 10, 14, "LOC" if i < 4 else "ORG") for i in range(8)]
    true = [(name, start, end, "ORG") for name, start, end, _ in taken]
    result = result_of(spans(*gold, *true), spans(*gold, *taken))
    assert result.light == "grey"
    assert "ORG is found in only 8 texts" in result.answer.answer
    assert result.answer.decided_by.text.startswith("Largest confusion of ORG 0.50")
