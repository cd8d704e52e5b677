"""Rows of a Parquet file as JSON values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.tools.safe import MOST_DOCUMENT


def columns(path: Path) -> list[str]:
    """The names of the columns."""
    return list(_opened(path).schema_arrow.names)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows, read in batches."""
    file = _opened(path)
    declared = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
    if declared > MOST_DOCUMENT:
        raise BadInput(f"{path}: unpacks to {declared:,} bytes, at most {MOST_DOCUMENT:,} are read; divide the file")
    for batch in file.iter_batches(batch_size=1000):
        for row in batch.to_pylist():
            yield {str(name): _plain(value) for name, value in row.items() if not str(name).startswith("__index")}


def _opened(path: Path) -> Any:
    import pyarrow
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise BadInput(f"{path}: not a Parquet file that can be read ({str(error).splitlines()[0]})") from error


def _plain(value: Any) -> Any:
    """A cell as JSON has it: dates and the like become texts, NaN a null."""
    if isinstance(value, float) and value != value:
        return None
    return (
        value if isinstance(value, (str, int, float, bool, type(None))) else json.loads(json.dumps(value, default=str))
    )
