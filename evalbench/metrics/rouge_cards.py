"""The cards of ROUGE against references: of each type F1, and recall and precision, which many published tables print."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from evalbench.core.arrays import Floats
from evalbench.metrics.registry import metric
from evalbench.metrics.rouge import SentenceSplit, Several, rouge
from evalbench.metrics.text import References, Scores, Texts


class _Type(NamedTuple):
    summary: str
    section: str
    example: tuple[dict[str, list[str]], list[float]]
    recall: float = 2 / 3


_CAT = {"outputs": ["the cat sat"], "references": ["the cat ran"]}
_TYPES = {
    "rouge1": _Type("overlap of single words", "2", (_CAT, [2 / 3])),
    "rouge2": _Type("overlap of pairs of adjacent words", "2", (_CAT, [0.5]), recall=1 / 2),
    "rougeL": _Type(
        "longest common subsequence of words", "3.1", ({"outputs": ["a b c"], "references": ["a c b"]}, [2 / 3])
    ),
    "rougeLsum": _Type(
        "union of the sentences' longest common subsequences",
        "3.2",
        ({"outputs": ["a b\nc d"], "references": ["c d\na b"]}, [1.0]),
    ),
}
_PARTS = {
    "recall": "how much of the reference is in the output",
    "precision": "how much of the output is in the reference",
}
_SHORT = {"outputs": ["the cat"], "references": ["the cat ran"]}


def _scores_of(kind: str, part: str, summary: str) -> Callable[..., Floats | Scores]:
    def scores(
        outputs: Texts,
        references: References,
        *,
        several: Several = "best",
        stem: bool = False,
        sentence_split: SentenceSplit = "newline",
        language: str = "en",
    ) -> Floats | Scores:
        options: dict[str, Any] = {"several": several, "stem": stem, "language": language}
        found = rouge(outputs, references, [kind], sentence_split=sentence_split, **options)[kind]
        return found[part] if part else found

    scores.__name__ = scores.__qualname__ = f"{kind}_{part}" if part else kind
    scores.__doc__ = f"""{summary}.

    Of several references, that of the one with the best F1, or the mean over all (``several="mean"``).
    Parameters as :func:`evalbench.metrics.rouge.rouge`.

    Returns
    -------
    (n,) array in [0, 1]; of the F1 a mapping of ``f1``, ``precision``, ``recall``.
    """
    if kind != "rougeLsum":  # the others cut no sentences
        whole = inspect.signature(scores)
        taken = [each for each in whole.parameters.values() if each.name != "sentence_split"]
        scores.__signature__ = whole.replace(parameters=taken)  # type: ignore[attr-defined]
    return scores


def _register(kind: str, part: str = "") -> None:
    about, name = _TYPES[kind], f"{kind}_{part}" if part else kind
    title = kind.replace("rouge", "ROUGE-")
    metric(
        name=name,
        kind="texts",
        aliases=(name.lower(),) if "L" in kind else (),
        category="syntactic",
        range=(0, 1),
        higher_is_better=True,
        limitations="other words of the same meaning are misses; recall grows with the output's length",
        values="0: nothing in common; 1: identical" if not part else "",
        example=(_SHORT, [about.recall if part == "recall" else 1.0]) if part else about.example,
        reference=f"Lin 2004, ROUGE: a package for automatic evaluation of summaries, section {about.section}",
    )(_scores_of(kind, part, f"{title} {part}: {_PARTS[part]}" if part else f"{title}: {about.summary}"))


for _kind in _TYPES:
    for _part in ("", *_PARTS):
        _register(_kind, _part)
