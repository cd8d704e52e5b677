"""Lines named at their ends, with their intervals as bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.draw.style import FONT_SIZE, SERIES, new_figure, title_at_top, told_apart, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EM = FONT_SIZE / 72  # inches
_GAP = 9  # points between the axes and the names of lines


class Line(NamedTuple):
    """One line of :func:`lines`: points in order of ``x`` and, optionally, its interval."""

    x: npt.ArrayLike
    y: npt.ArrayLike
    low: npt.ArrayLike | None = None
    high: npt.ArrayLike | None = None


_STYLES = ("-", "--", "-.", ":")


def lines(
    series: Mapping[str, Line | tuple[npt.ArrayLike, npt.ArrayLike]],
    *,
    title: str,
    xlabel: str,
    ylabel: str,
    domain: tuple[float, float] | None = None,
    mark_points: bool = True,
) -> tuple[Figure, str]:
    """Lines named at their ends, with their intervals as bands.

    - ``series`` (mapping of name to Line (or to a pair x, y))
    - ``domain`` ((low, high), optional): Ends of the vertical axis.
    - ``mark_points``: Draw a dot at each point.

    Raises ``ValueError`` if there is no line, or x and y of one differ in length.
    """
    if not series:
        raise ValueError("at least one line is needed")
    from matplotlib.ticker import MaxNLocator

    read = {name: Line(*line) for name, line in series.items()}
    for name, line in read.items():
        if np.shape(line.x) != np.shape(line.y):
            raise ValueError(f"line {name!r}: x has shape {np.shape(line.x)}, y {np.shape(line.y)}")
    width, height = 7.2, 3.6
    figure, ax = new_figure(width, height)
    figure.set_layout_engine("none")
    names = told_apart([*read], 18)
    right = 0.3 + _EM * max(map(width_of, names))
    ax.set_position((0.75 / width, 0.6 / height, 1 - (0.75 + right) / width, 1 - 1.1 / height))
    if domain is not None:
        ax.set_ylim(*domain)
    ends, said = [], []
    for i, (name, line) in enumerate(read.items()):
        x, y = np.asarray(line.x), np.asarray(line.y, dtype=float)
        colour = SERIES[i % len(SERIES)]
        if line.low is not None and line.high is not None:
            low, high = np.asarray(line.low, dtype=float), np.asarray(line.high, dtype=float)
            ax.fill_between(x, low, high, color=colour, alpha=0.14, linewidth=0)
        ax.plot(
            x,
            y,
            color=colour,
            linewidth=1.8,
            linestyle=_STYLES[i // len(SERIES) % len(_STYLES)],
            marker="o" if mark_points else None,
            markersize=4,
        )
        known = np.flatnonzero(np.isfinite(y))
        if known.size:
            last = known[np.argmax(x[known])]
            ends.append(_End(float(x[last]), float(y[last]), names[i], colour))
            said.append(f"{name} from {y[known[0]]:.3g} to {y[known[-1]]:.3g}")
    if all(_whole(line.x) for line in read.values()):
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    _end_labels(ax, ends, (width - 0.75 - right, height - 1.1))
    title_at_top(figure, title)
    return figure, f"{title}. {ylabel} by {xlabel}: {'; '.join(said) or 'no values'}."


def _whole(values: npt.ArrayLike) -> bool:
    """Whether all are whole numbers, so that no mark between them means anything."""
    at = np.asarray(values)
    return at.dtype.kind in "iu" or (at.dtype.kind == "f" and bool((at == np.rint(at)).all()))


class _End(NamedTuple):
    x: float
    y: float
    name: str
    colour: str


def _end_labels(ax: Axes, ends: Sequence[_End], inches: tuple[float, float]) -> None:
    """Names at the right edge, each beside its line's end; where ends are close together, moved apart and led to them."""
    low, high = ax.get_ylim()
    left, right = ax.get_xlim()
    step = 1.25 * _EM / inches[1]
    ordered = sorted(ends, key=lambda end: end.y)
    own = [(end.y - low) / (high - low) for end in ordered]
    for end, at, y in zip(ordered, own, moved_apart(own, step, (0.0, 1.0 + step / 2)), strict=True):
        ax.annotate(
            end.name,
            (1, y),
            xytext=(_GAP, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            va="center",
            fontsize=FONT_SIZE,
            color=end.colour,
        )
        start = (end.x - left) / (right - left)
        if start < 0.93 or abs(y - at) > step / 4:
            ax.plot(
                [start + 0.012, 1.0 + (_GAP - 2) / 72 / inches[0]],
                [at, y],
                transform=ax.transAxes,
                color=end.colour,
                linewidth=0.7,
                linestyle=":",
                clip_on=False,
                scalex=False,
                scaley=False,
            )


def moved_apart(places: Sequence[float], step: float, ends: tuple[float, float]) -> list[float]:
    """Rising places at least a step apart, each as near to its own as that allows: those too close share their shift.

    - ``ends``: Between which all lie, as long as there is room.

    Examples
    --------
    >>> [round(place, 2) for place in moved_apart([0.2, 0.9, 1.0, 1.0], 0.1, (0, 1))]
    [0.2, 0.8, 0.9, 1.0]
    """
    blocks: list[tuple[float, int]] = []  # the lowest place of a block of neighbours, and how many they are
    for place in places:
        low, n = _within(place, 1, step, ends), 1
        while blocks and low < blocks[-1][0] + blocks[-1][1] * step:
            before, many = blocks.pop()
            low = (before * many + (low - many * step) * n) / (many + n)
            n += many
            low = _within(low, n, step, ends)
        blocks.append((low, n))
    return [low + i * step for low, n in blocks for i in range(n)]


def _within(low: float, n: int, step: float, ends: tuple[float, float]) -> float:
    return max(ends[0], min(low, ends[1] - (n - 1) * step))
