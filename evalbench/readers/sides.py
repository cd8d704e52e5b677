"""Which of a table's columns holds what is true, and which what a model found, by the words of their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote
from typing import NamedTuple

from evalbench.errors import BadInput
from evalbench.readers.role_names import plain

_TRUE = r"gold(?:en)?|true|truth|expected|references?|human|people|experts?|manual|эталон\w*|истин\w*|эксперт\w*|真实\w*|人工\w*|标准\w*|正确\w*"
_LABELLED = r"labels?|labell?ed|annotat\w*|correct|target|разме\w*|标注\w*"
"""Words of what is true, unless another word of the name says that a model gave it."""
_FOUND = (
    r"pred\w*|found|detect\w*|extract\w*|models?|system|outputs?|auto\w*|machine|llm|gpt|ner|checker|checked|"
    r"предсказ\w*|найден\w*|модел\w*|预测\w*|检测\w*|模型\w*"
)
_WORD = re.compile(r"[^\W\d_]+")


class Sides(NamedTuple):
    """The column of what is true, and those of what was found; several are of as many models."""

    true: str
    found: tuple[str, ...]


def sides_of(columns: Sequence[str], what: str, targets: tuple[str, str]) -> Sides | None:
    """The sides of columns that list the same kind of thing; None for fewer than two.

    - ``what``: Of what, for the question.
    - ``targets``: The names under which both sides are read without asking.

    Raises ``BadInput`` where the names do not tell them apart: one question.

    Examples
    --------
    >>> sides_of(["errors", "predicted_errors"], "errors", ("truth", "predictions"))
    Sides(true='errors', found=('predicted_errors',))
    >>> sides_of(["spans", "gpt_spans", "llama_spans", "gold_spans"], "spans", ("gold", "predictions")).true
    Traceback (most recent call last):
    evalbench.errors.BadInput: which of spans, gpt_spans, llama_spans, gold_spans has the true spans, and which those that were found?
      - the true ones: --map NAME=gold
      - those that were found: --map NAME=predictions
    """
    if len(columns) < 2:
        return None
    found = list(filter(says_found, columns))
    sure = [name for name in columns if _says(name, _TRUE)]
    true = sure or list(filter(says_true, columns))
    rest = [name for name in columns if name not in (*true, *found)]
    if not true and len(rest) == 1 and found:
        true, rest = rest, []
    elif len(true) == 1 and not found and len(rest) == 1:
        found, rest = rest, []
    if len(true) == 1 and found and not rest:
        return Sides(true[0], tuple(found))
    raise BadInput.listing(
        f"which of {', '.join(columns)} has the true {what}, and which those that were found?",
        [
            f"the true ones: --map {_option(columns, targets[0])}",
            f"those that were found: --map {_option(columns, targets[1])}",
        ],
    )


def _option(columns: Sequence[str], target: str) -> str:
    return " or --map ".join(quote(f"{name}={target}") for name in columns) if len(columns) == 2 else f"NAME={target}"


def says_true(name: str) -> bool:
    """Whether a column's name says that it holds what is true, such as ``gold_labels``."""
    return _says(name, _TRUE) or (_says(name, _LABELLED) and not _says(name, _FOUND))


def says_found(name: str) -> bool:
    """Whether a column's name says that it holds what a model found, such as ``predicted_labels``."""
    return _says(name, _FOUND) and not _says(name, _TRUE)


def _says(name: str, words: str) -> bool:
    return any(re.fullmatch(words, word) for word in _WORD.findall(plain(name)))
