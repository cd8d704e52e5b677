"""What a comparison says in words: the outcome of the first figure, and sentences."""

from __future__ import annotations

from collections.abc import Mapping

from evalbench.compare.runs import Differences, Row
from evalbench.core.compared import Comparison, void_because
from evalbench.core.notes import first_rank
from evalbench.core.wording import counted, listed
from evalbench.kit.saying import BEYOND_CHANCE, Difference, lowered, names, points

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
    return "" if differences.same or _nothing_differs(differences) else differences.rows[0].comparison.title


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


def plain(differences: Differences) -> str:
    """The answer of a comparison: which side is better in the first figure, by how much, whether that is shown; without statistics."""
    if differences.same or _nothing_differs(differences):
        return sentences(differences)[0]
    rows = headline(differences)
    side, reference, title = differences.side.name, differences.reference.name, rows[0].comparison.title
    if len(rows) == 1:
        group = f" ({', '.join(rows[0].group.values())})" if rows[0].group else ""
        said = _plainly(rows[0].comparison, side, reference, f"{title}{group}")
    else:
        said = f"In {title} {_by_group(rows, side, reference)}"
    others = len(told_otherwise(differences))
    further = f" In {counted(others, 'other figure')} a difference is shown." if others else ""
    return f"{said}.{further}"


def _nothing_differs(differences: Differences) -> bool:
    return all(row.comparison.outcome == "same" for row in differences.rows if row.headline)


def _plainly(c: Comparison, side: str, reference: str, title: str) -> str:
    """One figure of one pair, without the full stop."""
    if c.outcome in _SHOWN:
        size = points(Difference(c.metric, side, reference, c.difference, c.unit, "", True))
        unknown = "" if c.outcome in ("better", "worse") else "; neither is better for that"
        return f"{side} is {c.outcome} than {reference}{f' by {size}' if size else ''} in {title}, {BEYOND_CHANCE}{unknown}"
    if c.outcome == "equivalent":
        return f"{side} and {reference} are as good as each other in {title}: they differ by less than {c.margin:.3g}"
    if c.outcome == "same":
        return f"{side} and {reference} are the same in {title}"
    if c.outcome == "no difference shown":
        return f"No difference between {side} and {reference} is shown in {title}"
    why = void_because(c.outcome) or lowered(c.note) or "no resample has a value"
    return f"Whether {side} or {reference} is better in {title} cannot be said: {why}"


_IN_GROUPS = {
    "same": "is the same as {other}", "equivalent": "is as good as {other}", "no difference shown": "is not shown to differ from {other}",
}  # fmt: skip


def _by_group(rows: list[Row], side: str, reference: str) -> str:
    """In which groups a side is better, in which worse, and in which that is not shown."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.comparison.outcome, []).append(", ".join(row.group.values()))
    order = [*_SHOWN, *_IN_GROUPS]
    said: list[str] = []
    for outcome_ in sorted(found, key=lambda o: order.index(o) if o in order else len(order)):
        groups = (
            ("both groups" if len(rows) == 2 else f"all {len(rows)} groups")
            if len(found) == 1
            else names(found[outcome_], 4)
        )
        what = _IN_GROUPS.get(
            outcome_, "is {outcome} than {other}" if outcome_ in _SHOWN else "cannot be compared with {other}"
        )
        said.append(f"{what.format(outcome=outcome_, other=reference if not said else 'it')} for {groups}")
    return f"{side} {listed(said, last=' and ')}"


def sentences(differences: Differences, metric: str = "") -> list[str]:
    """The verdict in words: headline figures of the whole, and the first one of each group; or one figure alone."""
    if differences.same:
        return [f"Both sides are the same run, {differences.side.run_id}: every difference is 0."]
    rows = [row for row in differences.rows if row.headline]
    if _nothing_differs(differences):
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


COMPARED_ON_PAGE = ("comparison", "comparisons")
"""The tables of a run in which its page compares the run's groups."""


def adjusted_for(n_tests: int, kind: str, *, same_run: bool, grouped: bool = False) -> str:
    """Over which tests of two sides Holm's adjustment goes.

    - ``kind``: ``headline`` or ``further``.
    - ``same_run``: Whether the sides are groups of one run.
    - ``grouped``: Whether each figure is tested in several groups.

    Examples
    --------
    >>> adjusted_for(3, "headline", same_run=True), adjusted_for(1, "headline", same_run=False)
    ('adjusted for the 3 headline figures of these two groups', 'the only headline figure of these two runs, not adjusted')
    """
    of = f"of these two {'groups' if same_run else 'runs'}"
    if n_tests == 1:
        return f"the only {kind} figure {of}, not adjusted"
    return f"adjusted for the {n_tests} {f'tests of {kind}' if grouped else kind} figures {of}"


def family(differences: Differences) -> str:
    """For which tests the p-values of the first figures are adjusted, a sentence; empty where nothing was tested."""
    tested = [row for row in differences.rows if row.headline and row.comparison.p is not None]
    if not tested or differences.same:
        return ""
    one, other = differences.reference, differences.side
    same_run = one.run_id == other.run_id
    said = adjusted_for(
        tested[0].comparison.n_tests, "headline", same_run=same_run, grouped=any(row.group for row in tested)
    )
    beside = same_run and any(name in one.results.get("tables", ()) for name in COMPARED_ON_PAGE)
    return (
        f"p-values by Holm: {said}{'; the page of the run adjusts over all comparisons of its own' if beside else ''}."
    )


def said_group(group: Mapping[str, str]) -> str:
    return f"{', '.join(group.values())}: " if group else ""
