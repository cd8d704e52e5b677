"""The columns of numbers of a table as scores, and which numbers are scores at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, readers
from evalbench.readers.role_names import names_no_score
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


def melted(data: readers.Dataset, metrics: Sequence[str], faults: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """The columns of numbers of a table that has its scores beside the answers, as scores."""
    items = data["items"]
    free = [c for c in data.unused.get("items", ()) if c in items and c not in data.grouping.columns]
    wanted = [m for m in metrics if m in free] or [c for c in free if c not in OWN]
    found, mixed = [], []
    numbered = {name: numbers_in(items[name]) for name in wanted}
    aside = [] if metrics else [name for name in wanted if numbered[name] is not None and names_no_score(name)]
    if any(numbered[name] is not None and name not in aside for name in wanted):
        wanted = [name for name in wanted if name not in aside]
    else:
        aside = []
    for name in wanted:
        numbers = numbered[name]
        if numbers is None:
            faults += [f"metric {name}: the column holds other cells than numbers"] * (name in metrics)
            continue
        values, words = numbers
        if lost := sum(map(bool, words)):
            mixed.append(f"{name} ({core.counted(lost, 'cell')}, such as {next(filter(None, words)):.40})")
        keys = items[[c for c in ("id", "model", readers.schema.TRIAL) if c in items]]
        why = np.where(words == "", "", IMPORTED)
        found.append(keys.assign(metric=name, value=values, unscored=why, detail=words))
    if not found:
        return pd.DataFrame({c: pd.Series(dtype=object) for c in ("id", "metric", "value")}), []
    read = [str(one["metric"].iloc[0]) for one in found if len(one)]
    if len(found) > MOST_METRICS:
        return pd.concat(found[: MOST_METRICS + 1]), []
    note = f"Columns of numbers that were read as metrics: {', '.join(read)}; metrics=[…] names others."
    note += f" By their names no scores: {', '.join(aside)}." if aside else ""
    said = {name: {word.casefold(): mark for word, mark in in_words(items[name]).items()} for name in read}
    marked = [f"{name} ({', '.join(f'{w} as {n}' for w, n in own.items())})" for name, own in said.items() if own]
    other = [f"Marks in words that were read as numbers: {'; '.join(marked)}."] if marked else []
    other += [f"Cells of metrics that hold no number, which are unscored: {', '.join(mixed)}."] if mixed else []
    return pd.concat(found, ignore_index=True), [*other, *([] if metrics else [note])]


def in_words(column: pd.Series) -> dict[str, str]:
    """The words of a column that mean right or wrong, with 1 or 0; none where there are many different cells.

    Examples
    --------
    >>> in_words(pd.Series(["Pass", "fail", "partly", None])), in_words(pd.Series(["positive", "negative"]))
    ({'Pass': '1', 'fail': '0'}, {})
    """
    cells = column.dropna().astype(str).str.strip().unique()
    said = {cell: readers.verdicts.truth_of(cell) for cell in cells if cell.casefold() not in _KINDS}
    return {cell: mark for cell, mark in said.items() if mark is not None} if len(cells) <= _MOST_WORDS else {}


def numbers_in(column: pd.Series) -> Any:
    """A column's numbers, NaN elsewhere, and the words of the cells that hold others; None unless most cells are numbers."""
    text = column.astype(str).str.strip()
    text = text.mask(text.str.lower() == "true", "1").mask(text.str.lower() == "false", "0")
    known_words = in_words(text)
    text = text.mask(text.isin(list(known_words)), text.map(known_words))
    empty = (text.isin(["", "nan", "None", "<NA>"]) | column.isna()).to_numpy()
    values = pd.to_numeric(text.where(~empty), errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    with np.errstate(invalid="ignore"):
        known = np.abs(values) <= MOST
    if 2 * known.sum() <= (~text.str.lower().isin(_MISSING)).sum():
        return None
    return np.where(known, values, np.nan), np.where(known | empty, "", text.to_numpy(dtype=object))
