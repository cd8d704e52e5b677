"""Tokens with tags (CoNLL files, BIO columns) to raw frames and to spans.

A CoNLL file has a token a line, its columns separated by tabs or blanks, the tag last, and an empty line between sentences.
Tags are ``O`` or a prefix and a class: ``B-``, ``I-``, and of BIOES and BILOU ``E-``, ``L-``, ``S-``, ``U-``, ``M-``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalbench.core.arrays import Indices
from evalbench.core.wording import counted
from evalbench.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd

TAGGED = (".conll", ".bio", ".iob", ".iob2", ".bioes")
_TAG = re.compile(r"[BIELSUM]-.+", re.DOTALL)
_COMMENT = re.compile(r"#\s")
SENTENCE, TOKEN, TAG, BEFORE = "sentence", "token", "tag", "tag_before"
TEXTS = ("id", SENTENCE, "sentence_id")


def is_tag(value: object) -> bool:
    """Whether a cell is a tag: ``O`` (or nothing), or a prefix and a class."""
    return isinstance(value, str) and (value in ("O", "") or bool(_TAG.fullmatch(value)))


def conll_frame(path: Path, text: str) -> tuple[pd.DataFrame, list[str]]:
    """The tokens of a CoNLL file: ``sentence`` (from 1), ``token``, ``tag``, and ``tag_before`` where the last column but one has tags too.

    Raises ``BadInput`` for lines without a tag: all of them.
    """
    import pandas as pd

    rows, numbers, faults = [], [], []
    sentence, fresh, comments = 0, True, 0
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.rstrip("\r")
        if not line.strip() or line.startswith("-DOCSTART-"):
            fresh = True
            continue
        cells = line.split("\t") if "\t" in line else line.split()
        tag = cells[-1].strip()
        if _COMMENT.match(line) and not (len(cells) > 1 and is_tag(tag)):
            comments += 1
            continue
        if len(cells) < 2 or not is_tag(tag):
            faults.append(f"line {number}: {line[:60]!r} has no tag (O, B-CLASS, I-CLASS) in its last column")
            continue
        sentence, fresh = sentence + fresh, False
        rows.append((sentence, cells[0], tag, cells[-2].strip() if len(cells) > 2 else None))
        numbers.append(number)
    if faults:
        raise BadInput.listing(f"{path}: not tokens with tags:", faults)
    if not rows:
        raise BadInput(f"{path}: holds no token")
    frame = pd.DataFrame(rows, index=pd.Index(numbers), columns=[SENTENCE, TOKEN, TAG, BEFORE])
    if not frame[BEFORE].map(lambda cell: is_tag(cell) and cell != "").all():
        frame = frame.drop(columns=BEFORE)
    return frame, [f"{counted(comments, 'line')} that begins with # and has no tag was left out"] if comments else []


class Tokens(NamedTuple):
    """Tokens of many texts, in their order.

    - ``text`` ((n,) array of int): The text of each token, ascending.
    - ``ids``: The texts' ids.
    - ``start``, ``end`` ((n,) arrays of int): Where each lies in its text, whose tokens are joined by blanks.
    """

    text: Indices
    ids: Sequence[str]
    start: Indices
    end: Indices
    texts: list[str]


def tokens_of(frame: pd.DataFrame) -> Tokens:
    """The tokens of a frame with ``token`` and a column of :data:`TEXTS`; the tokens of a text are in the frame's order.

    Raises ``BadInput`` where no column names the text, and for texts whose tokens are not together.
    """
    import pandas as pd

    own = next((name for name in TEXTS if name in frame), None)
    if own is None:
        raise BadInput(f"tokens: no column names their text; give one of {', '.join(TEXTS)}")
    numbered = own in (SENTENCE, "sentence_id")
    named = frame[own].map(lambda i: f"s{int(i):05d}" if numbered and str(i).isdigit() else str(i))
    codes, ids = pd.factorize(named, sort=False)
    if (np.diff(codes) < 0).any():
        back = sorted({ids[c] for c in codes[1:][np.diff(codes) < 0]})
        raise BadInput.listing(f"column {own}: the tokens of these texts are not together:", map(str, back))
    words = frame[TOKEN].map(lambda t: "" if t is None or t != t else str(t)).tolist()
    sizes = np.array([len(word) for word in words], dtype=np.int64)
    ends = np.cumsum(sizes + 1) - 1
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    starts = ends - sizes
    offset = np.repeat(starts[first], np.diff(first, append=len(codes)))
    bounds = [*first.tolist(), len(words)]
    texts = [" ".join(words[a:b]) for a, b in pairwise(bounds)]
    return Tokens(codes, [str(i) for i in ids], starts - offset, ends - offset, texts)


class Chunks(NamedTuple):
    """Entities as first and last token, and how many began with ``I-`` (or ``E-``, ``L-``, ``M-``)."""

    first: Indices
    last: Indices
    kinds: list[str]
    repaired: int


def chunks_of(tags: Iterable[str], text: Indices) -> Chunks:
    """Entities of tagged tokens, as conlleval finds them: what goes on where nothing has begun begins.

    - ``text`` ((n,) array of int): The text of each token, ascending.

    Raises ``BadInput`` for what is no tag.

    Examples
    --------
    >>> chunks_of(["I-PER", "I-PER", "O", "B-LOC", "B-LOC"], np.zeros(5, int))[1:]
    (array([1, 3, 4]), ['PER', 'LOC', 'LOC'], 1)
    """
    listed = ["O" if tag in ("", None) else str(tag) for tag in tags]
    wrong = sorted({tag for tag in listed if not is_tag(tag)})
    if wrong:
        raise BadInput.listing("these are not tags (O, or B-, I-, E-, L-, M-, S-, U- and a class):", wrong)
    n = len(listed)
    prefix = np.array([tag[0] for tag in listed], dtype="<U1")
    names = {tag[2:]: i for i, tag in enumerate(dict.fromkeys(tag for tag in listed if tag != "O"))}
    kind = np.array([-1 if tag == "O" else names[tag[2:]] for tag in listed], dtype=np.int64)
    inside = kind >= 0
    same_text = np.zeros(n, dtype=bool)
    same_text[1:] = text[1:] == text[:-1]
    before, done = np.roll(kind, 1), np.roll(np.isin(prefix, ["E", "L", "S", "U"]), 1)
    goes_on = same_text & (before == kind) & ~done & np.isin(prefix, ["I", "E", "L", "M"])
    begins = inside & ~goes_on
    first = np.flatnonzero(begins)
    ends = inside & ~np.append(goes_on[1:], False)
    repaired = int((begins & np.isin(prefix, ["I", "E", "L", "M"])).sum())
    by_code = {code: name for name, code in names.items()}
    return Chunks(first, np.flatnonzero(ends), [by_code[code] for code in kind[first].tolist()], repaired)
