"""Over which tests Holm's adjustment goes: two groups of a run as its page compares them, and all other figures of two sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, get_args

from evalbench.compare.runs import Row
from evalbench.compare.sides import Side
from evalbench.core.compared import Comparison, Outcome, in_words
from evalbench.explorer.conditions import as_text
from evalbench.explorer.database import quoted
from evalbench.report.compare_words import COMPARED_ON_PAGE, adjusted_for

if TYPE_CHECKING:
    from evalbench.explorer.rows import Rows

ALONE = "tested alone, not adjusted"
_FIELDS = tuple(field.name for field in fields(Comparison))
_COUNTS = ("n_differ", "n_tests", "n_a", "n_b", "n_left_out", "n_clusters")
_TURNED: Mapping[str, Outcome] = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}


def figure_row(
    group: Mapping[str, str], c: Comparison, headline: bool, *, tested: bool, family: str = ALONE
) -> dict[str, Any]:
    """A figure of two sides as the explorer gives it; without test where the items were filtered."""
    return {
        "group": dict(group), "metric": c.metric, "title": c.title or c.metric, "left": c.value_b, "right": c.value_a, "difference": c.difference,
        "headline": headline, "ci_low": c.ci_low, "ci_high": c.ci_high, "n": c.n_a, "left_out": c.n_left_out, "note": c.note,
        **({"p": c.p, "p_holm": c.p_holm, "n_tests": c.n_tests, "family": family, "outcome": c.outcome, "words": c.words} if tested else {}),
    }  # fmt: skip


def figure_rows(
    rows: Sequence[Row], page: Mapping[str, Comparison], lit: str, *, same_run: bool, tested: bool
) -> list[dict[str, Any]]:
    """The figures of two sides, those of the run's page in its own words.

    - ``page``: Of :func:`on_page`; a figure that is there alone comes last.
    - ``lit``: The figure that decides the light, which is no further one.
    """
    grouped = any(row.group for row in rows)
    found = []
    for row in rows:
        c, headline = row.comparison, row.headline or row.comparison.metric == lit
        family = adjusted_for(c.n_tests, "headline" if row.headline else "further", same_run=same_run, grouped=grouped)
        own = page.get(c.metric)
        found.append(
            figure_row(row.group, own, headline, tested=tested, family=_of_page(own))
            if own
            else figure_row(row.group, c, headline, tested=tested, family=family)
        )
    known = {row.comparison.metric for row in rows}
    alone = [c for metric, c in page.items() if metric not in known]
    return [*found, *(figure_row({}, c, True, tested=tested, family=_of_page(c)) for c in alone)]


def _of_page(c: Comparison) -> str:
    return (
        f"adjusted for the {c.n_tests} comparisons of the run's page"
        if c.n_tests > 1
        else "the only comparison of the run's page, not adjusted"
    )


def on_page(left: Rows, right: Rows, sides: tuple[Side, Side]) -> dict[str, Comparison]:
    """By metric, what the run's page says of two of its groups, as right − left; empty where it does not compare them."""
    if left.folder != right.folder or len(left.by) != 1:
        return {}
    by = left.by[0]
    groups = [side.selected.get(by) for side in sides]
    table = next((name for name in COMPARED_ON_PAGE if name in left.results["tables"]), "")
    columns = {column.name for column in left.columns_of(table)} if table else set()
    if None in groups or not {f"{by}_a", f"{by}_b", *_FIELDS} <= columns:
        return {}
    pair = ", ".join(as_text(f"{by}_{side}", "t") for side in "ab")
    rows = left.database.records(
        f"SELECT ({pair}) = (?, ?) AS forwards, * FROM {quoted(table)} t WHERE ({pair}) IN ((?, ?), (?, ?))",
        [*reversed(groups), *groups, *reversed(groups)],
    )
    names = (sides[1].name, sides[0].name)
    return {str(row["metric"]): _read(row, names) for row in rows if _whole(row)}


def _whole(row: Mapping[str, Any]) -> bool:
    """Whether a row is one that a study wrote, with all that its sentence says."""
    tested = ("difference", "ci_low", "ci_high", "p", "p_holm")
    known = row["outcome"] in get_args(Outcome) and isinstance(row["words"], str)
    return known and (row["outcome"] == "undefined" or all(isinstance(row[name], int | float) for name in tested))


def _read(row: Mapping[str, Any], names: tuple[str, str]) -> Comparison:
    """A row of the table, turned where it is left − right; what its sentence ends with (how many units could not be scored) stays."""
    counts = {name: None if row[name] is None else int(row[name]) for name in _COUNTS}
    c = Comparison(**{**{name: row[name] for name in _FIELDS}, **counts})
    stated = names if row["forwards"] else (names[1], names[0])
    rest = c.words.removeprefix(in_words(c, stated)) if c.words.startswith(in_words(c, stated)) else ""
    turned = c if row["forwards"] else _turned(c)
    return replace(turned, words=in_words(turned, names) + rest)


def _turned(c: Comparison) -> Comparison:
    """B against A, of a comparison of A against B."""

    def less(value: float | None) -> float | None:
        return None if value is None else 0 - value

    return replace(
        c,
        value_a=c.value_b,
        value_b=c.value_a,
        difference=less(c.difference),
        ci_low=less(c.ci_high),
        ci_high=less(c.ci_low),
        n_a=c.n_b,
        n_b=c.n_a,
        outcome=_TURNED.get(c.outcome, c.outcome),
    )
