"""The page of 500 rows: how large it is, and how long a browser takes until it can be read."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from benchmark_table import at_most
from zipf_texts import texts

pytestmark = [pytest.mark.benchmark, pytest.mark.browser]

ROWS, MOST_SECONDS, MOST_BYTES = 500, 1.0, 500_000


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of text_metrics, with the texts of every row."""
    folder = tmp_path_factory.mktemp("page")
    outputs, references = texts(ROWS, seed=1)
    frame = pd.DataFrame({"id": [f"q{i:03}" for i in range(ROWS)], "output": outputs, "reference": references})
    frame.to_json(folder / "rows.jsonl", orient="records", lines=True, force_ascii=False)
    words = (
        "run",
        "text_metrics",
        "--data",
        folder / "rows.jsonl",
        "--out",
        folder / "reports",
        "-p",
        'metrics=["f1_score","rougeL","chrf"]',
    )
    subprocess.run([sys.executable, "-m", "evalbench.cli", *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    (found,) = folder.glob("reports/*/*/report.html")
    return found


def test_a_page_of_500_rows_opens_in_a_second_and_keeps_to_500_kb(page: Path, browser: Any, record: Any) -> None:
    seconds = []
    for _ in range(5):
        tab = browser.new_page()
        tab.goto(page.as_uri())
        shown = "requestAnimationFrame(() => setTimeout(() => done(performance.now() / 1000)))"
        seconds.append(tab.evaluate(f"() => new Promise((done) => {shown})"))
        assert tab.locator("#items tbody tr").count() == ROWS
        tab.close()
    record(at_most(f"a page of {ROWS} rows, until it is drawn", statistics.median(seconds), MOST_SECONDS, "s"))
    record(at_most(f"a page of {ROWS} rows", page.stat().st_size, MOST_BYTES, "B"))
