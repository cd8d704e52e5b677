"""Lengths of the sessions in a table of a million turns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from benchmark_table import at_most
from timing import alone, least

from evalbench import dialogue
from evalbench.core.result import DataLabel
from evalbench.readers.dataset import Dataset

pytestmark = [pytest.mark.benchmark, pytest.mark.large]

TURNS, SESSIONS, MOST_SECONDS = 1_000_000, 150_000, 8


def a_million_turns() -> float:
    draw = np.random.default_rng(0)
    session = np.sort(draw.integers(0, SESSIONS, TURNS))
    names = np.array([f"s{i:06}" for i in range(SESSIONS)])[session]
    frame = pd.DataFrame({"session_id": names, "role": np.where(np.arange(TURNS) % 2, "assistant", "user")})
    frame["turn"] = frame.groupby("session_id").cumcount() + 1
    frame["time"] = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(session * 30 + frame["turn"] * 5, unit="s")
    frame["resolved"] = (session % 3 > 0).astype(float)
    frame["model"] = np.where(session % 2, "fern", "oak")
    frame["text"] = "Some words, as a turn has them."
    data = Dataset(DataLabel("turns", "", ""), {"turns": frame})
    return least(lambda: dialogue.evaluate(data), goal=MOST_SECONDS, rounds=2)


def test_a_million_turns_take_less_than_eight_seconds(record):
    record(at_most("dialogue, 1 000 000 turns of 150 000 sessions", alone(a_million_turns), MOST_SECONDS, "s"))
