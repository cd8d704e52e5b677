"""What is made of cited answers before anything is averaged: of all of them, or of a part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalbench import kit, readers
from evalbench.studies.citation import inputs, method, sources
from evalbench.studies.citation.inputs import SCHEMA
from evalbench.studies.citation.items import KEYS, TEXTS, items_of, judged

_LOWEST = "lowest citation"


def made_of(data: readers.Dataset, options: Mapping[str, Any]) -> kit.parts.Made:
    """Answers, judged: with the counts of :func:`evalbench.studies.citation.method.counted`, ordered by their least good citation.

    - ``options``: Those of the study, and its ``credibility`` as read.
    """
    data, trials = kit.trials.spread(data, SCHEMA)
    rows, supplied = (
        kit.sampling.sampled(data["answers"], **kit.taken(kit.sampling.sampled, options)),
        data.get("sources"),
    )
    settings = {name: options[name] for name in ("prompt", "temperature", "max_tokens", "seed")}
    answers, replies = inputs.answers_of(rows, supplied, options["model"], **settings)
    shelf = sources.Shelf(sources.reached(supplied, answers) if options["in_parts"] else supplied)
    pages = sources.fetched(answers, shelf, options["allow_hosts"]) if options["check_urls"] else {}
    evidence = sources.evidence_of(answers, shelf, pages, **kit.taken(sources.evidence_of, options))
    docket = kit.judging.Docket(
        options["judge"],
        prompt=options["judge_prompt"],
        seed=options["seed"],
        max_tokens=options["judge_max_tokens"],
        documents=kit.documents.documents_of(data.tables, options["judge"]),
    )
    found = judged(evidence, docket, options["credibility"])
    heard = docket.heard()
    lowest = found.citations[["support", "verification"]].mean(axis=1).groupby([found.citations[k] for k in KEYS]).min()
    each = items_of(evidence, found, options).merge(lowest.rename(_LOWEST), how="left", on=KEYS)
    items, of_trials = trials.averaged(each, "id")
    own = items if of_trials is None else of_trials
    order = own[_LOWEST]
    tables = {"citations": found.citations, "statements": found.statements, **sources.pages_table(pages)}
    tables |= kit.collecting.called([heard], items["id"], replies)
    return kit.parts.Made(
        items.drop(columns=_LOWEST),
        found.answers[TEXTS],
        tables=tables,
        larger=(*tables,),
        accounting=kit.collecting.accounting_of(replies, [heard]),
        n=len(answers),
        trials=trials,
        rows=None if of_trials is None else of_trials.drop(columns=_LOWEST),
        judge=heard.judge,
        prompts=kit.parts.prompts_of(heard),
        sums=method.counted(found.citations),
        orders={"citation": order.tolist(), "cited": own["final"].where(own["n_citations"] > 0).tolist()},
    )
