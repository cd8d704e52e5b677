"""Fixtures, the list of allowed skips, and the last line of a run."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from closing import closing_line
from generated import VARIABLE
from hypothesis import HealthCheck, settings
from once import once
from some_studies import CHANGED, changed_studies, of_another_study

# nbformat's jsonschema compiles 38 grammars of addresses as it is imported: a second in every process of the tests.
from evalbench.core.imports import import_without

import_without("jsonschema", "rfc3987_syntax")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[1]
IN_A_FRESH_KERNEL = (
    "matching",
    "explainability",
)  # as the command line runs them; the others in forks, as a batch does
_started = time.perf_counter()

# How long an example takes is the machine's affair.  CI tries the same examples every time.
settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=os.environ.get("CI") == "true"
)
settings.load_profile("unhurried")

# In CI a skip whose reason begins with none of these fails the run: `make test` passes on a bare machine, and
# `make check` (EVALBENCH_TEST_MACHINE=complete) runs what it skipped there, or nobody would.
# What a reason begins with, and what the last line of a run says of it.
ALLOWED_SKIPS = {
    "not on this platform": "not for this system or its shells",
    "no IPv6 loopback": "this machine has no IPv6",
    "needs root": "needs root",
    "peer not importable": "a package to compare with is not installed",
    "no time": "would take too long",
    "EVALBENCH_TEST_TOOLS": "the tool that wrote the file is not installed",
    "EVALBENCH_TEST_RELEASE": "tried by hand before a release",
    "EVALBENCH_TEST_GENERATED": "takes minutes: make soak runs it",
}
ALLOWED_ON_A_BARE_MACHINE = {
    "external data": "external data is not here",
    "no chromium": "a browser is not installed",
    "no WordNet": "WordNet is not installed",
    "no PostgreSQL": "PostgreSQL is not installed",
}


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
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``sample_run(study)`` is the folder of its run on its sample by the real runner, once for all processes; to read, or to copy."""

    def folder(name: str) -> Path:
        from evalbench.runs.fork import can_fork
        from evalbench.runs.run import plan, run

        def make(reports: Path) -> None:
            fork = can_fork() and name not in IN_A_FRESH_KERNEL
            done = run(plan(name, root=ROOT), out=reports, timeout=240, fork=fork)
            assert done.status == "ok", done.error

        (found,) = (once(tmp_path_factory, f"run of {name}", make) / name).glob("*/")
        return found

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
    monkeypatch.delenv("EVALBENCH_REPLIES", raising=False)


def pytest_configure(config: pytest.Config) -> None:
    """Looks up once, for all processes, which studies are being changed."""
    gc.disable()  # while thousands of tests are collected, of which none goes
    os.environ.setdefault(CHANGED, " ".join(changed_studies()))


@pytest.hookimpl(tryfirst=True, specname="pytest_collection_modifyitems")
def pytest_collection_modifyitems_of_studies(items: list[pytest.Item]) -> None:
    """Tests of a single study run in `make test` as the laws do: of some studies and of those being changed; in `make check` all."""
    mark = "generated" if os.environ.get(VARIABLE) else "slow"
    others = {path for path in {item.path for item in items} if of_another_study(path)}
    for item in items:
        if item.path in others:
            item.add_marker(mark)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is tried on every study goes study by study: a process that runs neighbours evaluates the samples of few."""
    order = {path.stem: i for i, path in enumerate(sorted((ROOT / "notebooks").glob("*.ipynb")))}

    def study(item: pytest.Item) -> int:
        if item.path.parent.name != "studies" and item.path.name not in ("test_studies.py", "test_thresholds.py"):
            return -1
        given = getattr(item, "callspec", None)
        return max((order.get(v, -1) for v in given.params.values() if isinstance(v, str)), default=-1) if given else -1

    items.sort(key=study)


def pytest_collection_finish() -> None:
    """What is there by now stays: the collector of garbage need not look at thousands of tests again and again."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line in place of pytest's, but of a mere listing; in CI a skip whose reason is not on the list fails the run."""
    complete = os.environ.get("EVALBENCH_TEST_MACHINE") == "complete"
    allowed = {**ALLOWED_SKIPS, **({} if complete else ALLOWED_ON_A_BARE_MACHINE)}
    reasons, wrong = [], []
    for report in terminalreporter.stats.get("skipped", []):
        said = report.longrepr if isinstance(report.longrepr, str) else report.longrepr[2]
        reasons.append(said.removeprefix("Skipped: "))
        if not reasons[-1].startswith(tuple(allowed)):
            wrong.append(f"{report.nodeid}: {reasons[-1]}")
    if wrong and os.environ.get("CI") == "true":
        terminalreporter.section("skips that are not allowed in CI")
        terminalreporter.write_line("\n".join(wrong))
        terminalreporter._session.exitstatus = 1
    if terminalreporter.config.option.collectonly:
        return
    counts = {word: len(reports) for word, reports in terminalreporter.stats.items()}
    seconds = time.perf_counter() - _started
    line = closing_line(counts, seconds, reasons, {**ALLOWED_SKIPS, **ALLOWED_ON_A_BARE_MACHINE})
    colour = {"red" if terminalreporter._session.exitstatus else "green": True}
    terminalreporter.summary_stats = lambda: terminalreporter.write_line(line, bold=True, **colour)
