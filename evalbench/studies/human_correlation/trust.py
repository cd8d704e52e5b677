"""Which criteria count for the headline, and what light a correlation gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalbench.core.result import Estimate
from evalbench.core.stats import FEW_UNITS, Measured, no_width
from evalbench.core.verdict import Band, Bands
from evalbench.errors import BadInput
from evalbench.studies.human_correlation.analysis import Analysis, direction


@dataclass(frozen=True)
class Trust:
    """Which criteria count for the headline, and why."""

    trusted: tuple[str, ...]
    why: str
    untrusted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judge:
    bands: Bands
    max_ci_width: float
    lower_is_better: tuple[str, ...]
    max_unscored: float

    def cuts(self, sign: float) -> tuple[float, ...]:
        """Where the light of a metric changes whose agreement has this sign."""
        return tuple(sorted(sign * cut for cut in self.bands.cuts))

    def light(self, found: Measured, scorer: str, share_unscored: float, n_units: int) -> tuple[str, str]:
        """The light of a correlation, and what it would be where the evidence holds it back."""
        if found.value is None:
            return "grey", "grey"
        would_be = self.bands.light(found.value * direction(scorer, self.lower_is_better))
        low, high = found.ci_low, found.ci_high
        wide = low is None or high is None or high - low > self.max_ci_width
        # A few documents that all agree look certain: two always correlate perfectly.
        chance = not wide and n_units < FEW_UNITS and no_width(low, high)  # type: ignore[arg-type]
        held_back = wide or chance or share_unscored > self.max_unscored
        return ("grey" if held_back else would_be), would_be


def bands_of(yellow_from: float, green_from: float) -> Bands:
    """Green where the value reaches ``green_from``, yellow where it reaches ``yellow_from``, else red.

    Raises
    ------
    BadInput
        Unless −1 < yellow_from < green_from ≤ 1.
    """
    if not -1 < yellow_from < green_from <= 1:
        raise BadInput(f"yellow_from and green_from must ascend within −1 to 1, got {yellow_from} and {green_from}")
    return Bands((
        Band("red", high=yellow_from), Band("yellow", yellow_from, green_from), Band("green", green_from),
    ))  # fmt: skip


def trust_of(analysis: Analysis, trusted: Sequence[str], trust_from: float) -> Trust:
    """The trusted criteria: those named beforehand, else those with ordinal alpha of at least ``trust_from``.

    With one annotator there is no alpha, and none is trusted unless named.

    Raises
    ------
    BadInput
        If a named one is not among the criteria.
    """
    criteria = analysis.panel.criteria
    unknown = [name for name in trusted if name not in criteria]
    if unknown:
        raise BadInput(f"trusted: {', '.join(unknown)} not among the criteria {', '.join(criteria)}")
    if trusted:
        rest = tuple(c for c in criteria if c not in trusted)
        return Trust(tuple(trusted), "named beforehand", rest)
    if len(analysis.panel.annotators) < 2:
        return Trust((), "there is one human score for each output, so nothing shows how far people agree", criteria)
    alphas = {c: analysis.agreement[c]["alpha_ordinal"].value for c in criteria}
    good = tuple(c for c in criteria if alphas[c] is not None and alphas[c] >= trust_from)
    if not good:
        return Trust((), f"the annotators' ordinal alpha reaches {trust_from:g} on none", criteria)
    return Trust(good, f"ordinal alpha of the annotators ≥ {trust_from:g}", tuple(c for c in criteria if c not in good))


def agreement_of(e: Estimate, judge: Judge) -> float:
    """The value with the sign that means agreement; below all where there is none."""
    return -2.0 if e.value is None else e.value * direction(e.group["scorer"], judge.lower_is_better)


def trusted_columns(analysis: Analysis, trust: Trust, i: int) -> list[int]:
    """The trusted criteria that scorer i is compared with and has a value on."""
    values = analysis.tables[analysis.level, analysis.coefficient].values
    return [j for j in asked_columns(analysis, trust, i) if np.isfinite(values[i, j])]


def asked_columns(analysis: Analysis, trust: Trust, i: int) -> list[int]:
    """The trusted criteria that scorer i is compared with."""
    panel = analysis.panel
    return [j for j, c in enumerate(panel.criteria) if c in trust.trusted and panel.compared[i, j]]


def trusted_replicates(analysis: Analysis, trust: Trust, i: int) -> tuple[float, np.ndarray]:
    """Mean over the trusted criteria where scorer i has a value, and its replicates."""
    found = analysis.tables[analysis.level, analysis.coefficient]
    columns = trusted_columns(analysis, trust, i)
    if not columns:
        return float("nan"), np.full(len(found.replicates), np.nan)
    return float(found.values[i, columns].mean()), found.replicates[:, i, columns].mean(axis=1)
