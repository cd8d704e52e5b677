"""Responses to items: levels, steps and what is wrong with them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import errors, kit
from evalbench.metrics import coherence, reasoning
from evalbench.text.final_answers import another_marker, bare_marked
from evalbench.text.solutions import parse_solution

KEYS = ("id", "model")
COLUMNS = {level: "correct" if level == "answer" else level for level in reasoning.LEVELS}
"""The column of each level: that of the answer says whether it is right."""
NO_EQUATION = "no equation, level 4 has no value"
NOTHING: dict[str, Any] = {
    name: np.nan for name in reasoning.Levels._fields if name not in ("n_reference_steps", "checks")
}


def items_of(
    rows: pd.DataFrame, answer_extractor: str, weights: Mapping[str, float], **reading: Any
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Score the responses of all rows; ``reading`` as of :func:`~evalbench.metrics.reasoning.four_levels`.

    Returns: Their ``steps``, the ``faults`` of steps and the ``solutions``, each sorted by id and model.

    Raises ``BadInput`` if references have no answer behind a marker; lists them. An empty reference is none.
    """
    levels: Callable[..., reasoning.Levels] = functools.partial(reasoning.four_levels, **reading)
    ceiling = functools.cache(lambda question, reference: levels(reference, reference, question).coherence)
    rows = rows.sort_values([*KEYS], kind="stable", ignore_index=True)
    check_references(rows, reading["markers"])
    rows["reference"] = [bare_marked(text, reading["markers"]) for text in rows["reference"]]
    records, steps, faults = [], [], []
    row: Any
    for row in rows.itertuples(index=False):
        seen = levels("" if row.unscored else row.answer, row.reference, row.question)
        known = seen._replace(**NOTHING) if row.unscored else seen
        named = {"id": row.id, "model": row.model}
        best = ceiling(row.question, row.reference) if row.reference else np.nan
        records.append({**named, **known._asdict(), "reference_coherence": best})
        for check in seen.checks:
            placed = {**named, "step": check.number}
            steps.append({**placed, **check._asdict(), "equations": "; ".join(check.equations)})
            faults += [{**placed, **fault._asdict()} for fault in check.faults]
    items = pd.DataFrame(records).drop(columns="checks")
    items["correct"] = items[f"answer_{answer_extractor}"]
    unparsed = (items["n_equations"] > 0) & (items["n_unread"] == items["n_equations"])
    items["unscored"] = rows["unscored"].mask(unparsed, "unparsed")
    unscored, no_reference = items["unscored"] != "", rows["reference"] == ""
    # Level 4 alone is no final score: where a reference is missing there is none.
    final = reasoning.weighted_mean(items[list(COLUMNS.values())].to_numpy(), [weights[level] for level in COLUMNS])
    items["final"] = np.where(unscored | no_reference, np.nan, final)
    missing = [unscored, no_reference, items["coherence"].isna()]
    items["undefined"] = np.select(missing, ["", kit.answers.NO_REFERENCE, NO_EQUATION], default="")
    first = [*KEYS, "final", *COLUMNS.values()]
    columns = [*KEYS, "step", *(name for name in coherence.StepCheck._fields if name not in ("number", "faults"))]
    return items[[*first, *(name for name in items if name not in first)]], {
        "steps": pd.DataFrame(steps, columns=columns).astype({"accurate": "boolean", "coherent": "boolean"}),
        "faults": pd.DataFrame(faults, columns=[*KEYS, "step", *coherence.Fault._fields]),
        "solutions": rows[[*KEYS, "question", "reference", "answer"]],
    }


def check_references(rows: pd.DataFrame, markers: Sequence[str]) -> None:
    """Refuse references without an answer: all of them, with the marker that they have instead."""
    given = [bare_marked(text, tuple(markers)) for text in rows["reference"].unique() if text]
    lacking = {text for text in given if parse_solution(text, tuple(markers)).strict is None}
    names = rows.loc[rows["reference"].isin(lacking), "id"].unique()
    if len(names):
        head = f"{len(names)} references have no number behind a marker ({', '.join(markers)})"
        raise errors.BadInput.listing(
            f"{head}{another_marker(lacking, markers)}:", [f"id {name}" for name in names], headed=True
        )
