"""Statistics of requests that outgrow memory, from Parquet files, against plain Python's Counter over the same batches."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from benchmark_table import against, at_most
from peak_memory import peak_bytes
from timing import Race, alone, seconds

pytestmark = pytest.mark.benchmark

COLUMNS = {"id": "id", "time": "time", "question": "question"}
SAMPLE = 20_000


def write(folder, n):
    """n requests of two sides in files of a million rows: 11 words by Zipf's law, in every fifth a number of its own."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" if i % 4 else f"слово{i}" for i in range(50_000)], dtype=object)
    for side in ("oos", "oot"):
        own = Path(folder) / side
        own.mkdir()
        for start in range(0, n // 2, 500_000):
            with pq.ParquetWriter(
                own / f"{start:09d}.parquet", pa.schema({"id": pa.string(), "question": pa.string()})
            ) as file:
                for at in range(start, min(start + 500_000, n // 2), 50_000):
                    size = min(50_000, n // 2 - at)
                    drawn = words[(rng.zipf(1.3, (size, 11)) + (side == "oot")) % len(words)].tolist()
                    ids = [f"{side}-{at + i:09d}" for i in range(size)]
                    texts = [
                        f"{' '.join(row)} No. {ids[i][4:]}?" if i % 5 == 0 else f"{' '.join(row)}?"
                        for i, row in enumerate(drawn)
                    ]
                    file.write_table(pa.table({"id": ids, "question": texts}))
    return sum(path.stat().st_size for path in Path(folder).rglob("*.parquet"))


def count(folder):
    """Processor seconds and peak memory of the sample and the statistics of all rows; and what was found."""
    import pandas as pd

    from evalbench.kit.streaming import streamed
    from evalbench.readers.large import STREAM, large_files, large_frame
    from evalbench.readers.schema import Table

    found = []

    def work():
        frames = {}
        for side in ("oos", "oot"):
            path = Path(folder) / side
            frames[side] = large_frame(path, large_files(path, Table((), sampled=SAMPLE), {}), SAMPLE, {})[0].assign(
                side=side
            )
            assert len(frames[side]) == SAMPLE
        tables = {side: frame.attrs[STREAM] for side, frame in frames.items()}
        found.append(
            streamed(tables, pd.concat([*frames.values()]), columns=("question",), mapped=map).columns["question"]
        )

    took = seconds(work)
    own = found[0]
    return took, peak_bytes(), sum(own.tokens), own.psi["tokens"].value, own.vocabulary.one_in, own.vocabulary.left_out


def plainly(folder):
    """Processor seconds of counting tokens alone, and the index of their frequencies."""
    import pyarrow.parquet as pq

    found = []

    def work():
        counts = {}
        for side in ("oos", "oot"):
            counts[side] = Counter()
            for path in sorted((Path(folder) / side).glob("*.parquet")):
                for batch in pq.ParquetFile(path).iter_batches(50_000, columns=["question"]):
                    for text in batch.column(0).to_pylist():
                        counts[side].update(re.findall(r"\w+", text.lower()))
        before, now = counts["oos"], counts["oot"]
        n, m = before.total(), now.total()
        index = 0.0
        for token in before.keys() | now.keys():
            p, q = max(before[token] / n, 1e-4), max(now[token] / m, 1e-4)
            index += (q - p) * float(np.log(q / p))
        found.append((index, n + m))

    return seconds(work), *found[0]


def test_a_million_requests(record):
    with tempfile.TemporaryDirectory() as folder:
        alone(write, folder, 1_000_000)
        took, peak, tokens, index, one_in, _ = alone(count, folder)
        peer, expected, theirs = alone(plainly, folder)
    assert one_in == 1
    assert tokens == theirs
    assert index == pytest.approx(expected, rel=1e-9)
    record(at_most("statistics and PSI of a million requests", took, 15, "s"))
    record(at_most("statistics and PSI of a million requests, memory", peak, 600e6, "B"))
    record(against("statistics and PSI of a million requests", Race(took, peer, 1), "Counter, tokens alone", 0.5))


@pytest.mark.large
def test_twenty_million_requests_take_linear_time(record):
    with tempfile.TemporaryDirectory() as folder:
        alone(write, folder, 1_000_000)
        some = alone(count, folder)[0]
    with tempfile.TemporaryDirectory() as folder:
        alone(write, folder, 20_000_000)
        took, peak, _, _, one_in, left_out = alone(count, folder)
    assert one_in > 1
    record(at_most("statistics and PSI of 20 million requests", took, 300, "s"))
    record(at_most("statistics and PSI of 20 million requests, memory", peak, 1.5e9, "B"))
    record(at_most("twenty times the requests", took / some / 20, 1.3, "×"))
    record(at_most("tokens of 20 million requests without a count of their own", 100 * left_out, 5, "%"))
