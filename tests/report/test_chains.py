"""The steps of a judge that looks things up, on a run's page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from evalbench.report.chains import MOST_CHAINS, chains_html

EVIL = "</pre></details><script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"


def written(folder: Path, n: int, text: str = "fine", *, steps: int = 2, failed: int = 0) -> Path:
    rows = [
        {
            "item_id": f"q{item:03}", "sample": 0, "purpose": "support", "reply": f"{text} {step}", "model": "agent",
            "detail": f"agent-limit: {text}" if item < failed and step == steps else "",
            "step": step, "result": text if step < steps else "",
        }
        for item in range(n)
        for step in range(1, steps + 1)
    ]  # fmt: skip
    other = {"item_id": "z", "sample": 0, "purpose": "answer", "reply": "plain", "model": "other", "detail": ""}
    pd.DataFrame([*rows, other]).astype({"step": "Int64"}).to_parquet(folder / "calls.parquet")
    return folder


def test_steps_are_shown_in_order_and_other_calls_are_not(tmp_path: Path) -> None:
    page = chains_html(written(tmp_path, 1, steps=12))
    assert re.findall(r"<code>fine (\d+)</code>", page) == [str(n) for n in range(1, 13)]
    assert "plain" not in page
    assert "q000, support: 12 steps" in page


def test_all_texts_are_escaped(tmp_path: Path) -> None:
    page = chains_html(written(tmp_path, 3, EVIL, failed=1))
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;") == 3 * 3 + 1
    assert page.count("<details>") == page.count("</details>") == 4


def test_a_page_has_some_chains_and_failures_first(tmp_path: Path) -> None:
    page = chains_html(written(tmp_path, 200, "x" * 100_000, failed=100))
    assert page.count("<ol>") == MOST_CHAINS
    assert page.count("(no verdict: agent-limit)") == 5
    assert f"{MOST_CHAINS} of 200 items" in page
    assert len(page) < 120_000


def test_nothing_is_said_without_such_a_judge(tmp_path: Path) -> None:
    assert chains_html(tmp_path) == ""
    pd.DataFrame({"item_id": ["1"], "reply": ["x"]}).to_parquet(tmp_path / "calls.parquet")
    assert chains_html(tmp_path) == ""


def test_a_damaged_table_of_calls_is_said(tmp_path: Path) -> None:
    (tmp_path / "calls.parquet").write_bytes(b"PAR1<script>")
    page = chains_html(tmp_path)
    assert page.startswith("<p>calls.parquet cannot be read")
    assert "<script>" not in page


def test_calls_are_shown_in_words_and_fences_are_left_out(tmp_path: Path) -> None:
    said = [
        {
            "calls": [
                {"tool": "search", "arguments": {"query": EVIL}},
                {"tool": "calculate", "arguments": {"expression": "4 + 5"}},
            ]
        },
        {"tool": "compare", "first": "9", "second": "10", "url": None, "more": [{"tool": "open", "passage": 2}]},
        {
            "tool": "verdict",
            "arguments": {"evidence": [{"passage": 2, "quote": EVIL}], "reason": "so", "label": "SUPPORTED"},
        },
    ]
    rows = [
        {
            "item_id": "q", "sample": 0, "purpose": "support", "reply": json.dumps(one), "model": "agent", "detail": "", "step": n,
            "result": f"Passage 2:\n[passage 0123456789ab]\n{EVIL}\n[/passage 0123456789ab]",
        }
        for n, one in enumerate(said, start=1)
    ]  # fmt: skip
    pd.DataFrame(rows).astype({"step": "Int64"}).to_parquet(tmp_path / "calls.parquet")
    page = chains_html(tmp_path)
    assert "<strong>search</strong> &lt;/pre&gt;" in page
    assert "<strong>calculate</strong> 4 + 5" in page
    assert "<strong>compare</strong> first: 9, second: 10<br><strong>open</strong> 2" in page
    assert "<strong>verdict</strong> SUPPORTED · so · [2] “" in page
    assert "[passage 0" not in page
    assert "<script" not in page
    assert "<img" not in page


@pytest.mark.parametrize(
    "odd",
    [
        "null",
        "[]",
        "[1]",
        '{"calls": 3}',
        '{"tool": 3}',
        '{"tool": "verdict", "evidence": 1}',
        "[" * 9000,
        '{"calls": [{"tool": "open", "arguments": []}, null]}',
    ],
)
def test_odd_replies_are_shown_and_break_nothing(tmp_path: Path, odd: str) -> None:
    row = {
        "item_id": "q",
        "sample": 0,
        "purpose": "p",
        "reply": odd,
        "model": "m",
        "detail": "",
        "step": 1,
        "result": "",
    }
    pd.DataFrame([row]).astype({"step": "Int64"}).to_parquet(tmp_path / "calls.parquet")
    assert "q, p: 1 steps" in chains_html(tmp_path)
