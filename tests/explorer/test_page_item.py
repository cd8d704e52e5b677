"""One item in the explorer: what its scores rest on, drawn as on the page of its run."""

from __future__ import annotations

import json
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

pytestmark = pytest.mark.browser
STUDIES = ("trajectories", "citation", "cot_levels")
HOSTILE = "<img src=x onerror=alert(1)>\u202e</script>"


def opened_item(page: Any, served: Served, study: str, row: int, more: str = "") -> Any:
    page.goto(f"{served.address}#run={study}%2Frun&item={row}{more}")
    page.locator("#item-title").wait_for()
    return page.locator("dialog")


def table(reports: Path, study: str, name: str) -> pd.DataFrame:
    return pd.read_parquet(reports / study / "run" / f"{name}.parquet")


def test_trials_of_the_items_own_agent_are_lanes_and_those_of_others_come_on_demand(
    page: Any, served: Served, reports: Path
) -> None:
    items, calls, steps, trials = (
        table(reports, "trajectories", name) for name in ("items", "tool_calls", "steps", "trials")
    )
    row = items.index[(items["success"] < 1) & (items["fn"] > 0)][0]
    case = items.loc[row]
    own = {
        name: frame[(frame["id"] == case["id"]) & (frame["model"] == case["model"])]
        for name, frame in (("calls", calls), ("steps", steps), ("trials", trials))
    }
    shown = opened_item(page, served, "trajectories", row)
    lanes = shown.locator(".eb-lanes tbody tr")
    expect(lanes).to_have_count(len(own["trials"]))
    assert all(case["model"] in text for text in lanes.locator("th").all_inner_texts())
    ends = ["goal reached" if one == 1 else "goal not reached" for one in own["trials"]["success"]]
    assert [text.split("\n")[-1][2:] for text in lanes.locator("th").all_inner_texts()] == ends
    expect(shown.locator(".eb-lanes details.eb-call")).to_have_count(len(own["calls"]))
    lanes.locator("summary").first.click()
    expect(lanes.locator("details[open]").first).to_contain_text(own["calls"]["arguments"].iloc[0])
    expect(shown.get_by_text("expected and not called so").first).to_be_visible()
    expect(shown.locator("ol.steps > li")).to_have_count(len(own["steps"]))
    first = shown.locator("details.other").first
    first.locator("summary").first.click()
    expect(first.locator("li").first).to_be_visible()
    others = shown.get_by_text(re.compile("^trials and steps of other agents"))
    others.click()
    every = steps[steps["id"] == case["id"]]
    expect(shown.locator("ol.steps > li")).to_have_count(len(every))


def test_lanes_of_two_agents_are_beside_each_other(page: Any, served: Served) -> None:
    shown = opened_item(page, served, "trajectories", 4, "&pair=5&view=compare")
    expect(shown.locator(".both .pair").first.locator("table.eb-lanes")).to_have_count(2)
    assert shown.get_by_text("other agents").count() == 0


def test_a_statement_leads_to_the_place_in_the_source_that_it_cites(page: Any, served: Served, reports: Path) -> None:
    citations, items = table(reports, "citation", "citations"), table(reports, "citation", "items")
    found = citations[citations["located_start"] > 0].iloc[0]
    row = items.index[(items["id"] == found["id"]) & (items["model"] == found["model"])][0]
    shown = opened_item(page, served, "citation", row)
    source = shown.get_by_role("article", name=f"Citation {found['n']}")
    said = found["source_text"][int(found["located_start"]) : int(found["located_end"])]
    expect(source.locator("mark")).to_have_text(said)
    shown.get_by_role("button", name=f"to citation {found['n']}").first.press("Enter")
    expect(source).to_be_focused()


def test_steps_of_a_solution_show_what_is_wrong(page: Any, served: Served, reports: Path) -> None:
    faults, items, steps = (table(reports, "cot_levels", name) for name in ("faults", "items", "steps"))
    fault = faults[(faults["kind"] == "unsourced") & (faults["end"] > faults["start"])].iloc[0]
    row = items.index[(items["id"] == fault["id"]) & (items["model"] == fault["model"])][0]
    shown = opened_item(page, served, "cot_levels", row)
    lines = shown.get_by_role("region", name="Steps", exact=True)
    own = steps[(steps["id"] == fault["id"]) & (steps["model"] == fault["model"])]
    expect(lines.locator("tbody tr")).to_have_count(len(own))
    line = lines.locator("tbody tr").nth(list(own["step"]).index(fault["step"]))
    text = own.loc[own["step"] == fault["step"], "text"].iloc[0]
    assert text[int(fault["start"]) : int(fault["end"])] in line.locator("mark").all_inner_texts()
    expect(line).to_contain_text(f"{fault['number']} has no source")


def changed_calls(folder: Path) -> None:
    """A judge that looked things up, for two models; and an answer that did not."""
    calls = [
        {
            "item_id": f"q1|{model}", "purpose": "support", "sample": 0, "model": "agent", "prompt": "Is it?", "detail": end,
            "step": step, "parent": "", "reply": f"{model} asks {HOSTILE} {step}", "result": f"found {step}" if step < 3 else "",
        }
        for model, end in (("oak", ""), ("birch", "agent-limit: too many"))
        for step in (1, 2, 3)
    ]  # fmt: skip
    plain = {
        "item_id": "q1",
        "purpose": "answer",
        "sample": 0,
        "model": "m",
        "prompt": "?",
        "detail": "",
        "reply": "yes",
    }
    pd.DataFrame([*calls, plain]).astype({"step": "Int64"}).to_parquet(folder / "calls.parquet")


def test_the_steps_of_a_judge_are_those_of_the_items_own_answer(page: Any, folder: Path) -> None:
    changed_calls(folder)
    server = Served(folder.parent.parent)
    try:
        page.goto(f"{server.address}#run=needle%2Frun&item=3")
        shown = page.locator("dialog")
        shown.get_by_role("heading", name="how the judge came to its verdicts (1)").wait_for()
        steps = shown.locator("ol.steps > li")
        expect(steps).to_have_count(3)
        assert all("birch asks <img" in text for text in steps.all_inner_texts())
        expect(shown.get_by_text("(no verdict)")).to_be_visible()
        assert shown.locator("img").count() == 0
    finally:
        server.end()


def test_hostile_steps_and_sources_are_texts(page: Any, folder: Path) -> None:
    key = {"id": "q1", "model": "birch"}
    tables = {
        "steps": [{**key, "trial": HOSTILE, "step": 1, "kind": "call", "role": HOSTILE, "name": HOSTILE, "arguments": HOSTILE, "text": "", "error": HOSTILE, "look": HOSTILE}],
        "tool_calls": [{**key, "trial": HOSTILE, "at": 1, "name": HOSTILE, "arguments": HOSTILE, "result": HOSTILE, "error": "", "look": HOSTILE}],
        "citations": [{**key, "n": 1, "claim": HOSTILE, "quote": HOSTILE, "title": HOSTILE, "url": f"javascript:{HOSTILE}", "source_text": HOSTILE, "located_start": 0, "located_end": 4, "support_label": HOSTILE, "support_reason": HOSTILE}],
        "statements": [{**key, "statement": 1, "text": HOSTILE, "cites": f"1, {HOSTILE}", "recalled": 1.0}],
    }  # fmt: skip
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    for name, rows in tables.items():
        pd.DataFrame(rows).to_parquet(folder / f"{name}.parquet")
        results["tables"][name] = f"{name}.parquet"
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    server = Served(folder.parent.parent)
    try:
        page.goto(f"{server.address}#run=needle%2Frun&item=3")
        shown = page.locator("dialog")
        shown.get_by_role("article", name="Citation 1").wait_for()
        shown.locator(".eb-call summary").first.click()
        assert shown.locator("img, script, a").count() == 0
        assert shown.get_by_text("<img src=x onerror=alert(1)>").count() > 10
    finally:
        server.end()


def test_short_answers_of_many_models_are_read_beside_the_items_own(page: Any, folder: Path) -> None:
    models = [f"m{i}" for i in range(7)]
    items = pd.DataFrame({"id": "q1", "model": models, "score": 0.5, "unscored": ""})
    items.to_parquet(folder / "items.parquet")
    items.assign(answer=[f"at {i} pm" for i in range(7)])[["id", "model", "answer"]].to_parquet(
        folder / "texts.parquet"
    )
    server = Served(folder.parent.parent)
    try:
        page.goto(f"{server.address}#run=needle%2Frun&item=0")
        other = page.locator("dialog details.other", has=page.get_by_text("m3", exact=True)).first
        other.locator("summary").click()
        expect(other.locator("del")).to_have_text("0")
        expect(other.locator("ins")).to_have_text("3")
    finally:
        server.end()


@pytest.mark.parametrize(("width", "scheme"), [(1240, "light"), (400, "dark")])
@pytest.mark.parametrize("study", ["trajectories", "citation", "cot_levels"])
def test_axe_finds_no_violation_in_an_item(browser: Any, served: Served, study: str, width: int, scheme: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    shown = opened_item(opened, served, study, 1)
    for fold in shown.locator("details.other > summary").filter(visible=True).all()[:2]:
        fold.click()
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert opened.evaluate(
        "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('dialog'))"
    )
    found = Axe().run(opened).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]][:2]) for one in found] == []
    opened.close()


ODD: dict[str, Any] = {
    "vector": [0.123456789, *range(299)],
    "few": [1.5, 2.0],
    "meta": '{"name": "<img src=x onerror=alert(1)>", "score": 1.0, "parts": [{"id": 12345678901234567890, "text": "a text that needs room"}, {}]}',
    "objects": [{"tool": "find", "arguments": {"query": HOSTILE, "limit": n}} for n in range(3)],
    "long": f"{HOSTILE} {'word ' * 900}the end",
    "reply": '{"a":1}',
}


def test_vectors_json_and_long_texts_are_folded(page: Any, folder: Path, many: Callable[..., None]) -> None:
    many(2, **{name: [value] * 4 for name, value in ODD.items()})
    server = Served(folder.parent.parent)
    try:
        page.goto(f"{server.address}#run=needle%2Frun&item=0")
        shown = page.locator("dialog")
        vector = shown.locator("details.vector")
        expect(vector.locator("summary")).to_have_text("300 numbers: 0.1235, 0, 1, 2, 3, …")
        expect(vector.locator("p")).to_be_hidden()
        vector.locator("summary").press("Enter")
        expect(vector.locator("p")).to_contain_text(re.compile("^0.123456789, 0, 1, 2, .*, 298$"))
        expect(shown.locator("dd", has_text="1.5, 2")).to_be_visible()
        expect(shown.locator("dd", has_text='{"a":1}')).to_be_visible()  # as the model wrote it
        meta, objects = shown.locator("details.json pre").all_inner_texts()
        assert meta.splitlines() == [
            "{",
            '  "name": "<img src=x onerror=alert(1)>",',
            '  "score": 1.0,',
            '  "parts": [{"id": 12345678901234567890, "text": "a text that needs room"}, {}]',
            "}",
        ]
        assert len(objects.splitlines()) >= 5
        assert "<img src=x onerror=alert(1)>U+202E</script>" in objects
        expect(shown).not_to_contain_text("the end")
        more = shown.get_by_role("button", name=re.compile(r"^Show all 4.\d+ letters"))
        more.press("Enter")
        expect(shown).to_contain_text("the end")
        shown.get_by_role("button", name="Show the beginning").click()
        expect(shown).not_to_contain_text("the end")
        assert shown.locator("img, script").count() == 0
        page.keyboard.press("Escape")
        expect(page.locator(".items tbody tr").first).to_contain_text("0.1235, 0, 1, …")
    finally:
        server.end()


def test_json_that_is_no_json_or_too_deep_is_a_text(page: Any, folder: Path, many: Callable[..., None]) -> None:
    deep = "[" * 200 + "]" * 200
    broken = '{"a": ' + "[1, 2, 3], " * 20
    many(2, deep=[deep] * 4, broken=[broken] * 4)
    server = Served(folder.parent.parent)
    try:
        page.goto(f"{server.address}#run=needle%2Frun&item=0")
        for text in (deep, broken.strip()):
            expect(page.locator("dialog .text p", has_text=text)).to_be_visible()
        assert page.locator("details.json").count() == 0
    finally:
        server.end()


@pytest.mark.parametrize(("width", "scheme"), [(1240, "light"), (400, "dark")])
def test_axe_finds_no_violation_in_odd_values(
    browser: Any, folder: Path, many: Callable[..., None], width: int, scheme: Any
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    many(2, **{name: [value] * 4 for name, value in ODD.items()})
    server = Served(folder.parent.parent)
    opened = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    try:
        for more in ("", "&view=compare&rank=score&pair=1"):
            opened.goto("about:blank")
            opened.goto(f"{server.address}#run=needle%2Frun&item=0{more}")
            opened.locator("#item-title").wait_for()
            opened.evaluate("document.querySelectorAll('dialog details').forEach((one) => { one.open = true; })")
            assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert opened.evaluate("document.querySelector('dialog').scrollWidth <= innerWidth")
            found = Axe().run(opened).response["violations"]
            assert [(one["id"], [node["html"] for node in one["nodes"]][:2]) for one in found] == []
    finally:
        opened.close()
        server.end()
