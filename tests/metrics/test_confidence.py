"""Confidence and what it tells apart: worked by hand, against scikit-learn, over all orders of ties, and what is refused."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from evalbench.errors import BadInput
from evalbench.metrics.confidence import (
    binary_entropy,
    cluster_entropy,
    equal_codes,
    match_confidence,
    mean_cosine,
    neg_p_log_p_handbook,
    normalised_cluster_entropy,
    similarity01,
    similarity_confidence,
)
from evalbench.metrics.discrimination import (
    auprc,
    auroc,
    error_at_coverage,
    expected_calibration_error,
    levels,
    nearest_bins,
    risk_at,
    risk_coverage_area,
)

ANSWERS = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=25)


def split(rows: list[tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([score / 7 for score, _ in rows]), np.array([wrong for _, wrong in rows], dtype=float)


class TestOneItem:
    def test_p_is_the_share_of_samples_that_repeat_the_answer(self):
        answers, samples = ["Oslo", "да", "C++"], [["oslo!", "Bergen", " OSLO "], ["Да.", "нет"], ["C", "C", "c++"]]
        assert match_confidence(answers, samples).tolist() == pytest.approx([2 / 3, 0.5, 1 / 3])

    def test_stop_words_stay_unless_they_are_left_out(self):
        assert match_confidence(["A and B"], [["B", "a and b"]]).tolist() == [0.5]
        assert match_confidence(["A and B"], [["B", "a and b"]], normalise="full", language="en").tolist() == [1.0]

    @pytest.mark.parametrize("text", ["Осло", "奥斯陆", "أوسلو", "ओस्लो", "Oslo"])
    def test_any_script(self, text):
        assert match_confidence([text], [[text, f" {text} "]]).tolist() == [1.0]

    def test_an_empty_sample_is_an_answer_that_differs(self):
        assert match_confidence(["", "x"], [["", "x"], [""]]).tolist() == [0.5, 0.0]

    @pytest.mark.parametrize(
        ("answers", "samples", "said"),
        [(["a", "b"], [["a"], []], "no samples"), (["a"], [], "must be as many"), ([], [["a"]], "must be as many")],
    )
    def test_refused(self, answers, samples, said):
        for confidence in (match_confidence, lambda a, s: mean_cosine(a, s, embed=lambda t: np.eye(9)[: len(t)])):
            with pytest.raises(BadInput, match=said):
                confidence(answers, samples)

    def test_the_cosine_is_clipped_for_p_and_moved_for_similarity01(self):
        at = {"a": [1.0, 0.0], "b": [-1.0, 0.0], "c": [0.6, 0.8]}
        given = {
            "answers": ["a", "a"],
            "samples": [["b", "b"], ["c", "a"]],
            "embed": lambda texts: [at[t] for t in texts],
        }
        assert mean_cosine(**given).tolist() == pytest.approx([-1.0, 0.8])
        assert similarity_confidence(**given).tolist() == pytest.approx([0.0, 0.8])
        assert similarity01(**given).tolist() == pytest.approx([0.0, 0.9])

    def test_entropies_by_hand(self):
        assert neg_p_log_p_handbook([0, 0.3, 1]).tolist() == pytest.approx([0, -0.3 * math.log(0.3), 0])
        assert binary_entropy([0, 0.3, 0.5, 1]).tolist() == pytest.approx([0, 0.6108643, math.log(2), 0])
        for entropy in (neg_p_log_p_handbook, binary_entropy):
            assert math.isnan(entropy([math.nan])[0])
            assert not np.signbit(entropy([0.0, 1.0])).any()
            with pytest.raises(BadInput, match="between 0 and 1"):
                entropy([1.2])

    def test_cluster_entropy_by_hand(self):
        found = cluster_entropy([["a"] * 5, ["a", "a", "b", "b", "b"], list("abcde"), []])
        third = -(0.4 * math.log(0.4) + 0.6 * math.log(0.6))
        assert found[:3].tolist() == pytest.approx([0.0, third, math.log(5)])
        assert math.isnan(found[3])
        assert normalised_cluster_entropy(found[:3], [4, 4, 4]).tolist() == pytest.approx([0, third / math.log(5), 1])

    @given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=8), min_size=1, max_size=6))
    def test_cluster_entropy_lies_between_0_and_its_maximum_whatever_the_groups_are_called(self, groups):
        found = cluster_entropy(groups)
        assert (found >= 0).all()
        assert (found <= np.log([len(own) for own in groups]) + 1e-12).all()
        assert cluster_entropy([[f"g{x}" for x in own[::-1]] for own in groups]) == pytest.approx(found)


class TestApart:
    def test_by_hand(self):
        scores, wrong = [0.0, 0.5, 0.5, 1.0], [0, 1, 0, 1]
        # Pairs (wrong, right): ½–0 wins, ½–½ ties, 1–0 and 1–½ win: 3.5 of 4.
        assert auroc(scores, wrong) == 3.5 / 4
        # From the top: 1 of 1, then 2 of 3 at the tie, each with half of the wrong ones.
        assert auprc(scores, wrong) == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
        # Surest first: 0; then one of the tied two, half wrong; both; all.
        assert risk_coverage_area(scores, wrong) == pytest.approx((0 + 0.5 / 2 + 1 / 3 + 2 / 4) / 4)
        assert error_at_coverage(scores, wrong, 0.5) == pytest.approx(1 / 3)
        assert error_at_coverage(scores, wrong, 0.25) == 0.0

    @given(ANSWERS)
    def test_as_scikit_learn(self, rows):
        scores, wrong = split(rows)
        if 0 < wrong.sum() < len(wrong):
            assert auroc(scores, wrong) == pytest.approx(roc_auc_score(wrong, scores))
            assert auprc(scores, wrong) == pytest.approx(average_precision_score(wrong, scores))
        else:
            assert math.isnan(auroc(scores, wrong))
            assert math.isnan(auprc(scores, wrong))

    @given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6))
    def test_the_risk_area_is_the_mean_over_all_orders_of_ties(self, rows):
        scores, wrong = split(rows)
        orders = [
            order for order in itertools.permutations(range(len(rows))) if (np.diff(scores[list(order)]) >= 0).all()
        ]
        each = [np.mean(np.cumsum(wrong[list(order)]) / np.arange(1, len(rows) + 1)) for order in orders]
        assert risk_coverage_area(scores, wrong) == pytest.approx(np.mean(each))

    @given(ANSWERS)
    def test_laws(self, rows):
        scores, wrong = split(rows)
        for figure in (auroc, auprc, risk_coverage_area):
            value = figure(scores, wrong)
            assert figure(scores[::-1], wrong[::-1]) == pytest.approx(value, nan_ok=True)
            assert figure(np.exp(scores) * 3, wrong) == pytest.approx(value, nan_ok=True)
        assert auroc(-scores, wrong) == pytest.approx(1 - auroc(scores, wrong), nan_ok=True)
        flat = np.zeros_like(scores)
        assert risk_coverage_area(flat, wrong) == pytest.approx(wrong.mean())
        assert auprc(flat, wrong) == pytest.approx(wrong.mean() if 0 < wrong.mean() < 1 else math.nan, nan_ok=True)
        assert error_at_coverage(scores, wrong, 1.0) == pytest.approx(wrong.mean())

    def test_scores_that_differ_by_rounding_are_tied(self):
        assert auroc([1 - 0.8, 0.2], [0, 1]) == 0.5

    def test_calibration_by_hand(self):
        p, wrong = [1.0, 1.0, 0.5, 0.5, 0.0], [0, 1, 0, 0, 1]
        # Of two with p = 1 one is right, of two with ½ both, of one with 0 none.
        assert expected_calibration_error(p, wrong, 3) == pytest.approx((2 * 0.5 + 2 * 0.5 + 0) / 5)
        assert nearest_bins(np.array([0.0, 0.11, 0.5, 1.0]), 11).tolist() == [0, 1, 2, 3]
        assert math.isnan(expected_calibration_error([], [], 3))
        with pytest.raises(BadInput, match="at least 2"):
            expected_calibration_error(p, wrong, 1)

    def test_calibrated_is_not_discriminating_nor_the_other_way_round(self):
        level, right = np.full(100, 0.7), np.arange(100) < 70
        assert expected_calibration_error(level, ~right, 11) == pytest.approx(0)
        assert auroc(1 - level, ~right) == 0.5
        sure = np.where(right, 0.2, 0.1)
        assert auroc(1 - sure, ~right) == 1.0
        assert expected_calibration_error(sure, ~right, 11) > 0.5

    def test_the_entropy_of_the_document_calls_what_is_never_repeated_sure(self):
        p, wrong = np.array([1.0, 0.9, 0.8, 0.0, 0.0]), [0, 0, 0, 1, 1]
        assert auroc(1 - p, wrong) == 1.0
        assert auroc(neg_p_log_p_handbook(p), wrong) < 0.5
        assert auroc(binary_entropy(p), wrong) < 0.5

    def test_risk_at_coverages(self):
        at = levels([0, 1, 1, 1], [0, 1, 0, 0])
        assert risk_at(at.right, at.wrong, [0.0, 0.25, 0.5, 1.0]).tolist() == pytest.approx([0, 0, (1 / 3) / 2, 0.25])

    @pytest.mark.parametrize(
        ("scores", "wrong"),
        [([0.1, math.nan], [0, 1]), ([0.1], [0.5]), ([0.1, 0.2], [1]), ([[0.1]], [[1]]), ([math.inf], [1])],
    )
    def test_refused(self, scores, wrong):
        for figure in (auroc, auprc, risk_coverage_area, error_at_coverage):
            with pytest.raises(BadInput):
                figure(scores, wrong)


@pytest.mark.external
class TestPublished:
    """uqlm's own values."""

    @pytest.fixture(scope="class")
    def read(self, external_data):
        folder = external_data("uqlm_confidence")
        return lambda name: json.loads((folder / f"{name}_results_file.json").read_text("utf-8"))

    def test_exact_match(self, read):
        data = read("blackbox")["data"]
        assert match_confidence(data["responses"], data["sampled_responses"]).tolist() == data["exact_match"]

    def test_cosine(self, read):
        data = read("similarity")
        known: dict[str, list[float]] = {}
        for answer, samples, own, others in zip(
            data["responses"], data["sampled_responses"], data["embeddings1"], data["embeddings2"], strict=True
        ):
            known |= {answer: own[0]} | dict(zip(samples, others, strict=True))
        found = similarity01(
            data["responses"], data["sampled_responses"], embed=lambda texts: [known[t] for t in texts]
        )
        assert found.tolist() == pytest.approx(data["cosine_result"], abs=1e-6)

    def test_entropy_where_its_groups_are_exact_matches(self, read):
        data = read("semanticentropy")["data"]
        pairs = zip(data["responses"], data["sampled_responses"], strict=True)
        entropy = cluster_entropy([equal_codes([answer, *samples]).tolist() for answer, samples in pairs])
        same = np.isclose(entropy, data["entropy_values"], atol=1e-12)
        assert same.tolist() == [False, True, True, True, False]  # its judge joins “5” and “5 miles”, “32” and “32.5”
        confidence = 1 - normalised_cluster_entropy(entropy, [5] * 5)
        assert confidence[same] == pytest.approx(np.array(data["confidence_scores"])[same])
        every = 1 - normalised_cluster_entropy(data["entropy_values"], [5] * 5)
        assert every.tolist() == pytest.approx(data["confidence_scores"])
