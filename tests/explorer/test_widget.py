"""The explorer in a notebook: what its frame may ask, and the frame itself in a browser, with this process as its kernel."""

from __future__ import annotations

import gc
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from studied import whole

import evalbench
from evalbench.errors import BadInput

pytest.importorskip("duckdb", reason="peer not importable: duckdb")
pytest.importorskip("anywidget", reason="peer not importable: anywidget")

from evalbench.draw.show import Shown
from evalbench.explorer import widget
from evalbench.explorer.reports import Explorer
from evalbench.explorer.widget import answered, page_of, respond
from evalbench.runs.record import record


@pytest.mark.parametrize(
    "asked",
    [
        None,
        [],
        "x",
        3,
        {},
        {"name": "items"},
        {"name": 3, "values": {}},
        {"name": "items", "values": []},
        {"id": 1, "name": "sql", "values": {}},
    ],
)
def test_what_is_no_question_is_answered_by_a_fault(folder: Path, asked: Any) -> None:
    assert "fault" in answered(Explorer(folder.parent.parent), asked)


def test_questions_of_the_frame_are_those_of_the_page_and_lead_nowhere_else(folder: Path) -> None:
    explorer = Explorer(folder.parent.parent)
    values = {"run": "needle/run", "where": "model=oak", "limit": 5, "sort": None}
    found = answered(explorer, {"id": 7, "name": "items", "values": values})
    assert (found["id"], found["answer"]["n"], len(found["answer"]["rows"])) == (7, 30, 5)
    assert "there is no run" in answered(explorer, {"id": 8, "name": "items", "values": {"run": "../../etc"}})["fault"]
    about = answered(explorer, {"id": 9, "name": "about", "values": {"run": "needle/run"}})["answer"]
    assert about["page"] is False


def test_nothing_is_opened_while_a_report_is_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALBENCH_RUN", "/nowhere")
    assert evalbench.explore("no such run") is None


def test_without_a_notebook_a_result_is_shown_with_a_line_that_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    shown = evalbench.explore(whole("needle"))
    assert isinstance(shown, Shown)
    assert "evalbench view" in shown.text
    assert shown.text.startswith("needle: ")
    assert f"evalbench view {folder}" in evalbench.explore(folder).text
    with pytest.raises(BadInput, match="neither a folder nor the id"):
        evalbench.explore("no such run")


def test_without_its_packages_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert "pip install 'evalbench[view]'" in evalbench.explore(whole("needle")).text


def test_a_result_is_kept_as_long_as_it_is_looked_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("ipykernel")
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = evalbench.explore(whole("needle"))
    kept = [path for path in tmp_path.iterdir() if path.name.startswith("evalbench-")]
    assert len(kept) == 1
    assert (kept[0] / "needle" / "this-result" / "items.parquet").is_file()
    made.close()
    del made
    gc.collect()
    assert not kept[0].exists()


# A notebook's side of the widget: its views, and a kernel that answers, is busy, or is gone.
_HOST = """
async ([front, page, n]) => {
  const listeners = new Set();
  const model = {
    get: (name) => ({ page, height: "850px" })[name],
    on: (_, heard) => listeners.add(heard),
    off: (_, heard) => listeners.delete(heard),
    send: (asked) => {
      sent.push(asked);
      if (globalThis.throws) throw new Error("the comm is closed");
      if (!globalThis.mute) kernel(asked).then((answer) => listeners.forEach((heard) => heard(answer)));
    },
    widget_manager: { kernel: { get status() { return globalThis.at; } } },
  };
  globalThis.sent = [];
  const { default: widget } = await import(URL.createObjectURL(new Blob([front], { type: "text/javascript" })));
  for (let i = 0; i < n; i += 1) widget.render({ model, el: document.body });
}
"""


def hosted(opened: Any, explorer: Explorer, run: str, views: int = 1) -> Any:
    """The front end of the widget in a page, with this process as its kernel."""
    opened.expose_function("kernel", lambda asked: answered(explorer, asked))
    opened.evaluate(_HOST, [widget._FRONT, page_of(run), views])
    return opened.frame_locator("iframe").first


@pytest.mark.browser
def test_the_frame_asks_the_kernel_and_nothing_else(browser: Any, tmp_path: Path) -> None:
    record(whole("confidence"), tmp_path / "confidence" / "run")
    explorer = Explorer(tmp_path)
    opened = browser.new_page(viewport={"width": 1100, "height": 900})
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on(
        "request",
        lambda request: (
            errors.append(request.url) if not request.url.startswith(("about:", "data:", "blob:")) else None
        ),
    )
    frame = hosted(opened, explorer, "confidence/run")
    frame.locator("[data-row]").first.click()
    frame.locator("#item-title").wait_for()
    frame.get_by_label("Your name").fill("Anna")
    frame.get_by_role("button", name="Wrong", exact=True).click()
    frame.get_by_text("Anna: wrong (scores were seen)").wait_for()
    opened.keyboard.press("Escape")
    frame.get_by_role("button", name="Values").click()
    frame.get_by_role("button", name="ferries").click()
    frame.get_by_text("chosen after looking").wait_for()
    frame.get_by_role("button", name="Thresholds").click()
    frame.get_by_label("green_from", exact=True).fill("0.95")
    frame.get_by_text("-p green_from=0.95").wait_for()
    frame.get_by_role("button", name="Compare").click()
    frame.get_by_role("region", name="Differences", exact=True).wait_for()
    assert frame.get_by_text("All runs").count() == 0
    assert evalbench.open_run(tmp_path / "confidence" / "run").marks()["mark"].tolist() == ["0"]
    opened.close()
    assert errors == []


def test_no_text_of_a_run_ends_the_script_of_the_frame() -> None:
    page = page_of("needle/</script><img src=x>")
    assert page.count("</script>") == 1
    assert "<img" not in page


def test_a_result_that_was_not_recorded_keeps_no_marks(folder: Path) -> None:
    explorer = Explorer(folder.parent.parent)
    said = {"id": 1, "name": "mark", "values": {"run": "needle/run", "row": 3, "annotator": "anna", "mark": "1"}}
    assert "record(result, out=FOLDER)" in answered(explorer, said, keeps=False)["fault"]
    assert not (explorer.reports / "marks").exists()
    assert answered(explorer, said)["answer"]["mark"] == "1"


def test_what_nobody_foresaw_is_answered_in_its_place_and_logged(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    explorer, said = Explorer(folder.parent.parent), []
    monkeypatch.setattr(Explorer, "rows", lambda *_: {}["nowhere"])
    respond(explorer, {"id": "a 1", "name": "items", "values": {"run": "needle/run"}}, True, said.append)
    assert said == [{"id": "a 1", "fault": "The kernel failed: KeyError: 'nowhere'. Its log has the traceback."}]
    assert "Traceback" in caplog.text
    assert "KeyError: 'nowhere'" in caplog.text


def test_an_answer_that_cannot_be_sent_is_a_fault(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    said: list[Any] = []

    def send(answer: dict[str, Any]) -> None:
        if "answer" in answer:
            raise TypeError("not JSON")
        said.append(answer)

    respond(Explorer(folder.parent.parent), {"id": "a 1", "name": "runs", "values": {}}, True, send)
    assert [(one["id"], "TypeError: not JSON" in one["fault"]) for one in said] == [("a 1", True)]
    assert "not JSON" in caplog.text


def test_a_folder_with_blanks_is_one_word_of_the_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    other = folder.rename(folder.with_name("it's $(my) run"))
    (command,) = re.findall("evalbench view .*", evalbench.explore(other).text)
    assert shlex.split(command) == ["evalbench", "view", str(other)]


@pytest.mark.browser
def test_two_views_of_one_widget_have_their_own_answers(browser: Any, tmp_path: Path) -> None:
    record(whole("confidence"), tmp_path / "confidence" / "run")
    opened = browser.new_page()
    frame = hosted(opened, Explorer(tmp_path), "confidence/run", views=2)
    other = opened.frame_locator("iframe").nth(1)
    for one in (frame, other):
        one.locator("[data-row]").first.wait_for()
    frame.locator("#where").fill("topic=ferries")
    frame.locator("#where").press("Enter")
    frame.get_by_text(re.compile(r"^\d+ of 288 items$")).wait_for()
    other.get_by_role("button", name="Values").click()
    other.get_by_text("288 of 288 items").wait_for()
    ids = opened.evaluate("sent.map((one) => one.id)")
    assert len(set(ids)) == len(ids)
    assert len({one.partition(" ")[0] for one in ids}) == 2
    opened.close()


@pytest.mark.browser
@pytest.mark.parametrize(
    ("state", "after", "said"),
    [
        ("at = 'idle'; mute = true", 11, "The kernel no longer answers: run the cell again."),
        ("at = 'dead'; mute = true", 6, "The kernel no longer answers: run the cell again."),
        ("throws = true", 0, "The kernel no longer answers: run the cell again."),
        ("mute = true", 61, "else run the cell again."),
    ],
)
def test_a_kernel_that_is_gone_is_said_to_be(browser: Any, tmp_path: Path, state: str, after: int, said: str) -> None:
    record(whole("confidence"), tmp_path / "confidence" / "run")
    opened = browser.new_page()
    opened.clock.install()
    frame = hosted(opened, Explorer(tmp_path), "confidence/run")
    frame.locator("[data-row]").first.wait_for()
    opened.evaluate(
        state.replace("at =", "globalThis.at =")
        .replace("mute =", "globalThis.mute =")
        .replace("throws =", "globalThis.throws =")
    )
    asked = opened.evaluate("sent.length")
    frame.get_by_role("button", name="Thresholds").click()
    opened.wait_for_function(f"sent.length > {asked}")
    opened.clock.run_for(after * 1000)
    frame.get_by_role("alert").filter(has_text=said).wait_for()
    opened.close()


@pytest.mark.browser
def test_a_busy_kernel_is_waited_for(browser: Any, tmp_path: Path) -> None:
    record(whole("confidence"), tmp_path / "confidence" / "run")
    opened = browser.new_page()
    opened.clock.install()
    frame = hosted(opened, Explorer(tmp_path), "confidence/run")
    frame.locator("[data-row]").first.wait_for()
    opened.evaluate("globalThis.at = 'busy'; globalThis.mute = true; globalThis.first = sent.length")
    frame.get_by_role("button", name="Values").click()
    opened.wait_for_function("sent.length > first")
    opened.clock.run_for(300_000)
    assert frame.get_by_role("alert").filter(visible=True).count() == 0
    opened.close()
