"""Anchors beside drift: the judge's own move is a figure, and a changed or moved judge leaves tests of its score without a light."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from studied import ROOT

from evalbench import drift, load
from evalbench.core.result import Result
from evalbench.kit.options import taken
from evalbench.studies.drift import figures
from evalbench.studies.drift.lights import TESTS

N = 60


def found(folder: Path, *, key: str = "score", then: str = "acme/a", now: str = "acme/a", every: int = 0) -> Result:
    """Fewer good scores at the later time; the judge fails every n-th good anchor now."""
    sides = {
        side: pd.DataFrame(
            {
                "id": [f"{side}{i}" for i in range(N)],
                "question": [f"Where is room {i}? <script>alert({i})</script>" for i in range(N)],
                "answer": [f"On floor {i % 7}." for i in range(N)],
                key: [float(i % 10 < good) for i in range(N)],
            }
        )
        for side, good in (("oos", 9), ("oot", 5))
    }
    files = {}
    for name, judge, failing in (("then", then, 0), ("now", now, every)):
        marks = [0.0 if failing and i % failing == 0 else 1.0 for i in range(N)]
        rows = pd.DataFrame({"id": [f"a{i}" for i in range(N)], "label": 1.0, "mark": marks, "judge": judge})
        files[f"anchors_{name}"] = str(folder / f"{name}.csv")
        rows.to_csv(files[f"anchors_{name}"], index=False)
    options: dict[str, Any] = {"tests": ["key_metric"], "embed": "", "n_resamples": 50, "n_permutations": 19}
    return drift.evaluate(load(sides, study="drift"), **options, **files)


def rows(result: Result) -> dict[str, Any]:
    return {e.metric: e for e in result.summary.estimates}


def test_the_same_judge_leaves_the_verdict_and_stands_beside_it(tmp_path: Path) -> None:
    result = found(tmp_path)
    assert result.light == "red"
    assert rows(result)["judge_shift"].light == "green"
    assert "No move of the judge is shown: 0.00" in result.summary.verdict.sentence
    assert len(result.tables["anchors"]) == N


def test_another_judge_voids_the_test_and_its_figures_stay(tmp_path: Path) -> None:
    result = found(tmp_path, now="acme/<b>b</b>")
    assert result.light == "grey"
    said = result.summary.verdict.sentence
    assert "the judge changed (the judge from acme/a to acme/<b>b</b>), so a drop may be the judge's" in said
    assert "by itself it would be red" in said
    assert rows(result)["drop"].value > 30
    assert rows(result)["judge_shift"].light == "grey"
    assert result.tables["lights"]["key_metric"].tolist() == ["grey"]


def test_a_judge_that_got_stricter_voids_it_too(tmp_path: Path) -> None:
    result = found(tmp_path, every=3)
    assert result.light == "grey"
    assert rows(result)["judge_shift"].light == "red"
    assert "the judge itself moved by −0.33 [" in result.summary.verdict.sentence


def test_labels_of_people_are_no_judges(tmp_path: Path) -> None:
    result = found(tmp_path, key="label", now="acme/b")
    assert result.light == "red"
    assert rows(result)["judge_shift"].light == "grey"


def test_the_summary_follows_from_the_items(tmp_path: Path) -> None:
    result = found(tmp_path, every=3)
    assert drift.summarise(result.items, **taken(drift.summarise, result.parameters)) == result.summary


def test_the_sample_of_a_judge_that_got_stricter_shows_no_drift_of_the_desk() -> None:
    folder = ROOT / "data" / "desk_log_judged" / "1.1.0"
    data = load("desk_log_judged@1.1.0", study="drift", root=ROOT)
    options: dict[str, Any] = {"embed": "", "n_resamples": 100, "n_permutations": 19}
    options["tests"] = ["key_metric", "statistics", "separability"]
    alone = drift.evaluate(data, **options)
    lights = dict(zip(TESTS, alone.tables["lights"].loc[0, list(TESTS)], strict=True))
    assert (lights["key_metric"], lights["statistics"], lights["separability"]) == ("yellow", "green", "green")
    files = {name: str(folder / f"{name}.csv") for name in ("anchors_then", "anchors_now")}
    with_anchors = drift.evaluate(data, **options, **files)
    assert with_anchors.light == "grey"
    assert "Key metric: grey, the judge itself moved by −0.22" in with_anchors.summary.verdict.sentence
    assert rows(with_anchors)["judge_shift"].light == "red"
    said = with_anchors.answer
    assert said is not None
    assert said.answer.startswith(
        "Whether quality has fallen since the validation is not known: the judge itself has become stricter, so a drop may be the judge's."
    )
    assert said.next.text == "Have one judge mark both samples again, or have people label them."


def test_the_anchors_that_got_another_mark_are_shown(tmp_path: Path) -> None:
    shown = drift.anchors_shown(found(tmp_path, every=3))
    assert shown.columns.tolist() == ["id", "label", "then", "now", "change"]
    assert (len(shown), set(shown["change"])) == (N // 3, {"−1.00"})
    assert "same mark" in drift.anchors_shown(found(tmp_path)).iloc[0, 0]


def test_a_green_that_a_judge_may_have_made_is_not_named() -> None:
    moved = {"reason": "the judge changed (a to b)"}
    green, red = (figures.Test("key_metric", light, []) for light in ("green", "red"))
    assert figures.held_by_judge(green, moved).why == "the judge changed (a to b), so a drop may be hidden by the judge"
    assert figures.held_by_judge(red, moved, again=True).why == (
        "the judge moved or changed, so a drop may be the judge's; by itself it would be red"
    )
    assert figures.held_by_judge(green, None) is green
