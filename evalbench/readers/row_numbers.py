"""Row numbers that a program wrote beside a table, in a column without a name of its own: nothing that anybody judged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from evalbench.readers.role_names import plain
from evalbench.readers.roles import noted

if TYPE_CHECKING:
    import pandas as pd

_UNNAMED = re.compile(r"(unnamed: ?\d+(_level_\d+)?|__index_level_\d+__|level_0)?", re.IGNORECASE)
"""What programs write at the head of a column without a name."""


def without_row_numbers(
    frames: Mapping[str, pd.DataFrame], named: Iterable[str], *, index: bool = False
) -> dict[str, pd.DataFrame]:
    """Raw frames without columns of row numbers, each with a note.

    - ``named``: Columns that somebody names; they are left alone.
    - ``index``: Whether a column ``index``, which may be the id, goes too.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = without_row_numbers({"items": pd.DataFrame({"Unnamed: 0": ["0", "1"], "answer": ["so", "no"]})}, ())["items"]
    >>> list(frame), frame.attrs["notes"]
    (['answer'], ['column Unnamed: 0 holds row numbers and is not used'])
    """
    kept = {*named} | (set() if index else {"index"})
    return {name: _without(frame, kept) for name, frame in frames.items()}


def _without(frame: pd.DataFrame, kept: set[str]) -> pd.DataFrame:
    if frame.columns.has_duplicates:
        return frame
    gone = [c for c in frame.columns if str(c).strip() not in kept and are_row_numbers(str(c), frame[c])]
    if not gone or len(gone) == len(frame.columns):
        return frame
    return noted(frame.drop(columns=gone), frame, {}, [note_of(str(c)) for c in gone])


def note_of(name: str) -> str:
    return f"column {name.strip() or 'without a name'} holds row numbers and is not used"


def are_row_numbers(name: str, cells: pd.Series) -> bool:
    """Whether a column counts rows: without a name of its own, any count, also of a part or of several tables; ``index``, from 0 or 1.

    Examples
    --------
    >>> import pandas as pd
    >>> count, marks = pd.Series([0, 1, 2, 0, 1]), pd.Series([3, 1, 2, 2, 3])
    >>> [are_row_numbers(*one) for one in (("Unnamed: 0", count), ("index", count), ("Unnamed: 0", marks), ("rank", count))]
    [True, False, False, False]
    """
    unnamed = _UNNAMED.fullmatch(name.strip()) is not None
    texts = [str(cell).strip() for cell in cells] if unnamed or plain(name) == "index" else []
    if not texts or not all(text.isdecimal() for text in texts):
        return False
    numbers = [*map(int, texts)]
    if not unnamed:
        return numbers[0] in (0, 1) and all(b > a for a, b in pairwise(numbers))
    lowest = min(numbers)
    return len({*numbers}) == len(numbers) or all(b > a or b == lowest for a, b in pairwise(numbers))
