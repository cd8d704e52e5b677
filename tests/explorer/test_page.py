"""The explorer in a browser: from a figure to its items, to one item and back; by mouse and by keyboard."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
import pytest

pytest.importorskip("duckdb", reason="peer not importable: duckdb")
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytest.importorskip("uvicorn", reason="peer not importable: uvicorn")

from served_explorer import Served  # noqa: E402

pytestmark = pytest.mark.browser
STUDIES = ("confidence", "needle")


def test_from_all_runs_to_the_items_of_a_group_to_one_item_and_back(page: Any, served: Served) -> None:
    page.goto(served.address)
    page.get_by_role("link", name="needle").click()
    page.get_by_text("Figures of the whole run (").click()
    page.get_by_role("button", name="fern-1b").first.click()
    page.get_by_text("800 of 1\u202f600 items").wait_for()
    assert page.locator("#where").input_value() == "model=fern-1b"
    page.get_by_role("button", name="recall", exact=True).click()
    page.locator("[aria-sort=ascending]").wait_for()
    first = page.locator("[data-row]").first
    first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement === document.querySelectorAll('[data-row]')[1]")
    page.keyboard.press("Enter")
    title = page.locator("#item-title")
    title.wait_for()
    before = title.inner_text()
    expect(page.locator("dialog")).to_contain_text("replies (2)")
    page.keyboard.press("j")
    expect(title).not_to_have_text(before)
    page.keyboard.press("k")
    expect(title).to_have_text(before)
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")
    expect(page).not_to_have_url(re.compile("item="))


@pytest.mark.parametrize(
    ("study", "written", "asked"),
    [
        ("needle", "unscored=none", "unscored="),
        ("confidence", "p=0.6 cosine=0.8199", "cosine>=0.81985 cosine<0.81995"),
        ("needle", "-model=fern-1b haystack=vanill", "haystack~vanill"),
    ],
)
def test_a_value_as_it_is_shown_is_answered_by_what_to_ask_for(
    page: Any, served: Served, study: str, written: str, asked: str
) -> None:
    page.goto(f"{served.address}#run={study}%2Frun")
    page.locator("#where").fill(written)
    page.keyboard.press("Enter")
    page.get_by_text("No item fits the filter.").wait_for()
    page.get_by_role("button", name=asked, exact=True).click()
    expect(page.locator("#where")).to_have_value(" ".join([*written.split()[:-1], asked]))
    page.locator("[data-row]").first.wait_for()


def test_a_filter_that_cannot_be_read_is_said_at_the_box(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=needle%2Frun")
    box = page.locator("#where")
    box.fill("nowhere=1")
    page.keyboard.press("Enter")
    page.get_by_role("alert").filter(has_text="there is no column 'nowhere'").wait_for()
    still = page.get_by_text("Still showing: all items")
    expect(still).to_be_visible()
    expect(page.locator("section.view")).to_have_css("opacity", "0.5")
    page.get_by_role("button", name="Values", exact=True).click()
    page.locator("figure.chart").first.wait_for()
    expect(box).to_have_value("nowhere=1")
    expect(still).to_be_visible()
    page.get_by_role("button", name="Items", exact=True).click()
    page.locator("[data-row]").first.wait_for()
    box.fill("recall=0 model=oak-7b")
    page.keyboard.press("Enter")
    expect(still).to_be_hidden()
    expect(page.locator("section.view")).to_have_css("opacity", "1")
    page.get_by_text(re.compile(r"^\d+ of 1\u202f600 items")).wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(1240, "light"), (400, "dark")])
def test_axe_finds_no_violation_and_nothing_scrolls_sideways(
    browser: Any, served: Served, width: int, scheme: Any
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    for view in (
        "",
        "#run=confidence%2Frun",
        "#run=confidence%2Frun&view=values",
        "#run=confidence%2Frun&view=thresholds",
        "#run=confidence%2Frun&view=compare",
        "#run=needle%2Frun&item=3",
    ):
        opened.goto("about:blank")
        opened.goto(served.address + view)
        opened.locator(
            "#item-title" if "item" in view else "h2" if "view" in view else "table:visible"
        ).first.wait_for()
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        found = Axe().run(opened).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]][:2]) for one in found] == [], view
    opened.close()


def test_the_chooser_of_columns_stays_open(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=needle%2Frun")
    page.get_by_text(re.compile("^Columns ")).click()
    box = page.get_by_role("checkbox", name="declined")
    before = box.is_checked()
    box.click()
    expect(page).to_have_url(re.compile("columns="))
    expect(page.get_by_role("checkbox", name="declined")).to_be_visible()
    expect(page.get_by_role("checkbox", name="declined")).to_be_focused()
    assert page.get_by_role("checkbox", name="declined").is_checked() is not before


def test_the_next_item_is_on_the_next_page(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=needle%2Frun&item=99")
    page.locator("#item-title").wait_for()
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile("item=100.*page=1|page=1.*item=100"))
    page.keyboard.press("Escape")
    expect(page.get_by_text("Page 2 of 16")).to_be_visible()
    expect(page.locator("[data-row='100']")).to_be_focused()


def test_the_copied_command_is_one_command_whatever_the_run_is_called(browser: Any, served: Served) -> None:
    name = "confidence/it's a $(run) & more"
    copied = served.reports / name
    shutil.copytree(served.reports / "confidence" / "run", copied)
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    opened.goto(f"{served.address}#run={quote(name, safe='')}&where=model%3Dheron-2b")
    opened.get_by_role("button", name="Copy command").click()
    expect(opened.locator("#said")).to_have_text("Copied.")
    said = shlex.split(opened.evaluate("navigator.clipboard.readText()"))
    context.close()
    shutil.rmtree(copied)
    assert said == ["evalbench", "view", name, "--items", "model=heron-2b"]


def test_answers_of_two_models_are_side_by_side_with_differences(page: Any, served: Served) -> None:
    texts = pd.read_parquet(served.reports / "confidence/run/answers.parquet").pivot(
        index="id", columns="model", values="answer"
    )
    differs = texts.index[texts["heron-2b"] != texts["larch-8b"]][0]
    items = pd.read_parquet(served.reports / "confidence/run/items.parquet")
    page.goto(f"{served.address}#run=confidence%2Frun&item={items.index[items['id'] == differs][0]}")
    answers = page.locator("dialog details", has=page.get_by_role("heading", name="answers (2)"))
    beside = answers.locator(".beside").first
    beside.wait_for()
    assert sorted(beside.locator(".group").all_inner_texts()) == ["heron-2b", "larch-8b"]
    assert beside.locator("del").count() or beside.locator("ins").count()


def test_two_groups_are_compared_item_by_item(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=confidence%2Frun")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("region", name="Differences", exact=True).get_by_text("AUROC of 1 − p").wait_for()
    page.get_by_label("By", exact=True).select_option("correct")
    page.get_by_role("heading", name="Items by correct").wait_for()
    page.get_by_role("button", name=re.compile(r" lower \(")).click()
    expect(page.get_by_role("button", name=re.compile(r" lower \("))).to_have_attribute("aria-pressed", "true")
    page.locator("[data-row]").first.press("Enter")
    title = page.locator("#item-title")
    second = page.locator("[data-row]").nth(1).inner_text()
    title.wait_for()
    page.keyboard.press("j")
    expect(title).to_contain_text(second)
    page.keyboard.press("Escape")
    page.get_by_label("Right", exact=True).select_option("model=heron-2b")
    page.get_by_role("alert").filter(has_text="both sides are the same").wait_for()


def test_a_mark_is_made_by_key_blind_or_not_and_taken_back(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=needle%2Frun&item=3")
    page.get_by_label("Your name").fill("Anna")
    page.locator("#item-title").click()
    page.keyboard.press("2")
    page.get_by_text("Anna: wrong (scores were seen)").wait_for()
    page.get_by_label("Comment").fill("the <b>number</b> is not there")
    page.get_by_label("Comment").blur()
    page.get_by_text("“the <b>number</b> is not there”").wait_for()
    page.keyboard.press("j")
    page.get_by_text("No mark yet. 1 item is marked.").wait_for()
    page.get_by_label("blind").check()
    page.get_by_text("Blind: scores").wait_for()
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile("item=5"))
    page.wait_for_load_state("networkidle")  # the form of the item before says the same
    page.get_by_text("No mark yet.").wait_for()
    assert page.locator("dialog").get_by_text("oak-7b").count() == 0
    assert page.locator("dialog").get_by_text("contains").count() == 0
    page.get_by_role("button", name="Right", exact=True).click()
    page.get_by_text("Anna: right (blind)").wait_for()
    from evalbench.explorer.opened import open_run

    found = open_run(served.reports / "needle" / "run").marks()
    assert found[["row", "mark", "blind"]].values.tolist() == [[5, "1", True], [3, "0", False]]
    page.get_by_role("button", name="Take back").click()
    page.get_by_text("No mark yet. 1 item is marked.").wait_for()


def test_a_run_in_progress_is_followed_until_it_has_results(page: Any, reports: Path, tmp_path: Path) -> None:
    from evalbench.core import progress
    from evalbench.runs.folder import host

    folder = tmp_path / "needle" / "new"
    folder.mkdir(parents=True)
    begun = {
        "status": "running",
        "study": "needle",
        "run_id": "new",
        "started": "2026-01-01T00:00:00Z",
        "host": f"not {host()}",
        "process": 1,
    }
    (folder / "run.json").write_text(json.dumps(begun), encoding="utf-8")
    (folder / progress.NAME).write_text('{"what": "asking <b>m</b>", "done": 3, "total": 10}', encoding="utf-8")
    server = Served(tmp_path)
    try:
        page.goto(server.address)
        page.get_by_text("asking <b>m</b>, 3 of 10").wait_for()
        page.get_by_role("link", name="needle").click()
        page.get_by_text("The run is not finished: there is no estimate and no light yet.").wait_for()
        (folder / progress.NAME).write_text('{"what": "asking m", "done": 7, "total": 10}', encoding="utf-8")
        page.get_by_text("asking m, 7 of 10").wait_for()
        for file in (reports / "needle" / "run").iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        page.get_by_text("1\u202f600 items").wait_for()
    finally:
        server.end()


def test_the_next_pair_of_a_comparison_is_on_its_next_page(page: Any, folder: Path, many: Callable[..., None]) -> None:
    many(150)
    server = Served(folder.parent.parent)
    try:
        page.goto(f"{server.address}#run=needle%2Frun&view=compare&rank=score")
        page.get_by_text("Page 1 of 2").wait_for()
        last = page.locator("[data-row]").last
        last.press("Enter")
        title = page.locator("#item-title")
        title.wait_for()
        before = title.inner_text()
        page.keyboard.press("j")
        expect(page).to_have_url(re.compile("part=1"))
        expect(title).not_to_have_text(before)
        page.get_by_text("Page 2 of 2").wait_for()
        expect(title).to_have_text(page.locator("[data-row]").first.inner_text())
        page.keyboard.press("k")
        expect(title).to_have_text(before)
        page.get_by_text("Page 1 of 2").wait_for()
        expect(page).not_to_have_url(re.compile("part="))
    finally:
        server.end()


def test_ids_of_numbers_are_whole_and_without_separators(page: Any, folder: Path, many: Callable[..., None]) -> None:
    many(2, id=[1234567890123, 1234567890123, 20000, 20000], part=[10000, 10001, 10000, 10001], exact=[1 / 3] * 4)
    file = folder / "results.json"
    results = json.loads(file.read_text(encoding="utf-8"))
    results["by"] = ["model", "part"]
    results["summary"] = [{**row, "part": "10000"} for row in results["summary"]]
    results["tables"] = {}
    file.write_text(json.dumps(results), encoding="utf-8")
    server = Served(folder.parent.parent)
    try:
        page.goto(f"{server.address}#run=needle%2Frun&item=0")
        page.locator("#item-title").wait_for()
        assert page.locator("#item-title").inner_text() == "1234567890123 · oak · 10000"
        fields = dict(
            zip(page.locator("dialog dt").all_inner_texts(), page.locator("dialog dd").all_inner_texts(), strict=True)
        )
        assert (fields["id"], fields["part"], fields["exact"]) == ("1234567890123", "10000", "0.333333333333")
        page.keyboard.press("Escape")
        assert page.locator(".items tbody tr").first.locator("th, td").all_inner_texts()[:3] == [
            "1234567890123",
            "oak",
            "10000",
        ]
    finally:
        server.end()


def test_what_goes_away_leaves_the_focus_on_the_page(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=needle%2Frun&where=model%3Doak-7b")
    clear = page.get_by_role("button", name="Clear")
    clear.focus()
    page.keyboard.press("Enter")
    page.get_by_text(re.compile("^1\u202f600 items")).wait_for()
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_term_is_added_once_whatever_quotes_it_has(page: Any, served: Served) -> None:
    page.goto(served.address)
    added = page.evaluate(
        """async () => {
          const { withTerm, withValue, term } = await import("./static/state.js");
          const twice = (make) => make(make("x>1"));
          return [
            twice((where) => withTerm(where, term("a b", "=", 'say "yes" | no'))),
            twice((where) => withValue(where, "a b", "c d")),
            withValue(withValue(withValue("", "a", "x"), "a", "y|z"), "a", "x"),
          ];
        }"""
    )
    assert added == ['x>1 "a b"="say \\"yes\\" | no"', 'x>1 "a b"="c d"', 'a=x|"y|z"']


def test_an_older_drawing_does_not_finish_after_a_newer_one(page: Any, served: Served) -> None:
    held: list[Any] = []
    page.route(re.compile(r"/items\?.*where=model%3Dfern-1b"), lambda route: held.append(route))
    page.goto(f"{served.address}#run=needle%2Frun")
    page.get_by_text("1\u202f600 items").wait_for()
    page.evaluate("location.hash = '#run=needle%2Frun&where=model%3Dfern-1b'")
    page.wait_for_function("location.hash.includes('fern')")
    page.wait_for_timeout(300)
    page.evaluate("location.hash = '#run=needle%2Frun&where=recall%3D0'")
    page.get_by_text(re.compile(r"^\d+ of 1\u202f600 items")).wait_for()
    said = page.locator(".view p[role=status]").inner_text()
    assert held
    for route in held:
        route.continue_()
    page.wait_for_timeout(500)
    assert page.locator(".view p[role=status]").inner_text() == said
    assert page.locator("#where").input_value() == "recall=0"


def test_runs_are_stacked_on_a_narrow_screen(browser: Any, served: Served) -> None:
    opened = browser.new_page(viewport={"width": 400, "height": 800})
    opened.goto(served.address)
    cells = opened.locator("table.runs tbody tr").first.locator("th, td")
    cells.first.wait_for()
    boxes = [cells.nth(i).bounding_box() for i in range(cells.count())]
    assert all(box["x"] + box["width"] <= 400 for box in boxes)
    assert len({round(box["y"]) for box in boxes}) > 2
    opened.close()
