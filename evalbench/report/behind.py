"""The commands that open the items behind a page's figures, for ``evalbench view``; its server makes links of them."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from evalbench.draw.bars import of_bar
from evalbench.draw.html import Html, attribute, escape
from evalbench.readers.where import Term, in_words, of_group

_MOST = 24
_COMMAND = re.compile(r'<code class="eb-view" data-where="([^"]*)">(.*?)</code>', re.DOTALL)
_LINK = re.compile(r'<a href="#items" data-filter="([^"]*)" data-where="([^"]*)"(?: data-bars="([^"]*)")?>([^<]*)</a>')
_PLACE = "eb-open-"
_BUTTON = re.compile(rf'<button class="eb-open" popovertarget="({_PLACE}\d+)">([^<]*)</button>')
_BOX = re.compile(rf'<div popover class="eb-items" id="({_PLACE}\d+)">(.*?)</div>', re.DOTALL)
_BARS = re.compile(r'<ul data-column="([^"]*)">(.*?)</ul>', re.DOTALL)
_BAR = re.compile(r"<li>(?:from ([^\s<]+))?(?: ?below ([^\s<]+))?</li>")


def commands_html(
    results: Mapping[str, Any], run_id: str, are_found: Callable[[str], bool] = lambda where: True
) -> Html:
    """A fold with a command for all items, those of each group, of each light that is set, and those that are not scored.

    Examples
    --------
    >>> row = {"metric": "f1", "model": "oak", "light": "red"}
    >>> results = {"summary": [row], "by": ["model"], "items": {"unscored": 0}}
    >>> [line for line in re.findall("<code.*?>(.*?)</code>", str(commands_html(results, "A")))]
    ['evalbench view A', 'evalbench view A --items model=oak', 'evalbench view A --items light=red']
    """
    lines = "".join(
        f'<li><code class="eb-view" data-where="{attribute(where)}">{escape(_command(run_id, where))}</code></li>'
        for where in list(dict.fromkeys(_filters(results, are_found)))[:_MOST]
    )
    return Html(
        f"<details><summary>Open these items with their texts, calls and other thresholds</summary><ul>{lines}</ul></details>"
    )


def with_commands(page: str, run_id: str, are_found: Callable[[str], bool] = lambda where: True) -> str:
    """A page on which a link to items opens a box: their command, those of its bars, and the way to them on the page.

    A box works without a script, and is there once for all links to the same items.

    - ``are_found``: Whether some item fits a filter; where none does, there is no link.

    Examples
    --------
    >>> link = '<a href="#items" data-filter="&quot;oak&quot;" data-where="model=oak">7</a>'
    >>> made = with_commands(f"{link} {link}</main>", "A")
    >>> made.partition("<div")[0]
    '<button class="eb-open" popovertarget="eb-open-1">7</button> <button class="eb-open" popovertarget="eb-open-1">7</button>'
    >>> re.search("<code.*code>", made)[0]
    '<code class="eb-view" data-where="model=oak">evalbench view A --items model=oak</code>'
    """
    boxes: dict[tuple[str, str, str], str] = {}

    def button(found: re.Match[str]) -> str:
        if not are_found(html.unescape(found[2])):
            return found[4]
        key = (found[1], found[2], found[3] or "")
        place = boxes.setdefault(key, f"{_PLACE}{len(boxes) + 1}")
        return f'<button class="eb-open" popovertarget="{place}">{found[4]}</button>'

    page = _LINK.sub(button, page)
    made = "".join(_box(place, run_id, *map(html.unescape, key)) for key, place in boxes.items())
    before, main, after = page.rpartition("</main>")
    return f"{before}{made}{main}{after}"


def _box(place: str, run_id: str, searched: str, where: str, bars: str) -> str:
    of = f"Items: {escape(where)}" if where else "All items"
    column, ranges = json.loads(bars or '["", []]')
    parts = "".join(f"<li>{' '.join(_ends(low, high))}</li>" for low, high in ranges if low or high)
    each = (
        f"<p>For one bar add its ends within the quotes: {escape(of_bar(column, 'FROM', 'BELOW'))}</p>"
        f'<ul data-column="{attribute(of_bar(column, "", "0")[:-2])}">{parts}</ul>'
        if parts
        else ""
    )
    command = _command(run_id, where, quotes=bool(parts))
    here = (
        f'<p><a href="#items" data-filter="{attribute(searched)}">On this page</a></p>' if searched or not where else ""
    )
    return (
        f'<div popover class="eb-items" id="{place}"><p>{of}</p>'
        f'<code class="eb-view" data-where="{attribute(where)}">{escape(command)}</code>{each}{here}</div>'
    )


def _ends(low: str, high: str) -> Iterator[str]:
    if low:
        yield f"from {escape(low)}"
    if high:
        yield f"below {escape(high)}"


def linked(page: str, run: str) -> str:
    """A page whose commands are links to the server that shows it.

    Examples
    --------
    >>> linked('<code class="eb-view" data-where="model=oak">x</code>', "needle/A")
    '<a href="./#run=needle%2FA&amp;where=model%3Doak">x</a>'
    >>> given = with_commands('<a href="#items" data-filter="" data-where="model=oak">7</a></main>', "A")
    >>> linked(given, "needle/A")
    '<a href="./#run=needle%2FA&amp;where=model%3Doak">7</a></main>'
    """

    def link(where: str, shown: str) -> str:
        return f'<a href="./#run={quote(run, safe="")}{"&amp;where=" + quote(where, safe="") if where else ""}">{shown}</a>'

    direct: dict[str, str] = {}  # the filter of a box that holds nothing but its command

    def box(found: re.Match[str]) -> str:
        command = _COMMAND.search(found[2])
        if command is None:
            return found[0]
        where = html.unescape(command[1])
        bars = _BARS.search(found[2])
        if bars is None:
            direct[found[1]] = where
            return ""
        column = html.unescape(bars[1])

        def bar(one: re.Match[str]) -> str:
            ends = " ".join(
                f"{column}{sign}{html.unescape(end)}" for sign, end in ((">=", one[1]), ("<", one[2])) if end
            )
            return f"<li>{link(f'{where} {ends}'.strip(), one[0][4:-5])}</li>"

        return found[0].replace(bars[0], f"<ul>{_BAR.sub(bar, bars[2])}</ul>")

    page = _BOX.sub(box, page)
    page = _BUTTON.sub(lambda found: link(direct[found[1]], found[2]) if found[1] in direct else found[0], page)
    return _COMMAND.sub(lambda found: link(html.unescape(found[1]), found[2]), page)


def _filters(results: Mapping[str, Any], are_found: Callable[[str], bool]) -> Iterator[str]:
    yield ""
    by = results["by"]
    rows = [row for row in results["summary"] if are_found(of_group(row, by))]
    for row in rows:
        yield of_group(row, by)
    for light in dict.fromkeys(row.get("light") for row in rows):
        if light not in (None, "", "unlit"):
            yield in_words([Term("light", "=", (str(light),))])
    if results["items"].get("unscored"):
        yield in_words([Term("unscored", "!=", ("",))])


def _command(run_id: str, where: str, quotes: bool = False) -> str:
    """The command; with ``quotes`` its filter has some, whatever it is."""
    if quotes and shlex.quote(where) == where:
        return f"{shlex.join(['evalbench', 'view', run_id])} --items '{where}'"
    return shlex.join(["evalbench", "view", run_id, *(["--items", where] if where else [])])
