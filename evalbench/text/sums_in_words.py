"""Sums that a sentence states in words: *two plus two is four*, *сумма 2 и 3 равна 5*, *二加二等于四*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import regex as re  # Debian's Python 3.11.2 matches possessive groups of its own module wrongly

from evalbench.text.arithmetic import NUMERAL, ArithmeticFault, Expression, parse
from evalbench.text.number_words import chinese_in_digits, is_number_word, number_words
from evalbench.text.numbers import ascii_numerals

MOST_CHARACTERS = 20_000
MOST_NUMBERS = 12
_LONGEST_NUMBER = 8
_OPERATORS = {
    "+": "plus|added to|and also|плюс|прибавить",
    "-": "minus|take away|минус|отнять|вычесть",
    "*": "times|multiplied by|раз по|раза по|умножить на|умноженное на|умноженные на|умноженный на",
    "/": "divided by|делить на|разделить на|деленное на|деленные на|разделенное на",
}
_IS = (
    "equals|equal|is equal to|are equal to|is|are|was|were|makes|make|gives|give|comes to|come to|amounts to|totals|is exactly"
    "|равно|равен|равна|равны|равняется|будет|дает|дают|это|составляет|—|=|="
)
_OF = {
    "+": "sum of|total of|сумма|сумму",
    "-": "difference between|difference of|разность|разница между",
    "*": "product of|произведение",
}
_OF_ONE = {
    "half of": "/2",
    "twice": "*2",
    "double": "*2",
    "triple": "*3",
    "thrice": "*3",
    "дважды": "*2",
    "трижды": "*3",
}
_SHARE = "% of|percent of|per cent of|% от|процентов от|процента от|процент от"
_AND = ("and", "и")
_CHINESE = {
    **dict.fromkeys(("加上", "加"), " plus "), **dict.fromkeys(("减去", "減去", "减", "減"), " minus "),
    **dict.fromkeys(("乘以", "乘"), " times "), "除以": " divided by ",
    **dict.fromkeys(("等于", "等於", "就是", "是", "得", "为", "為"), " equals "),
}  # fmt: skip
_HAN = re.compile("|".join(sorted(_CHINESE, key=len, reverse=True)))
_TOKEN = re.compile(rf"(?P<number>{NUMERAL})|[^\W\d_]+|\S")


def _phrases(table: dict[str, str]) -> list[tuple[tuple[str, ...], str]]:
    found = [(tuple(words.split()), sign) for sign, several in table.items() for words in several.split("|")]
    return sorted(found, key=lambda one: -len(one[0]))


_SIGNS = [*_phrases(_OPERATORS), (("+",), "+"), (("*",), "*"), (("×",), "*"), (("·",), "*")]
_BEFORE_EQUALS = [
    (("-",), "-"),
    (("−",), "-"),
    (("/",), "/"),
    (("÷",), "/"),
]  # before a word 9-5 is a range, 1/2 a part
_EQUALS = _phrases({"=": _IS})
_SUMS_OF = _phrases(_OF)
_SHARES = _phrases({"%": _SHARE})
_ONES = _phrases({sign: words for words, sign in _OF_ONE.items()})
_NO_UNIT = {word for phrases in (_SIGNS, _BEFORE_EQUALS, _EQUALS) for words, _ in phrases for word in words} | {
    *_AND,
    "or",
    "или",
}
_GOES_ON = {*_NO_UNIT, "%", "percent", "процентов", "dozen", "half"} - {
    *_AND,
    "or",
    "или",
    "is",
    "are",
    "was",
    "were",
    "это",
    "—",
}


class Stated(NamedTuple):
    """A sum as it is stated, what is calculated, and what it is said to be."""

    text: str
    value: Expression
    result: Expression


def stated_sums(line: str) -> Iterator[Stated]:
    """The sums that a line states in words, or with numbers in words; a line beyond 20,000 characters is read to there.

    What cannot be read is passed over, as are ranges (*open 9-5*) and sums with an unknown.

    Examples
    --------
    >>> [(one.text, int(one.value.value), int(one.result.value)) for one in stated_sums("So two plus three is six.")]
    [('two plus three is six', 5, 6)]
    >>> list(stated_sums("It is open 9-5, which is 8 hours; x plus 2 is 5."))
    []
    """
    tokens = _tokens(line[:MOST_CHARACTERS])
    place = 0
    while place < len(tokens):
        found = _sum_at(tokens, place)
        if found is None:
            place += 1
            continue
        end, expression, result = found
        with suppress(ArithmeticFault):
            yield Stated(" ".join(tokens[place:end]), parse(expression), parse(result))
        place = end


def _tokens(line: str) -> list[str]:
    text = ascii_numerals(line).lower().replace("ё", "е")
    if re.search(r"[\u3400-\u9fff]", text):
        text = _HAN.sub(lambda match: _CHINESE[match.group()], chinese_in_digits(text))
    return [match.group() for match in _TOKEN.finditer(text)]


def _sum_at(tokens: Sequence[str], start: int) -> tuple[int, str, str] | None:
    """The end of the sum that begins at a place, what is calculated, and the result; None where there is none."""
    found = _of_two(tokens, start) or _of_one(tokens, start) or _share(tokens, start) or _chain(tokens, start)
    if found is None:
        return None
    place, expression = found
    is_ = _phrase(tokens, _past_unit(tokens, place), _EQUALS)
    result = is_ and _number(tokens, is_[0])
    if not result or (result[0] < len(tokens) and tokens[result[0]] in _GOES_ON):
        return None
    return result[0], expression, result[1]


def _of_two(tokens: Sequence[str], start: int) -> tuple[int, str] | None:
    if (of := _phrase(tokens, start, _SUMS_OF)) and (one := _number(tokens, of[0])):
        place = _past_unit(tokens, one[0])
        if place < len(tokens) and tokens[place] in _AND and (two := _number(tokens, place + 1)):
            return two[0], f"{one[1]} {of[1]} {two[1]}"
    return None


def _of_one(tokens: Sequence[str], start: int) -> tuple[int, str] | None:
    if (of := _phrase(tokens, start, _ONES)) and (one := _number(tokens, of[0])):
        return one[0], f"{one[1]} {of[1]}"
    return None


def _share(tokens: Sequence[str], start: int) -> tuple[int, str] | None:
    if (
        (share := _number(tokens, start))
        and (of := _phrase(tokens, share[0], _SHARES))
        and (one := _number(tokens, of[0]))
    ):
        return one[0], f"{share[1]} / 100 * {one[1]}"
    return None


def _chain(tokens: Sequence[str], start: int) -> tuple[int, str] | None:
    """Numbers with operators between them: with words or signs, but not with signs that may be no sum."""
    first = _number(tokens, start)
    if first is None or (start and tokens[start - 1] in _NO_UNIT - {*_AND, "is", "was", "—", "это", "or", "или"}):
        return None
    place, expression, may_be_none = first[0], first[1], False
    for count in range(MOST_NUMBERS):
        at = _past_unit(tokens, place)
        sign = _phrase(tokens, at, _SIGNS)
        if sign is None and (sign := _phrase(tokens, at, _BEFORE_EQUALS)):
            may_be_none = True
        following = sign and _number(tokens, sign[0])
        if not sign or not following:
            ends_in_equals = at < len(tokens) and tokens[at] in ("=", "=", "equals", "равно")
            return (place, expression) if count and (ends_in_equals or not may_be_none) else None
        place, expression = following[0], f"{expression} {sign[1]} {following[1]}"
    return None


def _number(tokens: Sequence[str], start: int) -> tuple[int, str] | None:
    """The end of the number at a place, and it in digits."""
    if start < len(tokens) and tokens[start] in ("$", "€", "£", "¥", "₽"):
        start += 1
    if start >= len(tokens):
        return None
    if tokens[start][0].isdigit():
        return start + 1, tokens[start].rstrip(".")
    end = start
    while end < min(len(tokens), start + _LONGEST_NUMBER) and (
        is_number_word(tokens[end])
        or (end > start and tokens[end] in ("-", "and") and end + 1 < len(tokens) and is_number_word(tokens[end + 1]))
    ):
        end += 1
    for stop in range(end, start, -1):
        values = number_words(" ".join(tokens[start:stop]))
        if len(values) == 1 and tokens[stop - 1] not in ("-", "and"):
            return stop, str(next(iter(values)))
    return None


def _past_unit(tokens: Sequence[str], place: int) -> int:
    """Behind a unit of one word, where one follows."""
    if (
        place < len(tokens)
        and tokens[place].isalpha()
        and tokens[place] not in _NO_UNIT
        and not is_number_word(tokens[place])
    ):
        return place + 1
    return place + 1 if place < len(tokens) and tokens[place] in ("$", "€", "£", "¥", "₽") else place


def _phrase(
    tokens: Sequence[str], place: int, phrases: Sequence[tuple[tuple[str, ...], str]]
) -> tuple[int, str] | None:
    """The end of the phrase at a place, and its sign."""
    for words, sign in phrases:
        if tuple(tokens[place : place + len(words)]) == words:
            return place + len(words), sign
    return None
