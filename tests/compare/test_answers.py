"""Tokens and seconds per answer: out of calls, out of columns; on the page, in JSON, in words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from toy_runs import MEASURES, items, run

from evalbench.compare.matrix import Pairs, compare_pairs, with_answers
from evalbench.compare.sides import Side, with_names
from evalbench.report.compare_experiment import answers_lines
from evalbench.report.compare_files import to_json
from evalbench.report.compare_page import page

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "comparison.schema.json").read_text(encoding="utf-8"))
N = 40


def side(folder: Path, limit: int, times: float | None, **columns: object) -> Side:
    one = run(items({"elm": 0.0}, seed=limit), folder.name, limit=limit)
    folder.mkdir()
    if times is not None:
        g = np.random.default_rng(limit)
        ids = np.repeat([f"t{i:03}" for i in range(N)], 2)
        calls = pd.DataFrame(
            {
                "item_id": ids,
                "purpose": "output",
                "unscored": "",
                "tokens_out": pd.array((times * g.integers(80, 120, 2 * N)).round(), dtype="Int64"),
                "seconds": times * g.uniform(0.5, 1.5, 2 * N),
            }
        )
        calls.loc[0, ["tokens_out", "unscored"]] = [10**6, "cut"]
        judged = calls.assign(purpose="correctness", item_id=ids + "x", tokens_out=pd.array([5] * 2 * N, dtype="Int64"))
        pd.concat([calls, judged]).to_parquet(folder / "calls.parquet")
    return replace(one, folder=folder, items=one.items.assign(**columns))


def compared(left: Side, right: Side) -> Pairs:
    pairs = with_answers(compare_pairs(with_names([left, right]), MEASURES, n_resamples=200, n_summaries=0), seed=0)
    jsonschema.validate(json.loads(json.dumps(to_json(pairs), allow_nan=False)), SCHEMA)
    return pairs


def test_a_model_that_writes_three_times_as_much(tmp_path: Path) -> None:
    pairs = compared(side(tmp_path / "a", 1, 1.0), side(tmp_path / "b", 2, 3.0))
    found = {one.comparison.metric: one.comparison for one in pairs.answers[0]}
    assert list(found) == [
        f"{what}_per_answer/{of}" for of in ("correctness", "output") for what in ("tokens", "seconds")
    ]
    tokens = found["tokens_per_answer/output"]
    assert tokens.outcome == "higher"
    assert (tokens.value_b, tokens.value_a) == pytest.approx((99.5, 298.5), rel=0.05)
    assert tokens.ci_low < 200 < tokens.ci_high
    assert tokens.n_a == N
    assert found["tokens_per_answer/correctness"].outcome == "same"
    said = answers_lines(pairs)
    assert any(line.startswith("tokens per answer (output): limit=2 is higher than limit=1") for line in said)
    text = page(pairs, {})
    assert 'id="answers"' in text
    assert "seconds per answer (output)" in text


def test_columns_of_the_items_where_there_are_no_calls(tmp_path: Path) -> None:
    tokens = np.arange(N, dtype=float)
    pairs = compared(side(tmp_path / "a", 1, None, tokens=tokens), side(tmp_path / "b", 2, None, tokens=2 * tokens))
    (found,) = pairs.answers[0]
    assert found.kind == "answer"
    assert found.comparison.difference == pytest.approx(tokens.mean())


def test_nothing_where_a_side_carries_none(tmp_path: Path) -> None:
    pairs = compared(side(tmp_path / "a", 1, 1.0), side(tmp_path / "b", 2, None))
    assert pairs.answers == ((),)
    assert 'id="answers"' not in page(pairs, {})
    (tmp_path / "a" / "calls.parquet").write_bytes(b"damaged")
    assert with_answers(pairs, seed=0).answers == ((),)


def test_a_run_with_itself_says_nothing_of_tokens(tmp_path: Path) -> None:
    one = side(tmp_path / "a", 1, 1.0)
    assert compared(one, one).answers == ((),)
