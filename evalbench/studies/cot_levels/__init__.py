"""Does the model's chain of thought hold: is the answer right, and do the steps lead to it?

Input: word problems with a reference solution in GSM8K's form (``<<a=b>>`` annotations, ``#### answer``) and responses in the same form
or in free text; or a model, then its responses are collected with the shipped prompt.  GSM8K's own files are read as they are.

Figures (method document ``explainability``; Cobbe et al. 2021): four levels, 0–1 each, and their weighted mean.  The
reference solutions are scored as responses too: what they miss on level 4 is what the level cannot see (facts such as 7
days a week), its ceiling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalbench import core, kit, readers
from evalbench.metrics import coherence, reasoning
from evalbench.readers.gsm8k import adapt as adapt
from evalbench.studies.contract import offered
from evalbench.studies.cot_levels import summary
from evalbench.studies.cot_levels.items import check_references
from evalbench.studies.cot_levels.made import SCHEMA as SCHEMA
from evalbench.studies.cot_levels.made import made_of
from evalbench.text.final_answers import MARKERS

QUESTION = "Does the model's chain of thought hold: is the answer right, and do the steps lead to it?"
MAKES_ITEMS = ("answer_extractor",)
MEASURED_BY = {
    **dict.fromkeys(("answer_extractor",), ("final", "passed", "answer")),
    **dict.fromkeys(("answer_markers", "article_as_one", "relative_tolerance"), ("*",)),
    "common_constants": ("final", "passed", "coherence", "sourced_steps", "reference_coherence"),
    "weights": ("final", "passed"),
    "threshold": ("passed",),
}
DEFAULT_WEIGHTS: Mapping[str, float] = dict(zip(reasoning.LEVELS, reasoning.WEIGHTS, strict=True))


def needs(data: readers.Dataset, *, model: str, n_samples: int, answer_markers: Sequence[str]) -> None:
    """Refuse a table without responses where no model is asked, and references without an answer."""
    if not model:
        kit.collecting.given(data["items"], "answer", "responses")
    if not n_samples:
        check_references(data["items"], tuple(answer_markers))


def evaluate(
    data: readers.Dataset,
    *,
    model: str = "",
    prompt: str = "",
    temperature: float = 0.0,
    max_tokens: int = 512,
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    answer_extractor: str = summary.STRICT,
    answer_markers: Sequence[str] = MARKERS,
    weights: Mapping[str, float] = DEFAULT_WEIGHTS,
    common_constants: str = "none",
    article_as_one: bool = False,
    relative_tolerance: float = 0.0,
    threshold: float = summary.THRESHOLD,
    stop_early: bool = False,
    stop_batch: int = kit.stopping.BATCH,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Score chains of thought on four levels.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="cot_levels")``: table items.
    model : str
        Collect this model's responses; without it the table's are scored.
    prompt, temperature, max_tokens, sample_method, n_samples, random_state
        See :func:`evalbench.kit.collecting.asked` and :func:`evalbench.kit.sampling.sample_ids`.
    answer_extractor : {"strict", "flexible"}
        What level 1 counts; both are reported.
    answer_markers : sequence of str
        What introduces the final answer, the most reliable first.
    weights : mapping of level to float
        Of ``answer, steps, similarity, coherence``.
    common_constants : str
        Numbers that need no source: ``none``, ``everyday`` (7, 12, 60, 100, …), or such as ``7,100``.
    article_as_one, relative_tolerance
        Whether *a* and *an* in a question give 1; relative error that an equation may have (0.001 accepts rounded results).
    threshold : float
        Mean final score that passes.
    stop_early, stop_batch, max_unscored, seed, n_resamples
        See :func:`evalbench.kit.early.collected` and :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per problem and model.  ``tables``: ``steps``, ``faults`` of steps, ``solutions`` and, where collected, ``calls``.

    Raises
    ------
    BadInput
        For faults of the options or references without an answer, all at once.
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    checks.choices(answer_extractor=(summary.STRICT, "flexible"))
    checks.texts("answer_markers", answer_markers)
    checks.weights("weights", weights, reasoning.LEVELS)
    constants = checks.tried(lambda: coherence.constants_of(common_constants))
    checks.share("relative_tolerance")
    kit.early.check(checks, data, "problems")
    checks.refuse("cot_levels")
    reading = kit.taken(reasoning.four_levels, options)
    reading |= {"markers": tuple(answer_markers), "common_constants": constants}
    own = {**options, "reading": reading}
    made = kit.parts.made(made_of, data, own, SCHEMA, here=bool(model), together=stop_early)
    assert made.data is not None
    assert made.texts is not None
    items = kit.grouping.carried(made.items, made.data)
    result = kit.result_of(
        evaluate,
        data,
        options,
        items,
        tables={**{name: made.tables[name] for name in ("steps", "faults")}, "solutions": made.texts, **made.tables},
        notes=(*data.notes, *summary.notes(items, made, model, answer_extractor, answer_markers)),
        method=summary.method(weights, threshold, **reading),
        accounting=made.accounting,
        stored=made.stored_as("solutions"),
        stopped=made.stopped,
        counted=("problem", "mean final score"),
    )
    return made.trials.reported(result, made.rows, summary.measures(threshold), summary.with_sums)


globals().update(offered(__name__))
