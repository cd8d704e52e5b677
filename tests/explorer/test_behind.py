"""Every command on a page finds items, and the ranges behind a picture's bars find those that it draws."""

from __future__ import annotations

import html
import importlib
import inspect
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

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


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with its page, below a folder of reports."""
    folder = tmp_path_factory.mktemp("reports") / "confidence" / "run"
    record(whole("confidence"), folder)
    render(folder)
    return folder


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme", "script"), [(1240, "light", False), (400, "dark", True)])
def test_a_count_opens_its_command_with_or_without_a_script(
    browser: Any, rendered: Path, width: int, scheme: Any, script: bool
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=script)
    page.goto((rendered / "report.html").as_uri())
    box = page.locator(".eb-items:popover-open")
    assert box.count() == 0
    for fold in page.locator("details:has(> .eb-scroll button.eb-open) > summary").all()[:1]:
        fold.click()
    page.locator("button.eb-open").filter(visible=True).first.press("Enter")
    box.wait_for()
    assert re.search(r"^evalbench view run( --items model=[\w-]+)?$", box.locator("code").inner_text())
    if script:
        assert Axe().run(page).response["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        here = box.get_by_role("link", name="On this page")
        here.click()
        box.wait_for(state="detached")
        assert page.locator("#items input.filter").input_value() in ('"heron-2b"', '"larch-8b"', "")
    page.close()


@pytest.mark.browser
def test_a_count_on_the_server_is_a_link_into_the_explorer(browser: Any, rendered: Path) -> None:
    pytest.importorskip("uvicorn", reason="peer not importable: uvicorn")
    from served_explorer import Served

    server, page = Served(rendered.parent.parent), browser.new_page()
    try:
        page.goto(f"{server.address}report?run=confidence%2Frun")
        assert page.locator("button.eb-open").count() == 0
        page.locator("details:has(> .eb-scroll a[href*='where=model']) > summary").first.click()
        link = page.locator("a[href*='where=model']").filter(visible=True).first
        where = parse_qs(urlsplit(link.get_attribute("href")).fragment)["where"][0]
        link.click()
        page.locator("#where").wait_for()
        assert page.locator("#where").input_value() == where
        page.get_by_text(re.compile(r"^\d+ of 288 items")).first.wait_for()
    finally:
        server.end()
        page.close()
