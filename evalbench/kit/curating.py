"""What is wrong with a table of labelled texts: duplicates, conflicts, leaks, outliers, texts that are empty or cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.progress import at
from evalbench.core.seeds import rng
from evalbench.core.wording import percent
from evalbench.errors import BadInput
from evalbench.kit.options import Checks
from evalbench.readers.schema import Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.core.arrays import Floats, Indices

TEXTS: Mapping[str, Table] = {
    "rows": Table(
        (
            Column("id", "id"),
            Column("text", "text", empty_ok=True, help="what is looked at"),
            Column(
                "label", "text", required=False, empty_ok=True, help="rows that nearly agree in text should agree in it"
            ),
            Column("split", "text", required=False, empty_ok=True, help="such as train and test"),
        ),
        unique=("id",),
        help="one row per text",
    )
}
EMPTY, DUPLICATE, NEAR, CONFLICT, LEAK, CUT, OUTLIER = (
    "empty", "duplicate", "near-duplicate", "label-conflict", "leak", "cut", "outlier",
)  # fmt: skip
KINDS: Mapping[str, str] = {
    EMPTY: "the text is empty; left out",
    DUPLICATE: "the same text as a row before it, but for case, blanks and punctuation; left out",
    NEAR: "nearly the same text as a row before it; left out",
    CONFLICT: "nearly the same text as a row with another label; set aside until a person has decided",
    LEAK: "nearly the same text as a row of the split that is kept whole; left out",
    CUT: "the text seems to end in the middle; kept, to be looked at",
    OUTLIER: "the text is unlike all others; kept, to be looked at",
}
REMOVES = (EMPTY, DUPLICATE, NEAR, CONFLICT, LEAK)
HELD_OUT = ("test", "validation", "valid", "val", "dev", "eval")
"""Splits that are kept whole where rows of two splits nearly agree, the first of them that exists."""
NEIGHBOURS, FAR = 5, 5.0
"""An outlier's mean cosine to so many nearest rows lies so many robust standard deviations below the median."""
_ENDS = ".!?…。！？؟:;)]}»”\"'`*"
_LEAST_ENDED, _LEAST_CUT, _SHORTEST_LIMIT = 0.8, 3, 100
_COLUMNS = ("id", "kind", "other", "detail")


class Duplicates(NamedTuple):
    """Groups of rows that nearly agree: the number of each row's group, the row that it is nearest to, and their cosine."""

    group: Indices
    other: Indices
    cosine: Floats


@dataclass(frozen=True)
class Curated:
    """A table that was looked through.

    Attributes
    ----------
    rows : DataFrame
        Those that stay, in their order, with ``split`` where there is one.
    findings : DataFrame
        ``id, kind, other, detail``: one row per finding, kinds as in :data:`KINDS`, ``other`` the id of the row it is about.
    counts : mapping of str to int
        Findings by kind.
    splits : mapping of str to int
        Rows that stay, by split.
    conflicts : DataFrame
        The rows that were set aside for their labels.
    """

    rows: pd.DataFrame
    findings: pd.DataFrame
    counts: Mapping[str, int]
    splits: Mapping[str, int]
    conflicts: pd.DataFrame


def curate(
    rows: pd.DataFrame,
    *,
    near: float = 0.95,
    embed: str = "use-multilingual",
    hold_out: str = "",
    shares: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Curated:
    """Look through a table of texts, and leave out what would spoil a judgement that rests on it.

    Rows whose texts agree but for case, blanks and punctuation are duplicates; rows whose cosine is at least ``near`` are near
    duplicates, and so are rows that are linked by such pairs.  Of a group with one label the first row stays; a group with
    several labels is set aside whole.  Where a group spans splits, its rows of the split ``hold_out`` stay and the others go.

    Parameters
    ----------
    rows : DataFrame
        As in :data:`TEXTS`; further columns are kept.
    near : float
        0–1; above 1 only equal texts are duplicates.
    embed : str
        The embedding model of the cosines.
    hold_out : str
        The split that is kept whole; by default the first of :data:`HELD_OUT` that exists, else the smallest.
    shares : mapping of str to float, optional
        Draw a new split: names with shares that add up to 1.  Rows stay in the order of the table; the seed draws.

    Raises
    ------
    BadInput
        For faults of the options, and if no row stays.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"id": ["a", "b", "c"], "text": ["It rains.", "it rains", ""], "label": ["wet", "wet", "dry"]})
    >>> found = curate(rows, near=2)
    >>> found.findings[["id", "kind", "other"]].values.tolist()
    [['b', 'duplicate', 'a'], ['c', 'empty', '']]
    """
    import pandas as pd

    _refuse(rows, near, hold_out, shares)
    rows = rows.reset_index(drop=True)
    texts = rows["text"].fillna("").astype(str).tolist()
    ids = rows["id"].tolist()
    findings: list[tuple[str, str, str, str]] = []
    blank = np.array([not text.strip() for text in texts])
    findings += [(ids[i], EMPTY, "", "") for i in np.flatnonzero(blank)]
    used = np.flatnonzero(~blank)
    keys, vectors = _distinct([texts[i] for i in used], embed if near <= 1 else "")
    same = duplicates(keys, vectors, near)
    gone = set(np.flatnonzero(blank).tolist())
    for members in _groups(same.group):
        gone |= {int(used[m]) for m in _resolved(members, used, rows, same, keys, hold_out, findings, ids)}
    findings += _cut(ids, texts, used)
    findings += _outliers(ids, used, vectors, keys)
    stays = rows.drop(index=sorted(gone)).reset_index(drop=True)
    if stays.empty:
        raise BadInput("data curate: no row stays: every text is empty or in conflict with another label")
    if shares:
        stays["split"] = _drawn(stays["id"].tolist(), shares, seed)
    order = {name: place for place, name in enumerate(ids)}
    kinds = list(KINDS)
    findings.sort(key=lambda f: (order[f[0]], kinds.index(f[1])))
    table = pd.DataFrame(findings, columns=list(_COLUMNS))
    splits = Counter(stays["split"].fillna("").astype(str)) if "split" in stays else {}
    aside = rows[rows["id"].isin(table.loc[table["kind"] == CONFLICT, "id"])].reset_index(drop=True)
    counts = {kind: int((table["kind"] == kind).sum()) for kind in KINDS}
    return Curated(stays, table, counts, dict(sorted(splits.items())), aside)


def duplicates(keys: Sequence[str], vectors: npt.ArrayLike | None, near: float) -> Duplicates:
    """Rows that agree: those of one key, and those linked by pairs whose cosine is at least ``near``.

    Parameters
    ----------
    keys : sequence of str
        Each row's text without what does not count.
    vectors : (distinct keys, d) array, optional
        Unit vectors of the distinct keys in order of appearance; without them only equal keys agree.
    near : float
        −1 to 1.

    Examples
    --------
    >>> duplicates(["rain", "sun", "rain"], None, 1).group.tolist()
    [0, 1, 0]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    names = list(dict.fromkeys(keys))
    place = {name: number for number, name in enumerate(names)}
    of = np.array([place[key] for key in keys], dtype=np.int64)
    k = len(names)
    nearest, cosine = np.arange(k), np.ones(k)
    linked = np.empty((0, 2), dtype=np.int64)
    if vectors is not None and k > 1:
        linked, nearest, cosine = _links(np.asarray(vectors), near)
    graph = coo_array((np.ones(len(linked)), (linked[:, 0], linked[:, 1])), shape=(k, k)) if k else coo_array((0, 0))
    parts = connected_components(graph, directed=False)[1] if k else np.empty(0, dtype=np.int64)
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    rows_of = np.array([first[name] for name in names], dtype=np.int64)
    return Duplicates(parts[of], rows_of[nearest[of]], cosine[of])


def _links(vectors: npt.NDArray[Any], near: float) -> tuple[Indices, Indices, Floats]:
    """Pairs of at least this cosine; of each vector its nearest other one and their cosine."""
    from evalbench.models.similarity.search import exact_nearest

    n = len(vectors)
    nearest, cosine = np.zeros(n, dtype=np.int64), np.full(n, -np.inf)
    pairs = []
    rows, wanted = np.arange(n), 2
    while len(rows):
        at("near-duplicates", n - len(rows), n)
        found = exact_nearest(vectors, vectors[rows], min(wanted, n))
        scores = np.where(found.places == rows[:, None], -np.inf, found.scores)
        best = scores.argmax(axis=1)
        nearest[rows], cosine[rows] = found.places[np.arange(len(rows)), best], scores.max(axis=1)
        # A row whose last neighbour is still near may have more.
        more = (found.scores[:, -1] >= near) & (wanted < n)
        left, right = np.nonzero((scores >= near) & ~more[:, None])
        pairs.append(np.stack([rows[left], found.places[left, right]], axis=1))
        rows, wanted = rows[more], wanted * 4
    return np.concatenate(pairs), nearest, cosine


def _distinct(texts: Sequence[str], embed: str) -> tuple[list[str], npt.NDArray[Any] | None]:
    """Each text's key, and the vectors of the distinct keys' first texts."""
    from evalbench.text.words import words

    keys = [" ".join(words(text, lower=True)) or text.strip() for text in texts]
    if not embed or not keys:
        return keys, None
    from evalbench.models.similarity.embed import embed as embedded

    first: dict[str, str] = {}
    for key, text in zip(keys, texts, strict=True):
        first.setdefault(key, text)
    return keys, embedded(list(first.values()), embed)


def _groups(group: Indices) -> list[Indices]:
    order = np.argsort(group, kind="stable")
    cuts = np.flatnonzero(np.diff(group[order])) + 1
    return [members for members in np.split(order, cuts) if len(members) > 1]


def _resolved(
    members: Indices, used: Indices, rows: pd.DataFrame, same: Duplicates, keys: Sequence[str], hold_out: str,
    findings: list[tuple[str, str, str, str]], ids: Sequence[str],
) -> list[int]:  # fmt: skip
    """What of a group of agreeing rows goes; each that does is a finding."""
    group = rows.iloc[used[members]]
    labels = group["label"].fillna("").astype(str) if "label" in rows else None
    known = sorted({label for label in labels if label}) if labels is not None else []
    if labels is not None and len(known) > 1:
        for m, own in zip(members, labels, strict=True):
            other = next(o for o, label in zip(members, labels, strict=True) if label != own)
            detail = f"labels of the group: {', '.join(known)}"
            findings.append((ids[used[m]], CONFLICT, ids[used[other]], detail))
        return [int(m) for m in members]
    splits = group["split"].fillna("").astype(str).tolist() if "split" in rows else [""] * len(members)
    kept_split = held_out(splits, rows, hold_out) if len(set(splits)) > 1 else splits[0]
    stays = next(m for m, split in zip(members, splits, strict=True) if split == kept_split)
    gone = []
    for m, split in zip(members, splits, strict=True):
        if m == stays:
            continue
        exact = keys[m] == keys[stays]
        kind = LEAK if split != kept_split else DUPLICATE if exact else NEAR
        what = "equal texts" if exact else f"cosine {same.cosine[m]:.3f} with {ids[used[same.other[m]]]}"
        detail = f"{what}; this row in {split or 'no split'}, the other in {kept_split}" if kind == LEAK else what
        findings.append((ids[used[m]], kind, ids[used[stays]], "" if exact and kind == DUPLICATE else detail))
        gone.append(int(m))
    return gone


def held_out(splits: Sequence[str], rows: pd.DataFrame, hold_out: str) -> str:
    """Which of the splits is kept whole: the one named, else the first of :data:`HELD_OUT`, else the smallest."""
    there = list(dict.fromkeys(splits))
    if hold_out in there:
        return hold_out
    usual = {name: HELD_OUT.index(name.lower()) for name in there if name.lower() in HELD_OUT}
    sizes = rows["split"].fillna("").value_counts()
    return min(there, key=lambda name: (usual.get(name, len(HELD_OUT)), sizes[name], name))


def _cut(ids: Sequence[str], texts: Sequence[str], used: Indices) -> list[tuple[str, str, str, str]]:
    """Texts that end in the middle: of the greatest length, shared by several, or without an end where nearly all have one."""
    if not len(used):
        return []
    lengths = np.array([len(texts[i]) for i in used])
    longest = int(lengths.max())
    at_limit = lengths == longest
    crowded = at_limit.sum() >= _LEAST_CUT and longest >= _SHORTEST_LIMIT and np.unique(lengths).size > 1
    ended = np.array([texts[i].rstrip()[-1] in _ENDS for i in used])
    usual = ended.mean() >= _LEAST_ENDED
    found = []
    for place, i in enumerate(used):
        whys = []
        if crowded and at_limit[place] and not ended[place]:
            whys.append(f"it has {longest} characters, the most, as {int(at_limit.sum())} texts do")
        if usual and not ended[place]:
            whys.append(f"it has no end, as {percent(float(ended.mean()))} of the texts do")
        if whys:
            found.append((ids[i], CUT, "", "; ".join(whys)))
    return found


def _outliers(
    ids: Sequence[str], used: Indices, vectors: npt.NDArray[Any] | None, keys: Sequence[str]
) -> list[tuple[str, str, str, str]]:
    """Texts whose nearest others are far, measured by the median of all and its absolute deviation."""
    from evalbench.models.similarity.search import exact_nearest

    if vectors is None or len(vectors) < 10 * NEIGHBOURS:
        return []
    found = exact_nearest(vectors, vectors, NEIGHBOURS + 1)
    own = found.places == np.arange(len(vectors))[:, None]
    # A vector that several texts share may be its own neighbour at any place, or at none.
    own[~own.any(axis=1), -1] = True
    mean = np.where(own, 0, found.scores).sum(axis=1) / NEIGHBOURS
    middle = float(np.median(mean))
    spread = 1.4826 * float(np.median(np.abs(mean - middle)))
    if spread <= 0:
        return []
    far = (middle - mean) / spread
    place = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return [
        (
            ids[i],
            OUTLIER,
            "",
            f"mean cosine to its {NEIGHBOURS} nearest {mean[place[key]]:.2f}; the median is {middle:.2f}",
        )
        for i, key in zip(used, keys, strict=True)
        if far[place[key]] > FAR
    ]


def _drawn(ids: Sequence[str], shares: Mapping[str, float], seed: int) -> list[str]:
    """A split of each row: names in exact shares, in an order that the seed draws from the ids."""
    order = sorted(range(len(ids)), key=lambda i: (rng(seed, "curate/split", str(ids[i])).random(), str(ids[i])))
    ends = np.round(np.cumsum(list(shares.values())) * len(ids)).astype(int)
    out = [""] * len(ids)
    for rank, i in enumerate(order):
        out[i] = list(shares)[int(np.searchsorted(ends, rank, side="right"))]
    return out


def _refuse(rows: pd.DataFrame, near: float, hold_out: str, shares: Mapping[str, float] | None) -> None:
    checks = Checks({})
    checks.at_least(-1, near=near)
    names = sorted(set(rows["split"].fillna("").astype(str))) if "split" in rows else []
    checks.that(
        not hold_out or hold_out in names, f"hold_out: no split {hold_out!r}; splits are {', '.join(names) or 'none'}"
    )
    if shares is not None:
        total = sum(shares.values())
        checks.that(
            len(shares) > 1 and all(v > 0 for v in shares.values()) and abs(total - 1) < 1e-9,
            f"shares: expected two names or more with shares above 0 that add up to 1, got {dict(shares)}",
        )
        checks.that("split" not in rows, "shares: the table has splits; leave the column out to draw new ones")
    repeated = [name for name, n in Counter(rows["id"]).items() if n > 1]
    checks.that(not repeated, f"ids appear twice: {', '.join(map(str, repeated[:5]))}")
    checks.refuse("data curate")
