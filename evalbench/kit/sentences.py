"""The sentence of a verdict on several groups: its figures, what they rest on, and what limits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalbench.core.betting import SEQUENCE
from evalbench.core.clusters import codes, how_many, is_clustered
from evalbench.core.ends import ALL_AGREE
from evalbench.core.measures import Measure
from evalbench.core.notes import Note
from evalbench.core.result import Estimate
from evalbench.core.stats import FEW_UNITS
from evalbench.core.unscored import counted as counted_reasons
from evalbench.core.wording import counted, estimate_text, listed, percent, share_text
from evalbench.kit.correcting import Fixed, title_of
from evalbench.kit.evidence import groups_of, pairs_of

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.kit.panel import Figure, Panel

NAMED = 12
"""As many groups at most are named in a sentence; of more, the ends."""
NO_THRESHOLDS = "No thresholds set, so there is no light."


@dataclass(frozen=True)
class Words:
    """What the sentence of a panel is made of besides its figures.

    - ``what``, ``over``, ``share``, ``headline``: See :func:`evalbench.kit.verdicts.worst_group`.
    - ``lead``: The metric that the sentence reports where none decides; empty for the first with a value.
    - ``called``: What a group is called in words.
    """

    items: pd.DataFrame
    by: str
    units: str
    what: str
    over: str
    share: str
    headline: str
    lead: str
    called: str

    def sentence(self, panel: Panel, corrections: Fixed | None, notes: Sequence[Note], remark: str) -> str:
        """What decides, what it rests on, the headline figure (first where it is listed first), and what limits them."""
        metric = panel.reported(self.lead)
        own, measure = panel.own(metric), panel.measures[metric]
        beside = self._beside(panel, metric).lstrip()
        order = [*panel.measures]
        leads = self.headline in order and order.index(self.headline) < order.index(metric)
        first, beside = (beside, "") if leads else ("", beside)
        figures = self._figures(panel, metric)
        parts = (
            f"{first} " if first else "",
            f"{figures[:1].upper()}{figures[1:]}" if self.headline else figures,
            f".{self._few(own, measure)}",
            left_out(self.items),
            without_value(self.items, measure, sum(one.alone.n_undefined for one in own)),
            f" {beside}" if beside else "",
            *(f" {note.sentence}" for note in notes),
            why_grey(panel, own, self.by) if panel.lit else "",
            corrections.sentence(panel.naive(metric), panel.decided) if corrections else "",
            f" {remark}" if remark else "",
            "" if panel.lit else f" {NO_THRESHOLDS}",
        )
        return "".join(parts)

    def rule(self, panel: Panel) -> str:
        """The rules of all lit figures in words."""
        rules = panel.rules
        if len(rules) > 1:
            return "; ".join(f"{m.title}: {m.bands}" for m in rules) + "; the worst decides"
        worst = f", the worst {self.called} decides" if panel.decided and panel.decided.group else ""
        return f"{self._title(panel, rules[0].metric)}{worst}: {rules[0].bands}"

    def _title(self, panel: Panel, metric: str) -> str:
        """The words for a metric: the study's for its first, or for the correction of that one."""
        naive, title = panel.naive(metric), panel.measures[metric].title
        if not self.what or naive != (self.lead or next(iter(panel.measures))):
            return title
        return self.what if naive == metric else title_of(self.what)

    def _figures(self, panel: Panel, metric: str) -> str:
        """The reported figure of every group, with its threshold."""
        own = [one.alone for one in panel.own(metric)]
        every = [one.alone for one in panel.figures]
        over = self.over or counted(how_many(self.items[self.units]), "item")
        share = self.share if panel.naive(metric) == metric else ""
        text = figures(self._title(panel, metric), own, every, self.called, share, over)
        bands = panel.measures[metric].bands
        if bands is None or len(bands.cuts) != 1:
            return text
        limit = "at best yellow below" if metric == panel.floor else "threshold"
        return f"{text}, {limit} {bands.cuts[0]:g}"

    def _beside(self, panel: Panel, metric: str) -> str:
        """The headline figure, or where it decides the first figure that has a rule: of several groups the ends."""
        ruled = [m.metric for m in panel.rules if m.metric != panel.floor]
        other = self.headline if metric != self.headline else next(iter(ruled), "")
        if not self.headline or other in ("", metric):
            return ""
        found = [one.alone for one in panel.deciding if one.alone.metric == other]
        ordered = sorted(found, key=goodness)
        ends = ordered if len(ordered) < 3 else [ordered[0], ordered[-1]]
        title = panel.measures[other].title
        texts = (_with_group(e, found, [], "") for e in ends)
        return f" {title[:1].upper()}{title[1:]} {('; ' if len(ordered) < 3 else ' to ').join(texts)}."

    def _few(self, own: Sequence[Figure], measure: Measure) -> str:
        """What the intervals lack where figures rest on few units, unless it holds a light back."""
        open_ones = [one.alone for one in own if not one.objection.few]
        said = few(open_ones, drawn_units(self.items, measure, self.by, self.units))
        enough = measure.least_units if any(one.rule for one in own) else 1
        own_rule = f", though {enough} are enough for a light by this study's own rule."
        return f"{said[:-1]}{own_rule}" if said.startswith(" Fewer") and 1 < enough < FEW_UNITS else said


def few(own: Sequence[Estimate], units: dict[str, int] | None = None) -> str:
    """Which figures rest on few items, or on items that are drawn together as few units.

    ``units``: how many units the items of each group are drawn as, by the group's name.

    Examples
    --------
    >>> own = [Estimate(metric="f1", value=0.5, ci_low=0, ci_high=1, n=n, group={"model": m}) for m, n in (("a", 3), ("b", 40))]
    >>> few(own), few(own[1:])
    (' Fewer than 20 have a score (a): the interval is too narrow.', '')
    """
    known = [e for e in own if e.value is not None]
    if alone := [e for e in known if e.n > 1 and e.ci_low is None]:
        return f" All items{_of_some(alone, known)} are drawn together as one unit, so there is no interval."
    plain = [e for e in known if SEQUENCE not in e.method]  # which holds for any number
    if scarce := [e for e in plain if 0 < e.n < FEW_UNITS]:
        if all(e.n == 1 for e in scarce):
            none = ", so there is no interval" if any(e.ci_low is None for e in scarce) else ""
            return f" Only one has a score{_of_some(scarce, known)}{none}."
        return f" Fewer than {FEW_UNITS} have a score{_of_some(scarce, known)}: the interval is too narrow."
    counts = [units.get(_name(e), e.n) for e in plain if not _holds_for_few(e)] if units else []
    fewest = min(counts, default=FEW_UNITS)
    return f" They are drawn together as {fewest} units: the interval is too narrow." if fewest < FEW_UNITS else ""


def _holds_for_few(e: Estimate) -> bool:
    """Whether the interval is Wilson's of a share, or of units that all touch an end of the scale."""
    return "Wilson" in e.method and (ALL_AGREE not in e.method or e.value in (e.ci_low, e.ci_high))


def _name(e: Estimate) -> str:
    return ", ".join(e.group.values())


def _of_some(some: Sequence[Estimate], every: Sequence[Estimate]) -> str:
    """The names of some groups in brackets; empty where they are all."""
    return "" if len(some) == len(every) else f" ({'; '.join(map(_name, some))})"


def figures(what: str, own: Sequence[Estimate], found: Sequence[Estimate], called: str, share: str, over: str) -> str:
    """The estimates in words, the worst first; of many groups the ends."""
    ordered = sorted(own, key=goodness)
    if len(ordered) <= NAMED:
        return f"{what} {'; '.join(_with_group(e, own, found, share) for e in ordered)}; {over}"
    known = [e for e in ordered if e.value is not None] or ordered
    ends = " to ".join(_with_group(e, own, found, share) for e in (known[0], known[-1]))
    return f"{what} from {ends}; {counted(len(ordered), called)}, {over}"


def goodness(e: Estimate) -> tuple[bool, float]:
    return e.value is not None, (-1 if e.higher_is_better is False else 1) * (e.value or 0.0)


def _with_group(e: Estimate, own: Sequence[Estimate], found: Sequence[Estimate], share: str) -> str:
    name = _name(e)
    if e.value is None:
        return f"has no value ({': '.join(filter(None, [name, e.note]))})"
    shares = [f for f in found if f.metric == share and (f.group or not e.group)]
    beside = [f"{share_text(f, shares)} {share}" for f in shares if f.group == e.group]
    within = ", ".join(filter(None, [name, *beside]))
    said = estimate_text(e, found or own)
    return f"{said} ({within})" if within else said


def drawn_units(items: pd.DataFrame, measure: Measure, by: str, units: str) -> dict[str, int]:
    """How many units the items of each group that have a value are drawn as; nothing where they are drawn by clusters."""
    columns = [name.removeprefix("#") for name in measure.sums]
    if is_clustered(items) or by not in items or not {*columns} <= {*items}:
        return {}
    whose, groups = groups_of(items, by)
    found, which = codes(items[units])
    known = (whose >= 0) & items[columns].notna().all(axis=1).to_numpy()
    counts = np.bincount(pairs_of(whose[known], which[known], len(found))[0], minlength=len(groups))
    return {name: n for name, n in zip(groups, counts.tolist(), strict=True) if n}


def left_out(items: pd.DataFrame) -> str:
    """How many items could not be scored and why, a sentence; empty where all could."""
    unscored = items["unscored"][items["unscored"] != ""]
    return (
        f" {len(unscored)} of {len(items)} could not be scored ({counted_reasons(unscored)})." if len(unscored) else ""
    )


def without_value(items: pd.DataFrame, measure: Measure, n: int) -> str:
    """How many scored items have no value of the measure, and why."""
    if not n:
        return ""
    columns = [name.removeprefix("#") for name in measure.sums]
    without = items["undefined"][items[columns].isna().any(axis=1) & (items["unscored"] == "")]
    why = counted_reasons(without)
    return f" {n} of {len(items)} have no value{f' ({why})' if why else ''}."


def why_grey(panel: Panel, own: Sequence[Figure], by: str) -> str:
    """Why the light, or that of some groups, stays grey, and what it would be."""
    about = panel.with_objections(own) if panel.light == "grey" else own
    would_be = "" if panel.would_be == panel.light else f"; the figures alone would give {panel.would_be}"
    unread = [one.alone.group.get(by, "") for one in about if one.objection.unscored]
    reasons = {one.alone.group.get(by, ""): one.objection.against for one in about if one.objection.against}
    clauses = []
    if unread:
        which, most = f" ({', '.join(unread)})" if len(unread) < len(about) else "", panel.max_unscored
        clauses.append(f" More than {percent(most, [most])} are unscored{which}: not enough evidence for a light")
    if reasons:
        same = len(set(reasons.values())) == 1 and len(reasons) == len(about)
        reason = next(iter(reasons.values())) if same else "; ".join(_by_reason(reasons))
        which = "" if panel.light == "grey" else f" of {listed(list(reasons), NAMED, ' and ')}"
        reason = f"{reason[:1].upper()}{reason[1:]}" if same else reason
        clauses.append(f" {reason}, so the light{which} stays grey")
    return f"{'.'.join(clauses)}{would_be}." if clauses else ""


def _by_reason(reasons: Mapping[str, str]) -> list[str]:
    """Each reason once, behind the groups that it holds for."""
    groups: dict[str, list[str]] = {}
    for group, why in reasons.items():
        groups.setdefault(why, []).append(group)
    return [f"{listed(names)}: {why}" for why, names in groups.items()]


def stays_grey(held_back: str, light: str) -> str:
    """The sentence of a light that one reason holds back, with what the figures alone would give."""
    alone = "" if light == "grey" else f"; the figures alone would give {light}"
    return f" {held_back}, so the light stays grey{alone}." if held_back else ""
