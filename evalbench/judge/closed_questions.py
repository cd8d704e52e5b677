"""A long answer turned into closed questions, which another model answers without having seen it."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from evalbench.errors import BadInput
from evalbench.judge.rows import Judgement, Judgements
from evalbench.judge.tasks import Task
from evalbench.judge.verdicts import InProcess, Recording, judge

if TYPE_CHECKING:
    import pandas as pd

By = str | Recording | InProcess
N_QUESTIONS = 5


@dataclass(frozen=True)
class ClosedQuestion:
    """A yes–no question.

    Attributes
    ----------
    question : str
        Understood alone.
    answer : {"YES", "NO"}
        As the long answer has it.
    """

    question: str
    answer: Literal["YES", "NO"]


CLOSED_ANSWER = Task("closed_answer", ("question",), {"YES": 1.0, "NO": 0.0, "UNKNOWN": math.nan}, optional=("basis",))
"""A closed question to a model that has not seen the long answer."""


@functools.cache
def closed_questions_task(n: int) -> Task:
    """Up to ``n`` closed questions about a long answer, and what it says to each.

    Examples
    --------
    >>> closed_questions_task(5).context
    {'n': 5}
    """
    from pydantic import Field

    kind = Annotated[list[ClosedQuestion], Field(max_length=n)]
    return Task(
        "closed_questions",
        ("answer",),
        {},
        optional=("question",),
        context={"n": n},
        parts={"questions": (kind, f"at most {n} yes–no questions, each with the text's own answer")},
    )


class Asked(NamedTuple):
    """One closed question: what the long answer says, and what the other model does (``UNKNOWN`` where it cannot say)."""

    question: str
    expected: str
    said: str


@dataclass(frozen=True, kw_only=True)
class Confirmed:
    """A long answer beside another model's knowledge.

    Attributes
    ----------
    agreement : float
        Share of the closed questions with the same answer, of those that the other model could answer; NaN where unscored.
    unscored, detail : str
        Why there is no agreement; empty where there is one.
    """

    id: str
    agreement: float = math.nan
    asked: tuple[Asked, ...] = ()
    unscored: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Confirmations:
    """All long answers, in the order of the items, and everything that was asked."""

    rows: tuple[Confirmed, ...]
    asked: tuple[Judgements, ...]

    def frame(self) -> pd.DataFrame:
        """One row per answer: id, agreement, asked, unscored, detail."""
        import pandas as pd

        return pd.DataFrame([vars(row) for row in self.rows], columns=list(Confirmed.__dataclass_fields__))


def closed_questions(
    items: Sequence[Mapping[str, Any]], *, by: By, answered_by: By, n: int = N_QUESTIONS, **options: Any
) -> Confirmations:
    """Have one model turn each long answer into closed questions, and another answer them.

    Parameters
    ----------
    items : sequence of mapping
        ``id``, ``answer``, and if wanted ``question`` and ``basis``, which the answering model may use.
    by, answered_by : str, Recording or callable
        Who writes the questions and who answers them, as in :func:`evalbench.judge.verdicts.judge`; different ones, since a model
        confirms itself.  Recorded verdicts have the ids ``ID`` and ``ID/N``, N from 1.
    n : int
        Questions per answer at most.
    options
        As in :func:`evalbench.judge.verdicts.judge`.

    Returns
    -------
    Confirmations
        An answer is unscored where no question was written or the other model could answer none.

    Raises
    ------
    BadInput
        If both are one model, or as :func:`evalbench.judge.verdicts.judge` does.

    Examples
    --------
    >>> def writer(item):
    ...     return {"questions": [{"question": "Is it at noon?", "answer": "YES"}, {"question": "Is it dear?", "answer": "NO"}]}
    >>> def other(item):
    ...     return "YES"
    >>> closed_questions([{"id": "1", "answer": "At noon, for free."}], by=writer, answered_by=other).rows[0].agreement
    0.5
    """
    if by == answered_by:
        raise BadInput(
            "the model that answers closed questions must be another one than wrote them: it would confirm itself"
        )
    if n < 1:
        raise BadInput(f"n is {n}; at least 1 question")
    if not items:
        return Confirmations((), ())
    shown = [{key: item[key] for key in ("id", "answer", "question") if item.get(key) is not None} for item in items]
    written = judge(shown, by=by, task=closed_questions_task(n), **options)
    found = {row.id: row for row in written.rows if row.sample == 0}
    to_answer = [
        {
            "id": f"{item['id']}/{place}",
            "question": one["question"],
            **({"basis": item["basis"]} if item.get("basis") else {}),
        }
        for item in items
        for place, one in enumerate(found[item["id"]].parts.get("questions", ()), start=1)
    ]
    answered = judge(to_answer, by=answered_by, task=CLOSED_ANSWER, **options) if to_answer else None
    said = {row.id: row for row in answered.rows if row.sample == 0} if answered else {}
    rows = tuple(_confirmed(item["id"], found[item["id"]], said) for item in items)
    return Confirmations(rows, tuple(one for one in (written, answered) if one))


def _confirmed(name: str, written: Judgement, said: Mapping[str, Judgement]) -> Confirmed:
    if written.unscored:
        return Confirmed(id=name, unscored=written.unscored, detail=written.detail)
    questions = written.parts["questions"]
    replies = [said[f"{name}/{place}"] for place in range(1, len(questions) + 1)]
    asked = tuple(
        Asked(one["question"], one["answer"], reply.label) for one, reply in zip(questions, replies, strict=True)
    )
    known = [one for one in asked if one.said in ("YES", "NO")]
    if known:
        return Confirmed(id=name, agreement=sum(one.said == one.expected for one in known) / len(known), asked=asked)
    silent = next((reply for reply in replies if reply.unscored), None)
    if silent is not None:
        return Confirmed(id=name, asked=asked, unscored=silent.unscored, detail=f"{silent.id}: {silent.detail}")
    why = (
        "the answer gave rise to no closed question"
        if not asked
        else "the other model could answer none of the questions"
    )
    return Confirmed(id=name, asked=asked, unscored="no-value", detail=why)
