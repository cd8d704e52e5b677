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
    right = 0.25 + _EM * max(map(width_of, names))
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
    _end_labels(ax, ends, height - 1.1)
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


def _end_labels(ax: Axes, ends: Sequence[_End], inches: float) -> None:
    """Names at the right edge, pushed apart where lines end close together, each led to its line's end."""
    low, high = ax.get_ylim()
    left, right = ax.get_xlim()
    step = 1.25 * _EM / inches
    ordered = sorted(ends, key=lambda end: end.y)
    placed: list[float] = []
    for end in ordered:
        at = (end.y - low) / (high - low)
        placed.append(max(at, placed[-1] + step) if placed else at)
    overshoot = max(0.0, placed[-1] - 1) if placed else 0.0
    for at, end in zip(placed, ordered, strict=True):
        y = at - overshoot
        ax.annotate(
            end.name,
            (1, y),
            xytext=(6, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            va="center",
            fontsize=FONT_SIZE,
            color=end.colour,
        )
        start = (end.x - left) / (right - left)
        if start < 0.93:
            ax.plot(
                [start + 0.012, 1.0],
                [(end.y - low) / (high - low), y],
                transform=ax.transAxes,
                color=end.colour,
                linewidth=0.7,
                linestyle=":",
                scalex=False,
                scaley=False,
            )
