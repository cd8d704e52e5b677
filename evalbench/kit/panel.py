"""The lit figures of all groups: what is said against each, the worst light, and the figure that decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from evalbench.core.clusters import CLUSTER
from evalbench.core.measures import Measure
from evalbench.core.result import Estimate, decisive
from evalbench.core.verdict import Light, worst
from evalbench.core.wording import percent
from evalbench.kit.correcting import TRANSPORT
from evalbench.kit.evidence import n_behind, too_few, trials_unscored, unscored_share

if TYPE_CHECKING:
    import pandas as pd

Reasons = str | Mapping[str, str] | Callable[[Estimate], str]


class Objection(NamedTuple):
    """Why the light of an estimate is grey; empty where nothing is said against it.

    - ``against``: Of the evidence: its judge, its number of units, rows that are absent.
    - ``unscored``: How large a share could not be scored.
    - ``few``: Why it rests on too few units, also in ``against``.
    - ``stated``: The rest of ``against``.
    """

    against: str = ""
    unscored: str = ""
    few: str = ""
    stated: str = ""


@dataclass(frozen=True)
class Objections:
    """What is said against the light of each estimate.

    - ``rows``: Group to its items.
    - ``held_back``, ``max_unscored``: See :func:`evalbench.kit.verdicts.worst_group`.
    - ``absent``: Groups that lack too many units.
    - ``faults``: Group to what is wrong with its data; no label of a judge's verdicts answers for it.
    """

    by: str
    units: str
    rows: Mapping[str, pd.DataFrame]
    held_back: Reasons
    max_unscored: float
    absent: frozenset[str]
    faults: Mapping[str, str] = field(default_factory=dict)

    def to(self, e: Estimate, measure: Measure | None) -> Objection:
        group = e.group.get(self.by, "")
        missing = f"more than {percent(self.max_unscored, [self.max_unscored])} absent" if group in self.absent else ""
        unscored = unscored_share(e, self.max_unscored) or trials_unscored(self.rows.get(group), self.max_unscored)
        few = "" if unscored else self._too_few(e, measure)
        stated = "; ".join(filter(None, [self._stated(e), self.faults.get(group, ""), missing]))
        return Objection("; ".join(filter(None, [stated, few])), unscored, few, stated)

    def _stated(self, e: Estimate) -> str:
        if e.corrects or e.metric.endswith(TRANSPORT):  # labels, not the judge, answer for it
            return ""
        if callable(self.held_back):
            return self.held_back(e)
        if isinstance(self.held_back, str):
            return self.held_back
        return self.held_back.get(e.group.get(self.by, ""), "") if e.group else "; ".join(self.held_back.values())

    def _too_few(self, e: Estimate, measure: Measure | None) -> str:
        rows = self.rows.get(e.group.get(self.by, ""))
        if measure is None or e.corrects:
            return ""
        if rows is None or not {name.removeprefix("#") for name in measure.sums} <= {*rows}:
            return too_few(e, least=measure.least_units)
        if CLUSTER in rows and e.value is not None and rows[CLUSTER].nunique() == 1:
            return "all items are one cluster, so there is no interval"
        return too_few(e, n_behind(rows, measure, rows[self.units]), measure.least_units)


class Figure(NamedTuple):
    """One estimate: by itself, and with its light held back where something is said against it.

    - ``rule``: The measure whose bands it is lit by, where it has a say in the verdict.
    """

    alone: Estimate
    shown: Estimate
    objection: Objection
    rule: Measure | None = None


class Panel:
    """All figures with their lights.

    - ``figures``: In the order of the estimates.
    - ``measures``: All, lit or not.
    - ``floor``: The metric that decides only where it is below its floor; empty without one.
    """

    def __init__(
        self, estimates: Sequence[Estimate], measures: Sequence[Measure], objections: Objections, floor: str = ""
    ) -> None:
        rules = {m.metric: m for m in measures if m.bands is not None}
        of_group = any(e.group for e in estimates)
        self.measures, self.floor, self.max_unscored = {m.metric: m for m in measures}, floor, objections.max_unscored
        self.figures: list[Figure] = []
        for e in estimates:
            rule = rules.get(e.metric) if e.light != "unlit" else None
            objection = Objection() if rule is not None and rule.certain == e.light else objections.to(e, rule)
            shown = held(e, objection.against, objection.unscored)
            held_by = objections.held_back(e) if callable(objections.held_back) and objection.against else ""
            own = "; ".join(filter(None, [held_by, objection.few]))
            if own:  # what is said of a single figure is at that figure
                shown = replace(shown, note="; ".join(filter(None, [shown.note, own])))
            self.figures.append(Figure(e, shown, objection, rule if e.group or not of_group else None))

    @property
    def shown(self) -> tuple[Estimate, ...]:
        return tuple(one.shown for one in self.figures)

    @property
    def deciding(self) -> list[Figure]:
        """Those of the groups; of the whole where there are none."""
        return [one for one in self.figures if one.alone.group] or self.figures

    @cached_property
    def lit(self) -> list[Figure]:
        return [one for one in self.deciding if one.rule]

    @property
    def light(self) -> Light:
        return worst([one.shown.light for one in self.lit])

    def basis(self, one: Figure) -> Estimate:
        """What a light is judged by: held back to grey, the verdict names that of the figures alone."""
        return one.alone if self.light == "grey" else one.shown

    def is_held(self, one: Figure) -> bool:
        """Whether a figure is grey whatever is drawn; a group's own red or yellow stays."""
        return self.light != "grey" and one.shown.light != one.alone.light

    @property
    def would_be(self) -> Light:
        """The light of the figures alone, where they are held back to grey; else the light."""
        return worst([self.basis(one).light for one in self.lit])

    @property
    def is_certain(self) -> bool:
        """Whether a figure has a light that nothing missing takes back."""
        return any(one.rule is not None and one.rule.certain == one.alone.light for one in self.lit)

    @property
    def decided(self) -> Estimate | None:
        """The figure that decides: that of the floor only where it is the worse one."""
        if not self.lit:
            return None
        ruled = [self.basis(one) for one in self.lit if one.alone.metric != self.floor]
        every = [self.basis(one) for one in self.lit]
        return decisive(ruled if worst([e.light for e in ruled]) == self.would_be else every)

    def reported(self, first: str) -> str:
        """The metric of the sentence: the one that decides, else this one, else the first with a value."""
        if self.decided:
            return self.decided.metric
        known = [one.alone for one in self.deciding if one.alone.metric in self.measures]
        return first or next((e.metric for e in known if e.value is not None), next(iter(self.measures)))

    def naive(self, metric: str) -> str:
        """The metric that this one corrects; itself where it corrects none."""
        return (self.decided.corrects if self.decided and self.decided.metric == metric else "") or metric

    @property
    def stated(self) -> str:
        """What the study says against the evidence, where the light is grey."""
        said = [one.objection.stated for one in self.lit if one.shown.light == "grey"]
        return "; ".join(dict.fromkeys(filter(None, said))) if self.light == "grey" else ""

    @property
    def rules(self) -> list[Measure]:
        """The measures that the lit figures are lit by, in their order."""
        lit = {one.rule.metric for one in self.lit if one.rule}
        return [m for name, m in self.measures.items() if name in lit]

    def with_objections(self, own: Sequence[Figure]) -> list[Figure]:
        """Of each group what holds its light back, also where that is the light of another figure than these."""
        other = {tuple(one.alone.group.items()): one for one in self.lit if one.objection.against}
        return [one if any(one.objection) else other.get(tuple(one.alone.group.items()), one) for one in own]

    def own(self, metric: str) -> list[Figure]:
        """The figures of a metric that decide, lit ones alone where some are; of a corrected one with the judge's."""
        if self.decided is None:
            return [one for one in self.deciding if one.alone.metric == metric]
        naive = self.naive(metric)
        both = {one.alone.metric for one in self.figures if naive in (one.alone.metric, one.alone.corrects)}
        return [one for one in self.lit if one.alone.metric in both]


def held(e: Estimate, against: str, unscored: str = "") -> Estimate:
    """The estimate with a grey light where something is said against it; what has no light has none."""
    if e.light == "unlit" or not (against or unscored):
        return e
    return replace(e, light="grey", note="; ".join(filter(None, [e.note, unscored if e.value is not None else ""])))
