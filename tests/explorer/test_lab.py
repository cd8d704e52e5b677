"""A shipped notebook in JupyterLab: all its cells are run, and the explorer is its last output."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from generated import VARIABLE
from lab import jupyter_lab

from evalbench import studies
from evalbench.cli import group

pytest.importorskip("jupyterlab", reason="peer not importable: jupyterlab")
pytest.importorskip("anywidget", reason="peer not importable: anywidget")
pytest.importorskip("duckdb", reason="peer not importable: duckdb")

pytestmark = pytest.mark.browser
NOTEBOOKS = studies.names() if os.environ.get(VARIABLE) == "soak" else ["needle"]
"""With ``make soak`` all of them."""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a JupyterLab over a workbench of its own."""
    made = CliRunner().invoke(group, ["init", str(tmp_path / "bench")])
    assert made.exit_code == 0, made.output
    with jupyter_lab(tmp_path / "bench", tmp_path) as address:
        yield address


@pytest.fixture
def tab(browser: Any, lab: str) -> Iterator[Any]:
    """A window of the browser."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    yield page
    page.close()


@pytest.mark.timeout(400)
@pytest.mark.soak
@pytest.mark.parametrize("study", NOTEBOOKS)
def test_the_last_cell_of_a_shipped_notebook_is_the_explorer(tab: Any, lab: str, study: str) -> None:
    tab.goto(f"{lab}lab/tree/notebooks/{study}.ipynb?token=t")
    tab.locator(".jp-Notebook .cm-content").first.wait_for(timeout=60_000)
    tab.get_by_text("| Idle").wait_for(timeout=60_000)
    tab.get_by_role("menuitem", name="Run", exact=True).click()
    tab.get_by_text("Run All Cells", exact=True).click()
    tab.get_by_text(f"evalbench run {study}").wait_for(timeout=240_000)  # what record(result) prints
    tab.locator(".jp-Cell").last.scroll_into_view_if_needed()
    frame = tab.frame_locator("iframe[title=Explorer]")
    frame.locator("[data-row]").first.wait_for(timeout=120_000)
    assert tab.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    if study == "needle":
        frame.get_by_text("1\u202f600 items").wait_for()
        frame.get_by_role("button", name="Thresholds").click()
        frame.get_by_role("heading", name="The light stays").wait_for()
