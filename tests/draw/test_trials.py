"""The part of a page about repeated answers: bars, sentences, tables, the answers of items that flicker; all escaped."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from evalbench.draw.html import without_markup
from evalbench.draw.show import shown
from evalbench.draw.trials import trials_html
from evalbench.studies import text_metrics

HOSTILE = '<img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def result():
    rows = [
        {"id": f"q{i:02}", "model": model, "trial": t, "reference": "кот", "output": "кот" if i % 4 or t else HOSTILE}
        for model in ("fern", "<b>oak</b>")
        for i in range(12)
        for t in range(3)
    ]
    return text_metrics.evaluate({"items": pd.DataFrame(rows)}, metrics=["exact_match"], n_resamples=60)


def test_everything_is_said_once_and_escaped(result):
    html = trials_html(result.trials, result.by)
    assert HOSTILE not in html
    assert "<b>oak</b>" not in html
    text = without_markup(html)
    assert "Three answers a question shrink the interval" in text
    assert "fern: 3 of 12 items, 25%" in text
    assert "✗ wrong (trial 0): " + HOSTILE in text
    assert "✓ right (trial 1): кот" in text
    assert 'lang="ru"' in html


def test_a_bar_has_its_figures_in_words(result):
    html = trials_html(result.trials, result.by)
    bars = re.findall(r'class="eb-split" role="img" aria-label="([^"]+)"', html)
    assert len(bars) == 2
    assert re.fullmatch(r"fern: which items were drawn \d+%; repeated answers \d+% of the variance", bars[1])


def test_each_k_has_both_figures(result):
    html = trials_html(result.trials, result.by)
    assert "pass@k" in html
    assert "pass^k" in html
    assert without_markup(html).count("0.92") >= 2


def test_a_result_shows_them_in_a_notebook(result):
    assert "Where the noise comes from" in shown(result).html


def test_many_values_of_k_are_few_rows():
    curve = [
        {"k": k, **dict.fromkeys(("pass_at_k", "at_low", "at_high", "pass_hat_k", "hat_low", "hat_high"), 0.5)}
        for k in range(1, 101)
    ]
    one = {"metric": "x", "title": "x", "n_items": 3, "left_out": 2, "curve": curve}
    html = trials_html({"noise": [], "pass_k": [one], "flickering": []}, ())
    assert re.findall(r"<td[^>]*>(\d+)</td>", html)[::2] == ["1", "2", "3", "4", "5", "8", "16", "100"]
    assert "left out: 2 at most in a group" in html


def flickering(n, listed, model="fern"):
    trials = [{"trial": "0", "right": 1.0}, {"trial": "1", "right": 0.0}]
    items = [{"id": f"q{i:02}", "model": model, "right": 1, "of": 2, "trials": trials} for i in range(listed)]
    share = {"n": n, "of": 50, "share": n / 50, "ci_low": 0.3, "ci_high": 0.7}
    return {"metric": "success", "title": "success", "model": model, **share, "items": items}


def test_the_list_says_of_how_many_flickering_items_and_of_which_figure_it_is():
    html = trials_html({"flickering": [flickering(26, 20)]}, ("model",))
    text = without_markup(html)
    where = "all are in flickering.parquet"
    assert (
        f"Items that flicker in “success”: 20 of 26 are listed, those that are nearest to half right; {where}" in text
    )
    assert "first 8 of 26 rows" in text
    assert "show the first 20 rows" in text
    two = without_markup(trials_html({"flickering": [flickering(26, 20), flickering(3, 3, "oak")]}, ("model",)))
    assert "23 of 29 are listed, those of each model that are nearest to half right" in two
    few = without_markup(trials_html({"flickering": [flickering(3, 3)]}, ("model",)))
    assert "Items that flicker in “success”: 3; every trial of them is in flickering.parquet" in few


def test_answers_that_never_differ():
    part = {"variance": 0.0, "ci_low": None, "ci_high": None, "negative": False, "share": None}
    one = {
        "metric": "x",
        "title": "x",
        "sentence": "No noise.",
        "half_width": 0.0,
        "components": [{"component": "items", **part}],
    }
    assert "has the same score for every answer" in trials_html({"noise": [one]}, ())
