"""The site: every study has its page, what the code knows is on it, Python on pages is run, the whole is built and searched."""

from __future__ import annotations

import asyncio
import contextlib
import doctest
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from documents import code_blocks, pages
from once import once

from evalbench import studies

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
NAMES = studies.names()
# The tests that run the Python of the pages: page → a file of tests with, block by block, the test's name.
PYTHON = {
    "CONTRIBUTING.md": ("test_contributing.py", ["test_the_example_works"] * 3),
    "docs/batches.md": (
        "test_documents.py test_recipes.py",
        ["test_a_suite_by_cron_github_actions_and_airflow", "test_the_hooks_around_airflows_papermill_operator"],
    ),
    "docs/exploring.md": ("test_site.py", ["test_a_run_explored_in_a_notebook"]),
    "docs/judges.md": ("test_site.py", ["test_labels_that_a_judge_needs"]),
    "docs/metrics.md": ("test_recipes.py", ["test_the_metrics_of_one_s_own"]),
    "docs/monitoring.md": (
        "test_site.py test_recipes.py",
        ["test_a_log_is_written", "test_the_log_of_an_application", "test_a_log_is_closed_by_a_lifespan", "test_airflow_calls_the_schedule"],
    ),
    "docs/running.md": ("test_documents.py", ["test_the_readme_from_a_clone_to_a_comparison"]),
    "docs/start.md": ("test_site.py", ["test_what_can_be_asked_in_python"]),
    "docs/studies/rag_tuning.md": ("test_recipes.py", ["test_a_rag_of_one_s_own"]),
    "docs/studies/stability_top.md": ("test_recipes.py", ["test_changed_questions"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def parts() -> ModuleType:
    return module("docs_pages")


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


# -- what pages have ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_study_has_a_page(name: str, parts: ModuleType) -> None:
    page = (DOCS / "studies" / f"{name}.md").read_text(encoding="utf-8")
    title, intro, light = parts.narrative(name)
    assert page.startswith(f"# {title}\n\n<!-- generated: study {name} -->\n\n## Pitfalls\n\n- ")
    assert intro
    assert light
    assert page.count("\n- ") >= 3


def test_every_page_of_a_study_has_one() -> None:
    assert sorted(path.stem for path in (DOCS / "studies").glob("*.md") if path.stem != "index") == NAMES


def test_every_study_is_found_by_one_question(parts: ModuleType) -> None:
    named = [
        word for mark, words in parts.MARK.findall((DOCS / "which.md").read_text("utf-8")) for word in words.split()
    ]
    assert sorted(named) == NAMES


def test_marks_are_known_and_used(parts: ModuleType) -> None:
    texts = [(ROOT / page).read_text(encoding="utf-8") for page in pages() if page != "CONTRIBUTING.md"]
    assert {mark for text in texts for mark, _ in parts.MARK.findall(text)} == {*parts.PARTS}
    assert sum(text.count("<!-- generated") for text in texts) == sum(len(parts.MARK.findall(text)) for text in texts)


@pytest.mark.parametrize("name", NAMES)
def test_every_option_and_column_is_on_the_page_of_a_study(name: str, parts: ModuleType, tmp_path: Path) -> None:
    from evalbench.runs.notebooks import known_parameters

    row = {"metric": "a_b", "title": "", "unit": "0–1", "higher_is_better": True}
    (tmp_path / "results.json").write_text(json.dumps({"summary": [row], "method": ["a < b * c [x](y)"]}))
    page = parts.study_page(name, {name: tmp_path})
    assert {p for p in known_parameters(name, ROOT) if f"| `{p}` |" not in page} == set()
    columns = {column.name for table in studies.study(name).SCHEMA.values() for column in table.columns}
    assert {column for column in columns if f"| `{column}` |" not in page} == set()
    assert r"- a \< b \* c \[x\](y)" in page
    assert f"samples/{name}/report.html" in page
    assert r"| a\_b | `a_b` | 0–1 | more |" in page


def test_every_metric_and_command_is_in_its_table(parts: ModuleType) -> None:
    from evalbench.metrics.registry import cards

    table, functions = parts.metrics("", {}), parts.metrics_api("", {})
    for card in cards():
        assert f"`{card.name} <{card.function.__module__}.{card.function.__name__}>`" in table
        assert f":: {card.function.__module__}.{card.function.__name__}" in functions
    commands = parts.commands("", {})
    assert "## evalbench monitor forget" in commands
    assert "--max-cost" in commands


def test_texts_stay_texts(parts: ModuleType) -> None:
    assert doctest.testmod(parts).attempted >= 2
    assert doctest.testmod(parts).failed == 0
    assert parts.text("<b> *x* | [y](z) `c` $d$") == r"\<b\> \*x\* \| \[y\](z) \`c\` \$d\$"
    assert parts.words_of("as :func:`~a.b.kept`, ``p | q``, p | q") == r"as `kept`, `p | q`, p \| q"


def test_links_that_lead_nowhere_are_seen(tmp_path: Path) -> None:
    build = module("build_docs")
    (tmp_path / "a.html").write_text(
        '<h1 id="x"></h1><a href="#x"></a><a href="#y"></a><a href="b.html"></a><img src="http://one.example/p.png">'
    )
    assert list(build.broken(tmp_path)) == [
        "a.html: #y has no such anchor", "a.html: b.html does not exist", "a.html: http://one.example/p.png is not https",
    ]  # fmt: skip


# -- Python on pages ----------------------------------------------------------------------------


def test_all_python_on_pages_is_run() -> None:
    found = {page: len(blocks) for page in pages() if (blocks := code_blocks(page, "python"))}
    assert found == {page: len(names) for page, (_, names) in PYTHON.items()} | {"CONTRIBUTING.md": 3}
    for files, names in PYTHON.values():
        text = "\n".join((ROOT / "tests" / file).read_text(encoding="utf-8") for file in files.split())
        assert [name for name in names if f"def {name}(" not in text] == []


def test_what_can_be_asked_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(code_blocks("docs/start.md", "python")[0], names)
    assert names["found"].roles == {"question": "question", "bot_response": "answer", "gold": "reference"}
    assert "text_metrics" in capsys.readouterr().out


def test_labels_that_a_judge_needs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = code_blocks("docs/judges.md", "python")
    exec(code, {})
    assert capsys.readouterr().out.strip() == code.splitlines()[-1].rpartition("# ")[2] == "47 185 89"


def test_a_log_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evalbench.monitor.store import LogStore

    monkeypatch.chdir(tmp_path)
    exec(code_blocks("docs/monitoring.md", "python")[0], {})
    with LogStore("log.sqlite") as log:
        assert log.status().feedback == {"user": 1}


def test_a_log_is_closed_by_a_lifespan() -> None:
    closed: list[str] = []
    names: dict[str, Any] = {"log": contextlib.closing(type("Log", (), {"close": lambda _: closed.append("closed")})())}
    (code,) = [code for code in code_blocks("docs/monitoring.md", "python") if "lifespan" in code]
    exec(code, names)

    async def served() -> None:
        async with names["lifespan"](None):
            assert closed == []

    asyncio.run(served())
    assert closed == ["closed"]


@pytest.mark.slow
def test_a_run_explored_in_a_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sample_run: Callable[[str], Path]
) -> None:
    """Two runs of needle, then every line of the page."""
    for name in "AB":
        shutil.copytree(sample_run("needle"), tmp_path / "reports" / "needle" / name)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    (code,) = code_blocks("docs/exploring.md", "python")
    exec(code, names)
    assert len(names["run"].figures) > 1
    assert (tmp_path / "for-anna").is_dir()


# -- the whole ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, sample_run: Callable[[str], Path]) -> Path:
    """The site as `make docs` builds it, strictly; finished runs of the studies are there."""
    if missing := [name for name in ("sphinx", "myst_parser", "furo") if importlib.util.find_spec(name) is None]:
        pytest.skip(f"the extra docs is not installed: {', '.join(missing)}")

    def make(place: Path) -> None:
        for name in NAMES:
            run = sample_run(name)
            shutil.copytree(run, place / "work" / "reports" / name / run.name)
        command = [str(ROOT / "scripts" / "build_docs.py"), "--out", str(place / "site"), "--work", str(place / "work")]
        done = subprocess.run([sys.executable, *command], cwd=place, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]

    return once(tmp_path_factory, "site", make) / "site"


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.timeout(1800)
def test_the_site_is_built_without_a_warning_and_every_link_leads_somewhere(site: Path) -> None:
    for name in NAMES:
        page = (site / "studies" / f"{name}.html").read_text(encoding="utf-8")
        assert "<!-- generated" not in page
        assert (site / "samples" / name / "report.html").is_file()
    # Nothing is loaded from elsewhere: a link that a reader follows may lead there.
    for path in site.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|img|iframe)[^>]* src=\"(https?://[^\"]*)|<link[^>]*stylesheet[^>]*href=\"(https?:[^\"]*)",
            path.read_text("utf-8"),
        )
        assert loaded == [], path


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.model
@pytest.mark.timeout(1800)
def test_a_newcomer_finds_four_things_without_a_server(site: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1240, "height": 900})
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url) if request.url.startswith("http") else None)
    page.goto((site / "index.html").as_uri())
    wanted = {
        "how to bring a run of ragas": "coming-from.html#ragas",
        "how many labels a judge needs": "judges.html#how-many-labels-does-a-judge-need",
        "what green, yellow, red, grey": "reading.html#the-light",
        "how to run on four machines": "batches.html#on-several-machines",
    }
    for words, target in wanted.items():
        link = page.locator("tr", has_text=words).locator("a").get_attribute("href")
        assert link == target
    for words, target in {
        "grey": "reading.html",
        "ragas": "coming-from.html",
        "four machines": "batches.html",
        "labels judge": "judges.html",
    }.items():
        page.goto((site / "search.html").as_uri() + f"?q={words.replace(' ', '+')}")
        page.wait_for_selector("ul.search li", timeout=20_000)
        page.wait_for_function(
            "document.querySelector('.search-summary, #search-results p').textContent.includes('found')"
        )
        assert any(target in (a.get_attribute("href") or "") for a in page.locator("ul.search li a").all()), words
    for width in (1240, 400):
        page.set_viewport_size({"width": width, "height": 900})
        for name in ("index.html", "studies/needle.html", "metrics.html", "judges.html"):
            page.goto((site / name).as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), (
                name,
                width,
            )
    assert faults == [], faults[:5]
