"""What all text metrics share: checked columns of texts, several references, scores by name.

A text metric takes whole columns: ``outputs`` and, as its card's ``needs`` say, ``references``, ``contexts``,
``requests`` or ``samples``.  It returns one array, or a mapping of named arrays whose first is the headline.
A metric of kind ``"text"`` may also be one function from two strings to a number: it is applied row by row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Ints
from evalbench.errors import BadInput
from evalbench.metrics.registry import COLUMNS, Card, card

Texts = Sequence[str]
References = Sequence["str | Sequence[str]"]
Scores = Mapping[str, Floats]


class Unavailable(Exception):
    """A metric cannot run here: its package or model is missing.  The message says how to get it.

    Attributes
    ----------
    unscored : str
        Why its texts have no score, one of :data:`evalbench.core.unscored.REASONS`.
    """

    def __init__(self, message: str, unscored: str = "not-installed") -> None:
        super().__init__(message)
        self.unscored = unscored


def require(package: str, module: str, metric: str) -> None:
    """Raise :class:`Unavailable` unless a module can be found; nothing is imported.

    Raises
    ------
    Unavailable
    """
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise Unavailable(f"{metric} needs the package {package}: pip install {package}")


def checked_texts(values: Sequence[Any], name: str, n: int | None = None) -> list[str]:
    """A column of texts as a list.

    Raises
    ------
    BadInput
        If it is one text instead of a column, has another length than the outputs, or holds anything but texts;
        the message lists the first rows.
    """
    if isinstance(values, str):
        raise BadInput(f"{name} must be a column of texts, not one text")
    column = list(values)
    if n is not None and len(column) != n:
        raise BadInput(f"{len(column)} {name} for {n} outputs")
    plain = set(map(type, column)) <= {str}
    wrong = [] if plain else [i for i, value in enumerate(column) if not isinstance(value, str)]
    if wrong:
        shown = ", ".join(f"row {i}: {column[i]!r}" for i in wrong[:5])
        raise BadInput(f"{name}: {len(wrong)} of {len(column)} are not text ({shown})")
    return column


def checked_lists(values: Sequence[Any], name: str, n: int, *, empty_ok: bool = False) -> list[list[str]]:
    """A column of texts or lists of texts as lists of texts.

    Raises
    ------
    BadInput
        As :func:`checked_texts`, and for an empty list.
    """
    if isinstance(values, str):
        raise BadInput(f"{name} must be a column, not one text")
    if len(values) != n:
        raise BadInput(f"{len(values)} {name} for {n} outputs")
    column = [[value] if isinstance(value, str) else value for value in values]
    kinds = set(map(type, column))
    if kinds <= {list} and (empty_ok or all(column)) and set(map(type, chain.from_iterable(column))) <= {str}:
        return [list(texts) for texts in column]
    wrong = [
        i
        for i, texts in enumerate(column)
        if not isinstance(texts, (list, tuple, np.ndarray))
        or not (empty_ok or len(texts))
        or any(not isinstance(text, str) for text in texts)
    ]
    if wrong:
        shown = ", ".join(f"row {i}: {column[i]!r}" for i in wrong[:5])
        raise BadInput(f"{name}: {len(wrong)} of {n} are neither a text nor a list of texts ({shown})")
    return [list(texts) for texts in column]


class Pairs(NamedTuple):
    """Every output beside each of its references, flat.

    Row ``i`` owns the pairs ``first[i]`` to ``first[i + 1]``, at least one.
    """

    outputs: list[str]
    references: list[str]
    first: Ints


def pairs(outputs: Texts, references: References, name: str = "references") -> Pairs:
    """Flatten outputs and references.

    Raises
    ------
    BadInput
        See :func:`checked_texts` and :func:`checked_lists`.

    Examples
    --------
    >>> pairs(["a", "b"], ["x", ["y", "z"]])
    Pairs(outputs=['a', 'b', 'b'], references=['x', 'y', 'z'], first=array([0, 1, 3]))
    """
    texts = checked_texts(outputs, "outputs")
    lists = checked_lists(references, name, len(texts))
    counts = np.fromiter(map(len, lists), np.int64, len(lists))
    repeated = [text for text, several in zip(texts, lists, strict=True) for _ in several]
    return Pairs(repeated, [r for several in lists for r in several], np.concatenate([[0], np.cumsum(counts)]))


def best_pair(values: Floats, first: Ints) -> Ints:
    """The index of each row's best pair: the first of the largest values.

    Parameters
    ----------
    values : (n_pairs,) array
    first : (n + 1,) array
        As in :class:`Pairs`.

    Returns
    -------
    (n,) int64 array

    Examples
    --------
    >>> best_pair(np.array([0.5, 0.2, 0.9, 0.9]), np.array([0, 1, 4]))
    array([0, 2])
    """
    rows = np.repeat(np.arange(len(first) - 1), np.diff(first))
    order = np.lexsort((np.arange(len(values)), -values, rows))
    best: Ints = order[first[:-1]]
    return best


def best_of(values: Scores, first: Ints) -> Scores:
    """Each row's scores for the reference that is best on the headline, the first array."""
    headline = next(iter(values.values()))
    if len(headline) == len(first) - 1:
        return values
    best = best_pair(headline, first)
    return {name: array[best] for name, array in values.items()}


def mean_of_pairs(values: Scores, first: Ints) -> Scores:
    """Each row's scores as means over its references."""
    counts = np.diff(first)
    if not len(counts):
        return values
    return {name: np.add.reduceat(array, first[:-1]) / counts for name, array in values.items()}


def f_measure(precision: Floats, recall: Floats) -> Floats:
    """2pr / (p + r), 0 where both are 0."""
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)


def share(part: npt.ArrayLike, whole: npt.ArrayLike, otherwise: float = 0.0) -> Floats:
    """part / whole, ``otherwise`` where the whole is 0."""
    a, b = np.asarray(part, float), np.asarray(whole, float)
    out: Floats = np.full(np.broadcast(a, b).shape, otherwise)
    np.divide(a, b, out=out, where=b > 0)
    return out


def score(metric: str | Card, outputs: Texts, **inputs: Any) -> Scores:
    """Scores of one metric by its name, id or alias.

    Parameters
    ----------
    **inputs
        Columns ``references``, ``contexts``, ``requests``, ``samples`` and the metric's own options; columns that
        the metric does not need are left out.

    Returns
    -------
    mapping of str to (n,) float64 arrays
        The headline under the metric's name, its parts as ``name_part``.  NaN where no value exists.

    Raises
    ------
    BadInput
        If a column that the metric needs is missing, or a column is malformed.
    Unavailable
        If its package or model is missing.

    Examples
    --------
    >>> score("jaccard_similarity", ["red apple"], references=["green apple"])
    {'jaccard_similarity': array([0.33333333])}
    """
    entry: Card = card(metric) if isinstance(metric, str) else metric
    needed = {f"{need}s" if need != "samples" else need for need in entry.needs} & set(COLUMNS)
    missing = sorted(needed - {name for name, column in inputs.items() if column is not None})
    if missing:
        raise BadInput(f"{entry.name} needs {' and '.join(missing)}")
    options = {k: v for k, v in inputs.items() if k in needed or k not in COLUMNS}
    if entry.kind == "text":
        return {entry.name: _row_by_row(entry.function, outputs, options, higher=entry.higher_is_better is not False)}
    values: Floats | Scores = entry.function(outputs=outputs, **options)
    if not isinstance(values, Mapping):
        return {entry.name: values}
    headline, *rest = values
    return {entry.name: values[headline], **{f"{entry.name}_{part}": values[part] for part in rest}}


def _row_by_row(function: Callable[..., float], outputs: Texts, options: Mapping[str, Any], higher: bool) -> Floats:
    """A function from two strings to a number over columns; of several references the best counts."""
    names = [name for name in options if name in COLUMNS]
    if len(names) != 1:
        raise BadInput(f"a metric of kind 'text' compares the output with one other text, not with {names or 'none'}")
    flat = pairs(outputs, options[names[0]], names[0])
    rest = {k: v for k, v in options.items() if k not in names}
    values = np.array([function(a, b, **rest) for a, b in zip(flat.outputs, flat.references, strict=True)], float)
    ranked = np.where(np.isnan(values), -math.inf, values if higher else -values)
    return values[best_pair(ranked, flat.first)]
