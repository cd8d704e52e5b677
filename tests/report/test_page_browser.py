"""The page in a real browser: no violation, no request, no need for JavaScript, readable at any width."""

import shutil
import subprocess
from pathlib import Path

import pytest
from waiting import wait_until

from evalbench.report.render import render

pytestmark = pytest.mark.browser

HOSTILE = (
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "$5 … $6",
    "abc\u202edef",
    "None",
    "Пейте воду",
    "多喝水",
)


@pytest.fixture
def url(run_folder):
    folder = run_folder(hostile=HOSTILE)
    folder.result.items.to_parquet(folder.path / "items.parquet")
    return render(folder.path).as_uri()


@pytest.fixture
def failed_url(run_folder):
    return render(run_folder(status="failed", error="ValueError: no\nsecond line").path).as_uri()


def violations(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(v["id"], [node["html"][:120] for node in v["nodes"]][:3]) for v in found]


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_axe_finds_no_violation(browser, url, scheme, width):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(url)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert violations(page) == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_on_a_failed_run(browser, failed_url, scheme):
    page = browser.new_page(color_scheme=scheme)
    page.goto(failed_url)
    assert violations(page) == []
    page.close()


def test_no_request_leaves_the_page_and_nothing_breaks_its_policy(browser, url):
    page = browser.new_page()
    requests, said = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: said.append(f"dialog {dialog.message}"))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(url, wait_until="networkidle")
    assert [r for r in requests if not r.startswith("data:")] == [url]
    assert said == []
    page.close()


def test_the_policy_stops_a_script_and_a_picture_that_got_in(browser, url):
    page = browser.new_page()
    sent, said = [], []
    page.on("response", lambda response: sent.append(response.url))
    page.on("requestfailed", lambda request: said.append(f"{request.url}: {request.failure}"))
    page.on("console", lambda message: said.append(message.text))
    page.goto(url)
    page.evaluate(
        """() => {
          const script = document.createElement("script"); script.textContent = "window.broken = 1";
          const image = document.createElement("img"); image.src = "https://example.invalid/x.png";
          const other = document.createElement("div"); other.innerHTML = '<b onclick="window.broken = 1">x</b>';
          document.body.append(script, image, other);
          other.firstChild.click();
        }"""
    )

    def refused() -> bool:
        policy = [text for text in said if "Content Security Policy" in text]
        return "https://example.invalid/x.png: csp" in said and len(policy) >= 3

    # what the page says arrives only while the browser is asked to wait
    assert wait_until(refused, pause=lambda seconds: page.wait_for_timeout(1000 * seconds)), said
    assert page.evaluate("window.broken") is None
    assert not [r for r in sent if "example.invalid" in r]
    page.close()


@pytest.mark.parametrize("javascript", [True, False])
@pytest.mark.parametrize("width", [1440, 768, 390, 320])
def test_the_page_itself_never_scrolls_sideways(browser, url, width, javascript):
    context = browser.new_context(viewport={"width": width, "height": 900}, java_script_enabled=javascript)
    page = context.new_page()
    page.goto(url)
    box = page.locator("html").bounding_box()
    assert page.locator("body").bounding_box()["width"] <= box["width"] == width
    if javascript:
        assert page.evaluate("document.documentElement.scrollWidth") == width
    context.close()


def test_without_javascript_everything_can_be_read(browser, url):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(url)
    assert page.get_by_role("heading", level=1).inner_text() == "Violation matching"
    assert "could not be scored" in page.locator(".eb-verdict").inner_text()
    first = page.locator("details.code").first
    first.locator("summary").click()
    assert first.locator("code").is_visible()
    assert page.locator("input.filter").count() == 0
    context.close()


def test_hostile_texts_are_read_as_they_are(browser, url):
    page = browser.new_page()
    page.goto(url)
    cells = page.locator("table.eb-sortable td:nth-child(3)")
    assert cells.nth(0).inner_text() == "<script>alert(1)</script>"
    assert cells.nth(1).inner_text().startswith('<img src=x onerror="alert(1)">')
    assert cells.nth(2).inner_text().startswith("$5 … $6")
    assert "RLO" in cells.nth(3).inner_text()
    assert page.locator("svg.eb-svg text", has_text="$5 … $6").count() >= 1
    page.close()


def test_tables_sort_by_number_and_by_text_and_filter(browser, url):
    page = browser.new_page()
    page.goto(url)
    table = page.locator("table.eb-sortable").first
    ids = table.locator("tbody td:first-child")
    head = table.get_by_role("columnheader", name="score")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert ids.first.inner_text() == "s-000"
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert ids.first.inner_text() == "s-023"
    assert table.locator("tbody tr:visible").count() == 20
    page.get_by_label("Filter the rows of this table").first.fill("RULE TOO FAR")
    assert table.locator("tbody tr:visible").count() == 6  # two of them behind "show all"
    assert page.locator("output.found").first.inner_text() == "6 of 24 rows"
    page.close()


@pytest.mark.parametrize("javascript", [True, False])
def test_hidden_rows_are_one_click_or_one_link_away(browser, url, javascript):
    context = browser.new_context(java_script_enabled=javascript)
    page = context.new_page()
    page.goto(url)
    table = page.locator("table.eb-sortable").first
    assert table.locator("tbody tr:visible").count() == 20
    page.get_by_text("show all 24 rows, long texts cut to 200 characters").click()
    assert table.locator("tbody tr:visible").count() == 24
    page.goto(f"{url}#case-s-022")
    page.reload()
    assert page.locator("#case-s-022").is_visible()
    context.close()


def test_a_count_leads_to_the_items_of_its_group(browser, url):
    page = browser.new_page()
    page.goto(url)
    page.locator("table.eb-headline button", has_text="40").first.click()
    page.locator("[popover]:popover-open").get_by_role("link", name="On this page").click()
    assert page.url.endswith("#items")
    assert page.locator("#items input.filter").input_value() == '"fern@1.0.0|oak-7b"'
    assert page.locator("#items tbody tr:visible").count() == 40
    page.locator("#items input.filter").fill('"fern@1.0.0"')  # a part of a cell is not the cell
    assert page.locator("#items tbody tr:visible").count() == 0
    page.close()


def test_a_table_is_saved_as_csv_without_a_request(browser, url):
    page = browser.new_page()
    page.goto(url)
    with page.expect_download() as download:
        page.get_by_role("link", name="items.csv").click()
    assert download.value.suggested_filename == "items.csv"
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    assert text.splitlines()[0].startswith("id,checker,")
    assert len(text.splitlines()) == 121
    page.close()


def test_on_a_narrow_screen_the_light_is_in_sight(browser, url):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(url)
    box = page.locator("table.eb-headline .eb-lamp").first.bounding_box()
    assert box["x"] + box["width"] <= 390
    page.close()


def test_the_keyboard_reaches_the_verdict_first(browser, url):
    page = browser.new_page()
    page.goto(url)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the verdict"
    page.close()


@pytest.mark.parametrize("javascript", [True, False])
def test_on_paper_folds_are_open_and_the_contents_gone(browser, url, javascript):
    context = browser.new_context(java_script_enabled=javascript, color_scheme="dark")
    page = context.new_page()
    page.goto(url)
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("nav.contents").is_visible()
    assert page.locator("details.printed pre").first.is_visible()
    assert not page.locator("details.code").first.is_visible()
    if javascript:
        colour = page.evaluate("getComputedStyle(document.body).color")
        assert colour == "rgb(28, 33, 38)"
    context.close()


def test_the_print_is_a_few_pages(browser, url, tmp_path):
    page = browser.new_page()
    page.goto(url)
    pdf = Path(tmp_path / "report.pdf")
    page.pdf(path=pdf, format="A4")
    assert 2 <= pdf.read_bytes().count(b"/Type /Page\n") + pdf.read_bytes().count(b"/Type /Page ") <= 12
    page.close()


def test_on_paper_a_long_table_repeats_its_head(browser, url, tmp_path):
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext on PATH")
    page = browser.new_page()
    page.goto(url)
    page.evaluate(
        """() => {
          const table = document.querySelector("table.eb-sortable");
          table.tHead.rows[0].cells[0].querySelector("button").textContent = "HEAD";
          const body = table.tBodies[0];
          for (let i = 0; i < 60; i++) body.append(body.rows[i].cloneNode(true));
        }"""
    )
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    subprocess.run(["pdftotext", tmp_path / "report.pdf"], check=True)
    assert (tmp_path / "report.txt").read_text(encoding="utf-8").count("HEAD") >= 3
    page.close()


def test_on_a_narrow_screen_a_parameter_and_an_interval_need_no_scrolling(browser, url):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(url)
    for part in (".settings tr:first-child td:nth-child(2)", "table.eb-headline .eb-interval"):
        box = page.locator(part).first.bounding_box()
        assert box["width"] > 60
        assert box["x"] + box["width"] <= 390
    assert page.locator(".settings td:empty").count() > 0
    assert not page.locator(".settings td:empty").first.is_visible()
    page.close()
