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

from evalbench import core, kit, readers
from evalbench.judge.verdicts import InProcess
from evalbench.studies.contract import offered
from evalbench.studies.stability import asking, inputs, lighting, method
from evalbench.studies.stability.items import numbered, settled
from evalbench.studies.stability.made import SCHEMA as SCHEMA
from evalbench.studies.stability.made import key_in, made_of
from evalbench.studies.stability.summary import compared, drops_table, rules_of, summarise

QUESTION = "Does the model still answer well when the query is written otherwise?"
MAKES_ITEMS = ("metric", "score_range")
MEASURED_BY = dict.fromkeys(("score_range", "levels"), ("*",))


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
    key = key_in(data, options)
    own = {**options, "judge": judge}
    made = kit.parts.made(
        made_of, data, own, SCHEMA, here=bool(model) or bool(judge and kit.judging.asks_a_model(judge))
    )
    assert made.data is not None
    assert made.texts is not None
    left_out = inputs.left_out(made)
    options |= {"metric": key.name, "score_range": [key.worst, key.best]}
    by = ("model", "augmentation") if "model" in made.items else ("augmentation",)
    found = settled(made.items, by)
    said = (*asking.left_as_they_are(made.sums), *left_out, *method.notes(found, made, key, own))
    found = kit.grouping.carried(found, made.data)
    summary = summarise(found, **kit.taken(summarise, options))
    pairs = compared(found, seed=seed, n_resamples=n_resamples)
    models = sorted(set(found["model"])) if "model" in found else []
    return kit.result_of(
        evaluate,
        data,
        options,
        found,
        by=by,
        judged=kit.collecting.several("model", models) if models else "the outputs of the table",
        summary=summary,
        items_of=f"queries × augmentations{' × models' if len(models) > 1 else ''}",
        tables={
            "texts": made.texts.sort_values([*by, "id"], kind="stable", ignore_index=True),
            "drops": drops_table(found, **kit.taken(drops_table, options)),
        },
        some={"comparison": pairs, **{name: made.tables.get(name) for name in ("calls", "contradictions")}},
        notes=(*key.notes, *data.notes_beside([key.name]), *said),
        method=method.described(options, key),
        accounting=made.accounting,
        stored=made.stored,
    )


def _is_range(ends: Sequence[float]) -> bool:
    if not isinstance(ends, list | tuple) or len(ends) not in (0, 2):
        return False
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x) for x in ends)
    return numbers and len(set(ends)) == len(ends)


globals().update(offered(__name__))
