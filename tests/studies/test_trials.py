"""What holds for every study whose answers may be repeated; the others say why theirs cannot be."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from some_studies import some_studies
from studied import evaluated, page, sample, whole

from evalbench import studies
from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.kit.options import taken
from evalbench.kit.trials import COUNTS, ROWS
from evalbench.readers.schema import TRIAL

NAMES = ("2", "10", "1")


def repeatable(name: str) -> list[str]:
    shapes = studies.study(name).SCHEMA
    return [table for table, shape in shapes.items() if shape.trials and table in sample(name)]


# A sample that has trials already is repeated by tests of its own.
REPEATED = [
    name for name in studies.names() if repeatable(name) and not any(TRIAL in frame for frame in sample(name).values())
]


def repeated(name: str) -> dict[str, pd.DataFrame]:
    """The sample with every answer three times."""
    tables = dict(sample(name))
    for table in repeatable(name):
        attrs = tables[table].attrs
        tables[table] = pd.concat([tables[table].assign(**{TRIAL: t}) for t in NAMES], ignore_index=True)
        tables[table].attrs = attrs
    return tables


@cache
def thrice(name: str) -> Result:
    return evaluated(name, repeated(name))


def bare(items: pd.DataFrame) -> pd.DataFrame:
    return items.drop(columns=list(COUNTS), errors="ignore").reset_index(drop=True)


@pytest.mark.parametrize("name", studies.names())
def test_trials_are_understood_or_it_is_said_why_not(name: str) -> None:
    shapes = studies.study(name).SCHEMA
    own = any(shape.trials or (shape.column(TRIAL) is not None) for shape in shapes.values())
    assert own or any(shape.no_trials for shape in shapes.values())


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(REPEATED))
def test_equal_trials_change_no_figure(name: str) -> None:
    once, result = whole(name), thrice(name)
    assert result.summary == once.summary
    assert result.judged == once.judged
    pd.testing.assert_frame_equal(bare(result.items), bare(once.items), check_dtype=False)
    rows = result.tables[ROWS]
    assert len(rows) == 3 * len(once.items)
    assert rows[TRIAL].tolist()[:3] == ["1", "2", "10"]
    assert (result.items[COUNTS[0]] == 3).all()


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(REPEATED))
def test_equal_trials_have_no_noise_and_do_not_flicker(name: str) -> None:
    found = thrice(name).trials
    assert found["n"] == 3 * found["items"]
    assert found["noise"]
    for split in found["noise"]:
        parts = {part["component"]: part["variance"] for part in split["components"]}
        assert parts["answers"] == pytest.approx(0, abs=1e-12), split["metric"]
    assert all(one["n"] == 0 for one in found["flickering"])
    json.dumps(found, allow_nan=False)


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(REPEATED))
def test_the_summary_follows_from_the_averaged_items_read_back(name: str, tmp_path) -> None:
    result = thrice(name)
    result.items.to_parquet(tmp_path / "items.parquet")
    recorded = json.loads(json.dumps(result.to_json()))["parameters"]
    summarise = studies.study(name).summarise
    assert summarise(pd.read_parquet(tmp_path / "items.parquet"), **taken(summarise, recorded)) == result.summary


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(REPEATED))
def test_everything_that_the_page_shows_is_drawn(name: str) -> None:
    assert "trial 10" in page(name, thrice(name)) or name in ("explainability", "ner_variants")


@pytest.mark.generated
@pytest.mark.parametrize("name", some_studies(REPEATED))
def test_the_order_of_rows_changes_nothing(name: str) -> None:
    shuffled = {
        table: frame.sample(frac=1, random_state=4) if table in repeatable(name) else frame
        for table, frame in repeated(name).items()
    }
    again, first = evaluated(name, shuffled), thrice(name)
    assert {**again.to_json(), "data": None} == {**first.to_json(), "data": None}
    pd.testing.assert_frame_equal(again.tables[ROWS], first.tables[ROWS])


@pytest.mark.parametrize("name", [name for name in REPEATED if studies.study(name).SCHEMA[repeatable(name)[0]].unique])
def test_a_name_twice_is_refused_with_its_rows(name: str) -> None:
    table = repeatable(name)[0]
    tables = repeated(name)
    tables[table] = tables[table].assign(**{TRIAL: np.where(tables[table][TRIAL] == "10", "1", tables[table][TRIAL])})
    with pytest.raises(BadInput, match=r"duplicated together.*rows \d"):
        studies.load(tables, study=name)
