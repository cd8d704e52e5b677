"""Many figures of the same groups: a panel each, on its own scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.result import Estimate
from evalbench.draw.style import ACCENT, INK, MUTED, WARN, dot, new_figure, shortened, title_at_top

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDEST = 11.2  # ems of a panel's title
_APART = 0.22  # inches between the numbers of neighbouring panels


def estimate_panels(
    estimates: Mapping[str, Sequence[Estimate]],
    by: str,
    ranges: Mapping[str, tuple[float, float]],
    *,
    title: str,
    xlabel: str,
    marks: Mapping[tuple[str, str], float] = {},
    mark: str = "",
) -> tuple[Figure, str]:
    """A panel per figure, a row per group: dot and interval.

    - ``estimates``: Figure → its estimate for each group.
    - ``by``: The column of the groups.
    - ``ranges`` (mapping of str to (low, high)): The ends of a figure's scale; by default those of its values and
      intervals.
    - ``marks`` (mapping of (figure, group) to float): Other values of the same figures, drawn hollow.
    - ``mark``: What they are.

    Returns: The figure and its alternative text.
    """
    names = list(estimates)
    groups = sorted({e.group.get(by, "") for own in estimates.values() for e in own})
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    figure, axes = new_figure(7.2, 0.75 + rows * (0.55 + 0.17 * len(groups)), rows=rows, cols=columns)
    panels = np.atleast_1d(axes).ravel()
    said = []
    for ax, name in zip(panels, names, strict=False):
        found = {e.group.get(by, ""): e for e in estimates[name]}
        low, high = _ends(ranges.get(name), list(found.values()), [v for (m, _), v in marks.items() if m == name])
        for y, group in enumerate(groups):
            e = found.get(group)
            other = marks.get((name, group))
            if other is not None:
                ax.plot([other], [y], "D", markersize=5, markerfacecolor="none", markeredgecolor=WARN, clip_on=False)
            if e is None or e.value is None:
                continue
            if e.ci_low is not None:
                ax.plot([e.ci_low, e.ci_high], [y, y], color=ACCENT, linewidth=2.2, alpha=0.55, solid_capstyle="butt")
            dot(ax, e.value, y, 5)
            beside = f" ({mark} {other:.3g})" if other is not None else ""
            said.append(f"{name} {group} {e.value:.3g}{beside}".replace("  ", " "))
        ax.set_xlim(low, high)
        ax.set_ylim(len(groups) - 0.4, -0.6)
        labels = [shortened(group) for group in groups]
        ax.set_yticks(range(len(groups)), labels if ax in panels[::columns] else [""] * len(groups))
        ax.set_title(shortened(name, _WIDEST), fontsize=8.5, loc="left", color=INK)
        ax.set_xticks(np.linspace(low, high, 3))
        ax.set_xlabel("")
        ax.tick_params(labelsize=7.5)
    for ax in panels[len(names) :]:
        ax.set_visible(False)
    legend = f"   (hollow: {mark})" if marks else ""
    figure.supxlabel(f"{xlabel}{legend}", fontsize=8.5, color=MUTED)
    figure.set_layout_engine("constrained", w_pad=_APART / 2)
    title_at_top(figure, title)
    return figure, f"A panel per metric, a row per {by}, means with 95 % intervals: {'; '.join(said)}."


def _ends(scale: tuple[float, float] | None, own: Sequence[Estimate], others: Sequence[float]) -> tuple[float, float]:
    if scale is not None:
        return scale
    values = [v for e in own for v in (e.value, e.ci_low, e.ci_high) if v is not None] + list(others)
    low, high = min([0.0, *values]), max([0.0, *values])
    return (low, high) if high > low else (low, low + 1)
