"""The mark by which a run's page knows what was drawn here.

The runner gives the kernel a random key of the run; an output's mark is bound to its HTML by that key (HMAC).  At the end of
the run the runner, not the notebook, checks the marks, writes the digests of what carries one into ``run.json`` and forgets
the key.  So a page can be rendered again from its folder, and a mark copied from another output or run, written by hand
into a cell's metadata, or put into the notebook's file later is worth nothing.  Code that reads the key out of its own
environment can sign what it likes, as it can call ``draw`` with what it likes: hence :func:`is_safe`.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import os
import re

MARKED = "evalbench"  # key in an output's metadata: what kind of thing was drawn
NOTHING = "nothing"  # its value where there is nothing to show: an empty table, say
SIGNED = "mark"  # key beside it: the run's own mark
KEY = "EVALBENCH_MARK"  # the run's key in the kernel's environment

_ELEMENTS = [
    "a",
    "abbr",
    "article",
    "b",
    "br",
    "caption",
    "circle",
    "clipPath",
    "code",
    "col",
    "colgroup",
    "dd",
    "defs",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "ellipse",
    "em",
    "figcaption",
    "figure",
    "g",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "image",
    "img",
    "ins",
    "kbd",
    "li",
    "line",
    "linearGradient",
    "mark",
    "mask",
    "ol",
    "p",
    "path",
    "pattern",
    "polygon",
    "polyline",
    "pre",
    "q",
    "radialGradient",
    "rect",
    "s",
    "section",
    "small",
    "span",
    "stop",
    "strong",
    "sub",
    "summary",
    "sup",
    "svg",
    "symbol",
    "table",
    "tbody",
    "td",
    "text",
    "tfoot",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "tspan",
    "u",
    "ul",
    "use",
    "var",
    "wbr",
]
_TAG = re.compile(
    rf"""</?(?P<name>{"|".join(_ELEMENTS)})(?P<attributes>(?:\s+[\w:\-]+(?:=(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=`]+))?)*)\s*/?>"""
)
_ATTRIBUTE = re.compile(r"""([\w:\-]+)(?:=(?:"([^"]*)"|'([^']*)'|([^\s"'<>=`]+)))?""")
_LINKS = ("href", "xlink:href", "src")
_REFUSED = re.compile(
    r"on\w*|srcdoc|srcset|action|formaction|ping|background|http-equiv|data|poster|target|xml:base", re.IGNORECASE
)
_PAGE = re.compile(r"https?://[^\s]*")  # for links that a reader clicks
_LINK = re.compile(r"#[^\s]*|[\w\-.%]+|data:image/(?:png|jpeg);base64,[A-Za-z0-9+/=\s]*")
_OUTSIDE = re.compile(
    r"url\(\s*[\"']?(?!\s*[\"']?#)|(?:image|image-set|cross-fade|src)\(|@import|expression\(|\\", re.IGNORECASE
)


def metadata(kind: str, markup: str) -> dict[str, dict[str, str]]:
    """Metadata of an output of HTML; with the run's mark where a runner has given the kernel a key."""
    key = os.environ.get(KEY)
    signed = {SIGNED: signature(key, kind, markup)} if key else {}
    return {"text/html": {MARKED: kind, **signed}}


def signature(key: str, kind: str, markup: str) -> str:
    """The mark of HTML under a run's key."""
    return hmac.new(key.encode(), _content(kind, markup), "sha256").hexdigest()


def digest(kind: str, markup: str) -> str:
    """What ``run.json`` keeps of an output that carries its run's mark."""
    return hashlib.sha256(_content(kind, markup)).hexdigest()


def _content(kind: str, markup: str) -> bytes:
    return f"{kind}\0{markup}".encode("utf-8", "surrogatepass")


def is_safe(markup: str) -> bool:
    """Whether HTML holds nothing but elements and attributes that show something.

    Every ``<`` must begin a whole tag of a listed element, so that no browser can read it in another way: no ``meta``, ``iframe``,
    ``form``, ``base``, ``script``, ``object``, ``style`` or ``link``, no comment, no handler of events, no address but pages, pictures
    within the page and files beside it.

    Examples
    --------
    >>> is_safe('<p class="x">5 &lt; 6 <b>yes</b></p>'), is_safe('<meta http-equiv="refresh" content="0;url=//x">')
    (True, False)
    """
    at = markup.find("<")
    while at >= 0:
        tag = _TAG.match(markup, at)
        if tag is None:
            return False
        attributes = _ATTRIBUTE.findall(tag["attributes"])
        if not all(_is_harmless(tag["name"], *found) for found in attributes):
            return False
        at = markup.find("<", tag.end())
    return True


def _is_harmless(element: str, name: str, *values: str) -> bool:
    value = html.unescape("".join(values)).strip()
    if _REFUSED.fullmatch(name):
        return False
    if name.lower() in _LINKS:
        return bool(_LINK.fullmatch(value) or (element == "a" and _PAGE.fullmatch(value)))
    return not (name.lower() not in ("title", "aria-label", "alt") and _OUTSIDE.search(value))
