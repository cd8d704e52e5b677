"""The columns of numbers of a table as scores, and which numbers are scores at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import readers
from evalbench.readers.tools.shapes import MOST

IMPORTED = "imported"
MOST_METRICS = 200
OWN = {"seconds", "cost", "tokens"}  # numbers of an answer that are no scores
_KINDS = {"true", "false", "positive", "negative"}  # numbers of others; what a text says, and no mark of it
_MOST_WORDS = 12
_MISSING = {"", "nan", "none", "<na>", "null", "n/a", "na", "-", "–", "inf", "-inf", "error"}  # cells beside numbers


def bounded(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores with those that are too large to be one unscored."""
    beyond = scores["value"].abs() > MOST
    if not beyond.any():
        return scores
    said = [f"too large for a score, {value:g}" for value in scores.loc[beyond, "value"]]
    out = scores.assign(**{c: scores.get(c, "") for c in ("unscored", "detail")})
    out.loc[beyond, "unscored"], out.loc[beyond, "detail"] = IMPORTED, said
    return out.assign(value=scores["value"].mask(beyond))


class Cells(NamedTuple):
    """The cells of a column, counted.

    - ``each``: Different cells with their numbers: all, or more than are words of marks.
    - ``numbers``, ``said``, ``others``: Cells that hold a number, that hold anything, and that hold another thing than a number.
    - ``such_as``: The first of the others in the order of the alphabet.
    """

    each: Mapping[str, int] = {}
    numbers: int = 0
    said: int = 0
    others: int = 0
    such_as: str = ""


class Form(NamedTuple):
    """How a column of numbers is read: the words that are marks, how many other cells there are, and one of them."""

    words: Mapping[str, str] = {}
    lost: int = 0
    such_as: str = ""


def cells_in(column: pd.Series) -> Cells:
    """The cells of a column, counted."""
    counts = column.dropna().astype(str).str.strip().value_counts(sort=False)
    cells, n = pd.Series(counts.index.to_numpy(dtype=object), dtype=object), counts.to_numpy()
    numbers, others = _numbers(cells)
    known = ~np.isnan(numbers)
    return Cells(
        dict(zip(cells[: _MOST_WORDS + 1], map(int, n), strict=False)),
        int(n[known].sum()),
        int(n[(~cells.str.lower().isin(_MISSING)).to_numpy(dtype=bool)].sum()),
        int(n[others].sum()),
        min(cells[others], default=""),
    )


def together(several: Iterable[Cells]) -> Cells:
    """The cells of several pieces of a column."""
    return reduce(_both, several, Cells())


def _both(a: Cells, b: Cells) -> Cells:
    each = [*(Counter(a.each) + Counter(b.each)).items()][: _MOST_WORDS + 1]
    such_as = min(filter(None, (a.such_as, b.such_as)), default="")
    return Cells(dict(each), a.numbers + b.numbers, a.said + b.said, a.others + b.others, such_as)


def form_of(cells: Cells) -> Form | None:
    """How a column is read; None unless most cells are numbers, or words of marks.

    Examples
    --------
    >>> form_of(cells_in(pd.Series(["Pass", "fail", "partly", None])))
    Form(words={'Pass': '1', 'fail': '0'}, lost=1, such_as='partly')
    >>> form_of(cells_in(pd.Series(["positive", "negative"]))), form_of(cells_in(pd.Series([0.5, 2])))
    (None, Form(words={}, lost=0, such_as=''))
    """
    words, numbers, others, such_as = _words(cells), cells.numbers, cells.others, cells.such_as
    if words:
        marked = sum(cells.each[word] for word in words)
        left = pd.Series([cell for cell in cells.each if cell not in words], dtype=object)
        numbers, others, such_as = numbers + marked, others - marked, min(left[_numbers(left)[1]], default="")
    return None if 2 * numbers <= cells.said else Form(words, others, such_as)


def _words(cells: Cells) -> dict[str, str]:
    """The words that mean right or wrong, with 1 or 0, those of 1 first; none where there are many different cells."""
    if len(cells.each) > _MOST_WORDS:
        return {}
    said = {cell: readers.verdicts.truth_of(cell) for cell in cells.each if cell.casefold() not in _KINDS}
    found = {cell: mark for cell, mark in said.items() if mark is not None}
    return dict(sorted(found.items(), key=lambda one: (-int(one[1]), one[0])))


def melted(items: pd.DataFrame, forms: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Columns of numbers beside the answers as scores.

    - ``forms``: Column → its words that are marks.
    """
    keys = items[[c for c in ("id", "model", readers.schema.TRIAL) if c in items]]
    found = []
    for name, words in forms.items():
        values, lost = numbers_in(items[name], words)
        found.append(keys.assign(metric=name, value=values, unscored=np.where(lost == "", "", IMPORTED), detail=lost))
    return pd.concat(found, ignore_index=True)


def numbers_in(column: pd.Series, words: Mapping[str, str] = {}) -> tuple[Any, Any]:
    """A column's numbers, NaN elsewhere, and the cells that hold other things.

    - ``words``: Words that are marks.
    """
    text = column.astype(str).str.strip().mask(column.isna(), "")
    values, others = _numbers(text.mask(text.isin([*words]), text.map(words)))
    return values, np.where(others, text.to_numpy(dtype=object), "")


def _numbers(cells: pd.Series) -> tuple[Any, Any]:
    """The numbers of cells without blanks around them, NaN elsewhere, and which cells hold other things."""
    low = cells.str.lower()
    text = cells.mask(low == "true", "1").mask(low == "false", "0")
    empty = text.isin(["", "nan", "None", "<NA>"]).to_numpy(dtype=bool)
    values = pd.to_numeric(text.where(~empty), errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    with np.errstate(invalid="ignore"):
        known = np.abs(values) <= MOST
    return np.where(known, values, np.nan), ~(known | empty)
