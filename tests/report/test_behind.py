"""The commands on a page that open the items behind its figures, and the links that the explorer's server makes of them."""

from __future__ import annotations

import html
import re
import shlex
from urllib.parse import parse_qs, urlsplit

import pytest

from evalbench.draw.verdict import headline_table, items_link
from evalbench.readers.where import parse
from evalbench.report.behind import linked, with_commands

EVIL = 'a\' "b" <script>$(x)</script>|c'


def commands(page: str) -> dict[str, list[str]]:
    """The words of the command in the box of each button, by what the button shows."""
    boxes = dict(re.findall(r'<div popover class="eb-items" id="([^"]+)">(.*?)</div>', page, re.DOTALL))
    buttons = re.findall(r'<button class="eb-open" popovertarget="([^"]+)">([^<]*)</button>', page)
    return {
        shown: shlex.split(html.unescape(re.search("<code[^>]*>(.*?)</code>", boxes[place])[1]))
        for place, shown in buttons
    }


def test_a_count_opens_the_command_of_its_group_once_for_all_figures() -> None:
    rows = [
        {"metric": metric, "title": metric, "model": model, "value": 0.5, "n": n, "unit": "0–1"}
        for metric in ("f1", "recall")
        for model, n in (("oak", 7), (EVIL, 8))
    ]
    page = with_commands(f"{headline_table(rows, ['model'], items='#items')}</main>", "A")
    said = commands(page)
    assert said["7"] == ["evalbench", "view", "A", "--items", "model=oak"]
    assert parse(said["8"][-1])[0].values == (EVIL,)
    assert page.count("<div popover") == 2
    assert page.count("<button") == 4
    assert "<script" not in page


def test_a_page_without_links_stays_as_it_is() -> None:
    assert with_commands("<main>nothing</main>", "A") == "<main>nothing</main>"


def test_bars_are_said_by_their_ends_and_linked_with_their_group() -> None:
    link = items_link("#items", "oak", "model=oak", bars=["share of x", [["", "0.2"], ["0.2", "0.5"], ["0.9", ""]]])
    page = with_commands(f"{link}</main>", "A")
    assert re.findall("<li>(.*?)</li>", page) == ["below 0.2", "from 0.2 below 0.5", "from 0.9"]
    assert commands(page)["oak"] == ["evalbench", "view", "A", "--items", "model=oak"]
    assert "--items &#x27;model=oak&#x27;" in page
    served = linked(page, "needle/A")
    links = [parse_qs(urlsplit(html.unescape(one)).fragment) for one in re.findall('href="(./#[^"]*)"', served)]
    assert [one["where"][0] for one in links] == [
        "model=oak",
        'model=oak "share of x"<0.2',
        'model=oak "share of x">=0.2 "share of x"<0.5',
        'model=oak "share of x">=0.9',
    ]
    assert {one["run"][0] for one in links} == {"needle/A"}
    assert "<button" in served


def test_the_server_makes_a_link_of_a_count() -> None:
    page = with_commands(f"{items_link('#items', '7', f'model={EVIL!r}')}</main>", "A")
    served = linked(page, "needle/A&x=\"'<b>")
    assert "popover" not in served
    (link,) = re.findall('<a href="([^"]*)">7</a>', served)
    found = parse_qs(urlsplit(html.unescape(link)).fragment)
    assert found == {"run": ["needle/A&x=\"'<b>"], "where": [f"model={EVIL!r}"]}


@pytest.mark.parametrize(
    "page",
    [
        '<div popover class="eb-items" id="eb-open-1"></div><button class="eb-open" popovertarget="eb-open-1">x</button>',
        '<button class="eb-open" popovertarget="eb-open-9">x</button>',
        '<div popover class="eb-items" id="eb-open-1"><code class="eb-view" data-where="javascript:x">x',
    ],
)
def test_a_page_that_someone_else_made_is_left_as_it_is(page: str) -> None:
    assert linked(page, "A") == page
