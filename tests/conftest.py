"""Fixtures and the list of allowed skips."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# nbformat's jsonschema compiles 38 grammars of addresses as it is imported: a second in every process of the tests.
from evalbench.core.imports import import_without

import_without("jsonschema", "rfc3987_syntax")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[1]

# How long an example takes is the machine's affair.  CI tries the same examples every time.
settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=os.environ.get("CI") == "true"
)
settings.load_profile("unhurried")

# In CI a skip whose reason begins with none of these fails the run: `make test` passes on a bare machine, and
# `make check` (EVALBENCH_TEST_MACHINE=complete) runs what it skipped there, or nobody would.
ALLOWED_SKIPS = (
    "not on this platform",
    "no IPv6 loopback",
    "needs root",
    "peer not importable",
    "no time",
    "EVALBENCH_TEST_TOOLS",
)
ALLOWED_ON_A_BARE_MACHINE = ("external data", "no chromium", "no WordNet", "no PostgreSQL")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of a few rows have lights: for tests of a rule, not of what it rests on."""
    for module in ("kit.panel", "kit.evidence"):
        monkeypatch.setattr(f"evalbench.{module}.too_few", lambda *_, **__: "")


@pytest.fixture(scope="session")
def script() -> Callable[[str], ModuleType]:
    """``script("card_embed")`` is ``scripts/card_embed.py`` as a module of its own."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def external_data() -> Callable[[str], Path]:
    """Folder of an external data set by name; skips with a reason where it is missing."""
    base = Path(os.environ.get("EVALBENCH_EXTERNAL_DATA") or ROOT.parent / "shared" / "data")

    def folder(name: str) -> Path:
        path = base / name
        if not path.is_dir():
            pytest.skip(f"external data {name} is not at EVALBENCH_EXTERNAL_DATA or beside the checkout")
        return path

    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a chromium; skips where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        pytest.skip("no chromium on PATH")
    return found


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Any]:
    """A PostgreSQL server of the tests' own, see ``tests/helpers/postgresql.py``; skips where its binaries are missing."""
    from postgresql import WHERE, binaries, server

    found = binaries()
    if found is None:
        pytest.skip(f"no PostgreSQL in {WHERE}")
    with server(found) as running:
        yield running


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def log_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a log store can be made: a file that is not there, and an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "log.sqlite")
    return str(request.getfixturevalue("postgresql").database())


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """A chromium that playwright drives, without requests of its own."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    quiet = ("quic", "background-networking", "component-update", "sync")
    flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", *(f"--disable-{name}" for name in quiet)]
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=flags)
        yield launched
        launched.close()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips what needs WordNet where it is missing."""
    if item.get_closest_marker("wordnet"):
        from evalbench.metrics.translation import wordnet_folder

        if wordnet_folder() is None:
            pytest.skip("no WordNet in WNSEARCHDIR, WNHOME, nltk's data or /usr/share/wordnet")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests share one cache per session, never the user's."""
    base = tmp_path_factory.getbasetemp() / "cache"
    base.mkdir(exist_ok=True)
    monkeypatch.setenv("EVALBENCH_CACHE", os.environ.get("EVALBENCH_TEST_CACHE", str(base)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Skips that are not on the list are named; in CI they fail the run."""
    complete = os.environ.get("EVALBENCH_TEST_MACHINE") == "complete"
    allowed = ALLOWED_SKIPS + (() if complete else ALLOWED_ON_A_BARE_MACHINE)
    wrong = []
    for report in terminalreporter.stats.get("skipped", []):
        said = report.longrepr if isinstance(report.longrepr, str) else report.longrepr[2]
        reason = said.removeprefix("Skipped: ")
        if not reason.startswith(allowed):
            wrong.append(f"{report.nodeid}: {reason}")
    if wrong:
        terminalreporter.section("skips that are not allowed in CI")
        terminalreporter.write_line("\n".join(wrong))
        if os.environ.get("CI") == "true":
            terminalreporter._session.exitstatus = 1
