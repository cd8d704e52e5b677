"""Drift: the month in which it sets in, the control, lights at their boundaries, the rule over the statistics, labels of every kind."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drifted import KEY, evaluated, small, tables

from evalbench.errors import BadInput
from evalbench.studies.drift.lights import DROP, TESTS, bands_for, of_drop, overall
from evalbench.studies.drift.summary import settings_of


@cache
def lights(name: str) -> dict[str, dict[str, str]]:
    table = evaluated(tables(name)).tables["lights"]
    return {row["name"] or "all": {test: row[test] for test in TESTS} for row in table.to_dict("records")}


@pytest.mark.slow
def test_every_test_turns_in_the_month_in_which_the_drift_sets_in() -> None:
    found = lights("desk_log")
    assert set(found["2026-03"].values()) == {"green"}
    for month in ("2026-04", "2026-05", "2026-06"):
        assert set(found[month].values()) == {"red"}, month


@pytest.mark.slow
def test_the_control_stays_green() -> None:
    assert {light for row in lights("desk_log_control").values() for light in row.values()} == {"green"}


@pytest.mark.parametrize(
    ("drop", "light"),
    [
        (14.999, "green"),
        (15, "yellow"),
        (15.001, "yellow"),
        (24.999, "yellow"),
        (25, "yellow"),
        (25.001, "red"),
        (-40, "green"),
    ],
)
def test_a_drop_at_its_boundaries(drop: float, light: str) -> None:
    key = settings_of({"key_bands": KEY}).key
    assert of_drop([drop], [0.9], DROP, key)[0] == light
    assert of_drop([drop], [0.9], DROP, None)[0] == light
    assert of_drop([drop], [0.6], DROP, key)[0] == "red"


@pytest.mark.parametrize(
    ("figure", "values"),
    [
        ("gini", {0.399: "green", 0.4: "yellow", 0.401: "yellow", 0.799: "yellow", 0.8: "red", 0.801: "red"}),
        ("counts", {0.499: "green", 0.5: "yellow", 0.501: "yellow", 0.999: "yellow", 1.0: "red", 1.001: "red"}),
        ("stop_words", {0.499: "green", 0.5: "yellow", 99.0: "yellow"}),
        ("new_tokens", {0.299: "green", 0.3: "yellow", 0.301: "yellow", 0.499: "yellow", 0.5: "red", 0.501: "red"}),
    ],
)
def test_bounds_open_in_print_take_the_worse_light(figure: str, values: dict[float, str]) -> None:
    bands = bands_for(figure, "handbook", {})
    assert {x: bands.light(x) for x in values} == values
    assert bands.light(None) == "grey"


@pytest.mark.parametrize(
    ("responses", "requests", "light"),
    [
        ("rrr", "", "red"),
        ("rrggg", "", "yellow"),
        ("rgggg", "", "yellow"),
        ("yyygg", "", "yellow"),
        ("yyggg", "", "green"),
        ("ggggg", "rrrg", "yellow"),
        ("ggggg", "rryy", "green"),
        ("xxxxx", "rrrr", "grey"),
        ("xxxxg", "", "green"),
    ],
)
def test_the_rule_over_the_statistics(responses: str, requests: str, light: str) -> None:
    names = {"r": "red", "y": "yellow", "g": "green", "x": "grey"}
    of = [[[names[c]] for c in side] for side in (responses, requests)]
    assert overall(*of).tolist() == [light]


def test_labels_of_minus_one_and_one_are_those_of_nought_and_one() -> None:
    frames = tables("desk_log", 6)
    signed = {t: f.assign(label=f["label"].map({"1": "1", "0": "-1"})) for t, f in frames.items()}
    true = {t: f.assign(label=f["label"].map({"1": "true", "0": "false"})) for t, f in frames.items()}
    first = small(tests=["key_metric"])
    for other in (signed, true):
        again = evaluated(other, embed="", tests=["key_metric"])
        assert again.summary.estimates[0].value == first.summary.estimates[0].value
        assert again.light == first.light


def test_without_key_bands_a_small_drop_is_green_and_the_page_says_that_the_level_was_not_judged() -> None:
    found = evaluated(tables("desk_log_control", 6), embed="", key_bands={}, tests=["key_metric"])
    assert found.light == "green"
    assert found.sentence.endswith(
        "Without key_bands the drop alone decides; the level of the key metric was not judged."
    )
    assert "level" not in evaluated(tables("desk_log_control", 6), embed="", tests=["key_metric"]).sentence


def test_global_drift_that_lacks_rows_is_left_out_and_holds_nothing_back() -> None:
    frames = tables("desk_log_control", 4)
    few = evaluated(frames, key_bands={}, tests=["key_metric", "local_drift", "global_drift"])
    lights = few.tables["lights"].iloc[0]
    assert (lights["global_drift"], few.estimate("predicted_drop").light) == ("unlit", "unlit")
    assert few.light == "green"
    assert "global drift: not judged, " in few.sentence
    assert "900 labelled rows" in few.sentence


def test_without_labels_of_oot_the_other_tests_decide() -> None:
    frames = tables("desk_log_control", 6)
    found = evaluated({**frames, "oot": frames["oot"].drop(columns="label")}, embed="")
    assert "key metric: not judged, OOT has no labels" in found.sentence[:1].lower() + found.sentence[1:]
    assert found.estimate("drop").light == "unlit"
    assert found.estimate("drop").value is None


def test_both_presets_and_ratio_of_new_tokens_are_shown() -> None:
    found = small(new_tokens="ratio", tests=["statistics"])
    table = found.tables["statistics"].set_index(["statistic", "of"])
    row = table.loc[("new_tokens", "responses")]
    assert row["value"] == pytest.approx(row["share_new"] / row["share_expected"] - 1)
    thumb = small(preset="rule_of_thumb", tests=["statistics"]).tables["statistics"]
    assert set(thumb["rule_of_thumb"]) >= {"red"}
    assert {"handbook", "rule_of_thumb", "edges", "epsilon"} <= set(thumb)


def test_one_table_is_divided_by_windows_or_at_its_middle() -> None:
    frames = tables("desk_log", 6)
    whole = pd.concat(frames.values(), ignore_index=True)
    apart = evaluated({"oos": whole}, embed="", oos_to="2026-03-01", oot_from="2026-03-01")
    both = small()
    assert [(e.place, e.value) for e in apart.summary.estimates] == [(e.place, e.value) for e in both.summary.estimates]
    halves = evaluated({"oos": whole}, embed="", tests=["statistics"])
    assert any("the earlier half" in note for note in halves.notes)
    sizes = halves.items["side"].value_counts()
    assert abs(sizes["oos"] - sizes["oot"]) <= 1
    marked = whole.assign(part=["oos"] * len(frames["oos"]) + ["OOT"] * len(frames["oot"]))
    assert (evaluated({"oos": marked}, embed="", tests=["key_metric"]).items["side"] == "oot").sum() == len(
        frames["oot"]
    )


def test_slices_have_a_row_of_lights() -> None:
    found = evaluated(tables("desk_log", 6), slices="lang", embed="")
    rows = found.tables["lights"]
    assert set(rows.loc[rows["part"] == "lang", "name"]) == {"en", "ru"}
    assert (rows.loc[rows["part"] == "lang", "global_drift"] == "unlit").all()


def test_the_best_constant_answer_is_beside_the_accuracy() -> None:
    truth = np.array(["yes", "no"] * 50)
    rows = pd.DataFrame({"id": range(100), "question": [f"Is {i} prime?" for i in range(100)], "reference": truth})
    said = {"oos": truth, "oot": np.full(100, "no")}
    frames = {
        side: rows.assign(answer=answers, label=(answers == truth).astype(int).astype(str))
        for side, answers in said.items()
    }
    found = evaluated(frames, embed="", tests=["key_metric"])
    assert 'accuracy 0.500, no better than always "no" (0.500' in found.estimate("quality", side="oot").note
    assert "better than always" in found.estimate("quality", side="oos").note


def test_light_on_the_interval() -> None:
    assert small(tests=["key_metric"], light_on="ci", key_bands={"green_from": 0.1, "yellow_from": 0.05}).light in (
        "yellow",
        "red",
    )
    found = evaluated(tables("desk_log_control", 6), embed="", tests=["key_metric"], light_on="ci")
    assert found.light == "yellow"  # the interval of 80 labels reaches below 0.7


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"oos_from": "2026-03-01", "oos_to": "2026-02-01"}, "oos_from must be before oos_to"),
        ({"oos_to": "2026-04-01", "oot_from": "2026-03-01"}, "the windows overlap"),
        ({"oot_from": "tomorrow"}, "oot_from must be a date or time"),
        ({"tests": ["drift"]}, "tests must be one of"),
        ({"key_bands": {"green_from": 0.5}}, "set together"),
        ({"lights": {"psi_raw": {"green_to": 1, "yellow_to": 2}}}, "lights must be one of drop, .*psi_raw"),
    ],
)
def test_faulty_options_are_named(options: dict[str, Any], fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        small(**options)
