"""Can the model explain its answers: by a chain of thought that holds, and by sources that are real and say so?

Input: two finished runs, one of ``cot_levels`` and one of ``citation`` (their folders), or the tables of both studies, which are
then run here.

Figure (method document ``explainability``): overall score = 0.5 mean final score of the chains of thought + 0.5 mean final score of the
cited answers; it passes from 0.8 on.  The file ``FINAL_RESULTS_YYYYMMDD.json`` has that document's keys, and the intervals under
``intervals``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from evalbench import core, kit, readers
from evalbench.judge.entail import BASELINE
from evalbench.studies import citation, cot_levels
from evalbench.studies.citation import sources
from evalbench.studies.citation.summary import leading_nowhere, share_nowhere
from evalbench.studies.contract import offered
from evalbench.studies.explainability import inputs, method
from evalbench.studies.explainability.items import THRESHOLD, WEIGHT, calls_of, items_of, texts_of, trials_of, with_sums
from evalbench.studies.explainability.summary import (
    as_bytes,
    check_options,
    final_results,
    judged_measures,
    measures,
    summarise,
)

QUESTION = (
    "Can the model explain its answers: by a chain of thought that holds, and by sources that are real and say so?"
)
MEASURED_BY = {
    **dict.fromkeys(("check_urls", "cot_weights", "citation_weights", "citation_final_weights"), ("*",)),
    **dict.fromkeys(("weight_cot", "weight_citation"), ("XAI_overall_score",)),
    **dict.fromkeys(("cot_threshold", "citation_threshold"), ("passed",)),
    "threshold": (),
}
JUDGED_OPTIONS = (
    *("cot_run", "citation_run", "cot_model", "citation_model", "answered_by"),
    *("cot_prompt", "citation_prompt", "cot_sample_method", "cot_n_samples", "cot_random_state"),
    *("citation_sample_method", "citation_n_samples", "citation_random_state"),
)

SCHEMA: Mapping[str, readers.Table] = {
    "items": readers.Table(
        cot_levels.SCHEMA["items"].columns,
        unique=cot_levels.SCHEMA["items"].unique,
        trials=cot_levels.SCHEMA["items"].trials,
        required=False,
        stem=cot_levels.SCHEMA["items"].stem,
        alone="cot_data",
        help="word problems and responses, as in cot_levels",
    ),
    "answers": readers.Table(
        citation.SCHEMA["answers"].columns,
        unique=citation.SCHEMA["answers"].unique,
        trials=citation.SCHEMA["answers"].trials,
        required=False,
        stem=citation.SCHEMA["answers"].stem,
        alone="citation_data",
        help="questions and cited answers, as in citation",
    ),
    "sources": citation.SCHEMA["sources"],
}


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """GSM8K's and Natural Questions' published files as our tables."""
    return citation.adapt(cot_levels.adapt(frames))


check = sources.check


def evaluate(
    data: readers.Dataset,
    *,
    cot_run: str = "",
    citation_run: str = "",
    model: str = "",
    cot_model: str = "",
    citation_model: str = "",
    answered_by: str = "",
    temperature: float = 0.0,
    max_tokens: int | None = None,
    cot_prompt: str = "",
    citation_prompt: str = "",
    judge: str | Callable[[dict[str, Any]], object] = BASELINE,
    judge_prompt: str = "",
    labels: str = "",
    labels_of: str = "",
    labels_scale: Sequence[float] = (),
    labels_drawn: str = "random",
    correction: str = "",
    check_urls: bool = False,
    cot_sample_method: str = "first",
    cot_n_samples: int = 0,
    cot_random_state: int = 0,
    citation_sample_method: str = "first",
    citation_n_samples: int = 0,
    citation_random_state: int = 0,
    cot_weights: Mapping[str, float] = cot_levels.DEFAULT_WEIGHTS,
    citation_weights: Mapping[str, float] = citation.DEFAULT_WEIGHTS,
    citation_final_weights: Mapping[str, float] = citation.DEFAULT_FINAL_WEIGHTS,
    weight_cot: float = WEIGHT,
    weight_citation: float = WEIGHT,
    cot_threshold: float = THRESHOLD,
    citation_threshold: float = THRESHOLD,
    threshold: float = THRESHOLD,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Combine both halves of explainability.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="explainability")``: what is not taken from a finished run is run on these tables.
    cot_run, citation_run : str
        Folder of a finished run of ``cot_levels``, or empty to run it here; folder of a finished run of ``citation``, or empty to run it here.
    model, cot_model, citation_model : str
        Collect this model's responses and answers (without it the tables' own are scored); whose responses to word problems are
        collected, if not ``model``; whose cited answers are collected, if not ``model``.
    answered_by : str
        Which model of the tables or runs is judged, by default the one that both halves share.  A half that is collected has its own.
    temperature, max_tokens
        Of the responses and the answers; the longest response or answer, by default that of each study.
    cot_prompt, citation_prompt : str
        Your own prompt file for word problems; your own prompt file for questions.
    judge, judge_prompt
        Of the cited answers, where ``citation`` is run here; a folder of your own prompts ``entailment`` and ``correctness``.
    labels, labels_of, labels_scale, labels_drawn, correction
        See :func:`evalbench.kit.labelled.given`.
    check_urls : bool
        Whether cited addresses without a supplied text are fetched from the web.
    cot_sample_method, cot_n_samples, cot_random_state
        The ``first`` word problems, or ``random`` ones; how many word problems, 0 for all; of the random sample.
    citation_sample_method, citation_n_samples, citation_random_state
        The ``first`` questions, or ``random`` ones; how many questions, 0 for all; of the random sample.
    cot_weights : mapping of level to float
        Of ``answer, steps, similarity, coherence`` in the score of a chain of thought.
    citation_weights, citation_final_weights : mapping of str to float
        Weights of a cited answer's interpretability; weights of its final score.
    weight_cot, weight_citation : float
        Weight of the chains of thought; weight of the cited answers.  Not negative, not both 0.
    cot_threshold, citation_threshold, threshold : float
        Mean score of the chains of thought that passes; mean score of the cited answers that passes; overall score that
        passes.  A half taken from a finished run keeps that run's threshold.
    max_unscored : float
        A half with a larger share of unscored items makes the light grey.

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
    parameters = kit.stated(evaluate, {**options, "data": data})
    checks = kit.Checks({name: value for name, value in parameters.items() if value is not None})
    checks.weights("cot_weights", cot_weights, cot_levels.DEFAULT_WEIGHTS)
    checks.weights("citation_weights", citation_weights, citation.DEFAULT_WEIGHTS)
    checks.weights("citation_final_weights", citation_final_weights, citation.DEFAULT_FINAL_WEIGHTS)
    check_options(checks)
    checks.refuse("explainability")
    humans = kit.labelled.given(judged_measures(), **kit.taken(kit.labelled.given, parameters))
    check(data)
    parts = inputs.parts_of(data, inputs.halves_of(data, options))
    items = items_of(parts)
    half = {"items": items["part"] == "cot", "answers": items["part"] == "citation"}
    items, fit, of_labels = inputs.with_labels(
        humans, kit.grouping.carried(items, data, where=half), parts["citation"], seed, n_resamples
    )
    parameters |= {f"{name}_run": Path(str(options[f"{name}_run"])).name for name in parts}
    parameters |= {f"{name}_threshold": float(part.source.parameters["threshold"]) for name, part in parts.items()}
    nowhere, _ = leading_nowhere(parts["citation"].rows, max_unscored)
    parameters |= {"judge": parts["citation"].judge, "cot_unmarked": parts["cot"].unmarked, **fit}
    parameters |= {"citation_nowhere": share_nowhere(parts["citation"].rows)}
    summary = summarise(items, **kit.taken(summarise, parameters))
    content = final_results(summary, parts, parameters)
    judged = dict.fromkeys(part.model for part in parts.values())
    here = [part.source for part in parts.values() if isinstance(part.source, core.Result)]
    result = kit.result_of(
        evaluate,
        inputs.label_of(data, parts, finished=not here),
        parameters,
        items,
        by=("part",),
        judged=f"model {' and '.join(judged)}",
        summary=summary,
        tables={
            **{f"{name}_items": part.items for name, part in parts.items()},
            "texts": texts_of(parts),
            **calls_of(here),
        },
        notes=(*nowhere, *method.notes(summary, content, parts), *of_labels),
        method=method.described(parameters),
        spent=[result.accounting for result in here],
        files={f"FINAL_RESULTS_{datetime.now(UTC):%Y%m%d}.json": as_bytes(content)},
    )
    return kit.trials.Trials().reported(result, trials_of(parts), measures(), with_sums)


globals().update(offered(__name__))
