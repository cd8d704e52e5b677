"""Tables of many rows: how their intervals are computed is said, and the cloud of outputs is drawn as cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from evalbench import load
from evalbench.studies import human_correlation

DOCUMENTS, SYSTEMS = 1000, 6


def result():
    rng = np.random.default_rng(0)
    document, system = np.divmod(np.arange(DOCUMENTS * SYSTEMS), SYSTEMS)
    quality = rng.integers(1, 6, len(document))
    frame = pd.DataFrame(
        {
            "id": [f"d{d:04d}" for d in document],
            "model": [f"s{s}" for s in system],
            "answer": "a text",
            "quality": quality,
            "metric": quality + rng.standard_normal(len(document)),
        }
    )
    return human_correlation.evaluate(
        load(frame, study="human_correlation"),
        metrics=["metric"],
        criteria=["quality"],
        trusted=["quality"],
        level="dataset",
        n_resamples=50,
    )


def test_the_page_says_so_and_stays_small(tmp_path):
    found = result()
    assert any("influence functions" in line for line in found.method)
    estimate = found.estimate("spearman_dataset", scorer="metric", criterion="quality")
    assert estimate.ci_low < estimate.value < estimate.ci_high
    figure, words = human_correlation.picture_scatter(found)
    assert "the darker, the more outputs" in words
    figure.savefig(tmp_path / "cloud.svg")
    plt.close(figure)
    assert (tmp_path / "cloud.svg").stat().st_size < 200_000
