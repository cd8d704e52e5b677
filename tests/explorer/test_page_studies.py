"""Every study in the browser, with markup in every text and name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
import pytest
from hostile_tables import HOSTILE, hostile_tables
from some_studies import some_studies
from studied import evaluated, whole

from evalbench import studies
from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytest.importorskip("uvicorn", reason="peer not importable: uvicorn")

from served_explorer import Served  # noqa: E402

pytestmark = pytest.mark.browser


# Beside those of each kind: spans, steps, conversations, ranks; one script draws the items of all.
EXPLORED = ("ner_quality", "trajectories", "dialogue", "rag_retrieval", "human_correlation")


@pytest.mark.generated
@pytest.mark.soak
@pytest.mark.parametrize("name", some_studies(studies.names(), in_check=EXPLORED))
def test_every_study_is_explored(page: Any, tmp_path: Path, name: str) -> None:
    """Of each sample, with markup in every text and name, all views are drawn and one item is opened, without an error or a fault."""
    record(evaluated(name, hostile_tables(name)), tmp_path / name / "run")
    server = Served(tmp_path)
    try:
        page.goto(f"{server.address}#run={name}%2Frun")
        page.locator("[data-row]").first.press("Enter")
        page.locator("#item-title").wait_for()
        assert page.locator("dialog").filter(has_text="<").count()
        page.keyboard.press("j")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Values", exact=True).click()
        page.get_by_role("heading", name="What these items show").wait_for()
        page.get_by_role("button", name="Thresholds", exact=True).click()
        page.get_by_role("heading", name="The light stays").wait_for()
        assert page.get_by_role("alert").filter(visible=True).count() == 0
        page.get_by_role("button", name="Compare", exact=True).click()
        page.locator(".chosen").wait_for()
        quoted = f'"{HOSTILE}"'
        page.goto(f"{server.address}#run={name}%2Frun&where={quote(quoted, safe='')}")
        page.get_by_text(re.compile(r"^[\d\u202f]+ (of [\d\u202f]+ )?items")).first.wait_for()
        assert page.locator("main img, dialog img, main script, dialog script, [onclick]").count() == 0
    finally:
        server.end()


def test_marked_places_are_drawn_in_the_text(page: Any, tmp_path: Path) -> None:
    record(whole("ner_quality"), tmp_path / "ner_quality" / "run")
    folder = tmp_path / "ner_quality" / "run"
    spans, items = pd.read_parquet(folder / "spans.parquet"), pd.read_parquet(folder / "items.parquet")
    texts = pd.read_parquet(folder / "texts.parquet").set_index("id")["text"]
    both = spans[
        spans["start"].notna() & (spans["start"] == spans["predicted_start"]) & (spans["end"] == spans["predicted_end"])
    ].iloc[0]
    row = items.index[(items["id"] == both["id"]) & (items["model"] == both["model"])][0]
    server = Served(tmp_path)
    try:
        page.goto(f"{server.address}#run=ner_quality%2Frun&item={row}")
        marked = page.locator("dialog mark.eb-truth.eb-prediction").filter(has_text=re.compile("^(?!in both)"))
        marked.first.wait_for()
        said = texts[both["id"]][int(both["start"]) : int(both["end"])]
        assert said in marked.all_inner_texts()
    finally:
        server.end()


def test_hostile_texts_are_texts(page: Any, folder: Path) -> None:
    server = Served(folder.parent.parent)
    try:
        page.goto(f"{server.address}#run=needle%2Frun&where=DROP&item=3")
        shown = page.locator("dialog")
        shown.get_by_text("<img src=x onerror=alert(1)>").first.wait_for()
        assert shown.locator("img").count() == 0
        assert shown.get_by_text("U+202E").count()
    finally:
        server.end()
