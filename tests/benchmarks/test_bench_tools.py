"""A million samples of lm-eval brought into a data set: time against reading and writing the same lines, and memory."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from benchmark_table import against, at_most
from peak_memory import peak_bytes
from timing import Race, alone, race

from evalbench.readers.tools.composed import parts_of
from evalbench.readers.tools.data_folder import write
from evalbench.readers.tools.known import runs_of

pytestmark = [pytest.mark.benchmark, pytest.mark.large]

ROWS, RACED, MOST_BYTES = 1_000_000, 50_000, 250e6


def samples(folder: Path, rows: int) -> Path:
    """A file of samples as lm-eval writes them, half a kilobyte a line."""
    path = folder / "samples_sums_2026-01-01T00-00-00.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for i in range(rows):
            text = f"How much is {i} and {i + 1}? Сколько это?"
            row = {
                "doc_id": i, "doc": {"question": text, "answer": str(2 * i + 1), "level": i % 5}, "target": str(2 * i + 1),
                "arguments": {"gen_args_0": {"arg_0": f"Q: {text}\nA:", "arg_1": {"until": ["\n"], "do_sample": False}}},
                "resps": [[f" {2 * i}"]], "filtered_resps": [f" {2 * i}"], "filter": "none", "metrics": ["exact_match"],
                "doc_hash": f"{i:064x}", "prompt_hash": f"{i:064x}", "target_hash": f"{i:064x}", "exact_match": float(i % 2),
            }  # fmt: skip
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def imported(path: Path) -> None:
    out = path.parent / "out"
    shutil.rmtree(out, ignore_errors=True)
    assert write(parts_of(runs_of(path)), out)["metrics"]["exact_match"]["n"] > 0


def copied(path: Path) -> None:
    """Each line parsed and written again: what a tool of a few lines does."""
    with path.open(encoding="utf-8") as file, (path.parent / "copy.jsonl").open("w", encoding="utf-8") as out:
        for line in file:
            out.write(json.dumps(json.loads(line), ensure_ascii=False) + "\n")


def raced() -> Race:
    with tempfile.TemporaryDirectory() as folder:
        path = samples(Path(folder), RACED)
        return race(lambda _: imported(path), lambda _: copied(path), goal=0.2)


def memory_of_a_million() -> float:
    import numpy  # noqa: F401 - it is there before the first measurement

    with tempfile.TemporaryDirectory() as folder:
        path = samples(Path(folder), ROWS)
        before = peak_bytes()
        imported(path)
        return peak_bytes() - before


def test_an_import_takes_at_most_five_times_a_copy(record):
    record(against(f"data import, {RACED} samples of lm-eval", Race(*alone(raced)), "json, line by line", 0.2))


def test_a_million_samples_take_little_memory(record):
    record(at_most("data import, 1 000 000 samples of lm-eval: memory", alone(memory_of_a_million), MOST_BYTES, "B"))
