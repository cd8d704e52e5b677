"""Stability of the top on the Cranfield collection, by a real embedding model: minutes."""

from __future__ import annotations

import pytest

from evalbench import load
from evalbench.studies import stability_top

pytestmark = [pytest.mark.external, pytest.mark.slow, pytest.mark.timeout(1800)]

K, DEEPEST = 5, 10
RATES = {"butter_finger": [0.02, 0.1], "word_swap": [0.1, 0.3], "transliterate": [0.2, 1.0]}


@pytest.fixture(scope="module")
def collection(external_data):
    folder = external_data("cranfield")
    return load(folder / "queries.jsonl", documents=folder / "docs.jsonl", study="stability_top")


@pytest.fixture(scope="module")
def result(collection):
    found = stability_top.evaluate(collection, augmentations=["none", *RATES], rates=RATES, k=K, deepest=DEEPEST)
    assert len(found.items) == 225 * (1 + 2 * len(RATES))
    return found


def figure(result, metric, augmentation):
    (found,) = (e for e in result.summary.estimates if e.metric == metric and e.group["augmentation"] == augmentation)
    return found


def test_no_augmentation_is_green_with_one_everywhere(result):
    for metric in ("unchanged_strict", "unchanged_soft", "jaccard", "rbo"):
        assert figure(result, metric, "none").value == pytest.approx(1.0, abs=1e-12)
    assert figure(result, "unchanged_strict", "none").light == figure(result, "unchanged_soft", "none").light == "green"
    control = result.tables["by_k"].query("augmentation == 'none'")
    assert control["k"].tolist() == list(range(1, DEEPEST + 1))
    for name in ("unchanged_strict", "unchanged_soft", "jaccard", "rbo"):
        assert control[name].to_numpy() == pytest.approx(1.0, abs=1e-12)


def test_a_tenth_of_the_letters_hit_is_yellow_or_red(result):
    lights = {figure(result, m, "butter_finger 0.1").light for m in ("unchanged_strict", "unchanged_soft")}
    assert lights & {"yellow", "red"}
    assert lights <= {"yellow", "red"}
    assert result.summary.verdict.light in ("yellow", "red")


@pytest.mark.parametrize("name", RATES)
def test_more_is_worse(result, name):
    low, high = (figure(result, "unchanged_soft", f"{name} {rate:g}").value for rate in RATES[name])
    assert high < low < 1
