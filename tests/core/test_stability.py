"""One joint bootstrap behind every light that several groups or figures decide, against enumeration and loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from evalbench import cot_levels
from evalbench.core.measures import f1_of, mean_of
from evalbench.core.stability import Lit, joint_stability, light_stability
from evalbench.core.verdict import Bands, Case, Rules, When, worst, worst_lights

PASS = Bands.cut("red", 0.5, "green")


def enumerated(groups):
    """The share of each light over every possible resample of the units, one by one; groups map units to lists of items."""
    units = sorted({unit for items, _ in groups for unit in items})
    worsts = []
    for drawn in product(units, repeat=len(units)):
        lights = []
        for items, value in groups:
            found = [x for unit in drawn for x in items.get(unit, [])]
            lights.append(PASS.light(value(found)))
        worsts.append(worst(lights))
    return {light: worsts.count(light) / len(worsts) for light in ("red", "grey", "green")}


def mean(scores):
    return float(np.mean(scores)) if scores else None


def lit_of(items, figure, columns):
    pairs = [(unit, x) for unit, found in items.items() for x in found]
    table = {name: [np.atleast_1d(x)[j] for _, x in pairs] for j, name in enumerate(columns)}
    return Lit(table, [unit for unit, _ in pairs], figure)


class TestAgainstEveryPossibleResample:
    score = mean_of("score", bands=PASS)
    ash = {"a": [1.0], "b": [0.3], "c": [0.9], "d": [0.2]}

    @pytest.mark.parametrize(
        "other",
        [
            {"a": [1.0], "b": [0.3], "c": [0.9], "d": [0.2]},  # the same: nothing is lost by a second group
            {"a": [0.2], "b": [0.9], "c": [0.3], "d": [1.0]},  # the opposite
            {"a": [0.9], "c": [0.4]},  # lacks units
            pytest.param({"e": [0.9], "f": [0.4]}, marks=pytest.mark.slow),  # has none of the other's
            {"a": [0.1, 0.9, 0.9], "b": [0.6], "c": [], "d": [0.4, 0.8]},  # several items to a unit
        ],
    )
    def test_two_groups(self, other):
        groups = [(self.ash, mean), (other, mean)]
        for light, share in enumerated(groups).items():
            found = joint_stability(
                [lit_of(items, self.score, ["score"]) for items, _ in groups], light, seed=3, n_resamples=20_000
            )
            assert found == pytest.approx(share, abs=0.015), light

    def test_two_figures_of_one_group(self):
        counts = {"a": [(3, 0, 1, 0.2)], "b": [(0, 2, 2, 0.9)], "c": [(1, 1, 1, 0.6)], "d": [(0, 0, 0, 0.5)]}

        def f1(rows):
            tp, fp, fn = (sum(r[j] for r in rows) for j in range(3))
            return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None

        columns = ["tp", "fp", "fn", "score"]
        figures = [f1_of("tp", "fp", "fn", bands=PASS), self.score]
        found = joint_stability(
            [lit_of(counts, figure, columns) for figure in figures], "red", seed=0, n_resamples=20_000
        )
        by_hand = enumerated([(counts, f1), (counts, lambda rows: mean([r[3] for r in rows]))])["red"]
        assert found == pytest.approx(by_hand, abs=0.015)

    def test_a_second_group_that_is_the_first_changes_nothing_and_an_independent_one_does(self):
        draw = np.random.default_rng(0)
        units = [f"{i:03}" for i in range(200)]
        one = (draw.permutation(200) < 101).astype(float)
        other = (draw.permutation(200) < 101).astype(float)
        alone = joint_stability([Lit({"score": one}, units, self.score)], "green", seed=0)
        twice = joint_stability([Lit({"score": one}, units, self.score)] * 2, "green", seed=0)
        apart = joint_stability([Lit({"score": x}, units, self.score) for x in (one, other)], "green", seed=0)
        assert alone is not None
        assert twice == pytest.approx(alone, abs=0.05)
        assert apart is not None
        assert apart < alone - 0.1


def test_what_evidence_holds_back_is_grey_in_every_resample():
    good = Lit({"score": [1.0, 1.0]}, ["a", "b"], mean_of("score", bands=PASS))
    assert joint_stability([good], "green", seed=0) == 1
    assert joint_stability([good, good._replace(held=True)], "grey", seed=0) == 1


def test_one_unit_or_nothing_lit_has_no_stability():
    assert joint_stability([], "red", seed=0) is None
    assert joint_stability([Lit({"score": [1.0]}, ["a"], mean_of("score", bands=PASS))], "green", seed=0) is None


def test_the_order_of_lights_is_one():
    lights = ["green", "red", "unlit", "grey", "yellow"]
    pairs = list(product(lights, lights))
    columns = [[a for a, _ in pairs], [b for _, b in pairs]]
    assert worst_lights(columns).tolist() == [worst([a, b]) for a, b in pairs]


def test_two_models_that_agree_on_nearly_all_are_drawn_together():
    # Separate bootstraps of the two have nothing to do with each other at this size, and keep their lights by chance.
    draw = np.random.default_rng(4)
    final = (draw.permutation(200) < 101).astype(float)
    nearly = np.where(np.arange(200) < 4, 1 - final, final)
    parts = (
        "correct",
        "steps",
        "similarity",
        "coherence",
        "answer_strict",
        "answer_flexible",
        "accuracy",
        "sourced",
        "marked",
    )
    items = pd.concat(
        pd.DataFrame({"id": [f"{i:03}" for i in range(200)], "model": model, "final": scores, "unscored": "", "undefined": ""})
        for model, scores in (("ash", final), ("oak", nearly))
    ).assign(reference_coherence=1.0, **dict.fromkeys(parts, 1.0))  # fmt: skip
    alone, both = (
        cot_levels.summarise(rows, threshold=0.5).verdict for rows in (items[items["model"] == "ash"], items)
    )
    drawn = draw.integers(200, size=(20_000, 200))
    by_hand = ((final[drawn].mean(axis=1) >= 0.5) & (nearly[drawn].mean(axis=1) >= 0.5)).mean()
    assert both.light == alone.light == "green"
    assert both.stability == pytest.approx(by_hand, abs=0.03)
    assert both.stability > alone.stability**2 + 0.1


def test_stability_is_the_share_of_the_same_light():
    bands = Bands.cut("red", 0.4, "yellow", 0.7, "green")
    assert light_stability(bands, [0.1, 0.5, 0.6, np.nan], "yellow") == 0.5
    assert light_stability(bands, [np.nan], "grey") == 1.0
    assert light_stability(bands, [], "grey") is None
    rules = Rules((Case("green", "good", all_of=(When("a", ">=", 0.5), When("b", ">=", 0.5))),), otherwise="red")
    figures = {"a": [0.6, 0.6, 0.4], "b": [0.7, 0.2, 0.9]}
    assert light_stability(rules, figures, "green") == pytest.approx(1 / 3)


def test_stability_refuses_the_wrong_replicates():
    with pytest.raises(TypeError, match="Bands judge one figure"):
        light_stability(Bands.cut("red", 0.4, "green"), {"a": [1.0]}, "green")
    with pytest.raises(TypeError, match="each figure by name"):
        light_stability(Rules((Case("green", "g", all_of=(When("a", ">", 0),)),), "red"), [1.0], "green")
