"""Anchors beside drift: the judge's own move is a figure, and a changed or moved judge leaves tests of its score without a light."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from evalbench import drift, load
from evalbench.core.result import Result
from evalbench.kit.options import taken

N = 60


def found(folder: Path, *, key: str = "score", then: str = "acme/a", now: str = "acme/a", every: int = 0) -> Result:
    """Fewer good scores at the later time; the judge fails every n-th good anchor now."""
    sides = {
        side: pd.DataFrame(
            {
                "id": [f"{side}{i}" for i in range(N)],
                "request": [f"Where is room {i}? <script>alert({i})</script>" for i in range(N)],
                "response": [f"On floor {i % 7}." for i in range(N)],
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
