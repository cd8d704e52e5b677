"""Studies that embed by an endpoint say in run.json what it took."""

from __future__ import annotations

import pandas as pd
import pytest
from faultserver import fault_server

from evalbench.runs.folder import read_json
from evalbench.runs.record import record


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))


def written(result, folder):
    record(result, out=folder)
    return read_json(folder / "run.json")


def test_text_metrics(tmp_path):
    from evalbench.studies import text_metrics

    frame = pd.DataFrame({"id": ["1", "2"], "output": ["one", "two"], "reference": ["uno", "two"]})
    with fault_server() as server:
        name = f"{server.url}#e"
        runs = [
            written(
                text_metrics.evaluate(
                    {"items": frame}, metrics=["sentence_tranformers_similarity"], embed=name, n_resamples=100
                ),
                tmp_path / place,
            )
            for place in ("first", "second")
        ]
    assert [run["models"] for run in runs] == [{"embedding": name}] * 2
    assert [(run["calls"], run["cache_hits"], run["requests"]) for run in runs] == [(3, 0, 1), (3, 3, 0)]
    assert [run["tokens_in"] for run in runs] == [1, 0]
    assert runs[0]["endpoints"] == [server.url.split("/")[2]]


def test_matching(tmp_path):
    from evalbench import load
    from evalbench.studies import matching

    with fault_server() as server:
        name = f"{server.url}#e"
        data = load("house_style_curated@1.1.0", study="matching")
        run = written(matching.evaluate(data, embed=name, n_resamples=100), tmp_path / "run")
    assert run["models"] == {"embed": name}
    assert run["calls"] > run["cache_hits"] >= 0
    assert run["requests"] == run["tokens_in"] > 0
    assert run["cost"] is None
    here = written(matching.evaluate(data, embed="jaccard", n_resamples=100), tmp_path / "here")
    assert "calls" not in here
