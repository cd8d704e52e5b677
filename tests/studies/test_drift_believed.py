"""Drift: what a reviewer might wrongly believe: failures that hide on one side, labels that are few, ids that are only row numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from drifted import KEY, evaluated, tables

from evalbench import drift, load
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
    may = frames["oot"]["time"].str.startswith("2026-05")
    lost = frames["oot"]["answer"].astype(object).mask(may & (np.arange(len(may)) % 3 > 0), None)
    found = quick({**frames, "oot": frames["oot"].assign(answer=lost)})
    assert found.light == "grey"
    lights = found.tables["lights"].set_index("name")["key_metric"]
    assert lights[""] == lights["2026-05"] == "grey"
    assert lights["2026-04"] != "grey"
    few = frames["oot"]["answer"].astype(object).mask(np.arange(len(may)) < 8, None)
    some = quick({**frames, "oot": frames["oot"].assign(answer=few)})
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
    frames = {t: f.assign(question="where is it", answer="it is here") for t, f in tables("desk_log", 3).items()}
    found = quick({**frames, "oot": frames["oot"].assign(answer="das ist da")}, tests=["statistics"])
    share = found.estimate("stop_words_responses")
    assert (share.value, share.light) == (None, "grey")
    assert "name languages" in share.note


def test_without_a_light_the_sentence_names_no_green() -> None:
    frames = tables("desk_log_control", 4)
    lost = frames["oot"]["answer"].astype(object).mask(np.arange(len(frames["oot"])) < 10, None)
    found = quick({**frames, "oot": frames["oot"].assign(answer=lost)}, tests=["key_metric", "statistics"])
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


def test_what_lies_between_the_samples_beside_time_is_in_the_sentence() -> None:
    frames = tables("desk_log_control", 6)
    swapped = quick({"oos": frames["oot"], "oot": frames["oos"]})
    assert "All of OOT is dated before OOS: the two may be swapped." in swapped.sentence
    assert not any("overlap" in note for note in swapped.notes)
    again = quick({"oos": frames["oos"], "oot": frames["oos"].assign(id=[f"b{i}" for i in range(len(frames["oos"]))])})
    assert (
        f"{len(frames['oos'])} of {len(frames['oos'])} rows of OOT are dated before the end of OOS." in again.sentence
    )
    assert "dated" not in quick(frames).sentence


def test_another_model_is_in_the_sentence_and_the_same_is_not() -> None:
    frames = tables("desk_log_control", 6)
    n = len(frames["oot"])

    def said(then: str, now: list[str]) -> str:
        oos, oot = frames["oos"].assign(model=then), frames["oot"].assign(model=now)
        return str(quick({"oos": oos, "oot": oot}).sentence)

    assert "Models: OOS a/1; OOT b/2: a change may be the model's." in said("a/1", ["b/2"] * n)
    assert "Models: OOS a/1; OOT a/1 75%, b/2 25%: a change" in said("a/1", ["a/1"] * (3 * n // 4) + ["b/2"] * (n // 4))
    assert "Models" not in said("a/1", ["a/1"] * n)
    assert "Models" not in said("a/1", [""] * n)


def test_labels_that_never_differ_leave_the_drop_an_interval_with_a_width() -> None:
    frames = {t: f.assign(label="1") for t, f in tables("desk_log_control", 6).items()}
    drop = quick(frames).estimate("drop")
    # Newcombe (1998), method 10, from Wilson's bounds of 200 of 200 and of 80 of 80
    wilson = [100 * (1 - n / (n + 1.959964**2)) for n in (200, 80)]
    assert (drop.value, drop.ci_low, drop.ci_high) == pytest.approx((0, -wilson[0], wilson[1]), abs=1e-3)
    half = {t: f.rename(columns={"label": "score"}).assign(score="0.5") for t, f in frames.items()}
    drop = quick(half, key_bands={}).estimate("drop")
    # a mark of 0.5 leaves those that are unlike half as far to go, on either side
    assert (drop.value, drop.ci_low, drop.ci_high) == pytest.approx((0, -np.hypot(*wilson) / 2, np.hypot(*wilson) / 2))
    assert drop.method == "Newcombe, of both Wilson intervals"


def test_a_single_mark_between_leaves_the_drop_without_an_interval() -> None:
    frames = tables("desk_log_control", 6)
    half = {t: f.rename(columns={"label": "score"}).assign(score="0.5") for t, f in frames.items()}
    half["oot"].loc[half["oot"].index[1:], "score"] = ""
    drop = quick(half, key_bands={}).estimate("drop")
    assert drop.ci_low is None
    assert drop.note.startswith("all marks of a side are equal: no interval")


def test_months_worse_than_the_whole_are_noted() -> None:
    frames = tables("desk_log_control", 3)
    oot = frames["oot"]
    june = oot.assign(label=oot["label"].mask(oot["time"].str.startswith("2026-06"), "0"))
    notes = quick({**frames, "oot": june}, key_bands={}).notes
    assert "Worse than all of OOT together: 2026-06 (key metric red)" in notes
    assert not [n for n in quick(tables("desk_log_control")).notes if n.startswith("Worse than")]


def test_copies_are_noted_and_may_be_drawn_together() -> None:
    frames = {
        t: f.assign(question=[f"Where is room {i % 9}?" for i in range(len(f))])
        for t, f in tables("desk_log_control", 6).items()
    }
    found = quick(frames)
    assert any(n.startswith("OOT: 71 of 80 requests are copies") and "-p cluster=question" in n for n in found.notes)
    together = drift.evaluate(
        load(frames, study="drift", cluster="question"), embed="", tests=["key_metric"], n_resamples=40
    )
    assert "clusters" in together.estimate("drop").method
    assert not any("copies of others" in note for note in together.notes)
