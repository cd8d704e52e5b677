"""A few rows of a large table, those of one item together, to decide what it holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from evalbench.readers.decoded import ending
from evalbench.readers.files import WRITTEN
from evalbench.readers.role_names import roles_of

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 5000
_ITEMS = 500
_TOGETHER = ("session_id", "id", "doc_id", "question")


def sample_of_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """The table itself up to :data:`MOST_ROWS` rows; else all rows of items that are spread over it, as many as fit.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"id": [*range(9000)] * 2, "model": ["fern"] * 9000 + ["oak"] * 9000})
    >>> sample = sample_of_rows(rows)
    >>> len(sample), sample["model"].nunique(), sample["id"].value_counts().unique().tolist()
    (1000, 2, [2])
    """
    if len(frame) <= MOST_ROWS:
        return frame
    key = next((c for role in _TOGETHER for c in frame.columns if role in roles_of(str(c))), None)
    if key is None or frame[key].map(lambda cell: isinstance(cell, (list, dict))).any():
        return frame.iloc[:: -(-len(frame) // _ITEMS)]
    names = frame[key].drop_duplicates()
    chosen = names.iloc[:: max(1, len(names) // _ITEMS)].head(_ITEMS)
    return frame[frame[key].isin(chosen)].head(MOST_ROWS)


def small_file(path: Path, sample: pd.DataFrame, folder: Path) -> Path | None:
    """The sample as a file of the same name, of a form that is read alike; None for a form that has none."""
    form = ending(path)
    stem = path.name.split(".")[0]
    if form in WRITTEN:
        small = folder / f"{stem}.csv"
        sample.to_csv(small, index=False)
        return small
    if form in (".json", ".jsonl", ".ndjson", ".parquet"):
        small = folder / f"{stem}.jsonl"
        records = sample.astype(object).where(sample.notna(), None).to_dict("records")
        small.write_text("".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in records), "utf-8")
        return small
    return None
