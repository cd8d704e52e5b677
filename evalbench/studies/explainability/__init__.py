"""Can the model explain its answers: by a chain of thought that holds, and by sources that are real and say so?

Input: two finished runs, one of ``cot_levels`` and one of ``citation`` (their folders), or the tables of both studies, which are
then run here.

Figure (fourth document of the seeds): overall score = 0.5 mean final score of the chains of thought + 0.5 mean final score of the
cited answers; it passes from 0.8 on.  The file ``FINAL_RESULTS_YYYYMMDD.json`` has the seed's keys, and the intervals under
``intervals``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core.result import Result, Summary
from evalbench.errors import BadInput
from evalbench.kit.answers import NO_REFERENCE
from evalbench.models.accounting import merged
from evalbench.readers.dataset import Dataset
from evalbench.readers.schema import Table
from evalbench.studies import citation, cot_levels
from evalbench.studies._passing import check_shares
from evalbench.studies.explainability.parts import (
    Part,
    check_tables,
    chosen_models,
    finished,
    items_of,
    label_of,
    models_of,
    only,
    part_of,
    texts_of,
)
from evalbench.studies.explainability.pictures import final_results_table, picture_halves, picture_scores, worst
from evalbench.studies.explainability.summary import as_bytes, final_results, measures, summarise, with_sums

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
]  # fmt: skip

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
    judge: str | Callable[[dict[str, Any]], object] = "baseline/lexical",
    cot_sample_method: str = "first",
    cot_n_samples: int = 0,
    cot_random_state: int = 0,
    citation_sample_method: str = "first",
    citation_n_samples: int = 0,
    citation_random_state: int = 0,
    weight_cot: float = 0.5,
    weight_citation: float = 0.5,
    cot_threshold: float = 0.8,
    citation_threshold: float = 0.8,
    threshold: float = 0.8,
    max_unscored: float = 0.05,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Result:
    """Combine both halves of explainability.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="explainability")``: what is not taken from a finished run is run on these tables.
    cot_run, citation_run : str
        Folders of finished runs.
    model : str
        Collect this model's responses and answers; without it the tables' own are scored.
    answered_by : str
        Which model of the tables or runs is judged; by default the one that both halves share.
    judge : str or callable
        Of the cited answers, where ``citation`` is run here.
    cot_sample_method, cot_n_samples, cot_random_state, citation_sample_method, citation_n_samples, citation_random_state
        The samples, where the halves are run here.
    weight_cot, weight_citation : float
        Not negative, not both 0.
    cot_threshold, citation_threshold, threshold : float
        Where each half and the whole pass; a half taken from a finished run keeps that run's threshold.
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
    check_shares(
        threshold=threshold,
        max_unscored=max_unscored,
        cot_threshold=cot_threshold,
        citation_threshold=citation_threshold,
    )
    if min(weight_cot, weight_citation) < 0 or weight_cot + weight_citation == 0:
        raise BadInput(f"weight_cot {weight_cot} and weight_citation {weight_citation}: not negative, not both 0")
    check_tables(data, cot_run, citation_run)
    runs = {"cot": finished(cot_run, "cot_levels"), "citation": finished(citation_run, "citation")}
    tables = {"cot": "items", "citation": "answers"}
    models = {
        name: sorted(run.items["model"].unique()) if run else models_of(data.get(tables[name]), model)
        for name, run in runs.items()
    }
    chosen = chosen_models(models, answered_by)
    shared: dict[str, Any] = {"model": model, "max_unscored": max_unscored, "seed": seed, "n_resamples": n_resamples}
    cot = runs["cot"] or cot_levels.evaluate(
        only(data, "items", chosen["cot"]),
        sample_method=cot_sample_method,
        n_samples=cot_n_samples,
        random_state=cot_random_state,
        threshold=cot_threshold,
        **shared,
    )
    cited = runs["citation"] or citation.evaluate(
        only(data, "answers", chosen["citation"]),
        judge=judge,
        sample_method=citation_sample_method,
        n_samples=citation_n_samples,
        random_state=citation_random_state,
        threshold=citation_threshold,
        **shared,
    )
    parts = {"cot": part_of(cot, chosen["cot"]), "citation": part_of(cited, chosen["citation"])}
    items = items_of(parts)
    options = {
        "weight_cot": weight_cot, "weight_citation": weight_citation, "cot_threshold": parts["cot"].threshold,
        "citation_threshold": parts["citation"].threshold, "threshold": threshold, "max_unscored": max_unscored,
        "judge": parts["citation"].judge, "cot_unmarked": parts["cot"].unmarked, "seed": seed, "n_resamples": n_resamples,
    }  # fmt: skip
    summary = summarise(items, **options)
    content = final_results(summary, parts, options)
    today = datetime.now(UTC).strftime("%Y%m%d")
    judged = list(dict.fromkeys(part.model for part in parts.values()))
    here = [result for result in (cot, cited) if isinstance(result, Result)]
    return Result(
        study="explainability",
        question=QUESTION,
        judged=f"model {' and '.join(judged)}",
        parameters={
            "cot_run": Path(cot_run).name, "citation_run": Path(citation_run).name, "model": model, "answered_by": answered_by,
            "cot_sample_method": cot_sample_method, "cot_n_samples": cot_n_samples, "cot_random_state": cot_random_state,
            "citation_sample_method": citation_sample_method, "citation_n_samples": citation_n_samples,
            "citation_random_state": citation_random_state, **options,
        },
        data=label_of(data, parts, bool(cot_run and citation_run)),
        id="id",
        by=("part",),
        items=items,
        summary=summary,
        tables={
            **{f"{name}_items": part.items for name, part in parts.items()},
            "texts": texts_of({"cot": cot, "citation": cited}, chosen),
        },
        notes=tuple(dict.fromkeys([*(note for result in here for note in result.notes), *_remarks(summary, content, parts)])),
        method=_method(options),
        accounting=merged([r.accounting for r in here if r.accounting]),
        files={f"FINAL_RESULTS_{today}.json": as_bytes(content)},
    )  # fmt: skip


def _remarks(summary: Summary, content: Mapping[str, Any], parts: Mapping[str, Part]) -> list[str]:
    """What the halves do not share or lack, and why the file may say pass where the light does not."""
    out = []
    if parts["cot"].model != parts["citation"].model:
        out.append(
            f"The halves are of two models: the chains of thought of {parts['cot'].model}, the cited answers of {parts['citation'].model}."
        )
    cited = parts["citation"].items
    without = int((cited["undefined"].str.split("; ").str[0] == NO_REFERENCE).sum())
    if without:
        out.append(
            f"{without} of {len(cited)} cited answers have no right answer to compare with: their score is interpretability alone."
        )
    if summary.verdict.light == "grey" and content["overall_pass"]:
        out.append(
            "overall_pass of FINAL_RESULTS_YYYYMMDD.json is true while the light is grey: pass compares the score with its threshold "
            "alone, the light also asks what the score rests on."
        )
    return out


def _method(options: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        f"Overall score = {options['weight_cot']:g} × mean final score of cot_levels + {options['weight_citation']:g} × mean final score of "
        f"citation, divided by the weights' sum; passes from {options['threshold']:g} on.",
        "The two halves are independent samples: each is resampled apart, and the overall interval is that of the weighted sums.",
        "Weights and threshold: fourth document of the seeds. FINAL_RESULTS_YYYYMMDD.json holds the same figures under the seed's keys.",
    )
