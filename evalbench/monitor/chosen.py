"""Metrics for monitoring, chosen at primary validation by how they correlate with the labels of annotators.

Users' feedback takes no part in the choice: who gives it has selected himself.  What was chosen is a file, with every
metric that was looked at, its correlation, interval and p adjusted for all of them, and the rule; a schedule names it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evalbench.core.significance import holm
from evalbench.core.stats import FEW_UNITS
from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.metrics.registry import card
from evalbench.readers.runs import ITEMS, read_frame, read_json, read_results

STUDY = "human_correlation"
ALPHA, AT_LEAST, MOST = 0.05, 0.3, 5
IN_A_LOG = ("output", "request")
SCHEMA_VERSION = 1
CAUTION = (
    "Chosen by the same labels that the correlations are computed on: on new labels those of the chosen metrics will be "
    "somewhat lower on average."
)
_TEXTS = ("reference", "context", "samples", "request")


class Candidate(NamedTuple):
    """A metric that was looked at.

    - ``value``, ``ci_low``, ``ci_high``: Its correlation with the annotators' labels.
    - ``p``, ``p_holm``: Two-sided, from the resamples of the interval, and adjusted for all metrics that were looked
      at.
    - ``n_of``: What is counted by n.
    - ``higher_is_better``: Where False, a negative correlation is agreement.
    - ``why``: Why it is not monitored; empty where it is.
    """

    metric: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    p_holm: float | None
    n: int
    n_of: str
    higher_is_better: bool
    monitored: bool
    why: str

    @property
    def agreement(self) -> float:
        """The correlation with the sign that means agreement; below all where there is none."""
        return -2.0 if self.value is None else self.value if self.higher_is_better else -self.value


class Chosen(NamedTuple):
    """What a file of chosen metrics says.

    - ``data``: ``name``, ``version``, ``sha256`` of the labelled data.
    - ``criteria``: Those that people marked and the correlation is averaged over.
    - ``metrics``: Those with the highest agreement first.
    """

    run: str
    data: Mapping[str, Any]
    level: str
    coefficient: str
    criteria: Sequence[str]
    rule: str
    metrics: Sequence[Candidate]

    @property
    def monitored(self) -> tuple[Candidate, ...]:
        return tuple(one for one in self.metrics if one.monitored)

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        plain = {**self._asdict(), "criteria": list(self.criteria), "data": dict(self.data)}
        return {
            "schema_version": SCHEMA_VERSION,
            "what": "metrics for monitoring, by their correlation with annotators' labels",
            **plain,
            "caution": CAUTION,
            "metrics": [one._asdict() for one in self.metrics],
        }


def chosen_of(
    run: Path,
    *,
    criteria: Sequence[str] = (),
    available: Collection[str] = IN_A_LOG,
    alpha: float = ALPHA,
    at_least: float = AT_LEAST,
    most: int = MOST,
) -> Chosen:
    """Choose metrics by a finished run of ``human_correlation``.

    A metric's figure is its correlation with the annotators' mean at the run's level and by its coefficient, averaged
    over the criteria, with the interval of the run.  ``p = 2·min(#{r* ≤ 0} + 1, #{r* ≥ 0} + 1) / (B + 1)`` over the B
    resampled correlations r*, adjusted by Holm's method for all metrics of the run.  Monitored are those whose
    correlation in the metric's own direction is at least ``at_least`` with an adjusted p of at most ``alpha``, the
    highest ``most`` of them, as far as they can be computed from what a log has.  A metric with a value on fewer than 20
    documents or outputs is not.

    - ``run``: Its folder.
    - ``criteria``: Empty: those that the run trusts.
    - ``available``: Texts that the log has (``reference``, ``context``, ``samples`` besides output and request), and
      columns that hold a metric already.
    - ``alpha``: 0 to 1, exclusive.
    - ``at_least``: 0 to 1.

    Raises ``BadInput`` if the run is of another study or has no metrics, trusts no criterion and none is named, or
    options are out of range.
    """
    from evalbench.studies.human_correlation.summary import asked_columns, mean_over, settled, trusted_columns

    results = read_results(run)
    faults = []
    if results["study"] != STUDY:
        faults.append(
            f"{run}: a run of {results['study']}; expected one of {STUDY}, whose labels are those of annotators"
        )
    if not 0 < alpha < 1:
        faults.append(f"alpha is {alpha:g}; expected a number between 0 and 1")
    if not 0 <= at_least <= 1:
        faults.append(f"at_least is {at_least:g}; expected 0 to 1")
    if most < 1:
        faults.append(f"most is {most}; expected at least 1")
    if faults:
        raise BadInput.listing("no metrics were chosen:", faults)
    panel, terms = settled(read_frame(run / ITEMS), results["parameters"])
    unknown = [name for name in criteria if name not in panel.criteria]
    if unknown:
        raise BadInput(f"{run}: no criterion {', '.join(unknown)}; there are {', '.join(panel.criteria)}")
    if not panel.scorers:
        raise BadInput(f"{run}: it is of the annotators' agreement alone, without a metric")
    terms = terms._replace(trusted=tuple(criteria) or terms.trusted)
    if not terms.trusted:
        raise BadInput(
            f"{run}: it trusts no criterion ({terms.why}); name those that you know to be sound with --criterion: "
            f"{', '.join(panel.criteria)}"
        )
    of = {"system": "systems", "summary": "documents"}.get(panel.level, "outputs")
    found = []
    for i, name in enumerate(panel.scorers):
        columns = trusted_columns(panel, terms, i)
        better = bool(panel.signs[i] > 0)
        if not columns:
            why = (
                "it has no correlation" if asked_columns(panel, terms, i) else "it was not compared with these criteria"
            )
            found.append(Candidate(name, None, None, None, None, None, 0, "", better, False, why))
            continue
        value, replicates = mean_over(panel, columns, i)
        units = min(panel.n_units(i, j, panel.level) for j in columns)
        n = min(panel.counted(i, j, panel.level, panel.coefficient).n for j in columns)
        measured = panel.with_interval(value, replicates, panel.level, n=n, n_units=units)
        lacking = [panel.criteria.index(c) for c in terms.trusted if panel.criteria.index(c) not in columns]
        few = panel.level != "system" and n < FEW_UNITS
        why = f"no value on {', '.join(panel.criteria[j] for j in lacking)}" if lacking else measured.note
        why = f"it has a value on {n} {of} only" if few and not lacking else why
        p = p_of(replicates) if measured.ci_low is not None and not lacking and not few else None
        low, high = measured.ci_low, measured.ci_high
        found.append(
            Candidate(
                name, value, low, high, p, None, n, of, better, False, "" if p is not None else why or "no interval"
            )
        )
    tested = counted(sum(one.p is not None for one in found), "metric")
    enough = "an interval" if panel.level == "system" else f"values on at least {FEW_UNITS} {of}"
    rule = (
        f"the {panel.coefficient} correlation with the annotators' mean at {panel.level} level, averaged over "
        f"{', '.join(terms.trusted)}, is at least {at_least:g} in the metric's own direction, with p ≤ {alpha:g} after "
        f"Holm's adjustment for {tested} with {enough}; of these the highest {most} that a log with "
        f"{', '.join(sorted({'output', *available}))} allows"
    )
    decided = _decided(found, {"output", *available}, alpha, at_least, most)
    return Chosen(run.name, dict(results["data"]), panel.level, panel.coefficient, terms.trusted, rule, decided)


def p_of(replicates: np.ndarray[Any, Any]) -> float | None:
    """Two-sided p that a figure is 0, by its resampled values; None where fewer than half of them have a value.

    Examples
    --------
    >>> p_of(np.array([0.2] * 97 + [-0.1] * 2)), p_of(np.array([0.0, 0.0, 0.0]))
    (0.06, 1.0)
    """
    known = replicates[np.isfinite(replicates)]
    if 2 * len(known) < len(replicates) or not len(known):
        return None
    sides = min(int((known <= 0).sum()), int((known >= 0).sum()))
    return float(min(1.0, 2 * (sides + 1) / (len(known) + 1)))


def _decided(
    found: Sequence[Candidate], available: Collection[str], alpha: float, at_least: float, most: int
) -> tuple[Candidate, ...]:
    """All candidates by agreement, each with its adjusted p and what became of it."""
    adjusted = holm([np.nan if one.p is None else one.p for one in found])
    ordered = sorted(
        (one._replace(p_holm=None if one.p is None else float(p)) for one, p in zip(found, adjusted, strict=True)),
        key=lambda one: (-one.agreement, one.metric),
    )
    out, taken = [], 0
    for one in ordered:
        why = one.why or _why_not(one, alpha, at_least) or _not_available(one.metric, available)
        if not why and taken == most:
            why = f"more than the {most} highest"
        taken += not why
        out.append(one._replace(monitored=not why, why=why))
    return tuple(out)


def _why_not(one: Candidate, alpha: float, at_least: float) -> str:
    if one.agreement < at_least:
        return f"below {at_least:g}" if one.agreement >= 0 else "it goes against the labels"
    return "" if one.p_holm is not None and one.p_holm <= alpha else f"adjusted p above {alpha:g}"


def _not_available(metric: str, available: Collection[str]) -> str:
    """Why a metric cannot be computed from a log; empty where it can."""
    if metric in available:
        return ""
    try:
        needs = card(metric).needs
    except KeyError:
        return "a column of the labelled table or a judge's marks; name it with --available where the log has it"
    lacking = [name for name in needs if name in _TEXTS and name not in available]
    return f"it needs {', '.join(lacking)}, which the log lacks" if lacking else ""


def read_chosen(path: Path) -> Chosen:
    """A file of chosen metrics.

    Raises ``BadInput`` if it is not one, or has no metric that is monitored.
    """
    content = read_json(path)
    try:
        if content["schema_version"] != SCHEMA_VERSION:
            raise BadInput(f"{path}: of version {content['schema_version']}; this evalbench reads {SCHEMA_VERSION}")
        metrics = tuple(Candidate(**one) for one in content["metrics"])
        names = [name for name in Chosen._fields if name != "metrics"]
        found = Chosen(**{name: content[name] for name in names}, metrics=metrics)
        sound = all(isinstance(one.metric, str) and isinstance(one.monitored, bool) for one in metrics)
    except (KeyError, TypeError):
        sound = False
    if not sound:
        raise BadInput(f"{path}: not what `evalbench monitor choose` writes")
    if not found.monitored:
        raise BadInput(f"{path}: it has no metric that is monitored; the rule was: {found.rule}")
    return found
