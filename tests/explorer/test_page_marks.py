"""Marks in a browser: by keyboard, blind or not, by two people at once; whatever names and comments hold, they are texts."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from studied import whole

from evalbench.cli import group
from evalbench.explorer.mark_files import merge_line
from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytest.importorskip("uvicorn", reason="peer not importable: uvicorn")

from served_explorer import Served, watched  # noqa: E402

from evalbench.explorer.opened import open_run  # noqa: E402

pytestmark = pytest.mark.browser
HOSTILE = '<img src="https://evil.example/x" onerror="alert(1)"><script>alert(2)</script>\u202e=1+1'

BLIND = "if (location.protocol === 'http:') sessionStorage.setItem('evalbench blind', sessionStorage.getItem('evalbench blind') ?? 'true')"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    record(whole("needle"), tmp_path / "needle" / "run")
    server = Served(tmp_path)
    yield server
    server.end()


def opened(page: Any, served: Served, item: int, **more: str) -> None:
    parts = "".join(f"&{name}={value}" for name, value in more.items())
    page.goto("about:blank")
    page.goto(f"{served.address}#run=needle%2Frun&item={item}{parts}")
    page.locator("#item-title").wait_for()


def named(page: Any, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Your name").press("Enter")
    expect(page.locator("dialog")).to_be_focused()


def made(served: Served) -> list[list[Any]]:
    found = open_run(served.reports / "needle" / "run").marks()
    columns: list[list[Any]] = found[["row", "annotator", "mark", "skipped", "blind"]].values.tolist()
    return columns


def test_items_are_marked_by_keyboard_alone(page: Any, served: Served) -> None:
    page.goto(f"{served.address}#run=needle%2Frun")
    page.locator("[data-row='0']").press("Enter")
    page.locator("#item-title").wait_for()
    page.keyboard.press("1")
    expect(page.locator("#said")).to_have_text("Whose mark is it? Type your name first.")
    expect(page.get_by_label("Your name")).to_be_focused()
    assert made(served) == []
    page.keyboard.type("anna 12")
    page.keyboard.press("Tab")
    for key, said in (("1", "anna 12: right"), ("2", "anna 12: wrong"), ("3", "anna 12: cannot say")):
        page.keyboard.press(key)
        page.get_by_text(f"{said} (scores were seen)").wait_for()
    page.keyboard.press("0")
    page.get_by_text("No mark yet.").wait_for()
    page.keyboard.press("j")
    expect(page.locator("#item-title")).to_contain_text("oak-7b")  # until then keys are for the item before
    page.get_by_text("No mark yet.").wait_for()
    page.keyboard.press("2")
    page.get_by_text("anna 12: wrong (scores were seen)").wait_for()
    expect(page.get_by_role("button", name="Wrong", exact=True)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    assert made(served) == [[1, "anna 12", "0", "", False]]


def test_names_and_comments_are_texts(page: Any, served: Served) -> None:
    opened(page, served, 3)
    named(page, HOSTILE[:80])
    page.get_by_label("Comment").fill(HOSTILE + "\u2028 next")
    page.get_by_role("button", name="Right", exact=True).click()
    page.locator("dialog .mark").get_by_text("alert(2)</script>U+202E=1+1U+2028 next”").wait_for()
    opened(page, served, 3)
    page.locator("dialog .mark").get_by_text(HOSTILE[:40]).first.wait_for()
    assert page.locator("dialog .mark img, dialog .mark script").count() == 0
    (row,) = open_run(served.reports / "needle" / "run").marks().to_dict("records")
    assert (row["annotator"], row["mark"], row["comment"]) == (HOSTILE[:80].strip(), "1", HOSTILE + "\u2028 next")


def test_a_comment_and_the_mark_that_follows_at_once_are_both_kept(page: Any, served: Served) -> None:
    opened(page, served, 3)
    named(page, "anna")
    for i, (button, mark) in enumerate([("Right", "1"), ("Wrong", "0")] * 3):
        page.get_by_label("Comment").fill(f"comment {i}")
        page.get_by_role("button", name=button, exact=True).click()  # the comment is saved as it loses the focus
        page.get_by_text(f"anna: {button.lower()} (scores were seen), “comment {i}”").wait_for()
        (row,) = open_run(served.reports / "needle" / "run").marks().to_dict("records")
        assert (row["mark"], row["comment"]) == (mark, f"comment {i}")


def test_a_key_that_comes_before_the_next_item_marks_neither(page: Any, served: Served) -> None:
    opened(page, served, 3)
    named(page, "anna")
    page.route("**/item?*", lambda route: (page.wait_for_timeout(300), route.continue_()))
    page.keyboard.press("j")
    page.keyboard.press("1")
    page.get_by_text("No mark yet.").wait_for()
    expect(page).to_have_url(re.compile("item=4"))
    page.wait_for_timeout(600)
    assert made(served) == []


def test_a_comment_that_is_being_typed_survives_the_name(page: Any, served: Served) -> None:
    opened(page, served, 3)
    page.get_by_label("Comment").fill("typed before the name")
    page.get_by_label("Comment").blur()
    expect(page.get_by_label("Your name")).to_be_focused()
    page.keyboard.type("anna")
    page.get_by_role("button", name="Wrong", exact=True).click()
    page.get_by_text("anna: wrong (scores were seen), “typed before the name”").wait_for()


def test_two_people_with_two_browsers_mark_one_run_and_nothing_is_lost(browser: Any, served: Served) -> None:
    people = {}
    for name in ("anna", "ben"):
        people[name] = browser.new_context().new_page()
        opened(people[name], served, 0)
        named(people[name], name)
    for row in range(8):
        for name, page in people.items():
            page.keyboard.press("1" if (row + len(name)) % 2 else "2")
        for name, page in people.items():
            page.get_by_text(re.compile(f"{name}: (right|wrong)")).wait_for()
            title = page.locator("#item-title").inner_text()
            page.keyboard.press("j")
            expect(page.locator("#item-title")).not_to_have_text(title)
    found = {(row, name): mark for row, name, mark, _, _ in made(served)}
    assert found == {(row, name): str(int((row + len(name)) % 2)) for row in range(8) for name in people}
    opened(people["ben"], served, 0)
    people["ben"].get_by_text("anna: wrong (scores were seen) · ben: right (scores were seen)").wait_for()
    for page in people.values():
        page.context.close()


def test_a_blind_reader_sees_no_scores_in_the_item_the_list_or_the_neighbours(page: Any, served: Served) -> None:
    page.add_init_script(BLIND)
    opened(page, served, 3)
    named(page, "anna")
    page.get_by_text("Blind: scores").wait_for()
    dialog = page.locator("dialog")
    for hidden in ("oak-7b", "fern-1b", "recall", "contains", "unscored"):
        assert dialog.get_by_text(hidden).count() == 0, hidden
    assert page.locator(".items thead th").all_inner_texts() == ["id"]
    page.keyboard.press("2")
    dialog.get_by_text("anna: wrong (blind)").wait_for()
    dialog.get_by_label("blind").uncheck()
    dialog.get_by_role("heading", name="scores").wait_for()
    assert len(page.locator(".items thead th").all_inner_texts()) > 3
    page.keyboard.press("1")
    dialog.get_by_text("anna: right (scores were seen)").wait_for()
    dialog.get_by_label("blind").check()
    dialog.get_by_text("Not blind: you saw the scores of this item.").wait_for()
    assert made(served) == [[3, "anna", "0", "", True], [3, "anna", "1", "", False]]


def test_a_mark_under_a_filter_by_scores_is_not_called_blind(page: Any, served: Served) -> None:
    page.add_init_script(BLIND)
    wrong = open_run(served.reports / "needle" / "run")._rows.places("recall=0")[0]
    opened(page, served, wrong, where="recall%3D0")
    named(page, "anna")
    page.get_by_text("Not blind: the filter or the order names recall.").wait_for()
    page.keyboard.press("2")
    page.get_by_text("anna: wrong (scores were seen)").wait_for()
    assert made(served) == [[wrong, "anna", "0", "", False]]


def test_another_browser_knows_that_the_scores_were_seen(browser: Any, served: Served) -> None:
    first, second = (browser.new_context().new_page() for _ in range(2))
    opened(first, served, 3)
    named(first, "anna")
    first.keyboard.press("1")
    first.get_by_text("anna: right (scores were seen)").wait_for()
    second.add_init_script(BLIND)
    opened(second, served, 3)
    named(second, "anna")
    second.get_by_text("Not blind: you saw the scores of this item.").wait_for()
    for page in (first, second):
        page.context.close()


def test_the_head_counts_marks_opens_them_and_copies_the_command(page: Any, served: Served) -> None:
    page.add_init_script(
        "if (navigator.clipboard) navigator.clipboard.writeText = async (text) => { window.copied = text; }"
    )
    opened(page, served, 3)
    named(page, "anna")
    assert page.locator("header").get_by_text(re.compile(r"(is|are) marked")).count() == 0
    page.keyboard.press("1")
    page.locator("header").get_by_text("1 item is marked").wait_for()
    page.keyboard.press("j")
    page.get_by_text("No mark yet. 1 item is marked.").wait_for()
    page.keyboard.press("2")
    page.locator("header").get_by_text("2 items are marked").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="copy the command for labels").click()
    line = page.evaluate("window.copied")
    assert line.startswith("evalbench label merge ")
    assert str(served.reports / "marks/needle/run/anna.seen.jsonl") in line
    page.get_by_role("button", name="2 items are marked").click()
    page.get_by_text("2 of 1\u202f600 items").wait_for()
    page.locator("#where").fill("mark=wrong")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("1 of 1\u202f600 items").wait_for()


def test_what_was_not_saved_is_said(page: Any, served: Served) -> None:
    opened(page, served, 3)
    named(page, "anna")
    served.end()
    page.keyboard.press("1")
    expect(page.locator("#said")).to_contain_text("Nothing was saved: the server does not answer.")
    assert page.get_by_text("anna: right").count() == 0


def test_a_file_of_marks_that_cannot_be_read_hides_no_item(page: Any, served: Served) -> None:
    folder = served.reports / "marks" / "needle" / "run"
    folder.mkdir(parents=True)
    (folder / "anna.seen.jsonl").write_text("what is this\n", encoding="utf-8")
    opened(page, served, 3)
    page.get_by_text("anna.seen.jsonl: row 1: not a mark of the explorer").wait_for()
    page.locator("dialog").get_by_role("heading", name="scores").wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(1240, "light"), (400, "dark")])
def test_axe_finds_no_violation_in_marks_and_in_a_run_in_progress(
    browser: Any, served: Served, width: int, scheme: Any
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    from evalbench.core import progress

    going = served.reports / "needle" / "going"
    going.mkdir()
    run = {"status": "running", "study": "needle", "run_id": "going", "host": "another", "process": 1}
    (going / "run.json").write_text(json.dumps(run), encoding="utf-8")
    state = {
        "what": "asking <b>m</b>", "done": 30, "total": 90, "unit": "replies", "fresh": 30, "failed": 3, "reasons": {"timeout": 2, "<i>": 1},
        "verdicts": {"CORRECT": 20, "<img src=x onerror=alert(1)>": 7}, "elsewhere": 0, "since": 0.0, "tokens": 4500, "cost": 0.01,
        "so_far": {"what": "mean <u>", "value": 0.7, "low": 0.6, "high": 0.8, "n": 60, "unscored": 4, "of": 200},
    }  # fmt: skip
    (going / progress.NAME).write_text(json.dumps(state), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)

    def checked(what: str) -> None:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), what
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]][:2]) for one in found] == [], what

    with watched(page):
        page.goto(f"{served.address}#run=needle%2Fgoing")
        page.get_by_text("The run is not finished: there is no light yet.").wait_for()
        page.get_by_text("mean <u> 0.7 [0.6, 0.8] of 60 of 200 items, 4 unscored.").wait_for()
        row = page.get_by_role("row", name=re.compile("CORRECT 20 74 % "))
        row.wait_for()
        page.get_by_text("<img src=x onerror=alert(1)>").wait_for()
        page.get_by_text("Without a score, in this step: <i> 1, timeout 2.").wait_for()
        assert page.locator(".eb-lamp").count() == 0
        checked("a run in progress")
        opened(page, served, 3)
        named(page, "anna")
        page.keyboard.press("1")
        page.get_by_text("anna: right").wait_for()
        page.get_by_label("blind").check()
        page.get_by_text("Not blind").wait_for()
        checked("a mark")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, ""),
        ({"where": "model%3Doak-7b"}, ""),
        (
            {"where": "recall%3D0"},
            "Not drawn at random (recall=0): its label says so, and does not correct a figure as if it were.",
        ),
        ({"where": "model%3Doak-7b", "sort": "-length"}, "Not drawn at random (sorted by -length)"),
        ({"view": "compare"}, "Not drawn at random (sorted by -change)"),
    ],
)
def test_a_mark_that_a_filter_or_an_order_chose_says_so_as_its_label_does(
    page: Any, served: Served, asked: dict[str, str], said: str
) -> None:
    opened(page, served, 3, **asked)
    form = page.get_by_role("region", name="Your mark")
    form.get_by_text("No mark yet.").wait_for()
    expect(form.get_by_text(said or "drawn at random")).to_have_count(1 if said else 0)
    named(page, "anna")
    page.keyboard.press("1")
    form.get_by_text("Saved, in marks/needle/run/anna.seen.jsonl of the folder of reports.").wait_for()
    labels = served.reports / "labels.csv"
    _, _, *words = shlex.split(merge_line(served.reports / "needle" / "run"))
    assert CliRunner().invoke(group, ["label", *words[:-1], str(labels)]).exit_code == 0
    assert bool(said) is ("selected_by" in labels.read_text(encoding="utf-8"))
    page.keyboard.press("0")
    form.get_by_text("Taken back, in marks/needle/run/anna.seen.jsonl").wait_for()
