"""Pairs of which people prefer one: how often a metric prefers the same, as shared tasks and ranking sets count it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.studies.human_correlation import inputs, panels

# What is counted of each pair: the metric prefers the better, the worse, neither; it lacks a score; people prefer neither.
_COUNTS = 5


def pairs_table(panel: panels.Panel, given: pd.DataFrame | None) -> pd.DataFrame:
    """How often each metric prefers the output that people prefer.

    - ``given``: Pairs as people judged them: doc_id, better, worse (systems), criterion. On other criteria: every two
      outputs of a document, the better by the mean of the annotators; those with equal means are ``undecided``.

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
    x = panel.x * panel.signs
    by_document = _of_documents(x, panel.y, panel.document_codes)
    if given is not None:
        judged = [panel.criteria.index(c) for c in sorted(given["criterion"].unique())]
        by_document[:, :, judged] = _of_given(panel, x, given)[:, :, judged]
    rows = _rows(panel, by_document, "document")
    # The two sides of a row are called systems and are none: one pair of their means says nothing of any system.
    sides_only = given is not None and set(panel.system) == set(inputs.SIDES)
    if panel.system_means is not None and not sides_only:
        means_x, means_y = panel.system_means
        together = np.zeros(len(means_x), dtype=int)
        rows += _rows(panel, _of_documents(means_x * panel.signs, means_y, together), "system")
    frame = pd.DataFrame(rows)
    return frame.astype(dict.fromkeys(("accuracy", "ci_low", "ci_high", "tau", "tau_without_ties"), float))


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
    better, worse = (keys.get_indexer(pd.MultiIndex.from_frame(given[["doc_id", c]])) for c in ("better", "worse"))
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
                "note": "no interval: pairs of systems share systems" if pairs and level == "system" else found.note,
            }
        )
    return rows
