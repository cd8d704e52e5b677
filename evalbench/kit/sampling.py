"""Which items of a data set a run looks at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalbench.core.seeds import rng
from evalbench.kit.options import Checks

if TYPE_CHECKING:
    import pandas as pd


def sample_ids(ids: Sequence[str], sample_method: str, n_samples: int, random_state: int) -> list[str]:
    """A sample of distinct ids, in the order of the data.

    Parameters
    ----------
    ids : sequence of str
        Repetitions count once.
    sample_method : {"first", "random"}
        The first items, or random ones; these depend on the ids and ``random_state`` alone, not on the order.
    n_samples : int
        How many items to look at; 0 for all.
    random_state : int
        Of the random sample.

    Raises
    ------
    BadInput
        For an unknown method or a negative number.

    Examples
    --------
    >>> sample_ids(["a", "b", "b", "c"], "first", 2, 0)
    ['a', 'b']
    """
    checks = Checks({"sample_method": sample_method, "n_samples": n_samples})
    checks.refuse("sample")
    distinct = list(dict.fromkeys(ids))
    if n_samples == 0 or n_samples >= len(distinct):
        return distinct
    if sample_method == "first":
        return distinct[:n_samples]
    drawn = sorted(distinct, key=lambda i: (rng(random_state, "sample", i).random(), i))
    chosen = set(drawn[:n_samples])
    return [i for i in distinct if i in chosen]


def sampled(frame: pd.DataFrame, sample_method: str, n_samples: int, random_state: int) -> pd.DataFrame:
    """The rows of the sampled ids, in the order of the table.

    Parameters
    ----------
    frame : DataFrame
        With a column ``id``; all rows of a sampled id are kept.
    sample_method, n_samples, random_state
        See :func:`sample_ids`.

    Examples
    --------
    >>> import pandas as pd
    >>> sampled(pd.DataFrame({"id": ["a", "b", "a"]}), "first", 1, 0).index.tolist()
    [0, 2]
    """
    return frame[frame["id"].isin(sample_ids(frame["id"].tolist(), sample_method, n_samples, random_state))]
