"""Both halves to items: one row per problem and per answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalbench import core, kit, readers
from evalbench.studies.explainability import inputs

THRESHOLD = 0.8
WEIGHT = 0.5


def items_of(parts: Mapping[str, inputs.Part]) -> pd.DataFrame:
    """``id, part, score, unscored, undefined``, sorted by id and part."""
    frames = [part.items.rename(columns={"final": "score"}).assign(part=name) for name, part in parts.items()]
    items = pd.concat(frames)
    repeated = [name for name in kit.trials.COUNTS if name in items]
    items[repeated] = items[repeated].fillna({kit.trials.COUNTS[0]: 1, kit.trials.COUNTS[1]: 0}).astype(int)
    items = items[["id", "part", "score", "unscored", "undefined", *repeated]]
    return items.sort_values(["id", "part"], kind="stable", ignore_index=True)


def trials_of(parts: Mapping[str, inputs.Part]) -> pd.DataFrame | None:
    """One row per trial of both halves, an answer that was not repeated being the only one; None where none was."""
    if all(part.trials is None for part in parts.values()):
        return None
    frames = [
        (part.items.assign(**{readers.schema.TRIAL: "1"}) if part.trials is None else part.trials).assign(part=name)
        for name, part in parts.items()
    ]
    rows = pd.concat(frames).rename(columns={"final": "score"})
    rows = rows[["id", "part", readers.schema.TRIAL, "score", "unscored", "undefined"]]
    return rows.sort_values(["id", "part"], kind="stable", ignore_index=True)


def texts_of(parts: Mapping[str, inputs.Part]) -> pd.DataFrame:
    """Question, right answer and the model's answer of every item: ``id, part, question, reference, answer``."""
    found = pd.concat([part.texts.assign(part=name) for name, part in parts.items()])
    found = found[["id", "part", "question", "reference", "answer"]]
    return found.sort_values(["id", "part"], kind="stable", ignore_index=True)


def calls_of(results: Sequence[core.Result]) -> dict[str, pd.DataFrame]:
    """The table ``calls`` of what models and judges were asked in the halves that are run here."""
    calls = [result.tables["calls"] for result in results if "calls" in result.tables]
    return {"calls": pd.concat(calls, ignore_index=True)} if calls else {}


def weights_of(cot: float, citation: float) -> dict[str, float]:
    """The weight of each half; together 1."""
    return dict(zip(inputs.PARTS, (np.array([cot, citation]) / (cot + citation)).tolist(), strict=True))


def with_sums(
    items: pd.DataFrame,
    *,
    weight_cot: float = WEIGHT,
    weight_citation: float = WEIGHT,
    cot_threshold: float = THRESHOLD,
    citation_threshold: float = THRESHOLD,
) -> pd.DataFrame:
    """The items with what the measures sum beside their columns: who passed, and each half's weighted scores.

    A half without weight counts 0 whatever its scores.
    """
    scored = items["score"].notna()
    columns = {}
    for name, weight in weights_of(weight_cot, weight_citation).items():
        here = items["part"] == name
        columns[f"{name}_weighted"] = (weight * items["score"]).where(here, 0.0).where(scored)
        columns[f"{name}_n"] = (here | (weight == 0)).astype(float).where(scored)
    thresholds = items["part"].map({"cot": cot_threshold, "citation": citation_threshold})
    return items.assign(passed=kit.verdicts.reaches(items["score"], thresholds), **columns)
