"""What reading runs of agents as tables takes beside the tables themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from timing import alone


def _taken(path: str) -> tuple[int, int]:
    """Bytes that the tables of a file keep, and the most that were held while they were read."""
    import pyarrow as pa

    from evalbench.readers.trajectories.frames import read_trajectories

    read = read_trajectories(Path(path), in_order=True)
    assert len(read.steps) == 60_000
    assert read.steps["id"].is_monotonic_increasing
    return pa.default_memory_pool().bytes_allocated(), pa.default_memory_pool().max_memory()


@pytest.mark.slow
def test_tables_in_order_take_little_more_than_they_hold(tmp_path):
    path = tmp_path / "runs.jsonl"
    with path.open("w") as file:
        for i in range(2_000):
            messages = [{"role": "user", "content": f"Where is loan {i}-{turn}? {'x' * 40}"} for turn in range(30)]
            file.write(
                json.dumps({"id": f"q{i // 4}", "trial": i % 4, "model": "fern-1b", "messages": messages}) + "\n"
            )
    kept, most = alone(_taken, str(path))
    assert most < 1.5 * kept
