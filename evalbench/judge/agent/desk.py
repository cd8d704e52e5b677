"""What a judge has before it on one item: numbered passages, and the tools that it may use."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from evalbench.judge.agent.corpus import PASSAGE, Corpus, Piece
from evalbench.models.prompts import fenced
from evalbench.text.arithmetic import MAX_LENGTH, ArithmeticFault, parse
from evalbench.text.chunks import chunk_spans

MOST_FOUND = 6
MOST_SHOWN = 6000
MOST_COMPARED = 4000
LONGEST_QUERY = 400
LONGEST_URL = 2000
_SNIPPET = 160
_PIECES_OF_A_PAGE = 40

PageText = Callable[[str], tuple[str, str]]
"""An address to the text of its page, and why there is none."""


class Desk:
    """The passages of one item and the tools over them; nothing that a tool is given raises.

    Attributes
    ----------
    shown : dict of int to str
        The text that the judge has seen of each passage: what it may quote.

    Examples
    --------
    >>> desk = Desk([("premise", "The desk opens at nine.")], Corpus([]))
    >>> desk.use("calculate", {"expression": "2 + 3 * 4"})
    '2 + 3 * 4 = 14'
    """

    def __init__(self, given: Sequence[tuple[str, str]], corpus: Corpus, page: PageText | None = None) -> None:
        self._corpus, self._page = corpus, page
        self._texts = {number: text for number, (_, text) in enumerate(given, start=1)}
        self._sources = {number: name for number, (name, _) in enumerate(given, start=1)}
        self._own = len(given)
        self._of_corpus: dict[int, int] = {}
        self._of_data: set[int] = set()
        self.shown = dict(self._texts)

    @property
    def given(self) -> list[tuple[int, str]]:
        """Number and name of what the item holds."""
        return [(number, self._sources[number]) for number in range(1, self._own + 1)]

    def looked_up(self, number: int) -> str:
        """Where a passage beyond those of the item comes from; empty for those of the item."""
        return self._sources[number] if number > self._own else ""

    def is_chosen(self, number: int) -> bool:
        """Whether a passage is of a corpus that was named, or of the web: not of the item, nor of the data set."""
        return number > self._own and number not in self._of_data

    def use(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """What a tool answers; material of others is fenced."""
        if tool == "search":
            return self.search(str(arguments.get("query") or ""))
        if tool == "open":
            return self.open(arguments.get("passage"))
        if tool == "open_url" and self._page is not None:
            return self.open_url(str(arguments.get("url") or ""))
        if tool == "calculate":
            return calculated(str(arguments.get("expression") or ""))
        if tool == "compare":
            return compared(str(arguments.get("first") or ""), str(arguments.get("second") or ""))
        return f"There is no tool {tool[:40]!r} here."

    def search(self, query: str) -> str:
        """The best passages for a query by number, each with its beginning."""
        query = query.strip()[:LONGEST_QUERY]
        if not query:
            return "The query is empty."
        numbers = self._found(query)
        if not numbers:
            return "Nothing was found. Try other words."
        lines = [self._shown(n, _beginning(self._texts[n]), "found") for n in numbers]
        return "\n".join([*lines, "Open a passage to read and quote it."])

    def _found(self, query: str) -> list[int]:
        if not self._corpus.pieces:
            return [place + 1 for place in self._own_corpus.best(query, MOST_FOUND)]
        places = self._corpus.best(query, MOST_FOUND)
        for place in places:
            if place not in self._of_corpus:
                self._of_corpus[place] = self._placed(self._corpus.pieces[place])
        return list(dict.fromkeys(self._of_corpus[place] for place in places))

    @functools.cached_property
    def _own_corpus(self) -> Corpus:
        return Corpus([Piece(self._sources[n], self._texts[n]) for n, _ in self.given], self._corpus.embed)

    def _placed(self, piece: Piece) -> int:
        """The number of a passage that was found: that of the item's own text where it is in it."""
        own = next((n for n, _ in self.given if piece.of_data and piece.text in self._texts[n]), 0)
        if own:
            return own
        number = self._numbered(piece.source, piece.text)
        if piece.of_data:
            self._of_data.add(number)
        return number

    def _numbered(self, source: str, text: str) -> int:
        number = len(self._texts) + 1
        self._texts[number], self._sources[number] = text, source
        return number

    def open(self, number: object) -> str:
        """A passage by number."""
        if not isinstance(number, int) or number not in self._texts:
            return f"There is no passage of this number; there are 1 to {len(self._texts)}."
        text = self._texts[number][:MOST_SHOWN]
        if number > self._own:
            self.shown[number] = text
        return self._shown(number, text, "passage")

    def _shown(self, number: int, text: str, fence: str) -> str:
        """A passage by its number; the name of one beyond the item's is material too, and within the fence."""
        if number <= self._own:
            return f"Passage {number} ({self._sources[number]}):\n{fenced(text, fence)}"
        named = f"{self._sources[number]}\n\n{text}"
        return f"Passage {number}:\n{fenced(named, fence)}"

    def open_url(self, url: str) -> str:
        """The page of an address as passages: the first ones are opened, the others numbered."""
        assert self._page is not None
        if not url.strip() or len(url) > LONGEST_URL:
            return "This is not an address."
        text, fault = self._page(url.strip())
        if fault:
            outcome, _, detail = fault.partition(": ")
            return f"The page cannot be read: {outcome}" + (f"\n{fenced(detail, 'fault')}" if detail else "")
        spans = list(chunk_spans(text, PASSAGE))[:_PIECES_OF_A_PAGE]
        if not spans:
            return "The page holds no text."
        numbers = [self._numbered("a page of the web", text[start:end]) for start, end in spans]
        first = numbers[: MOST_SHOWN // PASSAGE]
        more = f"The page goes on in passages {first[-1] + 1} to {numbers[-1]}." if len(numbers) > len(first) else ""
        return "\n".join([*(self.open(number) for number in first), *filter(None, [more])])


def _beginning(text: str) -> str:
    return text if len(text) <= _SNIPPET else f"{text[:_SNIPPET]}…"


def calculated(expression: str) -> str:
    """An expression and its value, exact where its decimals end.

    Examples
    --------
    >>> calculated("(1 + 2) ** 3 / 4"), calculated("9**9**9")[:24]
    ('(1 + 2) ** 3 / 4 = 6.75', 'This cannot be calculate')
    """
    if len(expression) > MAX_LENGTH:
        return f"This cannot be calculated: it is longer than {MAX_LENGTH} characters."
    try:
        return f"{expression.strip()} = {_number(parse(expression).value)}"
    except ArithmeticFault as fault:
        return f"This cannot be calculated: {fault}."


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.12g}" if abs(value) < 10**300 else "a number beyond 1e300"


def compared(first: str, second: str) -> str:
    """How two texts or numbers differ.

    Examples
    --------
    >>> compared("12", "9.5")
    'The first number is greater, by 2.5.'
    >>> compared("opens at nine", "opens  at NINE")
    'The texts are the same but for case and blanks.'
    """
    if max(len(first), len(second)) > MOST_COMPARED:
        return f"These are too long to compare: at most {MOST_COMPARED:,} characters each."
    try:
        left, right = parse(first).value, parse(second).value
    except ArithmeticFault:
        return _texts_compared(first, second)
    if left == right:
        return "The numbers are equal."
    return f"The first number is {'greater' if left > right else 'smaller'}, by {_number(abs(left - right))}."


def _texts_compared(first: str, second: str) -> str:
    from rapidfuzz.distance import Indel

    if first == second:
        return "The texts are the same."
    left, right = (" ".join(text.casefold().split()) for text in (first, second))
    if left == right:
        return "The texts are the same but for case and blanks."
    alike = Indel.normalized_similarity(left, right)
    return f"The texts differ; {alike:.0%} of their characters agree."
