"""Documents, questions and the places that answer them, checked beyond the schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, readers
from evalbench.readers import Column, Table
from evalbench.text.locate import locate

PURPOSES = ("answer", "question", "mark", "rewrite")
NO_SOURCE, LOST_PASSAGE, EMPTY_SOURCE = "no-source", "passage-not-found", "source-is-empty"
ALIKE = 0.9
"""At least so similar to a stretch of its document is a passage that is found there."""

_LANG = Column("lang", "text", required=False, empty_ok=True, help="ISO 639-1 code: cuts sentences, chooses the prompt")
_GROUP = Column("group", "text", required=False, empty_ok=True, help="shown beside it")
_PASSAGE = Column(
    "passage", "text", required=False, empty_ok=True, help="the stretch of the document that answers the question"
)
SCHEMA = {
    "documents": Table(
        (
            Column("doc_id", "id"),
            Column("text", "text", empty_ok=True, help="an empty one has no chunk"),
            _GROUP,
            _LANG,
        ),
        unique=("doc_id",),
        help="the documents that are searched",
    ),
    "questions": Table(
        (
            Column("id", "id"),
            Column("question", "text"),
            Column(
                "reference", "text", required=False, empty_ok=True, help="the right answer", former=("ground_truth",)
            ),
            Column("doc_id", "id", required=False, empty_ok=True, help="the document that answers it"),
            _PASSAGE,
            _GROUP,
            _LANG,
        ),
        unique=("id",),
        no_trials="each setting searches, and is answered, once per question",
        help="questions to the documents",
    ),
    "sources": Table(
        (
            Column("id", "id", help="of the question"),
            Column("doc_id", "id", help="a document that answers it"),
            _PASSAGE,
            Column("relevance", "float", required=False, empty_ok=True, help="0 or below: not a source"),
        ),
        required=False,
        help="further documents that answer a question",
    ),
    "replies": Table(
        (
            Column("purpose", "text", choices=PURPOSES),
            Column("asked", "id", help="hash of what was asked"),
            Column("about", "text", required=False, empty_ok=True, help="what it was asked for"),
            Column("reply", "text", empty_ok=True),
        ),
        unique=("purpose", "asked"),
        required=False,
        describes=True,
        help="recorded replies of models",
    ),
}


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """One table of questions beside the texts that answer them as documents and questions."""
    frame = frames.get("documents")
    if frame is None or "questions" in frames or frame.columns.has_duplicates:
        return frames
    return {**frames, **readers.paragraphs.parted(frame)}


class Sources(NamedTuple):
    """The stretches of documents that answer questions; one row each, sorted by question.

    - ``question``, ``document`` ((n,) int arrays): Rows of the questions and of the documents.
    - ``start``, ``end`` ((n,) int arrays): The stretch, in characters; the whole document where no passage is given.
    - ``why`` ((n_questions,) array of str): Why a question has none; empty where it has some.
    """

    question: np.ndarray[Any, Any]
    document: np.ndarray[Any, Any]
    start: np.ndarray[Any, Any]
    end: np.ndarray[Any, Any]
    why: np.ndarray[Any, Any]


def check(data: readers.Dataset) -> None:
    """Refuse questions whose source is not among the documents, and sources of questions that are not there.

    Raises ``BadInput``: All of them in one message.
    """
    documents, questions = set(data["documents"]["doc_id"]), data["questions"]
    named = _named(data)
    strangers = named[~named["doc_id"].isin(documents)]
    faults = [
        f"question {row.id}: its source {row.doc_id} is not among the documents"
        for row in strangers.drop_duplicates(["id", "doc_id"]).itertuples()
    ]
    if said := readers.strangers.written_otherwise(strangers["doc_id"], documents):
        faults.insert(0, f"sources that are not among the documents: {said}")
    lost = sorted(set(named["id"]) - set(questions["id"]))
    faults += [f"sources: there is no question {name}" for name in lost]
    if not (data["documents"]["text"].str.strip() != "").any():
        faults.append("documents: none has a text")
    if faults:
        raise errors.BadInput.listing(f"{data.label}: {core.counted(len(faults), 'fault')}:", faults, 20)


def _named(data: readers.Dataset) -> pd.DataFrame:
    """Every source that the tables name: ``id, doc_id, passage``."""
    columns = ["id", "doc_id", "passage"]
    found = []
    questions, sources = data["questions"], data.get("sources")
    if "doc_id" in questions:
        found.append(questions[questions["doc_id"] != ""].reindex(columns=columns))
    if sources is not None:
        kept = sources[~(sources["relevance"] <= 0)] if "relevance" in sources else sources
        found.append(kept.reindex(columns=columns))
    if not found:
        return pd.DataFrame(columns=columns, dtype=str)
    table = pd.concat(found, ignore_index=True)
    return table.assign(passage=table["passage"].fillna("")).drop_duplicates(ignore_index=True)


def sources_of(data: readers.Dataset, documents: pd.DataFrame, questions: pd.DataFrame) -> Sources:
    """Where each question is answered, in the rows of these documents and questions."""
    places = {name: i for i, name in enumerate(documents["doc_id"])}
    rows = {name: i for i, name in enumerate(questions["id"])}
    texts = documents["text"].tolist()
    found: list[tuple[int, int, int, int]] = []
    why = np.full(len(questions), NO_SOURCE, dtype=object)
    for name, doc_id, passage in _named(data).itertuples(index=False):
        at, text = places[doc_id], texts[places[doc_id]]
        spot = locate(passage, text, ALIKE) if passage.strip() and text.strip() else None
        if not text.strip():
            why[rows[name]] = EMPTY_SOURCE
        elif passage.strip() and spot is None:
            why[rows[name]] = LOST_PASSAGE
        else:
            found.append((rows[name], at, *((spot.start, spot.end) if spot else (0, len(text)))))
    table = np.array(sorted(found), dtype=np.int64).reshape(-1, 4)
    why[table[:, 0]] = ""
    question, document, start, end = table.T
    return Sources(question, document, start, end, why)
