"""Are the sources that the model cites real, do they support what it says, and is the answer right?

Input: questions, with gold answers where there are any; answers with marks such as ``[1]`` and a list of citations; the texts of the
sources where they are at hand; or a model, then its cited answers are collected with the shipped prompt.  NQ-open, EfficientQA and Natural
Questions are read as they are published.

Figures (method document ``explainability``; Gao et al. 2023): support and source verification per citation, their weighted mean
(interpretability), correctness per answer, and the final score; ALCE's citation recall and precision beside them.  Without a
gold answer correctness is undefined and the final score is interpretability; without a quote there is nothing to verify in a
supplied source, and interpretability is support.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from evalbench import core, kit, readers
from evalbench.judge.entail import BASELINE
from evalbench.studies.citation import forms, method, summary
from evalbench.studies.citation.inputs import SCHEMA as SCHEMA
from evalbench.studies.citation.items import CONSISTENCY, FINAL_WEIGHTS, WEIGHTS
from evalbench.studies.citation.made import made_of
from evalbench.studies.citation.sources import check as check
from evalbench.studies.contract import offered

QUESTION = "Are the sources that the model cites real, do they support what it says, and is the answer right?"
MEASURED_BY = {
    **dict.fromkeys(("check_urls", "allow_hosts", "sources_complete"), ("*",)),
    "quote_threshold": ("final", "passed", "interpretability", "verification", "fabricated_citations"),
    "credibility_file": ("source_credibility",),
    **dict.fromkeys(("support_on", "weights"), ("final", "passed", "interpretability", "support")),
    "final_weights": ("final", "passed"),
    "threshold": ("passed",),
}

DEFAULT_WEIGHTS: Mapping[str, float] = dict.fromkeys(WEIGHTS, 0.5)
DEFAULT_FINAL_WEIGHTS: Mapping[str, float] = dict.fromkeys(FINAL_WEIGHTS, 0.5)


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Natural Questions' published files, and answers with their sources beside them, as our tables."""
    return forms.answers_of(readers.nq.questions(frames, said=forms.said_in(frames)))


def evaluate(
    data: readers.Dataset,
    *,
    model: str = "",
    prompt: str = "",
    temperature: float = 0.0,
    max_tokens: int = 1024,
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    judge: str | Callable[[dict[str, Any]], object] = BASELINE,
    judge_prompt: str = "",
    judge_max_tokens: int = 1024,
    check_urls: bool = False,
    allow_hosts: Sequence[str] = (),
    sources_complete: bool = False,
    quote_threshold: float = 0.9,
    credibility_file: str = "",
    support_on: str = "support",
    weights: Mapping[str, float] = DEFAULT_WEIGHTS,
    final_weights: Mapping[str, float] = DEFAULT_FINAL_WEIGHTS,
    labels: str = "",
    labels_of: str = "",
    labels_scale: Sequence[float] = (),
    labels_drawn: str = "random",
    correction: str = "",
    threshold: float = summary.THRESHOLD,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Judge cited answers.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="citation")``: tables answers, sources.
    model : str
        Collect this model's answers; without it the table's are judged.
    prompt : str
        Your own prompt file; by default ``cited_answer`` in the question's language.
    temperature, max_tokens, sample_method, n_samples, random_state
        See :func:`evalbench.kit.collecting.asked` and :func:`evalbench.kit.sampling.sample_ids`.
    judge : str or callable
        Who judges support and correctness: a chat model, ``agent:MODEL`` (one that looks things up), the folder of a cross-encoder, ``recorded:FILE`` or
        ``baseline/lexical``, see :func:`evalbench.judge.verdicts.judge`.
    judge_prompt, judge_max_tokens
        A folder of your own prompts ``entailment`` and ``correctness``; longest verdict of a language model.
    check_urls, allow_hosts
        Whether addresses without a supplied text are fetched from the web; hosts that may lie in a private network, as ``host:port`` for a
        port other than 80 and 443.  See :mod:`evalbench.web.fetch`.
    sources_complete : bool
        Whether the supplied sources are all that the model had: an unknown one is then fabricated.
    quote_threshold : float
        Least similarity (0–1) at which a quote or claim counts as found in its source.
    credibility_file : str
        Your own list of kinds of sources and their hosts; by default the shipped ``credibility.yaml``.
    support_on : {"support", "claim_consistency_explainability"}
        What counts as support in the score: ``support`` (the source against the claim), or
        ``claim_consistency_explainability`` (the answer against it, as in the method document).
    weights, final_weights : mapping of str to float
        Weights of interpretability; weights of the final score.  What is undefined has no weight.
    threshold : float
        Mean final score at which a model passes.
    labels, labels_of, labels_scale, labels_drawn, correction, max_unscored, seed, n_resamples
        See :func:`evalbench.kit.labelled.given` and :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per answer.  ``tables``: ``citations``, ``statements``, ``answers``, ``calls``, and ``pages`` where fetched.

    Raises
    ------
    BadInput
        For faults of the options or of lists of citations, all at once.
    """
    parameters = kit.stated(evaluate, locals())
    checks = kit.Checks(parameters)
    checks.choices(support_on=("support", CONSISTENCY))
    checks.weights("weights", weights, WEIGHTS)
    checks.weights("final_weights", final_weights, FINAL_WEIGHTS)
    checks.share("quote_threshold")
    checks.refuse("citation")
    check(data)
    credibility = readers.credibility.read_credibility(credibility_file)
    dealt = kit.parts.is_dealt(data["answers"])
    given = partial(kit.labelled.given, summary.judged_measures(threshold), **kit.taken(kit.labelled.given, parameters))
    humans = given(rows=None if dealt else data["answers"])
    made = kit.parts.made(
        made_of,
        data,
        {**parameters, "judge": judge, "credibility": credibility, "in_parts": dealt},
        SCHEMA,
        here=bool(model) or kit.judging.asks_a_model(judge),
        together=check_urls or kit.documents.is_searched(judge),
    )
    assert made.data is not None
    assert made.texts is not None
    if dealt:
        humans = given(rows=made.items)
    resampled: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
    items, fit, said = humans.on(kit.grouping.carried(made.items, made.data), *made.heard(), **resampled)
    first = {name: made.tables[name] for name in ("citations", "statements")}
    result = kit.result_of(
        evaluate,
        data,
        parameters | fit,
        items,
        tables={**first, "answers": made.texts, **made.tables},
        notes=(*data.notes, *method.notes(made, items, **kit.taken(method.notes, parameters)), *said),
        method=method.described(parameters),
        accounting=made.accounting,
        stored=made.stored_as("answers"),
    )
    return made.trials.reported(result, made.rows, summary.measures(threshold), summary.with_sums)


globals().update(offered(__name__))
