"""What the README says of `make` is so: commands, environment, what each of them leaves to another."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="not on this platform: there is no make")


def recipe(*arguments: str) -> str:
    """The commands of targets, as make would run them once everything is installed."""
    asked = ["make", "-n", "-o", ".venv/.dev", "-o", ".venv/.base", "-o", ".venv/.all", *arguments]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(asked, cwd=ROOT, env=clean, capture_output=True, text=True, check=True).stdout


def test_bytecode_is_written_where_the_environment_forbids_it(tmp_path: Path) -> None:
    (tmp_path / "more.mk").write_text('show:\n\t@echo "[$$PYTHONDONTWRITEBYTECODE]"\n')
    asked = ["make", "-s", "-f", "Makefile", "-f", str(tmp_path / "more.mk"), "show"]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    assert subprocess.run(asked, cwd=ROOT, env=env, capture_output=True, text=True).stdout == "[]\n"
    for target in (".base", ".dev", ".all"):
        made = subprocess.run(
            ["make", "-n", "-W", "pyproject.toml", f".venv/{target}"], cwd=ROOT, capture_output=True, text=True
        )
        assert "-m evalbench.runs.bytecode" in made.stdout


def test_the_tests_run_in_as_many_processes_as_are_asked_for() -> None:
    assert "-n 3 --dist worksteal" in recipe("test")
    assert "-n 5 --dist worksteal" in recipe("test", "WORKERS=5")


def test_check_runs_what_test_had_to_skip_and_no_benchmark() -> None:
    assert (
        'pytest -q -n 3 --dist worksteal -m "not slow and not browser and not benchmark and not external and not wordnet"'
        in recipe("test")
    )
    check = recipe("check")
    assert "EVALBENCH_TEST_GENERATED=all EVALBENCH_TEST_MACHINE=complete" in check
    assert '-m "(slow or browser or generated or external or wordnet) and not benchmark"' in check
    assert "tests/benchmarks" not in check
    assert "EVALBENCH_TEST_GENERATED=soak .venv/bin/python -m pytest -q -n 3 --dist worksteal -m soak" in recipe("soak")


def test_notebooks_are_made_though_a_folder_has_the_name() -> None:
    assert "scripts/notebooks.py" in recipe("notebooks")


def test_docs_are_built_with_their_extra_alone() -> None:
    asked = ["make", "-n", "--no-print-directory", "-W", "pyproject.toml", "docs"]
    made = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "-e '.[docs]'" in made
    assert made.splitlines()[-1].endswith("python scripts/build_docs.py")


def test_lab_is_a_workbench_that_is_laid_out_once() -> None:
    assert "[ -e lab/data/catalog.yaml ] || .venv/bin/evalbench init lab\ncd lab && jupyter lab" in recipe("lab")


def test_a_wheel_holds_nothing_of_an_earlier_build() -> None:
    assert recipe("wheel").startswith("rm -rf build/lib build/bdist.* dist\n")


def test_bench_runs_the_large_ones_by_hand_only() -> None:
    assert 'pytest -q tests/benchmarks -m "not large" --budget 300' in recipe("bench")
    everything = recipe("bench", "ALL=1")
    assert "not large" not in everything
    assert "--table docs/benchmarks" in everything


SKIPPED = """
import pytest

@pytest.mark.parametrize("reason", ["no WordNet here", "external data x", "no chromium on PATH"])
def test_that_needs_more(reason):
    pytest.skip(reason)

def test_that_never_may():
    pytest.skip("not on this platform")
"""


@pytest.mark.parametrize("processes", [(), ("-n", "1")], ids=["one process", "another process"])
@pytest.mark.slow
def test_in_ci_nothing_is_skipped_for_want_of_anything_where_all_is_installed(
    tmp_path: Path, processes: tuple[str, ...]
) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_some.py").write_text(SKIPPED)

    def outcome(**variables: str) -> tuple[int, str]:
        kept = {k: v for k, v in os.environ.items() if k not in ("CI", "EVALBENCH_TEST_MACHINE")}
        kept["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "helpers")])
        asked = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", *processes, "."]
        done = subprocess.run(asked, cwd=tmp_path, env={**kept, **variables}, capture_output=True, text=True)
        return done.returncode, done.stdout

    assert outcome()[0] == outcome(CI="true")[0] == outcome(EVALBENCH_TEST_MACHINE="complete")[0] == 0
    code, said = outcome(CI="true", EVALBENCH_TEST_MACHINE="complete")
    assert code == 1
    assert all(reason in said for reason in ("]: no WordNet", "]: external data", "]: no chromium"))
    assert "]: not on this platform" not in said


LAST = """
import pytest

def test_that_holds():
    pass

def test_that_needs_more():
    pytest.skip("no chromium on PATH")

def test_that_fails():
    raise AssertionError("the reason")
"""


@pytest.mark.parametrize("processes", [("-n", "0"), ("-n", "1")], ids=["one process", "another process"])
def test_the_last_line_says_how_many_passed_and_why_others_were_not_run(
    tmp_path: Path, processes: tuple[str, ...]
) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_some.py").write_text(LAST)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests" / "helpers")])}
    asked = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-c",
        str(ROOT / "pyproject.toml"),
        "--rootdir",
        ".",
        *processes,
        ".",
    ]
    lines = subprocess.run(asked, cwd=tmp_path, env=env, capture_output=True, text=True).stdout.splitlines()
    assert re.fullmatch(
        r"1 test failed, 1 passed in (less than 1 s|(\d+ min )?\d+ s); 1 not run: a browser is not installed \(1\)",
        lines[-1],
    )
    assert lines[-2].startswith("FAILED test_some.py::test_that_fails - ")
    assert any("AssertionError: the reason" in line for line in lines)
    assert not any("SKIPPED" in line for line in lines)


def test_a_bare_machine_has_nothing_of_this_one(tmp_path: Path) -> None:
    """A program and a font are planted where the script looks for such; it hides or refuses, never goes on."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "chromium").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "chromium").chmod(0o755)
    (tmp_path / ".fonts").mkdir()
    (tmp_path / ".fonts" / "some.ttf").write_text("")
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    env["EVALBENCH_EXTERNAL_DATA"] = str(tmp_path)
    look = "which chromium; ls -A ~/.fonts ..; echo data=$EVALBENCH_EXTERNAL_DATA; exit 7"
    done = subprocess.run(
        [ROOT / ".ci" / "bare", "sh", "-c", look], env=env, capture_output=True, text=True, timeout=120
    )
    if done.returncode == 3:  # no mount namespace here
        assert f"cannot be made bare; still to be seen:\n{tmp_path}/bin/chromium" in done.stderr
        assert done.stdout == ""
    else:
        assert done.returncode == 7
        assert done.stdout.split() == ["..:", "alone", f"{tmp_path}/.fonts:", "data="]


def test_what_cannot_be_hidden_is_said_and_nothing_is_run(tmp_path: Path) -> None:
    (tmp_path / "unshare").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "chromium").write_text("#!/bin/sh\n")
    for program in tmp_path.iterdir():
        program.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    asked = [ROOT / ".ci" / "bare", "echo", "ran"]
    done = subprocess.run(asked, env=env, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (3, "")
    assert f"{tmp_path}/chromium" in done.stderr
