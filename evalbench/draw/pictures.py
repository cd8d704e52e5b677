"""Pictures that several studies draw.  Each returns ``(Figure, alt text)``.

Rows and lines are labelled directly; there are no legends to decode.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evalbench.core.wording import aligned, count, signed
from evalbench.draw import bars
from evalbench.draw.lines import Line, lines
from evalbench.draw.plots import seaborn
from evalbench.draw.style import (
    ACCENT,
    BAD,
    FONT_SIZE,
    GOOD,
    GRID,
    INK,
    MUTED,
    PAPER,
    SERIES,
    WARN,
    dot,
    new_figure,
    shortened,
    title_at_top,
    to_svg,
    told_apart,
    width_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from evalbench.core.result import Estimate

__all__ = [
    "ACCENT",
    "BAD",
    "GOOD",
    "GRID",
    "INK",
    "MUTED",
    "PAPER",
    "SERIES",
    "WARN",
    "Line",
    "distribution",
    "dot",
    "estimate_bars",
    "heat_map",
    "interval_bars",
    "lines",
    "new_figure",
    "title_at_top",
    "to_svg",
]

_EM = FONT_SIZE / 72  # inches


def _same_length(**columns: Sequence[Any]) -> None:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1 or not all(lengths.values()):
        found = ", ".join(f"{name} {n}" for name, n in lengths.items())
        raise ValueError(f"columns must have one length, at least 1: {found}")


def _rows_figure(labels: Sequence[str], row_height: float, *, top: float, bottom: float, right: float) -> Any:
    """A figure with named rows; margins by hand, since matplotlib cannot measure every script."""
    names = told_apart(labels)
    width, height = 7.2, top + bottom + row_height * len(names)
    figure, ax = new_figure(width, height)
    figure.set_layout_engine("none")
    left = min(_EM * max(map(width_of, names)) + 0.15, 0.42 * width)
    ax.set_position((left / width, bottom / height, 1 - (left + right) / width, 1 - (top + bottom) / height))
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", color=GRID, linewidth=0.7)
    return figure, ax


def _room_for(texts: Sequence[str]) -> float:
    """Inches to the right of the axes that the longest of these texts needs."""
    return 0.25 + _EM * max(map(width_of, texts))


def interval_bars(
    labels: Sequence[str],
    values: Sequence[float | None],
    lows: Sequence[float | None],
    highs: Sequence[float | None],
    *,
    title: str,
    xlabel: str,
    domain: tuple[float, float] | None = None,
) -> tuple[Figure, str]:
    """One row per label: a dot for the value, a line for its interval, the figures written beside it.

    - ``values``, ``lows``, ``highs``: None: no value, no interval.
    - ``domain`` ((low, high), optional): Ends of the axis.

    Raises ``ValueError`` if the columns differ in length or are empty.
    """
    _same_length(labels=labels, values=values, lows=lows, highs=highs)
    written = ["no value" if text == "–" else text for text in aligned(values, lows, highs)]
    figure, ax = _rows_figure(labels, 0.32, top=0.36, bottom=0.55, right=_room_for(written))
    said = []
    for y, (label, value, low, high, text) in enumerate(zip(labels, values, lows, highs, written, strict=True)):
        said.append(f"{label} {text}")
        if value is not None and low is not None and high is not None:
            ax.plot([low, high], [y, y], color=ACCENT, linewidth=2.2, alpha=0.55, solid_capstyle="butt")
        ax.annotate(
            text,
            (1, y),
            xytext=(8, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=FONT_SIZE,
            color=INK if value is not None else MUTED,
        )
    known = [(value, y) for y, value in enumerate(values) if value is not None]
    _dots(ax, [value for value, _ in known], [y for _, y in known])
    if domain is not None:
        ax.set_xlim(*domain)
    ax.set_xlabel(xlabel)
    title_at_top(figure, title)
    return figure, f"{title}. {xlabel}, with 95 % intervals: {'; '.join(said)}."


def _dots(ax: Axes, x: Sequence[float], y: Sequence[float]) -> None:
    """Values' dots, whole also at the end of the scale."""
    seaborn().scatterplot(x=x, y=y, ax=ax, color=ACCENT, s=36, edgecolor=PAPER, linewidth=0.8, clip_on=False, zorder=3)


def estimate_bars(labels: Sequence[str], rows: Sequence[Estimate], **words: Any) -> tuple[Figure, str]:
    """One row per estimate; ``words`` as of :func:`interval_bars`."""
    return interval_bars(labels, [e.value for e in rows], [e.ci_low for e in rows], [e.ci_high for e in rows], **words)


def heat_map(
    matrix: npt.ArrayLike,
    rows: Sequence[str],
    cols: Sequence[str],
    *,
    title: str,
    text: Sequence[Sequence[str]] | None = None,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
) -> tuple[Figure, str]:
    """A matrix as shaded cells with their values written in them.

    - ``matrix`` ((n_rows, n_cols) array): NaN cells stay empty, with a dash.
    - ``text`` ((n_rows, n_cols) nested sequences of str, optional): What is written in the cells; by default the values
      with two decimals. Where there is no value it is a dash, or nothing where the text is empty.
    - ``unit``: Of the values, for the alt text and the line below the map.
    - ``low``, ``high``: Values of the palest and the darkest cell; by default those of the matrix.

    Raises ``ValueError`` if the matrix does not have one row per name and one column per name.
    """
    cells = np.asarray(matrix, dtype=float)
    if cells.shape != (len(rows), len(cols)) or not cells.size:
        raise ValueError(f"a matrix of shape {cells.shape} for {len(rows)} row and {len(cols)} column names")
    names = [shortened(c, 16) for c in cols]
    steep = max(map(width_of, names)) * _EM > 5.0 / len(cols)
    top = 0.4 + (0.72 * _EM * max(map(width_of, names)) + 0.1 if steep else 0.28)
    figure, ax = _rows_figure(rows, 0.36, top=top, bottom=0.35 if unit else 0.15, right=0.75 if steep else 0.2)
    known = cells[np.isfinite(cells)]
    floor = float(known.min()) if low is None and known.size else (low or 0.0)
    ceiling = float(known.max()) if high is None and known.size else (1.0 if high is None else high)
    seaborn().heatmap(
        cells,
        ax=ax,
        cmap=_fading(),
        vmin=floor,
        vmax=ceiling if ceiling > floor else floor + 1,
        cbar=False,
        linewidths=2.5,
        linecolor=PAPER,
        xticklabels=False,
        yticklabels=False,
    )
    for (i, j), value in np.ndenumerate(cells):
        written = signed(f"{value:.2f}") if text is None else text[i][j]
        written = "–" if math.isnan(value) and written else written
        ax.text(j + 0.5, i + 0.5, written, ha="center", va="center", fontsize=FONT_SIZE - (len(cols) > 12), color=INK)
    ax.set_yticks(np.arange(len(rows)) + 0.5, [shortened(row) for row in rows])
    ax.set_xticks(np.arange(len(cols)) + 0.5, names)
    ax.xaxis.tick_top()
    ax.tick_params(axis="x", length=0)
    if steep:
        for label in ax.get_xticklabels():
            label.set(rotation=45, ha="left", rotation_mode="anchor")
    ax.grid(visible=False)
    if unit:
        figure.text(0, 0.06 / figure.get_figheight(), unit, fontsize=FONT_SIZE, color=MUTED, va="bottom")
    title_at_top(figure, title)
    return figure, _heat_alt(cells, rows, cols, title, unit)


def _fading() -> Any:
    """One hue whose opacity grows: legible on paper and on a dark ground alike."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    return LinearSegmentedColormap.from_list("fading", [to_rgba(ACCENT, 0.06), to_rgba(ACCENT, 0.56)])


def _heat_alt(cells: npt.NDArray[Any], rows: Sequence[str], cols: Sequence[str], title: str, unit: str) -> str:
    shape = f"{len(rows)} rows by {len(cols)} columns"
    if not np.isfinite(cells).any():
        return f"{title}. {shape}, no values."
    i, j = map(int, np.unravel_index(np.nanargmax(cells), cells.shape))
    k, m = map(int, np.unravel_index(np.nanargmin(cells), cells.shape))
    decimals = 0 if (cells == np.rint(cells)).all() else 2
    return (
        f"{title}. {shape}{f', {unit}' if unit else ''}: highest {signed(f'{cells[i, j]:.{decimals}f}')} at {rows[i]}, {cols[j]}; "
        f"lowest {signed(f'{cells[k, m]:.{decimals}f}')} at {rows[k]}, {cols[m]}."
    )


def distribution(
    values_by_group: Mapping[str, npt.ArrayLike],
    *,
    title: str,
    xlabel: str,
    domain: tuple[float, float] | None = None,
    bins: int = 30,
    behind: Mapping[str, bars.Behind] = {},
) -> tuple[Figure, str]:
    """A histogram per group on one axis, with its median and middle half; any number of values.

    - ``values_by_group`` (mapping of str to (n,) arrays): NaN is left out and counted in the label.
    - ``domain`` ((low, high), optional): Ends of the axis; by default those of all values.
    - ``behind``: The items of groups; a page leads to those of each bar.

    Raises ``ValueError`` if there is no group, or one of ``behind`` is none.
    """
    if not values_by_group:
        raise ValueError("a distribution needs at least one group")
    if unknown := [name for name in behind if name not in values_by_group]:
        raise ValueError(f"no row of the picture: {', '.join(unknown)}")
    groups = {name: np.asarray(v, dtype=float) for name, v in values_by_group.items()}
    finite = {name: v[np.isfinite(v)] for name, v in groups.items()}
    everything = np.concatenate(list(finite.values()))
    low, high = domain or ((everything.min(), everything.max()) if everything.size else (0.0, 1.0))
    edges = np.linspace(low, high if high > low else low + 1, bins + 1)
    # Rounding carries a value over the end of its scale, as 100.00000000000004 of 100: it is in the last bar.
    near = 1e-9 * (edges[-1] - edges[0])
    for name, v in finite.items():
        inside = np.clip(v, edges[0], edges[-1])
        finite[name] = np.where(np.abs(v - inside) <= near, inside, v)
    missing = {name: len(groups[name]) - len(v) for name, v in finite.items()}
    notes = {
        name: [f"n = {count(len(v))}", *([f"{count(missing[name])} without value"] if missing[name] else [])]
        for name, v in finite.items()
    }
    room = _room_for([line for note in notes.values() for line in note])
    figure, ax = _rows_figure(list(groups), 0.62, top=0.4, bottom=0.55, right=room)
    ax.set_xlim(edges[0], edges[-1])
    said, medians = [], []
    for y, (name, values) in enumerate(finite.items()):
        ax.annotate(
            "\n".join(notes[name]),
            (1, y),
            xytext=(8, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=FONT_SIZE,
            color=MUTED,
        )
        if not values.size:
            said.append(f"{name} no values")
            continue
        # Each row has a scale of its own, the highest bar as high as the row.
        row = ax.inset_axes((0, (len(finite) - y - 0.86) / len(finite), 1, 0.72 / len(finite)), zorder=1)
        seaborn().histplot(x=values, bins=edges, ax=row, element="step", color=ACCENT, alpha=0.32, linewidth=0)
        row.set(xlim=ax.get_xlim())
        row.margins(y=0)
        row.set_axis_off()
        lower, median, upper = np.quantile(values, [0.25, 0.5, 0.75])
        ax.plot([lower, upper], [y + 0.36] * 2, color=ACCENT, linewidth=3, solid_capstyle="butt")
        medians.append((median, y + 0.36))
        said.append(f"{name} median {median:.3g}, middle half {lower:.3g} to {upper:.3g}, n {len(values)}")
    _dots(ax, [median for median, _ in medians], [y for _, y in medians])
    ax.set_xlabel(f"{xlabel}   (dot: median, line: middle half)")
    title_at_top(figure, title)
    bars.keep(figure, finite, edges, behind)
    return figure, f"{title}. {xlabel}: {'; '.join(said)}."
