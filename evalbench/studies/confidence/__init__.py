"""Can right answers be told from wrong ones by the model's own confidence?

Input: answers at the developer's settings, for each a number of samples at a raised temperature, and which answers are right (0
or 1, or a reference to compare with); or questions and a model, then both are collected.  It applies only where an answer is
right or wrong.

Figures (method document ``handbook``, «Качество прогноза: уверенность LLM в ошибочных ответах»): confidence p, the share of samples
that repeat the answer, or their mean similarity; scores of uncertainty made of it, among them the document's −p · log p; AUROC and
AUPRC of each for *the answer is wrong*, errors by coverage, and whether p is a probability.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evalbench import core, kit, readers
from evalbench.metrics.confidence import NORMALISE
from evalbench.readers import Column, Table
from evalbench.studies.confidence import by_topic, inputs, joint, method
from evalbench.studies.confidence.clusters import CLUSTERS, EXACT
from evalbench.studies.confidence.items import MATCH, P_BY, SIMILARITY, items_of
from evalbench.studies.confidence.summary import COVERAGE, check_options, measures, summarise
from evalbench.studies.contract import offered
from evalbench.text.normalise import tokenizer
from evalbench.text.odd_texts import odd_text_notes

QUESTION = "Can right answers be told from wrong ones by the model's own confidence?"
MAKES_ITEMS = ("p_by",)
MEASURED_BY = {
    **dict.fromkeys(("samples_per_item", "sample_temperature", "correct_from", "p_by"), ("*",)),
    "clusters": ("*cluster_entropy",),
    "coverage": ("threshold", "covered", "error_at_coverage"),
    "confident_from": ("overconfidence",),
}
SCHEMA: Mapping[str, Table] = {
    "items": Table(
        (
            Column("id", "id", help="the question"),
            Column("model", "id", required=False, groups=True, help="whose answer it is"),
            Column("question", "text", required=False, empty_ok=True, help="shown; needed where a model is asked"),
            Column("answer", "text", required=False, empty_ok=True, keep_null=True, help="at the developer's settings; null: unscored"),
            Column("samples", "texts", required=False, empty_ok=True, help="answers at a raised temperature; or numbered columns "
                   "sample_1, sample_2, …, or one row per sample with a column sample; none: unscored"),
            Column("correct", "text", required=False, empty_ok=True, help="whether the answer is right: 0 or 1, or a number, see "
                   "correct_from; empty: unscored"),
            Column("reference", "texts", required=False, empty_ok=True, help="right answers, where there is no column correct: a text, "
                   "or a JSON list of which one counts"),
            Column("topic", "text", required=False, empty_ok=True, help="what the question is about"),
            Column("lang", "id", required=False, empty_ok=True, help="ISO 639-1, of the prompts"),
        ),
        unique=("id", "model"),
        no_trials="an answer is repeated by its samples, and an average of its trials would be neither right nor wrong",
        help="one row per answer",
    )
}  # fmt: skip


def evaluate(
    data: readers.Dataset,
    *,
    model: str = "",
    prompt: str = "",
    temperature: float = 0.0,
    max_tokens: int = 256,
    samples_per_item: int = inputs.SAMPLES_PER_ITEM,
    sample_temperature: float = inputs.SAMPLE_TEMPERATURE,
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    metric: str = inputs.METRIC,
    correct_from: float | None = None,
    p_by: str = MATCH,
    normalise: str = NORMALISE,
    language: str = "",
    clusters: str = EXACT,
    judge: str | Callable[[dict[str, Any]], object] = "",
    judge_prompt: str = "",
    embed: str = "use-multilingual",
    coverage: float = COVERAGE,
    confident_from: float = by_topic.CONFIDENT_FROM,
    green_from: float | None = None,
    yellow_from: float | None = None,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Score how well confidence tells right answers from wrong ones.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="confidence")``: table items.
    model : str
        Collect this model's answers and samples; without it the table's are scored.
    prompt, temperature, max_tokens
        See :func:`evalbench.kit.collecting.asked`.
    samples_per_item, sample_temperature
        Samples of each question that a model is asked for; temperature of the samples (that of the answers is ``temperature``).
    sample_method, n_samples, random_state
        The ``first`` questions or ``random`` ones; how many questions, 0 for all; of the random sample.
    metric : str
        Compares an answer with its reference where the table has no column ``correct``.
    correct_from : float or None
        From which value of ``correct``, or of the metric, an answer is right; needed where there are others than 0 and 1.
    p_by : {"match", "similarity"}
        What p is: ``match``, the share of samples equal to the answer, or ``similarity``, their mean cosine with it.
    normalise : {"full-stop_words", "full", "squad", "none"}
        How texts are compared: ``full``, ``squad``, ``none``, or ``full`` without steps, as in ``full-stop_words``.
    language : str
        ISO code of the stop-words that ``normalise`` may leave out.
    clusters : {"exact", "entailment"}
        Groups of equal answers: ``exact`` after normalising, or ``entailment`` in both directions, as ``judge`` has it.
    judge, judge_prompt
        Who judges entailment: a chat model, the folder of an NLI cross-encoder, ``recorded:FILE``, or ``baseline/lexical``; a folder of your
        own prompts ``entailment``.
    embed : str
        Embedding model of the similarity; empty for none.
    coverage, confident_from : float
        The share of questions that should be answered (0–1), for the threshold of p; an answer with p from here on is a confident one.
    green_from, yellow_from : float or None
        AUROC of 1 − p that is green, at or above; AUROC of 1 − p that is yellow, below it red.  Both, or neither: then it is unlit.
    max_unscored, seed, n_resamples
        See :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per question and model.  ``tables``: ``answers``, with topics ``topics``, with several models
        ``comparisons``, and ``calls`` where a model or judge was asked.

    Raises
    ------
    BadInput
        For faults of the options, and where answers, samples or correctness are missing, all at once.
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    checks.choices(p_by=P_BY, clusters=CLUSTERS)
    checks.choice("metric", metric, inputs.metrics())
    checks.at_least(1, "samples_per_item")
    check_options(checks)
    checks.that(clusters == EXACT or judge, "clusters entailment needs a judge, such as baseline/lexical")
    checks.that(p_by != SIMILARITY or embed, "p_by similarity needs an embedding model (embed)")
    checks.that(
        correct_from is None or _is_finite(correct_from), f"correct_from must be a number, got {correct_from!r}"
    )
    checks.tried(lambda: tokenizer(normalise, language))
    checks.refuse("confidence")
    inputs.needs(data, model=model)
    found = inputs.answered(
        kit.sampling.sampled(data["items"], sample_method, n_samples, random_state),
        options=options,
        **_own(inputs.answered, options),
    )
    docket = kit.judging.Docket(judge, prompt=judge_prompt, seed=seed) if clusters != EXACT else None
    scored = items_of(found.rows, docket=docket, **_own(items_of, options))
    items = kit.grouping.carried(scored.items, data)
    summary = summarise(items, **kit.taken(summarise, options))
    models = sorted(set(items["model"]))
    pairs = joint.compared(items, measures(p_by)[:1], seed=seed, n_resamples=n_resamples)
    heard = [docket.heard()] if docket else []
    texts = [c for c in ("id", "model", "question", "answer", "samples", "reference") if c in found.rows]
    return kit.result_of(
        evaluate,
        data,
        options,
        items,
        summary=summary,
        tables={"answers": found.rows[texts]},
        some={"topics": by_topic.topics_of(items, confident_from), "comparisons": pairs},
        notes=(
            *kit.comparing.in_words(pairs, "model", "auroc_uncertainty", len(models)),
            *data.notes,
            *found.notes,
            *scored.notes,
            *odd_text_notes(found.rows["answer"], max_unscored),
            *method.notes(items, summary, options),
        ),
        method=method.described(options, items, len(models) > 1),
        replies=found.replies,
        heard=heard,
    )


def _own(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that a function takes, but for its own ``options`` and ``docket``."""
    return {name: value for name, value in kit.taken(function, options).items() if name not in ("options", "docket")}


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < float("inf")


globals().update(offered(__name__))
