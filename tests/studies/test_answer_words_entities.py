"""What the studies of entities answer, in words: one model, two, many, green to grey, nothing found."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from spoken import absent, answer, est, pairs
from summaries import summary

from evalbench.core.result import Estimate

SHARE = {"method": "Wilson", "unit": "0–1"}


def found(
    model: str, f1: float, recall: float, precision: float | None, light: str = "green", **more: Any
) -> list[Estimate]:
    return [
        est("strict_f1", f1, model, light=light, cuts=(0.7,), **more),
        est("strict_recall", recall, model, **more),
        est("strict_precision", precision, model, **more),
    ]


def confusions(*rows: tuple[str, str, str, int, float]) -> dict[str, pd.DataFrame]:
    return {"confusions": pd.DataFrame(rows, columns=["model", "true_class", "predicted_class", "n", "share"])}


def taken(model: str, value: float, light: str) -> Estimate:
    title = "largest confusion of PRODUCT"
    return est("confusion_of_product", value, model, title=title, light=light, higher_is_better=False)


@pytest.mark.parametrize(
    ("own", "light", "said", "then"),
    [
        (
            found("oak", 0.93, 0.9, 0.97), "green",
            "Oak finds 90% of the entities with place and class right, and 97% of what it marks is right.",
            "Nothing: the figures carry the light.",
        ),
        (
            found("oak", 0.5, 1.0, 0.33, "yellow"), "yellow",
            "Oak finds all of the entities with place and class right, but 67% of what it marks is wrong.",
            "Look at what oak marks wrongly.",
        ),
        (
            found("oak", 0.0, 0.0, 0.0, "yellow"), "yellow",
            "Oak finds none of the entities with place and class right.", "Look at what oak misses.",
        ),
        (
            found("oak", 0.0, 0.0, None, "yellow"), "yellow",
            "Oak finds none of the entities: it marks nothing.", "Look at what oak misses.",
        ),
        (
            found("model not named", 1.0, 1.0, 1.0, "grey", n=2), "grey",
            "How well the model finds the entities is not known: it rests on only 2 texts, and 20 are needed.",
            "Add 18 more texts.",
        ),
    ],
)  # fmt: skip
def test_one_model(own: list[Estimate], light: str, said: str, then: str) -> None:
    result = answer("ner_quality", summary(light, *own, decided=own[0]), tables=confusions())
    assert (result.answer, result.next.text) == (said, then)


def test_what_is_found_is_said_where_classes_cannot_be_judged() -> None:
    own = found("ash", 0.33, 0.2, 1.0, "grey")
    few = "PERSON is found in only 10 texts and a light needs 20"
    result = answer("ner_quality", summary("grey", *own, decided=own[0], missing=few), tables=confusions())
    assert result.answer == (
        "Ash finds 20% of the entities with place and class right, and all of what it marks is right. "
        f"Which classes are confused is not known: {few}."
    )
    assert result.next.text == "Add texts with entities of this class."


def test_two_models_and_the_class_that_the_worse_takes_for_another() -> None:
    bad = taken("fern", 0.57, "red")
    own = [*found("oak", 0.9, 0.89, 0.9), *found("fern", 0.4, 0.45, 0.4, "yellow"), taken("oak", 0.1, "green"), bad]
    tables = {"comparisons": pairs("strict_f1", ("oak", "fern", "better"))}
    tables |= confusions(("fern", "PRODUCT", "PLACE", 20, 0.57), ("fern", "PRODUCT", "(missed)", 30, 0.9))
    result = answer("ner_quality", summary("red", *own, decided=bad), by=("model",), tables=tables)
    assert result.answer == (
        "Oak finds 89% of the entities with place and class right, fern 45%; oak is better, more than chance explains. "
        "Fern takes PRODUCT for PLACE too often, in 57% of cases."
    )
    assert result.next.text == "Look at the PRODUCT entities that fern takes for PLACE."


def test_a_model_is_not_better_where_no_difference_is_shown() -> None:
    own = [*found("oak", 0.9, 0.89, 0.9), *found("fern", 0.88, 0.88, 0.88)]
    tables = {"comparisons": pairs("strict_f1", ("oak", "fern", "no difference shown")), **confusions()}
    result = answer("ner_quality", summary("green", *own, decided=own[0]), by=("model",), tables=tables)
    assert result.answer.endswith("fern 88%; no difference between them is shown.")
    untested = answer("ner_quality", summary("green", *own, decided=own[0]), tables=confusions())
    assert untested.answer.endswith("whether that is chance was not tested.")


def test_what_is_right_is_told_where_the_better_model_finds_no_more() -> None:
    own = [*found("oak", 0.9, 0.82, 1.0), *found("fern", 0.67, 1.0, 0.5, "yellow")]
    tables = {"comparisons": pairs("strict_f1", ("oak", "fern", "better")), **confusions()}
    result = answer("ner_quality", summary("yellow", *own, decided=own[3]), by=("model",), tables=tables)
    assert (
        result.answer
        == "Of what oak marks 100% is right, of what fern marks 50%; oak is better, more than chance explains."
    )


def test_of_many_models_the_best_the_worst_and_those_not_told_apart() -> None:
    own = [e for i in range(7) for e in found(f"m{i}", 0.9 - i / 10, 0.9 - i / 10, 0.9)]
    rows = [("m0", f"m{i}", "better" if i > 1 else "no difference shown") for i in range(1, 7)]
    tables = {"comparisons": pairs("strict_f1", *rows), **confusions()}
    result = answer("ner_quality", summary("green", *own, decided=own[0]), by=("model",), tables=tables)
    assert result.answer == (
        "m0 is best: it finds 90% of the entities with place and class right; m6, the worst, finds 30%. "
        "No difference from the best is shown for m1."
    )


def test_of_a_model_without_most_texts_nothing_is_claimed() -> None:
    own = [*found("oak", 0.95, 0.95, 0.95), *found("late", 0.14, 0.1, 1.0, "grey")]
    notes = (absent("37 of 40 texts absent (late)"),)
    result = answer("ner_quality", summary("grey", *own, decided=own[3]), notes=notes, tables=confusions())
    assert result.answer.endswith("How well late finds them is not known: 37 of 40 texts are absent.")
    assert result.next.text == "Add the 37 texts that late lacks."


def conflicts(*classes: str) -> dict[str, pd.DataFrame]:
    rows = [("class and string", "oak", c) for c in classes]
    return {"conflicts": pd.DataFrame(rows, columns=["kind", "model", "entity_class"])}


def open_in(model: str, value: float | None, light: str = "green", **more: Any) -> Estimate:
    return est("conflict_share", value, model, light=light, **{**SHARE, "higher_is_better": False, **more})


@pytest.mark.parametrize(
    ("own", "light", "said"),
    [
        (
            open_in("oak", 0.3, "red"), "red",
            "Where strings are repeated, oak leaves open which place it means in 30% of texts. Entities of class PLACE are affected most. "
            "That is not good enough.",
        ),
        (
            open_in("oak", 0.0), "green",
            "Where strings are repeated, oak never leaves open which place it means. Entities of class PLACE are affected most. That is good enough.",
        ),
        (
            open_in("oak", 1.0, "grey", n=3), "grey",
            "Which places oak leaves open is not known: it rests on only 3 texts, and 20 are needed.",
        ),
        (
            open_in("oak", None, "grey", n=0, note="no text has a repeated string"), "grey",
            "Which places are left open is not known: no text has a repeated string.",
        ),
    ],
)  # fmt: skip
def test_places_that_are_left_open(own: Estimate, light: str, said: str) -> None:
    tables = conflicts("PLACE", "PLACE", "PERSON")
    assert answer("ner_conflicts", summary(light, own, decided=own), tables=tables).answer == said


def test_strings_that_are_not_in_the_texts_leave_nothing_to_judge() -> None:
    own = open_in("oak", 1.0, "grey")
    strange = est("absent_share", 1.0, "oak", **SHARE)
    result = answer("ner_conflicts", summary("grey", own, strange, decided=own), tables=conflicts())
    assert result.answer == "Which places oak leaves open is not known: 100% of its strings are not in their texts."
    assert result.next.text == "Check that the predictions are of these texts."


def test_two_models_that_leave_places_open() -> None:
    own = [open_in("oak", 0.12, "unlit"), open_in("fern", 0.47, "unlit")]
    tables = {"comparisons": pairs("conflict_share", ("oak", "fern", "better")), **conflicts()}
    result = answer("ner_conflicts", summary("unlit", *own), by=("model",), tables=tables, parameters={"lights": {}})
    assert result.answer == (
        "Where strings are repeated, oak leaves open which place it means in 12% of texts, fern in 47%; "
        "oak is better, more than chance explains. No thresholds say what is good enough."
    )


def gain(model: str, value: float, change: str, light: str = "unlit", half: float = 2.0, **more: Any) -> Estimate:
    metric = "one_class_gain" if change.endswith("one") else "description_gain"
    ends = {"ci_low": value - half, "ci_high": value + half, "unit": "pp"}
    return est(metric, value, f"{model}, all, {change}", light=light, **{**ends, **more})


DEFINED, SHOWN_BY_EXAMPLES, ONE = "name only → definition", "definition → examples", "definition → one"


@pytest.mark.parametrize(
    ("own", "light", "said", "then"),
    [
        (
            [gain("oak", 15.1, DEFINED, "red"), gain("oak", -0.4, SHOWN_BY_EXAMPLES, "green"), gain("oak", 4.2, ONE)], "red",
            "The wording matters: oak finds entities better with definitions (by 15 points of F1) and with one class per request (by 4.2 points of F1); "
            "it is not shown to be better with examples.", "Ask oak with definitions.",
        ),
        (
            [gain("oak", 0.2, DEFINED, "green"), gain("oak", 0.1, SHOWN_BY_EXAMPLES, "green")], "green",
            "It is not shown that oak finds entities better with definitions or examples.", "Keep the shortest request.",
        ),
        (
            [gain("oak", 18, DEFINED, "red"), gain("fern", -18, SHOWN_BY_EXAMPLES, "green")], "red",
            "Oak finds entities better with definitions (by 18 points of F1). Fern finds entities worse with examples (by 18 points of F1).",
            "Ask oak with definitions.",
        ),
        (
            [gain("oak", 0, DEFINED, "grey", n=4)], "grey",
            "Whether oak finds entities better with definitions is not known: it rests on only 4 texts, and 20 are needed.", "Add 16 more texts.",
        ),
        (
            [gain("oak", 0, DEFINED, "grey", note="neither wording finds a true entity")], "grey",
            "Whether oak finds entities better with definitions is not known: neither wording finds a true entity.",
            "Look at the replies: none names a true entity.",
        ),
        (
            [gain("oak", 24, ONE)], "unlit",
            "Oak finds entities better with one class per request (by 24 points of F1).",
            "Ask with two descriptions of the classes to get a light.",
        ),
        ([], "unlit", "Whether the wording of a request matters is not known: only one was tried.",
         "Ask with two descriptions of the classes to get a light."),
        (
            [gain(m, 10 if m != "m3" else -9, DEFINED, "red") for m in ("m1", "m2", "m3")], "red",
            "With definitions 2 of 3 models find entities better, 1 worse.", "Ask m1 with definitions.",
        ),
    ],
)  # fmt: skip
def test_wordings_of_a_request(own: list[Estimate], light: str, said: str, then: str) -> None:
    result = answer("ner_variants", summary(light, *own, decided=own[0] if own and light != "unlit" else None))
    assert (result.answer, result.next.text) == (said, then)
