"""Questions with their answers out of documents, by a model: written passage by passage, asked back, near-duplicates left out."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.progress import at
from evalbench.core.seeds import rng
from evalbench.errors import BadInput
from evalbench.judge.tasks import Task
from evalbench.kit.collecting import accounting_of, asked, calls_of
from evalbench.kit.judging import Docket, Question
from evalbench.kit.options import Checks
from evalbench.models.accounting import embeddings_counted, merged
from evalbench.readers.schema import Column, Table
from evalbench.text.sentences import sentences

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import BaseModel

    from evalbench.models.exchange import Reply

DOCUMENTS: Mapping[str, Table] = {
    "documents": Table(
        (
            Column("doc_id", "id"),
            Column("text", "text"),
            Column("group", "text", required=False, empty_ok=True, help="such as a country: n questions for each"),
            Column("lang", "text", required=False, empty_ok=True, help="ISO 639-1 code"),
        ),
        unique=("doc_id",),
        help="one row per document",
    )
}
ANSWERED = Task(
    "answered",
    ("passage", "question", "answer"),
    {"ANSWERED": 1.0, "NOT_ANSWERED": 0.0, "OTHER_ANSWER": 0.0, "NOT_ALONE": 0.0},
    sources=("passage",),
)
"""Whether a passage answers a question as stated; anything but ANSWERED rejects it."""

NEAR_DUPLICATE = "near-duplicate"
EMPTY = "no question or no answer"
REASONS = {
    "NOT_ANSWERED": "the passage does not answer it",
    "OTHER_ANSWER": "the passage answers it otherwise",
    "NOT_ALONE": "it cannot be understood without the passage",
    NEAR_DUPLICATE: "nearly the same as a question before it",
    EMPTY: "the model wrote no question or no answer",
}
KEPT = ("id", "group", "lang", "question", "reference", "doc_id", "passage")
REJECTED = ("group", "lang", "question", "reference", "doc_id", "passage", "reason", "detail")


class Passage(NamedTuple):
    """A piece of a document, word for word."""

    key: str
    doc_id: str
    group: str
    lang: str
    text: str


@dataclass(frozen=True)
class Generated:
    """Questions and what was left out.

    Attributes
    ----------
    questions : DataFrame
        ``id, group, lang, question, reference, doc_id, passage``.
    rejected : DataFrame
        The columns of the questions but ``id``, with ``reason`` and ``detail``: also replies that could not be used.
    groups : DataFrame
        ``group, documents, passages, asked, kept, wanted``.
    calls : DataFrame or None
    """

    questions: pd.DataFrame
    rejected: pd.DataFrame
    groups: pd.DataFrame
    calls: pd.DataFrame | None
    accounting: Mapping[str, Any]


@dataclass
class _Group:
    """The passages of one group in the order of asking, and what came of them."""

    name: str
    documents: int
    passages: list[Passage]
    asked: int = 0
    written: dict[str, list[str]] = field(default_factory=dict)
    kept: list[dict[str, Any]] = field(default_factory=list)

    def next(self, n: int, tries: int) -> list[tuple[Passage, int]]:
        """The next passages, each once, and how often each was asked before; none past the limit."""
        count = max(0, min(n, tries - self.asked, len(self.passages)))
        places = range(self.asked, self.asked + count)
        self.asked += count
        return [(self.passages[i % len(self.passages)], i // len(self.passages)) for i in places]


def passages_of(documents: pd.DataFrame, longest: int) -> list[Passage]:
    """Documents as passages: whole, or cut between sentences where they are longer.

    Parameters
    ----------
    documents : DataFrame
        ``doc_id, text``, if wanted ``group, lang``.
    longest : int
        Characters; a longer sentence is a passage of its own.

    Examples
    --------
    >>> import pandas as pd
    >>> documents = pd.DataFrame({"doc_id": ["a"], "text": ["It is red. It is old. It is far."]})
    >>> [(p.key, p.text) for p in passages_of(documents, 21)]
    [('a#1', 'It is red. It is old.'), ('a#2', 'It is far.')]
    """
    found = []
    for row in documents.sort_values("doc_id").to_dict("records"):
        group, lang = str(row.get("group") or ""), str(row.get("lang") or "en")
        for n, text in enumerate(_pieces(row["text"], lang, longest), 1):
            found.append(Passage(f"{row['doc_id']}#{n}", row["doc_id"], group, lang, text))
    return found


def _pieces(text: str, lang: str, longest: int) -> list[str]:
    if len(text.strip()) <= longest:
        return [text.strip()] if text.strip() else []
    pieces: list[str] = []
    start, end = -1, 0
    for sentence in sentences(text, lang):
        place = text.index(sentence, end)
        if start >= 0 and place + len(sentence) - start > longest:
            pieces.append(text[start:end])
            start = -1
        start, end = place if start < 0 else start, place + len(sentence)
    return [*pieces, text[start:end]] if start >= 0 else pieces


def generate(
    documents: pd.DataFrame,
    model: str,
    *,
    n: int = 5,
    checker: str = "",
    prompt: str = "",
    embed: str = "use-multilingual",
    near: float = 0.9,
    longest: int = 1500,
    tries: int = 3,
    temperature: float = 0.0,
    max_tokens: int = 1024,
    seed: int = 0,
) -> Generated:
    """Questions out of documents, each with its answer and the passage that it was written from.

    Replies are kept as they come: after a kill the same call asks for what is missing.

    Parameters
    ----------
    documents : DataFrame
        As in :data:`DOCUMENTS`.
    model : str
        Who writes.
    n : int
        Questions per group; of all documents where there is no group.
    checker : str
        Who is asked whether the passage answers the question; by default ``model``.
    prompt : str
        A folder of your own prompts ``passage_question`` and ``answered``.
    embed : str
        Embedding model by which near-duplicates are found.
    near : float
        A question whose cosine with one before it is at least this is a near-duplicate; above 1 for none.
    longest : int
        Characters of a passage.
    tries : int
        At most so many times ``n`` questions are asked for in a group.
    temperature, max_tokens, seed
        Of the requests; the seed also draws the passages.

    Raises
    ------
    BadInput
        For faults of the options, all at once, documents without text, and a missing embedding model: before
        anything is asked.
    """
    import pandas as pd

    checks = Checks({"temperature": temperature, "max_tokens": max_tokens})
    checks.at_least(1, n=n, longest=longest, tries=tries)
    checks.at_least(-1, near=near)
    checks.refuse("data generate")
    groups = _groups(documents, longest, seed)
    settings = {"prompt": prompt, "temperature": temperature, "max_tokens": max_tokens, "seed": seed}
    docket = Docket(checker or model, prompt=prompt, max_tokens=max_tokens, seed=seed)
    replies: list[Reply] = []
    rejected: list[dict[str, Any]] = []
    with embeddings_counted() as spent:
        known = _Known(embed, near)
        while drawn := [(g, p, again) for g in groups for p, again in g.next(n - len(g.kept), n * tries)]:
            done = sum(len(group.kept) for group in groups)
            at(f"questions from {len(drawn)} passages", done, n * len(groups))
            found = _written(drawn, model, settings)
            replies += found
            for group, row in _checked(drawn, found, docket, rejected):
                twin, cosine = known.nearest(row["question"])
                if twin:
                    detail = f"cosine {cosine:.2f} with: {twin}"
                    rejected.append({**row, "reason": NEAR_DUPLICATE, "detail": detail})
                else:
                    known.add(row["question"])
                    group.kept.append({"id": f"{group.name or 'q'}-{len(group.kept) + 1}", **row})
    heard = docket.heard()
    return Generated(
        questions=pd.DataFrame([row for group in groups for row in group.kept], columns=list(KEPT)),
        rejected=pd.DataFrame(rejected, columns=list(REJECTED)),
        groups=pd.DataFrame([_row(group, n) for group in groups]),
        calls=calls_of(replies, [heard]).get("calls"),
        accounting=merged([accounting_of(replies, [heard]), *spent]),
    )


def _groups(documents: pd.DataFrame, longest: int, seed: int) -> list[_Group]:
    """The groups in the order of their names, the passages of each in an order that the seed draws."""
    listed: dict[str, list[Passage]] = {}
    for passage in passages_of(documents, longest):
        listed.setdefault(passage.group, []).append(passage)
    if not listed:
        raise BadInput("data generate: no document has a text")
    for passages in listed.values():
        passages.sort(key=lambda p: (rng(seed, "passages", p.key).random(), p.key))
    return [_Group(name, len({p.doc_id for p in own}), own) for name, own in sorted(listed.items())]


def _row(group: _Group, n: int) -> dict[str, Any]:
    sizes = {"documents": group.documents, "passages": len(group.passages)}
    return {"group": group.name, **sizes, "asked": group.asked, "kept": len(group.kept), "wanted": n}


@functools.cache
def _schema() -> type[BaseModel]:
    from pydantic import Field, create_model

    return create_model(
        "PassageQuestion",
        question=(str, Field(description="the question")),
        answer=(str, Field(description="its answer, from the passage alone")),
    )


def _written(drawn: Sequence[tuple[_Group, Passage, int]], model: str, settings: Mapping[str, Any]) -> list[Reply]:
    """A question for each passage; one that was asked before is shown what was written from it."""
    rows = [
        {"id": f"{p.key}/{again + 1}", "lang": p.lang, "passage": p.text, "asked": tuple(group.written.get(p.key, ()))}
        for group, p, again in drawn
    ]
    found = asked(
        rows,
        model,
        "passage_question",
        lambda row: {"passage": row["passage"], "asked": row["asked"]},
        purpose="question",
        schema=_schema(),
        **settings,
    )
    for (group, p, _), reply in zip(drawn, found, strict=True):
        if reply.value is not None:
            group.written.setdefault(p.key, []).append(_text(reply, "question"))
    return found


def _text(reply: Reply, name: str) -> str:
    return str(getattr(reply.value, name)).strip()


def _checked(
    drawn: Sequence[tuple[_Group, Passage, int]], found: Sequence[Reply], docket: Docket, rejected: list[dict[str, Any]]
) -> list[tuple[_Group, dict[str, Any]]]:
    """The questions that their passages answer; the others go to the rejected ones."""
    rows: list[tuple[_Group, dict[str, Any]]] = []
    for (group, p, _), reply in zip(drawn, found, strict=True):
        texts = {"question": "", "reference": ""}
        if reply.value is not None:
            texts = {"question": _text(reply, "question"), "reference": _text(reply, "answer")}
        row = {"group": p.group, "lang": p.lang, **texts, "doc_id": p.doc_id, "passage": p.text}
        if all(texts.values()):
            rows.append((group, row))
        else:
            rejected.append({**row, "reason": reply.unscored or EMPTY, "detail": reply.detail})
    questions = [
        Question({"passage": r["passage"], "question": r["question"], "answer": r["reference"]}, r["lang"])
        for _, r in rows
    ]
    kept = []
    for (group, row), says in zip(rows, docket.ask(ANSWERED, questions), strict=True):
        if says.label == "ANSWERED":
            kept.append((group, row))
        else:
            rejected.append({**row, "reason": says.label or says.unscored, "detail": says.reason or says.detail})
    return kept


class _Known:
    """The questions that were kept so far, by their vectors."""

    def __init__(self, embed: str, near: float) -> None:
        self.embed, self.near = embed, near
        self.texts: list[str] = []
        self.vectors: list[Any] = []
        if near <= 1:
            self._vector("A missing model is refused before anything is asked.")

    def _vector(self, text: str) -> Any:
        from evalbench.models.similarity.embed import embed

        return embed([text], self.embed)[0]

    def nearest(self, text: str) -> tuple[str, float]:
        """The most similar one and its cosine, where it is a near-duplicate; else an empty text."""
        if self.near > 1 or not self.texts:
            return "", math.nan
        cosines = np.stack(self.vectors) @ self._vector(text)
        best = int(cosines.argmax())
        return (self.texts[best], float(cosines[best])) if cosines[best] >= self.near else ("", math.nan)

    def add(self, text: str) -> None:
        self.texts.append(text)
        if self.near <= 1:
            self.vectors.append(self._vector(text))
