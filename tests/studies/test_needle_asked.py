"""A model asked for every cell of the grid, also where the run is killed."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import pandas as pd
import pytest
from chat import chat_endpoint

from evalbench import load, needle
from evalbench.core.result import Result

FACTS = pd.DataFrame(
    {
        "id": ["k1", "k2"],
        "needle": ["The keeper has 4217 keys.", "The bird is a moorpiper."],
        "question": ["How many keys has the keeper?", "Which bird is it?"],
        "reference": ["4217", "moorpiper"],
    }
)
HAY = pd.DataFrame(
    {
        "id": ["h1", "h2"],
        "kind": ["vanilla", "related"],
        "text": [
            " ".join(f"The tide came in at {i} and went out." for i in range(40)),
            " ".join(f"Another keeper lost key {i} in the harbour." for i in range(40)),
        ],
    }
)


def result_of(items: pd.DataFrame, **options: Any) -> Result:
    return needle.evaluate(load({"items": items}, study="needle"), **{"n_resamples": 50, **options})


def asked(model: str, **options: Any) -> Result:
    data = load({"needles": FACTS, "haystacks": HAY}, study="needle")
    return needle.evaluate(
        data, model=model, **{"n_resamples": 50, "lengths": [60, 120], "depths": [0, 0.5, 1], **options}
    )


def read(prompt: str) -> str:
    """What the needle says, if it is in the first half of the text."""
    text = prompt.partition("[text")[2]
    found = re.search(r"4217|moorpiper", text.partition("[/text")[0])
    return found[0] if found and found.start() < len(text) / 2 else "I do not know."


def test_every_cell_is_asked_and_scored(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    with chat_endpoint(read) as server:
        found = asked(server.name)
        assert len(server.answered) == len(found.items) == 2 * 2 * 2 * 3
        assert len(found.tables["calls"]) == len(found.items)
        again = asked(server.name)
        assert len(server.answered) == len(found.items)
    assert again.to_json()["summary"] == found.to_json()["summary"]
    recall = found.items.groupby("depth")["recall"].mean()
    assert (recall[0.0], recall[1.0]) == (1.0, 0.0)
    assert (found.tables["falls"]["depth"] > 0).all()
    assert set(found.tables["replies"]["tokens"]) <= set(range(51, 121))


def test_kinds_and_samples_narrow_the_grid(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    with chat_endpoint(read) as server:
        found = asked(server.name, kinds=["related"], n_samples=1, lengths=[60])
    assert found.items["id"].tolist() == ["k1/related/60/0", "k1/related/60/0.5", "k1/related/60/1"]


KILLED = """
import sys
import pandas as pd
from evalbench import load, needle
data = load("needles@1.1.0", study="needle")
found = needle.evaluate(data, model=sys.argv[1], n_samples=6, lengths=[100, 200], n_resamples=50)
print(found.accounting["calls"], found.accounting["cache_hits"], (found.items["unscored"] == "").sum())
"""
CELLS = 6 * 2 * 2 * 5


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_without_repeating_a_cell(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    with chat_endpoint(read, delay=0.1) as server:
        first = subprocess.Popen([sys.executable, "-c", KILLED, server.name])
        while len(server.answered) < 40:
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
        first.wait(60)
        time.sleep(0.5)
        before = Counter(server.answered)
        out = subprocess.run(
            [sys.executable, "-c", KILLED, server.name], check=True, timeout=120, capture_output=True, text=True
        )
        again = Counter(server.answered) - before
    calls, hits, scored = map(int, out.stdout.split())
    assert calls == scored == CELLS
    repeated = sum((again & before).values())
    assert repeated == sum(before.values()) - (CELLS - again.total())  # those that were under way when it was killed
    assert repeated <= 16
    assert hits >= 40 - 16
    assert len(before + again) == CELLS
