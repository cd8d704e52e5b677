"""Which items of a data set a run looks at."""

from __future__ import annotations

from collections.abc import Sequence

from evalbench.core.seeds import rng
from evalbench.errors import BadInput

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
    faults = []
    if method not in METHODS:
        faults.append(f"sample_method is {method!r}; one of {', '.join(METHODS)}")
    if n < 0:
        faults.append(f"n_samples is {n}; 0 (all) or more")
    if faults:
        raise BadInput.listing("the sample cannot be drawn:", faults)
    distinct = list(dict.fromkeys(ids))
    if n == 0 or n >= len(distinct):
        return distinct
    if method == "first":
        return distinct[:n]
    drawn = sorted(distinct, key=lambda i: (rng(random_state, "sample", i).random(), i))
    chosen = set(drawn[:n])
    return [i for i in distinct if i in chosen]
