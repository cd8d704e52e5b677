"""What annotators and a judge said of the interactions of a log store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalbench.core.wording import counted
from evalbench.readers.log_store.log import Log
from evalbench.readers.log_store.tables import tables
from evalbench.readers.log_store.texts import readable
from evalbench.readers.log_store.times import EVERYTHING, Window

if TYPE_CHECKING:
    import pandas as pd


class Marks(NamedTuple):
    """What was said of interactions, by their ids.

    - ``labels``: Of annotators: the last value of each, then the one that most of them gave.
    - ``scores``: Of the judge, where there is one only: its last value.
    """

    labels: pd.Series
    scores: pd.Series
    notes: list[str]

    def named(self) -> dict[str, pd.Series]:
        """Those that there are, by the names of their columns."""
        return {name: values for name, values in (("label", self.labels), ("score", self.scores)) if len(values)}


def marks_of(log: Log, window: Window = EVERYTHING) -> Marks:
    """What annotators and a judge said of the interactions of a window, whenever they said it."""
    import pandas as pd
    import sqlalchemy as sa

    rows, marks = tables().interactions, tables().feedback
    query = (
        sa.select(marks.c.interaction, marks.c.source, marks.c.judge, marks.c.value)
        .join(rows, rows.c.id == marks.c.interaction)
        .where(marks.c.source.in_(["annotator", "judge"]), marks.c.value.is_not(None))
        .order_by(marks.c.ts, marks.c.seq)
    )
    if window.start is not None:
        query = query.where(rows.c.ts >= window.start)
    if window.end is not None:
        query = query.where(rows.c.ts < window.end)
    with log.reading() as connection:
        found = pd.DataFrame(connection.execute(query).tuples().all(), columns=["id", "source", "judge", "value"])
    found["id"] = found["id"].map(readable)
    found["judge"] = found["judge"].fillna("")
    last = found.groupby(["source", "id", "judge"], as_index=False)["value"].last()
    labels, ties = _majority(last[last["source"] == "annotator"])
    of_judges = last[last["source"] == "judge"]
    judges = of_judges["judge"].unique()
    notes = [f"annotators disagree on {counted(ties, 'interaction')}, which have no label"] if ties else []
    if len(judges) > 1:
        shown = ", ".join(sorted(name or "without a name" for name in judges)[:5])
        notes.append(f"feedback of {len(judges)} judges ({shown}) is not used: scores are those of one")
        of_judges = of_judges[:0]
    return Marks(labels, of_judges.set_index("id")["value"], notes)


def _majority(each: pd.DataFrame) -> tuple[pd.Series, int]:
    """The value that most annotators gave to each interaction, and for how many there is none."""
    counts = each.groupby(["id", "value"], as_index=False).size()
    most = counts[counts["size"] == counts.groupby("id")["size"].transform("max")]
    tied = most["id"].duplicated(keep=False)
    return most[~tied].set_index("id")["value"], int(most.loc[tied, "id"].nunique())


def are_whole(values: pd.Series) -> bool:
    """Whether all marks are whole numbers: they are then written as such."""
    return bool((values % 1 == 0).all())
