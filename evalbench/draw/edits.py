"""A text beside its variant, with what was changed marked: by the log of an augmentation, or letter by letter where there is none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from evalbench.draw.differences import side_by_side
from evalbench.draw.html import Html, attribute, escape, language_attributes

if TYPE_CHECKING:
    from evalbench.text.augment.edits import Edit

_LONGEST = 2_000
"""Characters of longer texts are not compared one by one."""
_ALIKE = 0.5
"""Nor those of texts that have less in common: words are."""


class Changed(NamedTuple):
    """A text and what became of it, for :func:`variants`."""

    title: str
    original: str
    variant: str
    edits: Sequence[Edit] | None = None
    note: str = ""


class _Step(NamedTuple):
    """A stretch of both texts; one without a kind is the same in both."""

    old: str
    new: str
    kind: str


def edited(original: str, variant: str, edits: Sequence[Edit] | None = None) -> tuple[Html, Html]:
    """Two texts, escaped: what went is marked in the first, what came in its place in the second.

    - ``edits``: The log of :func:`evalbench.text.augment.augment`; each mark then names its kind. Without it letters
      are compared, or of long texts and of those that have little in common words
      (:func:`evalbench.draw.differences.side_by_side`).

    Raises ``ValueError`` if the edits are not those between the two texts.

    Examples
    --------
    >>> edited("a <cat>", "a <cst>")[1]
    'a &lt;c<mark class="eb-prediction" title="was: a">s</mark>t&gt;'
    >>> from evalbench.text.augment import augment
    >>> found = augment("слово", "special_token", rate=1.0)
    >>> edited("слово", *found)[1]
    '<mark class="eb-prediction" title="letters separated; was: слово">с-л-о-в-о</mark>'
    """
    if edits is None:
        steps = _compared(original, variant)
        if steps is None:
            return side_by_side(original, variant)
    else:
        steps = _logged(original, variant, edits)
    old = [_mark(step.old, "eb-truth", "became", step.new, "left out", step.kind) for step in steps]
    new = [_mark(step.new, "eb-prediction", "was", step.old, "added", step.kind) for step in steps]
    return Html("".join(old)), Html("".join(new))


def variants(rows: Iterable[Changed]) -> Html:
    """Originals beside their variants, the edits marked.

    Examples
    --------
    >>> "<mark" in variants([Changed("q1, butter_finger", "a cat", "a cst")])
    True
    """
    cards = []
    for row in rows:
        sides = zip((row.original, row.variant), edited(row.original, row.variant, row.edits), strict=True)
        old, new = (f'<div class="eb-text"{language_attributes(text)}>{html}</div>' for text, html in sides)
        note = f'<p class="eb-small">{escape(row.note)}</p>' if row.note else ""
        title = f'<p class="eb-doc-title">{escape(row.title)}</p>'
        cards.append(f'{title}<div class="eb-docs"><div>{old}</div><div>{new}</div></div>{note}')
    return Html("".join(cards))


def _logged(original: str, variant: str, edits: Sequence[Edit]) -> list[_Step]:
    steps, at, new_at = [], 0, 0
    for edit in edits:
        same = original[at : edit.start]
        if at > edit.start or variant[new_at : edit.new_start] != same:
            raise ValueError("the edits are not those between these two texts")
        steps += [
            _Step(same, same, ""),
            _Step(original[edit.start : edit.end], variant[edit.new_start : edit.new_end], edit.kind),
        ]
        at, new_at = edit.end, edit.new_end
    if original[at:] != variant[new_at:]:
        raise ValueError("the edits are not those between these two texts")
    return [*steps, _Step(original[at:], original[at:], "")]


def _compared(original: str, variant: str) -> list[_Step] | None:
    from rapidfuzz.distance import Levenshtein

    if max(len(original), len(variant)) > _LONGEST or Levenshtein.normalized_similarity(original, variant) < _ALIKE:
        return None
    return [
        _Step(
            original[op.src_start : op.src_end], variant[op.dest_start : op.dest_end], "" if op.tag == "equal" else "-"
        )
        for op in Levenshtein.opcodes(original, variant)
    ]


def _mark(text: str, look: str, word: str, other: str, otherwise: str, kind: str) -> str:
    if not kind or not text:
        return escape(text)
    said = f"{word}: {other}" if other else otherwise
    title = said if kind == "-" else f"{kind}; {said}"
    shown = text if text.strip() else text.replace(" ", "·").replace("\n", "↵\n").replace("\t", "⇥")
    return f'<mark class="{look}" title="{attribute(title)}">{escape(shown)}</mark>'
