"""A study that plans its calls itself is not run for its dry run."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from evalbench import studies
from evalbench.readers.dataset import Dataset
from evalbench.runs.dry_run import dry_run
from evalbench.runs.limits import limited
from evalbench.runs.run import plan


def test_a_studys_own_plan_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = {}

    def own(data: Dataset, **options: object) -> pd.DataFrame:
        heard.update(options, rows=len(data["items"]))
        rows = [(1, "equal answers", True, "", 0, 0, 60, 60), (9, "pairs", False, "no judge is named", 0, 120, 0, 60)]
        names = "stage name runs why calls_low calls_high questions_low questions_high"
        return pd.DataFrame(rows, columns=names.split())

    study = replace(studies.study("cot_levels"), plan=own)
    monkeypatch.setattr("evalbench.runs.dry_run.studies.study", lambda name: study)
    found, error = dry_run(limited(plan("cot_levels", {"threshold": 0.5}), max_calls=3))
    assert (heard["threshold"], heard["rows"], error) == (0.5, 180, "")
    assert found.lines == (
        "stage  name           runs  calls  questions",
        "1      equal answers  yes       0         60",
        "9      pairs          no    0–120       0–60",
        "all                         0–120",
        "9: no judge is named",
    )
    assert found.rows[1] | {"runs": False} == {
        "stage": 9, "name": "pairs", "runs": False, "why": "no judge is named", "calls_low": 0, "calls_high": 120,
        "questions_low": 0, "questions_high": 60,
    }  # fmt: skip
