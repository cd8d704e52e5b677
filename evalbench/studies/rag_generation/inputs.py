"""The answers that are judged, and what the options ask of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evalbench import kit, readers
from evalbench.judge import recorded, verdicts
from evalbench.judge.agent.naming import model_behind
from evalbench.models.llm import is_model_name
from evalbench.readers import Column, Table

METRICS = ("faithfulness", "answer_relevance", "context_recall", "context_precision", "answer_correctness")
OF_TRUTHS = ("context_recall", "context_precision", "answer_correctness")
"""Those that need a ground truth."""
KEYS = ["id", "model"]
SPLITS = ("sentences", "claims")

_TASKS = ("claims", "support", "relevance", "questions")
_LABELS = (
    *("SUPPORTED", "NOT_SUPPORTED", "CONTRADICTED", "NO_CLAIM"),
    *("RELEVANT", "PARTIALLY_RELEVANT", "IRRELEVANT"),
)
SCHEMA: Mapping[str, Table] = {
    "answers": Table(
        (
            Column("id", "id", help="the question"),
            Column("question", "text"),
            Column("answer", "text", empty_ok=True, keep_null=True, help="null: unscored"),
            Column("contexts", "texts", empty_ok=True, help="what was retrieved, by rank; none: undefined"),
            Column(
                "reference",
                "text",
                required=False,
                empty_ok=True,
                help="the right answer; null: undefined",
                former=("ground_truth",),
            ),
            Column("model", "id", groups=True, required=False, help="who answered, where there are several"),
            Column("lang", "text", required=False, empty_ok=True, help="ISO 639-1 code"),
            Column("group", "text", required=False, empty_ok=True, help="such as the country of a law"),
        ),
        unique=("id", "model"),
        trials="model",
        sampled=5_000,
        dealt=True,
        part_rows=5_000,
        help="one row per question and model",
    ),
    "verdicts": Table(
        (
            Column("id", "id", help="of what was asked: column item_id of the table calls"),
            Column("task", "text", choices=_TASKS),
            Column("label", "text", required=False, empty_ok=True, choices=_LABELS),
            Column("reason", "text", required=False, empty_ok=True),
            Column("reply", "json", required=False, empty_ok=True, help="what else was said, an object"),
        ),
        unique=("task", "id"),
        required=False,
        help="verdicts that were given before, for judge=recorded",
    ),
}


Judge = str | Callable[[dict[str, Any]], object]


@dataclass(frozen=True)
class Answer:
    """One answer with what it was made from.

    - ``text``: None where there is no answer.
    - ``contexts``: By rank; none where nothing but blanks was retrieved.
    - ``truth``: Empty where there is no ground truth.
    - ``unscored``: Why there is no answer; empty where there is one.
    """

    id: str
    model: str
    lang: str
    group: str
    question: str
    text: str | None
    contexts: tuple[str, ...]
    truth: str
    unscored: str


def answers_of(rows: pd.DataFrame) -> list[Answer]:
    """The answers in the order of their ids and models."""
    rows = kit.collecting.given(rows, "answer", "answers").sort_values(KEYS, kind="stable", ignore_index=True)
    reasons = kit.answers.why_unscored(rows["answer"])
    return [_answer(row, str(reason)) for row, reason in zip(rows.to_dict("records"), reasons, strict=True)]


def _answer(row: dict[Any, Any], reason: str) -> Answer:
    contexts = tuple(row["contexts"]) if any(text.strip() for text in row["contexts"]) else ()
    truth = str(row.get("reference") or "").strip()
    return Answer(
        id=str(row["id"]),
        model=str(row["model"]),
        lang=str(row.get("lang") or "en"),
        group=str(row.get("group") or ""),
        question=row["question"],
        text=None if reason else row["answer"],
        contexts=contexts,
        truth=truth,
        unscored=reason,
    )


def only_compares(judge: Judge) -> bool:
    """Whether the judge compares texts and can neither split one nor write questions: a baseline or a cross-encoder."""
    return (
        isinstance(judge, str)
        and judge != kit.judging.OWN_TABLE
        and not judge.startswith(verdicts.RECORDED)
        and not is_model_name(model_behind(judge))
    )


def judge_of(judge: Judge, data: readers.Dataset) -> Judge | recorded.Recording:
    """The judge that is asked: for ``recorded`` the verdicts of the data set.

    Raises ``BadInput`` if the data set has none.
    """
    if judge != kit.judging.OWN_TABLE:
        return judge
    rows: list[Any] = kit.judging.own_verdicts(data, "recorded:FILE or baseline/lexical").to_dict("records")
    return recorded.Recording(rows, kit.judging.OWN_TABLE)


def metrics_of(
    metrics: Sequence[str] | str,
    judge: Judge,
    split: str,
    checks: kit.Checks,
    *,
    truths: bool = True,
    lit: Collection[str] = (),
) -> tuple[list[str], list[str]]:
    """The metrics that are computed, in our order, and notes on what the judge cannot do and the table does not allow.

    Where no answer has a ground truth (``truths``), ``auto`` leaves out what needs one, but for what ``lights`` name (``lit``).
    """
    compares = only_compares(judge)
    blind = f"{judge} compares texts and writes none: choose a chat model (openai/MODEL, local/smollm2-135m) or recorded:FILE"
    checks.that(not (compares and split == "claims"), f"split='claims' needs a judge that writes; {blind}")
    if metrics == kit.choosing.AUTO:
        unable = {"answer_relevance"} if compares else set()
        notes = [f"answer_relevance is not computed: its questions are written by the judge, and {blind}."] * compares
        without = [] if truths else [name for name in OF_TRUTHS if name not in lit]
        if without:
            unable |= set(without)
            notes.append(f"No answer has a ground truth: not computed: {', '.join(without)}.")
        return [name for name in METRICS if name not in unable], notes
    named = [metrics] if isinstance(metrics, str) else list(metrics)
    strangers = [str(name) for name in named if name not in METRICS]
    checks.that(named, f"metrics: none was named; there are {', '.join(METRICS)}")
    checks.that(not strangers, f"metrics: {', '.join(strangers)} unknown; there are {', '.join(METRICS)}")
    checks.that(not (compares and "answer_relevance" in named), f"metrics: answer_relevance needs questions; {blind}")
    return [name for name in METRICS if name in named], []
