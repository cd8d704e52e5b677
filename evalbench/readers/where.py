"""The filter of the explorer: a line of terms, as it is typed, kept in an address and sent to a colleague.

======================  =======================================================
``model=oak``           equal; ``model=oak|birch`` one of both
``model!=oak``          not equal; null is not equal to anything
``length>=200``         also ``<``, ``<=``, ``>``; numbers, also ``1e-3`` and ``-inf``
``length(answer)>200``  texts by the number of their characters
``unscored=``           empty or null; ``unscored!=`` neither
``question~refund``     the text contains it, in any case
``light=red``           of groups that have a figure with this light
``mark=wrong``          that a reader marked so; ``mark=`` by nobody, ``mark!=`` by somebody
``refund``, ``"a b"``   contained in any text of the item
``-TERM``               all others
======================  =======================================================

Terms are separated by blanks and all must hold.  A name or a value with blanks or signs of its own is in double quotes, in
which a backslash stands before a quote or a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalbench.errors import BadInput

OPERATORS = ("!=", ">=", "<=", "=", ">", "<", "~")
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_PIECE = re.compile(rf"{_QUOTED}|[^\s\"=<>!~|]+")
_OPERATOR = re.compile("==|" + "|".join(map(re.escape, OPERATORS)))
_VALUE = re.compile(rf"{_QUOTED}|[^\s\"|]+")
_PLAIN_NAME = re.compile(r"[^\s\"=<>!~|\\-][^\s\"=<>!~|\\]*")
_PLAIN_VALUE = re.compile(r"[^\s\"|\\=<>!~][^\s\"|\\]*")


@dataclass(frozen=True)
class Term:
    """One condition.

    - ``column``: Empty where any text of the item may hold the value.
    - ``operator``: One of :data:`OPERATORS`.
    - ``values``: Any of them is enough; one empty text asks for what is empty.
    """

    column: str
    operator: str
    values: tuple[str, ...]
    negated: bool = False


def parse(text: str) -> tuple[Term, ...]:
    r"""The terms of a filter.

    Raises ``BadInput`` with the place of the first character that fits nowhere.

    Examples
    --------
    >>> parse('model=oak|"big birch" length>=200 -refund')[0].values
    ('oak', 'big birch')
    >>> [term.column for term in parse('unscored!= "two words"')]
    ['unscored', '']
    >>> parse("length>=")
    Traceback (most recent call last):
    evalbench.errors.BadInput: filter: a value is missing after length>=
    """
    found, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        term, at = _term(text, at)
        found.append(term)
        if at < len(text) and not text[at].isspace():
            raise BadInput(f"filter: {text[at]!r} at place {at + 1} of {text!r} fits nowhere; quote texts with signs")
    return tuple(found)


def _term(text: str, at: int) -> tuple[Term, int]:
    negated = text[at] == "-" and at + 1 < len(text) and not text[at + 1].isspace()
    at += negated
    piece = _PIECE.match(text, at)
    if piece is None:
        open_quote = "a quote is not closed" if text[at] == '"' else f"{text[at]!r} fits nowhere"
        raise BadInput(f"filter: {open_quote} at place {at + 1} of {text!r}")
    name, at = _unquoted(piece[0]), piece.end()
    sign = _OPERATOR.match(text, at)
    if sign is None:
        return Term("", "~", (name,), negated), at
    values, at = _values(text, sign.end())
    operator = sign[0].replace("==", "=")
    if not values and operator not in ("=", "!="):
        raise BadInput(f"filter: a value is missing after {name}{operator}")
    return Term(name, operator, values or ("",), negated), at


def _values(text: str, at: int) -> tuple[tuple[str, ...], int]:
    found: list[str] = []
    while value := _VALUE.match(text, at):
        found.append(_unquoted(value[0]))
        at = value.end()
        if text[at : at + 1] != "|":
            break
        at += 1
    return tuple(found), at


def _unquoted(piece: str) -> str:
    return re.sub(r"\\(.)", r"\1", piece[1:-1], flags=re.DOTALL) if piece.startswith('"') else piece


def in_words(terms: Sequence[Term]) -> str:
    """The line of terms; :func:`parse` reads it back.

    Examples
    --------
    >>> in_words(parse('  model=oak|"b c"   -"x=y" '))
    'model=oak|"b c" -"x=y"'
    """
    return " ".join(map(_in_words, terms))


def of_group(row: Mapping[str, Any], by: Sequence[str], *more: Term) -> str:
    """The filter of the items of a figure's group; empty where it is of all.

    Examples
    --------
    >>> of_group({"model": "oak 7b", "part": None}, ["model", "part"]), of_group({}, [], Term("p", "<", ("0.5",)))
    ('model="oak 7b"', 'p<0.5')
    """
    return in_words([Term(name, "=", (str(row[name]),)) for name in by if row.get(name) not in (None, "")] + [*more])


def _in_words(term: Term) -> str:
    minus = "-" * term.negated
    if not term.column:
        return minus + _quoted(term.values[0], _PLAIN_NAME)
    values = "" if term.values == ("",) else "|".join(_quoted(value, _PLAIN_VALUE) for value in term.values)
    return f"{minus}{_quoted(term.column, _PLAIN_NAME)}{term.operator}{values}"


def _quoted(text: str, plain: re.Pattern[str]) -> str:
    if plain.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
