"""Escaped HTML tables and pictures in one style; the only import of IPython."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from evalbench.core.imports import modules_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from evalbench.draw import bars as bars
    from evalbench.draw import corrected as corrected
    from evalbench.draw import differences as differences
    from evalbench.draw import edits as edits
    from evalbench.draw import hidden as hidden
    from evalbench.draw import html as html
    from evalbench.draw import lanes as lanes
    from evalbench.draw import lines as lines
    from evalbench.draw import marks as marks
    from evalbench.draw import panels as panels
    from evalbench.draw import pictures as pictures
    from evalbench.draw import plots as plots
    from evalbench.draw import show as show
    from evalbench.draw import slices as slices
    from evalbench.draw import spans as spans
    from evalbench.draw import stopped as stopped
    from evalbench.draw import style as style
    from evalbench.draw import tables as tables
    from evalbench.draw import trials as trials
    from evalbench.draw import verdict as verdict
    from evalbench.draw.html import Html as Html
    from evalbench.draw.html import escape as escape

Drawn: TypeAlias = "tuple[Figure, str]"
"""A picture and its alternative text."""

__getattr__ = modules_of(__name__, html="Html escape")
