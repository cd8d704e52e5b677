"""What is behind each bar of a distribution: ranges of a column of the items, by which a page finds them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from evalbench.readers.where import Term, in_words, of_group

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OF: WeakKeyDictionary[Figure, str] = WeakKeyDictionary()


class Behind(NamedTuple):
    """The items of one row of a distribution.

    - ``column``: Of the items, whose values are drawn.
    - ``where``: The filter of the row's items; empty for all.
    - ``origin``, ``scale``: A value of the column is ``origin + scale · drawn``.
    """

    column: str
    where: str = ""
    origin: float = 0.0
    scale: float = 1.0


def of_groups(column: str, by: str, groups: Iterable[str]) -> dict[str, Behind]:
    """Rows of groups that their name in a column tells apart.

    Examples
    --------
    >>> of_groups("final", "model", ["oak"])
    {'oak': Behind(column='final', where='model=oak', origin=0.0, scale=1.0)}
    """
    return {group: Behind(column, of_group({by: group}, [by])) for group in groups}


def keep(
    figure: Figure, values: Mapping[str, npt.NDArray[np.float64]], edges: npt.ArrayLike, rows: Mapping[str, Behind]
) -> None:
    """Keep with a picture what is behind its bars, for :func:`of`."""
    found = [
        [name, rows[name].where, rows[name].column, ranges(values[name], edges, rows[name])]
        for name in values
        if name in rows
    ]
    if found:
        _OF[figure] = json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def of(figure: Figure) -> str:
    """Rows of a picture as JSON, each its name, its filter, its column and the ranges of its bars; empty where none is known."""
    return _OF.get(figure, "")


def ranges(values: npt.ArrayLike, edges: npt.ArrayLike, behind: Behind) -> list[tuple[str, str]]:
    """From and below which value each bar is that is not empty, in as few digits as part the values as the bars do.

    - ``values``: As they are drawn; finite.
    - ``edges``: Of the bars, rising; the last bar has its upper edge.

    Returns: Ends as a filter writes them; empty where nothing is beyond.

    Examples
    --------
    >>> ranges([0.1, 0.2, 0.9], [0, 1 / 3, 2 / 3, 1], Behind("p"))
    [('', '0.3'), ('0.7', '')]
    """
    known, ends = np.sort(np.asarray(values, dtype=float)), np.asarray(edges, dtype=float)
    places = [*np.searchsorted(known, ends[:-1]).tolist(), int(np.searchsorted(known, ends[-1], side="right"))]
    cuts = [_cut(known, at, edge, behind) for at, edge in zip(places, ends.tolist(), strict=True)]
    return [
        (cuts[i] if first else "", cuts[i + 1] if last < len(known) else "")
        for i, (first, last) in enumerate(itertools.pairwise(places))
        if first < last
    ]


def of_bar(column: str, low: str, high: str) -> str:
    """The filter of a bar.

    Examples
    --------
    >>> of_bar("share of x", "0.2", "0.3"), of_bar("p", "", "0.3")
    ('"share of x">=0.2 "share of x"<0.3', 'p<0.3')
    """
    return in_words([Term(column, sign, (end,)) for sign, end in ((">=", low), ("<", high)) if end])


def _cut(known: npt.NDArray[np.float64], at: int, edge: float, behind: Behind) -> str:
    """A number above the values before a place and not above the one there, the roundest near the edge."""
    ends = [behind.origin + behind.scale * float(known[i]) for i in (at - 1, at) if 0 <= i < len(known)]
    exact = behind.origin + behind.scale * edge
    if len(ends) < 2:  # nothing is below it, or nothing above: it is in no filter
        return f"{exact:g}"
    below, above = ends
    for digits in range(1, 17):
        shown = f"{exact:.{digits}g}"
        if below < float(shown) <= above:
            return shown
    return repr(above)
