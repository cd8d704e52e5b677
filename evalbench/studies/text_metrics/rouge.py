"""ROUGE's options of a run: checked before anything is scored, and stated on the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from evalbench.errors import BadInput
from evalbench.metrics.rouge import SentenceSplit, Several
from evalbench.text.sentences import splitter
from evalbench.text.stems import stemmer_name

if TYPE_CHECKING:
    import pandas as pd


def rouge_options(
    metrics: Iterable[str], *, references: str, stem: bool, sentence_split: str, language: str
) -> dict[str, Any]:
    """The options as ROUGE takes them.

    Raises
    ------
    BadInput
        For unknown values, a language without a stemmer, and options that differ from their defaults where no metric
        among the names takes them, all at once.
    """
    names, faults = list(metrics), []
    for option, value, known, of in (
        ("references", references, get_args(Several), _by_references(names)),
        ("sentence_split", sentence_split, get_args(SentenceSplit), _by_lines(names)),
        ("stem", stem, (False, True), _rouge(names)),
    ):
        if value not in known:
            faults.append(f"{option} is {value!r}; {' or '.join(map(str, known))}")
        elif value != known[0] and not of:
            faults.append(f"{option}={value!r} has no effect: none of the metrics takes it")
    if stem is True and _rouge(names) and not stemmer_name(language):
        faults.append(f"stem: there is no stemmer for language {language!r}")
    if faults:
        raise BadInput.listing("options of ROUGE:", faults)
    return {"several": references, "stem": stem, "sentence_split": sentence_split}


def rouge_said(metrics: Iterable[str], options: Mapping[str, Any]) -> tuple[str, ...]:
    """How ROUGE was computed; nothing where it is not among the metrics."""
    names, language = list(metrics), options["language"]
    said = []
    if options["stem"]:
        said.append(
            f"{', '.join(_rouge(names))}: words of more than three characters as stems ({stemmer_name(language)})."
        )
    if _by_references(names) and options["several"] == "mean":
        said.append(f"{', '.join(_by_references(names))}: of several references, the mean over all.")
    if _by_lines(names):
        by = "line ends" if options["sentence_split"] == "newline" else splitter(language)
        said.append(f"{', '.join(_by_lines(names))}: sentences cut by {by}.")
    return tuple(said)


def without_lines(frame: pd.DataFrame, metrics: Iterable[str], options: Mapping[str, Any]) -> list[str]:
    """A note where ROUGE-Lsum by lines is ROUGE-L, because no text has two lines."""
    names = _by_lines(list(metrics))
    if not names or options["sentence_split"] != "newline":
        return []
    texts = [*frame["output"], *(text for several in frame["reference"] for text in several)]
    if any(len(text.strip("\n").split("\n")) > 1 for text in texts if text):
        return []
    plain = ", ".join(name.replace("Lsum", "L") for name in names)
    return [
        f'Every text is one line, so that {", ".join(names)} equals {plain}; with sentence_split "sentences" it compares sentences.'
    ]


def _rouge(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith("rouge")]


def _by_references(names: Iterable[str]) -> list[str]:
    return [name for name in _rouge(names) if name != "rouge_for_context"]


def _by_lines(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith("rougeLsum")]
