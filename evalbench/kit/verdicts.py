"""The light of several groups, the worst of which decides: their estimates, one joint bootstrap, one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evalbench.core.measures import Measure, drawn_in_turn, estimate
from evalbench.core.notes import Note
from evalbench.core.result import Estimate, Summary
from evalbench.core.stability import Lit, joint_stability
from evalbench.core.verdict import Band, Bands, Light, Verdict
from evalbench.judge.entail import holds_back
from evalbench.kit import correcting, defaults
from evalbench.kit.evidence import Absent, absent_of, floor_bands, groups_of, needed, same_but_for_writing
from evalbench.kit.evidence import unscored_share as crowded  # noqa: F401
from evalbench.kit.panel import Objections, Panel, Reasons
from evalbench.kit.panel import held as held
from evalbench.kit.sentences import NAMED as NAMED
from evalbench.kit.sentences import NO_THRESHOLDS as NO_THRESHOLDS
from evalbench.kit.sentences import Words
from evalbench.kit.sentences import left_out as left_out
from evalbench.kit.sentences import stays_grey as stays_grey

if TYPE_CHECKING:
    import pandas as pd

Lights = Mapping[str, Sequence[float] | Mapping[str, float]]

SEED, N_RESAMPLES, MAX_UNSCORED = defaults.SEED, defaults.N_RESAMPLES, defaults.MAX_UNSCORED
"""The defaults of every study's options of these names."""
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
    found: list[Estimate] = []
    own = needed(items, measures, units)
    whose, groups = groups_of(items, by)
    for place, name in enumerate(groups):
        group = {by: name} if name else {}
        found += _estimated(own[whose == place], measures, units, group, seed, n_resamples)
    if whole and len(groups) > 1:
        found += _estimated(items, measures, units, {}, seed, n_resamples)
    return tuple(found)


def _estimated(
    rows: pd.DataFrame, measures: Sequence[Measure], units: str, group: Mapping[str, str], seed: int, n_resamples: int
) -> Iterable[Estimate]:
    for some in drawn_in_turn(measures, len(rows)):
        yield from estimate(rows, some, units=rows[units], seed=seed, group=group, n_resamples=n_resamples).estimates


def _lit_rows(items: pd.DataFrame, measures: Sequence[Measure], by: str, units: str) -> dict[str, pd.DataFrame]:
    """Each group's rows, of no groups all: what lights rest on, and how many trials were lost."""
    lit = [measure for measure in measures if measure.bands is not None]
    trials = [name for name in ("n_trials", "n_trials_lost") if name in items]
    own = needed(items, lit, units, trials) if lit else items[trials]
    whose, groups = groups_of(items, by)
    return {name: own[whose == place] for place, name in enumerate(groups)}


def worst_group(
    items: pd.DataFrame,
    measures: Sequence[Measure],
    by: str,
    *,
    lights: Lights | None = None,
    headline: str = "",
    floor: float = 0.0,
    what: str = "",
    over: str = "",
    share: str = "",
    held_back: Reasons = "",
    faults: Mapping[str, str] | None = None,
    max_unscored: float = MAX_UNSCORED,
    absent: Absent | None = None,
    notes: Sequence[Note] = (),
    remark: str = "",
    units: str = "id",
    called: str = "",
    whole: bool = False,
    estimates: Sequence[Estimate] | None = None,
    stable: Callable[[Light], float | None] | None = None,
    fit: Mapping[str, Any] | None = None,
    seed: int = SEED,
    n_resamples: int = N_RESAMPLES,
) -> Summary:
    """The measures of each group and the verdict on them: the worst light of all groups and lit measures decides.

    A light is grey where its figure rests on fewer units than its measure's ``least_units``, where more than
    ``max_unscored`` of the group's items, or of their trials, are unscored, or where it lacks more than that share of the units.

    Parameters
    ----------
    items : DataFrame
        Columns ``unscored`` and ``undefined``, those of ``by`` and ``units``, and what the measures sum.  A column
        ``row_absent`` marks rows that the study filled in for units that a group lacks.
    measures : sequence of Measure
        One that has ``bands`` is lit.
    by, units, whole
        See :func:`by_group`.  The whole does not decide.
    called : str
        What a group is called in words, if not as its column.
    lights : mapping, optional
        Metric to the rule or cuts of its light, see :func:`bands_of`.  The sentence reports the first metric listed, lit or
        not; by default the first measure.  Where several are lit, it reports the one that decides.
    headline : str
        A measure that the sentence always gives beside the one that decides.
    floor : float
        Below this value of the headline figure the light is at best yellow; 0: whatever it is.
    what : str
        The reported measure in words; by default its title.
    over : str
        What the estimates rest on, in words, such as ``"60 problems"``; by default the number of units.
    share : str
        A measure that is given in percent beside the value, such as ``"passed"``.
    held_back : str, mapping of group to str, or callable
        Why the light is at best grey, of all groups, of some, or of single estimates; empty where nothing holds it back.
        Figures that people's labels correct are not held back by it.
    faults : mapping of group to str, optional
        Why the light is at best grey whatever labels say: what is wrong with the data.
    max_unscored : float
        A larger share of unscored items, or of absent units, makes a group's light grey.
    absent : Absent, optional
        The units that each group lacks; by default :func:`evalbench.kit.evidence.absent_of`.  ``Absent()`` where an option
        says what absent means.
    notes : sequence of Note
        What else would change the verdict, see :class:`evalbench.core.notes.Note`: it is in the sentence.
    remark : str
        A sentence of the study's own, the last.
    estimates : sequence of Estimate, optional
        Those of :func:`by_group`, lit, where a study computes them otherwise.
    stable : callable, optional
        Light → its stability, where a lit figure is not a function of sums; by default that of :func:`joint_stability`.
    fit : mapping, optional
        A correction learnt on other data (the option ``correction_fit``).  Where it holds, or the items carry enough labels, the
        light rests on corrected figures, see :func:`evalbench.kit.correcting.fixed`, and its stability on draws from their
        intervals; objections to the judge do not turn these lights grey.

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
    ('red', 'Mean score 0.50 [0.35, 0.65] (fern); 1.00 [0.91, 1.00] (oak); 40 items, threshold 0.8.')
    """
    lights = lights or {}
    measures = _with_lights(measures, lights, headline, floor)
    options = {"seed": seed, "n_resamples": n_resamples}
    found = by_group(items, measures, by, units=units, whole=whole, **options) if estimates is None else estimates
    corrections = correcting.fixed(items, found, measures, by, units, fit)
    if corrections:
        found, measures = corrections.estimates, [*measures, *corrections.measures]
    absent = absent_of(items, by, units) if absent is None else absent
    rows = _lit_rows(items, measures, by, units)
    objections = Objections(by, units, rows, held_back, max_unscored, absent.too_many(max_unscored), faults or {})
    panel = Panel(found, measures, objections, headline if floor and headline not in lights else "")
    words = Words(items, by, units, what, over, share, headline, next(iter(lights), ""), called or by)
    notes = (*absent.notes(), *same_but_for_writing(rows, called or by), *notes)
    sentence = words.sentence(panel, corrections, notes, remark)
    decided = panel.decided
    if decided is None:
        return Summary(panel.shown, Verdict("unlit", sentence, notes=notes))
    if corrections and any(one.alone.corrects for one in panel.lit):
        weighed = [(one.alone, one.rule.bands, panel.is_held(one)) for one in panel.lit if one.rule]
        stability = correcting.stability(weighed, panel.would_be, **options)
    elif panel.is_certain:
        stability = None
    elif stable:
        stability = stable(panel.would_be)
    else:
        groups = [(one, rows[one.alone.group.get(by, "")]) for one in panel.lit]
        drawn = [Lit(own, own[units], one.rule, panel.is_held(one)) for one, own in groups if one.rule]
        stability = joint_stability(drawn, panel.would_be, **options)
    would_be = None if panel.would_be == panel.light else panel.would_be
    rule = words.rule(panel)
    return Summary(
        panel.shown, Verdict(panel.light, sentence, rule, stability, would_be, decided.place, notes, panel.stated)
    )


def _with_lights(measures: Sequence[Measure], lights: Lights, headline: str, floor: float) -> list[Measure]:
    """The measures with their lights; the headline figure has that of its floor where another has one, and it none."""
    strangers = (set(lights) | {headline} - {""}) - {m.metric for m in measures}
    if strangers:
        raise ValueError(f"lights of what is not measured: {', '.join(sorted(strangers))}")
    lit = [with_light(m, lights) for m in measures]
    if not floor or all(m.bands is None for m in lit):
        return lit
    return [replace(m, bands=floor_bands(floor)) if m.metric == headline and m.bands is None else m for m in lit]


def held_back_by(judge: str) -> str:
    """Why a verdict that rests on this judge is at best grey; empty where nothing holds it back."""
    return f"The judge of the citations is {judge}, which compares words" if holds_back(judge) else ""
