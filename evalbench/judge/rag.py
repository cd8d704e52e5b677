"""What a judge is asked of an answer from retrieved contexts: its claims, their support, the contexts' relevance, its questions."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from evalbench.judge.tasks import Task
from evalbench.text.fragments import is_fragment
from evalbench.text.refusals import claims_nothing


@dataclass(frozen=True)
class Claim:
    """One claim of a text.

    Attributes
    ----------
    sentence : int
        The number of the sentence that makes it, from 1.
    claim : str
        It alone, understood without its neighbours.
    """

    sentence: int
    claim: str


CLAIMS = Task(
    "claims",
    ("question", "sentences"),
    {},
    lists=("sentences",),
    parts={"claims": (list[Claim], "every claim once, in the order of the sentences")},
)
"""The claims of a text; ``sentences`` in their order."""

SUPPORT = Task(
    "support",
    ("passages", "statement"),
    {"SUPPORTED": 1.0, "NOT_SUPPORTED": 0.0, "CONTRADICTED": 0.0, "NO_CLAIM": math.nan},
    optional=("question",),
    lists=("passages",),
    parts={"passages": (list[int], "the numbers of the passages that support it; empty where none does")},
    sources=("passages",),
)
"""Whether one of several passages supports a statement, and which; ``question``: what a fragment among them answers."""


def support_fields(passages: Sequence[str], statement: str, question: str, *, facts: bool = False) -> dict[str, Any]:
    """The fields of :data:`SUPPORT`, with the question where a text says nothing without it.

    - ``facts``: Whether the passages are facts, which may be fragments too.

    Examples
    --------
    >>> support_fields(["Rome"], "It is Rome.", "What is the capital?", facts=True)["question"]
    'What is the capital?'
    >>> "question" in support_fields(["Rome is old. It is large."], "The capital is called Rome.", "What is the capital?")
    False
    """
    fields = {"passages": list(passages), "statement": statement}
    needed = (
        is_fragment(statement) or claims_nothing(statement, question) or (facts and any(map(is_fragment, passages)))
    )
    return {**fields, "question": question} if needed and question.strip() else fields


RELEVANCE = Task(
    "relevance",
    ("question", "facts", "passage"),
    {"RELEVANT": 1.0, "PARTIALLY_RELEVANT": 0.0, "IRRELEVANT": 0.0},
    lists=("facts",),
    sources=("passage",),
)
"""Whether a passage helps to answer a question whose right answer is known."""


@functools.cache
def questions(n: int) -> Task:
    """``n`` questions that an answer answers, and whether it is non-committal.

    Examples
    --------
    >>> questions(3).context
    {'n': 3}
    """
    from pydantic import Field, StringConstraints

    one = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    return Task(
        "questions",
        ("answer",),
        {},
        context={"n": n},
        parts={
            "questions": (Annotated[list[one], Field(min_length=n, max_length=n)], f"exactly {n} different questions"),
            "noncommittal": (bool, "whether the answer evades the question"),
        },
    )
