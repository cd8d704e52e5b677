"""A fact in a reply: scorers that need no judge, and where recall falls along the depths of a context.

A scorer is part of a figure's name: on the same replies they differ, since one counts what another does not.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from evalbench.core.arrays import Floats, Ints
from evalbench.metrics.registry import metric
from evalbench.text.locate import locate
from evalbench.text.numbers import ascii_numerals
from evalbench.text.words import UNSPACED

FUZZY_FROM = 0.9
_PASSKEY = "Zhang et al. (2024), InfiniteBench, the scorers of retrieval"
_REPLIES = ["It is 4217.", "It is 14217.", "Of 98 keys, 4217."]
_WORD_CHARACTER = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--[{UNSPACED}]]"
_DIGITS = regex.compile(r"[0-9]+")
_GROUPED = regex.compile(r"(?<![\d.,])\d{1,3}(?:([,'’\u00a0\u2009\u202f])\d{3})(?:\1\d{3})*(?![\d,'’])")


def normal(text: str) -> str:
    """A text as the scorers compare it: composed, lower case, digits of any script as 0–9, one space for any white space.

    Examples
    --------
    >>> normal("Der  SCHLÜSSEL\\n٤٢")
    'der schlüssel 42'
    """
    return " ".join(ascii_numerals(unicodedata.normalize("NFC", text)).casefold().split())


def _ungrouped(text: str) -> str:
    """A text as :func:`normal` has it, without the signs between a number's thousands, or the stop behind a number alone."""
    found = normal(_GROUPED.sub(lambda number: regex.sub(r"\D", "", number[0]), text))
    return found.removesuffix(".") if _DIGITS.fullmatch(found.removesuffix(".")) else found


def _scored(
    replies: Iterable[str],
    expected: Iterable[Sequence[str]],
    holds: Callable[[str, str], float],
    clean: Callable[[str], str] = _ungrouped,
) -> Floats:
    """The share of the expected texts that each reply holds; equal pairs are looked at once."""
    known = functools.cache(holds)
    cleaned = functools.cache(clean)
    shares = []
    for reply, wanted in zip(replies, expected, strict=True):
        texts = [cleaned(text) for text in wanted if text.strip()]
        found = [known(cleaned(reply), text) for text in texts]
        shares.append(sum(found) / len(found) if found else np.nan)
    return np.array(shares, dtype=float)


@metric(
    kind="reply",
    range=(0, 1),
    higher_is_better=True,
    needs=("expected",),
    reference="substring, as in most needle tests",
    limitations="counts a word within a longer one",
    example=({"replies": _REPLIES, "expected": [["4217"]] * 3}, [1.0, 0.0, 1.0]),
)
def contains(replies: Iterable[str], expected: Iterable[Sequence[str]]) -> Floats:
    """Whether the expected text appears anywhere in the reply; a number must be whole, so that 5 is neither in 15 nor in 5.2.

    2,393 is 2393, with a comma, an apostrophe or a narrow space between thousands.

    Parameters
    ----------
    replies : iterable of str
    expected : iterable of sequence of str
        The texts that each reply must hold: of several needles all of them.  Case, white space and the script of digits do
        not count (:func:`normal`).

    Returns
    -------
    (n,) array
        The share of the expected texts that are in the reply, 0–1; NaN where none is expected.

    Examples
    --------
    >>> contains(["It is 14217.", "4217kg", "tealish"], [["4217"], ["4217"], ["teal"]]).tolist()
    [0.0, 1.0, 1.0]
    """
    return _scored(replies, expected, lambda reply, text: float(_holds(reply, text)))


def _holds(reply: str, text: str) -> bool:
    return text in reply and _with_whole_numbers(text).search(reply) is not None


@functools.lru_cache(10_000)
def _with_whole_numbers(text: str) -> regex.Pattern[str]:
    before = r"(?<![0-9])(?<![0-9][.,])" if text[0].isdigit() else ""
    behind = r"(?![0-9])(?![.,][0-9])" if text[-1].isdigit() else ""
    return regex.compile(before + regex.escape(text) + behind)


def denied(reply: str, text: str) -> bool:
    """Whether a reply holds a text only behind a negation.

    Examples
    --------
    >>> denied("It is not San Francisco.", "San Francisco"), denied("Not Rome but Oslo.", "Oslo")
    (True, False)
    """
    text, reply = _ungrouped(text), _ungrouped(reply)
    return bool(text) and _holds(reply, text) and not _holds(_negations(text).sub(" ", reply), text)


@functools.lru_cache(10_000)
def _negations(text: str) -> regex.Pattern[str]:
    return regex.compile(
        r"(?:\b(?:not|never|neither|nor|anything\s+but|far\s+from|other\s+than|instead\s+of|rather\s+than|no\s+longer|не|нет|ни)\s+(?:(?:an?|the|in|at|на|в)\s+)*|n['’]t\s+|不是?)"
        + regex.escape(text)
    )


@metric(
    kind="reply",
    range=(0, 1),
    higher_is_better=True,
    needs=("expected",),
    reference=f"{_PASSKEY}: key–value",
    limitations="an inflected word is another word",
    example=({"replies": _REPLIES, "expected": [["4217"]] * 3}, [1.0, 0.0, 1.0]),
)
def word(replies: Iterable[str], expected: Iterable[Sequence[str]]) -> Floats:
    """Whether the expected text appears in the reply as whole words.

    No letter or digit touches it, and no point or comma joins its number to further digits: 5 is neither in 15 nor in 5.2.
    Scripts written without spaces have no such bounds.  Parameters and result as of :func:`contains`.

    Examples
    --------
    >>> word(["It is 14217.", "4217", "5.2", "答案是北京市"], [["4217"], ["4217"], ["5"], ["北京"]]).tolist()
    [0.0, 1.0, 0.0, 1.0]
    """
    return _scored(replies, expected, lambda reply, text: float(_whole(text).search(reply) is not None))


@functools.lru_cache(10_000)
def _whole(text: str) -> regex.Pattern[str]:
    first, last = (regex.fullmatch(_WORD_CHARACTER, text[i], regex.V1) for i in (0, -1))
    before = rf"(?<!{_WORD_CHARACTER})" if first else ""
    behind = rf"(?!{_WORD_CHARACTER})" if last else ""
    before += r"(?<![0-9][.,])" if text[0].isdigit() else ""
    behind += r"(?![.,][0-9])" if text[-1].isdigit() else ""
    return regex.compile(before + regex.escape(text) + behind, regex.V1)


@metric(
    kind="reply",
    range=(0, 1),
    higher_is_better=True,
    needs=("expected",),
    reference=f"{_PASSKEY}: passkey, number string",
    limitations="one number only; any other number before it makes the reply wrong",
    example=({"replies": _REPLIES, "expected": [["4217"]] * 3}, [1.0, 0.0, 0.0]),
)
def first_number(replies: Iterable[str], expected: Iterable[Sequence[str]]) -> Floats:
    """Whether the first run of digits in the reply is the expected number.

    Parameters as of :func:`contains`; NaN where the expected text is not a run of digits, or several are expected.

    Examples
    --------
    >>> first_number(["It is 4217, not 98.", "Of 98 keys, 4217.", "teal"], [["4217"], ["4217"], ["teal"]]).tolist()
    [1.0, 0.0, nan]
    """
    wanted = [[text for text in texts if text.strip()] for texts in expected]
    numbers = [texts if len(texts) == 1 and is_number(texts[0]) else [] for texts in wanted]

    def holds(reply: str, text: str) -> float:
        found = _DIGITS.search(reply)
        return float(found is not None and found[0] == text)

    return _scored(replies, numbers, holds, normal)


def is_number(text: str) -> bool:
    """Whether a text is one run of digits.

    Examples
    --------
    >>> is_number(" 4217 "), is_number("4 217"), is_number("teal")
    (True, False, False)
    """
    return _DIGITS.fullmatch(normal(text)) is not None


@metric(
    kind="reply",
    range=(0, 1),
    higher_is_better=True,
    needs=("expected",),
    reference="normalised indel similarity of the best passage",
    limitations="a word may be off by letters that change its meaning",
    example=({"replies": ["The ferry is tealish blue.", "red"], "expected": [["teal-ish blue"]] * 2}, [1.0, 0.0]),
)
def fuzzy(replies: Iterable[str], expected: Iterable[Sequence[str]], *, fuzzy_from: float = FUZZY_FROM) -> Floats:
    """Whether a passage of the reply is as similar to the expected text as ``fuzzy_from``; numbers must be whole (:func:`word`).

    Parameters as of :func:`contains`; similarity is 1 − (insertions + deletions) / (both lengths), 0–1, of the passage that
    :func:`evalbench.text.locate.locate` finds.

    Examples
    --------
    >>> replies, expected = ["It is painted teel blue.", "blue", "15 keys"], [["teal blue"], ["teal blue"], ["5 keys"]]
    >>> fuzzy(replies, expected, fuzzy_from=0.8).tolist()
    [1.0, 0.0, 0.0]
    """

    def holds(reply: str, text: str) -> float:
        if _DIGITS.fullmatch(text):
            return float(_whole(text).search(reply) is not None)
        if _holds(reply, text):
            return 1.0
        place = locate(text, reply, fuzzy_from)
        return float(place is not None and _numbers_around(reply, place.start, place.end) == _DIGITS.findall(text))

    return _scored(replies, expected, holds)


def _numbers_around(reply: str, start: int, end: int) -> list[str]:
    """The runs of digits that a passage holds or cuts into."""
    return [n[0] for n in _DIGITS.finditer(reply) if n.start() < end and n.end() > start]


class Fall(NamedTuple):
    """Where recall falls along the depths of a context.

    Attributes
    ----------
    at : int
        The place of the depth; −1 where recall falls nowhere.
    before : float
        The highest recall at a shallower depth.
    value : float
        Recall at the depth.
    """

    at: int
    before: float
    value: float


def falls(recall: npt.ArrayLike, least_fall: float) -> Ints:
    """The first depth at which recall lies ``least_fall`` or more below the highest recall at a shallower depth.

    Parameters
    ----------
    recall : (r, d) array
        Recall (0–1) by depth, the shallowest first; NaN where there is none.
    least_fall : float
        0–1.

    Returns
    -------
    (r,) array of int
        The place of the depth; −1 where recall falls nowhere.

    Examples
    --------
    >>> falls([[0.9, 0.95, 0.4, 0.9], [0.5, 0.6, 0.7, 0.8]], 0.2).tolist()
    [2, -1]
    """
    fallen = _below(recall) >= least_fall - 1e-9
    return np.where(fallen.any(axis=1), fallen.argmax(axis=1), -1)


def largest_fall(recall: npt.ArrayLike) -> Floats:
    """How far recall lies below the highest recall at a shallower depth, where that is most; as :func:`falls`.

    Returns
    -------
    (r,) array
        −1 to 1: negative where recall only rises; −inf where fewer than two depths have one.

    Examples
    --------
    >>> largest_fall([[0.9, 1.0, 0.25, 0.9], [0.5, 0.5, 0.75, 0.75]]).tolist()
    [0.75, 0.0]
    """
    found: Floats = _below(recall).max(axis=1)
    return found


def _below(recall: npt.ArrayLike) -> Floats:
    """How far each depth lies below the best of the shallower ones; −inf where there is nothing to compare."""
    table = np.asarray(recall, dtype=float)
    highest = np.maximum.accumulate(np.where(np.isnan(table), -np.inf, table), axis=1)
    before = np.concatenate([np.full((len(table), 1), -np.inf), highest[:, :-1]], axis=1)
    return np.where(np.isnan(table), -np.inf, before - np.where(np.isnan(table), 0, table))


def fall_of(recall: npt.ArrayLike, least_fall: float) -> Fall:
    """:func:`falls` of one row, with the recall before and at it.

    Examples
    --------
    >>> fall_of([0.9, 0.95, 0.4, 0.9], 0.2)
    Fall(at=2, before=0.95, value=0.4)
    """
    row = np.asarray(recall, dtype=float)
    at = int(falls(row[None, :], least_fall)[0])
    return Fall(at, float(np.nanmax(row[:at])), float(row[at])) if at >= 0 else Fall(-1, np.nan, np.nan)
