"""Whether a verdict's evidence is there: its quotes in what was shown, its sums right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from evalbench.core.unscored import Unscored
from evalbench.text.equations import inline_equations
from evalbench.text.locate import locate

NOT_FOUND: Unscored = "evidence-not-found"
WRONG_SUM: Unscored = "wrong-arithmetic"
LEAST_LETTERS = 4
_EXACT = 1.0
_TYPES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "\u00a0": " "}
)
_LEFT_OUT = re.compile(r"\[?(?:…|\.\.\.)\]?")
_QUOTED = re.compile(r'["“„«]([^"“”„«»\n]{1,2000})["”»]')
_WITH_NUMBER = re.compile(r'["“„«]([^"“”„«»\n]{1,2000})["”»]\s{0,3}[\[(](?:passage\s)?(\d{1,6})[\])]', re.IGNORECASE)


def faults(reason: str, quotes: Sequence[tuple[int, str]], shown: Mapping[int, str]) -> tuple[Unscored, str]:
    """Why a verdict does not count, and that in words; empty where its evidence is there.

    A quote is word for word but for case, blanks and the forms of quotation marks and dashes; ``…`` leaves something out.
    It has four letters or digits at least, or is the whole passage.  Quotes in the reason that a number in brackets follows are
    evidence too.  Every equation of the reason outside quotes must hold.

    Parameters
    ----------
    quotes : sequence of (int, str)
        The number of a passage, and what it is said to say.
    shown : mapping of int to str
        What the judge has seen of each passage.

    Examples
    --------
    >>> shown = {1: "The desk opens at nine."}
    >>> faults("It opens at nine.", [(1, "opens at nine")], shown)
    ('', '')
    >>> faults("It opens at ten.", [(1, "opens at ten")], shown)[0]
    'evidence-not-found'
    >>> faults("2 + 2 = 5, so it opens.", [(1, "opens at nine")], shown)[0]
    'wrong-arithmetic'
    """
    said = [*quotes, *((int(number), text) for text, number in _WITH_NUMBER.findall(reason))]
    if not said:
        return NOT_FOUND, "the verdict quotes no passage"
    for number, quote in said:
        if number not in shown:
            return NOT_FOUND, f"passage {number} was neither given nor opened"
        if not is_in(quote, shown[number]):
            return NOT_FOUND, f"passage {number} does not say {_short(quote)}"
    wrong = next(_wrong_sums(reason), "")
    return (WRONG_SUM, f"{wrong} does not hold") if wrong else ("", "")


def is_in(quote: str, text: str) -> bool:
    """Whether a text holds a quote, see :func:`faults`.

    Examples
    --------
    >>> is_in("“The desk … nine”", "The desk opens at nine."), is_in("nine … desk", "The desk opens at nine.")
    (True, False)
    """
    whole = _plain(text)
    parts = [part.strip(" \"'") for part in _LEFT_OUT.split(_plain(quote))]
    parts = [part for part in parts if part]
    letters = sum(character.isalnum() for part in parts for character in part)
    if not parts or (letters < LEAST_LETTERS and parts != [whole.strip(" \"'")]):
        return False
    rest = whole
    for part in parts:
        found = locate(part, rest, _EXACT) or locate(part.rstrip(".,;:!?"), rest, _EXACT)
        if found is None:
            return False
        rest = rest[found.end :]
    return True


def _plain(text: str) -> str:
    return " ".join(text.translate(_TYPES).casefold().split())


def _wrong_sums(reason: str) -> Iterator[str]:
    """Equations that can be read and do not hold; what the reason quotes is not its own."""
    for line in _QUOTED.sub(" … ", reason).split("\n"):
        for equation in inline_equations(line):
            if equation.sides and not equation.holds() and not _is_rounded(equation.text, equation.holds(0.005)):
                yield equation.text


def _is_rounded(text: str, nearly: bool) -> bool:
    """Whether a result may be a rounded one: its decimals end, and it is within half a percent."""
    result = text.rpartition("=")[2]
    return nearly and ("/" in text or "÷" in text or "%" in text or "." in result)


def _short(quote: str) -> str:
    text = " ".join(quote.split())
    return repr(text if len(text) <= 80 else f"{text[:79]}…")
