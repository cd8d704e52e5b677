"""Runs whose items are compared, and what pandas says of their pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalbench.explorer.opened import Run, open_run


def run_of(
    folder: Path,
    items: pd.DataFrame,
    texts: pd.DataFrame | None = None,
    *,
    by: tuple[str, ...] = ("model",),
    **results: Any,
) -> Run:
    """A run of needle with these items, as a folder has them; each is a needle of its own where nothing else is said."""
    items = items if "needle" in items else items.assign(needle=items["id"])
    folder.mkdir(parents=True)
    items.to_parquet(folder / "items.parquet", index=False)
    if texts is not None:
        texts.to_parquet(folder / "texts.parquet", index=False)
    own: dict[str, Any] = {
        "schema_version": 3, "study": "needle", "question": "Is it found?", "judged": "oak", "parameters": {}, "id": "id", "by": list(by),
        "data": {"name": "d", "version": "1", "sha256": "0"}, "light": "red", "sentence": "It is not.", "light_stability": None,
        "light_rule": "", "items": {"n": len(items), "unscored": 0}, "notes": [], "method": [], "summary": [],
        "tables": {} if texts is None else {"texts": "texts.parquet"}, **results,
    }  # fmt: skip
    (folder / "results.json").write_text(json.dumps(own), encoding="utf-8")
    (folder / "run.json").write_text(
        json.dumps({"status": "ok", "study": "needle", "run_id": folder.name}), encoding="utf-8"
    )
    return open_run(folder)


def drawn(seed: int, n: int = 80) -> pd.DataFrame:
    """Items of two models: ids that only one has, some twice, and scores that are missing, NaN or infinite."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame({
        "id": [f"q{i}" for i in draw.integers(0, n // 2, n)],
        "model": draw.choice(["oak", "birch", "elm"], n),
        "score": draw.choice([0.0, 0.25, 0.5, 1.0, np.nan, np.inf, -np.inf], n),
        "right": pd.array(draw.choice([True, False, None], n), dtype=object),  # type: ignore[call-overload]
        "whole": draw.integers(-3, 4, n),
        "unscored": draw.choice(["", "no-output"], n),
    })  # fmt: skip


def oracle(left: pd.DataFrame, right: pd.DataFrame, keys: list[str], score: str) -> pd.DataFrame:
    """Pairs by key with both values, their difference and the verdict, by pandas alone."""

    def means(items: pd.DataFrame) -> pd.Series:
        own = items.assign(**{key: items[key].astype(str) for key in keys})
        value = pd.to_numeric(own[score].astype(object).map(lambda v: np.nan if v is None else float(v)))
        return value.where(np.isfinite(value)).groupby([own[key] for key in keys]).mean()

    both = pd.concat([means(left).rename("left"), means(right).rename("right")], axis=1)
    has = [both.index.isin(means(items).index) for items in (left, right)]
    both["change"] = both["right"] - both["left"]
    none = [both[side].isna() for side in ("left", "right")]
    both["verdict"] = np.select(
        [~has[1], ~has[0], none[0] & none[1], none[0], none[1], both["change"].abs() <= 1e-12, both["change"] > 0],
        ["only left", "only right", "no value", "no value left", "no value right", "same", "higher"],
        "lower",
    )
    return both


def assert_pairs(found: pd.DataFrame, expected: pd.DataFrame, keys: list[str]) -> None:
    assert len(found) == len(expected)
    own = found.set_index(keys).loc[expected.index]
    for name in ("left", "right", "change"):
        np.testing.assert_allclose(own[name].astype(float), expected[name].astype(float), atol=1e-12)
    assert own["verdict"].tolist() == expected["verdict"].tolist()
