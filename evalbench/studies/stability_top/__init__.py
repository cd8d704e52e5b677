"""Does a search find the same passages when the question is written otherwise?

Input: questions and documents; the questions are changed here (or a table of variants has them changed), and the nearest documents of
both are found by an embedding model.  Or what your own search found for questions and for their variants: then nothing is searched here.
No answer and no judgement of relevance is needed.

Figures (method document ``handbook``, stability of the top of a RAG under augmentations): the share of questions whose first k passages
are the same ones (strict), the mean share of passages that stay (soft), Jaccard similarity, rank-biased overlap; at every depth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalbench import core, kit, readers
from evalbench.metrics.top_k import PERSISTENCE
from evalbench.models.accounting import embeddings_counted
from evalbench.studies.contract import offered
from evalbench.studies.stability_top import inputs, method, summary
from evalbench.studies.stability_top.items import compared, items_of, recorded, searched, texts_of
from evalbench.text.augment import AUGMENTATIONS, SCHEMES, check_protect

QUESTION = "Does a search find the same passages when the question is written otherwise?"
MAKES_ITEMS = ("k",)
MEASURED_BY = {"k": ("*",), "deepest": (), "persistence": ("rbo",)}
JUDGED_OPTIONS = ("embed",)


def evaluate(
    data: readers.Dataset,
    *,
    k: int = inputs.K,
    deepest: int = 10,
    augmentations: Sequence[str] = tuple(AUGMENTATIONS),
    rates: Mapping[str, float | Sequence[float]] = {},
    protect: Sequence[str] = (),
    scheme: str = "ala-lc",
    embed: str = "use-multilingual",
    persistence: float = PERSISTENCE,
    rephraser: str = "",
    prompt: str = "",
    temperature: float = 0.0,
    max_tokens: int = 512,
    lights: Mapping[str, Mapping[str, float]] = {},
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Compare what is found for questions with what is found for variants of them.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="stability_top")``: tables questions and documents, optional variants; or table tops.
    k, deepest : int
        How many passages your system reads: the depth of the headline and of the lights; the figures are shown at the depths 1 to this one.
    augmentations : sequence of str
        What questions are changed by: ``butter_finger``, ``word_swap``, ``human_level``, ``special_token``, ``transliterate``, ``none``
        as a control; with a model ``paraphrase``, ``translate_ru_en``, ``translate_ru_uk_ru`` and other languages.
    rates, protect
        Augmentation → the share of letters or words that it changes (0–1), or several shares, where not its own default; what augmentations
        leave as it is: ``numbers``, ``code``, ``urls``.
    scheme : str
        Of ``transliterate``: ``ala-lc``, ``iso-9``, ``gost-7.79-b``, or as the packages ``cyrtranslit`` and ``transliterate`` have it.
    embed, rephraser : str
        Embedding model that searches; the model that writes paraphrases and translations.
    persistence : float
        Of rank-biased overlap (0–1): the lower, the more the first ranks count.
    prompt, temperature, max_tokens, sample_method, n_samples, random_state
        See :func:`evalbench.kit.collecting.asked` and :func:`evalbench.kit.sampling.sample_ids`.
    lights : mapping of str to mapping, optional
        Thresholds instead of the document's, at or above: ``{"unchanged_soft": {"green_from": 0.9, "yellow_from": 0.5}}``.
    max_unscored, seed, n_resamples
        See :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per question and augmentation.  ``tables``: ``texts`` (both texts and tops), ``by_k``; ``calls`` where a
        model was asked.

    Raises
    ------
    BadInput
        For faults of the options and missing tables, all at once.
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    checks.within(1, 1000, "k", "deepest")
    checks.inside(0, 1, "persistence")
    checks.choices(scheme=SCHEMES)
    checks.faults += check_protect(protect)
    checks.tried(lambda: inputs.shares_of(augmentations, rates))
    rules = checks.tried(lambda: summary.rules_of(lights)) or {}
    checks.refuse("stability_top")
    options["lights"] = rules
    inputs.needs(data, **kit.taken(inputs.needs, options))
    own, replies, spent = data.get("tops"), [], []
    said: list[str] = []
    depth = max(deepest, k)
    if own is not None:
        tops = recorded(own, data.get("questions"), data.get("variants"), depth)
        if k > (held := tops.before.shape[1]):
            said = [core.Note("sample", f"no top has {k} passages (k): the figures are those of the first {held}")]
    else:
        settings = {
            name: value
            for name, value in kit.taken(kit.collecting.asked, options).items()
            if name not in ("model", "seed")
        }
        variants = inputs.variants_of(data, **kit.taken(inputs.variants_of, options), **settings)
        said, replies = variants.notes, variants.replies
        with embeddings_counted() as spent:
            tops = searched(variants.rows, data["documents"], embed, depth)
    found = compared(tops, persistence)
    items = kit.grouping.carried(items_of(tops, found, k), data)
    by_k = summary.by_k_of(
        tops.rows[["id", "augmentation", "unscored", "undefined"]], found, seed=seed, n_resamples=n_resamples
    )
    made = own is None and data.get("variants") is None
    return kit.result_of(
        evaluate,
        data,
        options,
        items,
        by=("augmentation",),
        judged="the search of the table" if own is not None else f"search by {embed}",
        items_of="questions × augmentations",
        tables={"texts": texts_of(tops, k), "by_k": by_k},
        notes=(*data.notes, *said, *tops.notes, *method.notes(items)),
        method=method.described(options, made=made, recorded=own is not None),
        replies=replies,
        spent=spent,
    )


globals().update(offered(__name__))
