"""What is made of answers before anything is averaged: of all of them, or of a part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalbench import kit, readers
from evalbench.models.accounting import embeddings_counted, merged
from evalbench.studies.rag_generation import inputs, judged, method
from evalbench.studies.rag_generation.items import items_of, tables_of


def made_of(data: readers.Dataset, options: Mapping[str, Any]) -> kit.parts.Made:
    """Answers, judged: with the counts of :func:`evalbench.studies.rag_generation.method.counted`, ordered by the mean of their metrics."""
    data, trials = kit.trials.spread(data, inputs.SCHEMA)
    metrics = options["metrics"]
    answers = inputs.answers_of(kit.sampling.sampled(data["answers"], **kit.taken(kit.sampling.sampled, options)))
    docket = kit.judging.Docket(
        options["by"],
        prompt=options["judge_prompt"],
        seed=options["seed"],
        max_tokens=options["judge_max_tokens"],
        documents=kit.documents.documents_of(data.tables, options["judge"]),
    )
    cases = judged.cases_of(answers, docket, metrics, split=options["split"], n_questions=options["n_questions"])
    with embeddings_counted() as spent:
        notes = judged.compared(cases, options["embed"])
    heard = docket.heard()
    each = items_of(cases, metrics)
    items, rows = trials.averaged(each, "id")
    tables = {**tables_of(cases, metrics), **kit.collecting.called([heard], items["id"])}
    return kit.parts.Made(
        items,
        tables.pop("texts"),
        tables=tables,
        larger=(*tables,),
        notes=tuple(notes),
        accounting=merged([heard.accounting, *spent]),
        n=len(cases),
        trials=trials,
        rows=rows,
        judge=heard.judge,
        prompts=kit.parts.prompts_of(heard),
        sums=method.counted(cases),
        orders={"mean": (items if rows is None else rows)[metrics].mean(axis=1)},
    )
