"""Options of rag_tuning: every fault in one message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalbench import errors, kit, readers
from evalbench.metrics import rank_fusion, registry
from evalbench.studies.rag_tuning import rag, sections, summary
from evalbench.text.chunks import check_size


def checked(options: Mapping[str, Any], data: readers.Dataset) -> registry.Card | None:
    """The text metric that is tuned for, if it is one; refuses all faults at once."""
    checks = kit.Checks(options)
    checks.at_least(0, "n_chunks", "n_rewrites", "overlap")
    checks.at_least(1, "k", "patience", "most_k", "graph_from", "chunk_size")
    checks.at_least(2, "n_search")
    summary.check_options(checks)
    checks.that(0 <= options["min_mark"] < 5, f"min_mark must be from 0 to below 5, got {options['min_mark']!r}")
    checks.choices(fusion=rank_fusion.FUSIONS)
    for name, known in (("chunker", (rag.SENTENCES, rag.WHOLE)), ("search", rag.SEARCHES)):
        if not str(options[name]).startswith("function:"):
            checks.choice(name, options[name], known)
    checks.vectors()
    _check_sizes(checks, options)
    key = checks.tried(lambda: _card(options))
    checks.faults += [f"target_metric: {fault}" for fault in (_unfit(key, options, data) if key else ())]
    checks.refuse("rag_tuning")
    return key


def metric_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a metric of answers, which this study computes in its plainest form."""
    return {
        "language": options["language"], "normalise": "full", "references": "best", "stem": False, "sentence_split": "newline",
        "meteor_synonyms": False, "bleu_tokenize": "13a", "embed": options["embed"], "judge": "", "bert_model": "", "bert_layers": None,
    }  # fmt: skip


def _card(options: Mapping[str, Any]) -> registry.Card | None:
    target = options["target_metric"]
    if target in sections.JUDGED:
        return registry.card(target)
    return None if target in sections.RETRIEVAL else kit.metric_options.metrics_of([target], metric_options(options))[0]


def _unfit(key: registry.Card, options: Mapping[str, Any], data: readers.Dataset) -> Iterator[str]:
    """Why nothing can be tuned for a metric of answers."""
    if key.higher_is_better is not True:
        yield f"of {key.name} more is not better, so nothing can be tuned for it"
    if not options["model"]:
        yield f"{key.name} scores answers, so it needs a model; without one: {', '.join(sections.RETRIEVAL)}"
    if key.name not in sections.JUDGED and "contradict" in key.needs:
        yield f"{key.name} needs a judge of contradiction, which this study has not"
    of_reference = "reference" in key.needs or key.name == "answer_correctness"
    if of_reference and data["questions"].get("reference") is None:
        yield f"{key.name} needs right answers, a column reference of the questions"


def _check_sizes(checks: kit.Checks, options: Mapping[str, Any]) -> None:
    """Sizes and overlaps that no chunk can have, each combination that is tried."""
    tried = [("", options["chunk_size"], options["overlap"])]
    tried += [("chunk_sizes × overlaps: ", a, b) for a in options["chunk_sizes"] for b in options["overlaps"]]
    for where, size, repeated in tried:
        try:
            check_size(size, repeated)
        except errors.BadInput as error:
            said = [f"{where}{fault}" for fault in error.faults]
            checks.faults += [fault for fault in said if fault not in checks.faults and (where or "below the" in fault)]
