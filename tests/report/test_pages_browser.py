"""Every page that there is, of every study, in a real browser: no violation, no request, no narrow column, whole on paper."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from once import once

from evalbench import studies

# The first test that needs many pages makes the runs that they are of.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(2400)]

# Pages that are of no single study's run, and where they are.
OTHER = {
    "comparison of groups": "compare/groups/comparison.html",
    "comparison of runs": "compare/runs/comparison.html",
    "matrix": "compare/matrix/comparison.html",
    "index": "reports/index.html",
    "batch": "reports/batch/*/batch.html",
    "failed run": "reports/failing/*/report.html",
}
THRESHOLDS = (0.4, 0.5, 0.6)
RUNS = {"embed": "jaccard", "n_resamples": 200}


def called(*words: object, cwd: Path, codes: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "evalbench.cli", *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode in codes, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def pages(
    tmp_path_factory: pytest.TempPathFactory, root: Path, sample_run: Callable[[str], Path]
) -> Callable[[str], Path]:
    """A page by its name: of a run of each study on its sample, and what is made of all of these runs and four more."""

    def make(folder: Path) -> None:
        reports = folder / "reports"
        for name in studies.names():
            run = sample_run(name)
            shutil.copytree(run, reports / name / run.name)
        three = [{"study": "matching", "parameters": {**RUNS, "score_threshold": at}} for at in THRESHOLDS]
        suite = folder / "suite.yaml"
        runs = [*({"study": name} for name in studies.names()), *three]
        suite.write_text(yaml.safe_dump({"timeout": 600, "runs": runs}))
        said = called("batch", suite, "--resume", "--out", reports, cwd=root)
        assert f"{len(runs)} runs: {len(runs)} ok, 0 failed, {len(studies.names())} of them already finished" in said
        failing = new_notebook(
            cells=[
                new_markdown_cell("# A notebook that fails"),
                new_code_cell("x: int = 0  # anything", metadata={"tags": ["parameters"]}),
                new_code_cell("raise ValueError('<b>no</b> \\u202e such thing')"),
                new_code_cell("from evalbench import record\n\nrecord(x)"),
            ]
        )
        nbformat.write(failing, folder / "failing.ipynb")
        called("run", folder / "failing.ipynb", "--out", reports, cwd=root, codes=(1,))
        at = [of_threshold(reports, threshold) for threshold in THRESHOLDS]
        few, out = ("--n-resamples", 200, "--n-summaries", 20), folder / "compare"
        groups = ("--left", "model=fern", "--right", "model=oak")
        called("compare", sample_run("cot_levels"), *groups, *few, "--out", out / "groups", cwd=root)
        called("compare", *at[:2], *few, "--out", out / "runs", cwd=root)
        called("compare", *at, *few, "--out", out / "matrix", cwd=root)
        called("index", "--out", reports, cwd=root)

    def page(name: str) -> Path:
        if name in studies.names():
            return sample_run(name) / "report.html"
        folder = once(tmp_path_factory, "pages of many runs", make)
        (found,) = folder.glob(OTHER[name])
        return found

    return page


def of_threshold(reports: Path, threshold: float) -> Path:
    """The run of the suite with this threshold."""
    found = {path: json.loads(path.read_text(encoding="utf-8"))["parameters"] for path in reports.glob("*/*/run.json")}
    own = {**RUNS, "score_threshold": threshold}
    (file,) = (file for file, values in found.items() if own.items() <= values.items())
    return file.parent


@pytest.fixture
def opened(browser: Any, pages: Callable[[str], Path], tmp_path: Path) -> Iterator[Any]:
    """A page by its name, in a tab of its own; what any of them asks for besides itself, or complains of, fails the test."""
    contexts: list[Any] = []
    asked: list[str] = []
    said: list[str] = []

    def open_(name: str, *, width: int = 1240, javascript: bool = True, scheme: str = "light") -> Any:
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        page = contexts[-1].new_page()
        path = pages(name)
        if not javascript:  # axe is a script itself: what is switched off is the page's own
            text = path.read_text(encoding="utf-8")
            path = tmp_path / path.name
            path.write_text(re.sub("<script>.*?</script>", "", text, flags=re.DOTALL), encoding="utf-8")
        own = path.as_uri()
        page.on("request", lambda request: asked.append(request.url) if request.url != own else None)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(own, wait_until="load")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith("data:")] == []
    assert said == []


# Of rows of a table that differ only in what their texts and attributes say, three are left: axe takes a second for a thousand cells.
THINNED = """
() => {
  document.querySelectorAll("details").forEach((d) => (d.open = true));
  for (const body of document.querySelectorAll("tbody")) {
    const seen = {};
    for (const row of [...body.rows]) {
      const copy = row.cloneNode(true), walker = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) walker.currentNode.data = walker.currentNode.data.trim() ? "x" : "";
      const kind = copy.outerHTML.replace(/ (id|href|title|for|popovertarget|aria-[a-z]+|data-[a-z-]+)="[^"]+"/g, " $1");
      seen[kind] = (seen[kind] ?? 0) + 1;
      if (seen[kind] > 3) row.remove();
    }
  }
}
"""
TWICE = "() => [...document.querySelectorAll('[id]')].map((e) => e.id).filter((id, i, all) => all.indexOf(id) < i)"


def violations(page: Any) -> list[Any]:
    from axe_playwright_python.sync_playwright import Axe

    twice = page.evaluate(TWICE)
    page.evaluate(THINNED)
    found = Axe().run(page).response["violations"]
    return [*twice, *((v["id"], [node["html"][:160] for node in v["nodes"]][:3]) for v in found)]


ALL = (*studies.names(), *OTHER)
each = pytest.mark.parametrize("name", ALL)


@pytest.fixture(scope="module")
def few(pages: Callable[[str], Path]) -> list[str]:
    """Names of few pages that together have every kind of element that any page has, those with most kinds first."""
    kinds = {name: kinds_in(pages(name).read_text(encoding="utf-8")) for name in ALL}
    chosen: list[str] = []
    while left := set().union(*kinds.values()) - set().union(*(kinds[name] for name in chosen)):
        chosen.append(max(ALL, key=lambda name: len(kinds[name] & left)))
    return chosen


def kinds_in(text: str) -> set[tuple[str, ...]]:
    """Every element of a page by what axe looks at: its name, its classes and role, and which attributes describe it."""
    said = re.compile(r'\b(?:class|role|scope)="[^"]*"|\b(?:aria-[a-z]+|alt|for|lang|tabindex|title)(?==)')
    return {(tag, *sorted(said.findall(rest))) for tag, rest in re.findall(r"<([a-z]\w*)([^>]*)>", text)}


@pytest.mark.parametrize("part", [0, 1])
def test_axe_finds_no_violation(opened: Any, few: list[str], part: int) -> None:
    assert {name: found for name in few[part::2] if (found := violations(opened(name)))} == {}


def test_axe_finds_no_violation_without_scripts(opened: Any, few: list[str]) -> None:
    assert {name: found for name in few[:5] if (found := violations(opened(name, javascript=False)))} == {}


@pytest.mark.parametrize("part", [0, 1])
def test_axe_finds_no_violation_on_a_phone_in_the_dark(opened: Any, few: list[str], part: int) -> None:
    assert {name: found for name in few[part::2] if (found := violations(opened(name, width=400, scheme="dark")))} == {}


# Headings that are more than one level below the one before, which hangs on a page's order and not on its elements.
SKIPPED = """
() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .filter((h, i, all) => i && +h.tagName[1] > +all[i - 1].tagName[1] + 1).map((h) => h.textContent)
"""


# Cells of more than two lines that are narrower than eight letters.
NARROW = """
() => [...document.querySelectorAll("td, th")].filter((cell) => {
  if (!cell.textContent.trim() || !cell.checkVisibility() || getComputedStyle(cell.closest("thead") ?? cell).position === "absolute") return false;
  const style = getComputedStyle(cell);
  const size = parseFloat(style.fontSize);
  const width = cell.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const range = document.createRange();
  range.selectNodeContents(cell);
  const ends = [...range.getClientRects()].filter((box) => box.width).map((box) => box.bottom).sort((a, b) => a - b);
  const lines = ends.filter((end, i) => !i || end - ends[i - 1] > 0.8 * size).length;
  return lines > 2 && width < 4.5 * size;
}).map((cell) => `${cell.closest("table").parentNode.getAttribute("aria-label").slice(0, 40)}: ${cell.textContent.trim().slice(0, 60)}`)
"""

# Intervals that the light beside them covers before anything is scrolled.
COVERED = """
() => [...document.querySelectorAll(".eb-headline .eb-interval")].filter((cell) => {
  const light = cell.parentNode.lastElementChild;
  if (!cell.textContent || !cell.checkVisibility() || getComputedStyle(light).position !== "sticky") return false;
  const range = document.createRange();
  range.selectNodeContents(cell);
  return range.getBoundingClientRect().right > light.getBoundingClientRect().left;
}).map((cell) => cell.parentNode.textContent.slice(0, 80))
"""


@each
def test_on_a_phone_nothing_scrolls_sideways_and_no_column_is_a_few_letters_wide(opened: Any, name: str) -> None:
    page = opened(name, width=400)
    assert page.evaluate(TWICE) == page.evaluate(SKIPPED) == []
    assert narrow(page) == []


def test_on_a_phone_without_scripts_nothing_scrolls_sideways_either(opened: Any, few: list[str]) -> None:
    assert {name: found for name in few[:5] if (found := narrow(opened(name, width=400, javascript=False)))} == {}


def narrow(page: Any) -> list[str]:
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    wide = page.evaluate("document.documentElement.scrollWidth")
    return [*([f"{wide} wide"] if wide != 400 else []), *page.evaluate(NARROW), *page.evaluate(COVERED)]


# What reaches over the right edge of the paper, and words of a few letters that are broken across lines.
CUT = """
() => {
  const right = document.querySelector("main").getBoundingClientRect().right + 1;
  const over = [...document.querySelectorAll("main :is(table, svg, pre, p, dd, li)")]
    .filter((part) => part.checkVisibility() && part.getBoundingClientRect().right > right)
    .map((part) => `over the edge: ${part.tagName} ${part.textContent.trim().slice(0, 60)}`);
  const broken = [];
  for (const cell of document.querySelectorAll("td, th")) {
    if (!cell.checkVisibility() || cell.textContent.length > 200) continue;
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      for (const word of walker.currentNode.textContent.matchAll(/[A-Za-z\u0400-\u04ff]{3,16}/g)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, word.index);
        range.setEnd(walker.currentNode, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1)
          broken.push(`broken: ${word[0]} of ${cell.textContent.trim().slice(0, 60)}`);
      }
    }
  }
  return [...over, ...broken];
}
"""


@each
def test_on_paper_nothing_is_cut_and_no_word_is_broken(opened: Any, name: str) -> None:
    page = opened(name, width=1000 if name == "index" else 680)  # A4 within the margins; the index is landscape
    page.emulate_media(media="print")
    page.evaluate("document.querySelectorAll('details:not(.eb-all)').forEach(d => d.open = true)")
    assert page.evaluate(CUT) == []
