"""The parameters cell, read with ast, and values checked against it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evalbench import BadInput, studies
from evalbench.readers.parameters import parse_cell
from evalbench.runs.parameters import checked_values, file_parameters, for_other_data

CELL = """n_resamples: int = 2000
data: str = "x@1"  # where from
k: int = 5  # how many
share: float = 0.5
limit: float | None = None  # none: no limit
names: list = []
weights: dict[str, float] = {"a": 1.0}
deep: bool = False
loose = 3
"""


def test_names_types_defaults_and_help():
    known = parse_cell(CELL, "nb")
    assert list(known) == ["n_resamples", "data", "k", "share", "limit", "names", "weights", "deep", "loose"]
    assert known["limit"].optional
    assert known["limit"].types == ("float",)
    assert known["k"].help == "how many"
    assert known["loose"].types == ("int",)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("k: int = 5 +", "does not parse"),
        ("k: int = len('a')", "k is not a literal"),
        ("import os\nk: int = 1", "line 1: import os"),
        ("k: Path = 'a'", "k: type Path; one of str, int"),
        ("k, j = 1, 2", "more than 'name: type = literal' lines"),
    ],
)
def test_a_cell_with_more_than_literals_is_refused(cell, said):
    with pytest.raises(BadInput, match="nb") as error:
        parse_cell(cell, "nb")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ({"k": "7"}, 7), ({"share": "1"}, 1.0), ({"share": 1}, 1.0), ({"limit": "none"}, None), ({"limit": "0.25"}, 0.25),
        ({"names": '["a"]'}, ["a"]), ({"weights": '{"b": 2}'}, {"b": 2}), ({"deep": "true"}, True), ({"data": "007"}, "007"),
        ({"data": "None"}, "None"),
    ],
)  # fmt: skip
def test_texts_become_what_the_type_says(given, value):
    assert checked_values(parse_cell(CELL, "nb"), given, "nb") == {next(iter(given)): value}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kk": 1}, "unknown parameter kk; did you mean k?"),
        ({"k": "seven"}, "k: expected int, found 'seven'"),
        ({"k": 1.5}, "k: expected int, found 1.5 (float)"),
        ({"k": None}, "k: expected int, found None"),
        ({"k": True}, "k: expected int, found True (bool)"),
        ({"k": np.int64(3)}, "(int64)"),
        ({"share": float("nan")}, "cannot be held by JSON"),
        ({"share": "nan"}, "share: expected float, found 'nan'"),
        ({"weights": "{a: 1}"}, "weights: expected dict as JSON, such as {"),
        ({"weights": '{"a": 1, "a": 2}'}, 'an object has the key "a" more than once'),
        ({"deep": "yes please"}, "deep: expected bool"),
        ({"api_key": "sk-123456789"}, "keys and passwords come from the environment only"),
        ({"n_resamples": -5}, "n_resamples: expected 100 to 1e+06, found -5"),
        ({"hub_token": "x"}, "keys and passwords come from the environment only"),
    ],
)
def test_values_that_cannot_be_taken(given, said):
    with pytest.raises(BadInput) as error:
        checked_values(parse_cell(CELL, "nb"), given, "nb")
    assert said in str(error.value)
    assert "sk-123456789" not in str(error.value)


def test_an_option_without_a_value_of_its_own_may_have_none_whatever_the_sample_has():
    known = parse_cell("lights: dict = {'a': 1}\nk: int = 3", "nb")
    assert checked_values(known, {"lights": None}, "nb", {"lights": None, "k": 3}) == {"lights": None}
    with pytest.raises(BadInput, match="k: expected int, found None"):
        checked_values(known, {"k": None}, "nb", {"lights": None, "k": 3})


def test_all_faults_come_at_once():
    with pytest.raises(BadInput) as error:
        checked_values(parse_cell(CELL, "nb"), {"k": "a", "oh": 1, "password": "x"}, "nb")
    assert str(error.value).count("\n  - ") == 3


def test_a_word_that_only_sounds_like_a_secret_is_a_parameter():
    known = parse_cell("keyboard: str = 'us'\nmax_tokens: int = 3\ntokenize: str = 'zh'", "nb")
    assert checked_values(known, {"keyboard": "ru", "max_tokens": 5, "tokenize": "13a"}, "nb")["max_tokens"] == 5


def test_tables_and_named_files_are_file_parameters(tmp_path):
    values = {"truth": "", "predictions": "p.csv", "weights_file": str(tmp_path), "cot_run": "runs/a", "data": "d.csv"}
    assert sorted(file_parameters(values, ("truth", "predictions"))) == ["cot_run", "predictions", "weights_file"]
    judged = {"labels": "labels.csv", "correction": "correction.json", "labels_of": "right"}
    assert sorted(file_parameters(judged, ())) == ["correction", "labels"]


@pytest.mark.parametrize("study", studies.names())
def test_defaults_that_take_the_place_of_the_samples_are_values_of_a_notebook(study):
    own = {name: option.default for name, option in studies.study(study).options().items()}
    cell = 'data: str = "s@1.0.0"\n' + "\n".join(f"{name}: str = 'of the sample'" for name in own)
    sample = {"data": "s@1.0.0", **dict.fromkeys(own, "of the sample")}
    found = for_other_data(sample, parse_cell(cell, "nb"), {"data": "mine"}, own)
    assert list(found) == list(own)
    assert json.loads(json.dumps(found)) == found
