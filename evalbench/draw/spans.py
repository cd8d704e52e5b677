"""Texts with marked spans: truth and prediction, overlapping or nested, matched pairs by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evalbench.core.wording import counted
from evalbench.draw.html import Html, attribute, escape, language_attributes

_KINDS = {"truth": ("T", "eb-truth"), "prediction": ("P", "eb-prediction")}


class Span(NamedTuple):
    """A marked stretch of a text.

    ``start`` and ``end`` count characters, ``end`` exclusive.  ``kind`` is ``"truth"``, ``"prediction"``
    or a name of your own; spans with the same non-empty ``pair`` are linked by that number.
    """

    start: int
    end: int
    kind: str = "truth"
    label: str = ""
    pair: str | int | None = None


class Document(NamedTuple):
    """A text with its spans, for :func:`documents`."""

    title: str
    text: str
    spans: Sequence[Any] = ()
    note: str = ""
    lang: str | None = None


def _span(span: Any) -> Span:
    if isinstance(span, Span):
        return span
    fields = span if isinstance(span, Mapping) else span._asdict()
    return Span(**{name: fields[name] for name in Span._fields if name in fields})


def _checked(text: str, spans: Sequence[Any]) -> list[Span]:
    """Spans in reading order, the longer first; refused, all at once, where they leave the text."""
    read = [_span(span) for span in spans]
    faults = [f"[{s.start}, {s.end})" for s in read if not 0 <= s.start <= s.end <= len(text)]
    if faults:
        raise ValueError(f"spans outside the text of {counted(len(text), 'character')}: {', '.join(faults)}")
    return sorted(read, key=lambda s: (s.start, -s.end, s.kind, str(s.pair or "")))


def _letter(kind: str) -> str:
    return _KINDS[kind][0] if kind in _KINDS else (kind[:1].upper() or "?")


def _class(kind: str) -> str:
    return _KINDS[kind][1] if kind in _KINDS else "eb-other"


def badge(span: Span) -> Html:
    """The span's sign: T or P (or its kind's first letter) and the number of its pair."""
    number = "" if span.pair is None else escape(span.pair)
    alone = "" if number else " eb-alone"
    return Html(f'<sup class="eb-badge {_class(span.kind)}{alone}">{escape(_letter(span.kind))}{number}</sup>')


def highlight(text: str, spans: Sequence[Any]) -> Html:
    """A text with its spans as ``<mark>`` segments, split where spans begin and end.

    - ``spans``: With ``start``, ``end`` and, optionally, ``kind``, ``label`` and ``pair``. They may overlap, nest and
      be empty (then only the badge is drawn).

    Returns: Truth has a solid underline, prediction a wavy one, any other kind a dotted one; a badge is where each span
    begins.

    Raises ``ValueError`` if a span leaves the text or ends before it starts; lists all of them.

    Examples
    --------
    >>> out = highlight("drink it", [Span(0, 5, "truth", "no commands", 1)])
    >>> "<mark" in out and "T</sup>" not in out
    True
    """
    ordered = _checked(text, spans)
    cuts = sorted({0, len(text), *(s.start for s in ordered), *(s.end for s in ordered)})
    parts: list[str] = []
    for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True):
        parts.extend(badge(s) for s in ordered if s.start == start)
        active = [s for s in ordered if s.start <= start and s.end >= end and start < end]
        segment = escape(text[start:end])
        if not active:
            parts.append(segment)
            continue
        classes = " ".join(sorted({_class(s.kind) for s in active}))
        words = "; ".join(s.label or s.kind for s in active)
        parts.append(f'<mark class="{classes}" title="{attribute(words)}">{segment}</mark>')
    return Html("".join(parts))


def legend(kinds: Sequence[str], *, paired: bool = True) -> Html:
    """What the marks mean; of their numbers only where some are ``paired``."""
    known = {"truth": "true span", "prediction": "predicted span"}
    signs = " ".join(
        f'<span><sup class="eb-badge {_class(kind)}">{escape(_letter(kind))}{"1" if paired else ""}</sup>'
        f'<mark class="{_class(kind)}">{escape(known.get(kind, kind))}</mark></span>'
        for kind in kinds
    )
    numbers = " <span>the same number: a matched pair; a letter alone: unmatched</span>" if paired else ""
    return Html(f'<p class="eb-legend">{signs}{numbers}</p>')


def _span_list(ordered: Sequence[Span], text: str) -> str:
    if not ordered:
        return '<p class="eb-small">no spans</p>'
    rows = "".join(
        f"<li>{badge(s)} <q{language_attributes(text[s.start : s.end])}>{escape(text[s.start : s.end])}</q>"
        f"{' — ' if s.label else ''}<span{language_attributes(s.label)}>{escape(s.label)}</span></li>"
        for s in ordered
    )
    return f"<details><summary>{counted(len(ordered), 'span')}</summary><ul class=eb-spans>{rows}</ul></details>"


def documents(docs: Sequence[Document | Mapping[str, Any]]) -> Html:
    """Highlighted documents with a legend; side by side where there is room.

    - ``docs``: With ``title``, ``text``, ``spans`` and, optionally, ``note`` and ``lang``.
    """
    read = [doc if isinstance(doc, Document) else Document(**doc) for doc in docs]
    spans = [_checked(doc.text, doc.spans) for doc in read]
    kinds = sorted({s.kind for each in spans for s in each}, key=lambda k: (k not in _KINDS, k == "prediction", k))
    cards = "".join(
        f'<article class="eb-doc"><p class="eb-doc-title">{escape(doc.title)}</p>'
        f'<div class="eb-text"{language_attributes(doc.text, doc.lang)}>{highlight(doc.text, each)}</div>'
        f"{f'<p class=eb-small>{escape(doc.note)}</p>' if doc.note else ''}{_span_list(each, doc.text)}</article>"
        for doc, each in zip(read, spans, strict=True)
    )
    paired = any(s.kind in _KINDS or s.pair is not None for each in spans for s in each)
    return Html(f'{legend(kinds, paired=paired) if kinds else ""}<div class="eb-docs">{cards}</div>')
