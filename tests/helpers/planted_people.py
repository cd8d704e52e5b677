"""Planted tables of the studies of people's marks and verdicts, of scores of other tools, of rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
from planted import (
    ABSENT,
    FEW,
    IDS,
    LATE,
    NOT_RED,
    TWO,
    Frames,
    N,
    Planted,
    Tables,
    ids,
    items,
    lights,
    otherwise,
    with_late,
)

# -- human_correlation -----------------------------------------------------------------------------

SYSTEMS = ("ash", "beech", "cedar")


def quality(d: int, s: int) -> int:
    """1 to 5, each system the best of a third of the documents."""
    return 1 + (d * 2 + s * (1 + d % 2)) % 5


def rated(metric: Callable[[int], float] = float, n: int = N, mark: Callable[[int], float] = float) -> Frames:
    """Outputs of three systems with a metric's value; two annotators who agree."""
    keys = [(name, system, quality(d, s)) for d, name in enumerate(ids(n, "d")) for s, system in enumerate(SYSTEMS)]
    outputs = [{"doc_id": d, "system": s, "output": f"text of {s} {d}", "warmth": metric(q)} for d, s, q in keys]
    ratings = [
        {"doc_id": d, "system": s, "annotator": a, "criterion": "clear", "score": mark(q)}
        for d, s, q in keys
        for a in ("ada", "bo")
    ]
    return {"items": pd.DataFrame(outputs), "ratings": pd.DataFrame(ratings)}


def bo_marks_few(n: int = FEW) -> Frames:
    own = rated()
    kept = (own["ratings"]["annotator"] == "ada") | own["ratings"]["doc_id"].isin(ids(n, "d"))
    return own | {"ratings": own["ratings"][kept]}


def bo_from_zero() -> Frames:
    """An annotator whose scale begins with 0, beside one whose scale begins with 1."""
    own = rated()
    shift = (own["ratings"]["annotator"] == "bo").astype(int)
    return own | {"ratings": own["ratings"].assign(score=own["ratings"]["score"] - shift)}


def other_ratings() -> Frames:
    own = rated()
    return own | {"ratings": otherwise(own["ratings"], "doc_id")}


WARM = {"metrics": ["warmth"]}
CORRELATION: dict[str, Planted | str] = {
    "nothing_right": Planted(lambda: rated(lambda q: -q), r"lower_is_better", WARM),
    "all_right": Planted(rated, r"1\.00", WARM),
    "one_absent": Planted(bo_marks_few, r"on 9 of 120", WARM),
    "two_units": Planted(lambda: bo_marks_few(2), r"on 6 of 120", WARM),
    "off_by_one": Planted(
        bo_from_zero, r"1\.00", WARM, NOT_RED, "a constant of one annotator moves no rank of the mean of all"
    ),
    "other_ids": Planted(other_ratings, IDS, WARM, refused=IDS),
    "all_equal": Planted(
        lambda: rated(mark=lambda q: 3.0),
        r"constant|equal|the same|no value|never differ",
        WARM,
        lights("grey", "unlit"),
    ),
}

# -- judge_audit -----------------------------------------------------------------------------------


def truth(i: int) -> int:
    return 1 + i * 3 % 5


def audited(
    mark: Callable[[int], float], n: int = N, labelled: int = N, people: Callable[[int], float] = truth
) -> Frames:
    """A judge's marks of 1 to 5, and three annotators who agree."""
    verdicts = items(n, judge=lambda i: "oak", criterion=lambda i: "clear", mark=lambda i: float(mark(i)))
    label = items(min(n, labelled), criterion=lambda i: "clear", mark=lambda i: float(people(i)))
    return {"verdicts": verdicts, "labels": pd.concat([label.assign(annotator=a) for a in ("ada", "bo", "cy")])}


def late_judge() -> Frames:
    own = audited(truth)
    return own | {"verdicts": with_late(own["verdicts"], "judge", "id")}


def other_labels() -> Frames:
    own = audited(truth)
    return own | {"labels": otherwise(own["labels"], "id")}


AUDIT: dict[str, Planted | str] = {
    "nothing_right": Planted(
        lambda: audited(lambda i: 6 - truth(i)), r"−1\.00|−0\.\d|0\.0|not to be used", lights=lights("red", "grey")
    ),
    "all_right": Planted(lambda: audited(truth), r"1\.00"),
    "one_absent": Planted(late_judge, LATE),
    "two_units": Planted(lambda: audited(truth, labelled=2), TWO),
    "off_by_one": Planted(
        lambda: audited(lambda i: truth(i) + 1),
        r"1 mark too kind",
        lights=NOT_RED,
        because="the judge's order is right, and what it may not be used for is said",
    ),
    "other_ids": Planted(other_labels, IDS, refused=IDS),
    "all_equal": Planted(
        lambda: audited(lambda i: 3, people=lambda i: 3),
        r"constant|equal|the same|no value|never differ",
        lights=lights("grey", "unlit", "yellow"),
    ),
}

# -- imported --------------------------------------------------------------------------------------


def scored(value: Callable[[int], float], n: int = N) -> Frames:
    """Scores of another tool, of one model."""
    scores = items(n, metric=lambda i: "pass", value=value)
    metrics = pd.DataFrame([{"metric": "pass", "low": 0.0, "high": 1.0, "scale": "0..1", "direction": "higher"}])
    return {
        "items": items(n, prompt=lambda i: f"When does house {i} open?", output=lambda i: f"At {i}."),
        "scores": scores,
        "metrics": metrics,
    }


def late_scores() -> Frames:
    own = scored(lambda i: 1.0)
    return own | {name: with_late(own[name], "model", "id") for name in ("items", "scores")}


def few_scores() -> Frames:
    """All items of two models, and the scores of one of them of the first three alone."""
    own = late_scores()
    everything = pd.concat([scored(float)["items"].assign(model=m) for m in ("sound", LATE)])
    return own | {"items": everything}


def other_scores() -> Frames:
    own = scored(lambda i: 1.0)
    return own | {"scores": otherwise(own["scores"], "id")}


PASS = {"lights": {"pass": {"green_from": 0.8, "yellow_from": 0.5}}}
IMPORTED: dict[str, Planted | str] = {
    "nothing_right": Planted(lambda: scored(lambda i: 0.0), r"0\.0", PASS, lights("red")),
    "all_right": Planted(lambda: scored(lambda i: 1.0), r"1\.0", PASS),
    "one_absent": Planted(late_scores, ABSENT, PASS),
    "two_units": Planted(lambda: scored(lambda i: 1.0, 2), TWO, PASS),
    "off_by_one": "scores of another tool have no positions",
    "other_ids": Planted(other_scores, IDS, PASS, refused=IDS),
    "all_equal": Planted(lambda: scored(lambda i: 1.0), r"1\.0", PASS),
}

# -- matching --------------------------------------------------------------------------------------

RULE, OTHER = "Words must be spelt right.", "No claim without a source."


def page_text(i: int) -> str:
    return f"Long ago the ferry number {i} left teh harbour of Osier, and nobody on the quay has seen it again."


def marked(n: int = N, shift: int = 0, elsewhere: bool = False, whole: bool = False, rule: str = RULE) -> Frames:
    """A violation a text; found where it is, elsewhere, or by marking the text whole."""
    true, said = [], []
    for i, name in enumerate(ids(n, "h")):
        start = page_text(i).index("teh")
        at = (0, len(page_text(i))) if whole else (60, 70) if elsewhere else (start + shift, start + 3 + shift)
        true.append((name, f"{name}-t", start, start + 3, RULE))
        said.append((name, f"{name}-f", *at, rule, "fern@1.0|oak"))
    columns = ["id", "violation_id", "start", "end", "rule"]
    return {
        "truth": pd.DataFrame(true, columns=columns),
        "predictions": pd.DataFrame(said, columns=[*columns, "model"]),
        "documents": pd.DataFrame({"id": ids(n, "h"), "text": [page_text(i) for i in range(n)]}),
    }


def late_checker() -> Frames:
    own = marked()
    return own | {
        "predictions": with_late(own["predictions"], "model", "id", "fern@1.0|oak").replace({LATE: f"{LATE}@1.0|oak"})
    }


def other_samples() -> Frames:
    own = marked()
    return own | {"predictions": otherwise(own["predictions"], "id")}


MATCHED = {"embed": "jaccard", "yellow_from": 0.3, "green_from": 0.6}
MATCHING: dict[str, Planted | str] = {
    "nothing_right": Planted(lambda: marked(whole=True), r"40 of 40.*overlap|overlap.*40 of 40|match score", MATCHED),
    "all_right": Planted(marked, r"1\.00", MATCHED),
    "one_absent": Planted(late_checker, ABSENT, MATCHED),
    "two_units": Planted(lambda: marked(2), TWO, MATCHED),
    "off_by_one": Planted(
        lambda: marked(shift=1), r"match score|overlap", MATCHED, lights("green", "yellow"),
        "a match needs an overlap, which a place one off still has; the sentence has the score of the match",
    ),
    "other_ids": Planted(other_samples, IDS, MATCHED, refused=IDS),
    "all_equal": Planted(marked, r"1\.00", MATCHED),
}  # fmt: skip

# -- matching_calibration --------------------------------------------------------------------------


def judged(
    match: Callable[[int], int], n: int = N, annotators: tuple[str, ...] = ("ada", "bo"), **shape: Any
) -> Frames:
    """What people say of the one pair of each text: every other one is found elsewhere, or by another rule."""
    own = marked(n, **shape)
    odd = [i % 2 == 1 for i in range(n)]
    said = own["predictions"].assign(rule=[OTHER if o else RULE for o in odd])
    verdicts = [
        {
            "id": name,
            "model": "fern@1.0|oak",
            "truth_id": f"{name}-t",
            "prediction_id": f"{name}-f",
            "mark": match(i),
            "annotator": a,
        }
        for i, name in enumerate(ids(n, "h"))
        for a in annotators
    ]
    return own | {"predictions": said, "pair_verdicts": pd.DataFrame(verdicts)}


def by_rule(i: int) -> int:
    return 1 - i % 2


def at_odds() -> Frames:
    """Two annotators of whom one always says the opposite of the other."""
    own = judged(by_rule)
    verdicts = own["pair_verdicts"]
    turned = (verdicts["mark"] + (verdicts["annotator"] == "bo")) % 2
    return own | {"pair_verdicts": verdicts.assign(mark=turned)}


def other_verdicts() -> Frames:
    own = judged(by_rule)
    return own | {"pair_verdicts": otherwise(own["pair_verdicts"], "id")}


CALIBRATED = {"embed": "jaccard", "n_folds": 2, "thresholds": ["score"], "weights": True}
CALIBRATION: dict[str, Planted | str] = {
    "nothing_right": Planted(lambda: judged(lambda i: int(i * 7 % 3 == 0)), r"F1 0\.|F1 has no value", CALIBRATED),
    "all_right": Planted(
        lambda: judged(by_rule), r"1\.00|0\.\d", CALIBRATED, lights("green", "yellow"),
        "yellow where the defaults agree as well: nothing is to be gained",
    ),
    "one_absent": "pairs of all checkers and annotators are judged together: none has a figure of its own",
    "two_units": Planted(lambda: judged(by_rule, 2), TWO, CALIBRATED, refused=TWO),
    "off_by_one": Planted(lambda: judged(by_rule, shift=1), r"\d", CALIBRATED, lights("green", "yellow", "grey"), "weights are sought for these pairs as they are"),
    "other_ids": Planted(other_verdicts, IDS, CALIBRATED, refused=IDS),
    "all_equal": Planted(at_odds, "disagree|tie", CALIBRATED, refused="disagree|tie"),
}  # fmt: skip

TABLES: Tables = {
    "human_correlation": CORRELATION,
    "judge_audit": AUDIT,
    "imported": IMPORTED,
    "matching": MATCHING,
    "matching_calibration": CALIBRATION,
}
