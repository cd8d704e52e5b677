"""Numbers written in words: English, Russian, Chinese, by script and without guessing the language.

Besides cardinal numbers the words for multiples and parts count: *twice, half, third, quarter, dozen,
double, triple* and their Russian and Chinese fellows.  A part gives the fraction, its numerator and its
denominator, since a calculation may write a half as ``1/2``, ``0.5`` or ``/2``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

_MULTIPLES_EN = {
    "once": 1, "twice": 2, "double": 2, "doubled": 2, "doubles": 2, "doubling": 2, "thrice": 3, "triple": 3, "tripled": 3,
    "triples": 3, "tripling": 3, "quadruple": 4, "quadrupled": 4, "dozen": 12, "dozens": 12,
}  # fmt: skip
_PARTS_EN = {
    "half": 2, "halves": 2, "halved": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip
_UNITS_EN = dict(
    zip(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ],
        range(20),
        strict=True,
    )
)
_TENS_EN = dict(
    zip(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], range(20, 100, 10), strict=True)
)
_SCALES_EN = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}

_CARDINALS_RU = {
    0: "ноль нуль нуля", 1: "один одна одно одного одной одну одному одним", 2: "два две двух двум двумя двое двоих",
    3: "три трех трем тремя трое троих", 4: "четыре четырех четырем четырьмя четверо четверых",
    5: "пять пяти пятью пятеро пятерых", 6: "шесть шести шестью шестеро", 7: "семь семи семью семеро", 8: "восемь восьми восемью",
    9: "девять девяти девятью", 10: "десять десяти десятью десяток десятка", 11: "одиннадцать одиннадцати",
    12: "двенадцать двенадцати", 13: "тринадцать тринадцати", 14: "четырнадцать четырнадцати", 15: "пятнадцать пятнадцати",
    16: "шестнадцать шестнадцати", 17: "семнадцать семнадцати", 18: "восемнадцать восемнадцати",
    19: "девятнадцать девятнадцати", 20: "двадцать двадцати", 30: "тридцать тридцати", 40: "сорок сорока",
    50: "пятьдесят пятидесяти", 60: "шестьдесят шестидесяти", 70: "семьдесят семидесяти", 80: "восемьдесят восьмидесяти",
    90: "девяносто девяноста", 100: "сто ста", 200: "двести двухсот", 300: "триста трехсот", 400: "четыреста четырехсот",
    500: "пятьсот пятисот", 600: "шестьсот шестисот", 700: "семьсот семисот", 800: "восемьсот восьмисот",
    900: "девятьсот девятисот",
}  # fmt: skip
_SCALES_RU = {1000: "тысяча тысячи тысяч тысячу", 10**6: "миллион миллиона миллионов"}
_MULTIPLES_RU = {
    1: "единожды", 2: "дважды вдвое удвоил удвоила удвоили", 3: "трижды втрое утроил утроила утроили", 4: "вчетверо",
    5: "впятеро", 12: "дюжина дюжины дюжину дюжин",
}  # fmt: skip
_PARTS_RU = {
    2: "половина половину половины половиной пополам полчаса", 3: "треть трети третью", 4: "четверть четверти четвертью",
    5: "пятая пятую пятой", 10: "десятая десятую десятой",
}  # fmt: skip
_ONE_AND_A_HALF_RU = frozenset(["полтора", "полторы", "полутора"])

_DIGITS_ZH = dict(zip("零一二三四五六七八九", range(10), strict=True)) | {"〇": 0, "两": 2, "兩": 2}
_SCALES_ZH = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_NUMERAL_ZH = "[零〇一二三四五六七八九两兩十百千万萬亿億]+"
# In these words no numeral counts anything: idioms of 一, units of 千.
_IDIOMS_ZH = re.compile(
    "千克|千米|千瓦|千卡|一起|一样|一樣|一些|一共|一般|一直|一定|一边|一邊|统一|統一|唯一|万一|十分|千万别|百分点"
)
_ZH = re.compile(
    rf"百分之(?P<percent>{_NUMERAL_ZH})|(?P<under>{_NUMERAL_ZH})分之(?P<over>{_NUMERAL_ZH})|(?P<tenths>{_NUMERAL_ZH})成"
    rf"|(?P<dozens>{_NUMERAL_ZH})打|(?P<cardinal>{_NUMERAL_ZH})|(?P<half>半)|(?P<double>双倍|雙倍|翻倍|翻番|加倍)"
)
_LATIN = re.compile(r"[a-z]+")
_CYRILLIC = re.compile(r"[а-я]+")


def number_words(text: str, *, article_as_one: bool = False) -> frozenset[Fraction]:
    """Every value that the number words of a text may stand for.

    - ``article_as_one``: Whether English *a* and *an* count as 1.

    Returns: Empty where there is none.

    Examples
    --------
    >>> sorted(map(int, number_words("Three cows give twenty-five pails, twice as much as before.")))
    [2, 3, 25]
    >>> sorted(map(str, number_words("half of them")))
    ['1', '1/2', '2']
    >>> sorted(map(int, number_words("двести пятьдесят рублей и две дюжины"))), sorted(map(int, number_words("一百二十个")))
    ([2, 12, 24, 250], [120])
    """
    low = text.lower()
    found: set[Fraction] = set()
    if _LATIN.search(low):
        found.update(_english(low, article_as_one))
    if not low.isascii():
        found.update(_russian(low.replace("ё", "е")))
        found.update(_chinese(low))
    return frozenset(found)


def _part(numerator: int, denominator: int) -> Iterator[Fraction]:
    yield Fraction(numerator, denominator)
    yield Fraction(numerator)
    yield Fraction(denominator)


def _english(text: str, article_as_one: bool) -> Iterator[Fraction]:
    runs = _Runs(_UNITS_EN | _TENS_EN, _SCALES_EN, joiner="and")
    for word in _LATIN.findall(text):
        if runs.take(word):
            continue
        count = runs.last
        yield from runs.close()
        part = _PARTS_EN.get(word) or _PARTS_EN.get(word.removesuffix("s"))
        if word in _MULTIPLES_EN:
            yield Fraction(_MULTIPLES_EN[word])
            if word.startswith("dozen") and count:
                yield Fraction(12 * count)
        elif word == "percent" and count:
            yield Fraction(count, 100)
        elif part:
            yield from _part(1, part)
            if count:
                yield Fraction(count, part)
        elif article_as_one and word in ("a", "an"):
            yield Fraction(1)
    yield from runs.close()


@cache
def _forms(table: tuple[tuple[int, str], ...]) -> dict[str, int]:
    return {form: value for value, forms in table for form in forms.split()}


def _russian(text: str) -> Iterator[Fraction]:
    cardinals, scales = _forms(tuple(_CARDINALS_RU.items())), _forms(tuple(_SCALES_RU.items()))
    multiples, parts = _forms(tuple(_MULTIPLES_RU.items())), _forms(tuple(_PARTS_RU.items()))
    runs = _Runs(cardinals, scales)
    for word in _CYRILLIC.findall(text):
        if runs.take(word):
            continue
        count = runs.last
        yield from runs.close()
        if word in multiples:
            yield Fraction(multiples[word])
            if word.startswith("дюжин") and count:
                yield Fraction(12 * count)
        elif word.startswith("процент") and count:
            yield Fraction(count, 100)
        elif word in parts:
            yield from _part(1, parts[word])
        elif word in _ONE_AND_A_HALF_RU:
            yield Fraction(3, 2)
    yield from runs.close()


class _Runs:
    """Adds up neighbouring cardinal words; gives the sum when the run ends."""

    def __init__(self, cardinals: dict[str, int], scales: dict[str, int], joiner: str = "") -> None:
        self.cardinals, self.scales, self.joiner = cardinals, scales, joiner
        self._reset()

    def _reset(self) -> None:
        self.total, self.current, self.open, self.smallest = 0, 0, False, 10**12
        self.done: list[int] = []

    @property
    def last(self) -> int:
        """The value of the run so far; 0 without one."""
        return self.total + self.current if self.open else 0

    def take(self, word: str) -> bool:
        """Take a word into the run; False if it is no part of a number."""
        if word in self.cardinals:
            value = self.cardinals[word]
            if self.open and (self.smallest < 10 or value >= self.smallest):
                self.done.append(self.last)
                self.total, self.current = 0, 0
            self.current += value
            self.smallest = 10 ** (len(str(value)) - 1) if value >= 20 or value in (0, 10) else 1
            self.open = True
            return True
        if word in self.scales:
            scale = self.scales[word]
            if scale == 100:
                self.current = max(self.current, 1) * scale
            else:
                self.total, self.current = self.total + max(self.current, 1) * scale, 0
            self.open, self.smallest = True, scale
            return True
        return bool(self.joiner) and word == self.joiner and self.open and self.smallest >= 100

    def close(self) -> Iterator[Fraction]:
        """The values of the runs that have ended."""
        values = [*self.done, self.last] if self.open else self.done
        self._reset()
        yield from map(Fraction, values)


def _chinese(text: str) -> Iterator[Fraction]:
    for match in _ZH.finditer(_IDIOMS_ZH.sub(" ", text)):
        if match["percent"]:
            percent = _cardinal_zh(match["percent"])
            yield from (Fraction(percent), Fraction(percent, 100))
        elif match["under"]:
            under = _cardinal_zh(match["under"])
            if under:
                yield from _part(_cardinal_zh(match["over"]), under)
        elif match["tenths"]:
            tenths = _cardinal_zh(match["tenths"])
            yield from (Fraction(tenths, 10), Fraction(10 * tenths))
        elif match["dozens"]:
            dozens = _cardinal_zh(match["dozens"])
            yield from (Fraction(dozens), Fraction(12), Fraction(12 * dozens))
        elif match["half"]:
            yield from _part(1, 2)
        elif match["double"]:
            yield Fraction(2)
        else:
            yield Fraction(_cardinal_zh(match["cardinal"]))


@cache
def _words() -> frozenset[str]:
    russian = _forms(tuple(_CARDINALS_RU.items())) | _forms(tuple(_SCALES_RU.items()))
    return frozenset([*_UNITS_EN, *_TENS_EN, *_SCALES_EN, *russian])


def is_number_word(word: str) -> bool:
    """Whether a word in small letters is a cardinal number, or part of one, in English or Russian.

    Examples
    --------
    >>> is_number_word("twenty"), is_number_word("пяти"), is_number_word("half")
    (True, True, False)
    """
    return word in _words()


def chinese_in_digits(text: str) -> str:
    """A text with its Chinese cardinal numbers in digits, a blank on either side.

    Examples
    --------
    >>> chinese_in_digits("二加二十等于四十").split()
    ['2', '加', '20', '等于', '40']
    """
    return re.sub(_NUMERAL_ZH, lambda match: f" {_cardinal_zh(match.group())} ", text)


def _cardinal_zh(numeral: str) -> int:
    """The value of a Chinese numeral; digits without scales are read as a row of digits."""
    if not any(c in _SCALES_ZH for c in numeral):
        return int("".join(str(_DIGITS_ZH[c]) for c in numeral[:18]))
    total = section = digit = 0
    for character in numeral[:40]:
        if character in _DIGITS_ZH:
            digit = _DIGITS_ZH[character]
        elif (scale := _SCALES_ZH[character]) < 10**4:
            section, digit = section + (digit or 1) * scale, 0
        elif scale == 10**4:
            total, section, digit = total + (section + digit or 1) * scale, 0, 0
        else:
            total, section, digit = (total + section + digit or 1) * scale, 0, 0
    return total + section + digit
