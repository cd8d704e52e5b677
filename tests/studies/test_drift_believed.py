"""Drift: what a reviewer might wrongly believe: failures that hide on one side, labels that are few, ids that are only row numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
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


def test_without_a_light_the_sentence_names_no_green() -> None:
    frames = tables("desk_log_control", 4)
    lost = frames["oot"]["response"].astype(object).mask(np.arange(len(frames["oot"])) < 10, None)
    found = quick({**frames, "oot": frames["oot"].assign(response=lost)}, tests=["key_metric", "statistics"])
    assert (found.light, found.summary.verdict.would_be) == ("grey", "green")
    assert found.sentence.startswith("No test has a light: 8% of OOT are unscored, more than 5%. Of the rows that ")
    assert not {"green", "none red"} & set(found.sentence.replace(",", "").split())
    assert "none red" not in found.sentence
    assert found.estimate("drop").note.endswith("8% of OOT unscored")


def test_a_reason_without_labels_is_given_once_with_the_way_out() -> None:
    frames = {t: f.drop(columns="label") for t, f in tables("desk_log", 6).items()}
    found = evaluated(frames, embed="")
    notes = [e.note for e in found.summary.estimates if e.metric in ("drop", "expected_drop", "predicted_drop")]
    assert notes == ["there are no labels", "OOS has no labels", "OOS has no labels"]
    assert found.sentence.endswith(
        """Without labels of OOS: -p 'tests=["statistics", "separability"]' leaves out what needs them."""
    )
    assert "leaves out" not in evaluated(frames, embed="", tests=["statistics", "separability"]).sentence
    labelled = tables("desk_log", 6)
    without = quick({**labelled, "oos": frames["oos"]})
    assert (without.light, without.estimate("drop").note) == ("grey", "OOS has no labels")
    assert "there is no embedding model" in evaluated(labelled, embed="", tests=["local_drift"]).sentence


def test_one_table_in_halves_is_said_in_the_lead() -> None:
    frames = tables("desk_log", 6)
    one = pd.concat(frames.values())
    halved = quick({"oos": one})
    assert halved.judged == "the later half of the interactions against the earlier"
    assert ": one table, halved at 2026-02-1" in halved.sentence
    given = quick({"oos": one}, oot_from="2026-03-01")
    assert "halved" not in given.sentence + given.judged
