"""Slices as HTML: a picture and a table in one, a row for each value, the whole as a line through all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalbench.core.slices import EMPTY, FEWEST, SLICE
from evalbench.core.wording import count, cut, estimate_parts, p_text, shared_decimals, title_of
from evalbench.draw.html import Html, attribute, breakable, escape
from evalbench.draw.verdict import BETTER, domain_of, items_link
from evalbench.readers.where import Term, of_group

ALPHA = 0.05
_LONGEST = 80


def slices_html(results: Mapping[str, Any], items: str = "") -> Html:
    """The figures of every value of the slices, or nothing where there are none.

    The first figure of each column is open, the others are folded below.  A value with under 20 items is grey.

    - ``results``: Content of ``results.json``.
    - ``items``: Where on the page the items are, ``#items``: each count of them becomes a link.
    """
    rows = results.get("slices") or []
    by = [name for name in results.get("by") or () if any(row.get(name) not in (None, "") for row in rows)]
    wholes = {_place(row, by): row.get("value") for row in results["summary"]}
    parts = []
    for column in dict.fromkeys(str(row["column"]) for row in rows):
        own = [row for row in rows if row["column"] == column]
        metrics = list(dict.fromkeys(str(row["metric"]) for row in own))
        tables = [_table(column, [r for r in own if r["metric"] == m], by, wholes, items) for m in metrics]
        more = "".join(tables[1:])
        titles = ", ".join(title_of(next(r for r in own if r["metric"] == m)) for m in metrics[1:])
        folded = f'<details class="eb-more"><summary>{escape(titles)}</summary>{more}</details>' if more else ""
        parts.append(f"<h3>{escape(f'By {column}')}</h3>{tables[0]}{folded}")
    if not parts:
        return Html("")
    said = (
        f"The line in each row is the figure of all items. p is of a permutation test against all other items of the "
        f"group, adjusted by Holm over all values, columns and groups of the figure; values with under {FEWEST} items "
        "are grey and not tested."
    )
    return Html(f'{"".join(parts)}<p class="eb-small">{escape(said)}</p>')


def _place(row: Mapping[str, Any], by: Sequence[str]) -> tuple[str, ...]:
    return (str(row["metric"]), *(str(row.get(name) or "") for name in by))


def _table(
    column: str, rows: Sequence[Mapping[str, Any]], by: Sequence[str], wholes: Mapping[tuple[str, ...], Any], items: str
) -> str:
    figures = [{**row, "value": row["figure"]} for row in rows]
    lines = [{"value": wholes.get(_place(row, by)), "unit": row["unit"]} for row in rows]
    domain, decimals = domain_of([*figures, *lines]), shared_decimals(figures)
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in (*by, column))
    first = rows[0]
    details = ", ".join(filter(None, [str(first["unit"]), BETTER[first["higher_is_better"]]]))
    width = len(by) + 7
    body = "".join(_row(row, by, domain, decimals, wholes.get(_place(row, by)), items) for row in figures)
    name = f'{breakable(title_of(first))} <span class="eb-small">{escape(details)}</span>'
    label = attribute(f"{title_of(first)} by {column}")
    return (
        f'<div class="eb-scroll" tabindex="0" role="group" aria-label="{label}"><table class="eb-table eb-headline eb-slices">'
        f'<thead><tr>{heads}<th scope="col" class="n">value</th><th scope="colgroup" colspan="2">95 % interval</th>'
        f'<th scope="col" class="n">n</th><th scope="col" class="n">the rest</th><th scope="col" class="n">p, Holm</th></tr>'
        f'</thead><tbody><tr><th scope="rowgroup" colspan="{width}" class="eb-metric">{name}</th></tr>{body}</tbody>'
        "</table></div>"
    )


def _row(
    row: Mapping[str, Any],
    by: Sequence[str],
    domain: tuple[float, float],
    decimals: int | None,
    whole: float | None,
    items: str,
) -> str:
    value, interval = estimate_parts(row, decimals) if row["value"] is not None else ("–", "")
    rest = "–" if row["rest"] is None else estimate_parts({**row, "value": row["rest"]}, decimals)[0]
    shown = row["p_holm"] is not None and row["p_holm"] <= ALPHA
    p = "–" if row["p_holm"] is None else p_text(row["p_holm"])
    name = str(row["name"]) or EMPTY
    clipped = cut(name, _LONGEST)
    n = count(int(row["n"]))
    own = Term(f"{SLICE}{row['column']}", "=", (str(row["name"]),))
    behind = items_link(items, n, of_group(row, by, own)) if items else n
    whose = "".join(f'<td class="w">{breakable(row.get(name) or "all")}</td>' for name in by)
    return (
        f"<tr{' class=eb-few' if row['few'] else ''}>{whose}"
        f'<th scope="row" class="l" title="{attribute(name)}">{breakable(clipped)}</th><td class="n eb-value">{value}</td>'
        f'<td class="eb-barcell">{_bar(row, domain, whole)}</td><td class="n eb-interval">{interval}</td>'
        f'<td class="n">{behind}</td><td class="n">{rest}</td>'
        f'<td class="n">{f"<strong>{escape(p)}</strong>" if shown else escape(p)}</td></tr>'
    )


def _bar(row: Mapping[str, Any], domain: tuple[float, float], whole: float | None) -> str:
    """The interval as a small picture with the whole as an upright line; the numbers are beside it."""
    low_end, high_end = domain

    def at(value: float) -> str:
        return f"{4 + 152 * (value - low_end) / (high_end - low_end):.1f}"

    value, low, high = row["value"], row["ci_low"], row["ci_high"]
    span = f'<path class="eb-bar-span" d="M{at(low)} 8H{at(high)}"/>' if low is not None and high is not None else ""
    line = f'<path class="eb-bar-whole" d="M{at(whole)} 0V16"/>' if whole is not None else ""
    point = f'<circle cx="{at(value)}" cy="8" r="3.5"/>' if value is not None else ""
    return f'<svg class="eb-bar" viewBox="0 0 160 16" aria-hidden="true"><path d="M4 8H156"/>{line}{span}{point}</svg>'
