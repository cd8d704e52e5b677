"""Numbers that may be no marks, and marks that may not be of one scale: notes of the first rank."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from evalbench.core.notes import Note
from evalbench.core.wording import count, listed

_NOT_RATED = (-1, -9, -99, -999, 99, 999)
_WIDEST = 10
"""Marks by which people rate hardly go further."""
ONE_SCALE = "are they of one scale?"


def not_rated(values: npt.ArrayLike, of: str = "") -> list[Note]:
    """A note where one of the numbers that often mean *not rated* lies among marks of a small scale.

    - ``of``: Whose marks, after *marks*.

    Examples
    --------
    >>> not_rated([-1, 1, 4, 5, 5])
    ['1 of 5 marks is −1, the others 1 to 5: if it means not rated, leave this cell empty.']
    >>> not_rated([-1, 0, 1]), not_rated([99, 20, 30])
    ([], [])
    """
    marks = np.asarray(values, dtype=float)
    marks = marks[np.isfinite(marks)]
    out = []
    for mark in (m for m in _NOT_RATED if (marks == m).any()):
        rest = marks[~np.isin(marks, _NOT_RATED)]
        if len(rest) and rest.min() >= 0 and 1 < rest.max() <= _WIDEST:
            n = int((marks == mark).sum())
            one, cells = ("is", "this cell") if n == 1 else ("are", "these cells")
            said = f"{mark}".replace("-", "−")
            scale = f"{rest.min():g} to {rest.max():g}"
            short = f"{count(n)} of {count(len(marks))} marks{of} {one} {said}, the others {scale}"
            out.append(Note("instrument", f"{short}: if it means not rated, leave {cells} empty"))
    return out


def two_scales(metric: str, by_model: Mapping[str, npt.ArrayLike]) -> list[Note]:
    """A note where a model's marks are fractions from 0 to 1, and another's go beyond 10.

    Examples
    --------
    >>> two_scales("score", {"a": [0.2, 0.9], "b": [71, 9.5]})
    ['Score of a lies within 0 to 1, of b it goes up to 71: are they of one scale?']
    >>> two_scales("score", {"a": [0, 0], "b": [71, 9.5]})
    []
    """
    found = {name: np.asarray(values, dtype=float) for name, values in sorted(by_model.items())}
    known = {name: values[np.isfinite(values)] for name, values in found.items() if np.isfinite(values).any()}
    small = [n for n, v in known.items() if v.min() >= 0 and v.max() <= 1 and ((v > 0) & (v < 1)).any()]
    large = [n for n, v in known.items() if v.max() > _WIDEST]
    if not small or not large:
        return []
    top = max(known[name].max() for name in large)
    short = f"{metric} of {listed(small, last=' and ')} lies within 0 to 1, of {listed(large, last=' and ')} it goes up to {top:g}"
    return [Note("instrument", f"{short}: {ONE_SCALE}")]
