"""Goldens hold on other processors, and nothing larger passes."""

import json

import pytest

from evalbench.runs.golden import difference


@pytest.mark.parametrize(("now", "said"), [(0.5, []), (0.5 + 2e-8, []), (0.50001, ["a f1: value was 0.5, is 0.50001"]),
                                           (None, ["a f1: value was 0.5, is None"])])  # fmt: skip
def test_what_float32_may_differ_by_is_no_difference(now, said, tmp_path):
    golden = {"study": "s", "light": "green", "sentence": "fine"}
    row = {"checker": "a", "metric": "f1", "n": 3}
    path = tmp_path / "s.json"
    path.write_text(json.dumps({**golden, "summary": [{**row, "value": 0.5}]}))
    assert difference({**golden, "summary": [{**row, "value": now}]}, path) == said


def test_light_and_counts_are_compared_exactly(tmp_path):
    path = tmp_path / "s.json"
    row = {"metric": "f1", "n": 3}
    path.write_text(json.dumps({"study": "s", "light": "green", "sentence": "fine", "summary": [row]}))
    now = {"study": "s", "light": "red", "sentence": "fine", "summary": [{**row, "n": 4}]}
    assert difference(now, path) == ["f1: n was 3, is 4", "light: was 'green', is 'red'"]
