"""Two sides in the explorer: which runs or groups are compared, and by what two items of them can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalbench.compare.runs import paired_groups
from evalbench.compare.sides import Side, read_side, selected, with_names
from evalbench.core.measures import Measure
from evalbench.errors import BadInput
from evalbench.explorer.database import quoted
from evalbench.readers.where import parse

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.explorer.rows import Rows

SIDES = ("left", "right")


class Score(NamedTuple):
    """By what two items are compared.

    - ``name``: Of a figure of the study that is a function of sums over items, or of a column of numbers or yes and no.
    - ``measure``: Of single items.
    - ``higher_is_better``: None where nobody said so.
    """

    name: str
    title: str
    measure: Measure
    higher_is_better: bool | None
    figure: bool


def sides(left: Rows, right: Rows, groups: tuple[str, str] = ("", "")) -> tuple[Side, Side]:
    """Two runs, or groups of them, with names that distinguish them; of their items only the groups are read.

    - ``groups``: Such as ``"model=oak"``; empty for all of the run.

    Raises ``BadInput`` where the studies differ, both sides are the same, or a group is unknown.
    """
    wanted = [group_of(text) for text in groups]
    if left.folder == right.folder and wanted[0] == wanted[1]:
        raise BadInput("both sides are the same: choose another run, or two groups such as model=oak and model=birch")
    if left.results["study"] != right.results["study"]:
        of = [f"of {rows.results['study']}" for rows in (left, right)]
        raise BadInput(
            f"{left.folder.name} is {of[0]}, {right.folder.name} is {of[1]}: two runs of one study are compared"
        )
    found = [
        selected(read_side(rows.folder, _groups(rows)), group, name)
        for rows, group, name in zip((left, right), wanted, SIDES, strict=True)
    ]
    one, other = with_names(found)
    return one, other


def group_of(text: str) -> dict[str, str]:
    """A group as it is written.

    Examples
    --------
    >>> group_of('model="big oak"')
    {'model': 'big oak'}
    """
    terms = parse(text)
    wrong = [
        t.column or t.values[0] for t in terms if not t.column or t.operator != "=" or len(t.values) != 1 or t.negated
    ]
    if wrong:
        raise BadInput(f"a group is written as model=oak; {', '.join(map(repr, wrong))} is not")
    return {term.column: term.values[0] for term in terms}


def _groups(rows: Rows) -> pd.DataFrame:
    """A row for each group of a run, in place of its items."""
    import pandas as pd

    if not rows.by:
        return pd.DataFrame(index=[0])
    names = ", ".join(map(quoted, rows.by))
    found = rows.database.fetch(f"SELECT DISTINCT {names} FROM items ORDER BY ALL")
    return pd.DataFrame(found, columns=list(rows.by), dtype=object)


def keys_of(one: Side, other: Side) -> list[str]:
    """The columns besides the id by which items are paired: the free groups, if these are those of both.

    Raises ``BadInput`` where the sides have no group in common and there are several.
    """
    pairs, _ = paired_groups(one, other)
    here, there = pairs[0][1]
    return one.by if here == there else []
