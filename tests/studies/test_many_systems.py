"""Hundreds of systems in one table: the best are compared in pairs, and what was left out is said; thousands are refused."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from some_studies import some_studies

from evalbench import studies
from evalbench.core.compared import MOST_COMPARED
from evalbench.errors import BadInput
from evalbench.kit.comparing import compare_groups
from evalbench.readers.schema import MOST_GROUPS
from evalbench.studies import human_correlation, load, matching, text_metrics

PAIRS = MOST_COMPARED * (MOST_COMPARED - 1) // 2


def answers(n_models: int) -> pd.DataFrame:
    """Model 0 is right in every word, the others in ever fewer."""
    words = [f"w{i}" for i in range(n_models + 5)]
    return pd.DataFrame(
        [
            {"id": f"q{i}", "model": f"m{k:03}", "output": " ".join(words[k:] + ["x"] * k), "reference": " ".join(words)}
            for k in range(n_models)
            for i in range(3)
        ]
    )  # fmt: skip


@pytest.mark.slow
def test_the_best_models_are_compared_and_the_rest_is_not_hidden():
    result = text_metrics.evaluate({"items": answers(40)}, metrics=["f1_score"], n_resamples=50)
    table = result.tables["comparison"]
    assert len(table) == PAIRS
    assert set(table["model_a"]) | set(table["model_b"]) == {f"m{k:03}" for k in range(MOST_COMPARED)}
    assert f"of 40 models the best {MOST_COMPARED} by each metric are compared" in "\n".join(result.notes)
    assert len([e for e in result.summary.estimates if e.group]) >= 40
    assert len(result.sentence) < 500
    assert "to 1.00 [0.44, 1.00] (m000); 40 models" in result.sentence
    few = text_metrics.evaluate({"items": answers(MOST_COMPARED)}, metrics=["f1_score"], n_resamples=50)
    assert len(few.tables["comparison"]) == PAIRS
    assert "are compared in pairs" not in "\n".join(few.notes)


def test_the_best_by_a_metric_of_which_less_is_better_are_those_with_less():
    measures = text_metrics.measures(["context_contradiction"])
    assert measures[0].higher_is_better is False
    n = MOST_COMPARED + 5
    items = pd.DataFrame({"id": ["a", "b"] * n, "model": np.repeat([f"m{k:02}" for k in range(n)], 2),
                          "context_contradiction": np.repeat(np.arange(n, dtype=float), 2)})  # fmt: skip
    table = compare_groups(items, measures, "model", n_resamples=20)
    assert list(zip(table["model_a"], table["model_b"], strict=True)) == list(
        combinations([f"m{k:02}" for k in range(MOST_COMPARED)], 2)
    )


@pytest.mark.slow
def test_the_best_checkers_are_compared_and_the_rest_is_not_hidden(root):
    data = load("house_style_curated@1.1.0", study="matching", root=root)
    one = data["predictions"][data["predictions"]["model"] == data["predictions"]["model"].min()]
    many = pd.concat([one.assign(model=f"c{k:02}@1|m").iloc[k:] for k in range(40)], ignore_index=True)
    tables = {"truth": data["truth"], "documents": data["documents"], "predictions": many}
    result = matching.evaluate(load(tables, study="matching"), embed="jaccard", n_resamples=50)
    assert len(result.tables["comparisons"]) == 2 * PAIRS
    assert f"of 40 checkers the best {MOST_COMPARED} by F1 are compared" in "\n".join(result.notes)


def test_the_best_metrics_are_compared_with_people_and_the_rest_is_not_hidden():
    draw = np.random.default_rng(0)
    human = draw.normal(size=30)
    names = [f"metric{k:02}" for k in range(30)]
    columns = {name: human + k * draw.normal(size=30) for k, name in enumerate(names)}
    table = pd.DataFrame({"doc_id": [f"d{i:02}" for i in range(30)], "output": "x", "score": human, **columns})
    result = human_correlation.evaluate(
        load({"items": table}, study="human_correlation"), metrics=names, criteria=["score"], n_resamples=50
    )
    found = result.tables["comparisons"]
    assert len(found[found["level"] == "dataset"]) == PAIRS
    assert "metric00" in set(found["scorer_a"])
    assert f"of 30 metrics the best {MOST_COMPARED} by their agreement" in "\n".join(result.notes)


@pytest.mark.parametrize(
    ("study", "table", "column"),
    [
        (name, table, column.name)
        for name in some_studies(studies.names())
        for table, shape in studies.study(name).SCHEMA.items()
        for column in shape.columns
        if column.groups
    ],
)
@pytest.mark.generated
def test_thousands_of_systems_are_refused_at_once(study, table, column):
    n = 20 * MOST_GROUPS
    cells = {c.name: ["1"] * n for c in studies.study(study).SCHEMA[table].columns if c.required}
    frame = pd.DataFrame({**cells, column: [f"s{k}@1|m" for k in range(n)]})
    before = time.monotonic()
    with pytest.raises(
        BadInput, match=rf"column {column}: holds {n} different values, at most {MOST_GROUPS} are judged"
    ):
        load({table: frame}, study=study)
    assert time.monotonic() - before < 10


NOT_JUDGED = {
    ("matching_calibration", "pair_verdicts"): "thresholds are judged, not checkers",
    ("cascade", "labels"): "two models, no more",
    ("human_correlation", "scores"): "the systems of items",
    ("judge_audit", "verdicts"): "judges are judged, not the models whose answers they mark",
    ("judge_audit", "labels"): "as verdicts",
    ("judge_audit", "items"): "as verdicts",
    ("drift", "oos"): "two samples are judged; models of which they differ are named",
    ("drift", "oot"): "as oos",
    ("rag_retrieval", "answers"): "the searches of run",
}


def test_every_study_with_several_systems_bounds_them():
    names = {"model", "checker", "system"}
    found = {
        (name, table, c.name): c.groups
        for name in studies.names()
        for table, shape in studies.study(name).SCHEMA.items()
        for c in shape.columns
        if not shape.describes  # a table of descriptions has no results
        and c.name in names
        and (name, table) not in NOT_JUDGED
    }
    assert found
    assert all(found.values()), found
