"""Checkers against each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evalbench.core.result import Result
from evalbench.core.significance import holm
from evalbench.studies import load, matching


@pytest.fixture(scope="module")
def result(root: Path) -> Result:
    return matching.evaluate(
        load("house_style_curated@1.1.0", study="matching", root=root), embed="jaccard", n_resamples=200
    )


def test_every_pair_on_both_headline_figures_the_better_one_first(result: Result) -> None:
    table = result.tables["comparisons"]
    assert len(table) == 6
    assert list(dict.fromkeys(table["metric"])) == ["f1", "match_score"]
    f1 = {c: result.estimate("f1", model=c).value for c in result.items["model"].unique()}
    for row in table[table["metric"] == "f1"].itertuples():
        assert row.difference == pytest.approx(f1[row.model_a] - f1[row.model_b])
        assert row.difference >= 0


def test_holm_covers_all_pairs_and_figures(result: Result) -> None:
    table = result.tables["comparisons"]
    np.testing.assert_allclose(table["p_holm"], holm(table["p"]))


def test_the_page_states_the_paired_verdict_in_words(result: Result) -> None:
    words = [note for note in result.notes if note.startswith("F1: ")]
    assert len(words) == 3
    assert all("is better than" in w or "no difference shown between" in w for w in words)


def test_the_table_of_the_notebook(result: Result) -> None:
    shown = matching.comparisons(result)
    assert list(shown["verdict"].unique()) != []
    assert set(shown.columns) >= {"figure", "checker", "against", "difference", "p, Holm", "verdict"}
