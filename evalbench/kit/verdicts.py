"""The light of several groups, the worst of which decides: their estimates, one joint bootstrap, one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evalbench.core.measures import Measure, estimate
from evalbench.core.result import Estimate, Summary, decisive
from evalbench.core.stability import Lit, joint_stability
from evalbench.core.verdict import Band, Bands, Light, Verdict, worst
from evalbench.core.wording import counted, percent
from evalbench.judge.entail import holds_back
from evalbench.kit import correcting, defaults
from evalbench.kit.sentences import NAMED as NAMED
from evalbench.kit.sentences import drawn_units, few, figures, why_grey, without_value
from evalbench.kit.sentences import left_out as left_out
from evalbench.kit.sentences import stays_grey as stays_grey

if TYPE_CHECKING:
    import pandas as pd

Lights = Mapping[str, Sequence[float] | Mapping[str, float]]

SEED, N_RESAMPLES, MAX_UNSCORED = defaults.SEED, defaults.N_RESAMPLES, defaults.MAX_UNSCORED
"""The defaults of every study's options of these names."""
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
    by, units : str
        The columns of the group and of the resampling unit.
    whole : bool
        Whether all items together follow, where there is more than one group.

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
    fit: Mapping[str, Any] | None = None,
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
    fit : mapping, optional
        A correction learnt on other data (the option ``correction_fit``).  Where it holds, or the items carry enough labels, the
        light rests on corrected figures, see :func:`evalbench.kit.correcting.fixed`, and its stability on draws from their intervals; what is
        said against the judge does not hold them back.

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
    corrections = correcting.fixed(items, found, measures, by, units, fit)
    if corrections:
        found, measures = corrections.estimates, [*measures, *corrections.measures]
        rules |= {m.metric: m for m in corrections.measures if m.bands is not None}
    why = [_why(e, by, held_back, max_unscored) for e in found]
    shown = [held(e, *reasons) for e, reasons in zip(found, why, strict=True)]
    if callable(held_back):  # a single figure's own reason is at that figure
        shown = [
            replace(e, note="; ".join(filter(None, [e.note, said]))) if said else e
            for e, (said, _) in zip(shown, why, strict=True)
        ]
    deciding = [i for i, e in enumerate(found) if e.group] or list(range(len(found)))
    lit = [i for i in deciding if found[i].metric in rules and found[i].light != "unlit"]
    rules = {name: m for name, m in rules.items() if not corrections or name in {found[i].metric for i in lit}}
    light = worst([shown[i].light for i in lit])
    # Held back to grey, the verdict names the light of the figures alone; a group's own red or yellow stays.
    basis = found if light == "grey" else shown
    alone = worst([basis[i].light for i in lit])
    decided = decisive([basis[i] for i in lit]) if lit else None
    metric = decided.metric if decided else next(iter(lights), "") or _first(measures, [found[i] for i in deciding])
    measure = next(m for m in measures if m.metric == metric)
    figure = (decided.corrects if decided else "") or metric
    of_figure = {figure} if not corrections else {e.metric for e in found if figure in (e.metric, e.corrects)}
    about = [(found[i], why[i]) for i in deciding if found[i].metric in of_figure and (i in lit or not decided)]
    if not decided:
        about = [(e, reasons) for e, reasons in about if e.metric == metric]
    first = next(iter(lights), measures[0].metric)
    name, own = what if what and figure == first else measure.title, [e for e, _ in about]
    if metric != figure and name == what:
        name = correcting.title_of(what)
    sentence = "".join(
        (
            figures(
                name, own, found, by, "" if metric != figure else share, over or counted(items[units].nunique(), "item")
            ),
            f", threshold {measure.bands.cuts[0]:g}" if measure.bands and len(measure.bands.cuts) == 1 else "",
            f".{few(own, drawn_units(items, measure, by, units))}",
            left_out(items),
            without_value(items, measure, sum(e.n_undefined for e in own)),
            why_grey(_held_first(about, lit, found, why) if light == "grey" else about, by, light, alone, max_unscored)
            if lit
            else "",
            corrections.sentence(figure, decided) if corrections else "",
            f" {remark}" if remark else "",
            "" if lit else f" {NO_THRESHOLDS}",
        )
    )
    if decided is None:
        return Summary(tuple(shown), Verdict("unlit", sentence))
    if corrections and any(found[i].corrects for i in lit):
        weighed = [(found[i], rules[found[i].metric].bands, basis is shown and shown[i] is not found[i]) for i in lit]
        stability = correcting.stability(weighed, alone, **options)
    elif stable:
        stability = stable(alone)
    else:
        groups = dict(_groups(items, by))
        drawn = []
        for i in lit:
            rows = groups[found[i].group.get(by, "")]
            drawn.append(Lit(rows, rows[units], rules[found[i].metric], basis is shown and shown[i] is not found[i]))
        stability = joint_stability(drawn, alone, **options)
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
    if e.corrects or e.metric.endswith(correcting.TRANSPORT):  # labels, not the judge, answer for it
        said = ""
    elif callable(held_back):
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
