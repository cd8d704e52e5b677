"""Drift: tables that cannot be believed give one clear message, a note, or a grey light."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from drifted import evaluated, small, tables

from evalbench.errors import BadInput


def notes(frames: Any, **options: Any) -> str:
    return "\n".join(evaluated(frames, **{"embed": "", "tests": ["key_metric"], **options}).notes)


def test_a_side_without_a_column_that_is_needed_is_refused() -> None:
    frames = tables("desk_log", 6)
    with pytest.raises(BadInput, match="frame oot: column answer: is missing"):
        evaluated({**frames, "oot": frames["oot"].drop(columns="answer")})


def test_columns_of_one_side_alone_are_noted() -> None:
    frames = tables("desk_log", 6)
    said = notes({**frames, "oot": frames["oot"].assign(channel="chat")})
    assert "Only OOT has the columns channel" in said


@pytest.mark.parametrize("label", ["1", "0"])
def test_one_class_of_labels_makes_the_forecasts_grey(label: str) -> None:
    frames = tables("desk_log", 6)
    frames["oos"] = frames["oos"].assign(label=label)
    found = evaluated(frames, tests=["local_drift", "global_drift"])
    assert found.light == "grey"
    assert "all labels of OOS are equal" in found.sentence


def test_fewer_than_thirty_rows_are_grey() -> None:
    frames = tables("desk_log", 6)
    found = evaluated(
        {**frames, "oot": frames["oot"].head(29)}, embed="", tests=["key_metric", "statistics", "separability"]
    )
    assert found.light == "grey"
    lit = [e.light for e in found.summary.estimates if e.metric not in ("quality",)]
    assert set(lit) == {"grey"}
    assert "fewer than 30" in found.sentence
    enough = evaluated(
        {**frames, "oot": frames["oot"].head(30)}, embed="", tests=["key_metric", "statistics", "separability"]
    )
    assert enough.light != "grey"


def test_a_side_without_rows_is_refused_with_the_times_that_there_are() -> None:
    with pytest.raises(
        BadInput, match=r"OOT has no rows within .*; the times of the table reach from 2026-01-0\d .* to 2026-06"
    ):
        small(oot_from="2027-01-01", oos_to="2026-03-01")


def test_one_table_without_times_is_refused_with_what_to_do() -> None:
    frame = tables("desk_log", 6)["oos"].drop(columns="time")
    with pytest.raises(BadInput, match=r"one table without times: give a second one .*oot_from"):
        evaluated({"oos": frame}, embed="")
    with pytest.raises(BadInput, match="a window of time needs a column time"):
        evaluated({"oos": frame}, embed="", oos_to="2026-03-01")


def test_mixed_time_zones_are_noted_and_compared_in_utc() -> None:
    frames = tables("desk_log", 6)
    oot = frames["oot"]
    bare = oot.assign(time=[t.removesuffix("Z") if i % 2 else t for i, t in enumerate(oot["time"])])
    assert f"{len(oot) // 2} of {len(oot)} times have no time zone and are read as UTC" in notes(
        {**frames, "oot": bare}
    )
    zones = oot.assign(time=[t.replace("Z", "+03:00") if i % 2 else t for i, t in enumerate(oot["time"])])
    assert "times in 2 time zones (+03:00, Z) are compared in UTC" in notes({**frames, "oot": zones})
    late = oot.assign(time="2026-04-01T00:30:00+03:00")
    assert set(evaluated({**frames, "oot": late}, embed="", tests=["key_metric"]).tables["lights"]["name"]) == {
        "",
        "2026-03",
    }


def test_clocks_that_go_back_are_noted() -> None:
    frames = tables("desk_log", 6)
    oot = frames["oot"].copy()
    oot.loc[10, "time"] = "2026-03-01T00:00:00Z"
    said = notes({**frames, "oot": oot})
    assert "1 time where the clock goes back while the ids go on" in said
    oot.loc[10, "time"] = "2026-01-01T00:00:00Z"
    assert "1 of 80 rows of OOT are dated before the end of OOS" in notes({**frames, "oot": oot})


@pytest.mark.parametrize(
    ("labels", "fault"), [(["0", "2"], "between 0 and 1"), (["-1", "0"], "found 0"), (["-1", "0.5"], "found 0.5")]
)
def test_labels_on_another_scale_are_refused(labels: list[str], fault: str) -> None:
    frames = {t: f.assign(label=(labels * len(f))[: len(f)]) for t, f in tables("desk_log", 6).items()}
    with pytest.raises(BadInput, match=fault):
        evaluated(frames, embed="")


def test_the_same_ids_on_both_sides_are_pairs() -> None:
    frames = tables("desk_log", 6)
    n = 60
    same = {t: f.head(n).assign(id=[str(i) for i in range(n)]) for t, f in frames.items()}
    found = evaluated(same, embed="", tests=["key_metric", "separability"])
    assert len(found.items) == 2 * n
    assert found.items["id"].nunique() == n


def test_texts_that_are_empty_have_no_statistic() -> None:
    frames = {t: f.assign(answer="") for t, f in tables("desk_log", 6).items()}
    found = evaluated(frames, embed="", tests=["statistics"])
    assert found.estimate("frequencies_responses").value is None
    assert found.estimate("counts_responses").value == pytest.approx(0)
    assert pd.isna(found.tables["statistics"]["p"]).any()
