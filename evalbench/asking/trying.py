"""A study tried on data: read, adapted and checked as a run would; no model is asked, nothing is computed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench import studies
from evalbench.asking.asked import Offer
from evalbench.errors import BadInput
from evalbench.metrics.registry import cards
from evalbench.readers.dataset import Dataset
from evalbench.readers.role_names import fit, names_no_score, plain, role_of, roles, roles_of
from evalbench.readers.roles import SURE
from evalbench.readers.schema import TRIAL, Table
from evalbench.readers.strict_yaml import read_yaml
from evalbench.readers.wide import of_people
from evalbench.studies.imported.columns import cells_in, form_of, numbers_in

if TYPE_CHECKING:
    import pandas as pd

_LEAST_WORDS = 6
_ASIDE = re.compile(r" \([^()]{40,}\)")


class Need(NamedTuple):
    """What a study needs of a table: any of ``holds``; ``words`` say it."""

    holds: tuple[str, ...]
    words: str


@cache
def needs() -> Mapping[str, tuple[str, tuple[Need, ...], Mapping[str, str]]]:
    """Study → what it computes, what it needs, and what it computes instead where the table lacks something."""
    content = read_yaml(Path(__file__).with_name("needs.yaml"))
    return {
        name: (
            own["computes"],
            tuple(Need(tuple(need["holds"]), need["words"]) for need in own["needs"]),
            own.get("without", {}),
        )
        for name, own in content.items()
    }


class Tried(NamedTuple):
    """What a study makes of the data.

    - ``read``, ``refused``: Its tables, or why it refuses them.
    - ``held``: What they hold, see :func:`_held`.
    - ``groups``, ``called``: Who answered, and the study's word for that.
    - ``roles``: Column of the data that it reads → its role.
    - ``inner``: Further columns that it reads, in a form of its own; see :func:`_read_otherwise`.
    """

    read: Dataset | BadInput
    refused: BadInput | None
    held: frozenset[str]
    groups: tuple[str, ...]
    called: str
    roles: Mapping[str, str]
    inner: tuple[str, ...] = ()


def tried(
    name: str, data: Any, given: Any, columns: Mapping[str, str], root: Path | None, names: Collection[str] = ()
) -> Tried:
    own, released = studies.study(name), dict(studies.defaults(name))
    options = {option: parameter.default for option, parameter in own.options().items()}
    if isinstance(given, (str, Path)) and str(given) in map(str, released.values()):  # the notebook's values are for it
        options, columns = options | released, {**(released.get("columns") or {}), **columns}
    try:
        tables = studies.load(data, study=name, columns=columns, root=root)
    except BadInput as error:
        return Tried(error, error, frozenset(), (), "", {})
    try:
        studies.refuse(tables, name, options)
        refused = None
    except BadInput as error:
        refused = error
    reads_scores = any("numbers" in need.holds for need in needs()[name][1])
    held, groups, called, roles = _held(tables, own.SCHEMA, reads_scores)
    others = [column for column in names if column not in {*roles, *columns}]
    inner = () if refused else _read_otherwise(name, data, tables, others, columns, root)
    return Tried(tables, refused, held, groups, called, roles, inner)


def _read_otherwise(
    name: str, data: Any, tables: Dataset, others: Sequence[str], columns: Mapping[str, str], root: Path | None
) -> tuple[str, ...]:
    """The columns that no table of a study has, and without which its tables are others: lists of spans or sources, parts of a question."""
    there = {str(column) for frame in tables.tables.values() for column in frame.columns}
    lists = {key for table, own in studies.study(name).SCHEMA.items() for key in (table, own.nested)}

    def is_read(column: str) -> bool:
        try:
            without = studies.load(data, study=name, columns={**columns, column: ""}, root=root)
        except BadInput as error:
            return column in lists or "no table has a column" not in str(error)
        same = without.tables.keys() == tables.tables.keys()
        return not same or not all(frame.equals(without[table]) for table, frame in tables.tables.items())

    return tuple(column for column in others if column not in there and is_read(column))


def _held(
    tables: Dataset, schema: Mapping[str, Table], reads_scores: bool
) -> tuple[frozenset[str], tuple[str, ...], str, Mapping[str, str]]:
    """What the tables of a study hold: their names, columns with values by name and role, and facts of several columns.

    - ``reads_scores``: Whether the study reads further columns of numbers as scores.
    """
    held: set[str] = set()
    groups: dict[str, None] = {}
    called = ""
    read: dict[str, str] = {}
    for name, frame in tables.tables.items():
        if not len(frame):
            continue
        held.add(name)
        own = {c.name: c for c in schema[name].columns}
        sources: dict[str, list[str]] = {}
        for source, column in tables.read_as.get(name, {}).items():
            sources.setdefault(column, []).append(source)
        for column in (str(c) for c in frame.columns if has_values(frame[c])):
            held |= {column, f"{name}.{column}"}
            if column in own:
                role = found.name if (found := role_of(own[column])) else column
                held.add(role)
                read |= dict.fromkeys(sources.get(column, [column]), role)
            elif name == next(iter(schema)) and "scores" not in tables.tables and is_score(column, frame[column]):
                held |= {"numbers"} | ({"named score"} if names_score(column) else set())
                read |= {column: "score"} if reads_scores else {}
        for part in of_people(frame, schema[name].columns) if name == next(iter(schema)) else ():
            held.add("human")
            read[part.column] = "mark"
        for column in (c for c in own if own[c].groups and c in frame):
            called = called or column
            groups |= dict.fromkeys(map(str, frame[column].unique()))
        keys = [
            c for c in own if c in frame and c != TRIAL and ((own[c].type == "id" and own[c].required) or own[c].groups)
        ]
        if keys and frame.duplicated(keys).any():
            held.add("repeats")
    return frozenset(held | ({"two models"} if len(groups) > 1 else set())), tuple(groups), called, read


def has_values(cells: pd.Series) -> bool:
    """Whether any cell is neither null nor empty."""
    return any(cell is not None and cell == cell and not _is_empty(cell) for cell in cells)


def _is_empty(cell: Any) -> bool:
    return isinstance(cell, (str, list, dict)) and not cell


def is_score(column: str, cells: pd.Series) -> bool:
    """Whether a column of numbers may be scores: its name says nothing else."""
    return not names_no_score(column) and form_of(cells_in(cells)) is not None


def other_cells(cells: pd.Series) -> list[tuple[Any, str]]:
    """The rows of a column of scores that hold words, and the words."""
    form = form_of(cells_in(cells))
    if form is None:
        return []
    _, others = numbers_in(cells, form.words)
    return [(row, word) for row, word in zip(cells.index, others, strict=True) if word]


_SCORES = frozenset({
    "score", "scores", "points", "accuracy", "acc", "precision", "recall", "f1", "bleu", "rouge", "meteor", "faithfulness", "relevance",
    "relevancy", "correctness", "groundedness", "helpfulness", "coherence", "consistency", "completeness", "fluency", "toxicity",
    "hallucination", "bias", "similarity", "quality", "perplexity", "loss", "оценка", "балл", "баллы", "качество", "точность", "полнота", "分数",
    "准确率",
})  # fmt: skip


def names_score(column: str) -> bool:
    """Whether a column's name says that its numbers are scores: a metric, or a word for marks.

    Examples
    --------
    >>> [name for name in ("answer_relevancy", "rougeL", "Оценка", "rating", "humidity", "temperature") if names_score(name)]
    ['answer_relevancy', 'rougeL', 'Оценка', 'rating']
    """
    own = plain(column)
    metrics = {plain(name) for card in cards() for name in (card.name, *card.aliases)}
    kinds = {roles()[role].kind for role in roles_of(column)}
    return own in metrics or not _SCORES.isdisjoint(own.split()) or not kinds.isdisjoint({"mark", "flag"})


def offer_of(
    study: str, one: Tried, everywhere: set[str], columns: Collection[str], command: Callable[[str], str]
) -> Offer:
    computes, wanted, instead = needs()[study]
    held = one.held if isinstance(one.read, Dataset) else everywhere
    if isinstance(one.read, BadInput) and on_values(one.read):
        own = roles_by_name(study, columns)
        first = next(iter(studies.study(study).SCHEMA))
        held = {*held, first, *own.values(), *own, *surely_held(studies.study(study).SCHEMA, columns)}
    computes = next((words for lacking, words in instead.items() if lacking not in held), computes)
    missing = [need.words for need in wanted if not held & {*need.holds}]
    if one.refused is not None and not missing:
        missing = list(dict.fromkeys(_lacking(one.refused, wanted)))
    refused = "" if missing or one.refused is None else _in_short(one.refused)
    used = 0
    if isinstance(one.read, Dataset):
        used = sum(len(t.columns) - len(one.read.unused.get(n, ())) for n, t in one.read.tables.items())
    return Offer(study, studies.question(study), computes, tuple(missing), command(study), refused, used)


_CELLS = re.compile(r"\bcolumn ([\w, ]+)(?: \(read as ([\w, ]+)\))?: (?!is missing)")
_LACKS = re.compile(r"\b(?:column|table) (\w+):? is missing|\bno column (\w+)")


def on_values(error: BadInput) -> bool:
    """Whether a table is refused for what cells hold, and for no column or table that it lacks."""
    return bool(error.faults) and all(_CELLS.search(fault) for fault in error.faults)


def surely_held(schema: Mapping[str, Table], names: Collection[str]) -> set[str]:
    """The columns of tables, each with its table's name before it, that some of these names surely mean."""
    return {
        f"{table}.{column.name}"
        for table, own in schema.items()
        for column in own.columns
        if any(fit(name, column) in SURE for name in names)
    }


def read_as_in(error: BadInput) -> dict[str, str]:
    """The columns of a file that a message names, and those of the study that they were read as.

    Examples
    --------
    >>> read_as_in(BadInput.listing("a.csv:", ["column task, agent (read as id, model): are duplicated together"]))
    {'task': 'id', 'agent': 'model'}
    """
    found = [match.groups() for fault in error.faults for match in _CELLS.finditer(fault)]
    return {
        source: name
        for sources, names in found
        if names
        for source, name in zip(sources.split(", "), names.split(", "), strict=False)
    }


def roles_by_name(study: str, names: Collection[str]) -> dict[str, str]:
    """What a study would read columns as, by their own names."""
    return roles_of_columns(study, {name: name for name in names})


def roles_of_columns(study: str, columns: Mapping[str, str]) -> dict[str, str]:
    """Column → the role of the one of a study's first table that it is read as."""
    own = {c.name: c for c in next(iter(studies.study(study).SCHEMA.values())).columns}
    return {n: found.name if (found := role_of(own[c])) else c for n, c in columns.items() if c in own}


def _lacking(error: BadInput, wanted: Sequence[Need]) -> Iterator[str]:
    """What a message of missing columns and tables says, in the study's words."""
    said = error.faults or (str(error),)
    for name in (one or other for fault in said for one, other in _LACKS.findall(fault)):
        named = {name, *roles_of(name)}
        yield next((need.words for need in wanted if named & {*need.holds}), f"a column {name}")


def _in_short(error: BadInput) -> str:
    """What a message says first, without the way out: its head, or its first fault where the head only counts or names."""
    head = _ASIDE.sub("", str(error).partition("\n")[0])
    said = error.faults[0] if error.faults and len(head.split()) < _LEAST_WORDS else head
    return _ASIDE.sub("", said.split("; ")[0]).strip().rstrip(":.")
