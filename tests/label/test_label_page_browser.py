"""What an annotator meets on the label page: mistakes undone, work kept, foreign files refused, any screen and language."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from label_pages import DATA, answers, begin, called, made, opener, press, rows_of, saved, violations

pytestmark = pytest.mark.browser


@pytest.fixture
def tabs(browser: Any) -> Iterator[Any]:
    yield from opener(browser)


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize(("width", "scheme"), [(1240, "light"), (400, "dark")])
def test_axe_finds_no_violation_and_nothing_scrolls_sideways(
    tabs: Any, tmp_path: Path, pairs: bool, width: int, scheme: str
) -> None:
    options = ["--side-by-side"] if pairs else []
    out = tmp_path / "label.html"
    called(
        "label",
        "page",
        DATA / "items.csv",
        "--criterion",
        DATA / "helpful.ru.yaml",
        "--out",
        out,
        "--language",
        "ru",
        *options,
    )
    page = tabs(out, clock=True, viewport={"width": width, "height": 800}, color_scheme=scheme)
    found = {}

    def look(name: str) -> None:
        if violations(page) or page.evaluate("document.documentElement.scrollWidth") != width:
            found[name] = violations(page), page.evaluate("document.documentElement.scrollWidth")

    look("start")
    begin(page, "Анна")
    press(page, "1", "s", "1", "ArrowLeft", "f", "c")
    page.keyboard.type("Комментарий")
    look("item")
    for key, name in (("l", "list"), ("s", "skip"), ("?", "help")):
        page.keyboard.press("Escape")
        page.keyboard.press(key)
        assert page.locator("dialog[open]").count() == 1
        look(name)
        page.keyboard.press("Escape")
    while page.is_visible("#work"):
        press(page, "n", "2")
    page.clock.run_for(3000)
    look("end")
    assert found == {}
    assert page.faults == []


def test_undo_flags_comments_other_reasons_and_the_next_open_item(tabs: Any, tmp_path: Path) -> None:
    page = tabs(made(tmp_path, answers(6)), clock=True)
    begin(page)
    press(page, "2", "0", "u")
    assert page.text_content("#item-title") == "Item 2 of 6"
    assert page.text_content("#state") == "Not marked yet"
    press(page, "f", "c")
    page.keyboard.type("u 1 n?")  # letters in a comment are letters
    page.keyboard.press("Escape")
    press(page, "ArrowRight", "s")
    page.fill("#other", "not my field")
    page.focus("#other")
    page.keyboard.press("Enter")
    assert page.text_content("#item-title") == "Item 4 of 6"
    press(page, "1", "1", "1", "n")
    assert page.text_content("#item-title") == "Item 2 of 6"
    press(page, "1")
    assert page.is_visible("#end")
    assert page.locator("#end-lists h3").all_text_contents() == ["To come back to: 1", "Skipped: 1"]
    press(page, "ArrowLeft", "0")
    rows = sorted(rows_of(saved(page, tmp_path / "saved.jsonl")), key=lambda row: row["order"])
    assert [row["mark"] for row in rows] == [2, None, 1, 1, 0, 1]
    assert [row["changes"] for row in rows] == [0, 0, 0, 0, 1, 0]
    assert [row["skipped"] for row in rows if row["skipped"]] == ["not my field"]
    (flagged,) = [row for row in rows if row["flag"]]
    assert (flagged["comment"], flagged["mark"]) == ("u 1 n?", 1)
    press(page, "ArrowLeft", "Delete")
    assert page.text_content("#count") == "5 of 6"
    press(page, "u")
    assert page.text_content("#count") == "6 of 6"


def test_a_key_pressed_twice_does_not_mark_an_unread_item(tabs: Any, tmp_path: Path) -> None:
    page = tabs(made(tmp_path, answers(6)), clock=True)
    begin(page)
    page.clock.run_for(3000)
    page.keyboard.press("2")
    page.keyboard.press("2")
    assert page.text_content("#count") == "1 of 6"


def test_keys_work_on_a_cyrillic_layout_and_can_be_switched_off(tabs: Any, tmp_path: Path) -> None:
    page = tabs(made(tmp_path, answers(6)), clock=True)
    begin(page)
    page.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ы', code: 'KeyS', bubbles: true}))")
    assert page.is_visible("#skip-dialog")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.uncheck("#shortcuts")
    page.keyboard.press("Escape")
    press(page, "2", "s")
    assert page.text_content("#count") == "0 of 6"
    press(page, "ArrowRight")
    assert page.text_content("#item-title") == "Item 2 of 6"


def test_work_is_kept_in_the_browser_and_closing_warns_until_it_is_saved(tabs: Any, tmp_path: Path) -> None:
    path = made(tmp_path, answers(8))
    page = tabs(path, clock=True)
    begin(page, "Ann")
    press(page, "2", "1", "0")
    warned: list[str] = []
    page.on("dialog", lambda dialog: (warned.append(dialog.type), dialog.accept()))
    page.close(run_before_unload=True)
    page.context.pages  # noqa: B018 - waits for the close
    again = tabs(path, clock=True, context=page.context)
    assert warned == ["beforeunload"]
    again.click("text=Continue as Ann: 3 of 8 done")
    assert again.text_content("#item-title") == "Item 4 of 8"
    saved(again, tmp_path / "saved.jsonl")
    assert len(rows_of(tmp_path / "saved.jsonl")) == 3
    other = tabs(path, context=page.context)
    assert other.locator("#people button").count() == 1
    other.click("#people button")
    other.keyboard.press("ArrowRight")
    again.wait_for_selector("#banner:not([hidden])")
    assert "another tab" in again.text_content("#banner")


def test_where_the_browser_keeps_nothing_the_page_says_so_and_works(tabs: Any, tmp_path: Path) -> None:
    blocked = (
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('denied', 'SecurityError'); }});"
    )
    page = tabs(made(tmp_path, answers(4)), clock=True, before=blocked)
    assert "keeps nothing" in page.text_content("#kept")
    begin(page)
    press(page, "2", "1")
    assert len(rows_of(saved(page, tmp_path / "saved.jsonl"))) == 2
    assert page.faults == []


def test_files_of_other_pages_people_and_forms_are_refused(tabs: Any, tmp_path: Path) -> None:
    path = made(tmp_path, answers(4))
    page = tabs(path, clock=True)
    begin(page)
    press(page, "2")
    (row,) = rows_of(saved(page, tmp_path / "saved.jsonl"))
    wrong = {
        "other page": ({**row, "page": "0" * 16}, "another page or another version"),
        "other name": ({**row, "annotator": "Bob"}, "holds the labels of Bob"),
        "other item": ({**row, "id": "nobody"}, "line 1 is not a label"),
        "off the scale": ({**row, "mark": 7}, "line 1 is not a label"),
        "negative time": ({**row, "seconds": -1}, "line 1 is not a label"),
    }
    for name, (content, said) in wrong.items():
        file = tmp_path / f"{name}.jsonl"
        file.write_text(json.dumps(content) + "\n")
        page.set_input_files("#file", file)
        page.wait_for_function("said => document.getElementById('banner').textContent.includes(said)", arg=said)
    for name, text, said in (
        ("none", "\n", "no labels"),
        ("noise", "{not json\n", "line 1"),
        ("text", "a,b\n1,2\n", "line 2"),
    ):
        file = tmp_path / f"{name}.csv"
        file.write_text(text)
        page.set_input_files("#file", file)
        page.wait_for_function("said => document.getElementById('banner').textContent.includes(said)", arg=said)
    assert page.text_content("#count") == "1 of 4"
    assert page.faults == []


def test_pauses_and_other_windows_do_not_count(tabs: Any, tmp_path: Path) -> None:
    page = tabs(made(tmp_path, answers(4)), clock=True)
    begin(page)
    page.clock.run_for(600_000)
    page.keyboard.press("2")
    page.clock.run_for(5_000)
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    page.clock.run_for(50_000)
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    page.clock.run_for(2_000)
    page.keyboard.press("2")
    rows = rows_of(saved(page, tmp_path / "saved.jsonl"))
    first, second = (row["seconds"] for row in sorted(rows, key=lambda row: row["order"]))
    assert first == 60
    assert 7 <= second < 30  # 57 with the other window's time


def test_languages_switch_in_the_page(tabs: Any, tmp_path: Path) -> None:
    page = tabs(made(tmp_path, answers(4), "--language", "zh"), clock=True)
    assert page.text_content("#start-title") == "开始之前"
    begin(page)
    press(page, "1")
    page.select_option("#language", "ru")
    assert page.text_content("#item-title") == "Задание 2 из 4"
    assert page.evaluate("document.documentElement.lang") == "ru"
    press(page, "1")
    assert page.text_content("#count") == "2 из 4"
    again = tabs(made(tmp_path, answers(4), "--language", "zh"), context=page.context)
    assert again.input_value("#language") == "ru"  # what was chosen stays; what the sender proposed does not


def test_the_keyboard_alone_reaches_everything(tabs: Any, tmp_path: Path) -> None:
    page = tabs(made(tmp_path, answers(4)), clock=True)
    begin(page)
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.dataset.mark || ''"))
    wanted = {
        "save",
        "list-open",
        "help-open",
        "smaller",
        "larger",
        "language",
        "0",
        "1",
        "2",
        "forth",
        "skip",
        "comment-open",
        "flag",
    }
    assert wanted <= reached
