"""The parameters of a study, as help and as a list."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from evalbench import studies
from evalbench.cli import group
from evalbench.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]


def said(*words: str) -> str:
    done = CliRunner().invoke(group, words, terminal_width=10_000)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize(
    "words", [("run", "matching", "--help"), ("run", "-p", "seed=1", "matching", "-h"), ("list", "matching")]
)
def test_every_option_of_the_study_has_type_default_and_help(words: tuple[str, ...]) -> None:
    shown = " ".join(said(*words).split())
    for name, option in studies.study("matching").options().items():
        if option.default is not inspect.Parameter.empty and name != "embed":
            assert f"{name}: " in shown
    assert "score_threshold: float" in shown
    assert "[default: 0.5]" in shown
    assert "yellow_from: float | None" in shown
    assert "[default: None]" in shown


def test_help_without_a_study_is_that_of_the_command() -> None:
    assert "Parameters of" not in said("run", "--help")
    assert "Parameters of" not in said("run", "-p", "matching", "--help")


def test_a_misspelt_study_is_met_with_the_one_that_was_meant() -> None:
    done = CliRunner().invoke(group, ["run", "matchin", "--help"])
    assert isinstance(done.exception, BadInput)
    assert "did you mean matching?" in str(done.exception)


def test_a_notebook_by_its_path_shows_its_own() -> None:
    assert "Parameters of" in said("run", str(ROOT / "notebooks" / "text_metrics.ipynb"), "--help")


def test_metrics_are_listed_either_way() -> None:
    assert said("list", "metrics") == said("metrics", "list")
    assert said("list").count("?\n") == len(studies.names())


def test_questions_are_read_as_the_studies_state_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {name: studies.question(name) for name in studies.names()} == {
        name: studies.study(name).QUESTION for name in studies.names()
    }
    monkeypatch.setattr(studies, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "matching.py").write_text('QUESTION = "Made " + f"by {1}?"', encoding="utf-8")
    assert studies.question("matching") == studies.study("matching").QUESTION


@pytest.mark.parametrize(
    "words", [["--help"], ["run", "matching", "--help"], ["list"], ["list", "drift"], ["criteria"]]
)
def test_help_and_lists_load_nothing_heavy(words: list[str]) -> None:
    script = (
        f"import sys, evalbench.cli; sys.argv = ['evalbench', *{words}]\n"
        "try: evalbench.cli.main()\n"
        "except SystemExit: print(sorted({'scipy', 'pandas', 'yaml', 'openai'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.splitlines()[-1] == ("[]" if "--help" in words else "['yaml']")
