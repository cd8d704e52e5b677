"""Texts with violations whose places are known: a model breaks one rule in one passage, and a checker compares before and after."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.core.seeds import rng
from evalbench.errors import BadInput
from evalbench.judge.tasks import Task
from evalbench.kit.collecting import accounting_of, asked, calls_of
from evalbench.kit.judging import Docket, Question
from evalbench.kit.options import Checks
from evalbench.readers.schema import Column, Table

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import BaseModel

    from evalbench.models.exchange import Reply

DOCUMENTS: Mapping[str, Table] = {
    "documents": Table(
        (
            Column("id", "id", help="the text"),
            Column("text", "text"),
            Column("lang", "text", required=False, empty_ok=True, help="ISO 639-1 code"),
        ),
        unique=("id",),
        help="one row per text, without violations as far as is known",
    )
}
RULES: Mapping[str, Table] = {
    "rules": Table(
        (Column("rule", "text", help="in words"), Column("category", "text", required=False, empty_ok=True)),
        help="one row per rule; rows of the same rule count once",
    )
}
BROKEN = Task(
    "rule_broken",
    ("rule", "before", "after"),
    {"BROKEN": 1.0, "NOT_BROKEN": 0.0, "BROKEN_BEFORE": 0.0, "NOT_NATURAL": 0.0},
)
"""Whether a change of a text broke the rule; anything but BROKEN rejects it."""

SYNTHETIC = "synthetic"
NOT_THERE, SEVERAL_TIMES, OVERLAPS, UNCHANGED = "not in the text", "more than once", "overlaps", "unchanged"
REASONS = {
    NOT_THERE: "the passage to be changed is not in the text",
    SEVERAL_TIMES: "the passage to be changed is in the text more than once",
    OVERLAPS: "it overlaps a violation that was already put into the text",
    UNCHANGED: "nothing was changed, or the passage was only deleted",
    "NOT_BROKEN": "the rule is not broken by the change",
    "BROKEN_BEFORE": "the passage broke the rule already before the change",
    "NOT_NATURAL": "nobody would have written it so",
}
TRUTH = ("id", "violation_id", "start", "end", "rule", "category", "explanation", "correction", "origin")
REJECTED = ("id", "lang", "rule", "category", "passage", "instead", "explanation", "reason", "detail")
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_SURROUNDINGS = 300


class Change(NamedTuple):
    """One change of a text: ``instead`` replaces the characters from ``start`` to ``end``, the latter exclusive."""

    start: int
    end: int
    instead: str


@dataclass(frozen=True)
class Violated:
    """Texts with violations, and what was left out.

    Attributes
    ----------
    documents : DataFrame
        ``id, text, lang``: every text, changed or not.
    truth : DataFrame
        ``id, violation_id, start, end, rule, category, explanation, correction, origin``; ``origin`` is ``synthetic``,
        ``correction`` is what the changed words were before.
    rejected : DataFrame
        ``id, lang, rule, category, passage, instead, explanation, reason, detail``.
    calls : DataFrame or None
    """

    documents: pd.DataFrame
    truth: pd.DataFrame
    rejected: pd.DataFrame
    calls: pd.DataFrame | None
    accounting: Mapping[str, Any]


def violate(
    documents: pd.DataFrame,
    rules: pd.DataFrame,
    model: str,
    *,
    n: int = 2,
    checker: str = "",
    prompt: str = "",
    temperature: float = 0.0,
    max_tokens: int = 1024,
    seed: int = 0,
) -> Violated:
    """Put violations of drawn rules into texts.

    For each text ``n`` rules are drawn, every rule as often as the others; the model rewrites one passage so that it breaks the
    rule, the checker compares the text before and after.  The violation is the changed words, found by comparing,
    so that its place is exact.  Replies are kept as they come: after a kill the same call asks for what is missing.

    Parameters
    ----------
    documents : DataFrame
        As in :data:`DOCUMENTS`.
    rules : DataFrame
        As in :data:`RULES`.
    model : str
        Who writes.
    n : int
        Violations asked for in each text, at most as many as there are rules.
    checker : str
        Who is asked whether the change breaks the rule; by default ``model``.
    prompt : str
        A folder of your own prompts ``rule_violation`` and ``rule_broken``.
    temperature, max_tokens, seed
        Of the requests; the seed also draws the rules.

    Raises
    ------
    BadInput
        For faults of the options, all at once, and where there is no rule: before anything is asked.
    """
    import pandas as pd

    checks = Checks({"temperature": temperature, "max_tokens": max_tokens})
    checks.at_least(1, n=n)
    checks.refuse("data violate")
    known: Any = rules.drop_duplicates("rule").sort_values("rule", ignore_index=True).to_dict("records")
    if not known:
        raise BadInput("data violate: there is no rule")
    drawn = _drawn(documents, known, n, seed)
    settings: dict[str, Any] = {"prompt": prompt, "temperature": temperature, "max_tokens": max_tokens, "seed": seed}
    replies = asked(
        drawn,
        model,
        "rule_violation",
        lambda row: {"rule": row["rule"], "text": row["text"]},
        purpose="violation",
        schema=_schema(),
        **settings,
    )
    placed, rejected = _placed(drawn, replies)
    docket = Docket(checker or model, prompt=prompt, max_tokens=max_tokens, seed=seed)
    questions = [Question(_before_and_after(row, change), row["lang"]) for row, change in placed]
    kept: dict[str, list[tuple[dict[str, Any], Change]]] = {}
    for (row, change), says in zip(placed, docket.ask(BROKEN, questions), strict=True):
        own = kept.setdefault(row["sample"], [])
        if says.label != "BROKEN":
            rejected.append({**row, "reason": says.label or says.unscored, "detail": says.reason or says.detail})
        elif any(change.start < other.end and other.start < change.end for _, other in own):
            rejected.append({**row, "reason": OVERLAPS, "detail": ""})
        else:
            own.append((row, change))
    heard = docket.heard()
    texts, truth = _changed(documents, kept)
    return Violated(
        documents=texts,
        truth=pd.DataFrame(truth, columns=list(TRUTH)),
        rejected=pd.DataFrame([{**row, "id": row["sample"]} for row in rejected], columns=list(REJECTED)),
        calls=calls_of(replies, [heard]).get("calls"),
        accounting=accounting_of(replies, [heard]),
    )


def smallest_change(text: str, start: int, end: int, instead: str) -> Change | None:
    """A replacement narrowed to the words that differ; None where nothing differs or words were only taken away.

    Examples
    --------
    >>> text = "It rests in oak until it is ready."
    >>> smallest_change(text, 0, len(text), "It rests in oak, the best there is, until it is ready.")
    Change(start=15, end=15, instead=', the best there is,')
    >>> smallest_change(text, 0, 2, "It") is None
    True
    """
    before, after = _TOKEN.findall(text[start:end]), _TOKEN.findall(instead)
    shorter = min(len(before), len(after))
    head = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    tail = next((i for i in range(shorter - head) if before[-1 - i] != after[-1 - i]), shorter - head)
    new = "".join(after[head : len(after) - tail])
    if not new.strip():
        return None
    return Change(start + len("".join(before[:head])), end - len("".join(before[len(before) - tail :])), new)


def _drawn(documents: pd.DataFrame, rules: Sequence[Mapping[str, Any]], n: int, seed: int) -> list[dict[str, Any]]:
    """The rules of each text: the next ``n`` of an order that the seed draws anew whenever it is used up."""
    rows: list[dict[str, Any]] = []
    waiting: list[Mapping[str, Any]] = []
    rounds = 0
    for document in documents.sort_values("id").to_dict("records"):
        own: list[Mapping[str, Any]] = []
        while len(own) < min(n, len(rules)):
            if not waiting:
                waiting = [rules[i] for i in rng(seed, "rules", str(rounds)).permutation(len(rules))]
                rounds += 1
            place = next((i for i, rule in enumerate(waiting) if rule not in own), None)
            if place is None:
                waiting = []
            else:
                own.append(waiting.pop(place))
        rows += [
            {
                "id": f"{document['id']}-{number}",
                "sample": document["id"],
                "lang": str(document.get("lang") or "en"),
                "text": document["text"],
                "rule": rule["rule"],
                "category": str(rule.get("category") or ""),
            }
            for number, rule in enumerate(own, 1)
        ]
    return rows


@functools.cache
def _schema() -> type[BaseModel]:
    from pydantic import Field, create_model

    return create_model(
        "RuleViolation",
        passage=(str, Field(description="the words of the text that are replaced, exactly as they are there")),
        instead=(str, Field(description="what is there instead")),
        explanation=(str, Field(description="why it breaks the rule, in one sentence")),
    )


def _placed(
    drawn: Sequence[Mapping[str, Any]], replies: Sequence[Reply]
) -> tuple[list[tuple[dict[str, Any], Change]], list[dict[str, Any]]]:
    """The changes that can be put into their texts, and the others with the reason."""
    placed, rejected = [], []
    for row, reply in zip(drawn, replies, strict=True):
        if reply.value is None:
            texts = {"passage": "", "instead": "", "explanation": ""}
            rejected.append({**row, **texts, "reason": reply.unscored, "detail": reply.detail})
            continue
        said = {name: str(getattr(reply.value, name)).strip() for name in ("passage", "instead", "explanation")}
        found = {**row, **said}
        times = row["text"].count(said["passage"]) if said["passage"] else 0
        start = row["text"].find(said["passage"])
        change = smallest_change(row["text"], start, start + len(said["passage"]), said["instead"])
        reason = NOT_THERE if not times else SEVERAL_TIMES if times > 1 else UNCHANGED if change is None else ""
        if change is None or reason:
            rejected.append({**found, "reason": reason, "detail": ""})
        else:
            placed.append((found, change))
    return placed, rejected


def _before_and_after(row: Mapping[str, Any], change: Change) -> dict[str, str]:
    """The rule, and the text around the change before and after it."""
    left = row["text"][max(0, change.start - _SURROUNDINGS) : change.start]
    right = row["text"][change.end : change.end + _SURROUNDINGS]
    was = row["text"][change.start : change.end]
    return {"rule": row["rule"], "before": f"{left}{was}{right}", "after": f"{left}{change.instead}{right}"}


def _changed(
    documents: pd.DataFrame, kept: Mapping[str, Sequence[tuple[dict[str, Any], Change]]]
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """The texts with all their changes, and a row of truth for each."""
    texts: list[str] = []
    truth: list[dict[str, Any]] = []
    for sample, text in zip(documents["id"], documents["text"], strict=True):
        pieces, end, length = [], 0, 0
        own = sorted(kept.get(sample, ()), key=lambda pair: pair[1])
        for number, (row, change) in enumerate(own, 1):
            pieces += [text[end : change.start], change.instead]
            length += change.start - end
            lead = len(change.instead) - len(change.instead.lstrip())
            truth.append(
                {
                    **row,
                    "id": sample,
                    "violation_id": f"{sample}-s{number}",
                    "start": length + lead,
                    "end": length + len(change.instead.rstrip()),
                    "correction": text[change.start : change.end].strip(),
                    "origin": SYNTHETIC,
                }
            )
            end, length = change.end, length + len(change.instead)
        texts.append("".join([*pieces, text[end:]]))
    return documents.assign(text=texts), truth
