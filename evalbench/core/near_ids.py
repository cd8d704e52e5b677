"""Identifiers that would be the same but for case and blanks: the cause of a join that finds nothing."""

from __future__ import annotations

from collections.abc import Iterable

_SHOWN = 3


def spelt_otherwise(strange: Iterable[object], known: Iterable[object]) -> str:
    """A clause on identifiers that differ from known ones by case or blanks alone; empty where none does.

    Examples
    --------
    >>> spelt_otherwise(["D00 ", "D01", "x"], ["d00", "d01", "d02"])
    '2 differ by case or blanks alone from known ones ("D00 " and "d00", "D01" and "d01")'
    >>> spelt_otherwise(["x"], ["y"])
    ''
    """
    own = {_folded(name): str(name) for name in known}
    near = {name: own[_folded(name)] for name in dict.fromkeys(map(str, strange)) if _folded(name) in own}
    near = {name: other for name, other in near.items() if name != other}
    if not near:
        return ""
    shown = ", ".join(f'"{name}" and "{other}"' for name, other in list(near.items())[:_SHOWN])
    verb = "differs" if len(near) == 1 else "differ"
    whose = "a known one" if len(near) == 1 else "known ones"
    return f"{len(near):,} {verb} by case or blanks alone from {whose} ({shown})"


def _folded(name: object) -> str:
    return " ".join(str(name).casefold().split())
