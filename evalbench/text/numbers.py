"""Numerals in running text: thousands separators, decimals, fractions, percent, currency and minus signs.

Any script's decimal digits are read.  Values are exact :class:`fractions.Fraction`.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import NamedTuple

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

    Attributes
    ----------
    value : fractions.Fraction
        With its sign; a percentage is divided by 100.
    face : fractions.Fraction
        As written: ``20%`` has value 1/5 and face 20.
    start, end : int
        Where it stands, in characters.
    parts : tuple of fractions.Fraction
        Numerator and denominator of a written fraction such as ``3/4``; else empty.
    """

    value: Fraction
    face: Fraction
    start: int
    end: int
    parts: tuple[Fraction, ...] = ()

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


_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")


def numeral_value(numeral: str) -> Fraction:
    """The value of ASCII digits: ``,`` or spaces between thousands, ``.`` (or a ``,`` that groups no thousands) before decimals.

    Examples
    --------
    >>> numeral_value("1,200.50"), numeral_value("12 000"), numeral_value("2,5")
    (Fraction(2401, 2), Fraction(12000, 1), Fraction(5, 2))
    """
    digits = "".join(numeral.split())
    return Fraction(digits.replace(",", "" if _GROUPED.fullmatch(digits) else ".").rstrip("."))


_SPACE = "\u00a0\u202f\u2009"
_WHOLE = rf"[0-9]{{1,3}}(?:,[0-9]{{3}})++(?![0-9])|[0-9]{{1,3}}(?:[{_SPACE}][0-9]{{3}})++(?![0-9])|[0-9]++"
_WHOLE_SPACED = rf"[0-9]{{1,3}}(?:[ {_SPACE}][0-9]{{3}})++(?![0-9])|{_WHOLE}"
_VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"


def _pattern(whole: str, separator: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<sign>(?<![\w)\]%])-\s?)?(?:[$€£¥₽]\s?(?P<inner>-)?)?"
        rf"(?:(?P<mixed>[0-9]{{1,4}})[ ])?(?<![0-9])(?P<over>[0-9]{{1,9}})/(?P<under>[0-9]{{1,9}})(?![0-9/.]|,[0-9])"
        rf"|(?P<sign2>(?<![\w)\]%])-\s?)?(?:[$€£¥₽]\s?(?P<inner2>-)?)?"
        rf"(?:(?P<whole>(?:{whole})(?:{separator}[0-9]++)?|(?<![0-9])\.[0-9]++)(?P<tail>[{_VULGAR}])?|(?P<vulgar>[{_VULGAR}]))"
        r"(?P<percent>\s?%|\s?percent\b|\sпроцент\w*)?"
    )


# A comma before three digits groups thousands; before any other count it is a decimal comma where numbers may be spaced.
_PLAIN = _pattern(_WHOLE, r"\.")
_SPACED = _pattern(_WHOLE_SPACED, r"(?:\.|,(?![0-9]{3}(?![0-9])))")
_HAS_CYRILLIC = re.compile(r"[\u0400-\u04ff]")


def is_cyrillic(text: str) -> bool:
    """Whether any of a text is in Cyrillic script."""
    return _HAS_CYRILLIC.search(text) is not None


def find_numbers(text: str, *, spaced: bool | None = None) -> list[Number]:
    """All numbers written in digits, in order.

    Thousands are grouped by commas or narrow or non-breaking spaces; in Cyrillic text also by plain
    spaces, and a comma that does not group thousands is decimal there.  Numbers of more than 40
    characters are passed over.

    Parameters
    ----------
    text : str
    spaced : bool, optional
        Whether plain spaces may group thousands and commas stand before decimals; by default where the text
        is Cyrillic.

    Returns
    -------
    list of Number

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
            value += Fraction(unicodedata.numeric(vulgar)).limit_denominator(10)
    return _signed(value / 100 if match["percent"] else value, value, negative, start, end)


def _signed(
    value: Fraction, face: Fraction, negative: bool, start: int, end: int, parts: tuple[Fraction, ...] = ()
) -> Number:
    return Number(-value if negative else value, -face if negative else face, start, end, parts)
