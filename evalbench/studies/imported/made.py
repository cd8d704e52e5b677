"""What is made of answers and scores before anything is averaged over them: of all rows, or of a part of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from evalbench import kit, readers
from evalbench.readers.dealt import OF_ALL, Values, values_of
from evalbench.studies.imported import inputs
from evalbench.studies.imported.items import items_of, reasons_of, texts_of

BY_TRIAL = ("model", readers.schema.TRIAL)
SCORES, REASONS, LOST, PARTED, ORIGINALS = "scores", "reasons", "lost", "parted", "originals"


def made_of(data: readers.Dataset, options: Mapping[str, Any]) -> kit.parts.Made:
    """The items of every answer, and what tables and notes rest on.

    - ``options``: ``forms`` of all rows; ``parted``: the columns that figures of the tool are of a part of.

    Returns: With the scores, the counts of :func:`reasons_of` and of reasons alone, the answers with the columns ``parted``, and the units of
    copies with those of their originals.
    """
    forms = options["forms"]
    found = inputs.given(data, forms)
    answered = replace(data, tables={**data.tables, "items": _knowing(found.rows, data)})
    judged, trials = kit.trials.spread(answered, inputs.SCHEMA)
    each = items_of(judged["items"], forms.metrics).sort_values(["id", "model"], kind="stable", ignore_index=True)
    items, rows = trials.averaged(each, "id")
    scores = found.scores if trials.groups else found.scores.drop(columns=readers.schema.TRIAL, errors="ignore")
    lost = found.scores.loc[found.scores["unscored"] != "", "unscored"].value_counts()
    parted = [name for name in options["parted"] if name in found.rows]
    tables = {
        SCORES: scores,
        REASONS: reasons_of(trials.named(each), found.scores, forms.metrics),
        LOST: pd.DataFrame({"reason": lost.index, "n": lost.to_numpy()}),
        ORIGINALS: pd.DataFrame({"unit": [*found.originals], "original": [*found.originals.values()]}, dtype=object),
    }
    shown, failed = items if rows is None else rows, found.scores.loc[found.scores["unscored"] != "", "id"]
    return kit.parts.Made(
        items,
        texts_of(judged["items"]),
        tables={**tables, PARTED: found.rows[["id", "model", *parted]]} if parted else tables,
        notes=found.notes,
        n=len(found.scores),
        trials=_by_unit(trials, found.rows) if forms.hashed else trials,
        rows=rows,
        orders={"failed": np.where(shown["id"].isin(failed), np.arange(len(shown)), np.nan).tolist()},
        data=replace(data, tables={**data.tables, "items": found.rows}),
    )


def _knowing(rows: pd.DataFrame, part: readers.Dataset) -> pd.DataFrame:
    """The answers of a part, which know the models and trials of all rows."""
    rows.attrs = dict(part["items"].attrs)
    if inputs.trials_apart(part):
        rows.attrs = {}
        rows.attrs = {OF_ALL: Values({BY_TRIAL: values_of(rows, BY_TRIAL) or []})}
    return rows


def _by_unit(trials: kit.trials.Trials, rows: pd.DataFrame) -> kit.trials.Trials:
    """The answers of trials under the column that names an item of the result."""
    if trials.answers is None:
        return trials
    units = rows.drop_duplicates("id").set_index("id")[inputs.UNIT]
    answers = trials.answers.assign(**{inputs.UNIT: trials.answers["id"].map(units)}).drop(columns="id")
    return replace(trials, answers=answers)
