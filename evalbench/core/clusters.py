"""Items that come in groups, such as questions about one passage, drawn together in every interval and test.

The items of a table may have a column :data:`CLUSTER`: then :func:`evalbench.core.measures.estimate`,
:func:`evalbench.core.stability.joint_stability` and :func:`evalbench.core.comparison.compare_measures` draw, and swap, whole
clusters.  Its cells are names; an item without one has the empty name, and all these are one cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, stdtrit

from evalbench.core.arrays import Indices

if TYPE_CHECKING:
    import pandas as pd

CLUSTER = "cluster"
"""The items' column of the names of clusters."""
FEW_CLUSTERS = 30
"""Below this many clusters even the widened interval is said to be uncertain."""


class Columns(Protocol):
    """A table by the names of its columns: a mapping to arrays, or a DataFrame."""

    def get(self, name: str, default: Any = None, /) -> Any: ...


def drawn_together(columns: Columns, units: Any) -> Any:
    """What the rows of a table are drawn by: their clusters, where it has some, else their units.

    Examples
    --------
    >>> drawn_together({"cluster": ["p", "p", "q"]}, ["a", "b", "c"]).tolist()
    ['p', 'p', 'q']
    >>> drawn_together({}, ["a", "b"]).tolist()
    ['a', 'b']
    """
    found = columns.get(CLUSTER)
    names = units if found is None else found
    return names if in_arrow(names) else np.asarray(names)


def in_arrow(names: Any) -> bool:
    """Whether names are a column of Arrow's texts, which take several times the memory as Python's."""
    return getattr(getattr(names, "dtype", None), "storage", "") == "pyarrow"


def is_clustered(columns: Columns) -> bool:
    """Whether a table has clusters."""
    return columns.get(CLUSTER) is not None


def codes(names: Any) -> tuple[Any, Indices]:
    """The distinct names as texts, ascending, and the place of each row's among them: ``np.unique`` of texts, by hashing.

    Those of Arrow that ascend are given back as Arrow's.
    """
    import pandas as pd

    if in_arrow(names) and not (column := pd.Series(names)).hasnans:
        if (first := _first_in_arrow(column.array)) is not None:
            return column.array if first.all() else column.array[first], np.cumsum(first) - 1
        index, distinct = pd.factorize(column)
        texts = np.asarray(distinct, dtype=str)
    elif (values := np.asarray(names)).dtype.kind in "iub":
        of_numbers, index = np.unique(values, return_inverse=True)
        texts = of_numbers.astype(str)
    elif values.dtype == object and _ascend(values):
        return values.astype(str), np.arange(len(values))
    else:
        index, found = pd.factorize(values.astype(object) if values.dtype.kind not in "OU" else values)
        texts = np.asarray(found, dtype=str)
    if len(set(texts.tolist())) < len(texts):
        return np.unique(np.asarray(names, dtype=str), return_inverse=True)
    order = np.argsort(texts, kind="stable")
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return texts[order], place[index.ravel()]


def how_many(names: pd.Series) -> int:
    """The number of distinct names, those that are missing left out.

    Examples
    --------
    >>> import pandas as pd
    >>> how_many(pd.Series(["a", "a", "b", None]))
    2
    """
    if in_arrow(names) and not names.hasnans and (first := _first_in_arrow(names.array)) is not None:
        return int(first.sum())
    return int(names.nunique())


def _first_in_arrow(names: Any) -> npt.NDArray[np.bool_] | None:
    """Which texts of Arrow differ from the one before them; None where one is before it in the order of texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.chunked_array(pa.array(names))
    later, sooner = texts[1:], texts[:-1]
    if not pc.all(pc.greater_equal(later, sooner)).as_py():
        return None
    return np.append(np.ones(min(1, len(texts)), dtype=bool), pc.not_equal(later, sooner).to_numpy())


def _ascend(names: npt.NDArray[Any]) -> bool:
    """Whether names are texts, each behind the one before it."""
    import pandas as pd

    return pd.api.types.infer_dtype(names, skipna=False) == "string" and bool((names[1:] > names[:-1]).all())


def widened(n_clusters: int, level: float = 0.95) -> float:
    """The level of the percentile interval over so many clusters that covers about ``level``.

    1 − 2 Φ(−√(G/(G−1)) t), t the quantile of Student's distribution with G − 1 degrees of freedom at (1 + level) / 2: the
    interval of the plain percentile bootstrap is as narrow as a normal one with the variance divided by G.

    Parameters
    ----------
    n_clusters : int
        G.
    level : float
        0–1.

    References
    ----------
    Hesterberg (2015), What Teachers Should Know About the Bootstrap, The American Statistician 69,
    371–386: the expanded percentile interval.

    Examples
    --------
    >>> round(widened(50), 4), round(widened(10), 4), widened(1)
    (0.9576, 0.9829, 1.0)
    """
    if n_clusters < 2:
        return 1.0
    t = stdtrit(n_clusters - 1, 0.5 + level / 2)
    return float(1 - 2 * ndtr(-np.sqrt(n_clusters / (n_clusters - 1)) * t))


def said(n_clusters: int) -> str:
    """What an estimate over so few clusters notes; empty from 30 on.

    Examples
    --------
    >>> said(12), said(30)
    ('12 clusters, fewer than 30: the interval is uncertain', '')
    """
    if n_clusters >= FEW_CLUSTERS:
        return ""
    return f"{n_clusters} clusters, fewer than {FEW_CLUSTERS}: the interval is uncertain"


def by_unit(columns: Columns, units: npt.ArrayLike) -> Mapping[str, str]:
    """The cluster of each unit; empty where there are no clusters."""
    found = columns.get(CLUSTER)
    if found is None:
        return {}
    return dict(zip(np.asarray(units, dtype=str).tolist(), np.asarray(found, dtype=str).tolist(), strict=True))


def said_of(items: Any, unit: str, columns: Sequence[str]) -> str:
    """How many clusters the items of a result come in, a note.

    Examples
    --------
    >>> import pandas as pd
    >>> said_of(pd.DataFrame({"id": ["a", "b", "c"], "cluster": ["p", "p", ""]}), "id", ["passage"])
    'Clusters: intervals and tests draw the items of one passage together: 2 clusters, the largest of 2 among 3 (id), fewer than 30: the \
intervals are uncertain; the 1 without a value are one cluster'
    """
    sizes = items.groupby(CLUSTER)[unit].nunique()
    words = f"Clusters: intervals and tests draw the items of one {' and '.join(columns) or CLUSTER} together: "
    words += f"{len(sizes)} cluster{'s' * (len(sizes) != 1)}, the largest of {sizes.max()} among {sizes.sum()} ({unit})"
    words += f", fewer than {FEW_CLUSTERS}: the intervals are uncertain" * (len(sizes) < FEW_CLUSTERS)
    return words + (f"; the {sizes['']} without a value are one cluster" if "" in sizes.index else "")
