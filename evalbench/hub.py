"""Our metrics as ``evaluate.Metric``, for use beside metrics of the hub in ``evaluate.combine``.

``evaluate`` imports transformers and torch for its ``evaluator``, which no metric needs; here it is imported without them,
at a fraction of the time.  Who wants the evaluator in the same process imports ``evaluate`` first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.imports import import_without
from evalbench.errors import BadInput
from evalbench.metrics.registry import COLUMNS, card, options_of
from evalbench.metrics.text import score

if TYPE_CHECKING:
    import evaluate

    from evalbench.metrics.registry import Card


def metric(name: str, **options: Any) -> evaluate.Metric:
    """One of our text metrics as an ``evaluate.Metric``.

    Parameters
    ----------
    name : str
        Name or alias; ``evalbench metrics list`` shows them.
    **options
        The metric's own: ``language``, ``normalise``, ``tokenize``, ``bert_model``, …; ``embed`` is an embedding model's
        name or a function, ``contradict`` a function.

    Returns
    -------
    evaluate.Metric
        ``compute(predictions=…, references=…)``: the mean over the texts that have a value, under the metric's name, its
        parts as ``name_part``, and ``name_n``, the number of those texts; NaN where there is none.  Corpus BLEU as ``sacrebleu_corpus``.
        ``references`` may be texts or lists of texts; metrics that need them also take ``contexts``, ``requests``, ``samples``.

    Raises
    ------
    BadInput
        If there is no such text metric, an option is not the metric's own, or one that it needs is missing.

    Examples
    --------
    >>> exact = metric("exactmatch")
    >>> exact.compute(predictions=["да"], references=["да"])
    {'exact_match': 1.0, 'exact_match_n': 1}
    """
    evaluate = import_evaluate()
    import datasets

    try:
        entry = card(name)
    except KeyError as error:
        raise BadInput(str(error.args[0])) from error
    if entry.kind not in ("text", "texts"):
        raise BadInput(f"{entry.name} is a metric of {entry.kind}, not of texts")
    own = _own_options(entry, options)
    columns = [f"{need}s" if need != "samples" else need for need in entry.needs]
    columns = [column for column in columns if column in COLUMNS]
    text = datasets.Value("string")

    def features(each: Any) -> Any:
        return datasets.Features({"predictions": text, **dict.fromkeys(columns, each)})

    class Adapter(evaluate.Metric):  # type: ignore[misc, name-defined]
        def _info(self) -> Any:
            return evaluate.MetricInfo(
                description=entry.summary,
                citation=entry.reference,
                inputs_description=f"predictions, {', '.join(columns)}",
                features=[features(text), features(datasets.Sequence(text))] if columns else features(text),
            )

        def _compute(self, predictions: Sequence[str], **inputs: Any) -> dict[str, float]:
            return _means(entry.name, score(entry, predictions, **inputs, **own))

    return Adapter(config_name=entry.name, keep_in_memory=True)


def _own_options(entry: Card, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a metric, checked; an embedding model by its name becomes a function."""
    import inspect

    taken = options_of(entry)
    faults = [f"no option {name}; there are {', '.join(taken) or 'none'}" for name in options if name not in taken]
    faults += [
        f"{name} is needed: {name}=…"
        for name, default in taken.items()
        if default is inspect.Parameter.empty and name not in options
    ]
    if faults:
        raise BadInput.listing(f"{entry.name}:", faults)
    name = options.get("embed")
    if not isinstance(name, str):
        return dict(options)
    from evalbench.models.similarity.embed import embed

    return {**options, "embed": lambda texts: embed(texts, name)}


def import_evaluate() -> Any:
    """The package ``evaluate``, without what its metrics do not need."""
    import warnings

    with warnings.catch_warnings():
        # tqdm regrets the absence of notebook widgets; the report would show it, with a path of this machine.
        warnings.filterwarnings("ignore", message="IProgress not found")
        return import_without("evaluate", "transformers", "scipy.stats")


def _means(name: str, scores: Any) -> dict[str, float]:
    from evalbench.metrics.translation import BLEU_COUNTS, corpus_bleu

    headline = np.asarray(scores[name], dtype=float)
    counts = {f"{name}_{count}" for count in BLEU_COUNTS}
    found = {
        key: float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")
        for key, values in scores.items()
        if key not in counts
    }
    if counts <= set(scores):
        sums = [np.asarray(scores[f"{name}_{count}"]).sum(keepdims=True) for count in BLEU_COUNTS]
        found[f"{name}_corpus"] = float(corpus_bleu(*sums)[0])
    return {**found, f"{name}_n": int(np.isfinite(headline).sum())}


def load_script(script: str) -> evaluate.Metric:
    """A local ``evaluate`` script by its path, absolute or below the workbench.

    Raises
    ------
    BadInput
        If there is no such file.
    """
    from pathlib import Path

    from evalbench.workbench import root

    path = Path(script)
    path = path if path.is_absolute() else root() / script
    if not path.is_file():
        raise BadInput(f"metric script {path}: no such file")
    return import_evaluate().load(str(path), keep_in_memory=True)
