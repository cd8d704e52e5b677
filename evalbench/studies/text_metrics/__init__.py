"""How close are a model's outputs to their references, by metrics that need no human?

Input: answers with references, and where a metric needs it the contexts, the question, or further samples; one table
may hold several models.  With ``prompt`` and ``model`` the answers are collected first.

Figures: the mean of every metric that the table allows over the texts, per model, and corpus-level BLEU from summed counts.  Metrics and
their sources: ``evalbench metrics list``.  No metric has a threshold of its own, so the light is unlit until ``lights``
gives it one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evalbench import core, kit, readers
from evalbench.judge.verdicts import InProcess
from evalbench.studies.contract import offered
from evalbench.studies.text_metrics import summary
from evalbench.studies.text_metrics.inputs import SCHEMA, are_labels
from evalbench.studies.text_metrics.inputs import needs as needs
from evalbench.studies.text_metrics.items import in_order, made_of

QUESTION = "How close are the outputs to their references, by metrics that need no human?"
_F1 = ("f1_score*", "jaccard_similarity", "knowledge_f1_score", "normalized_exact_match")
MEASURED_BY = {
    "normalise": _F1,
    "references": ("rouge1*", "rouge2*", "rougeL*"),
    "stem": ("rouge*",),
    "sentence_split": ("rougeLsum*",),
    "meteor_synonyms": ("meteor*",),
    "bleu_tokenize": ("sacrebleu*",),
    "embed": ("request_similarity", "sentence_transformers_similarity"),
    **dict.fromkeys(("bert_model", "bert_layers"), ("bertscore*",)),
}

OF_LABELS = ("exact_match", "normalized_exact_match")
"""The metrics that say something of answers that are labels."""


@kit.options.also_called(data="dataset")
def evaluate(
    dataset: readers.Dataset | str | Path | Mapping[str, Any],
    *,
    metrics: Sequence[str] | str = kit.choosing.AUTO,
    prompt: str = "",
    model: str = "",
    language: str = "en",
    normalise: str = "full",
    references: str = "best",
    stem: bool = False,
    sentence_split: str = "newline",
    meteor_synonyms: bool = False,
    bleu_tokenize: str = "13a",
    embed: str = "use-multilingual",
    bert_model: str = "",
    bert_layers: int | None = None,
    judge: str | InProcess = "",
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
    """Score answers by any metrics of the registry.

    Parameters
    ----------
    dataset : Dataset, or what :func:`evalbench.load` takes
        Also called ``data``.  Table ``items``: id, answer, reference (a text or a list), optional contexts, question, samples, model.
    metrics : "auto" or sequence of str
        ``auto``: every metric that the table and this machine allow, or names or aliases, see ``evalbench metrics list``;
        ``evaluate:NAME``, ``evaluate:FOLDER`` or ``evaluate:FILE.py``: a module of Hugging Face evaluate on this machine,
        each of whose numbers is a metric, see :mod:`evalbench.kit.modules`.
        Notes list what ``auto`` did not ask, and why.
    prompt, model : str
        A template over the table's columns, e.g. ``"Answer briefly: {{ question }}"``, with which ``model`` answers first; the answering model,
        e.g. ``openai/gpt-4o`` or ``local/smollm2-135m``.
    language, normalise, references, stem, sentence_split, meteor_synonyms, bleu_tokenize, embed, bert_model, bert_layers, judge
        See :func:`evalbench.kit.metric_options.metrics_of`.
    labels, labels_of, labels_scale, labels_drawn, correction
        See :func:`evalbench.kit.labelled.given`.
    lights : mapping of str to mapping, optional
        Metric → its thresholds, e.g. ``{"rougeL": {"green_from": 0.5, "yellow_from": 0.3}}``, at or above; where less is
        better ``green_to`` and ``yellow_to``, at or below.
    max_unscored : float
        More unscored texts than this share make a metric's light grey.

    Returns
    -------
    Result
        ``items``: one row per text and model, a column per metric; ``tables``: ``texts``, ``reasons`` where texts have
        no score of a metric, ``comparison`` where there are several models, ``calls`` where models were asked,
        ``contradictions`` where a judge was.

    Raises
    ------
    BadInput
        For unknown metrics, columns that a metric needs and the table lacks, faulty options, and synonyms where WordNet is
        missing, all at once.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"id": ["1", "2"], "answer": ["кот спит", "да"], "reference": ["кот спит", "нет"]})
    >>> result = evaluate({"items": frame}, metrics=["f1score", "rougeL"], language="ru", n_resamples=100)
    >>> result.estimate("rougeL").value
    0.5
    """
    options = kit.stated(evaluate, locals())
    if not isinstance(dataset, readers.Dataset):
        dataset = readers.dataset.load(dataset, SCHEMA)
    checks = kit.Checks(options)
    checks.that(metrics, "metrics: none was named")
    checks.that(bool(prompt) == bool(model), "set both prompt and model, or neither")
    columns = {*dataset["items"].columns, *(("answer", "question") if prompt else ())}
    chosen, not_asked = kit.choosing.allowed(columns, options) if metrics == kit.choosing.AUTO else (metrics, ())
    if metrics == kit.choosing.AUTO and are_labels(dataset):
        chosen = [*OF_LABELS]
        not_asked = (f"Answers are labels: only {' and '.join(OF_LABELS)} were asked; metrics=[…] names others.",)
    cards = checks.tried(lambda: kit.metric_options.metrics_of(chosen, options)) or []
    names = [card.name for card in cards]
    lit = (
        checks.tried(lambda: {kit.metric_options.name_of(name, options): rule for name, rule in (lights or {}).items()})
        or {}
    )
    rules = (checks.tried(lambda: summary.rules_of(lit, names)) or {}) if cards else {}
    checks.refuse("text_metrics")
    options |= {"metrics": names, "lights": rules}
    given = partial(kit.labelled.given, summary.judged_measures(names, rules), **kit.taken(kit.labelled.given, options))
    dealt = kit.parts.is_dealt(dataset["items"])
    humans = given(rows=None if dealt else dataset["items"])
    made = kit.parts.made(
        made_of, dataset, {**options, "asked": list(chosen), "judge": judge}, here=bool(prompt or judge)
    )
    if dealt:
        humans = given(rows=made.items)
    reasons = kit.scoring.in_order(made.tables["reasons"], names)
    core.progress.at(f"intervals, {n_resamples} resamples")
    items, fit, of_labels = humans.on(in_order(made.items, names), *made.heard(), seed=seed, n_resamples=n_resamples)
    by = ("model",) if "model" in items else ()
    models = sorted(set(items["model"].unique()) - {""}) if by else []
    headline = [m for m in summary.measures(names, rules) if m.metric in names]
    result = kit.result_of(
        evaluate,
        dataset,
        options | fit,
        items,
        by=by,
        judged=model or (kit.collecting.several("model", models) if models else "the outputs of the table"),
        some={
            "texts": made.texts,
            **made.tables,
            "reasons": reasons,
            "comparison": kit.comparing.compare_groups(items, headline, "model", seed=seed, n_resamples=n_resamples)
            if by
            else None,
        },
        notes=[
            *dataset.notes,
            *kit.answers.remarks(items),
            *made.notes,
            *kit.scoring.lacking(reasons, names, made.n),
            *kit.scoring.notes_of(made.sampled, names, options, "sampled output" if dealt else "output"),
            *not_asked,
            *of_labels,
            core.compared.left_out_note(len(models), "models", "each metric"),
        ],
        method=kit.metric_options.methods_of(cards, options),
        accounting=made.accounting,
        stored=made.stored,
    )
    of_trials = None if made.rows is None else in_order(made.rows, names)
    return made.trials.reported(result, of_trials, summary.measures(names, rules))


globals().update(offered(__name__))
