"""Which criteria metrics are judged by: those on which the annotators are shown to agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalbench import core, errors, kit
from evalbench.studies.human_correlation import panels

TRUST_FROM = 0.4
NAMED_BEFOREHAND = "named beforehand"
_MOST_GATES = 3
_FEWEST_DOCUMENTS = 5
"""Outputs of one document are marked alike: trust in annotators needs several documents."""


def trusted_of(panel: panels.Panel, named: Sequence[str], trust_from: float) -> tuple[tuple[str, ...], str]:
    """The trusted criteria, and why: those named beforehand, else those whose ordinal alpha is shown to reach ``trust_from``.

    It is shown by the lower end of its interval, on 20 outputs or more, of 5 documents, that two annotators marked.  With
    one annotator there is no alpha, and none is trusted unless named.

    Raises ``BadInput`` if a named one is not among the criteria.
    """
    unknown = [name for name in named if name not in panel.criteria]
    if unknown:
        raise errors.BadInput(f"trusted: {', '.join(unknown)} not among the criteria {', '.join(panel.criteria)}")
    if named:
        return tuple(named), NAMED_BEFOREHAND
    if len(panel.annotators) < 2:
        if panel.pairs is not None:
            return (), "each pair has one verdict of people, so nothing shows how far they agree"
        return (), "there is one human score for each output, so nothing shows how far people agree"
    gates = {c: _agreed(panel, c, trust_from) for c in panel.criteria}
    good = tuple(c for c, gate in gates.items() if gate.allowed)
    if good:
        return good, f"ordinal alpha of the annotators ≥ {trust_from:g}{doubly_marked(panel, good)}"
    said = [f"{c}: {gate.why_not}" if len(gates) > 1 else gate.why_not for c, gate in list(gates.items())[:_MOST_GATES]]
    said += [f"{core.wording.count(len(gates) - _MOST_GATES)} more"] if len(gates) > _MOST_GATES else []
    return (), f"the annotators' ordinal alpha is not shown to reach {trust_from:g} ({'; '.join(said)})"


def _agreed(panel: panels.Panel, criterion: str, trust_from: float) -> kit.evidence.Gate:
    """Whether annotators agree well enough on a criterion for metrics to be judged by it."""
    alpha, of = panel.alphas[criterion]["alpha_ordinal"], len(panel.x)
    gate = kit.evidence.gate(
        "alpha", alpha.value, alpha.ci_low, alpha.ci_high, alpha.n, threshold=trust_from, of=of, unit="output"
    )
    several = np.isfinite(panel.ratings[:, panel.criteria.index(criterion)]).sum(axis=1) > 1
    documents = len(np.unique(panel.document_codes[several]))
    if alpha.value is None:
        return gate._replace(why_not=f"{gate.why_not}, {alpha.note}")
    if gate.allowed and documents < _FEWEST_DOCUMENTS:
        found = core.counted(documents, "document")
        return kit.evidence.Gate(False, f"it rests {gate.basis} of {found}, {_FEWEST_DOCUMENTS} are needed", gate.basis)
    return gate


def doubly_marked(panel: panels.Panel, criteria: Sequence[str]) -> str:
    """On how many outputs the agreement of annotators rests, where not all are marked by two: ``" on 60 of 240 outputs"``."""
    fewest = min(panel.alphas[c]["alpha_ordinal"].n for c in criteria)
    return (
        f" on {core.wording.count(fewest)} of {core.counted(len(panel.x), 'output')}" if fewest < len(panel.x) else ""
    )
