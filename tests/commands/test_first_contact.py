"""What a newcomer types: a file in place of a study, a word that is nearly a command, a run without data."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from evalbench.cli import group


def refused(*words: str) -> str:
    done = CliRunner().invoke(group, words)
    assert (done.exit_code, done.stdout) == (2, "")
    said = done.stderr.splitlines()
    assert len(said) == 1
    return said[0]


@pytest.mark.parametrize(
    ("word", "meant"),
    [("rnu", "evalbench run?"), ("text_metrics", "evalbench run text_metrics?"), ("lits", "evalbench list?")],
)
def test_a_word_that_is_no_command_is_answered_by_the_one_that_was_meant(word, meant):
    assert refused(word) == f"evalbench: no command {word!r}; did you mean {meant}"


def test_a_word_that_is_like_no_command_is_answered_by_all_of_them():
    assert refused("frobnicate").startswith("evalbench: no command 'frobnicate'; there are list, init, run, ")


def test_a_file_in_place_of_a_command(tmp_path):
    (tmp_path / "my table.csv").write_text("id,answer\n1,a\n")
    file = str(tmp_path / "my table.csv")
    assert refused(file).endswith(f"did you mean evalbench data check '{file}'?")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            "good.csv",
            "no study 'good.csv'; a table goes after --data: evalbench run --data good.csv (or, with a study,",
        ),
        ("text_metric", "no study 'text_metric'; did you mean text_metrics?"),
        ("no_such_study", "(or give the path of a notebook)"),
    ],
)
def test_what_is_no_study(target, said):
    assert said in refused("run", target)


def test_a_study_without_a_notebook(monkeypatch):
    monkeypatch.setattr("evalbench.runs.notebooks.studies.names", lambda: ["refusals"])
    assert "the study refusals has no notebook, which is what a run executes: " in refused("run", "refusals")
