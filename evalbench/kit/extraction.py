"""Whether the way in which final answers are found suits the responses, and how a study reports it.

Items have the columns ``answer_strict`` (right by the number behind a marker), ``answer_flexible`` (right by the last
number) and ``marked`` (whether there is a marker).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalbench.core.notes import Note

if TYPE_CHECKING:
    import pandas as pd

LEAST_MARKED = 0.5
APART, FAR_APART = 0.02, 0.2
METHOD = (
    "Where fewer than half of a model's responses have a marker, strict extraction does not suit them and the light is "
    "grey."
)


def unmarked(items: pd.DataFrame) -> str:
    """What a model's answers are found by, where fewer than half of its responses mark theirs; else empty.

    A response without a marker is wrong; a marker that most lack says that the marker does not suit the responses.

    Examples
    --------
    >>> import pandas as pd
    >>> unmarked(pd.DataFrame({"marked": [0, 0, 1], "answer_strict": [0, 0, 1], "answer_flexible": [1, 0, 1]}))
    '1 of 3 responses mark their final answer (right answers: strict extraction finds 1 of 3, flexible finds 2 of 3)'
    """
    marked = items["marked"].dropna()
    if marked.empty or marked.mean() >= LEAST_MARKED:
        return ""
    return f"{int(marked.sum())} of {len(marked)} responses mark their final answer ({_found(items)})"


def apart(items: pd.DataFrame, answer_extractor: str) -> str:
    """Why right answers may be an effect of how they are found: of marked ones the other extractor finds far fewer.

    Examples
    --------
    >>> import pandas as pd
    >>> apart(pd.DataFrame({"marked": [1, 1], "answer_strict": [1, 1], "answer_flexible": [0, 0]}), "strict")
    'right answers: strict extraction finds 2 of 2, flexible finds 0 of 2'
    """
    own = items[items["marked"] == 1]
    gap = own["answer_strict"].mean() - own["answer_flexible"].mean()
    return _found(own) if (gap if answer_extractor == "strict" else -gap) > FAR_APART else ""


def remarks(items: pd.DataFrame, answer_extractor: str, answer_markers: Sequence[str]) -> list[str]:
    """Notes on responses without a marker, and on extractors that find different numbers of right answers."""
    out = []
    lacking = int((items["marked"] == 0).sum())
    if lacking:
        out.append(
            f"Responses without a marker of the final answer ({', '.join(answer_markers)}): {lacking} of "
            f'{int(items["marked"].count())}. answer_markers takes others, and answer_extractor "flexible" the last number.'
        )
    for model, own in ((str(name), rows) for name, rows in items.groupby("model", sort=True)):
        gap = abs(own["answer_flexible"].mean() - own["answer_strict"].mean())
        short = f"{_found(own)}; level 1 counts {answer_extractor}"
        if gap > FAR_APART and not (answer_extractor == "strict" and unmarked(own)):  # which the sentence has
            out.append(Note("disagreement", f"{short} ({model})" if model else short))
        elif gap > APART:
            out.append(f"R{short[1:]}{f' ({model})' if model else ''}.")
    return out


def _found(items: pd.DataFrame) -> str:
    """How many right answers each extractor finds."""
    n = int(items["answer_strict"].notna().sum())
    strict, flexible = int(items["answer_strict"].sum()), int(items["answer_flexible"].sum())
    return f"right answers: strict extraction finds {strict} of {n}, flexible finds {flexible} of {n}"
