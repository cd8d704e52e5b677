"""Text as safe HTML: escaping, visible control characters, language of a text block.

Everything that a model, a data set or a user wrote passes :func:`escape` on its way to a page, a
notebook or a picture.  Characters that reorder or hide text become small labelled marks, so that
what a reader sees is what the text holds.
"""

from __future__ import annotations

import functools
import hashlib
import html
import re
import unicodedata
from importlib import resources
from typing import Any

from evalbench.draw import marks
from evalbench.draw.hidden import marked

_BLOCK_END = re.compile(r"</(?:p|div|td|th|tr|li|h\d|summary|article|figcaption|text|title)>")
_TAG = re.compile(r"<[^>]*>")
_SHORT = {
    "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO", "\u202e": "RLO",
    "\u2066": "LRI", "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI",
    "\u200e": "LRM", "\u200f": "RLM", "\u061c": "ALM", "\u200b": "ZWSP", "\ufeff": "BOM",
    "\u00ad": "SHY", "\u200c": "ZWNJ", "\u200d": "ZWJ", "\u034f": "CGJ", "\u115f": "HCF", "\u1160": "HJF", "\u3164": "HF",
    "\uffa0": "HWHF", "\u2028": "LS", "\u2029": "PS", "\u2060": "WJ",
    "\x00": "NUL", "\x07": "BEL", "\x08": "BS", "\x1b": "ESC", "\x7f": "DEL",
}  # fmt: skip
_SCRIPTS = (
    # Kana and Hangul come before Han: Japanese and Korean texts hold Han too.
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")),
    ("ru", re.compile("[\u0400-\u052f]")),
    ("ar", re.compile("[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_RIGHT_TO_LEFT = ("ar", "he")
_NOT_LATIN = re.compile("[\u0370-\uffff]")


class Html(str):
    """A string that is HTML already: whatever it came from has been escaped.

    Examples
    --------
    >>> escape(Html("<b>bold</b>"))
    '<b>bold</b>'
    """

    __slots__ = ()

    def __html__(self) -> str:
        return self

    def _repr_html_(self) -> str:
        return boxed(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(without_markup(self))

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        markup = self._repr_html_()
        return {"text/html": markup, "text/plain": without_markup(self)}, marks.metadata("html", markup)


def boxed(html: Html) -> str:
    """HTML as one JupyterLab output: its style first, so that the page, which has it already, can cut it off.

    JupyterLab would typeset ``$5 and $6`` in a text as a formula; the class prevents that.
    """
    return f'{stylesheet()}<div class="eb mathjax_ignore tex2jax_ignore">{html}</div>'


def without_markup(markup: Html) -> str:
    """The text of drawn HTML, for consoles.

    Examples
    --------
    >>> without_markup(Html("<p>5 &lt; <b>6</b></p>"))
    '5 < 6'
    """
    return " ".join(html.unescape(_TAG.sub("", _BLOCK_END.sub(" ", markup))).split())


def character_name(char: str) -> str:
    r"""The short name of a character that cannot be seen.

    Examples
    --------
    >>> character_name("\u202e"), character_name("\u0600")
    ('RLO', 'U+0600')
    """
    for first, number in ((0xFE00, 1), (0xE0100, 17)):  # variation selectors
        if first <= ord(char) < first + 256 and (first > 0xFE00 or ord(char) < 0xFE10):
            return f"VS{ord(char) - first + number}"
    return _SHORT.get(char) or f"U+{ord(char):04X}"


def _mark(char: str) -> str:
    name = f"U+{ord(char):04X} {unicodedata.name(char, 'control character').lower()}"
    return f'<span class="eb-ctl" title="{name}">{character_name(char)}</span>'


def escape(text: Any) -> Html:
    """Text as HTML; control characters and bidi overrides become labelled marks.

    - ``text``: Anything; :class:`Html` passes unchanged, all else as its ``str``.

    Examples
    --------
    >>> escape("<script>")
    '&lt;script&gt;'
    >>> "RLO" in escape("abc\u202edef")
    True
    """
    if isinstance(text, Html):
        return text
    return Html(marked(html.escape(str(text)), _mark))


_BREAKS = re.compile(r"(?<=[_|/])|(?=@)")


def breakable(name: Any) -> Html:
    """A name, escaped, that may break after ``_``, ``|`` and ``/`` and before ``@``, else between words and every 40 characters.

    Examples
    --------
    >>> breakable("oak_7b@1.0.0")
    'oak_<wbr>7b<wbr>@1.0.0'
    """
    parts = (part for part in _BREAKS.split(str(name)) if part)
    return Html("<wbr>".join(escape(part[i : i + 40]) for part in parts for i in range(0, len(part), 40)))


def plain(text: Any) -> str:
    """Text without markup whose control characters are visible: for attributes, pictures, terminals.

    Examples
    --------
    >>> plain("abc\u202edef")
    'abc‹RLO›def'
    """
    return marked(str(text), lambda character: f"‹{character_name(character)}›")


def attribute(text: Any) -> Html:
    """Text as the value of an HTML attribute, without its quotes."""
    return Html(html.escape(" ".join(plain(text).split())))


def case_anchor(case: Any) -> str:
    """The name of a case within a page, for links to it: the same wherever the case is drawn.

    Examples
    --------
    >>> case_anchor("p-07"), case_anchor("what, when?")
    ('case-p-07', 'case-what-when-469873d1')
    """
    text = str(case)
    name = re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-")[:40]
    if name != text:
        name = f"{name}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}".lstrip("-")
    return f"case-{name}"


def language(text: str) -> str:
    """ISO code of the language that the text's script suggests; empty for Latin and unknown scripts.

    The script of most letters among the first 2 000 characters decides.  Cyrillic counts as Russian,
    Han as Chinese, Arabic script as Arabic: enough for fonts, hyphenation and screen readers.

    Examples
    --------
    >>> language("Пей больше воды"), language("多喝水"), language("Drink water")
    ('ru', 'zh', '')
    """
    head = text[:2000]
    if not _NOT_LATIN.search(head):
        return ""
    counts = {code: len(script.findall(head)) for code, script in _SCRIPTS}
    if counts["ja"] or counts["ko"]:
        counts["ja" if counts["ja"] > counts["ko"] else "ko"] += counts.pop("zh")
    code, most = max(counts.items(), key=lambda pair: pair[1])
    letters = sum(map(str.isalpha, head))
    # A Han or kana character says about as much as two Latin letters.
    weight = 2 if code in ("zh", "ja", "ko") else 1
    return code if weight * most > letters - most else ""


def language_attributes(text: str, code: str | None = None) -> Html:
    """`` lang="…"`` (and ``dir="auto"`` where the script runs right to left) for a text block, or nothing."""
    code = language(text) if code is None else code
    if not code:
        return Html("")
    direction = ' dir="auto"' if code.split("-")[0] in _RIGHT_TO_LEFT else ""
    return Html(f' lang="{attribute(code)}"{direction}')


@functools.cache
def css() -> str:
    """The style of everything that is drawn: one sheet for JupyterLab and for the page."""
    return resources.files("evalbench.draw").joinpath("style.css").read_text(encoding="utf-8")


def stylesheet() -> str:
    """The sheet as one ``<style>`` element, which is first in each JupyterLab output."""
    return f"<style>{css()}</style>"
