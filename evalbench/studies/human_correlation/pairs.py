"""Pairs of which people prefer one: how often a metric prefers the same, as shared tasks and ranking sets count it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.studies.human_correlation import inputs, panels

# What is counted of each pair: the metric prefers the better, the worse, neither; it lacks a score; people prefer neither.
_COUNTS = 5


def pairs_table(panel: panels.Panel) -> pd.DataFrame:
    """How often each metric prefers the output that people prefer.

    Pairs are those that people judged.  On other criteria: every two outputs of a document, the better by the mean of
    the annotators; those with equal means are ``undecided``.

    Returns: One row per metric, criterion and level. ``level``: *document*, two outputs of one document, with an
    interval over documents (Wilson's where all agree); *system*, two systems by their means over documents (Kocmi et
    al. 2021), without one: its pairs share systems. ``accuracy``: concordant / pairs; ``tau``: (concordant − discordant
    − tied) / pairs, as WMT's daRR counts a metric's tie; ``tau_without_ties``: (concordant − discordant) / (concordant
    + discordant). ``pairs`` are those with a preference of people and two scores.

    References
    ----------
    Ma et al. (2019), Results of the WMT19 metrics shared task, section 5 (daRR); Kocmi et al. (2021), To ship or not to
    ship, WMT, for pairwise accuracy of systems.
    """
    rows = _rows(panel, counts_of(panel), "document")
    # The two sides of a row are called systems and are none: one pair of their means says nothing of any system.
    sides_only = panel.pairs is not None and set(panel.system) == set(inputs.SIDES)
    if panel.system_means is not None and not sides_only:
        means_x, means_y = panel.system_means
        together = np.zeros(len(means_x), dtype=int)
        rows += _rows(panel, _of_documents(means_x * panel.signs, means_y, together), "system")
    frame = pd.DataFrame(rows).drop(columns="method", errors="ignore")
    return frame.astype(dict.fromkeys(("accuracy", "ci_low", "ci_high", "tau", "tau_without_ties"), float))


def counts_of(panel: panels.Panel) -> panels.Array:
    """What is counted of the pairs of each document, (documents, p, q, 5)."""
    x = panel.x * panel.signs
    found = _of_documents(x, panel.y, panel.document_codes)
    columns = judged(panel)
    if columns and panel.pairs is not None:
        found[:, :, columns] = _of_given(panel, x, panel.pairs)[:, :, columns]
    return found


def judged(panel: panels.Panel) -> list[int]:
    """The places of the criteria of which people compared outputs."""
    return [] if panel.pairs is None else [panel.criteria.index(c) for c in sorted(panel.pairs["criterion"].unique())]


def estimates(panel: panels.Panel) -> list[core.Estimate]:
    """Accuracy and tau of the pairs that people judged, of every metric; tau counts a metric's tie as wrong."""
    columns = judged(panel)
    if not columns:
        return []
    counts, found = counts_of(panel), []
    for (i, j), row in zip(panel.cells, _rows(panel, counts, "document"), strict=True):
        own = counts[:, i, j]
        decided = own[:, :3].sum(axis=1) > 0
        lost = ~decided & (own[:, 3] > 0)
        ends = [None if np.isnan(row[name]) else row[name] for name in ("ci_low", "ci_high")]
        for metric, (title, unit, scale) in FIGURES.items() if j in columns else ():
            low, high = (None if end is None else scale * end + 1 - scale for end in ends)
            value = None if row["accuracy"] is None else scale * row["accuracy"] + 1 - scale
            found.append(
                core.Estimate(
                    metric=metric, title=title, unit=unit, value=value, ci_low=low, ci_high=high, note=row["note"],
                    group={"scorer": row["scorer"], "criterion": row["criterion"]}, n_of="documents", method=row["method"],
                    n=int(decided.sum()), n_unscored=int(lost.sum()), n_undefined=int((~decided & ~lost).sum()),
                )
            )  # fmt: skip
    return found


FIGURES: Mapping[str, tuple[str, str, int]] = {
    "pair_accuracy": ("share of pairs in which it prefers what people prefer", "0–1", 1),
    "pair_tau": ("tau of these pairs, a tie counts as wrong", "−1–1", 2),
}
"""Metric → title, unit, and the factor from the accuracy: tau is 2 × accuracy − 1."""


def drawn(panel: panels.Panel, counts: panels.Array) -> dict[tuple[str, str, str], panels.Array]:
    """The same figures of resamples, ``counts`` (r, documents): (metric, scorer, criterion) → (r,) array."""
    columns = judged(panel)
    if not columns:
        return {}
    sums = np.einsum("rd,dpqk->rpqk", counts, counts_of(panel)[..., :3])
    with np.errstate(all="ignore"):
        accuracy = sums[..., 0] / sums.sum(axis=-1)
    return {
        (metric, panel.scorers[i], panel.criteria[j]): scale * accuracy[:, i, j] + 1 - scale
        for i, j in panel.cells
        if j in columns
        for metric, (_, _, scale) in FIGURES.items()
    }


def in_words(panel: panels.Panel, found: Sequence[core.Estimate]) -> str:
    """The best metric by the pairs that people judged, criterion by criterion; empty where they judged none."""
    said = []
    known = [e for e in found if e.metric == "pair_accuracy" and e.value is not None]
    for j in judged(panel):
        own = [e for e in known if e.group["criterion"] == panel.criteria[j]]
        if not own:
            continue
        best = max(own, key=lambda e: e.value or 0.0)
        i = panel.scorers.index(best.group["scorer"])
        n = int(counts_of(panel)[:, i, j, :3].sum())
        tau = core.wording.signed(f"{2 * (best.value or 0.0) - 1:.2f}")
        of = f", the best of {len(own)}," if len(own) > 1 else ""
        by = f" on {panel.criteria[j]}" if len(judged(panel)) > 1 else ""
        said.append(
            f"{best.group['scorer']}{of} prefers what people prefer in {core.wording.estimate_text(best)} of "
            f"{core.counted(n, 'pair')}{by} (tau {tau}; its ties count as wrong)"
        )
    return f"{'; '.join(said)}. " if said else ""


def _of_documents(x: panels.Array, y: panels.Array, document: panels.Array) -> panels.Array:
    """Counts (documents, p, q, 5) over every two rows of a document."""
    order = np.argsort(document, kind="stable")
    x, y, document = x[order], y[order], document[order]
    found = np.zeros((int(document.max(initial=-1)) + 1, x.shape[1], y.shape[1], _COUNTS))
    largest = int(np.bincount(document).max(initial=0))
    # The rows of a document lie together: all pairs at a distance at once.
    for lag in range(1, largest):
        same = np.flatnonzero(document[lag:] == document[:-lag])
        _add(found, document[same], *(_signs(columns, same + lag, same) for columns in (x, y)))
    return found


def _of_given(panel: panels.Panel, x: panels.Array, given: pd.DataFrame) -> panels.Array:
    """Counts (documents, p, q, 5) over pairs that people judged."""
    keys = pd.MultiIndex.from_arrays([panel.document, panel.system])
    better, worse = (keys.get_indexer(pd.MultiIndex.from_frame(given[["id", c]])) for c in ("better", "worse"))
    document = panel.document_codes[better]
    shape = (panel.n_documents, x.shape[1], len(panel.criteria), _COUNTS)
    found = np.zeros(shape)
    prefers = np.full((len(given), len(panel.criteria)), np.nan)
    prefers[np.arange(len(given)), [panel.criteria.index(c) for c in given["criterion"]]] = 1.0
    _add(found, document, _signs(x, better, worse), prefers)
    return found


def _signs(columns: panels.Array, one: panels.Array, other: panels.Array) -> panels.Array:
    """Which of two rows is higher, column by column; a difference by rounding is none."""
    difference = columns[one] - columns[other]
    largest = np.nanmax(np.abs(np.concatenate([columns, np.zeros((1, columns.shape[1]))])), axis=0)
    return np.asarray(np.sign(np.where(np.abs(difference) <= 1e-12 * largest, 0.0, difference)))


def _add(found: panels.Array, document: panels.Array, metric: panels.Array, people: panels.Array) -> None:
    """Count pairs by the signs of the metrics' (m, p) and people's (m, q) differences; NaN where there is none."""
    for j, prefers in enumerate(people.T[:, :, None]):
        agree, decided = metric * prefers, np.abs(prefers) == 1
        tied, unscored = (metric == 0) & decided, np.isnan(metric) & decided
        undecided = np.broadcast_to(prefers == 0, metric.shape)
        np.add.at(found[:, :, j], document, np.stack([agree > 0, agree < 0, tied, unscored, undecided], axis=2))


def _rows(panel: panels.Panel, counts: panels.Array, level: str) -> list[dict[str, Any]]:
    """A row for each metric × criterion, of counts (documents, p, q, 5)."""
    columns: dict[str, panels.Array] = {}
    measures = []
    for i, j in panel.cells:
        name, right = f"{i}/{j}", counts[:, i, j, 0]
        columns |= {f"right {name}": right, f"wrong {name}": counts[:, i, j, :3].sum(axis=1) - right}
        none = "no pair with a preference and two scores"
        measures.append(core.measures.precision_of(f"right {name}", f"wrong {name}", name, undefined=none))
    if panel.clusters is not None and level != "system":
        columns[core.clusters.CLUSTER] = panel.clusters
    resampling: dict[str, Any] = {"seed": panel.seed, "n_resamples": panel.n_resamples}
    rows = []
    for (i, j), found in zip(
        panel.cells,
        core.measures.estimate(columns, measures, units=np.arange(len(counts)), **resampling).estimates,
        strict=True,
    ):
        good, bad, tied, unscored, undecided = counts[:, i, j].sum(axis=0).astype(int).tolist()
        pairs, decided = good + bad + tied, good + bad
        rows.append(
            {
                "scorer": panel.scorers[i],
                "criterion": panel.criteria[j],
                "level": level,
                "accuracy": found.value,
                "ci_low": found.ci_low,
                "ci_high": found.ci_high,
                "tau": (good - bad - tied) / pairs if pairs else None,
                "tau_without_ties": (good - bad) / decided if decided else None,
                "pairs": pairs,
                "concordant": good,
                "discordant": bad,
                "tied": tied,
                "unscored": unscored,
                "undecided": undecided,
                "method": found.method,
                "note": "no interval: pairs of systems share systems" if pairs and level == "system" else found.note,
            }
        )
    return rows
