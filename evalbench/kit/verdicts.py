"""The light of several groups, the worst of which decides: their estimates, one joint bootstrap, one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evalbench.core.betting import SEQUENCE
from evalbench.core.measures import Measure, estimate
from evalbench.core.result import Estimate, Summary, decisive
from evalbench.core.stability import Lit, joint_stability
from evalbench.core.stats import of_few
from evalbench.core.unscored import counted as counted_reasons
from evalbench.core.verdict import Band, Bands, Light, Verdict, worst
from evalbench.core.wording import counted, estimate_text, percent, share_text
from evalbench.judge.entail import holds_back
from evalbench.kit import defaults

if TYPE_CHECKING:
    import pandas as pd

Lights = Mapping[str, Sequence[float] | Mapping[str, float]]

SEED, N_RESAMPLES, MAX_UNSCORED = defaults.SEED, defaults.N_RESAMPLES, defaults.MAX_UNSCORED
"""The defaults of every study's options of these names."""
NAMED = 12
"""As many groups at most are named in a sentence; of more, the ends."""
NO_THRESHOLDS = "No thresholds set, so there is no light."
ROUNDING = 1e-9
"""A value that misses a pass mark by less than this misses it by floating point."""


def bands_of(cuts: Sequence[float] | Mapping[str, float], *, higher_is_better: bool = True) -> Bands | None:
    """The light of a rule in words, see :func:`evalbench.kit.rules.rule_of`, or of one :func:`pass_mark`; of none, none.

    A value at a threshold takes the better light.

    Examples
    --------
    >>> str(bands_of({"green_to": 0.1, "yellow_to": 0.3}))
    'green: ≤ 0.1; yellow: (0.1, 0.3]; red: > 0.3'
    >>> bands_of([0.8]).light(0.8)
    'green'
    """
    if not cuts:
        return None
    if isinstance(cuts, Mapping):
        if "green_to" in cuts:
            green, yellow = cuts["green_to"] + ROUNDING, cuts["yellow_to"] + ROUNDING
            middle = Band("yellow", green, yellow, low_closed=False, high_closed=True)
            return Bands((Band("green", high=green, high_closed=True), middle, Band("red", yellow, low_closed=False)))
        green, yellow = cuts["green_from"] - ROUNDING, cuts["yellow_from"] - ROUNDING
        return Bands((Band("red", high=yellow), Band("yellow", yellow, green), Band("green", green)))
    (mark,) = cuts
    return pass_mark(mark, higher_is_better=higher_is_better)


def pass_mark(mark: float, *, higher_is_better: bool = True) -> Bands:
    """Green from the mark on, red before it.

    Examples
    --------
    >>> str(pass_mark(0.8))
    'red: < 0.8; green: ≥ 0.8'
    """
    if higher_is_better:
        return Bands((Band("red", high=mark - ROUNDING), Band("green", low=mark - ROUNDING)))
    end = mark + ROUNDING
    return Bands((Band("green", high=end, high_closed=True), Band("red", low=end, low_closed=False)))


def with_light(measure: Measure, lights: Lights) -> Measure:
    """The measure with the light of its rule or cuts, if it has some.

    Examples
    --------
    >>> from evalbench.core.measures import mean_of
    >>> str(with_light(mean_of("score"), {"score": [0.8]}).bands)
    'red: < 0.8; green: ≥ 0.8'
    """
    bands = bands_of(lights.get(measure.metric, ()), higher_is_better=measure.higher_is_better is not False)
    return measure if bands is None else replace(measure, bands=bands)


def reaches(scores: pd.Series, threshold: float | pd.Series) -> pd.Series:
    """1 where a score reaches the threshold, 0 where not, NaN where there is none."""
    return (scores >= threshold - ROUNDING).astype(float).where(scores.notna())


def by_group(
    items: pd.DataFrame,
    measures: Sequence[Measure],
    by: str,
    *,
    units: str = "id",
    whole: bool = False,
    seed: int = SEED,
    n_resamples: int = N_RESAMPLES,
) -> tuple[Estimate, ...]:
    """The measures of each group, groups in order of their names; of all items where there are no groups.

    Parameters
    ----------
    items : DataFrame
    measures : sequence of Measure
    by, units : str
        The columns of the group and of the resampling unit.
    whole : bool
        Whether all items together follow, where there is more than one group.
    seed, n_resamples : int

    Examples
    --------
    >>> import pandas as pd
    >>> from evalbench.core.measures import mean_of
    >>> items = pd.DataFrame({"id": ["p", "q"] * 2, "model": ["a", "a", "b", "b"], "score": [1, 0, 1, 1]})
    >>> [(dict(e.group), e.value) for e in by_group(items, [mean_of("score")], "model", whole=True)]
    [({'model': 'a'}, 0.5), ({'model': 'b'}, 1.0), ({}, 0.75)]
    """
    groups = [({by: name} if name else {}, rows) for name, rows in _groups(items, by)]
    if whole and len(groups) > 1:
        groups.append(({}, items))
    return tuple(
        e
        for group, rows in groups
        for e in estimate(rows, measures, units=rows[units], seed=seed, group=group, n_resamples=n_resamples).estimates
    )


def _groups(items: pd.DataFrame, by: str) -> list[tuple[str, pd.DataFrame]]:
    named = [(str(name), rows) for name, rows in items.groupby(by, sort=True)] if by in items else []
    return named or [("", items)]


def worst_group(
    items: pd.DataFrame,
    measures: Sequence[Measure],
    by: str,
    *,
    lights: Lights | None = None,
    what: str = "",
    over: str = "",
    share: str = "",
    held_back: str | Mapping[str, str] | Callable[[Estimate], str] = "",
    max_unscored: float = 1.0,
    remark: str = "",
    units: str = "id",
    whole: bool = False,
    estimates: Sequence[Estimate] | None = None,
    stable: Callable[[Light], float | None] | None = None,
    seed: int = SEED,
    n_resamples: int = N_RESAMPLES,
) -> Summary:
    """The measures of each group and the verdict on them: the worst light of all groups and lit measures decides.

    Parameters
    ----------
    items : DataFrame
        Columns ``unscored`` and ``undefined``, those of ``by`` and ``units``, and what the measures sum.
    measures : sequence of Measure
        One that has ``bands`` is lit.
    by, units, whole
        See :func:`by_group`.  The whole does not decide.
    lights : mapping, optional
        Metric to the rule or cuts of its light, see :func:`bands_of`.  The first is what the sentence is about, also without
        cuts; by default it is about the first measure.  Where several are lit, it is about the one that decides.
    what : str
        That measure in words; by default its title.
    over : str
        What the estimates rest on, in words, such as ``"60 problems"``; by default the number of units.
    share : str
        A measure that is said in percent beside the value, such as ``"passed"``.
    held_back : str, mapping of group to str, or callable
        Why the light is at best grey, of all groups, of some, or of single estimates; empty where nothing holds it back.
    max_unscored : float
        A larger share of unscored items makes a group's light grey.
    remark : str
        A sentence of the study's own, the last.
    estimates : sequence of Estimate, optional
        Those of :func:`by_group`, lit, where a study computes them otherwise.
    stable : callable, optional
        Light → its stability, where a lit figure is not a function of sums; by default that of :func:`joint_stability`.
    seed, n_resamples : int

    Returns
    -------
    Summary
        Where missing evidence holds the light back to grey, ``would_be`` is the light that the figures alone give, and
        the stability is that light's.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalbench.core.measures import mean_of
    >>> ids = [f"q{i:02}" for i in range(40)]
    >>> items = pd.DataFrame({"id": ids * 2, "model": ["fern"] * 40 + ["oak"] * 40, "score": [1, 0] * 20 + [1] * 40})
    >>> items[["unscored", "undefined"]] = ""
    >>> found = worst_group(items, [mean_of("score")], "model", lights={"score": [0.8]}, what="Mean score")
    >>> found.verdict.light, found.verdict.sentence
    ('red', 'Mean score 0.50 [0.35, 0.65] (fern); 1.00 [1.00, 1.00] (oak); 40 items, threshold 0.8.')
    """
    lights = lights or {}
    strangers = set(lights) - {m.metric for m in measures}
    if strangers:
        raise ValueError(f"lights of what is not measured: {', '.join(sorted(strangers))}")
    measures = [with_light(m, lights) for m in measures]
    rules = {m.metric: m for m in measures if m.bands is not None}
    options = {"seed": seed, "n_resamples": n_resamples}
    found = by_group(items, measures, by, units=units, whole=whole, **options) if estimates is None else estimates
    why = [_why(e, by, held_back, max_unscored) for e in found]
    shown = [held(e, *reasons) for e, reasons in zip(found, why, strict=True)]
    if callable(held_back):  # a single figure's own reason is at that figure
        shown = [
            replace(e, note="; ".join(filter(None, [e.note, said]))) if said else e
            for e, (said, _) in zip(shown, why, strict=True)
        ]
    deciding = [i for i, e in enumerate(found) if e.group] or list(range(len(found)))
    lit = [i for i in deciding if found[i].metric in rules]
    light = worst([shown[i].light for i in lit])
    # Held back to grey, the verdict names the light of the figures alone; a group's own red or yellow stays.
    basis = found if light == "grey" else shown
    alone = worst([basis[i].light for i in lit])
    decided = decisive([basis[i] for i in lit]) if lit else None
    metric = decided.metric if decided else next(iter(lights), "") or _first(measures, [found[i] for i in deciding])
    measure = next(m for m in measures if m.metric == metric)
    about = [(found[i], why[i]) for i in deciding if found[i].metric == metric]
    first = next(iter(lights), measures[0].metric)
    name, own = what if what and metric == first else measure.title, [e for e, _ in about]
    sentence = "".join(
        (
            _figures(name, own, found, by, share, over or counted(items[units].nunique(), "item")),
            f", threshold {measure.bands.cuts[0]:g}" if measure.bands and len(measure.bands.cuts) == 1 else "",
            f".{_few(own)}",
            left_out(items),
            _without_value(items, measure, sum(e.n_undefined for e in own)),
            _grey(_held_first(about, lit, found, why) if light == "grey" else about, by, light, alone, max_unscored)
            if lit
            else "",
            f" {remark}" if remark else "",
            "" if lit else f" {NO_THRESHOLDS}",
        )
    )
    if decided is None:
        return Summary(tuple(shown), Verdict("unlit", sentence))
    groups = dict(_groups(items, by))
    drawn = []
    for i in lit:
        rows = groups[found[i].group.get(by, "")]
        drawn.append(Lit(rows, rows[units], rules[found[i].metric], basis is shown and shown[i] is not found[i]))
    stability = stable(alone) if stable else joint_stability(drawn, alone, **options)
    rule = "; ".join(f"{m.title}: {m.bands}" for m in rules.values()) + "; the worst decides"
    if len(rules) == 1:
        rule = f"{name}{f', the worst {by} decides' if decided.group else ''}: {measure.bands}"
    would_be = None if alone == light else alone
    return Summary(tuple(shown), Verdict(light, sentence, rule, stability, would_be, decided.place))


def _held_first(
    about: Sequence[tuple[Estimate, tuple[str, str]]],
    lit: Sequence[int],
    found: Sequence[Estimate],
    why: Sequence[tuple[str, str]],
) -> list[tuple[Estimate, tuple[str, str]]]:
    """Of each group what holds its light back, also where that is the light of another figure than the sentence's."""
    other = {tuple(found[i].group.items()): (found[i], why[i]) for i in lit if why[i][0]}
    return [one if any(one[1]) else other.get(tuple(one[0].group.items()), one) for one in about]


def _first(measures: Sequence[Measure], found: Sequence[Estimate]) -> str:
    """The first measure that has a value anywhere; of these measures alone, since a study has other estimates too."""
    known = [e.metric for e in found if e.value is not None and e.metric in {m.metric for m in measures}]
    return known[0] if known else measures[0].metric


# -- what holds a light back ---------------------------------------------------------------------


def _why(
    e: Estimate, by: str, held_back: str | Mapping[str, str] | Callable[[Estimate], str], max_unscored: float
) -> tuple[str, str]:
    """What is said against an estimate's light, and the note of too many unscored; empty where nothing is."""
    if callable(held_back):
        said = held_back(e)
    elif isinstance(held_back, str):
        said = held_back
    elif e.group:
        said = held_back.get(e.group.get(by, ""), "")
    else:
        said = "; ".join(held_back.values())
    return said, crowded(e, max_unscored)


def crowded(e: Estimate, max_unscored: float) -> str:
    """How large a share is unscored, where that leaves too little for a light; else empty."""
    total = e.n + e.n_unscored + e.n_undefined
    return f"{percent(e.n_unscored / total, [max_unscored])} unscored" if e.n_unscored > max_unscored * total else ""


def held(e: Estimate, held_back: str, too_many: str = "") -> Estimate:
    """The estimate with a grey light where something is said against it; what has no light has none."""
    if e.light == "unlit" or not (held_back or too_many):
        return e
    return replace(e, light="grey", note="; ".join(filter(None, [e.note, too_many if e.value is not None else ""])))


def held_back_by(judge: str) -> str:
    """Why a verdict that rests on this judge is at best grey; empty where nothing holds it back."""
    return f"The judge of the citations is {judge}, which compares words" if holds_back(judge) else ""


# -- the sentence --------------------------------------------------------------------------------


def _few(own: Sequence[Estimate]) -> str:
    """What is said of figures that rest on few items, or on items that are all drawn together."""
    known = [e for e in own if e.value is not None]
    alone = [e for e in known if e.n > 1 and e.ci_low is None]
    if alone:
        which = "" if len(alone) == len(known) else f" ({', '.join(', '.join(e.group.values()) for e in alone)})"
        return f" All items{which} are drawn together as one unit, so there is no interval."
    return of_few(e.n for e in known if SEQUENCE not in e.method)  # which holds for any number


def _figures(what: str, own: Sequence[Estimate], found: Sequence[Estimate], by: str, share: str, over: str) -> str:
    """The estimates in words, the worst first; of many groups the ends."""
    ordered = sorted(own, key=_goodness)
    if len(ordered) <= NAMED:
        return f"{what} {'; '.join(_said(e, own, found, share) for e in ordered)}; {over}"
    known = [e for e in ordered if e.value is not None] or ordered
    ends = " to ".join(_said(e, own, found, share) for e in (known[0], known[-1]))
    return f"{what} from {ends}; {counted(len(ordered), by)}, {over}"


def _goodness(e: Estimate) -> tuple[bool, float]:
    return e.value is not None, (-1 if e.higher_is_better is False else 1) * (e.value or 0.0)


def _said(e: Estimate, own: Sequence[Estimate], found: Sequence[Estimate], share: str) -> str:
    name = ", ".join(e.group.values())
    if e.value is None:
        return f"has no value ({': '.join(filter(None, [name, e.note]))})"
    shares = [f for f in found if f.metric == share and (f.group or not e.group)]
    beside = [f"{share_text(f, shares)} {share}" for f in shares if f.group == e.group]
    within = ", ".join(filter(None, [name, *beside]))
    return f"{estimate_text(e, own)} ({within})" if within else estimate_text(e, own)


def left_out(items: pd.DataFrame) -> str:
    """How many items could not be scored and why, a sentence; empty where all could."""
    unscored = items["unscored"][items["unscored"] != ""]
    return (
        f" {len(unscored)} of {len(items)} could not be scored ({counted_reasons(unscored)})." if len(unscored) else ""
    )


def _without_value(items: pd.DataFrame, measure: Measure, n: int) -> str:
    """How many scored items have no value of the measure, and why."""
    if not n:
        return ""
    columns = [name.removeprefix("#") for name in measure.sums]
    without = items["undefined"][items[columns].isna().any(axis=1) & (items["unscored"] == "")]
    why = counted_reasons(without)
    return f" {n} of {len(items)} have no value{f' ({why})' if why else ''}."


def _grey(
    about: Sequence[tuple[Estimate, tuple[str, str]]], by: str, light: str, alone: str, max_unscored: float
) -> str:
    """Why the light, or that of some groups, stays grey, and what it would be."""
    would_be = "" if alone == light else f"; the figures alone would give {alone}"
    crowd = [e.group.get(by, "") for e, (_, too_many) in about if too_many]
    said = {e.group.get(by, ""): why for e, (why, _) in about if why}
    clauses = []
    if crowd:
        which = f" ({', '.join(crowd)})" if len(crowd) < len(about) else ""
        clauses.append(
            f" More than {percent(max_unscored, [max_unscored])} are unscored{which}: not enough evidence for a light"
        )
    if said:
        same = set(said.values()) if len(said) == len(about) else set()
        listed = next(iter(same)) if len(same) == 1 else "; ".join(f"{name}: {why}" for name, why in said.items())
        which = "" if light == "grey" else f" of {' and '.join(said)}"
        clauses.append(f" {listed}, so the light{which} stays grey")
    return f"{'.'.join(clauses)}{would_be}." if clauses else ""


def stays_grey(held_back: str, light: str) -> str:
    """The sentence of a light that one reason holds back, with what the figures alone would give."""
    alone = "" if light == "grey" else f"; the figures alone would give {light}"
    return f" {held_back}, so the light stays grey{alone}." if held_back else ""
