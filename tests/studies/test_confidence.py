"""The study of confidence: shapes of its table, what is right, what is missing, what is planted, a model that is asked."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from studied import evaluated, page, sample, whole

from evalbench import confidence, load
from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.kit.collecting import UNNAMED
from evalbench.metrics.discrimination import auroc

# p: 1, 1/2, 1/2, 0; right, right, wrong, wrong.
ROWS: dict[str, Any] = {
    "id": ["q1", "q2", "q3", "q4"],
    "answer": ["Oslo", "7", "нет", "teal"],
    "samples": [["oslo.", "Oslo"], ["7", "8"], ["да", "Нет!"], ["blue", "green"]],
    "correct": [1, 1, 0, 0],
}


def table(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in {**ROWS, **columns}.items()})


def often(frame: pd.DataFrame, times: int) -> pd.DataFrame:
    """The rows so many times, each a question of its own."""
    parts = [frame.assign(id=frame["id"].astype(str) + f"/{k}") for k in range(times)]
    return pd.concat(parts, ignore_index=True)


def result_of(frame: pd.DataFrame, **options: Any) -> Result:
    data = load({"items": frame}, study="confidence")
    return confidence.evaluate(data, **{"embed": "", "n_resamples": 50, **options})


class TestFigures:
    def test_by_hand(self):
        result = result_of(table())
        assert result.items["p"].tolist() == [1.0, 0.5, 0.5, 0.0]
        found = {e.metric: e.value for e in result.summary.estimates}
        assert found["auroc_uncertainty"] == 3.5 / 4
        assert found["error_rate"] == 0.5
        assert found["overconfidence"] == 0.0
        assert found["calibration_error"] == 0.0
        assert found["auroc_neg_p_log_p_handbook"] == found["auroc_binary_entropy"] == 2 / 4
        assert result.items["cluster_entropy"].tolist() == pytest.approx([0, *[-(1 / 3) * math.log(1 / 3) - (2 / 3) * math.log(2 / 3)] * 2, math.log(3)])  # fmt: skip
        assert (found["threshold"], found["covered"], found["error_at_coverage"]) == (0.0, 1.0, 0.5)
        half = result_of(table(), coverage=0.5)
        found = {e.metric: e.value for e in half.summary.estimates}
        assert (found["threshold"], found["covered"], found["error_at_coverage"]) == (0.5, 0.75, 1 / 3)

    def test_the_figures_are_those_of_the_metrics(self):
        result = whole("confidence")
        for model, own in result.items.groupby("model"):
            for score in ("uncertainty", "binary_entropy", "neg_p_log_p_handbook", "cluster_entropy", "dissimilarity"):
                expected = auroc(own[score], own["wrong"])
                assert result.estimate(f"auroc_{score}", model=str(model)).value == pytest.approx(expected)

    def test_similarity_is_no_probability(self):
        result = result_of(table(), p_by="similarity", embed="use-multilingual")
        assert result.items["p"].tolist() == pytest.approx(result.items["cosine"].clip(0, 1).tolist())
        assert not {"calibration_error", "overconfidence"} & {e.metric for e in result.summary.estimates}
        assert "not a probability" in " ".join(result.notes)
        assert confidence.picture_reliability(result) is None
        assert confidence.reliability(result).empty

    def test_a_score_of_very_many_values_has_the_interval_that_all_its_values_give(self):
        draw = np.random.default_rng(1)
        n = 3000
        p = draw.random(n)
        wrong = (draw.random(n) > p).astype(float)
        items = pd.DataFrame({"id": [f"q{i:04}" for i in range(n)], "model": "fern", "n_samples": 10.0, "p": p})
        items = items.assign(
            uncertainty=1 - p, wrong=wrong, correct=1 - wrong, gap=p + wrong - 1, unscored="", undefined=""
        )
        found = confidence.summarise(items, n_resamples=400).estimate("auroc_uncertainty", model="fern")
        assert found.value == pytest.approx(auroc(1 - p, wrong))
        again = [
            auroc(1 - p[at], wrong[at]) for at in (np.random.default_rng(k).integers(n, size=n) for k in range(400))
        ]
        low, high = np.quantile(again, [0.025, 0.975])
        assert found.ci_low == pytest.approx(low, abs=0.15 * (high - low))
        assert found.ci_high == pytest.approx(high, abs=0.15 * (high - low))

    @pytest.mark.slow
    def test_intervals_cover_what_they_say(self):
        """AUROC of a known truth at 120 answers, p of ten samples."""
        draw = np.random.default_rng(5)
        q = np.random.default_rng(6).beta(3, 1.5, 400_000)
        truth = auroc(1 - draw.binomial(10, q) / 10, draw.random(len(q)) > q)
        inside = 0
        for k in range(150):
            own = np.random.default_rng(1000 + k)
            q = own.beta(3, 1.5, 120)
            p = own.binomial(10, q) / 10
            wrong = (own.random(120) > q).astype(float)
            items = pd.DataFrame({"id": [f"q{i:03}" for i in range(120)], "model": "fern", "n_samples": 10.0, "p": p})
            items = items.assign(
                uncertainty=1 - p, wrong=wrong, correct=1 - wrong, gap=p + wrong - 1, unscored="", undefined=""
            )
            e = confidence.summarise(items, n_resamples=400).estimate("auroc_uncertainty", model="fern")
            inside += e.ci_low <= truth <= e.ci_high
        assert 0.91 <= inside / 150 <= 0.98

    def test_calibrated_answers_have_a_calibration_error_from_0_and_others_have_not(self):
        draw = np.random.default_rng(3)
        p = draw.integers(0, 11, 300) / 10
        for chance, low in ((p, True), (np.full(300, 0.5), False)):
            wrong = (draw.random(300) > chance).astype(float)
            items = pd.DataFrame({"id": [f"q{i:03}" for i in range(300)], "model": "fern", "n_samples": 10.0, "p": p})
            items = items.assign(
                uncertainty=1 - p, wrong=wrong, correct=1 - wrong, gap=p + wrong - 1, unscored="", undefined=""
            )
            e = confidence.summarise(items, n_resamples=200).estimate("calibration_error", model="fern")
            assert (e.ci_low == 0) == low
            assert e.ci_low <= e.value <= e.ci_high


class TestLight:
    def test_unlit_without_thresholds(self):
        assert result_of(table()).light == "unlit"

    @pytest.mark.parametrize(
        ("green", "yellow", "light"), [(0.875, 0.5, "green"), (0.9, 0.875, "yellow"), (0.95, 0.9, "red")]
    )
    def test_a_value_at_a_threshold_takes_the_better_light(self, green, yellow, light):
        result = result_of(often(table(), 10), green_from=green, yellow_from=yellow)
        assert result.light == light
        assert 0 <= result.verdict.stability <= 1

    def test_fewer_than_20_wrong_answers_give_no_light_and_the_sentence_says_how_many(self):
        result = result_of(often(table(), 9), green_from=0.8, yellow_from=0.5)
        assert (result.light, result.verdict.would_be) == ("grey", "green")
        assert "Only 18 wrong answers, and a light needs 20, so the light stays grey" in result.sentence

    def test_answers_that_are_the_word_nan_are_in_the_sentence(self):
        words = often(table(answer=["nan", "None", "нет", "teal"]), 10)
        assert "20 of 40 answers are the word nan, None or null." in result_of(words).sentence

    @pytest.mark.parametrize(
        "wrong", [{"green_from": 0.8}, {"green_from": 0.5, "yellow_from": 0.8}, {"green_from": 2.0, "yellow_from": 0.5}]
    )
    def test_refused_thresholds(self, wrong):
        with pytest.raises(BadInput, match="green_from"):
            result_of(table(), **wrong)


class TestPlanted:
    def test_the_topic_on_which_a_model_is_confidently_wrong_is_named_on_the_page(self):
        result = whole("confidence")
        assert result.light == "red"
        assert result.verdict.decided_by == {"metric": "auroc_uncertainty", "model": "larch-8b"}
        shown = result.tables["topics"]
        assert shown.loc[shown["shown"].astype(bool), ["model", "topic"]].to_numpy().tolist() == [["larch-8b", "tides"]]
        assert "Confidently wrong: larch-8b on tides (25 of its 35 answers" in result.sentence
        drawn = page("confidence", result)
        assert "larch-8b on tides" in drawn
        assert confidence.topics(result).iloc[0][["model", "topic"]].tolist() == ["larch-8b", "tides"]

    def test_without_that_topic_the_model_knows_what_it_does_not_know(self):
        items = sample("confidence")["items"]
        rest = evaluated("confidence", {"items": items[items["topic"] != "tides"]})
        assert rest.estimate("auroc_uncertainty", model="larch-8b").value > 0.75
        assert "Confidently wrong" not in rest.sentence

    def test_the_document_s_entropy_separates_worse_where_wrong_answers_are_never_repeated(self):
        result = whole("confidence")
        ours, theirs = (
            result.estimate(f"auroc_{s}", model="heron-2b").value for s in ("uncertainty", "neg_p_log_p_handbook")
        )
        assert ours - theirs > 0.1
        assert "as at p = 1" in " ".join(result.notes)

    def test_the_models_are_compared_paired(self):
        compared = whole("confidence").tables["comparisons"]
        row = compared[compared["metric"] == "auroc_uncertainty"].iloc[0]
        assert (row["model_a"], row["model_b"], row["outcome"], row["n_a"]) == ("heron-2b", "larch-8b", "better", 144)
        assert row["method"].startswith("paired")


class TestShapes:
    def test_one_row_per_sample(self):
        frame = table().explode("samples").rename(columns={"samples": "sample"})
        assert result_of(frame).items.equals(result_of(table()).items)

    def test_rows_of_one_answer_that_differ_are_refused(self):
        frame = table().explode("samples").rename(columns={"samples": "sample"}).reset_index(drop=True)
        frame.loc[1, "correct"] = 0
        with pytest.raises(BadInput, match="column correct: differs from the answer's first row"):
            result_of(frame)

    def test_numbered_columns(self):
        frame = table().drop(columns="samples")
        frame["sample_2"], frame["Sample 1"] = (
            pd.Series([own[i] for own in ROWS["samples"]], dtype=object) for i in (1, 0)
        )
        result = result_of(frame)
        assert result.items.equals(result_of(table()).items)
        assert "were read as samples" in " ".join(result.notes)

    def test_a_csv_with_lists_and_words(self, tmp_path):
        frame = table(correct=["верно", "TRUE", "wrong", "0"])
        frame["samples"] = frame["samples"].map(lambda own: json.dumps([*own, None], ensure_ascii=False))
        frame.to_csv(tmp_path / "items.csv", index=False)
        result = confidence.evaluate(load(tmp_path / "items.csv", study="confidence"), embed="", n_resamples=50)
        assert result.items["p"].tolist() == [1.0, 0.5, 0.5, 0.0]
        assert result.items["correct"].tolist() == [1, 1, 0, 0]
        assert "samples that are null, which were left out: 4" in " ".join(result.notes)

    def test_numbers_are_texts(self):
        result = result_of(table(answer=[7, 8, 9, 1.5], samples=[[7, 7], [8, 1], [9, True], [2, 3]]))
        assert result.items["p"].tolist() == [1.0, 0.5, 0.5, 0.0]

    def test_different_numbers_of_samples_are_said(self):
        samples = [["Oslo"], ["7", "8"], ["да", "Нет!", "нет", "да"], ["blue", "green"]]
        result = result_of(table(samples=samples))
        assert result.items["n_samples"].tolist() == [1, 2, 4, 2]
        assert result.items["cluster_entropy_share"].max() == pytest.approx(1.0)
        assert "from 1 to 4 samples (most often 2)" in " ".join(result.notes)


class TestCorrectness:
    def test_a_reference_stands_in_for_correct_and_that_is_said(self):
        frame = table(reference=["Oslo", ["six", "7"], "да", "blue"]).drop(columns="correct")
        result = result_of(frame)
        assert result.items["correct"].tolist() == [1, 1, 0, 0]
        assert "normalized_exact_match against the reference" in " ".join(result.notes)

    def test_another_metric_needs_to_say_from_where_on_an_answer_is_right(self):
        frame = table(answer=["Oslo town", "7", "нет", "teal"], reference=["Oslo", "7", "да", "blue"]).drop(
            columns="correct"
        )
        with pytest.raises(BadInput, match=r"the metric f1_score has values other than 0 and 1 .*correct_from"):
            result_of(frame, metric="f1_score")
        assert result_of(frame, metric="f1_score", correct_from=0.6).items["correct"].tolist() == [1, 1, 0, 0]

    def test_marks_of_a_scale_need_a_threshold(self):
        frame = table(correct=[5, 4, 2, 1])
        with pytest.raises(BadInput, match=r"column correct has values other than 0 and 1 \(2, 4, 5\)"):
            result_of(frame)
        assert result_of(frame, correct_from=4).items["correct"].tolist() == [1, 1, 0, 0]

    def test_words_that_are_no_marks_are_refused_with_their_rows(self):
        with pytest.raises(BadInput, match=r"column correct: expected 0 or 1, or a number, found 'maybe' \(rows "):
            result_of(table(correct=[1, "maybe", 0, "perhaps"]))

    @pytest.mark.parametrize(
        ("correct", "why"), [([1] * 4, "every answer is right"), ([0] * 4, "every answer is wrong")]
    )
    def test_one_class_is_undefined_with_the_reason(self, correct, why):
        result = result_of(table(correct=correct), green_from=0.8, yellow_from=0.6)
        for metric in ("auroc_uncertainty", "auprc_uncertainty"):
            e = result.summary.estimate(metric, model=UNNAMED)
            assert e.value is None
            assert e.note.startswith(why)
        assert result.light == "grey"
        assert why in result.sentence
        assert result.summary.estimate("error_rate", model=UNNAMED).value == 1 - correct[0]
        assert page("confidence", result)


class TestMissing:
    @pytest.mark.parametrize(
        ("change", "unscored", "undefined"),
        [
            ({"answer": ["Oslo", None, "нет", "teal"]}, ["", "no-output", "", ""], [""] * 4),
            ({"samples": [["Oslo"], None, ["да"], ["x"]]}, ["", "no-output", "", ""], [""] * 4),
            ({"samples": [["Oslo"], [], ["да"], ["x"]]}, ["", "no-output", "", ""], [""] * 4),
            ({"samples": [["Oslo"], [None], ["да"], ["x"]]}, ["", "no-output", "", ""], [""] * 4),
            ({"correct": [1, None, 0, 0]}, ["", "no-value", "", ""], [""] * 4),
        ],
    )
    def test_nothing_becomes_0(self, change, unscored, undefined):
        result = result_of(table(**change))
        assert result.items["unscored"].tolist() == unscored
        assert result.items["undefined"].tolist() == undefined
        assert result.items.loc[1, ["p", "uncertainty", "wrong", "cluster_entropy"]].isna().all()
        e = result.summary.estimate("auroc_uncertainty", model=UNNAMED)
        assert (e.n, e.n_unscored, e.n_undefined) == (3, 1, 0)
        assert "Unscored: 1 of 4" in " ".join(result.notes)

    def test_a_null_reference_is_undefined(self):
        frame = table(reference=["Oslo", None, "да", "blue"]).drop(columns="correct")
        result = result_of(frame)
        assert result.items["undefined"].tolist() == ["", "no-reference", "", ""]
        assert result.items.loc[1, "p"] == 0.5

    @pytest.mark.parametrize("samples", [[[], [], [], []], [None] * 4])
    def test_no_samples_at_all_is_refused(self, samples):
        with pytest.raises(BadInput, match=r"no answer has samples \(N = 0\)"):
            result_of(table(samples=samples))

    @pytest.mark.parametrize(
        ("column", "said"),
        [("answer", "no column answer"), ("samples", "there are no samples"), ("correct", "which answers are right")],
    )
    def test_a_missing_column_is_refused(self, column, said):
        with pytest.raises(BadInput, match=said):
            result_of(table().drop(columns=column))

    def test_all_that_is_missing_is_told_at_once_with_what_may_be_meant(self):
        with pytest.raises(BadInput) as caught:
            result_of(table()[["id"]])
        assert len(caught.value.faults) == 3
        names = {"answer": "response", "samples": "sampled_responses", "correct": "is_correct"}
        notes = result_of(table().rename(columns=names)).notes
        assert all(any(f"column {other} was read as {own}" in note for note in notes) for own, other in names.items())

    def test_few_answers_of_a_class_are_said(self):
        rows = {"id": [f"q{i:02}" for i in range(40)], "answer": ["a"] * 40, "correct": [0] * 3 + [1] * 37}
        result = result_of(pd.DataFrame({**rows, "samples": [["a"] * (i % 3 + 1) for i in range(40)]}))
        assert "only 3 wrong answers" in result.summary.estimate("auroc_uncertainty", model=UNNAMED).note
