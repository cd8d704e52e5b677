"""Marks in words, and pairs whose decisions in both orders are in one row, as numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, readers

FIRST, SECOND = (tuple(f"{kind}{side}" for kind in ("", "answer_", "response_", "output_", "model_")) for side in "ab")
WORDS: Mapping[str, float] = {
    **dict.fromkeys(("pass", "passed", "true", "yes", "correct", "good", "win", "да", "верно", *FIRST), 1.0),
    **dict.fromkeys(("a>b", "a>>b", "[[a]]", "[[a>b]]", "[[a>>b]]"), 1.0),
    **dict.fromkeys(
        ("fail", "failed", "false", "no", "incorrect", "wrong", "bad", "loss", "нет", "неверно", *SECOND), 0.0
    ),
    **dict.fromkeys(("b>a", "b>>a", "[[b]]", "[[b>a]]", "[[b>>a]]"), 0.0),
    **dict.fromkeys(("tie", "tie (bothbad)", "draw", "both", "ничья", "a=b", "b=a", "[[c]]", "[[a=b]]"), 0.5),
}
"""Verdicts in words, where nearly every mark of a table is one of these."""
_PLACES: Mapping[str, float] = {
    **{word: WORDS[word] for word in WORDS if ">" in word or "=" in word or word.startswith("[[")},
    **dict.fromkeys((*FIRST, "1", "1.0", "first", "answer 1", "output_1", "response_1"), 1.0),
    **dict.fromkeys((*SECOND, "2", "2.0", "second", "answer 2", "output_2", "response_2"), 0.0),
    **dict.fromkeys(("tie", "draw", "both", "c", "equal", "same"), 0.5),
}
_ORDERS = (("ab", "ba"), ("1", "2"), ("original", "swapped"), ("orig", "swap"), ("forward", "reverse"))
_DECISIONS = ("decision", "verdict", "judgment", "judgement", "winner", "preference", "choice")
_LISTS = ("judgments", "judgements", "decisions", "winners", "verdicts")
_GOLD = ("human", "gold", "gold_label", "label", "gold_winner", "human_label", "human_winner", "truth")
_MOST_KNOWN, _MOST_OF_PAIRS, _ROWS_SHOWN = 0.9, 0.5, 5
"""The share of words that must be known for the others to be left out, and of pairs; how many rows of these are named."""


def as_numbers(frame: pd.DataFrame, column: str, notes: list[str], *, of_pairs: bool = False) -> None:
    """Replace the words of a column by their marks, in place, where nearly all are known; what is odd goes to the notes.

    - ``of_pairs``: Marks say which of two answers is better: then most are enough, since other words are no kinds of marks.
    """
    words = frame[column].map(lambda cell: cell.strip().casefold() if isinstance(cell, str) else cell)
    texts = words[words.map(lambda cell: isinstance(cell, str) and cell != "" and not _is_number(cell))]
    known = texts.isin(list(WORDS))
    if (
        not len(texts)
        or known.mean() < (_MOST_OF_PAIRS if of_pairs else _MOST_KNOWN)
        or _counts(words.drop(texts.index))
    ):
        return
    odd = texts[~known]
    frame[column] = words.map(lambda cell: WORDS.get(cell, cell) if isinstance(cell, str) else cell)
    frame.loc[odd.index, column] = None
    said = ", ".join(f"{word} as {WORDS[word]:g}" for word in sorted(texts[known].unique()))
    what = "marks" if column == "mark" else "labels"
    notes.append(f"{what} in words were read as numbers: {said}")
    notes += [_odd_words(odd, frame.index, what)] if len(odd) else []


def _counts(cells: pd.Series) -> bool:
    """Whether cells are numbers of a scale, among which a word has no place: others than 0, 0.5 and 1."""
    given = cells[cells.map(lambda cell: cell is not None and cell == cell and cell != "")]
    return not pd.to_numeric(given, errors="coerce").dropna().isin((0, 0.5, 1)).all()


def _is_number(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False


def _odd_words(odd: pd.Series, index: pd.Index, what: str) -> core.Note:
    """Words that are no marks, among such that are: how many, which, and in which rows."""
    rows = [str(place + 1) for place in np.flatnonzero(index.isin(odd.index))]
    shown = ", ".join(rows[:_ROWS_SHOWN]) + (f" and {len(rows) - _ROWS_SHOWN} more" if len(rows) > _ROWS_SHOWN else "")
    words = ", ".join(f'"{word[:40]}"' for word in list(dict.fromkeys(odd))[:2])
    several = f"{len(rows)} {what} are words that mean no mark" if len(rows) > 1 else f"1 of the {what} is a word"
    return core.Note("labels", f"{several} ({words}; row{'s' * (len(rows) > 1)} {shown}), left out")


def each_order(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per order, of pairs whose row has the decisions in both orders; any other table as it is.

    A decision names a place: the ``A`` of the second order is the answer that was shown first then, the second answer.
    """
    found = _both(frame)
    frame = frame if found is None else _gold_apart(frame)
    if found is None or "mark" in frame:
        return frame
    (first, second), dropped = found
    gold = next((c for c in _GOLD if c in frame and _is_side(frame[c])), None)
    rest = frame.drop(columns=[*dropped, *([gold] if gold else [])])
    rest = rest.assign(human=frame[gold].map(_place)) if gold else rest
    marks = first.map(_place), 1 - second.map(_place).astype(float)
    parts = [rest.assign(order=order, mark=mark) for order, mark in zip(("ab", "ba"), marks, strict=True)]
    out = pd.concat(parts, ignore_index=True)
    notes = [
        *frame.attrs.get("notes", ()),
        f"{' and '.join(dropped)} were read as the decisions in both orders, by place",
    ]
    apart = (marks[0] - marks[1]).dropna()
    if len(apart) and (apart.abs() == 1).mean() > 0.5:
        notes.append(
            core.Note(
                "labels",
                f"the two orders disagree on {core.percent((apart.abs() == 1).mean())} of the pairs: if the second decision "
                "names the answer and not its place, turn it round",
            )
        )
    out.attrs = {**frame.attrs, "notes": tuple(notes)}
    return out


def _gold_apart(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with their gold side under its own name, where it was read as the mark: the decisions beside it are the judge's."""
    read_as = frame.attrs.get(readers.roles.READ_AS, {})
    gold = next((source for source, own in read_as.items() if own == "mark" and source in _GOLD), None)
    if gold is None:
        return frame
    out = frame.rename(columns={"mark": gold})
    notes = [note for note in frame.attrs.get("notes", ()) if note != f"column {gold} was read as mark"]
    out.attrs = {**frame.attrs, readers.roles.READ_AS: {**read_as, gold: "human"}, "notes": notes}
    return out


def _both(frame: pd.DataFrame) -> tuple[tuple[pd.Series, pd.Series], list[str]] | None:
    names = {str(c).strip().casefold(): str(c) for c in frame.columns}
    for stem in _DECISIONS:
        for one, other in _ORDERS:
            pair = [names.get(f"{stem}_{end}") or names.get(f"{stem}{end}") for end in (one, other)]
            if all(pair) and all(_is_side(frame[c]) for c in pair):
                return (frame[pair[0]], frame[pair[1]]), [str(c) for c in pair]
    for name in _LISTS:
        if name in names:
            cells = frame[names[name]].map(_two)
            if cells.notna().all() and len(cells):
                sides = tuple(cells.map(lambda two, k=k: two[k]) for k in (0, 1))
                if all(_is_side(side) for side in sides):
                    return (sides[0], sides[1]), [names[name]]
    return None


def _two(cell: Any) -> tuple[Any, Any] | None:
    """The two decisions of a cell that is a list, or the JSON of one."""
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = json.loads(cell)
        except ValueError:
            return None
    if not isinstance(cell, list | tuple | np.ndarray) or len(cell) != 2:
        return None
    one, other = (_decision(part) for part in cell)
    return one, other


def _decision(part: Any) -> Any:
    if isinstance(part, Mapping):
        return next((part[name] for name in _DECISIONS if name in part), None)
    return part


def _place(cell: Any) -> float:
    """1 for the first place, 0 for the second, ½ for a tie; none for anything else."""
    return _PLACES.get(re.sub(r"\s+", "", str(cell)).casefold(), np.nan)


def _is_side(cells: pd.Series) -> bool:
    """Whether nearly all cells that are not empty name a side, not 0 or 1."""
    texts = cells[cells.notna()].astype(str).str.strip()
    texts = texts[texts != ""]
    return bool(len(texts) and texts.map(_place).notna().mean() >= _MOST_KNOWN)
