"""Options that measure, and those that are judged: two runs that differ in an option that measures differ in their figures by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

ALL = ("*",)
MEASURED_BY: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("seed", "n_resamples", "max_unscored", "floor", "metrics", "stop_early", "stop_batch"), ()),
    **dict.fromkeys(("lights", "light_on", "green_from", "green_to", "yellow_from", "yellow_to"), ()),
    # The judge has an outcome of its own, and a correction by labels is none of the figures that are compared.
    **dict.fromkeys(("judge", "judge_prompt", "judge_max_tokens"), ()),
    **dict.fromkeys(("labels", "labels_of", "labels_scale", "labels_drawn", "correction"), ()),
    **dict.fromkeys(("threshold", "weights", "metric", "embed", "dtype", "missing", "context_threshold"), ALL),
    **dict.fromkeys(("language", "normalise", "references", "stem", "sentence_split"), ALL),
    **dict.fromkeys(("meteor_synonyms", "bleu_tokenize", "bert_model", "bert_layers"), ALL),
    **dict.fromkeys(("augmentations", "rates", "protect", "scheme", "rephraser"), ALL),
}
"""Options that several studies have → the figures that they move; a study's own word counts before it."""
JUDGED = ("model", "prompt", "temperature", "max_tokens", "sample_method", "n_samples", "random_state")
"""Options that several studies have and that are part of what is judged."""


def of_study(
    options: Iterable[str], measured_by: Mapping[str, Sequence[str]], judged: Sequence[str]
) -> tuple[dict[str, Sequence[str]], tuple[str, ...]]:
    """A study's options that measure, with the figures that they move, and those that are judged.

    Examples
    --------
    >>> of_study(["model", "k", "embed", "seed"], {"k": ("recall",)}, ["embed"])
    ({'k': ('recall',), 'seed': ()}, ('model', 'embed'))
    """
    own = list(options)
    of = {name: figures for name, figures in MEASURED_BY.items() if name not in judged}
    of = {**of, **{name: () for name in own if name.endswith("_floor")}, **measured_by}
    judges = (*JUDGED, *judged)
    return (
        {name: of[name] for name in own if name in of},
        tuple(name for name in own if name in judges and name not in measured_by),
    )


def moves(figures: Sequence[str], metric: str) -> bool:
    """Whether a figure is one of those named; a name may have ``*`` for any letters.

    Examples
    --------
    >>> moves(("rouge*",), "rougeL"), moves(("passed",), "final"), moves((), "final")
    (True, False, False)
    """
    return any(fnmatchcase(metric, name) for name in figures)
