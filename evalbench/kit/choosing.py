"""Which text metrics a table and this machine allow, and why the others were not asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from importlib.util import find_spec

from evalbench.errors import ModelUnavailable
from evalbench.judge.entail import BASELINE
from evalbench.kit.metric_options import Options
from evalbench.metrics import cards
from evalbench.metrics.registry import CATEGORIES, Card, card

AUTO = "auto"
# What a card needs → the column of the table that has it.
COLUMNS = {"reference": "reference", "context": "contexts", "request": "question", "samples": "samples"}
_PARTS = ("_precision", "_recall")


def allowed(
    columns: Collection[str], options: Options, among: Iterable[str] | None = None
) -> tuple[list[str], tuple[str, ...]]:
    """The text metrics that a table and this machine allow, by category, and notes on those that were not asked.

    Parameters
    ----------
    columns : collection of str
        Of the table; a metric that needs another one is not asked.
    options : mapping
        See :mod:`evalbench.kit.metric_options`.
    among : iterable of str, optional
        By default all but those that others compute as their parts, such as ``rouge1_recall``.

    Examples
    --------
    >>> names, notes = allowed(["id", "answer"], {"judge": "", "bert_model": "", "embed": "use-multilingual"})
    >>> names
    ['length']
    >>> notes[0]
    'Not asked: context_contradiction, knowledge_f1_score, rouge_for_context (needs a column contexts).'
    """
    entries = [card(name) for name in among] if among is not None else _headlines()
    missing = {entry.name: _missing(entry, columns, options) for entry in entries}
    reasons = sorted({why for why in missing.values() if why})
    return [name for name, why in missing.items() if not why], tuple(
        f"Not asked: {', '.join(name for name, why in missing.items() if why == reason)} ({reason})."
        for reason in reasons
    )


def _headlines() -> list[Card]:
    """Every metric of texts, by category; what is only 0 or 1 after what has degrees."""
    entries = [entry for entry in cards() if not entry.name.endswith(_PARTS)]
    return sorted(entries, key=lambda entry: (CATEGORIES.index(entry.category), entry.unit == "0/1", entry.name))


def _missing(entry: Card, columns: Collection[str], options: Options) -> str:
    """What a metric needs and does not find; empty where it can be computed."""
    lacking = [COLUMNS[need] for need in entry.needs if need in COLUMNS and COLUMNS[need] not in columns]
    if lacking:
        return f"needs a column {' and '.join(lacking)}"
    packages = [need.removeprefix("package:") for need in entry.needs if need.startswith("package:")]
    absent = [package for package in packages if find_spec(package.replace("-", "_")) is None]
    if absent:
        return f"needs a package: pip install {' '.join(absent)}"
    if "WordNet" in entry.needs:
        return "" if options.get("meteor_synonyms") else "in place of meteor: -p meteor_synonyms=true"
    if entry.name == "meteor" and options.get("meteor_synonyms"):
        return "meteor_synonyms is in its place"
    if "contradict" in entry.needs and options["judge"] in ("", BASELINE):
        return "needs a judge of contradiction: -p judge=openai/gpt-4o"
    if "bert_model" in entry.needs and not options["bert_model"]:
        return "needs a model: -p bert_model=FOLDER -p bert_layers=LAYER"
    return _no_vectors(options["embed"]) if "embed" in entry.needs else ""


def _no_vectors(name: str) -> str:
    """Why an embedding model that comes in a package is not there; any other one is asked."""
    from evalbench.models.similarity.encoders import installed

    try:
        installed(name)
    except ModelUnavailable as error:
        return f"needs an {error}"
    return ""
