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

        Items are paired by the id and by the groups that are free on both sides; several items of one id and group count as
        one.

        Parameters
        ----------
        other : Run, str or Path
            The right side; by default this run.
        left, right : str
            The group of each side, such as ``"model=oak"``; by default all.
        metric : str
            The figure that is a function of sums over items, or the column of numbers, yes and no, by which they are compared; by
            default the figure that decides the run's light, else the first that differs, those of the study before columns.
        where : str
            A filter: only pairs of which one item fits it. What was chosen after looking is no test, and ``notes`` say so.

        Returns
        -------
        Compared
            Two DataFrames: ``items``, a row for each pair and for each item that only one side has, the largest changes first, with
            ``left``, ``right``, ``change`` (right − left, in the units of the score) and ``verdict``; ``figures``, the differences
            with 95 % intervals and p-values.  And ``metric``, ``names``, ``only``, ``notes``; see
            :class:`evalbench.explorer.comparing.Compared`.

        Raises
        ------
        BadInput
            For a filter or a group that cannot be read, an unknown metric, two studies, sides without a common group, and where
            both sides are the same.

        Notes
        -----
        A change is NaN where a side has no item or no value, and where the runs read different data and another question,
        reference or source has the id (``inputs differ``).  Items *flicker* where the trials of a side disagree on right and wrong.  Figures
        are those of ``evalbench compare``: differences over the units that both have, paired bootstrap, swaps within units, Holm's
        adjustment; of a column that is not a figure, the difference of its means, or of the shares of yes, is the first row, by the same
        tests.  Of more than 10 000 pairs the figures are those of 10 000, drawn evenly, and ``notes`` say so.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import pandas as pd
        >>> import evalbench
        >>> from evalbench.runs.record import record
        >>> models, outputs = ["oak", "birch"] * 3, ["at noon", "noon", "seven", "at seven", "no", "no"]
        >>> table = pd.DataFrame({"id": [*"aabbcc"], "model": models, "output": outputs, "reference": ["noon"] * 2 + ["seven"] * 2 + ["no"] * 2})
        >>> data = evalbench.load({"items": table}, study="text_metrics")
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = record(evalbench.text_metrics.evaluate(data, metrics=["exact_match"]), folder)
        >>> found = evalbench.open_run(folder).compare(left="model=oak", right="model=birch")
        >>> found.items[["id", "left", "right", "change", "verdict"]].values.tolist()
        [['a', 0.0, 1.0, 1.0, 'better'], ['b', 1.0, 0.0, -1.0, 'worse'], ['c', 1.0, 1.0, 0.0, 'same']]
        >>> found.figures[["title", "difference", "n", "outcome"]].values.tolist()
        [['exact_match', 0.0, 3, 'no difference shown']]
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
