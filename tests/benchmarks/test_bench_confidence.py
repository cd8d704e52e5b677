"""AUROC of a million answers against scikit-learn, and every figure of a million answers with its interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from benchmark_table import against, at_most
from sklearn.metrics import roc_auc_score
from timing import Race, alone, least, race

from evalbench.metrics.confidence import binary_entropy, neg_p_log_p_handbook
from evalbench.metrics.discrimination import auroc
from evalbench.studies.confidence.summary import summarise

pytestmark = [pytest.mark.benchmark, pytest.mark.large]

ANSWERS, RESAMPLES, MOST_SECONDS, LEAST_OF_SKLEARN = 1_000_000, 2000, 15, 1


def answers() -> pd.DataFrame:
    """p of ten samples, groups of some hundred entropies, and a cosine that is different for each answer."""
    draw = np.random.default_rng(0)
    q = draw.beta(4, 2, ANSWERS)
    p = draw.binomial(10, q) / 10
    right = (draw.random(ANSWERS) < q).astype(float)
    entropy = binary_entropy(p) + 0.1 * draw.integers(0, 6, ANSWERS)
    cosine = np.clip(p + 0.1 * draw.standard_normal(ANSWERS), -1, 1)
    return pd.DataFrame(
        {
            "id": np.arange(ANSWERS).astype(str), "model": "fern", "n_samples": 10.0, "p": p, "uncertainty": 1 - p,
            "binary_entropy": binary_entropy(p), "neg_p_log_p_handbook": neg_p_log_p_handbook(p), "cluster_entropy": entropy,
            "cluster_entropy_share": entropy / np.log(11), "dissimilarity": (1 - cosine) / 2, "correct": right,
            "wrong": 1 - right, "gap": p - right, "unscored": "", "undefined": "",
        }
    )  # fmt: skip


def every_figure() -> float:
    items = answers()
    return least(lambda: summarise(items, n_resamples=RESAMPLES), goal=MOST_SECONDS, rounds=1)


def one_auroc() -> Race:
    items = answers()
    score, wrong = items["dissimilarity"].to_numpy(), items["wrong"].to_numpy()
    return race(lambda _: auroc(score, wrong), lambda _: roc_auc_score(wrong, score), goal=LEAST_OF_SKLEARN)


def test_every_figure_of_a_million_answers_with_2000_resamples(record):
    record(at_most("confidence, 1 000 000 answers, 21 figures, 2000 resamples", alone(every_figure), MOST_SECONDS, "s"))


def test_auroc_of_a_million_distinct_scores(record):
    record(against("AUROC, 1 000 000 distinct scores", Race(*alone(one_auroc)), "scikit-learn", LEAST_OF_SKLEARN))
