"""The documents of a data set that a judge which looks things up may search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from evalbench.judge.agent.naming import is_agent

TABLES = ("documents", "sources", "haystacks")
PASSAGES = ("contexts", "context", "chunks")
_NAMES = ("title", "url", "doc_id", "id")


def is_searched(*judges: object) -> bool:
    """Whether any of the judges looks things up in the documents."""
    return any(isinstance(judge, str) and is_agent(judge) for judge in judges)


def documents_of(tables: Mapping[str, pd.DataFrame], *judges: object) -> tuple[tuple[str, str], ...]:
    """Name and text of every document: of the tables documents, sources and haystacks, and of columns of passages of any table.

    Parameters
    ----------
    judges : object
        Who may search them; none is a judge that looks things up: no documents.

    Examples
    --------
    >>> answers = pd.DataFrame({"id": ["1", "2"], "contexts": [["It is red.", "It is big."], ["It is red."]]})
    >>> documents_of({"answers": answers}, "agent:openai/gpt-4o")
    (('passage 1 of 1', 'It is red.'), ('passage 2 of 1', 'It is big.'))
    >>> documents_of({"answers": answers}, "openai/gpt-4o")
    ()
    """
    if not is_searched(*judges):
        return ()
    once: dict[str, str] = {}
    for name, table in tables.items():
        for source, text in _of_table(name, table):
            if isinstance(text, str) and text.strip():
                once.setdefault(text, source)
    return tuple((source, text) for text, source in once.items())


def _of_table(name: str, table: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    rows = table.to_dict("records")
    if name in TABLES and "text" in table:
        yield from ((_name(row, name), row["text"]) for row in rows)
    for column in (column for column in PASSAGES if column in table):
        for row in rows:
            given = row[column]
            several = given if isinstance(given, list | tuple) else [given]
            yield from (
                (f"passage {n} of {row.get('id', '')}".strip(), _text(one)) for n, one in enumerate(several, start=1)
            )


def _text(given: Any) -> Any:
    """A passage is a text, or an object that has one."""
    return given.get("text") if isinstance(given, Mapping) else given


def _name(row: Mapping[Any, Any], table: str) -> str:
    named = (row[column] for column in _NAMES if isinstance(row.get(column), str) and row[column].strip())
    return next(named, table)
