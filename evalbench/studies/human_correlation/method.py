"""How the figures were made, and what to know of them."""

from __future__ import annotations

import numpy as np

from evalbench import core
from evalbench.studies.human_correlation import panels, tables

_LINEARISED = (
    "At dataset level the resamples of Spearman, Kendall and the partial correlations are computed to first order from "
    "influence functions, as of all tables of more than 5000 outputs of at least 300 documents: the ends of the intervals "
    "differ from those of ranks made anew by less than 2 % of the width."
)


def remarks(panel: panels.Panel, terms: panels.Terms) -> tuple[str, ...]:
    """Notes on the metrics that were compared; none without a metric."""
    n, untrusted = len(panel.scorers), [c for c in panel.criteria if c not in terms.trusted]
    if not n:
        return ()
    said = (
        f"{n} metrics were tried: the best of many looks better than it is" if n > 1 else "",
        f"not trusted: {', '.join(untrusted)}" if untrusted else "",
        "" if panel.has_systems else "no column model: no system level, no partial correlation",
        core.compared.left_out_note(n, "metrics", "their agreement on each criterion"),
    )
    return (*_copies(panel), *filter(None, said))


def _copies(panel: panels.Panel) -> list[core.Note]:
    """Metrics that equal people's marks of a criterion on every output, on enough of them."""
    notes = []
    for j, scorer in enumerate(panel.scorers):
        for k, criterion in enumerate(panel.criteria):
            own = panel.x[:, j][np.isfinite(panel.x[:, j]) & np.isfinite(panel.y[:, k])]
            people = panel.y[:, k][np.isfinite(panel.x[:, j]) & np.isfinite(panel.y[:, k])]
            if panel.compared[j, k] and len(own) >= core.stats.FEW_UNITS and np.ptp(own) and (own == people).all():
                short = (
                    f"{scorer} equals people's marks of {criterion} on all {len(own)} outputs, as if one were a copy"
                )
                notes.append(core.Note("instrument", short))
    return notes


def described(panel: panels.Panel, terms: panels.Terms) -> tuple[str, ...]:
    """Resampling, the ceiling, levels, comparisons, plans, trust."""
    several = len(panel.annotators) > 1
    people = "the annotators' mean" if several else "the human score"
    of_metrics = (
        f"Correlations are with {people}. Levels: summary, the correlation over systems within a document, mean over documents "
        "where both vary; dataset, over all rows pooled; system, over the systems' means (Deutsch, Dror & Roth 2021).",
        *(f"{name}: {said}." for name, said in tables.DEFINITIONS.items() if panel.has_systems and "_" in name),
        *([_LINEARISED] if core.correlation_table.is_linearised(len(panel.x), panel.n_documents) else []),
        "Comparisons: paired bootstrap over documents at summary and dataset level (p from Student's t); Williams' test "
        "(Pearson) at system level only, since pooled rows are not independent. Holm over the pairs of one criterion and level.",
        "Labels needed: ((z.975 + z.80) / (atanh r − atanh r0))² + 3 (Fisher 1921).",
        f"Trusted criteria: {', '.join(terms.trusted) or 'none'} ({terms.why}).",
        "Spearman with the annotators and the mean over trusted criteria: handbook (docs/methods.md), section 12; the levels "
        "and the thresholds of the light are ours.",
    )
    return (
        f"Intervals: percentile bootstrap over {panel.n_documents} documents, the same resamples for every correlation; of alpha over "
        "outputs; at system level over systems and documents (Boot-Both of Deutsch et al.), and none under ten systems.",
        *(["Ceiling: each annotator against the mean of the others, averaged over annotators."] if several else []),
        *(of_metrics if panel.scorers else ()),
    )
