"""What is made of runs and judgements before anything is averaged: of all queries, or of a part of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalbench import kit, readers
from evalbench.studies.rag_retrieval import figures, inputs, odd_runs, tables
from evalbench.studies.rag_retrieval.items import Rules, items_of, ranked

GRADES, NAMES, ROWS, ODD, TURNED, PASSAGES = "grades", "names", "rows", "odd", "turned", "passages"


def made_of(data: readers.Dataset, options: Mapping[str, Any]) -> kit.parts.Made:
    """The items of every query and run, and what tables and notes rest on.

    Returns: With the tables of :func:`inputs.counted`, :func:`odd_runs.counted`, :func:`tables.turned_round`, the counts of
    :func:`tables.grades_of`, and the passages of the queries that may be shown.

    Raises ``BadInput``: For runs without an order, and grades above the scale of figures that need one.
    """
    k, depths = options["k"], sorted({*options["ks"], options["k"]})
    data, trials = kit.trials.spread(data, inputs.SCHEMA)
    found, rules = inputs.given(data), Rules(**kit.taken(Rules, options))
    if {*options["metrics"]} & {*figures.NEED_SCALE}:
        inputs.within_scale(found.qrels, options["max_grade"])
    rankings = {name: ranked(run, found.qrels, rules) for name, run in found.runs.items()}
    each = items_of(found, rankings, figures.figures_of(options["metrics"], depths), depths, rules)
    items, rows = trials.averaged(each, "id")
    first = figures.Figure(options["metrics"][0], k)
    shown = tables.shown(items, each, first.name)
    return kit.parts.Made(
        items,
        tables={
            **inputs.counted(data, found),
            GRADES: tables.grades_of(found, rankings, k),
            ODD: odd_runs.counted(found, options["relevant_from"]),
            TURNED: tables.turned_round(found, rankings, first, rules),
            PASSAGES: tables.passages_of(found, shown, k, rules),
        },
        trials=trials,
        rows=rows,
    )
