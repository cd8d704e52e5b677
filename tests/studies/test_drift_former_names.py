"""drift: tables with the names that its columns had before, and a clock that is called time."""

from __future__ import annotations

import pandas as pd
from drifted import evaluated, tables

TODAY = {"request": "question", "response": "answer", "ts": "time"}


def test_columns_of_former_names_give_the_same_figures() -> None:
    frames = tables("desk_log", 6)
    former = {t: f.rename(columns={new: old for old, new in TODAY.items()}) for t, f in frames.items()}
    now, before = (evaluated(given, embed="", tests=["statistics"]) for given in (frames, former))
    pd.testing.assert_frame_equal(before.items, now.items)
    assert before.summary.estimates == now.summary.estimates
    assert {f"frame oot: column {old} was read as {new}" for old, new in TODAY.items()} <= set(before.notes)


def test_a_column_answer_beside_the_former_response_is_not_what_is_judged() -> None:
    frames = {t: f.assign(response=f["answer"], answer="right") for t, f in tables("desk_log", 12).items()}
    found = evaluated(frames, embed="", tests=["key_metric"])
    assert "right" not in set(found.items["answer"])
