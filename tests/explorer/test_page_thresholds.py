"""Other thresholds in the browser: figures and lights under the hand, thresholds of lights of one's own, the line that keeps them."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("duckdb", reason="peer not importable: duckdb")
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytest.importorskip("uvicorn", reason="peer not importable: uvicorn")

from served_explorer import Served  # noqa: E402

pytestmark = pytest.mark.browser
STUDIES = ("confidence", "rag_generation")


def test_another_threshold_changes_the_light_and_gives_the_option(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=confidence%2Frun&view=thresholds")
    page.get_by_role("heading", name="The light stays").wait_for()
    for name in ("yellow_from", "green_from"):
        page.get_by_label(name, exact=True).fill("0.1" if name == "yellow_from" else "0.2")
    page.get_by_text("-p yellow_from=0.1 -p green_from=0.2").wait_for()
    page.get_by_role("heading", name=re.compile("The light is (yellow|green); it was red")).wait_for()
    page.get_by_label("green_from", exact=True).fill("0.05")
    page.get_by_role("alert").filter(has_text="green_from must be above yellow_from, got 0.05 and 0.1").wait_for()


def test_what_is_copied_is_said_and_has_the_options(browser: Any, served: Served) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    opened.goto(f"{served.address}#run=confidence%2Frun&view=thresholds&options=%7B%22green_from%22%3A0.95%7D")
    opened.get_by_role("heading", name="The light").wait_for()
    opened.get_by_role("button", name="Copy as code").click()
    expect(opened.locator("#said")).to_have_text("Copied.")
    expect(opened.locator("#said")).to_be_in_viewport()
    assert "run.with_options(green_from=0.95)" in opened.evaluate("navigator.clipboard.readText()")
    context.close()


def options_of(page: Any) -> Any:
    found = parse_qs(urlsplit(page.url).fragment).get("options")
    return json.loads(found[0]) if found else {}


def test_thresholds_of_lights_are_fields_and_what_is_sent_is_the_option(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=rag_generation%2Frun&view=thresholds")
    page.get_by_role("heading", name="The light stays").wait_for()
    fields = page.get_by_role("group", name="answer correctness")
    green, yellow = fields.get_by_label("green_from"), fields.get_by_label("yellow_from")
    expect(green).to_have_value("0.8")
    expect(yellow).to_have_value("0.6")
    green.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("0.95")
    page.keyboard.press("Tab")
    expect(yellow).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("0.9")
    page.get_by_role("heading", name="The light is red; it was yellow").wait_for()
    own = {
        "faithfulness": {"green_from": 0.9, "yellow_from": 0.7},
        "answer_correctness": {"green_from": 0.95, "yellow_from": 0.9},
    }
    assert options_of(page) == {"lights": own}
    page.get_by_text("-p 'lights=").wait_for()
    for field, text in ((green, "0.8"), (yellow, "0.6")):
        field.fill(text)
    page.get_by_text("Nothing is changed yet.").wait_for()
    assert options_of(page) == {}


def test_a_rule_of_a_light_that_is_half_or_turned_is_said_beside_its_fields(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=rag_generation%2Frun&view=thresholds")
    page.get_by_role("heading", name="The light stays").wait_for()
    fields, other = page.get_by_role("group", name="faithfulness"), page.get_by_role("group", name="answer correctness")
    green = fields.get_by_label("green_from")
    green.fill("0.5")
    fields.get_by_text("green_from must be above yellow_from, got 0.5 and 0.7").wait_for()
    expect(green).to_have_attribute("aria-invalid", "true")
    expect(green).to_have_accessible_description("green_from must be above yellow_from, got 0.5 and 0.7")
    green.fill("")
    fields.get_by_text("green_from and yellow_from are set together or not at all; got yellow_from alone").wait_for()
    page.get_by_role("alert").filter(has_text="No figures: the thresholds of a light have a fault").wait_for()
    expect(other.get_by_label("green_from")).not_to_have_attribute("aria-invalid", "true")
    fields.get_by_label("yellow_from").fill("")
    page.get_by_role("heading", name=re.compile("The light")).wait_for()
    expect(green).not_to_have_attribute("aria-invalid", "true")
    assert options_of(page) == {"lights": {"answer_correctness": {"green_from": 0.8, "yellow_from": 0.6}}}


def test_another_figure_gets_thresholds_by_its_direction(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=rag_generation%2Frun&view=thresholds")
    page.get_by_role("heading", name="The light stays").wait_for()
    page.get_by_label("lights: another figure").select_option("invented")
    fields = page.get_by_role("group", name="claims invented")
    expect(fields.get_by_label("green_to")).to_be_focused()
    fields.get_by_label("green_to").fill("0.01")
    fields.get_by_label("yellow_to").fill("0.02")
    page.get_by_text("which are faithfulness").or_(
        page.get_by_role("heading", name="The light is red")
    ).first.wait_for()
    assert options_of(page)["lights"]["invented"] == {"green_to": 0.01, "yellow_to": 0.02}


@pytest.mark.parametrize(("width", "scheme"), [(1240, "light"), (400, "dark")])
def test_axe_finds_no_violation_in_thresholds_with_a_fault(
    browser: Any, served: Served, width: int, scheme: Any
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    opened.goto(f"{served.address}#run=rag_generation%2Frun&view=thresholds")
    opened.get_by_role("heading", name="The light stays").wait_for()
    opened.get_by_role("group", name="faithfulness").get_by_label("green_from").fill("0.5")
    opened.get_by_text("green_from must be above yellow_from").first.wait_for()
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(opened).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]][:2]) for one in found] == []
    opened.close()
