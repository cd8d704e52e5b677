"""Does the model's chain of thought hold: is the answer right, and do the steps lead to it?

Input: word problems with a reference solution in GSM8K's form (``<<a=b>>`` annotations, ``#### answer``) and responses in the same form
or in free text; or a model, then its responses are collected with the shipped prompt.  GSM8K's own files are read as they are.

Figures (fourth document of the seeds; Cobbe et al. 2021): four levels, 0–1 each, and their weighted mean.  The reference solutions
are scored as responses too: what they miss on level 4 is what the level cannot see (facts such as 7 days a week), its ceiling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evalbench.core.result import Result
from evalbench.kit.answers import remarks
from evalbench.metrics.reasoning import LEVELS, WEIGHTS
from evalbench.readers.dataset import Dataset
from evalbench.readers.gsm8k import word_problems
from evalbench.readers.schema import Column, Table
from evalbench.studies._passing import check_shares
from evalbench.studies.cot_levels.answers import Collected, collected, given, sampled
from evalbench.studies.cot_levels.pictures import annotated, picture_levels, picture_scores, reasons, worst
from evalbench.studies.cot_levels.scoring import NO_EQUATION, Options, Scored, items_of, options_of
from evalbench.studies.cot_levels.summary import found, measures, summarise, with_sums
from evalbench.text.final_answers import MARKERS

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DEFAULT_WEIGHTS",
    "QUESTION",
    "SCHEMA",
    "adapt",
    "annotated",
    "evaluate",
    "measures",
    "picture_levels",
    "picture_scores",
    "reasons",
    "summarise",
    "with_sums",
    "worst",
]  # fmt: skip

QUESTION = "Does the model's chain of thought hold: is the answer right, and do the steps lead to it?"
DEFAULT_WEIGHTS: Mapping[str, float] = dict(zip(LEVELS, WEIGHTS, strict=True))

SCHEMA: Mapping[str, Table] = {
    "items": Table(
        (
            Column("id", "id", help="the problem"),
            Column("question", "text"),
            Column(
                "reference",
                "text",
                empty_ok=True,
                help="solution with <<a=b>> annotations, closed by #### answer; empty: levels 1 to 3 are undefined",
            ),
            Column(
                "response",
                "text",
                required=False,
                empty_ok=True,
                keep_null=True,
                help="the model's solution; null: unscored",
            ),
            Column("model", "id", groups=True, required=False, help="who responded, where there are several"),
            Column("lang", "text", required=False, empty_ok=True, help="ISO 639-1 code, chooses the prompt"),
        ),
        unique=("id", "model"),
        help="one row per problem and model",
    )
}


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """GSM8K's published files as our table; see :mod:`evalbench.readers.gsm8k`."""
    return {**frames, "items": word_problems(frames["items"])} if "items" in frames else frames


def evaluate(
    data: Dataset,
    *,
    model: str = "",
    prompt: str = "",
    temperature: float = 0.0,
    max_tokens: int = 512,
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    answer_extractor: str = "strict",
    answer_markers: Sequence[str] = MARKERS,
    weights: Mapping[str, float] = DEFAULT_WEIGHTS,
    common_constants: str = "none",
    article_as_one: bool = False,
    relative_tolerance: float = 0.0,
    threshold: float = 0.8,
    max_unscored: float = 0.05,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Result:
    """Score chains of thought on four levels.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="cot_levels")``: table items.
    model : str
        Collect this model's responses; without it the table's are scored.
    prompt : str
        A prompt file of one's own; by default ``word_problem`` in the problem's language.
    temperature, max_tokens
        Of the collected responses.
    sample_method : {"first", "random"}
    n_samples : int
        Problems; 0 for all.
    random_state : int
        Of the random sample.
    answer_extractor : {"strict", "flexible"}
        What level 1 counts; both are reported.
    answer_markers : sequence of str
        What introduces the final answer, the most reliable first.
    weights : mapping of level to float
        Of ``answer, steps, similarity, coherence``.
    common_constants : str
        ``none``, ``everyday`` (7 days, 12 months, 60 minutes, 100 percent, …) or numbers separated by commas.
    article_as_one : bool
        Whether *a* and *an* in a question give 1.
    relative_tolerance : float
        By how large a share an equation may be off; 0.001 forgives rounded results.
    threshold : float
        A mean final score from here on passes.
    max_unscored : float
        A larger share of unscored responses makes the light grey.
    seed, n_resamples : int

    Returns
    -------
    Result
        ``items``: one row per problem and model.  ``tables``: ``steps``, ``faults`` of steps, ``solutions`` and, where collected, ``calls``.

    Raises
    ------
    BadInput
        For faults of the options or references without an answer, all at once.
    """
    options = options_of(
        answer_extractor, answer_markers, weights, common_constants, article_as_one, relative_tolerance
    )
    check_shares(threshold=threshold, max_unscored=max_unscored)
    rows = sampled(data["items"], sample_method, n_samples, random_state)
    settings = {"prompt": prompt, "temperature": temperature, "max_tokens": max_tokens, "seed": seed}
    answers = collected(rows, model, **settings) if model else given(rows)
    scored = items_of(answers.rows, options)
    items = scored.items
    summary = summarise(
        items,
        answer_extractor=answer_extractor,
        threshold=threshold,
        max_unscored=max_unscored,
        seed=seed,
        n_resamples=n_resamples,
    )
    judged = sorted(items["model"].unique())
    return Result(
        study="cot_levels",
        question=QUESTION,
        judged=f"model {judged[0]}" if len(judged) == 1 else f"{len(judged)} models: {', '.join(judged)}",
        parameters={
            "model": model, **settings, "sample_method": sample_method, "n_samples": n_samples, "random_state": random_state,
            "answer_extractor": answer_extractor, "answer_markers": list(answer_markers), "weights": dict(weights),
            "common_constants": common_constants, "article_as_one": article_as_one, "relative_tolerance": relative_tolerance, "threshold": threshold,
            "max_unscored": max_unscored, "n_resamples": n_resamples,
        },
        data=data.label,
        id="id",
        by=("model",),
        items=items,
        summary=summary,
        tables={"steps": scored.steps, "faults": scored.faults, "solutions": scored.solutions, **answers.tables},
        notes=(*data.notes, *_remarks(scored, answers, options)),
        method=_method(options, threshold),
        accounting=answers.accounting,
    )  # fmt: skip


def _remarks(scored: Scored, answers: Collected, options: Options) -> list[str]:
    items = scored.items
    out = [*answers.notes, *remarks(items)]
    renormalised = int((items["undefined"] == NO_EQUATION).sum())
    if renormalised:
        out.append(
            f"Responses without an equation, so that level 4 is undefined and the final score is the mean of the others: {renormalised}."
        )
    unread = int(items["n_unread"].sum())
    if unread:
        details = scored.faults.loc[scored.faults["kind"] == "unread", "detail"].value_counts()
        named = ", ".join(f"{detail} ({n})" for detail, n in details.head(3).items())
        out.append(
            f"Equations that cannot be read, so that level 4 leaves them out: {unread} of {int(items['n_equations'].sum())}; "
            f"most often: {named}. Responses all of whose equations are such, unscored: {int((items['unscored'] == 'unparsed').sum())}."
        )
    lacking = int((items["marked"] == 0).sum())
    if lacking:
        out.append(
            f"Responses without a marker of the final answer ({', '.join(options.markers)}): {lacking} of {int(items['marked'].count())}. "
            'answer_markers takes others, and answer_extractor "flexible" the last number.'
        )
    if abs(items["answer_flexible"].mean() - items["answer_strict"].mean()) > 0.02:
        out.append(f"R{found(items)[1:]}; level 1 counts {options.extractor}.")
    return out


def _method(options: Options, threshold: float) -> tuple[str, ...]:
    weights = " + ".join(f"{w:g} × {name}" for name, w in zip(LEVELS, options.weights, strict=True))
    return (
        f"Final score = {weights}, divided by the weights' sum; passed from {threshold:g} on.",
        "Level 1, answer: equal numbers within 1e-6; strict reads the number behind the first of these markers that has one, "
        f"{', '.join(options.markers)}; flexible the last number of the response. Where fewer than half of a model's "
        "responses have a marker, strict extraction does not suit them and the light is grey.",
        "Level 2, steps: r = steps of the response / of the reference; 1 for 0.8 ≤ r ≤ 1.2, max(0.2, r/0.8) below, max(0.5, 1.2/r) above.",
        "Level 3, similarity: 0.4 Jaccard of operators + 0.4 of numbers in equations + 0.2 of words without digits.",
        f"Level 4, coherence: 0.75 × share of equations with sides equal within 1e-6 or {options.relative_tolerance:g} of the first + 0.25 × share of steps all of whose left-hand numbers come from "
        "the question or from the result of an earlier coherent step; steps without an equation are left out.",
        f"Common constants that need no source: {', '.join(f'{c:g}' for c in options.constants) or 'none'}.",
        "An empty response scores 0 on every level. An equation that cannot be read is left out, with the reason in the table of faults; "
        "a response none of whose equations can be read is unscored. 100% has a source where the question names a percentage.",
        "Levels, weights and threshold: fourth document of the seeds; intervals resample problems.",
    )
