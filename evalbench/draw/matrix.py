"""The headline figures as a matrix, figures by groups, where they are many; the long table folded behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalbench.core.verdict import SYMBOLS
from evalbench.core.wording import counted, estimate_parts, shared_decimals, title_of
from evalbench.draw.html import Html, attribute, breakable, escape
from evalbench.draw.verdict import BETTER, DECIDES, domain_of, headline_table

ROWS = 8
"""More rows than so many are a matrix."""
MOST_COLUMNS = 8
MOST_LINES = 12
"""Of more rows than so many the matrix has the first ones."""
_SEVERITY = ("red", "yellow", "grey", "green", "unlit")


def figures_html(
    rows: Sequence[Mapping[str, Any]],
    by: Sequence[str] = (),
    *,
    items: str = "",
    terms: str = "",
    decides: Mapping[str, Any] | None = None,
) -> Html:
    """The headline figures of a page: the table, or of many rows the matrix before the folded table.

    Parameters are those of :func:`evalbench.draw.verdict.headline_table`.
    """
    shown = matrix(rows, by, decides)
    table = headline_table(rows, by, items=items, terms=terms, decides=None if shown else decides)
    if not shown:
        return table
    said = f"All {counted(len(rows), 'figure')} with their intervals, counts, and items without a score"
    return Html(f'{shown}<details class="eb-more"><summary>{said}</summary>{table}</details>')


def matrix(rows: Sequence[Mapping[str, Any]], by: Sequence[str], decides: Mapping[str, Any] | None) -> Html:
    """Figures by groups: in each cell light, value and interval; what decides first, then what is red or yellow.

    Nothing where there are few rows, one group, or one figure.
    """
    cells = {(str(row["metric"]), _group(row, by)): row for row in rows}
    metrics, groups = (list(dict.fromkeys(key[i] for key in cells)) for i in (0, 1))
    if len(rows) <= ROWS or min(len(metrics), len(groups)) < 2:
        return Html("")
    first = None if decides is None else (str(decides["metric"]), _group(decides, by))
    metrics, groups = _ordered(metrics, cells, first, 0), _ordered(groups, cells, first, 1)
    across = len(metrics) < len(groups)  # the longer side goes down
    down, right = (groups, metrics) if across else (metrics, groups)
    shown = down[:MOST_LINES]
    right = [c for c in right if any(((c, r) if across else (r, c)) in cells for r in shown)]
    unshown = {"more row": len(down) - MOST_LINES, "more column": len(right) - MOST_COLUMNS}
    titles = {str(row["metric"]): title_of(row) for row in rows}
    own = {m: [row for row in rows if str(row["metric"]) == m] for m in metrics}
    scales = {m: (domain_of(found), shared_decimals(found)) for m, found in own.items()}
    heads = "".join(f'<th scope="col">{_named(titles.get(c, c) if across else c)}</th>' for c in right[:MOST_COLUMNS])
    body = "".join(
        f'<tr><th scope="row">{_named(r if across else titles[r])}{"" if across else _unit(own[r][0])}</th>'
        + "".join(
            _cell(cells.get((c, r) if across else (r, c)), scales[c if across else r], decides)
            for c in right[:MOST_COLUMNS]
        )
        + "</tr>"
        for r in shown
    )
    left = " and ".join(counted(n, what) for what, n in unshown.items() if n > 0)
    more = f'<p class="eb-small">{escape(left)}: in the table below.</p>' if left else ""
    corner = ", ".join(by) if across else "figure"
    return Html(
        '<div class="eb-scroll eb-matrix-box" tabindex="0" role="group" aria-label="Figures by groups">'
        f'<table class="eb-table eb-matrix"><thead><tr><th scope="col">{escape(corner)}</th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{more}"
    )


def _named(text: str) -> Html:
    """A title breaks at its blanks, a name without any after its signs."""
    return escape(text) if " " in text else breakable(text)


def _group(row: Mapping[str, Any], by: Sequence[str]) -> str:
    return ", ".join(str(row[name]) for name in by if row.get(name) not in (None, "")) or "all"


def _ordered(
    names: list[str], cells: Mapping[tuple[str, str], Mapping[str, Any]], first: tuple[str, str] | None, side: int
) -> list[str]:
    """What decides, then by the worst light of a name's cells; equals as they came."""

    def rank(name: str) -> tuple[bool, int]:
        own = (_SEVERITY.index(str(row.get("light") or "unlit")) for key, row in cells.items() if key[side] == name)
        return first is None or name != first[side], min(own)

    return sorted(names, key=rank)


def _unit(row: Mapping[str, Any]) -> str:
    better = BETTER[row.get("higher_is_better")]
    said = ", ".join(filter(None, (str(row.get("unit") or ""), better)))
    return f' <span class="eb-small">{escape(said)}</span>' if said else ""


def _cell(
    row: Mapping[str, Any] | None, scale: tuple[tuple[float, float], int | None], decides: Mapping[str, Any] | None
) -> str:
    if row is None:
        return "<td></td>"
    light = str(row.get("light") or "unlit")
    lamp = (
        ""
        if light == "unlit"
        else f'<span class="eb-lamp eb-{attribute(light)}" role="img" aria-label="{attribute(light)}">{SYMBOLS.get(light, "○")}</span> '
    )
    mark = f' id="{DECIDES}" class="eb-decides"' if row is decides else ""
    said = '<span class="eb-small">decides</span>' if row is decides else ""
    if row["value"] is None:
        return f'<td{mark}>{lamp}<span class="eb-none" title="{attribute(row.get("note") or "no value")}">–</span>{said}</td>'
    (low, high), decimals = scale
    shown, interval = estimate_parts(row, decimals)
    return f'<td{mark}>{lamp}<b>{shown}</b> <span class="eb-small">{interval}</span>{said}{_bar(row, low, high)}</td>'


def _bar(row: Mapping[str, Any], low: float, high: float) -> str:
    """The interval as a line; hidden from screen readers, the numbers are beside it."""

    def at(value: float) -> str:
        return f"{2 + 96 * (value - low) / (high - low):.0f}"

    first, last = row.get("ci_low"), row.get("ci_high")
    span = ""
    if first is not None and last is not None:
        span = f'<path class="eb-bar-span" d="M{at(first)} 4H{at(last)}"/>'
    return f'<svg class="eb-bar" viewBox="0 0 100 8" aria-hidden="true"><path d="M2 4H98"/>{span}<circle cx="{at(row["value"])}" cy="4" r="2.5"/></svg>'
