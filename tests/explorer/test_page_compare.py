"""Compare in a browser: sides and score chosen, results as filters, orders, both items beside each other; by mouse and by keyboard."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from studied import whole

from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytest.importorskip("uvicorn", reason="peer not importable: uvicorn")

from served_explorer import TOKEN, Served  # noqa: E402

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=alert(1)>\u202e"
DECIDING = "#run=rag_generation%2Frun&view=compare&left=model%3Dfern&right=model%3Doak"
GROUPS = f"{DECIDING}&rank=faithfulness"
SAME = GROUPS.replace("fern", "oak")
RUNS = "#run=rag_generation%2Frun&view=compare&with=rag_generation%2Flater&rank=faithfulness"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, and a later one of other data: an answer of it is missing, one is new, one question is another, answers are hostile."""
    made = tmp_path_factory.mktemp("reports")
    record(whole("rag_generation"), made / "rag_generation" / "run")
    later = made / "rag_generation" / "later"
    shutil.copytree(made / "rag_generation" / "run", later)
    items = pd.read_parquet(later / "items.parquet")
    new = items.iloc[[1]].assign(id="new-one")
    items.loc[2:5, "faithfulness"] = 0.0
    items.loc[2:5, "n_supported"] = 0
    pd.concat([items.drop(index=[0]), new]).to_parquet(later / "items.parquet", index=False)
    texts = pd.read_parquet(later / "texts.parquet")
    texts.loc[texts["id"] == texts["id"].iloc[-1], "question"] = "Another question?"
    texts["answer"] = HOSTILE + texts["answer"]
    texts.to_parquet(later / "texts.parquet", index=False)
    results = json.loads((later / "results.json").read_text(encoding="utf-8"))
    results["data"]["sha256"] = "of other data"
    (later / "results.json").write_text(json.dumps(results), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def address(served: Served) -> str:
    return served.address


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page whose errors fail the test, and which may ask its own server only."""
    opened = browser.new_page(viewport={"width": 1240, "height": 900})
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on(
        "console", lambda said: errors.append(said.text) if said.type == "error" and "400" not in said.text else None
    )
    opened.on("request", lambda request: errors.append(request.url) if TOKEN not in request.url and not request.url.startswith("data:") else None)  # fmt: skip
    yield opened
    opened.close()
    assert errors == []


def figures(page: Any) -> Any:
    """The figures, once they have come."""
    found = page.locator("[aria-label='Differences in figures']:not([aria-busy])")
    found.wait_for(timeout=60_000)
    return found


def test_two_groups_with_figures_interval_and_test(page: Any, address: str) -> None:
    page.goto(address + GROUPS)
    page.get_by_role("heading", name="Items by faithfulness: oak − fern").wait_for()
    found = figures(page)
    expect(found.locator("p.answer")).to_contain_text(re.compile(r"faithfulness: .*p = 0"))
    row = found.get_by_role("row", name=re.compile("^faithfulness"))
    expect(row).to_contain_text(re.compile(r"\[−0\.\d+, 0?\.?\d*"))
    assert row.locator("svg.difference .interval").count() == 1
    assert found.get_by_role("columnheader", name="p (Holm)").first.is_visible()
    expect(found.get_by_text("p (Holm): adjusted for the 5 comparisons of the run's page.")).to_be_visible()
    found.get_by_text("Further figures (").click()
    expect(found.get_by_text(re.compile("further figures of these two groups"))).to_be_visible()


def test_it_begins_with_the_figure_that_decides_the_light(page: Any, address: str) -> None:
    page.goto(address + DECIDING)
    page.get_by_role("heading", name="Items by answer correctness: oak − fern").wait_for()
    expect(page.get_by_label("By", exact=True).locator("option").first).to_have_text("what decides the light")
    figures(page).get_by_role("row", name=re.compile("^answer correctness")).wait_for()
    page.goto(address + GROUPS)
    page.get_by_role("heading", name="Items by faithfulness: oak − fern").wait_for()
    figures(page).get_by_role("row", name=re.compile("^answer correctness")).wait_for()  # and is not folded
    page.get_by_role("button", name="Values", exact=True).click()
    expect(page.locator("figure.chart figcaption").first).to_have_text("answer_correctness")


def test_results_are_filters_and_columns_are_orders_kept_in_the_address(page: Any, address: str) -> None:
    page.goto(address + GROUPS)
    worse = page.get_by_role("button", name=re.compile(r"^oak worse \("))
    n = int(re.sub(r"\D", "", worse.inner_text()))
    worse.click()
    expect(page).to_have_url(re.compile("verdict=worse"))
    expect(worse).to_have_attribute("aria-pressed", "true")
    expect(page.locator("button.pairs")).to_have_count(n)
    page.get_by_role("button", name="Difference", exact=True).click()
    expect(page).to_have_url(re.compile("order=-change"))
    expect(page.get_by_role("columnheader", name=re.compile("^Difference ▼"))).to_have_attribute(
        "aria-sort", "descending"
    )
    page.get_by_role("button", name=re.compile("^Difference")).click()
    cells = page.locator("table.items tbody tr td:nth-child(4)")
    expect(page).to_have_url(re.compile("order=change"))
    expect(page.get_by_role("columnheader", name=re.compile("^Difference ▲"))).to_have_attribute(
        "aria-sort", "ascending"
    )
    values = [float(text.replace("−", "-")) for text in cells.all_inner_texts()]
    assert values == sorted(values)
    page.reload()
    expect(page.locator("button.pairs")).to_have_count(n)
    page.go_back()
    expect(page).to_have_url(re.compile("order=-change"))
    expect(page.get_by_role("columnheader", name=re.compile("^Difference ▼"))).to_be_visible()


def test_a_pair_opens_both_items_by_keyboard_and_the_next_one(page: Any, address: str) -> None:
    page.goto(address + GROUPS)
    first = page.locator("button.pairs").first
    first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    name = first.inner_text()
    page.keyboard.press("Enter")
    title = page.locator("#item-title")
    expect(title).to_have_text(name)
    texts = page.locator("dialog details", has=page.get_by_role("heading", name="texts (1)"))
    assert texts.locator(".pair .group").all_inner_texts()[:2] == ["fern", "oak"]
    assert texts.locator("del").count()
    assert texts.locator("ins").count()
    expect(page.get_by_role("region", name="Scores that differ")).to_contain_text("faithfulness")
    page.keyboard.press("j")
    expect(title).not_to_have_text(name)
    expect(page).to_have_url(re.compile(r"pair=\d+"))
    page.keyboard.press("k")
    expect(title).to_have_text(name)
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("item=|pair="))
    page.locator("dialog[open]").wait_for(state="detached")
    assert page.evaluate("document.activeElement.classList.contains('pairs')")


def test_two_runs_what_only_one_has_and_whose_inputs_differ(page: Any, address: str) -> None:
    page.goto(address + RUNS)
    page.get_by_text("A is run, B is later.").wait_for()
    page.get_by_role("button", name="inputs differ (2)").click()
    expect(page.locator("button.pairs")).to_have_count(2)
    page.get_by_role("button", name="only in A (1)").click()
    expect(page.locator("table.items")).to_contain_text("no item")
    page.get_by_role("button", name="only in B (1)").click()
    page.get_by_role("button", name="new-one").click()
    expect(page.locator("#item-title")).to_contain_text("new-one")
    expect(page).to_have_url(re.compile(r"run=rag_generation%2Flater"))
    page.go_back()
    worse = page.get_by_role("button", name=re.compile(r"^B worse \("))
    worse.click()
    expect(worse).to_have_attribute("aria-pressed", "true")
    page.locator("button.pairs").first.click()
    shown = page.locator("dialog")
    expect(shown.locator(".both")).to_contain_text("<img src=x onerror=alert(1)>")
    assert shown.locator("img").count() == 0
    assert shown.locator(".eb-ctl").count()
    expect(shown.locator(".group").first).to_have_text(re.compile("rag_generation/run: (fern|oak)"))


def test_another_score_a_filter_and_a_fault_are_said(page: Any, address: str) -> None:
    page.goto(address + GROUPS)
    page.get_by_label("By", exact=True).select_option("n_statements")
    page.get_by_role("heading", name="Items by n_statements: oak − fern").wait_for()
    expect(figures(page)).to_contain_text("mean of n_statements")
    page.locator("#where").fill("n_statements>=2")
    page.keyboard.press("Enter")
    page.get_by_text("These items were chosen after looking").wait_for()
    assert figures(page).get_by_role("columnheader", name="p", exact=True).count() == 0
    page.get_by_label("Right", exact=True).select_option("model=fern")
    page.get_by_role("alert").filter(has_text="both sides are the same").wait_for()
    page.get_by_label("Right", exact=True).select_option("model=oak")
    page.get_by_role("heading", name="Items by n_statements: oak − fern").wait_for()


def test_a_blind_reader_sees_no_comparison(page: Any, address: str) -> None:
    page.goto(f"{address}#run=rag_generation%2Frun&item=3")
    page.get_by_label("blind").check()
    page.get_by_text("Blind: scores").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_text("Blind: a comparison shows scores").wait_for()
    assert page.locator("button.pairs").count() == 0


@pytest.mark.parametrize(("width", "scheme"), [(1240, "light"), (400, "dark")])
def test_axe_finds_no_violation_and_nothing_scrolls_sideways(
    browser: Any, address: str, width: int, scheme: Any
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    for view in (GROUPS, RUNS, f"{GROUPS}&item=0&pair=1", SAME):
        opened.goto("about:blank")
        opened.goto(address + view)
        if "item" in view:
            opened.locator("dialog .both").wait_for()
        elif view == SAME:
            opened.get_by_role("alert").filter(has_text="both sides are the same").wait_for()
        else:
            figures(opened)
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        found = Axe().run(opened).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]][:2]) for one in found] == [], view
    opened.close()
