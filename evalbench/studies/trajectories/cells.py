"""Cells of marks, arguments and errors as people write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from evalbench import core
from evalbench.readers.trajectories.flags import AN_ERROR, NO_ERROR
from evalbench.readers.verdicts import RIGHT, WRONG

_YES = {*RIGHT, "success", "solved"}
_NO = {*WRONG, "failure", "unsolved"}
_CRASHED = frozenset(
    {"error", "errored", "timeout", "timed out", "crash", "crashed", "exception", "aborted", "cancelled"}
)
"""Words of an outcome that say why it is not known."""


def without_crashes(frame: pd.DataFrame) -> pd.DataFrame:
    """A raw table whose marks that say that a trial crashed are empty: whether it would have reached the goal is not known.

    Examples
    --------
    >>> without_crashes(pd.DataFrame({"mark": ["pass", "Timeout", "fail"]})).attrs["notes"]
    ['column mark: 1 cell that says timeout was read as empty: such a trial is unscored']
    """
    if "mark" not in frame:
        return frame
    words = frame["mark"].map(lambda cell: cell.strip().casefold() if isinstance(cell, str) else "")
    crashed = words.isin(_CRASHED)
    if not crashed.any():
        return frame
    out = frame.assign(mark=frame["mark"].astype(object).mask(crashed, None))
    listed, n = ", ".join(dict.fromkeys(words[crashed])), int(crashed.sum())
    said = f"{core.counted(n, 'cell')} that {'says' if n == 1 else 'say'} {listed} {'was' if n == 1 else 'were'} read as empty: such a trial is unscored"
    out.attrs |= {**frame.attrs, "notes": [*frame.attrs.get("notes", ()), f"column mark: {said}"]}
    return out


def read(frame: pd.DataFrame) -> pd.DataFrame:
    """A raw table with marks in words as 1 and 0, arguments that are objects as their JSON, errors that are yes or no as a word or nothing."""
    cells = {"mark": mark_of, "arguments": _as_json, "error": error_of}
    frame = without_crashes(frame)
    out = frame.assign(**{c: _mapped(frame[c], own) for c, own in cells.items() if c in frame})
    out.attrs |= frame.attrs
    return out


def _mapped(cells: pd.Series, own: Callable[[Any], Any]) -> pd.Series:
    """Cells of which each becomes another; of texts each different one is looked at once."""
    if not isinstance(cells.dtype, pd.StringDtype):
        return cells.map(own)
    if own is _as_json:
        return cells
    codes, known = pd.factorize(cells, use_na_sentinel=False)
    made = pd.Series([own(one) for one in known.tolist()], dtype=None if len(known) else object)
    return made.take(codes).set_axis(cells.index)


def _as_json(cell: Any) -> Any:
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, Mapping | list) else cell


def mark_of(cell: Any) -> Any:
    """A cell of marks as read, but words as numbers.

    Examples
    --------
    >>> mark_of("0.5"), mark_of("Yes"), mark_of("failed"), mark_of(True), mark_of(None)
    ('0.5', 1, 0, 1, None)
    """
    word = str(cell).strip().casefold()
    return 1 if word in _YES else 0 if word in _NO else cell


def error_of(cell: Any) -> Any:
    """A cell of errors as read, but nothing where it denies one, and a word where it says no more than that there is one.

    Examples
    --------
    >>> error_of(0), error_of("False"), error_of(True), error_of(1.0), error_of("timeout"), error_of(None)
    ('', '', 'error', 'error', 'timeout', '')
    """
    word = "" if cell is None or cell is pd.NA or cell != cell else str(cell).strip().casefold()
    return "" if word in NO_ERROR else "error" if word in AN_ERROR else cell


def in_words(arguments: Mapping[str, Any] | str) -> str:
    """Arguments as a reader sees them.

    Examples
    --------
    >>> in_words({"id": "KX-1", "n": 2})
    'id="KX-1", n=2'
    """
    if isinstance(arguments, str):
        return arguments
    said = ", ".join(f"{k}={json.dumps(v, ensure_ascii=False, default=str)}" for k, v in arguments.items())
    return said.encode("utf-8", "replace").decode("utf-8")  # half characters, which JSON can hold, are in no file
