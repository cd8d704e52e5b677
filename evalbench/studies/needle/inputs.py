"""Replies to score: a recorded table, or those of a model that is asked about contexts made here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.models.exchange import Reply
from evalbench.studies.needle import haystack

MOST_LENGTHS, MOST_DEPTHS = 10, 11
"""More distinct lengths or depths are gathered into so many groups."""


class Replies(NamedTuple):
    """Replies with what was expected, and what a reader should know of them."""

    rows: pd.DataFrame
    calls: Sequence[Reply]
    notes: tuple[str, ...]


def planned(
    data: readers.Dataset,
    *,
    kinds: Sequence[str] = (),
    lengths: Sequence[int] = (),
    needles_per_context: int = 1,
    tokenizer: str = "",
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
) -> haystack.Plan:
    """What a model would be asked.

    Raises ``BadInput``: Without needles and haystacks, or where contexts cannot be made of them.
    """
    needles, texts = data.get("needles"), data.get("haystacks")
    missing = [name for name, table in (("needles", needles), ("haystacks", texts)) if table is None or table.empty]
    if needles is None or texts is None or missing:
        raise errors.BadInput(
            f"to ask a model, the data need the tables needles and haystacks; missing: {', '.join(missing)}"
        )
    chosen = kit.sampling.sampled(needles, sample_method, n_samples, random_state)
    return haystack.plan_of(
        chosen, texts, kinds=kinds, lengths=lengths, per_context=needles_per_context, tokenizer=tokenizer
    )


def asked_of(
    data: readers.Dataset,
    model: str,
    depths: Sequence[float],
    plan: haystack.Plan,
    lengths: Sequence[int],
    **settings: Any,
) -> Replies:
    """A model's replies to every cell of the grid; those that are kept already are not asked for again."""
    cells = pd.DataFrame(haystack.cells_of(plan, lengths, depths))
    rows, replies = kit.collecting.collected(
        cells,
        "answer",
        "needle",
        lambda row: {"context": row["context"], "questions": row["questions"]},
        model=model,
        purpose="reply",
        **settings,
    )
    return Replies(rows.drop(columns=["context", "questions"]), replies, (f"Replies of {model} were collected.",))


def recorded(data: readers.Dataset, **sample: Any) -> Replies:
    """The table's own replies.

    Raises ``BadInput``: Without a table of replies.
    """
    table = data.get("items")
    if table is None:
        raise errors.BadInput(
            "there is no table items (id, length, depth, reference, answer); give one, or a model to ask (--model)"
        )
    rows, _ = kit.collecting.collected(
        kit.sampling.sampled(kit.collecting.given(table, "answer", "replies"), **sample), "answer", "needle", dict
    )
    notes = []
    if "depth" in rows and (rows["depth"] > 1).any():
        rows["depth"] = rows["depth"] / 100
        notes.append("Depths above 1 are there, so that all were read as percent.")
    return Replies(*_by_question(rows, notes))


def _by_question(rows: pd.DataFrame, notes: list[str]) -> tuple[pd.DataFrame, Sequence[Reply], tuple[str, ...]]:
    """Replies whose table names no needle, named after their question where it repeats; and what was guessed."""
    named = "needle" in rows and (rows["needle"] != "").any()
    asked = rows["question"].fillna("").str.strip() if "question" in rows else None
    if named or asked is None or not (asked != "").all():
        return rows, (), tuple(notes)
    same = [asked, rows["reference"].map(tuple)]
    first = rows.groupby(same, sort=False)["id"].transform("min")
    n, of = first[rows["reference"].map(bool)].nunique(), core.counted(rows["id"].nunique(), "reply", "replies")
    if n == 1 < rows["id"].nunique():
        notes.append(f"All {of} are to one question: intervals are over its replies, and say nothing of other facts.")
    elif n < rows["id"].nunique():
        notes.append(
            f"The table names no needle: the {of} to {n} questions are drawn together by question and expected answer."
        )
        rows = rows.assign(needle=first)
    return rows, (), tuple(notes)


def gathered(values: pd.Series, most: int) -> tuple[pd.Series, int]:
    """Values as they are, or where there are more distinct ones, the median of the group of each; and how many groups.

    Examples
    --------
    >>> import pandas as pd
    >>> gathered(pd.Series([1.0, 2.0, 3.0, 4.0]), 2)
    (0    1.5
    1    1.5
    2    3.5
    3    3.5
    dtype: float64, 2)
    """
    distinct = np.unique(values.dropna().to_numpy(float))
    if len(distinct) <= most:
        return values.astype(float), 0
    groups = pd.Series(
        np.searchsorted(np.quantile(distinct, np.arange(1, most) / most), values, side="left"), values.index
    )
    groups = groups.where(values.notna())
    return values.astype(float).groupby(groups).transform("median"), int(groups.nunique())
