"""Two tables in one: each row has what was asked and answered as it was written, and beside it the same of a changed question."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from evalbench.readers.role_names import plain, roles

ORIGINAL = frozenset((
    "original", "orig", "clean", "source", "base", "baseline", "before", "unperturbed", "initial", "исходный", "исходная", "исходное",
    "исходного", "оригинал", "оригинальный", "оригинала", "чистый", "до", "原始", "原文",
))  # fmt: skip
UNCHANGED = ORIGINAL | {"", "без изменений"}
"""What the change of a question as it was written is called in a column of changes."""
CHANGED = frozenset((
    "perturbed", "perturbation", "noisy", "noise", "noised", "augmented", "augmentation", "changed", "modified", "corrupted", "attacked",
    "attack", "adversarial", "variant", "varied", "mutated", "altered", "distorted", "after", "new", "typo", "typos", "misspelled",
    "paraphrase", "paraphrased", "rephrased", "reworded", "translated", "shuffled", "искаженный", "искажённый", "искаженного",
    "искажённого", "измененный", "изменённый", "измененного", "изменённого", "опечатками", "опечатки", "шумный", "вариант", "варианта",
    "перефразированный", "перефразированного", "после", "扰动", "变体", "改写", "修改",
))  # fmt: skip
_SMALL = frozenset(("with", "of", "to", "the", "на", "с", "к", "от"))
_HELD = ("question", "answer", "reference", "contexts")
"""Roles by which columns of other names are paired."""
_CHINESE = re.compile(r"(原始|原文|扰动|变体|改写|修改)(?:后的?|的)?")


class Beside(NamedTuple):
    """Columns by the role, or the name, of what they hold but for the word that says whose it is.

    - ``original``: Of the rows as they were written.
    - ``changed``: The word of each changed set to its columns.
    """

    original: dict[str, str]
    changed: dict[str, dict[str, str]]


def beside(columns: Sequence[str], but: Collection[str] = ()) -> Beside | None:
    """Columns that stand beside each other in pairs; None where no pair does.

    - ``but``: Columns that are no part of a pair, such as that of the kind of change.

    Examples
    --------
    >>> beside(["question", "answer", "perturbed_question", "perturbed_answer"])
    Beside(original={'question': 'question', 'answer': 'answer'}, changed={'perturbed': {'question': 'perturbed_question', 'answer': 'perturbed_answer'}})
    >>> beside(["answer_before", "answer_after"]).changed, beside(["question", "answer"])
    ({'after': {'answer': 'answer_after'}}, None)
    """
    original: dict[str, str] = {}
    changed: dict[str, dict[str, str]] = {}
    for column in (c for c in columns if c not in but):
        words = [word for word in _CHINESE.sub(r" \1 ", plain(column)).split() if word not in _SMALL]
        said = [word for word in words if word in CHANGED]
        rest = " ".join(word for word in words if word not in CHANGED | ORIGINAL)
        if not rest:
            continue
        rest = next((name for name in _HELD if rest == name or rest in roles()[name].names), rest)
        if said:
            changed.setdefault(said[0], {})[rest] = column
        else:
            original[rest] = column
    known = {word: pairs for word, own in changed.items() if (pairs := {r: c for r, c in own.items() if r in original})}
    return Beside(original, known) if known else None
