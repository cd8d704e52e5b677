"""The units that changed: how many, which most, and what both sides said of them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from evalbench.compare.changes import FLICKERS
from evalbench.compare.runs import Differences
from evalbench.compare.texts import Said, said
from evalbench.core.compared import ANOTHER_JUDGE, ANOTHER_MEASURE
from evalbench.core.wording import count, counted
from evalbench.draw.differences import side_by_side
from evalbench.draw.html import Html, attribute, case_anchor, escape, language_attributes
from evalbench.draw.tables import html_table
from evalbench.kit.cases import cells

if TYPE_CHECKING:
    import pandas as pd

CHANGES = "changes.parquet"
ROWS = 20
SHEETS = 5  # cases of each kind with their texts
_TITLES = {
    "better": "Got better",
    "worse": "Got worse",
    "higher": "Rose",
    "lower": "Fell",
    FLICKERS: "Neither always right nor always wrong on a side: not counted as changed",
    "value on one side": "A value on one side only",
}
_MOVED = {ANOTHER_JUDGE: "Judged", ANOTHER_MEASURE: "Measured"}
_DIRECTIONS = ("better", "worse", "higher", "lower")
_ORDER = ("better", "worse", "higher", "lower", "same", FLICKERS, "value on one side", "no value")


def summary_line(d: Differences) -> str:
    """How many units changed, in a sentence."""
    if d.changes is None:
        return (
            f"{d.side.name} against {d.reference.name}: units are not paired, or no column of the items scores a single unit, "
            "so changes of units are not known."
        )
    by = f"{_MOVED[_by_another(d)].lower()} " if _by_another(d) else ""
    words = {v: f"{by}{v}" if v in _DIRECTIONS else v for v in _ORDER}
    known = ", ".join(f"{count(d.changes.counts[v])} {words[v]}" for v in _ORDER if v in d.changes.counts)
    return f"{d.changes.title} of single units, {d.side.name} against {d.reference.name}: {known}."


def changes_html(
    d: Differences, links: Mapping[str, str], anchors: Mapping[str, Set[str]], *, headed: bool = False
) -> Html:
    """How many units changed; the twenty of each kind that changed most, the first of them with the texts of both sides.

    - ``links``: The page of a run, relative to the comparison's.
    - ``anchors``: The anchors on that page.
    - ``headed``: The two sides as a heading of their own: one of several parts.
    """
    level, head = ("h4", f"<h3>{escape(f'{d.side.name} against {d.reference.name}')}</h3>") if headed else ("h3", "")
    out = [head, f"<p>{escape(summary_line(d))}</p>"]
    if d.changes is None:
        return Html("".join(out))
    unit = _unit(d)
    another = _by_another(d)
    titles = {**_TITLES, **({v: f"{_MOVED[another]} {v}, by {another}" for v in _DIRECTIONS} if another else {})}
    for verdict, title in titles.items():
        rows = d.changes.table[d.changes.table["verdict"] == verdict]
        if len(rows):
            shown = rows.head(ROWS)
            out.append(f"<{level}>{title}</{level}>{_table(shown, len(rows), d, unit, links, anchors)}")
            out.append(_sheets(shown.head(SHEETS), d, unit, links, anchors))
    return Html("".join(out))


def _by_another(d: Differences) -> str:
    """The outcome of the figure whose units are listed where they did not change by themselves; else empty."""
    rows = [row.comparison for row in d.rows if d.changes is not None and row.comparison.title == d.changes.title]
    return next((c.outcome for c in rows if c.outcome in _MOVED), "")


def _unit(d: Differences) -> str:
    """The column of the changes that names a unit."""
    assert d.changes is not None
    known = {"reference", "side", "change", "what", "verdict", *d.side.by}
    return next(str(c) for c in d.changes.table if c not in known)


def _table(
    rows: pd.DataFrame, total: int, d: Differences, unit: str, links: Mapping[str, str], anchors: Mapping[str, Set[str]]
) -> Html:
    names = {"reference": d.reference.name, "side": d.side.name, "what": "counts that moved"}
    if d.reference.name == d.side.name:
        names["reference"] = "reference"
    shown = rows.drop(columns="verdict")
    if not shown["what"].any():
        shown = shown.drop(columns="what")
    found = [_links(str(case), d, links, anchors) for case in shown[unit]]
    if any(found):
        shown = shown.assign(**{"in the reports": cells(found, shown.index)})
    return html_table(shown.rename(columns=names), rows=ROWS, total=total, file=CHANGES)


def _links(case: str, d: Differences, links: Mapping[str, str], anchors: Mapping[str, Set[str]]) -> Html:
    """Links to a case in both reports; to one where both sides are one run."""
    anchor = case_anchor(case)
    sides = (
        [(d.reference, "reference"), (d.side, "compared")]
        if d.reference.run_id != d.side.run_id
        else [(d.side, "the run")]
    )
    found = [
        f'<a href="{attribute(quote(str(PurePosixPath(links[side.run_id]))))}#{attribute(anchor)}" '
        f'aria-label="{attribute(f"{case} in the report of {side.name if len(sides) > 1 else side.run_id}")}">{word}</a>'
        for side, word in sides
        if links.get(side.run_id) and anchor in anchors.get(side.run_id, ())
    ]
    return Html(" · ".join(found))


def _sheets(
    rows: pd.DataFrame, d: Differences, unit: str, links: Mapping[str, str], anchors: Mapping[str, Set[str]]
) -> str:
    groups = [c for c in d.side.by if c in rows]
    records: list[dict[Any, Any]] = rows.to_dict("records")
    cases = [(str(row[unit]), {c: str(row[c]) for c in groups}) for row in records]
    texts = said(d.reference, d.side, unit, cases)
    drawn = [
        _sheet(case, group, found, d, _links(case, d, links, anchors), opened=i == 0)
        for i, ((case, group), found) in enumerate(zip(cases, texts, strict=True))
        if found
    ]
    return f'<div class="eb-sheets">{"".join(drawn)}</div>' if drawn else ""


def _sheet(case: str, group: Mapping[str, str], found: list[Said], d: Differences, links: Html, *, opened: bool) -> str:
    differ = [one for one in found if one.reference != one.side]
    alike = [one for one in found if one.reference == one.side]
    title = escape(", ".join([case, *group.values()]))
    heads = "".join(f'<p class="eb-small">{escape(name)}</p>' for name in (d.reference.name, d.side.name))
    pairs = "".join(_pair(one) for one in differ)
    if not differ:
        pairs = '<p class="eb-small">Both sides have the same texts: what differs is how they were scored.</p>'
    same = "".join(
        f'<p class="eb-doc-title">{escape(one.name.replace("_", " "))}</p>'
        f'<div class="eb-said"{language_attributes(one.side)}>{side_by_side(one.side, one.side)[0]}</div>'
        for one in alike
    )
    fold = (
        f'<details class="eb-fold"><summary>{counted(len(alike), "text")} that both sides have</summary>{same}</details>'
        if alike
        else ""
    )
    return (
        f'<details class="eb-sheet"{" open" if opened else ""}><summary><b>{title}</b> <span class="eb-small">both texts</span></summary>'
        f"{f'<p class=eb-small>in the reports: {links}</p>' if links else ''}"
        f"{f'<div class=eb-two>{heads}</div>' if differ else ''}{pairs}{fold}</details>"
    )


def _pair(one: Said) -> str:
    texts = side_by_side(one.reference, one.side)
    both = "".join(
        f'<div class="eb-said"{language_attributes(text)}>{html or "<em>nothing</em>"}</div>'
        for text, html in zip((one.reference, one.side), texts, strict=True)
    )
    return f'<p class="eb-doc-title">{escape(one.name.replace("_", " "))}</p><div class="eb-two">{both}</div>'
