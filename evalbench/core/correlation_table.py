"""Correlations of many metrics with many criteria at three levels, all pairs from one set of resamples.

Levels: *summary*, the correlation over systems within each document, averaged over documents; *dataset*, over all
rows pooled; *system*, over the means of the systems.  Documents are resampled at every level, and at system level the
systems too: a correlation over systems is uncertain first of all because there are few of them.  Ranks are made once
per column and resample, not once per pair, and Kendall's pairs are counted between whole documents.  Of more than 5 000
rows of at least 300 documents, pooled, replicates come from influence functions (:mod:`evalbench.core.linearised`): the
ends of their intervals are within 2 % of the width of resampled ones (``tests/core/test_linearised.py``).  Of fewer
documents they would not be: off by up to 5 % with 100 documents, and 8 % with 50.

Simulated in ``tests/core/test_correlation_systems.py`` (systems and documents drawn from a population, 10, 20 and 40
systems): the 95 % intervals at system level hold the correlation of the population of systems in 88–97 % of samples by
Pearson, in at least 93 % by Spearman and Kendall, which ties between copies of a system make wide.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Bools, Floats, Indices
from evalbench.core.correlation import FEWEST_ROWS, Kind
from evalbench.core.correlation_levels import COMPUTE, KINDS, LEVELS, PARTIAL, Correlations, Level, Part, linearised
from evalbench.core.seeds import rng
from evalbench.core.stats import cluster_counts, resample_counts

__all__ = ["KINDS", "LEVELS", "PARTIAL", "Correlations", "Level", "correlation_table", "is_linearised"]

MANY_ROWS, MANY_DOCUMENTS = 5000, 300


def is_linearised(n_rows: int, n_documents: int) -> bool:
    """Whether so many rows of so many documents are not ranked anew in every resample: what is left out is small there.

    Examples
    --------
    >>> is_linearised(5001, 300), is_linearised(20_000, 200)
    (True, False)
    """
    return n_rows > MANY_ROWS and n_documents >= MANY_DOCUMENTS


def correlation_table(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    document: npt.ArrayLike,
    system: npt.ArrayLike | None = None,
    levels: tuple[Level, ...] = LEVELS,
    kinds: tuple[Kind, ...] = KINDS,
    partial: bool = False,
    seed: int = 0,
    n_resamples: int = 2000,
    clusters: npt.ArrayLike | None = None,
    counts: npt.ArrayLike | None = None,
    system_counts: npt.ArrayLike | None = None,
) -> dict[tuple[str, str], Correlations]:
    """Correlate every column of x with every column of y.

    Parameters
    ----------
    x : (n, p) array
        Metrics.  A row counts for a pair where both of its values are there (no NaN).
    y : (n, q) array
        Criteria.
    document : (n,) array
        Each row's document, the resampling unit.
    system : (n,) array, optional
        Each row's system; needed for the system level and for ``partial``.
    levels, kinds
        Which to compute.
    partial : bool
        Also, at dataset level, Spearman and Pearson with the system held fixed: of what is left of each column when
        every system's mean is taken off.  ``partial_spearman`` ranks first and takes the means of ranks off;
        ``residual_spearman`` takes the means off first and ranks what is left; both are called partial Spearman.
    counts : (r, documents) array, optional
        How often each document, in ascending order, is drawn in each resample, instead of a bootstrap.
    clusters : (documents,) array, optional
        The cluster of each document, in ascending order of these: clusters are drawn whole.
    system_counts : (r, systems) array, optional
        The same of the systems, at system level; beside ``counts`` each system stays once by default.

    Returns
    -------
    dict
        (level, kind) → :class:`Correlations`; undefined at dataset level under three rows.  Partial ones under
        ``("dataset", name)``, with the names above and ``partial_pearson``.

    References
    ----------
    Deutsch, Dror & Roth (2021), A statistical analysis of summarization evaluation metrics, TACL 9, sections 2 and 3
    (the bootstrap over systems and documents, "Boot-Both").

    Examples
    --------
    >>> x, y = [[1.0], [2], [3], [1], [3], [2]], [[1.0], [2], [3], [1], [2], [3]]
    >>> table = correlation_table(x, y, document=[0, 0, 0, 1, 1, 1], system=[0, 1, 2, 0, 1, 2], n_resamples=10)
    >>> float(table["summary", "spearman"].values[0, 0])
    0.75
    """
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if a.ndim != 2 or b.ndim != 2 or len(a) != len(b) or len(a) != len(np.asarray(document)):
        raise ValueError(f"x, y and document need as many rows: {a.shape}, {b.shape}, {np.shape(document)}")
    _, document_code = np.unique(np.asarray(document), return_inverse=True)
    systems, system_code = np.unique(np.zeros(len(a)) if system is None else np.asarray(system), return_inverse=True)
    n_documents = int(document_code.max(initial=-1)) + 1
    # In a fixed order of rows sums do not depend on the input's order.
    order = np.lexsort((*a.T, *b.T, system_code, document_code))
    a, b, document_code, system_code = a[order], b[order], document_code[order], system_code[order]
    if counts is None:
        drawn = _drawn(n_documents, seed, n_resamples, "correlation/table", clusters)
    else:
        drawn = np.asarray(counts, dtype=float)
    if drawn.shape[1:] != (n_documents,):
        raise ValueError(f"counts need a column for each of {n_documents} documents: {drawn.shape}")
    if system_counts is not None:
        systems_drawn = np.asarray(system_counts, dtype=float)
    elif counts is None:
        systems_drawn = _drawn(len(systems), seed, n_resamples, "correlation/systems")
    else:
        systems_drawn = np.ones((len(drawn), len(systems)))
    if systems_drawn.shape != (len(drawn), len(systems)):
        raise ValueError(f"system_counts: {systems_drawn.shape} instead of {(len(drawn), len(systems))}")
    names = _names(levels, kinds, partial and system is not None)
    out = {name: _empty(len(drawn), a.shape[1], b.shape[1]) for name in names}
    for rows, left, right in _complete_parts(np.isfinite(a), np.isfinite(b)):
        part = Part(
            a[rows][:, left], b[rows][:, right], document_code[rows], system_code[rows], n_documents, systems_drawn
        )
        at = np.ix_(left, right)
        for name in names:
            if name[0] == "dataset" and len(part.x) < FEWEST_ROWS:
                out[name].n[at] = len(part.x)
                continue
            pooled = counts is None and name[0] == "dataset" and name[1] != "pearson"
            if pooled and is_linearised(len(part.x), len(np.unique(part.document))):
                found = linearised(part, drawn, name[1])
            else:
                found = COMPUTE[name](part, drawn)
            out[name].values[at], out[name].n[at] = found.values, found.n
            out[name].replicates[:, at[0], at[1]] = found.replicates
            out[name].n_undefined[at] = found.n_undefined
    return out


def _drawn(n_units: int, seed: int, n_resamples: int, stream: str, clusters: npt.ArrayLike | None = None) -> Floats:
    if not n_units or not n_resamples:
        return np.ones((n_resamples, n_units))
    if clusters is not None:
        return np.concatenate(list(cluster_counts(clusters, rng(seed, stream), n_resamples)))
    return np.concatenate(list(resample_counts(n_units, rng(seed, stream), n_resamples)))


def _names(levels: tuple[Level, ...], kinds: tuple[Kind, ...], partial: bool) -> list[tuple[str, str]]:
    named: list[tuple[str, str]] = [(level, kind) for level in levels for kind in kinds]
    if partial and "dataset" in levels:
        named += [("dataset", name) for name in PARTIAL if name.partition("_")[2] in kinds]
    return named


def _empty(r: int, p: int, q: int) -> Correlations:
    return Correlations(
        np.full((p, q), np.nan), np.full((r, p, q), np.nan), np.zeros((p, q), np.intp), np.zeros((p, q), np.intp)
    )


def _complete_parts(has_x: Bools, has_y: Bools) -> list[tuple[Bools, Indices, Indices]]:
    """Rows and columns of the parts without gaps: columns that miss the same rows are handled together."""
    patterns_x, of_x = np.unique(has_x, axis=1, return_inverse=True)
    patterns_y, of_y = np.unique(has_y, axis=1, return_inverse=True)
    return [
        (patterns_x[:, i] & patterns_y[:, j], np.flatnonzero(of_x.ravel() == i), np.flatnonzero(of_y.ravel() == j))
        for i in range(patterns_x.shape[1])
        for j in range(patterns_y.shape[1])
        if (patterns_x[:, i] & patterns_y[:, j]).any()
    ]
