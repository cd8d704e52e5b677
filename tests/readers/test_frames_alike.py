"""Tables made in Python are read as the same table in a file, whatever holds them."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow as pa
import pytest

from evalbench import studies
from evalbench.errors import BadInput

ROWS = [
    {"id": "1", "question": "Why?", "bot_response": "so", "gold": ["so", "thus"], "seen": 3},
    {"id": "2", "question": "When?", "bot_response": None, "gold": ["then"], "seen": 4},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


class HasToPandas:
    """What frames of Polars and data sets of Hugging Face offer."""

    def to_pandas(self) -> pd.DataFrame:
        return pa.Table.from_pylist(ROWS).to_pandas()


FORMS = {
    "a frame of pandas": lambda: pd.DataFrame(ROWS),
    "a table of Arrow": lambda: pa.Table.from_pylist(ROWS),
    "what has to_pandas": HasToPandas,
    "a list of dicts": lambda: ROWS,
    "a dict of lists": lambda: COLUMNS,
    "a table by name": lambda: {"items": ROWS},
}


@pytest.mark.parametrize("form", FORMS)
def test_the_table_is_that_of_a_file(form, tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    of_file = studies.load(path, study="text_metrics")
    found = studies.load(FORMS[form](), study="text_metrics")
    assert found.read_as == of_file.read_as
    assert found["items"].to_dict("records") == of_file["items"].to_dict("records")


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(BadInput, match="different numbers of cells: id 2, output 1"):
        studies.load({"id": ["1", "2"], "output": ["a"]}, study="text_metrics")


def test_what_is_no_table_is_refused():
    with pytest.raises(BadInput, match="a list of objects or a dict of columns, found list"):
        studies.load(["a", "b"], study="text_metrics")
