"""Verdicts that others recorded, against the figures that they published."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalbench.core.agreement import cohen_kappa
from evalbench.core.correlation import correlate
from evalbench.core.probes import inconsistent, null_answer, position
from evalbench.core.stats import Measured

pytestmark = pytest.mark.external

ONCE = {"n_resamples": 1}
VICUNAS = {"vicuna-13b-v1.5", "vicuna-7b-v1.5"}


def lines(file: Path):
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def alpaca(external_data) -> pd.DataFrame:
    return pd.read_parquet(external_data("alpaca_eval") / "verdicts_2.parquet")


def test_llmbar_counts_of_333_runs_and_why_their_kappa_is_wrong(external_data) -> None:
    """Their evaluator reads the winner "2" as 0, so that it never agrees with a label 2: 0.27 where 95 % agree and kappa is 0.90."""
    folder = external_data("llmbar")
    labels = defaultdict(list)
    for item in lines(folder / "items.jsonl"):
        labels[item["subset"]].append(float(int(item["label"]) == 1))
    published = {(r["subset"], r["evaluator"]): r for r in json.loads((folder / "expected.json").read_text())["rows"]}
    of_winner = {"1": 1.0, "2": 0.0, None: np.nan}
    seen = 0
    for run in lines(folder / "verdicts.jsonl"):
        expected = published[run["subset"], run["evaluator"]]
        human = np.array(labels[run["subset"]])
        ab, ba = np.array([[of_winner[w] for w in pair] for pair in run["winners"]]).T
        right = ab == human, ba == human
        changed = inconsistent(ab, ba)
        # Where both orders have no winner they count as equal there; here they have no verdict.
        neither = int((np.isnan(ab) & np.isnan(ba)).sum())
        found = (*(int(r.sum()) for r in right), int((right[0] & right[1]).sum()), int((changed == 0).sum()) + neither)
        names = ("correct_False", "correct_True", "correct_both", "equal")
        assert found == tuple(expected["recomputed"][name] for name in names)
        assert found == tuple(int(expected["published"][name].split(" / ")[0]) for name in names)
        measured = position(ab, ba, n_resamples=20)
        both = int((~np.isnan(changed)).sum())
        assert measured.inconsistent.n == both
        if both:
            assert measured.inconsistent.value == pytest.approx(np.nansum(changed) / both)
            assert measured.first.value == pytest.approx(0.5 + np.nanmean(ab - ba) / 2)
        if np.isfinite(ab).all():
            wrong = cohen_kappa(ab, np.where(human == 1, 1.0, 2.0), **ONCE).value
            assert wrong == pytest.approx(expected["published"]["kappa_False"], abs=1e-9)
            seen += 1
        if (run["subset"], run["evaluator"]) == ("Natural", "GPT-4/Vanilla"):
            assert expected["published"]["kappa_False"] == pytest.approx(0.268, abs=0.0005)
            assert cohen_kappa(ab, human, **ONCE).value == pytest.approx(0.898, abs=0.0005)
    assert len(published) == 333
    assert seen > 250


def test_alpaca_win_rates_and_standard_errors(alpaca: pd.DataFrame, external_data) -> None:
    board = pd.read_csv(
        external_data("alpaca_eval") / "weighted_alpaca_eval_gpt4_turbo_leaderboard.csv",
        index_col=0,
        float_precision="high",
    )
    wins = (alpaca.assign(win=alpaca["preference"] - 1)).groupby("system")["win"]
    rates, errors = wins.mean() * 100, wins.sem() * 100
    listed = [name for name in rates.index if name in board.index]
    assert len(listed) == 57
    assert np.abs(rates[listed] - board.loc[listed, "win_rate"]).max() < 1e-6
    off = np.abs(errors[listed] - board.loc[listed, "standard_error"]) > 1e-6
    assert set(off.index[off]) == VICUNAS
    doubled = alpaca[alpaca.duplicated(["system", "row"])]
    assert set(doubled["system"]) == VICUNAS
    once = alpaca.drop_duplicates(["system", "row"])
    halved = (once["preference"] - 1).groupby(once["system"]).sem()[list(VICUNAS)] * 100
    assert np.abs(halved - board.loc[list(VICUNAS), "standard_error"]).max() < 1e-6


def test_alpaca_null_model_is_gameable(alpaca: pd.DataFrame) -> None:
    rows = alpaca[alpaca["system"] == "NullModel"]
    found = null_answer(rows["preference"] - 1, units=rows["row"])
    assert found.gameable
    assert found.rate.value == pytest.approx(0.7692, abs=5e-5)
    assert found.rate.ci_high - found.rate.ci_low == pytest.approx(2 * 1.96 * 0.00909, rel=0.05)


def test_alpaca_preference_goes_with_length(alpaca: pd.DataFrame) -> None:
    found: dict[str, Measured] = {}
    for system, rows in alpaca.groupby("system"):
        longer = rows["length_system"] - rows["length_baseline"]
        found[str(system)] = correlate(rows["preference"] - 1, longer, n_resamples=2)
    assert found.pop("gpt4_1106_preview").note == "x and y are constant", "the baseline against itself"
    found.pop("NullModel")
    values = [one.value for one in found.values()]
    assert len(values) == 56
    assert [round(v, 3) for v in (np.mean(values), min(values), max(values))] == [0.262, 0.144, 0.369]
