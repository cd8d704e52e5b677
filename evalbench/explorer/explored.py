"""``explore(result)``: the explorer in a notebook."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from evalbench.runs.folder import RUN

if TYPE_CHECKING:
    from pathlib import Path

    from evalbench.core.result import Result
    from evalbench.explorer.opened import Run


def explore(what: Result | Run | str | Path) -> Any:
    """Explore a result or a run in JupyterLab: its items by filter, one item, values, other thresholds, comparisons, marks.

    Parameters
    ----------
    what : Result, Run, str or Path
        What a study returned, a run that was opened, the folder of a run, or its id.

    Returns
    -------
    anywidget.AnyWidget or Shown
        The explorer; without a notebook, or without ``evalbench[view]``, what ``show`` displays and a line that says so.
        None while a report is rendered: nobody looks.

    Raises
    ------
    BadInput
        If it is not a finished run.
    """
    if os.environ.get(RUN):
        return None
    from evalbench.explorer.widget import widget_of

    return widget_of(what)
