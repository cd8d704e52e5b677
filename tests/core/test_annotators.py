"""The alternative annotator test: an example by hand, an independent computation, who is left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control, ttest_1samp

from evalbench.core.annotators import alternative_annotator_test
from evalbench.core.significance import benjamini_yekutieli

nan = np.nan


def labelled(n: int = 120, errors: tuple[float, ...] = (0.1, 0.2, 0.3), judge: float = 0.1, seed: int = 5):
    g = np.random.default_rng(seed)
    truth = g.integers(0, 3, n).astype(float)

    def noisy(rate: float) -> np.ndarray:
        return np.where(g.random(n) < rate, (truth + g.integers(1, 3, n)) % 3, truth)

    return noisy(judge), np.stack([noisy(rate) for rate in errors], axis=1)


def test_an_example_by_hand() -> None:
    """40 items in four kinds of ten; labels of three annotators and the judge: (1 1 0 | 1), (1 0 1 | 0), (0 0 0 | 0), (0 1 1 | 1).

    Left out the first: the others agree with the judge 1/2, 1/2, 1, 1 and with the first 1/2, 1/2, 1, 0; so D = 0, 0, 0, −1,
    W = 1 throughout.  The second: the judge 1/2, 0, 1, 1/2, the second 1/2, 0, 1, 1/2: all equal.  The third: the judge 1, 1/2, 1, 1/2
    and the third 0, 1/2, 1, 1/2: D = −1, 0, 0, 0.
    """
    kinds = [([1, 1, 0], 1), ([1, 0, 1], 0), ([0, 0, 0], 0), ([0, 1, 1], 1)]
    humans = np.repeat([row for row, _ in kinds], 10, axis=0).astype(float)
    judge = np.repeat([mark for _, mark in kinds], 10).astype(float)
    found = alternative_annotator_test(judge, humans, names=["A", "B", "C"])
    assert [one.difference for one in found.annotators] == [-0.25, 0.0, -0.25]
    assert [one.advantage for one in found.annotators] == [1.0, 1.0, 1.0]
    assert [one.judge for one in found.annotators] == [0.75, 0.5, 0.75]
    assert [one.human for one in found.annotators] == [0.5, 0.5, 0.5]
    assert (found.winning_rate, found.advantage, found.may_replace) == (1.0, 1.0, True)


@pytest.mark.parametrize("ordered", [False, True])
def test_a_plain_computation_agrees(ordered: bool) -> None:
    judge, humans = labelled()
    humans[:9, 1] = nan
    judge[-3:] = nan
    found = alternative_annotator_test(judge, humans, epsilon=0.1, ordered=ordered)
    p_values = []
    for j, one in enumerate(found.annotators):
        d = []
        for mark, row in zip(judge, humans, strict=True):
            others = [x for i, x in enumerate(row) if i != j and not np.isnan(x)]
            if np.isnan(mark) or np.isnan(row[j]) or len(others) < 2:
                continue

            def agreement(x: float, others: list[float] = others) -> float:
                if ordered:
                    return -float(np.sqrt(np.mean([(x - o) ** 2 for o in others])))
                return float(np.mean([x == o for o in others]))

            own, its = agreement(row[j]), agreement(mark)
            d.append(float(own >= its) - float(its >= own))
        assert one.n == len(d)
        assert one.difference == pytest.approx(np.mean(d))
        p_values.append(ttest_1samp(d, 0.1, alternative="less").pvalue)
        assert one.p == pytest.approx(p_values[-1])
    assert [one.p_adjusted for one in found.annotators] == pytest.approx(false_discovery_control(p_values, method="by"))


def test_adjusted_p_values_are_those_of_scipy() -> None:
    p = np.random.default_rng(2).random(17) ** 3
    assert benjamini_yekutieli(p) == pytest.approx(false_discovery_control(p, method="by"))
    assert np.isnan(benjamini_yekutieli([0.01, nan])).tolist() == [False, True]


def test_a_poor_judge_does_not_win_and_a_good_one_does() -> None:
    assert alternative_annotator_test(*labelled(judge=0.02)).winning_rate == 1.0
    poor = alternative_annotator_test(*labelled(judge=0.7))
    assert (poor.winning_rate, poor.may_replace) == (0.0, False)


def test_an_annotator_with_few_items_is_left_out_and_named() -> None:
    judge, humans = labelled(errors=(0.1, 0.2, 0.3, 0.1))
    humans[29:, 3] = nan
    found = alternative_annotator_test(judge, humans, names=["A", "B", "C", "D"])
    assert found.note.endswith("D (29)")
    assert len(found.annotators) == 4
    assert np.isnan(found.annotators[3].p)


def test_two_annotators_are_too_few() -> None:
    judge, humans = labelled(errors=(0.1, 0.2))
    found = alternative_annotator_test(judge, humans)
    assert (found.winning_rate, found.may_replace) == (None, None)
    assert found.note == "the test needs 3 annotators, and the table has 2"


def test_a_difference_that_never_varies_is_decided_by_itself() -> None:
    humans = np.zeros((40, 3))
    assert alternative_annotator_test(np.zeros(40), humans).winning_rate == 1.0
    assert alternative_annotator_test(np.ones(40), humans).winning_rate == 0.0


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="of shape"):
        alternative_annotator_test(np.zeros(3), np.zeros((4, 3)))
    with pytest.raises(ValueError, match="epsilon"):
        alternative_annotator_test(np.zeros(4), np.zeros((4, 3)), epsilon=2)
    with pytest.raises(ValueError, match="names"):
        alternative_annotator_test(np.zeros(4), np.zeros((4, 3)), names=["A"])
