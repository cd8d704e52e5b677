"""What a comparison says in words: the outcome of the first figure, and sentences."""

from __future__ import annotations

from collections.abc import Mapping

from evalbench.compare.runs import Differences, Row
from evalbench.core.notes import first_rank
from evalbench.core.wording import counted

_SHOWN = ("better", "worse", "higher", "lower")


def headline(differences: Differences) -> list[Row]:
    """The rows of the first figure, the whole's alone where there is one."""
    first = differences.rows[0].comparison.metric
    rows = [row for row in differences.rows if row.comparison.metric == first]
    whole = [row for row in rows if not row.group]
    return whole or rows


def outcome(differences: Differences) -> str:
    """The outcome of the first figure, ``mixed`` where groups differ.

    Groups without a value say nothing, and a group that is the same shows no difference either.
    """
    found = {row.comparison.outcome for row in headline(differences)}
    known = found - {"undefined"} or found
    if len(known) == 1:
        return known.pop()
    return "no difference shown" if known == {"same", "no difference shown"} else "mixed"


def judged_by(differences: Differences) -> str:
    """The figure that the outcome is of; empty where everything is the same."""
    rows = [row for row in differences.rows if row.headline]
    alike = differences.same or all(row.comparison.outcome == "same" for row in rows)
    return "" if alike else differences.rows[0].comparison.title


def told_otherwise(differences: Differences) -> list[str]:
    """Further headline figures of the whole that show a difference which the outcome does not show, in words."""
    first, word = differences.rows[0].comparison.metric, outcome(differences)
    return [
        row.comparison.words
        for row in differences.rows
        if row.headline
        and not row.group
        and row.comparison.metric != first
        and row.comparison.outcome in _SHOWN
        and row.comparison.outcome != word
    ]


def sentences(differences: Differences, metric: str = "") -> list[str]:
    """The verdict in words: headline figures of the whole, and the first one of each group; or one figure alone."""
    if differences.same:
        return [f"Both sides are the same run, {differences.side.run_id}: every difference is 0."]
    rows = [row for row in differences.rows if row.headline]
    if all(row.comparison.outcome == "same" for row in rows):
        return [
            f"{differences.side.name} and {differences.reference.name} agree on every one of "
            f"{counted(differences.n_shared, 'unit')}: every difference is 0."
        ]
    first = rows[0].comparison.metric
    whole = [row for row in rows if not row.group and metric in ("", row.comparison.metric)]
    groups = [row for row in rows if row.group and row.comparison.metric == first]
    judges = differences.judging.sentences if differences.judging and differences.judging.voids else ()
    return [
        *judges,
        *first_rank(differences.notes),
        *(f"{said_group(row.group)}{row.comparison.words}" for row in [*whole, *groups]),
    ]


def said_group(group: Mapping[str, str]) -> str:
    return f"{', '.join(group.values())}: " if group else ""
