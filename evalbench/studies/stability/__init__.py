"""Does the model still answer well when the query is written otherwise: with typos, swapped words, in other words or letters?

Input: queries with the model's answers, and variants of these queries with its answers, each told apart by ``augmentation``; a reference,
or a score of both answers in a column named by ``metric``.  Or queries and references alone and a model: then the variants are made and
both are asked.  One table that holds both is read as well, where ``augmentation`` is empty for queries as they were written.

Figures (method document ``handbook``, stability to augmentations): the key metric before and after, the absolute drop in percentage
points, the relative drop (the performance drop rate of Zhu et al. 2023, PromptBench), the share of items whose score changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from evalbench import core, kit, readers
from evalbench.judge.verdicts import InProcess
from evalbench.models.exchange import Reply
from evalbench.readers import Column, Table
from evalbench.studies.contract import offered
from evalbench.studies.stability import asking, inputs, lighting, method
from evalbench.studies.stability.items import SCORES, items_of, key_of, numbered
from evalbench.studies.stability.summary import compared, drops_table, rules_of, summarise

QUESTION = "Does the model still answer well when the query is written otherwise?"
MAKES_ITEMS = ("metric", "score_range")
MEASURED_BY = dict.fromkeys(("score_range", "levels"), ("*",))
NO_TRIALS = "an answer is paired with the answer to the variant; of repeated ones give the mean score of each, in a column that metric names"
SCHEMA: Mapping[str, Table] = {
    "items": Table(
        (
            Column("id", "id"),
            Column("question", "text", required=False, empty_ok=True, help="as it was written; needed for asking a model", former=('query',)),
            Column("answer", "text", required=False, empty_ok=True, keep_null=True, help="needed unless a model is asked; null: unscored", former=('output',)),
            Column("reference", "texts", required=False, empty_ok=True, help="a text, or a JSON list: the best counts", perhaps=("answer",)),
            Column("contexts", "texts", required=False, empty_ok=True, help="for metrics that need one", former=('context',)),
            Column("lang", "id", required=False, empty_ok=True, help="ISO 639-1, of the prompt and of transliterate"),
            Column("model", "id", groups=True, required=False, help="whose answer it is"),
        ),
        unique=("id", "model"),
        no_trials=NO_TRIALS,
        help="one row per query; several models may answer one id",
    ),
    "variants": Table(
        (
            Column("id", "id", help="of the item whose query was changed"),
            Column("augmentation", "id", help="how it was changed, such as butter_finger"),
            Column("question", "text", required=False, empty_ok=True, help="as it was changed", former=('query',)),
            Column("answer", "text", required=False, empty_ok=True, keep_null=True, help="null: unscored", former=('output',)),
            Column("reference", "texts", required=False, empty_ok=True, help="where it is another one, as after a translation", perhaps=("answer",)),
            Column("level", "id", required=False, empty_ok=True, choices=inputs.LEVELS, help="to which test the augmentation belongs"),
            Column("model", "id", groups=True, required=False, help="whose answer it is"),
        ),
        unique=("id", "augmentation", "model"),
        no_trials=NO_TRIALS,
        required=False,
        help="one row per changed query",
    ),
}  # fmt: skip


def needs(data: readers.Dataset, *, model: str = "", metric: str = kit.choosing.AUTO) -> None:
    """Refuse data without queries where a model is asked, and else without variants, or without answers or a score."""
    if model:
        inputs.check_queries(data)
    else:
        numbered(data["items"], inputs.variants_of(data), metric)


def evaluate(
    data: readers.Dataset,
    *,
    metric: str = kit.choosing.AUTO,
    score_range: Sequence[float] = (),
    levels: Mapping[str, str] = {},
    light_on: str = lighting.LIGHT_ON,
    lights: Mapping[str, Mapping[str, float]] = {},
    model: str = "",
    prompt: str = "",
    temperature: float = 0.0,
    max_tokens: int = 512,
    augmentations: Sequence[str] = asking.MADE,
    rates: Mapping[str, float] = {},
    protect: Sequence[str] = (),
    scheme: str = asking.SCHEME,
    rephraser: str = "",
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    language: str = "",
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
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Compare a model's answers to queries with its answers to variants of them.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="stability")``: tables items and variants, or items and a model.
    metric : str
        The key metric: a text metric, or a column of numbers in both tables; ``auto`` takes a score that both have, or ``f1_score``.
    score_range : sequence of float
        Worst and best score, such as ``[1, 5]`` or ``[1, 0]`` where less is better; by default those of the metric, of a column 0 and 1.
    levels : mapping of str to str
        Augmentation → ``characters``, ``words`` or ``other``, the test that it belongs to, where its name does not show it.
    light_on : {"ci", "estimate"}
        What the light is of: what the interval of the drop shows, Holm over a model's augmentations, or the drop itself.
    lights : mapping of str to mapping, optional
        Thresholds instead of the document's, in percentage points: ``{"drop": {"green_to": 2, "yellow_to": 5}}``.
    model : str
        Ask this model the queries and the variants; without it the tables' answers are scored.
    prompt, temperature, max_tokens, sample_method, n_samples, random_state
        See :func:`evalbench.kit.collecting.asked` and :func:`evalbench.kit.sampling.sample_ids`.
    augmentations : sequence of str
        What the queries are changed by, where a model is asked and the data have no variants.
    rates, protect
        Augmentation → the share of letters or words that it changes (0–1), where not its own default; what augmentations leave as it is:
        ``numbers``, ``code``, ``urls``.
    scheme : str
        Of ``transliterate``, see :func:`evalbench.text.augment.to_latin`.
    rephraser : str
        Which model writes the variants of ``paraphrase`` and ``translate_ru_en``, where they are among the augmentations.
    language : str
        ISO code, for stop-words, stems and sentences of the texts; empty: of none in particular, and English where one is needed.
    normalise, references, stem, sentence_split, meteor_synonyms, bleu_tokenize, embed, bert_model, bert_layers, judge
        See :func:`evalbench.kit.metric_options.metrics_of`.
    max_unscored, seed, n_resamples
        See :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per query, augmentation and model.  ``tables``: ``texts``, ``drops`` and, with several models, ``comparison``;
        ``calls`` where a model or judge was asked.

    Raises
    ------
    BadInput
        For faults of the options, missing tables, texts or scores, and cells that are no numbers, all at once.
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    checks.that(metric, f"metric must be one name, got {metric!r}")
    ends = f"score_range must be two different numbers, worst and best; got {score_range!r}"
    checks.that(_is_range(score_range), ends)
    checks.choices(light_on=lighting.LIGHTS_ON)
    checks.tried(lambda: inputs.check_levels(levels))
    checks.tried(lambda: rules_of(lights))
    checks.tried(lambda: asking.check(augmentations, rates, protect, scheme, rephraser))
    checks.refuse("stability")
    items, variants = data["items"], data.get("variants")
    replies: list[Reply] = []
    written: list[Reply] = []
    said: list[str] = []
    reasons: asking.Reasons = ({}, {})
    items = kit.sampling.sampled(items, sample_method, n_samples, random_state)
    if model:
        inputs.check_queries(data)
        if variants is None:
            variants, written, said = asking.made(items, **kit.taken(asking.made, options))
        plain, changed = (frame.drop(columns=_scores(frame)).assign(answer="") for frame in (items, variants))
        key_of(numbered(plain, changed, metric), metric, score_range, options)  # refused before anything is paid for
        settings = {name: value for name, value in kit.taken(kit.collecting.asked, options).items() if name != "model"}
        items, variants, heard, reasons = asking.answered(items, variants, model, **settings)
        replies = [*written, *heard]
        items, variants = (frame.drop(columns=_scores(frame)) for frame in (items, variants))
    else:
        variants = inputs.sampled_variants(inputs.variants_of(data), items, data["items"])
    tables = numbered(items, variants, metric)
    key = key_of(tables, metric, score_range, options)
    options |= {"metric": key.name, "score_range": [key.worst, key.best]}
    pair = inputs.paired(tables.items, tables.variants, [tables.column] if tables.column else [], levels)
    found, scored = items_of(pair, key, {**options, "judge": judge}, reasons)
    found = kit.grouping.carried(found, data)
    summary = summarise(found, **kit.taken(summarise, options))
    pairs = compared(found, seed=seed, n_resamples=n_resamples)
    models = sorted(set(found["model"])) if "model" in found else []
    scored = scored or kit.scoring.Scored()
    return kit.result_of(
        evaluate,
        data,
        options,
        found,
        by=pair.by,
        judged=kit.collecting.several("model", models) if models else "the outputs of the table",
        summary=summary,
        items_of=f"queries × augmentations{' × models' if len(models) > 1 else ''}",
        tables={
            "texts": inputs.texts_of(pair, tables.column),
            "drops": drops_table(found, **kit.taken(drops_table, options)),
        },
        some={"comparison": pairs, **kit.scoring.calls_of(scored, replies=replies)},
        notes=(*key.notes, *data.notes_beside([key.name]), *said, *pair.notes, *method.notes(found, pair, scored)),
        method=method.described(options, key),
        accounting=kit.scoring.accounting_of(scored, options, model=model, replies=replies),
    )


def _scores(frame: pd.DataFrame) -> list[str]:
    """The scores of the table's own outputs, which are not those of a model's new ones."""
    return [name for name in SCORES if name in frame]


def _is_range(ends: Sequence[float]) -> bool:
    if not isinstance(ends, list | tuple) or len(ends) not in (0, 2):
        return False
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x) for x in ends)
    return numbers and len(set(ends)) == len(ends)


globals().update(offered(__name__))
