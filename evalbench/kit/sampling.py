"""Which items of a data set a run looks at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalbench.core.seeds import rng
from evalbench.kit.options import Checks

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("first", "random")


def sample_ids(ids: Sequence[str], method: str, n: int, random_state: int) -> list[str]:
    """A sample of distinct ids, in the order of the data.

    Parameters
    ----------
    ids : sequence of str
        Repetitions count once.
    method : {"first", "random"}
        ``random`` depends on the ids and ``random_state`` alone, not on their order.
    n : int
        0: all of them.
    random_state : int

    Returns
    -------
    list of str

    Raises
    ------
    BadInput
        For an unknown method or a negative number.

    Examples
    --------
    >>> sample_ids(["a", "b", "b", "c"], "first", 2, 0)
    ['a', 'b']
    """
    checks = Checks()
    checks.choice("sample_method", method, METHODS)
    checks.that(n >= 0, f"n_samples must be 0 (all) or more, got {n}")
    checks.refuse("sample")
    distinct = list(dict.fromkeys(ids))
    if n == 0 or n >= len(distinct):
        return distinct
    if method == "first":
        return distinct[:n]
    drawn = sorted(distinct, key=lambda i: (rng(random_state, "sample", i).random(), i))
    chosen = set(drawn[:n])
    return [i for i in distinct if i in chosen]


def sampled(frame: pd.DataFrame, method: str, n: int, random_state: int) -> pd.DataFrame:
    """The rows of the sampled ids, in the order of the table.

    Parameters
    ----------
    frame : DataFrame
        With a column ``id``; all rows of a sampled id are kept.
    method, n, random_state
        As in :func:`sample_ids`.

    Examples
    --------
    >>> import pandas as pd
    >>> sampled(pd.DataFrame({"id": ["a", "b", "a"]}), "first", 1, 0).index.tolist()
    [0, 2]
    """
    return frame[frame["id"].isin(sample_ids(frame["id"].tolist(), method, n, random_state))]
