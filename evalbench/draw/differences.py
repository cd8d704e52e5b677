"""Two texts side by side: the words that only one of them has are marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import regex

from evalbench.core.wording import counted
from evalbench.draw.html import Html, escape
from evalbench.text.words import UNSPACED

_TOKEN = regex.compile(rf"[{UNSPACED}]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]+|\s|.", regex.V1 | regex.DOTALL)
_MOST_TOKENS = 20_000  # of two texts together; of longer ones only the common beginning and end are found
_KEPT = 120  # characters of a long passage that both have, at either end
_MOST = 2_000  # characters of one text that are shown


class _Piece(NamedTuple):
    """A passage that both texts have, or what each has in its place."""

    same: bool
    before: str
    after: str


def side_by_side(before: str, after: str, most: int = _MOST) -> tuple[Html, Html]:
    """Two texts, escaped, with marks on the words that the other lacks.

    - ``before``, ``after``: Any language; where a script has no spaces, each character is a word.
    - ``most``: Characters that are shown of each; the rest is counted, and so are long passages that both have.

    Examples
    --------
    >>> side_by_side("a good answer", "a bad answer")
    ('a <mark class="eb-differs">good</mark> answer', 'a <mark class="eb-differs">bad</mark> answer')
    >>> side_by_side("<b>", "<b>")
    ('&lt;b&gt;', '&lt;b&gt;')
    """
    pieces = _joined(_pieces(_TOKEN.findall(before), _TOKEN.findall(after)))
    left = _drawn([(p.same, p.before) for p in pieces], most)
    right = _drawn([(p.same, p.after) for p in pieces], most)
    return left, right


def _pieces(before: Sequence[str], after: Sequence[str]) -> list[_Piece]:
    from rapidfuzz.distance import LCSseq

    if len(before) + len(after) > _MOST_TOKENS:
        return _ends(before, after)
    return [
        _Piece(
            op.tag == "equal", "".join(before[op.src_start : op.src_end]), "".join(after[op.dest_start : op.dest_end])
        )
        for op in LCSseq.opcodes(before, after)
    ]


def _ends(before: Sequence[str], after: Sequence[str]) -> list[_Piece]:
    shortest = min(len(before), len(after))
    head = next((i for i in range(shortest) if before[i] != after[i]), shortest)
    tail = next((i for i in range(shortest - head) if before[-1 - i] != after[-1 - i]), shortest - head)
    a, b = len(before) - tail, len(after) - tail
    parts = ((True, before[:head], after[:head]), (False, before[head:a], after[head:b]), (True, before[a:], after[b:]))
    return [_Piece(same, "".join(x), "".join(y)) for same, x, y in parts]


def _joined(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Pieces without the shreds: a space or a mark between two differences is part of them."""
    out: list[_Piece] = []
    for piece in pieces:
        if (
            len(out) > 1
            and not piece.same
            and out[-1].same
            and not out[-2].same
            and not any(map(str.isalnum, out[-1].before))
        ):
            between = out.pop()
            out[-1] = _Piece(False, out[-1].before + between.before, out[-1].after + between.after)
        if out and not out[-1].same and not piece.same:
            out[-1] = _Piece(False, out[-1].before + piece.before, out[-1].after + piece.after)
        else:
            out.append(piece)
    return out


def _drawn(parts: Sequence[tuple[bool, str]], most: int) -> Html:
    drawn: list[str] = []
    room = most
    for i, (same, text) in enumerate(parts):
        if same and len(parts) > 1 and len(text) > 3 * _KEPT:
            head, tail = text[: _KEPT * (i > 0)], text[len(text) - _KEPT * (i < len(parts) - 1) :]
            hidden = len(text) - len(head) - len(tail)
            drawn += [escape(head), _gap(f"… {counted(hidden, 'character')} that both have …"), escape(tail)]
            room -= len(head) + len(tail)
            continue
        cut = text[: max(room, 0)]
        drawn.append(escape(cut) if same else _mark(cut))
        room -= len(cut)
        if len(cut) < len(text):
            rest = len(text) - len(cut) + sum(len(later) for _, later in parts[i + 1 :])
            drawn.append(_gap(f"… {counted(rest, 'more character')}"))
            break
    return Html("".join(drawn))


def _mark(text: str) -> Html:
    """What the other text lacks; white space alone becomes visible."""
    shown = text if text.strip() else text.replace(" ", "·").replace("\n", "↵\n").replace("\t", "⇥")
    return Html(f'<mark class="eb-differs">{escape(shown)}</mark>' if text else "")


def _gap(words: str) -> Html:
    return Html(f'<span class="eb-gap">{escape(words)}</span>')
