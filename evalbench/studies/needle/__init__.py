"""Does the model find a fact in a long context, wherever it is?

Input: recorded replies with the expected answer and, where known, length and depth of the context; or needles, haystacks and a
model, which is then asked about every cell of a grid of lengths and depths.

Figures (method document ``handbook``, «Спецификация Extract: «Иголка в стоге сена»»): recall, the share of replies that hold the
expected answer by a named scorer.  In a haystack that has nothing to do with the question (vanilla) it tests attention; in a
related one it is closer to a product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalbench import core, kit, readers
from evalbench.metrics.needle import FUZZY_FROM
from evalbench.readers import Column, Table
from evalbench.studies.contract import offered
from evalbench.studies.needle import haystack, inputs, method, summary
from evalbench.studies.needle.grid import cells, falls_of
from evalbench.studies.needle.items import JUDGE, SCORERS, items_of

QUESTION = "Does the model find a fact in a long context, wherever it is?"
MEASURED_BY = {
    **dict.fromkeys(("lengths", "depths", "kinds", "needles_per_context", "tokenizer"), ("*",)),
    "scorer": ("recall*",),
    "fuzzy_from": ("recall*", "fuzzy"),
    "least_fall": (),
}
UNIT = "needle"
SCHEMA: Mapping[str, Table] = {
    "items": Table(
        (
            Column("id", "id", help="the reply's question, in its context"),
            Column("model", "id", required=False, groups=True, help="whose reply it is"),
            Column("needle", "id", required=False, empty_ok=True, help="the fact; replies about one are drawn together"),
            Column("haystack", "id", required=False, empty_ok=True, choices=haystack.KINDS, help="vanilla: nothing to do with the question"),
            Column("length", "float", required=False, empty_ok=True, low=0, help="tokens of the context"),
            Column("depth", "float", required=False, empty_ok=True, low=0, high=100, help="where the fact is, 0–1 or percent"),
            Column("question", "text", required=False, empty_ok=True),
            Column("reference", "texts", empty_ok=True, help="what the reply must hold; of several texts each", perhaps=("answer",), former=("expected",)),
            Column("answer", "text", empty_ok=True, keep_null=True, help="the reply; null: unscored", former=("reply",)),
            Column("lang", "id", required=False, empty_ok=True, help="ISO 639-1"),
        ),
        unique=("id", "model"),
        trials="model",
        required=False,
        help="one row per recorded reply",
    ),
    "needles": Table(
        (
            Column("id", "id"),
            Column("needle", "text", help="the sentence that is placed"),
            Column("question", "text"),
            Column("reference", "texts", help="what the reply must hold; of several texts each", former=("expected",)),
            Column("lang", "id", required=False, empty_ok=True, help="ISO 639-1"),
        ),
        unique=("id",),
        required=False,
        help="one row per fact, for asking a model",
    ),
    "haystacks": Table(
        (
            Column("id", "id"),
            Column("kind", "id", choices=haystack.KINDS, help="vanilla: nothing to do with the questions; or related"),
            Column("text", "text", help="texts of one kind and language are joined in order of their ids"),
            Column("lang", "id", required=False, empty_ok=True, help="ISO 639-1"),
        ),
        unique=("id",),
        required=False,
        help="texts that needles are placed in",
    ),
}  # fmt: skip


def needs(
    data: readers.Dataset,
    *,
    model: str = "",
    kinds: Sequence[str] = (),
    lengths: Sequence[int] = haystack.LENGTHS,
    needles_per_context: int = 1,
    tokenizer: str = haystack.WORDS,
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
) -> None:
    """Refuse data without replies where no model is asked, and grids that cannot be made."""
    sample = {"sample_method": sample_method, "n_samples": n_samples, "random_state": random_state}
    if not model:
        inputs.recorded(data, **sample)
        return
    grid_of = {"kinds": kinds, "lengths": lengths, "needles_per_context": needles_per_context}
    inputs.planned(data, **grid_of, tokenizer=tokenizer, **sample)  # type: ignore[arg-type]


def evaluate(
    data: readers.Dataset,
    *,
    model: str = "",
    prompt: str = "",
    temperature: float = 0.0,
    max_tokens: int = 64,
    lengths: Sequence[int] = haystack.LENGTHS,
    depths: Sequence[float] = haystack.DEPTHS,
    kinds: Sequence[str] = (),
    needles_per_context: int = 1,
    tokenizer: str = haystack.WORDS,
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    scorer: str = summary.SCORER,
    fuzzy_from: float = FUZZY_FROM,
    judge: str | Callable[[dict[str, Any]], object] = "",
    judge_prompt: str = "",
    judge_max_tokens: int = 1024,
    labels: str = "",
    labels_of: str = "",
    labels_scale: Sequence[float] = (),
    labels_drawn: str = "random",
    correction: str = "",
    least_fall: float = 0.2,
    green_from: float | None = None,
    yellow_from: float | None = None,
    lights: Mapping[str, Mapping[str, float]] = {},
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Score replies to questions about a fact in a context.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="needle")``: table items, or tables needles and haystacks for asking a model.
    model : str
        Ask this model about every cell of the grid; without it the table's replies are scored.
    prompt, temperature, max_tokens
        See :func:`evalbench.kit.collecting.asked`.
    lengths, depths
        Lengths of the contexts, in tokens; where the needle is, from 0 at the beginning to 1 at the end.
    kinds : sequence of str
        Kinds of haystack: ``vanilla``, ``related`` or both; by default those that there are.
    needles_per_context : int
        Needles in each context, all of which are asked for.
    tokenizer : str
        What lengths count: words, characters, or a file ``tokenizer.json`` (or a folder with one).
    sample_method, n_samples, random_state
        The ``first`` needles or replies, or ``random`` ones; how many needles or replies, 0 for all; of the random sample.
    scorer : {"contains", "first_number", "word", "fuzzy", "judge"}
        Whose score is the recall; the others are shown on the same replies.
    fuzzy_from : float
        Least similarity of a passage (0–1) that ``fuzzy`` counts.
    judge, judge_prompt, judge_max_tokens
        Who judges the replies besides, a model or ``recorded:FILE`` (empty: nobody); a folder of your own prompts ``correctness``; longest
        verdict of a language model.
    least_fall : float
        How far below its best at a shallower depth recall must lie to have fallen (0–1).
    green_from, yellow_from : float or None
        Recall that is green, at or above; recall that is yellow, below it red.  Both, or neither: then it is unlit.
    lights : mapping of str to mapping, optional
        Thresholds of further figures, ``{"recall_related": {"green_from": 0.9, "yellow_from": 0.7}}``.  The worst light
        decides.
    labels, labels_of, labels_scale, labels_drawn, correction, max_unscored, seed, n_resamples
        See :func:`evalbench.kit.labelled.given` and :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per reply.  ``tables``: ``replies``, ``cells``, ``falls`` where depths are known, with several models
        ``comparisons``, and ``calls`` where a model or judge was asked.

    Raises
    ------
    BadInput
        For faults of the options, missing tables, and contexts that cannot be made, all at once.
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    checks.choices(scorer=(*SCORERS, JUDGE))
    checks.any_of(kinds=haystack.KINDS)
    checks.share("fuzzy_from", "least_fall", "depths")
    checks.at_least(1, "needles_per_context", "lengths")
    checks.that(lengths and depths, "lengths and depths must have one number each, or more")
    checks.that(scorer != JUDGE or judge, "scorer judge needs a judge")
    one = "scorer first_number reads one number; for several needles in a context take contains or word"
    checks.that(scorer != "first_number" or needles_per_context == 1, one)
    summary.check_options(checks)
    if model:
        checks.tried(lambda: haystack.counter(tokenizer))
    checks.refuse("needle")
    humans = kit.labelled.given(summary.judged_measures(scorer, judge), **kit.taken(kit.labelled.given, options))
    data, trials = kit.trials.spread(data, SCHEMA)
    if model:
        plan = inputs.planned(data, **kit.taken(inputs.planned, options))
        found = inputs.asked_of(
            data,
            model,
            depths,
            plan,
            lengths,
            **{k: v for k, v in kit.taken(kit.collecting.asked, options).items() if k != "model"},
        )
    else:
        found = inputs.recorded(data, sample_method=sample_method, n_samples=n_samples, random_state=random_state)
    judging = {
        "seed": seed,
        "max_tokens": judge_max_tokens,
        "documents": kit.documents.documents_of(data.tables, judge),
    }
    docket = kit.judging.Docket(judge, prompt=judge_prompt, **judging) if judge else None
    each, replies, gathered = items_of(found.rows, scorer, fuzzy_from, docket)
    items, of_trials = trials.averaged(each, "id")
    items = kit.grouping.carried(items, data, unit="needle", names={"needles": "needle", "haystacks": "haystack"})
    heard = [docket.heard()] if docket else []
    items, fit, of_labels = humans.on(items, *heard, seed=seed, n_resamples=n_resamples)
    compared = kit.comparing.compare_groups(
        items,
        summary.measures(scorer)[:1],
        "model",
        units="needle",
        rank_by="recall",
        seed=seed,
        n_resamples=n_resamples,
    )
    fallen = falls_of(items, least_fall, seed, n_resamples)
    # A model's replies are not the table's.
    said = [note for note in data.notes if not (model and note.startswith(f"{data.files.get('items', ' ')}:"))]
    models = sorted(set(items["model"]))
    result = kit.result_of(
        evaluate,
        data,
        options | fit,
        items,
        tables={"replies": replies, "cells": cells(items)},
        some={"falls": fallen, "comparisons": compared},
        notes=(
            *kit.comparing.in_words(compared, "model", "recall", len(models)),
            *said,
            *found.notes,
            *gathered,
            *method.notes(items, replies, fallen, scorer),
            *of_labels,
        ),
        method=method.described(options),
        replies=found.calls,
        heard=heard,
    )
    return trials.reported(result, of_trials, summary.measures(scorer))


globals().update(offered(__name__))
