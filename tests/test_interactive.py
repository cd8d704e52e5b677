"""What a researcher meets in JupyterLab: names to complete, short errors, objects that show themselves."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import evalbench
from evalbench import BadInput, load, matching, metrics
from evalbench.draw.html import Html


def test_tab_completion_offers_what_notebooks_use_and_nothing_else():
    offered = [name for name in dir(evalbench) if not name.startswith("__")]
    studies = [notebook.stem for notebook in (Path(__file__).parents[1] / "notebooks").glob("*.ipynb")]
    others = [
        "BadInput",
        "budget",
        "dry_run",
        "evaluate",
        "explore",
        "hub",
        "load",
        "metrics",
        "open_run",
        "record",
        "show",
    ]
    assert offered == sorted([*others, *studies])
    assert all(getattr(evalbench, name) is not None for name in offered)


def test_bad_input_is_told_without_a_traceback():
    shell, said = InteractiveShell(), io.StringIO()
    shell.user_ns["load"] = load
    with contextlib.redirect_stdout(said):
        ran = shell.run_cell("load('nowhere.csv', study='text_metrics')", store_history=False)
    assert isinstance(ran.error_in_exec, BadInput)
    assert said.getvalue().strip() == "BadInput: nowhere.csv: no such file"


def test_drawn_html_is_text_in_a_console():
    shell = InteractiveShell()
    shown, _ = shell.display_formatter.format(Html("<p>3 &lt; <b>5</b></p>"))
    assert shown["text/plain"] == "3 < 5"
    assert shown["text/html"].endswith("><p>3 &lt; <b>5</b></p></div>")


def test_other_errors_keep_their_traceback():
    shell, said = InteractiveShell(), io.StringIO()
    with contextlib.redirect_stdout(said):
        shell.run_cell("{}['gone']", store_history=False)
    assert "Traceback" in said.getvalue()


def test_a_data_set_shows_its_tables_and_columns():
    shown = repr(load("town_desk_answers@1.1.0", study="text_metrics"))
    assert shown.startswith("<Dataset town_desk_answers@1.1.0>\nitems: 90 rows of id, ")
    assert len(shown) < 500


def test_the_steps_of_matching_show_themselves_in_a_line():
    violations = matching.prepare(load("house_style_curated@1.1.0", study="matching"))
    counts = "<98 true and 259 predicted violations of 48 texts by 3 checkers>"
    assert repr(violations) == counts
    pairs = matching.score_pairs(violations, embed="jaccard")
    assert repr(pairs) == f"<Pairs: {len(pairs.frame())} of {counts}, compared by jaccard; frame() lists them>"
    matched = matching.match(pairs)
    assert repr(matched) == f"<Matching: {matched.matched.sum()} of {len(pairs.frame())} pairs matched>"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("exact_match", "<exact_match: Whether the output equals a reference, character by character (0/1, higher is better; needs reference)>"),
        ("length", "<length: Words of the output; characters in scripts written without spaces (words)>"),
    ],
)  # fmt: skip
def test_a_metrics_card_is_one_line(name, line):
    assert repr(next(card for card in metrics.cards() if card.name == name)) == line
