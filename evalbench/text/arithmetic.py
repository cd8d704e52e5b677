"""A small arithmetic parser: exact, bounded, without ``eval``.

Texts under judgement are hostile until shown otherwise: ``9**9**9`` or ten thousand brackets must
cost microseconds.  Length, nesting, exponents and the size of every intermediate value are bounded.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import regex as re  # Debian's Python 3.11.2 matches possessive groups of its own module wrongly

from evalbench.text.numbers import VULGAR, ascii_numerals, numeral_value, vulgar_value

MAX_LENGTH = 300
MAX_NESTING = 32
MAX_EXPONENT = 64
MAX_BITS = 1024

# Between two numbers only an operator may be, so that a space before three digits groups thousands.
NUMERAL = (
    r"(?:[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})++(?![0-9])(?:[.,][0-9]++)?"
    r"|[0-9]{1,3}(?:,[0-9]{3})++(?![0-9])(?:\.[0-9]++)?|[0-9]++(?:[.,][0-9]++|\.)?|\.[0-9]++)"
)
_TOKEN = re.compile(
    rf"(?P<mixed>[0-9]{{1,4}}[ ][0-9]{{1,2}}/[0-9]{{1,3}}(?![0-9.,])|[0-9]{{0,9}}[{VULGAR}])"
    rf"|(?P<number>{NUMERAL})"
    r"|(?P<operator>\*\*|[-+*/:^()%])"
    r"|(?P<space>[\s$€£¥₽]+)"
)
_WORD = re.compile(r"[^\W\d_]+")
_SPELLINGS = (
    ("\\times", "*"), ("\\cdot", "*"), ("\\div", "/"), ("\\$", ""), ("\\%", "%"), ("\\left", ""), ("\\right", ""), ("\\,", " "), ("{,}", ","),
)  # fmt: skip
_LATEX_TEXT = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf)\{([^{}]*)\}")
_LATEX_FRACTION = re.compile(
    r"(?P<before>[0-9/^]?)(?P<blank>[ \t]{0,3})\\[dt]?frac\{(?P<over>[^{}]*)\}\{(?P<under>[^{}]*)\}"
)
_LATEX_NESTING = 3
_LETTER_TIMES = re.compile(r"(?<=[0-9)])[xXхХ](?=[0-9(.$])|(?<=[0-9)]\s)[xXхХ](?=\s[0-9(.$])")


_OF_PRODUCTS = {"*": "*", "/": "/", ":": "/", "(": "*"}


class ArithmeticFault(ValueError):
    """An expression that has no value here; the message says why."""


class Written(NamedTuple):
    """A number of an expression: what it is worth and how it is written (``100%`` is worth 1)."""

    value: Fraction
    text: str


class Expression(NamedTuple):
    """A parsed expression.

    - ``written``: The numbers written in it, in order; ``20%`` is worth 1/5, and the sign of ``-3`` is an operator.
    - ``operators``: Which of ``+ - * / ^`` occur; the minus of a negative number does not count.
    """

    value: Fraction
    written: tuple[Written, ...]
    operators: frozenset[str]

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """What its numbers are worth, in order."""
        return tuple(number.value for number in self.written)


def spell_operators(text: str) -> str:
    """Write every multiplication, division and minus sign in ASCII, and LaTeX as plain text; positions may shift.

    Examples
    --------
    >>> spell_operators("2 x 3 × 4 ÷ 5")
    '2 * 3 * 4 / 5'
    """
    spelled: str = _LETTER_TIMES.sub("*", plain_latex(ascii_numerals(text)))
    return spelled


def plain_latex(text: str) -> str:
    r"""Boxes, fractions, operators and escapes of LaTeX as plain text; positions may shift.

    Examples
    --------
    >>> plain_latex(r"2 \times 1\frac{1}{2} = \boxed{3}")
    '2 * 1 1/2 = 3'
    """
    if "\\" not in text:
        return text
    for written, meant in _SPELLINGS:
        text = text.replace(written, meant)
    text = _LATEX_FRACTION.sub(_plain_fraction, text)
    for _ in range(_LATEX_NESTING):
        text = _LATEX_FRACTION.sub(_plain_fraction, _LATEX_TEXT.sub(r"\1", text))
    return text


def _plain_fraction(match: re.Match[str]) -> str:
    over, under = match["over"], match["under"]
    if not (over.isdigit() and under.isdigit()):
        over, under = f"({over})", f"({under})"
    if match["before"].isdigit():
        return f"{match['before']} {over}/{under}"
    whole = f"({over}/{under})" if match["before"] else f"{over}/{under}"
    return f"{match['before']}{match['blank']}{whole}"


@lru_cache(maxsize=65_536)
def parse(expression: str) -> Expression:
    """Parse and evaluate an arithmetic expression exactly.

    Numbers in any script's decimal digits, with thousands separators, decimals and percent, mixed ones
    (``1 1/2``, ``1½``); the operators ``+ - * / : ^ **`` and their typographic forms; brackets.  Currency
    signs are skipped.

    - ``expression``: At most 300 characters, 32 nested brackets, exponents within ±64, values below 2**1024.

    Raises ``ArithmeticFault`` if it is empty, malformed, beyond a bound, or divides by zero.

    Examples
    --------
    >>> parse("2*1/2").value
    Fraction(1, 1)
    >>> parse("$1,200 * 5%").value
    Fraction(60, 1)
    """
    if len(expression) > MAX_LENGTH:
        raise ArithmeticFault(f"longer than {MAX_LENGTH} characters")
    tokens = _tokens(spell_operators(expression))
    if not tokens:
        raise ArithmeticFault("empty")
    numbers: list[Written] = []
    operators: set[str] = set()
    value, end = _sum(tokens, 0, 0, numbers, operators)
    if end != len(tokens):
        raise ArithmeticFault(f"unexpected {tokens[end]!r}")
    return Expression(value, tuple(numbers), frozenset(operators))


def _tokens(text: str) -> list[str]:
    out, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            word = _WORD.match(text, at)
            raise ArithmeticFault(f"cannot read {word.group()[:12] if word else text[at]!r}")
        if match.lastgroup != "space":
            out.append(match.group())
        at = match.end()
    return out


# Recursive descent; each function returns the value and the position after it.


def _sum(tokens: list[str], at: int, depth: int, numbers: list[Written], operators: set[str]) -> tuple[Fraction, int]:
    value, at = _product(tokens, at, depth, numbers, operators)
    while at < len(tokens) and tokens[at] in "+-":
        operator = tokens[at]
        operators.add(operator)
        right, at = _product(tokens, at + 1, depth, numbers, operators)
        value = _bounded(value + right if operator == "+" else value - right)
    return value, at


def _product(
    tokens: list[str], at: int, depth: int, numbers: list[Written], operators: set[str]
) -> tuple[Fraction, int]:
    value, at = _signed(tokens, at, depth, numbers, operators)
    while at < len(tokens) and tokens[at] in _OF_PRODUCTS:
        implicit = tokens[at] == "("
        operator = _OF_PRODUCTS[tokens[at]]
        operators.add(operator)
        right, at = _signed(tokens, at if implicit else at + 1, depth, numbers, operators)
        if operator == "/" and right == 0:
            raise ArithmeticFault("division by zero")
        value = _bounded(value * right if operator == "*" else value / right)
    return value, at


def _signed(
    tokens: list[str], at: int, depth: int, numbers: list[Written], operators: set[str]
) -> tuple[Fraction, int]:
    negative = False
    while at < len(tokens) and tokens[at] in "+-":
        negative ^= tokens[at] == "-"
        at += 1
    value, at = _power(tokens, at, depth, numbers, operators)
    return (-value if negative else value), at


def _power(tokens: list[str], at: int, depth: int, numbers: list[Written], operators: set[str]) -> tuple[Fraction, int]:
    base, at = _atom(tokens, at, depth, numbers, operators)
    if at < len(tokens) and tokens[at] in ("^", "**"):
        operators.add("^")
        if depth >= MAX_NESTING:
            raise ArithmeticFault(f"nested deeper than {MAX_NESTING}")
        exponent, at = _signed(tokens, at + 1, depth + 1, numbers, operators)
        if exponent.denominator != 1 or abs(exponent) > MAX_EXPONENT:
            raise ArithmeticFault(f"exponent is not a whole number within ±{MAX_EXPONENT}")
        if base == 0 and exponent < 0:
            raise ArithmeticFault("division by zero")
        base = _bounded(base ** int(exponent))
    return base, at


def _atom(tokens: list[str], at: int, depth: int, numbers: list[Written], operators: set[str]) -> tuple[Fraction, int]:
    if at >= len(tokens):
        raise ArithmeticFault("ends where a number is expected")
    if tokens[at] == "(":
        if depth >= MAX_NESTING:
            raise ArithmeticFault(f"nested deeper than {MAX_NESTING}")
        value, at = _sum(tokens, at + 1, depth + 1, numbers, operators)
        if at >= len(tokens) or tokens[at] != ")":
            raise ArithmeticFault("a bracket is not closed")
        return value, at + 1
    if not tokens[at][0].isnumeric() and tokens[at][0] != ".":
        raise ArithmeticFault(f"unexpected {tokens[at]!r}")
    value, text, at = _value(tokens[at]), tokens[at], at + 1
    while at < len(tokens) and tokens[at] == "%":
        value, text, at = value / 100, f"{text}%", at + 1
    numbers.append(Written(_bounded(value), text))
    return value, at


def _value(numeral: str) -> Fraction:
    whole, slash, under = numeral.partition("/")
    if slash:
        whole, over = whole.split(" ")
        if int(under) == 0:
            raise ArithmeticFault("division by zero")
        return int(whole) + Fraction(int(over), int(under))
    if numeral[-1] in VULGAR:
        return int(numeral[:-1] or 0) + vulgar_value(numeral[-1])
    return numeral_value(numeral)


def _bounded(value: Fraction) -> Fraction:
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        raise ArithmeticFault(f"a value beyond {MAX_BITS} bits")
    return value
