"""Trials of one task as lanes below each other: every call a mark with a shape and a colour of its own, its text one click away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalbench.draw.html import Html, attribute, breakable, escape

MOST_MARKS = 24
SIGNS: Mapping[str, tuple[str, str]] = {
    "right": ("●", "good"),
    "wrong arguments": ("◐", "warn"),
    "extra": ("○", "muted"),
    "repeat": ("↻", "warn"),
    "error": ("✗", "bad"),
    "forbidden": ("⊘", "bad"),
    "made": ("◆", "muted"),
}
"""What a call may be, with its shape and its colour."""


class Mark(NamedTuple):
    """One call in a lane.

    - ``look``: A key of :data:`SIGNS`.
    - ``said``: What is behind it, one click away.
    """

    look: str
    name: str
    said: Html


class Lane(NamedTuple):
    """One trial: its name, how it ended (in words), whether well (None: not known), and its calls."""

    name: str
    ended: str
    good: bool | None
    marks: Sequence[Mark]


def lanes(title: str, trials: Sequence[Lane]) -> Html:
    """The trials of a task, a lane each, call below call; works without a script.

    Examples
    --------
    >>> drawn = lanes("t1", [Lane("trial 1", "reached", True, [Mark("right", "find", Html("id=<b>7</b>"))])])
    >>> "●" in drawn, "find" in drawn
    (True, True)
    """
    longest = min(max((len(lane.marks) for lane in trials), default=0), MOST_MARKS)
    numbers = "".join(f'<th scope="col">{i + 1}</th>' for i in range(longest))
    more = '<th scope="col"></th>' if any(len(lane.marks) > longest for lane in trials) else ""
    rows = "".join(_row(lane, longest, bool(more)) for lane in trials)
    return Html(
        f'<article class="eb-doc"><p class="eb-doc-title">{escape(title)}</p><div class="eb-scroll"><table class="eb-table eb-lanes">'
        f'<thead><tr><th scope="col">call</th>{numbers}{more}</tr></thead><tbody>{rows}</tbody></table></div></article>'
    )


def _row(lane: Lane, longest: int, more: bool) -> str:
    sign, colour = {True: ("✓", "good"), False: ("✗", "bad"), None: ("–", "muted")}[lane.good]
    head = (
        f'<th scope="row"><span class="eb-lane-name">{escape(lane.name)}</span> '
        f'<span class="eb-call-{colour}">{sign} {escape(lane.ended)}</span></th>'
    )
    shown = lane.marks[:longest]
    blank = "<td></td>" * (longest - len(shown))
    left = len(lane.marks) - longest
    rest = f"<td>{f'and {left} more' if left > 0 else ''}</td>" if more else ""
    return f"<tr>{head}{''.join(f'<td>{mark_html(mark)}</td>' for mark in shown)}{blank}{rest}</tr>"


def mark_html(mark: Mark) -> Html:
    """One call: shape, name, and what is behind it."""
    sign, colour = SIGNS[mark.look]
    return Html(
        f'<details class="eb-call eb-call-{colour}"><summary title="{attribute(mark.look)}"><span class="eb-call-sign">{sign}</span> '
        f'<span class="eb-call-name">{breakable(mark.name)}</span></summary><div class="eb-whole"><p><strong>{escape(mark.look)}</strong></p>'
        f"{mark.said}</div></details>"
    )


def legend(looks: Sequence[str]) -> Html:
    """What the shapes mean.

    Examples
    --------
    >>> "● right" in legend(["right"]).replace("</span> ", " ")
    True
    """
    signs = ", ".join(
        f'<span class="eb-call-{SIGNS[look][1]}">{SIGNS[look][0]}</span> {escape(look)}'
        for look in SIGNS
        if look in looks
    )
    return Html(f'<p class="eb-small">{signs}; a click shows arguments and result.</p>')
