from pathlib import Path

import pytest
from click.testing import CliRunner

from evalbench.commands.metrics import metrics

ROOT = Path(__file__).resolve().parents[2]


def run(*words):
    return CliRunner().invoke(metrics, list(words))


def test_list_names_every_text_metric_with_what_it_needs():
    shown = run("list")
    assert shown.exit_code == 0
    assert "rougeL (rougel)  [0–1; higher is better; needs reference]" in shown.output
    said = "context_contradiction (faithfulness_selfcheckgpt)  [0–1; lower is better; needs context, contradict]"
    assert said in shown.output
    titles = [line for line in shown.output.splitlines() if not line.startswith(" ")]
    assert titles == ["accuracy:", "syntactic:", "semantic:", "faithfulness:", "quality:"]
    assert "  [0–1; higher is better; needs reference]" in run("list", "--all").output.partition("not of texts:")[2]
    assert "precision_at_k" not in shown.output


def test_show_prints_the_card_by_alias():
    shown = run("show", "exactmatch")
    assert shown.exit_code == 0
    assert shown.output.startswith("exact_match\n")
    assert "example      outputs=['42', 'Нет']" in shown.output


def test_an_unknown_name_is_answered_with_near_ones():
    shown = run("show", "rougel1")
    assert shown.exit_code == 1
    assert "did you mean" in str(shown.exception)


@pytest.mark.model
def test_the_cards_of_a_module_are_shown() -> None:
    shown = run("show", f"evaluate:{ROOT / 'scripts' / 'metrics' / 'last_word.py'}")
    assert shown.output.startswith("evaluate:last_word\n")
    assert "range        not known, no better direction" in shown.output
