"""Every command on a page finds items, and the ranges behind a picture's bars find those that it draws."""

from __future__ import annotations

import html
import importlib
import inspect
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from studied import whole

from evalbench import studies
from evalbench.draw import bars
from evalbench.report.render import render
from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")

from evalbench.explorer.rows import Rows


@pytest.mark.slow
@pytest.mark.parametrize("name", studies.names())
def test_every_command_of_a_page_finds_items(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name / "run"
    record(whole(name), folder)
    render(folder)
    rows = Rows(folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    filters = {html.unescape(one) for one in re.findall('data-where="([^"]*)"', page)}
    assert "" in filters
    assert [where for where in filters if not rows.count(where)] == []
    assert page.count("popovertarget") >= len({row["metric"] for row in rows.results["summary"]})


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "cot_levels", "confidence", "dialogue", "explainability", "imported", "rag_retrieval", "reproduction", "text_metrics",
    ],
)  # fmt: skip
def test_the_ranges_of_a_pictures_bars_hold_its_items(name: str, tmp_path: Path) -> None:
    result = whole(name)
    folder = tmp_path / name / "run"
    record(result, folder)
    rows = Rows(folder)
    pictures = importlib.import_module(f"evalbench.studies.{name}.pictures")
    found = Counter()
    for function in (value for key, value in vars(pictures).items() if key.startswith("picture_")):
        needs = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
        if len(needs) > 1:
            continue
        drawn = function(result)
        for label, where, column, ranges in json.loads(bars.of(drawn[0]) or "[]") if drawn else []:
            counts = [rows.count(f"{where} {bars.of_bar(column, *ends)}".strip()) for ends in ranges]
            assert all(counts), (label, where, column, ranges)
            n = re.search(rf"{re.escape(label)} median [^;]*?n (\d+)", drawn[1])
            every = rows.count(f'{where} -"{column}"='.strip())
            assert sum(counts) == int(n[1]) == every, label
            found[function.__name__] += len(counts)
    assert found
