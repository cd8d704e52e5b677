"""Does a language model find named entities better asked for one class at a time, or told more of each class?

Input: texts, true spans, what is said of each class, and raw replies to requests of different wording; or a model, then it is
asked.  A reply lists entities as strings with a class.

Figures (method document ``handbook``, «Спецификация NER: качество при распознавании всех типов сущностей/сущностей по отдельности за один
запрос» and «… при варьировании детализации описания распознаваемых сущностей»): F1 of (string, class) pairs per class and over all,
paired differences on the same texts, and a light for what a fuller description adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalbench import core, kit, readers
from evalbench.readers import Column, Table
from evalbench.studies.contract import offered
from evalbench.studies.ner_variants import inputs
from evalbench.studies.ner_variants.items import items_of, wording
from evalbench.studies.ner_variants.summary import compared, measures, method, notes, summarise

QUESTION = "Does a model find entities better asked for one class at a time, or told more of each class?"
JUDGED_OPTIONS = ("requests", "descriptions", "reply_format")
SCHEMA: Mapping[str, Table] = {
    "replies": Table(
        (
            Column("id", "id", help="the text"),
            Column("model", "id", groups=True, required=False, help="who replied, where there are several"),
            Column("requests", "text", choices=inputs.REQUESTS, help="all classes in a request, or one"),
            Column("description", "text", choices=inputs.DESCRIPTIONS, help="what the request says of a class"),
            Column("entity_class", "text", required=False, empty_ok=True, help="the class that a request is for"),
            Column(
                "answer", "text", empty_ok=True, keep_null=True, help="as it came; null: unscored", former=("reply",)
            ),
        ),
        unique=("id", "model", "requests", "description", "entity_class"),
        trials="model",
        required=False,
        help="one row per request",
    ),
    "gold": Table(
        (
            Column("id", "id"),
            Column("start", "int", low=0, help="first character, counted in code points from 0"),
            Column("end", "int", low=1, help="one past the last character"),
            Column("entity_class", "text"),
        ),
        help="one row per true entity",
    ),
    "texts": Table(
        (Column("id", "id"), Column("text", "text"), Column("lang", "text", required=False, empty_ok=True)),
        unique=("id",),
        help="one row per text",
    ),
    "classes": Table(
        (
            Column("entity_class", "text"),
            Column("definition", "text", required=False, empty_ok=True),
            Column("examples", "text", required=False, empty_ok=True),
        ),
        unique=("entity_class",),
        required=False,
        help="what a request says of each class; by default its name",
    ),
}


check = inputs.prepare


def evaluate(
    data: readers.Dataset,
    *,
    model: str = "",
    prompt: str = "",
    temperature: float = 0.0,
    max_tokens: int = 1024,
    requests: Sequence[str] = inputs.REQUESTS,
    descriptions: Sequence[str] = inputs.DESCRIPTIONS,
    reply_format: str = "tuples",
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Compare wordings of the request.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="ner_variants")``: tables replies, gold, texts, classes.
    model : str
        Ask this model; without it the table's replies are judged.
    prompt : str
        Your own prompt file; by default ``list_entities`` in the text's language.
    temperature, max_tokens, sample_method, n_samples, random_state
        See :func:`evalbench.kit.collecting.asked` and :func:`evalbench.kit.sampling.sample_ids`.
    requests : sequence of {"all", "one"}
        How many classes a request is for.
    descriptions : sequence of {"none", "definition", "examples"}
        What a request says of a class.
    reply_format : {"tuples", "json"}
        The form that is asked for and read: a list of tuples, or JSON by a schema.
    max_unscored, seed, n_resamples
        See :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per text, wording and class.  ``tables``: ``gains``, ``replies`` and, where asked, ``calls``.

    Raises
    ------
    BadInput
        For faults of the tables or the options, all at once.
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    checks.choices(reply_format=readers.listed.FORMATS)
    checks.some(requests=inputs.REQUESTS, descriptions=inputs.DESCRIPTIONS)
    checks.refuse("ner_variants")
    data, trials = kit.trials.spread(data, SCHEMA)
    known, replies = inputs.collected_replies(inputs.prepare(data), options)
    rows, read = items_of(known, reply_format)
    rows = rows.assign(asked=trials.plain(rows["asked"]))
    trials = trials.ending(f", {wording(r, d)}" for r in inputs.REQUESTS for d in inputs.DESCRIPTIONS)
    items, of_trials = trials.averaged(rows, "id", "entity_class")
    items = kit.grouping.carried(items, data)
    summary, differences = compared(items, **kit.taken(compared, options))
    if data.grouping.slices:
        summary = summarise(items, **kit.taken(summarise, options))
    result = kit.result_of(
        evaluate,
        data,
        options,
        items,
        judged=kit.collecting.several("wording", items["model"]),
        summary=summary,
        items_of="texts × wordings × classes",
        tables={"gains": differences, "replies": read},
        notes=(*data.notes, *known.notes, *notes(items, read)),
        method=method(options),
        replies=replies,
    )
    return trials.reported(result, of_trials, measures())


globals().update(offered(__name__))
