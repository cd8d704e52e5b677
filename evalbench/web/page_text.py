"""The readable text of an HTML page, in one pass whatever the page holds."""

from __future__ import annotations

import codecs
import html
import re

# What pages are written in.  Python knows more codecs, some of which take quadratic time on hostile bytes.
_CHARSETS = frozenset(
    codecs.lookup(name).name
    for name in [
        "utf-8",
        "utf-16",
        "utf-16-le",
        "utf-16-be",
        "ascii",
        "latin-1",
        "iso8859-2",
        "iso8859-3",
        "iso8859-4",
        "iso8859-5",
        "iso8859-6",
        "iso8859-7",
        "iso8859-8",
        "iso8859-9",
        "iso8859-10",
        "iso8859-13",
        "iso8859-14",
        "iso8859-15",
        "iso8859-16",
        "cp866",
        "cp874",
        "cp1250",
        "cp1251",
        "cp1252",
        "cp1253",
        "cp1254",
        "cp1255",
        "cp1256",
        "cp1257",
        "cp1258",
        "koi8-r",
        "koi8-u",
        "mac-roman",
        "mac-cyrillic",
        "gb2312",
        "gbk",
        "gb18030",
        "big5",
        "big5hkscs",
        "euc-jp",
        "iso2022-jp",
        "shift-jis",
        "cp932",
        "euc-kr",
        "cp949",
    ]
)
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DECLARED = re.compile(
    rb"""<(?:meta[^>]{0,200}?charset|\?xml[^>]{0,200}?encoding)\s*=\s*["']?\s*([-\w.:]{1,40})""", re.I
)
_DECLARED_WITHIN = 4096
_NAME = re.compile(r"/?([a-zA-Z][a-zA-Z0-9]*)")
_SILENT_ENDS = {
    tag: re.compile(f"</{tag}", re.IGNORECASE) for tag in ("script", "style", "noscript", "template", "svg", "head")
}
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "figcaption",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "td",
        "th",
        "title",
        "tr",
        "ul",
    ]
)


def decoded(body: bytes, charset: str = "", *, marked_up: bool = False) -> str:
    """A page's bytes as text: by its byte order mark, the header's charset, its own declaration, or as UTF-8.

    - ``charset``: Of the header; one that pages are not written in is passed over.
    - ``marked_up``: Whether it may declare its charset itself (HTML, XML).

    Examples
    --------
    >>> decoded('<meta charset="windows-1251">Мир'.encode("cp1251"), marked_up=True)[-3:]
    'Мир'
    """
    marked = next((name for mark, name in _MARKS if body.startswith(mark)), None)
    if marked:
        return body.decode(marked, "replace")
    declared = _DECLARED.search(body[:_DECLARED_WITHIN]) if marked_up else None
    names = (charset, declared[1].decode("ascii", "replace") if declared else "")
    return body.decode(next(filter(None, map(_known, names)), "utf-8"), "replace")


def _known(charset: str) -> str:
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        return ""
    return name if name in _CHARSETS else ""


def html_text(page: str) -> str:
    """The text between tags; scripts, styles, comments and the head are left out, blocks end a line.

    Linear in the page's length: nothing is nested, nothing is tried twice.

    Examples
    --------
    >>> html_text("<head><title>T</title></head><p>A &amp; <b>B</b><script>x<p></script><p>C<!-- D -->")
    'A & B\\nC'
    """
    pieces, at = [], 0
    while (opened := page.find("<", at)) >= 0:
        pieces.append(page[at:opened])
        if page.startswith("<!--", opened):
            closed, skip = page.find("-->", opened + 4), 3
        else:
            name = _NAME.match(page, opened + 1)
            if name is None and page[opened + 1 : opened + 2] not in ("!", "?"):
                pieces.append("<")
                at = opened + 1
                continue
            tag = name[1].lower() if name else ""
            if tag in _BLOCKS:
                pieces.append("\n")
            if tag in _SILENT_ENDS and page[opened + 1] != "/":
                end = _SILENT_ENDS[tag].search(page, opened)
                opened = end.start() if end else len(page)
            closed, skip = page.find(">", opened), 1
        if closed < 0:
            at = len(page)
            break
        at = closed + skip
    pieces.append(page[at:])
    lines = (" ".join(line.split()) for line in html.unescape("".join(pieces)).splitlines())
    return "\n".join(line for line in lines if line)
