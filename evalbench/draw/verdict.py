"""The verdict as HTML: the band with light and sentence, and the table of headline figures."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalbench.core.verdict import SYMBOLS
from evalbench.core.wording import count, counted, estimate_parts, shared_decimals, title_of
from evalbench.draw.corrected import FIXED, as_one_row, with_corrections
from evalbench.draw.html import Html, attribute, breakable, escape
from evalbench.readers.where import of_group

if TYPE_CHECKING:
    from evalbench.core.result import Estimate

MEANING = {"green": "", "yellow": "", "red": "", "grey": "not enough evidence to say", "unlit": "no rule for a light"}
BETTER: Mapping[bool | None, str] = {True: "higher is better", False: "lower is better", None: ""}
# With more rows than this a grid of groups hides what follows it.
GRID = 12
_RANGE = re.compile(r"^\s*([-−]?\d+(?:\.\d+)?)\s*(?:–|to)\s*([-−]?\d+(?:\.\d+)?)\s*$")


def light_word(light: str) -> Html:
    """A light as symbol and word; colour comes on top of them."""
    return Html(
        f'<span class="eb-lamp eb-{attribute(light)}"><span aria-hidden="true">{SYMBOLS.get(light, "○")}</span> '
        f"{escape(light)}</span>"
    )


# -- headline table -----------------------------------------------------------------------------


def domain_of(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """The scale of a metric's bars: the unit's range where it names one, else what the rows span, with 0."""
    named = _RANGE.match(str(rows[0].get("unit") or ""))
    known = [
        float(v)
        for r in with_corrections(rows)
        for v in (r["value"], r.get("ci_low"), r.get("ci_high"))
        if v is not None
    ]
    if named:
        low, high = (float(end.replace("−", "-")) for end in named.groups())
        if low < high and all(low <= v <= high for v in known):
            return low, high
    low, high = min([0.0, *known]), max([0.0, *known])
    return (low, high) if high > low else (low, low + 1.0)


def interval_bar(row: Mapping[str, Any], domain: tuple[float, float]) -> Html:
    """The interval as a small picture; hidden from screen readers, the numbers are beside it."""
    if row["value"] is None:
        return Html("")
    low_end, high_end = domain

    def at(value: float) -> str:
        return f"{4 + 152 * (value - low_end) / (high_end - low_end):.1f}"

    value, low, high = row["value"], row.get("ci_low"), row.get("ci_high")
    span = f'<path class="eb-bar-span" d="M{at(low)} 8H{at(high)}"/>' if low is not None and high is not None else ""
    zero = f"M{at(0)} 4v8" if low_end < 0 < high_end else ""
    return Html(
        f'<svg class="eb-bar" viewBox="0 0 160 16" aria-hidden="true"><path d="M4 8H156M4 5v6M156 5v6{zero}"/>'
        f'{span}<circle cx="{at(value)}" cy="8" r="3.5"/></svg>'
    )


def _by_metric(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(str(row["metric"]), []).append(row)
    return groups


def _figure_cells(
    row: Mapping[str, Any], domain: tuple[float, float], decimals: int | None, marks: Mapping[str, str]
) -> str:
    fixed = row.get(FIXED)
    lines = [_shown(one, decimals, marks) for one in (row, *([fixed] if fixed else []))]
    shown, interval = lines[0]
    bar, behind = interval_bar(row, domain), row.get(_BEHIND) or count(int(row.get("n") or 0))
    light = str(row.get("light") or "unlit")
    if fixed:
        said = ("judge says", "→ corrected")
        shown = "".join(
            f'<div><span class="eb-small">{word}</span> {value}</div>'
            for word, (value, _) in zip(said, lines, strict=True)
        )
        interval = "".join(f"<div>{one or '–'}</div>" for _, one in lines)
        bar = Html(f"{bar}{interval_bar(fixed, domain)}")
        behind = f'{behind}<div class="eb-small">{counted(int(fixed.get("n_labels") or 0), "label")}</div>'
        light = str(fixed.get("light") or "unlit") if fixed.get("light") not in (None, "unlit") else light
    missing = "".join(
        f'<td class="n{" eb-some" if row.get(name) else ""}">{count(int(row.get(name) or 0))}</td>'
        for name in ("n_unscored", "n_undefined")
    )
    return (
        f'<td class="n eb-value">{shown}</td>'
        f'<td class="eb-barcell">{bar}</td>'
        f'<td class="n eb-interval">{interval}</td>'
        f'<td class="n">{behind}</td>{missing}'
        f"<td>{light_word(light)}{' <span class=eb-small>decides</span>' if row.get(_DECIDES) else ''}</td>"
    )


def _shown(row: Mapping[str, Any], decimals: int | None, marks: Mapping[str, str]) -> tuple[str, str]:
    """A value with the mark of its note, and its interval."""
    note = str(row.get("note") or "")
    sign = f'<sup class="eb-mark">{marks[note]}</sup>' if note else ""
    if row["value"] is None:
        return f'<span class="eb-none" title="{attribute(note or "no value")}">–</span>{sign}', ""
    shown, interval = estimate_parts(row, decimals)
    return f"{shown}{sign}", interval


def _marks(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """A letter for each distinct note, in order."""
    notes = dict.fromkeys(str(row["note"]) for row in with_corrections(rows) if row.get("note"))
    return {note: _letters(i) for i, note in enumerate(notes)}


def _letters(i: int) -> str:
    return (_letters(i // 26 - 1) if i >= 26 else "") + "abcdefghijklmnopqrstuvwxyz"[i % 26]


def _footnotes(marks: Mapping[str, str]) -> str:
    notes = "".join(f'<li><sup class="eb-mark">{mark}</sup> {escape(note)}</li>' for note, mark in marks.items())
    return f'<ul class="eb-footnotes">{notes}</ul>' if notes else ""


def _metric_name(row: Mapping[str, Any], said: str = "") -> str:
    better = BETTER[row.get("higher_is_better")]
    counts = f"n: {row['n_of']}" if row.get("n_of") else ""
    title = title_of(row)
    named = identifier(str(row["metric"]), title)
    parts = (named, str(row.get("unit") or ""), better, counts, said)
    details = ", ".join(dict.fromkeys(part for part in parts if part))
    small = f' <span class="eb-small">{escape(details)}</span>' if details else ""
    return f"{breakable(title)}{small}"


def identifier(metric: str, title: str) -> str:
    """The metric where its title does not show it; empty where the title is the same but for ``_``.

    Examples
    --------
    >>> identifier("right_equations", "right equations"), identifier("citation_recall", "citation recall (ALCE)")
    ('', 'citation_recall')
    """
    return "" if title.casefold().replace(" ", "_") == metric.casefold() else metric


def headline_table(
    rows: Sequence[Mapping[str, Any] | Estimate],
    by: Sequence[str] = (),
    first: int = 4,
    items: str = "",
    terms: str = "",
    decides: Mapping[str, Any] | None = None,
) -> Html:
    """The headline figures: metric, value, interval as bar and numbers, counts, light.

    - ``rows``: Rows of ``results.json``'s ``summary``.
    - ``by``: Their group columns. Groups of one metric are in neighbouring rows, on one scale.
    - ``first``: So many metrics, and all with a lit light, are open; the others are folded below them, where they are
      more than two. Of a metric over a grid of two group columns with more rows than ``GRID`` the best row of each
      value of the last column is open, and where less is better every one that is red or yellow.
    - ``items``: Where on the page the items are, ``#items``: each count of them becomes a link that searches the row's
      group.
    - ``terms``: Where the page explains its words, ``#term-``: the heads of the columns become links to them.
    - ``decides``: The row that decided, which says so.
    """
    flat: list[Mapping[str, Any]] = [row if isinstance(row, Mapping) else row.row() for row in rows]
    flat = [{**row, _DECIDES: True} if row is decides else row for row in flat]
    if items:
        flat = [{**row, _BEHIND: _items_link(row, by, items)} for row in flat]
    flat = [*as_one_row(flat, by)]
    metrics = _by_metric(flat)
    open_ones = [
        name
        for i, (name, group) in enumerate(metrics.items())
        if i < first or any(row.get("light") not in (None, "unlit") for row in with_corrections(group))
    ]
    if len(metrics) - len(open_ones) <= 2:
        open_ones = list(metrics)
    grids = {name: columns for name in open_ones if (columns := _grid(metrics[name], by))}
    shown = [row for name in open_ones for row in _best(metrics[name], grids.get(name))]
    said = {
        name: f"the best {other} of each {each}{', and what is red or yellow' if _warns(metrics[name]) else ''}"
        for name, (other, each) in grids.items()
    }
    # Those of all rows of the metric, shown or folded: the sentence and every other place round as the table does.
    decimals = {name: shared_decimals(with_corrections(group)) for name, group in metrics.items()}
    top = _figures_table(shown, by, "Headline figures", decimals, terms, said)
    unshown = len(metrics) - len(open_ones)
    more = [f"all {count(len(metrics[name]))} values of {title_of(metrics[name][0])}" for name in grids]
    more += [counted(unshown, "more figure")] * bool(unshown)
    if not more:
        return top
    if f'id="{DECIDES}"' in top:
        flat = [{**row, _DECIDES: False} for row in flat]
        metrics = _by_metric(flat)
    folded = [row for name in metrics if name in grids or name not in open_ones for row in metrics[name]]
    return Html(
        f'{top}<details class="eb-more"><summary>{escape(" and ".join(more))}</summary>'
        f"{_figures_table(folded, by, 'More figures', decimals, terms)}</details>"
    )


_BEHIND = "\0items"  # keys that no column has
_DECIDES = "\0decides"
DECIDES = "decides"
"""The place of the figure that decided, for links to it."""


def _items_link(row: Mapping[str, Any], by: Sequence[str], items: str) -> Html:
    """The count of a figure's items as a link to them."""
    groups = [str(row[name]) for name in by if row.get(name) not in (None, "")]
    return items_link(items, count(int(row.get("n") or 0)), of_group(row, by), exactly(groups) if groups else "")


def items_link(items: str, shown: str, where: str, searched: str = "", bars: Sequence[Any] = ()) -> Html:
    """A link to items, of which a page of a run makes the commands that open them.

    - ``items``: Where on the page the items are.
    - ``where``: The filter by which the explorer finds them.
    - ``searched``: What the page's own table of items is searched for; by default for nothing.
    - ``bars``: A column, and the ranges of its values in which parts of these items are.

    Examples
    --------
    >>> items_link("#items", "7", "model=oak")
    '<a href="#items" data-filter="" data-where="model=oak">7</a>'
    """
    parts = f' data-bars="{attribute(json.dumps([*bars]))}"' if bars else ""
    return Html(
        f'<a href="{attribute(items)}" data-filter="{attribute(searched)}" data-where="{attribute(where)}"{parts}>{escape(shown)}</a>'
    )


def exactly(names: Sequence[str]) -> str:
    """What a page's filter is given for the rows that have each of these as a whole cell.

    Examples
    --------
    >>> exactly(["oak-7b", "fluency"])
    '"oak-7b" "fluency"'
    """
    return " ".join(f'"{name}"' for name in names)


def _grid(group: Sequence[Mapping[str, Any]], by: Sequence[str]) -> tuple[str, str] | None:
    """The first and the last of the columns over which a metric's many rows are a grid, where there is a best of them."""
    varied = [name for name in by if len({row.get(name) for row in group}) > 1]
    known = all(row.get("higher_is_better") is not None for row in group)
    return (varied[0], varied[-1]) if len(varied) > 1 and len(group) > GRID and known else None


def _best(group: Sequence[Mapping[str, Any]], grid: tuple[str, str] | None) -> Sequence[Mapping[str, Any]]:
    """All rows of a metric; of a grid the best one of each value of its last column, the first of equals, and those that warn.

    Where no row has a value, the reason is beside none.
    """
    if grid is None:
        return group
    other, each = grid
    best: dict[Any, Mapping[str, Any]] = {}
    for row in group:
        at = row.get(each)
        if at not in best or _goodness(row) > _goodness(best[at]):
            best[at] = row
    shown = [row if row["value"] is not None else {**row, other: "none"} for row in best.values()]
    return shown + [row for row in _warns(group) if row not in shown]


def _warns(group: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The red and yellow rows of a metric of which less is better: a fault is not hidden behind a system without it."""
    return [row for row in group if row["higher_is_better"] is False and row.get("light") in ("red", "yellow")]


def _goodness(row: Mapping[str, Any]) -> float:
    return -math.inf if row["value"] is None else row["value"] * (1 if row["higher_is_better"] else -1)


def _figures_table(
    flat: Sequence[Mapping[str, Any]],
    by: Sequence[str],
    label: str,
    decimals: Mapping[str, int | None],
    terms: str,
    said: Mapping[str, str] | None = None,
) -> Html:
    by = [name for name in by if any(row.get(name) not in (None, "") for row in flat)]
    marks = _marks(flat)
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in by or ["metric"])
    body = "".join(
        _metric_rows(group, by, marks, decimals[name], (said or {}).get(name, ""))
        for name, group in _by_metric(flat).items()
    )
    return Html(
        f'<div class="eb-scroll" tabindex="0" role="group" aria-label="{attribute(label)}">'
        f'<table class="eb-table eb-headline"><thead><tr>{heads}'
        f'<th scope="col" class="n">value</th><th scope="colgroup" colspan="2">{_term("95 % interval", terms)}</th>'
        f'<th scope="col" class="n">{_term("n", terms)}</th><th scope="col" class="n">{_term("unscored", terms)}</th>'
        f'<th scope="col" class="n">{_term("undefined", terms)}</th><th scope="col">{_term("light", terms)}</th></tr></thead>'
        f"{body}</table></div>{_footnotes(marks)}"
    )


def _term(name: str, terms: str) -> str:
    return f'<a class="eb-term" href="{attribute(term_anchor(name, terms))}">{name}</a>' if terms else name


def term_anchor(name: str, prefix: str = "term-") -> str:
    """The name of a term's place on a page, for links to it.

    Examples
    --------
    >>> term_anchor("95 % interval")
    'term-95-interval'
    """
    return prefix + re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")


def _metric_rows(
    group: Sequence[Mapping[str, Any]], by: Sequence[str], marks: Mapping[str, str], decimals: int | None, said: str
) -> str:
    """One metric: a row, or a heading and a row for each compared group."""
    domain, name = domain_of(group), _metric_name(group[0], said)
    cells = [_figure_cells(row, domain, decimals, marks) for row in group]
    if not by:
        alone = (f"<tr{_place(row)}><th scope=row>{name}</th>{c}</tr>" for row, c in zip(group, cells, strict=True))
        return f"<tbody>{''.join(alone)}</tbody>"
    heading = f'<tr><th scope="rowgroup" colspan="{len(by) + 7}" class="eb-metric">{name}</th></tr>'
    lines = (
        f"<tr{_place(row)}>{''.join(_group_cell(row.get(column)) for column in by)}{c}</tr>"
        for row, c in zip(group, cells, strict=True)
    )
    return f"<tbody>{heading}{''.join(lines)}</tbody>"


def _place(row: Mapping[str, Any]) -> str:
    return f' id="{DECIDES}"' if row.get(_DECIDES) else ""


def _group_cell(name: Any) -> str:
    # Long names of metrics break there; else they push the light out of sight.
    shown = breakable(name) if name not in (None, "") else "<i>all</i>"
    return f'<td class="w">{shown}</td>'


# -- labels --------------------------------------------------------------------------------------


def data_label(data: Mapping[str, Any]) -> str:
    """``name@version`` of a data set."""
    return f"{data['name']}@{data['version']}" if data.get("version") else str(data["name"])


def synthetic_label(data: Mapping[str, Any]) -> Html:
    """The mark of made-up data, or nothing."""
    return Html('<span class="eb-synthetic">SYNTHETIC DATA</span>' if data.get("synthetic") else "")


def notes_html(notes: Sequence[str]) -> Html:
    """A result's notes as a list, or nothing."""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return Html(f'<ul class="eb-notes">{items}</ul>' if items else "")
