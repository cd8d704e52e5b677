"""Small tables of which one knows what is wrong with them: their kinds, and what a study must say of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import answered
import pandas as pd

from evalbench import studies
from evalbench.core.result import Result
from evalbench.errors import BadInput

Frames = dict[str, pd.DataFrame]
N = 40
FEW = 3  # the rows of a group that is nearly absent
LATE = "late"  # and its name
ABSENT = rf"37 of 40 [a-z]+.*{LATE}|{LATE}.*37 of 40 [a-z]+"
TWO = r"\b(2|two)\b"
IDS = r"\bcase\b|blank"

KINDS: Mapping[str, str] = {
    "nothing_right": "no answer, span, passage or verdict is right: no light is green",
    "all_right": "everything is right, on 40 units: the light is green, or the table says why it is another",
    "one_absent": "one group (named late) has rows for 3 of 40 units: not green, and the sentence names it",
    "two_units": "two units alone, all right: not green, and the sentence says on how many it rests",
    "off_by_one": "positions, indices, ranks or marks that are off by one: not green, and the sentence says so",
    "other_ids": "identifiers with blanks at an end and in another case on one side of a join: never red without a word",
    "all_equal": "all scores are equal: no interval is [1.00, 1.00] or [0.00, 0.00]",
}
ANY = frozenset({"green", "yellow", "red", "grey", "unlit"})
NOT_GREEN = ANY - {"green"}
NOT_RED = ANY - {"red"}
LIGHTS: Mapping[str, frozenset[str]] = {
    "nothing_right": NOT_GREEN,
    "all_right": frozenset({"green"}),
    "one_absent": NOT_GREEN,
    "two_units": NOT_GREEN,
    "off_by_one": NOT_GREEN,
    "other_ids": NOT_RED,
    "all_equal": ANY,
}
"""The lights that a table of a kind may have, unless the table states its own."""


@dataclass(frozen=True)
class Planted:
    """A table of a kind.

    - ``frames``: The study's tables.
    - ``says``: A pattern that the sentence must have, whatever the case.
    - ``options``: The study's.
    - ``lights``: The lights that it may have; by default its kind's.
    - ``because``: Why its lights are others than its kind's.
    - ``refused``: A pattern of the message, where it is an answer to refuse the table.
    """

    frames: Callable[[], Frames]
    says: str
    options: Mapping[str, Any] = field(default_factory=dict)
    lights: frozenset[str] = frozenset()
    because: str = ""
    refused: str = ""


Tables = Mapping[str, Mapping[str, Planted | str]]
"""Study and kind to a table, or to the reason for which the kind has no meaning for the study."""


def lights(*names: str) -> frozenset[str]:
    return frozenset(names)


def ids(n: int = N, letter: str = "q") -> list[str]:
    return [f"{letter}{i:02}" for i in range(n)]


def items(n: int = N, **columns: Callable[[int], Any]) -> pd.DataFrame:
    """A row for each unit; a column is a function of its number."""
    return pd.DataFrame({"id": ids(n), **{name: [cell(i) for i in range(n)] for name, cell in columns.items()}})


def one_table(frame: pd.DataFrame) -> Callable[[], Frames]:
    return lambda: {"items": frame}


def otherwise(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """With upper case and a blank at the end of these columns."""
    return frame.assign(**{c: frame[c].str.upper() + " " for c in columns})


def with_late(frame: pd.DataFrame, column: str, units: str, sound: str = "sound") -> pd.DataFrame:
    """Two groups: one with all rows, another with those of the first three units."""
    first = frame[units].drop_duplicates().iloc[:FEW]
    return pd.concat([frame.assign(**{column: sound}), frame[frame[units].isin(first)].assign(**{column: LATE})])


def result(study: str, planted: Planted) -> Result:
    own = studies.study(study)
    data = studies.load({name: frame.reset_index(drop=True) for name, frame in planted.frames().items()}, study=study)
    return own.evaluate(data, **{"n_resamples": 200, **planted.options})


def faults(study: str, kind: str, planted: Planted) -> list[str]:
    """What is wrong with a study's answer to a table."""
    try:
        found = result(study, planted)
    except BadInput as error:
        if planted.refused and re.search(planted.refused, str(error), re.IGNORECASE):
            return []
        wanted = f"with a word like /{planted.refused}/" if planted.refused else "at all"
        return [f"is not to be refused {wanted}: {error}"]
    allowed = planted.lights or LIGHTS[kind]
    wrong = [] if found.light in allowed else [f"is {found.light}, may be {', '.join(sorted(allowed))}"]
    if not re.search(planted.says, found.sentence, re.IGNORECASE):
        wrong.append(f"the sentence lacks /{planted.says}/")
    wrong += without_width(found) if kind == "all_equal" else []
    wrong += [f"answer: {fault}" for fault in answered.faults_of(found)]
    return [*wrong, f"{found.light}: {found.sentence}"] if wrong else []


RANGED = ("0–1", "0/1", "")
NOT_RANGED = ("threshold", "mean_gap", "mean_occurrences", "relative_drop")  # a ratio has no end below


def without_width(found: Result) -> list[str]:
    """Intervals of the sentence, and of figures on a range from 0 to 1, that are an end of the range alone."""
    stated = re.findall(r"\[1\.0+, 1\.0+\]|\[0\.0+, 0\.0+\]", found.sentence)
    rows = [e for e in found.summary.estimates if e.unit in RANGED and e.n > 0 and e.ci_low in (0, 1)]
    ends = sorted({e.metric for e in rows if e.ci_low == e.ci_high} - {*NOT_RANGED})
    wrong = [f"an interval is {stated[0]} in the sentence"] if stated else []
    return [*wrong, f"without width: {', '.join(ends)}"] if ends else wrong
