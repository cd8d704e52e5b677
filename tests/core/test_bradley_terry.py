"""Strengths from who beat whom: an independent fit, a model that always wins, parts that never met."""

from __future__ import annotations

import numpy as np
import pytest

from evalbench.core.bradley_terry import bradley_terry

nan = np.nan
TRUE = np.array([1.0, 0.4, -0.2, -1.2])


def games(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    g = np.random.default_rng(seed)
    i = g.integers(0, 4, n)
    j = (i + g.integers(1, 4, n)) % 4
    won = g.random(n) < 1 / (1 + np.exp(TRUE[j] - TRUE[i]))
    return np.array(list("abcd"))[i], np.array(list("abcd"))[j], won.astype(float)


def strengths(*played: object, **options: object) -> dict[str, float]:
    found = bradley_terry(*played, n_resamples=options.pop("n_resamples", 20), **options)  # type: ignore[arg-type]
    return {one.name: one.strength.value for one in found.strengths}


def test_a_logistic_regression_finds_the_same() -> None:
    import statsmodels.api as sm

    first, second, score = games(800)
    names = "abcd"
    x = np.array([[(f == m) - float(s == m) for m in names[1:]] for f, s in zip(first, second, strict=True)])
    fitted = np.concatenate([[0], sm.Logit(score, x).fit(disp=0).params])
    found = strengths(first, second, score, prior=1e-9)
    assert [found[m] for m in names] == pytest.approx(fitted - fitted.mean(), abs=1e-6)


def test_intervals_cover_the_true_strengths() -> None:
    hit = []
    for seed in range(60):
        found = bradley_terry(*games(400, seed), n_resamples=300)
        for one in found.strengths:
            true = TRUE["abcd".index(one.name)] - TRUE.mean()
            hit.append(one.strength.ci_low <= true <= one.strength.ci_high)
    assert 0.9 <= np.mean(hit) <= 0.99


def test_a_model_that_always_wins_has_a_strength() -> None:
    found = strengths(["a"] * 50 + ["b"] * 50, ["b"] * 50 + ["c"] * 50, [1.0] * 50 + [0.5] * 50)
    assert found["a"] > 2
    assert abs(found["b"] - found["c"]) < 0.2
    assert sum(found.values()) == pytest.approx(0)


def test_draws_and_games_without_a_verdict() -> None:
    found = bradley_terry(["a", "a", "b"], ["b", "b", "a"], [0.5, nan, 0.5], n_resamples=10)
    assert [(one.games, one.score, one.strength.value) for one in found.strengths] == [(2, 1, 0), (2, 1, 0)]
    assert bradley_terry(["a"], ["b"], [nan]) == ((), "no game has a verdict")


def test_parts_that_never_met_are_named() -> None:
    found = bradley_terry(["a", "c"], ["b", "d"], [1, 1], n_resamples=10)
    assert found.note == "games fall into 2 parts that never met, and only the prior compares them: a, b; c, d"


def test_questions_are_drawn_together() -> None:
    first, second, score = games(200)
    apart = bradley_terry(first, second, score)
    doubled = bradley_terry(
        np.repeat(first, 2), np.repeat(second, 2), np.repeat(score, 2), units=np.repeat(np.arange(200), 2), prior=2.0
    )
    for one, other in zip(apart.strengths, doubled.strengths, strict=True):
        assert one.strength[:3] == pytest.approx(other.strength[:3])


def test_the_order_of_games_and_sides_changes_no_strength() -> None:
    first, second, score = games(150)
    order = np.random.default_rng(1).permutation(150)
    assert strengths(first, second, score) == pytest.approx(strengths(second[order], first[order], 1 - score[order]))


def test_what_does_not_fit_is_refused() -> None:
    for played, why in [
        ((["a"], ["a"], [1]), "against itself: a"),
        ((["a"], ["b"], [2]), "between 0 and 1"),
        ((["a"], ["b", "c"], [1]), "shapes"),
    ]:
        with pytest.raises(ValueError, match=why):
            bradley_terry(*played)
    with pytest.raises(ValueError, match="prior"):
        bradley_terry(["a"], ["b"], [1], prior=0)
