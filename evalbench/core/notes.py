"""Notes of a result and their rank: what would change a verdict is in its sentence, the rest is below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

Kind = Literal[
    "absent",
    "unscored",
    "disagreement",
    "mixed",
    "dangling",
    "overlap",
    "shifted",
    "unmatched",
    "labels",
    "sample",
    "instrument",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What a note of the first rank is about.

``absent``: rows that one group lacks.  ``unscored``: what the instrument failed on.  ``disagreement``: of scorers, judges or
annotators.  ``mixed``: several models, checkers or data sets taken as one.  ``dangling``: marks, ids or sources that point to
nothing.  ``overlap``: matches that hardly overlap.  ``shifted``: positions that are off by a constant.  ``unmatched``: texts,
strings or classes that differ by case, blanks or order alone, or do not occur.  ``labels``: what people's labels cannot carry.
``sample``: a figure of a part of the rows.  ``instrument``: a judge, metric or setting that does not fit the data.
"""


class Note(str):
    """A note of the first rank: a text like any other note, with the short form that the sentence has.

    A plain string is a note of the second rank.

    Parameters
    ----------
    short : str
        A clause without a full stop, such as ``"35 of 40 queries absent (late), counted 0"``.
    text : str
        The whole note; by default the short form.

    Examples
    --------
    >>> note = Note("dangling", "40 of 40 answers have marks without an entry", "Marks without an entry: 40, such as [2].")
    >>> str(note), note.kind, note.short
    ('Marks without an entry: 40, such as [2].', 'dangling', '40 of 40 answers have marks without an entry')
    """

    kind: Kind
    short: str

    def __new__(cls, kind: Kind, short: str, text: str = "") -> Note:
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
        short = short.rstrip(".")
        note = super().__new__(cls, text or _as_sentence(short))
        note.kind, note.short = kind, short
        return note

    @property
    def sentence(self) -> str:
        """The short form as a sentence of its own."""
        return _as_sentence(self.short)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.kind, self.short, str(self)

    def row(self) -> dict[str, str]:
        return {"kind": self.kind, "short": self.short, "note": str(self)}


def _as_sentence(clause: str) -> str:
    """With a capital, and a full stop unless it asks.

    Examples
    --------
    >>> _as_sentence("marks differ"), _as_sentence("do they count from 1?")
    ('Marks differ.', 'Do they count from 1?')
    """
    return f"{clause[:1].upper()}{clause[1:]}{'' if clause.endswith(('?', '!')) else '.'}"


def first_rank(notes: Iterable[str]) -> tuple[Note, ...]:
    """Those of the first rank, each once."""
    return tuple(dict.fromkeys(note for note in notes if isinstance(note, Note)))


def with_notes(sentence: str, notes: Iterable[str]) -> str:
    """A sentence followed by the short forms of the notes of the first rank that it lacks.

    Examples
    --------
    >>> with_notes("F1 0.90 (late).", ["a plain note", Note("absent", "37 of 40 texts absent (late), counted 0")])
    'F1 0.90 (late). 37 of 40 texts absent (late), counted 0.'
    """
    for note in first_rank(notes):
        if not says(sentence, note):
            sentence = f"{sentence} {note.sentence}"
    return sentence


def says(sentence: str, note: Note | Mapping[str, str]) -> bool:
    """Whether a sentence has the short form of a note, or of a row of ``first_rank`` in ``results.json``.

    Examples
    --------
    >>> says("F1 0.90. Two models are taken as one.", {"short": "two models are taken as one"})
    True
    """
    short = note.short if isinstance(note, Note) else note["short"]
    return short.casefold() in sentence.casefold()
