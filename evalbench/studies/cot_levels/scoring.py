"""Responses to levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.errors import BadInput
from evalbench.kit.answers import NO_REFERENCE
from evalbench.metrics.reasoning import (
    CONSTANTS,
    LEVELS,
    Coherence,
    Fault,
    similarity,
    step_coherence,
    steps_ratio_score,
    weighted_mean,
)
from evalbench.text.solutions import Solution, parse_solution, same_number

if TYPE_CHECKING:
    import pandas as pd


class Options(NamedTuple):
    """What shapes an item's score."""

    extractor: str
    markers: tuple[str, ...]
    weights: tuple[float, ...]
    constants: tuple[float, ...]
    article_as_one: bool
    relative_tolerance: float


def options_of(
    extractor: str,
    markers: Sequence[str],
    weights: Mapping[str, float],
    constants: str,
    article_as_one: bool,
    relative_tolerance: float,
) -> Options:
    """Checked options.

    Raises
    ------
    BadInput
        Lists all faults.
    """
    faults = []
    if extractor not in ("strict", "flexible"):
        faults.append(f"answer_extractor is {extractor!r}; strict or flexible")
    if not markers or not all(isinstance(m, str) and m.strip() for m in markers):
        faults.append("answer_markers: at least one text, none blank")
    if set(weights) != set(LEVELS):
        faults.append(f"weights names {', '.join(weights)}; needed are {', '.join(LEVELS)}")
    elif not all(isinstance(w, int | float) and 0 <= w < np.inf for w in weights.values()) or not sum(weights.values()):
        faults.append("weights: numbers from 0, not all 0")
    if not 0 <= relative_tolerance < 1:
        faults.append(f"relative_tolerance is {relative_tolerance}; from 0, below 1")
    if constants in CONSTANTS:
        numbers = CONSTANTS[constants]
    else:
        try:
            numbers = tuple(float(part) for part in constants.split(","))
        except ValueError:
            numbers = (np.nan,)
        if not np.isfinite(numbers).all():
            faults.append(f"common_constants is {constants!r}; {', '.join(CONSTANTS)}, or numbers separated by commas")
    if faults:
        raise BadInput.listing("cot_levels cannot score with these options:", faults)
    return Options(
        extractor,
        tuple(markers),
        tuple(float(weights[level]) for level in LEVELS),
        tuple(numbers),
        bool(article_as_one),
        relative_tolerance,
    )


class Scored(NamedTuple):
    """Items, their steps, the steps' faults and the solutions, each sorted by id and model."""

    items: pd.DataFrame
    steps: pd.DataFrame
    faults: pd.DataFrame
    solutions: pd.DataFrame


def items_of(rows: pd.DataFrame, options: Options) -> Scored:
    """Score the responses of all rows.

    Raises
    ------
    BadInput
        If references have no answer behind a marker; lists them.  An empty reference is none.
    """
    import pandas as pd

    rows = rows.sort_values(["id", "model"], kind="stable")
    references = {text: parse_solution(text, options.markers) for text in rows["reference"].unique()}
    nameless = rows.loc[[t != "" and references[t].strict is None for t in rows["reference"]], "id"].unique()
    if len(nameless):
        raise BadInput.listing(
            f"{len(nameless)} references have no number behind a marker ({', '.join(options.markers)}):",
            [f"id {i}" for i in nameless],
        )
    records: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    faults: list[dict[str, Any]] = []
    ceilings: dict[tuple[str, str], float] = {}
    for row in rows.itertuples(index=False):
        reference = references[row.reference]
        key = (row.question, row.reference)
        if key not in ceilings:
            ceilings[key] = _coherence(reference, row.question, options).score
        shared = {"id": row.id, "model": row.model}
        solution = parse_solution("" if row.unscored else row.response, options.markers)
        coherence = _coherence(solution, row.question, options)
        n_read = sum(bool(e.sides) for e in solution.equations)
        reason = row.unscored or ("unparsed" if solution.equations and not n_read else "")
        records.append(
            shared
            | (_unscored() if row.unscored else _levels(row.response, solution, reference, coherence, options))
            | {
                "n_steps": len(solution.steps),
                "n_reference_steps": len(reference.steps),
                "n_equations": len(solution.equations),
                "n_unread": len(solution.equations) - n_read,
                "reference_coherence": ceilings[key],
                "unscored": reason,
            }
        )
        for check in coherence.steps:
            placed = shared | {"step": check.number}
            faults += [placed | fault._asdict() for fault in check.faults]
            steps.append(placed | check._asdict() | {"equations": "; ".join(check.equations)})
    items = pd.DataFrame(records)
    items["steps"] = np.where(
        items["steps"].isna(), steps_ratio_score(items["n_steps"], items["n_reference_steps"]), items["steps"]
    )
    unscored, no_reference = items["unscored"] != "", (rows["reference"] == "").to_numpy()
    for column in ("steps", "n_steps", "n_equations", "n_unread"):
        items[column] = items[column].mask((rows["unscored"] != "").to_numpy())
    for column in (*_BY_REFERENCE, "n_reference_steps"):
        items[column] = items[column].mask(no_reference)
    # Nothing of a response without a readable equation is scored but what its final answer says.
    for column in ("steps", "similarity", "coherence", "accuracy", "sourced"):
        items[column] = items[column].mask(unscored)
    # Level 4 alone is no final score: where a reference is missing there is none.
    items["final"] = weighted_mean(items[list(LEVELS)].to_numpy(), options.weights)
    items["final"] = items["final"].mask(unscored | no_reference)
    no_equation = items["coherence"].isna()
    items["undefined"] = np.select([unscored, no_reference, no_equation], ["", NO_REFERENCE, NO_EQUATION], default="")
    step_columns = ["id", "model", "step", "text", "equations", "accurate", "coherent"]
    step_table = pd.DataFrame(steps, columns=step_columns)
    flags = step_table[["accurate", "coherent"]].astype("boolean")
    solutions = rows[["id", "model", "question", "reference", "response"]].reset_index(drop=True)
    columns = ["id", "model", "final", *LEVELS, "answer_strict", "answer_flexible", "accuracy", "sourced", "marked"]
    rest = [c for c in items.columns if c not in columns]
    return Scored(
        items[[*columns, *rest]],
        step_table.assign(**flags),
        pd.DataFrame(faults, columns=["id", "model", "step", *Fault._fields]),
        solutions,
    )


def _coherence(solution: Solution, question: str, options: Options) -> Coherence:
    return step_coherence(
        solution,
        question,
        article_as_one=options.article_as_one,
        common_constants=options.constants,
        relative_tolerance=options.relative_tolerance,
    )


def _levels(
    response: str, solution: Solution, reference: Solution, coherence: Coherence, options: Options
) -> dict[str, float]:
    """The levels of one response; ``steps`` is filled in for all at once, except where the response is empty."""
    if not response.strip():
        return dict.fromkeys(_SCORES, 0.0) | {"marked": np.nan}
    strict = float(same_number(solution.strict, reference.strict))
    flexible = float(same_number(solution.flexible, reference.strict))
    return {
        "answer": strict if options.extractor == "strict" else flexible,
        "answer_strict": strict,
        "answer_flexible": flexible,
        "steps": np.nan,
        "similarity": similarity(solution, reference),
        "coherence": coherence.score,
        "accuracy": coherence.accuracy,
        "sourced": coherence.coherence,
        "marked": float(solution.strict is not None),
    }


NO_EQUATION = "no equation, level 4 has no value"
_BY_REFERENCE = ("answer", "answer_strict", "answer_flexible", "steps", "similarity")
_SCORES = (
    "answer",
    "answer_strict",
    "answer_flexible",
    "steps",
    "similarity",
    "coherence",
    "accuracy",
    "sourced",
    "marked",
)


def _unscored() -> dict[str, float]:
    return dict.fromkeys(_SCORES, np.nan)
