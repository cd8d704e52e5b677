"""What a page holds of a run's tables: every item, rows to search, CSV files within the page, anchors of cases.

A page keeps to :data:`PAGE_BYTES` where its open part does: hidden rows are left out, those of the largest table first.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.clusters import codes, in_arrow
from evalbench.core.wording import counted
from evalbench.draw.html import Html, case_anchor, escape
from evalbench.draw.tables import ALL_START, REST_START, behind_a_line, html_table
from evalbench.draw.verdict import exactly, items_link
from evalbench.errors import BadInput
from evalbench.readers import runs
from evalbench.readers.where import parse

if TYPE_CHECKING:
    import pandas as pd

PAGE_BYTES = 500_000
CSV_BYTES = 100_000  # of all tables' links together
OPEN_ITEMS = 10
_FIGURES = 5  # columns of figures in the table of items
_ANCHORS = 20_000  # bytes that anchors may add
_REST = re.compile(f"{re.escape(REST_START)}.*?</tbody>", re.DOTALL)
_ALL = re.compile(f"{re.escape(ALL_START)}[^<]*</summary></details>")
_CASE = re.compile(r'<span data-case="(case-[\w.-]+)">(.*?)</span></td>', re.DOTALL)
_TITLE = '<p class="eb-doc-title">'
_TITLES = re.compile(f"{re.escape(_TITLE)}([^<]*)</p>")
_END_OF_NAME = re.compile(r"[,:·\s]|$")
_FIGURE = '<figure class="eb-figure eb-picture"'
_PICTURE = re.compile(rf'({_FIGURE})(?: data-bars="([^"]*)")?>((?:(?!</figure>).)*)</figure>', re.DOTALL)
_MOST_GROUPS = 6  # that a picture leads to
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


# -- hidden rows and anchors ----------------------------------------------------------------------


def fitted(page: str, most: int = PAGE_BYTES) -> str:
    """A page without the hidden rows for which it has no room, those of the largest tables first.

    Examples
    --------
    >>> fitted('<tbody class="eb-rest"><tr></tr></tbody><details class="eb-all"><summary>all</summary></details>.', 9)
    '.'
    """
    over = len(page.encode()) - (most - _ANCHORS if most > 2 * _ANCHORS else most)
    rests = sorted(_REST.finditer(page), key=lambda found: len(found[0]), reverse=True)
    dropped = []
    for rest in rests:
        if over <= 0:
            break
        fold = _ALL.search(page, rest.end())
        dropped += [rest.span(), fold.span()] if fold else [rest.span()]
        over -= len(rest[0].encode())
    for start, end in sorted(dropped, reverse=True):
        page = page[:start] + page[end:]
    return page


def anchored(page: str, cases: Collection[str] = ()) -> str:
    """A page on which each case has an anchor, and links to it elsewhere: where its full texts are, or else where it appears first.

    - ``cases``: The cases whose full texts may be on the page, each under a title that begins with its name.

    Examples
    --------
    >>> anchored('<td><span data-case="case-p1">p1</span></td>')
    '<td><a class="case" id="case-p1" href="#case-p1">p1</a></td>'
    >>> anchored('<p class="eb-doc-title">p1, fern</p>', ["p1"])
    '<p class="eb-doc-title"><a class="case" id="case-p1" href="#case-p1">p1</a>, fern</p>'
    """
    seen: set[str] = set()

    def link(anchor: str, name: str) -> str:
        own = "" if anchor in seen else f' id="{anchor}"'
        seen.add(anchor)
        return f'<a class="case"{own} href="#{anchor}">{name}</a>'

    def title(found: re.Match[str]) -> str:
        text, names = html.unescape(found[1]), _beginnings(found)
        name = next((name for name in reversed(names) if name in cases), "")
        rest = escape(text[len(name) :])
        return f"{_TITLE}{link(case_anchor(name), escape(name))}{rest}</p>" if name else found[0]

    page = _TITLES.sub(title, page)
    return _CASE.sub(lambda found: f"{link(found[1], found[2])}</td>", page)


def may_be_cases(page: str) -> frozenset[str]:
    """What may be the name of a case in the titles of a page: their beginnings.

    Examples
    --------
    >>> sorted(may_be_cases('<p class="eb-doc-title">p 1, fern</p>'))
    ['p', 'p 1', 'p 1,', 'p 1, fern']
    """
    return frozenset(name for found in _TITLES.finditer(page) for name in _beginnings(found))


def _beginnings(title: re.Match[str]) -> list[str]:
    text = html.unescape(title[1])
    return [text[: at.start()] for at in _END_OF_NAME.finditer(text)]


def with_items_behind(page: str, groups: Mapping[str, str], items: str) -> str:
    """A page on which each picture leads to the items that it shows: of the rows and bars that it knows, of the groups that it
    names, or else to all.

    - ``groups``: The filter of each group.

    Examples
    --------
    >>> with_items_behind('<figure class="eb-figure eb-picture"><text>fern</text></figure>', {"fern": "model=fern"}, "#items")
    '<figure class="eb-figure eb-picture"><text>fern</text><p class="eb-small eb-behind">items: <a href="#items" data-filter="&quot;fern&quot;" data-where="model=fern">fern</a></p></figure>'
    """

    def behind(found: re.Match[str]) -> str:
        if found[2]:
            rows = json.loads(html.unescape(found[2]))
            links = [items_link(items, name, where, bars=[column, ranges]) for name, where, column, ranges in rows]
        else:
            named = [group for group in groups if f">{escape(group)}</text>" in found[0]]
            links = [items_link(items, name, groups[name], exactly([name])) for name in named]
            if not 0 < len(links) <= _MOST_GROUPS:
                links = [items_link(items, "all", "")]
        return f'{_FIGURE}>{found[3]}<p class="eb-small eb-behind">items: {" · ".join(links)}</p></figure>'

    return _PICTURE.sub(behind, page)


# -- all items ------------------------------------------------------------------------------------


class Items(NamedTuple):
    """The table of all items, their ids, and the groups that they are of: each its columns and values as texts."""

    table: Html
    ids: pd.Series | None = None
    groups: Sequence[Mapping[Any, str]] = ()

    def named(self, names: Collection[str]) -> frozenset[str]:
        """Those of some names that items have."""
        return frozenset() if self.ids is None else frozenset(self.ids[self.ids.isin(names)])

    def are_found(self, where: str) -> bool:
        """Whether some item is of the group that a filter asks for: figures may be of groups that no item is of.

        Examples
        --------
        >>> items = Items(Html(""), groups=[{"model": "oak"}])
        >>> items.are_found('model=oak p<0.5'), items.are_found("model=elm"), items.are_found("")
        (True, False, True)
        """
        asked = {term.column: term.values for term in parse(where) if term.operator == "="}
        return any(all(group[name] in asked[name] for name in group if name in asked) for group in self.groups)


def items_of(folder: Path, results: Mapping[str, Any]) -> Items:
    """The items of a run, up to 500 of them to search: id, groups, the first figures, why there are none.

    Nothing where the items cannot be read: the page is then made without them.
    """
    try:
        items = runs.read_items(folder)
    except BadInput:
        return Items(Html(""))
    keys = [name for name in (results["id"], *results["by"]) if name in items]
    keys += _telling(items, keys)
    measured = dict.fromkeys(str(row["metric"]) for row in results["summary"])
    why = [name for name in ("unscored", "undefined") if name in items and _says_something(items[name])]
    numeric = [name for name in items.select_dtypes("number").columns if name not in keys]
    figures = [name for name in measured if name in numeric]
    figures += [name for name in numeric if name not in figures]
    shown = items[[*keys, *figures[:_FIGURES], *why]].rename(columns={results["id"]: "id"})
    others = f" {len(figures) - _FIGURES} more columns are in {runs.ITEMS}." if len(figures) > _FIGURES else ""
    caption = f"Every item, to search and sort.{others}"
    ids = items[results["id"]].astype(str) if results["id"] in items else None
    if not len(items):
        return Items(Html(""), ids)
    by = [name for name in results["by"] if name in items]
    groups = items[by].drop_duplicates().astype(str).to_dict("records") if by else [{}]
    # A link to what is within a fold opens it.
    table = Html(f'<div id="items">{html_table(shown, caption=caption, rows=OPEN_ITEMS, file=runs.ITEMS)}</div>')
    if len(items) > OPEN_ITEMS:
        table = behind_a_line(f"{counted(len(items), 'row')}: {', '.join(map(str, shown.columns))}", table)
    return Items(table, ids, groups)


def _telling(items: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    """The first column of texts that tells rows apart which have the same id and groups; nothing where that needs more."""
    if not keys or not _repeats([items[key] for key in keys]):
        return []
    texts = [c for c in items.select_dtypes(exclude="number").columns if c not in (*keys, "unscored", "undefined")]
    return next(([c] for c in texts if not items[[*keys, c]].astype(str).duplicated().any()), [])


def _says_something(cells: pd.Series) -> bool:
    """Whether any cell holds more than the empty text."""
    return bool((cells != "").any() if in_arrow(cells) else cells.astype(bool).any())


def _repeats(keys: Sequence[pd.Series]) -> bool:
    """Whether two rows have the same keys."""
    import pandas as pd

    if not all(in_arrow(key) and not key.hasnans for key in keys):
        return bool(pd.concat([*keys], axis=1).duplicated().any())
    place = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        names, which = codes(key)
        place *= len(names)
        place += which
    place.sort()
    return bool((place[1:] == place[:-1]).any())


# -- CSV ------------------------------------------------------------------------------------------


_TO = re.compile(r'(<a class="eb-to" href="#)([^"]*)"')


def reachable(page: str) -> str:
    """The page with the links of the answer; one to a part that this page does not have leads to the figures.

    Examples
    --------
    >>> reachable('<a class="eb-to" href="#notes">x</a><section id="figures">')
    '<a class="eb-to" href="#figures">x</a><section id="figures">'
    """
    return _TO.sub(lambda m: m[0] if f' id="{m[2]}"' in page else f'{m[1]}figures"', page)


def csv_links(folder: Path, names: Iterable[str]) -> dict[str, Html]:
    """Tables as CSV within the page, by the name of their file: the smallest first, as many as have room.

    - ``folder``: Of the run.
    - ``names``: Names of Parquet files in it. What cannot be read has no link.
    """
    # Parquet packs: a file that is larger than all room will not be smaller as text.
    paths = [p for name in names if (p := folder / name).is_file() and p.stat().st_size <= 2 * CSV_BYTES]
    links = []
    for path in paths:
        try:
            text = csv_text(runs.read_frame(path))
        except BadInput:
            continue
        links.append((path, base64.b64encode(text.encode("utf-8-sig", "replace")).decode()))
    found: dict[str, Html] = {}
    room = CSV_BYTES
    for path, data in sorted(links, key=lambda link: (len(link[1]), link[0].name)):
        room -= len(data)
        if room < 0:
            break
        name = escape(f"{path.stem}.csv")
        found[path.name] = Html(
            f'<a download="{name}" href="data:text/csv;charset=utf-8;base64,{data}" aria-label="{name}">as CSV</a>'
        )
    return found


def csv_text(frame: pd.DataFrame) -> str:
    """A frame as CSV, in which no text is a formula to a spreadsheet: one that begins like it gets an apostrophe.

    Examples
    --------
    >>> import pandas as pd
    >>> print(csv_text(pd.DataFrame({"id": ["=1+1", "a"], "x": [-1.5, None]})), end="")
    id,x
    '=1+1,-1.5
    a,
    """
    plain = frame.rename(columns=lambda name: _harmless(str(name)))
    for j in range(plain.shape[1]):
        if plain.dtypes.iloc[j].kind not in "biufM":
            plain.isetitem(j, [_harmless(value) for value in plain.iloc[:, j]])
    return str(plain.to_csv(index=False, lineterminator="\n"))


def _harmless(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, dict)):
        value = json.dumps(value, ensure_ascii=False, default=str)
    return f"'{value}" if isinstance(value, str) and value.lstrip(" \n").startswith(_FORMULA) else value
