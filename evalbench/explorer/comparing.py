"""Two runs of a study, or two groups of a run, item by item: the comparison of ``evalbench compare``, asked for by filter."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench import studies
from evalbench.compare.changes import Changes, changes
from evalbench.compare.runs import Differences, Hooks, compare, paired_groups
from evalbench.compare.sides import Side, read_side, selected, with_names
from evalbench.errors import BadInput
from evalbench.explorer.rows import shortened
from evalbench.explorer.standing import AFTER_LOOKING
from evalbench.kit.options import taken
from evalbench.readers.runs import RESULTS_JSON
from evalbench.readers.where import parse

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.explorer.rows import Rows

_KEPT = 4


class Compared(NamedTuple):
    """Two sides.

    - ``figures``: A row each: the group, ``left``, ``right``, ``difference`` (right − left) with its interval; ``p_holm`` and
      ``outcome`` unless the units were filtered.
    - ``items``: A row for each unit that both have, the largest changes first: ``left``, ``right``, ``change``, ``verdict``
      (better, worse, higher, lower, same, flickering, no value, value on one side).
    - ``names``: Of the two sides.
    - ``only``: How many units only the left and only the right side has.
    """

    figures: pd.DataFrame
    items: pd.DataFrame
    metric: str
    names: tuple[str, str]
    only: tuple[int, int]
    notes: tuple[str, ...]


def compared(
    left: Rows, right: Rows, groups: tuple[str, str] = ("", ""), metric: str = "", where: str = ""
) -> Compared:
    """Two sides, unit by unit.

    - ``groups``: Of each side, such as ``"model=oak"``; empty for all of the run.
    - ``metric``: The figure, or column of the items, by which units are ranked; by default the study's first.
    - ``where``: A filter of the left side; the right side has the same units.

    Raises ``BadInput`` for a filter or a group that cannot be read, and where the two cannot be compared.
    """
    if left.folder == right.folder and groups[0] == groups[1]:
        raise BadInput("both sides are the same: choose another run, or two groups such as model=oak and model=birch")
    written = tuple((rows.folder / RESULTS_JSON).stat().st_mtime for rows in (left, right))
    return _compared(left, right, written, groups, metric, where.strip())


@functools.lru_cache(maxsize=_KEPT)  # pages of one comparison are turned
def _compared(
    first: Rows, second: Rows, _written: tuple[float, ...], groups: tuple[str, str], metric: str, where: str
) -> Compared:
    import pandas as pd

    sides = [read_side(rows.folder) for rows in (first, second)]
    if where:
        kept = sides[0].items[first.id].iloc[first.places(where)]
        if kept.empty:
            raise BadInput("no item fits the filter")
        sides = [_narrowed(side, side.items[first.id].isin(kept)) for side in sides]
    sides = [
        selected(side, _group(group), name) for side, group, name in zip(sides, groups, ("left", "right"), strict=True)
    ]
    left, right = with_names(sides)
    hooks = Hooks.of(studies.study(str(left.results["study"])))
    if right.results["study"] != left.results["study"]:
        raise BadInput(f"{left.run_id} is of {left.results['study']}, {right.run_id} of {right.results['study']}")
    column = (
        metric
        if metric in _numbers(first) and not any(metric == row["metric"] for row in left.results["summary"])
        else ""
    )
    (found,) = compare(left, [right], hooks, metric="" if column else metric, n_summaries=0)
    ranked = _by_column(left, right, hooks, [column]) if column else found.changes
    if not metric and (ranked is None or set(ranked.counts) == {"same"}):
        ranked = _by_column(left, right, hooks, _numbers(first)) or ranked
    items = pd.DataFrame() if ranked is None else ranked.table.rename(columns={"reference": "left", "side": "right"})
    return Compared(
        _figures(found, tested=not where),
        items,
        "" if ranked is None else ranked.title or ranked.metric,
        (left.name, right.name),
        (found.only_reference, found.only_side),
        (*found.notes, *([AFTER_LOOKING] if where else [])),
    )


def _numbers(rows: Rows) -> list[str]:
    """Columns of the items by which a single one can be ranked."""
    own = [c.name for c in rows.columns.values() if c.table == "items" and c.kind in ("number", "yes/no")]
    return [name for name in own if name not in (rows.id, *rows.by)]


def _by_column(left: Side, right: Side, hooks: Hooks, columns: Sequence[str]) -> Changes | None:
    """The units by how much a column differs: the first one of these that does."""
    pairs, _ = paired_groups(left, right)
    listed = [pair for pair in pairs if len(pair[0]) == len(left.by)] or pairs
    unit = hooks.unit or str(left.results["id"])
    for column in columns:
        before, after = (
            replace(side, items=side.items.assign(**{column: side.items[column].astype(float)}))
            for side in (left, right)
        )
        found = changes(before, after, listed, unit, column, None)
        if found is not None and found.metric == column and set(found.counts) - {"same", "no value"}:
            return found
    return None


def _narrowed(side: Side, kept: pd.Series) -> Side:
    """Some of a side's items, with the figures that the study's own ``summarise`` has of them."""
    items = side.items[kept].reset_index(drop=True)
    if items.empty:
        raise BadInput(f"{side.run_id} has none of the items that the filter leaves")
    hooks = studies.study(str(side.results["study"]))
    summary = hooks.summarise(items, **taken(hooks.summarise, side.results["parameters"]))
    return replace(side, items=items, results={**side.results, "summary": [dict(e.row()) for e in summary.estimates]})


def _group(text: str) -> dict[str, str]:
    terms = parse(text)
    if wrong := [term.column for term in terms if term.operator != "=" or len(term.values) != 1 or term.negated]:
        raise BadInput(f"a group is written as model=oak; {', '.join(map(repr, wrong))} is not")
    return {term.column: term.values[0] for term in terms}


def _figures(found: Differences, tested: bool) -> pd.DataFrame:
    import pandas as pd

    rows = [
        {
            **row.group, "metric": c.metric, "title": c.title or c.metric, "left": c.value_b, "right": c.value_a, "difference": c.difference,
            "headline": row.headline, "ci_low": c.ci_low, "ci_high": c.ci_high, "n": c.n_a,
            **({"p_holm": c.p_holm, "outcome": c.outcome, "words": c.words} if tested else {}),
        }
        for row in found.rows
        for c in [row.comparison]
    ]  # fmt: skip
    return pd.DataFrame(rows)


def page_of(
    found: Compared, left: Rows, right: Rows, groups: tuple[str, str], verdict: str, offset: int, limit: int
) -> dict[str, Any]:
    """Some of the compared units as JSON, with their places on both sides.

    - ``verdict``: Only those; empty for all.
    """
    from evalbench.explorer.database import as_json

    table = found.items
    counts = {} if table.empty else {str(name): int(n) for name, n in table["verdict"].value_counts().items()}
    kept = table if not verdict or table.empty else table[table["verdict"] == verdict]
    rows = kept.iloc[offset : offset + limit].to_dict("records")
    keys = list(table.columns[: table.columns.get_loc("left")]) if len(table) else []
    places = [
        side.first_places(
            [*keys, *_group(fixed)], [[*(row[key] for key in keys), *_group(fixed).values()] for row in rows]
        )
        for side, fixed in zip((left, right), groups, strict=True)
    ]
    return {
        "metric": found.metric,
        "names": list(found.names),
        "only": list(found.only),
        "notes": list(found.notes),
        "counts": counts,
        "n": len(kept),
        "figures": [{name: as_json(value) for name, value in row.items()} for row in found.figures.to_dict("records")],
        "rows": [
            {**{name: shortened(as_json(value)) for name, value in row.items()}, "left_row": at[0], "right_row": at[1]}
            for row, *at in zip(rows, *places, strict=True)
        ],
    }
