"""Whether a verdict's evidence is there: its quotes in what was shown, its sums right."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from evalbench.core.unscored import Unscored
from evalbench.text.arithmetic import Expression
from evalbench.text.equations import TOLERANCE, inline_equations
from evalbench.text.locate import locate
from evalbench.text.sums_in_words import stated_sums
from evalbench.text.words import words

NOT_FOUND: Unscored = "evidence-not-found"
WRONG_SUM: Unscored = "wrong-arithmetic"
LEAST_LETTERS = 4
WORDS_OF_A_PIECE = 3
WORDS_OF_A_QUOTE = 4
MOST_LEFT_OUT = 3
MOST_PLACES = 1000
WHOLE_WITHIN = Fraction(1, 100)
_EXACT = 1.0
_TYPES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "−": "-", "\u00a0": " "}
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
)
_LEFT_OUT = re.compile(r"\[?(?:…|\.\.\.)\]?")
_QUOTED = re.compile(r'["“„«]([^"“”„«»\n]{1,2000})["”»]')
_WITH_NUMBER = re.compile(r'["“„«]([^"“”„«»\n]{1,2000})["”»]\s{0,3}[\[(](?:passage\s)?(\d{1,6})[\])]', re.IGNORECASE)


def faults(
    reason: str,
    quotes: Sequence[tuple[int, str]],
    shown: Mapping[int, str],
    *,
    sources: Collection[int] = (),
    told: str = "",
) -> tuple[Unscored, str]:
    """Why a verdict does not count, and that in words; empty where its evidence is there.

    A quote is word for word but for case, blanks and the forms of quotation marks and dashes, and cuts no word or number.
    It has four letters or digits at least, or is the whole passage; ``…`` leaves something out between pieces of three words or
    more, three times at most.  Quotes in the reason that a number in brackets follows are evidence too, and any other of four
    words or more must be somewhere in what was shown.  Every sum of the reason must hold, in signs or in words, but for those
    in quotes that are there; a result may be rounded to the decimals that it has,
    to a whole number within one percent.

    Parameters
    ----------
    quotes : sequence of (int, str)
        The number of a passage, and what it is said to say.
    shown : mapping of int to str
        What the judge has seen of each passage.
    sources : collection of int
        The passages that can prove something; one of them at least must be quoted.  Empty where all can.
    told : str
        What else the judge was told, which its reason may quote.

    Examples
    --------
    >>> shown = {1: "The desk opens at nine.", 2: "It opens at ten."}
    >>> faults("It opens at nine.", [(1, "opens at nine")], shown)
    ('', '')
    >>> faults("It opens at ten.", [(1, "opens at ten")], shown)[0]
    'evidence-not-found'
    >>> faults("It says so.", [(2, "opens at ten")], shown, sources=[1])[1]
    'it quotes only what is to be judged, and no source'
    >>> faults("Two plus two is five, so it opens.", [(1, "opens at nine")], shown)
    ('wrong-arithmetic', 'two plus two is five does not hold')
    """
    said = [*quotes, *((int(number), text) for text, number in _WITH_NUMBER.findall(reason))]
    if not said:
        return NOT_FOUND, "the verdict quotes no passage"
    for number, quote in said:
        if number not in shown:
            return NOT_FOUND, f"passage {number} was neither given nor opened"
        if not is_in(quote, shown[number]):
            return NOT_FOUND, f"passage {number} does not say {_short(quote)}"
    if sources and not any(number in sources for number, _ in said):
        return NOT_FOUND, "it quotes only what is to be judged, and no source"
    everything = (*shown.values(), told)
    invented = next(
        (text for text in _QUOTED.findall(reason) if _is_long(text) and not _is_anywhere(text, everything)), ""
    )
    if invented:
        return NOT_FOUND, f"nothing that was shown says {_short(invented)}"
    own = _QUOTED.sub(
        lambda match: " … " if any(_end_of(_plain(match[1]), _plain(text)) for text in everything) else f" {match[1]} ",
        reason,
    )
    wrong = next(_wrong_sums(own), "")
    return (WRONG_SUM, f"{wrong} does not hold") if wrong else ("", "")


def is_in(quote: str, text: str) -> bool:
    """Whether a text holds a quote, see :func:`faults`.

    Examples
    --------
    >>> text = "The small desk opens at nine, and never before."
    >>> is_in("“The small desk … and never before”", text), is_in("The small desk … never", text)
    (True, False)
    >>> is_in("opens at nine", "It opens at nineteen."), is_in("costs 5", "It costs 5.50.")
    (False, False)
    """
    whole = _plain(text)
    parts = [part for part in (part.strip(" \"'") for part in _LEFT_OUT.split(_plain(quote))) if part]
    letters = [sum(character.isalnum() for character in part) for part in parts]
    if not parts or len(parts) > MOST_LEFT_OUT + 1:
        return False
    if min(letters) < LEAST_LETTERS and (len(parts) > 1 or _bare(parts[0]) != _bare(whole)):
        return False
    if len(parts) > 1 and any(len(words(part)) < WORDS_OF_A_PIECE for part in parts):
        return False
    rest = whole
    for part in parts:
        end = _end_of(part, rest) or _end_of(part.rstrip(".,;:!?"), rest)
        if not end:
            return False
        rest = rest[end:]
    return True


def _end_of(part: str, text: str) -> int:
    """Where a piece that cuts no word and no number ends in a text; 0 where it is not there."""
    if not part:
        return 0
    start = text.find(part)
    if start < 0:
        found = locate(part, text, _EXACT)
        return found.end if found and _is_whole(text, found.start, found.end) else 0
    for _ in range(MOST_PLACES):
        if _is_whole(text, start, start + len(part)):
            return start + len(part)
        start = text.find(part, start + 1)
        if start < 0:
            break
    return 0


def _is_whole(text: str, start: int, end: int) -> bool:
    return not _cuts(text, start) and not _cuts(text, end) and not _loses_its_sign(text, start)


def _cuts(text: str, at: int) -> bool:
    """Whether a word or a number goes on across a place; scripts without blanks have no such words."""
    before, after = text[max(0, at - 2) : at], text[at : at + 2]
    if not before or not after:
        return False
    if before[-1].isalnum() and after[0].isalnum():
        return not (_has_no_blanks(before[-1]) or _has_no_blanks(after[0]))
    point_before = len(before) == 2 and before[1] in ".,:" and before[0].isdigit() and after[0].isdigit()
    return point_before or (before[-1].isdigit() and len(after) == 2 and after[0] in ".,:" and after[1].isdigit())


def _loses_its_sign(text: str, at: int) -> bool:
    """Whether a number is quoted without the minus before it."""
    return (
        text[at : at + 1].isdigit() and text[max(0, at - 1) : at] == "-" and not text[max(0, at - 2) : at - 1].isalnum()
    )


def _has_no_blanks(character: str) -> bool:
    return "\u0e00" <= character <= "\u0eff" or "\u1000" <= character <= "\u17ff" or "\u3040" <= character <= "\u9fff"


def _plain(text: str) -> str:
    return " ".join(text.translate(_TYPES).casefold().split())


def _bare(text: str) -> str:
    return text.strip(" \"'.,;:!?")


def _is_long(quote: str) -> bool:
    return len(words(quote)) >= WORDS_OF_A_QUOTE


def _is_anywhere(quote: str, texts: Sequence[str]) -> bool:
    return any(is_in(quote, text) for text in texts)


def _wrong_sums(reason: str) -> Iterator[str]:
    """Sums that can be read and do not hold."""
    for line in reason.split("\n"):
        for equation in inline_equations(line):
            if equation.sides and any(not _agree(equation.sides[0], side) for side in equation.sides[1:]):
                yield equation.text
        yield from (one.text for one in stated_sums(line) if not _agree(one.value, one.result))


def _agree(left: Expression, right: Expression) -> bool:
    """Whether two sides are equal, or one is the other rounded to the decimals that it has."""
    away = abs(left.value - right.value)
    return away <= TOLERANCE or any(
        away <= min(unit / 2, abs(exact) * WHOLE_WITHIN)
        if unit >= 1
        else away <= unit / 2 or _is_cut(exact, rounded, unit)
        for rounded, exact, unit in ((right.value, left.value, _unit(right)), (left.value, right.value, _unit(left)))
    )


def _is_cut(exact: Fraction, rounded: Fraction, unit: Fraction) -> bool:
    """Whether further decimals were left out: 20 / 3 = 6.66."""
    return abs(exact - rounded) < unit and abs(rounded) < abs(exact)


def _unit(side: Expression) -> Fraction:
    """What the last decimal of a single number is worth; 0 for a calculation, which is rounded to nothing."""
    if side.operators or len(side.written) != 1:
        return Fraction(0)
    number = side.written[0]
    value, percent = number.value, number.text.count("%")
    found = re.search(r"[.,](\d+)%*$", number.text)
    is_decimal = found and (found[0][0] == "." or (value * 100**percent).denominator > 1)
    decimals = len(found[1]) if found and is_decimal else 0
    return Fraction(1, 10**decimals * 100**percent)


def _short(quote: str) -> str:
    text = " ".join(quote.split())
    return repr(text if len(text) <= 80 else f"{text[:79]}…")
