"""What is made of responses before anything is averaged: of all of them, or of a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from evalbench import kit, readers
from evalbench.studies.cot_levels import summary
from evalbench.studies.cot_levels.items import items_of

SCHEMA: Mapping[str, readers.Table] = {
    "items": replace(readers.gsm8k.WORD_PROBLEMS, sampled=10_000, dealt=True, part_rows=20_000)
}


def made_of(data: readers.Dataset, options: Mapping[str, Any]) -> kit.parts.Made:
    """Responses, scored: with the counts of :func:`evalbench.studies.cot_levels.summary.counted`.

    - ``options``: Those of the study, and ``reading`` as of :func:`~evalbench.metrics.reasoning.four_levels`.
    """
    data, trials = kit.trials.spread(data, SCHEMA)
    rows = kit.sampling.sampled(data["items"], **kit.taken(kit.sampling.sampled, options))
    how = {"answer_extractor": options["answer_extractor"], "weights": options["weights"], **options["reading"]}

    def score(answered: pd.DataFrame) -> pd.Series:
        return items_of(answered, **how)[0].set_index("id")["final"]

    own = {"purpose": "response", **options}
    found = kit.early.collected(rows, "answer", "word_problem", lambda row: {"question": row["question"]}, score, **own)
    each, tables = items_of(found.answers, **how)
    items, of_trials = trials.averaged(each, "id")
    scored = items if of_trials is None else of_trials
    texts = tables.pop("solutions")
    tables |= kit.collecting.called((), items["id"], found.replies)
    return kit.parts.Made(
        kit.early.placed(items, found.stopped),
        texts,
        tables=tables,
        larger=(*tables,),
        accounting=kit.collecting.accounting_of(found.replies),
        n=len(texts),
        trials=trials,
        rows=of_trials,
        orders={"faulty": scored["coherence"].where((scored["coherence"] < 1) & (scored["n_equations"] > 0)).tolist()},
        sums=summary.counted(texts, tables["faults"], options["answer_markers"]),
        stopped=found.stopped,
    )
