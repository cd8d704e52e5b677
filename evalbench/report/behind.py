"""The commands that open the items behind a page's figures, for ``evalbench view``; its server makes links of them."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from evalbench.draw.html import Html, attribute, escape
from evalbench.readers.where import Term, in_words

_MOST = 24
_COMMAND = re.compile(r'<code class="eb-view" data-where="([^"]*)">(.*?)</code>', re.DOTALL)


def commands_html(results: Mapping[str, Any], run_id: str) -> Html:
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
        for where in list(dict.fromkeys(_filters(results)))[:_MOST]
    )
    return Html(
        f"<details><summary>Open these items with their texts, calls and other thresholds</summary><ul>{lines}</ul></details>"
    )


def linked(page: str, run: str) -> str:
    """A page whose commands are links to the server that shows it.

    Examples
    --------
    >>> linked('<code class="eb-view" data-where="model=oak">x</code>', "needle/A")
    '<a href="./#run=needle%2FA&amp;where=model%3Doak">x</a>'
    """

    def link(found: re.Match[str]) -> str:
        where = html.unescape(found[1])
        return f'<a href="./#run={quote(run, safe="")}{"&amp;where=" + quote(where, safe="") if where else ""}">{found[2]}</a>'

    return _COMMAND.sub(link, page)


def _filters(results: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    rows, by = results["summary"], results["by"]
    for row in rows:
        group = [Term(name, "=", (str(row[name]),)) for name in by if row.get(name) not in (None, "")]
        if group:
            yield in_words(group)
    for light in dict.fromkeys(row.get("light") for row in rows):
        if light not in (None, "", "unlit"):
            yield in_words([Term("light", "=", (str(light),))])
    if results["items"].get("unscored"):
        yield in_words([Term("unscored", "!=", ("",))])


def _command(run_id: str, where: str) -> str:
    return shlex.join(["evalbench", "view", run_id, *(["--items", where] if where else [])])
