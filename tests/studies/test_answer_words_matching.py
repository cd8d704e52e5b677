"""What the studies of violations answer, in words: what checkers find, and whether calibration beats the defaults."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from spoken import absent, answer, est, pairs
from summaries import summary

from evalbench.core.notes import Note
from evalbench.core.result import Estimate

FERN, MOSS, REED = "fern@1.0|oak-7b", "moss@2.0|oak-7b", "reed@1.1|oak-7b"
CHECKERS = pd.DataFrame({"model": [FERN, MOSS, REED], "name": ["fern", "moss", "reed"]})


def found(
    checker: str, f1: float, recall: float, precision: float, light: str = "green", **more: Any
) -> list[Estimate]:
    figures = (("f1", f1, light), ("recall", recall, "unlit"), ("precision", precision, "unlit"))
    return [est(metric, value, checker, "model", light=lit, **more) for metric, value, lit in figures]


@pytest.mark.parametrize(
    ("own", "light", "said"),
    [
        (found(FERN, 0.9, 0.9, 0.9), "green", "Fern finds 90% of the true violations, and 90% of what it reports is right. That is good enough."),
        (found(FERN, 0.3, 0.8, 0.2, "red"), "red", "Fern finds 80% of the true violations, but 80% of what it reports is wrong. That is not good enough."),
        (found(FERN, 0.5, 0.5, 0.9, "unlit"), "unlit", "Fern finds 50% of the true violations, and 90% of what it reports is right. No thresholds say what is good enough."),
        (found(FERN, 1.0, 1.0, 1.0, "grey", n=2), "grey", "How well fern finds the true violations is not known: it rests on only 2 texts, and 20 are needed."),
    ],
)  # fmt: skip
def test_one_checker(own: list[Estimate], light: str, said: str) -> None:
    facts = {"tables": {"checkers": CHECKERS}, "parameters": {"lights": {}}}
    assert answer("matching", summary(light, *own, decided=own[0]), **facts).answer == said


def test_loose_matches_are_said_where_they_hold_the_light_back() -> None:
    quality = est("match_quality", 0.52, FERN, "model", light="yellow", cuts=(0.8,))
    own = summary("yellow", *found(FERN, 1.0, 1.0, 1.0), quality, decided=quality)
    result = answer("matching", own, tables={"checkers": CHECKERS})
    assert result.answer.endswith("But matches are loose: they agree with the truth by only 52%.")
    assert result.next.text == "Look at the matches of fern."
    shifted = (Note("shifted", "40 of 40 predictions are off by the same distance"),)
    assert answer("matching", own, notes=shifted).next.text == "Check from where places are counted, and run again."


def test_three_checkers_by_their_names_without_version_and_model() -> None:
    own = [*found(MOSS, 0.76, 0.7, 0.83), *found(REED, 0.72, 0.7, 0.75), *found(FERN, 0.06, 0.06, 0.07, "red")]
    rows = ((MOSS, REED, "no difference shown"), (MOSS, FERN, "better"), (REED, FERN, "better"))
    tables = {"checkers": CHECKERS, "comparisons": pairs("f1", *rows, by="model")}
    result = answer("matching", summary("red", *own, decided=own[6]), by=("model",), tables=tables)
    assert result.answer == (
        "Moss is best: it finds 70% of the true violations; fern, the worst, finds 6%. No difference from the best is shown for reed. "
        "Fern is not good enough."
    )
    assert result.next.text == "Look at what fern misses."


def test_checkers_of_one_name_keep_their_versions() -> None:
    tables = {"checkers": CHECKERS.assign(name="fern")}
    own = [*found(MOSS, 0.8, 0.8, 0.8), *found(FERN, 0.5, 0.5, 0.5)]
    said = answer("matching", summary("green", *own, decided=own[0]), tables=tables).answer
    assert said.startswith(
        f"{MOSS} finds 80% of the true violations, {FERN} 50%; whether that is chance was not tested."
    )


def test_of_a_checker_without_most_texts_nothing_is_claimed() -> None:
    own = [*found(MOSS, 1.0, 1.0, 1.0), *found(FERN, 0.14, 0.1, 1.0, "grey")]
    facts = {"tables": {"checkers": CHECKERS}, "notes": (absent(f"37 of 40 texts absent ({FERN})"),)}
    result = answer("matching", summary("grey", *own, decided=own[3]), **facts)
    assert result.answer.endswith("How well fern finds them is not known: 37 of 40 texts are absent.")
    assert result.next.text == "Add the 37 texts that fern lacks."


def fits(threshold: float, rule: float = 0.3) -> pd.DataFrame:
    weights = {"text_overlap": [0.3, 0.2], "rule_similarity": [0.3, rule], "category_match": [0.1, 0.1]}
    return pd.DataFrame({"fold": ["defaults", "all"], **weights, "score_threshold": [0.5, threshold]})


def settings(
    held: float, default: float, light: str, *, weights: float = 0.0, n: int = 40
) -> tuple[list[Estimate], dict[str, Any]]:
    of = {"by": "settings"}
    gain = est("gain_f1", held - default, light=light, n=n)
    own = [
        est("f1", default, "defaults", **of), est("f1", held, "calibrated, held out", **of), gain,
        est("gain_of_weights_f1", weights),
    ]  # fmt: skip
    judged = pd.DataFrame({"id": [f"t{i}" for i in range(n)], "human": 1.0})
    return own, {"pairs": judged, "fits": fits(0.15)}


@pytest.mark.parametrize(
    ("own", "light", "changed", "said", "then"),
    [
        (
            settings(0.85, 0.73, "green"), "green", {},
            "Yes: on unseen texts calibrated settings agree better with people than the defaults, F1 0.85 against 0.73. "
            "The threshold does it, 0.15 instead of 0.5; other weights are not shown to help.",
            "Use weights.json in the study matching.",
        ),
        (
            settings(0.85, 0.73, "green", weights=0.1), "green", {"fits": fits(0.15, rule=0.7)},
            "Yes: on unseen texts calibrated settings agree better with people than the defaults, F1 0.85 against 0.73. "
            "Most weight goes to rule similarity and text overlap.", "Use weights.json in the study matching.",
        ),
        (
            settings(0.75, 0.73, "yellow"), "yellow", {},
            "No: on unseen texts calibrated settings are not shown to agree better with people than the defaults, F1 0.75 against 0.73.",
            "Keep the defaults.",
        ),
        (
            settings(0.6, 0.73, "red"), "red", {},
            "No: on unseen texts calibrated settings agree worse with people than the defaults, F1 0.60 against 0.73.", "Keep the defaults.",
        ),
        (
            settings(1.0, 1.0, "yellow"), "yellow", {"fits": fits(0.5).assign(text_overlap=0.3)},
            "No: calibration changes nothing; no other settings agree better with people than the defaults, F1 1.00 on unseen texts.", "Keep the defaults.",
        ),
        (
            settings(1.0, 1.0, "grey", n=2), "grey", {},
            "Whether calibrated weights agree better with people than the defaults is not known: it rests on only 2 texts, and 20 are needed.",
            "Add 18 more texts with verdicts.",
        ),
    ],
)  # fmt: skip
def test_calibration(own: Any, light: str, changed: dict[str, Any], said: str, then: str) -> None:
    figures, tables = own
    decides = next(e for e in figures if e.metric == "gain_f1")
    result = answer("matching_calibration", summary(light, *figures, decided=decides), tables={**tables, **changed})
    assert (result.answer, result.next.text) == (said, then)


def test_a_calibration_without_a_gain_says_why() -> None:
    gain = est("gain_f1", None, light="grey", note="one of the two has no F1")
    judged = pd.DataFrame({"id": [f"t{i}" for i in range(40)], "human": 1.0})
    result = answer("matching_calibration", summary("grey", gain), tables={"pairs": judged, "fits": fits(0.15)})
    assert result.answer.endswith("is not known: one of the two has no F1.")
