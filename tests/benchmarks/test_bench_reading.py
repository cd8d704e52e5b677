"""A table of a million rows read, its columns recognised and its cells checked: time against pandas, which only reads it."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from benchmark_table import against
from timing import Race, alone, race

pytestmark = pytest.mark.benchmark

ROWS, RACED = 1_000_000, 200_000
GOAL = 1 / 1.2


def table(folder: Path, rows: int) -> Path:
    """Answers beside references, under names that are not those of the study, as other people write them."""
    draw = random.Random(7)
    texts = ["alpha beta", "gamma", "delta, epsilon zeta", "eta theta"]
    path = folder / "answers.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("ID,question,bot_response,reference\n")
        for i in range(rows):
            asked, said, right = draw.choices(texts, k=3)
            file.write(f'q{i:07d},"{asked}","{said}","{right}"\n')
    return path


def raced(rows: int) -> Race:
    import pandas as pd

    from evalbench.studies import load, text_metrics  # noqa: F401 - imported before the first measurement

    with tempfile.TemporaryDirectory() as folder:
        path = table(Path(folder), rows)
        assert len(load(path, study="text_metrics")["items"]) == rows
        return race(lambda _: load(path, study="text_metrics"), lambda _: pd.read_csv(path, dtype=str), goal=GOAL)


def test_reading_a_table_takes_at_most_a_fifth_more_than_pandas(record):
    record(
        against(f"load, {RACED} rows of a CSV with other names", Race(*alone(raced, RACED)), "pandas.read_csv", GOAL)
    )


@pytest.mark.large
def test_reading_a_million_rows_takes_at_most_a_fifth_more_than_pandas(record):
    record(against(f"load, {ROWS} rows of a CSV with other names", Race(*alone(raced, ROWS)), "pandas.read_csv", GOAL))
