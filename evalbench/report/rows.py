"""What a page holds of a run's tables: every item, rows to search, CSV files within the page, anchors of cases.

A page keeps to :data:`PAGE_BYTES` where its open part does: hidden rows are left out, those of the largest table first.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.draw.html import Html, escape
from evalbench.draw.tables import ALL_START, REST_START, html_table
from evalbench.errors import BadInput
from evalbench.readers import runs

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


def anchored(page: str) -> str:
    """A page on which each case has an anchor where it appears first, and links to it elsewhere.

    Examples
    --------
    >>> anchored('<td><span data-case="case-p1">p1</span></td>')
    '<td><a class="case" id="case-p1" href="#case-p1">p1</a></td>'
    """
    seen: set[str] = set()

    def link(found: re.Match[str]) -> str:
        anchor = found[1]
        own = "" if anchor in seen else f' id="{anchor}"'
        seen.add(anchor)
        return f'<a class="case"{own} href="#{anchor}">{found[2]}</a></td>'

    return _CASE.sub(link, page)


# -- all items ------------------------------------------------------------------------------------


def items_html(folder: Path, results: Mapping[str, Any]) -> Html:
    """The items of a run, up to 500 of them to search: id, groups, the first figures, why there are none.

    Nothing where the items cannot be read: the page is then made without them.
    """
    try:
        items = runs.read_items(folder)
    except BadInput:
        return Html("")
    keys = [name for name in (results["id"], *results["by"]) if name in items]
    measured = dict.fromkeys(str(row["metric"]) for row in results["summary"])
    why = [name for name in ("unscored", "undefined") if name in items and items[name].astype(bool).any()]
    numeric = [name for name in items.select_dtypes("number").columns if name not in keys]
    figures = [name for name in measured if name in numeric]
    figures += [name for name in numeric if name not in figures]
    shown = items[[*keys, *figures[:_FIGURES], *why]].rename(columns={results["id"]: "id"})
    others = f" {len(figures) - _FIGURES} more columns are in {runs.ITEMS}." if len(figures) > _FIGURES else ""
    caption = f"Every item, to search and sort.{others}"
    return html_table(shown, caption=caption, rows=OPEN_ITEMS, file=runs.ITEMS) if len(items) else Html("")


# -- CSV ------------------------------------------------------------------------------------------


def csv_links(folder: Path, names: Iterable[str]) -> dict[str, Html]:
    """Tables as CSV within the page, by the name of their file: the smallest first, as many as have room.

    Parameters
    ----------
    folder : Path
        Of the run.
    names : iterable of str
        Names of Parquet files in it.  What cannot be read has no link.
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
