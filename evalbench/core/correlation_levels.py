"""What :mod:`evalbench.core.correlation_table` computes at each level, for columns without gaps."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Indices
from evalbench.core.correlation import Kind, midranker
from evalbench.core.kendall import kendall_kernel
from evalbench.core.linearised import bent_to, kendall_replicates, ranked_replicates

Level = Literal["summary", "dataset", "system"]
LEVELS: tuple[Level, ...] = get_args(Level)
KINDS: tuple[Kind, ...] = ("spearman", "kendall", "pearson")
PARTIAL = ("partial_spearman", "residual_spearman", "partial_pearson")

_ROUNDING = 1e-12
# Kendall between whole documents costs documents², row by row it costs rows · log(levels).
_DOCUMENTS_FOR_BLOCKS = 500
_ROWS_FOR_BLOCKS = 6000
_CELLS_AT_ONCE = 1 << 20
_IN_FULL, _IN_FULL_OF_FEW = 40, 200
_DOCUMENTS_FOR_SHIFT = 1000
_PAIRS_AT_ONCE = 1 << 24


class Correlations(NamedTuple):
    """Of p metrics with q criteria, at one level by one coefficient.

    - ``values`` ((p, q) array): NaN where undefined.
    - ``replicates`` ((r, p, q) array): Bootstrap over documents, at system level over systems and documents; the same
      resamples for every pair and coefficient.
    - ``n`` ((p, q) array of int): Documents with a value (summary), rows (dataset), or systems (system).
    - ``n_undefined`` ((p, q) array of int): Documents without a value; 0 at the other levels.
    """

    values: Floats
    replicates: Floats
    n: Indices
    n_undefined: Indices


@dataclass(frozen=True)
class Part:
    """Columns that are complete on the same rows; ``systems_drawn`` (r, systems) goes beside the documents drawn."""

    x: Floats
    y: Floats
    document: Indices
    system: Indices
    n_documents: int
    systems_drawn: Floats


def _finished(values: Floats, replicates: Floats, n: int | Indices, n_undefined: int | Indices = 0) -> Correlations:
    shape = values.shape
    return Correlations(values, replicates, np.broadcast_to(n, shape), np.broadcast_to(n_undefined, shape))


def _with_points(counts: Floats, statistic: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """The statistic of the whole and of every resample."""
    both = statistic(np.concatenate([np.ones((1, counts.shape[1])), counts]))
    return both[0], both[1:]


def _r(xy: Floats, xx: Floats, yy: Floats) -> Floats:
    """xy / √(xx yy) over (…, p, q), (…, p), (…, q)."""
    with np.errstate(all="ignore"):
        value = xy / np.sqrt(xx[..., :, None] * yy[..., None, :])
    defined = (xx > _ROUNDING)[..., :, None] & (yy > _ROUNDING)[..., None, :]
    return np.where(defined, np.clip(value, -1, 1), np.nan)


def _scaled(columns: Floats) -> Floats:
    """Columns centred and brought to spread 1, so that one tolerance tells rounding from spread."""
    centred = columns - columns.mean(axis=0)
    spread = np.ptp(columns, axis=0)
    noise = spread <= _ROUNDING * np.abs(columns).max(axis=0)
    return np.where(noise, 0.0, centred / np.where(noise, 1.0, spread))


# --- dataset ----------------------------------------------------------------------------------------------------


def _dataset_pearson(part: Part, counts: Floats) -> Correlations:
    x, y = _scaled(part.x), _scaled(part.y)
    p, q = x.shape[1], y.shape[1]
    products = np.concatenate(
        [np.ones((len(x), 1)), x, y, x**2, y**2, (x[:, :, None] * y[:, None, :]).reshape(len(x), -1)], axis=1
    )
    sums = _by_document(products, part)

    def r(weights: Floats) -> Floats:
        total = weights @ sums
        with np.errstate(all="ignore"):
            mean = total / total[:, :1]
        mx, my, mxx, myy, mxy = np.split(mean[:, 1:], np.cumsum([p, q, p, q]), axis=1)
        return _r(mxy.reshape(-1, p, q) - mx[:, :, None] * my[:, None, :], mxx - mx**2, myy - my**2)

    return _finished(*_with_points(counts, r), len(x))


def _by_document(columns: Floats, part: Part) -> Floats:
    """Sums per document, (n_documents, columns)."""
    out = np.zeros((part.n_documents, columns.shape[1]))
    np.add.at(out, part.document, columns)
    return out


def _ranked(part: Part, counts: Floats, *, fixed_system: bool, ranks: bool) -> Correlations:
    """Pearson of ranks (or values) remade in every resample, with the systems' means taken off if asked."""
    columns = np.concatenate([_scaled(part.x), _scaled(part.y)], axis=1)
    n, p = len(columns), part.x.shape[1]
    makers = [midranker(c) for c in columns.T] if ranks else []
    member = (part.system[:, None] == np.arange(part.systems_drawn.shape[1])).astype(float)

    def r(document_weights: Floats) -> Floats:
        weights = document_weights[:, part.document]
        total = weights.sum(axis=1)
        if ranks:
            table = np.stack([make(weights) for make in makers], axis=1) / n
        else:
            table = np.broadcast_to(columns.T, (len(weights), *columns.T.shape))
        weighted = table * weights[:, None, :]
        with np.errstate(all="ignore"):
            if fixed_system:
                means = (weighted @ member) / (weights @ member)[:, None, :]
                table = table - np.nan_to_num(means)[:, :, part.system]
            else:
                table = table - (weighted.sum(axis=2) / total[:, None])[:, :, None]
            scatter = (table * weights[:, None, :]) @ table.transpose(0, 2, 1) / total[:, None, None]
        spread = np.einsum("rcc->rc", scatter)
        return _r(scatter[:, :p, p:], spread[:, :p], spread[:, p:])

    step = max(1, _CELLS_AT_ONCE // columns.size)

    def chunked(weights: Floats) -> Floats:
        return np.concatenate([r(weights[i : i + step]) for i in range(0, len(weights), step)])

    return _finished(*_with_points(counts, chunked), n)


def linearised(part: Part, counts: Floats, kind: str) -> Correlations:
    """Any coefficient at dataset level but Pearson's, which needs it not, with replicates to first order.

    What is left out shifts their mean and, of fewer documents, bends them; some resamples that are computed in full show by
    how much.
    """
    bent = len(np.unique(part.document)) < _DOCUMENTS_FOR_SHIFT
    in_full = _IN_FULL_OF_FEW if bent else _IN_FULL
    exact = COMPUTE["dataset", kind](part, counts[:in_full])
    if len(counts) <= in_full:
        return exact
    found = _to_first_order(part, counts, kind)
    if bent:
        found = bent_to(found, exact.replicates)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a pair without any value
            found = found + np.nanmean(exact.replicates - found[:in_full], axis=0)
    return _finished(exact.values, np.clip(found, -1, 1), len(part.x))


def _to_first_order(part: Part, counts: Floats, kind: str) -> Floats:
    if kind == "kendall":
        return kendall_replicates(part.x, part.y, part.document, counts)
    if kind == "residual_spearman":
        part = _residuals(part)
    group = part.system if kind in ("partial_spearman", "partial_pearson") else np.zeros(len(part.x), np.intp)
    x, y = _scaled(part.x), _scaled(part.y)
    return ranked_replicates(x, y, group, part.document, counts, ranks=kind != "partial_pearson")


def _residual_spearman(part: Part, counts: Floats) -> Correlations:
    """Spearman of what is left of the values themselves when every system's mean is taken off.

    The means are those of the whole table in every resample: to rank anew each resample's residuals would cost a sort
    for each of them, and moves the interval's ends little (``tests/core/test_correlation_table.py``).
    """
    return _ranked(_residuals(part), counts, fixed_system=False, ranks=True)


def _residuals(part: Part) -> Part:
    """Columns with every system's mean taken off."""
    member = (part.system == np.arange(part.systems_drawn.shape[1])[:, None]).astype(float)
    rows = np.maximum(member.sum(axis=1, keepdims=True), 1)

    def left(columns: Floats) -> Floats:
        scaled = _scaled(columns)
        # Residuals that differ by rounding alone are tied.
        return np.asarray(np.round(scaled - (member @ scaled / rows)[part.system], 12))

    return replace(part, x=left(part.x), y=left(part.y))


def _dataset_kendall(part: Part, counts: Floats) -> Correlations:
    p, q = part.x.shape[1], part.y.shape[1]
    n = len(part.x)
    present = np.unique(part.document)
    if len(present) > _DOCUMENTS_FOR_BLOCKS or n > _ROWS_FOR_BLOCKS:
        return _kendall_row_by_row(part, counts)
    starts = np.searchsorted(part.document, present)

    def blocks(values: npt.NDArray[np.int8]) -> Floats:
        by_row = np.add.reduceat(values, starts, axis=1, dtype=np.int32)
        return np.add.reduceat(by_row, starts, axis=0).astype(float)

    def form(matrix: Floats, weights: Floats) -> Floats:
        value: Floats = np.einsum("rd,rd->r", weights @ matrix, weights)
        return value

    weights = np.concatenate([np.ones((1, len(present))), counts[:, present]])
    out = np.full((len(weights), p, q), np.nan)
    signs_y = [np.sign(c[:, None] - c).astype(np.int8) for c in part.y.T]
    untied_y = [form(blocks(np.abs(s)), weights) for s in signs_y]
    for i, column in enumerate(part.x.T):
        sign = np.sign(column[:, None] - column).astype(np.int8)
        untied = form(blocks(np.abs(sign)), weights)
        for j in range(q):
            with np.errstate(all="ignore"):
                tau = form(blocks(sign * signs_y[j]), weights) / (np.sqrt(untied) * np.sqrt(untied_y[j]))
            out[:, i, j] = np.where((untied > 0) & (untied_y[j] > 0), np.clip(tau, -1, 1), np.nan)
    return _finished(out[0], out[1:], n)


def _kendall_row_by_row(part: Part, counts: Floats) -> Correlations:
    p, q = part.x.shape[1], part.y.shape[1]
    out = np.full((len(counts) + 1, p, q), np.nan)
    step = max(1, (_CELLS_AT_ONCE >> 2) // max(len(part.x), 1))
    weights = np.concatenate([np.ones((1, counts.shape[1])), counts])
    for i in range(p):
        for j in range(q):
            # The kernel's cost grows with the levels of its second column.
            pair = sorted((part.x[:, i], part.y[:, j]), key=lambda c: len(np.unique(c)), reverse=True)
            tau = kendall_kernel(*pair)
            out[:, i, j] = np.concatenate(
                [tau(weights[k : k + step][:, part.document]) for k in range(0, len(weights), step)]
            )
    return _finished(out[0], out[1:], len(part.x))


# --- summary ----------------------------------------------------------------------------------------------------


def within_documents(x: Floats, y: Floats, document: Indices, kind: Kind) -> Floats:
    """The correlation of every pair of columns within each document.

    Parameters
    ----------
    x, y : (n, p), (n, q) arrays without NaN
    document : (n,) array of int
        Ascending codes.

    Returns
    -------
    (documents present, p, q) array
        NaN where a document has one row, or a column is constant in it.
    """
    starts = np.flatnonzero(np.diff(document, prepend=-1))
    if kind == "kendall":
        return _kendall_within(x, y, starts)
    if kind == "spearman":
        x, y = (np.stack([_ranks_within(c, document) for c in m.T], axis=1) for m in (x, y))
    else:
        x, y = _scaled(x), _scaled(y)
    size = np.diff(starts, append=len(x))[:, None]
    x, y = (m - np.repeat(np.add.reduceat(m, starts) / size, size[:, 0], axis=0) for m in (x, y))
    xx, yy = (np.add.reduceat(m**2, starts) / size for m in (x, y))
    xy = np.stack([np.add.reduceat(x * c[:, None], starts) / size for c in y.T], axis=2)
    return _r(xy, xx, yy)


def _ranks_within(values: Floats, document: Indices) -> Floats:
    """Midranks of values among those of their document."""
    order = np.lexsort((values, document))
    v, d = values[order], document[order]
    level_starts = np.flatnonzero((np.diff(v, prepend=np.nan) != 0) | (np.diff(d, prepend=-1) != 0))
    lengths = np.diff(level_starts, append=len(v))
    out = np.empty(len(v))
    out[order] = np.repeat(level_starts + (lengths - 1) / 2, lengths)
    return out


def _kendall_within(x: Floats, y: Floats, starts: Indices) -> Floats:
    ends = np.append(starts[1:], len(x))
    out = np.full((len(starts), x.shape[1], y.shape[1]), np.nan)
    for d, (begin, end) in enumerate(zip(starts, ends, strict=True)):
        if (end - begin) ** 2 > _PAIRS_AT_ONCE:
            one = np.ones((1, end - begin))
            for i, j in np.ndindex(out.shape[1:]):
                out[d, i, j] = kendall_kernel(x[begin:end, i], y[begin:end, j])(one)[0]
            continue
        upper = np.triu_indices(end - begin, 1)
        a, b = (np.sign(m[begin:end][upper[0]] - m[begin:end][upper[1]]) for m in (x, y))
        out[d] = _r(a.T @ b, (a**2).sum(axis=0), (b**2).sum(axis=0))
    return out


def _summary(kind: Kind) -> Callable[[Part, Floats], Correlations]:
    def compute(part: Part, counts: Floats) -> Correlations:
        p, q = part.x.shape[1], part.y.shape[1]
        present = np.unique(part.document)
        each = within_documents(part.x, part.y, part.document, kind).reshape(len(present), -1)
        defined = np.isfinite(each)

        def mean(weights: Floats) -> Floats:
            with np.errstate(all="ignore"):
                value: Floats = weights @ np.where(defined, each, 0.0) / (weights @ defined)
            return value.reshape(-1, p, q)

        n = defined.sum(axis=0).reshape(p, q)
        return _finished(*_with_points(counts[:, present], mean), n, len(present) - n)

    return compute


# --- system -----------------------------------------------------------------------------------------------------


def _system(kind: Kind) -> Callable[[Part, Floats], Correlations]:
    def compute(part: Part, counts: Floats) -> Correlations:
        p, n_systems = part.x.shape[1], part.systems_drawn.shape[1]
        columns = np.concatenate([np.ones((len(part.x), 1)), _scaled(part.x), _scaled(part.y)], axis=1)
        width = columns.shape[1]
        sums = np.zeros((part.n_documents, n_systems, width))
        np.add.at(sums, (part.document, part.system), columns)
        present = np.flatnonzero(sums[:, :, 0].sum(axis=0))
        if len(present) < 3:
            empty = np.full((len(counts), p, part.y.shape[1]), np.nan)
            return _finished(np.full(empty.shape[1:], np.nan), empty, len(present))
        documents = np.concatenate([np.ones((1, part.n_documents)), counts])
        systems = np.concatenate([np.ones((1, len(present))), part.systems_drawn[:, present]])

        def over_systems(rows: slice) -> Floats:
            total = np.tensordot(documents[rows], sums[:, present], axes=1)
            with np.errstate(all="ignore"):
                means = total[:, :, 1:] / total[:, :, :1]
            return _over_systems(means[:, :, :p], means[:, :, p:], systems[rows], kind)

        step = max(1, _CELLS_AT_ONCE // (len(present) ** 2 * width))
        # The whole table alone: its means are added up in the same order whatever was drawn beside it.
        slices = [slice(0, 1), *(slice(k, k + step) for k in range(1, len(documents), step))]
        found = np.concatenate([over_systems(rows) for rows in slices])
        return _finished(found[0], found[1:], len(present))

    return compute


def _over_systems(x: Floats, y: Floats, weights: Floats, kind: Kind) -> Floats:
    """Correlation over systems drawn ``weights`` (r, s) times, of (r, s, p) with (r, s, q).

    NaN where a system that was drawn has no value.
    """
    gap = np.asarray(np.isnan(x).any(axis=2) | np.isnan(y).any(axis=2))
    broken = np.asarray((gap & (weights > 0)).any(axis=1))
    x, y = np.nan_to_num(x), np.nan_to_num(y)
    if kind != "pearson":
        # Means that differ by rounding alone are tied.
        x, y = np.round(x, 12), np.round(y, 12)
        x, y = (np.sign(m[:, :, None] - m[:, None]) for m in (x, y))
    if kind == "spearman":
        # Summed over the systems drawn, the signs are midranks up to a shift and a factor.
        x, y = (np.einsum("rstp,rt->rsp", m, weights) for m in (x, y))
    if kind == "kendall":
        weights = (weights[:, :, None] * weights[:, None, :]).reshape(len(x), -1)
        x, y = (m.reshape(len(m), -1, m.shape[-1]) for m in (x, y))
    else:
        total = weights.sum(axis=1)[:, None, None]
        with np.errstate(all="ignore"):
            x, y = (m - np.einsum("rs,rsp->rp", weights, m)[:, None] / total for m in (x, y))
    drawn = weights[:, :, None]
    r = _r(np.einsum("rsp,rsq->rpq", drawn * x, y), (drawn * x**2).sum(axis=1), (drawn * y**2).sum(axis=1))
    return np.where(broken[:, None, None], np.nan, r)


COMPUTE: Mapping[tuple[str, str], Callable[[Part, Floats], Correlations]] = {
    ("dataset", "pearson"): _dataset_pearson,
    ("dataset", "kendall"): _dataset_kendall,
    ("dataset", "spearman"): lambda part, counts: _ranked(part, counts, fixed_system=False, ranks=True),
    ("dataset", "partial_spearman"): lambda part, counts: _ranked(part, counts, fixed_system=True, ranks=True),
    ("dataset", "partial_pearson"): lambda part, counts: _ranked(part, counts, fixed_system=True, ranks=False),
    ("dataset", "residual_spearman"): _residual_spearman,
    **{("summary", kind): _summary(kind) for kind in KINDS},
    **{("system", kind): _system(kind) for kind in KINDS},
}
