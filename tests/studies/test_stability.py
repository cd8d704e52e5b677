"""The study of stability to augmentations: figures by hand, lights, what has no score."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from augmented import answers, judged, tables
from studied import evaluated, sample, whole

from evalbench.errors import BadInput
from evalbench.studies import stability
from evalbench.studies.stability.inputs import CHARACTERS, WORDS

# -- figures --------------------------------------------------------------------------------------


def test_the_figures_of_four_items_by_hand():
    result = judged(answers(), metric="exact_match")
    found = {metric: result.estimate(metric, augmentation="butter_finger").value for metric in
             ("before", "after", "drop", "relative_drop", "changed", "worse")}  # fmt: skip
    assert found == pytest.approx(
        {"before": 0.75, "after": 0.5, "drop": 25.0, "relative_drop": 1 / 3, "changed": 0.75, "worse": 0.5}
    )
    assert result.estimate("characters").value == 25.0
    assert result.items["drop"].tolist() == [0, 100, 100, -100]
    assert result.by == ("augmentation",)


def test_the_interval_is_paired():
    """Items that are hard before and after do not widen it."""
    rng = np.random.default_rng(1)
    before = 0.2 + 0.7 * rng.random(60)
    result = judged(tables(before, before - 0.1))
    e = result.estimate("drop", augmentation="butter_finger")
    assert e.value == pytest.approx(10)
    assert result.estimate("before", augmentation="butter_finger").ci_high - before.mean() > 0.04
    assert e.ci_high - e.ci_low < 8, "all items agree: Wilson's for 60 of 60"


def test_less_is_better_where_the_range_says_so():
    result = judged(tables([0.1] * 40, [0.4] * 40), score_range=[1, 0])
    assert result.estimate("drop", augmentation="butter_finger").value == pytest.approx(30)
    assert result.estimate("relative_drop", augmentation="butter_finger").value == pytest.approx(0.3 / 0.9)
    assert result.light == "red"
    marks = judged(tables([5, 4] * 20, [3, 4] * 20), score_range=[1, 5])
    assert marks.estimate("drop", augmentation="butter_finger").value == pytest.approx(25)


# -- lights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fall", "light"), [(4, "green"), (5, "yellow"), (10, "yellow"), (11, "red"), (0, "green"), (-8, "green")]
)
def test_the_bands_have_no_gap_and_5_and_10_are_yellow(fall, light):
    before = [1] * 100 if fall >= 0 else [1] * 50 + [0] * 50
    after = [0] * fall + [1] * (100 - fall) if fall >= 0 else [1] * (50 - fall) + [0] * (50 + fall)
    assert judged(tables(before, after), light_on="estimate").light == light


def test_own_thresholds_take_the_better_light():
    rule = {"drop": {"green_to": 5, "yellow_to": 10}}
    assert judged(tables([1] * 100, [0] * 5 + [1] * 95), light_on="estimate", lights=rule).light == "green"
    with pytest.raises(BadInput, match="drop") as caught:
        judged(tables([1] * 9, [1] * 9), lights={"fall": {"green_to": 1, "yellow_to": 2}, "drop": {"green_from": 1}})
    assert len(caught.value.faults) == 2


def test_a_drop_whose_own_interval_shows_more_than_all_tests_together_says_so():
    items = pd.DataFrame({"id": [f"q{i:02}" for i in range(40)], "score": 1.0})
    fell = ((name, [0.0] * n + [1.0] * (40 - n)) for name, n in (("typos", 10), ("swap", 9)))
    variants = pd.concat([items.assign(augmentation=name, score=after) for name, after in fell])
    e = judged({"items": items, "variants": variants}, metric="score").estimate("drop", augmentation="typos")
    assert (e.light, e.ci_low > 10) == ("yellow", True)
    assert "once 2 augmentations are tested together (Holm)" in e.note


def test_a_drop_is_shown_by_its_interval_and_else_it_is_not_called_green():
    big = judged(tables([1] * 400, [0] * 100 + [1] * 300))
    assert big.light == "red"
    medium = judged(tables([1] * 400, [0] * 48 + [1] * 352))
    assert (medium.light, medium.estimate("characters").value) == ("yellow", 12)
    assert "above 10 pp is not shown" in medium.frame()["note"].str.cat(sep=" ")
    few = judged(tables([1] * 20, [0] * 3 + [1] * 17))
    assert few.light == "grey"
    assert "too few items to say" in few.sentence
    some = judged(tables([1] * 45, [0, 0] + [1] * 43))
    assert re.search(r"above 10 pp: too few items to say, about \d\d with such answers would do", some.sentence)
    none = judged(tables([1] * 20, [1] * 20))
    assert none.light == "grey", "20 items without a change do not rule out a fall of more than 10"
    assert judged(tables([1] * 60, [1] * 60)).light == "green"


def test_a_score_that_is_low_already_gives_no_green_light():
    result = judged(tables([1] * 4 + [0] * 96, [1] * 4 + [0] * 96))
    assert result.light == "grey"
    assert "before is 4 pp above the worst" in result.sentence
    assert judged(tables([1] * 4 + [0] * 96, [1] * 4 + [0] * 96), light_on="estimate").light == "grey"


def test_holm_goes_over_the_augmentations_of_a_model():
    hard = [0] * 13 + [1] * 87
    one = judged(tables([1] * 100, hard))
    many = judged(tables([1] * 100, {f"a{i:02}": hard if i == 0 else [1] * 100 for i in range(30)}))
    alone, among = (r.tables["drops"].set_index("augmentation") for r in (one, many))
    assert alone.loc["butter_finger", "p_yellow"] < 0.025
    assert among.loc["a00", "p_yellow"] == pytest.approx(30 * alone.loc["butter_finger", "p_yellow"], rel=0.6)
    assert (one.light, many.light) == ("yellow", "grey")


def test_the_worst_augmentation_decides_its_test_and_the_worst_test_the_light():
    stable, broken = [1] * 200, [0] * 80 + [1] * 120
    result = judged(tables([1] * 200, {"butter_finger": stable, "paraphrase": broken, "word_swap": stable}))
    assert (result.estimate("characters").light, result.estimate("words").light, result.light) == (
        "green",
        "red",
        "red",
    )
    assert result.verdict.decided_by == {"metric": "drop", "augmentation": "paraphrase"}
    assert "Characters: green" in result.sentence
    assert "Words: red, under paraphrase a drop of 40" in result.sentence


def simulated(light_on, share, fall=0.0, n=100, runs=40):
    """Lights of six augmentations under which a share of the items flips at random, and a share falls."""
    rng = np.random.default_rng(7)
    names = [*CHARACTERS, *WORDS[:3]]
    keys = {
        "id": [f"q{i:03}" for i in range(n)] * 6,
        "augmentation": np.repeat(names, n),
        "level": np.repeat(["characters", "words"], 3 * n),
    }
    lights = []
    for _ in range(runs):
        before = np.tile((rng.random(n) < 0.5).astype(float), 6)
        after = np.where(rng.random(6 * n) < share, 1 - before, before)
        after = np.where(rng.random(6 * n) < fall, 0.0, after)
        scores = {"before": before, "after": after, "drop": 100 * (before - after), "above_worst": 100 * before}
        moved = {"changed": (before != after).astype(float), "worse": (after < before).astype(float)}
        items = pd.DataFrame({**keys, **scores, **moved, "unscored": "", "undefined": ""})
        lights.append(stability.summarise(items, light_on=light_on, n_resamples=100).verdict.light)
    return pd.Series(lights).value_counts(normalize=True)


@pytest.mark.slow
def test_chance_alone_makes_the_estimate_yellow_and_not_what_the_interval_shows():
    by_estimate, by_interval = (simulated(how, 0.1) for how in ("estimate", "ci"))
    assert by_estimate.get("yellow", 0) + by_estimate.get("red", 0) > 0.25
    assert by_interval.get("yellow", 0) + by_interval.get("red", 0) < 0.05
    enough = simulated("ci", 0.1, n=600, runs=8)
    assert enough["green"] > 0.9


def test_a_true_drop_is_found():
    assert simulated("ci", 0.05, fall=0.5, n=300, runs=8)["red"] == 1


def test_what_was_planted_is_found_and_named():
    result = evaluated("stability", sample("stability"), n_resamples=1000)
    assert result.light == "red"
    assert "Characters: red. oak-7b red, under butter_finger a drop of" in result.sentence
    lights = {
        (r["model"], r["level"]): r["light"] for r in result.tables["drops"].to_dict("records") if r["light"] != "green"
    }
    assert lights == {("oak-7b", "characters"): "yellow"} or set(lights) == {("oak-7b", "characters")}
    assert [result.estimate("characters", model=m).light for m in ("fern-1b", "oak-7b")] == ["green", "red"]
    assert [result.estimate("words", model=m).light for m in ("fern-1b", "oak-7b")] == ["green", "green"]
    own = result.tables["comparison"].set_index("metric")["outcome"]
    assert own["drop butter_finger"] == "better"
    assert own["drop transliterate"] == "no difference shown"


# -- what has no score ----------------------------------------------------------------------------


def test_an_item_enters_the_drop_only_where_both_sides_are_scored():
    frames = answers()
    frames["variants"].loc[1, "answer"] = None
    frames["items"].loc[3, "answer"] = None
    result = judged(frames, metric="exact_match")
    e = result.estimate("drop", augmentation="butter_finger")
    assert (e.n, e.n_unscored, e.value) == (2, 2, 50.0)
    assert result.estimate("before", augmentation="butter_finger").value == 1.0
    assert "2 of 4 could not be scored (2 no output)" in result.sentence
    assert result.light == "grey"


def test_empty_scores_are_unscored_and_words_are_refused():
    frames = tables([1, 1, 0, 1], [1, None, 0, 1])
    frames["variants"]["score"] = ["1", "", "0", "True"]
    found = judged(frames).items
    assert found["unscored"].tolist() == ["", "no-value", "", ""]
    frames["variants"]["score"] = ["1", "good", "0", "nan"]
    with pytest.raises(
        BadInput, match=r"table variants, column score: 1 of 4 cells are not numbers, first 'good' \(id q001"
    ):
        judged(frames)
    with pytest.raises(BadInput, match="between 0 and 4"):
        judged(tables([4, 0], [1, 0]))


def test_variants_that_are_their_query_are_counted_apart_and_a_control_is_one():
    frames = answers()
    frames["variants"].loc[0, "question"] = "is it red"
    result = judged(frames, metric="exact_match")
    assert result.items["undefined"].tolist() == ["the variant is the query itself", "", "", ""]
    assert "letter by letter, in no figure: 1 of 4" in "\n".join(result.notes)
    frames["variants"] = pd.concat(
        [frames["variants"], frames["items"].drop(columns="reference").assign(augmentation="again")]
    )
    control = judged(frames, metric="exact_match")
    assert control.estimate("drop", augmentation="again").n == 4
    assert "Asked again with the same query: again" in "\n".join(control.notes)


def test_an_augmentation_that_changed_no_query_is_no_test():
    frames = answers()
    queries = frames["items"].set_index("id")["question"]
    frames["variants"]["question"] = frames["variants"]["id"].map(queries)
    found = judged(frames, metric="exact_match")
    assert set(found.items["undefined"]) == {"the variant is the query itself"}
    assert found.light == "grey"
    assert "the variant is the query itself" in found.sentence


def test_what_either_table_alone_has_is_counted():
    frames = answers()
    more = {"id": "zz", "augmentation": "word_swap", "question": "x", "answer": "yes"}
    frames["variants"] = pd.concat([frames["variants"].head(3), pd.DataFrame([more])])
    result = judged(frames, metric="exact_match")
    said = "\n".join(result.notes)
    assert "Variants of an item that the table does not have, left out: 1 of 4 (zz)." in said
    assert "Items without a variant, in no figure: 1 of 4 (d)." in said
    frames["variants"]["id"] = "zz"
    with pytest.raises(BadInput, match="no variant belongs to an item"):
        judged({**frames, "variants": frames["variants"].tail(1)})


def test_an_augmentation_of_one_item_has_no_interval_and_no_light():
    frames = tables([1] * 50, {"butter_finger": [1] * 50, "word_swap": [0]})
    result = judged(frames)
    e = result.estimate("drop", augmentation="word_swap")
    assert (e.value, e.ci_low, e.light) == (100.0, None, "grey")
    assert result.light == "grey"
    assert "49 of 50 items absent (word_swap), left out." in result.sentence


def test_the_items_that_changed_are_listed_with_the_edits_marked():
    shown = stability.changes(whole("stability"))
    first = shown.iloc[0]
    assert first["f1_score, before → after"] == "1 → 0"
    assert '<mark class="eb-prediction" title="was: ' in "".join(shown["query, and below it the variant"])
    assert len({(row["augmentation"], row["model"]) for _, row in shown.iterrows()}) > 4
    none = judged(tables([1] * 5, [1] * 5))
    assert stability.changes(none)["note"].tolist() == ["the score of no item changed"]


def test_the_light_of_an_estimate_needs_20_items():
    few = judged(tables([1] * 19, [1] * 19), light_on="estimate")
    assert few.light == "grey"
    assert "19 items, and the light of an estimate needs 20" in few.sentence
    assert judged(tables([1] * 20, [1] * 20), light_on="estimate").light == "green"
