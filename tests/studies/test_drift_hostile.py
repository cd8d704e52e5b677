"""Cells that nobody would write on purpose, in every column of both samples: a result whose page shows them escaped, or one message."""

from __future__ import annotations

import random
import re
from typing import Any

import pandas as pd
import pytest
from generated import one_in_twenty
from studied import changed, evaluated, page, sample

from evalbench.errors import BadInput

CELLS: tuple[Any, ...] = (
    None, "", " \u3000", float("nan"), pd.NA, pd.NaT, float("inf"), -1, 0.5, 7, 1e308, True, "nan", "None", "1e5000", "=1+1", "$5 and $6",
    "<script>alert(1)</script><img onerror=x>", "\u202eabc\u2066", "\0", "a\ud800b", "\u200d\u200b", "٣", "…!?", "слово " * 20_000,
    ["a", 1], {"a": 1}, b"ab", pd.Timestamp("2026-01-01"), "2026-13-45", "0001-01-01", "9999-12-31T23:59:59Z", "2026-03-01T10:00+03:00",
)  # fmt: skip
COLUMNS = ("id", "time", "lang", "topic", "question", "answer", "label")
ROWS = {"all": lambda i: True, "a third": lambda i: i % 3 == 0, "one": lambda i: i == 5}


@pytest.mark.generated
@pytest.mark.soak
@pytest.mark.parametrize("number", one_in_twenty(range(300), in_check=30))
def test_a_result_or_one_message(number: int) -> None:
    draw = random.Random(number)
    cell, column, which = draw.choice(CELLS), draw.choice(COLUMNS), draw.choice(list(ROWS))
    sides = draw.choice((["oos"], ["oot"], ["oos", "oot"]))
    at = [(side, column) for side in sides]
    tables = changed("drift", at, lambda i, old: cell if ROWS[which](i) else old)
    refused = ""
    try:
        result = evaluated("drift", tables, embed="", n_resamples=20)
    except BadInput as error:
        refused = str(error)
    if refused:
        assert re.search(rf"column {column}|no rows|{column}: ", refused)
        return
    html = page("drift", result)
    assert "<script>alert" not in html
    assert "<img onerror" not in html
    if not (isinstance(cell, str) and cell in ("nan", "None")):
        assert not re.search(r">\s*(nan|None|<NA>|NaT)\s*<", html)
    lost = sum(map(len, sample("drift").values())) - len(result.items)
    if column == "question" and lost:
        assert re.search("without a request", " ".join(result.notes)), result.notes
    else:
        assert not lost
    for e in result.summary.estimates:
        total = len(result.items) if "side" not in e.group else (result.items["side"] == e.group["side"]).sum()
        assert e.n + e.n_unscored + e.n_undefined == total, e


def test_requests_that_are_null_are_left_out_and_a_note_says_so() -> None:
    """What only few of the cases above come to."""
    tables = changed("drift", [("oos", "question")], lambda i, old: None if i % 3 == 0 else old)
    result = evaluated("drift", tables, embed="", n_resamples=20)
    assert 0 < len(result.items) < sum(map(len, sample("drift").values()))
    assert re.search("without a request", " ".join(result.notes))
