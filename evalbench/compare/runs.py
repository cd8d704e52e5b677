"""Two or more runs of one study, or groups within a run, against the first of them.

Everything is computed anew from ``items.parquet`` by hooks of the study (:class:`evalbench.studies.contract.Study` says what
each gives).  A statistic that ``measures`` defines is compared exactly, every other on paired resamples: by ``weighted``, or
else by ``summarise``.

Options are the keyword arguments that a function shares with ``parameters`` of ``results.json``.  A statistic is compared
only in groups for which both runs state it, and only where the study's definition reproduces the recorded values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.compare import N_SUMMARIES
from evalbench.compare.changes import Changes, changes
from evalbench.compare.judges import Judging, with_judges
from evalbench.compare.measuring import with_measures
from evalbench.compare.resampled import compare_summaries
from evalbench.compare.sides import Group, Side, stopped_early, surroundings, unequal
from evalbench.compare.slices import Value, by_value, with_grouping
from evalbench.compare.versions import Common, common
from evalbench.compare.weighted import Kernel, compare_weighted
from evalbench.core.compared import Comparison
from evalbench.core.comparison import adjusted_together, compare_measures
from evalbench.core.measures import Measure, unit_sums
from evalbench.core.result import Summary
from evalbench.core.wording import title_of
from evalbench.errors import BadInput
from evalbench.kit.options import taken
from evalbench.kit.verdicts import N_RESAMPLES, SEED
from evalbench.readers.catalog import same_data

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.studies.contract import Study

HEADLINE, _CLOSE = 4, 1e-9  # so many figures open the page and are one family of tests, the others a second one


class Hooks(NamedTuple):
    """What a study offers for comparisons, see :class:`evalbench.studies.contract.Study`."""

    measures: Callable[..., Sequence[Measure]] | None
    summarise: Callable[..., Summary]
    unit: str = ""
    with_sums: Callable[..., pd.DataFrame] | None = None
    weighted: Callable[..., Kernel] | None = None
    content_unit: str = ""
    judged_measures: Callable[..., Sequence[Measure]] | None = None
    rests_on_judge: Callable[..., bool] | None = None
    measured_by: Mapping[str, Sequence[str]] = {}

    @classmethod
    def of(cls, s: Study) -> Hooks:
        of: dict[str, Any] = {name: getattr(s, name, None) for name in cls._fields}
        return cls(**{**of, "unit": s.UNIT, "content_unit": s.CONTENT_UNIT, "measured_by": s.measured_by()})

    def summed(self, side: Side) -> Side:
        """The side with every column that the figures sum."""
        if self.with_sums is None:
            return side
        try:
            return replace(side, items=self.with_sums(side.items, **side.options(self.with_sums)))
        except KeyError as error:
            raise BadInput(f"{side.run_id}: the items lack {error}, which today's code reads; run it anew") from error


class Row(NamedTuple):
    """One figure of one group of one side against the reference; ``headline`` figures are a family of their own."""

    group: Mapping[str, str]
    comparison: Comparison
    headline: bool


@dataclass(frozen=True)
class Differences:
    """One side against the reference.

    - ``changes``: Units that got better or worse; None where units are not paired.
    - ``parameters`` (tuple of (name, value of the reference, value of the side)): Those that differ.
    - ``surroundings``: What else differs: code, versions, models.
    - ``n_shared``, ``only_reference``, ``only_side``: Units.
    - ``slices``: The first figure within each value of the slices that both have.
    - ``same``: Whether both are the same run and groups.
    """

    reference: Side
    side: Side
    rows: tuple[Row, ...]
    changes: Changes | None
    parameters: tuple[tuple[str, Any, Any], ...]
    surroundings: tuple[tuple[str, Any, Any], ...]
    n_shared: int
    only_reference: int
    only_side: int
    notes: tuple[str, ...]
    same: bool
    slices: tuple[Value, ...] = ()
    judging: Judging | None = None


def compare(
    reference: Side,
    others: Sequence[Side],
    hooks: Hooks,
    *,
    paired: bool = True,
    metric: str = "",
    margins: Mapping[str, float] | None = None,
    seed: int = SEED,
    n_resamples: int = N_RESAMPLES,
    n_summaries: int = N_SUMMARIES,
) -> tuple[Differences, ...]:
    """Compare sides with a reference, figure by figure: side − reference.

    - ``hooks``: Of the study.
    - ``paired``: Pair on the units' ids; otherwise the sides are independent samples, and may be of different data.
    - ``metric``: The figure by whose units the changes are listed, and which is compared first; by default the study's
      first.
    - ``margins``: Differences that do not matter: an interval inside ±margin means equivalent.
    - ``n_summaries``: Resamples, and permutations, of figures that only ``summarise`` can compute; 0 leaves them out.

    Returns: One per other side. Holm's adjustment covers the headline figures of all sides and groups together, and all
    further figures together.

    Raises ``BadInput`` if studies or (paired) data differ, no unit or group is common, or there is no such figure.
    """
    alike = _comparable(reference, others, paired=paired, hooks=hooks)
    more = (hooks, paired, metric, margins or {}, seed, (n_resamples, n_summaries))
    found = [_differences(hooks.summed(left), hooks.summed(right), *more) for left, right, _ in alike]
    found = [replace(d, notes=(*notes, *d.notes)) for d, (_, _, notes) in zip(found, alike, strict=True)]
    judged = [with_judges(d, hooks, seed=seed, n_resamples=n_resamples) for d in found]
    return one_family([with_measures(d, hooks.measured_by) for d in judged])


def _comparable(
    reference: Side, others: Sequence[Side], *, paired: bool, hooks: Hooks
) -> list[tuple[Side, Side, tuple[str, ...]]]:
    """Each pair of sides, and what is said of them: of two versions of a data set, what both have unchanged."""
    faults: list[str] = []
    found: list[tuple[Side, Side, tuple[str, ...]]] = []
    content_unit = hooks.content_unit
    for side in others:
        versions: Common | None = None
        by_content = content_unit and {reference.results["id"], side.results["id"]} == {content_unit}
        if side.results["study"] != reference.results["study"]:
            faults.append(
                f"{side.run_id} is a run of {side.results['study']}, {reference.run_id} one of {reference.results['study']}"
            )
        elif paired and not by_content and not same_data(reference.results["data"], side.results["data"]):
            versions = common(reference, side, hooks.unit or str(reference.results["id"]))
            faults += (
                []
                if versions
                else [
                    f"{side.run_id} read other data ({_data(side)}) than {reference.run_id} ({_data(reference)}); "
                    "--unpaired compares them as independent samples"
                ]
            )
        found.append((versions.reference, versions.side, (versions.note,)) if versions else (reference, side, ()))
    if faults:
        raise BadInput.listing("these cannot be compared:", faults)
    return found


def _readable(measures: Sequence[Measure], sides: Sequence[Side]) -> None:
    """Refuse items that lack a column which today's figures are computed from."""
    needed = dict.fromkeys(name.removeprefix("#") for f in measures for name in f.sums)
    lacking = [
        f"{side.run_id}: the items lack {', '.join(gone)}, which today's code reads; run it anew"
        for side in sides
        if (gone := [name for name in needed if name not in side.items])
    ]
    if lacking:
        raise BadInput.listing("these cannot be compared:", lacking)


def _data(side: Side) -> str:
    data = side.results["data"]
    return f"{data['name']}{'@' * bool(data['version'])}{data['version']}, sha256 {data['sha256'][:8]}"


def _differences(
    reference: Side,
    side: Side,
    hooks: Hooks,
    paired: bool,
    metric: str,
    margins: Mapping[str, float],
    seed: int,
    sizes: tuple[int, int],
) -> Differences:
    unit = hooks.unit or str(reference.results["id"])
    if paired:
        reference, side = with_grouping(reference, side, unit)
    pairs, notes = paired_groups(reference, side)
    counts = _counts(side.items[unit], reference.items[unit])
    if paired and not counts.shared:
        raise BadInput(f"{side.run_id} and {reference.run_id} have no {unit} in common")
    defined = list(hooks.measures(**reference.options(hooks.measures))) if hooks.measures else []
    titles = _titles(reference, side)
    faults = [
        f"{option}: no metric {name!r} in both runs{_meant(name, titles)}"
        for option, given in (("--metric", [metric] if metric else []), ("--margin", sorted(margins)))
        for name in given
        if name not in titles
    ]
    if faults:
        raise BadInput.listing(f"{side.run_id} and {reference.run_id} have the metrics {', '.join(titles)}:", faults)
    if not titles:
        raise BadInput(f"{side.run_id} and {reference.run_id} have no metric in common")
    order = sorted(titles, key=lambda m: m != metric)  # stable: the one asked for first
    for one in (reference, side):
        own = dict.fromkeys(row["metric"] for row in one.results["summary"] if row["metric"] not in titles)
        notes += [f"Only in {one.name or one.run_id}, so not compared: {', '.join(own)}."] * bool(own)
    # The first figure opens the comparison, were it stated for the whole alone.
    pairs.sort(key=lambda pair: not any(reference.states(m, pair[1][0]) for m in order[:1]))
    defined = [f for f in defined if f.metric in order]
    _readable(defined, (reference, side))
    rest = [m for m in order if m not in {f.metric for f in defined}]
    common: dict[str, Any] = {"unit": unit, "paired": paired, "margins": margins, "seed": seed}
    resampled = (
        compare_weighted(side, reference, pairs, rest, hooks.weighted, n_resamples=sizes[0], **common)
        if hooks.weighted
        else compare_summaries(side, reference, pairs, rest, hooks.summarise, n_resamples=sizes[1], **common)
    )
    gone = _gone(resampled, hooks, (reference, side))
    notes += [f"Of an older version, so not compared: {', '.join(gone)}; run the study anew."] * bool(gone)
    resampled = {key: c for key, c in resampled.items() if key[1] not in gone}
    rows: list[Row] = []
    for i, (group, (left, right)) in enumerate(pairs):
        sums = [f for f in defined if reference.states(f.metric, left) and side.states(f.metric, right)]
        checks = {f.metric: _reproduced(f, reference, left) or _reproduced(f, side, right) for f in sums}
        notes += [note for note in checks.values() if note]
        sums = [f for f in sums if not checks[f.metric]]
        a, b = side.rows(right), reference.rows(left)
        compared = [c for (at, _), c in resampled.items() if at == i]
        if sums:
            compared += compare_measures(
                a,
                b,
                sums,
                units_a=a[unit],
                units_b=b[unit],
                seed=seed,
                names=(side.name, reference.name),
                paired=paired,
                margins={f.metric: margins[f.metric] for f in sums if f.metric in margins},
                n_resamples=sizes[0],
            ).comparisons
        compared.sort(key=lambda c: order.index(c.metric))
        rows += [Row(group, c, False) for c in compared]
    opening = list(dict.fromkeys(sorted((row.comparison.metric for row in rows), key=order.index)))[:HEADLINE]
    rows = [row._replace(headline=row.comparison.metric in opening) for row in rows]
    if not rows:
        raise BadInput.listing(f"{side.run_id} and {reference.run_id} have no figure that can be compared:", notes)
    notes += [note for note in map(stopped_early, (reference, side)) if note]
    differing = unequal(reference.results["parameters"], side.results["parameters"])
    unknown = [name for name, _, _ in differing if not hooks.measured_by]
    if unknown:
        notes.append(
            f"The runs differ in parameters ({', '.join(unknown)}): where one of them shapes the "
            "scoring, a difference is one of measuring, not of what was judged."
        )
    listed = [pair for pair in pairs if len(pair[0]) == len(reference.by)] or pairs
    wanted = next((f for f in defined if f.metric == order[0] and reference.states(f.metric, listed[0][1][0])), None)
    lead = next((f for f in defined if f.metric == order[0]), None)
    whole = [(row.group, row.comparison) for row in rows if row.comparison.metric == order[0]]
    sizing: dict[str, Any] = {"unit": unit, "paired": paired, "seed": seed, "n_resamples": sizes[0]}
    values, warned = by_value(reference, side, pairs, lead, whole, **sizing)
    notes = [*warned, *notes]
    return Differences(
        reference,
        side,
        tuple(rows),
        changes(reference, side, listed, unit, order[0], wanted) if paired else None,
        differing,
        unequal(surroundings(reference.run), surroundings(side.run)),
        *counts,
        tuple(dict.fromkeys(notes)),
        reference.run_id == side.run_id and dict(reference.selected) == dict(side.selected),
        values,
    )


def paired_groups(reference: Side, side: Side) -> tuple[list[tuple[Group, tuple[Group, Group]]], list[str]]:
    """Groups that both sides have, each with its selection on either side; the whole last, where there are several."""
    left, right = reference.groups(), side.groups()
    shared = [g for g in left if g in set(right)] if reference.by == side.by else []
    if not shared:
        if len(left) == len(right) == 1:
            own = (dict(zip(reference.by, left[0], strict=True)), dict(zip(side.by, right[0], strict=True)))
            return [({}, own)], []
        raise BadInput.listing(
            "the two sides have no group in common; name one of each with --left and --right:",
            [
                f"{s.run_id}: {', '.join('='.join(p) for g in s.groups() for p in zip(s.by, g, strict=True))}"
                for s in (reference, side)
            ],
        )
    groups: list[Group] = [dict(zip(reference.by, g, strict=True)) for g in shared]
    notes = [
        f"Only in {one.name or one.run_id}: {', '.join(' '.join(g) for g in own if g not in set(shared))}."
        for one, own in ((reference, left), (side, right))
        if set(own) - set(shared)
    ]
    # Figures over some of the columns, such as a metric's mean over all criteria.
    partial = [g for g in reference.partial_groups() if g in side.partial_groups()]
    whole: list[Group] = [{}] if len(groups) > 1 and left == right and _has_whole(reference) else []
    return [(g, (g, g)) for g in [*groups, *partial, *whole]], notes


def _has_whole(side: Side) -> bool:
    """Whether the study states figures over all groups."""
    return any(all(row.get(c) is None for c in side.by) for row in side.results["summary"])


def _titles(reference: Side, side: Side) -> dict[str, str]:
    """Metrics that both runs state, in the study's order, each with its title."""
    left, right = ({row["metric"]: title_of(row) for row in s.results["summary"]} for s in (reference, side))
    return {m: title for m, title in left.items() if m in right}


def _meant(name: str, titles: Mapping[str, str]) -> str:
    """The metric that a name means which is its title, or nearly it or its metric, as a question."""
    of = {**{title: m for m, title in titles.items()}, **{m: m for m in titles}}
    near = get_close_matches(name, of, n=1)
    return f"; did you mean {of[near[0]]}?" if near else ""


def _gone(found: Mapping[tuple[int, str], Comparison], hooks: Hooks, sides: Sequence[Side]) -> list[str]:
    """Metrics of the runs that today's study states no more: an older version had other names for them."""
    valued = {m for (_, m), c in found.items() if c.value_a is not None or c.value_b is not None}
    without = [m for m in dict.fromkeys(m for _, m in found) if m not in valued]
    if not without:
        return []
    few = taken(hooks.summarise, {"n_resamples": 1})
    now = [hooks.summarise(s.items, **{**s.options(hooks.summarise), **few}) for s in sides]
    return [m for m in without if not any(e.metric == m for summary in now for e in summary.estimates)]


def _reproduced(measure: Measure, side: Side, group: Group) -> str:
    """Empty where the figure's definition gives the value that the run recorded, else what is wrong."""
    recorded = side.recorded(measure.metric, group)
    rows = side.rows(group)
    sums, _ = unit_sums(rows, list(measure.sums), np.zeros(len(rows)))
    with np.errstate(all="ignore"):
        now = float(measure.value(*sums.T)[0]) if len(rows) else math.nan
    agree = math.isnan(now) if recorded is None else abs(now - recorded) <= _CLOSE * max(1, abs(recorded))
    if agree:
        return ""
    return (
        f"{measure.title}: not compared: {side.run_id} recorded {recorded}, its items under the reference's options and "
        f"today's code give {now:.6g}."
    )


class _Counts(NamedTuple):
    shared: int
    only_reference: int
    only_side: int


def _counts(side: pd.Series, reference: pd.Series) -> _Counts:
    own, theirs = set(side.astype(str)), set(reference.astype(str))
    return _Counts(len(own & theirs), len(theirs - own), len(own - theirs))


def one_family(found: Sequence[Differences]) -> tuple[Differences, ...]:
    """Holm's adjustment over the headline figures of all sides and groups, and over all others."""
    adjusted: dict[tuple[int, int], Comparison] = {}
    for headline in (True, False):
        at = [(i, j) for i, d in enumerate(found) for j, row in enumerate(d.rows) if row.headline is headline]
        family = [found[i].rows[j].comparison for i, j in at]
        names = [(found[i].side.name, found[i].reference.name) for i, _ in at]
        adjusted |= dict(zip(at, adjusted_together(family, names), strict=True))
    return tuple(
        replace(d, rows=tuple(row._replace(comparison=adjusted[i, j]) for j, row in enumerate(d.rows)))
        for i, d in enumerate(found)
    )
