"""Clusters and slices in every study, unasked: on the sample of its notebook, with a column of each added to its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from some_studies import some_studies
from studied import options, page, sample, whole

from evalbench import studies
from evalbench.core.clusters import CLUSTER
from evalbench.core.result import Result
from evalbench.core.slices import SLICE
from evalbench.errors import BadInput
from evalbench.kit import slicing
from evalbench.kit.options import taken

pytestmark = [pytest.mark.parametrize("name", some_studies(studies.names())), pytest.mark.generated]

HOSTILE = "<script>alert(1)</script>"
# The table that names a study's units, and its column of them.
OF_UNITS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "drift": (("oos", "id"), ("oot", "id")),
    "citation": (("answers", "id"),),
    "dialogue": (("turns", "session_id"),),
    "explainability": (("items", "id"), ("answers", "id")),
    "human_correlation": (("items", "id"),),
    "imported": (("items", "question"),),
    "matching": (("documents", "id"),),
    "matching_calibration": (("documents", "id"),),
    "needle": (("items", "needle"), ("needles", "id")),
    "ner_conflicts": (("texts", "id"),),
    "ner_quality": (("texts", "id"),),
    "ner_variants": (("texts", "id"),),
    "rag_generation": (("answers", "id"),),
    "rag_retrieval": (("questions", "id"),),
    "rag_tuning": (("questions", "id"),),
}


@pytest.fixture(scope="module", autouse=True)
def _few_deals() -> Iterator[None]:
    """Values of slices are dealt 1 000 times and not 10 000: how small a p-value can be is not what is tried here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slicing, "value_tests", partial(slicing.value_tests, n_permutations=1000))
        yield


# Figures beside what chance gives: of whole clusters dealt anew, which is another chance than that of single items.
AGAINST_CHANCE: Mapping[str, tuple[str, ...]] = {
    "drift": ("gini", "stop_words", "frequencies", "counts", "predictions")
}


def of_units(name: str) -> tuple[tuple[str, str], ...]:
    key = studies.study(name).UNIT or whole(name).id
    found = OF_UNITS.get(name, tuple((table, key) for table in sample(name) if key in sample(name)[table]))
    return tuple((table, key) for table, key in found if table in sample(name))


def with_columns(name: str, **made: Callable[[int], Any]) -> dict[str, pd.DataFrame]:
    """The sample's tables with further columns, each a function of the number of the unit."""
    tables = dict(sample(name))
    numbers: dict[str, int] = {}
    for table, key in of_units(name):
        units = [numbers.setdefault(str(u), len(numbers)) for u in tables[table][key]]
        new = {
            c: pd.Series([make(n) for n in units], index=tables[table].index, dtype=object) for c, make in made.items()
        }
        tables[table] = tables[table].assign(**new)
    return tables


def grouped(name: str, tables: Mapping[str, pd.DataFrame], cluster: Any = "", slices: Any = (), **more: Any) -> Result:
    data = studies.load(dict(tables), study=name, cluster=cluster, slices=slices)
    return studies.study(name).evaluate(data, **options(name, **more))


def passage(n: int) -> Any:
    return f"p{n // 3}" if n % 11 else None


def topic(n: int) -> Any:
    return (HOSTILE, "лес", "", None)[n % 4]


@cache
def both(name: str) -> Result:
    return grouped(name, with_columns(name, origin=passage, topic=topic), "origin", ["topic"])


def test_values_stay_and_intervals_name_the_clusters(name: str) -> None:
    found, before = both(name), whole(name)
    assert [e.place for e in found.summary.estimates] == [e.place for e in before.summary.estimates]
    kept = [
        i for i, e in enumerate(before.summary.estimates) if not e.metric.startswith(AGAINST_CHANCE.get(name, ("\0",)))
    ]
    values, expected = ([found_in.summary.estimates[i].value for i in kept] for found_in in (found, before))
    assert values == [pytest.approx(v, abs=1e-9) if v is not None else None for v in expected]
    assert (found.items[CLUSTER] == "").any()
    assert {HOSTILE, ""} <= set(found.items[SLICE + "topic"]) <= {HOSTILE, "лес", ""}
    bootstrapped = [e for e in found.summary.estimates if "resamples" in e.method and "systems" not in e.method]
    assert bootstrapped
    assert [e.place for e in bootstrapped if "clusters" not in e.method] == []
    n = found.items[CLUSTER].nunique()
    assert found.to_json()["clusters"] == n
    assert any(note.startswith("Clusters: ") and f"{n} cluster" in note for note in found.notes)
    assert found.parameters["cluster"] == ["origin"]
    assert found.parameters["slices"] == ["topic"]


def test_the_summary_with_slices_follows_from_the_items_read_back(name: str, tmp_path: Path) -> None:
    result = both(name)
    result.items.to_parquet(tmp_path / "items.parquet")
    summarise = studies.study(name).summarise
    again = summarise(pd.read_parquet(tmp_path / "items.parquet"), **taken(summarise, result.parameters))
    assert again == result.summary


def test_slices_are_given_for_every_value_an_empty_cell_too(name: str) -> None:
    result = both(name)
    rows = result.tables["slices"]
    assert set(rows["name"]) == set(result.items[SLICE + "topic"])
    lead = rows[rows["metric"] == rows["metric"].iloc[0]]
    known = lead.dropna(subset=["figure", "rest"])
    assert ((known["figure"] - known["rest"]) - known["difference"]).abs().max() < 1e-12 or known.empty
    assert not (rows["few"] & rows["p"].notna()).any()
    assert len(result.to_json()["slices"]) == len(rows)
    assert HOSTILE not in page(name, result)


def test_the_order_of_rows_changes_nothing_in_clusters_and_slices(name: str) -> None:
    tables = with_columns(name, origin=passage, topic=topic)
    shuffled = {table: frame.sample(frac=1, random_state=3) for table, frame in tables.items()}
    again, first = grouped(name, shuffled, "origin", ["topic"]).to_json(), both(name).to_json()
    assert {**again, "data": None} == {**first, "data": None}


def test_a_column_that_is_not_there_is_refused_with_what_was_meant(name: str) -> None:
    tables = with_columns(name, origin=passage, topic=topic)
    with pytest.raises(BadInput) as caught:
        grouped(name, tables, "orign", ["topics"])
    assert "cluster: no table has a column 'orign'; did you mean origin?" in str(caught.value)
    assert "slices: no table has a column 'topics'; did you mean topic?" in str(caught.value)


def test_a_value_that_differs_within_an_item_is_refused(name: str) -> None:
    table, key = of_units(name)[0]
    frame = sample(name)[table]
    row = frame.iloc[[0]]
    keys = [c for c in studies.study(name).SCHEMA[table].unique if c in frame]
    if keys == [key] or not keys:  # one row a unit: a second one would be refused by the schema
        rows = frame[frame[key] == row[key].iloc[0]]
        if len(rows) < 2:
            return
    rows = frame.index[frame[key] == row[key].iloc[0]]
    values = pd.Series("x", index=frame.index, dtype=object)
    values[rows] = [f"v{i}" for i in range(len(rows))]
    if len(rows) < 2:
        return
    tables = {**sample(name), table: frame.assign(origin=values)}
    with pytest.raises(BadInput, match="origin: .*several values"):
        grouped(name, tables, "origin")
