"""The cited answers that are judged: those of the table, or collected from a model."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.kit.answers import why_unscored
from evalbench.kit.sampling import sample_ids
from evalbench.text.citation_marks import Statement, statements

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import BaseModel

LANGUAGES = ("en", "ru", "zh")
UNNAMED = "response"
_NUMBER = re.compile(r"[0-9]{1,6}")
ENTRY = ("claim", "url", "title", "quote")


@dataclass(frozen=True)
class Citation:
    """One entry of an answer's list of citations."""

    n: int
    claim: str
    url: str = ""
    title: str = ""
    quote: str = ""


@dataclass(frozen=True)
class Answer:
    """One answer with its citations and statements.

    Attributes
    ----------
    id, model, lang, question : str
    gold : tuple of str
        Empty where there is no right answer to compare with.
    text : str or None
        None where there is no answer.
    citations : tuple of Citation
        By number.
    statements : tuple of Statement
    unscored : str
        Why there is no answer; empty where there is one.
    """

    id: str
    model: str
    lang: str
    question: str
    gold: tuple[str, ...]
    text: str | None
    citations: tuple[Citation, ...]
    statements: tuple[Statement, ...]
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


@dataclass(frozen=True)
class Collected:
    """Answers and what collecting them took."""

    answers: tuple[Answer, ...]
    calls: tuple[pd.DataFrame, ...] = ()
    notes: tuple[str, ...] = ()
    accounting: tuple[Mapping[str, Any], ...] = field(default=())


def sampled(answers: pd.DataFrame, method: str, n: int, random_state: int) -> pd.DataFrame:
    """The rows of the sampled questions, sorted by id and model."""
    chosen = set(sample_ids(answers["id"].tolist(), method, n, random_state))
    rows = answers[answers["id"].isin(chosen)]
    keys = [k for k in ("id", "model") if k in rows]
    return rows.sort_values(keys, kind="stable")


def given(rows: pd.DataFrame) -> Collected:
    """The table's own answers.

    Raises
    ------
    BadInput
        If it has none, or lists of citations are faulty; names every fault.
    """
    if "model_answer" not in rows:
        raise BadInput(
            "the table answers has no column model_answer; give one, or a model to collect answers from (--model)"
        )
    answers, faults = [], []
    unscored = why_unscored(rows["model_answer"])
    for row, reason in zip(rows.to_dict("records"), unscored, strict=True):
        citations, found = _citations(row.get("citations"), str(row["id"]))
        faults += found
        model, text = str(row.get("model", UNNAMED)), None if reason else row["model_answer"]
        answers.append(_answer(row, model, text, () if reason else citations, reason))
    if faults:
        raise BadInput.listing("lists of citations are faulty:", faults)
    return Collected(tuple(answers))


def _answer(
    row: Mapping[str, Any], model: str, text: str | None, citations: tuple[Citation, ...], unscored: str = ""
) -> Answer:
    lang = str(row.get("lang") or "en")
    return Answer(
        id=str(row["id"]),
        model=model,
        lang=lang,
        question=row["question"],
        gold=tuple(g for g in row.get("gold_answer") or () if g.strip()),
        text=text,
        citations=citations,
        statements=tuple(statements(text or "", lang)),
        unscored=unscored,
    )


def _citations(listed: Any, name: str) -> tuple[tuple[Citation, ...], list[str]]:
    """The entries of one list, by number, and its faults."""
    if listed is None:
        return (), []
    if not isinstance(listed, list):
        return (), [f"id {name}: citations is no list"]
    out, faults = {}, []
    for place, entry in enumerate(listed, 1):
        if not isinstance(entry, Mapping):
            faults.append(f"id {name}, citation {place}: is no object")
            continue
        number = entry.get("n")
        texts = {key: entry.get(key) or "" for key in ENTRY}
        wrong = [key for key, text in texts.items() if not isinstance(text, str)]
        if isinstance(number, bool) or not _NUMBER.fullmatch(str(number)) or int(str(number)) < 1:
            faults.append(
                f"id {name}, citation {place}: n is {json.dumps(number)[:40]}, not a whole number from 1 to 999999"
            )
        elif int(str(number)) in out:
            faults.append(f"id {name}, citation {place}: n {number} is there twice")
        elif wrong or not texts["claim"].strip():
            faults.append(f"id {name}, citation {place}: {', '.join(wrong) or 'claim'} must be a text")
        else:
            out[int(str(number))] = Citation(int(str(number)), **texts)
    return tuple(out[n] for n in sorted(out)), faults


@functools.cache
def reply_schema() -> type[BaseModel]:
    """What a model is asked to return: an answer with marks and the entries that they name."""
    from pydantic import Field, create_model

    entry = create_model(
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


def collected(
    rows: pd.DataFrame,
    sources: pd.DataFrame | None,
    model: str,
    *,
    prompt: str,
    temperature: float,
    max_tokens: int,
    seed: int,
) -> Collected:
    """One cited answer per question, asked of a model; it is shown the sources that were supplied for the question."""
    from evalbench.models.accounting import accounting, calls_table
    from evalbench.models.chat.collect import collect
    from evalbench.models.exchange import Request
    from evalbench.models.prompts import load_prompt

    asked = rows.drop_duplicates("id").to_dict("records")
    by_question: dict[str, list[dict[str, Any]]] = {}
    if sources is not None and "id" in sources:
        for source in sources.to_dict("records"):
            by_question.setdefault(str(source["id"]), []).append(source)
    requests = []
    for row in asked:
        code = str(row.get("lang") or "")
        template = load_prompt("cited_answer", code if code in LANGUAGES else "en", prompt or None)
        requests.append(
            Request(
                template.render(question=row["question"], sources=by_question.get(str(row["id"]), [])),
                schema=reply_schema(),
                temperature=temperature,
                max_tokens=max_tokens,
                seed=seed,
                item_id=str(row["id"]),
                purpose="cited answer",
                prompt_hash=template.sha256,
            )
        )
    replies = collect(requests, model)
    answers = []
    for row, reply in zip(asked, replies, strict=True):
        text = reply.value.answer if reply.value is not None else None  # type: ignore[attr-defined]
        entries = reply.value.citations if reply.value is not None else []  # type: ignore[attr-defined]
        # A number that a model uses twice names its first entry.
        unique = {e.n: Citation(e.n, e.claim, e.url, e.title, e.quote) for e in reversed(entries)}
        answers.append(_answer(row, model, text, tuple(unique[n] for n in sorted(unique)), unscored=reply.unscored))
    return Collected(
        tuple(answers),
        (calls_table(replies),),
        (f"Answers of {model} were collected with the prompt cited_answer.",),
        (accounting(replies),),
    )
