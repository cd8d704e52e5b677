"""The paired differences of several sides as a matrix, the row minus the column, and what could not be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalbench.compare.matrix import Pairs
from evalbench.compare.runs import Row
from evalbench.core.compared import Comparison, void_because
from evalbench.core.wording import counted, difference_parts, p_text
from evalbench.draw.html import Html, attribute, breakable, escape
from evalbench.draw.tables import NO_VALUE
from evalbench.draw.verdict import BETTER, identifier
from evalbench.report.compare_table import ARROWS, COLOUR

_GROUPS = 4  # matrices of one figure that are open
_TURNED = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}
_Key = tuple[str, tuple[tuple[str, str], ...]]


def matrices(pairs: Pairs) -> Html:
    """The first figure's matrix, of the whole or of each group; those of the other headline figures are folded."""
    rows: dict[_Key, dict[tuple[int, int], Row]] = {}
    at = {side.name: i for i, side in enumerate(pairs.sides)}
    for d in pairs.found:
        place = at[d.reference.name], at[d.side.name]
        for row in d.rows:
            if row.headline:
                rows.setdefault((row.comparison.metric, tuple(row.group.items())), {})[place] = row
    metrics = list(dict.fromkeys(metric for metric, _ in rows))
    shown = {metric: _of_metric([key for key in rows if key[0] == metric]) for metric in metrics}
    top = "".join(_matrix(pairs, key, rows[key]) for key in shown[metrics[0]][:_GROUPS])
    folded = [*shown[metrics[0]][_GROUPS:], *(key for metric in metrics[1:] for key in shown[metric])]
    if not folded:
        return Html(top)
    titles = ", ".join(dict.fromkeys(next(iter(rows[key].values())).comparison.title for key in folded))
    return Html(
        f'{top}<details class="eb-more"><summary>the same for {escape(titles)}</summary>'
        f"{''.join(_matrix(pairs, key, rows[key]) for key in folded)}</details>"
    )


def _of_metric(keys: Sequence[_Key]) -> list[_Key]:
    whole = [key for key in keys if not key[1]]
    return whole or list(keys)


def _matrix(pairs: Pairs, key: _Key, found: Mapping[tuple[int, int], Row]) -> str:
    metric, group = key
    first = next(iter(found.values())).comparison
    details = ", ".join(p for p in (identifier(metric, first.title), first.unit, BETTER[first.higher_is_better]) if p)
    where = f", {', '.join(value for _, value in group)}" if group else ""
    caption = f"{first.title}{where}: the row minus the column"
    heads = "".join(f'<th scope="col">{breakable(side.name)}</th>' for side in pairs.sides)
    refused = {(p.reference.name, p.side.name) for p in pairs.refused}
    body = "".join(
        f'<tr><th scope="row">{breakable(side.name)}</th>'
        f"{''.join(_cell(i, j, found, pairs, refused) for j in range(len(pairs.sides)))}</tr>"
        for i, side in enumerate(pairs.sides)
    )
    return (
        f'<figure class="eb-figure"><figcaption><b>{escape(first.title)}{escape(where)}</b>, the row minus the column '
        f"({escape(details)})</figcaption>"
        f'<div class="eb-scroll" tabindex="0" role="group" aria-label="{attribute(caption)}"><table class="eb-table eb-matrix">'
        f"<thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody></table></div></figure>"
    )


def _cell(i: int, j: int, found: Mapping[tuple[int, int], Row], pairs: Pairs, refused: set[tuple[str, str]]) -> str:
    if i == j:
        return '<td class="eb-self"></td>'
    row = found.get((min(i, j), max(i, j)))
    if row is None:
        a, b = sorted((i, j))
        named = (pairs.sides[a].name, pairs.sides[b].name)
        return f'<td><span class="eb-none">{"not compared" if named in refused else "not in both"}</span></td>'
    return f"<td>{_difference(row.comparison, turned=i < j)}</td>"


def _difference(c: Comparison, *, turned: bool) -> str:
    """A comparison as the row sees it: that of the later side is recorded, the earlier one's is turned."""
    outcome = _TURNED.get(c.outcome, c.outcome) if turned else c.outcome
    lamp = (
        f'<span class="eb-lamp eb-{COLOUR.get(outcome, "grey")}"><span aria-hidden="true">{ARROWS[outcome]}</span> '
        f"{escape(outcome)}</span>"
    )
    if c.difference is None:
        return f'{NO_VALUE} <br>{lamp}<br><span class="eb-small">{escape(c.note)}</span>'
    value, low, high = c.difference, c.ci_low, c.ci_high
    if turned:
        value, low, high = -value, None if high is None else -high, None if low is None else -low
    shown, interval = difference_parts(value, low, high)
    p = "" if c.p_holm is None else f"p {p_text(c.p_holm)}, "
    return (
        f'<b class="eb-value">{shown}</b> <span class="eb-interval">{interval}</span><br>{lamp}<br>'
        f'<span class="eb-small">{escape(p)}{counted(c.n_a, "unit")}</span>'
    )


def values_line(pairs: Pairs) -> str:
    """What the cells say, and how many tests Holm's adjustment goes over."""
    tests = [row.comparison for d in pairs.found for row in d.rows if row.headline and row.comparison.p is not None]
    return (
        "In each cell: the difference with its 95 % interval, the verdict, and p after Holm's adjustment over "
        f"{counted(len(tests), 'test')} (all pairs, groups and headline figures together). A pair is compared on the units "
        "that both runs have, so differences need not add up."
    )


def refused_html(pairs: Pairs) -> Html:
    """The pairs that could not be compared, each with its reason; those of one reason together."""
    reasons: dict[str, list[str]] = {}
    for pair in pairs.refused:
        reasons.setdefault(pair.reason, []).append(f"{pair.side.name} and {pair.reference.name}")
    lines = "".join(f"<li><b>{escape('; '.join(who))}</b>: {escape(why)}</li>" for why, who in reasons.items())
    return Html(f"<ul>{lines}</ul>" if lines else "")


def overview(pairs: Pairs) -> tuple[str, list[str]]:
    """How many pairs show a difference in the first figure, and each pair in words, the smallest p first."""
    first = pairs.found[0].rows[0].comparison
    own = [[row for row in d.rows if row.comparison.metric == first.metric] for d in pairs.found]
    rows = [row for pair in own for row in [r for r in pair if not r.group] or pair]
    shown = [row for row in rows if row.comparison.outcome in _TURNED]
    order = sorted(rows, key=lambda row: 2.0 if row.comparison.p_holm is None else row.comparison.p_holm)
    said = [
        f"{', '.join(row.group.values())}: {row.comparison.words}" if row.group else row.comparison.words
        for row in order
    ]
    what = (
        "pair"
        if all(not row.group for row in rows) or len(rows) == len(pairs.found)
        else "comparison of pairs and groups"
    )
    every = counted(
        len(rows), what, what.replace("pair", "pairs", 1) if what == "pair" else "comparisons of pairs and groups"
    )
    line = f"{first.title}: {len(shown)} of {every} {'shows' if len(shown) == 1 else 'show'} a difference."
    void = [why for row in rows if (why := void_because(row.comparison.outcome))]
    for why in dict.fromkeys(void):
        line += f" {void.count(why)} {'has' if void.count(why) == 1 else 'have'} no verdict: {why}."
    if pairs.refused:
        line += f" {counted(len(pairs.refused), 'pair')} could not be compared."
    return line, said
