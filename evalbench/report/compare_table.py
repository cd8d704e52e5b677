"""The table of a comparison: both values, the difference with its interval, Holm's p-value, the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalbench.compare.runs import Differences
from evalbench.core.compared import Comparison, held_back
from evalbench.core.slices import EMPTY
from evalbench.core.wording import counted, cut, difference_parts, p_equals, p_text, rounded_parts
from evalbench.draw.html import Html, attribute, breakable, escape
from evalbench.draw.tables import NO_VALUE
from evalbench.draw.verdict import BETTER, identifier, interval_bar

ARROWS = {
    "better": "↑", "worse": "↓", "higher": "↑", "lower": "↓", "same": "=", "equivalent": "≈", "no difference shown": "?",
    "undefined": "–", "mixed": "⇅", "another judge": "◌", "another measure": "◌",
}  # fmt: skip
COLOUR = {"better": "green", "worse": "red"}


class Line(NamedTuple):
    """One row of the table with the names of its two sides."""

    label: str
    comparison: Comparison
    cuts: tuple[float, ...] = ()


def figures_table(found: Sequence[Differences]) -> Html:
    """Headline figures open, the others folded."""
    several = len(found) > 1
    summaries = [one.results["summary"] for d in found for one in (d.reference, d.side)]
    cuts = {row["metric"]: tuple(row["cuts"]) for rows in summaries for row in rows if row.get("cuts")}
    lines: dict[bool, dict[str, list[Line]]] = {True: {}, False: {}}
    for d in found:
        for row in d.rows:
            pair = [f"{d.side.name} against {d.reference.name}"] * several
            label = ", ".join([*pair, *row.group.values()])
            lines[row.headline].setdefault(row.comparison.metric, []).append(
                Line(label, row.comparison, cuts.get(row.comparison.metric, ()))
            )
    reference, side = ("reference", "compared") if several else (found[0].reference.name, found[0].side.name)
    named = "pair" if several else "group"
    top = _table(lines[True], reference, side, "Headline figures", named)
    if not lines[False]:
        return top
    more = f"{counted(len(lines[False]), 'more figure')}, a family of tests of their own"
    return Html(
        f'{top}<details class="eb-more"><summary>{more}</summary>'
        f"{_table(lines[False], reference, side, 'More figures', named)}</details>"
    )


def slices_table(d: Differences) -> Html:
    """The first figure within each value of the slices, or nothing."""
    lines: dict[str, list[Line]] = {}
    for v in d.slices:
        name = v.name or EMPTY
        label = ", ".join([cut(name, _LONGEST), *v.group.values()])
        lines.setdefault(f"By {v.column}", []).append(Line(label, v.comparison))
    return Html(
        "".join(
            f"<h3>{escape(title)}</h3>{_table({title: own}, d.reference.name, d.side.name, title, 'value')}"
            for title, own in lines.items()
        )
    )


def comparisons_table(metrics: Mapping[str, Sequence[Line]], reference: str, side: str, label: str, named: str) -> Html:
    """The table of some comparisons by metric; ``named``: what the label of a line is."""
    return _table(metrics, reference, side, label, named)


_LONGEST = 80
_LEGEND = (
    '<p class="eb-small">In brackets: the smallest difference that so many units would have shown with 80 % power.</p>'
)


def _table(metrics: Mapping[str, Sequence[Line]], reference: str, side: str, label: str, named: str) -> Html:
    grouped = any(line.label for lines in metrics.values() for line in lines)
    body = "".join(_metric_rows(lines, grouped) for lines in metrics.values())
    return Html(
        f'<div class="eb-scroll" tabindex="0" role="group" aria-label="{attribute(label)}">'
        '<table class="eb-table eb-headline eb-compare"><thead><tr>'
        f'<th scope="col">{named if grouped else "figure"}</th><th scope="col" class="n">{_head(reference)}</th>'
        f'<th scope="col" class="n">{_head(side)}</th>'
        '<th scope="colgroup" colspan="3">difference, 95 % interval</th><th scope="col" class="n">p, Holm</th>'
        f'<th scope="col">verdict</th></tr></thead>{body}</table></div>{_LEGEND if "eb-power" in body else ""}'
    )


def _head(name: str) -> Html:
    return Html(f'<span class="eb-name">{breakable(name)}</span>')


def _metric_rows(lines: Sequence[Line], grouped: bool) -> str:
    first = lines[0].comparison
    better = BETTER[first.higher_is_better]
    details = ", ".join(part for part in (identifier(first.metric, first.title), first.unit, better) if part)
    name = f'{breakable(first.title)} <span class="eb-small">{escape(details)}</span>'
    domain = _domain([line.comparison for line in lines])
    if not grouped:
        rows = "".join(f'<tr><th scope="row">{name}</th>{_cells(line, domain)}</tr>' for line in lines)
        return f"<tbody>{rows}</tbody>"
    rows = "".join(
        f'<tr><td class="w">{breakable(line.label) or "<i>all</i>"}</td>{_cells(line, domain)}</tr>' for line in lines
    )
    return f'<tbody><tr><th scope="rowgroup" colspan="8" class="eb-metric">{name}</th></tr>{rows}</tbody>'


def _domain(lines: Sequence[Comparison]) -> tuple[float, float]:
    """Symmetric about 0, wide enough for every interval."""
    reach = max((abs(v) for c in lines for v in (c.difference, c.ci_low, c.ci_high) if v is not None), default=0.0)
    return (-reach, reach) if reach > 0 else (-1.0, 1.0)


def _cells(line: Line, domain: tuple[float, float]) -> str:
    c = line.comparison
    row = {"value": c.difference, "ci_low": c.ci_low, "ci_high": c.ci_high}
    if c.difference is None:
        shown, interval = str(NO_VALUE), ""
    else:
        shown, interval = difference_parts(c.difference, c.ci_low, c.ci_high)
    colour = f"eb-{COLOUR.get(c.outcome, 'grey')}"
    power = ""
    if c.outcome == "no difference shown" and c.smallest is not None:
        power = f' <span class="eb-small eb-power">({_significant(c.smallest)})</span>'
    if why := held_back(c):
        power += f'<br><span class="eb-small">{escape(why)}</span>'
    return (
        f'<td class="n">{_value(c.value_b, line)}</td><td class="n">{_value(c.value_a, line)}</td>'
        f'<td class="n eb-value">{shown}</td><td class="eb-barcell">{interval_bar(row, domain)}</td>'
        f'<td class="n eb-interval">{interval}</td>'
        f'<td class="n" title="unadjusted p {attribute(p_equals(c.p))}">{NO_VALUE if c.p_holm is None else escape(p_text(c.p_holm))}</td>'
        f'<td><span class="eb-lamp {colour}"><span aria-hidden="true">{ARROWS[c.outcome]}</span> '
        f"{escape(c.outcome)}</span>{power}</td>"
    )


def _value(value: float | None, line: Line) -> str:
    """Rounded as its difference, with as many digits as tell it from where its light changes."""
    c = line.comparison
    return str(NO_VALUE) if value is None else rounded_parts(value, c.ci_low, c.ci_high, cuts=line.cuts)[0]


def _significant(x: float) -> str:
    return f"{x:.2g}" if x < 100 else f"{x:.0f}"
