"""Numerals in running text: thousands separators, decimals, fractions, percent, currency and minus signs.

Any script's decimal digits are read.  Values are exact :class:`fractions.Fraction`.
"""

from __future__ import annotations

import unicodedata
from fractions import Fraction
from typing import NamedTuple

import regex as re  # Debian's Python 3.11.2 matches possessive groups of its own module wrongly

MAX_NUMERAL = 40
_PUNCTUATION = {
    ord("−"): "-", ord("–"): "-", ord("－"): "-", ord("＋"): "+", ord("×"): "*", ord("·"): "*", ord("⋅"): "*",
    ord("∗"): "*", ord("＊"): "*", ord("÷"): "/", ord("∕"): "/", ord("⁄"): "/", ord("／"): "/", ord("＝"): "=", ord("％"): "%",
    ord("（"): "(", ord("）"): ")", ord("．"): ".", ord("＄"): "$", ord("￥"): "¥",
}  # fmt: skip


class _Ascii(dict[int, str]):
    """Translation of decimal digits and arithmetic signs, one character for one; fills itself as characters are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        digit = unicodedata.decimal(character, None)
        self[code] = character if digit is None else str(digit)
        return self[code]


_ASCII = _Ascii(_PUNCTUATION)
# Elsewhere a full-width comma parts clauses: 3+4=7，7×2=14.
_WIDE_GROUPING = re.compile(r"(?<=[０-９])，(?=[０-９]{3}(?![０-９]))")


class Number(NamedTuple):
    """A number found in a text.

    - ``value``: With its sign; a percentage is divided by 100.
    - ``face``: As written: ``20%`` has value 1/5 and face 20.
    - ``start``, ``end``: Where it is, in characters.
    - ``parts``: Numerator and denominator of a written fraction such as ``3/4``; else empty.
    - ``scale``: What a word behind it multiplies it by: 1 000 000 in ``1.5 million``, 10 000 in ``3万``; else 1.
    """

    value: Fraction
    face: Fraction
    start: int
    end: int
    parts: tuple[Fraction, ...] = ()
    scale: int = 1

    @property
    def scaled(self) -> Fraction:
        """The value times its scale: 1 500 000 for ``1.5 million``."""
        return self.value * self.scale

    def readings(self) -> frozenset[Fraction]:
        """Every value that a reader may take it for: itself, its face, a fraction's parts."""
        return frozenset((self.value, self.face, *self.parts))


def ascii_numerals(text: str) -> str:
    """Decimal digits and arithmetic signs of any script in ASCII; every other character stays where it is.

    Superscripts are no decimal digits and stay: ``3²`` is not 32.

    Examples
    --------
    >>> ascii_numerals("３＋٤ = ७")
    '3+4 = 7'
    """
    return text if text.isascii() else _WIDE_GROUPING.sub(",", text).translate(_ASCII)


# No group of thousands starts with a zero: 0,125 is an eighth.
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_DOTTED = r"[1-9][0-9]{0,2}(?:(?:\.[0-9]{3})++,[0-9]++|(?:\.[0-9]{3}){2,}+(?![0-9.]))"
_IS_DOTTED = re.compile(_DOTTED)


def numeral_value(numeral: str) -> Fraction:
    """The value of ASCII digits: ``,`` or spaces between thousands, ``.`` (or a ``,`` that groups no thousands) before decimals.

    Dots are read as grouping thousands only where nothing else is possible: ``1.200.000`` and ``1.200,50``.

    Examples
    --------
    >>> numeral_value("1,200.50"), numeral_value("12 000"), numeral_value("2,5"), numeral_value("1.200,50")
    (Fraction(2401, 2), Fraction(12000, 1), Fraction(5, 2), Fraction(2401, 2))
    """
    if numeral.isdecimal():
        return Fraction(int(numeral))
    digits = "".join(numeral.split())
    if _IS_DOTTED.fullmatch(digits):
        return Fraction(digits.replace(".", "").replace(",", "."))
    return Fraction(digits.replace(",", "" if _GROUPED.fullmatch(digits) else ".").rstrip("."))


_SPACE = "\u00a0\u202f\u2009"
_COMMAS = r"[1-9][0-9]{0,2}(?:,[0-9]{3})++(?![0-9])(?:\.[0-9]++)?"
VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"


_SCALES = {"thousand": 10**3, "тыс": 10**3, "million": 10**6, "млн": 10**6, "миллион": 10**6, "billion": 10**9, "млрд": 10**9,
           "миллиард": 10**9, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}  # fmt: skip
_SCALE_WORDS = r"[万萬亿億]|\s?(?:(?:thousand|million|billion)\b|тыс(?:яч\w*|\b)|(?:млн|млрд)\b|милли(?:он|ард)\w*)"


def _pattern(numeral: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<sign>(?<![\w)\]%])-\s?)?(?:[$€£¥₽]\s?(?P<inner>-)?)?"
        rf"(?:(?P<mixed>[0-9]{{1,4}})[ ])?(?<![0-9])(?P<over>[0-9]{{1,9}})/(?P<under>[0-9]{{1,9}})(?![0-9/.]|,[0-9])"
        rf"|(?P<sign2>(?<![\w)\]%])-\s?)?(?:[$€£¥₽]\s?(?P<inner2>-)?)?"
        rf"(?:(?P<whole>{numeral}|(?<![0-9])\.[0-9]++)(?P<tail>[{VULGAR}])?|(?P<vulgar>[{VULGAR}]))"
        rf"(?:(?P<percent>\s?%|\s?percent\b|\sпроцент\w*)|(?P<scale>{_SCALE_WORDS}))?",
        re.IGNORECASE,
    )


def _spaced(blanks: str, decimals: str) -> str:
    return rf"(?:[0-9]{{1,3}}(?:[{blanks}][0-9]{{3}})++(?![0-9])|[0-9]++)(?:{decimals})?"


_PLAIN = _pattern(rf"{_COMMAS}|{_spaced(_SPACE, r'[.][0-9]++')}")
# Where numbers may be spaced, a comma before three digits groups thousands; before any other count it is a decimal comma.
_SPACED = _pattern(
    rf"{_DOTTED}|{_COMMAS}|{_spaced(' ' + _SPACE, r'[.][0-9]++|,(?![0-9]{3}(?![0-9]))[0-9]++|(?<=(?<![0-9])0),[0-9]++')}"
)
_HAS_CYRILLIC = re.compile(r"[\u0400-\u04ff]")


def is_cyrillic(text: str) -> bool:
    """Whether any of a text is in Cyrillic script."""
    return _HAS_CYRILLIC.search(text) is not None


def find_numbers(text: str, *, spaced: bool | None = None) -> list[Number]:
    """All numbers written in digits, in order.

    Thousands are grouped by commas or narrow or non-breaking spaces; in Cyrillic text also by plain
    spaces, and a comma that does not group thousands is decimal there.  Numbers of more than 40
    characters are passed over.

    - ``spaced``: Whether plain spaces may group thousands and commas precede decimals; by default where the text is
      Cyrillic.

    Examples
    --------
    >>> [str(n.value) for n in find_numbers("$1,200.50 less 20 % leaves -3/4, 1 1/2 or ½.")]
    ['2401/2', '1/5', '-3/4', '3/2', '1/2']
    >>> [str(n.value) for n in find_numbers("12 500,5 рубля")]
    ['25001/2']
    """
    spelled = ascii_numerals(text)
    pattern = _SPACED if (is_cyrillic(spelled) if spaced is None else spaced) else _PLAIN
    return [number for match in pattern.finditer(spelled) if (number := _number(match)) is not None]


def _number(match: re.Match[str]) -> Number | None:
    start, end = match.span()
    negative = any(match[name] for name in ("sign", "inner", "sign2", "inner2"))
    if match["over"]:
        over, under = Fraction(match["over"]), Fraction(match["under"])
        if under == 0:
            return None
        value = (Fraction(match["mixed"]) if match["mixed"] else 0) + over / under
        return _signed(value, value, negative, start, end, (over, under))
    value = Fraction(0)
    if match["whole"]:
        if len(match["whole"]) > MAX_NUMERAL:
            return None
        value = numeral_value(match["whole"])
    for vulgar in (match["tail"], match["vulgar"]):
        if vulgar:
            value += vulgar_value(vulgar)
    number = _signed(value / 100 if match["percent"] else value, value, negative, start, end)
    return number._replace(scale=_scale(match["scale"])) if match["scale"] else number


def vulgar_value(character: str) -> Fraction:
    """The value of a fraction that is one character, such as ``½``."""
    return Fraction(unicodedata.numeric(character)).limit_denominator(10)


def _scale(word: str) -> int:
    spelled = word.strip().lower()
    return next(times for stem, times in reversed(_SCALES.items()) if spelled.startswith(stem))


def _signed(
    value: Fraction, face: Fraction, negative: bool, start: int, end: int, parts: tuple[Fraction, ...] = ()
) -> Number:
    return Number(-value if negative else value, -face if negative else face, start, end, parts)
