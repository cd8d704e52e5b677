"""Identifiers of one table that another lacks: whether it has them in another writing."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

_WRITINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("Unicode form", lambda name: unicodedata.normalize("NFKC", name)),
    ("blanks", lambda name: "".join(name.split())),
    ("case", str.casefold),
    ("case and blanks", lambda name: "".join(name.casefold().split())),
    ("how a number is written", lambda name: _number(name)),
    ("signs", lambda name: "".join(filter(str.isalnum, name.casefold()))),
)


def written_otherwise(strangers: Iterable[str], known: Iterable[str]) -> str:
    """What identifiers differ by from known ones, where most of them differ by nothing else; empty where they are others.

    Examples
    --------
    >>> written_otherwise(["T00", "T01"], ["t00", "t01", "t02"])
    'they differ from known ones by case alone, such as T00 and t00'
    >>> written_otherwise(["0.0"], ["0", "1"]), written_otherwise(["p"], ["q"])
    ('they differ from known ones by how a number is written alone, such as 0.0 and 0', '')
    >>> written_otherwise(["p"], ["p"])
    ''
    """
    there = list(dict.fromkeys(map(str, known)))
    known_names = {*there}
    own = [name for name in dict.fromkeys(map(str, strangers)) if name not in known_names]
    for what, writing in _WRITINGS:
        meant = {writing(name): name for name in reversed(there)}
        found = [(name, meant[writing(name)]) for name in own if writing(name) and writing(name) in meant]
        if found and 2 * len(found) > len(own):
            some = "they" if len(found) == len(own) else f"{len(found)} of these {len(own)}"
            return f"{some} differ from known ones by {what} alone, such as {found[0][0]} and {found[0][1]}"
    return ""


def alike(names: Iterable[str]) -> str:
    """How many identifiers of one column another one has in another writing, a clause; empty where none has.

    Examples
    --------
    >>> alike(["q1", "Q1", "q2"]), alike(["q1", "q2"])
    ('1 differs from another one by case alone, such as Q1 and q1', '')
    """
    listed = sorted({*map(str, names)}, key=str.swapcase)
    for what, writing in _WRITINGS[:3]:
        first: dict[str, str] = {}
        found = [(name, first[writing(name)]) for name in listed if first.setdefault(writing(name), name) != name]
        if found:
            verb = "differs" if len(found) == 1 else "differ"
            return f"{len(found)} {verb} from another one by {what} alone, such as {found[0][0]} and {found[0][1]}"
    return ""


def differs_by(one: str, other: str) -> str:
    """What alone two different names differ by, such as ``"case"``; empty where they differ by more.

    Examples
    --------
    >>> differs_by("GPT", "gpt"), differs_by("gpt-4", "gpt-5")
    ('case', '')
    """
    return next((what for what, writing in _WRITINGS if writing(one) and writing(one) == writing(other)), "")


def _number(name: str) -> str:
    """``0`` of ``0.0``, ``00`` and ``0``; empty of what is not a number."""
    try:
        value = float(name)
    except ValueError:
        return ""
    return f"{value:.12g}" if name.isascii() and value == value else ""
