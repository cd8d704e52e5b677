"""ROUGE's recall and precision as metrics of their own: what many published tables print in the place of F1."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from evalbench.core.arrays import Floats
from evalbench.metrics.registry import metric
from evalbench.metrics.rouge import SentenceSplit, Several, rouge
from evalbench.metrics.text import References, Texts

_OF = {
    "recall": ("how much of the reference is in the output", {"rouge2": 1 / 2}, 2 / 3),
    "precision": ("how much of the output is in the reference", {}, 1.0),
}
_SECTION = {"rouge1": "2", "rouge2": "2", "rougeL": "3.1", "rougeLsum": "3.2"}


def _part(kind: str, part: str) -> Callable[..., Floats]:
    def share(
        outputs: Texts,
        references: References,
        *,
        several: Several = "best",
        stem: bool = False,
        sentence_split: SentenceSplit = "newline",
        language: str = "en",
    ) -> Floats:
        found = rouge(
            outputs, references, [kind], several=several, stem=stem, sentence_split=sentence_split, language=language
        )
        return found[kind][part]

    meaning = _OF[part][0]
    share.__name__ = share.__qualname__ = f"{kind}_{part}"
    share.__doc__ = f"""{kind.replace("rouge", "ROUGE-")} {part}: {meaning}.

    Of several references, that of the one with the best F1, or the mean over all (``several="mean"``).
    Parameters as :func:`evalbench.metrics.rouge.rouge`.

    Returns
    -------
    (n,) array
        In [0, 1].
    """
    return share


for _kind, _name in product(_SECTION, _OF):
    _, _special, _usual = _OF[_name]
    metric(
        name=f"{_kind}_{_name}",
        kind="texts",
        aliases=(f"{_kind}_{_name}".lower(),) if "L" in _kind else (),
        range=(0, 1),
        higher_is_better=True,
        example=({"outputs": ["the cat"], "references": ["the cat ran"]}, [_special.get(_kind, _usual)]),
        reference=f"Lin 2004, ROUGE: a package for automatic evaluation of summaries, section {_SECTION[_kind]}",
    )(_part(_kind, _name))
