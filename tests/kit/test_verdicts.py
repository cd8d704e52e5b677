"""The worst group decides: its light, what holds it back, the sentence, and one joint bootstrap."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evalbench.core.measures import mean_of, recall_of, share_of
from evalbench.kit.evidence import Absent
from evalbench.kit.verdicts import NAMED, bands_of, by_group, held_back_by, pass_mark, reaches, worst_group

MEASURES = (mean_of("score"), share_of("passed"))


def table(scores: dict[str, list[float | None]], **columns: object) -> pd.DataFrame:
    rows = [{"id": f"q{i:02}", "model": m, "score": s} for m, own in scores.items() for i, s in enumerate(own)]
    items = pd.DataFrame(rows).astype({"score": float}).assign(unscored="", undefined="", **columns)
    return items.assign(passed=reaches(items["score"], 0.8))


def judged(items, measures=MEASURES, lights=None, **options):
    lights = {"score": [0.8]} if lights is None else lights
    return worst_group(items, measures, "model", lights=lights, n_resamples=50, **options)


class TestBands:
    def test_a_pass_mark_of_nothing_is_written_as_0(self):
        assert str(pass_mark(0.0, higher_is_better=False)) == "green: ≤ 0; red: > 0"

    def test_a_pass_mark_is_reached_but_for_floating_point(self):
        band = bands_of([0.3])
        assert (band.light(0.1 + 0.2), band.light(0.3 - 1e-12), band.light(0.29)) == ("green", "green", "red")
        assert band.cuts == (0.3,)

    @pytest.mark.parametrize("cut", [0.05, 0.1, 0.4, 0.7, 45])
    def test_a_cut_is_recorded_as_it_was_given(self, cut):
        rules = ({"yellow_from": cut, "green_from": 2 * cut}, {"green_to": cut, "yellow_to": 2 * cut})
        assert [bands_of(rule).cuts for rule in (*rules, [cut])] == [(cut, 2 * cut), (cut, 2 * cut), (cut,)]

    def test_less_is_better(self):
        assert [bands_of([0.2], higher_is_better=False).light(x) for x in (0.2, 0.21)] == ["green", "red"]

    def test_thresholds_of_three_lights_are_named(self):
        with pytest.raises(ValueError, match="too many values"):
            bands_of([0.4, 0.8])

    def test_no_cut_is_no_light(self):
        assert bands_of(()) is None


class TestGroups:
    def test_the_whole_follows_where_there_are_several(self):
        items = table({"b": [1, 1], "a": [0, 1]})
        assert [(dict(e.group), e.value) for e in by_group(items, MEASURES[:1], "model", whole=True)] == [
            ({"model": "a"}, 0.5), ({"model": "b"}, 1.0), ({}, 0.75)
        ]  # fmt: skip
        assert len(by_group(table({"a": [0, 1]}), MEASURES[:1], "model", whole=True)) == 1

    def test_without_the_column_the_items_are_one_group(self):
        (only,) = by_group(table({"a": [0, 1]}).drop(columns="model"), MEASURES[:1], "model")
        assert dict(only.group) == {}
        assert judged(table({"a": [1] * 20}).drop(columns="model")).verdict.light == "green"


class TestTheWorstDecides:
    def test_it_is_named_first_with_the_share(self):
        found = judged(
            table({"a": [1] * 20, "b": [0.5] * 10 + [1] * 10}), what="Mean score", over="20 problems", share="passed"
        )
        verdict = found.verdict
        assert (verdict.light, verdict.would_be, verdict.decided_by) == ("red", None, {"metric": "score", "model": "b"})
        assert verdict.sentence.startswith(
            "Mean score 0.75 [0.62, 0.87] (b, 50% passed); 1.00 [0.84, 1.00] (a, 100% passed); 20 problems, threshold 0.8."
        )
        assert verdict.rule == "Mean score, the worst model decides: red: < 0.8; green: ≥ 0.8"
        assert found.estimate("score", model="a").light == "green"
        assert found.estimate("passed", model="a").light == "unlit"

    def test_stability_is_joint(self):
        """Two models that fail on opposite items: whichever items are drawn, one of them is bad."""
        right = np.tile([1.0, 0.0], 10)
        items = table({"a": list(right), "b": list(1 - right)})
        assert judged(items, lights={"score": [0.55]}).verdict.stability == 1.0
        assert judged(items[items["model"] == "a"], lights={"score": [0.55]}).verdict.stability < 0.95

    def test_of_many_groups_the_ends_are_named(self):
        items = table({f"m{k:02}": [k / 20] * 20 for k in range(NAMED + 1)})
        sentence = judged(items, over="20 problems").verdict.sentence
        assert sentence.startswith(
            "score from 0.00 [0.00, 0.16] (m00) to 0.60 [0.50, 0.66] (m12); 13 models, 20 problems"
        )

    def test_a_measure_of_which_less_is_better(self):
        items = table({"a": [0.1] * 20, "b": [0.5] * 20})
        found = judged(
            items, (mean_of("score", higher_is_better=False),), {"score": {"green_to": 0.2, "yellow_to": 0.4}}
        ).verdict
        assert (found.light, found.decided_by["model"]) == ("red", "b")
        assert found.sentence.startswith("score 0.50 [0.42, 0.58] (b); 0.10 [0.08, 0.25] (a)")

    def test_of_several_lit_measures_the_one_that_decides_is_told(self):
        items = table({"a": [0.9] * 20}).assign(other=0.1)
        lights = {name: {"green_from": 0.8, "yellow_from": 0.4} for name in ("score", "other")}
        found = judged(items, (mean_of("score"), mean_of("other")), lights).verdict
        assert found.light == "red"
        assert found.sentence.startswith("other 0.1")
        assert found.rule.endswith("; the worst decides")
        assert "score: red: < 0.4" in found.rule

    def test_without_thresholds_there_is_no_light(self):
        found = judged(table({"a": [1] * 20}), lights={})
        assert (found.verdict.light, found.verdict.decided_by) == ("unlit", None)
        assert (
            found.verdict.sentence == "score 1.00 [0.84, 1.00] (a); 20 items. No thresholds set, so there is no light."
        )
        named = judged(table({"a": [1] * 20}), lights={"passed": ()}).verdict
        assert named.sentence.startswith("passed 1.00")

    def test_a_light_of_what_is_not_measured_is_refused(self):
        with pytest.raises(ValueError, match="not measured: scor"):
            judged(table({"a": [1] * 20}), lights={"scor": [0.8]})

    def test_the_study_s_own_remark(self):
        assert judged(table({"a": [1] * 20}), remark="All is well.").verdict.sentence.endswith("0.8. All is well.")


class TestHeldBack:
    def test_for_all_groups(self):
        why = held_back_by("baseline/lexical")
        found = judged(table({"a": [1] * 20, "b": [0.1] * 20}), held_back=why)
        verdict = found.verdict
        assert (verdict.light, verdict.would_be, verdict.stability) == ("grey", "red", 1.0)
        assert verdict.decided_by == {"metric": "score", "model": "b"}
        assert verdict.sentence.endswith(
            " The judge of the citations is baseline/lexical, which compares words, so the light stays grey; the figures alone would give red."
        )
        assert {e.light for e in found.estimates} == {"grey", "unlit"}
        assert held_back_by("openai/some-model") == ""

    def test_one_group_beside_a_green_one(self):
        found = judged(table({"a": [1] * 20, "b": [0.1] * 20}), held_back={"b": "its answers are not marked"})
        assert (found.verdict.light, found.verdict.would_be) == ("grey", "red")
        assert (
            "b: its answers are not marked, so the light stays grey; the figures alone would give red."
            in found.verdict.sentence
        )
        assert [found.estimate("score", model=m).light for m in "ab"] == ["green", "grey"]

    def test_one_group_beside_a_red_one(self):
        found = judged(table({"a": [1] * 20, "b": [0.1] * 20}), held_back={"a": "its answers are not marked"})
        assert (found.verdict.light, found.verdict.would_be) == ("red", None)
        assert "so the light of a stays grey." in found.verdict.sentence
        assert found.verdict.stability == 1.0

    def test_too_many_unscored(self):
        items = table({"a": [1] * 36 + [None] * 4, "b": [1] * 40})
        items["unscored"] = np.where(items["score"].isna(), "cut", "")
        found = judged(items, max_unscored=0.05)
        assert (found.verdict.light, found.verdict.would_be) == ("grey", "green")
        assert found.verdict.sentence.endswith(
            " 4 of 80 could not be scored (4 cut). More than 5% are unscored (a): not enough evidence for a light; the figures alone would give green."
        )
        assert "10% unscored" in found.estimate("score", model="a").note
        assert found.estimate("score", model="b").light == "green"
        assert judged(items, max_unscored=0.1).verdict.light == "green"

    def test_nothing_has_a_value(self):
        items = table({"a": [None] * 3})
        items["unscored"] = "cut"
        found = judged(items, max_unscored=0.05).verdict
        assert (found.light, found.would_be) == ("grey", None)
        assert found.sentence.startswith("score has no value (a: every item is unscored: 3 cut)")

    def test_undefined_items_are_counted_with_their_reasons(self):
        items = table({"a": [1] * 20 + [None]})
        items["undefined"] = np.where(items["score"].isna(), "no-reference", "")
        found = judged(items).verdict
        assert found.light == "green"
        assert found.sentence.endswith(" 1 of 21 have no value (1 no reference).")

    def test_few_units(self):
        few = table({"a": [1] * 3, "b": [1] * 20})
        found = judged(few, (mean_of("score", least_units=20),), absent=Absent()).verdict
        assert (found.light, found.would_be) == ("grey", "green")
        assert found.sentence.endswith(
            "a: only 3 have a value and a light needs 20, so the light stays grey; the figures alone would give green."
        )
        unlit = judged(few, lights={}, absent=Absent()).verdict.sentence
        assert "Fewer than 20 have a score (a): the interval is too narrow." in unlit
        three = (mean_of("score", least_units=3),)
        assert judged(few, three, absent=Absent()).verdict.light == "green"

    def test_absent_units(self):
        items = table({"a": [1] * 40, "b": [1] * 25})
        found = judged(items).verdict
        assert (found.light, found.would_be) == ("grey", "green")
        assert found.sentence.endswith(
            " 15 of 40 items absent (b), left out. b: more than 5% absent, so the light stays grey; "
            "the figures alone would give green."
        )
        assert [note.kind for note in found.notes] == ["absent"]
        filled = items.assign(row_absent=items["id"] > "q35")
        assert "4 of 40 items absent (a), counted 0" in judged(filled[filled["model"] == "a"]).verdict.sentence
        apart = items.assign(id=items["model"] + items["id"])
        assert judged(apart).verdict.light == "green"
        assert judged(items, absent=Absent()).verdict.light == "green"

    def test_a_figure_without_anything_to_count_is_no_evidence(self):
        items = table({"a": [1] * 40}).assign(hit=[1, 1] + [0] * 38, true=[1, 1] + [0] * 38)
        found = judged(items, (recall_of("hit", "true", least_units=20),), {"recall": [0.4]}).verdict
        assert (found.light, found.would_be) == ("grey", "green")
        assert "Only 2 have a value" in found.sentence


class TestHeadline:
    MEASURES = (mean_of("confusion", higher_is_better=False), mean_of("f1", title="F1"))
    LIGHTS = {"confusion": {"green_to": 0.2, "yellow_to": 0.4}}

    def judged(self, f1, confusion=0.0, floor=0.5):
        items = table({"a": [0] * 40}).assign(confusion=confusion, f1=f1)
        return judged(items, self.MEASURES, self.LIGHTS, headline="f1", floor=floor).verdict

    def test_a_bad_headline_makes_it_at_best_yellow_and_says_both(self):
        found = self.judged(0.0)
        assert (found.light, found.decided_by["metric"]) == ("yellow", "f1")
        assert found.sentence.startswith(
            "F1 0.000 [0.000, 0.088] (a); 40 items, at best yellow below 0.5. Confusion 0.000"
        )
        assert "F1: yellow: < 0.5; green: ≥ 0.5" in found.rule

    def test_a_good_headline_is_beside_the_figure_that_decides(self):
        found = self.judged(0.9)
        assert (found.light, found.decided_by["metric"], found.stability) == ("green", "confusion", 1.0)
        assert found.sentence.endswith(" F1 0.900 [0.821, 0.909] (a).")

    def test_a_headline_that_is_listed_first_comes_first(self):
        items = table({"a": [0] * 40}).assign(confusion=0.0, f1=0.9)
        found = judged(items, self.MEASURES[::-1], self.LIGHTS, headline="f1").verdict
        assert found.sentence.startswith("F1 0.900 [0.821, 0.909] (a). Confusion 0.00")

    def test_the_worse_light_decides(self):
        found = self.judged(0.0, confusion=0.9)
        assert (found.light, found.decided_by["metric"]) == ("red", "confusion")
        assert " F1 0.00" in found.sentence

    def test_without_a_floor_the_rule_decides_alone(self):
        assert self.judged(0.0, floor=0).light == "green"


def test_a_study_may_say_how_stable_its_light_is() -> None:
    ids = [f"q{i:02}" for i in range(40)]
    items = pd.DataFrame({"id": ids, "model": "fern", "score": [1.0, 0.0] * 20, "unscored": "", "undefined": ""})
    found = worst_group(
        items, [mean_of("score")], "model", lights={"score": [0.8]}, stable=lambda light: {"red": 0.25}[light]
    )
    assert (found.verdict.light, found.verdict.stability) == ("red", 0.25)


def test_items_that_are_one_unit_have_no_interval_and_the_sentence_says_so():
    items = pd.DataFrame({"id": [*"abcdef"], "needle": "n", "model": "m", "score": [1, 0] * 3})
    items[["unscored", "undefined"]] = ""
    found = worst_group(items, [mean_of("score")], "model", units="needle")
    assert "All items are drawn together as one unit, so there is no interval." in found.verdict.sentence
    assert "too narrow" not in found.verdict.sentence


def test_the_words_of_the_first_figure_are_not_those_of_another_that_decides():
    items = pd.DataFrame({"id": [f"q{i}" for i in range(30)], "model": "m", "score": 0.9, "cost": 7.0})
    items[["unscored", "undefined"]] = ""
    lights = {"score": {}, "cost": {"green_to": 1, "yellow_to": 2}}
    measures = [mean_of("score"), mean_of("cost", higher_is_better=False, worst=None)]
    found = worst_group(items, measures, "model", lights=lights, what="Mean score")
    assert found.verdict.sentence.startswith("cost 7.00")


def test_groups_whose_names_differ_by_case_alone_are_named_in_the_sentence():
    rows = [
        {"id": f"q{i}", "model": m, "score": 1.0, "unscored": "", "undefined": ""}
        for i in range(20)
        for m in ("gpt", "GPT")
    ]
    found = worst_group(pd.DataFrame(rows), [mean_of("score")], "model", n_resamples=50).verdict
    assert "GPT and gpt differ by case alone: are they one model?" in found.sentence
    assert "?." not in found.sentence
    assert [note.kind for note in found.notes] == ["mixed"]


def test_many_groups_that_lack_rows_are_counted_once_and_their_reason_is_said_once():
    full = [("all", f"q{i}") for i in range(40)]
    late = [(f"m{k}", f"q{i}") for k in range(8) for i in range(4)]
    rows = [{"id": i, "model": m, "score": 1.0, "unscored": "", "undefined": ""} for m, i in (*full, *late)]
    lights = {"score": {"green_from": 0.8, "yellow_from": 0.5}}
    sentence = worst_group(
        pd.DataFrame(rows), [mean_of("score")], "model", lights=lights, n_resamples=50
    ).verdict.sentence
    assert "36 of 40 items absent (m0, m1, m2 and 5 more), left out." in sentence
    assert sentence.count("more than 5% absent") == 1
