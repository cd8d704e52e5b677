"""An executed notebook as the page's prose, pictures and cases.

Markdown keeps its form, raw HTML in it is shown as text.  Of the outputs only HTML that
``evalbench.draw`` made in this very run is passed on (:mod:`evalbench.draw.marks`); everything else becomes escaped text.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from evalbench.core.wording import counted
from evalbench.draw.html import Html, attribute, escape, language_attributes, plain
from evalbench.draw.marks import MARKED, NOTHING, SIGNED, digest, is_safe, signature
from evalbench.draw.style import says_nothing
from evalbench.readers.parameters import ADVANCED, MAIN
from evalbench.readers.runs import NOTEBOOK

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_LEADING_STYLE = re.compile(r"\A<style>.*?</style>", re.DOTALL)
_PICTURES = ("image/png", "image/jpeg")
MOST_TEXT = 20_000  # characters of one plain output
_HIDDEN = {MAIN, ADVANCED, "injected-parameters"}


class Heading(NamedTuple):
    level: int
    id: str
    text: str


class Narrative(NamedTuple):
    """Title of the notebook, its headings, the prose before the first section, and the sections."""

    title: str
    headings: tuple[Heading, ...]
    intro: Html
    body: Html


# -- markdown -----------------------------------------------------------------------------------


def _slug(text: str, taken: set[str]) -> str:
    base = re.sub(r"[^\w]+", "-", text.casefold()).strip("-") or "section"
    name, i = base, 2
    while name in taken:
        name, i = f"{base}-{i}", i + 1
    taken.add(name)
    return name


def _renderer(headings: list[Heading], taken: set[str]) -> Any:
    import mistune

    class SafeRenderer(mistune.HTMLRenderer):
        """Raw HTML becomes text, pictures must be inside the page, headings keep their order."""

        def text(self, text: str) -> str:
            return escape(text)

        def inline_html(self, html: str) -> str:
            return escape(html)

        def block_html(self, html: str) -> str:
            return f"<p>{escape(html.strip())}</p>\n"

        def codespan(self, text: str) -> str:
            return f"<code>{escape(text)}</code>"

        def block_code(self, code: str, info: str | None = None) -> str:
            return f'<pre tabindex="0"><code>{escape(code)}</code></pre>\n'

        def paragraph(self, text: str) -> str:
            return f"<p{language_attributes(_bare(text))}>{text}</p>\n"

        def image(self, text: str, url: str, title: str | None = None) -> str:
            if re.match(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+$", url) and not says_nothing(text):
                return f'<img src="{attribute(url)}" alt="{attribute(text)}">'
            return f"[picture: {escape(text)}]"

        def heading(self, text: str, level: int, **attrs: Any) -> str:
            if level == 1 and not headings:
                headings.append(Heading(1, "", _bare(text)))
                return ""
            # h1 is the page's; no level is skipped on the way down.
            level = min(max(level, 2), max(headings[-1].level, 1) + 1 if headings else 2)
            found = Heading(level, _slug(_bare(text), taken), _bare(text))
            headings.append(found)
            anchor = attribute(found.id)
            mark = f'<a class="anchor" href="#{anchor}" aria-label="Link to this section">#</a>'
            return f'<h{level} id="{anchor}">{text}{mark}</h{level}>\n'

    return SafeRenderer(escape=True)


def _bare(html: str) -> str:
    import html as entities

    return entities.unescape(re.sub(r"<[^>]*>", "", html))


# -- code and outputs ---------------------------------------------------------------------------


def _highlighted(source: str) -> Html:
    """Python with comments, strings, keywords and numbers set apart."""
    from pygments.lexers import PythonLexer
    from pygments.token import Comment, Keyword, Number, String

    classes = ((Comment, "c"), (String, "s"), (Keyword, "k"), (Number, "m"))

    def name(token: tuple[Any, str]) -> str:
        return next((short for family, short in classes if token[0] in family), "")

    parts = []
    for short, tokens in itertools.groupby(PythonLexer(stripnl=True).get_tokens(source), name):
        text = escape("".join(text for _, text in tokens))
        parts.append(f'<span class="{short}">{text}</span>' if short else text)
    return Html("".join(parts).rstrip())


_CODE_START = '<details class="code"><summary>code</summary><pre tabindex="0"><code>'
_CODE_END = "</code></pre></details>"


def _code(source: str) -> Html:
    return Html(f"{_CODE_START}{_highlighted(source)}{_CODE_END}\n")


def without_ansi(text: str) -> str:
    """Text without a terminal's colour codes."""
    return _ANSI.sub("", text)


def _preformatted(text: str) -> str:
    text = without_ansi(text).rstrip()
    rest = len(text) - MOST_TEXT
    more = f"\n… {counted(rest, 'more character')} in {NOTEBOOK}" if rest > 0 else ""
    return f'<pre class="output" tabindex="0">{escape(text[:MOST_TEXT])}{more}</pre>\n'


def _printed(text: str) -> Html:
    lines = without_ansi(text).strip("\n")
    if not lines.strip():
        return Html("")
    summary = f"printed, {counted(lines.count(chr(10)) + 1, 'line')}"
    return Html(f'<details class="printed"><summary>{summary}</summary>{_preformatted(lines)}</details>\n')


def _image(data: Mapping[str, Any], metadata: Mapping[str, Any], mime: str) -> Html:
    alt = str((metadata.get(mime) or {}).get("alt") or metadata.get("alt") or "")
    if says_nothing(alt):
        return Html(
            '<p class="eb-small">A picture without a description is left out; '
            "<code>show((figure, alt_text))</code> shows it.</p>\n"
        )
    try:
        raw = base64.b64decode("".join(str(data[mime]).split()), validate=True)
    except binascii.Error:
        return Html('<p class="eb-small">A picture that cannot be decoded is left out.</p>\n')
    return Html(f'<img src="data:{mime};base64,{base64.b64encode(raw).decode()}" alt="{attribute(alt)}">\n')


class _Drawn(NamedTuple):
    """HTML that says of itself that ``draw`` made it: as what, and with which mark."""

    kind: str
    markup: str
    mark: str


def _drawn(output: Mapping[str, Any]) -> _Drawn | None:
    said = (output.get("metadata") or {}).get("text/html")
    markup = (output.get("data") or {}).get("text/html")
    if not isinstance(said, Mapping) or not said.get(MARKED) or not isinstance(markup, str | list):
        return None
    return _Drawn(str(said[MARKED]), "".join(markup), str(said.get(SIGNED)))


def _outputs(notebook: Mapping[str, Any]) -> Iterator[_Drawn]:
    found = (_drawn(output) for cell in notebook["cells"] for output in cell.get("outputs") or ())
    return (one for one in found if one is not None)


def signed_digests(notebook: Mapping[str, Any], key: str) -> list[str]:
    """Digests of the outputs that carry the mark of the run with this key."""
    return [
        digest(one.kind, one.markup)
        for one in _outputs(notebook)
        if hmac.compare_digest(one.mark.encode(), signature(key, one.kind, one.markup).encode())
    ]


def carried_digests(before: Mapping[str, Any], after: Mapping[str, Any], known: Collection[str]) -> list[str]:
    """Digests in a copy of a notebook, in which paths were replaced, of the outputs whose digests are known."""
    pairs = zip(_outputs(before), _outputs(after), strict=True)
    return [digest(new.kind, new.markup) for old, new in pairs if digest(old.kind, old.markup) in known]


def _trusted(output: Mapping[str, Any], known: Collection[str]) -> tuple[str, str]:
    """What ``draw`` made an output as, and its HTML without the style; two empty texts for anything else."""
    one = _drawn(output)
    if one is None or digest(one.kind, one.markup) not in known:
        return "", ""
    markup = _LEADING_STYLE.sub("", one.markup, count=1)
    return (one.kind, markup) if is_safe(markup) else ("", "")


def output_html(output: Mapping[str, Any], known: Collection[str] = ()) -> Html:
    """One output of a cell; HTML passes only where ``draw`` has made it in this run, and holds what shows something.

    - ``output``: As in a notebook, format 4.
    - ``known``: Digests of what carries the run's own mark: ``drawn`` of its ``run.json``.
    """
    kind = output["output_type"]
    if kind == "stream":
        return _printed(output["text"])
    if kind == "error":
        return Html(_preformatted("\n".join(output.get("traceback") or [output.get("evalue", "")])))
    data, metadata = output.get("data") or {}, output.get("metadata") or {}
    made, markup = _trusted(output, known)
    if made in ("result", NOTHING):  # the band at the top says it
        return Html("")
    if made:
        return Html(markup + "\n")
    for mime in _PICTURES:
        if mime in data:
            return _image(data, metadata, mime)
    if "text/plain" in data:
        return Html(_preformatted(data["text/plain"]))
    return Html(f'<p class="eb-small">An output of type {escape(", ".join(sorted(data)))} is left out.</p>\n')


def stopped_at(notebook: Mapping[str, Any]) -> Html:
    """The cell that raised, and its traceback; nothing where none did."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs") or ():
            if output["output_type"] == "error":
                return Html(
                    f'<pre tabindex="0"><code>{_highlighted(cell["source"])}</code></pre>\n{output_html(output)}'
                )
    return Html("")


class _Part(NamedTuple):
    """A cell on the page: its HTML, its headings, whether it shows anything, whether it said that there is nothing."""

    html: str
    headings: tuple[Heading, ...]
    visible: bool
    nothing: bool


def _without_empty_sections(parts: Iterable[_Part]) -> list[_Part]:
    """The parts without the sections of which every output said that there is nothing to show."""
    sections: list[list[_Part]] = [[]]
    for part in parts:
        if any(h.level == 2 for h in part.headings):
            sections.append([])
        sections[-1].append(part)
    kept = [s for s in sections if any(p.visible for p in s) or not any(p.nothing for p in s)]
    return [part for section in kept for part in section]


def narrate(notebook: Mapping[str, Any], taken: Iterable[str] = (), known: Collection[str] = ()) -> Narrative:
    """The notebook's cells as HTML, without its parameters cells; code with nothing in between is in one fold.

    A section is left out, heading and prose with it, where all that it shows is nothing: an empty table, say.

    - ``notebook``: Format 4, as :func:`nbformat.read` gives it.
    - ``taken``: Ids that the page uses already.
    - ``known``: Digests of the outputs that carry the run's own mark.
    """
    import mistune

    known = frozenset(known)
    headings: list[Heading] = []
    renderer = _renderer(headings, set(taken))
    markdown = mistune.create_markdown(renderer=renderer, plugins=["table", "strikethrough"])
    parts: list[_Part] = []
    for cell in notebook["cells"]:
        if _HIDDEN & set((cell.get("metadata") or {}).get("tags") or ()) or not cell["source"].strip():
            continue
        if cell["cell_type"] == "markdown":
            before = len(headings)
            html = str(markdown(cell["source"]))
            parts.append(_Part(html, tuple(headings[before:]), False, False))
        elif cell["cell_type"] == "code":
            outputs = cell.get("outputs") or ()
            shown = "".join(output_html(output, known) for output in outputs)
            nothing = any(_trusted(output, known)[0] == NOTHING for output in outputs)
            parts.append(_Part(shown + _code(cell["source"]), (), bool(shown), nothing))
    intro: list[str] = []
    body: list[str] = []
    kept = _without_empty_sections(parts)
    for part in kept:
        _place(part.html, intro, body)
    between = re.compile(re.escape(_CODE_END) + r"\s*" + re.escape(_CODE_START))
    intro, body = ([between.sub("\n\n", "".join(part))] for part in (intro, body))
    named = headings[0].text if headings and headings[0].level == 1 else ""
    below = tuple(h for part in kept for h in part.headings if h.level > 1)
    return Narrative(plain(named), below, Html("".join(intro)), Html("".join(body)))


def _place(html: str, intro: list[str], body: list[str]) -> None:
    """What precedes the first section's heading is the introduction."""
    if body:
        body.append(html)
        return
    before, heading, after = html.partition('<h2 id="')
    intro.append(before)
    if heading:
        body.append(heading + after)
