"""The cited answers that are judged: those of the table, or collected from a model."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pydantic import BaseModel

from evalbench import errors, kit, readers
from evalbench.models.exchange import Reply
from evalbench.readers import Column, Table
from evalbench.text import citation_marks, quotations

_NUMBER = re.compile(r"[0-9]{1,6}")
ENTRY = ("claim", "url", "title", "quote")

ANSWER = "with marks such as [1]; null: unscored"
SCHEMA: Mapping[str, Table] = {
    "answers": Table(
        (
            Column("id", "id", help="the question"),
            Column("question", "text"),
            Column(
                "reference",
                "texts",
                required=False,
                empty_ok=True,
                help="right answers; correctness needs one",
                perhaps=("answer",),
                former=("gold_answer",),
            ),
            Column(
                "answer", "text", required=False, empty_ok=True, keep_null=True, help=ANSWER, former=("model_answer",)
            ),
            Column("citations", "json", required=False, empty_ok=True, help="[{n, claim, url?, title?, quote?}, …]"),
            Column("model", "id", groups=True, required=False, help="who answered, where there are several"),
            Column("lang", "text", required=False, empty_ok=True, help="ISO 639-1 code"),
        ),
        unique=("id", "model"),
        trials="model",
        stem="nq",
        sampled=5_000,
        dealt=True,
        part_rows=5_000,
        help="one row per question and model",
    ),
    "sources": Table(
        (
            Column("url", "id", help="address or name by which citations name it"),
            Column("text", "text"),
            Column("title", "text", required=False, empty_ok=True),
            Column("kind", "text", required=False, empty_ok=True, help="encyclopaedia, press, official, …"),
            Column("id", "id", required=False, empty_ok=True, help="the question that it was supplied for"),
        ),
        required=False,
        whole=True,
        dealt=True,
        help="one row per supplied source and question; or in the rows of answers, as a list sources",
    ),
}


@dataclass(frozen=True)
class Citation:
    """One entry of an answer's list of citations."""

    n: int
    claim: str
    url: str = ""
    title: str = ""
    quote: str = ""

    @property
    def quotes(self) -> bool:
        """Whether the quote is long enough to be looked for."""
        return quotations.long_enough(self.quote)


@dataclass(frozen=True)
class Answer:
    """One answer with its citations and statements.

    - ``gold``: Empty where there is no right answer to compare with.
    - ``text``: None where there is no answer.
    - ``citations``: By number.
    - ``unscored``: Why there is no answer; empty where there is one.
    """

    id: str
    model: str
    lang: str
    question: str
    gold: tuple[str, ...]
    text: str | None
    citations: tuple[Citation, ...]
    statements: tuple[citation_marks.Statement, ...]
    unscored: str = ""

    @property
    def marked(self) -> tuple[int, ...]:
        """Every number that a mark names, in order of first mention."""
        return tuple(dict.fromkeys(n for s in self.statements for n in s.numbers))

    @property
    def dangling(self) -> tuple[int, ...]:
        """Numbers of marks without an entry."""
        known = {c.n for c in self.citations}
        return tuple(n for n in self.marked if n not in known)

    @property
    def plain(self) -> str:
        """The answer without its marks."""
        return " ".join(s.text for s in self.statements)


def answers_of(
    rows: pd.DataFrame, sources: pd.DataFrame | None, model: str, **settings: Any
) -> tuple[list[Answer], list[Reply]]:
    """The table's own answers, or one of a model per question, and the model's replies.

    Raises ``BadInput`` if the table has none, or lists of citations are faulty; names every fault.
    """
    rows = rows.sort_values([key for key in ("id", "model") if key in rows], kind="stable")
    return _collected(rows, sources, model, **settings) if model else (_given(rows), [])


def needs(data: readers.Dataset, *, model: str, n_samples: int) -> None:
    """Refuse a table without answers where no model is asked, and faulty lists of citations."""
    if model:
        return
    rows = kit.collecting.given(data["answers"], "answer", "answers")
    if "citations" in rows and not n_samples:
        _refuse([fault for row in rows.to_dict("records") for fault in _citations(row["citations"], str(row["id"]))[1]])


def _refuse(faults: list[str]) -> None:
    if faults:
        raise errors.BadInput.listing("lists of citations are faulty:", faults)


def _given(rows: pd.DataFrame) -> list[Answer]:
    rows = kit.collecting.given(rows, "answer", "answers")
    answers, faults = [], []
    for row, reason in zip(rows.to_dict("records"), kit.answers.why_unscored(rows["answer"]), strict=True):
        citations, found = _citations(row.get("citations"), str(row["id"]))
        faults += found
        text = None if reason else row["answer"]
        answers.append(_answer(row, str(row["model"]), text, () if reason else citations, reason))
    _refuse(faults)
    return answers


def _answer(
    row: Mapping[Any, Any], model: str, text: str | None, citations: Sequence[Citation], unscored: str
) -> Answer:
    lang = str(row.get("lang") or "en")
    gold = tuple(g for g in row.get("reference") or () if g.strip())
    said = tuple(citation_marks.statements(text or "", lang))
    return Answer(str(row["id"]), model, lang, row["question"], gold, text, tuple(citations), said, unscored)


def _citations(listed: Any, name: str) -> tuple[list[Citation], list[str]]:
    """The entries of one list, by number, and its faults."""
    if listed is None:
        return [], []
    if not isinstance(listed, list):
        return [], [f"id {name}: citations is not a list"]
    out: dict[int, Citation] = {}
    faults = []
    for place, entry in enumerate(listed, 1):
        fault = _fault(entry, out)
        if fault:
            faults.append(f"id {name}, citation {place}: {fault}")
        else:
            n = int(str(entry["n"]))
            out[n] = Citation(n, **{key: entry.get(key) or "" for key in ENTRY})
    return [out[n] for n in sorted(out)], faults


def _fault(entry: Any, known: Mapping[int, Citation]) -> str:
    if not isinstance(entry, Mapping):
        return "is not an object"
    number, texts = entry.get("n"), {key: entry.get(key) or "" for key in ENTRY}
    if isinstance(number, bool) or not _NUMBER.fullmatch(str(number)) or int(str(number)) < 1:
        return f"n is {json.dumps(number)[:40]}, not a whole number from 1 to 999999"
    if int(str(number)) in known:
        return f"n {number} appears twice"
    wrong = [key for key, text in texts.items() if not isinstance(text, str)]
    return f"{', '.join(wrong) or 'claim'} must be a text" if wrong or not texts["claim"].strip() else ""


@functools.cache
def reply_schema() -> type[BaseModel]:
    """What a model is asked to return: an answer with marks and the entries that they name."""
    from pydantic import Field, create_model

    entry: Any = create_model(
        "Entry",
        n=(int, Field(ge=1, le=999, description="the number of the mark")),
        claim=(str, Field(min_length=1, description="what the source is cited for")),
        url=(str, Field(default="", description="address of the source")),
        title=(str, Field(default="", description="title of the source")),
        quote=(str, Field(default="", description="the words of the source, verbatim")),
    )
    return create_model(
        "CitedAnswer",
        answer=(str, Field(description="the answer with marks such as [1]")),
        citations=(list[entry], Field(default_factory=list, description="one entry per mark")),
    )


def _collected(
    rows: pd.DataFrame, sources: pd.DataFrame | None, model: str, **settings: Any
) -> tuple[list[Answer], list[Reply]]:
    """One cited answer per question; the model is shown the sources that were supplied for the question."""
    questions = rows.drop_duplicates("id")
    supplied: dict[str, list[dict[Any, Any]]] = {}
    if sources is not None and "id" in sources:
        for source in (
            sources[sources["id"].isin(questions["id"])].drop_duplicates(["id", "url", "text"]).to_dict("records")
        ):
            supplied.setdefault(str(source["id"]), []).append(source)

    def shown(row: Mapping[str, Any]) -> dict[str, Any]:
        return {"question": row["question"], "sources": supplied.get(str(row["id"]), [])}

    about = {"purpose": "cited answer", "schema": reply_schema(), **settings}
    replies = kit.collecting.asked(questions, model, "cited_answer", shown, **about)
    answers = []
    for row, reply in zip(questions.to_dict("records"), replies, strict=True):
        value: Any = reply.value
        # A number that a model uses twice names its first entry.
        unique = {
            e.n: Citation(e.n, e.claim, e.url, e.title, e.quote) for e in reversed(value.citations if value else [])
        }
        citations = [unique[n] for n in sorted(unique)]
        answers.append(_answer(row, model, value.answer if value else None, citations, reply.unscored))
    return answers, replies
