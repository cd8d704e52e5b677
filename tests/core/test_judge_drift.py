"""How far a judge moved: against an independent library, on judges whose strictness is known, and on edges."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar

from evalbench.core.judge_drift import JudgeDrift, drift_light, drift_sentence, judge_drift
from evalbench.core.judged_by import JudgedBy, judge_changes, judge_unknown


def judged(
    seed: int, n: int, *, stricter: float = 0.0, wavers: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Marks of a judge that errs on a tenth of the answers, then and now, and the truth; now it fails a share of what it passed."""
    draw = np.random.default_rng(seed)
    truth = draw.random(n) < 0.6
    opinion = truth ^ (draw.random(n) < 0.1)
    then, now = (opinion ^ (draw.random(n) < wavers) for _ in range(2))
    now &= ~(draw.random(n) < stricter)
    return then.astype(float), now.astype(float), truth.astype(float)


def test_mcnemar_is_that_of_statsmodels() -> None:
    then, now, _ = judged(3, 200, stricter=0.1, wavers=0.05)
    up, down = int((now > then).sum()), int((now < then).sum())
    theirs = mcnemar([[0, up], [down, 0]], exact=True).pvalue
    assert judge_drift(then, now).p_shift == pytest.approx(theirs, abs=1e-12)


def test_bonett_and_price_by_hand() -> None:
    found = judge_drift([1] * 10 + [0] * 50, [0] * 10 + [0] * 48 + [1] * 2)
    p1, p2 = 3 / 62, 11 / 62
    half = 1.959963984540054 * math.sqrt((p1 + p2 - (p1 - p2) ** 2) / 62)
    assert found.shift.value == pytest.approx(-8 / 60)
    assert (found.shift.ci_low, found.shift.ci_high) == pytest.approx((p1 - p2 - half, p1 - p2 + half), abs=1e-12)
    assert found.changed.value == pytest.approx(0.2)


@pytest.mark.parametrize("wavers", [0.0, 0.05, 0.15])
def test_the_same_judge_is_seldom_called_another(wavers: float) -> None:
    found = [judge_drift(*judged(seed, 60, wavers=wavers), n_resamples=20).moved for seed in range(200)]
    assert np.mean(found) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 200])
def test_the_error_of_both_tests_together_is_at_most_five_percent(n: int) -> None:
    found = [judge_drift(*judged(seed, n, wavers=0.1), n_resamples=20) for seed in range(800)]
    assert np.mean([drift.moved for drift in found]) <= 0.05
    covered = np.mean([drift.shift.ci_low <= 0 <= drift.shift.ci_high for drift in found])
    assert 0.94 <= covered <= 0.985


@pytest.mark.parametrize(("n", "stricter", "least"), [(60, 0.4, 0.9), (200, 0.15, 0.9), (200, 0.3, 1.0)])
def test_a_judge_that_got_stricter_by_a_known_share_is_caught(n: int, stricter: float, least: float) -> None:
    found = [judge_drift(*judged(seed, n, stricter=stricter), n_resamples=20) for seed in range(100)]
    assert np.mean([drift.moved for drift in found]) >= least
    expected = np.mean([-stricter * then.mean() for then, *_ in (judged(seed, n) for seed in range(100))])
    assert np.mean([drift.shift.value for drift in found]) == pytest.approx(expected, abs=0.02)


def test_a_judge_that_errs_otherwise_moves_although_its_rate_stays() -> None:
    truth = np.array([1.0, 0.0] * 50)
    now = np.where(np.arange(100) % 10 < 4, 1 - truth, truth)
    found = judge_drift(truth, now, truth, n_resamples=20)
    assert found.shift.value == 0
    assert found.agreement.value == pytest.approx(-0.4)
    assert found.moved
    assert drift_light(found)[0] == "red"


def test_marks_and_several_answers_to_a_question_are_drawn_by_question() -> None:
    draw = np.random.default_rng(0)
    then = draw.integers(0, 5, 120).astype(float)
    now = np.clip(then - (draw.random(120) < 0.5), 0, 4)
    units = np.repeat(np.arange(40), 3)
    found = judge_drift(then, now, then, units=units, n_resamples=200)
    assert found.scale == (0, 4)
    assert found.shift.value < -0.2
    assert found.moved
    assert "bootstrap" in found.shift.method
    order = draw.permutation(120)
    again = judge_drift(then[order], now[order], then[order], units=units[order], n_resamples=200)
    assert again == found


def test_what_has_no_verdict_is_counted_and_never_a_change() -> None:
    then, now = np.array([1.0, 0.0] * 30), np.array([1.0, 0.0] * 30)
    now[:2] = np.nan
    found = judge_drift(then, now)
    assert (found.n, found.n_left_out, found.changed.value) == (58, 2, 0)
    now[:20] = np.nan
    light, why = drift_light(judge_drift(then, now))
    assert light == "grey"
    assert why == "20 of 60 answers lack a verdict at one of the times"


def test_the_light_has_no_gap() -> None:
    same, few = judge_drift([1.0, 0] * 30, [1.0, 0] * 30), judge_drift([1.0, 0] * 9, [1.0, 0] * 9)
    moved, little = (judge_drift(*judged(1, n, stricter=s)[:2]) for n, s in ((200, 0.3), (1500, 0.05)))
    unsure = judge_drift([1.0] * 24, [1.0] * 21 + [0.0] * 3)
    lights = [drift_light(one)[0] for one in (same, few, moved, little, unsure)]
    assert lights == ["green", "grey", "red", "yellow", "yellow"]
    assert drift_light(same, void="the judge from a to b") == ("grey", "another judge: the judge from a to b")
    assert drift_light(same, margin=0.01)[0] == "yellow"


def test_nothing_to_compare_has_no_value_and_no_light() -> None:
    found = judge_drift([np.nan] * 3, [1.0, 0.0, 1.0])
    assert found.shift.value is None
    assert drift_light(found)[0] == "grey"
    assert drift_sentence(found) == "Whether the judge moved is not known: no answer has a verdict at both times."
    one = judge_drift([1.0], [0.0])
    assert one.moved is False
    assert drift_light(one)[0] == "grey"


@pytest.mark.parametrize(
    ("then", "now", "words"),
    [([1.0], [1.0, 0.0], "unequal"), ([math.inf], [1.0], "finite"), ([[1.0]], [[1.0]], "finite")],
)
def test_wrong_arrays_are_refused(then: list, now: list, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        judge_drift(then, now)


def test_a_mark_off_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="off the scale"):
        judge_drift([2.0], [1.0], scale=(0, 1))


def test_it_survives_json() -> None:
    found = judge_drift(*judged(5, 60, stricter=0.2))
    assert JudgeDrift.of_json(json.loads(json.dumps(found.to_json(), allow_nan=False))) == found


def test_a_changed_judge_is_named_from_what_to_what() -> None:
    then = JudgedBy("acme/judge", ("ab" * 32,), ("judge-05",), {"judge_temperature": 0.0})
    now = JudgedBy("acme/other", ("cd" * 32,), ("judge-08",), {"judge_temperature": 1.0})
    assert judge_changes(then, now) == (
        "the judge from acme/judge to acme/other",
        "its prompt from abababab to cdcdcdcd",
        "its version from judge-05 to judge-08",
        "judge_temperature from 0.0 to 1.0",
    )
    assert judge_unknown(then, JudgedBy()) == ("judge", "prompt", "version")
