"""Betting e-values and confidence sequences: by hand, by brute force, refused, and on recorded verdicts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evalbench.core.betting import confidence_sequence, decided_after, log_evalues, looks

nan = math.nan
SYSTEMS = 56


def by_hand(x: list[float], m: float, alpha: float, c: float) -> list[float]:
    """The formula, item by item, in plain Python."""
    up = down = 1.0
    total, squares, t, spread = 0.5, 0.25, 0, 0.25
    path = []
    for value in x:
        if not math.isnan(value):
            t += 1
            bet = math.sqrt(2 * math.log(2 / alpha) / (spread * t * math.log(1 + t)))
            up *= 1 + min(bet, c / m if m else math.inf) * (value - m)
            down *= 1 - min(bet, c / (1 - m) if m < 1 else math.inf) * (value - m)
            total += value
            squares += (value - total / (t + 1)) ** 2
            spread = squares / (t + 1)
        path.append(math.log(max(up, down) / 2))
    return path


@pytest.mark.parametrize(("m", "alpha", "c"), [(0.5, 0.05, 0.5), (0.8, 0.1, 0.9), (0.0, 0.05, 0.5), (1.0, 0.05, 0.25)])
def test_the_capital_is_that_of_the_formula(m: float, alpha: float, c: float) -> None:
    x = [1.0, nan, 0.3, 0.0, 0.5, 1.0, nan, 1.0, 0.9, 0.2]
    if m == 0:
        x = [max(v, 0.1) for v in x]
    if m == 1:
        x = [min(v, 0.9) for v in x]
    found = log_evalues(np.array([x, x]), m, alpha=alpha, bound=c)
    assert found[0] == pytest.approx(by_hand(x, m, alpha, c))
    assert (found[0] == found[1]).all()


def test_an_item_without_an_outcome_bets_nothing() -> None:
    x = np.random.default_rng(1).random(30)
    gaps = np.insert(x, [0, 5, 5, 30], nan)
    assert log_evalues(gaps)[~np.isnan(gaps)] == pytest.approx(log_evalues(x))


def test_the_sequence_holds_the_means_that_were_not_bet_away() -> None:
    x = np.random.default_rng(2).beta(2, 1, 200)
    at = looks(200, 16)
    found = confidence_sequence(x, at, also=[1 / 3])
    for m in [*np.linspace(0, 1, 53), 1 / 3]:
        away = np.maximum.accumulate(log_evalues(x, m)[at - 1]) >= math.log(20)
        inside = (found.low < m) & (m < found.high)
        assert (inside == ~away).mean() > 0.98 if m != 1 / 3 else (inside == ~away).all()
        assert not (away & inside).any()
    assert (np.diff(found.low) >= 0).all()
    assert (np.diff(found.high) <= 0).all()
    assert found.value[-1] == pytest.approx(x.mean())


@pytest.mark.parametrize("n", [30, 200, 3000])
def test_one_look_at_the_end(n: int) -> None:
    """The stretches in which means are tried may hold no look."""
    x = np.random.default_rng(n).random(n)
    found = confidence_sequence(x, [n])
    for m in np.linspace(0.01, 0.99, 25):
        away = log_evalues(x, m)[-1] >= math.log(20)
        assert not (away and found.low[0] < m < found.high[0])
    assert found.low[0] < x.mean() < found.high[0]


def test_what_is_constant_or_empty() -> None:
    assert not len(confidence_sequence([]).n)
    none = confidence_sequence([nan, nan])
    assert np.isnan(none.value).all()
    assert (none.low.tolist(), none.high.tolist()) == ([0, 0], [1, 1])
    zeros = confidence_sequence(np.zeros(200))
    assert zeros.low[-1] == 0
    assert zeros.high[-1] < 0.06
    assert np.isnan(decided_after(log_evalues([0.5] * 500)))
    assert np.isnan(decided_after(np.zeros((2, 0)))).all()


@pytest.mark.parametrize(
    ("outcomes", "settings", "why"),
    [
        ([0.5, 1.5], {}, r"\[0, 1\], or be NaN: there is 1.5"),
        ([0.5], {"alpha": 1}, "alpha is 1"),
        ([0.5], {"bound": 0}, "bound is 0"),
        ([0.5], {"also": [2]}, "is not 2"),
        ([[0.5]], {}, "one sequence"),
        ([0.5, 1], {"at": [2, 1]}, "looks must ascend"),
        ([0.5, 1], {"at": [3]}, "2 at most"),
        (0.5, {}, "got a number"),
    ],
)
def test_refused(outcomes: object, settings: dict, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        confidence_sequence(outcomes, **settings)


def test_looks_need_a_batch() -> None:
    with pytest.raises(ValueError, match="batch is 0"):
        looks(5, 0)


def test_all_intervals_hold_the_mean_at_once() -> None:
    """Looked at after every item, 300 sequences of three distributions."""
    g = np.random.default_rng(3)
    for mean, drawn in (
        (0.9, g.random((300, 300)) < 0.9),
        (0.5, g.random((300, 300))),
        (0.25, g.beta(1, 3, (300, 300))),
    ):
        missed = log_evalues(drawn, mean).max(axis=1) >= math.log(20)
        assert missed.mean() <= 0.06


@pytest.fixture(scope="module")
def verdicts(external_data):
    import pandas as pd

    table = pd.read_parquet(external_data("alpaca_eval") / "verdicts_2.parquet")
    table = table.drop_duplicates(["system", "row"])
    return {name: rows.to_numpy() - 1 for name, rows in table.groupby("system")["preference"]}


def test_at_most_one_in_twenty_sequences_without_a_difference_ever_crosses(verdicts) -> None:
    g = np.random.default_rng(0)
    names = sorted(verdicts)
    drawn = np.full((2000, 805), nan)
    for row, name in zip(drawn, (names[i % len(names)] for i in range(2000)), strict=False):
        x = g.permutation(verdicts[name])
        row[: len(x)] = np.where(g.random(len(x)) < 0.5, x, 1 - x)
    assert np.isfinite(decided_after(log_evalues(drawn))).mean() <= 0.05

    n = np.cumsum(~np.isnan(drawn), axis=1)
    mean = np.nancumsum(drawn, axis=1) / n
    spread = (np.nancumsum(drawn**2, axis=1) / n - mean**2) * n / np.maximum(n - 1, 1)
    z = np.abs(mean - 0.5) / np.sqrt(np.maximum(spread, 1e-12) / n)
    assert (z[:, 29:] > 1.959964).any(axis=1).mean() > 0.25


def test_few_of_the_recorded_verdicts_are_needed(verdicts) -> None:
    g = np.random.default_rng(0)
    single, batches = [], []
    for name, x in verdicts.items():
        orders = np.stack([g.permutation(x) for _ in range(40)])
        path = log_evalues(orders)
        if name == "gpt4_1106_preview":  # the baseline against itself
            assert np.isnan(decided_after(path)).all()
            continue
        if abs(x.mean() - 0.5) / (x.std(ddof=1) / math.sqrt(len(x))) < 1.959964:
            assert name == "FuseChat-Llama-3.2-3B-Instruct"
            assert np.isnan(decided_after(path)).mean() >= 0.9
            continue
        single.append(np.nan_to_num(decided_after(path), nan=len(x)).mean() / len(x))
        batches.append(np.nan_to_num(decided_after(path, batch=16), nan=len(x)).mean() / len(x))
    assert len(single) == SYSTEMS
    assert np.mean(single) == pytest.approx(0.019, abs=0.002)
    assert np.mean(batches) == pytest.approx(0.026, abs=0.002)
