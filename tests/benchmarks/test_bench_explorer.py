"""A million items in the explorer: first rows, sorts, filters, a range with the study's own figures and light, one item; and a pack."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
from benchmark_table import Row, at_most
from lab import jupyter_lab
from timing import alone

pytest.importorskip("duckdb", reason="peer not importable: duckdb")

from evalbench.explorer import answers, comparing
from evalbench.explorer.distributions import distribution
from evalbench.explorer.pack import pack
from evalbench.explorer.rows import Rows
from evalbench.runs.kernel import peak_memory_mb

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]
MILLION, PACKED = 1_000_000, 100_000
GROUPS = ("model=oak", "model=birch")
WORDS = "the ferry leaves pier seven at noon and comes back before the tide turns unless a storm is near".split()  # noqa: SIM905 - a sentence


def made(folder: Path, n: int) -> Path:
    """The folder of a run of text_metrics with texts of fourteen words, two models."""
    folder.mkdir(parents=True)
    draw = np.random.default_rng(0)
    ids, models = np.repeat([f"q{i:07d}" for i in range(n // 2)], 2), np.tile(["oak", "birch"], n // 2)
    items = {
        "id": ids, "model": models, "f1": draw.random(n).round(4), "length": draw.integers(5, 900, n), "right": draw.random(n) < 0.6,
        "topic": draw.choice(["ferry", "tide", "museum", "market"], n), "unscored": "", "undefined": "",
    }  # fmt: skip
    pd.DataFrame(items).to_parquet(folder / "items.parquet", index=False)
    said = [" ".join(words) for words in draw.choice(WORDS, (n, 14))]
    texts = pd.DataFrame({"id": ids, "model": models, "question": [text[:40] for text in said], "answer": said})
    texts.to_parquet(folder / "texts.parquet", index=False)
    row = {
        "metric": "f1",
        "title": "F1",
        "value": 0.5,
        "ci_low": 0.4,
        "ci_high": 0.6,
        "n": n // 2,
        "unit": "0–1",
        "light": "unlit",
    }
    results: dict[str, Any] = {
        "schema_version": 3, "study": "text_metrics", "question": "How near?", "judged": "oak", "parameters": {}, "id": "id", "by": ["model"],
        "data": {"name": "d", "version": "1", "sha256": "0"}, "light": "unlit", "sentence": "F1.", "light_stability": None, "light_rule": "",
        "items": {"n": n, "unscored": 0}, "notes": [], "method": [], "summary": [{"model": m, **row} for m in ("oak", "birch")],
        "tables": {"texts": "texts.parquet"},
    }  # fmt: skip
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    run = {"status": "ok", "study": "text_metrics", "run_id": folder.name}
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    return folder


def compared_anew(rows: Rows) -> object:
    """The first page of pairs, of which none is kept from before."""
    comparing._paired.cache_clear()
    return answers.compare(rows, rows, GROUPS, "", "", "", "", 0)


def of_a_million(folder: str) -> dict[str, float]:
    """Seconds of each question, the best of three; and memory."""
    rows = Rows(Path(folder))
    answers.about("warm", rows)
    found: dict[str, float] = {}
    asked: dict[str, Callable[[], Any]] = {
        "first rows": lambda: answers.items(rows, "", "", 0, 100),
        "a sort": lambda: answers.items(rows, "", "-f1", 0, 100),
        "a filter": lambda: answers.items(rows, "topic=tide|ferry length>=300 -right=true", "", 0, 100),
        "a word in all texts": lambda: answers.items(rows, "storm", "", 0, 100),
        "one item": lambda: answers.item(rows, 777_777, "model=birch", "-f1"),
        "a histogram": lambda: distribution(rows, "f1", "model=oak"),
        "two groups, paired": lambda: compared_anew(rows),
        "pairs, sorted": lambda: answers.compare(rows, rows, GROUPS, "", "", "", "-change", 1000),
        "a range with figures and light": lambda: answers.stands(rows, "f1>=0.2 f1<0.6", ""),
    }
    for _ in range(3):
        for name, ask in asked.items():
            rows._found.clear()
            start = time.perf_counter()
            ask()
            found[name] = min(found.get(name, np.inf), time.perf_counter() - start)
    return {**found, "memory": 1e6 * (peak_memory_mb(os.getpid()) or 0.0)}


def test_a_million_items(record: Callable[[Row], None], tmp_path: Path) -> None:
    found = alone(of_a_million, str(made(tmp_path / "reports" / "text_metrics" / "run", MILLION)))
    goals = {
        "first rows": 1, "a sort": 0.5, "a filter": 0.3, "a word in all texts": 1, "one item": 0.5, "a histogram": 0.3,
        "two groups, paired": 1, "pairs, sorted": 0.5, "a range with figures and light": 1,
    }  # fmt: skip
    for name, goal in goals.items():
        record(at_most(f"explorer, 1 000 000 items: {name}", found[name], goal, "s"))
    record(at_most("the same, memory of the process", found["memory"], 700e6, "B"))


def test_a_pack_of_a_hundred_thousand(record: Callable[[Row], None], tmp_path: Path) -> None:
    rows = Rows(made(tmp_path / "reports" / "text_metrics" / "run", PACKED))
    start = time.perf_counter()
    pack(rows, tmp_path / "pack")
    record(at_most("packing 100 000 items", time.perf_counter() - start, 6, "s"))
    size = sum(path.stat().st_size for path in (tmp_path / "pack").rglob("*") if path.is_file())
    record(at_most("the same, size of the folder", size, 6e6, "B"))


@pytest.mark.browser
def test_the_first_rows_of_a_pack(record: Callable[[Row], None], tmp_path: Path, browser: Any) -> None:
    page = pack(Rows(made(tmp_path / "reports" / "text_metrics" / "run", PACKED)), tmp_path / "pack")
    seconds = []
    for _ in range(5):
        tab = browser.new_page()
        tab.goto(page.as_uri(), wait_until="commit")
        tab.locator("[data-row]").first.wait_for()
        seconds.append(tab.evaluate("performance.now() / 1000"))
        tab.close()
    record(at_most("a pack of 100 000 items, until its first rows", statistics.median(seconds), 0.5, "s"))


@pytest.mark.browser
def test_the_explorer_in_a_notebook(record: Callable[[Row], None], tmp_path: Path, browser: Any) -> None:
    pytest.importorskip("jupyterlab", reason="peer not importable: jupyterlab")
    run = made(tmp_path / "bench" / "reports" / "text_metrics" / "run", PACKED)
    opened = "import evalbench\nfrom evalbench.studies import text_metrics"  # as in every shipped notebook
    cells = [f"{opened}\nrun = evalbench.open_run({str(run)!r})\n'ready'", "evalbench.explore(run)"]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells], metadata=kernel)
    nbformat.write(notebook, tmp_path / "bench" / "look.ipynb")
    tab = browser.new_page(viewport={"width": 1400, "height": 1000})
    with jupyter_lab(tmp_path / "bench", tmp_path) as address:
        tab.goto(f"{address}lab/tree/look.ipynb?token=t")
        tab.get_by_text("| Idle").wait_for(timeout=60_000)
        tab.locator(".jp-Notebook .cm-content").first.click()
        tab.keyboard.press("Shift+Enter")
        tab.get_by_text("'ready'", exact=True).last.wait_for(timeout=60_000)
        tab.locator(".jp-OutputArea-output").first.wait_for(timeout=60_000)
        start = time.perf_counter()
        tab.keyboard.press("Shift+Enter")
        tab.frame_locator("iframe[title=Explorer]").locator("[data-row]").first.wait_for(timeout=60_000)
        took = time.perf_counter() - start
    tab.close()
    record(at_most("explore() of 100 000 items in JupyterLab, until its first rows", took, 1.5, "s"))


def until_it_answers(folder: str) -> float:
    """Seconds from the command to the answer of its page with all runs in it."""
    start = time.perf_counter()
    asked = [sys.executable, "-m", "evalbench.cli", "view", folder, "--no-open"]
    server = subprocess.Popen(asked, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        base = server.stdout.readline().partition("#")[0].strip()
        for what in ("", "runs"):
            with urllib.request.urlopen(f"{base}{what}", timeout=30) as answer:
                assert answer.status == 200
        return time.perf_counter() - start
    finally:
        server.kill()
        server.wait()


def test_a_folder_of_three_hundred_runs(record: Callable[[Row], None], tmp_path: Path) -> None:
    one = made(tmp_path / "reports" / "text_metrics" / "run000", 1000)
    for i in range(1, 300):
        shutil.copytree(one, one.with_name(f"run{i:03d}"))
    took = min(until_it_answers(str(one)) for _ in range(3))
    record(at_most("evalbench view, from the command to a page of 300 runs", took, 1, "s"))
    (tmp_path / "alone" / "text_metrics").mkdir(parents=True)
    alone_one = shutil.copytree(one, tmp_path / "alone" / "text_metrics" / "run")
    took = min(until_it_answers(str(alone_one)) for _ in range(3))
    record(at_most("the same of one run", took, 1, "s"))
