"""Answers that a table or a model gave, those that are not there, and how a study says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.unscored import counted

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.models.exchange import Reply

NO_OUTPUT = "no-output"
NO_REFERENCE = "no-reference"


def why_unscored(answers: Iterable[str | None], replies: Sequence[Reply] = ()) -> np.ndarray[Any, Any]:
    """Why each answer cannot be scored; empty where there is one.

    Parameters
    ----------
    answers : iterable of str or None
        The empty text is an answer; a null is none, ``no-output``.
    replies : sequence of Reply, optional
        What the answers were collected from: the reply's own reason goes before ``no-output``.

    Examples
    --------
    >>> why_unscored(["yes", "", None]).tolist()
    ['', '', 'no-output']
    """
    given = np.array(["" if isinstance(answer, str) else NO_OUTPUT for answer in answers], dtype=object)
    if not replies:
        return given
    failed = np.array([reply.unscored for reply in replies], dtype=object)
    return np.where(failed == "", given, failed)


def answer_of(reply: Reply) -> str | None:
    """A reply's text, "" too; None where the model gave no answer."""
    return None if reply.unscored else reply.text


def remarks(items: pd.DataFrame) -> list[str]:
    """Notes that count the items without a score, and those without a reference."""
    unscored = int((items["unscored"] != "").sum())
    why = items["undefined"].value_counts()
    without = sum(int(n) for text, n in why.items() if str(text).split("; ")[0] == NO_REFERENCE)
    out = []
    if unscored:
        out.append(f"Unscored: {unscored} of {len(items)} items ({counted(items['unscored'])}).")
    if without:
        out.append(f"Without a reference, so that what needs one is undefined: {without} of {len(items)} items.")
    return out
