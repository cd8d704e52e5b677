"""Replies read strictly, and the entities that they find, as items."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from evalbench import readers
from evalbench.studies.ner_variants import inputs
from evalbench.text.occurrences import comparable

COUNTS = ("n_true", "n_predicted", "hits")


def wording(requests: str, description: str) -> str:
    """A wording in words.

    Examples
    --------
    >>> wording("all", "none"), wording("one", "examples")
    ('all, name only', 'one, examples')
    """
    return f"{requests}, {'name only' if description == 'none' else description}"


def items_of(known: inputs.Known, form: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row per text, wording and class, and the replies with what was read in them."""
    names = known.classes["entity_class"].tolist()
    folded = {name.casefold() for name in names}
    rows, read = [], []
    order = ["id", "model", "requests", "description", "entity_class"]
    row: Any
    for row in known.replies.sort_values(order, kind="stable").itertuples(index=False):
        classes = [row.entity_class] if row.entity_class else names
        found, why = _read(row.answer, form, classes) if not row.unscored else (readers.listed.Listed((), ()), "")
        unscored = row.unscored or ("unparsed" if why else "")
        said: dict[str, Counter[str]] = {name: Counter() for name in classes}
        for string, name in found.entities:
            said[name][comparable(string)] += 1
        shared = {"id": row.id, "model": f"{row.model}, {wording(row.requests, row.description)}"}
        read.append(
            {
                **shared,
                "entity_class": row.entity_class,
                "answer": row.answer,
                "n_listed": len(found.entities),
                "n_others": len(found.others),
                "n_turned": sum(string in names for string, _ in found.others),
                "n_case": sum(name.casefold() in folded for _, name in found.others),
                "unscored": unscored,
                "why": why,
            }
        )
        for name in classes:
            true = known.true.get((row.id, name), Counter())
            counts = (true.total(), said[name].total(), (true & said[name]).total())
            rows.append(
                {
                    **shared,
                    "entity_class": name,
                    **dict(zip(COUNTS, [np.nan] * 3 if unscored else counts, strict=True)),
                    "asked": row.model,
                    "requests": row.requests,
                    "description": row.description,
                    "unscored": unscored,
                    "undefined": "",
                }
            )
    return pd.DataFrame(rows), pd.DataFrame(read)


def _read(reply: str, form: str, classes: list[str]) -> tuple[readers.listed.Listed, str]:
    try:
        return readers.listed.listed(reply, form, classes), ""
    except readers.listed.Unparsed as error:
        return readers.listed.Listed((), ()), str(error)
