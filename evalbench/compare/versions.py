"""Two versions of a data set: what both runs have unchanged is compared; what came, went and changed is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from evalbench.compare.sides import Side
from evalbench.compare.texts import tables_of, text_of
from evalbench.core.notes import Note
from evalbench.core.wording import counted

GIVEN = (
    "question",
    "request",
    "query",
    "input",
    "source",
    "text",
    "word_problem",
    "reference",
    "ground_truth",
    "gold_answer",
    "solution",
)
"""Columns of texts that are given to a system, or that it is measured by; by them a unit is known to be the same."""
LEAST = 0.5
"""Of fewer units unchanged than this share of those with one id, the ids are those of other data."""
_NAMED, _LONG = 3, 60


class Common(NamedTuple):
    """Both sides, the units that changed under names of their own, and what is said of it."""

    reference: Side
    side: Side
    note: Note


def common(reference: Side, side: Side, unit: str) -> Common | None:
    """What two runs of different data have in common; None where that is not known, or too little."""
    before, after = (_given(one, unit) for one in (reference, side))
    both = sorted(set(before) & set(after))
    changed = {name: (before[name], after[name]) for name in both if before[name] != after[name]}
    if not both or len(changed) > (1 - LEAST) * len(both):
        return None
    left, right = ({str(name) for name in one.items[unit]} for one in (reference, side))
    same = len((left & right) - set(changed))
    first, second = (one.name or one.run_id for one in (reference, side))
    said = [
        f"{counted(len(changed), 'unit')} changed ({_listed([_changed(name, *pair) for name, pair in changed.items()])})",
        f"{counted(len(right - left), 'unit')} only in {second} ({_listed(sorted(right - left))})",
        f"{counted(len(left - right), 'unit')} only in {first} ({_listed(sorted(left - right))})",
    ]
    known = [words for words, size in zip(said, (changed, right - left, left - right), strict=True) if size]
    short = f"two versions of the data, compared on the {counted(same, 'unit')} that both have unchanged"
    note = Note("sample", short, f"{short[:1].upper()}{short[1:]}: {'; '.join(known) or 'nothing else differs'}.")
    # Under other names they are paired with nothing, and stay in what each run recorded.
    apart = [_renamed(one, unit, set(changed), mark) for one, mark in ((reference, "before"), (side, "after"))]
    return Common(apart[0], apart[1], note)


def _renamed(side: Side, unit: str, changed: set[str], mark: str) -> Side:
    names = side.items[unit].astype(str)
    return replace(side, items=side.items.assign(**{unit: names.mask(names.isin(changed), names + f" ({mark})")}))


def _given(side: Side, unit: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """The given texts of each unit, by column; nothing where the run kept none."""
    names = {str(name) for name in side.items[unit]}
    found: dict[str, set[tuple[str, str]]] = {}
    for frame in tables_of(side, unit, names).values():
        for column in (c for c in GIVEN if c in frame):
            for name, value in zip(frame[unit].astype(str), frame[column], strict=True):
                if text := text_of(value):
                    found.setdefault(name, set()).add((column, text))
    return {name: tuple(sorted(texts)) for name, texts in found.items()}


def _changed(name: str, before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]]) -> str:
    then: Mapping[str, str] = dict(before)
    for column, text in after:
        if then.get(column) != text:
            return f"{name}: {column} {_short(then.get(column, ''))} → {_short(text)}"
    return name


def _short(text: str) -> str:
    return f'"{text if len(text) <= _LONG else text[: _LONG - 1] + "…"}"'


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
