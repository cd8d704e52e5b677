"""What a study expects of its tables: columns with types and ranges, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

Type = Literal["id", "text", "texts", "int", "float", "bool", "json", "spans", "ts"]

MOST_GROUPS = 1000
"""So many systems of a run are judged and shown beside each other; more are an id that has the name of a group."""

SYSTEMS = "systems"
"""In the ``attrs`` of a frame that an ``adapt`` made: all systems, also those without a row, since they listed nothing."""
STREAM = "stream"
"""Where a frame that is a sample says what it is a sample of, in its ``attrs``: a :class:`evalbench.readers.large.Large`."""
TRIAL = "trial"
"""The column that tells the answers of one group to one item apart."""

EXPECTED: dict[str, str] = {
    "id": "an identifier, not empty",
    "text": "a text",
    "texts": "a text, or a JSON list of texts",
    "int": "a whole number",
    "float": "a finite number",
    "bool": "0 or 1 (true, false)",
    "json": "valid JSON",
    "spans": "a JSON list of [start, end] pairs",
    "ts": "a date or time (ISO 8601)",
}


@dataclass(frozen=True)
class Column:
    """One column: name, type, and what its cells may hold.

    - ``type`` ({"id", "text", "texts", "int", "float", "bool", "json", "spans", "ts"})
    - ``required``: Whether the column must be there.
    - ``empty_ok``: Whether a cell may be empty: then ``""`` for texts and ids, ``[]`` for texts and spans, NaN for
      numbers, None for JSON.
    - ``keep_null``: Whether a null (or a key that a record lacks) stays None and is no empty text: for answers, which
      are then unscored. Only for texts.
    - ``groups``: Whether each value is a system that is judged for itself, of which there may be :data:`MOST_GROUPS`.
    - ``low``, ``high``: Inclusive bounds of numbers.
    - ``hint``: What to do with cells that are of another type, for the end of the message.
    - ``role``: What it holds, a role of ``roles.yaml``, where its name is not that role's; ``none``: only its own name
      is read.
    - ``perhaps``: Names that may mean it in this study, though not in others.
    - ``former``: Names that it had in this study before: a column of such a name is it, also beside one of today's name.
    """

    name: str
    type: Type
    required: bool = True
    empty_ok: bool = False
    keep_null: bool = False
    groups: bool = False
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    help: str = ""
    hint: str = ""
    role: str = ""
    perhaps: tuple[str, ...] = ()
    former: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.type not in get_args(Type):
            raise ValueError(f"column {self.name}: unknown type {self.type!r}; one of {', '.join(get_args(Type))}")
        if self.keep_null and self.type != "text":
            raise ValueError(f"column {self.name}: keep_null is for texts, not for {self.type}")

    def expected(self) -> str:
        """What a cell must hold, in words."""
        words = f"one of {', '.join(self.choices)}" if self.choices else EXPECTED[self.type]
        if self.low is not None and self.high is not None:
            words += f" from {self.low:g} to {self.high:g}"
        elif self.low is not None:
            words += f", at least {self.low:g}"
        elif self.high is not None:
            words += f", at most {self.high:g}"
        return words + (" (may be empty)" if self.empty_ok else "")


TRIALS = Column(TRIAL, "id", required=False, help="which of several answers to the same; figures average them")


def file_names(schema: Mapping[str, Table]) -> tuple[str, ...]:
    """The parameters that name a file of a table: the tables', and those of files that are read instead of the data."""
    return (*schema, *(table.alone for table in schema.values() if table.alone))


PART_ROWS = 100_000
"""So many rows are made into items at once, where a study says nothing else."""


@dataclass(frozen=True)
class Table:
    """One table of a study.

    - ``unique``: The columns that together name a row.
    - ``nested``: The key under which a document of a nested JSON Lines file lists these rows; the table's own name
      always works.
    - ``whole``: Whether documents that list these rows reach the study's ``adapt`` as they are.
    - ``stem``: Another name of its file in a folder, without the ending.
    - ``alone``: The parameter of a file with this table that is read instead of the data set; it ends in ``_data``.
    - ``describes``: Whether it only describes what is judged: it is shown, and the data's SHA-256 does not depend on
      it.
    - ``trec``: The columns of its form as a TREC file, in their order, if it has one; the empty name is a field that is
      not read.
    - ``trials``: The column of the systems that may answer several times: the table then has an optional column
      ``trial``, and rows are unique together with it.
    - ``lists``: Whether a trial is a run over all items, of which the table holds what was found: rows are not answers.
    - ``sampled``: How many rows are read of a table of more than :data:`evalbench.readers.large.LARGE_ROWS`, whose
      statistics the study streams; 0: all rows, of any table.
    - ``dealt``: Whether the study reads such a table in parts instead, all rows of it, see :mod:`evalbench.kit.parts`. Of several such tables
      each part has the rows of the same ids; of one whose rows need no id all rows.
    - ``part_rows``: About so many of its rows are made into items at once; of more than twice as many, items are made in parts.
    - ``scored``: Whether its rows are scores; a table of what they are of may be absent.
    - ``across``: Columns by which rows depend on rows of other ids: a table that has all of a tuple is not dealt.
    - ``of_all``: Columns of which a part has to know the values of all rows, those of a tuple together.
    - ``no_trials``: Why a column ``trial`` means nothing in this study, a sentence; it is a note where the table has
      one.
    """

    columns: tuple[Column, ...]
    unique: tuple[str, ...] = ()
    required: bool = True
    nested: str = ""
    whole: bool = False
    stem: str = ""
    alone: str = ""
    describes: bool = False
    trec: tuple[str, ...] = ()
    trials: str = ""
    lists: bool = False
    sampled: int = 0
    dealt: bool = False
    part_rows: int = PART_ROWS
    scored: bool = False
    across: tuple[tuple[str, ...], ...] = ()
    of_all: tuple[tuple[str, ...], ...] = ()
    no_trials: str = ""
    help: str = ""

    def __post_init__(self) -> None:
        if self.trials and self.column(TRIAL) is None:
            object.__setattr__(self, "columns", (*self.columns, TRIALS))
            object.__setattr__(self, "unique", (*self.unique, TRIAL) if self.unique else ())

    def without_trials(self, why: str) -> Table:
        """The table in a study to which trials mean nothing."""
        columns = tuple(c for c in self.columns if c is not TRIALS)
        unique = tuple(name for name in self.unique if name != TRIAL)
        return replace(self, columns=columns, unique=unique, trials="", lists=False, no_trials=why)

    @property
    def by_ids(self) -> bool:
        """Whether each row is one of an id."""
        return any(column.name == "id" and column.required for column in self.columns)

    def column(self, name: str) -> Column | None:
        return next((c for c in self.columns if c.name == name), None)
