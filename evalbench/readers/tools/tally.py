"""What the rows of a run amount to, counted while they pass by: memory does not grow with their number, but for 16 bytes each."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from evalbench.readers.tools.shapes import Row, Run, question_hash

MOST_WORDS = 50
"""So many different reasons of a metric are counted by their words; the rest under :data:`OTHERS`."""
OTHERS = "(other reasons)"


class Cell:
    """Count, sum, range and reasons of one metric, for one model or all."""

    def __init__(self) -> None:
        self.n = 0
        self.missing = 0
        self.total = 0.0
        self.low = float("inf")
        self.high = float("-inf")
        self.binary = True
        self.passed = 0
        self.judged_pass = 0
        self.words: Counter[str] = Counter()

    @property
    def mean(self) -> float | None:
        return self.total / self.n if self.n else None

    def add(self, value: float | None, detail: str, passed: bool | None) -> None:
        if passed is not None:
            self.judged_pass += 1
            self.passed += passed
        if value is None:
            self.missing += 1
            known = detail in self.words or len(self.words) < MOST_WORDS
            self.words[detail if known else OTHERS] += 1
            return
        self.n += 1
        self.total += value
        self.low, self.high = min(self.low, value), max(self.high, value)
        self.binary = self.binary and value in (0.0, 1.0)


class Tally:
    """Counts of rows, questions, models and trials, and a :class:`Cell` per metric, and per metric and model.

    - ``scorable``: Rows that may have scores of their own: all but further trials that are scored together with the
      first.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.scorable = 0
        self.models: dict[str, int] = {}
        self.judges: dict[str, int] = {}
        self.trials: set[Any] = set()
        self.cells: dict[str, Cell] = {}
        self.by_model: dict[tuple[str, str], Cell] = {}
        self.judgements = 0
        self.judgements_unscored = 0
        self.labels = 0
        self._ids = array("Q")
        self._keys = array("Q")
        self._hashes = array("Q")

    def add(self, row: Row) -> None:
        item = row.item
        model = item.get("model", "")
        if row.kind != "more":
            self._count(row, model)
        for score in row.scores:
            for cell in (
                self.cells.setdefault(score.metric, Cell()),
                self.by_model.setdefault((score.metric, model), Cell()),
            ):
                cell.add(score.value, score.detail, score.passed)
        for verdict in row.judgements:
            self.judgements += 1
            self.judgements_unscored += bool(verdict.get("unscored"))
            if verdict.get("judge"):
                self.judges[verdict["judge"]] = self.judges.get(verdict["judge"], 0) + 1
        self.labels += len(row.labels)

    def _count(self, row: Row, model: str) -> None:
        item = row.item
        self.rows += 1
        self.scorable += row.kind != "trial"
        if "model" in item:
            self.models[model] = self.models.get(model, 0) + 1
        if "trial" in item:
            self.trials.add(item["trial"])
        self._ids.append(_short(f"{item['id']}"))
        self._keys.append(_short(f"{item['id']}\0{model}\0{item.get('trial', '')}"))
        self._hashes.append(int((item.get("question_hash") or question_hash(item.get("question")))[:16], 16))

    @property
    def ids(self) -> int:
        """How many different ids."""
        return _distinct(self._ids)

    @property
    def questions(self) -> int:
        return _distinct(self._hashes)

    @property
    def doubled(self) -> bool:
        return _distinct(self._keys) < self.rows

    def of(self, metric: str, model: str | None = None) -> Cell:
        """The counts of a metric; empty ones where no row has it."""
        found = self.cells.get(metric) if model is None else self.by_model.get((metric, model))
        return found or Cell()


def _short(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _distinct(values: array[int]) -> int:
    import numpy as np

    return len(np.unique(np.frombuffer(values, dtype=np.uint64))) if values else 0


class Scale(NamedTuple):
    """The scale of a metric in words, its ends (None: not known), and whether the file or format says it."""

    scale: str
    low: float | None
    high: float | None
    scale_from: str


def scale_of(metric: str, cell: Cell, runs: Iterable[Run]) -> Scale:
    """The scale of a metric: what the file or the format says, else the range in which its values lie.

    Examples
    --------
    >>> cell = Cell()
    >>> for value in (1.0, 5.0): cell.add(value, "", None)
    >>> scale_of("relevance", cell, [])
    Scale(scale='1..5 (as found)', low=None, high=None, scale_from='assumed')
    """
    runs = list(runs)
    said = next((run.scales[metric] for run in runs if metric in run.scales), None)
    if said is None and any(run.binary for run in runs) and cell.binary:
        said = "0/1"
    if said is None:
        if not cell.n or (cell.low >= 0 and cell.high <= 1):
            return Scale("0..1", 0.0, 1.0, "assumed")
        return Scale(f"{cell.low:g}..{cell.high:g} (as found)", None, None, "assumed")
    low, _, high = said.partition("..")
    ends = (float(low), float(high)) if high else (0.0, 1.0)
    return Scale(said, ends[0], ends[1], "file")
