"""A correction on other data: isotonic as scikit-learn has it, shifts that are seen, published figures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.isotonic import IsotonicRegression

from evalbench.core.ppi import corrected_mean
from evalbench.core.transport import fitted_correction, transport_check

nan = np.nan


@pytest.mark.parametrize("seed", range(8))
def test_the_fit_is_scikit_learns(seed: int) -> None:
    g = np.random.default_rng(seed)
    judged = g.integers(0, 12, 80) / 11 if seed % 2 else g.random(80)
    human = np.clip(judged + g.normal(0, 0.4, 80), 0, 1)
    at = np.linspace(-0.2, 1.2, 57)
    expected = IsotonicRegression(out_of_bounds="clip").fit(judged, human).predict(at)
    assert fitted_correction(judged, human).at(at) == pytest.approx(expected)


def test_what_carries_over_and_what_does_not() -> None:
    g = np.random.default_rng(0)
    judged, new = g.random(400), g.random(60)
    human = judged**2 + g.normal(0, 0.1, 400)
    holds = transport_check(judged, human, new, new**2 + g.normal(0, 0.1, 60))
    assert holds.ci_low < 0 < holds.ci_high
    broken = transport_check(judged, human, new, new**2 - 0.2 + g.normal(0, 0.1, 60))
    assert broken.ci_high < 0


def test_a_shift_that_depends_on_the_mark_is_seen_where_the_means_agree() -> None:
    judged = np.repeat([0.2, 0.8], 200)
    human = np.repeat([0.1, 0.5], 200)
    new = np.repeat([0.2, 0.8], [50, 10])
    found = transport_check(judged, human, new, np.repeat([0.3, 0.3], [50, 10]))
    assert found.value == pytest.approx((50 * 0.2 - 10 * 0.2) / 60)
    assert found.ci_low > 0


def test_without_labels_there_is_no_check_and_few_are_said() -> None:
    assert transport_check([0.5], [nan], [0.5], [1.0]).value is None
    assert transport_check([0.5, 0.6], [1.0, 0.0], [], []).value is None
    few = transport_check(
        np.linspace(0, 1, 50), np.linspace(0, 1, 50), [0.1, 0.5, 0.9], [0.1, 0.6, 0.9], n_resamples=100
    )
    assert "fewer than 20" in few.note
    assert fitted_correction([nan], [1.0]) is None
    with pytest.raises(ValueError, match="shapes"):
        transport_check([1.0], [1.0, 2.0], [1.0], [1.0])


def test_the_published_policies(external_data) -> None:
    table = pd.read_csv(external_data("cje_arena") / "scores.csv")
    base = table[table["policy"] == "base"]
    found = corrected_mean(base["judge_score"], base["oracle_label"])
    assert (found.value, found.ci_low, found.ci_high) == pytest.approx((0.7552, 0.7357, 0.7747), abs=5e-5)
    assert (found.naive, found.human, found.n_labelled) == pytest.approx((0.8413, 0.7541, 480), abs=5e-5)
    gaps = {}
    for policy in ("clone", "parallel_universe_prompt", "unhelpful"):
        other = table[(table["policy"] == policy)]
        gaps[policy] = transport_check(
            base["judge_score"], base["oracle_label"], other["judge_score"], other["oracle_label"]
        )
    assert gaps["clone"].value == pytest.approx(0.005, abs=5e-4)
    assert gaps["parallel_universe_prompt"].value == pytest.approx(0.016, abs=5e-4)
    assert gaps["unhelpful"].value == pytest.approx(-0.275, abs=5e-4)
    for policy in ("clone", "parallel_universe_prompt"):
        assert gaps[policy].ci_low < 0 < gaps[policy].ci_high
    assert (gaps["unhelpful"].ci_low, gaps["unhelpful"].ci_high) == pytest.approx((-0.46, -0.09), abs=0.015)
