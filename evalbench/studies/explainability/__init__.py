"""Can the model explain its answers: by a chain of thought that holds, and by sources that are real and say so?

Input: two finished runs, one of ``cot_levels`` and one of ``citation`` (their folders), or the tables of both studies, which are
then run here.

Figure (method document ``explainability``): overall score = 0.5 mean final score of the chains of thought + 0.5 mean final score of the
cited answers; it passes from 0.8 on.  The file ``FINAL_RESULTS_YYYYMMDD.json`` has that document's keys, and the intervals under
``intervals``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core.result import Result
from evalbench.judge.entail import BASELINE
from evalbench.kit.options import Checks, stated, taken
from evalbench.models.accounting import merged
from evalbench.readers.dataset import Dataset
from evalbench.readers.schema import Table
from evalbench.studies import citation, cot_levels
from evalbench.studies.explainability.inputs import label_of, parts_of
from evalbench.studies.explainability.items import THRESHOLD, WEIGHT, items_of, texts_of, with_sums
from evalbench.studies.explainability.method import method, notes
from evalbench.studies.explainability.pictures import final_results_table, picture_halves, picture_scores, worst
from evalbench.studies.explainability.summary import MAX_UNSCORED, as_bytes, final_results, measures, summarise

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "QUESTION",
    "SCHEMA",
    "adapt",
    "evaluate",
    "final_results_table",
    "measures",
    "picture_halves",
    "picture_scores",
    "summarise",
    "with_sums",
    "worst",
]

QUESTION = (
    "Can the model explain its answers: by a chain of thought that holds, and by sources that are real and say so?"
)

SCHEMA: Mapping[str, Table] = {
    "items": Table(
        cot_levels.SCHEMA["items"].columns,
        unique=cot_levels.SCHEMA["items"].unique,
        required=False,
        help="word problems and responses, as in cot_levels",
    ),
    "answers": Table(
        citation.SCHEMA["answers"].columns,
        unique=citation.SCHEMA["answers"].unique,
        required=False,
        help="questions and cited answers, as in citation",
    ),
    "sources": citation.SCHEMA["sources"],
}


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """GSM8K's and Natural Questions' published files as our tables."""
    return citation.adapt(cot_levels.adapt(frames))


def evaluate(
    data: Dataset,
    *,
    cot_run: str = "",
    citation_run: str = "",
    model: str = "",
    answered_by: str = "",
    judge: str | Callable[[dict[str, Any]], object] = BASELINE,
    cot_sample_method: str = "first",
    cot_n_samples: int = 0,
    cot_random_state: int = 0,
    citation_sample_method: str = "first",
    citation_n_samples: int = 0,
    citation_random_state: int = 0,
    weight_cot: float = WEIGHT,
    weight_citation: float = WEIGHT,
    cot_threshold: float = THRESHOLD,
    citation_threshold: float = THRESHOLD,
    threshold: float = THRESHOLD,
    max_unscored: float = MAX_UNSCORED,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Result:
    """Combine both halves of explainability.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="explainability")``: what is not taken from a finished run is run on these tables.
    cot_run, citation_run : str
        Folder of a finished run of ``cot_levels``, or empty to run it here; folder of a finished run of ``citation``, or
        empty to run it here.
    model : str
        Collect this model's responses and answers; without it the tables' own are scored.
    answered_by : str
        Which model of the tables or runs is judged; by default the one that both halves share.
    judge : str or callable
        Of the cited answers, where ``citation`` is run here.
    cot_sample_method, cot_n_samples, cot_random_state
        The ``first`` word problems, or ``random`` ones; how many word problems, 0 for all; of the random sample.
    citation_sample_method, citation_n_samples, citation_random_state
        The ``first`` questions, or ``random`` ones; how many questions, 0 for all; of the random sample.
    weight_cot, weight_citation : float
        Weight of the chains of thought; weight of the cited answers.  Not negative, not both 0.
    cot_threshold, citation_threshold, threshold : float
        Mean score of the chains of thought that passes; mean score of the cited answers that passes; overall score that
        passes.  A half taken from a finished run keeps that run's threshold.
    max_unscored : float
        A half with a larger share of unscored items makes the light grey.
    seed, n_resamples : int

    Returns
    -------
    Result
        ``items``: one row per problem and per answer.  ``files``: ``FINAL_RESULTS_YYYYMMDD.json``.

    Raises
    ------
    BadInput
        For faults of the options, missing tables, folders that hold no such run, or halves without a common model.
    """
    options = dict(locals())
    del options["data"]
    parameters = stated(evaluate, options)
    checks = Checks()
    checks.usual(parameters)
    checks.share(cot_threshold=cot_threshold, citation_threshold=citation_threshold)
    weights = {"weight_cot": weight_cot, "weight_citation": weight_citation}
    checks.weights("weight_cot, weight_citation", weights, weights)
    checks.refuse("explainability")
    runs = {"cot": cot_run, "citation": citation_run}
    parts = parts_of(data, runs, answered_by, options)
    items = items_of(parts)
    parameters |= {f"{name}_run": Path(folder).name for name, folder in runs.items()}
    parameters |= {f"{name}_threshold": float(part.source.parameters["threshold"]) for name, part in parts.items()}
    parameters |= {"judge": parts["citation"].judge, "cot_unmarked": parts["cot"].unmarked}
    summary = summarise(items, **taken(summarise, parameters))
    content = final_results(summary, parts, parameters)
    judged = dict.fromkeys(part.model for part in parts.values())
    here = [part.source for part in parts.values() if isinstance(part.source, Result)]
    return Result(
        study="explainability",
        question=QUESTION,
        judged=f"model {' and '.join(judged)}",
        parameters=parameters,
        data=label_of(data, parts, finished=not here),
        id="id",
        by=("part",),
        items=items,
        summary=summary,
        tables={**{f"{name}_items": part.items for name, part in parts.items()}, "texts": texts_of(parts)},
        notes=tuple(notes(summary, content, parts)),
        method=method(parameters),
        accounting=merged([result.accounting for result in here]),
        files={f"FINAL_RESULTS_{datetime.now(UTC):%Y%m%d}.json": as_bytes(content)},
    )
