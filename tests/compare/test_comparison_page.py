"""The page of a comparison and its JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from toy_runs import N, differences, items, one, run

from evalbench.compare.matrix import Pairs
from evalbench.compare.sides import Side
from evalbench.report.compare_files import to_json, write
from evalbench.report.compare_page import page


@pytest.fixture(scope="module")
def two() -> Side:
    return run(items({"elm": 0.0, "oak": 0.15}))


# -- refused ----------------------------------------------------------------------------------------


def test_the_page_is_whole_escaped_and_asks_nobody(two: Side, tmp_path) -> None:
    hostile = two.items.replace({"checker": {"oak": "<script>alert(1)</script>", "elm": '"><img src=x onerror=a>'}})
    hostile["id"] = hostile["id"].replace({"t005": "</td><script>x</script>"})
    side = run(hostile)
    a, b = sorted(hostile["checker"].unique())
    found = differences(one(side, a), one(side, b))
    path = write(Pairs.against_the_first([found]), tmp_path / "out", {"r1": "../r1/report.html"})
    text = path.read_text()
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "<script>x" not in text
    assert text.count("<script>") == 1
    assert re.search("default-src (&#x27;|&#39;|')none", text)
    assert not re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", text)
    assert 'href="../r1/report.html"' in text
    assert "SYNTHETIC DATA" in text
    assert len(pd.read_parquet(path.parent / "changes.parquet")) == N


def test_the_json_holds_every_number_and_the_same_inputs_the_same_bytes(two: Side) -> None:
    left, right = one(two, "elm"), one(two, "oak")
    first, again = (differences(left, right) for _ in range(2))
    shuffled = replace(right, items=right.items.sample(frac=1, random_state=1))
    other = differences(left, shuffled)
    texts = [json.dumps(to_json(Pairs.against_the_first([d])), allow_nan=False) for d in (first, again, other)]
    assert texts[0] == texts[1] == texts[2]
    rows = json.loads(texts[0])["comparisons"][0]["rows"]
    assert {"metric", "difference", "ci_low", "ci_high", "p", "p_holm", "smallest", "words", "headline"} <= set(rows[0])
    assert page(Pairs.against_the_first([first]), {}) == page(Pairs.against_the_first([other]), {})
