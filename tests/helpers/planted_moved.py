"""Planted tables of two samples whose texts are none, or all one; and of entities of one class."""

from __future__ import annotations

import pandas as pd
from planted import ANY, NOT_GREEN, Frames, Planted, Tables, lights
from planted_drift import DRIFTED, later, log, mostly
from planted_ner import BANDS, twice

GREY, SIDES = lights("grey"), ("oos", "oot")


def saying(text: str, *sides: str, column: str = "answer") -> Frames:
    """The same text in all rows of some sides."""
    return {side: rows.assign(**{column: text}) if side in sides else rows for side, rows in later().items()}


def echoes() -> Frames:
    return {side: rows.assign(answer=rows["question"]) for side, rows in later().items()}


def thoughts() -> Frames:
    own = later()
    return own | {"oot": own["oot"].assign(answer="<think>hm</think>" + own["oot"]["answer"])}


def copies() -> Frames:
    """Three rows of the later sample, forty times each."""
    three = log(mostly, 3, "b")
    return later() | {"oot": pd.concat([three.assign(id=three["id"] + f"-{k}") for k in range(40)])}


def predicted(**columns: object) -> Frames:
    own = twice()
    return own | {"predictions": own["predictions"].assign(**columns)}


def in_two_cases() -> Frames:
    own = twice()["predictions"]["entity_class"]
    return predicted(entity_class=[name.lower() if i % 3 == 0 else name for i, name in enumerate(own)])


def people_alone() -> Frames:
    own = twice()
    return own | {"predictions": own["predictions"][lambda rows: rows["entity_class"] == "PERSON"]}


MOVED: Tables = {
    "drift": {
        "one_response_on_both_sides": Planted(
            lambda: saying("Please ask.", *SIDES), r"120 of 120 responses of OOS are one and the same text, \"Please ask.*of OOT are one and", DRIFTED, GREY
        ),
        "one_response_later": Planted(
            lambda: saying("I cannot help.", "oot"), r"120 of 120 responses of OOT are one and the same text", DRIFTED, NOT_GREEN
        ),
        "one_response_before": Planted(
            lambda: saying("Please ask.", "oos"), r"120 of 120 responses of OOS are one and the same text", DRIFTED, NOT_GREEN
        ),
        "one_request_on_both_sides": Planted(
            lambda: saying("Hello?", *SIDES, column="question"), r"120 of 120 requests of OOT are one and the same text", DRIFTED, GREY
        ),
        "requests_that_are_empty": Planted(lambda: saying("", *SIDES, column="question"), r"120 of 120 requests of OOT are empty", DRIFTED, GREY),
        "responses_that_are_the_word_nan": Planted(lambda: saying("nan", *SIDES), r"responses of OOT are the word nan", DRIFTED, GREY),
        "responses_that_are_the_request": Planted(echoes, r"120 of 120 responses of OOT repeat the request", DRIFTED, GREY),
        "blocks_of_reasoning_later": Planted(thoughts, r"120 of 120 responses of OOT hold a block of reasoning", DRIFTED, ANY),
        "nothing_right_on_both_sides": Planted(
            lambda: later(lambda i: 0, before=lambda i: 0), r"key metric of OOS, 0\.000, is too low to fall by 15 pp", DRIFTED, GREY
        ),
        "little_right_then_nothing": Planted(
            lambda: later(lambda i: 0, before=lambda i: int(i % 10 == 0)), r"key metric of OOS, 0\.1\d*, is too low to fall by 15", DRIFTED, GREY
        ),
        "nothing_right_and_the_level_judged": Planted(
            lambda: later(lambda i: 0, before=lambda i: 0), r"red", DRIFTED | {"key_bands": {"green_from": 0.7, "yellow_from": 0.5}}, lights("red")
        ),
        "three_requests_again_and_again": Planted(copies, r"OOT has 3 different requests in 120 rows: intervals are too narrow", DRIFTED, ANY),
    },
    "ner_conflicts": {
        "one_class_alone": Planted(people_alone, r"all predictions are of one class, PERSON: classes cannot be in conflict", BANDS, GREY),
        "one_class_for_all": Planted(lambda: predicted(entity_class="ENTITY"), r"of one class, ENTITY", BANDS, GREY),
        "classes_that_are_the_word_nan": Planted(lambda: predicted(entity_class="nan"), r"160 of 160 cells of column entity_class", BANDS, GREY),
        "classes_in_two_cases": Planted(in_two_cases, r"PERSON and person differ by case alone: are they one class", BANDS, ANY),
        "rows_again_and_again": Planted(
            lambda: twice(times=5), r"80 of 80 strings are predicted more often than they occur: are rows repeated", BANDS, lights("red")
        ),
        "strings_that_are_the_word_nan": Planted(lambda: predicted(entity="nan"), r"40 of 40 predicted strings do not occur", BANDS, GREY),
    },
}  # fmt: skip
