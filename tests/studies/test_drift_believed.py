"""Drift: what a reviewer might wrongly believe: failures that hide on one side, labels that are few, ids that are only row numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drifted import KEY, evaluated, tables

from evalbench.core.psi import psi_of_numbers
from evalbench.core.tallies import histogram, psi_of_histogram
from evalbench.errors import BadInput
from evalbench.models.redact import names_a_key
from evalbench.studies.drift import statistics_shown


def quick(frames: Any, **options: Any) -> Any:
    return evaluated(frames, embed="", **{"tests": ["key_metric"], **options})


def test_key_bands_may_be_given_on_the_command_line() -> None:
    assert not names_a_key("key_bands")


@pytest.mark.parametrize(
    ("before", "after"), [([1] * 50, [50] * 50), ([5] * 50, [1] * 50), ([1] * 48 + [2, 3], [40] * 50)]
)
def test_numbers_above_a_value_that_most_have_are_a_change(before: list[int], after: list[int]) -> None:
    side = [False] * 50 + [True] * 50
    found = psi_of_numbers(before + after, side, np.random.default_rng(0), n_permutations=0)
    assert found.value > 5
    assert psi_of_histogram(histogram(before + after, side)).value == pytest.approx(found.value)


def test_rows_numbered_in_each_file_are_no_pairs() -> None:
    frames = {t: f.sort_values("label").head(200) for t, f in tables("desk_log", 3).items()}
    numbered = {t: f.assign(id=[str(i) for i in range(len(f))]) for t, f in frames.items()}
    apart = {t: f.assign(id=[f"{t}{i}" for i in range(len(f))]) for t, f in frames.items()}
    widths = []
    for own in (numbered, apart):
        e = quick(own, n_resamples=400).estimate("drop")
        widths.append(e.ci_high - e.ci_low)
    assert widths[0] == pytest.approx(widths[1], rel=0.2)


def test_the_same_interactions_twice_show_no_drop() -> None:
    frame = tables("desk_log", 6)["oos"]
    found = quick({"oos": frame, "oot": frame}, tests=["key_metric", "statistics"])
    assert "no drop (0" in found.sentence
    shown = statistics_shown(found)["judged by"]
    assert not shown.str.contains("-").any()
    assert shown.str.contains("−").any()


def test_failures_of_one_side_and_of_one_month_leave_no_light() -> None:
    frames = tables("desk_log_control", 4)
    may = frames["oot"]["ts"].str.startswith("2026-05")
    lost = frames["oot"]["response"].astype(object).mask(may & (np.arange(len(may)) % 3 > 0), None)
    found = quick({**frames, "oot": frames["oot"].assign(response=lost)})
    assert found.light == "grey"
    lights = found.tables["lights"].set_index("name")["key_metric"]
    assert lights[""] == lights["2026-05"] == "grey"
    assert lights["2026-04"] != "grey"
    few = frames["oot"]["response"].astype(object).mask(np.arange(len(may)) < 8, None)
    some = quick({**frames, "oot": frames["oot"].assign(response=few)})
    assert some.light == "grey"
    assert "of OOT are unscored" in some.sentence
    assert {e.light for e in some.summary.estimates} <= {"grey", "unlit"}


def test_a_key_metric_of_some_rows_says_of_how_many() -> None:
    frames = tables("desk_log", 4)
    label = frames["oot"]["label"].where(np.arange(len(frames["oot"])) % 2 == 0, "")
    found = quick({**frames, "oot": frames["oot"].assign(label=label)}, key_bands=KEY)
    assert f"Labels: {(label != '').sum()} rows of OOT ({(label == '').sum()} have none)." in found.sentence


def test_marks_of_another_scale_are_refused_with_the_way_out() -> None:
    frames = tables("desk_log", 6)
    with pytest.raises(BadInput, match=r"found 5; .* \(mark − 1\) / 4"):
        quick({t: f.assign(label="5") for t, f in frames.items()})


def test_a_share_of_stop_words_that_cannot_change_has_no_light() -> None:
    frames = {t: f.assign(request="where is it", response="it is here") for t, f in tables("desk_log", 3).items()}
    found = quick({**frames, "oot": frames["oot"].assign(response="das ist da")}, tests=["statistics"])
    share = found.estimate("stop_words_responses")
    assert (share.value, share.light) == (None, "grey")
    assert "name languages" in share.note
