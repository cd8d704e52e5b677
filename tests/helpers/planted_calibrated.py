"""Planted tables of pairs that people judged, and of rules that say nothing."""

from __future__ import annotations

import pandas as pd
from planted import FEW, NOT_GREEN, Frames, N, Planted, Tables, ids, lights
from planted_people import CALIBRATED, MATCHED, OTHER, RULE, by_rule, judged, marked

GREY = lights("grey")


def said(frames: Frames | None = None, **columns: object) -> Frames:
    """Pairs with other cells in the table of verdicts."""
    own = frames or judged(by_rule)
    return own | {"pair_verdicts": own["pair_verdicts"].assign(**columns)}


def ruled(true: str | None, found: str | None, frames: Frames | None = None) -> Frames:
    """Violations whose rule is one word on a side, or on both."""
    own = frames or marked()
    sides = {"truth": true, "predictions": found}
    return own | {side: own[side].assign(rule=word) for side, word in sides.items() if word is not None}


def turned() -> Frames:
    return judged(lambda i: i % 2)


def at_random() -> Frames:
    """Two annotators of whom each says anything."""
    own = judged(by_rule)["pair_verdicts"]
    return said(mark=[(i * i * 7 + i * 3 + i // 5) % 11 % 2 for i in range(len(own))])


def mostly_at_odds() -> Frames:
    own = judged(by_rule)["pair_verdicts"]
    other = (own["annotator"] == "bo") & ~own["id"].isin(ids(4, "h"))
    return said(mark=(own["mark"] + other) % 2)


def to_nothing() -> Frames:
    return said(prediction_id="h99-f")


def other_checker() -> Frames:
    return said(model="FERN@1.0|oak ")


def swapped() -> Frames:
    own = judged(by_rule)
    names = {"truth_id": "prediction_id", "prediction_id": "truth_id"}
    return own | {"pair_verdicts": own["pair_verdicts"].rename(columns=names)}


def twice() -> Frames:
    own = judged(by_rule)
    return own | {"pair_verdicts": pd.concat([own["pair_verdicts"]] * 2)}


def in_words() -> Frames:
    own = judged(by_rule)["pair_verdicts"]
    return said(mark=own["mark"].map({1: "yes", 0: "no"}))


def in_percent() -> Frames:
    return said(mark=judged(by_rule)["pair_verdicts"]["mark"] * 100)


def without_texts() -> Frames:
    own = judged(by_rule)
    return own | {"documents": own["documents"].assign(text="")}


def several_rules() -> Frames:
    own = marked()
    return ruled(None, "violation", own | {"truth": own["truth"].assign(rule=[RULE, OTHER] * (N // 2))})


def one_annotator_for_few() -> Frames:
    own = judged(by_rule)
    verdicts = own["pair_verdicts"]
    kept = (verdicts["annotator"] == "ada") | verdicts["id"].isin(ids(FEW, "h"))
    return own | {"pair_verdicts": verdicts[kept]}


RANKED = CALIBRATED | {"objective": "spearman"}
AT_ODDS = r"annotators agree no better than chance \(alpha"
ONE_CALL = r"calling every pair a match has as high an F1"

CALIBRATION_TOO: Tables = {
    "matching_calibration": {
        "verdicts_turned_round": Planted(turned, r"F1 0\.000.*as if verdicts or ids were turned round", CALIBRATED, GREY),
        "found_elsewhere": Planted(lambda: judged(by_rule, elsewhere=True), r"as if verdicts or ids were turned", CALIBRATED, GREY),
        "annotators_say_anything": Planted(at_random, AT_ODDS, CALIBRATED, GREY),
        "annotators_mostly_at_odds": Planted(mostly_at_odds, AT_ODDS, CALIBRATED, GREY),
        "annotators_at_odds_by_rank": Planted(at_random, AT_ODDS, RANKED, GREY),
        "one_annotator_for_few": Planted(one_annotator_for_few, r"F1 1\.00", CALIBRATED, lights("yellow")),
        "nearly_all_are_matches": Planted(lambda: judged(lambda i: int(i > 1)), rf"{ONE_CALL}, 0\.97", CALIBRATED, GREY),
        "the_same_rule_for_all": Planted(
            lambda: ruled("violation", "violation", judged(by_rule)), rf"{ONE_CALL}.*name one rule, 'violation'.*shows nothing", CALIBRATED, GREY
        ),
        "all_verdicts_are_one_value": Planted(lambda: said(mark=1), "", CALIBRATED, refused=r"nothing to learn"),
        "the_best_there_is": Planted(lambda: judged(by_rule), r"no difference shown: 0\.00 \[−0\.\d+, 0\.\d+\]", CALIBRATED, NOT_GREEN),
        "the_best_there_is_by_rank": Planted(lambda: judged(by_rule), r"ρ 1\.00 \[0\.\d+, 1\.00\].*0\.00 \[−0\.\d+", RANKED, NOT_GREEN),
        "verdicts_on_nothing": Planted(to_nothing, "", CALIBRATED, refused=r"prediction_id: 1 unknown, such as h99-f"),
        "another_checker": Planted(other_checker, "", CALIBRATED, refused=r"model: they differ from known ones by case"),
        "ids_swapped": Planted(swapped, "", CALIBRATED, refused=r"truth_id and prediction_id are swapped"),
        "verdicts_twice": Planted(twice, "", CALIBRATED, refused=r"duplicated together"),
        "verdicts_in_words": Planted(in_words, r"F1 1\.00", CALIBRATED, lights("yellow")),
        "verdicts_in_percent": Planted(in_percent, "", CALIBRATED, refused=r"from 0 to 1"),
        "texts_that_are_empty": Planted(without_texts, "", CALIBRATED, refused=r"column text: empty"),
    },
    "matching": {
        "one_word_for_all_rules": Planted(
            lambda: ruled("violation", "violation"), r"name one rule, 'violation': that their rules are alike shows nothing", MATCHED, lights("green")
        ),
        "one_word_for_the_rules_found": Planted(several_rules, r"all 40 predictions.*one rule, 'violation', which is none", MATCHED, NOT_GREEN),
        "one_word_for_the_true_rules": Planted(lambda: ruled("violation", None), r"name one rule, .*which is none of the truth", MATCHED, NOT_GREEN),
    },
}  # fmt: skip
