"""Human correlation's figures by how often documents are drawn: as the summary of the drawn documents, and compared so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalbench.compare.runs import Differences, Hooks, compare
from evalbench.compare.sides import Side, with_names
from evalbench.core.seeds import rng
from evalbench.core.stats import percentile_interval, resample_counts
from evalbench.readers.dataset import load
from evalbench.report.compare_words import sentences
from evalbench.studies import human_correlation as study
from evalbench.studies.contract import study_of

DOCUMENTS = 24
NAMED = {"trusted": ["quality"]}


def evaluated(systems: int = 4, noise: float = 0.5, **options: Any):
    """A made-up panel: a good metric, a noisy one with gaps, one that is constant; three annotators, one without gaps."""
    draw = np.random.default_rng(0)
    rows, ratings = [], []
    for d in range(DOCUMENTS):
        for s in range(systems):
            quality = s + draw.normal(0, 1)
            keys = {"id": f"d{d:02}", "model": f"s{s}"}
            gap = np.nan if draw.uniform() < 0.1 else draw.normal()
            rows.append({**keys, "good": quality + draw.normal(0, noise), "noisy": gap, "flat": 1.0})
            for a in range(3):
                score = round(float(np.clip(quality + draw.normal(0, 0.5), -2, 6)))
                marks = {"quality": score, "tone": round(draw.uniform(0, 3))}
                ratings += [
                    {**keys, "annotator": f"a{a}", "criterion": c, "mark": v}
                    for c, v in marks.items()
                    if a == 0 or draw.uniform() < 0.9
                ]
    tables = {"items": pd.DataFrame(rows), "ratings": pd.DataFrame(ratings)}
    metrics = ["good", "noisy", "flat"]
    return study.evaluate(load(tables, study.SCHEMA), metrics=metrics, n_resamples=20, **NAMED, **options)


@pytest.fixture(scope="module")
def result():
    return evaluated()


def side(result, name: str = "first") -> Side:
    return Side(name, result.to_json(), {}, result.items)


def by_key(summary) -> dict[Any, float]:
    return {
        (e.metric, tuple(sorted(e.group.items()))): np.nan if e.value is None else e.value for e in summary.estimates
    }


def drawn_items(items: pd.DataFrame, counts: np.ndarray) -> pd.DataFrame:
    """The documents as often as they were drawn, each draw a document of its own."""
    documents = sorted(items["id"].unique())
    parts = [
        items[items["id"] == name].assign(id=f"{name}~{k}")
        for name, times in zip(documents, counts.astype(int), strict=True)
        for k in range(times)
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("level", ["summary", "dataset", "system"])
@pytest.mark.parametrize("coefficient", ["spearman", "kendall", "pearson"])
def test_a_resample_is_the_summary_of_the_drawn_documents(result, level, coefficient):
    options = {**NAMED, "level": level, "coefficient": coefficient}
    counts = np.random.default_rng(1).multinomial(DOCUMENTS, [1 / DOCUMENTS] * DOCUMENTS, size=2)
    counts = np.vstack([np.ones(DOCUMENTS), counts]).astype(float)
    found = study.weighted(result.items, **options)(result.items, counts)
    for r, row in enumerate(counts):
        expected = by_key(study.summarise(drawn_items(result.items, row), **options, seed=0, n_resamples=1))
        assert set(found) == set(expected)
        for key, value in expected.items():
            assert found[key][r] == pytest.approx(value, abs=1e-9, nan_ok=True), (key, r)


def test_trusted_criteria_are_settled_on_the_runs_own_items(result):
    kernel = study.weighted(result.items, trust_from=0.4)
    trusted = kernel.keywords["trusted"]
    assert trusted == {"good": ["quality"], "noisy": ["quality"], "flat": []}
    none = np.zeros((1, DOCUMENTS))
    none[0, 0] = 4.0
    assert trusted == study.weighted(result.items, trust_from=0.4).keywords["trusted"]
    assert set(kernel(result.items, none)) == set(kernel(result.items, np.ones((1, DOCUMENTS))))


def test_at_system_level_systems_are_drawn_too():
    """A bootstrap of documents with the study's own streams gives the study's own intervals."""
    result = evaluated(12, level="system")
    counts = np.concatenate(list(resample_counts(DOCUMENTS, rng(0, "correlation/table"), 20)))
    kernel = study.weighted(result.items, **NAMED, level="system")
    both = kernel(result.items, counts, rng(0, "correlation/systems"))
    for scorer in ("good", "noisy"):
        found = result.estimate("spearman_system", scorer=scorer, criterion="quality")
        key = "spearman_system", (("criterion", "quality"), ("scorer", scorer))
        assert np.ravel(percentile_interval(both[key])) == pytest.approx([found.ci_low, found.ci_high], abs=1e-12)
        assert not np.array_equal(both[key], kernel(result.items, counts)[key])


def test_one_annotator_has_no_agreement(result):
    alone = result.items.drop(columns=["rating_a1", "rating_a2"])
    found = study.weighted(alone, trusted=["quality"])(alone, np.ones((1, DOCUMENTS)))
    assert {metric for metric, _ in found} == {"trusted_mean", "spearman_summary"}


@pytest.mark.parametrize("lower_is_better", [(), ("m",)])
def test_accuracy_of_pairs_is_that_of_the_drawn_documents(lower_is_better):
    draw = np.random.default_rng(3)
    keys = [(f"d{d:02}", s) for d in range(DOCUMENTS) for s in "abc"]
    items = pd.DataFrame(keys, columns=["id", "model"]).assign(m=draw.integers(0, 4, len(keys)))
    pairs = pd.DataFrame(
        [(f"d{d:02}", *draw.permutation(["a", "b", "c"])[:2]) for d in range(DOCUMENTS) for _ in range(2)],
        columns=["id", "better", "worse"],
    )
    options = {"lower_is_better": list(lower_is_better)}
    made = study.evaluate(
        load({"items": items, "pairs": pairs}, study.SCHEMA), metrics=["m"], n_resamples=20, **options
    )
    counts = np.concatenate(list(resample_counts(DOCUMENTS, rng(1, "drawn"), 3)))
    found = study.weighted(made.items, **options)(made.items, counts)
    for r, row in enumerate(counts):
        expected = by_key(study.summarise(drawn_items(made.items, row), **options, n_resamples=1))
        for metric in ("pair_accuracy", "pair_tau"):
            key = metric, (("criterion", "preference"), ("scorer", "m"))
            assert found[key][r] == pytest.approx(expected[key], abs=1e-9)


# -- compared ---------------------------------------------------------------------------------------


def compared(left: Side, right: Side, **options: Any) -> Differences:
    a, b = with_names([left, right])
    measures = Hooks.of(study_of(study))
    if options.pop("by_summaries", False):
        measures = measures._replace(weighted=None)
    return compare(a, [b], measures, **options)[0]


def cells(found: Differences) -> dict[Any, Any]:
    return {(row.comparison.metric, *row.group.values()): row.comparison for row in found.rows}


@pytest.fixture(scope="module")
def worse(result) -> Side:
    items = result.items.copy()
    _, output = np.unique(items["id"] + items["model"], return_inverse=True)
    noise = np.random.default_rng(3).normal(0, 2.0, output.max() + 1)[output]
    items["score"] += noise * (items["scorer"] == "good")
    figures = study.summarise(items, **NAMED, n_resamples=20)
    return side(replace(result, items=items, summary=figures), "second")


def test_every_stated_figure_is_compared_the_headline_first(result, worse):
    found = compared(side(result), worse)
    assert set(cells(found)) == {
        (row["metric"], *(row[c] for c in ("scorer", "criterion") if row.get(c) is not None))
        for row in result.to_json()["summary"]
    }
    assert found.rows[0].comparison.metric == "trusted_mean"
    good = cells(found)["trusted_mean", "good"]
    assert good.outcome == "worse"
    assert "2000 resamples; 10000 swaps within units" in good.method
    assert any(
        line.startswith("good: mean correlation over trusted criteria: B is worse than A") for line in sentences(found)
    )
    assert found.changes is not None
    assert len(found.changes.table) == DOCUMENTS * 6


def test_figures_of_what_is_the_same_on_both_sides_are_the_same(result, worse):
    found = cells(compared(side(result), worse))
    assert found["trusted_mean", "noisy"].outcome == "same"
    assert {c.outcome for key, c in found.items() if key[0] in ("ceiling", "kappa", "alpha_interval")} == {"same"}
    assert found["trusted_mean", "flat"].outcome == "undefined"


@pytest.mark.slow
def test_as_resampled_summaries_compare_them(result, worse):
    """Of one metric alone, since each resample of a summary takes its time."""
    left, right = (
        replace(run, items=run.rows({"scorer": "good"}), selected={"scorer": "good"}) for run in (side(result), worse)
    )
    quick, slow = (cells(compared(left, right, by_summaries=by, n_summaries=30)) for by in (False, True))
    assert set(quick) == set(slow)
    for key, one in quick.items():
        two = slow[key]
        assert one.difference == pytest.approx(two.difference, abs=1e-9), key
        if one.outcome not in ("same", "undefined"):
            width = one.ci_high - one.ci_low
            assert one.ci_low == pytest.approx(two.ci_low, abs=0.5 * width), key
            assert one.ci_high == pytest.approx(two.ci_high, abs=0.5 * width), key
            assert one.p == pytest.approx(two.p, abs=0.3), key


def test_a_comparison_draws_systems_as_the_study_does(result, worse):
    """The same draws of systems on both sides where paired; none for values and permutations."""
    drawn: list[list[Any]] = []

    def spied(items, **options):
        kernel = study.weighted(items, **options)

        def called(items, counts, generator):
            drawn.append([len(counts), None if generator is None else generator.bit_generator.state])
            return kernel(items, counts, generator)

        return called

    options = {"n_resamples": 30, "n_summaries": 0}
    for paired in (True, False):
        drawn.clear()
        hooks = Hooks.of(study_of(study))._replace(weighted=spied)
        a, b = with_names([side(result), worse])
        compare(a, [b], hooks, paired=paired, **options)
        assert [n for n, state in drawn if state is not None] == [30, 30]
        one, other = (state for _, state in drawn if state is not None)
        assert (one == other) is paired


def test_two_metrics_of_a_run(result):
    left, right = (
        replace(side(result), items=side(result).rows({"scorer": s}), selected={"scorer": s}) for s in ("good", "noisy")
    )
    found = cells(compared(left, right))
    assert found["trusted_mean",].outcome == "worse"
    assert found[f"spearman_{'summary'}", "quality"].difference < -0.3


def test_unpaired_runs_are_independent_samples(result, worse):
    other = replace(worse, items=worse.items.assign(id="x" + worse.items["id"]))
    found = cells(compared(side(result), other, paired=False))
    good = found["trusted_mean", "good"]
    assert good.difference == pytest.approx(cells(compared(side(result), worse))["trusted_mean", "good"].difference)
    assert "independent percentile bootstrap" in good.method
    assert good.p < 0.05
    assert found["ceiling", "quality"].outcome == "no difference shown"
