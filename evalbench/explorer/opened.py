"""``open_run(folder)``: a finished run in a notebook, its items by filter, one item with all that is behind it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core.wording import counted
from evalbench.explorer.distributions import BINS, distribution
from evalbench.explorer.live import refuse_unfinished
from evalbench.explorer.rows import Rows
from evalbench.explorer.standing import standing
from evalbench.readers.runs import run_folder

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.core.result import Summary
    from evalbench.explorer.comparing import Compared


class Run:
    """A finished run, read from its folder; see :func:`open_run`."""

    def __init__(self, folder: Path) -> None:
        self._rows = Rows(folder)
        self.folder = folder

    def __repr__(self) -> str:
        results = self._rows.results
        return f"<Run of {results['study']}: {results['light']}, {counted(self._rows.n, 'item')}. {self.folder.name}>"

    @property
    def figures(self) -> pd.DataFrame:
        """The headline figures of the run, one row each."""
        import pandas as pd

        return pd.DataFrame(self._rows.results["summary"])

    def items(self, where: str = "", sort: str = "") -> pd.DataFrame:
        """The items that a filter leaves.

        Parameters
        ----------
        where : str
            A filter, such as ``"model=oak score<0.5 question~refund"``, see :mod:`evalbench.readers.where`.
        sort : str
            A column, falling with ``-`` before it; by default in the order of the run.

        Raises
        ------
        BadInput
            For a filter that cannot be read, or names no column.
        """
        return self._rows.frame(where, sort)

    def item(self, id: Any, **group: Any) -> dict[str, Any]:
        """One item with everything behind it: its texts, the answers of other groups, its parts and every model call.

        Parameters
        ----------
        id : str
            The item's.
        **group
            Whose item it is, such as ``model="oak"``, where several have the id.

        Returns
        -------
        dict
            ``item``, ``place``, ``tables`` (rows of each table that belong to it), ``others`` (of other groups).

        Raises
        ------
        BadInput
            Where there is none, or several have the id.
        """
        return self._rows.item(self._rows.place_of(id, **group))

    def with_options(self, where: str = "", **options: Any) -> Summary | None:
        """The figures and the light under other thresholds, or of some of the items, by the study's own rule.

        Parameters
        ----------
        where : str
            A filter: only these items. Figures of items that were chosen after looking are no test.
        **options
            Options that only thresholds and weights hang on, such as ``threshold=0.7``.

        Returns
        -------
        Summary or None
            Its ``verdict`` and ``estimates``; None where no item is left.

        Raises
        ------
        BadInput
            For options that need a new run.
        """
        return standing(self._rows, where, options).summary

    def compare(
        self, other: Run | str | Path = "", *, left: str = "", right: str = "", metric: str = "", where: str = ""
    ) -> Compared:
        """This run and another one of the study, or two of its groups, item by item.

        Parameters
        ----------
        other : Run, str or Path
            The right side; by default this run.
        left, right : str
            The group of each side, such as ``"model=oak"``; by default all.
        metric : str
            The figure, or column of the items, by which they are ranked; by default the study's first.
        where : str
            A filter of the left side. What was chosen after looking is no test, and ``notes`` say so.

        Returns
        -------
        Compared
            ``figures`` (differences right − left with intervals) and ``items`` (``left``, ``right``, ``change`` and ``verdict``
            of each item that both have, the largest changes first), as DataFrames; ``notes``, ``names``, ``only``.

        Raises
        ------
        BadInput
            Where both are the same, or cannot be compared.
        """
        from evalbench.explorer.comparing import compared

        opened = other if isinstance(other, Run) else open_run(other) if str(other) else self
        return compared(self._rows, opened._rows, (left, right), metric, where)

    def pack(self, folder: str | Path, where: str = "") -> Path:
        """Write a folder that opens in a browser without a server: the items, what is behind each, their values.

        Parameters
        ----------
        folder : str or Path
            A new or empty one.
        where : str
            Only the items of this filter.

        Returns
        -------
        Path
            Its ``index.html``.

        Raises
        ------
        BadInput
            For a folder with files, or more than 200 000 items.
        """
        from evalbench.explorer.pack import pack

        return pack(self._rows, Path(folder), where)

    def marks(self) -> pd.DataFrame:
        """The last mark of each annotator on each item, made in the browser: ``row`` (its place), ``mark`` (1 right, 0 wrong), ``skipped``,
        ``comment``, ``blind``, ``where`` and ``sort`` (the filter and the order that were on) and ``at``.

        Raises
        ------
        BadInput
            Where a file of marks holds something else.
        """
        from evalbench.explorer.mark_files import marks_of

        return marks_of(self.folder)

    def distribution(self, column: str, where: str = "", bins: int = BINS) -> pd.DataFrame:
        """How many items have which value of a column: all, and those that a filter leaves.

        Raises
        ------
        BadInput
            Where the items have no such column.
        """
        import pandas as pd

        found = distribution(self._rows, column, where, bins)
        counts = {"filtered": found["counts"], "all": found["all"]}
        if found["kind"] == "values":
            return pd.DataFrame({"value": found["values"], **counts})
        return pd.DataFrame({"from": found["edges"][:-1], "to": found["edges"][1:], **counts})


def open_run(run: str | Path) -> Run:
    """A finished run, opened for questions that its page does not answer.

    Parameters
    ----------
    run : str or Path
        The run's folder, a file in it, or the run's id below the folder of reports.

    Raises
    ------
    BadInput
        If it is not the folder of a finished run (what it is at, or where it stopped, is said), or DuckDB is missing (``pip install 'evalbench[view]'``).
    """
    from evalbench import workbench

    folder = run_folder(str(run), workbench.reports())
    refuse_unfinished(folder)
    return Run(folder)
