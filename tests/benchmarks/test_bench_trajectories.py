"""100 000 trajectories of 30 steps, read one at a time, and read and judged: time and memory."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import pytest
from benchmark_table import at_most
from peak_memory import peak_bytes
from timing import alone

from evalbench.readers.trajectories import stream_trajectories

pytestmark = pytest.mark.benchmark

TRAJECTORIES, FEW, MOST_SECONDS, MOST_BYTES = 100_000, 5_000, 60, 1e9


def talk(i: int) -> dict:
    """A trial of 30 steps: an instruction, a question, thirteen calls of a tool, an answer, thanks."""
    messages: list[dict] = [
        {"role": "system", "content": "You help with the library's loans. Look everything up before you answer."},
        {"role": "user", "content": f"May I keep book {i} for another week? Можно продлить книгу?"},
    ]
    for turn in range(13):
        call = {"id": f"call_{i}_{turn}", "type": "function"}
        call["function"] = {"name": "find_loan", "arguments": json.dumps({"book": i, "page": turn, "sort": "date"})}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        found = {"loan": f"L{i}-{turn}", "due": "2031-05-01", "extended": turn % 3, "place": "reading room"}
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(found)})
    messages += [{"role": "assistant", "content": f"Yes, until 8 May; the loan is L{i}-3."}, {"role": "user", "content": "Thanks."}]  # fmt: skip
    return {"id": f"q{i // 4}", "trial": i % 4, "model": "fern-1b", "success": i % 3 == 0, "messages": messages}


def written(path: Path, trajectories: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for i in range(trajectories):
            file.write(json.dumps(talk(i), ensure_ascii=False) + "\n")


def read(trajectories: int) -> tuple[float, float]:
    """Seconds and bytes of one pass over a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        written(path, trajectories)
        before, start = peak_bytes(), time.process_time()
        steps = marked = 0
        for made in stream_trajectories(path):
            steps += len(made.steps)
            marked += made.mark is not None
        seconds = time.process_time() - start
        assert (steps, marked) == (30 * trajectories, trajectories)
        return seconds, peak_bytes() - before


def judged(trajectories: int) -> tuple[float, float, float]:
    """Seconds of reading a file as the study's tables and of judging them, and bytes of both."""
    from evalbench import load
    from evalbench.studies import trajectories as study

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        written(path, 20)
        study.evaluate(load(path, study="trajectories"), n_resamples=10)  # imports are not of the work
        written(path, trajectories)
        before, start = peak_bytes(), time.process_time()
        data = load(path, study="trajectories")
        between = time.process_time()
        result = study.evaluate(data)
        end = time.process_time()
        assert (len(result.tables["steps"]), len(result.tables["tool_calls"])) == (30 * trajectories, 13 * trajectories)
        assert result.estimate("success", model="fern-1b").n == -(-trajectories // 4)
        return between - start, end - between, peak_bytes() - before


def recorded(record, trajectories: int) -> None:
    """The goal of the whole, and of fewer trajectories its share."""
    reading, judging, memory = alone(judged, trajectories)
    share = trajectories / TRAJECTORIES
    name = f"{trajectories:,} trajectories of 30 steps".replace(",", " ")
    record(at_most(f"{name}, read as tables and judged", reading + judging, share * MOST_SECONDS, "s"))
    record(at_most(f"{name}, judged alone", judging, share * MOST_SECONDS, "s"))
    if trajectories == TRAJECTORIES:
        record(at_most(f"{name}, read as tables and judged: memory", memory, MOST_BYTES, "B"))


@pytest.mark.large
def test_a_hundred_thousand_trajectories(record):
    seconds, memory = alone(read, TRAJECTORIES)
    record(at_most("100 000 trajectories of 30 steps, streamed", seconds, MOST_SECONDS, "s"))
    record(at_most("100 000 trajectories of 30 steps, streamed: memory", memory, MOST_BYTES, "B"))


@pytest.mark.large
def test_a_hundred_thousand_trajectories_judged(record):
    recorded(record, TRAJECTORIES)


def test_some_trajectories_judged(record):
    recorded(record, FEW)
