"""Studies whose figures are sums are compared exactly, and as resampling their summary would compare them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalbench import load, studies
from evalbench.compare.runs import Differences, Hooks, compare
from evalbench.compare.sides import Side, with_names
from evalbench.errors import BadInput

SAMPLES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "citation": ("cited_answers@1.0.0", {}),
    "cot_levels": ("word_problems@1.0.0", {"sample_method": "random", "n_samples": 20}),
    "explainability": ("explained_answers@1.0.0", {}),
    "text_metrics": ("town_desk_answers@1.0.0", {"metrics": ["rougeL", "sacrebleu", "verbosity_ratio"]}),
}
# Columns of the items that a worse run would have lower, and by how much.
WORSE = {
    "citation": ("final", "correctness"),
    "cot_levels": ("final", "answer", "reference_coherence"),
    "explainability": ("score",),
    "text_metrics": ("rougeL", "sacrebleu_correct_1"),
}


@pytest.fixture(scope="module", params=SAMPLES)
def run(request: pytest.FixtureRequest) -> Side:
    name = request.param
    data, options = SAMPLES[name]
    result = studies.study(name).evaluate(load(data, study=name), n_resamples=50, **options)
    return Side("first", result.to_json(), {}, result.items)


def worsened(run: Side) -> Side:
    """The run with lower scores on some items, and the figures that follow from them."""
    items = run.items.copy()
    drop = np.random.default_rng(1).uniform(0, 0.5, len(items)) * (np.arange(len(items)) % 3 == 0)
    for column in WORSE[run.results["study"]]:
        items[column] = items[column] * (1 - drop)
    return restated(run, items, run.results["parameters"])


def restated(run: Side, items: pd.DataFrame, parameters: Mapping[str, Any]) -> Side:
    summarise = studies.study(run.results["study"]).summarise
    results = {**run.results, "parameters": parameters}
    options = Side("", results, {}, items).options(summarise)
    figures = [e.row() for e in summarise(items, n_resamples=2, **options).estimates]
    return Side("second", {**results, "summary": figures}, {}, items)


def compared(left: Side, right: Side, *, exact: bool = True, **options: Any) -> Differences:
    measures = Hooks.of(studies.study(left.results["study"]))
    a, b = with_names([left, right])
    return compare(a, [b], measures if exact else measures._replace(measures=None), **options)[0]


def cells(found: Differences) -> dict[tuple[str, ...], Any]:
    return {(*row.group.values(), row.comparison.metric): row.comparison for row in found.rows}


def test_items_of_older_code_are_refused_with_the_column(run: Side) -> None:
    column = {"explainability": "score", "text_metrics": "rougeL"}.get(run.results["study"], "final")
    other = Side("second", run.results, {}, run.items.drop(columns=column))
    with pytest.raises(BadInput, match=f"second: the items lack '?{column}'?, which today's code reads"):
        compared(run, other)


def test_no_figure_is_left_to_resampling_the_summary(run: Side) -> None:
    """Without calls of the study all that both runs state is compared."""
    found = cells(compared(run, worsened(run), n_summaries=0))
    by = run.results["by"]
    stated = {(*(r[c] for c in by if r.get(c) is not None), r["metric"]) for r in run.results["summary"]}
    assert set(found) == stated


@pytest.mark.slow
def test_exact_and_resampled_comparisons_agree(run: Side) -> None:
    other = worsened(run)
    quick = cells(compared(run, other, n_summaries=0))
    slow = cells(compared(run, other, exact=False, n_summaries=40))
    assert set(quick) == set(slow)
    for at, one in quick.items():
        two = slow[at]
        assert one.difference == pytest.approx(two.difference, abs=1e-9), at
        assert (one.outcome == "same") == (two.outcome == "same"), at
        if one.outcome != "same":
            width = max(one.ci_high - one.ci_low, 1e-9)
            assert one.ci_low == pytest.approx(two.ci_low, abs=0.5 * width), at
            assert one.ci_high == pytest.approx(two.ci_high, abs=0.5 * width), at
            assert one.p == pytest.approx(two.p, abs=0.3), at
    assert any(c.outcome in ("worse", "lower") for c in quick.values())


def test_a_run_with_itself_differs_by_0(run: Side) -> None:
    found = compared(run, Side("second", run.results, {}, run.items), n_summaries=0)
    assert {c.difference for c in cells(found).values()} <= {0.0, None}
    assert {c.outcome for c in cells(found).values()} <= {"same", "undefined"}
    assert not found.notes


def test_the_first_figure_opens_the_comparison(run: Side) -> None:
    found = compared(run, worsened(run), n_summaries=0)
    assert found.rows[0].comparison.metric == run.results["summary"][0]["metric"]
    assert found.changes is not None
    assert found.changes.counts["worse"] > 0


@pytest.mark.parametrize("run", ["citation", "explainability"], indirect=True)
def test_each_side_keeps_its_own_options(run: Side) -> None:
    """A threshold or a weight of the other run is no fault of the definition."""
    own = {"citation": {"threshold": 0.95}, "explainability": {"weight_cot": 0.0, "cot_threshold": 0.95}}
    other = restated(run, run.items, {**run.results["parameters"], **own[run.results["study"]]})
    found = compared(run, other, n_summaries=0)
    assert not any("not compared" in note for note in found.notes)
    assert any(row.comparison.difference for row in found.rows)
