"""Two versions of a data set: what both have unchanged is compared, what came, went and changed is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from toy_runs import MEASURES, items, run

from evalbench.compare.runs import Differences, compare
from evalbench.compare.sides import Side
from evalbench.errors import BadInput
from evalbench.report.compare_words import sentences


def version(folder: Path, run_id: str, shift: float, sha: str, rows: slice, changed: int) -> Side:
    """A run on some of forty units, of which the first so many have another question."""
    frame = items({"fern": shift}).iloc[rows].reset_index(drop=True)
    side = run(frame, run_id, sha=sha * 64)
    (folder / run_id).mkdir()
    questions = [f"Question {name}{' anew' if name < f't{changed:03}' else ''}?" for name in frame["id"]]
    texts = pd.DataFrame({"id": frame["id"], "checker": "fern", "question": questions, "output": f"of {run_id}"})
    texts.to_parquet(folder / run_id / "texts.parquet")
    return replace(
        side, name=run_id, folder=folder / run_id, results={**side.results, "tables": {"texts": "texts.parquet"}}
    )


def against(left: Side, right: Side) -> Differences:
    return compare(left, [right], MEASURES, n_resamples=100, n_summaries=10)[0]


def test_what_two_versions_of_the_data_share_is_compared_and_the_rest_is_listed(tmp_path: Path) -> None:
    then = version(tmp_path, "r1", 0.0, "0", slice(0, 38), 0)
    now = version(tmp_path, "r2", -0.2, "f", slice(2, 40), 5)
    found = against(then, now)
    assert sentences(found)[0] == (
        "Two versions of the data, compared on the 33 units that both have unchanged: "
        '3 units changed (t002: question "Question t002?" → "Question t002 anew?", '
        't003: question "Question t003?" → "Question t003 anew?", t004: question "Question t004?" → "Question t004 anew?"); '
        "2 units only in r2 (t038, t039); 2 units only in r1 (t000, t001)."
    )
    row = found.rows[0].comparison
    assert (row.metric, row.n_a, row.outcome) == ("score", 33, "worse")
    assert found.n_shared == 33
    assert not any("not compared" in note for note in found.notes)


@pytest.mark.parametrize("changed", [40, 30])
def test_other_questions_under_the_same_ids_are_other_data(tmp_path: Path, changed: int) -> None:
    then = version(tmp_path, "r1", 0.0, "0", slice(0, 40), 0)
    now = version(tmp_path, "r2", 0.0, "f", slice(0, 40), changed)
    with pytest.raises(BadInput, match="read other data"):
        against(then, now)
