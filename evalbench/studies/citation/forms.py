"""Answers that have their sources beside them, in cells, as the tables of answers with citations and of sources."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import core, errors, readers
from evalbench.text import citation_marks

_LISTS = ("sources", "citations", "references", "source_documents", "search_results", "evidence", "источники", "来源")
_TEXT = ("text", "content", "snippet", "page_content", "passage", "document", "body", "текст", "内容")
_ADDRESS = ("url", "link", "uri", "href", "source", "doc_id", "id", "title")
_MARK = re.compile(r"[\[【]\s*\d+")
_NUMBER = ("n", "number", "index", "rank", "ref", "id", "номер")


def said_in(frames: Mapping[str, pd.DataFrame]) -> str:
    """The column of what a model answered; empty where there is none.

    A list called answer holds right answers. So does a text of that name that cites nothing and has only a question beside it: published pairs.
    """
    frame = frames.get("answers")
    if frame is None or frame.columns.has_duplicates or "answer" not in frame:
        return ""
    if "answer" in frame.attrs.get(readers.roles.READ_AS, {}).values():
        return "answer"
    listed = frame["answer"].map(lambda cell: isinstance(cell, (list, dict))).any()
    alone = {*map(str, frame.columns)} <= {"id", "question", "lang", "answer"}
    cites = frame["answer"].map(lambda cell: bool(_MARK.search(str(cell)))).any()
    return "" if listed or (alone and not cites) else "answer"


def answers_of(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables, where rows of answers list their sources: the sources as a table, and what each mark of an answer cites.

    Raises ``BadInput`` for cells that list no sources: all of them.
    """
    frame = frames.get("answers")
    if frame is None or frame.columns.has_duplicates:
        return dict(frames)
    column = next((name for name in _listing(frame) if not _is_ours(name, frame[name])), "")
    answers = readers.finding.column_of(frame, "answer", held=readers.finding.is_text)
    if not column or not answers:
        return dict(frames)
    named = readers.finding.column_of(frame, "id")
    ids = frame[named] if named else _numbered(frame)
    languages = frame["lang"] if "lang" in frame else [""] * len(frame)
    cited, supplied, faults = [], [], []
    unmarked = lacking = 0
    for row, key, text, listed, language in zip(
        frame.index, ids, frame[answers], frame[column], languages, strict=True
    ):
        cells = (
            []
            if listed is None or listed != listed
            else readers.written.value_of(listed)
            if isinstance(listed, str)
            else listed
        )
        there = {n: one for n, one in enumerate(cells, 1) if one is not None} if isinstance(cells, list) else {1: 0}
        sources = {place: _source(one, place) for place, one in there.items()}
        if odd := [place for place, one in sources.items() if one is None]:
            which = (
                f"number {odd[0]} of {column} is not a source"
                if isinstance(cells, list)
                else f"{column} must list sources"
            )
            faults.append(f"row {row}: {which}: a source is a text, an address, or an object with a text or an address")
            continue
        known = [one for one in sources.values() if one is not None]
        lacking += len(cells) > len(there)
        statements = citation_marks.statements(text if isinstance(text, str) else "", str(language or "en"))
        cited.append(_cited(statements, known, list(there)))
        unmarked += bool(cited[-1]) and not any(statement.numbers for statement in statements)
        supplied += [{"id": key, **{c: one[c] for c in ("url", "title", "text")}} for one in known if one["text"]]
    if faults:
        raise errors.BadInput.listing(f"answers: column {column}:", faults)
    said = [f"{column} was read as the sources of each answer; a mark such as [1] names the source of this number"]
    if lacking:
        said.append(f"{core.counted(lacking, 'answer')} with a source that is null: marks of its number name nothing")
    if unmarked:
        said.append(
            f"{core.counted(unmarked, 'answer')} without a mark {'cites' if unmarked == 1 else 'cite'} the sources beside {'it' if unmarked == 1 else 'them'}"
        )
    own = frame.drop(columns=column).assign(
        citations=pd.Series(cited, frame.index, dtype=object), **({} if named else {"id": ids})
    )
    own.attrs["notes"] = [*frame.attrs.get("notes", ()), *said]
    out = {**frames, "answers": own}
    if supplied and "sources" not in frames:
        out["sources"] = pd.DataFrame(supplied).drop_duplicates(["id", "url", "text"])
    return out


def _listing(frame: pd.DataFrame) -> list[str]:
    """The columns that list sources, those of usual names first; texts alone are sources where the column is named so, or as contexts."""
    lowered = {readers.role_names.plain(str(c)): str(c) for c in frame.columns}
    usual = [lowered[name] for name in map(readers.role_names.plain, _LISTS) if name in lowered]
    contexts = [
        c for c in map(str, frame.columns) if readers.role_names.fit(c, readers.Column("contexts", "texts")) is not None
    ]
    return [name for name in dict.fromkeys((*usual, *contexts)) if frame[name].map(_lists).any()]


def _lists(cell: Any) -> bool:
    value = readers.written.value_of(cell) if isinstance(cell, str) else cell
    return isinstance(value, list) and bool(value)


def _is_ours(name: str, cells: pd.Series) -> bool:
    """Whether a column lists citations as the study does: objects with a claim, or, by its name, with a number and no source."""
    listed = [readers.written.value_of(cell) if isinstance(cell, str) else cell for cell in cells]
    objects = [one for cell in listed if isinstance(cell, list) for one in cell if isinstance(one, Mapping)]
    return any(
        "claim" in one or (name == "citations" and "n" in one and not {*one} & {*_TEXT, *_ADDRESS}) for one in objects
    )


def _numbered(frame: pd.DataFrame) -> pd.Series:
    """An id for each question: rows of several models share it where they share the question."""
    question = readers.finding.column_of(frame, "question")
    codes = pd.factorize(frame[question])[0] if question and "model" in frame else range(len(frame))
    return pd.Series([f"q{code + 1:04d}" for code in codes], frame.index)


def _source(one: Any, place: int) -> dict[str, Any] | None:
    """Number, address, title, text and quote of a listed source; None for what is none."""
    if isinstance(one, str):
        address = one.startswith(("http://", "https://"))
        return {
            "n": place,
            "url": one if address else f"source {place}",
            "title": "",
            "text": "" if address else one,
            "quote": "",
        }
    if not isinstance(one, Mapping):
        return None
    held = {
        readers.role_names.plain(str(key)): cell
        for key, cell in one.items()
        if isinstance(cell, (str, int)) and not isinstance(cell, bool)
    }
    found = {
        own: next((held[n] for n in names if n in held), "")
        for own, names in (("text", _TEXT), ("url", _ADDRESS), ("n", _NUMBER))
    }
    if not found["text"] and not found["url"]:
        return None
    number = str(found["n"])
    return {
        "n": int(number) if number.isdecimal() and 0 < int(number) < 10**6 else place,
        "url": str(found["url"] or f"source {place}"),
        "title": str(held.get("title", "")),
        "text": str(found["text"]),
        "quote": str(held.get("quote", "")),
    }


def _cited(
    statements: Sequence[citation_marks.Statement], sources: Sequence[Mapping[str, Any]], places: Sequence[int]
) -> list[dict[str, Any]]:
    """What the marks of an answer cite; without a mark the whole answer cites each source."""
    marked = {n for statement in statements for n in statement.numbers}
    numbered = {one["n"]: one for one in sources}
    if not marked & numbered.keys() and marked <= {*places}:
        numbered = dict(zip(places, sources, strict=True))
    entries = []
    for n, one in numbered.items():
        claim = " ".join(statement.text for statement in statements if not marked or n in statement.numbers)
        if claim.strip():
            entries.append({"n": n, "claim": claim, **{key: one[key] for key in ("url", "title", "quote")}})
    return entries
