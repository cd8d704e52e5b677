"""Values in the browser: what is clicked, dragged or typed narrows the items, and what is left is said."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytest.importorskip("duckdb", reason="peer not importable: duckdb")
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytest.importorskip("uvicorn", reason="peer not importable: uvicorn")

from served_explorer import Served  # noqa: E402

from evalbench.explorer.deciding import decided_from  # noqa: E402
from evalbench.explorer.rows import Rows  # noqa: E402

pytestmark = pytest.mark.browser
STUDIES = ("confidence", "matching", "needle", "rag_generation")


def test_values_narrow_the_items_and_say_what_is_left(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=confidence%2Frun&view=values")
    page.get_by_role("button", name="ferries").click()
    page.get_by_text("chosen after looking").wait_for()
    assert page.locator("#where").input_value() == "topic=ferries"
    page.get_by_label("p, from", exact=True).fill("0.5")
    page.get_by_label("p, from", exact=True).press("Enter")
    expect(page.locator("#where")).to_have_value("topic=ferries p>=0.5 p<=1")


def test_what_is_empty_is_counted_here_and_in_the_run(page: Any, served: Served, reports: Path) -> None:
    items = pd.read_parquet(reports / "needle" / "run" / "items.parquet")
    some = items[items["model"] == "oak-7b"]
    column = next(name for name in items if some[name].isna().any() and some[name].notna().any())
    page.goto(f"{served.address}#run=needle%2Frun&view=values&where=model%3Doak-7b&charts=%5B%22{column}%22%5D")
    here, whole = (
        f"{frame[column].isna().sum():,} of {len(frame):,}".replace(",", "\u202f") for frame in (some, items)
    )
    page.get_by_text(f"Empty: {here} here, {whole} in the run.").wait_for()


def test_a_bar_that_is_clicked_keeps_its_items_and_untouched_ends_keep_all(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=confidence%2Frun&view=values")
    chart = page.locator("figure", has=page.get_by_text("p", exact=True)).first
    bar = chart.locator("rect.all").last
    kept = int(bar.text_content().split(": ")[1].split(" of ")[1])
    bar.click(force=True)
    expect(page.locator(".stands")).to_contain_text(f"{kept} of 288 items", timeout=20_000)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#where")).to_have_value("")
    expect(page.locator(".stands")).to_contain_text("288 of 288 items", timeout=20_000)
    uncertain = page.locator("figure", has=page.get_by_text("neg_p_log_p_handbook", exact=True))
    uncertain.get_by_role("button", name="Keep").click()
    expect(page.locator("#where")).not_to_have_value("")
    expect(page.locator(".stands")).to_contain_text("288 of 288 items", timeout=20_000)


def test_a_second_value_is_asked_for_beside_the_first_and_what_had_the_focus_keeps_it(
    page: Any, served: Served
) -> None:
    page.goto(f"{served.address}#run=confidence%2Frun&view=values")
    for topic in ("ferries", "tides"):
        button = page.locator("figure").get_by_role("button", name=topic, exact=True)
        button.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#where")).to_have_value(re.compile(topic))
        expect(button).to_be_focused()
    assert page.locator("#where").input_value() == "topic=ferries|tides"
    page.get_by_label("p, from", exact=True).fill("0.5")
    page.get_by_label("p, from", exact=True).press("Enter")
    expect(page.locator("#where")).to_have_value("topic=ferries|tides p>=0.5 p<=1")
    page.get_by_label("p, to", exact=True).fill("0.75")
    page.get_by_label("p, to", exact=True).press("Enter")
    expect(page.locator("#where")).to_have_value("topic=ferries|tides p>=0.5 p<=0.75")


def test_values_that_are_long_are_asked_for_by_their_bar(page: Any, folder: Path, many: Callable[..., None]) -> None:
    long, longer = "a 'long' \"text\" | " * 40, "во много раз длиннее, " * 400
    many(4, note=[long, long, long, longer, longer, "short", "short", "short"])
    server = Served(folder.parent.parent)
    try:
        for text, n in ((long, 3), (longer, 2)):
            page.goto(f"{server.address}#run=needle%2Frun&view=values&charts=%5B%22note%22%5D")
            bar = page.locator("figure .bars li", has_text=text[:12])
            expect(bar.locator(".number")).to_have_text(str(n))
            bar.get_by_role("button").click()
            expect(page.locator("figure .bars li", has_text="short").locator(".number")).to_have_text("0 of 3")
            expect(bar.locator(".number")).to_have_text(str(n))
            page.goto("about:blank")
    finally:
        server.end()


def test_what_decides_the_light_and_is_no_column_is_said_with_its_columns(page: Any, served: Served) -> None:
    from_ = decided_from(Rows(served.reports / "matching" / "run"))
    assert from_ == {"metric": "f1", "title": "F1", "columns": ["tp", "fp", "fn"]}
    page.goto(f"{served.address}#run=matching%2Frun&view=values")
    page.get_by_text(
        "The light rests on F1, which is not a column of the items: it is computed from sums over the items of tp, fp, fn."
    ).wait_for()
    shown = page.locator("figure.chart figcaption").all_inner_texts()
    assert shown[:3] == ["tp", "fp", "fn"]
    page.goto(f"{served.address}#run=confidence%2Frun&view=values")
    page.get_by_text(
        "The light rests on AUROC of 1 − p, which is not a column of the items: its formula is on the run's page."
    ).wait_for()
    page.goto(f"{served.address}#run=rag_generation%2Frun&view=values")
    page.locator("figure.chart figcaption", has_text="answer_correctness").first.wait_for()
    assert page.get_by_text("The light rests on").count() == 0  # it is a column


def test_figures_have_their_unit_and_say_which_end_is_better(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=rag_generation%2Frun")
    page.get_by_text("Figures of the whole run (").click()
    rows = page.get_by_role("region", name="Figures")
    expect(rows.get_by_role("rowheader", name="answer relevance cosine, higher is better").first).to_be_visible()
    expect(rows.get_by_role("rowheader", name="claims invented 0–1, lower is better").first).to_be_visible()
