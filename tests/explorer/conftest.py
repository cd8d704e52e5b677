"""Runs, their server and a page of a browser: a run with hostile cells of every kind, and the samples of studies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

if TYPE_CHECKING:
    from served_explorer import Served

    from evalbench.explorer.rows import Rows

HOSTILE = "<img src=x onerror=alert(1)>\u202e'; DROP TABLE items; --"
QUOTED = 'a "b" c'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Below ``reports/needle``: ``run``, with items of two models, a table of texts and the calls."""
    at = tmp_path / "reports" / "needle" / "run"
    at.mkdir(parents=True)
    n = 60
    items = pd.DataFrame({
        "id": [f"q{i // 2}" for i in range(n)],
        "model": ["oak", "birch"] * (n // 2),
        "score": [np.nan if i % 7 == 0 else i / n for i in range(n)],
        "whole": [i % 4 for i in range(n)],
        "right": [bool(i % 3) for i in range(n)],
        "unscored": ["" if i % 5 else "no-output" for i in range(n)],
        QUOTED: [None if i % 6 == 0 else f"v{i % 3}" for i in range(n)],
        "tags": [[f"t{i % 2}"] for i in range(n)],
    })  # fmt: skip
    texts = items[["id", "model"]].assign(
        question=[f"Вопрос {i // 2} о Возврате" for i in range(n)],
        answer=[HOSTILE if i == 3 else f"答案 {i}" for i in range(n)],
    )
    calls = pd.DataFrame(
        {"item_id": ["q1|oak", "q10"], "prompt": ["Is it good?", "Is it ten?"], "reply": ["yes", "no"]}
    )
    items.to_parquet(at / "items.parquet")
    texts.to_parquet(at / "texts.parquet")
    calls.to_parquet(at / "calls.parquet")
    row = {"metric": "score", "title": "score", "value": 0.5, "n": n, "unit": "0–1", "light": "red"}
    results: dict[str, Any] = {
        "schema_version": 3, "study": "needle", "question": "Is it found?", "judged": "oak", "parameters": {}, "id": "id", "by": ["model"],
        "data": {"name": "d", "version": "1", "sha256": "0"}, "light": "red", "sentence": "It is not.", "light_stability": None,
        "light_rule": "", "items": {"n": n, "unscored": 12}, "notes": [], "method": [],
        "summary": [{"model": "oak", **row}, {"model": "birch", **row, "light": "green"}],
        "tables": {"texts": "texts.parquet", "calls": "calls.parquet"},
    }  # fmt: skip
    (at / "results.json").write_text(json.dumps(results), encoding="utf-8")
    (at / "run.json").write_text(json.dumps({"status": "ok", "study": "needle", "run_id": "run"}), encoding="utf-8")
    return at


@pytest.fixture
def rows(folder: Path) -> Rows:
    from evalbench.explorer.rows import Rows

    return Rows(folder)


@pytest.fixture
def changed(folder: Path) -> Callable[..., Path]:
    """The run with other fields in ``results.json``."""

    def change(**fields: Any) -> Path:
        file = folder / "results.json"
        file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **fields}), encoding="utf-8")
        return folder

    return change


@pytest.fixture
def many(folder: Path) -> Callable[..., None]:
    """Items of two models, so many of each, in place of those of the run."""

    def write(n: int, **columns: Any) -> None:
        models = ["oak", "birch"]
        items = pd.DataFrame({
            "id": [f"q{i}" for i in range(n) for _ in models],
            "model": models * n,
            "score": [(i % 7) / 7 + j / 100 for i in range(n) for j in range(2)],
            "unscored": "",
        })  # fmt: skip
        items.assign(**columns).to_parquet(folder / "items.parquet")

    return write


@pytest.fixture(scope="module")
def reports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the sample of each of the module's ``STUDIES``."""
    from studied import whole

    from evalbench.runs.record import record

    made = tmp_path_factory.mktemp("reports")
    for name in request.module.STUDIES:
        record(whole(name), made / name / "run")
    return made


@pytest.fixture(scope="module")
def served(reports: Path) -> Iterator[Served]:
    """The server of these runs."""
    from served_explorer import Served

    server = Served(reports)
    yield server
    server.end()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page whose errors fail the test, and which may ask its own server only."""
    from served_explorer import watched

    opened = browser.new_page(viewport={"width": 1240, "height": 900})
    opened.set_default_timeout(120_000)
    with watched(opened):
        yield opened
