"""The responses that are scored: those of the table, or collected from a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.kit.answers import answer_of, why_unscored
from evalbench.kit.sampling import sample_ids

if TYPE_CHECKING:
    import pandas as pd

LANGUAGES = ("en", "ru", "zh")
UNNAMED = "response"


@dataclass(frozen=True)
class Collected:
    """Rows ``id, model, question, reference, response, unscored`` and what collecting them took."""

    rows: pd.DataFrame
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    accounting: Mapping[str, Any] = field(default_factory=dict)


def sampled(items: pd.DataFrame, method: str, n: int, random_state: int) -> pd.DataFrame:
    """The rows of the sampled problems."""
    chosen = set(sample_ids(items["id"].tolist(), method, n, random_state))
    return items[items["id"].isin(chosen)]


def given(items: pd.DataFrame) -> Collected:
    """The table's own responses.

    Raises
    ------
    BadInput
        If it has none.
    """
    if "response" not in items:
        raise BadInput("the table has no column response; give one, or a model to collect responses from (--model)")
    named = items if "model" in items else items.assign(model=UNNAMED)
    return Collected(named.assign(unscored=why_unscored(named["response"])))


def collected(
    items: pd.DataFrame, model: str, *, prompt: str, temperature: float, max_tokens: int, seed: int
) -> Collected:
    """One response per problem, asked of a model; replies are kept, a second run asks only for what is missing."""
    import pandas as pd

    from evalbench.models.accounting import accounting, calls_table
    from evalbench.models.chat.collect import collect
    from evalbench.models.exchange import Request
    from evalbench.models.prompts import load_prompt

    problems = items.drop_duplicates("id")
    codes = problems["lang"] if "lang" in problems else [""] * len(problems)
    requests = []
    for name, question, code in zip(problems["id"], problems["question"], codes, strict=True):
        template = load_prompt("word_problem", code if code in LANGUAGES else "en", prompt or None)
        requests.append(
            Request(
                template.render(question=question),
                temperature=temperature,
                max_tokens=max_tokens,
                seed=seed,
                item_id=name,
                purpose="response",
                prompt_hash=template.sha256,
            )
        )
    replies = collect(requests, model)
    responses = pd.Series([answer_of(reply) for reply in replies], problems.index, dtype=object)
    rows = problems[["id", "question", "reference"]].assign(
        model=model, response=responses, unscored=why_unscored(responses, replies)
    )
    return Collected(
        rows,
        {"calls": calls_table(replies)},
        (f"Responses of {model} were collected with the prompt word_problem.",),
        accounting(replies),
    )
