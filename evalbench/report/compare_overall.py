"""The answer of a comparison of several runs: which is best, which worst, and which cannot be told from the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evalbench.compare.matrix import Pairs
from evalbench.compare.runs import Differences, Row
from evalbench.core.wording import count, decimals_for, listed, signed
from evalbench.kit.saying import as_good_as_best, names
from evalbench.report.compare_matrix import overview
from evalbench.report.compare_words import plain

_KNOWN = ("better", "worse", "no difference shown", "equivalent", "same")
_WON = {"better": "side", "worse": "reference"}
_GROUPS = 3


class Standing(NamedTuple):
    """Several runs in the first figure, of the whole or of one group.

    - ``order``: The runs, the best first.
    - ``values``: That of each run, where it is the same in every pair; else nothing.
    - ``alike``: Those that are not shown to differ from the best.
    - ``same``: Whether no unit differs between any two.
    """

    group: Mapping[str, str]
    metric: str
    title: str
    order: tuple[str, ...]
    values: tuple[float, ...]
    alike: tuple[str, ...]
    same: bool

    def to_json(self) -> dict[str, Any]:
        """An entry of ``standings`` in ``comparison.json``."""
        return {
            "group": dict(self.group),
            "metric": self.metric,
            "title": self.title,
            "order": [*self.order],
            "not_shown_to_differ_from_best": [*self.alike],
        }


def standings(pairs: Pairs) -> tuple[Standing, ...]:
    """How several runs stand to each other in the first figure, for the whole or for each group.

    Nothing for two runs, and where a pair is missing, has no verdict, or neither end of the figure is better.
    """
    if len(pairs.sides) < 3 or pairs.refused:
        return ()
    found: dict[tuple[tuple[str, str], ...], dict[tuple[str, str], Row]] = {}
    for d in pairs.found:
        for row in _of_first_figure(pairs, d):
            found.setdefault(tuple(row.group.items()), {})[d.reference.name, d.side.name] = row
    n = len(pairs.sides)
    if any(len(rows) < n * (n - 1) // 2 or not all(map(_decides, rows.values())) for rows in found.values()):
        return ()
    return tuple(_standing(dict(group), rows) for group, rows in found.items())


def _of_first_figure(pairs: Pairs, d: Differences) -> list[Row]:
    """The rows of the first pair's first figure, the whole's alone where there is one."""
    first = pairs.found[0].rows[0].comparison.metric
    rows = [row for row in d.rows if row.comparison.metric == first]
    return [row for row in rows if not row.group] or rows


def _decides(row: Row) -> bool:
    c = row.comparison
    return c.outcome in _KNOWN and c.higher_is_better is not None and None not in (c.value_a, c.value_b)


def _standing(group: Mapping[str, str], rows: Mapping[tuple[str, str], Row]) -> Standing:
    values: dict[str, list[float]] = {}
    beaten: dict[str, set[str]] = {}
    for (reference, side), row in rows.items():
        c = row.comparison
        values.setdefault(side, []).append(float(c.value_a or 0.0))
        values.setdefault(reference, []).append(float(c.value_b or 0.0))
        if winner := _WON.get(c.outcome):
            won, lost = (side, reference) if winner == "side" else (reference, side)
            beaten.setdefault(won, set()).add(lost)
    first = next(iter(rows.values())).comparison
    sign = -1.0 if first.higher_is_better else 1.0
    order = sorted(values, key=lambda name: sign * sum(values[name]) / len(values[name]))
    firm = all(max(own) - min(own) < 1e-9 for own in values.values())
    return Standing(
        group,
        first.metric,
        first.title,
        tuple(order),
        tuple(values[name][0] for name in order) if firm else (),
        tuple(name for name in order[1:] if name not in beaten.get(order[0], ())),
        all(row.comparison.outcome == "same" for row in rows.values()),
    )


def overall(pairs: Pairs) -> str:
    """The answer of a comparison, one or two sentences; empty where one run alone was split."""
    if not pairs.found:
        return ""
    if len(pairs.sides) == 2:
        return plain(pairs.found[0])
    found = standings(pairs)
    if not found:
        return overview(pairs)[0]
    return _of_whole(found[0], pairs) if len(found) == 1 else _of_groups(found)


def _of_whole(s: Standing, pairs: Pairs) -> str:
    n, where = count(len(s.order)), f" ({', '.join(s.group.values())})" if s.group else ""
    if s.same:
        return f"All {n} runs are the same in {s.title}{where}."
    if len(s.alike) == len(s.order) - 1:
        return f"In {s.title}{where} none of the {n} runs is shown to be better than the others{_span(s, pairs)}."
    best, worst = (_valued(s, i, pairs) for i in (0, -1))
    others = f" {_sentence(as_good_as_best(s.alike))}" if s.alike else ""
    return f"{best} is best in {s.title}{where}, {worst} worst.{others}"


def _valued(s: Standing, i: int, pairs: Pairs) -> str:
    return f"{s.order[i]}{f' ({_value(s, i, pairs)})' if s.values else ''}"


def _span(s: Standing, pairs: Pairs) -> str:
    return f": {_valued(s, 0, pairs)} to {_valued(s, -1, pairs)}" if s.values else ""


def _value(s: Standing, i: int, pairs: Pairs) -> str:
    """A run's value, rounded to what the narrowest interval of a difference supports."""
    rows = [row.comparison for d in pairs.found for row in _of_first_figure(pairs, d)]
    widths = [c.ci_high - c.ci_low for c in rows if c.ci_low is not None and c.ci_high is not None]
    width = min((one for one in widths if one > 0), default=0.0)
    return signed(f"{s.values[i]:.{decimals_for(width) if width else 2}f}")


def _of_groups(found: Sequence[Standing]) -> str:
    """For which groups which run is best, and for which none is shown to be."""
    best: dict[str, list[str]] = {}
    for s in found:
        name = ", ".join(s.group.values())
        open_one = s.same or len(s.alike) == len(s.order) - 1
        best.setdefault("" if open_one else s.order[0], []).append(name)
    clauses = [f"{run} is best for {names(groups, _GROUPS)}" for run, groups in best.items() if run]
    if groups := best.get(""):
        clauses.append(f"no run is shown to be better than the others for {names(groups, _GROUPS)}")
    return f"In {found[0].title} {listed(clauses, last=' and ')}."


def _sentence(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}."
