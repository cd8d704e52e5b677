"""What a study answers to its question, in plain words: what is read before any figure."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from typing import Any

MOST_WORDS = 60
"""The four texts of an answer have at most so many words; two letters of Chinese, Japanese or Korean count as one."""
MOST_NUMBERS = 3
"""The first sentence has at most so many numbers."""
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")


@dataclass(frozen=True)
class Line:
    """One line of an answer, and where on the page there is more of it.

    - ``text``: A sentence; empty where there is nothing to say.
    - ``at``: The name of a place on the page: ``decides`` (the figure that decided), ``figures``, ``notes``, ``slices``,
      ``trials``, ``items``, ``method``.
    """

    text: str = ""
    at: str = "figures"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A study's answer to its question.

    - ``answer``: One or two sentences: who, what, how sure.
    - ``decided_by``: The figure that the light rests on, its interval and what it rests on.
    - ``could_change``: What could change the answer.
    - ``next``: What to do now.

    Raises ``ValueError`` if there is no answer.

    Examples
    --------
    >>> said = Answer(answer="Oak is better than fern.", decided_by=Line("F1 0.71, n 40.", "decides"))
    >>> said.size, said.to_json()["decided_by"]
    (9, {'text': 'F1 0.71, n 40.', 'at': 'decides'})
    """

    answer: str
    decided_by: Line = Line("", "decides")
    could_change: Line = Line("", "notes")
    next: Line = Line("", "items")

    def __post_init__(self) -> None:
        if not self.answer.strip():
            raise ValueError("an answer needs a sentence")

    @property
    def size(self) -> int:
        """The words of all four texts."""
        return size(" ".join((self.answer, self.decided_by.text, self.could_change.text, self.next.text)))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def size(text: str) -> int:
    """How many words a text has; two letters of Chinese, Japanese or Korean count as one.

    Examples
    --------
    >>> size("oak is better"), size("模型甲更好"), size("F1 0.71 [0.63, 0.78]")
    (3, 3, 4)
    """
    letters = len(_CJK.findall(text))
    return len(_CJK.sub("", text).split()) + math.ceil(letters / 2)


def clipped(text: str, most: int) -> str:
    """A text of at most so many words: as it is, or its beginning with an ellipsis; empty where that would say nothing.

    Examples
    --------
    >>> clipped("Two models are taken as one.", 10), clipped("Two models are taken as one, oak and fern.", 5)
    ('Two models are taken as one.', 'Two models are taken as…')
    """
    if size(text) <= most:
        return text
    kept = text.split(" ")
    while len(kept) > 1 and size(" ".join(kept)) > most:
        kept.pop()
    short = " ".join(kept)
    if size(short) > most:  # one word without blanks, as in Chinese
        short = short[: 2 * most]
    return f"{short.rstrip(' ,;:.(')}…" if most >= 4 else ""
