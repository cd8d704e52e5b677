"""The page of a batch: whole, escaped, valid by its schema, and the same to everybody."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from evalbench.report.batch_page import summary_html, write_summary

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "batch.schema.json").read_text(encoding="utf-8"))
HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(1)">'


def figure(state: str, words: str) -> dict[str, Any]:
    return {
        "group": {"model": HOSTILE}, "state": state, "metric": "f1", "title": "F1", "difference": -0.1, "ci_low": -0.2,
        "ci_high": -0.01, "p": 0.01, "p_holm": 0.02, "n_tests": 2, "margin": None, "outcome": "worse", "words": words,
    }  # fmt: skip


def run(number: int, **more: Any) -> dict[str, Any]:
    return {
        "number": number, "label": f"text_metrics {number}", "study": "text_metrics", "run_id": f"r{number}",
        "report": f"../../text_metrics/r{number}/report.html", "status": "ok", "error": "", "resumed": False,
        "light": "green", "headline": "F1 0.59 [0.55, 0.63]", "answer": f"Oak {HOSTILE} is fine.", "seconds": 3.2, "against": None, **more,
    }  # fmt: skip


def summary() -> dict[str, Any]:
    compared = {
        "state": "regression",
        "why": "",
        "previous": "r0",
        "page": "../../compare/x/comparison.html",
        "notes": [],
    }
    figures = [figure("regression", f"{HOSTILE}: F1: this run is worse"), figure("none", "F1: the same")]
    first = {"state": "no previous run", "why": f"no earlier run of {HOSTILE}", "previous": None, "page": None}
    runs = [
        run(1, against={**compared, "figures": figures}),
        run(2, against={**first, "figures": [], "notes": []}),
        run(3, status="failed", error=HOSTILE, light=None, headline="", answer=None, report=None, seconds=None),
    ]
    gate = {
        "state": "regression",
        "faults": [f"--margin {HOSTILE}: no run has it"],
        "margins": {"f1": 0.02},
        "n_tests": 2,
    }
    return {
        "suite": f"{HOSTILE}.yaml",
        "finished": "2026-01-02T03:04:05Z",
        "exit_code": 1,
        "runs": runs,
        "against": gate,
    }


def test_nothing_of_a_run_is_markup_and_the_json_keeps_its_schema(tmp_path: Path) -> None:
    page = write_summary(tmp_path, summary()).read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("<script>") == 1
    assert re.search("default-src (&#x27;|&#39;|')none", page)
    jsonschema.validate(json.loads((tmp_path / "batch.json").read_text(encoding="utf-8")), SCHEMA)


def test_no_key_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-key-of-thirty-characters-1234")
    write_summary(tmp_path, {**summary(), "suite": "a-key-of-thirty-characters-1234"})
    for file in tmp_path.iterdir():
        assert "thirty-characters" not in file.read_text(encoding="utf-8")


def test_without_a_comparison_the_page_has_no_word_of_one() -> None:
    text = summary_html({**summary(), "against": None, "runs": [run(1)], "suite": "s.yaml"})
    assert "previous run" not in text


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("javascript", [True, False])
def test_axe_finds_no_violation(browser, tmp_path: Path, scheme: str, width: int, javascript: bool) -> None:
    from axe_playwright_python.sync_playwright import Axe

    url = write_summary(tmp_path, summary()).as_uri()
    asked: list[str] = []
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=javascript
    )
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    if javascript:
        assert Axe().run(page).response["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    else:
        assert page.get_by_text("this run is worse").is_visible()
    context.close()
    assert asked == [url]


def test_a_batch_begins_with_the_answers_of_its_runs() -> None:
    page = summary_html(summary())
    answers = page.partition('<h2 id="answers">')[2].partition("</section>")[0]
    assert answers.count("<li>") == 3
    assert answers.count("Oak &lt;script&gt;") == 2
    assert "regression" in answers
    assert page.index('id="answers"') < page.index('<h2 id="runs">')
