"""Is an answer from retrieved contexts faithful to them, right, and to the point, and was the right thing retrieved?

Input: questions with answers, the contexts that each was made from, by rank, and ground truths where there are any; several
models may be in one table.

Figures (method document ``ragnotes``; Es et al. 2024; Ru et al. 2024), all from verdicts of one judge, each with its reason and the
passage that it rests on: faithfulness, answer relevance, context recall, context precision, answer correctness; beside them the share of relevant
contexts, precision and recall of claims, non-committal answers, claims that were invented and facts that the retriever lost.
No figure has a threshold of its own, so the light is unlit until ``lights`` gives it one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from evalbench import core, kit, readers
from evalbench.judge.entail import BASELINE
from evalbench.studies.contract import offered
from evalbench.studies.rag_generation import inputs, method, summary
from evalbench.studies.rag_generation.inputs import SCHEMA as SCHEMA
from evalbench.studies.rag_generation.items import confusion_of
from evalbench.studies.rag_generation.made import made_of

QUESTION = (
    "Is an answer from retrieved contexts faithful to them, right, and to the point, and was the right thing retrieved?"
)
MEASURED_BY = {
    "split": ("*",),
    "n_questions": ("answer_relevance", "noncommittal"),
    "embed": ("answer_relevance", "answer_correctness"),
}


def evaluate(
    data: readers.Dataset,
    *,
    metrics: Sequence[str] | str = kit.choosing.AUTO,
    judge: str | Callable[[dict[str, Any]], object] = BASELINE,
    judge_prompt: str = "",
    judge_max_tokens: int = 1024,
    split: str = "sentences",
    n_questions: int = 3,
    embed: str = "use-multilingual",
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    labels: str = "",
    labels_of: str = "",
    labels_scale: Sequence[float] = (),
    labels_drawn: str = "random",
    correction: str = "",
    lights: Mapping[str, Mapping[str, float]] | None = None,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Judge answers from retrieved contexts.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="rag_generation")``: tables answers, verdicts.
    metrics : "auto" or sequence of str
        ``auto``: all that the judge can give, or some of faithfulness, answer_relevance, context_recall,
        context_precision, answer_correctness.
    judge : str or callable
        Who judges: a chat model, ``agent:MODEL`` (one that looks things up), ``recorded`` (the data set's own table of verdicts), ``recorded:FILE``, the folder of a
        cross-encoder or ``baseline/lexical``, see :func:`evalbench.judge.verdicts.judge`.
    judge_prompt, judge_max_tokens
        A folder of your own prompts ``claims``, ``support``, ``relevance``, ``questions``; longest reply of a language model that judges.
    split : {"sentences", "claims"}
        What is judged of a text: its ``sentences``, or the ``claims`` that the judge finds in them.
    n_questions : int
        How many questions are written from each answer.
    embed : str
        Embedding model of the cosines; see :func:`evalbench.models.similarity.embed.embedder`.
    sample_method, n_samples, random_state
        See :func:`evalbench.kit.sampling.sample_ids`.
    labels, labels_of, labels_scale, labels_drawn, correction
        See :func:`evalbench.kit.labelled.given`.
    lights : mapping of str to mapping, optional
        Figure → its thresholds, e.g. ``{"faithfulness": {"green_from": 0.9, "yellow_from": 0.7}}``, at or above; where less
        is better ``green_to`` and ``yellow_to``, at or below.
    max_unscored : float
        More unscored answers than this share make a figure's light grey.

    Returns
    -------
    Result
        ``items``: one row per answer, also with the lists ``TP``, ``FP``, ``FN`` of facts.  ``tables``: ``statements``, ``facts``,
        ``contexts``, ``questions`` (with embeddings and cosines), ``correctness`` (the two JSON objects of ragnotes), ``confusion``,
        ``texts``, ``calls``, and ``comparison`` where there are several models.

    Raises
    ------
    BadInput
        For faults of the options, all at once, and a data set without the verdicts that ``recorded`` reads.

    Examples
    --------
    >>> from evalbench.studies import load
    >>> rows = {"id": ["1"], "question": ["How far may it go?"], "answer": ["At most 5 km. It is red."]}
    >>> rows |= {"contexts": [["A boat goes at most 5 km."]], "reference": ["It goes at most 5 km."]}
    >>> import pandas as pd
    >>> result = evaluate(load(pd.DataFrame(rows), study="rag_generation"), metrics=["faithfulness"])
    >>> result.tables["statements"][["statement", "support_label"]].to_numpy().tolist()
    [['At most 5 km.', 'SUPPORTED'], ['It is red.', 'NOT_SUPPORTED']]
    """
    parameters = kit.stated(evaluate, locals())
    checks = kit.Checks(parameters)
    checks.choices(split=inputs.SPLITS)
    checks.at_least(1, "n_questions")
    with_truths = readers.large.has_texts(data["answers"], "reference", data.read_as.get("answers", {}))
    chosen, left_out = inputs.metrics_of(metrics, judge, split, checks, truths=with_truths, lit=lights or ())
    rules = checks.tried(lambda: summary.rules_of(lights or {}, chosen)) if chosen else {}
    checks.refuse("rag_generation")
    dealt = kit.parts.is_dealt(data["answers"])
    parameters |= {"metrics": chosen, "lights": rules}
    given = partial(kit.labelled.given, summary.measures(chosen), **kit.taken(kit.labelled.given, parameters))
    humans = given(rows=None if dealt else data["answers"])
    by = inputs.judge_of(judge, data)
    made = kit.parts.made(
        made_of,
        data,
        {**parameters, "by": by},
        here=kit.judging.asks_a_model(judge),
        together=kit.documents.is_searched(judge),
    )
    if dealt:
        humans = given(rows=made.items)
    resampled: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
    items, fit, said = humans.on(kit.grouping.carried(made.items, made.data or data), *made.heard(), **resampled)
    core.progress.at(f"intervals, {n_resamples} resamples")
    headline = [m for m in summary.measures(chosen) if m.metric in inputs.METRICS]
    result = kit.result_of(
        evaluate,
        data,
        parameters | fit,
        items,
        tables={**made.tables, "confusion": confusion_of(items)},
        some={"texts": made.texts, "comparison": kit.comparing.compare_groups(items, headline, "model", **resampled)},
        notes=(*data.notes, *left_out, *made.notes, *method.notes(made, items, parameters), *said),
        method=method.described(parameters),
        accounting=made.accounting,
        stored=made.stored,
    )
    return made.trials.reported(result, made.rows, headline)


globals().update(offered(__name__))
